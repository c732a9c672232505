"""Claims and page on made-up evidence: each claim holds where the paper is right, and fails where it is wrong."""

from __future__ import annotations

import json
import lzma
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from assay.experiments.archive import PackedRecord
from assay.experiments.store import Record, key_of
from assay.statistics.claims import Criterion, Outcome, Statement, Verdict, judge
from reproductions.smat.claims import AUC, CLAIMS, NORMALISERS, STATIC, active_gap, lateness
from reproductions.smat.evidence import Evidence, Gain, Place, Room, evidence
from reproductions.smat.findings import findings
from reproductions.smat.page import INDEX, PARTS, RECORDS, page, read
from reproductions.smat.published import ALL, LAST, OWN, SMAT, columns, published, short_name
from reproductions.smat.tables import _line, _more, claim_table, statement_list
from reproductions.smat.teaching import FURTHER, taught

TEXTS, SEEDS = 300, 8
PAPER = {
    "none": 0.7,
    "uniform": 0.7,
    ALL: 0.78,
    LAST: 0.65,
    "gradient": 0.65,
    **dict.fromkeys(("gradient_x_input", "integrated_gradients"), 0.75),
    SMAT: 0.85,
    OWN: 0.9,
}


def room(rates: dict[str, float], seed: int = 0) -> Room:
    """Students that agree with the teacher on a share of the texts, nested so that better ones know more of them."""
    rng = np.random.default_rng(seed)
    answers = rng.integers(0, 2, TEXTS)
    hard = rng.random(TEXTS)
    outputs = {}
    for name, rate in rates.items():
        right = hard + 0.05 * rng.standard_normal((SEEDS, TEXTS)) < rate
        outputs[name] = np.where(right, answers, 1 - answers)
    return Room(answers, outputs)


def scored(rates: dict[str, float]) -> Room:
    """Students of scores, whose noise makes them correlate as wanted."""
    rng = np.random.default_rng(3)
    answers = rng.standard_normal(TEXTS)
    outputs = {
        name: answers + rng.standard_normal((SEEDS, TEXTS)) * (1 / rate**2 - 1) ** 0.5 for name, rate in rates.items()
    }
    return Room(answers, outputs)


def made_up(rates: dict[str, float], sign: float = 1.0) -> Evidence:
    rng = np.random.default_rng(1)
    rates = rates | {f"shuffled {name}": rates["none"] for name in (ALL, SMAT)}
    quality = rates | {"gradient": rates["none"] + 0.1 * sign}
    worse = {study: room(rates | {OWN: rates[OWN] - 0.1 * sign}) for study in NORMALISERS}
    rooms = {("sst", "students"): {125: room(rates), 500: room(rates)}, ("cifar", "students"): {200: room(rates)}}
    rooms |= {("sst", study): {125: found} for study, found in worse.items()} | {
        ("mlqe", "students"): {250: scored(quality)}
    }
    late, early = np.zeros((SEEDS, 4, 3)), np.zeros((SEEDS, 4, 3))
    late[:, 3 if sign > 0 else 0], early[:, 0 if sign > 0 else 3] = 1 / 3, 1 / 3
    means = {SMAT: 0.8, **dict.fromkeys(STATIC, 0.8 - 0.2 * sign), "best head (oracle)": 0.8 if sign > 0 else 0.95}
    plausible = {
        ("movies", AUC): {
            m: {str(i): mean + 0.02 * rng.standard_normal() for i in range(60)} for m, mean in means.items()
        }
    }
    active = [[True, False]] if sign > 0 else [[False, True]]
    oracle = {"agreement": [{"data": "movies", "active": active, "heads": [[0.8 + 0.01 * i, 0.5] for i in range(6)]}]}
    sparse = late if sign > 0 else np.full((SEEDS, 4, 3), 1 / 12)
    return Evidence(
        rooms,
        plausible,
        {("sst", "students"): sparse, ("cifar", "students"): late, ("mlqe", "students"): early},
        oracle,
    )


def test_claims_are_reproduced_where_the_numbers_are_the_papers() -> None:
    e = made_up(PAPER)
    verdicts = {claim.number: claim.judge(e).verdict for claim in CLAIMS}
    assert verdicts == dict.fromkeys(range(1, 9), Verdict.REPRODUCED)
    people = CLAIMS[3].judge(e).findings[-1]
    assert people.outcome == Outcome.NOT_TESTABLE


def test_claims_are_contradicted_where_the_numbers_are_the_opposite() -> None:
    turned = {name: 1.45 - rate for name, rate in PAPER.items()}
    e = made_up(turned, sign=-1.0)
    verdicts = {claim.number: claim.judge(e).verdict for claim in CLAIMS}
    assert verdicts == dict.fromkeys(range(1, 9), Verdict.CONTRADICTED)


def test_three_students_decide_nothing() -> None:
    """As in the study itself, however clear the difference."""
    e = made_up(PAPER)
    whole = e.rooms["mlqe", "students"][250]
    few = Room(whole.answers, {name: rows[:3] for name, rows in whole.outputs.items()})
    heads = {**e.heads, ("mlqe", "students"): e.heads["mlqe", "students"][:3]}
    e = replace(e, rooms={**e.rooms, ("mlqe", "students"): {250: few}}, heads=heads)
    found = [f for claim in CLAIMS for f in claim.judge(e).findings if f.statement.text.startswith("mlqe")]
    assert len(found) == 6
    assert {f.outcome for f in found} == {Outcome.NOT_TESTABLE}
    assert "3 students, and fewer than 6 decide nothing" in page(e, {})


def test_what_was_not_run_is_incomplete_and_the_page_is_written() -> None:
    assert {claim.judge(Evidence()).verdict for claim in CLAIMS} == {Verdict.INCOMPLETE}
    text = page(Evidence(), {})
    assert text.count("Not run yet.") == 8  # seven tables and the figures
    assert text.count(": not run.") == len(PARTS)
    text = page(made_up(PAPER), {"figure5-sst.svg": "Figure 5"})
    assert "| **reproduced** (10 of 10 statements hold) |" in text
    assert "IMDB: SMaT, own student 91.5 / 92.6 / 92.8, none 81.7 / 83.4 / 84.8" in text
    assert "81.72 [81.24:81.75]" in text
    assert "| smat, own student |" in text
    assert "(figures/figure5-sst.svg)" in text


class Kept:
    """A record."""

    def __init__(self, rows: object) -> None:
        self.rows, self.provenance, self.spec = rows, {"took": 2.0}, {"model": "teacher"}


def students(name: str, seeds: tuple[int, ...], missing: tuple[int, ...] = ()) -> list[tuple[Place, Kept | None]]:
    out = []
    for seed in seeds:
        rows = {"outputs": [0, 1, seed % 2]} | ({"heads": [[0.0, 1.0]]} if "own" in name else {})
        place = Place(f"{name}{seed}", "sst", "students", "student", name, 5, seed, "students")
        out.append((place, None if seed in missing else Kept(rows)))
    return out


def test_random_scores_that_agree_with_people_are_named() -> None:
    """Sums over the pieces of a word favour long words, so half is not what chance gives."""
    e = made_up(PAPER)
    source, translation = (("ro-en", f"auc(words=sum, part={part})") for part in ("text", "text_pair"))
    spread = [0.02 * (i % 5 - 2) for i in range(60)]
    e.plausible[source] = {"random": {str(i): 0.65 + x for i, x in enumerate(spread)}}  # type: ignore[index]
    e.plausible[translation] = {"random": {str(i): 0.5 + x for i, x in enumerate(spread)}}  # type: ignore[index]
    assert "random scores have an AUC of 0.65 on the source. The score" in findings(e)
    del e.plausible[source]  # type: ignore[attr-defined]
    assert "random scores" not in findings(e)


def test_a_method_appears_when_all_its_students_are_finished() -> None:
    """Else the table would show, and the claims judge, whatever part happens to be there."""
    asked = (Place("a", "sst", "students", "ask", part="students"), Kept({"answers": {"test": [0, 1, 1]}}))
    placed = [asked, *students("none", (0, 1)), *students("scaffold, own student", (0, 1))]
    e = evidence([*placed, *students("gradient", (0, 1), missing=(1,))])
    found = e.room("sst", "students", 5)
    assert {name: rows.tolist() for name, rows in found.outputs.items()} == {
        "none": [[0, 1, 0], [0, 1, 1]],
        OWN: [[0, 1, 0], [0, 1, 1]],
    }
    assert e.heads["sst", "students"].shape == (2, 1, 2)
    assert e.gain("sst", 5, OWN, "none").interval(0.95).value == 0
    assert e.done["sst", "students"] == (6, 7)
    assert e.seconds == {"sst": 12.0}
    assert "study `students`: 6 of 7 jobs done." in page(e, {})
    assert evidence([asked, *students("none", (0, 1), missing=(1,))]).room("sst", "students", 5) is None


def test_the_own_students_of_a_normaliser_are_enough_for_its_comparison() -> None:
    """Students without explanations do not know the normaliser: those of the main study stand in."""
    placed = []
    for study in ("students", "softmax"):
        asked = Place(f"a {study}", "sst", study, "ask", part=study)
        placed.append((asked, Kept({"answers": {"test": [0, 1, 1]}})))
        taught = students("scaffold, own student", (0, 1))
        placed += [(replace(p, key=f"{study}{p.key}", study=study, part=study), kept) for p, kept in taught]
    none = students("none", (0, 1))
    unrun = [(replace(place, key=f"softmax{place.key}", study="softmax", part="softmax"), None) for place, _ in none]
    e = evidence([*placed, *none, *unrun])
    assert set(e.room("sst", "softmax", 5).outputs) == {"none", OWN}
    assert e.between("sst", 5, OWN, "students", "softmax").interval(0.95).value == 0
    assert "sst: sparsemax is better than softmax: not testable here: 2 students" in page(e, {})
    assert "study `softmax`: 3 of 5 jobs done" in page(e, {}), "and the page says what is missing"


def test_packed_records_are_read(tmp_path: Path) -> None:
    asked = (Place("a", "sst", "students", "ask", part="students"), Kept({"answers": {"test": [0, 1, 1]}}))
    lines, places = [], []
    for place, kept in [asked, *students("none", (0, 1)), *students("gradient", (0, 1), missing=(1,))]:
        spec = {"place": place.key}
        places.append(asdict(replace(place, key=key_of(spec))))
        if kept is not None:
            lines.append(PackedRecord(Record(key_of(spec), spec, kept.rows, kept.provenance)).to_text())
    (tmp_path / RECORDS).write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))
    (tmp_path / INDEX).write_text(json.dumps(places))
    e = read(tmp_path)
    assert set(e.room("sst", "students", 5).outputs) == {"none"}
    assert e.done["sst", "students"] == (4, 5)


def test_teaching_is_told_from_regularisation() -> None:
    rates = {"none": 0.7, "a": 0.85, "shuffled a": 0.75, "b": 0.8, "shuffled b": 0.8, "c": 0.6, "shuffled c": 0.7}
    found = taught(room(rates | {"d": 0.7, "shuffled d": 0.7, OWN: 0.9}))
    assert {m: t.verdict for m, t in found.items()} == {
        "a": "teaches", "b": "helps like any explanation", "c": "hurts", "d": "no effect found", OWN: FURTHER,
    }  # fmt: skip
    five = Room(room(rates).answers, {m: rows[:5] for m, rows in room(rates).outputs.items()})
    assert {t.verdict for t in taught(five).values()} == {"undecided"}


def test_verdicts_are_corrected_for_the_methods_that_have_controls() -> None:
    given = room(PAPER | {"shuffled gradient": 0.65} | {f"shuffled {name}": 0.7 for name in (ALL, SMAT)})
    found = taught(given)
    assert set(found) == {"gradient", ALL, SMAT, OWN}
    for method, words in found.items():
        assert words.over_none == given.gain(method, "none").interval(1 - 0.05 / 3)
        assert words.detectable == given.gain(method, "none").detectable(1 - 0.05 / 3)
    assert found[SMAT].over_shuffled == given.gain(SMAT, f"shuffled {SMAT}").interval(1 - 0.05 / 3)


def test_normalisers_are_compared_seed_by_seed() -> None:
    first, second = room(PAPER), room(PAPER, seed=1)
    second = Room(first.answers, second.outputs)
    e = Evidence({("sst", "students"): {125: first}, ("sst", "softmax"): {125: second}})
    found = e.between("sst", 125, OWN, "students", "softmax")
    truth = [(a == first.answers).mean() - (b == first.answers).mean()
             for a, b in zip(first.outputs[OWN], second.outputs[OWN], strict=True)]  # fmt: skip
    assert found.parts.mean(1) == pytest.approx(truth)
    assert len(set(truth)) > 1


def test_the_detectable_gain_is_found_four_times_in_five() -> None:
    """Students and texts drawn anew, with a true gain of the size that is said to be detectable."""
    rng = np.random.default_rng(0)

    def drawn(gain: float) -> Gain:
        return Gain(gain + 0.05 * rng.standard_normal((8, 1)) + 0.1 * rng.standard_normal((8, 50)))

    said = float(np.mean([drawn(0.0).detectable(0.95) for _ in range(200)]))
    found = [drawn(said).interval(0.95).low > 0 for _ in range(400)]
    assert 0.74 < np.mean(found) < 0.88


def test_the_findings_say_what_could_not_be_seen() -> None:
    """Students at the floor, the paper's gains beside what such students could show here, a wide margin."""
    e = made_up(PAPER)
    text = findings(e)
    majority = 100 * np.bincount(e.rooms["sst", "students"][125].answers).max() / TEXTS
    assert f"always giving the most frequent answer reaches {majority:.1f}. Gains over none" in text
    own = 100 * taught(e.rooms["sst", "students"][125])[OWN].detectable
    assert f"8.0 to 9.8 points; of such students, a gain of {own:.1f} would have been found here." in text
    e = made_up(PAPER | dict.fromkeys(("none", OWN), 0.5))
    assert "reaches" in (text := findings(e))
    assert "which they do not clearly exceed: they hardly learnt" in text
    noisy = scored(dict.fromkeys((*PAPER, *(f"shuffled {m}" for m in (ALL, SMAT))), 0.7))
    few = Room((noisy.answers > 0).astype(int)[:40], {m: (rows > 0)[:, :40] for m, rows in noisy.outputs.items()})
    of_few = findings(replace(e, rooms={("sst", "students"): {125: few}}))
    assert "would have been found here, so any of these could be missed" in of_few
    assert f"over `{ALL}` (the best of the static methods by these very scores)" in text
    e.plausible["movies", AUC]["random"] = {str(i): 0.77 for i in range(60)}  # type: ignore[index]
    assert "Random scores are 0.0" in findings(e)
    e.plausible["movies", AUC]["random"] = {str(i): 0.5 for i in range(60)}  # type: ignore[index]
    assert "Random scores are" not in findings(e)


def test_what_would_decide_a_claim_is_said_of_what_it_is_about() -> None:
    """Reviews for plausibility, students for gains; thousands of students are no advice."""
    e = made_up(PAPER)
    shaky = {str(i): 0.8 + 0.3 * (-1) ** i for i in range(60)}
    e.plausible["movies", AUC][SMAT] = shaky  # type: ignore[index]
    e.plausible["movies", AUC].update({m: {str(i): 0.77 for i in range(60)} for m in STATIC})  # type: ignore[attr-defined]
    row = next(line for line in claim_table(e).splitlines() if line.startswith("| 4 |"))
    assert "times as many reviews would decide" in row
    for gain, words in ((0.003, "as many students and test texts"), (1e-4, "too close to 0 to say")):
        noise = np.random.default_rng(0).choice([-0.1, 0.1], (8, 300))
        statement = Statement("", Criterion.above(0.0), Gain(noise - noise.mean() + gain))
        assert words in _more(judge([statement]))


def test_the_reach_of_no_better_than_lies_beyond_its_margin() -> None:
    gain = Gain(np.random.default_rng(0).standard_normal((8, 300)))
    finding = judge([Statement("", Criterion.not_above(0.01), gain)]).findings[0]
    assert finding.outcome is Outcome.UNDECIDED
    assert f"a difference of {gain.detectable(0.95) + 0.01:.3f} would" in _line(finding, 0.95)


def test_the_reach_of_a_statement_is_that_of_its_interval() -> None:
    """Both at the confidence of the whole claim."""
    e = made_up(PAPER | {SMAT: 0.7})
    found = CLAIMS[7].judge(e).findings
    open_ = [f.statement.quantity for f in found if f.outcome is Outcome.UNDECIDED]
    assert len(open_) > 1
    for gain in open_:
        assert f"a difference of {gain.detectable(1 - 0.05 / len(found)):.3f} would" in statement_list(e)


def test_places_of_heads_and_names_and_published_numbers() -> None:
    assert lateness(np.array([[[0.0], [1.0]]])).values.tolist() == [0.5]
    assert active_gap(made_up(PAPER)).values[0] == pytest.approx(0.3)
    grid = {"data": "movies", "active": [[True, False], [True, False]], "heads": [[0.9, 0.5, 0.7, 0.4]]}
    assert active_gap(Evidence(oracle={"agreement": [grid]})).values == pytest.approx([0.8 - 0.45])
    assert (short_name("shuffled scaffold(meta=implicit)"), short_name("attention_logits")) == (f"shuffled {SMAT}", ALL)
    assert columns(1, "imdb") == ["500", "1000", "2000"]
    assert str(published()[1, "imdb", SMAT, "500"]) == "91.48 [91.40:91.56]"
    assert published()[6, "ro-en", "best head", "text_pair"].value == 0.75
    assert str(published()[7, "mlqe", ALL, "softmax"]) == "0.7345 [0.7335:0.7390]"
