"""The policy: the parts of the configuration that decide calls, as one value identified by its digest.

A policy has one canonical TOML text: keys sorted, empty entries left out, and defaults written out, except for keys
added later, so that older texts keep their digests. Its digest is the SHA-256 of that text; every receipt contains
it, and the stored text is looked up by it. Parsing the text gives the same policy and the same digest. Two files
with the same meaning have the same digest.
"""

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import tomli_w

from tallystick.errors import ConfigError, TallyError, malformed_toml
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.decide.tool_rule import ArgumentCheck, ToolRule
from tallystick.gate.role_names import UNDECLARED_ROLES
from tallystick.gate.tool import Card
from tallystick.settings import ArgumentRule, PolicySettings, Settings, ToolPolicy, parse_settings

MAX_RESOLVED = 4096
"""Maximum number of cached rules, so that an upstream that keeps changing its cards cannot fill the memory."""

_READABLE_KEYS = frozenset({"type", "properties", "required", "$schema", "title", "description", "$comment"})
"""The schema of an argument rule (overlay) with only these keywords depends only on the properties it names."""

_NOTHING_SAID = ToolPolicy()


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A compiled policy. Create it with `from_settings` or `from_text`."""

    defaults: PolicySettings
    tools: Mapping[str, ToolPolicy]
    text: str
    """The canonical TOML text."""
    digest: str
    """SHA-256 of the text, hex."""
    _checks: Mapping[str, tuple[ArgumentCheck, ...]] = field(repr=False, compare=False)
    _resolved: dict[str, ToolRule] = field(default_factory=dict[str, ToolRule], repr=False, compare=False)

    @classmethod
    def from_settings(cls, settings: Settings) -> "Policy":
        """Build the policy of a configuration.

        Raises:
            ConfigError: The schema of an argument rule is invalid; the message names `tools.X.rules[n]`.
        """
        # Parse the canonical text, so that nothing takes effect that the text does not contain.
        return cls.from_text(policy_text(settings))

    @classmethod
    def from_text(cls, text: str, *, source: str = "policy") -> "Policy":
        """Parse a policy from its text, or from any `tallystick.toml` (its other sections are ignored).

        Raises:
            ConfigError: The text is not TOML, or has a wrong key, a wrong value or an invalid schema.
        """
        settings = settings_of(text, source=source)
        fixed = policy_text(settings)
        return cls(
            defaults=settings.policy,
            tools=settings.tools,
            text=fixed,
            digest=sha256(fixed.encode()).hexdigest(),
            _checks={name: _compiled(name, said.rules) for name, said in settings.tools.items() if said.rules},
        )

    def rule_for(self, card: Card) -> ToolRule:
        """Return the rule for a tool, resolved once per version of its card."""
        rule = self._resolved.get(card.version)
        if rule is None:
            # No lock: two threads may resolve the same card at once, with equal results.
            if len(self._resolved) >= MAX_RESOLVED:
                self._resolved.clear()
            rule = self._resolved[card.version] = self._resolve(card)
        return rule

    def unknown_tools(self, registered: Iterable[str]) -> tuple[str, ...]:
        """Return the tools that the policy names but that are not registered.

        The caller warns about them: a rule for a misspelt tool name has no effect.
        """
        return tuple(sorted(set(self.tools) - set(registered)))

    def _resolve(self, card: Card) -> ToolRule:
        said = self.tools.get(card.name, _NOTHING_SAID)
        by_effect = {"read": self.defaults.read, "write": self.defaults.write, "external": self.defaults.external}.get(
            card.effect
        )
        by_model = self.defaults.write_by_model if card.effect == "write" else by_effect
        checks = self._checks.get(card.name, ())
        return ToolRule(
            # A tool with an unknown effect is denied, even if policy allows it by name.
            verdict=None if by_effect is None else said.decision or by_effect,
            model_verdict=None if by_model is None else said.decision or by_model,
            # A tool that declares no roles gets the roles policy names for it, or else the default roles.
            tool_roles=card.roles or said.roles or UNDECLARED_ROLES,
            policy_roles=said.roles or frozenset(),
            rate=self.defaults.rate if said.rate is None else said.rate,
            shadow=self.defaults.shadow if said.shadow is None else said.shadow,
            provenance=said.provenance or self.defaults.provenance,
            deny_checks=tuple(check for check in checks if check.otherwise == "deny"),
            ask_checks=tuple(check for check in checks if check.otherwise == "ask"),
        )


def settings_of(text: str, *, source: str = "policy") -> Settings:
    """Parse a policy's text into settings, without compiling it.

    Raises:
        ConfigError: The text is not TOML, or has a wrong key or value.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise malformed_toml(source, error) from None
    return parse_settings(raw, source=source)


def policy_text(settings: Settings) -> str:
    """Return the canonical TOML text of the parts of a configuration that affect decisions."""
    said = {name: _tool_form(name, tool) for name, tool in sorted(settings.tools.items())}
    # Defaults are written out, so that a later version with other defaults does not change the meaning of this text.
    form: dict[str, Any] = {"policy": settings.policy.model_dump(exclude_none=True)}
    # Only where the two differ: in texts stored before this key existed, `write` is the decision for models too.
    form["policy"].pop("model_write", None)
    if settings.policy.write_by_model != settings.policy.write:
        form["policy"]["model_write"] = settings.policy.write_by_model
    if form["policy"]["provenance"] == "ask":
        # The default is left out: texts stored before this key existed must keep their digests.
        del form["policy"]["provenance"]
    if any(said.values()):
        form["tools"] = {name: tool for name, tool in said.items() if tool}
    return tomli_w.dumps(_sorted(form))


def _tool_form(name: str, tool: ToolPolicy) -> dict[str, Any]:
    form: dict[str, Any] = tool.model_dump(exclude_none=True, exclude={"roles", "rules"})
    # Sets are unordered, so sort them for a stable text. An empty one is left out.
    if tool.roles:
        form["roles"] = sorted(tool.roles)
    # Rules keep their order: the first broken one gives the reason.
    if tool.rules:
        form["rules"] = [_rule_form(f"tools.{name}.rules[{place}]", rule) for place, rule in enumerate(tool.rules)]
    return form


def _rule_form(where: str, rule: ArgumentRule) -> dict[str, Any]:
    _require_json(where, rule.overlay)
    form = {"name": rule.name, "otherwise": rule.otherwise, "schema": rule.overlay}
    return {**form, "roles": sorted(rule.roles)} if rule.roles else form


def _require_json(where: str, value: Any) -> None:
    """Reject schema values that JSON and TOML cannot both represent, such as dates, infinities and null."""
    if isinstance(value, dict):
        for item in value.values():
            _require_json(where, item)
    elif isinstance(value, list):
        for item in value:
            _require_json(where, item)
    elif not isinstance(value, bool | int | float | str) or (isinstance(value, float) and not math.isfinite(value)):
        message = (
            f"{where}: the schema contains {value!r:.40}, which JSON and TOML cannot both represent. "
            "Use a string, a finite number, a boolean, a list or a table."
        )
        raise ConfigError(message, code="config_bad_value")


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _compiled(tool: str, rules: tuple[ArgumentRule, ...]) -> tuple[ArgumentCheck, ...]:
    checks: list[ArgumentCheck] = []
    for place, rule in enumerate(rules):
        try:
            # Not closed: a rule covers only the arguments it names; the tool's own schema covers the others.
            schema = compile_schema(rule.overlay, closed=False)
        except TallyError as error:
            message = f"tools.{tool}.rules[{place}]: the schema cannot be used: {error}"
            raise ConfigError(message, code="config_bad_value") from None
        checks.append(
            ArgumentCheck(
                name=rule.name,
                roles=rule.roles,
                otherwise=rule.otherwise,
                accepts=schema.accepts,
                explain=schema.explain,
                reads=_reads(rule.overlay),
            )
        )
    return tuple(checks)


def _reads(overlay: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the arguments that a rule's schema can depend on; None if they cannot be derived from its keywords."""
    # `required` needs only the argument names, which redaction keeps.
    properties = overlay.get("properties", {})
    if not _READABLE_KEYS.issuperset(overlay) or not isinstance(properties, Mapping):
        return None
    return frozenset(properties)
