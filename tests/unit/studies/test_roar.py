"""The graph of ROAR's jobs: what is shared, what waits for what, masks on all splits, resume, and a planted leak."""

from __future__ import annotations

import csv
import html
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.api.roar import roar_plan
from assay.api.run import run
from assay.core.errors import InputError, SpecError
from assay.core.spec import split as split_specs
from assay.core.types import Example, Span
from assay.datasets.dataset import Dataset
from assay.evaluation.roar.area import area
from assay.evaluation.roar.masks import Amount
from assay.evaluation.roar.verdict import Faithfulness, judge
from assay.experiments.plan import make_plan, select_jobs
from assay.experiments.references import base_identity
from assay.experiments.store import Store
from assay.experiments.training_task import training_seconds
from assay.experiments.yaml_node import YamlNode
from assay.statistics.bootstrap import Interval
from assay.studies.measurable.study import Measurable
from assay.studies.roar.curves import Curves, blind_methods, curves
from assay.studies.roar.result import RoarResult, out_of_distribution, remarks, sentence
from assay.studies.roar.study import Roar
from assay.studies.roar.tasks import (
    RankTask,
    RetrainTask,
    apply,
    everything,
    read_ranks,
    sparsity,
    write_ranks,
)
from assay.studies.roar.tasks import (
    tested as answers_of,
)
from assay.training.classifier import train_classifier
from assay.training.recipe import Recipe
from families import precise

QUICK = "recipe(epochs=2, batch_size=8, learning_rate=0.05, optimiser=adam, schedule=constant, warmup=0)"
FILLER = ["the", "soup", "was", "here", "again", "today"]


def write(folder: Path, sizes: dict[str, int], *, paired: bool = False) -> Path:
    rng = np.random.default_rng(0)
    folder.mkdir(exist_ok=True)
    for split, n in sizes.items():
        with (folder / f"{split}.csv").open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["text", "text_pair", "label"] if paired else ["text", "label"])
            for i in range(n):
                words = [*rng.choice(FILLER, 3 + i % 5), "good" if i % 2 else "bad"]
                text = " ".join(rng.permutation(words))
                out.writerow([text, *(["is it good"] if paired else []), "yes" if i % 2 else "no"])
    return folder


def asked(
    data: Path, *, both: bool = True, measurable: bool = False, count: bool = False, **more: Any
) -> dict[str, Any]:
    """Arguments of roar_plan for a tiny BiLSTM."""
    forms = ("recursive", "roar") if both else ("recursive",)
    options = {
        "base": "bilstm_attention(hidden=4, width=4)",
        "data": str(data),
        "recipe": QUICK,
        "seeds": 1,
        "step": 30,
    }
    options |= {"forms": ("measurable",) if measurable else forms, "by": "count" if count else None, **more}
    return {**options, "methods": split_specs(options.get("methods", "attention"))}


def planned(store: Store, arguments: dict[str, Any]):
    return roar_plan(**arguments, store=store)


# --- the graph ---------------------------------------------------------------------------------------------------


def test_what_can_be_shared_is_shared(tmp_path):
    """Steps 30, 60, 90: per form 0, all and random once for all; the first step of both forms is one job."""
    data = write(tmp_path / "d", {"train": 12, "dev": 6, "test": 6})
    plan = planned(Store(tmp_path / "s"), asked(data))
    kinds = [type(job.task).__name__ for job in plan.jobs.values()]
    # random: 1 rank, 3 trainings; recursive: 3 ranks, 3 trainings; ROAR: the first of both, and 2 trainings more
    assert (kinds.count("TrainingTask"), kinds.count("UnmaskedTask")) == (1, 1)
    assert kinds.count("RankTask") == 1 + 3
    assert kinds.count("RetrainTask") == 1 + 3 + 3 + 2
    by_place = {
        (c.name, j.tags["method"], j.tags["masked"]): j
        for c in plan.cells
        for j in c.jobs
        if not isinstance(j.task, RankTask)
    }
    for at in (0, 30, "all"):
        assert by_place["recursive", "attention", at].key == by_place["roar", "attention", at].key
    assert by_place["recursive", "attention", 60].key != by_place["roar", "attention", 60].key
    assert by_place["recursive", "attention", "all"].key == by_place["recursive", "random", "all"].key


def test_a_single_file_has_no_split_to_test_on(tmp_path):
    file = write(tmp_path / "d", {"train": 8}) / "train.csv"
    alone = file.rename(tmp_path / "reviews.csv")
    with pytest.raises(SpecError, match=r"but reviews\.csv is a single file; give a folder with train"):
        roar_plan("bilstm_attention", str(alone), store=Store(tmp_path / "s"))


def test_labels_may_have_other_names(tmp_path):
    data = str(write(tmp_path / "d", {"train": 8, "dev": 4, "test": 4}))
    plain, mapped = (
        roar_plan("bilstm_attention", data, ["random"], label_map=names, seeds=1, store=Store(tmp_path / "s"))
        for names in (None, "yes=positive,no=negative")
    )
    assert mapped.cells[0].data.label_names == {"yes": "positive", "no": "negative"}
    assert set(plain.jobs).isdisjoint(mapped.jobs)


def test_a_step_waits_for_the_model_and_the_masks_of_the_step_before(tmp_path):
    data = write(tmp_path / "d", {"train": 12, "dev": 6, "test": 6})
    plan = planned(Store(tmp_path / "s"), asked(data, both=False))
    cell = plan.cells[0]
    mine = [j for j in cell.jobs if j.tags["method"] == "attention"]
    ranks, steps = ([j for j in mine if isinstance(j.task, kind)] for kind in (RankTask, RetrainTask))
    assert ranks[0].needs == (plan.trainings[0].key,)
    assert ranks[1].needs == (steps[0].key, ranks[0].key)
    assert ranks[2].needs == (steps[1].key, ranks[1].key)
    assert [s.needs for s in steps] == [(ranks[0].key,), (ranks[1].key,), (ranks[2].key,), ()]
    seen: set[str] = set()
    for key, job in plan.jobs.items():
        assert set(job.needs) <= seen
        seen.add(key)


def test_keys_follow_what_changes_a_number(tmp_path):
    data = write(tmp_path / "d", {"train": 12, "dev": 6, "test": 6})
    store = Store(tmp_path / "s")

    def keys(**more):
        return set(planned(store, asked(data, both=False, **{"methods": "gradient", **more})).jobs)

    first = keys()
    assert keys() == first
    for change in ({"signed": True}, {"target": "predicted"}, {"step": 50}, {"seeds": 2}, {"test_limit": 3}):
        assert keys(**change) != first
    assert first < keys(seeds=2)
    # attention and random explain no class, so that it does not matter which is asked about
    assert keys(methods="attention", target="predicted") == keys(methods="attention")


def test_errors_are_sentences(tmp_path):
    with pytest.raises(SpecError, match="unknown method 'atention'; did you mean 'attention'"):
        Roar(methods=("atention",))
    with pytest.raises(SpecError, match="unknown method 'input_x_gradients'; did you mean 'input_x_gradient'"):
        Roar(methods=("input_x_gradients(steps=3)",))
    data = write(tmp_path / "e", {"train": 4, "dev": 2, "test": 2})
    for more in ({}, {"measurable": True}):
        with pytest.raises(SpecError, match=r"alti does not work on bilstm_attention: .*is not a transformer"):
            planned(Store(tmp_path / "s"), asked(data, methods="alti", both=False, **more))
    with pytest.raises(SpecError, match="step=100 leaves no step between nothing and everything masked"):
        Roar(step=100)
    with pytest.raises(SpecError, match="step=100 leaves no step between nothing and everything masked"):
        Measurable(step=100)
    assert Roar(methods=("random",), step=100).steps == []  # the two ends alone
    with pytest.raises(SpecError, match="step=0"):
        Roar(step=0)
    with pytest.raises(SpecError, match="unknown form 'recursiv'; did you mean 'recursive'"):
        planned(Store(tmp_path / "s"), asked(data) | {"forms": ("recursiv",)})
    outside = {
        "data": {"d": str(write(tmp_path / "d", {"train": 4, "dev": 2, "test": 2}))},
        "models": {"m": "builtin"},
        "studies": {"roar": {"models": "m"}},
    }
    with pytest.raises(SpecError, match="ROAR retrains its models, but m is loaded"):
        make_plan(YamlNode("roar", "roar", outside), Store(tmp_path / "s"))


def test_masks_that_cannot_know_the_gold_label():
    """Of methods without a class; with recursion also if the model's own answer is explained, but only then."""
    methods = ("attention", "gradient")
    for target, recursive, blind in (
        ("gold", True, {"attention", "random"}),
        ("predicted", True, {"attention", "gradient", "random"}),
        ("predicted", False, {"attention", "random"}),
    ):
        assert blind_methods(Roar(methods, recursive, target=target)) == blind


# --- running -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paired", [False, True])
def test_it_runs_and_masks_as_it_should(paired, tmp_path):
    data = write(tmp_path / "d", {"train": 16, "dev": 6, "test": 8}, paired=paired)
    store = Store(tmp_path / "s")
    plan = planned(store, asked(data))
    ended = run(plan, store=store.folder, keep=True, progress=False)
    assert ended.ok, ended.reasons
    again = run(plan, store=store.folder, keep=True, progress=False)
    assert again.before == len(plan.jobs)
    _check_masks(plan, store, paired)
    recursive, roar = curves(plan.cells, store)
    assert (recursive.recursive, roar.recursive) == (True, False)
    assert recursive.ratios == [0, 0.3, 0.6, 0.9, 1]
    assert recursive.predicted["attention"].shape == (1, 5, 8)
    assert (recursive.predicted["attention"][:, [0, 4]] == recursive.predicted["random"][:, [0, 4]]).all()
    assert (recursive.predicted["attention"][:, :2] == roar.predicted["attention"][:, :2]).all()
    assert set(recursive.seconds["attention"]) == {"explain", "train"}
    retrained = [job.key for job in plan.cells[0].jobs if isinstance(job.task, RetrainTask)]
    for key in retrained:  # what the training itself counts, over all its runs, and the test
        assert store.get(key).provenance["seconds"] > training_seconds(store.artifacts.path(key)) > 0
    assert recursive.sparsity["attention"]["top_10"] == pytest.approx(1)  # the texts are shorter
    found = recursive.judged("accuracy")["attention"]
    (answers,), (base,) = (recursive.predicted[m] == recursive.gold for m in ("attention", "random"))
    expected = area(recursive.ratios, answers.mean(-1), base.mean(-1))
    assert found.value == pytest.approx(expected, nan_ok=True)


def _check_masks(plan, store, paired):
    """Nested over the steps, of the primary text only, floor(r n / 100) of its words; old masks stay in recursion."""
    mine = [j for j in plan.cells[0].jobs if j.tags["method"] == "attention"]
    ranks = [read_ranks(store.artifacts.path(j.key)) for j in mine if isinstance(j.task, RankTask)]
    splits = next(j.task.source for j in mine if isinstance(j.task, RankTask)).load()
    for split, part in splits.items():
        for i, example in enumerate(part):
            words = example.text.split()
            orders = [r[split][i] for r in ranks]
            assert all(sorted(o) == sorted(orders[0]) for o in orders)
            assert [example.text[s.start : s.end] for s in sorted(orders[0])] == words
            masks = [
                apply(part, r[split], Amount("share", k))[i].removed for r, k in zip(ranks, (30, 60, 90), strict=True)
            ]
            assert [len(m) for m in masks] == [k * len(words) // 100 for k in (30, 60, 90)]
            assert set(masks[0]) <= set(masks[1]) <= set(masks[2])
            assert all(span.segment == 0 for span in masks[2])
    model = assay.load_model(store.artifacts.path(plan.trainings[0].key))  # the first rank is the unmasked model's
    for example, rank in zip(splits["test"], ranks[0]["test"], strict=True):
        a = assay.explain(model, example, "average_attention", scope="text", progress=False)
        score = {(u.start, u.end): s for u, s in zip(a.units, a.scores, strict=True)}
        falling = [score[span.start, span.end] for span in rank]
        assert falling == pytest.approx(sorted(falling, reverse=True), abs=1e-6)
    whole = everything(splits["test"])
    assert all(e.removed == (Span(0, 0, len(e.text)),) for e in whole)
    assert paired == (whole[0].text_pair is not None)


def test_models_that_nobody_needs_any_more_are_deleted(tmp_path):
    """... also the last ones: forty checkpoints per method and seed would fill a disk."""
    data = write(tmp_path / "d", {"train": 8, "dev": 4, "test": 4})
    store = Store(tmp_path / "s")
    plan = planned(store, asked(data, both=False, step=50))
    assert run(plan, store=store.folder, progress=False).ok
    assert not [p for p in (store.folder / "artifacts").iterdir() if not p.name.endswith(".kept")]


def test_counts_of_words(tmp_path):
    data = write(tmp_path / "d", {"train": 8, "dev": 4, "test": 4})
    store = Store(tmp_path / "s")
    plan = planned(store, asked(data, both=False, count=True, step=1, last=2))
    assert run(plan, store=store.folder, progress=False).ok
    (found,) = curves(plan.cells, store)
    assert found.ratios == [0, 0.5, 1, 1]  # all masked is the floor
    assert (found.words, found.axis, found.unit, found.steps) == (2, [0, 1, 2], "words masked", 2)


# --- ranks and sparsity ------------------------------------------------------------------------------------------


def test_ranks_come_back_from_their_file(tmp_path):
    ranks = {s: [[Span(0, 4, 9), Span(0, 0, 3)], [], [Span(0, 1, 2)]] for s in ("train", "validation", "test")}
    write_ranks(tmp_path, ranks)
    assert read_ranks(tmp_path) == ranks


def test_a_step_that_masks_no_word_tests_nothing(tmp_path):
    """Of one word half is none; the method's models are random's, and their area is not called a verdict."""
    data = write(tmp_path / "d", {"train": 8, "dev": 4, "test": 4})
    for split in ("train", "dev", "test"):
        rows = [f"{'good' if i % 2 else 'bad'},{'yes' if i % 2 else 'no'}" for i in range(8)]
        (data / f"{split}.csv").write_text("\n".join(["text,label", *rows]))
    store = Store(tmp_path / "s")
    plan = planned(store, asked(data, both=False, step=50))
    assert run(plan, store=store.folder, progress=False).ok
    ((judged,),) = [part.judged("accuracy").values() for part in curves(plan.cells, store)]
    assert judged.verdict == "inconclusive"
    assert any("no word was masked" in note or "see only masks" in note for note in judged.notes)


def test_a_label_that_the_training_has_not_is_a_sentence(tmp_path):
    data = write(tmp_path / "d", {"train": 8, "dev": 4, "test": 4})
    with (data / "test.csv").open("a") as file:
        file.write("the soup again,perhaps\n")
    store = Store(tmp_path / "s")
    ended = run(planned(store, asked(data, both=False, step=50)), store=store.folder, progress=False)
    assert not ended.ok
    expected = "has the label 'perhaps', which the model lacks; its labels are no, yes"
    assert any(expected in reason for reason in ended.reasons.values())


def test_jobs_are_told_apart_by_their_names(tmp_path):
    data = write(tmp_path / "d", {"train": 4, "dev": 2, "test": 2})
    plan = planned(Store(tmp_path / "s"), asked(data, both=False, step=50))
    names = [job.name for job in plan.jobs.values()]
    assert len(set(names)) == len(names)
    assert "recursive model d attention, masked: ranks for 50" in names


def test_a_text_without_words_has_an_empty_rank():
    texts = ["the film is bright", "", "bright", " "]
    data = Dataset(tuple(Example(t, id=str(i), label=i % 2) for i, t in enumerate(texts)), "d", ("a", "b"))
    rank = RankTask(None, "gradient", "key")
    ranks, scores = rank.ranked(precise("bilstm_attention"), data, None)
    assert [len(spans) for spans in ranks] == [len(values) for values in scores] == [4, 0, 1, 0]
    assert rank.ranked(precise("bilstm_attention"), replace(data, examples=data.examples[1:2]), None)[0] == [[]]


def test_sparsity_by_hand():
    """Masses .5 .3 .2: int(n q) + 1 words at share q."""
    found = sparsity([np.array([0.2, -0.5, 0.3]), np.zeros(0)])
    assert (found["top_1"], found["top_2"], found["top_3"], found["top_10"]) == pytest.approx((0.5, 0.8, 1, 1))
    assert (found["share_10"], found["share_40"], found["share_70"]) == pytest.approx((0.5, 0.8, 1))


# --- a planted leak ----------------------------------------------------------------------------------------------


def test_masks_that_know_the_label_set_off_the_warning(tmp_path):
    """Labels are drawn, each text holds both cues, and the mask takes that of the gold label: what is left tells it."""

    def data(n, seed):
        rng = np.random.default_rng(seed)
        texts = [" ".join(rng.permutation(["amber", "velvet", *rng.choice(FILLER, 2)])) for _ in range(n)]
        return Dataset(
            tuple(Example(t, id=str(i), label=int(rng.integers(2))) for i, t in enumerate(texts)), "d", ("a", "b")
        )

    def leaky(part):
        def cue(e):
            word = ("amber", "velvet")[e.label]
            return Span(0, e.text.index(word), e.text.index(word) + len(word))

        return apply(part, [[cue(e)] for e in part], Amount("count", 1))

    parts = data(96, 1), data(40, 2), data(80, 3)
    answers = []
    for change in (lambda p: p, leaky, everything):
        train, held, test = (change(p) for p in parts)
        recipe = Recipe.from_spec(QUICK.replace("epochs=2", "epochs=4"))
        model = train_classifier("bilstm_attention(hidden=6, width=6)", train, held, recipe, progress=False).model
        answers.append(answers_of(model, test)["predicted"])
    gold = np.array([e.label for e in parts[2]])
    own = np.array([answers])
    random = np.array([[answers[0], answers[0], answers[2]]])  # may enclose no area: the warning needs none
    right = (own == gold).mean(-1)[0]
    assert right[0] < 0.65 < 0.95 < right[1]
    found = judge([0, 0.5, 1], own, random, gold, recursive=True, score="accuracy", resamples=300)
    assert found.leak is not None
    assert (found.leak.start, found.leak.end) == (0, 0.5)


# --- parts of a plan and what names a training -------------------------------------------------------------------


def test_a_part_of_a_plan_has_all_that_it_needs(tmp_path):
    """Two processes may share a plan, each with its seed: together they have all jobs, and none twice."""
    data = write(tmp_path / "d", {"train": 12, "dev": 6, "test": 6})
    plan = planned(Store(tmp_path / "s"), asked(data, seeds=2))
    parts = [select_jobs(plan, {"seed": str(seed)}) for seed in (0, 1)]
    assert {**parts[0].jobs, **parts[1].jobs} == plan.jobs
    assert not set(parts[0].jobs) & set(parts[1].jobs)
    roar = select_jobs(plan, {"study": "roar", "seed": "1"})
    assert set(roar.jobs) < set(parts[1].jobs)
    assert all(set(job.needs) <= set(roar.jobs) for job in roar.jobs.values())
    assert select_jobs(plan, {}).jobs == plan.jobs
    assert select_jobs(plan, {"seed": "0, 1"}).jobs == plan.jobs
    assert select_jobs(plan, {"seed": "1", "study": "roar,recursive"}).jobs == parts[1].jobs
    with pytest.raises(SpecError, match="--only study=raor: did you mean 'roar'"):
        select_jobs(plan, {"study": "recursive,raor"})
    with pytest.raises(SpecError, match="did you mean 'seed'"):
        select_jobs(plan, {"sed": "1"})
    with pytest.raises(SpecError, match="--only seed=7: allowed: 0, 1"):
        select_jobs(plan, {"seed": "7"})
    with pytest.raises(SpecError, match="no job of the plan roar matches study=roar, recursive=True"):
        select_jobs(plan, {"study": "roar", "recursive": "True"})


def test_word_vectors_enter_a_key_by_their_content(tmp_path):
    """Not by where they lie: a moved file is the same training, a changed one is another."""

    def key(folder, text):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "words.vec").write_text(text)
        return base_identity(f"bilstm_attention(hidden=4, embeddings='{tmp_path / folder / 'words.vec'}')")

    first, moved, changed = key("a", "good 1 2\n"), key("b", "good 1 2\n"), key("c", "good 1 3\n")
    assert first == moved != changed
    assert str(tmp_path) not in first
    assert first.startswith("bilstm_attention(hidden=4, embeddings=")
    assert base_identity("bilstm_attention(hidden=4)") == "bilstm_attention(hidden=4)"


@pytest.mark.parametrize("base", ["~/nowhere", "./nowhere", "bilstm_attention(embeddings='/nowhere/words.vec')"])
def test_a_path_to_nothing_is_no_hub_id(base):
    """Or a plan on a machine without its models would have other keys, and say that nothing of it was done."""
    with pytest.raises(SpecError, match=r"there is no file or folder .*nowhere"):
        base_identity(base)
    assert base_identity("nobody/nowhere") == "nobody/nowhere"


def test_a_run_may_be_looked_at_before_its_end(tmp_path):
    """A method has the seeds for which it and random are whole; what is not there yet is left out."""
    data = write(tmp_path / "d", {"train": 8, "dev": 4})
    (data / "test.csv").write_text("".join((data / "train.csv").read_text().splitlines(keepends=True)[:5]))
    store = Store(tmp_path / "s")
    plan = planned(store, asked(data, both=False, step=50, seeds=2, methods="attention,gradient"))
    assert curves(plan.cells, store) == []
    assert run(plan, store=store.folder, only={"seed": "0"}, progress=False).ok
    assert run(plan, store=store.folder, only={"seed": "1", "method": "random"}, progress=False).ok
    (found,) = curves(plan.cells, store)
    assert found.seeds == {"random": [0, 1], "attention": [0], "gradient": [0]}
    assert found.predicted["random"].shape == (2, 3, 4)
    judged = found.judged("accuracy")
    assert len(judged["gradient"].seeds) == 1
    page = tmp_path / "page.html"
    RoarResult([found], "accuracy").to_html(page, "assay roar")
    text = page.read_text()
    assert "Recursive ROAR" in text
    for words in ("attention", "seeds, BCa", "Sparsity", "Run time", "bilstm_attention(hidden=4, width=4)"):
        assert words in text
    assert "4 of 4 inputs to judge the model by (test) are also among those it is trained on" in " ".join(found.notes)
    assert all(html.escape(note) in text for note in found.notes)


def test_bases_of_one_grid_have_curves_of_their_own(tmp_path):
    """Only seeds are joined: answers of another size or recipe are not those of another training."""
    data = write(tmp_path / "d", {"train": 8, "dev": 4, "test": 4})
    store = Store(tmp_path / "s")
    sizes = [f"bilstm_attention(hidden={h}, width=4)" for h in (4, 5)]
    content = {
        "data": {"d": str(data)},
        "models": {"model": {"train": sizes, "on": "d", "seeds": [0, 1], "recipe": QUICK}},
        "studies": {"recursive": {"kind": "roar", "data": "trained_on", "methods": ["attention"], "step": 50}},
    }
    plan = make_plan(YamlNode("roar", "roar", content), store)
    assert run(plan, store=store.folder, progress=False).ok
    found = curves(plan.cells, store)
    assert [part.base for part in found] == sizes
    assert [part.seeds["attention"] for part in found] == [[0, 1], [0, 1]]


def test_the_page_says_who_is_faithful():
    none = Interval(0.0, -0.1, 0.1, 5)

    def found(value, verdict, notes=(), both=none):
        return Faithfulness(value, none, none, both, (value,), verdict, None, (1.0, 0.5), ("few seeds", *notes))

    judged = {
        "integrated_gradients(steps=20)": found(0.378, "faithful"),
        "gradient": found(0.02, "not faithful", ("class leakage: the curve rises",)),
        "attention": found(-0.2, "not faithful", both=Interval(-0.2, -0.3, -0.1, 5)),
    }
    assert sentence("Recursive ROAR", judged) == (
        "Recursive ROAR (1 seed): integrated_gradients (37.8 %) is faithful to a degree; "
        "gradient (2.0 %) and attention (-20.0 %) are not faithful."
    )
    enough = {m: replace(f, seeds=(f.value,) * 5) for m, f in judged.items()}
    assert sentence("Recursive ROAR", enough).startswith("Recursive ROAR: integrated")
    behind = {"attention": Interval(0.2, 0.1, 0.3, 1)}
    for best, words in (
        ("integrated_gradients(steps=20)", "is the most faithful"),
        ("gradient", "has the largest area"),
    ):
        said = sentence("ROAR", {m: judged[m] for m in (best, "attention")}, behind)
        assert said.endswith(f"{best.partition('(')[0]} {words}: its area differs significantly from every other.")
    assert remarks(judged) == ["Few seeds.", "gradient: class leakage: the curve rises."]
    assert remarks({m: judged[m] for m in ("gradient",)})[0] == "gradient: few seeds."


def test_the_best_is_compared_with_every_other(tmp_path):
    """By the paired difference of areas, if the seeds are the same; the page says who cannot be told apart."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 2, 400)
    flip = rng.random((3, 11, 400))

    def answers(right):  # (11,) shares of right answers -> (S,I,N)
        return np.where(flip < np.array(right)[:, None], gold, 1 - gold)

    curve = {"random": np.linspace(0.9, 0.5, 11), "attention": [0.9] + [0.5] * 10, "gradient": [0.9] + [0.502] * 10}
    curve["lime"] = np.linspace(0.9, 0.5, 11) - 0.01 * (np.arange(11) % 10 > 0)
    predicted = {m: answers(c) for m, c in curve.items()}
    predicted["lime"] = predicted["lime"][:2]
    seeds = {m: list(range(len(p))) for m, p in predicted.items()}
    found = Curves(
        "recursive", "model", "d", "b", "Recursive ROAR", True, list(np.arange(11) / 10), gold, seeds, predicted
    )
    judged = found.judged("accuracy")
    behind = found.behind(judged)
    assert list(behind) == ["gradient", "lime"]
    assert behind["gradient"].value == pytest.approx(judged["attention"].value - judged["gradient"].value)
    assert behind["gradient"].low > 0  # the same texts are wrong: small, and sure
    assert judged["attention"].both.low < judged["gradient"].both.high  # which two intervals would not show
    assert np.isnan(behind["lime"].low)  # other seeds
    page = RoarResult([found], "accuracy")
    assert page.verdict[0].endswith("Not significantly different from attention: lime.")
    page.to_html(tmp_path / "page.html")
    assert f"{100 * behind['gradient'].value:.1f} [" in (tmp_path / "page.html").read_text()
    assert found.behind({}) == {}
    unknown = {"lime": replace(judged["lime"], value=float("nan")), **{m: judged[m] for m in ("attention", "gradient")}}
    assert "attention is the most faithful" in sentence("Recursive ROAR", unknown, found.behind(unknown))
    two = {m: judged[m] for m in ("attention", "gradient")}
    assert "attention is the most faithful" in sentence("Recursive ROAR", two, found.behind(two))


# --- measurable models -------------------------------------------------------------------------------------------


def test_a_measurable_model_gives_all_its_curves(tmp_path):
    """One training per seed, nested masks found again and again by one model; the curve is what that model answers."""
    data = write(tmp_path / "d", {"train": 16, "dev": 8, "test": 8})
    store = Store(tmp_path / "s")
    plan = planned(store, asked(data, measurable=True, both=False, methods="attention"))
    assert [type(job.task).__name__ for job in plan.jobs.values()] == ["MaskedFinetuningTask", "CurveTask", "CurveTask"]
    tune, _, curve = plan.jobs.values()
    assert run(plan, store=store.folder, keep=True, progress=False).ok
    (found,) = curves(plan.cells, store)
    assert (found.form, found.ratios) == ("Measurable model", [0, 0.3, 0.6, 0.9, 1])
    assert found.predicted["attention"].shape == (1, 5, 8)
    assert (found.predicted["attention"][:, [0, 4]] == found.predicted["random"][:, [0, 4]]).all()
    assert all(0 <= share <= 1 for share in found.outside["attention"])
    assert len(found.outside["attention"]) == 5
    model = assay.load_model(store.artifacts.path(tune.key))
    masks = list(curve.task.masked(model))
    for (_, less), (_, more) in pairwise(masks[:-1]):
        assert all(set(a.removed) <= set(b.removed) for a, b in zip(less, more, strict=True))
    for i, (_, part) in enumerate(masks):
        assert answers_of(model, part)["predicted"] == found.predicted["attention"][0, i].tolist()
    RoarResult([found], "accuracy").to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "MaSF" in text
    assert "1 seed; the paper uses 5" in text
    strange = replace(found, outside={"attention": [0.05, 0.06, 0.4, 0.3, 0.05]})
    (warning,) = out_of_distribution(strange)
    assert warning.startswith("attention: with 60 % of the words masked, 40 % of the inputs are out of distribution")
    assert out_of_distribution(replace(found, outside={"attention": [0.05] * 5})) == []
    with pytest.raises(SpecError, match="leave out by=count"):
        planned(store, asked(data, measurable=True, count=True))


def test_images_are_refused_before_anything_is_trained(tmp_path):
    for split in ("train", "dev", "test"):
        images, labels = np.zeros((4, 8, 8, 3), np.uint8), np.arange(4) % 2
        np.savez(tmp_path / f"{split}.npz", images=images, labels=labels, classes=np.array(["a", "b"]))
    with pytest.raises(SpecError, match="masks the words of texts"):
        planned(Store(tmp_path / "s"), asked(tmp_path))
    data = Dataset((Example(image=np.zeros((8, 8, 3), np.uint8)),))
    with pytest.raises(InputError, match="masks the words of texts"):
        apply(data, [[Span(0, 0, 1)]], Amount("count", 1))
