"""Fit head weights that teach: a student in the training loop, and after each of its steps a step of the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from assay.core.errors import SpecError, UnsupportedError
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.evaluation import PERFORMANCE
from assay.explainers.learned.scaffold import HeadWeights, Scaffold
from assay.fitting.card import Chance, data_card, explainer_card
from assay.fitting.methods.scaffold import ScaffoldFit
from assay.fitting.run import FitRun
from assay.fitting.texts import fit_texts
from assay.models.encoding import Batch
from assay.models.head_weights import explanation, initial, normalise
from assay.models.model import Model
from assay.training.batching import epoch_batches
from assay.training.bilevel import Bilevel, Exam, Lesson, Update
from assay.training.checkpoint import remove_checkpoint
from assay.training.classifier import validation_scores
from assay.training.encoded import EncodedDataset, LabelledBatch, encode_dataset
from assay.training.history import History
from assay.training.loop import fit
from assay.training.splits import hold_out
from assay.training.students import UNTRAINED, check_pair, student_base, student_of
from assay.training.teaching import Student, divergence, simulation_loss

SELECTIONS = {"classification": "accuracy", "regression": "pearson"}
BETAS, EPSILON = (0.9, 0.999), 1e-8  # of Adam
FEWEST = 10  # texts to learn from, to be examined on, and to choose by
VANISHED = 1e-6  # weights below which all heads together say nothing


class HeadSearch(nn.Module):
    """A student, the head weights of its teacher, and the state of Adam: all that a checkpoint must hold."""

    phi: Tensor
    moments: Tensor
    taken: Tensor
    skipped: Tensor

    def __init__(self, student: Student, heads: int) -> None:
        super().__init__()
        self.student = student
        like = student.phi.detach()
        self.register_buffer("phi", initial(heads).to(like))
        self.register_buffer("moments", like.new_zeros(2, heads))
        self.register_buffer("taken", torch.zeros((), dtype=torch.long))
        self.register_buffer("skipped", torch.zeros((), dtype=torch.long))

    @property
    def model(self) -> Model:
        return self.student.model

    def forward(self, batch: Batch) -> Tensor:
        return self.student(batch)  # type: ignore[no-any-return]

    def move(self, gradient: Tensor, rate: float, clip: float) -> None:
        """A step of Adam; a gradient that is not finite is skipped and counted."""
        if not torch.isfinite(gradient).all():
            self.skipped += 1
            return
        gradient = gradient * min(1.0, clip / (float(gradient.norm()) + 1e-6))
        self.taken += 1
        n = int(self.taken)
        self.moments[0].mul_(BETAS[0]).add_(gradient, alpha=1 - BETAS[0])
        self.moments[1].mul_(BETAS[1]).add_(gradient.square(), alpha=1 - BETAS[1])
        mean, square = (m / (1 - b**n) for m, b in zip(self.moments, BETAS, strict=True))
        self.phi.sub_(rate * mean / (square.sqrt() + EPSILON))


@dataclass(frozen=True, eq=False)
class Teaching:
    """The loss of the student, and the step of the head weights after it."""

    settings: ScaffoldFit
    heads: Mapping[str, Tensor]  # (H,T) attention logits of the teacher, by the text's content
    exams: EncodedDataset
    key: str
    counts: dict[str, int] = field(default_factory=dict)  # steps of the whole fit; the best weights know only theirs

    def explanation(self, item: LabelledBatch, phi: Tensor) -> Tensor:
        """(B,T) what the teacher's heads say with the given parameters."""
        mask = item.batch.mask
        logits = phi.new_zeros(len(mask), len(phi), mask.shape[1])
        for row, example in zip(logits, item.examples, strict=True):
            own = self.heads[example.content]
            row[:, : own.shape[1]] = own.to(row)
        return explanation(logits, normalise(phi, self.settings.normaliser), mask)

    def __call__(self, search: HeadSearch, item: LabelledBatch) -> Tensor:
        outputs, own = search.student.explained(item.batch)
        taught = self.explanation(item, search.phi)
        return simulation_loss(outputs, item.gold) + self.settings.beta * divergence(taught, own)

    def after_step(self, search: HeadSearch, item: LabelledBatch) -> None:
        """Would another explanation of these texts have helped with others? Move the heads that way."""
        s = self.settings
        bilevel = Bilevel(search.student, Update(s.learning_rate, s.clip, s.weight_decay), s.beta)
        lesson = Lesson(item.batch, item.gold, lambda phi: self.explanation(item, phi))
        exam, seed = self._exam(int(search.taken + search.skipped)), int(torch.randint(2**62, ()))
        if s.meta == "implicit":
            gradient = bilevel.implicit(search.phi, lesson, exam, seed, s.steps)
        else:
            gradient = bilevel.unrolled(search.phi, [lesson] * s.steps, exam, seed)
        search.move(gradient, s.meta_rate, s.meta_clip)
        self.counts.update(taken=int(search.taken), skipped=int(search.skipped))

    def _exam(self, number: int) -> Exam:
        size = len(self.exams.gold)
        per_epoch = -(-size // self.settings.batch_size)
        batches = epoch_batches(size, self.settings.batch_size, f"exam {self.key}", number // per_epoch)
        item = self.exams.batch(batches[number % per_epoch])
        return Exam(item.batch, item.gold)


def fit_scaffold(
    model: Model, train: Dataset, validation: Dataset, settings: ScaffoldFit, run: FitRun | None = None
) -> Scaffold:
    """Fit head weights to a model; those of the best student are kept, and saved if the run has a folder."""
    run = FitRun() if run is None else run
    learnt, outer = hold_out(train, settings.seed, settings.outer)
    found = fit_heads(model, learnt, outer, validation, settings, run)[0]
    if run.folder is None:
        return Scaffold.of(found)
    found.save(run.folder)
    remove_checkpoint(run.folder)
    return Scaffold(str(run.folder))


def fit_heads(
    model: Model, learnt: Dataset, outer: Dataset, validation: Dataset, settings: ScaffoldFit, run: FitRun
) -> tuple[HeadWeights, Student]:
    """The head weights, and the student that was taught while they were found.

    It learns from the first texts, is examined on the second, and chosen by the third.
    """
    check_model(model, settings)
    base = student_base(settings.student, model.name)
    student = student_of(model, base, settings.seed, device=model.device)
    parts = {name: _answered(model, data, run) for name, data in (("l", learnt), ("o", outer), ("v", validation))}
    lessons, exams, held_out = (encode_dataset(student, parts[name], progress=False) for name in "lov")
    if len(set(lessons.gold.tolist())) == 1:
        raise SpecError(
            f"the model gives one answer to all {len(lessons.gold)} texts of {learnt.name or 'the data'}; a student "
            "would have nothing to learn"
        )
    heads = teacher_heads(model, student, parts["l"])
    search, history = search_heads(student, heads, lessons, exams, held_out, settings, run, model.fingerprint)
    chosen, chance = _Metric(SELECTIONS[model.task]), _chance(held_out)
    card = explainer_card("scaffold", model, chosen, history, Chance(chance), data_card(learnt, validation, outer))
    return HeadWeights(search.phi.cpu().float(), {**card, **_own_card(model, settings, search)}), search.student


def search_heads(
    student: Model,
    heads: Mapping[str, Tensor],
    lessons: EncodedDataset,
    exams: EncodedDataset,
    held_out: EncodedDataset,
    settings: ScaffoldFit,
    run: FitRun,
    key: str = "",
) -> tuple[HeadSearch, History]:
    """Teach a student and move the head weights; both end as they were at the best validation.

    heads: the teacher's attention logits (H,T) by the content of the text.
    """
    selection = SELECTIONS[student.task]
    metric = PERFORMANCE.make(selection)
    key = f"{lessons.fingerprint} {exams.fingerprint} {key} {Spec.of(_portable(settings))}"
    teaching = Teaching(settings, heads, exams, key)
    search = HeadSearch(Student(student, settings.normaliser), len(next(iter(heads.values()))))
    search.student.requires_grad_(True)
    history = fit(
        search,
        lessons.data,
        teaching,
        lambda module: validation_scores(module, held_out, {selection: metric}),
        settings.recipe(selection),
        key=key,
        resume_key=held_out.fingerprint,
        folder=run.folder,
        on_check=run.on_check,
        after_step=teaching.after_step,
        progress=run.progress,
        save_seconds=run.save_seconds,
    )
    for name, count in teaching.counts.items():
        getattr(search, name).fill_(count)
    search.requires_grad_(False).eval()
    return search, history


@dataclass(frozen=True)
class _Metric:
    name: str
    better: Literal["higher", "lower"] = "higher"


def check_model(model: Model, settings: ScaffoldFit) -> None:
    """Raise at once if heads of a model cannot be weighted."""
    if model.family.opaque:
        raise UnsupportedError(f"{model.name} shows only its answers; it has no attention heads to weigh")
    if model.task not in SELECTIONS:
        raise UnsupportedError(f"{model.name} gives several labels to a text; a student learns one, or a score")
    if model.n_heads < 2:
        raise UnsupportedError(f"{model.name} has one attention head, so there is nothing to weigh")
    check_pair_of(model, settings)


def check_pair_of(model: Model, settings: ScaffoldFit) -> None:
    """Raise at once if no student can learn from a model."""
    base = student_base(settings.student, model.name)
    if base != UNTRAINED and Path(model.name).expanduser().is_dir():
        check_pair(model.name, base, same_tokens=True)


def teacher_heads(model: Model, student: Model, data: Dataset) -> dict[str, Tensor]:
    """(H,T) of every text, computed once; the student must read the same tokens."""
    out: dict[str, Tensor] = {}
    for example in data:
        encoding = model.encode(example)
        if not np.array_equal(encoding.ids, student.encode(example).ids):
            raise SpecError(
                "teacher and student read a text as different tokens, so heads cannot be compared while fitting; "
                "choose a student with the teacher's tokenizer"
            )
        with torch.no_grad():
            out[example.content] = model.head_logits(model.batch([encoding]))[1][0]
    return out


def _answered(model: Model, data: Dataset, run: FitRun) -> Dataset:
    """The data with the model's answers as labels; texts without words are left out."""
    texts = fit_texts(model, data, least=FEWEST, progress=run.progress)
    regression = model.task == "regression"
    answers: Sequence[Any] = texts.outputs[:, 0].tolist() if regression else texts.outputs.argmax(-1).tolist()
    examples = tuple(replace(e.example, label=a) for e, a in zip(texts.encodings, answers, strict=True))
    task: Literal["classification", "regression"] = "regression" if regression else "classification"
    return replace(data, examples=examples, labels=None if regression else model.labels, task=task)


def _chance(data: EncodedDataset) -> float:
    """The score of a student that always gives the most frequent answer."""
    if data.gold.dtype.kind == "f":
        return 0.0
    return float(np.bincount(data.gold).max() / len(data.gold))


def _own_card(model: Model, settings: ScaffoldFit, search: HeadSearch) -> dict[str, Any]:
    """The part of the card that only this method has."""
    lambdas = normalise(search.phi.cpu().float(), settings.normaliser)
    active = int((lambdas.abs() > VANISHED).sum())
    notes = [f"{active} of {len(lambdas)} heads have a weight."]
    if float(lambdas.abs().max()) < VANISHED:
        notes.append(
            "All head weights vanished, so every token gets the same score: fit again with another normaliser."
        )
    if skipped := int(search.skipped):
        total = skipped + int(search.taken)
        notes.append(f"{skipped:,} of {total:,} steps of the heads were skipped: their gradient was not finite.")
    return {
        "learnt": f"weights of {len(lambdas)} attention heads whose explanations teach a student (SMaT)",
        "settings": asdict(_portable(settings)),
        "layers": model.n_blocks,
        "control": "always giving the most frequent answer",
        "notes": notes,
        "skipped": skipped,
    }


def _portable(settings: ScaffoldFit) -> ScaffoldFit:
    """The settings without the student's folder, which differs from machine to machine."""
    return settings if settings.student is None else replace(settings, student=Path(settings.student).name)
