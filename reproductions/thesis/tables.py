"""The tables of the results page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.reports.figures import millions
from assay.statistics.claims import Judgement, Outcome, Verdict

from .claims import KEPT, MATCHED, Judged
from .claims.claim import CHANGES, LOGIT, PROBABILITY, RANKED, rounded
from .evidence import ARCHITECTURES, ATTACKED, ATTACKS, CLASSES, DESTROYED, NAMES, SHORT, SIZES, Evidence, Row
from .findings import Verdicts
from .texts import MODEL_NOTE, OUTPUT_NOTE, SUCCESS_NOTE

TITLES = {"sst": "augmented SST", "mnli": "MultiNLI", "esnli": "e-SNLI"}
BOTH = (3, 10)  # claims about attention alone, shown with special tokens protected and ranked
STEPS = {
    "attack": "sign",
    "attack_gradient": "raw gradient",
    "attack_logit": "sign, logit",
    "attack_gradient_logit": "raw gradient, logit",
}


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '∣') for cell in cells)} |" for cells in lines) + "\n"


def short(judged: Judged) -> str:
    """The verdict with the share of statements that hold."""
    judgement = judged.judgement
    if judgement.verdict is Verdict.INCOMPLETE and not judgement.tested:
        return "not run"
    return f"{judgement.verdict}{share(judgement)}{'†' if judged.missing else ''}"


def share(judgement: Judgement) -> str:
    """E.g. " (13 of 16; 2 contradicted)"; empty if nothing was tested."""
    others = {"contradicted": Outcome.CONTRADICTED, "not testable": Outcome.NOT_TESTABLE, "not run": Outcome.NOT_RUN}
    parts = [f"{judgement.counts[outcome]} {word}" for word, outcome in others.items() if judgement.counts[outcome]]
    held = f"{judgement.counts[Outcome.HOLDS]} of {judgement.tested}"
    return f" ({'; '.join([held, *parts])})" if judgement.tested else ""


def claim_table(e: Evidence, verdicts: Verdicts) -> str:
    rows = []
    for number, by_reading in verdicts.items():
        claim = by_reading[PROBABILITY].claim
        here = claim.here(e)
        if number in BOTH:
            here = f"protected: {here}. Ranked: {claim.here(e.reading(**CHANGES[RANKED]))}"
        others = [f"{r}: {short(j)}" for r, j in by_reading.items() if r not in (PROBABILITY, LOGIT)]
        logit = short(by_reading[LOGIT]) if LOGIT in by_reading else "same"
        title = f"[{number}](statements.md#claim-{number}). {claim.title}"
        main = by_reading[PROBABILITY]
        verdict = f"**{short(main)}**"
        if number in BOTH:
            others = [other for other in others if not other.startswith(RANKED)]
            verdict = f"special tokens protected: {verdict}; ranked: **{short(by_reading[RANKED])}**"
        remedy = f"; {main.judgement.remedy}" if main.judgement.verdict is Verdict.UNDECIDED else ""
        rows.append([title, claim.thesis, here, f"{verdict}{remedy}", logit, "; ".join(others)])
    return table(("claim", "thesis", "here", "verdict", "logit", "other readings"), rows)


def model_table(e: Evidence) -> str:
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in e.models:
        groups[row["data"], row["grid"]].append(row)
    rows = []
    for (data, grid), trainings in groups.items():
        first = trainings[0]
        marks = [f"{r['validation_accuracy']:.3f}{' (skipped)' if r['skipped'] else ''}" for r in trainings]
        size = millions(first["parameters"]) if first["parameters"] else "–"
        base = Path(str(first["base"])).name if first["pretrained"] else first["base"]
        floor = e.floor(grid, data)
        best_rank = "" if floor.gap is not None else f"{floor.mean:.3f}"
        shown = [TITLES[data], NAMES.get(grid, grid), f"`{base}`", size, str(first["layers"] or "–"), ", ".join(marks)]
        rows.append([*shown, best_rank])
    heads = ("data", "model", "base", "parameters", "layers", "validation accuracy by training", "E[1/n]")
    return f"## Models\n\n{table(heads, rows)}\n{MODEL_NOTE}\n"


def output_table(e: Evidence) -> str:
    """Per model: its output under cascading randomisation, beside the correlation of two methods."""
    shown, rows = ("integrated_gradients", "average_attention"), []
    limit = 1 / CLASSES["sst"] + DESTROYED
    for grid in (*SIZES, *ARCHITECTURES):
        outputs = e.output(grid, "cascading").values()
        rho = [[cell.mean for cell in e.rho(grid, m, "cascading").values()] for m in shown]
        if outputs:
            cells = [" ".join(f"**{rounded(v)}**" if v <= limit else rounded(v) for v in outputs)]
            cells += [" ".join(map(rounded, curve)) for curve in rho]
            rows.append([NAMES.get(grid, grid), *cells])
    heads = ("model", "output", *(f"ρ of {SHORT[m]}" for m in shown))
    return f"## Output of randomised models\n\n{OUTPUT_NOTE}\n\n{table(heads, rows)}" if rows else ""


def attack_table(e: Evidence) -> str:
    """Per model and study: how often attacks changed the top words, unconstrained and constrained."""
    reach = _reach(e)
    rows = []
    for data in TITLES:
        for (scale, step), study in ATTACKS.items():
            reading = e.reading(scale=scale, step=step)
            for grid in (*SIZES, *ARCHITECTURES):
                cells = [_success(reading, grid, m, data) for m in ATTACKED]
                if any(cells):
                    model = NAMES.get(grid, grid)
                    rows.append([TITLES[data], model, reach.get((data, grid), ""), STEPS[study], *cells])
    heads = ("data", "model", "epsilon", "step", *(f"{SHORT[m]}: unconstrained, constrained" for m in ATTACKED))
    return f"## Success of attacks\n\n{SUCCESS_NOTE}\n\n{table(heads, rows)}" if rows else ""


def _success(e: Evidence, grid: str, method: str, data: str) -> str:
    """E.g. "94 % (94 %), 88 % (12 %)"; "noise" where the attacked numbers are."""
    parts = []
    for objective in (KEPT, MATCHED):
        changed, met = (e.raw_attack(grid, method, objective, x, data) for x in ("effect", "succeeded"))
        if changed.gap is not None:
            return "noise" if changed.gap else ""
        parts.append(f"{changed.mean:.0%} ({met.mean:.0%})")
    return ", ".join(parts)


def _reach(e: Evidence) -> Mapping[tuple[str, str], str]:
    """Epsilon in root mean squares of the embeddings."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for data, rows in e.rows.items():
        for row in rows:
            if "epsilon_in_scale" in row:
                values[data, row["grid"]].append(row["epsilon_in_scale"])
    return {key: f"{sum(all_) / len(all_):.2g}" for key, all_ in values.items()}
