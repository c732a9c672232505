"""The OpenAPI description of `assay serve` against the server itself: whatever is sent, no answer is a 500."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest

import assay
from assay.datasets.load import load_dataset
from assay.experiments.runs import all_runs
from assay.experiments.store import Store
from assay.web.explain.part import explain_part
from assay.web.results.part import results_part
from assay.web.study.part import study_part
from toys import bert
from unit.human.studies import made_study
from unit.web.clients import Client, application

pytestmark = pytest.mark.faults
EXAMPLES = 40  # requests per operation


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("web")
    assay.evaluate(bert(), ["a good film", "not bad"], ["random"], ["sufficiency"], store=folder / "s", progress=False)
    parts = explain_part([bert()], load_dataset(["a good film"])), results_part(folder / "s")
    return application(folder, *parts)


def send_everything(app: Any, client: Client, prefix: str, change: Callable[[Any], None]) -> set[str]:
    """Send many requests to each operation under a prefix; returns what came back, such as GET /results 200."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    csrf, answers = client.csrf(), set()

    def send(case: Any) -> None:
        change(case)
        arguments = case.as_transport_kwargs(base_url="http://testserver")
        arguments["headers"] = {**dict(arguments.get("headers") or {}), "x-csrf-token": csrf}
        arguments.pop("cookies", None)
        if isinstance(arguments.get("data"), bytes | str):
            arguments["content"] = arguments.pop("data")
        response = client.request(**arguments)
        assert response.status_code < 500, (case.method, case.path, response.status_code, response.text[-300:])
        answers.add(f"{case.method} {case.path} {response.status_code}")

    schema = schemathesis.openapi.from_dict(app.openapi())
    operations = [result.ok() for result in schema.get_all_operations()]
    quickly = hypothesis.settings(
        max_examples=EXAMPLES, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    for operation in operations:
        if operation.path.startswith(prefix):
            quickly(hypothesis.given(case=operation.as_strategy())(send))()
    return answers


def test_no_request_gives_a_500(app: Any) -> None:
    run = all_runs(Store(app.state.site.parts[1].state.store.folder))[0].id

    def change(case: Any) -> None:
        if "run" in case.path_parameters and case.path_parameters["run"][:1] in "01234567":
            case.path_parameters["run"] = run  # half of them reach a run

    answers = send_everything(app, Client(app), "/", change)
    assert len({answer.rpartition(" ")[0] for answer in answers}) > 15
    assert any(answer.endswith(" 200") for answer in answers)


@pytest.mark.parametrize("new", [False, True])
def test_no_request_to_a_study_gives_a_500(new: bool, tmp_path: Path) -> None:
    """By an administrator who takes part, so that every address can be reached."""
    folder = tmp_path / "new" if new else made_study(tmp_path / "study").path
    parts = explain_part([bert()], load_dataset(["a good film", "a bad film"])), study_part(folder, may_create=new)
    app = application(tmp_path, *parts, access="accounts")
    client = Client(app)
    client.set_up()
    client.submit("/study/join", agree="yes")
    answers = send_everything(app, client, "/study", lambda case: None)
    expected = ["GET /study/manage/new 200"] if new else ["GET /study/tasks/{number} 200", "GET /study/manage 200"]
    assert set(expected) <= answers, sorted(answers)
