"""`assay roar`: mask what methods call important, train again, and see which of them were right."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.cli._options import StoreFolder
from assay.cli._output import command, writable, write_json
from assay.cli._run import Lines, resumable, tell, would_run
from assay.core.errors import SpecError, nearest
from assay.core.spec import split as split_specs

if TYPE_CHECKING:
    from assay.evaluation.roar.verdict import Faithfulness
    from assay.statistics.bootstrap import Interval
    from assay.studies.roar.curves import Curves

SCORES = ("macro_f1", "micro_f1", "accuracy")
ENCODER = (
    "recipe(epochs=3, batch_size=16, learning_rate=2e-05, betas=[0.9, 0.98], clip=None, selection={})"  # RoBERTa's
)


def run(
    data: Annotated[str, typer.Option(help="folder, hub id or spec with the splits train and test, and best a dev")],
    model_family: Annotated[
        str | None, typer.Option(help="family to train from nothing: bilstm_attention, or 'bert(layers=2, width=64)'")
    ] = None,
    base: Annotated[str | None, typer.Option(help="pretrained folder or hub id to fine-tune instead")] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="attention, gradient, input_x_gradient, integrated_gradients, published_integrated_gradients, "
            "or any spec of `assay list methods`; random is always there"
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="how many trainings; the paper has 5")] = 5,
    recursive: Annotated[
        bool, typer.Option("--recursive/--no-recursive", help="explain each retrained model anew, or the first only")
    ] = True,
    both: Annotated[bool, typer.Option("--both", help="ROAR and Recursive ROAR; they share what they can")] = False,
    measurable: Annotated[
        bool, typer.Option("--measurable", help="train one model with masks and take the curves from it alone")
    ] = False,
    step: Annotated[int, typer.Option(help="per cent of the words per step, or words with --count")] = 10,
    count: Annotated[bool, typer.Option("--count", help="mask so many words instead of a share")] = False,
    last: Annotated[int | None, typer.Option(help="the last step; default: 100 per cent, or 10 words")] = None,
    signed: Annotated[bool, typer.Option("--signed", help="rank by signed scores, not by absolute values")] = False,
    target: Annotated[str, typer.Option(help="gold or predicted: the class that is explained")] = "gold",
    score: Annotated[str, typer.Option(help="macro_f1, micro_f1 or accuracy")] = "macro_f1",
    clip: Annotated[bool, typer.Option("--clip", help="areas clipped to [-1, 1], as published code has it")] = False,
    recipe: Annotated[str | None, typer.Option(help="how to train; default: the paper's")] = None,
    limit: Annotated[int | None, typer.Option(help="train on a random subset of so many")] = None,
    validation_limit: Annotated[int | None, typer.Option(help="validate on a random subset of so many")] = None,
    test: Annotated[str, typer.Option(help="split that the models are tested on")] = "test",
    test_limit: Annotated[int | None, typer.Option(help="test on a random subset of so many")] = None,
    max_length: Annotated[int | None, typer.Option(help="positions after which a text is cut; default 512")] = None,
    store: StoreFolder = None,
    engine: Annotated[str, typer.Option(help="local or ray")] = "local",
    workers: Annotated[int | None, typer.Option(min=1, help="of the ray engine; default: one per core")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="of each worker; default: cores / workers")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would be run")] = False,
    report: Annotated[Path | None, typer.Option(help="also write a page with curves, areas and verdicts here")] = None,
    as_json: Annotated[Path | None, typer.Option("--json", help="also write curves, areas and walltimes here")] = None,
) -> None:
    """Remove and retrain. Interrupted, the same command goes on where it was."""
    options = dict(locals())
    writable(report, as_json)
    from assay.experiments.plan import make_plan, part_of
    from assay.experiments.runner import run as run_plan
    from assay.experiments.store import Store, default_folder
    from assay.experiments.yaml_node import YamlNode

    if score not in SCORES:
        raise SpecError(f"--score {score}: {nearest(score, SCORES)}")
    if base is not None:
        from assay.models.load import check_there

        check_there(base)
    warnings.filterwarnings("ignore", message="an input is longer")  # one for each
    kept = Store(store if store is not None else default_folder())
    plan = make_plan(YamlNode("roar", "roar", content(options)), kept)
    console = Console(highlight=False, soft_wrap=True)
    only = {"study": "measurable"} if measurable and not both else {}  # which needs no model trained without masks
    if dry_run:
        would_run(console, part_of(plan, only), kept)
        return
    how: dict[str, Any] = {"engine": engine, "workers": workers, "threads": threads, "only": only}
    with resumable():
        ended = run_plan(plan, store=kept.folder, watch=Lines(), **how)
    _show(console, plan, kept, options)
    tell(console, ended)
    if not ended.ok:
        raise typer.Exit(1)


def content(options: dict[str, Any]) -> dict[str, Any]:
    """The command as a plan."""
    given = [options["model_family"], options["base"]]
    if sum(g is not None for g in given) != 1:
        raise SpecError("say what is trained: --model-family (from nothing) or --base (pretrained), one of the two")
    from assay.experiments.references import bare
    from assay.studies.roar.study import METHODS

    start, name = next(g for g in given if g is not None), bare(options["data"])
    if options["model_family"] is not None and "(" not in start:
        start = f"{start}()"
    wanted = [options["recursive"]] if not options["both"] else [True, False]
    study = {key: options[key] for key in ("step", "last", "signed", "target", "test", "test_limit")}
    study |= {"kind": "roar", "by": "count" if options["count"] else "share", "data": "trained_on"}
    if options["methods"] is not None:
        study["methods"] = split_specs(options["methods"])
    elif not start.startswith("bilstm_attention"):  # the paper's attention is the BiLSTM's
        study["methods"] = [method for method in METHODS if method != "attention"]
    model = {key: options[key] for key in ("limit", "validation_limit", "max_length") if options[key] is not None}
    model |= {"train": start, "on": name, "seeds": list(range(options["seeds"]))}
    recipe = options["recipe"] or _recipe(start, options["data"])
    names = {True: "recursive", False: "roar"}
    studies = {names[r]: {**_given(study), "recursive": r} for r in wanted}
    if options["measurable"]:
        studies = {"measurable": _measurable(options, study)} | (studies if options["both"] else {})
    return {
        "name": "roar",
        "data": {name: options["data"]},
        "models": {"model": {**model, "recipe": recipe}},
        "studies": studies,
    }


def _measurable(options: dict[str, Any], study: dict[str, Any]) -> dict[str, Any]:
    if options["count"] or options["last"] is not None:
        raise SpecError("--measurable masks shares up to 100 %; leave --count and --last out")
    return {**_given({k: v for k, v in study.items() if k not in ("by", "last")}), "kind": "measurable"}


def _given(study: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in study.items() if value is not None}


def _recipe(start: str, data: str) -> str:
    """The paper's recipe for what is trained; it chooses the epoch by AUROC for single texts, by accuracy for pairs."""
    from assay.datasets.load import load_dataset
    from assay.training.bilstm import PAIRED_RECIPE, SINGLE_RECIPE

    paired = load_dataset(data, split="train")[0].text_pair is not None
    if not start.startswith("bilstm_attention"):
        return ENCODER.format("accuracy" if paired else "auroc")
    return PAIRED_RECIPE if paired else SINGLE_RECIPE


# --- what came out -----------------------------------------------------------------------------------------------


def _show(console: Console, plan: Any, store: Any, options: dict[str, Any]) -> None:
    from assay.studies.roar.curves import curves
    from assay.studies.roar.result import RoarResult

    page = RoarResult(curves(plan, store), options["score"], options["clip"])
    if not page.curves:
        return
    for part, judged in zip(page.curves, page.judged, strict=True):
        for shown in _part(part, judged):
            console.print(shown, markup=False)
    if options["report"] is not None:
        page.to_html(options["report"], command())
        console.print(f"wrote {options['report']}", style="dim", markup=False)
    if options["as_json"] is not None:
        found = zip(page.curves, page.judged, strict=True)
        write_json(options["as_json"], [_dict(part, judged, options) for part, judged in found])
        console.print(f"wrote {options['as_json']}", style="dim", markup=False)


def _part(part: Curves, judged: dict[str, Faithfulness]) -> Iterator[Table | Text]:
    """The tables of one study and what is to be said about them; nothing as long as no method is finished."""
    from assay.reports.method_style import short_names
    from assay.studies.roar.result import out_of_distribution, remarks
    from assay.studies.roar.study import RANDOM

    if not judged:
        return
    names = short_names([RANDOM, *judged])
    seeds = max(len(f.seeds) for f in judged.values())
    yield Text(f"\n{part.form}, {seeds} seed{'s' * (seeds != 1)}, {len(part.gold)} test examples", style="bold")
    yield _areas(judged, names)
    if behind := part.behind(judged):
        yield _behind(behind, names)
    yield _walltimes(part, names)
    if part.outside:
        yield _outside(part, names)
    for note in (*remarks(judged), *out_of_distribution(part)):
        yield Text(note, style="yellow" if "leakage" in note or "MaSF" in note else "")


def _areas(judged: dict[str, Faithfulness], names: Mapping[str, str]) -> Table:
    """Areas in per cent with the three intervals."""
    from assay.studies.roar.result import percent, percent_interval

    table = _plain("method", "area", "seeds and texts", "seeds, BCa", "seeds, t")
    table.add_column("verdict", overflow="fold")
    for method, f in judged.items():
        spans = (Text(percent_interval(i)) for i in (f.both, f.bca, f.t))
        table.add_row(names[method], percent(f.value), *spans, Text(f.verdict, style="bold"))
    return table


def _behind(behind: dict[str, Interval], names: Mapping[str, str]) -> Table:
    """How far each area is below the largest."""
    from assay.studies.roar.result import percent_gap

    table = _plain("below the best", "points, seeds and texts")
    for method, gap in behind.items():
        table.add_row(names[method], Text(percent_gap(gap)))
    return table


def _plain(first: str, *others: str) -> Table:
    """Names on the left, numbers on the right, no lines."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(first, overflow="fold", no_wrap=True)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _outside(part: Curves, names: Mapping[str, str]) -> Table:
    """Of a measurable model: inputs in per cent that it does not know."""
    table = _plain("unknown (MaSF), masked:", *(f"{at:g} %" for at in part.axis))
    for method, shares in part.outside.items():
        table.add_row(names.get(method, method), *(f"{100 * share:.0f}" for share in shares))
    return table


def _walltimes(part: Curves, names: Mapping[str, str]) -> Table:
    from assay.studies.roar.curves import MEASURABLE

    table = _plain("seconds" if part.form == MEASURABLE else "seconds per step", "explain", "train")
    for method, parts in part.seconds.items():
        table.add_row(names.get(method, method), *(f"{parts.get(name, 0):.1f}" for name in ("explain", "train")))
    return table


def _dict(part: Curves, judged: dict[str, Faithfulness], options: dict[str, Any]) -> dict[str, Any]:
    from assay.evaluation.roar.curves import curves as scores_of
    from assay.studies.roar.study import RANDOM

    return {
        **{name: options[name] for name in ("score", "target", "signed", "clip")},
        "study": part.study,
        "form": part.form,
        "model": part.base,
        "data": part.data,
        "recursive": part.recursive,
        "ratios": part.ratios,
        "words": part.words,
        "seeds": part.seeds,
        "random": scores_of(part.predicted[RANDOM], part.gold, options["score"])[0].tolist(),
        "methods": {method: f.to_dict() for method, f in judged.items()},
        "behind": {method: asdict(gap) for method, gap in part.behind(judged).items()},
        "sparsity": part.sparsity,
        "seconds": part.seconds,
        "outside": part.outside,
    }
