"""Heads that teach: found where one is planted, the same after an interruption, saved and loaded, or refused."""

from __future__ import annotations

import copy
import json
import math
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

import assay
import toys
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.explainers.learned.parts.seen import text_mark
from assay.explainers.learned.scaffold import HeadWeights, Scaffold
from assay.fitting.methods.scaffold import ScaffoldFit
from assay.fitting.run import FitRun
from assay.fitting.scaffold import HeadSearch, Teaching, fit_heads, search_heads
from assay.models.head_weights import normalise
from assay.models.load import load_model
from assay.training.bilevel import Bilevel, Update
from assay.training.encoded import encode_dataset
from assay.training.students import untrained
from assay.training.teaching import Student
from families import fresh, model_of

CUES, PLANTED, HEADS = ("bad", "good"), 2, 4
FILLER = [word for word in toys.WHOLE if word not in CUES]
QUICK = {"student": "untrained", "batch_size": 16, "learning_rate": 0.1, "weight_decay": 0.0, "patience": None}


def texts(n: int, seed: int) -> Dataset:
    """Fourteen words, one of which decides the class."""
    rng, out = np.random.default_rng(seed), []
    for _ in range(n):
        label, words = int(rng.integers(2)), list(rng.choice(FILLER, 14))
        words[rng.integers(14)] = CUES[label]
        out.append(Example(text=" ".join(words), label=label))
    return Dataset(tuple(out), labels=("negative", "positive"))


def small_bert(layers: int = 1) -> assay.models.model.Model:
    names = {0: "negative", 1: "positive"}
    config = BertConfig(
        vocab_size=len(toys.wordpiece()),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
        id2label=names,
        label2id={label: i for i, label in names.items()},
    )
    torch.manual_seed(0)
    return load_model(BertForSequenceClassification(config), toys.wordpiece())


def planted_heads(data: Dataset) -> dict[str, torch.Tensor]:
    """Noise, except for one head, which attends to the word that decides."""
    rng, out = np.random.default_rng(0), {}
    model = small_bert()
    for example in data:
        encoding = model.encode(example)
        logits = rng.normal(0, 1, (HEADS, len(encoding))).astype(np.float32)
        cue = [t for t, s in enumerate(encoding.spans) if s.segment >= 0 and example.text[s.start : s.end] in CUES]
        logits[PLANTED, cue] += 6
        out[example.content] = torch.from_numpy(logits)
    return out


def planted(
    meta_rate: float = 0.05, seed: int = 0, folder: Path | None = None, *, double: bool = False, **more: object
) -> tuple[object, object]:
    learnt, outer, held_out = texts(32, 1), texts(64, 2), texts(200, 3)
    student = untrained(small_bert(), seed)
    if double:
        student.hf.double()
    encoded = [encode_dataset(student, data, progress=False) for data in (learnt, outer, held_out)]
    settings = ScaffoldFit(**{**QUICK, "epochs": 8, "meta_rate": meta_rate, "seed": seed, **more})
    run = FitRun(folder=folder, progress=False, save_seconds=0.0)
    return search_heads(student, planted_heads(learnt), *encoded, settings, run)


@pytest.fixture(scope="module")
def found() -> tuple[object, object]:
    return planted()


def test_the_planted_head_is_found_and_the_student_learns_faster(found: tuple[object, object]) -> None:
    search, history = found
    lambdas = normalise(search.phi, "sparsemax")
    assert lambdas.argmax() == PLANTED
    assert lambdas[PLANTED] > 0.9
    _, equal = planted(meta_rate=1e-9)
    curves = [np.mean([check.scores["accuracy"] for check in h.checks]) for h in (history, equal)]
    assert curves[0] > curves[1] + 0.1
    assert history.best_check.scores["accuracy"] > equal.best_check.scores["accuracy"] + 0.05


def test_a_meta_gradient_of_the_wrong_sign_would_lose_it(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Bilevel.unrolled
    monkeypatch.setattr(Bilevel, "unrolled", lambda *args: -right(*args))
    search, _ = planted()
    assert normalise(search.phi, "sparsemax")[PLANTED] < 1 / HEADS - 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("meta", "steps"), [("unrolled", 2), ("implicit", 2)])
def test_the_other_gradients_find_it_too(meta: str, steps: int) -> None:
    search, _ = planted(meta=meta, steps=steps)
    assert normalise(search.phi, "sparsemax").argmax() == PLANTED


def test_an_interrupted_fit_ends_the_same(found: tuple[object, object], tmp_path: Path, monkeypatch) -> None:
    move, calls = HeadSearch.move, []

    def interrupted(self: HeadSearch, *args: object) -> None:
        calls.append(1)
        if len(calls) == 9:
            raise KeyboardInterrupt
        move(self, *args)

    monkeypatch.setattr(HeadSearch, "move", interrupted)
    with pytest.raises(KeyboardInterrupt):
        planted(folder=tmp_path)
    monkeypatch.undo()
    search, history = planted(folder=tmp_path)
    assert torch.equal(search.phi, found[0].phi)
    assert history.steps == found[1].steps
    assert [c.scores for c in history.checks] == [c.scores for c in found[1].checks]


def test_gradients_that_are_not_finite_are_skipped_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bilevel, "unrolled", lambda self, phi, *rest: torch.full_like(phi, math.nan))
    search, history = planted(epochs=2)
    assert (int(search.skipped), int(search.taken)) == (history.steps, 0)
    assert torch.allclose(search.phi, torch.full((HEADS,), 1 / HEADS))


def test_steps_of_the_heads_are_those_of_adam() -> None:
    search = HeadSearch(Student(fresh("bert")), 5)
    leaf = search.phi.clone().requires_grad_()
    optimiser = torch.optim.Adam([leaf], 0.01)
    rng = torch.Generator().manual_seed(0)
    for scale in (1e-6, 1.0, 0.1, 100.0, 1e-3):  # the first: no second epsilon under the root
        gradient = scale * torch.randn(5, generator=rng)
        search.move(gradient, 0.01, 5.0)
        leaf.grad = gradient.clone()
        torch.nn.utils.clip_grad_norm_([leaf], 5.0)
        optimiser.step()
    assert torch.allclose(search.phi, leaf, atol=1e-6)


def test_a_fit_takes_the_steps_of_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real steps in float64: SGD towards the present heads, then the heads by finite differences of two more steps.

    The student's step: L_sim + beta KL(heads' explanation || its own), clipped, then with weight decay. The heads':
    from the student after it, on the same texts, examined on others, in turn.
    """
    seen: list[tuple[object, ...]] = []
    gradients, exams, after, move, exam = [], [], Teaching.after_step, HeadSearch.move, Teaching._exam

    def noted(self: Teaching, search: HeadSearch, item: object) -> None:
        seen.append((copy.deepcopy(search.student), search.phi.clone(), item))
        after(self, search, item)

    monkeypatch.setattr(Teaching, "after_step", noted)
    monkeypatch.setattr(HeadSearch, "move", lambda self, g, *a: (gradients.append(g), move(self, g, *a)))
    monkeypatch.setattr(Teaching, "_exam", lambda self, n: exams.append(exam(self, n)) or exams[-1])
    settings = {"epochs": 2, "steps": 2, "clip": 0.3, "weight_decay": 0.1, "beta": 3.0, "normaliser": "softmax"}
    planted(**settings, double=True)
    update, heads = Update(0.1, 0.3, 0.1), planted_heads(texts(32, 1))

    def lesson(item: object, phi: torch.Tensor) -> torch.Tensor:
        rows = [phi.softmax(0) @ heads[e.content].double() for e in item.examples]
        return torch.nn.utils.rnn.pad_sequence([row.softmax(0) for row in rows], batch_first=True)

    def stepped(student: Student, item: object, phi: torch.Tensor) -> Student:
        student = copy.deepcopy(student)
        outputs, own = student.explained(item.batch)
        taught = lesson(item, phi)
        kl = torch.nn.functional.kl_div(own.log(), taught, reduction="batchmean")
        loss = torch.nn.functional.cross_entropy(outputs, item.gold) + 3.0 * kl
        found = dict(zip(names, torch.autograd.grad(loss, list(student.parameters())), strict=True))
        new = update({n: p.detach() for n, p in student.named_parameters()}, found)
        with torch.no_grad():
            for name, p in student.named_parameters():
                p.copy_(new[name])
        return student

    def later(phi: torch.Tensor, student: Student, item: object, asked: object) -> float:
        for _ in range(2):
            student = stepped(student, item, phi)
        with torch.no_grad():
            return float(torch.nn.functional.cross_entropy(student(asked.batch), asked.gold))

    names = [name for name, _ in seen[0][0].named_parameters()]
    assert len(seen) == len(exams) == 4
    assert seen[0][0].normaliser == "softmax"  # of the student, too
    for (before, phi, _), (student, now, item) in pairwise(seen):
        assert not torch.equal(now, phi)
        for p, q in zip(stepped(before, item, now).parameters(), student.parameters(), strict=True):
            assert torch.allclose(p, q, atol=1e-9)
    for (student, phi, item), asked, gradient in zip(seen, exams, gradients, strict=True):
        ways = 1e-4 * torch.eye(HEADS).double()
        ends = [[later(phi + s * e, student, item, asked) for s in (1, -1)] for e in ways]
        truth = torch.tensor([(a - b) / 2e-4 for a, b in ends]).double()
        assert torch.allclose(gradient, truth, rtol=1e-3, atol=1e-3 * float(truth.abs().max()))
    everything = [tuple(row.tolist()) for asked in exams for row in asked.batch.ids]
    assert len(set(everything)) == len(everything) == 64


def test_lessons_exams_and_validation_are_the_texts_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    def stopped(student: object, heads: object, *encoded: object) -> None:
        found.extend({e.text for e in part.examples} for part in encoded[:3])
        raise KeyboardInterrupt

    monkeypatch.setattr("assay.fitting.scaffold.search_heads", stopped)
    given = [texts(n, seed) for n, seed in ((30, 1), (20, 2), (15, 3))]
    with pytest.raises(KeyboardInterrupt):
        fit_heads(toys.bert(seed=3), *given, ScaffoldFit(**QUICK), FitRun(progress=False))
    assert found == [{e.text for e in part} for part in given]


# --- as a method ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scaffold(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, Scaffold, Path]:
    folder = tmp_path_factory.mktemp("scaffold") / "heads"
    model = toys.bert(seed=3)
    data = [" ".join(np.random.default_rng(i).choice(toys.WHOLE, 6)) for i in range(240)]
    settings = {"student": "untrained", "epochs": 1, "meta_rate": 0.05, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no validation split, and a student that learnt nothing in one epoch
        return model, assay.fit(model, data, "scaffold", folder, **settings), folder


def test_a_fit_is_saved_and_explains(scaffold: tuple[object, Scaffold, Path]) -> None:
    model, method, folder = scaffold
    assert method.heads.shape == (2, 4)
    assert method.heads.sum() == pytest.approx(1)
    card = json.loads((folder / "explainer.json").read_text())
    assert card["metric"] == "accuracy"
    assert text_mark("a modest pleasure") not in card["texts"]
    assert len(card["texts"]) == 240
    assert (folder / "heads.svg").read_text().count("<rect") == 8
    assert "of always giving the most frequent answer" in (folder / "README.md").read_text()
    again = assay.load_explainer(folder)
    scores = assay.explain(model, "a modest pleasure", again).scores
    assert scores == pytest.approx(assay.explain(model, "a modest pleasure", f"scaffold('{folder}')").scores)
    assert scores == pytest.approx(assay.explain(model, "a modest pleasure", method).scores)


def test_equal_weights_are_attention_logits(scaffold: tuple[object, Scaffold, Path]) -> None:
    model, method, _ = scaffold
    equal = Scaffold.of(HeadWeights(torch.full((8,), 1 / 8), method.card))
    text = "a modest pleasure"
    assert assay.explain(model, text, equal).scores == pytest.approx(
        assay.explain(model, text, "attention_logits").scores
    )
    assert assay.explain(model, text, method).scores != pytest.approx(
        assay.explain(model, text, equal).scores, rel=1e-3
    )


def test_another_model_is_refused(scaffold: tuple[object, Scaffold, Path]) -> None:
    with pytest.raises(assay.ModelError, match="was fitted for"):
        assay.explain(toys.bert(seed=4), "a film", scaffold[1])


def test_what_cannot_be_fitted_gets_a_sentence() -> None:
    data = texts(60, 0)
    with pytest.raises(assay.SpecError, match="which model is the student"):
        assay.fit(toys.bert(), list(data), "scaffold")
    with pytest.raises(assay.UnsupportedError, match="one attention head"):
        assay.fit(model_of("bilstm_attention"), list(data), "scaffold", student="untrained")
    deaf = toys.bert(seed=3)
    deaf.hf.classifier.bias.data[:] = torch.tensor([100.0, -100.0])
    deaf.weights_changed()
    with pytest.warns(UserWarning, match="for every text"), pytest.raises(assay.SpecError, match="nothing to learn"):
        fit_heads(deaf, data, data, texts(30, 5), ScaffoldFit(**QUICK), FitRun(progress=False))
