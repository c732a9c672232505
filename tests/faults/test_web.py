"""The OpenAPI description of `assay serve` against the server itself: whatever is sent, no answer is a 500."""

from __future__ import annotations

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
from toys import bert
from unit.web.clients import Client, application

pytestmark = pytest.mark.faults
EXAMPLES = 40  # requests per operation


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("web")
    assay.evaluate(bert(), ["a good film", "not bad"], ["random"], ["sufficiency"], store=folder / "s", progress=False)
    parts = explain_part([bert()], load_dataset(["a good film"])), results_part(folder / "s")
    return application(folder, *parts)


def test_no_request_gives_a_500(app: Any, tmp_path: Path) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    client = Client(app)
    csrf = client.csrf()
    schema = schemathesis.openapi.from_dict(app.openapi())
    run = all_runs(Store(app.state.site.parts[1].state.store.folder))[0].id
    answers: dict[str, int] = {}

    def send(case: Any) -> None:
        if "run" in case.path_parameters and case.path_parameters["run"][:1] in "01234567":
            case.path_parameters["run"] = run  # half of them reach a run
        arguments = case.as_transport_kwargs(base_url="http://testserver")
        arguments["headers"] = {**dict(arguments.get("headers") or {}), "x-csrf-token": csrf}
        arguments.pop("cookies", None)
        if isinstance(arguments.get("data"), bytes | str):
            arguments["content"] = arguments.pop("data")
        response = client.request(**arguments)
        assert response.status_code < 500, (case.method, case.path, response.status_code, response.text[-300:])
        answers[f"{case.method} {case.path} {response.status_code}"] = 1

    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 15
    for operation in operations:
        given = hypothesis.given(case=operation.as_strategy())(send)
        hypothesis.settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))(
            given
        )()
    assert any(" 200" in answer for answer in answers)
