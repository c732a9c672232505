"""The results page of ROAR: docs/results/roar.md with its figures and tables, from the store of its plans.

    python papers/roar/page.py --store ~/.cache/assay-roar/store [--output docs/results]

Each figure and each verdict is a function of the stored records alone; what has not been run is said to be so.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # run as a file: its neighbours are its modules

from judged import CLAIMS, IG, LSTM, TRANSFORMER, Evidence, Place
from published import AREAS, MINUTES, REFERENCE, UNMASKED, Number
from vectors import lines as vector_lines

from assay.evaluation.roar.curves import Score
from assay.evaluation.roar.curves import curves as scores_of
from assay.experiments.plan import read_plan
from assay.experiments.roar import Curves, curves
from assay.experiments.store import Store
from assay.reports.bands import Point
from assay.reports.figures import Panel, over
from assay.statistics.bootstrap import interval

HERE = Path(__file__).parent
NAMES = {
    "input_x_gradient": "input x gradient",
    "integrated_gradients": IG,
    "weighted_integrated_gradients": "weighted IG",
}
ORDER = ("attention", "gradient", "input x gradient", IG, "weighted IG", "occlusion", "random")
WORDS = {True: "confirmed", False: "refuted", None: "not run yet"}


@dataclass(frozen=True)
class Task:
    """A part of a plan, as the paper calls it."""

    plan: str
    grid: str
    data: str  # in the plan
    place: Place
    score: Score


TASKS = (
    Task("sst.yaml", "bilstm", "sst", ("SST", LSTM), "macro_f1"),
    Task("babi.yaml", "babi1", "babi1", ("bAbI-1", LSTM), "accuracy"),
    Task("babi.yaml", "babi2", "babi2", ("bAbI-2", LSTM), "accuracy"),
    Task("snli.yaml", "bilstm", "snli", ("SNLI", LSTM), "micro_f1"),
    Task("imdb.yaml", "bilstm", "imdb", ("IMDB", LSTM), "macro_f1"),
    Task("minilm.yaml", "minilm", "sst", ("SST", TRANSFORMER), "macro_f1"),
    Task("minilm.yaml", "minilm", "snli", ("SNLI", TRANSFORMER), "micro_f1"),
    Task("minilm.yaml", "minilm", "babi1", ("bAbI-1", TRANSFORMER), "accuracy"),
)
SCORES = {task.place: task.score for task in TASKS}


# --- what the store holds --------------------------------------------------------------------------------------------


def gather(store: Store, tasks: Sequence[Task] = TASKS, folder: Path = HERE) -> Evidence:
    """Curves of every study that has any, and their areas."""
    plans = {name: curves(read_plan(folder / name, store), store) for name in dict.fromkeys(t.plan for t in tasks)}
    found: dict[tuple[Place, str], Curves] = {}
    for task in tasks:
        for part in plans[task.plan]:
            if (part.grid, part.data) == (task.grid, task.data):
                found[task.place, part.study] = renamed(part)
    scores = {task.place: task.score for task in tasks}
    return Evidence(found, {key: part.judged(scores[key[0]]) for key, part in found.items()})


def renamed(part: Curves) -> Curves:
    """With the paper's names of the measures."""
    names = {m: NAMES.get(bare := m.partition("(")[0], bare) for m in [*part.predicted, *part.sparsity, *part.seconds]}

    def by_name(values: Mapping[str, object]) -> dict[str, object]:
        return {names[m]: v for m, v in values.items() if m in names}

    fields = ("seeds", "predicted", "sparsity", "seconds", "outside")
    return replace(part, **{name: by_name(getattr(part, name)) for name in fields})


# --- figures ---------------------------------------------------------------------------------------------------------


def points(part: Curves, score: Score, scale: float = 100.0) -> dict[tuple[float, str], Point]:
    """(share masked in per cent, measure): mean with its band, and every seed."""
    out = {}
    for method, band in part.bands(score).items():
        seeds = scores_of(part.predicted[method], part.gold, score)[0]  # (S,I)
        for i, ratio in enumerate(part.ratios):
            where = float(band.mean[i]), float(band.low[i]), float(band.high[i])
            out[round(scale * ratio, 6), method] = Point(*where, tuple(seeds[:, i].tolist()), len(part.gold))
    return out


def panels(e: Evidence, study: str, model: str, dotted: str | None = None, scale: float = 100.0) -> list[Panel]:
    made = []
    for (place, name), part in e.curves.items():
        if name == study and place[1] == model:
            other = e.curves.get((place, dotted)) if dotted else None
            drawn = {} if other is None else points(other, SCORES[place], scale)
            drawn = {key: point for key, point in drawn.items() if key[1] != "random"}  # it is the same
            if dotted is None or drawn:
                made.append(Panel(place[0], SCORES[place], points(part, SCORES[place], scale), drawn))
    return made


def sparsity_panels(e: Evidence, model: str, kind: str) -> list[Panel]:
    made = []
    for (place, study), part in e.curves.items():
        if study == "recursive" and place[1] == model and part.sparsity:
            at = {
                (int(name.removeprefix(kind)), m): Point(v, v, v, (v,), 0)
                for m, values in part.sparsity.items()
                for name, v in values.items()
                if name.startswith(kind)
            }
            made.append(Panel(place[0], "share of the mass", at))
    return made


def synthetic_panel(e: Evidence) -> Panel:
    at = {(k, name): Point(v, v, v, (v,), 0) for name, row in e.synthetic.items() for k, v in enumerate(row)}
    return Panel("", "test accuracy", at)


def draw(e: Evidence, folder: Path) -> dict[str, str]:
    """Every figure that the evidence allows: file name -> what the paper calls it."""
    masked, words = "% of words masked", "words masked"
    wanted = {
        "synthetic": ("3: the synthetic problem", [synthetic_panel(e)], "features removed", ""),
        "recursive_lstm": ("4: Recursive ROAR, LSTM", panels(e, "recursive", LSTM), masked, ""),
        "recursive_transformer": ("4: Recursive ROAR, MiniLM", panels(e, "recursive", TRANSFORMER), masked, ""),
        "sparsity_top": ("5: mass of the top words, LSTM", sparsity_panels(e, LSTM, "top_"), "top words", ""),
        "sparsity_share": ("6: mass of the top share, LSTM", sparsity_panels(e, LSTM, "share_"), "% of words", ""),
        "one_token": ("7: one word at a time, LSTM", panels(e, "one_token", LSTM, scale=10), words, ""),
        "roar_lstm": ("8: ROAR against Recursive ROAR, LSTM", panels(e, "recursive", LSTM, "roar"), masked, "ROAR"),
        "roar_transformer": ("9: the same with MiniLM", panels(e, "recursive", TRANSFORMER, "roar"), masked, "ROAR"),
        "measurable": ("Beyond the paper: a measurable model", panels(e, "measurable", LSTM), masked, ""),
    }
    made = {}
    for name, (title, found, axis, note) in wanted.items():
        if found:
            over(found, folder / f"{name}.png", axis, note=note, order=ORDER)
            made[name] = title
    return made


# --- tables ----------------------------------------------------------------------------------------------------------


def percent(value: float, low: float, high: float) -> str:
    if np.isnan(low):
        return f"{100 * value:.1f}"
    return f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def published(number: Number | None) -> str:
    return "–" if number is None else f"{number[0]:g} [{number[0] - number[2]:.1f}, {number[0] + number[1]:.1f}]"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def unmasked(e: Evidence) -> str:
    """Tables 1 and 3."""
    rows = []
    for (place, study), part in e.curves.items():
        if study == "recursive":
            seeds = scores_of(part.predicted["random"], part.gold, SCORES[place])[0][:, 0]
            ours = (
                percent(float(seeds.mean()), *((i := interval(seeds)).low, i.high))
                if len(seeds) > 1
                else f"{100 * seeds[0]:.1f}"
            )
            floor = scores_of(part.predicted["random"], part.gold, SCORES[place])[0][:, -1].mean()
            reference = str(REFERENCE.get(place[0], "–")) if place[1] == LSTM else "–"
            paper = published(UNMASKED.get(place))
            rows.append(
                [place[0], place[1], SCORES[place], ours, str(len(seeds)), paper, reference, f"{100 * floor:.1f}"]
            )
    heads = ("data", "model", "score", "here, seeds' BCa", "seeds", "paper", "Jain & Wallace", "all masked, here")
    return table(heads, rows)


def areas(e: Evidence, study: str = "recursive") -> str:
    """Table 2."""
    rows = []
    for (place, name), found in e.areas.items():
        for m in sorted(found, key=lambda m: ORDER.index(m) if m in ORDER else len(ORDER)):
            f = found[m]
            if name == study:
                spans = [percent(f.value, i.low, i.high) for i in (f.both, f.bca)]
                paper = AREAS.get(place, {}).get(IG if m == "weighted IG" else m)
                rows.append([*place, m, *spans, str(len(f.seeds)), published(paper), f.verdict, _within(f, paper)])
    heads = (
        "data",
        "model",
        "measure",
        "area %, seeds and texts",
        "BCa over seeds",
        "seeds",
        "paper",
        "verdict",
        "meets",
    )
    return table(heads, rows)


def _within(f: object, paper: Number | None) -> str:
    """Whether the two intervals meet."""
    both = f.both  # type: ignore[attr-defined]
    if paper is None or np.isnan(both.low):
        return "–"
    return "yes" if 100 * both.low <= paper[0] + paper[1] and 100 * both.high >= paper[0] - paper[2] else "no"


def walltime(e: Evidence) -> str:
    """Table 7."""
    rows = []
    for (place, study), part in e.curves.items():
        if study == "recursive":
            for m, spent in part.seconds.items():
                paper = MINUTES.get(place, {}).get(m)
                ours = sum(spent.values()) / 60
                cells = [f"{spent.get(name, 0):.0f}" for name in ("explain", "train")]
                rows.append([*place, m, *cells, f"{ours:.1f}", "–" if paper is None else str(paper)])
    heads = (
        "data",
        "model",
        "measure",
        "s explaining",
        "s training",
        "min per step, one core",
        "min per step, paper's GPU",
    )
    return table(heads, rows)


def side_by_side(e: Evidence) -> Iterator[str]:
    """A measurable model beside Recursive ROAR on SST: areas, order, in-distribution check, cost."""
    one, many = (e.of("SST", LSTM, study) for study in ("measurable", "recursive"))
    if not one:
        yield "Not run yet.\n"
        return
    part = e.curves[("SST", LSTM), "measurable"]
    rows = []
    for m, f in one.items():
        cell = percent(many[m].value, many[m].both.low, many[m].both.high) if m in many else "–"
        shares = [f"{100 * part.outside[m][i]:.0f}" for i in (0, len(part.ratios) // 2, -1)]
        rows.append([m, percent(f.value, f.both.low, f.both.high), cell, " / ".join(shares)])
    yield table(("measure", "measurable model", "Recursive ROAR", "unknown inputs % at 0 / 50 / 100 % (MaSF)"), rows)
    both = [m for m in one if m in many]
    if len(both) > 1:
        orders = [" > ".join(sorted(both, key=lambda m: -found[m].value)) for found in (one, many)]
        yield f"Order: {orders[0]} from one model; {orders[1]} from Recursive ROAR.\n"
    other = e.curves.get((("SST", LSTM), "recursive"))
    if other is not None:
        steps = len(other.ratios) - 2
        again = sum(steps * sum(s.values()) for s in other.seconds.values()) / 60
        spent = [s for m, s in part.seconds.items() if m != "occlusion"]
        once = (sum(s.get("explain", 0) for s in spent) + sum(s.get("train", 0) for s in spent)) / 60
        yield f"Cost of one seed: {once:.0f} min (without occlusion) against {again:.0f} min.\n"


# --- the page --------------------------------------------------------------------------------------------------------


def page(e: Evidence, figures: Mapping[str, str], vectors: Sequence[str] = ()) -> str:
    parts = [INTRODUCTION, "## Claims\n", claims(e), "## Without masks (Tables 1 and 3)\n", unmasked(e)]
    parts += [VECTORS, *vectors, ""] if vectors else []
    parts += ["## Areas of Recursive ROAR (Table 2)\n", areas(e), NOTE, "## Areas of ROAR\n", areas(e, "roar")]
    parts += ["## The weighted variant of IG that was published\n", areas(e, "weighted")]
    parts += ["## Faithfulness without retraining\n", *side_by_side(e), "## Walltime (Table 7)\n", walltime(e)]
    parts += [
        "## Figures\n",
        *(f"### Figure {title}\n\n![{title}](roar/{name}.png)\n" for name, title in figures.items()),
    ]
    return "\n".join(parts)


def claims(e: Evidence) -> str:
    rows = []
    for number, (title, judge) in CLAIMS.items():
        holds, words = judge(e)
        criterion = " ".join((judge.__doc__ or "").split())
        rows.append([number, f"{title}. *{criterion}*", f"**{WORDS[holds]}**", words])
    return table(("", "claim and criterion", "verdict", "evidence"), rows)


INTRODUCTION = """# ROAR and Recursive ROAR, run again

Madsen, Meade, Adlakha and Reddy, "Evaluating the Faithfulness of Importance Measures in NLP by Recursively Masking
Allegedly Important Tokens and Retraining" (Findings of EMNLP 2022), at the scale of two CPU cores.

```
python papers/roar/data.py                                       # the paper's splits and preprocessing
papers/roar/run.sh                                               # all plans, two workers, goes on where it was
python papers/roar/page.py --store ~/.cache/assay-roar/store     # this page
```

What differs from the paper: word vectors from the table of a pretrained encoder (granite-embedding-30m, chosen by
validation macro-F1, see below) instead of fastText and GloVe; trainings stop when validation has stopped improving; IG
has six Gauss-Legendre points, which rank words as 500 right Riemann points do, more nearly than the paper's 50
(`python papers/roar/riemann.py --store ~/.cache/assay-roar/store` prints how nearly; MiniLM has ten); SNLI has 10,000
training pairs, IMDB 1,500 reviews and steps of 20 %; a six-layer MiniLM with 1,500 training examples stands for
RoBERTa; MIMIC is not to be had.
"""
VECTORS = """SST's word vectors were chosen on the validation split (`assay run papers/roar/embeddings.yaml --store
~/.cache/assay-roar/store --threads 1`, then `python papers/roar/vectors.py --store ~/.cache/assay-roar/store`):
"""
NOTE = """Intervals in the first column are over seeds and test examples drawn together, and decide the verdict. A BCa
interval from five seeds covers only about 84 %. The paper's IG numbers belong to the weighted variant; IG here is the
formula, and the variant has its own table. "meets": whether our interval and the paper's overlap.
"""


def write(store: Path, output: Path) -> Path:
    kept = Store(store.expanduser())
    e = gather(kept)
    folder = output / "roar"
    folder.mkdir(parents=True, exist_ok=True)
    target = output / "roar.md"
    target.write_text(page(e, draw(e, folder), vector_lines(kept)).rstrip() + "\n", encoding="utf-8")
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, required=True, help="folder that `assay run --store` wrote")
    parser.add_argument("--output", type=Path, default=Path("docs/results"))
    given = parser.parse_args()
    print(f"wrote {write(given.store, given.output)}")


if __name__ == "__main__":
    main()
