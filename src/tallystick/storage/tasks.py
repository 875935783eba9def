"""Task packets and task receipts: `.control-room/audit/issues/<issueId>/packets/` and `…/task-receipts/`.

For a routed packet, `assignments/` stores the agent it was given to; the packet itself names no agent.

Each is a separate file, written once: neither the agreement nor its result changes afterwards.
"""

import os
from pathlib import Path
from typing import Any

import orjson

from tallystick.agents.problem import Problem
from tallystick.agents.tasks.packet import TaskPacket
from tallystick.agents.tasks.receipt import TaskReceipt, contract_problem
from tallystick.errors import ConfigError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.session import valid_session_id
from tallystick.storage.journal import disk
from tallystick.storage.json_file import open_lock
from tallystick.storage.ledger import audit_folder

PACKETS, RECEIPTS, REPLIES, ASSIGNMENTS = "packets", "task-receipts", "task-replies", "assignments"
MAX_BYTES = 4 * 1024 * 1024


class TaskFiles:
    """The tasks of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self._issues = audit_folder(workspace) / "issues"

    def keep_packet(self, packet: TaskPacket) -> Problem | None:
        """Store a packet; storing the same one again changes nothing."""
        return self._keep(packet.parent_issue_id, PACKETS, packet.packet_id, _json(packet.as_dict()))

    def assign(self, packet: TaskPacket, agent_id: str) -> Problem | None:
        """Store a routed packet and the agent it was given to."""
        given = _json({"packet_id": packet.packet_id, "agent_id": agent_id})
        return self.keep_packet(packet) or self._keep(packet.parent_issue_id, ASSIGNMENTS, packet.packet_id, given)

    def assigned_to(self, packet: TaskPacket) -> str | None:
        """Return the agent a packet was given to; None: it was not routed here.

        Raises:
            ConfigError: `task_damaged`; the file is not changed.
        """
        found = self._read(packet.parent_issue_id, ASSIGNMENTS, packet.packet_id)
        agent_id = None if found is None else found.get("agent_id")
        return agent_id if isinstance(agent_id, str) else None

    def keep_receipt(self, receipt: TaskReceipt, packet: TaskPacket, *, reply: str | None = None) -> Problem | None:
        """Store a receipt together with the whole reply; a receipt that does not match its packet is refused."""
        problem = contract_problem(receipt, packet)
        if problem is None and reply is not None:
            problem = self._keep(
                receipt.issue_id, REPLIES, receipt.receipt_id, reply.encode("utf-8", "replace"), suffix="md"
            )
        return problem or self._keep(receipt.issue_id, RECEIPTS, receipt.receipt_id, _json(receipt.as_dict()))

    def packet(self, issue_id: str, packet_id: str) -> TaskPacket | None:
        """Return a stored packet; None if there is none.

        Raises:
            ConfigError: `task_damaged`; the file is not changed.
        """
        found = self._read(issue_id, PACKETS, packet_id)
        if found is None:
            return None
        packet = TaskPacket.from_dict(found)
        if isinstance(packet, Problem):
            raise _damaged(packet_id, packet.message)
        return packet

    def receipt(self, issue_id: str, receipt_id: str) -> TaskReceipt | None:
        """Return a stored receipt; None if there is none.

        Raises:
            ConfigError: `task_damaged`; the file is not changed.
        """
        found = self._read(issue_id, RECEIPTS, receipt_id)
        if found is None:
            return None
        receipt = TaskReceipt.from_dict(found)
        if isinstance(receipt, Problem):
            raise _damaged(receipt_id, receipt.message)
        return receipt

    def receipt_ids(self, issue_id: str) -> list[str]:
        """Return the ids of an issue's task receipts."""
        return self._names(issue_id, RECEIPTS)

    def _keep(self, issue_id: str, kind: str, name: str, data: bytes, *, suffix: str = "json") -> Problem | None:
        path = self._path(issue_id, kind, name, suffix)
        if path is None:
            return Problem(code="id_invalid", message="An id has letters, digits, dot, dash and underscore.")
        try:
            return _write_once(path, data)
        except OSError as error:
            message = (
                f"The task cannot be kept: {error.strerror or error}. Free some space, or make the folder writable."
            )
            raise ConfigError(message, code="control_room_unwritable") from None

    def _read(self, issue_id: str, kind: str, name: str) -> dict[str, Any] | None:
        path = self._path(issue_id, kind, name)
        data = None if path is None else disk.read_whole(path)
        if data is None:
            return None
        found = parse_json_object(data, MAX_BYTES)
        if isinstance(found, Rejection):
            raise _damaged(name, f"{found.reason}.")
        return found

    def _names(self, issue_id: str, kind: str) -> list[str]:
        if not valid_session_id(issue_id):
            return []
        return sorted(path.stem for path in (self._issues / issue_id / kind).glob("*.json"))

    def _path(self, issue_id: str, kind: str, name: str, suffix: str = "json") -> Path | None:
        if not (valid_session_id(issue_id) and valid_session_id(name)):
            return None
        return self._issues / issue_id / kind / f"{name}.{suffix}"


def _write_once(path: Path, data: bytes) -> Problem | None:
    """Write a file that does not exist yet; of two writers the first wins."""
    fd = open_lock(path.parent / "all")
    try:
        disk.lock(fd)
        before = disk.read_whole(path)
        if before is None:
            disk.write_whole(path, data)
    finally:
        os.close(fd)
    if before in {None, data}:
        return None
    return Problem(code="task_exists", message="There is another one of this id. What was kept stays as it is.")


def _damaged(name: str, why: str) -> ConfigError:
    return ConfigError(f"{name}.json is damaged: {why} Repair it, or move it away.", code="task_damaged")


def _json(value: dict[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
