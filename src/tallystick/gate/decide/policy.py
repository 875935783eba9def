"""The policy: what the configuration says about calls, as one value with one name.

A policy is written out as TOML in one fixed form (keys sorted, defaults spelled out, what says nothing left out).
Its digest is the SHA-256 of that text, stands in every receipt, and finds the text again: reading the text back
gives the same policy and the same digest. Two files that mean the same have the same digest.
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
"""Resolved rules kept at once. An upstream that changes its cards for ever must not fill the memory."""

_READABLE_KEYS = frozenset({"type", "properties", "required", "$schema", "title", "description", "$comment"})
"""An overlay of these alone depends on nothing but the properties it names."""

_NOTHING_SAID = ToolPolicy()


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A policy, compiled. Make one with `from_settings` or `from_text`."""

    defaults: PolicySettings
    tools: Mapping[str, ToolPolicy]
    text: str
    """The fixed TOML form."""
    digest: str
    """SHA-256 of the text, hex."""
    _checks: Mapping[str, tuple[ArgumentCheck, ...]] = field(repr=False, compare=False)
    _resolved: dict[str, ToolRule] = field(default_factory=dict[str, ToolRule], repr=False, compare=False)

    @classmethod
    def from_settings(cls, settings: Settings) -> "Policy":
        """Build the policy of a configuration.

        Raises:
            ConfigError: An argument rule whose schema cannot be used; the message names `tools.X.rules[n]`.
        """
        # By way of the text, so that nothing can be in force that the text does not say.
        return cls.from_text(policy_text(settings))

    @classmethod
    def from_text(cls, text: str, *, source: str = "policy") -> "Policy":
        """Read a policy back from its text, or from any `tallystick.toml` (its other sections play no part).

        Raises:
            ConfigError: The text is no TOML, has a wrong key or value, or a schema that cannot be used.
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
        """What this policy says about a tool; worked out once per version of its card."""
        rule = self._resolved.get(card.version)
        if rule is None:
            # Threads may meet here and resolve the same card twice; both get the same answer.
            if len(self._resolved) >= MAX_RESOLVED:
                self._resolved.clear()
            rule = self._resolved[card.version] = self._resolve(card)
        return rule

    def unknown_tools(self, registered: Iterable[str]) -> tuple[str, ...]:
        """Tools the policy names that nobody registered: worth a warning, since a misspelt deny protects nothing."""
        return tuple(sorted(set(self.tools) - set(registered)))

    def _resolve(self, card: Card) -> ToolRule:
        said = self.tools.get(card.name, _NOTHING_SAID)
        by_effect = {
            "read": self.defaults.read, "write": self.defaults.write, "external": self.defaults.external
        }.get(card.effect)  # fmt: skip
        checks = self._checks.get(card.name, ())
        return ToolRule(
            # A kind of tool we do not know stays refused, even where policy allows it by name.
            verdict=None if by_effect is None else said.decision or by_effect,
            # A tool that names no roles has those that policy names for it, and else those of the default.
            tool_roles=card.roles or said.roles or UNDECLARED_ROLES,
            policy_roles=said.roles or frozenset(),
            rate=self.defaults.rate if said.rate is None else said.rate,
            shadow=self.defaults.shadow if said.shadow is None else said.shadow,
            provenance=said.provenance or self.defaults.provenance,
            deny_checks=tuple(check for check in checks if check.otherwise == "deny"),
            ask_checks=tuple(check for check in checks if check.otherwise == "ask"),
        )


def settings_of(text: str, *, source: str = "policy") -> Settings:
    """What a policy's text says, before it is made a policy.

    Raises:
        ConfigError: The text is no TOML, or has a wrong key or value.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise malformed_toml(source, error) from None
    return parse_settings(raw, source=source)


def policy_text(settings: Settings) -> str:
    """The fixed TOML form of the parts of a configuration that decide."""
    said = {name: _tool_form(name, tool) for name, tool in sorted(settings.tools.items())}
    # Defaults are spelled out, so that a later version with other defaults reads this text as it was meant.
    form: dict[str, Any] = {"policy": settings.policy.model_dump(exclude_none=True)}
    if form["policy"]["provenance"] == "ask":
        # This key came later. Texts that were kept before it say nothing of it, and must keep their digests.
        del form["policy"]["provenance"]
    if any(said.values()):
        form["tools"] = {name: tool for name, tool in said.items() if tool}
    return tomli_w.dumps(_sorted(form))


def _tool_form(name: str, tool: ToolPolicy) -> dict[str, Any]:
    form: dict[str, Any] = tool.model_dump(exclude_none=True, exclude={"roles", "rules"})
    # Sets have no order of their own; the text must have one. An empty one says nothing.
    if tool.roles:
        form["roles"] = sorted(tool.roles)
    # Rules keep theirs: the first that is broken gives the reason.
    if tool.rules:
        form["rules"] = [_rule_form(f"tools.{name}.rules[{place}]", rule) for place, rule in enumerate(tool.rules)]
    return form


def _rule_form(where: str, rule: ArgumentRule) -> dict[str, Any]:
    _require_json(where, rule.overlay)
    form = {"name": rule.name, "otherwise": rule.otherwise, "schema": rule.overlay}
    return {**form, "roles": sorted(rule.roles)} if rule.roles else form


def _require_json(where: str, value: Any) -> None:
    """TOML has dates, infinities and no null; a schema has none of the first two and must survive as text."""
    if isinstance(value, dict):
        for item in value.values():
            _require_json(where, item)
    elif isinstance(value, list):
        for item in value:
            _require_json(where, item)
    elif not isinstance(value, bool | int | float | str) or (isinstance(value, float) and not math.isfinite(value)):
        message = f"{where}: the schema holds {value!r:.40}, which is not plain JSON in TOML. Write it another way."
        raise ConfigError(message, code="config_bad_value")


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _compiled(tool: str, rules: tuple[ArgumentRule, ...]) -> tuple[ArgumentCheck, ...]:
    checks: list[ArgumentCheck] = []
    for place, rule in enumerate(rules):
        try:
            # Open: a rule speaks of the arguments it names, the tool's own schema of the others.
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
    """Which arguments an overlay can depend on; None where that cannot be told from its keywords."""
    # `required` asks only whether a name is there, and redaction leaves the names.
    properties = overlay.get("properties", {})
    if not _READABLE_KEYS.issuperset(overlay) or not isinstance(properties, Mapping):
        return None
    return frozenset(properties)
