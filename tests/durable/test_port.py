"""The nouns of the port, values as they are stored, and what is refused before anything is stored."""

import contextlib
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import ConfigError
from tallystick.storage.durable.database import durable_url
from tallystick.storage.durable.flow_registry import FlowCard, FlowRegistry
from tallystick.storage.durable.records import STATES
from tallystick.storage.durable.stored import StoredDurable
from tallystick.storage.durable.stored_values import plain_json
from tallystick.turns.durable import Run
from tallystick.turns.runs import ENDED, FOLLOWS, RESUMABLE, DurableError, Queue, Retry, RunState, Schedule
from tests.durable.samples import sample_durable

texts = st.text(st.characters(codec="utf-8"))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
anything = st.recursive(
    json_values | st.binary() | st.floats() | st.complex_numbers() | st.dates() | st.characters(),
    lambda inner: st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=10,
)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredDurable]:
    """A database without a worker."""
    durable = sample_durable(None, tmp_path_factory.mktemp("control-room"))
    yield durable
    durable.close()


@pytest.mark.promise("durable.states")
def test_the_states_are_one_table() -> None:
    states = set(get_args(RunState))
    assert FOLLOWS.keys() == states
    assert frozenset().union(*FOLLOWS.values()) | {"delayed"} == states
    assert set(STATES.values()) == states
    assert {state for state in states if FOLLOWS[state] <= {"waiting"}} == ENDED
    assert ENDED - {"done"} == RESUMABLE


@pytest.mark.promise("durable.retries")
@given(st.integers(min_value=1, max_value=10_000), st.floats(0, 100), st.floats(1, 10), st.floats(0, 1000))
def test_pauses_grow_and_never_pass_the_longest(attempt: int, first: float, factor: float, longest: float) -> None:
    retry = Retry(attempts=9, first_s=first, factor=factor, longest_s=longest)
    assert 0 <= retry.pause_after(attempt) <= retry.pause_after(attempt + 1) <= longest


@pytest.mark.promise("durable.plain-values")
@given(json_values)
def test_json_goes_through_unchanged(value: Any) -> None:
    assert plain_json(value, "it") == value


@pytest.mark.promise("durable.plain-values")
@given(anything)
def test_anything_else_is_refused_or_is_what_is_read_back(value: Any) -> None:
    with contextlib.suppress(DurableError):
        plain = plain_json(value, "it")
        assert plain_json(plain, "it") == plain


@pytest.mark.promise("durable.plain-values")
def test_what_json_has_no_word_for_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for value in (math.nan, math.inf, object(), b"", {1, 2}, "\ud800", endless):
        with pytest.raises(DurableError) as refused:
            plain_json(value, "it")
        assert refused.value.code == "not_json"


@pytest.mark.promise("durable.refusals")
@pytest.mark.parametrize(
    ("start", "code"),
    [
        ({"flow": "no.such"}, "flow_unknown"),
        ({"run_id": ""}, "run_id_invalid"),
        ({"run_id": "  "}, "run_id_invalid"),
        ({"run_id": "a\nb"}, "run_id_invalid"),
        ({"run_id": "x" * 201}, "run_id_invalid"),
        ({"args": {"when": object()}}, "not_json"),
        ({"delay_s": -1}, "start_invalid"),
        ({"priority": -1}, "start_invalid"),
        ({"priority": 2**31}, "start_invalid"),
    ],
)
def test_a_start_that_makes_no_sense_is_refused(idle: StoredDurable, start: dict[str, Any], code: str) -> None:
    given = {"flow": "sample.chain", "args": {}, "run_id": "run", **start}
    with pytest.raises(DurableError) as refused:
        idle.start(given.pop("flow"), given.pop("args"), **given)
    assert refused.value.code == code
    assert idle.runs() == []


@pytest.mark.promise("durable.refusals")
def test_registrations_that_clash_are_refused() -> None:
    book = FlowRegistry()
    book.add_queue(Queue(name="q", concurrency=2))
    book.add_queue(Queue(name="q", concurrency=2))
    book.register(_card("a.flow"))
    book.register(_card("a.flow"))
    for refusal, code in [
        (lambda: book.add_queue(Queue(name="q", concurrency=3)), "queue_conflict"),
        (lambda: book.add_queue(Queue(name="none", per_worker=0)), "queue_invalid"),
        (lambda: book.add_queue(Queue(name="none", per_s=0)), "queue_invalid"),
        (lambda: book.add_queue(Queue(name="_dbos_internal_queue")), "name_invalid"),
        (lambda: book.register(_card("a.flow", attempts=3)), "flow_conflict"),
        (lambda: book.register(_card("b.flow", attempts=0)), "flow_invalid"),
        (lambda: book.register(_card("b.flow", queue="other")), "queue_unknown"),
        (lambda: book.register(_card("B flow")), "name_invalid"),
        (lambda: book.schedule(Schedule(name="s", flow="no.such", cron="* * * * *")), "flow_unknown"),
        (lambda: book.schedule(Schedule(name="s", flow="a.flow", cron="every now and then")), "schedule_invalid"),
    ]:
        with pytest.raises(DurableError) as refused:
            refusal()
        assert refused.value.code == code


@pytest.mark.promise("durable.database")
@pytest.mark.parametrize("url", ["mysql://u@h/d", "no url", "nosuch://h/d"])
def test_a_url_that_cannot_be_used_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        StoredDurable(database_url=url, control_room=tmp_path).runs()
    assert refused.value.code == "config_bad_value"


@pytest.mark.promise("durable.database")
@pytest.mark.parametrize("url", ["postgresql://u:hidden@127.0.0.1:1/d", "sqlite:///{tmp}/folder"])
def test_a_database_that_is_not_there_is_reported_without_its_password(tmp_path: Path, url: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(DurableError) as refused:
        StoredDurable(database_url=url.format(tmp=tmp_path), control_room=tmp_path).runs()
    assert refused.value.code == "durable_database_unavailable"
    assert "hidden" not in str(refused.value)


@pytest.mark.promise("durable.database")
def test_a_file_that_is_no_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "durable.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(DurableError) as refused:
        StoredDurable(database_url=None, control_room=tmp_path).runs()
    assert refused.value.code == "durable_database_refused"


@pytest.mark.promise("durable.database")
def test_without_a_url_the_file_lies_in_the_control_room(tmp_path: Path) -> None:
    assert durable_url(None, tmp_path) == f"sqlite:///{tmp_path}/durable.db"
    assert durable_url("postgresql://h/d", tmp_path) == "postgresql://h/d"


@pytest.mark.promise("durable.lazy")
def test_registering_flows_loads_neither_the_engine_nor_the_sql_toolkit() -> None:
    code = """
import sys
from pathlib import Path
from tallystick.storage.durable.stored import StoredDurable, run_worker
from tallystick.turns.runs import Queue, Schedule
durable = StoredDurable(database_url=None, control_room=Path("nowhere"))
durable.add_queue(Queue(name="q"))
durable.register("a.flow", print, queue="q")
durable.schedule(Schedule(name="s", flow="a.flow", cron="* * * * *"))
print({"dbos", "sqlalchemy", "psycopg"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=_with_source())
    assert (done.stdout, done.stderr) == ("set()\n", "")


@pytest.mark.promise("durable.lazy")
def test_without_the_engine_installed_the_error_says_what_to_install() -> None:
    code = """
import sys
from pathlib import Path
from tallystick.storage.durable.stored import StoredDurable
from tallystick.turns.runs import DurableError
sys.modules["dbos"] = None
try:
    StoredDurable(database_url=None, control_room=Path("nowhere")).runs()
except DurableError as error:
    print(error.code)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=_with_source())
    assert (done.stdout, done.stderr) == ("durable_not_installed\n", "")


def _card(name: str, *, queue: str = "q", attempts: int = 5) -> FlowCard:
    return FlowCard(name=name, flow=_nothing, queue=queue, attempts=attempts)


def _nothing(run: Run, args: dict[str, Any]) -> None:
    """A flow without steps."""


def _with_source() -> dict[str, str]:
    return {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
