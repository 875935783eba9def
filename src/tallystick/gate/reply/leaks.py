"""Detect thinking and tool syntax leaked into a reply, and ABSTAIN, the one reply that needs no evidence."""

import re
from collections.abc import Iterable

from tallystick.gate.admit.envelope import looks_like_tool_call
from tallystick.gate.codes import Bucket

ABSTAIN = "abstain"
_AROUND_KEYWORD = " \t\r\n*_`.!\"'"
"""Characters that models put around the keyword; the reply must not contain anything else."""
_PREFACE = 200
"""Characters at the start of a reply that are searched for a thinking preface."""

_TAG = re.compile(
    r"</?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|inner_monologue)\b[^<>\n]{0,40}>"
    r"|\[/?(?:think|thinking|reasoning)\]"
    r"|<\|(?:channel|im_start|im_end|start|end|message|thinking)\|?>",
    re.IGNORECASE,
)
_THOUGHT = re.compile(r"^[ \t>*_-]{0,8}(?:thoughts?|thinking)[*_]{0,2}[ ]?:", re.IGNORECASE | re.MULTILINE)
_LEAD = (
    r"(?:okay|ok|alright|all right|right|sure|well|hm+|wait|so|now|first|let's see)?[\s,.!:…—-]{0,4}"
    r"(?:so|first|now)?[\s,]{0,3}"
)
_THINKING = (
    r"(?:hm{2,}\b"
    r"|let me (?:first |just |quickly )?(?:think|analy[sz]e|consider|figure|work (?:this|it|through)"
    r"|break (?:this|it|down)|re-?read|recall|check|look (?:at|into|for|through)|see (?:if|what|whether|how))\b"
    r"|let's (?:think|analy[sz]e|break (?:this|it|down)|figure)\b"
    r"|i (?:need|have|want|ought) to (?:think|figure|analy[sz]e|respond|answer|use the|call the|work out)\b"
    r"|i(?: should| must|'ll) (?:think|figure|analy[sz]e|respond|answer|use the|call the|start by)\b"
    r"|we (?:need|have) to (?:think|figure|respond|answer|produce|output|decide what)\b"
    r"|the user (?:wants|is asking|asks|asked|has asked|says|said|needs|would like|is requesting|requested|seems)\b"
    r"|(?:my|here is my|here's my) (?:thought process|chain of thought|reasoning)\b)"
)
_COT = re.compile(rf"[\s*_>\"']{{0,8}}{_LEAD}{_THINKING}", re.IGNORECASE)
_FIRST = re.compile(
    r"[\s*_>]{0,8}(?:okay|ok|alright)?[\s,.]{0,3}first,? i (?:need|have|should|must|'ll|will)\b", re.IGNORECASE
)


def is_abstention(text: str) -> bool:
    """Whether the reply is only the keyword: any case, with emphasis or a full stop around it, and nothing else."""
    return len(text) < _PREFACE and text.strip(_AROUND_KEYWORD).casefold() == ABSTAIN


def find_leak(text: str, tool_names: Iterable[str] = ()) -> tuple[Bucket, str, str] | None:
    """Return what leaked into the reply as (bucket, code, advice), or None."""
    if _TAG.search(text):
        return Bucket.COT_LEAK, "thinking_tag", "A thinking tag was left in the reply; send the answer alone."
    start = text.lstrip()[:_PREFACE].replace("’", "'")  # noqa: RUF001
    if _COT.match(start) or _FIRST.match(start) or _THOUGHT.search(text):
        return Bucket.COT_LEAK, "thinking_preface", "The reply begins with thinking aloud; send the answer alone."
    if looks_like_tool_call(text, tool_names):
        return Bucket.TOOL_SYNTAX, "tool_syntax", "Tools are not called in a reply; cite the receipt of a call."
    return None


_USED = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:just |also |first )?(?:ran|run|used|called|executed|invoked|queried)\b"
    r"[^.\n]{0,60}\btools?\b"
    r"|\btool(?:'s)? (?:returned|outputs?|results?|reports|reported)\b"
    r"|\b(?:using|via|with|according to) the [\w.-]{1,40} tool\b",
    re.IGNORECASE,
)
_BEFORE_NAME = re.compile(
    r"(?:ran|run|used|called|executed|invoked|tried|asked|via|using|from|with|through|on|in|according to|by|per)"
    r"(?: the| our)? `?$",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(
    r"`?(?:'s)?(?: tool)?,? (?:(?:has|had|just|also|then|it) ){0,2}(?:returned|found|finds?|shows?|showed|reports?|"
    r"reported|output|results?|gave|gives|says|said|came|confirms?|confirmed|flagged|flags|ran|passed|sees|saw|"
    r"lists?|listed|turned|was (?:run|used|called|clean)|is (?:clean|green|happy))\b",
    re.IGNORECASE,
)


def says_tool_was_used(text: str) -> bool:
    """Whether a reply says that some tool was used; it must then cite a receipt."""
    return _USED.search(text.replace("’", "'")) is not None  # noqa: RUF001


def tools_said_used(text: str, tool_names: Iterable[str]) -> tuple[str, ...]:
    """Return the tools that a reply names as used; it must then cite a receipt of each."""
    plain = text.replace("’", "'")  # noqa: RUF001
    # Skip names that are ordinary words, such as `search`: they would match normal prose.
    return tuple(name for name in tool_names if not name.isalpha() and name in plain and _is_said_used(plain, name))


def _is_said_used(text: str, name: str) -> bool:
    at = text.find(name)
    while at >= 0:
        after = at + len(name)
        if _BEFORE_NAME.search(text[max(0, at - 20) : at]) or _AFTER_NAME.match(text, after):
            return True
        at = text.find(name, after)
    return False
