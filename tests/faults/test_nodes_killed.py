"""Several nodes on one database, killed, cut off and delayed: nothing acknowledged is lost, and there is one chain."""

import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tallystick.errors import LedgerUnwritable
from tests.faults.nodes import first_node, further_node, start_node
from tests.faults.processes import acked, wait_for
from tests.ledgers import Workspace, draft, fill
from tests.own_postgres import OwnPostgres
from tests.sizes import size
from tests.tcp_proxy import TcpProxy


@pytest.fixture(scope="module")
def server() -> Iterator[OwnPostgres]:
    server = OwnPostgres()
    yield server
    server.close()


@pytest.fixture
def database(server: OwnPostgres) -> str:
    """An empty database of the server."""
    return server.new_database()


def check(node: Workspace, known: list[str]) -> None:
    """Everything acknowledged is in one chain that verifies from its first record, each receipt once."""
    report = node.verify()
    assert report.ok, report.problems
    with node.opened() as ledger:
        assert len(known) == len(set(known))
        assert all(ledger.find(receipt_id) for receipt_id in known)
        seqs = [receipt.seq for receipt in ledger.read()]
        assert seqs == list(range(len(seqs)))
        fill(ledger, 1, session="after")
    assert node.verify().ok


@pytest.mark.promise("nodes.kill")
def test_nodes_killed_again_and_again_lose_nothing_that_was_acknowledged(tmp_path: Path, database: str) -> None:
    chance, known = random.Random(5), list[str]()
    first = first_node(tmp_path / "n0", database, checkpoint_every=50)
    nodes = [first, *(further_node(first, tmp_path / f"n{number}") for number in (1, 2))]
    for round_ in range(size(2, 167)):
        acks = [tmp_path / f"acks-{round_}-{number}" for number in range(3)]
        processes = [
            start_node(node, path, session=f"s{at}") for at, (node, path) in enumerate(zip(nodes, acks, strict=True))
        ]
        try:
            wait_for(processes, acks, chance.randrange(30, 300))
        finally:
            for process in chance.sample(processes, 3):
                process.send_signal(signal.SIGKILL)
            for process in processes:
                process.wait()
        known += [receipt_id for path in acks for receipt_id in acked(path)]
    for node in nodes:
        check(node, known)


@pytest.mark.promise("nodes.database-kill")
def test_a_database_killed_under_load_loses_nothing_that_was_acknowledged(
    tmp_path: Path, server: OwnPostgres, database: str
) -> None:
    chance = random.Random(7)
    first = first_node(tmp_path / "n0", database, checkpoint_every=50)
    nodes = [first, further_node(first, tmp_path / "n1")]
    acks = [tmp_path / f"acks-{number}" for number in range(2)]
    processes = [start_node(node, path, session="s") for node, path in zip(nodes, acks, strict=True)]
    try:
        for _ in range(size(2, 50)):
            wait_for(processes, acks, sum(len(acked(path)) for path in acks) + chance.randrange(40, 200))
            server.kill()
            server.start()
        before = [len(acked(path)) for path in acks]
        for path, number in zip(acks, before, strict=True):
            wait_for(processes, [path], number + 20)  # both go on by themselves
    finally:
        for process in processes:
            process.kill()
            process.wait()
    check(first, [receipt_id for path in acks for receipt_id in acked(path)])


@pytest.mark.promise("nodes.cut")
def test_connections_cut_and_delayed_lose_nothing_that_was_acknowledged(
    tmp_path: Path, server: OwnPostgres, database: str
) -> None:
    chance = random.Random(9)
    proxy = TcpProxy(server.port)
    first = first_node(tmp_path / "n0", database, checkpoint_every=50)
    nodes = [first, further_node(first, tmp_path / "n1", server.through(database, proxy.port))]
    acks = [tmp_path / f"acks-{number}" for number in range(2)]
    processes = [start_node(node, path, session="s") for node, path in zip(nodes, acks, strict=True)]
    try:
        for _ in range(size(10, 300)):
            wait_for(processes[1:], acks[1:], len(acked(acks[1])) + chance.randrange(1, 30))
            proxy.delay_s = chance.choice((0.0, 0.0, 0.01))
            proxy.cut()
    finally:
        for process in processes:
            process.kill()
            process.wait()
        proxy.close()
    check(first, [receipt_id for path in acks for receipt_id in acked(path)])


@pytest.mark.promise("nodes.partition")
def test_a_node_that_is_cut_off_refuses_and_the_others_go_on(
    tmp_path: Path, server: OwnPostgres, database: str
) -> None:
    proxy = TcpProxy(server.port)
    first = first_node(tmp_path / "n0", database)
    apart = further_node(first, tmp_path / "n1", server.through(database, proxy.port))
    with first.opened() as here, apart.opened() as there:
        fill(there, 2)
        proxy.silent = True
        began = time.monotonic()
        assert refusal(lambda: fill(there, 1)) in {"ledger_database_away", "ledger_in_doubt"}
        assert time.monotonic() - began < 40
        before = here.size()
        fill(here, 5, session="others")
        assert here.size() == before + 5
        proxy.cut()
        proxy.silent = False
        fill(there, 3)
        assert there.size() == here.size()
    proxy.close()
    check(first, [])


@pytest.mark.promise("nodes.stopped-holder")
def test_a_node_stopped_while_it_holds_the_head_does_not_stop_the_others(tmp_path: Path, database: str) -> None:
    first = first_node(tmp_path / "n0", database)
    second = further_node(first, tmp_path / "n1")
    with first.opened() as here, second.opened() as there:
        journal = there._journal  # what a stopped process leaves: a transaction that holds the head
        place = journal.lock()
        assert place[0] == here.size()
        try:
            assert retried(lambda: fill(here, 1))
        finally:
            journal.unlock()
        fill(there, 1)
    check(first, [])


@pytest.mark.promise("nodes.fail-closed")
def test_without_the_database_nothing_is_recorded_and_the_code_is_fixed(
    tmp_path: Path, server: OwnPostgres, database: str
) -> None:
    node = first_node(tmp_path / "n0", database)
    with node.opened() as ledger:
        fill(ledger, 2)
        server.kill()
        try:
            assert refusal(lambda: ledger.record_sync(draft())) in {"ledger_database_away", "ledger_in_doubt"}
            assert refusal(ledger.ready) == "ledger_database_away"
            assert ledger.obstacle() == "ledger_database_away"
        finally:
            server.start()
        fill(ledger, 2)
        assert ledger.size() == 4
    check(node, [])


def refusal(do: Callable[[], object]) -> str:
    with pytest.raises(LedgerUnwritable) as error:
        do()
    return error.value.code


def retried(do: Callable[[], object]) -> bool:
    """Whether it succeeds in the end; a node that waits for the head too long is refused, and may retry."""
    for _ in range(4):
        try:
            do()
        except LedgerUnwritable:
            continue
        return True
    return False
