"""The OpenAPI document, taken at its word: requests made from it, and requests that break it.

Nothing gets a 5xx, and every answer has a documented status, content type and form.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as budget
from schemathesis import APIOperation, Case, GenerationMode
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
ENDLESS = ("/api/runs/{run_id}/events",)
"""An answer that goes on as long as what it tells of."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doorway]:
    """A workspace with a few tickets in it, embedded and grouped."""
    door = Doorway(tmp_path_factory.mktemp("openapi") / "work")
    lines = sample().splitlines(keepends=True)[:60]
    assert door.request("POST", "/ingest/upload", files={"file": ("t.csv", b"".join(lines))}).status_code == 200
    assert door.post("/embed/run", {"dataset_id": 1}).status_code == 200
    grouped = {"dataset_id": 1, "algorithm": "kmeans", "params": {"n_clusters": 3}}
    assert door.post("/cluster/run", grouped).status_code == 200
    yield door
    door.close()


@pytest.mark.promise("insight.openapi")
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_insight_s_routes_give_documented_answers_to_all_that_fits_and_all_that_does_not(
    served: Doorway, mode: GenerationMode
) -> None:
    assert tried(served, mode, size(4, 300), lambda path: path.startswith(INSIGHT)) >= 12


@pytest.mark.promise("insight.openapi")
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_every_other_route_does_too(served: Doorway, mode: GenerationMode) -> None:
    assert tried(served, mode, size(1, 100), lambda path: not path.startswith((*INSIGHT, *ENDLESS))) >= 60


def tried(door: Doorway, mode: GenerationMode, examples: int, wanted: object) -> int:
    """Ask every wanted operation; gives how many there were."""
    assert callable(wanted)
    document = door.get("/api/openapi.json").json()
    document["paths"] = {path: ways for path, ways in document["paths"].items() if wanted(path)}
    many = 0
    for found in schemathesis.openapi.from_dict(_without_classes(document)).get_all_operations():
        operation = found.ok()

        @budget(
            max_examples=examples, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(generation_mode=mode))
        def each(case: Case) -> None:
            ask(door, case)

        if mode is GenerationMode.POSITIVE or _can_be_broken(operation):
            each()
            many += 1
    return many


def _can_be_broken(operation: APIOperation[Any, Any, Any, Any]) -> bool:
    """Whether it takes anything but texts of its path, which fit whatever they are."""
    return bool(len(operation.body)) or any(each.location != "path" for each in operation.iter_parameters())


def ask(door: Doorway, case: Case) -> None:
    made = requests.Request(**case.as_transport_kwargs(base_url=BASE)).prepare()
    answer = door.request(str(made.method), str(made.url), headers=dict(made.headers), content=made.body)
    case.validate_response(answer, checks=CHECKS)
    if case.operation.path.startswith(INSIGHT):
        # Here no status hides behind `default`.
        documented = {str(status) for status in case.operation.definition.raw["responses"]}
        assert str(answer.status_code) in documented, (case.as_curl_command(), answer.text)


def _without_classes(schema: object) -> object:
    """Patterns with classes of Unicode are right, but the generator cannot make texts for them."""
    if isinstance(schema, dict):
        return {
            name: _without_classes(value)
            for name, value in schema.items()
            if not (name == "pattern" and isinstance(value, str) and "\\p" in value.lower())
        }
    if isinstance(schema, list):
        return [_without_classes(value) for value in schema]
    return schema
