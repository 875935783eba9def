"""Fuzz targets: one for each parser and door, each a function that takes any bytes and must not raise.

What a target refuses, it refuses with an error of ours. Anything else that it raises is a finding.
"""

import contextlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import orjson

from tallystick import Gate, tool
from tallystick.doors.mcp.jsonrpc import messages_in, read_clients
from tallystick.errors import TallyError
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.admit.toolsyntax import looks_like_tool_call
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.provenance import doubtful
from tallystick.gate.decide.provenance_tracker import ProvenanceTracker
from tallystick.gate.record.bundle import check_bundle
from tallystick.gate.record.checkpoint import notes_in, parse_vkey
from tallystick.gate.tool import Card
from tallystick.text.documents.html import read_html
from tallystick.text.documents.markdown import read_markdown
from tallystick.text.documents.word import read_word
from tallystick.text.encoding import decode_text
from tallystick.text.sentences import sentences

Target = Callable[[bytes], None]
CARD = Card(name="act_now", description="", input_schema={"type": "object"}, effect="write", how="inline")
CORPUS: tuple[bytes, ...] = (
    b"",
    b"{}",
    b'{"action":"tool","tool":"look","args":{"text":"a"},"nonce":"n"}',
    b'{"tool":"look","tool":"look"}',
    b'```json\n{"action":"final","text":"done"}\n```',
    b"Action:\nlook\nAction Input: {",
    b'{"type":"object","properties":{"a":{"$ref":"#/properties/a"}},"pattern":"(a+)+$"}',
    b"[policy]\nread = 'allow'\n[tools.x]\nroles = ['a']\n",
    b"tallystick/log\n1\nAAAA\n\n\xe2\x80\x94 tallystick/log AAAA\n",
    b"\xff\xfea\x00b\x00",
    b'He said: "go." - (but why?) 1.5 No. 7 e.g. x@y.example',
    b'{"format":"tallystick-bundle-1","receipts":[]}',
    b"PK\x03\x04",
)
"""Where a run begins; what it finds is kept in `crashes/`."""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _strict_json(data: bytes) -> None:
    parse_json_object(data, 1 << 20)


def _tool_syntax(data: bytes) -> None:
    looks_like_tool_call(_text(data), ["look"])


def _schema(data: bytes) -> None:
    try:
        schema = orjson.loads(data)
    except orjson.JSONDecodeError:
        return
    if isinstance(schema, dict):
        compile_schema(schema, closed=True)


def _policy(data: bytes) -> None:
    Policy.from_text(_text(data))


def _provenance(data: bytes) -> None:
    heard = ProvenanceTracker([_text(data[:200])])
    heard.add({"text": _text(data)})
    doubtful(CARD, {"value": _text(data[::-1]), "again": _text(data[: len(data) // 2])}, heard)


def _bundle(data: bytes) -> None:
    check_bundle(data)


def _checkpoints(data: bytes) -> None:
    list(notes_in(data.splitlines(keepends=True)))
    try:
        parse_vkey(_text(data))
    except ValueError:
        return


def _encoding(data: bytes) -> None:
    decode_text(data, guess=True)


def _sentences(data: bytes) -> None:
    sentences(data.decode("utf-8", "replace"))


def _html(data: bytes) -> None:
    read_html(data.decode("utf-8", "replace"))


def _markdown(data: bytes) -> None:
    read_markdown(data.decode("utf-8", "replace"))


def _zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", data)
        archive.writestr("word/document.xml", data)
    return file.getvalue()


def _word(data: bytes) -> None:
    read_word(data)
    read_word(_zipped(data))


def _mcp(data: bytes) -> None:
    list(messages_in(read_clients(data)))


@tool(effect="read", inline=True)
def look(text: str, times: int = 1) -> str:
    """Look."""
    return text * min(times, 3)


def gate_target(folder: Path) -> Target:
    """A turn at an open gate; each input is what the model answered."""
    gate = Gate.open(folder, plugins=False)
    gate.register(look)

    def target(data: bytes) -> None:
        turn = gate.turn(session="fuzz", user_texts=["Look at it."])
        turn.submit_sync(data)
        if turn.open:
            turn.submit_sync(data.replace(b'"n"', b'"' + turn.nonce.encode() + b'"'))
        turn.close()

    return target


TARGETS: dict[str, Target] = {
    "strict json": _strict_json,
    "tool syntax": _tool_syntax,
    "schema": _schema,
    "policy": _policy,
    "provenance": _provenance,
    "bundle": _bundle,
    "checkpoints": _checkpoints,
    "encoding": _encoding,
    "sentences": _sentences,
    "html": _html,
    "markdown": _markdown,
    "word": _word,
    "mcp": _mcp,
}


def takes(target: Target, data: bytes) -> None:
    """Give a target an input; an error of ours is a refusal, and any other goes on to the caller."""
    with contextlib.suppress(TallyError):
        target(data)
