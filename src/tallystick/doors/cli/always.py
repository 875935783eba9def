"""`tally approvals approve --always`: let exactly this call through from now on, as a rule in the policy."""

import tomllib
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.exits import Refused

if TYPE_CHECKING:
    from tallystick.gate.decide.approvals import Hold

RULE = "always_allowed"
CODE = "policy_not_changed"


def with_rule(path: Path, hold: "Hold") -> tuple[str, str]:
    """Return the policy file's text, and the same with a rule that allows the call's tool with these arguments.

    Every other call of the tool asks as before: the rule's `otherwise` is `ask`.

    Raises:
        Refused: `policy_not_changed`; the call has masked arguments, or a rule would not help or cannot be written.
    """
    import tomlkit

    from tallystick.errors import ConfigError
    from tallystick.gate.record.masks import masked_fields
    from tallystick.settings import parse_settings

    if any(masked_fields(hold.as_dict()["args"])):
        # A policy is plain text, and no place for secrets.
        raise Refused("The call has secret arguments, which no policy may hold.", code=CODE)
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        document = tomlkit.parse(before)
        tools: Any = document.setdefault("tools", tomlkit.table(is_super_table=True))
        tool: Any = tools.setdefault(hold.tool, tomlkit.table())
        _add(tool, hold.arguments())
        after = tomlkit.dumps(document)
        # Read again by another parser: a policy that cannot be used is never written.
        parse_settings(tomllib.loads(after))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        message = f"{path} cannot be changed ({type(error).__name__}). Add the rule by hand."
        raise Refused(message, code=CODE) from None
    return before, after


def difference(path: Path, before: str, after: str) -> list[str]:
    """Return the lines that show what changes."""
    return list(unified_diff(before.splitlines(), after.splitlines(), str(path), str(path), lineterm=""))


def _add(tool: Any, args: dict[str, Any]) -> None:
    """Add the arguments to the tool's rule, which is made if there is none."""
    import tomlkit

    rule = next((one for one in tool.get("rules", ()) if one.get("name") == RULE), None)
    if tool.get("decision") == "deny" or (rule is None and tool.get("decision") == "allow"):
        message = "The policy decides about this tool by another rule or denies it. Change that by hand."
        raise Refused(message, code=CODE)
    allowed = [] if rule is None else [one["const"] for one in rule["schema"].unwrap()["anyOf"]]
    schema = {"anyOf": [{"const": one} for one in [*allowed, args]]}
    if rule is None:
        tool["decision"] = "allow"
        rule = tomlkit.table()
        rule.update({"name": RULE, "otherwise": "ask"})
        tool.setdefault("rules", tomlkit.aot()).append(rule)
        rule = tool["rules"][-1]
    rule["schema"] = _inline(schema)


def _inline(value: Any) -> Any:
    """Return a value as inline TOML, so that a rule stays on one line."""
    import tomlkit

    if isinstance(value, dict):
        table = tomlkit.inline_table()
        table.update({name: _inline(item) for name, item in value.items()})
        return table
    if isinstance(value, list):
        array = tomlkit.array()
        array.extend(_inline(item) for item in value)
        return array
    return value
