"""Write the results page of the thesis: results.md, its figures and tables, from the store of its plans.

python -m reproductions.thesis.page --store ~/.cache/assay-thesis [--output FOLDER] [--only FIGURE | --claim NUMBER]
Figures and verdicts depend on the stored rows only; missing runs are marked.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.experiments.scheduler import State
from assay.experiments.status import Status
from assay.reports.aggregate import points
from assay.reports.figures import millions

from .claims import CLAIMS, Claim, Judgement
from .evidence import ARCHITECTURES, NAMES, SHORT, SIZES, Evidence, Row, Statement, bare
from .figures import FIGURES, MEASURES
from .heat_maps import heat_maps
from .records import HERE, PLANS, read_evidence
from .texts import (
    ATTACK_NOTE,
    FIGURE_NOTE,
    FINDINGS,
    INTRODUCTION,
    MODEL_NOTE,
    OUTPUT_NOTE,
    READING,
    SUCCESS_NOTE,
)

TITLES = {"sst": "augmented SST", "mnli": "MultiNLI", "esnli": "e-SNLI"}
VERDICTS = ("reproduced", "not reproduced", "not testable here", "not run yet")


def judge_claims(e: Evidence) -> list[dict[str, Judgement]]:
    """Each claim for the probability, and for the logit if that can change it and has been run."""
    logit = e.on("logit")
    ran = any(row["study"] == "logit" for rows in e.rows.values() for row in rows)
    return [{"probability": c.judge(e), **({"logit": c.judge(logit)} if c.scaled and ran else {})} for c in CLAIMS]


def page(e: Evidence, states: Mapping[str, Status], figures: Sequence[str], store: str, full_attack: str = "") -> str:
    verdicts = judge_claims(e)
    parts = [INTRODUCTION, _progress(states), _summary(verdicts), *([FINDINGS] if figures else []), _model_table(e)]
    parts += [_figure_section(figures, store), _output_table(e), _attack_table(e), full_attack]
    return "\n".join([*parts, "## Claims", "", READING, *(_claim(v, figures, store) for v in verdicts)])


def _progress(states: Mapping[str, Status]) -> str:
    done = {d: Counter(state.states.values()) for d, state in states.items()}
    counts = "; ".join(f"{TITLES[d]}: {c['done']} of {sum(c.values())} jobs" for d, c in done.items())
    unfinished = "; ".join(f"{TITLES[d]}: {names}" for d, state in states.items() if (names := _unfinished(state)))
    note = f"**Not run yet**, and left out of the claims: {unfinished}.\n" if unfinished else ""
    return f"Done: {counts}.\n{note}"


def _unfinished(state: Status) -> str:
    """Studies with missing jobs, each with its models."""
    models: dict[str, list[str]] = {}
    for (study, model), counts in state.counts().items():
        if set(counts) - {State.done, State.skipped}:
            models.setdefault(study, []).append(model)
    return ", ".join(f"{study} ({' '.join(names)})" for study, names in models.items())


def _summary(verdicts: Sequence[Mapping[str, Judgement]]) -> str:
    head = ["## Summary", "", "| claim | | probability | logit |", "|---|---|---|---|"]
    for v in verdicts:
        claim = v["probability"].claim
        link = f"[{claim.number}](#claim-{claim.number})"
        cells = [_short_verdict(j) if (j := v.get(scale)) else claim.otherwise for scale in ("probability", "logit")]
        head.append(f"| {link} | {claim.title} | {cells[0]} | {cells[1]} |")
    count = Counter(v["probability"].verdict for v in verdicts)
    tail = ", ".join(f"{count[word]} {word}" for word in VERDICTS if count[word])
    note = (
        f"On the probability: {tail}. In brackets: how many of the tested statements hold, and how many were not "
        "tested because of missing runs; *: trainings are missing."
    )
    return "\n".join([*head, "", note, ""])


def _short_verdict(judgement: Judgement) -> str:
    not_run = sum(s.holds is None and s.testable for s in judgement.statements)
    counts = [_score(judgement.statements), f"{not_run} not run" if not_run else ""]
    note = "; ".join(count for count in counts if count)
    return judgement.verdict + (f" ({note})" if counts[0] else "") + ("*" if judgement.missing else "")


def _score(statements: Sequence[Statement]) -> str:
    """How many of the tested statements hold; empty if none was tested."""
    tested = [s for s in statements if s.holds is not None]
    return f"{sum(bool(s.holds) for s in tested)} of {len(tested)}" if tested else ""


def _model_table(e: Evidence) -> str:
    columns = (
        "data",
        "model",
        "base model",
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
    """Per model: its output under cascading randomisation, beside the correlation of two methods."""
    shown = ("integrated_gradients", "average_attention")
    rows = [r for r in e.rows.get("sst", ()) if r["study"] == "randomisation" and r["mode"] == "cascading"]
    rows = [{**row, "method": bare(row["method"])} for row in rows]
    output = points([row for row in rows if row["method"] == shown[0]], ("grid", "block"), "value")
    rho = points(rows, ("grid", "method", "block"), "spearman")
    heads = ("model", "output", *(f"ρ of {SHORT[m]}" for m in shown))
    out = ["## Output of a randomised model", "", OUTPUT_NOTE, "", f"| {' | '.join(heads)} |", "|---" * 4 + "|"]
    for grid in (*SIZES, *ARCHITECTURES):
        blocks = sorted((block for g, block in output if g == grid), reverse=True)
        curves = [[output[grid, b].value for b in blocks]]
        curves += [[rho[grid, m, b].value for b in blocks if (grid, m, b) in rho] for m in shown]
        if blocks:
            cells = [" ".join(f"{v:.2f}" for v in curve) for curve in curves]
            out.append(f"| {' | '.join([NAMES.get(grid, grid), *cells])} |")
    return "\n".join([*out, ""]) if output else ""


def _attack_table(e: Evidence) -> str:
    """Per attack: how often it succeeded within its constraint, and the size of its epsilon ball."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for data, rows in e.rows.items():
        for row in rows:
            if "objective" in row and "succeeded" in row:
                name = NAMES.get(row["grid"], row["grid"])
                key = (TITLES[data], row["study"], name, row["method"].partition("(")[0], row["objective"])
                groups[key].append({**row, "attacked_sum_change": row["D_attacked"] - row["D_original"]})
    if not groups:
        return ""
    shares = {"succeeded": "succeeded", "within_constraint": "within its constraint"}
    means = {
        "rank_change": "rank change",
        "attacked_sum_change": "top-k sum change with the attacked points",
        "top_k_sum_change": "top-k sum change as measured",
        "epsilon_in_scale": "epsilon / scale of the embeddings",
    }
    columns = ("data", "study", "model", "method", "objective", "attacks", *shares.values(), *means.values())
    out = [
        "## Success of attacks",
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


def full_attack_table(folder: Path) -> str:
    """The results of full_attack.py: means over sentences per setting and objective."""
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
        "## The full attack on IG",
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


def _figure_section(figures: Sequence[str], store: str) -> str:
    out = ["## Figures", "", FIGURE_NOTE, ""]
    for figure in FIGURES:
        if figure.name in figures:
            command = f"python -m reproductions.thesis.page --store {store} --only {figure.name}"
            out += [f"### {figure.title}", "", f"![{figure.title}](figures/{figure.name}.png)", "", f"`{command}`", ""]
    missing = [f.title for f in FIGURES if f.name not in figures]
    return "\n".join([*out, *([f"Not run yet: {'; '.join(missing)}.", ""] if missing else [])])


def _claim(verdicts: Mapping[str, Judgement], figures: Sequence[str], store: str) -> str:
    claim = verdicts["probability"].claim
    out = [f'<a id="claim-{claim.number}"></a>', f"### {claim.number}. {claim.title}", "", claim.criterion, ""]
    for scale, judgement in verdicts.items():
        out += [*_verdict(judgement, f" (gradients of the {scale})" if len(verdicts) > 1 else ""), ""]
    own_figures = [name for name in claim.figures if name in figures]
    if own_figures:
        out += [
            "<details><summary>Figures</summary>",
            "",
            *(f"![{n}](figures/{n}.png)\n" for n in own_figures),
            "</details>",
            "",
        ]
    return "\n".join([*out, f"`{rerun_command(claim, store)}`", ""])


def _verdict(judgement: Judgement, scale: str) -> Iterator[str]:
    score = _score(judgement.statements)
    yield from (f"**{judgement.verdict}**{scale}{f', {score} statements hold' if score else ''}.", "")
    if judgement.missing:
        yield from (f"Provisional: trainings so far {'; '.join(judgement.missing)}.", "")
    yield from _statements(judgement.statements)


def rerun_command(claim: Claim, store: str) -> str:
    """One line that runs the plans of a claim and judges it."""
    runs = [f"assay run reproductions/thesis/{PLANS[data]} --store {store} --threads 1" for data in claim.data]
    return " && ".join([*runs, f"python -m reproductions.thesis.page --store {store} --claim {claim.number}"])


def _statements(statements: Sequence[Statement]) -> Iterator[str]:
    """Failing statements as a list, the others folded, untested ones counted."""
    fails, holds = ([s.text for s in statements if s.holds is value] for value in (False, True))
    yield from (f"- ✗ {text}" for text in fails)
    if fails:
        yield ""
    if holds:
        yield from (
            f"<details><summary>{len(holds)} statements hold</summary>",
            "",
            *(f"- ✓ {text}" for text in holds),
            "",
        )
        yield from ("</details>", "")
    untested = [s for s in statements if s.holds is None]
    if untested:
        yield from (f"{len(untested)} not tested, e.g. {untested[0].text}.", "")


def means(e: Evidence) -> list[dict[str, Any]]:
    """Every mean of every study with its interval over examples and range over trainings."""
    out = []
    for data, rows in e.rows.items():
        for measure in ("value", "spearman", *MEASURES):
            measured = [_named(row, measure) for row in rows if "example" in row and _has(row, measure)]
            by_key = points(measured, ("study", "grid", "method", "what"), measure)
            for (study, grid, method, what), p in by_key.items():
                low, high = p.spread
                numbers = {"mean": p.value, "low": p.low, "high": p.high, "lowest_run": low, "highest_run": high}
                tags = {"data": data, "study": study, "model": grid, "method": method, "metric": what}
                shown = {name: f"{number:.4g}" for name, number in numbers.items()}
                out.append({**tags, **shown, "runs": len(p.runs), "examples": p.n})
    return out


def _has(row: Row, measure: str) -> bool:
    return measure in row and (measure != "value" or "metric" in row)  # in a randomisation `value` is the output


def _named(row: Row, measure: str) -> Row:
    what = {"value": row.get("metric"), "spearman": f"{row.get('mode')} block {row.get('block')}"}
    return {**row, "what": what.get(measure, f"{measure} {row.get('objective')}")}


def claim_section(store: Path, number: int, shown_store: str) -> str:
    """The section of one claim."""
    claim = next(c for c in CLAIMS if c.number == number)
    e, _ = read_evidence(store, {data: PLANS[data] for data in claim.data})
    scales = [e, e.on("logit")] if claim.scaled else [e]
    return _claim({s.scale: claim.judge(s) for s in scales}, [], shown_store)


def write(store: Path, output: Path, only: str | None = None, *, shown_store: str | None = None, **plans: Any) -> Path:
    """Write the whole page, or one figure. `shown_store`: the store as printed in commands."""
    e, states = read_evidence(store, **plans)
    folder = output / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    figures = [f.name for f in FIGURES if only in (None, f.name) and f.draw(e, folder / f"{f.name}.png")]
    if only is not None:
        return folder / f"{only}.png"
    rows = means(e)
    if rows:
        with (output / "means.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    heat_maps(states, output / "attacked.html")
    target = output / "results.md"
    text = page(e, states, figures, shown_store or str(store), full_attack_table(output))
    target.write_text(text.rstrip() + "\n", encoding="utf-8")
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="store folder of `assay run`")
    parser.add_argument("--output", type=Path, default=HERE)
    parser.add_argument("--only", choices=[f.name for f in FIGURES], help="draw only this figure")
    parser.add_argument(
        "--claim", type=int, choices=[c.number for c in CLAIMS], help="judge only this claim and print it"
    )
    options = parser.parse_args()
    store, shown_store = options.store.expanduser(), "~/.cache/assay-thesis"
    if options.claim is not None:
        print(claim_section(store, options.claim, shown_store))
    else:
        print(write(store, options.output, options.only, shown_store=shown_store))


if __name__ == "__main__":
    main()
