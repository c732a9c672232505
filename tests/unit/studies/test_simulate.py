"""The jobs of simulability: what is shared, controls that always run, resume, pages, and what is refused."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

import assay
import toys
from assay.core.errors import ModelError, SpecError, UnsupportedError
from assay.datasets.load import load_dataset
from assay.datasets.text_notes import REPEATED
from assay.experiments.plan import make_plan, select_jobs
from assay.experiments.references import InMemoryData
from assay.experiments.store import Store
from assay.experiments.yaml_node import YamlNode
from assay.explainers.learned.parts.seen import text_mark
from assay.fitting.methods.scaffold import ScaffoldFit
from assay.models.load import load_model, save_model
from assay.studies.simulate.explained import read
from assay.studies.simulate.remarks import remarks, remarks_on_answers, remarks_on_shares
from assay.studies.simulate.result import Simulated, Students, simulated
from assay.studies.simulate.scaffold import ScaffoldTask
from assay.studies.simulate.study import Simulate, check_unseen
from assay.studies.simulate.tasks import ExplainTask, StudentTask
from assay.studies.simulate.terminal import tables
from assay.training.classifier import fine_tune
from assay.training.recipe import Recipe
from assay.training.students import student_base, student_of
from families import model_of

QUICK = "recipe(epochs=1, batch_size=16, learning_rate=0.05, optimiser=sgd, groups=[], schedule=constant, warmup=0)"
SETTINGS = {"student": "untrained", "sizes": (10, 20), "seeds": 2, "recipe": QUICK}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A teacher of 2 layers, and 120 texts without labels."""
    folder = tmp_path_factory.mktemp("simulate")
    save_model(toys.bert(seed=3), folder / "teacher")
    rng = np.random.default_rng(0)
    texts = {" ".join(rng.choice(toys.WHOLE, 6)) for _ in range(120)}
    (folder / "texts.csv").write_text("text\n" + "\n".join(sorted(texts)) + "\n")
    return folder


def plan_of(room: Path, store: Path | Store, methods: object = "attention_logits", **more: object) -> object:
    options = {**SETTINGS, **more}
    return assay.simulate_plan(str(room / "teacher"), str(room / "texts.csv"), methods, store=store, **options)


def students(plan: object) -> list[object]:
    return [job for job in plan.jobs.values() if isinstance(job.task, StudentTask)]


# --- the plan ------------------------------------------------------------------------------------------------------


def test_controls_always_run_and_explanations_are_computed_once(room: Path, tmp_path: Path) -> None:
    plan = plan_of(room, tmp_path, "attention_logits, lime(samples=20), none")
    shown = [job.tags["method"] for job in students(plan) if job.tags["step"] == "student"]
    names = ["attention_logits", "shuffled attention_logits", "lime(samples=20)", "shuffled lime(samples=20)"]
    assert set(shown) == {*names, "none", "uniform"}
    assert all(shown.count(name) == 4 for name in set(shown))  # 2 sizes, 2 seeds
    assert sum(isinstance(job.task, ExplainTask) for job in plan.jobs.values()) == 2


def test_one_number_is_a_list_of_one(room: Path, tmp_path: Path) -> None:
    """--sizes 10, sizes=10 and sizes: 10 in a plan."""
    alone, listed = (plan_of(room, tmp_path, sizes=sizes) for sizes in (10, (10,)))
    assert set(alone.jobs) == set(listed.jobs)
    with pytest.raises(assay.SpecError, match=r"sizes=many is not allowed; sizes must be a list of whole numbers"):
        plan_of(room, tmp_path, sizes="many")
    with pytest.raises(assay.SpecError, match="sizes"):
        plan_of(room, tmp_path, sizes=0)


def test_heads_with_negative_weights_are_active() -> None:
    task = ScaffoldTask(None, ScaffoldFit(normaliser="none"), 5, 0, "")
    found = {row["metric"]: row["value"] for row in task.tidy({"score": 1.0, "skipped": 0, "heads": [[0.5, -0.5, 0]]})}
    assert found["active_heads"] == 2


def test_the_papers_weights_are_used_and_others_tried(room: Path, tmp_path: Path) -> None:
    """lime is not in the paper: one more student for each value of beta, at the smallest size, on other texts."""
    jobs = students(plan_of(room, tmp_path, "attention_logits, lime(samples=20)"))
    first = {job.tags["method"]: job.task for job in jobs if job.tags["step"] == "student"}
    assert (first["attention_logits"].beta, first["attention_logits"].tried) == (5.0, ())
    assert first["attention_logits"].lesson.temperature is None
    assert [beta for beta, _ in first["lime(samples=20)"].tried] == [0.2, 1.0, 5.0]
    assert first["lime(samples=20)"].lesson.relative
    trials = [job.task for job in jobs if job.tags["step"] == "trial"]
    assert {task.size for task in trials} == {10}
    assert {task.seed for task in trials} == {10_000}
    given = students(plan_of(room, tmp_path, "lime(samples=20)", beta=3.0))
    assert {job.task.beta for job in given if job.tags["method"] == "lime(samples=20)"} == {3.0}


def test_beta_and_temperature_of_the_papers_methods(room: Path, tmp_path: Path) -> None:
    """As in its code: 5 for attention, .2 for gradients; temperature .1 for gradient x input, .5 for integrated."""
    integrated = "integrated_gradients(steps=10, baseline=zero)"
    methods = f"attention_logits, gradient, gradient_x_input, {integrated}"
    tasks = {job.tags["method"]: job.task for job in students(plan_of(room, tmp_path, methods))}
    for name, beta, temperature in (
        ("attention_logits", 5.0, None),
        ("gradient", 0.2, 1.0),
        ("gradient_x_input", 0.2, 0.1),
        (integrated, 0.2, 0.5),
    ):
        for task in (tasks[name], tasks[f"shuffled {name}"]):
            assert (task.beta, task.lesson.temperature, task.lesson.relative) == (beta, temperature, False)


def test_the_last_layer_teaches_the_last_layer(room: Path, tmp_path: Path) -> None:
    jobs = students(plan_of(room, tmp_path, "attention_logits, attention_logits(layer=-1)"))
    assert {job.tags["method"]: job.task.last for job in jobs if "(layer" in job.tags["method"]} == {
        "attention_logits(layer=-1)": True,
        "shuffled attention_logits(layer=-1)": True,
    }


def test_texts_are_drawn_anew_for_each_seed_unless_nested(room: Path, tmp_path: Path) -> None:
    for subsets, differ in (("resampled", True), ("nested", False)):
        room_ = students(plan_of(room, tmp_path, subsets=subsets))[0].task.room
        splits = room_.splits()
        first, second = ({e.text for e in room_.lesson(splits, 20, seed)} for seed in (0, 1))
        assert (first != second) == differ
        assert not first & {e.text for e in (*splits.test, *splits.validation, *splits.outer)}


# --- a run ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def store(room: Path) -> Path:
    return room / "store"


@pytest.fixture(scope="module")
def result(room: Path, store: Path) -> object:
    options = {**SETTINGS, "sizes": (24, 12)}
    teacher, data = str(room / "teacher"), str(room / "texts.csv")
    return assay.simulate(teacher, data, "attention_logits", store=store, progress=False, **options)


def test_scores_are_the_agreement_with_the_teacher(result: object) -> None:
    (group,) = result.students
    assert result.status.ok
    assert list(group.judged) == [12, 24]  # sizes were given the other way round
    for size, outputs in group.outputs.items():
        for method, rows in outputs.items():
            assert group.judged[size][method].students == pytest.approx((rows == group.answers).mean(1).tolist())
    assert set(group.betas.items()) == {
        ("attention_logits", 5.0),
        ("shuffled attention_logits", 5.0),
        ("none", 0.0),
        ("uniform", group.betas["uniform"]),
    }
    own, other = (group.entropies[name] for name in ("attention_logits", "shuffled attention_logits"))
    assert own == pytest.approx(other)
    assert group.entropies["uniform"] > own


def test_the_page_says_what_was_found_and_that_two_students_decide_nothing(result: object, tmp_path: Path) -> None:
    assert "fewer than 6 students can give no verdict" in result.verdict[0]
    result.to_html(tmp_path / "page.html", "assay simulate ...")
    text = (tmp_path / "page.html").read_text()
    for word in ("Do explanations help a student?", "uniform", "shuffled", "undecided", "over none", "<svg"):
        assert word in text
    found = json.loads(json.dumps(result.to_dict()), parse_constant=pytest.fail)
    assert len(found[0]["sizes"]["12"]["none"]["students"]) == 2


def test_a_rerun_computes_nothing_and_a_lost_record_comes_back_the_same(
    room: Path, store: Path, result: object
) -> None:
    opened = Store(store)
    plan = plan_of(room, opened, sizes=(12, 24))
    job = next(j for j in students(plan) if j.tags["method"] == "attention_logits" and j.tags["step"] == "student")
    before = opened.get(job.key).rows
    opened.path(job.key).unlink()
    options = {**SETTINGS, "sizes": (12, 24)}
    again = assay.simulate(
        str(room / "teacher"), str(room / "texts.csv"), "attention_logits", store=store, progress=False, **options
    )
    assert again.status.before == len(plan.jobs) - 1
    assert opened.get(job.key).rows == before
    assert again.verdict == result.verdict


def silent_students(result: object, seeds: int, outputs: object) -> Students:
    rows = {name: np.zeros((seeds, len(result.students[0].answers)), np.int64) for name in outputs}
    return replace(result.students[0], outputs={12: rows}, seeds={12: range(seeds)})


def test_students_that_learnt_nothing_are_called_that(result: object) -> None:
    """And a score is shown beside what always giving the most frequent answer would reach."""
    (sentence,) = silent_students(result, 8, result.students[0].methods).sentences()
    assert "undecided: attention_logits" in sentence
    assert "each student gives the same answer to all test texts, so nothing was learnt" in sentence
    assert "four times in five" not in sentence
    share = 100 * np.bincount(result.students[0].answers).max() / len(result.students[0].answers)
    assert f"always the most frequent answer: {share:.1f} %" in sentence
    assert f"always the most frequent answer: {share:.1f} %" in result.verdict[0]


def test_students_no_better_than_one_answer_are_called_that(result: object) -> None:
    rng = np.random.default_rng(0)
    group = replace(result.students[0], answers=rng.integers(0, 2, 500), seeds={12: range(8)})
    rows = {name: rng.integers(0, 2, (8, 500)) for name in group.methods}
    (sentence,) = replace(group, outputs={12: rows}).sentences()
    assert "no students are clearly better than always giving the most frequent answer" in sentence
    scores = replace(group, task="regression", answers=rng.normal(size=500), outputs={12: rows})
    (sentence,) = scores.sentences()
    assert "no students clearly follow the teacher's scores, so explanations cannot be judged" in sentence


def test_controls_alone_are_a_sentence_too(result: object) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (2, len(result.students[0].answers)))
    alone = replace(result.students[0], controls={}, outputs={12: {"none": rows, "uniform": rows}})
    (sentence,) = alone.sentences()
    assert sentence.startswith("With 12 texts (2 students per method), there is no method to judge (without")
    assert "can give no verdict" not in sentence


def test_verdicts_say_what_they_cannot_speak_of(room: Path, tmp_path: Path, result: object) -> None:
    """Texts that students share, a teacher that was trained on them, explanations chosen in hindsight."""
    assert result.students[0].remarks == ()  # 24 texts of 72
    assert replace(result.students[0], inputs="images").sentences()[0].startswith("With 12 images (2 students")
    oracle = "mask_optimisation(selection=oracle)"

    def said(plan: object) -> str:
        (cell,) = plan.cells
        return " ".join(remarks(cell, cell.study, cell.study.sizes))

    assert said(plan_of(room, tmp_path, sizes=(10, 20))) == ""
    assert "draw their 54 texts from 72, so two of them have 75 % in common" in said(plan_of(room, tmp_path, sizes=54))
    assert "same texts (nested)" in said(plan_of(room, tmp_path, subsets="nested"))
    found = said(plan_of(room, tmp_path, oracle))
    assert f"{oracle} keeps for each input the explanation that is best by comprehensiveness" in found
    shutil.copytree(room / "teacher", tmp_path / "teacher")
    data = load_dataset(room / "texts.csv")
    known = {"name": data.name, "split": data.split, "fingerprint": data.fingerprint}
    for known_, says in ((known, True), ({**known, "fingerprint": "", "name": "other"}, False)):
        (tmp_path / "teacher" / "training.json").write_text(json.dumps({"data": {"train": known_}}))
        plan = assay.simulate_plan(str(tmp_path / "teacher"), str(room / "texts.csv"), store=tmp_path, **SETTINGS)
        assert ("teacher was trained on all of " in said(plan)) == says


def test_a_teacher_that_the_plan_trained_on_these_texts_is_named(room: Path, tmp_path: Path) -> None:
    content = {
        "name": "p",
        "data": {"seen": str(room / "texts.csv")},
        "models": {"trained": {"train": "bert(layers=1, width=16, heads=2, vocabulary=100)", "on": "seen"}},
        "studies": {"simulate": {"data": "trained_on", "sizes": [10], "seeds": 1}},
    }
    (same,) = make_plan(YamlNode("p", "p", content), Store(tmp_path)).cells
    (said,) = remarks(same, same.study, [10])
    assert "trained was trained on all of texts, the texts that students learn from" in said


def test_a_student_that_was_trained_before_is_named(room: Path, tmp_path: Path) -> None:
    save_model(toys.bert(seed=5), tmp_path / "student")
    (cell,) = plan_of(room, tmp_path, student=str(tmp_path / "student")).cells
    assert remarks(cell, cell.study, [10]) == []
    known = {"name": "reviews", "split": "train", "fingerprint": ""}
    (tmp_path / "student" / "training.json").write_text(json.dumps({"data": {"train": known}}))
    (said,) = remarks(cell, cell.study, [10])
    assert said.startswith("The student student was itself trained on the train split of reviews, so it may know")


def test_shares_that_say_nothing_are_named() -> None:
    told = {"uniform": 3.0, "flat": 2.995, "shuffled flat": 2.995, "sharp": 0.05, "fine": 2.5}
    flat, sharp = remarks_on_shares(told)
    assert flat.startswith("What flat told students is nearly uniform")
    assert sharp.startswith("What sharp told students is one token")
    assert list(remarks_on_shares({"fine": 2.5})) == []


def test_the_scale_of_a_teachers_scores_is_named() -> None:
    scores = np.random.default_rng(0).normal(size=300)
    assert list(remarks_on_answers(scores)) == []
    for scale, says in ((26, "count for little"), (0.05, "count for more than the answers")):
        assert says in next(remarks_on_answers(50 + scale * scores))


def test_one_method_under_two_names_is_refused() -> None:
    for methods in (("attention_logits", "attention_logits()"), ("scaffold", "scaffold(beta=5.0)")):
        with pytest.raises(SpecError, match="two of them are the same method"):
            Simulate(methods)
    assert Simulate(("gradient", "gradient")).methods  # said twice


def test_the_page_does_not_say_that_repeated_texts_count(result: object, store: Path) -> None:
    """Each is kept once, other than in evaluations."""
    plan = result.status.plan
    data = plan.cells[0].data.load()
    noted = replace(data, notes=(f"9 of 99 {REPEATED}", "In 9 of 99 pairs both texts are the same."))
    cells = [replace(cell, data=InMemoryData(noted)) for cell in plan.cells]
    assert simulated(cells, Store(store)).students[0].notes == noted.notes[1:]


def test_the_terminal_says_what_its_numbers_are(result: object) -> None:
    """They are multiplied by 100, which sentences do not do with a correlation."""
    group = result.students[0]
    for task, title in (("classification", "agreement, %"), ("regression", "Pearson's r x 100")):
        _, table, *_ = tables(Simulated([replace(group, task=task)]))
        assert [column.header for column in table.columns][1] == title


def test_an_unfinished_run_can_be_shown(room: Path, tmp_path: Path) -> None:
    assert simulated(plan_of(room, tmp_path).cells, Store(tmp_path)).students == []


@pytest.mark.slow
def test_heads_are_fitted_for_each_student_and_teach_a_fresh_one(room: Path, tmp_path: Path) -> None:
    options = {**SETTINGS, "sizes": (24,), "recipe": QUICK}
    teacher, data = str(room / "teacher"), str(room / "texts.csv")
    found = assay.simulate(teacher, data, "scaffold(meta_rate=0.05)", store=tmp_path, progress=False, **options)
    assert found.status.ok, found.status.reasons
    (group,) = found.students
    name = "scaffold(meta_rate=0.05)"
    assert set(group.outputs[24]) == {name, f"{name}, own student", f"shuffled {name}", "none", "uniform"}
    task = next(j.task for j in found.status.plan.jobs.values() if isinstance(j.task, ScaffoldTask))
    assert (task.settings.learning_rate, task.settings.epochs, task.settings.meta_rate) == (0.05, 1, 0.05)
    assert group.entropies[name] == pytest.approx(group.entropies[f"shuffled {name}"])


@pytest.mark.slow
def test_teachers_of_scores_and_of_images(tmp_path: Path) -> None:
    """A regression is scored by Pearson's r; an image by its patches."""
    rng = np.random.default_rng(0)
    save_model(model_of("bert-regression"), tmp_path / "scores")
    texts = sorted({" ".join(rng.choice(toys.WHOLE, 6)) for _ in range(120)})
    (tmp_path / "texts.csv").write_text("text\n" + "\n".join(texts) + "\n")
    save_model(model_of("vit"), tmp_path / "images")
    (tmp_path / "pictures").mkdir()
    for i in range(120):
        Image.fromarray(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(tmp_path / "pictures" / f"{i:03}.png")
    names = "\n".join(f"pictures/{i:03}.png" for i in range(120))
    (tmp_path / "pictures.csv").write_text(f"image\n{names}\n")
    options = {**SETTINGS, "sizes": (16,), "seeds": 1, "store": tmp_path / "s", "progress": False}
    for teacher, data in (("scores", "texts.csv"), ("images", "pictures.csv")):
        found = assay.simulate(str(tmp_path / teacher), str(tmp_path / data), "attention_logits", **options)
        assert found.status.ok, set(found.status.reasons.values())
        (group,) = found.students
        rows = group.outputs[16]["attention_logits"]
        if teacher == "scores":
            truth = np.corrcoef(rows[0], group.answers)[0, 1]
            assert (group.score, group.judged[16]["attention_logits"].students[0]) == (
                "Pearson's r",
                pytest.approx(truth),
            )
        else:
            assert rows.shape == (1, 24)


def test_quality_estimation_reads_both_segments(tmp_path: Path) -> None:
    """Pairs and scores: Pearson's r, and each segment has the share of the explanation that its tokens have."""
    rng = np.random.default_rng(0)
    rows = [(" ".join(rng.choice(toys.WHOLE, 4)), " ".join(rng.choice(toys.WHOLE, 4))) for _ in range(110)]
    (tmp_path / "pairs.csv").write_text("text,text_pair\n" + "".join(f"{a},{b}\n" for a, b in rows))
    save_model(toys.bert(seed=3, classes=1), tmp_path / "teacher")
    options = {**SETTINGS, "sizes": (16,), "seeds": 1, "store": tmp_path / "s", "progress": False}
    found = assay.simulate(str(tmp_path / "teacher"), str(tmp_path / "pairs.csv"), "attention_logits", **options)
    assert found.status.ok, set(found.status.reasons.values())
    (group,) = found.students
    score = group.judged[16]["attention_logits"].students[0]
    assert score == pytest.approx(np.corrcoef(group.outputs[16]["attention_logits"][0], group.answers)[0, 1])
    options = {**SETTINGS, "sizes": (16,), "seeds": 1}
    plan = assay.simulate_plan(str(tmp_path / "teacher"), str(tmp_path / "pairs.csv"), "attention_logits", **options)
    job = next(job for job in plan.jobs.values() if isinstance(job.task, ExplainTask))
    model = load_model(str(tmp_path / "teacher"))
    texts = job.task.room.parts()["students"]
    for row, example in zip(read(Store(tmp_path / "s").artifacts.path(job.key)), texts, strict=True):
        batch = model.batch([model.encode(example)])
        explained = model.head_logits(batch)[1][0].mean(0).softmax(0).detach().numpy()
        parts = [[i for i, span in enumerate(row.spans) if span.segment == side] for side in (0, 1)]
        ours = [sum(row.scores[u] for u in {row.unit_of[i] for i in part}) for part in parts]
        assert np.allclose(ours, [explained[part].sum() for part in parts], atol=1e-5)


def test_no_student_sees_the_texts_of_another_purpose(
    room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taught its own draw, stopped by the validation texts, heads found with the outer ones; test texts only test."""
    seen: dict[str, list[tuple[object, ...]]] = {"fine_tune": [], "fit_heads": [], "examined": []}

    def noted(module: str, name: str) -> None:
        whole = getattr(sys.modules[f"assay.studies.simulate.{module}"], name)
        watched = lambda *args, **more: (seen[name].append(args), whole(*args, **more))[1]  # noqa: E731
        monkeypatch.setattr(f"assay.studies.simulate.{module}.{name}", watched)

    for module, name in (
        ("tasks", "fine_tune"),
        ("scaffold", "fit_heads"),
        ("tasks", "examined"),
        ("scaffold", "examined"),
    ):
        noted(module, name)
    teacher, data = str(room / "teacher"), str(room / "texts.csv")
    options = {**SETTINGS, "sizes": (24,), "beta": 2.0}
    found = assay.simulate(teacher, data, "scaffold(beta=3.0)", store=tmp_path, progress=False, **options)
    assert found.status.ok, found.status.reasons
    jobs = list(found.status.plan.jobs.values())
    splits = students(found.status.plan)[0].task.room.splits()
    said = {e.content: p.label for part in (splits.students, splits.outer, splits.validation, splits.test)
            for e, p in zip(part, load_model(teacher).predict(list(part)), strict=True)}  # fmt: skip

    def contents(data: object) -> list[str]:
        return [e.content for e in data]

    assert len(seen["fine_tune"]) == 2 * 4  # none, uniform, fresh and shuffled
    for model, train, validation, recipe in seen["fine_tune"]:
        assert contents(train) == contents(splits.drawn(24, recipe.seed))
        assert contents(validation) == contents(splits.validation)
        for example in (*train, *validation):
            assert model.labels[example.label] == said[example.content]
    assert {recipe.seed for *_, recipe in seen["fine_tune"]} == {0, 1}
    assert [args[4].seed for args in seen["fit_heads"]] == [0, 1]
    for _, learnt, outer, validation, settings, _ in seen["fit_heads"]:
        assert contents(learnt) == contents(splits.drawn(24, settings.seed))
        assert contents(outer) == contents(splits.outer)
        assert contents(validation) == contents(splits.validation)
    assert len(seen["examined"]) == 2 * 5
    for model, test in seen["examined"]:
        assert [(e.content, model.labels[e.label]) for e in test] == [(e.content, said[e.content]) for e in splits.test]
    betas = {job.tags["method"]: Store(tmp_path).get(job.key).rows["beta"] for job in jobs if "size" in job.tags}
    name = "scaffold(beta=3.0)"
    assert betas == {name: 3.0, f"{name}, own student": 3.0, f"shuffled {name}": 3.0, "none": 0.0, "uniform": 2.0}


def test_what_every_student_is_taught(room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last layer's explanation of each of its texts, special tokens too, by beta, to its own last layer."""
    lessons, seeds = [], []

    def taught(model: object, train: object, validation: object, recipe: Recipe, **more: object) -> object:
        lessons.append((more["wrap"], more["loss"], train, recipe.seed))
        return fine_tune(model, train, validation, recipe, **more)

    def opened(teacher: object, base: str, seed: int, **more: object) -> object:
        seeds.append(seed)
        return student_of(teacher, base, seed, **more)

    monkeypatch.setattr("assay.studies.simulate.tasks.fine_tune", taught)
    monkeypatch.setattr("assay.studies.simulate.student.student_of", opened)
    options = {**SETTINGS, "sizes": (24,), "store": tmp_path, "progress": False}
    teacher = load_model(str(room / "teacher"))
    found = assay.simulate(
        str(room / "teacher"), str(room / "texts.csv"), "attention_logits(layer=-1)", beta=3.0, **options
    )
    assert found.status.ok, found.status.reasons
    assert seeds == [seed for *_, seed in lessons]
    assert set(seeds) == {0, 1}
    shown = [lesson for lesson in lessons if lesson[1] is not None and lesson[0](teacher).last]
    assert len(shown) == 4  # and as many shuffled
    alike = []
    for _, loss, train, _ in shown:
        assert loss.beta == 3.0
        pairs = [(loss.explanations[e.content], _last_layer(teacher, e)) for e in train]
        assert all(np.allclose(np.sort(ours), np.sort(theirs), atol=1e-6) for ours, theirs in pairs)
        alike.append(all(np.allclose(ours, theirs, atol=1e-6) for ours, theirs in pairs))
    assert sorted(alike) == [False, False, True, True]


def _last_layer(model: object, example: object) -> np.ndarray:
    heads = model.head_logits(model.batch([model.encode(example)]))[1][0]
    return heads[len(heads) // 2 :].mean(0).softmax(0).detach().numpy()


def test_beta_is_the_one_that_stopped_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the early-stopping texts; of equal ones the smallest."""
    rows = {"asked": {"task": "classification"}}
    rows |= {key: {"validation": {"accuracy": a}} for key, a in (("a", 0.6), ("b", 0.8), ("c", 0.8), ("d", 0.7))}
    monkeypatch.setattr("assay.studies.simulate.tasks.rows_of", lambda context, key: rows[key])
    tried = ((0.2, "a"), (1.0, "b"), (5.0, "c"), (9.0, "d"))
    assert StudentTask(None, None, "", 5, 0, "asked", tried=tried)._beta(None) == 1.0
    assert StudentTask(None, None, "", 5, 0, "asked", beta=0.3)._beta(None) == 0.3


def test_an_explainer_that_saw_the_test_texts_is_refused(room: Path) -> None:
    test = students(plan_of(room, room / "none"))[0].task.room.splits().test
    card = {"texts": [text_mark(example.content) for example in test[:3]]}
    method = SimpleNamespace(card=card, facts=0, check_fitted=print, save_pretrained=print)
    with pytest.raises(SpecError, match=f"fitted on 3 of the {len(test)} test texts"):
        check_unseen("scaffold(heads)", method, test)


def test_a_method_whose_name_holds_a_comma_can_be_chosen(room: Path, tmp_path: Path) -> None:
    plan = plan_of(room, tmp_path, "attention_logits, scaffold")
    own, listed = (
        {job.tags["method"] for job in select_jobs(plan, f"method={names}").jobs.values() if "size" in job.tags}
        for names in ("scaffold, own student", "none,scaffold,own student, uniform")
    )
    assert own == {"scaffold, own student"}
    assert listed >= {"scaffold, own student", "none", "uniform"}
    assert "scaffold" not in listed
    with pytest.raises(SpecError, match="--only method=own student"):
        select_jobs(plan, "method=own student, scaffold")


# --- what is refused -----------------------------------------------------------------------------------------------


def test_bad_settings_get_a_sentence(room: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="which model is the student"):
        plan_of(room, tmp_path, student=None)
    with pytest.raises(SpecError, match="wants 500 examples, but only"):
        plan_of(room, tmp_path, sizes=(500,))
    with pytest.raises(SpecError, match="seeds"):
        Simulate(seeds=0)
    with pytest.raises(SpecError, match="sizes"):
        Simulate(sizes=())
    with pytest.raises(SpecError, match=r"beta=0.0: give a number, above 0"):
        Simulate(beta=0.0)  # no method would be shown to any student
    with pytest.raises(SpecError, match="max_length=3: give a whole number, at least 4"):
        Simulate(max_length=3)
    with pytest.raises(ModelError, match="json:loads is Python code, but the files of a model are needed"):
        assay.simulate_plan("json:loads", str(room / "texts.csv"), student="untrained")
    with pytest.raises(SpecError, match="by name"):
        assay.simulate_plan(toys.bert(), str(room / "texts.csv"), student="untrained")


def test_the_teacher_is_not_its_own_student_and_every_student_has_a_new_head(room: Path) -> None:
    """A head for the same labels would be kept by a training; a student would know the answers."""
    teacher = load_model(str(room / "teacher"))
    with pytest.raises(SpecError, match="the teacher's own weights"):
        student_of(teacher, str(room / "teacher"), 0)
    other = toys.bert(seed=5)
    save_model(other, room / "other")
    students_ = [student_of(teacher, str(room / "other"), seed) for seed in (0, 0, 1)]
    heads = [s.hf.classifier.weight for s in students_]
    assert torch.equal(heads[0], heads[1])
    assert not torch.equal(heads[0], heads[2])
    assert not torch.equal(heads[0], other.hf.classifier.weight)
    body = "bert.encoder.layer.0.attention.self.query.weight"
    assert torch.equal(students_[0].hf.get_parameter(body), other.hf.get_parameter(body))


def test_a_student_that_cannot_be_is_refused_once_and_before_anything_runs(room: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copy"
    shutil.copytree(room / "teacher", copied)
    for student in (room / "teacher", copied):
        with pytest.raises(SpecError, match="the teacher's own weights"):
            plan_of(room, tmp_path, student=str(student))
    save_model(model_of("vit"), tmp_path / "images")
    with pytest.raises(SpecError, match="reads texts, but the student images reads images"):
        plan_of(room, tmp_path, student=str(tmp_path / "images"))
    save_model(model_of("roberta"), tmp_path / "other")
    plan_of(room, tmp_path, student=str(tmp_path / "other"))  # explanations are carried over by characters
    with pytest.raises(SpecError, match="read a text as different tokens"):  # but heads are compared token by token
        plan_of(room, tmp_path, "scaffold", student=str(tmp_path / "other"))
    several = toys.bert(seed=3, problem_type="multi_label_classification")
    save_model(several, tmp_path / "several")
    with pytest.raises(UnsupportedError, match="several labels"):
        assay.simulate_plan(str(tmp_path / "several"), str(room / "texts.csv"), **SETTINGS)
    with pytest.raises(SpecError, match="head of their teacher"):
        Simulate(recipe="recipe(head=scalar_mix)")


def test_the_student_starts_where_the_teacher_did(room: Path, tmp_path: Path) -> None:
    """A trained folder knows its base: a folder beside it, a hub id, or a size."""
    save_model(toys.bert(seed=7), tmp_path / "base")
    (tmp_path / "data").mkdir()
    rows = "text,label\n" + "".join(f"{word} sea {i},{i % 2}\n" for i, word in enumerate(toys.WHOLE[:20]))
    for split in ("train", "dev"):
        (tmp_path / "data" / f"{split}.csv").write_text(rows)
    for base in (str(tmp_path / "base"), "bert(layers=1, width=16, heads=2, vocabulary=100)"):
        teacher = tmp_path / f"trained {len(base)}"
        assay.train(base, str(tmp_path / "data"), teacher, epochs=1)
        plan = assay.simulate_plan(str(teacher), str(room / "texts.csv"), sizes=(10,), seeds=1, store=tmp_path / "s")
        assert {job.task.student.base for job in students(plan)} == {base if base.startswith("/") else "untrained"}
    card = json.loads((tmp_path / f"trained {len(str(tmp_path / 'base'))}" / "training.json").read_text())
    assert (card["base"], card["base_folder"]) == ("base", "../base")
    (tmp_path / "base").rename(tmp_path / "moved")
    with pytest.raises(SpecError, match="no longer there"):
        student_base(None, str(tmp_path / f"trained {len(str(tmp_path / 'base'))}"))


def test_a_teacher_of_one_answer_is_refused(room: Path, tmp_path: Path) -> None:
    model = toys.bert(seed=3)
    model.hf.classifier.bias.data[:] = model.hf.classifier.bias.new_tensor([100.0, -100.0])
    save_model(model, tmp_path / "teacher")
    model.weights_changed()
    teacher, data = str(tmp_path / "teacher"), str(room / "texts.csv")
    found = assay.simulate(teacher, data, "attention_logits", store=tmp_path / "s", progress=False, **SETTINGS)
    assert not found.status.ok
    reasons = set(found.status.reasons.values())
    assert any(f"answers {model.labels[0]!r} to all" in reason for reason in reasons)
    assert any("a student has nothing to learn" in reason for reason in reasons)


def test_the_default_recipe_is_readable() -> None:
    recipe = Recipe.from_spec(Simulate().recipe)
    assert (recipe.optimiser, recipe.clip, recipe.weight_decay, recipe.groups) == ("sgd", 5.0, 0.01, ())
