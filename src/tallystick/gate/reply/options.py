"""Keyword arguments of the reply check."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from tallystick.gate.reply.findings import Form
from tallystick.gate.reply.sources import Sources


class ReplyOptions(TypedDict, total=False):
    """Keyword arguments of `Gate.check_reply`."""

    sources: Sources | None
    """Additional sources that replies may cite besides the workspace's files, such as an application's records."""
    tool_names: Iterable[str]
    """Tool names whose call syntax is refused in prose; by default the registered tools."""
    role_sources: Mapping[str, Sequence[str]] | None
    """Agent or role → required sources; the configuration takes precedence."""
    tools_ran: bool | None
    """Whether tools ran for this reply, so that it must cite a receipt; None: inferred from the text."""
    form: Form
    """How the reply gives evidence: one line, or a reference in each sentence."""
    conference: bool
    """Whether the reply belongs to a conference, where an agent may abstain."""
