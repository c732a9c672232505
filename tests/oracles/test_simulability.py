"""Simulability: losses, scores, shares, splits and verdicts against closed forms and slow versions."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.special import stdtrit
from scipy.stats import entropy as scipy_entropy
from scipy.stats import pearsonr

from assay.core.errors import InputError, SpecError
from assay.core.notices import unsaid
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.evaluation.simulability.scores import (
    contributions,
    detectable_mean,
    learnt,
    most_frequent,
    over_seeds_and_texts,
    silent,
    simulability,
)
from assay.evaluation.simulability.shares import entropy, shares, shuffled
from assay.evaluation.simulability.verdict import FEWEST, Gain, fewest, judge
from assay.masking.special_tokens import token_names
from assay.masking.units import divide
from assay.models.head_weights import NORMALISERS, normalise
from assay.statistics.bootstrap import Interval
from assay.statistics.permutation import paired_test
from assay.studies.simulate.explained import Explained, Lesson, explained, read, uniform, write
from assay.training.classifier import task_loss
from assay.training.encoded import encode_dataset
from assay.training.four_splits import four_splits
from assay.training.teaching import Student, TeachingLoss, divergence, simulation_loss
from families import TEXTS, fresh, model_of, precise
from stock import encoded

# --- losses --------------------------------------------------------------------------------------------------------


def test_divergence_is_the_kl_of_teacher_and_student():
    rng = np.random.default_rng(0)
    teacher, student = (torch.from_numpy(rng.dirichlet(np.ones(7), 5)) for _ in range(2))
    truth = np.mean([scipy_entropy(t, s) for t, s in zip(teacher.numpy(), student.numpy(), strict=True)])
    assert float(divergence(teacher, student)) == pytest.approx(truth, rel=1e-6)
    assert float(divergence(student, teacher)) != pytest.approx(truth, rel=1e-2)  # the order matters
    assert float(divergence(teacher, teacher)) == 0


def test_padding_adds_nothing_to_the_divergence():
    teacher, student = torch.tensor([[0.7, 0.3]]), torch.tensor([[0.4, 0.6]])
    padded = [torch.cat([p, torch.zeros(1, 3)], 1) for p in (teacher, student)]
    assert float(divergence(*padded)) == pytest.approx(float(divergence(teacher, student)))


def test_the_loss_of_the_answers_is_a_mean_over_texts():
    """Minus the log of the probability of the teacher's class, or the squared distance to its score."""
    rng = np.random.default_rng(0)
    outputs, classes, scores = rng.normal(size=(6, 3)), rng.integers(0, 3, 6), rng.normal(size=6)
    logs = outputs - np.log(np.exp(outputs).sum(1, keepdims=True))
    found = float(simulation_loss(torch.from_numpy(outputs), torch.from_numpy(classes)))
    assert found == pytest.approx(-logs[np.arange(6), classes].mean())
    found = float(simulation_loss(torch.from_numpy(outputs[:, :1]), torch.from_numpy(scores)))
    assert found == pytest.approx(((outputs[:, 0] - scores) ** 2).mean())


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_a_student_explains_itself_by_its_own_heads(normaliser):
    """Softmax over tokens of its logits, weighted by its normalised parameters; or by its last layer alone."""
    model = precise("bert")
    batch = model.batch(encoded(model, ("the film is bright and funny", "a modest pleasure")))
    heads = model.head_logits(batch)[1]
    for last, own in ((False, heads), (True, heads[:, heads.shape[1] // 2 :])):
        student = Student(model, normaliser, last=last).eval()
        with torch.no_grad():
            student.phi += 0.1 * torch.arange(len(student.phi))
            found = student.explained(batch)[1]
        weights = normalise(student.phi.detach(), normaliser)
        for row, logits, n in zip(found, own, batch.mask.sum(1).tolist(), strict=True):
            truth = (weights[:, None] * logits[:, :n]).sum(0).softmax(0)
            assert torch.allclose(row[:n], truth)
            assert (row[n:] == 0).all()


def _item(model, labels=(0, 1, 2, 0, 1)):
    pairs = [t if isinstance(t, tuple) else (t, None) for t in TEXTS]
    examples = tuple(Example(text=a, text_pair=b, label=y) for (a, b), y in zip(pairs, labels, strict=True))
    data = encode_dataset(model, Dataset(examples, labels=model.labels), progress=False)
    return data.batch(range(len(examples)))


def test_the_loss_is_simulation_plus_beta_times_divergence():
    """Taught its own explanation a student has the plain loss; taught another, the difference is beta KL."""
    model = fresh("bert")
    model.hf.eval()
    student, item = Student(model), _item(model)
    with torch.no_grad():
        _, own = student.explained(item.batch)
        rows = {
            e.content: row[: int(n)].numpy()
            for e, row, n in zip(item.examples, own, item.batch.mask.sum(1), strict=True)
        }
        plain = float(task_loss(student, item))
        assert float(TeachingLoss(rows, 5.0)(student, item)) == pytest.approx(plain, abs=1e-5)
        uniform = {content: np.full(len(row), 1 / len(row), np.float32) for content, row in rows.items()}
        kl = np.mean([scipy_entropy(uniform[c].astype(float), rows[c].astype(float)) for c in rows])
        assert float(TeachingLoss(uniform, 5.0)(student, item)) - plain == pytest.approx(5 * kl, rel=1e-4)
        assert kl > 0.01


def test_teaching_moves_the_student_towards_the_explanation():
    """Also its head weights, which a plain loss does not move."""
    model = fresh("bert")
    model.hf.eval().requires_grad_(True)
    student, item = Student(model), _item(model)
    lengths = item.batch.mask.sum(1).tolist()
    taught = {e.content: np.eye(n, dtype=np.float32)[1] for e, n in zip(item.examples, lengths, strict=True)}
    loss = TeachingLoss(taught, 5.0)
    optimiser = torch.optim.SGD(student.parameters(), 0.01)
    before = student.explained(item.batch)[1][:, 1].mean().item()
    for _ in range(5):
        optimiser.zero_grad()
        loss(student, item).backward()
        optimiser.step()
    assert student.explained(item.batch)[1][:, 1].mean().item() > before + 0.01
    assert student.phi.grad.abs().sum() > 0


# --- scores --------------------------------------------------------------------------------------------------------


def test_simulability_is_agreement_or_pearson():
    rng = np.random.default_rng(1)
    teacher, students = rng.integers(0, 3, 40), rng.integers(0, 3, (4, 40))
    assert np.allclose(simulability(students, teacher), (students == teacher).mean(1))
    teacher, students = rng.normal(3, 1, 40), rng.normal(-2, 5, (4, 40))
    students[0] += 4 * teacher
    assert np.allclose(simulability(students, teacher), [pearsonr(s, teacher)[0] for s in students])
    assert simulability(np.full((1, 40), 0.1), teacher)[0] == 0  # a student that always says the same


def test_contributions_have_the_error_of_the_score():
    """Their standard error is that of a bootstrap over texts, for Pearson's r as for the agreement."""
    rng = np.random.default_rng(3)
    teacher = rng.normal(size=500)
    student = 0.6 * teacher + rng.normal(size=500) * 0.8
    drawn = rng.integers(0, 500, (2000, 500))
    resampled = np.std([pearsonr(student[d], teacher[d])[0] for d in drawn])
    parts = contributions(student[None], teacher)[0]
    assert parts.std() / np.sqrt(500) == pytest.approx(resampled, rel=0.06)


def test_intervals_cover_both_students_and_texts():
    """Wider than over texts alone where students differ; of equal students, that of the texts."""
    rng = np.random.default_rng(2)
    teacher = np.zeros(400, np.int64)
    skill = np.array([0.5, 0.9] * 5)
    students = (rng.random((10, 400)) > skill[:, None]).astype(np.int64)
    both = over_seeds_and_texts(contributions(students, teacher))
    over_texts = 1.96 * contributions(students, teacher).mean(0).std() / np.sqrt(400)
    assert both.high - both.low > 3 * 2 * over_texts
    same = np.repeat(students[:1], 10, 0)
    alone = over_seeds_and_texts(contributions(same, teacher))
    half = stdtrit(9, 0.975) * np.sqrt(0.25 / 400)
    assert (alone.high - alone.low) / 2 == pytest.approx(half, rel=0.1)
    assert alone.value == pytest.approx((same == teacher).mean())


@pytest.mark.parametrize("agreeing", [False, True])
def test_the_interval_follows_from_the_mean_squares(agreeing):
    """Crossed samples: mean ± t(S - 1) sqrt((MS students + MS texts - MS all) / SN), never less than either alone."""
    rng = np.random.default_rng(7)
    table = 2 * rng.normal(size=(5, 1)) + 2 * rng.normal(size=(1, 9)) + rng.normal(size=(5, 9))
    if agreeing:
        table -= table.mean(1, keepdims=True)
    students, texts = (n * table.mean(axis).var(ddof=1) for axis, n in ((1, 9), (0, 5)))
    variance = max(students + texts - table.var(ddof=1), students, texts) / table.size
    assert (variance == texts / table.size) == agreeing
    for confidence in (0.9, 0.99):
        half, found = stdtrit(4, (1 + confidence) / 2) * np.sqrt(variance), over_seeds_and_texts(table, confidence)
        assert (found.low, found.high) == pytest.approx((table.mean() - half, table.mean() + half))
        assert detectable_mean(table, confidence, 0.7) == pytest.approx(half + stdtrit(4, 0.7) * np.sqrt(variance))
    assert math.isinf(detectable_mean(table[:1]))


def test_one_student_tells_nothing_about_others():
    parts = np.array([[1.0, 0.0, 1.0]])
    assert over_seeds_and_texts(parts, limits=(0.0, 1.0)) == Interval(pytest.approx(2 / 3), 0.0, 1.0, 1)
    assert over_seeds_and_texts(np.ones((3, 4))) == Interval(1.0, 1.0, 1.0, 3)


def test_equal_methods_are_told_apart_no_more_often_than_said():
    """Six students that differ a lot: percentiles of a bootstrap tell 12 % of equal methods apart, and 5 % at .993."""
    rng = np.random.default_rng(4)
    wrong = {0.95: 0, 0.995: 0}
    for _ in range(600):
        text = rng.standard_normal(120)
        methods = [
            1 + 0.8 * text + 0.3 * rng.standard_normal(120) + 0.5 * rng.standard_normal((6, 1)) for _ in range(2)
        ]
        right = [(latent + 0.6 * rng.standard_normal((6, 120)) > 0).astype(float) for latent in methods]
        for confidence in wrong:
            interval = over_seeds_and_texts(right[0] - right[1], confidence)
            wrong[confidence] += interval.low > 0 or interval.high < 0
    assert 0.01 < wrong[0.95] / 600 < 0.065
    assert wrong[0.995] / 600 < 0.012


# --- shares --------------------------------------------------------------------------------------------------------


def test_shares():
    scores = np.array([1.0, 3.0, 0.0])
    assert np.allclose(shares(scores, None), [0.25, 0.75, 0])
    assert np.allclose(shares(scores, 0.5), np.exp(scores / 0.5) / np.exp(scores / 0.5).sum())
    assert np.allclose(shares(np.zeros(4), None), 0.25)
    with pytest.raises(InputError, match="temperature"):
        shares(np.array([-1.0, 1.0]), None)


def test_a_shuffled_control_has_the_same_entropy():
    values = np.random.default_rng(0).dirichlet(np.ones(30))
    other = shuffled(values, np.random.default_rng(1))
    assert entropy(other) == pytest.approx(entropy(values)) == pytest.approx(scipy_entropy(values))
    assert not np.allclose(other, values)


def read_alike(row, content):
    """A text that the student reads as the teacher did."""
    return SimpleNamespace(example=SimpleNamespace(content=content), ids=row.ids, spans=row.spans)


def test_every_student_has_shuffled_shares_of_its_own():
    """The same shares on any token, the first and last, which are special, included; equal on average."""
    row = Explained(np.array([8, 4, 2, 1, 1], np.float32), np.arange(5), (), np.arange(5))
    own = np.array([8, 4, 2, 1, 1]) / 16

    def mixed(seed, content="a"):
        return Lesson(None, control="shuffled", seed=seed).taught([row], [read_alike(row, content)])[content]

    found = np.array([mixed(seed) for seed in range(2000)])
    assert np.allclose(np.sort(found), np.sort(own))
    assert np.allclose(found.mean(0), 0.2, atol=0.02)
    assert np.allclose(mixed(3), mixed(3))
    assert len({tuple(mixed(3, content)) for content in "abcdef"}) > 1


def test_temperatures_are_absolute_or_in_units_of_the_spread():
    rows = [Explained(np.array(s, np.float32), np.arange(3), (), np.arange(3)) for s in ([1, -2, 4], [10, 40, -20])]
    unit = np.mean([np.std(row.scores) for row in rows])
    for lesson, t in ((Lesson(0.1), 0.1), (Lesson(2.0), 2.0), (Lesson(2.0, relative=True), 2.0 * unit)):
        taught = lesson.taught(rows, [read_alike(row, content) for row, content in zip(rows, "ab", strict=True)])
        for row, content in zip(rows, "ab", strict=True):
            odds = np.exp((row.scores - row.scores.max()) / t)
            assert np.allclose(taught[content], odds / odds.sum())


def test_explanations_are_kept_and_become_shares_of_positions(tmp_path):
    model = model_of("bert")
    encodings = encoded(model, ("the film is bright and funny", "a modest pleasure"))
    scores = [np.arange(1, e.players + 1, dtype=np.float32) for e in encodings]
    write(tmp_path, [explained(e, s) for e, s in zip(encodings, scores, strict=True)])
    rows = read(tmp_path)
    taught = Lesson(None).taught(rows, encodings)
    for e, s in zip(encodings, scores, strict=True):
        found = taught[e.example.content]
        assert found.sum() == pytest.approx(1)
        assert np.allclose([found[e.unit_of == u].sum() for u in range(e.players)], s / s.sum(), atol=1e-6)
        assert (found[e.unit_of < 0] == 0).all()
    equal, told = uniform(encodings)
    assert np.allclose(equal[encodings[0].example.content], 1 / len(encodings[0]))
    assert told == pytest.approx(np.mean([np.log(len(e)) for e in encodings]))
    mixed = Lesson(None, control="shuffled").taught(rows, encodings)
    for content, found in taught.items():
        assert np.allclose(np.sort(mixed[content]), np.sort(found))
        assert not np.allclose(mixed[content], found)


def test_explanations_reach_a_student_with_another_tokenizer():
    """By characters: every word keeps its share, however either tokenizer cuts it."""
    text = ("the film is bright and funny",)
    (theirs,), (ours,) = encoded(model_of("roberta"), text), encoded(model_of("bert"), text)
    scores = np.random.default_rng(0).random(theirs.players).astype(np.float32)
    row = explained(theirs, scores)
    values = shares(scores, None)
    found = Lesson(None).taught([row], [ours])[ours.example.content]
    assert found.sum() == pytest.approx(1)

    def by_word(encoding, of_positions):
        ends = np.cumsum([len(word) + 1 for word in text[0].split()])
        out = np.zeros(len(ends))
        for span, share in zip(encoding.spans, of_positions, strict=True):
            if span.segment >= 0 and span.end > span.start:
                out[np.searchsorted(ends, span.end - 1, side="right")] += share
        return out

    counts = np.bincount(theirs.unit_of[theirs.unit_of >= 0])
    spread = np.where(theirs.unit_of >= 0, (values / counts)[theirs.unit_of], 0)
    assert np.allclose(by_word(ours, found), by_word(theirs, spread), atol=1e-6)


@pytest.mark.parametrize(("student", "limit"), [("roberta", 64), ("bert", 8)])
def test_a_shuffled_control_keeps_the_entropy_for_any_student(student, limit):
    """Special tokens, and words past the student's limit, have no token of the student; no other token gets theirs."""
    text = ("the film is bright and funny but the soup was bad",)
    with unsaid("length"):
        (theirs,), (ours,) = encoded(model_of("bert"), text), encoded(model_of(student).limited(limit), text)
    theirs = divide(model_of("bert").encode(theirs.example), "token", None, token_names(model_of("bert"), "ranked"))
    scores = np.full(theirs.players, 0.01, np.float32)
    scores[0] = scores[-2] = 1.0  # [CLS], and a word at the end
    row = explained(theirs, scores)
    told, mixed = (Lesson(None, control=c).taught([row], [ours])[text[0] + "\x1e\x1e"] for c in (None, "shuffled"))
    assert told.sum() == mixed.sum() == pytest.approx(1)
    assert entropy(mixed) == pytest.approx(entropy(told), abs=1e-5)
    special = [span.segment < 0 for span in ours.spans]
    assert told[special].sum() == mixed[special].sum() == 0
    if ours.unseen:
        assert np.allclose(told[np.invert(special)], 1 / (len(ours) - sum(special)))


# --- splits --------------------------------------------------------------------------------------------------------


def _texts(n):
    return Dataset(tuple(Example(text=f"text {i}", label=i % 2) for i in range(n)), labels=("a", "b"))


def test_four_splits_are_disjoint_and_fixed_by_the_seed():
    data = _texts(200)
    shouted = [Example(text=f"TEXT\t{i} ") for i in range(150, 200)]  # equal up to case and blanks
    data = Dataset((*data.examples, *data.examples[:50], *shouted, Example(text="  ")), labels=data.labels)
    splits = four_splits(data)
    parts = [{e.text for e in part} for part in (splits.students, splits.outer, splits.validation, splits.test)]
    assert list(map(len, parts)) == [120, 20, 20, 40]
    assert len(set().union(*parts)) == 200
    assert four_splits(data).test.fingerprint == splits.test.fingerprint != four_splits(data, 1).test.fingerprint
    few, many, other = splits.drawn(10, 3), splits.drawn(30, 3), splits.drawn(10, 4)
    assert {e.text for e in few} < {e.text for e in many}
    assert {e.text for e in few} != {e.text for e in other}


def test_too_little_data_is_refused():
    with pytest.raises(SpecError, match="four splits need at least 100; give more data or another split"):
        four_splits(_texts(60))
    with pytest.raises(SpecError, match="wants 500 examples, but only 120"):
        four_splits(_texts(200)).drawn(500, 0)


# --- verdicts ------------------------------------------------------------------------------------------------------


def _judged(skills, students=10, texts=600, spread=0.005):
    """Students that agree with given probabilities, which differ a little from seed to seed."""
    rng = np.random.default_rng(5)
    noise = rng.normal(0, spread, students)
    teacher = np.arange(texts) % 2
    outputs = {
        name: (rng.random((students, texts)) > (skill + noise)[:, None]) ^ (teacher > 0)
        for name, skill in skills.items()
    }
    controls = {name: f"shuffled {name}" for name in skills if f"shuffled {name}" in skills}
    return judge({name: rows.astype(np.int64) for name, rows in outputs.items()}, teacher, controls, "none")


def test_verdicts_tell_teaching_from_regularisation():
    found = _judged(
        {
            "none": 0.70,
            "good": 0.85,
            "shuffled good": 0.75,
            "any": 0.80,
            "shuffled any": 0.80,
            "bad": 0.60,
            "shuffled bad": 0.70,
            "idle": 0.70,
            "shuffled idle": 0.70,
        }
    )
    verdicts = {name: judged.verdict for name, judged in found.items() if judged.verdict}
    assert verdicts == {
        "good": "teaches",
        "any": "helps like any explanation",
        "bad": "hurts",
        "idle": "no effect found",
    }
    assert found["good"].gains["none"].interval.value == pytest.approx(0.15, abs=0.02)
    assert found["good"].gains["shuffled good"].interval.value == pytest.approx(0.10, abs=0.02)
    assert found["good"].underlined
    assert not found["idle"].underlined
    assert 0 < found["idle"].gains["none"].power < 0.05


@pytest.mark.parametrize(("students", "texts", "seed_sd"), [(6, 100, 0.0), (10, 100, 0.0), (10, 400, 0.04)])
def test_the_gain_that_is_said_to_be_found_four_times_in_five_is(students, texts, seed_sd):
    """By the whole rule, on other texts, too: by the spread over seeds alone, 10 students would find it in 40 %."""
    rng = np.random.default_rng(6)

    def gain(size):
        outputs = {}
        for name, more in (("none", 0.0), ("m", size), ("shuffled m", 0.0)):
            rate = more + rng.uniform(0.1, 0.6, texts) + seed_sd * rng.standard_normal((students, 1))
            outputs[name] = (rng.random((students, texts)) > rate).astype(np.int64)
        return judge(outputs, np.zeros(texts, np.int64), {"m": "shuffled m"}, "none")["m"].gains["none"]

    said = float(np.mean([gain(0.0).power for _ in range(60)]))
    found = [gain(said).clear == 1 for _ in range(250)]
    assert 0.68 < np.mean(found) < 0.9


def test_five_students_give_no_verdict():
    found = _judged({"none": 0.6, "good": 0.9, "shuffled good": 0.6}, students=5)
    assert found["good"].verdict == "undecided"
    assert found["good"].gains["none"].p >= 0.0625
    assert found["good"].gains["none"].interval.low > 0.2


def test_students_that_learnt_nothing_show_nothing():
    """One answer to all texts: no difference, but none was to be seen; a gain of 0.0 points is no power."""
    one, two = np.zeros((8, 50), np.int64), np.tile([0, 1], (8, 25))
    teacher = np.arange(50) % 3 % 2
    able = np.tile(np.where(np.arange(50) < 1, 1 - teacher, teacher), (8, 1))  # wrong on one text
    for rows, verdict in ((one, "undecided"), (two, "undecided"), (able, "no effect found")):
        found = judge({"none": rows, "m": rows, "shuffled m": rows}, teacher, {"m": "shuffled m"}, "none")["m"]
        assert found.verdict == verdict
        assert math.isinf(found.gains["none"].power)
    assert silent([one, one + 1])
    assert not silent([one, two])
    assert most_frequent(np.repeat([1, 0], [17, 8])) == 0.68
    assert most_frequent(np.array([0.5, 0.5])) == 0


def test_students_must_beat_one_answer_for_all():
    """Students that come closer to the most frequent answer have not learnt what the teacher says."""
    assert _judged({"none": 0.40, "m": 0.47, "shuffled m": 0.40})["m"].verdict == "undecided"
    assert _judged({"none": 0.50, "m": 0.70, "shuffled m": 0.50})["m"].verdict == "teaches"
    rng = np.random.default_rng(0)
    teacher, noise = rng.normal(size=300), rng.normal(size=(3, 8, 300))
    assert not learnt([noise[0], np.ones((8, 300))], teacher)
    assert learnt([noise[0], noise[1] + teacher], teacher)


def test_a_difference_below_a_point_does_not_matter():
    """However many texts tell it from 0."""
    for gain, verdict in ((0.008, "no effect found"), (0.03, "teaches")):
        found = _judged({"none": 0.7, "m": 0.7 + gain, "shuffled m": 0.7}, texts=60_000, spread=0)["m"]
        assert found.gains["none"].p < 0.01
        assert found.gains["none"].interval.low > 0
        assert found.verdict == verdict


def test_more_methods_need_more_students():
    """The smallest p of n seeds, 2 / 2^n, times the number of methods; "no effect" needs a test that could find one."""
    assert [fewest(k) for k in (0, 1, 2, 3, 4, 6, 7, 12, 13)] == [FEWEST, FEWEST, 7, 7, 8, 8, 9, 9, 10]
    for k in range(1, 40):
        assert k * 2.0 ** (1 - fewest(k)) <= 0.05 < k * 2.0 ** (2 - fewest(k))
    skills = {"none": 0.6} | dict.fromkeys("abc", 0.9) | {f"shuffled {name}": 0.6 for name in "abc"}
    for students, verdict in ((6, "undecided"), (7, "teaches")):
        found = _judged(skills, students=students)
        assert {found[name].verdict for name in "abc"} == {verdict}
        assert math.isinf(found["a"].gains["none"].power) == (verdict == "undecided")


def test_p_values_are_holms_over_the_methods_of_each_question():
    skills = {"none": 0.7, "a": 0.712, "b": 0.76, "c": 0.705, "uniform": 0.7}
    skills |= {f"shuffled {m}": s for m, s in zip("abc", (0.7, 0.75, 0.69), strict=True)}
    found = _judged(skills, students=9)
    others = ["uniform", *(f"shuffled {m}" for m in "abc")]  # controls against none, a family of their own
    for controls in (dict.fromkeys("abc", "none"), {m: f"shuffled {m}" for m in "abc"}, dict.fromkeys(others, "none")):
        raw = [paired_test(found[m].students, found[c].students) for m, c in controls.items()]
        order = np.argsort(raw)
        truth = np.maximum.accumulate([min(1.0, (len(raw) - i) * raw[j]) for i, j in enumerate(order)])
        assert [found[list(controls)[j]].gains[list(controls.values())[j]].p for j in order] == pytest.approx(truth)
        assert len(set(raw)) == len(raw), "ties would hide the order"


@pytest.mark.parametrize(
    ("low", "high", "p", "clear"),
    [(0.01, 0.2, 0.05, 1), (-0.2, -0.01, 0.05, -1), (-0.01, 0.2, 0.01, 0), (0.01, 0.2, 0.06, 0), (-0.2, 0.01, 0.01, 0)],
)
def test_a_clear_gain_needs_both_the_test_and_the_interval(low, high, p, clear):
    assert Gain("none", Interval((low + high) / 2, low, high, 8), p, 0.1).clear == clear


def test_a_result_is_underlined_if_its_quartiles_are_above_those_of_none():
    """Students that agree on so many of 10 texts; quartiles 4 to 6 against 5 to 7, then 7 to 9."""

    def rows(*right):
        return np.array([[0] * n + [1] * (10 - n) for n in right])

    none = rows(3, 4, 5, 6, 7)
    for better, underlined in (
        (rows(4, 5, 6, 7, 8), False),
        (rows(5, 6, 7, 8, 9), False),
        (rows(6, 7, 8, 9, 10), True),
    ):
        assert judge({"none": none, "m": better}, np.zeros(10, np.int64), {}, "none")["m"].underlined == underlined


def test_intervals_end_where_scores_do():
    """Agreements differ by at most 1, correlations by 2."""
    rng = np.random.default_rng(8)
    teacher = rng.normal(size=30)
    outputs = {"none": np.stack([-teacher, teacher]), "m": np.stack([teacher, -teacher]) + rng.normal(size=(2, 30))}
    found = judge(outputs, teacher, {}, "none")["m"]
    assert (found.mean.low, found.mean.high) == (-1, 1)
    assert (found.gains["none"].interval.low, found.gains["none"].interval.high) == (-2, 2)
    classes = {name: (rows > 0).astype(np.int64) for name, rows in outputs.items()}
    found = judge(classes, (teacher > 0).astype(np.int64), {}, "none")["m"]
    assert (found.mean.low, found.mean.high) == (0, 1)
    assert (found.gains["none"].interval.low, found.gains["none"].interval.high) == (-1, 1)


def test_controls_do_not_cost_the_methods_power():
    skills = {"none": 0.6, "a": 0.9, "shuffled a": 0.6}
    more = skills | {f"control {i}": 0.6 for i in range(20)}
    alone, among = (_judged(given, students=6)["a"].gains["none"].p for given in (skills, more))
    assert alone == among == 2 / 2**6


def test_median_and_quartiles_are_numpy_s():
    found = _judged({"none": 0.7, "m": 0.8, "shuffled m": 0.7}, students=7)["m"]
    assert (found.median, *found.quartiles) == pytest.approx(np.quantile(found.students, [0.5, 0.25, 0.75]))
