"""The OpenAPI document, taken at its word: requests made from it, and requests that break it.

Nothing gets a 5xx, and every answer has a documented status, content type and form.
"""

from collections.abc import Iterator

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as budget
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tallystick.rooms.insight.sample.tickets import sample
from tests.doors.http.doorway import BASE, Doorway
from tests.sizes import size

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
INSIGHT = ("/ingest", "/embed", "/search", "/cluster", "/analysis", "/reports", "/history", "/prompts", "/analytics")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doorway]:
    """A workspace with a few tickets in it."""
    door = Doorway(tmp_path_factory.mktemp("openapi") / "work")
    lines = sample().splitlines(keepends=True)[:40]
    assert door.request("POST", "/ingest/upload", files={"file": ("t.csv", b"".join(lines))}).status_code == 200
    yield door
    door.close()


def ask(door: Doorway, case: Case) -> None:
    made = requests.Request(**case.as_transport_kwargs(base_url=BASE)).prepare()
    answer = door.request(str(made.method), str(made.url), headers=dict(made.headers), content=made.body)
    case.validate_response(answer, checks=CHECKS)
    documented = {str(status) for status in case.operation.definition.raw["responses"]}
    assert str(answer.status_code) in documented, (case.as_curl_command(), answer.text)


@pytest.mark.promise("insight.openapi")
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_every_request_that_fits_insight_s_document_or_breaks_it_gets_a_documented_answer(
    served: Doorway, mode: GenerationMode
) -> None:
    document = served.get("/api/openapi.json").json()
    document["paths"] = {path: ways for path, ways in document["paths"].items() if path.startswith(INSIGHT)}
    schema = schemathesis.openapi.from_dict(document)
    tried = 0
    for found in schema.get_all_operations():
        operation = found.ok()

        @budget(
            max_examples=size(6, 300), deadline=None, database=None, derandomize=True, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(generation_mode=mode))
        def each(case: Case) -> None:
            ask(served, case)

        try:
            each()
        except Exception as error:
            if type(error).__name__ != "Unsatisfiable":
                raise  # nothing about it can be broken
        tried += 1
    assert tried >= 18
