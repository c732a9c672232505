"""An administrator creates a study in the browser's place, and nobody else can."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.core.errors import InputError
from assay.datasets.load import load_dataset
from assay.web.explain.part import explain_part
from assay.web.study.part import study_part
from unit.web.clients import PASSWORD, Client, application, participant, seen

FIELDS = {
    "methods": "gradient_x_input, occlusion, random", "examples": "3", "practice": "1", "repeats": "1",
    "annotators": "2", "kind": "ranking", "metrics": "comprehensiveness", "title": "Which one?",
    "consent": "I agree", "per_participant": "", "model": "builtin", "seed": "5",
}  # fmt: skip


def server(path: Path) -> Any:
    parts = [explain_part([assay.load_model("builtin")], load_dataset("builtin")), study_part(path, may_create=True)]
    return application(path.parent, *parts, access="accounts", database=path.parent / "a.sqlite")


def administrator(app: Any) -> Client:
    client = Client(app)
    client.set_up()
    return client


def created(client: Client, **fields: str) -> Any:
    """Submit the form and wait for its end."""
    response = client.submit("/study/manage/new", **(FIELDS | fields))
    for _ in range(600):
        if 'id="task"' not in response.text:
            return response
        time.sleep(0.05)
        response = client.get("/study/manage/new")
    raise AssertionError("the study is not ready")


def test_a_study_is_created_run_and_exported_without_the_command_line(tmp_path: Path) -> None:
    app = server(tmp_path / "study")
    client = administrator(app)
    assert "Create the study" in seen(client.get("/study"))
    assert "3 examples, 3 methods" in seen(created(client))
    expected = assay.create_study(
        "builtin", "builtin", tmp_path / "same", "gradient_x_input,occlusion,random", examples=3, practice=1, repeats=1,
        annotators=2, metrics="comprehensiveness", title="Which one?", consent="I agree", seed=5, progress=False,
    )  # fmt: skip
    for name in ("items.jsonl", "key.json"):
        assert (tmp_path / "study" / name).read_text() == (expected.path / name).read_text()
    participant(app, "Bob")
    bob = Client(app)
    bob.submit("/login", name="Bob", password=PASSWORD)
    assert "I agree" in seen(bob.get("/study"))
    bob.submit("/study/join", agree="yes")
    bob.submit("/study/tasks/1", **{"rank-0": "1", "rank-1": "2", "rank-2": "3"})
    client.submit("/study/manage/close")
    rows = json.loads(client.get("/study/manage/answers.json").text)
    assert {row["method"] for row in rows} == {"gradient_x_input", "occlusion", "random"}
    assert str(client.get("/study/manage/new").url).endswith("/study/manage")  # there is one study


def test_nobody_else_creates_a_study(tmp_path: Path) -> None:
    app = server(tmp_path / "study")
    administrator(app)
    participant(app, "Bob")
    bob = Client(app)
    bob.submit("/login", name="Bob", password=PASSWORD)
    for response in (bob.get("/study/manage/new"), bob.submit("/study/manage/new", **FIELDS)):
        assert response.status_code == 403
    assert "no study here yet" in seen(bob.get("/study"))
    assert bob.get("/study/tasks/1").status_code == 400
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"examples": "0"}, "give 1 to 5,000"),
        ({"examples": "many"}, "not a whole number"),
        ({"methods": "occlusion"}, "takes 2 to 8"),
        ({"methods": "occlusion, aml('/etc')"}, "--explainer"),
        ({"methods": "occlusion, magic"}, "magic"),
        ({"metrics": "x('/etc')"}, "not the name of a metric"),
        ({"kind": "dance"}, "dance"),
        ({"model": "other"}, "there is no model"),
        ({"consent": "x" * 10_001}, "at most 10,000"),
    ],
)
def test_wrong_fields_give_a_sentence_and_keep_what_was_typed(wrong: dict[str, str], sentence: str, tmp_path: Path):
    client = administrator(server(tmp_path / "study"))
    response = created(client, **wrong)
    assert response.status_code == 400
    assert sentence in seen(response)
    assert 'value="Which one?"' in response.text
    assert not (tmp_path / "study" / "study.json").exists()


def test_what_was_typed_is_hostile(tmp_path: Path) -> None:
    client = administrator(server(tmp_path / "study"))
    hostile = "</textarea>'\"><script>alert(1)</script>"
    fields = {name: hostile for name in FIELDS if name != "model"} | {"question": hostile, "instructions": hostile}
    assert "<script>alert" not in created(client, **fields).text
    assert "<script>alert" not in created(client, title=hostile).text


def test_a_study_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    client = administrator(server(tmp_path / "study"))
    created(client)
    done = (tmp_path / "study" / "items.jsonl").read_bytes()
    head = tmp_path / "study" / "study.json"
    head.write_text(json.dumps(json.loads(head.read_text()) | {"complete": False}))
    again = Client(server(tmp_path / "study"))
    again.submit("/login", name="Ada", password=PASSWORD)
    assert "holds another study" in seen(created(again, seed="6"))
    assert "3 examples, 3 methods" in seen(created(again))
    assert (tmp_path / "study" / "items.jsonl").read_bytes() == done


def test_a_folder_without_a_study_needs_a_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="create it in the browser"):
        study_part(tmp_path)
