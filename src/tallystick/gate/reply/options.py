"""What a reply can be checked against besides the workspace, as keyword arguments."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from tallystick.gate.reply.findings import Form
from tallystick.gate.reply.sources import Sources


class ReplyOptions(TypedDict, total=False):
    """Keyword arguments of `Gate.check_reply`."""

    sources: Sources | None
    """Besides the workspace's files, what a room lets replies cite."""
    tool_names: Iterable[str]
    """Names whose call syntax must not stand in prose; the registered ones if not given."""
    role_sources: Mapping[str, Sequence[str]] | None
    """Agent or role → where it must look; what the configuration says goes over it."""
    tools_ran: bool | None
    """Whether tools ran for this reply, so that it must cite; None: told from the text."""
    form: Form
    """How evidence is given: in one line, or behind each sentence."""
    conference: bool
    """The reply belongs to a conference, where an agent may abstain."""
