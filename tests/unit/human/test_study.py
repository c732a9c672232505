"""Items, folders, answers, results and exports of a human study."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

import assay
from assay.core.errors import AssayError, InputError, SpecError
from assay.human.answers import content_of, fields_of, judgements
from assay.human.export import rows_of, to_csv
from assay.human.folder import StudyFolder
from assay.human.results import HumanResults
from assay.human.results_page import results_page
from assay.human.settings import HumanStudy
from families import model_of
from toys import bert
from unit.human.studies import METHODS, made_study, tasteful
from unit.reports.pages import Page

ASKED = {"methods": "gradient_x_input,random", "examples": 4, "practice": 1, "repeats": 1, "progress": False}


@pytest.fixture(scope="module")
def created(tmp_path_factory):
    return assay.create_study("builtin", "builtin", tmp_path_factory.mktemp("made") / "study", **ASKED)


def test_items_hold_the_explanations_but_no_method(created):
    """The strengths are the scores of `explain`, relative to the largest."""
    assert sorted(created.methods().values()) == ["gradient_x_input", "random"]
    for name in ("study.json", "items.jsonl"):
        text = (created.path / name).read_text()
        assert "gradient" not in text
        assert "random" not in text.replace("drawn at random", "")
    item = next(item for item in created.items if not item.practice)
    code = next(code for code, name in created.methods().items() if name == "gradient_x_input")
    attribution = assay.explain("builtin", item.plain_text, "gradient_x_input", units="word")
    assert item.answer == attribution.prediction
    expected = attribution.scores / np.abs(attribution.scores).max()
    assert item.maps[code] == pytest.approx(expected, abs=6e-4)


def test_the_same_command_again_changes_nothing_and_another_is_refused(created):
    before = {path.name: path.read_bytes() for path in created.path.iterdir()}
    assert assay.create_study("builtin", "builtin", created.path, **ASKED).id == created.id
    assert {path.name: path.read_bytes() for path in created.path.iterdir()} == before
    with pytest.raises(InputError, match="holds another study"):
        assay.create_study("builtin", "builtin", created.path, **{**ASKED, "examples": 5})
    (created.path.parent / "other").mkdir()
    (created.path.parent / "other" / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        assay.create_study("builtin", "builtin", created.path.parent / "other", **ASKED)


def test_an_interrupted_preparation_goes_on(created, tmp_path, monkeypatch):
    from assay.explainers.session import Session
    from assay.human import prepare

    monkeypatch.setattr(prepare, "CHUNK", 2)
    explained, explain = [], Session.explain_chunk

    def stops(self, chunk, targets, bar):
        if len(explained) == 2:
            raise KeyboardInterrupt
        explained.append([index for index, _ in chunk])
        return explain(self, chunk, targets, bar)

    monkeypatch.setattr(Session, "explain_chunk", stops)
    with pytest.raises(KeyboardInterrupt):
        assay.create_study("builtin", "builtin", tmp_path / "study", **ASKED)
    with pytest.raises(InputError, match="not complete"):
        StudyFolder.open(tmp_path / "study")
    monkeypatch.setattr(
        Session, "explain_chunk", lambda self, c, t, b: explained.append([i for i, _ in c]) or explain(self, c, t, b)
    )
    again = assay.create_study("builtin", "builtin", tmp_path / "study", **ASKED)
    assert explained == [[0, 1], [2, 3], [4]]
    assert again.items == created.items


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"examples": 10_000}, "the data have"),
        ({"examples": 1}, "at least 2"),
        ({"methods": "random"}, "takes 2 to 8"),
        ({"kind": "rankings"}, "one of ranking, choice, guess"),
        ({"annotators": 0}, "at least 1"),
        ({"colour": "signed"}, "did you mean 'colours'"),
        ({"per_participant": 0}, "at least 1"),
    ],
)
def test_wrong_settings_are_refused(given, words, tmp_path):
    with pytest.raises(AssayError, match=words):
        assay.create_study("builtin", "builtin", tmp_path / "study", **{**ASKED, **given})
    assert not (tmp_path / "study").exists()


def test_metrics_of_the_same_explanations_are_kept(tmp_path):
    folder = assay.create_study(
        "builtin", "builtin", tmp_path / "study", **ASKED, metrics="comprehensiveness", store=tmp_path / "store"
    )
    assert folder.metrics() == {"comprehensiveness": "higher"}
    data = assay.load_dataset("builtin")
    chosen = [next(e for e in data if e.id == item.example) for item in folder.items if not item.practice]
    result = assay.evaluate(
        "builtin", chosen, "gradient_x_input,random", "comprehensiveness", units="word", progress=False
    )
    for code, name in folder.methods().items():
        values = [item.metrics["comprehensiveness"][code] for item in folder.items if not item.practice]
        assert values == pytest.approx(list(result.evaluation.values["comprehensiveness"][name]))


def test_a_ready_study_sets_what_the_paper_says(tmp_path):
    with pytest.raises(SpecError, match="SMaT"):
        assay.create_study("builtin", "builtin", tmp_path / "study", ready="cifar10")
    options = {"ready": "cifar10", "add": "occlusion", "examples": 3, "seed": 4, "progress": False}
    folder = assay.create_study("builtin", "builtin", tmp_path / "study", **options)
    assert (folder.study.order, folder.study.colours, folder.study.annotators) == ("fixed", "published", 3)
    assert (folder.study.repeats, folder.study.seed, len(folder.examples)) == (0, 4, 3)
    assert sorted(folder.methods().values()) == [
        "attention_logits",
        "gradient_x_input",
        "integrated_gradients",
        "occlusion",
    ]
    attention = next(code for code, name in folder.methods().items() if name == "attention_logits")
    assert folder.unsigned == (attention,)


@pytest.mark.parametrize(
    ("content", "words"),
    [("methods: [lime]\nexample: 3", "did you mean 'examples'"), ("[1]", "is not a study"), (": :", "cannot read")],
)
def test_a_wrong_ready_study_is_refused(content, words, tmp_path):
    (tmp_path / "mine.yaml").write_text(content)
    with pytest.raises(SpecError, match=words):
        assay.create_study("builtin", "builtin", tmp_path / "study", ready=tmp_path / "mine.yaml")
    with pytest.raises(SpecError, match="did you mean 'cifar10'"):
        assay.create_study("builtin", "builtin", tmp_path / "study", ready="cifar")


def test_images_are_explained_by_patches(tmp_path):
    """The picture is what the model reads, and the boxes divide it."""
    from PIL import Image

    vit, rng = model_of("vit"), np.random.default_rng(0)
    images = [assay.Example(image=rng.integers(0, 255, (40, 32, 3), np.uint8)) for _ in range(3)]
    folder = assay.create_study(
        vit, images, tmp_path / "study", "gradient_x_input,average_attention", examples=2, practice=1, progress=False
    )
    for number, item in enumerate(folder.items):
        with Image.open(folder.picture(number)) as picture:
            width, height = picture.size
        area = sum((right - left) * (bottom - top) for left, top, right, bottom in item.boxes)
        assert area == width * height
        assert all(len(row) == len(item.boxes) for row in item.maps.values())
        assert item.texts == ()
        assert item.answer in item.options


def test_pairs_show_both_texts(tmp_path):
    pairs = [assay.Example(text=f"the film was {word}", text_pair="it was not") for word in ("good", "bad", "slow")]
    folder = assay.create_study(
        bert(), pairs, tmp_path / "study", "gradient_x_input,random", examples=2, practice=1, progress=False
    )
    item = folder.items[0]
    assert [part.rest for part in item.texts] == ["", ""]
    assert item.plain_text.endswith("\nit was not")
    assert all(len(row) == sum(len(part.units) for part in item.texts) for row in item.maps.values())


# --- answers ---------------------------------------------------------------------------------------------------------


def test_a_form_becomes_an_answer_and_back(tmp_path):
    folder = made_study(tmp_path / "study")
    task = folder.tasks(0)[2]
    given = {"rank-0": "1", "rank-1": "3", "rank-2": "1", "rank-3": "4"}
    content = content_of(folder, task, given)
    assert content["ranks"][task.codes[1]] == 3
    assert fields_of(task, content, "ranking") == given


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        (("1", "1", "2", "4"), "the next rank is 3"),
        (("1", "", "2", "3"), "every explanation"),
        (("1", "2", "3", "x"), "is not a rank"),
        (("1", "2", "3", "²"), "is not a rank"),
        (("1", "2", "3", "9"), "from 1"),
        (("1", "2", "3", "-1"), "is not a rank"),
    ],
)
def test_wrong_ranks_get_a_sentence(ranks, words, tmp_path):
    folder = made_study(tmp_path / "study")
    with pytest.raises(InputError, match=words):
        content_of(folder, folder.tasks(0)[0], {f"rank-{i}": rank for i, rank in enumerate(ranks)})


def test_choices_are_rankings_of_two(tmp_path):
    folder = made_study(tmp_path / "study", kind="choice")
    task = folder.tasks(0)[1]
    left, right = task.codes
    for given, ranks in {
        "left": {left: 1, right: 2},
        "right": {left: 2, right: 1},
        "same": {left: 1, right: 1},
    }.items():
        content = content_of(folder, task, {"better": given})
        assert content == {"ranks": ranks}
        assert fields_of(task, content, "choice") == {"better": given}
    with pytest.raises(InputError, match="Choose the better"):
        content_of(folder, task, {})


def test_the_next_input_is_another_one_that_is_analysed(tmp_path):
    folder = made_study(tmp_path / "study", kind="next_guess", practice=2)
    asked = {number: folder.asked(number) for number in range(len(folder.items))}
    assert asked == {0: 2, 1: 2, 2: 3, 3: 4, 4: 5, 5: 6, 6: 7, 7: 2}
    answers = tasteful(folder, 1)
    row = rows_of(folder, answers, folder.methods())[0]
    assert (row["example"], row["asked"]) == ("example-0", "example-2")


def test_practice_and_repeats_are_not_analysed(tmp_path):
    folder = made_study(tmp_path / "study")
    answers = tasteful(folder, 3)
    names = folder.methods()
    assert len(answers) == 3 * (1 + 6 + 2)
    assert len(judgements(folder, answers, names)) == 18
    assert len(judgements(folder, answers, names, repeated=True)) == 6


# --- results ---------------------------------------------------------------------------------------------------------


def test_results_find_what_people_like(tmp_path):
    folder = made_study(tmp_path / "study", examples=20, annotators=8)
    results = HumanResults.of(folder, tasteful(folder, 8, noise=0.5))
    assert [row.method for row in results.strengths] == list(METHODS[::-1])
    assert [row.method for row in results.ratings] == list(METHODS[::-1])
    assert results.verdict[0].startswith("People prefer secret_attention to ")
    assert results.gaps == []
    (metric,) = results.metrics
    assert metric.sentence.startswith("What people prefer agrees with comprehensiveness")
    assert any(sentence.startswith("Self-agreement") for sentence in results.remarks)
    page = Page(results_page(results, "assay study results study/"))
    assert "TrueSkill, as published" in page.text
    assert "People prefer" in page.text
    json.dumps(results.to_dict(), allow_nan=False)


@pytest.mark.parametrize("kind", ["guess", "next_guess"])
def test_results_of_guesses(kind, tmp_path):
    folder = made_study(tmp_path / "study", kind=kind, examples=30, annotators=10)
    results = HumanResults.of(folder, tasteful(folder, 10))
    assert results.simulatability[0].condition == "no explanation"
    assert "secret_attention" in results.verdict[0]
    assert "guess the model's answer" in results.verdict[0]
    assert "Against no explanation" in Page(results_page(results)).text
    json.dumps(results.to_dict(), allow_nan=False)


def test_few_answers_still_give_results(tmp_path):
    folder = made_study(tmp_path / "study")
    with pytest.raises(InputError, match="nobody has answered"):
        HumanResults.of(folder, [])
    counted = [a for a in tasteful(folder, 1) if not folder.tasks(0)[a.task].practice]
    results = HumanResults.of(folder, counted[:1])
    assert results.verdict[0].startswith("No preference can be shown")
    assert "6 of 6 examples have fewer than 3 annotators." in results.gaps
    page = Page(results_page(results)).text
    assert "over the examples of one participant" in page
    assert "over participants and examples" not in page


def test_two_people_of_one_name_are_two_participants(tmp_path):
    """An account is removed, and a new one takes its name: their answers are not mixed up."""
    folder = made_study(tmp_path / "study", kind="choice", examples=8)
    answers = [replace(answer, participant="Bob") for answer in tasteful(folder, 2)]
    results = HumanResults.of(folder, answers)
    assert results.participants == len(results.judgements.participants) == 2
    assert "Bob is the name of 2 accounts, which count as different people." in results.gaps
    alone = [HumanResults.of(folder, [a for a in answers if a.seat == seat]).agreement[-1].value for seat in (0, 1)]
    assert results.agreement[-1].value == pytest.approx(np.mean(alone))


def test_careless_participants_are_a_caution(tmp_path):
    """One who ties everything, and repeated examples that are ranked otherwise."""
    folder = made_study(tmp_path / "study", examples=20, repeats=8)
    careful = tasteful(folder, 3, noise=0.1)
    assert HumanResults.of(folder, careful).gaps == []

    def turned(answer):
        return {code: 5 - rank for code, rank in answer.content["ranks"].items()}

    repeated = [folder.tasks(a.seat)[a.task].repeats is not None for a in careful]
    moody = [
        replace(a, content={"ranks": turned(a)}) if again else a for a, again in zip(careful, repeated, strict=True)
    ]
    assert "cannot be shown to agree with themselves" in HumanResults.of(folder, moody).gaps[0]
    tied = [replace(a, content={"ranks": dict.fromkeys(a.content["ranks"], 1)}) if a.seat == 2 else a for a in careful]
    assert HumanResults.of(folder, tied).gaps == ["1 of 3 participants ranked all heat maps equal every time."]


def test_whoever_only_practised_is_no_participant(tmp_path):
    folder = made_study(tmp_path / "study")
    first, second = tasteful(folder, 1), [a for a in tasteful(folder, 2) if a.seat == 1][:1]
    assert folder.tasks(1)[second[0].task].practice
    assert HumanResults.of(folder, [*first, *second]).participants == 1


def test_exports_hold_every_rank(tmp_path):
    folder = made_study(tmp_path / "study")
    answers = [
        assay.human.answers.Answer("=cmd()", 0, 1, tasteful(folder, 1)[1].content, '-1, a "comment"\nof two lines')
    ]
    rows = rows_of(folder, answers, folder.methods())
    assert {row["method"]: row["rank"] for row in rows} == {
        folder.methods()[code]: rank for code, rank in answers[0].content["ranks"].items()
    }
    table = list(csv.DictReader(io.StringIO(to_csv(rows))))
    assert len(table) == 4
    assert table[0]["participant"] == "'=cmd()"  # no spreadsheet runs it
    assert table[0]["seat"] == "1"  # as the administrator's page counts
    assert table[0]["comment"].endswith("of two lines")


def test_broken_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match="holds no human study"):
        StudyFolder.open(tmp_path)
    folder = made_study(tmp_path / "study")
    head = json.loads((folder.path / "study.json").read_text())
    (folder.path / "study.json").write_text(json.dumps({**head, "version": 99}))
    with pytest.raises(InputError, match="version 99"):
        StudyFolder.open(folder.path)
    (folder.path / "study.json").write_text(json.dumps(head))
    lines = (folder.path / "items.jsonl").read_text().splitlines()
    (folder.path / "items.jsonl").write_text("\n".join(lines[:-1]))
    with pytest.raises(InputError, match="items instead of"):
        StudyFolder.open(folder.path)
    (folder.path / "items.jsonl").write_text("{broken")
    with pytest.raises(InputError, match="cannot read"):
        StudyFolder.open(folder.path)


def test_settings_are_checked():
    with pytest.raises(SpecError, match="order='random' is unknown"):
        HumanStudy(order="random")
