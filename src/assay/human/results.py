"""The results of a human study: what people prefer, how sure that is, and whether automatic metrics agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from assay.core.errors import InputError
from assay.core.printable import one_line
from assay.human.answers import Answer, guesses, judgements, repeated_pairs
from assay.human.folder import StudyFolder
from assay.human.settings import GUESSES
from assay.reports.plain_json import plain
from assay.statistics.preferences.agreement import Agreement, kendall_w, krippendorff_alpha, self_agreement
from assay.statistics.preferences.contrasts import ALPHA, Contrast, contrasts
from assay.statistics.preferences.guesses import Simulatability, simulatability, simulation_verdict
from assay.statistics.preferences.judgement import Judgements
from assay.statistics.preferences.luce import Strength, strengths
from assay.statistics.preferences.metric_agreement import MetricAgreement, metric_agreement
from assay.statistics.preferences.published import Rating, trueskill_ratings
from assay.statistics.preferences.verdict_words import preference_verdict


@dataclass(frozen=True, eq=False)
class HumanResults:
    """Answers of a study with the names of its methods. Everything is computed on first use."""

    folder: StudyFolder
    answers: tuple[Answer, ...]
    names: Mapping[str, str]  # method by code
    better: Mapping[str, str]  # metric -> higher or lower

    @staticmethod
    def of(folder: StudyFolder, answers: Sequence[Answer]) -> HumanResults:
        if not answers:
            raise InputError(
                f"nobody has answered {folder.title} yet; serve it with `assay serve --study {folder.path}`"
            )
        ordered = sorted(answers, key=lambda answer: (answer.seat, answer.task))
        return HumanResults(folder, tuple(ordered), folder.methods(), folder.metrics())

    @property
    def is_guess(self) -> bool:
        return self.folder.study.kind in GUESSES

    @cached_property
    def judgements(self) -> Judgements:
        return Judgements(tuple(judgements(self.folder, self.answers, self.names)))

    @cached_property
    def ratings(self) -> list[Rating]:
        return trueskill_ratings(self.judgements.rows)

    @cached_property
    def strengths(self) -> list[Strength]:
        return strengths(self.judgements, seed=self.folder.study.seed)

    @cached_property
    def contrasts(self) -> list[Contrast]:
        return contrasts(self.judgements, seed=self.folder.study.seed)

    @property
    def unanimous(self) -> bool:
        """Whether all rankings of some pair agree, though there are several participants: it then has no interval."""
        return len(self.judgements.participants) > 1 and any(c.low != c.low for c in self.contrasts)

    @cached_property
    def agreement(self) -> list[Agreement]:
        seed = self.folder.study.seed
        own = self_agreement(repeated_pairs(self.folder, self.answers, self.names), seed=seed)
        return [krippendorff_alpha(self.judgements, seed=seed), kendall_w(self.judgements, seed=seed), own]

    @cached_property
    def simulatability(self) -> list[Simulatability]:
        return simulatability(guesses(self.folder, self.answers, self.names))

    @cached_property
    def metrics(self) -> list[MetricAgreement]:
        """Human preferences beside the automatic metrics of the same examples."""
        out = []
        for metric, better in self.better.items():
            values = {
                item.example: {self.names[code]: value for code, value in item.metrics[metric].items()}
                for item in self.folder.items
                if metric in item.metrics
            }
            out.append(metric_agreement(metric, self.judgements, values, higher_is_better=better == "higher"))
        return out

    @property
    def participants(self) -> int:
        """Those whose answers count: whoever has only practised is none."""
        tasks = [(answer.seat, self.folder.tasks(answer.seat)[answer.task]) for answer in self.answers]
        return len({seat for seat, task in tasks if not task.practice and task.repeats is None})

    @cached_property
    def verdict(self) -> list[str]:
        """What the study shows, in words."""
        if self.is_guess:
            return simulation_verdict(self.simulatability, self.participants)
        return preference_verdict(self.contrasts, len(self.judgements.participants))

    @cached_property
    def remarks(self) -> list[str]:
        """Agreement, metrics, and what weakens the results."""
        if self.is_guess:
            return self.gaps
        measured = [
            agreement.sentence for agreement in self.agreement if agreement.n or agreement.name != "self-agreement"
        ]
        return [*measured, *(metric.sentence for metric in self.metrics), *self.gaps]

    @cached_property
    def gaps(self) -> list[str]:
        """What weakens the results: missing annotators, names that several seats have, careless participants."""
        tasks = [self.folder.tasks(answer.seat)[answer.task] for answer in self.answers]
        count = Counter(task.item for task in tasks if not task.practice and task.repeats is None)
        needed = self.folder.study.annotators
        short = sum(count[item] < needed for item in self.folder.examples)
        names = Counter({answer.seat: answer.participant for answer in self.answers}.values())
        out = [f"{short} of {len(self.folder.examples)} examples have fewer than {needed} annotators."] if short else []
        out += [
            f"{one_line(name)} is the name of {seats} accounts, which count as different people."
            for name, seats in names.items()
            if seats > 1
        ]
        return out if self.is_guess else out + self._careless()

    def _careless(self) -> list[str]:
        """Signs that participants did not look: repeated examples ranked otherwise, or everything equal."""
        out, own = [], self.agreement[-1]
        if own.n and own.p > ALPHA:
            out.append(
                f"Participants cannot be shown to agree with themselves on repeated examples (p = {own.p:.2g}, "
                f"n = {own.n}): some may have answered at random."
            )
        tied = np.nanmax(self.judgements.ranks, axis=1) == 1
        people = self.judgements.participant
        equal = sum(bool(tied[people == person].all()) for person in np.unique(people))
        if equal:
            out.append(f"{equal} of {self.participants} participants ranked all heat maps equal every time.")
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        content: dict[str, Any] = {
            "title": self.folder.title,
            "participants": self.participants,
            "answers": len(self.answers),
            "verdict": self.verdict,
            "remarks": self.remarks,
        }
        if self.is_guess:
            content["simulatability"] = [asdict(row) for row in self.simulatability]
        else:
            content |= {
                "trueskill": [asdict(row) for row in self.ratings],
                "strengths": [asdict(row) for row in self.strengths],
                "contrasts": [{**asdict(row), "shown": row.shown} for row in self.contrasts],
                "agreement": [asdict(row) for row in self.agreement],
                "metrics": [asdict(row) for row in self.metrics],
            }
        out: dict[str, Any] = plain(content)
        return out
