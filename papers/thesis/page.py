"""The results page of the thesis: docs/results/thesis.md with its figures and tables, from the stores of its plans.

python papers/thesis/page.py --store ~/.cache/assay-thesis [--output docs/results] [--only FIGURE]
Each figure and each verdict is a function of the stored rows alone; what has not been run is said to be so.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # run as a file: its neighbours are its modules

from claims import CLAIMS, COMP, GTO, KEPT, MATCHED, RANK, SUFF, Judged, Part
from evidence import ARCHITECTURES, NAMES, SHORT, SINGLE, SIZES, TOP, Evidence, Row, bare

from assay.evaluation.gold import true_units
from assay.experiments.sizes import shell, sizes
from assay.experiments.status import Status, status
from assay.experiments.tidy import results
from assay.masking.units import divide
from assay.reports.bands import points
from assay.reports.figures import Panel, bars, curves, lines, millions

HERE = Path(__file__).parent
PLANS = {"sst": "augmented_sst.yaml", "mnli": "mnli.yaml", "esnli": "esnli.yaml"}
TITLES = {"sst": "augmented SST", "mnli": "MultiNLI", "esnli": "e-SNLI"}
LABELS = {GTO: "Ground Truth Overlap", RANK: "Mean Rank %", COMP: "Comprehensiveness", SUFF: "Sufficiency",
          "rank_change": "Rank Change", "top_k_sum_change": "Top-k Sum Change",
          "absolute_probability_change": "|Probability Change|"}  # fmt: skip
MEASURES = ("rank_change", "top_k_sum_change", "absolute_probability_change")
ORDER = tuple(SHORT)  # one colour per method in all figures
PLAIN = (*SINGLE, "random")
ENSEMBLE = ("thesis_top3", "thesis_all", *TOP)
VERDICTS = ("reproduced", "not reproduced", "not testable here", "not run yet")


# --- what the stores hold --------------------------------------------------------------------------------------------


def gather(store: Path, plans: Mapping[str, str] = PLANS, folder: Path = HERE) -> tuple[Evidence, dict[str, Status]]:
    """Rows, models, E[1/n] and passes of every plan that there is."""
    rows: dict[str, list[Row]] = {}
    models: list[Row] = []
    floors: dict[tuple[str, str], float] = {}
    passes: dict[tuple[str, str, str], tuple[float, float]] = {}
    found: dict[str, Status] = {}
    for data, name in plans.items():
        if (folder / name).is_file():
            state = found[data] = status(folder / name, store)
            rows[data] = results(state.plan, state.store)
            models += _models(data, state)
            floors |= {(data, grid): value for grid, value in _floors(state).items()}
            passes |= {(data, *key): value for key, value in _passes(state).items()}
    return Evidence(rows, models, floors, passes), found


def _models(data: str, state: Status) -> list[Row]:
    skipped = {job.at["model"] for key, job in state.plan.jobs.items() if state.states[key] == "skipped"}
    return [{"data": data, **row, "skipped": row["model"] in skipped} for row in sizes(state.plan, state.store)]


def _floors(state: Status) -> dict[str, float]:
    """Mean rank % of a perfect method, E[|L|/n]: with one cue E[1/n], which depends on the tokenizer."""
    out: dict[str, float] = {}
    for cell in state.plan.cells:
        grid, key = cell.model.grid, getattr(cell.model, "key", "")
        if cell.study != "probability" or grid in out or state.store.get(key) is None:
            continue
        model = shell(key, state.store)
        if model is not None:
            shares = [_share(model, example) for example in cell.data.load()]
            known = [share for share in shares if share]
            if known:
                out[grid] = float(np.mean(known))
    return out


def _share(model: Any, example: Any) -> float:
    units = [unit for unit in divide(model.encode(example), "token").units if unit.seen]
    return float(true_units(units, example).mean())


def _passes(state: Status) -> dict[tuple[str, str], tuple[float, float]]:
    """Mean forward and backward passes per example of each model and method."""
    seen: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for cell in state.plan.cells:
        if cell.study == "probability":
            for record in filter(None, (state.store.get(job.key) for job in cell.jobs)):
                for method, counts in record.rows["passes"].items():
                    seen[cell.model.grid, bare(method)] += counts
    means = {key: np.mean(counts, 0) for key, counts in seen.items()}
    return {key: (float(forward), float(backward)) for key, (forward, backward) in means.items()}


# --- figures ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """One picture: its name, what the thesis calls it, and how it is drawn; False where its rows are missing."""

    name: str
    title: str
    draw: Callable[[Evidence, Path], bool]


def _select(e: Evidence, data: str, study: str, grids: Sequence[str], methods: Sequence[str]) -> list[Row]:
    return [
        {**row, "method": bare(row["method"])}
        for row in e.rows.get(data, ())
        if row["study"] == study and row["grid"] in grids and bare(row.get("method", "")) in methods
    ]


def _panel(rows: Sequence[Row], metric: str, title: str = "", dotted: Sequence[Row] = ()) -> Panel:
    def of(part: Sequence[Row]) -> dict[Any, Any]:
        chosen = [row for row in part if "metric" not in row or bare(row["metric"]) == metric]
        found = points(chosen, value="value" if chosen and "metric" in chosen[0] else metric)
        return {key: found[key] for key in sorted(found, key=lambda key: ORDER.index(key[1]))}

    return Panel(title, LABELS[metric], of(rows), of(dotted))


def _by_size(metrics: Sequence[str], methods: Sequence[str]) -> Callable[[Evidence, Path], bool]:
    def draw(e: Evidence, path: Path) -> bool:
        rows, logit = (_select(e, "sst", study, SIZES, methods) for study in ("probability", "logit"))
        logit = [row for row in logit if row["method"] != "random"]
        panels = [_panel(rows, metric, dotted=logit if methods == PLAIN else ()) for metric in metrics]
        if rows:
            lines(panels, _parameters(e), path, order=ORDER, note="gradients of the logit")
        return bool(rows)

    return draw


def _by_architecture(data: str, metrics: Sequence[str], methods: Sequence[str]) -> Callable[[Evidence, Path], bool]:
    def draw(e: Evidence, path: Path) -> bool:
        panels = []
        for study in ("probability", "logit"):
            rows = _select(e, data, study, ARCHITECTURES, methods)
            if rows and (study == "probability" or methods == PLAIN):
                panels += [_panel(rows, metric, f"explaining the {study}") for metric in metrics]
        if panels:
            bars(panels, NAMES, path, order=ORDER)
        return bool(panels)

    return draw


def _randomised(data: str, mode: str, grids: Sequence[str]) -> Callable[[Evidence, Path], bool]:
    def draw(e: Evidence, path: Path) -> bool:
        rows = [row for row in _select(e, data, "randomisation", grids, SINGLE) if row["mode"] == mode]
        found = points(rows, ("grid", "block", "method"), "spearman")
        panels = [
            Panel(NAMES.get(grid, grid), "Spearman ρ", {(b, m): p for (g, b, m), p in found.items() if g == grid},
                  limits=(-0.6, 1.05))
            for grid in grids
            if any(grid == g for g, _, _ in found)
        ]  # fmt: skip
        if panels:
            curves(panels, path, order=ORDER)
        return bool(panels)

    return draw


def _attacked_sizes(e: Evidence, path: Path) -> bool:
    rows = _select(e, "sst", "attack", SIZES, SINGLE)
    kept, matched = ([row for row in rows if row["objective"] == o] for o in (KEPT, MATCHED))
    if rows:
        panels = [_panel(kept, measure, dotted=matched) for measure in MEASURES]
        lines(panels, _parameters(e), path, order=ORDER, note="constrained (probability matched)")
    return bool(rows)


def _attacked(data: str) -> Callable[[Evidence, Path], bool]:
    def draw(e: Evidence, path: Path) -> bool:
        rows = _select(e, data, "attack", ARCHITECTURES, SINGLE)
        both = {o: [row for row in rows if row["objective"] == o] for o in (MATCHED, KEPT)}
        words = {MATCHED: "constrained", KEPT: "unconstrained"}
        if rows:
            bars([_panel(both[o], m, words[o]) for m in MEASURES for o in both], NAMES, path, order=ORDER)
        return bool(rows)

    return draw


def _parameters(e: Evidence) -> dict[str, float]:
    return {r["grid"]: float(r["parameters"]) for r in e.models if r["grid"] in SIZES and r["parameters"]}


FIGURES = (
    Figure("sizes_ground_truth", "4.1: ground truth over size, augmented SST", _by_size((GTO, RANK), PLAIN)),
    Figure("sizes_faithfulness", "4.2: faithfulness over size, augmented SST", _by_size((COMP, SUFF), PLAIN)),
    Figure("sizes_cascading", "4.6: cascading randomisation, sizes", _randomised("sst", "cascading", SIZES)),
    Figure("sizes_independent", "4.7: independent randomisation, sizes", _randomised("sst", "independent", SIZES)),
    Figure("sizes_ensembles", "4.8, 4.9: ensembles over size", _by_size((GTO, RANK, COMP, SUFF), ENSEMBLE)),
    Figure("sizes_attack", "4.10, 4.11: attacks over size", _attacked_sizes),
    Figure("architectures_ground_truth", "4.12: ground truth, architectures",
           _by_architecture("sst", (GTO, RANK), PLAIN)),
    Figure("architectures_faithfulness", "4.13: faithfulness, architectures",
           _by_architecture("sst", (COMP, SUFF), PLAIN)),
    Figure("mnli_faithfulness", "4.14: faithfulness on MultiNLI", _by_architecture("mnli", (COMP, SUFF), PLAIN)),
    Figure("esnli_faithfulness", "4.15: faithfulness on e-SNLI", _by_architecture("esnli", (COMP, SUFF), PLAIN)),
    Figure("esnli_plausibility", "4.16: plausibility on e-SNLI", _by_architecture("esnli", (GTO, RANK), PLAIN)),
    Figure("architectures_cascading", "4.17: cascading randomisation, architectures",
           _randomised("sst", "cascading", ARCHITECTURES)),
    Figure("architectures_independent", "4.18: independent randomisation, architectures",
           _randomised("sst", "independent", ARCHITECTURES)),
    Figure("architectures_ensembles", "4.19, 4.20: ensembles, architectures",
           _by_architecture("sst", (GTO, RANK, COMP, SUFF), ENSEMBLE)),
    Figure("architectures_attack", "4.21 to 4.23: attacks, architectures", _attacked("sst")),
    Figure("mnli_attack", "4.24 to 4.26: attacks on MultiNLI", _attacked("mnli")),
    Figure("mnli_cascading", "A.5: cascading randomisation, MultiNLI", _randomised("mnli", "cascading", ARCHITECTURES)),
    Figure("mnli_independent", "A.6: independent randomisation, MultiNLI",
           _randomised("mnli", "independent", ARCHITECTURES)),
    Figure("esnli_cascading", "A.7: cascading randomisation, e-SNLI",
           _randomised("esnli", "cascading", ARCHITECTURES)),
    Figure("esnli_independent", "A.8: independent randomisation, e-SNLI",
           _randomised("esnli", "independent", ARCHITECTURES)),
    Figure("mnli_ensembles", "B.3: ensembles on MultiNLI", _by_architecture("mnli", (COMP, SUFF), ENSEMBLE)),
    Figure("esnli_ensembles", "B.4: ensembles on e-SNLI", _by_architecture("esnli", (COMP, SUFF), ENSEMBLE)),
    Figure("esnli_attack", "C.5, C.6: attacks on e-SNLI", _attacked("esnli")),
)  # fmt: skip


# --- the page --------------------------------------------------------------------------------------------------------


def judged(e: Evidence) -> list[dict[str, Judged]]:
    """Each claim on the probability, and on the logit where that may change it and has been run."""
    other = e.on("logit")
    ran = any(row["study"] == "logit" for rows in e.rows.values() for row in rows)
    return [{"probability": c.judge(e), **({"logit": c.judge(other)} if c.scaled and ran else {})} for c in CLAIMS]


def page(e: Evidence, found: Mapping[str, Status], drawn: Sequence[str], store: str) -> str:
    verdicts = judged(e)
    parts = [INTRODUCTION, _progress(found), _summary(verdicts), _model_table(e), _figure_section(drawn, store)]
    return "\n".join([*parts, "## The claims, one by one", "", *(_claim(v, drawn) for v in verdicts)])


def _progress(found: Mapping[str, Status]) -> str:
    done = {d: Counter(state.states.values()) for d, state in found.items()}
    says = "; ".join(f"{TITLES[d]}: {c['done']} of {sum(c.values())} jobs" for d, c in done.items())
    whole = all(set(c) <= {"done", "skipped"} for c in done.values())
    return f"Done: {says}.\n" + ("" if whole else "**The runs are not finished: verdicts below are provisional.**\n")


def _summary(verdicts: Sequence[Mapping[str, Judged]]) -> str:
    head = ["## Summary", "", "| claim | | probability | logit |", "|---|---|---|---|"]
    for v in verdicts:
        first, other = v["probability"], v.get("logit")
        link = f"[{first.number}](#claim-{first.number})"
        words = [f"{w.verdict} ({_score(w.parts)})" if w else "same" for w in (first, other)]
        head.append(f"| {link} | {first.title} | {words[0]} | {words[1]} |")
    count = Counter(v["probability"].verdict for v in verdicts)
    tail = ", ".join(f"{count[word]} {word}" for word in VERDICTS if count[word])
    return "\n".join([*head, "", f"On the probability: {tail}. In brackets: statements that hold of those tested.", ""])


def _score(parts: Sequence[Part]) -> str:
    tested = [p for p in parts if p.holds is not None]
    return f"{sum(bool(p.holds) for p in tested)} of {len(tested)}"


def _model_table(e: Evidence) -> str:
    columns = (
        "data",
        "model",
        "starts from",
        "parameters",
        "layers",
        "weights",
        "validation accuracy by seed",
        "E[1/n]",
    )
    head = ["## Models", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in e.models:
        groups[row["data"], row["grid"]].append(row)
    for (data, grid), rows in groups.items():
        first = rows[0]
        marks = ", ".join(f"{r['validation_accuracy']:.3f}{' (skipped)' if r['skipped'] else ''}" for r in rows)
        size = millions(first["parameters"]) if first["parameters"] else "?"
        base = Path(str(first["base"])).name if first["pretrained"] else first["base"]
        kind = "pretrained" if first["pretrained"] else "from scratch"
        floor = e.floors.get((data, grid))
        head.append(f"| {TITLES[data]} | {NAMES.get(grid, grid)} | `{base}` | {size} | {first['layers']} | {kind} |"
                    f" {marks} | {'' if floor is None else f'{floor:.3f}'} |")  # fmt: skip
    return "\n".join([*head, "", MODEL_NOTE, ""])


def _figure_section(drawn: Sequence[str], store: str) -> str:
    out = ["## Figures", "", FIGURE_NOTE, ""]
    for figure in FIGURES:
        if figure.name in drawn:
            command = f"python papers/thesis/page.py --store {store} --only {figure.name}"
            out += [f"### {figure.title}", "", f"![{figure.title}](thesis/{figure.name}.png)", "", f"`{command}`", ""]
    missing = [f.title for f in FIGURES if f.name not in drawn]
    return "\n".join([*out, *([f"Not run yet: {'; '.join(missing)}.", ""] if missing else [])])


def _claim(verdicts: Mapping[str, Judged], drawn: Sequence[str]) -> str:
    first = verdicts["probability"]
    out = [f'<a id="claim-{first.number}"></a>', f"### {first.number}. {first.title}", "", first.criterion, ""]
    for scale, found in verdicts.items():
        word = f"**{found.verdict}**" + (f" (gradients of the {scale})" if len(verdicts) > 1 else "")
        out += [f"{word}, {_score(found.parts)} statements hold.", "", *_statements(found.parts)]
    links = [f"[{name}](thesis/{name}.png)" for name in first.figures if name in drawn]
    return "\n".join([*out, *([f"Figures: {', '.join(links)}.", ""] if links else [])])


def _statements(parts: Sequence[Part]) -> Iterator[str]:
    """What fails is listed, what holds is folded away, what is missing is counted."""
    fails, holds = ([p.text for p in parts if p.holds is value] for value in (False, True))
    yield from (f"- ✗ {text}" for text in fails)
    if fails:
        yield ""
    if holds:
        yield from (f"<details><summary>{len(holds)} that hold</summary>", "", *(f"- ✓ {text}" for text in holds), "")
        yield from ("</details>", "")
    rest = [p for p in parts if p.holds is None]
    if rest:
        yield from (f"{len(rest)} not looked at, e.g. {rest[0].text}.", "")


def means(e: Evidence) -> list[dict[str, Any]]:
    """Every mean of every study with its interval over examples and range over trainings."""
    out = []
    for data, rows in e.rows.items():
        for measure in ("value", "spearman", *MEASURES):
            some = [_named(row, measure) for row in rows if "example" in row and _has(row, measure)]
            found = points(some, ("study", "grid", "method", "what"), measure)
            for (study, grid, method, what), p in found.items():
                low, high = p.spread
                numbers = {"mean": p.value, "low": p.low, "high": p.high, "lowest_run": low, "highest_run": high}
                about = {"data": data, "study": study, "model": grid, "method": method, "metric": what}
                shown = {name: f"{number:.4g}" for name, number in numbers.items()}
                out.append({**about, **shown, "runs": len(p.runs), "examples": p.n})
    return out


def _has(row: Row, measure: str) -> bool:
    return measure in row and (measure != "value" or "metric" in row)  # a randomisation's `value` is the output


def _named(row: Row, measure: str) -> Row:
    what = {"value": row.get("metric"), "spearman": f"{row.get('mode')} block {row.get('block')}"}
    return {**row, "what": what.get(measure, f"{measure} {row.get('objective')}")}


def write(store: Path, output: Path, only: str | None = None, *, words: str | None = None, **where: Any) -> Path:
    """The whole page, or one figure of it."""
    e, found = gather(store, **where)
    folder = output / "thesis"
    folder.mkdir(parents=True, exist_ok=True)
    drawn = [f.name for f in FIGURES if only in (None, f.name) and f.draw(e, folder / f"{f.name}.png")]
    if only is not None:
        return folder / f"{only}.png"
    rows = means(e)
    if rows:
        with (folder / "means.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    target = output / "thesis.md"
    target.write_text(page(e, found, drawn, words or str(store)).rstrip() + "\n", encoding="utf-8")
    return target


INTRODUCTION = """# The thesis, run again

"Assessing the Interpretability of Large Language Models" (Oxford MSc thesis, 2022) asked whether explanations keep
their quality when the size and the architecture of a model change. This page repeats its experiments at the scale of
two CPU cores and judges its twenty-five claims by criteria that are written in `papers/thesis/claims.py` and were fixed
while the first models were being trained. Disagreement is a result: it may come from the scale, and it stands here
with the numbers that decided it.

```
assay run papers/thesis/augmented_sst.yaml --store ~/.cache/assay-thesis --threads 1
assay run papers/thesis/mnli.yaml --store ~/.cache/assay-thesis --threads 1
assay run papers/thesis/esnli.yaml --store ~/.cache/assay-thesis --threads 1
python papers/thesis/page.py --store ~/.cache/assay-thesis
```

What differs from the thesis: small models (table below; the sizes start from random weights, a Llama stands for
GPT-2), three trainings per model instead of one, fewer examples (200 on SST, 100 on NLI, instead of 500), attacks of
150 steps instead of 500 and with 8 nodes of IG, and sizes on SST only.
All means with intervals: [means.csv](thesis/means.csv).
"""
MODEL_NOTE = """E[1/n]: the mean rank % of a method that always ranks the cue first, for this tokenizer (on e-SNLI
the mean share of units that the annotators marked); a random method has it as its overlap. Parameters are those of
the model that was trained, of T5 the encoder."""
FIGURE_NOTE = """Lines: dark band = 95 % interval over examples (percentile bootstrap, as in the thesis), light band =
lowest to highest training. Bars: error bar = examples, dots = trainings. Dotted lines are named in the legend and have
no bands; means.csv has their intervals.

Plain gradients are summed over the embedding with their sign, as the text of the thesis implies. Where a LayerNorm is
the first to read the embeddings (BERT, RoBERTa and GPT-2, not T5 and Llama) that sum is 0 by construction: LayerNorm
ignores a shift common to all dimensions, so the gradient has no component along it, and the ranking is one of rounding
errors. `python papers/thesis/signed_sum.py` measures |sum| / norm: 1.6e-7 on the BERT and 2.2e-7 on the RoBERTa used
here, 0.61 on the Llama and 0.57 on the T5. A ranking of rounding errors may well fall below random, as claim 9 reports
for BERT. So what the claims say of plain gradients on these architectures says nothing about gradients; `gradient` in
Assay takes the norm unless told otherwise."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="folder that `assay run --store` wrote")
    parser.add_argument("--output", type=Path, default=Path("docs/results"))
    parser.add_argument("--only", choices=[f.name for f in FIGURES], help="draw this figure alone")
    given = parser.parse_args()
    print(write(given.store.expanduser(), given.output, given.only, words="~/.cache/assay-thesis"))


if __name__ == "__main__":
    main()
