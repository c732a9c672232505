"""The results page of the thesis: docs/results/thesis.md with its figures and tables, from the stores of its plans.

python papers/thesis/page.py --store ~/.cache/assay-thesis [--output docs/results] [--only FIGURE | --claim NUMBER]
Each figure and each verdict is a function of the stored rows alone; what has not been run is said to be so.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # run as a file: its neighbours are its modules

from claims import CLAIMS, Claim, Judged
from evidence import ARCHITECTURES, NAMES, SHORT, SIZES, Evidence, Part, Row, bare
from figures import FIGURES, MEASURES
from gather import PLANS, gather
from heat_maps import heat_maps
from words import (
    ATTACK_NOTE,
    FIGURE_NOTE,
    FINDINGS,
    INTRODUCTION,
    MODEL_NOTE,
    OUTPUT_NOTE,
    READING,
    SUCCESS_NOTE,
)

from assay.experiments.scheduler import State
from assay.experiments.status import Status
from assay.reports.aggregate import points
from assay.reports.figures import millions

TITLES = {"sst": "augmented SST", "mnli": "MultiNLI", "esnli": "e-SNLI"}
VERDICTS = ("reproduced", "not reproduced", "not testable here", "not run yet")


def judged(e: Evidence) -> list[dict[str, Judged]]:
    """Each claim on the probability, and on the logit where that may change it and has been run."""
    other = e.on("logit")
    ran = any(row["study"] == "logit" for rows in e.rows.values() for row in rows)
    return [{"probability": c.judge(e), **({"logit": c.judge(other)} if c.scaled and ran else {})} for c in CLAIMS]


def page(e: Evidence, found: Mapping[str, Status], drawn: Sequence[str], store: str, full: str = "") -> str:
    verdicts = judged(e)
    parts = [INTRODUCTION, _progress(found), _summary(verdicts), *([FINDINGS] if drawn else []), _model_table(e)]
    parts += [_figure_section(drawn, store), _output_table(e), _attack_table(e), full]
    return "\n".join([*parts, "## The claims, one by one", "", READING, *(_claim(v, drawn, store) for v in verdicts)])


def _progress(found: Mapping[str, Status]) -> str:
    done = {d: Counter(state.states.values()) for d, state in found.items()}
    says = "; ".join(f"{TITLES[d]}: {c['done']} of {sum(c.values())} jobs" for d, c in done.items())
    open_ = "; ".join(f"{TITLES[d]}: {words}" for d, state in found.items() if (words := _open(state)))
    late = f"**Not run yet**, so that claims about it rest on the rest: {open_}.\n" if open_ else ""
    return f"Done: {says}.\n{late}"


def _open(state: Status) -> str:
    """Studies that jobs are missing of, each with its models."""
    models: dict[str, list[str]] = {}
    for (study, model), counts in state.counts().items():
        if set(counts) - {State.done, State.skipped}:
            models.setdefault(study, []).append(model)
    return ", ".join(f"{study} ({' '.join(names)})" for study, names in models.items())


def _summary(verdicts: Sequence[Mapping[str, Judged]]) -> str:
    head = ["## Summary", "", "| claim | | probability | logit |", "|---|---|---|---|"]
    for v in verdicts:
        claim = v["probability"].claim
        link = f"[{claim.number}](#claim-{claim.number})"
        words = [_word(w) if (w := v.get(scale)) else claim.otherwise for scale in ("probability", "logit")]
        head.append(f"| {link} | {claim.title} | {words[0]} | {words[1]} |")
    count = Counter(v["probability"].verdict for v in verdicts)
    tail = ", ".join(f"{count[word]} {word}" for word in VERDICTS if count[word])
    note = (
        f"On the probability: {tail}. In brackets: statements that hold of those tested, and how many could not be "
        "tested because something was not run; *: trainings are missing."
    )
    return "\n".join([*head, "", note, ""])


def _word(found: Judged) -> str:
    late = sum(p.holds is None and p.testable for p in found.parts)
    score = [_score(found.parts), f"{late} not run" if late else ""]
    words = "; ".join(word for word in score if word)
    return found.verdict + (f" ({words})" if score[0] else "") + ("*" if found.lacking else "")


def _score(parts: Sequence[Part]) -> str:
    """How many statements hold of those tested; nothing if none was."""
    tested = [p for p in parts if p.holds is not None]
    return f"{sum(bool(p.holds) for p in tested)} of {len(tested)}" if tested else ""


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


def _output_table(e: Evidence) -> str:
    """Per model: what a cascade of broken blocks leaves of its output, beside the correlation of two methods."""
    shown = ("integrated_gradients", "average_attention")
    rows = [r for r in e.rows.get("sst", ()) if r["study"] == "randomisation" and r["mode"] == "cascading"]
    rows = [{**row, "method": bare(row["method"])} for row in rows]
    output = points([row for row in rows if row["method"] == shown[0]], ("grid", "block"), "value")
    rho = points(rows, ("grid", "method", "block"), "spearman")
    heads = ("model", "output", *(f"ρ of {SHORT[m]}" for m in shown))
    out = ["## What is left of a broken model", "", OUTPUT_NOTE, "", f"| {' | '.join(heads)} |", "|---" * 4 + "|"]
    for grid in (*SIZES, *ARCHITECTURES):
        blocks = sorted((block for g, block in output if g == grid), reverse=True)
        curves = [[output[grid, b].value for b in blocks]]
        curves += [[rho[grid, m, b].value for b in blocks if (grid, m, b) in rho] for m in shown]
        if blocks:
            cells = [" ".join(f"{v:.2f}" for v in curve) for curve in curves]
            out.append(f"| {' | '.join([NAMES.get(grid, grid), *cells])} |")
    return "\n".join([*out, ""]) if output else ""


def _attack_table(e: Evidence) -> str:
    """Per attack: how often the top changed within the constraint, and how far the ball reached."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for data, rows in e.rows.items():
        for row in rows:
            if "objective" in row and "succeeded" in row:
                name = NAMES.get(row["grid"], row["grid"])
                key = (TITLES[data], row["study"], name, row["method"].partition("(")[0], row["objective"])
                groups[key].append({**row, "seen": row["D_attacked"] - row["D_original"]})
    if not groups:
        return ""
    shares = {"succeeded": "succeeded", "within_constraint": "within its constraint"}
    means = {
        "rank_change": "rank change",
        "seen": "fall of the top's sum, as the attack saw it",
        "top_k_sum_change": "as measured",
        "epsilon_in_scale": "epsilon / scale of the embeddings",
    }
    columns = ("data", "study", "model", "method", "objective", "attacks", *shares.values(), *means.values())
    out = [
        "## Attacks, how many succeeded",
        "",
        SUCCESS_NOTE,
        "",
        f"| {' | '.join(columns)} |",
        "|---" * len(columns) + "|",
    ]
    for key, rows in groups.items():
        cells = [f"{sum(bool(row[n]) for row in rows)}" for n in shares]
        cells += [f"{sum(row[n] for row in rows) / len(rows):.2g}" for n in means]
        out.append(f"| {' | '.join([*key, str(len(rows)), *cells])} |")
    return "\n".join([*out, ""])


def full_attack(folder: Path) -> str:
    """What `full_attack.py` found: per setting and objective the means over its sentences."""
    path = folder / "full_attack.csv"
    if not path.is_file():
        return ""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            groups[row["objective"], row["setting"], row["nodes"]].append(row)
    numbers = ("steps", "rank_change", "top_k_sum_change", "probability_change", "seconds")
    columns = ("objective", "setting", "nodes", "sentences", *(f"mean {n}" for n in numbers), "succeeded")
    out = [
        "## The attack on IG in full",
        "",
        ATTACK_NOTE,
        "",
        f"| {' | '.join(columns)} |",
        "|---" * len(columns) + "|",
    ]
    for key, rows in sorted(groups.items()):
        means = [f"{sum(float(r[n]) for r in rows) / len(rows):.3g}" for n in numbers]
        succeeded = sum(r["succeeded"] == "True" for r in rows)
        out.append(f"| {' | '.join([*key, str(len(rows)), *means, str(succeeded)])} |")
    return "\n".join([*out, ""])


def _figure_section(drawn: Sequence[str], store: str) -> str:
    out = ["## Figures", "", FIGURE_NOTE, ""]
    for figure in FIGURES:
        if figure.name in drawn:
            command = f"python papers/thesis/page.py --store {store} --only {figure.name}"
            out += [f"### {figure.title}", "", f"![{figure.title}](thesis/{figure.name}.png)", "", f"`{command}`", ""]
    missing = [f.title for f in FIGURES if f.name not in drawn]
    return "\n".join([*out, *([f"Not run yet: {'; '.join(missing)}.", ""] if missing else [])])


def _claim(verdicts: Mapping[str, Judged], drawn: Sequence[str], store: str) -> str:
    claim = verdicts["probability"].claim
    out = [f'<a id="claim-{claim.number}"></a>', f"### {claim.number}. {claim.title}", "", claim.criterion, ""]
    for scale, found in verdicts.items():
        out += [*_verdict(found, f" (gradients of the {scale})" if len(verdicts) > 1 else ""), ""]
    pictures = [name for name in claim.figures if name in drawn]
    if pictures:
        out += [
            "<details><summary>Figures</summary>",
            "",
            *(f"![{n}](thesis/{n}.png)\n" for n in pictures),
            "</details>",
            "",
        ]
    return "\n".join([*out, f"`{rerun(claim, store)}`", ""])


def _verdict(found: Judged, scale: str) -> Iterator[str]:
    score = _score(found.parts)
    yield from (f"**{found.verdict}**{scale}{f', {score} statements hold' if score else ''}.", "")
    if found.lacking:
        yield from (f"Provisional: trainings so far {'; '.join(found.lacking)}.", "")
    yield from _statements(found.parts)


def rerun(claim: Claim, store: str) -> str:
    """One line that runs what a claim needs and judges it."""
    runs = [f"assay run papers/thesis/{PLANS[data]} --store {store} --threads 1" for data in claim.data]
    return " && ".join([*runs, f"python papers/thesis/page.py --store {store} --claim {claim.number}"])


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


def one_claim(store: Path, number: int, words: str) -> str:
    """What the page says of one claim."""
    claim = next(c for c in CLAIMS if c.number == number)
    e, _ = gather(store, {data: PLANS[data] for data in claim.data})
    scales = [e, e.on("logit")] if claim.scaled else [e]
    return _claim({s.scale: claim.judge(s) for s in scales}, [], words)


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
    heat_maps(found, folder / "attacked.html")
    target = output / "thesis.md"
    target.write_text(page(e, found, drawn, words or str(store), full_attack(folder)).rstrip() + "\n", encoding="utf-8")
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="folder that `assay run --store` wrote")
    parser.add_argument("--output", type=Path, default=Path("docs/results"))
    parser.add_argument("--only", choices=[f.name for f in FIGURES], help="draw this figure alone")
    parser.add_argument("--claim", type=int, choices=[c.number for c in CLAIMS], help="judge this claim alone")
    given = parser.parse_args()
    store, words = given.store.expanduser(), "~/.cache/assay-thesis"
    if given.claim is not None:
        print(one_claim(store, given.claim, words))
    else:
        print(write(store, given.output, given.only, words=words))


if __name__ == "__main__":
    main()
