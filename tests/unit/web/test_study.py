"""A human study in the browser's place: consent, tasks, ties, wrong ranks, and who may see what."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy import text

from assay.core.errors import StoreError
from assay.human.folder import StudyFolder
from assay.web.database import Database
from assay.web.study.answers import SCHEMA, StudyDatabase
from assay.web.study.part import study_part
from unit.human.studies import METHODS, made_study
from unit.reports.pages import Page
from unit.web.clients import PASSWORD, Client, application, participant, seen


class Running:
    """A study on a server, with people who are logged in."""

    def __init__(self, path: Path, **settings) -> None:
        self.folder: StudyFolder = made_study(path / "study", **settings)
        self.app = application(path, study_part(self.folder.path), access="accounts")
        self.answers = StudyDatabase(self.app.state.site.database, self.folder.id)
        self.path = path

    def administrator(self) -> Client:
        client = Client(self.app)
        client.set_up()
        return client

    def joined(self, name: str) -> Client:
        client = Client(self.app)
        participant(self.app, name)
        client.submit("/login", name=name, password=PASSWORD)
        client.submit("/study/join", agree="yes")
        return client


@pytest.fixture
def study(tmp_path):
    return Running(tmp_path)


RANKS = {"rank-0": "1", "rank-1": "1", "rank-2": "3", "rank-3": "4"}


def test_consent_comes_first(study):
    client = Client(study.app)
    assert "/login" in str(client.get("/study").url)
    participant(study.app, "Bob")
    client.submit("/login", name="Bob", password=PASSWORD)
    assert "Taking part is voluntary" in seen(client.get("/study"))
    assert client.get("/study/tasks/1").status_code == 403
    assert client.submit("/study/tasks/1", **RANKS).status_code == 403
    assert "Tick the box" in seen(client.submit("/study/join"))
    assert study.answers.participants() == []
    assert "0 of 9 answered" in seen(client.submit("/study/join", agree="yes"))
    assert [person.name for person in study.answers.participants()] == ["Bob"]


def test_ranks_with_ties_are_saved_and_shown_again(study):
    bob = study.joined("Bob")
    page = bob.get("/study/tasks/2")
    assert "positive" in seen(page)
    assert "Which explanation aligns the most" in seen(page)
    after = bob.submit("/study/tasks/2", go="next", comment="  hard\r\nto say", **RANKS)
    assert str(after.url).endswith("/study/tasks/3")
    (answer,) = study.answers.answers()
    assert list(answer.content["ranks"].values()) == [1, 1, 3, 4]
    assert list(answer.content["ranks"]) == list(study.folder.tasks(0)[1].codes)
    again = bob.get("/study/tasks/2").text
    assert re.findall(r'name="rank-(\d)" value="(\d)" checked', again) == [
        ("0", "1"),
        ("1", "1"),
        ("2", "3"),
        ("3", "4"),
    ]
    assert "hard\nto say" in again
    bob.submit("/study/tasks/2", go="previous", **{**RANKS, "rank-1": "2"})
    assert list(study.answers.answers()[0].content["ranks"].values()) == [1, 2, 3, 4]
    assert "1 of 9 answered" in seen(bob.get("/study"))


def test_wrong_ranks_come_back_with_what_was_typed(study):
    bob = study.joined("Bob")
    answer = bob.submit("/study/tasks/1", go="next", comment="my words", **{**RANKS, "rank-2": "2"})
    assert answer.status_code == 400
    assert "the next rank is 3, as in a race" in seen(answer)
    assert "my words" in answer.text
    assert re.findall(r'name="rank-(\d)" value="(\d)" checked', answer.text)[2] == ("2", "2")
    assert "every explanation" in seen(bob.submit("/study/tasks/1", go="next", **{"rank-0": "1"}))
    assert "2,000" in seen(bob.submit("/study/tasks/1", go="next", comment="x" * 2001, **RANKS))
    assert study.answers.answers() == []
    assert str(bob.submit("/study/tasks/2", go="previous").url).endswith("/study/tasks/1")  # nothing was typed
    assert "Go back without saving" in seen(bob.submit("/study/tasks/2", go="previous", **{"rank-0": "1"}))


def test_one_participant_cannot_reach_anothers_answers(study):
    """Addresses count a participant's own tasks: whatever is guessed, only the own seat is read and written."""
    ann, bob = study.joined("Ann"), study.joined("Bob")
    for number in range(1, 10):
        ann.submit(f"/study/tasks/{number}", go="next", comment=f"Ann's words {number}", **RANKS)
    before = [answer for answer in study.answers.answers() if answer.participant == "Ann"]
    guesses = [-1, 0, *range(1, 12), 10**9, "1/../2", "0x1", "1%00", "%2e%2e/manage"]
    csrf = bob.csrf()
    for guess in guesses:
        for address in (f"/study/tasks/{guess}", f"/study/tasks/{guess}?seat=0", f"/study/tasks/{guess}/picture.png"):
            response = bob.get(address)
            assert "Ann" not in response.text
            assert response.status_code < 500
        fields = {"seat": "0", "participant": "Ann", "account": "Ann", "study": "x"}
        assert (
            bob.submit(f"/study/tasks/{guess}", go="next", comment="forged", csrf=csrf, **fields, **RANKS).status_code
            < 500
        )
    after = study.answers.answers()
    assert [answer for answer in after if answer.participant == "Ann"] == before
    assert {answer.participant for answer in after if answer.comment == "forged"} == {"Bob"}
    assert {answer.seat for answer in after if answer.participant == "Bob"} == {1}


ADMIN = ("/study/manage", "/study/manage/answers.csv", "/study/manage/answers.json", "/study/manage/results")


def test_nobody_else_opens_the_administrators_page(study):
    bob, stranger = study.joined("Bob"), Client(study.app)
    for address in ADMIN:
        assert bob.get(address).status_code == 403
        assert "/login" in str(stranger.get(address).url)
    for address in ("invite", "close", "open"):
        assert bob.submit(f"/study/manage/{address}").status_code == 403
        assert stranger.submit(f"/study/manage/{address}").status_code == 403
    assert not study.answers.closed


def test_method_names_stay_on_the_server_until_the_study_is_closed(study):
    ada, bob = study.administrator(), study.joined("Bob")
    pages = [bob.get("/study"), bob.get("/study/tasks/3"), bob.submit("/study/tasks/3", go="next", **RANKS)]
    pages += [bob.submit("/study/tasks/3", go="next", **{**RANKS, "rank-2": "2"}), bob.get("/study/nothing")]
    pages += [ada.get(address) for address in ADMIN]
    assert ada.get(ADMIN[-1]).status_code == 400
    for page in pages:
        assert not [name for name in METHODS if name in page.text or name in str(page.headers)]
    assert ada.submit("/study/manage/close").status_code == 200
    assert all(name in ada.get("/study/manage/answers.csv").text for name in METHODS)
    assert all(name in ada.get("/study/manage/results").text for name in METHODS)
    refused = bob.submit("/study/tasks/4", go="next", comment="late words", **RANKS)
    assert "closed" in seen(refused)
    assert "late words" in refused.text  # what was typed is kept
    assert len(study.answers.answers()) == 1
    ada.submit("/study/manage/open")
    bob.submit("/study/tasks/4", go="next", **RANKS)
    assert len(study.answers.answers()) == 2


def test_the_key_is_not_even_read_while_the_study_is_open(study):
    (study.folder.path / "key.json").unlink()
    ada, bob = study.administrator(), study.joined("Bob")
    bob.submit("/study/tasks/1", go="next", **RANKS)
    assert bob.get("/study/tasks/1").status_code == 200
    assert ada.get("/study/manage/answers.csv").status_code == 200


def test_the_administrator_invites_and_watches(study):
    ada = study.administrator()
    link = re.search(r"/invitation\?key=([\w-]+)", ada.submit("/study/manage/invite", uses=2).text)
    carl = Client(study.app)
    joined = carl.submit("/invitation", key=link[1], name="Carl", password=PASSWORD, password_again=PASSWORD)
    assert "Taking part is voluntary" in seen(joined)
    carl.submit("/study/join", agree="yes")
    carl.submit("/study/tasks/1", go="next", comment="<b>bold</b>", **RANKS)
    page = ada.get("/study/manage")
    assert "Carl" in page.text
    assert "1 of 9" in seen(page)
    assert "<b>bold</b>" not in page.text
    assert "&lt;b&gt;bold" in page.text


@pytest.mark.parametrize("kind", ["choice", "guess", "next_guess"])
def test_other_kinds_of_questions(kind, tmp_path):
    study = Running(tmp_path, kind=kind)
    bob = study.joined("Bob")
    field = {"choice": {"better": "same"}, "guess": {"guess": "positive"}}[kind.removeprefix("next_")]
    missing = bob.submit("/study/tasks/1", go="next")
    assert missing.status_code == 400
    assert "Choose" in seen(missing)
    bob.submit("/study/tasks/1", go="next", **field)
    assert len(study.answers.answers()) == 1
    if kind == "guess":
        assert "The model's answer:" not in seen(bob.get("/study/tasks/2"))  # it must be guessed
        assert bob.submit("/study/tasks/1", go="next", guess="maybe").status_code == 400
    else:
        assert "The model's answer:" in seen(bob.get("/study/tasks/2"))
    if kind == "next_guess":
        shown = study.folder.tasks(0)[1].item
        page = seen(bob.get("/study/tasks/2"))
        assert study.folder.items[study.folder.asked(shown)].plain_text in page.partition("New input")[2]
        assert study.folder.items[shown].plain_text in page.partition("New input")[0]


@pytest.mark.parametrize("images", [False, True])
@pytest.mark.parametrize("colours", ["support", "signed", "published"])
def test_pages_are_well_formed_and_colours_give_no_method_away(images, colours, tmp_path):
    study = Running(tmp_path, images=images, colours=colours)
    bob = study.joined("Bob")
    for address in ("/study", "/study/tasks/2"):
        Page(bob.get(address).text)
    html = bob.get("/study/tasks/2").text
    maps = re.findall(r"<fieldset.*?</fieldset>", html, re.S)
    assert len(maps) == 4
    shades = [set(re.findall(r'class="(?:patch-)?([fa])\d?"', shown)) for shown in maps]
    if colours == "support":
        assert shades == [{"f"}] * 4
        if not images:
            assert all('class="f9"' in shown for shown in maps)  # none is paler than the others
    elif colours == "signed":
        assert {"f", "a"} in shades
    else:
        assert {"a"} in shades
    assert " style=" not in html  # the policy forbids it
    if images:
        picture = bob.get("/study/tasks/2/picture.png")
        assert picture.headers["content-type"] == "image/png"
        assert Client(study.app).get("/study/tasks/2/picture.png", follow_redirects=False).status_code == 303


def test_hostile_texts_and_labels_are_escaped(tmp_path):
    hostile = '"><script>alert(1)</script>'
    study = Running(tmp_path, hostile=hostile)
    bob = study.joined("Bob")
    for address in ("/study", "/study/tasks/2"):
        html = bob.get(address).text
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert" in html


def test_seats_are_unique_and_kept(study):
    people = [study.joined(f"person {i}") for i in range(3)]
    people[0].submit("/study/join", agree="yes")
    assert [person.seat for person in study.answers.participants()] == [0, 1, 2]
    study.answers.close()
    late = study.joined("late")
    assert "no more participants" in seen(late.get("/study"))
    assert len(study.answers.participants()) == 3


def test_a_comment_holds_nothing_that_a_database_refuses(study):
    """PostgreSQL takes no null character, and the page then said that the database cannot be used."""
    study.joined("Bob").submit("/study/tasks/2", comment="hard\x00\u202e to\tsay", **RANKS)
    assert [answer.comment for answer in study.answers.answers()] == ["hard to\tsay"]


def test_a_newer_schema_is_refused(study):
    with study.app.state.site.database.writing() as connection:
        connection.execute(text("UPDATE schema_versions SET version = 99 WHERE part = 'study'"))
    with pytest.raises(StoreError, match="newer version of Assay"):
        Database.open(study.path / "serve.sqlite", [SCHEMA])


def test_a_full_disk_says_so_and_keeps_what_was_typed(study, monkeypatch):
    """SQLite is given no more pages: what a full disk answers."""
    bob = study.joined("Bob")
    bob.submit("/study/tasks/1", go="next", **RANKS)
    engine = study.app.state.site.database.engine

    def full(connection, record, proxy):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    from sqlalchemy import event

    event.listen(engine, "checkout", full)
    said = None
    for number in range(2, 10):
        said = bob.submit(f"/study/tasks/{number}", go="next", comment=f"long words {number} " * 90, **RANKS)
        if said.status_code != 200:
            break
    assert said.status_code == 507
    assert "disk of the server is full" in seen(said)
    assert f"long words {number}" in said.text
    event.remove(engine, "checkout", full)
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    fields = dict(re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"', said.text))
    fields.pop("csrf")
    bob.submit(f"/study/tasks/{number}", **fields)  # the button of that page
    assert len(study.answers.answers()) == number
