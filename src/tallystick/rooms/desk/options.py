"""The desk's settings: `[rooms.desk]` in `tallystick.toml`."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, field_validator, model_validator

from tallystick.mail_port import MailServer, Security


class WebOptions(BaseModel):
    """Where to search, and whose pages may be given on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: str
    """The engine's address: https, or http to this machine."""
    engine: Literal["searxng", "brave"] = "searxng"
    """How the engine is asked and how it answers."""
    hosts: tuple[str, ...] = Field(min_length=1)
    """Hosts whose pages may be given on; a name stands for its subdomains too. `*`: any, which is rarely wise."""
    key_variable: str | None = None
    """The environment variable that holds the engine's key."""
    private: bool = False
    """Whether the endpoint's name may lead to an address inside: an engine of your own in your own network."""
    within_s: float = Field(default=10.0, gt=0, le=60)

    @field_validator("hosts")
    @classmethod
    def _plain(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(host.strip().lower().removeprefix("*.").rstrip(".") for host in hosts)

    def allows(self, host: str) -> bool:
        """Whether pages of this host may be given on."""
        name = host.lower().rstrip(".")
        return any(each in {"*", name} or name.endswith(f".{each}") for each in self.hosts)


SendMode = Literal["review", "auto"]
ANY_CATEGORY = "default"
"""The name under which `send` holds the mode of categories that it does not name."""


def _as_modes(value: Any) -> Any:
    return {ANY_CATEGORY: value} if isinstance(value, str) else value


def _as_tuple(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


DOCUMENT_TOOLS = ("kb.search", "kb.read")
"""What reads the owner's documents."""
_WRITTEN_BY_OTHERS = ("mem.", "insight.", "logs.", "tool.")
_PROPOSALS = frozenset(
    {
        "record_observation",
        "create_or_link_entity_candidate",
        "propose_proposition",
        "attach_support",
        "attach_contradiction",
        "propose_test",
        "execute_test_result_ingest",
        "request_consolidation",
        "archive_episode",
    }
)


class MailOptions(BaseModel):
    """The desk's mailbox: where replies are sent from, and which folder new mails are read from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    address: str = Field(pattern=r"^[^\s@<>]{1,64}@[^\s@<>]{1,255}$")
    """Replies come from this address; a mail from it is none of a customer."""
    user: str | None = None
    password: SecretStr | None = None
    """Best given as TALLY_ROOMS__DESK__MAIL__PASSWORD."""
    smtp_host: str | None = None
    """Needed for `channel = "mail"`."""
    smtp_port: int = Field(default=465, ge=1, le=65_535)
    smtp_security: Literal["tls", "starttls", "none"] = "tls"
    imap_host: str | None = None
    """Whose folder new mails are read from; none: no mail is read."""
    imap_port: int = Field(default=993, ge=1, le=65_535)
    imap_security: Literal["tls", "starttls", "none"] = "tls"
    folder: str = Field(default="INBOX", pattern=r"^[ -~]{1,200}$")
    every_minutes: int = Field(default=1, ge=1, le=59)
    """How often a running server or worker looks for new mails."""
    within_s: float = Field(default=20.0, gt=0, le=60)

    @model_validator(mode="after")
    def _encrypted(self) -> "MailOptions":
        """Refuse to send a password and customers' mails unencrypted to another machine."""
        for host, security in ((self.smtp_host, self.smtp_security), (self.imap_host, self.imap_security)):
            if host is not None and security == "none" and host not in {"localhost", "127.0.0.1", "::1"}:
                raise ValueError("security 'none' is for this machine only; use tls or starttls")
        return self

    def smtp(self) -> MailServer | None:
        """The server that replies are given to."""
        return self._server(self.smtp_host, self.smtp_port, self.smtp_security)

    def imap(self) -> MailServer | None:
        """The server that new mails are read from."""
        return self._server(self.imap_host, self.imap_port, self.imap_security)

    def _server(self, host: str | None, port: int, security: Security) -> MailServer | None:
        if host is None:
            return None
        password = None if self.password is None else self.password.get_secret_value()
        return MailServer(
            host=host, port=port, security=security, user=self.user, password=password, within_s=self.within_s
        )


class VerdictPolicy(BaseModel):
    """The bounds of the rules; the rules themselves are code."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(default=0.85, ge=0, le=1)
    """The probability with which evidence must answer a need to cover it."""
    defer_categories: tuple[str, ...] = ("refund", "complaint", "legal", "security", "safety", "minors")
    forbidden_topics: tuple[str, ...] = ()
    """Words or phrases; a customer's text that holds one is not answered."""
    sources: tuple[str, ...] = ("thread_id", "actor")
    """Fields of the event that a write or external call may take its values from."""
    answer_sources: tuple[str, ...] = DOCUMENT_TOOLS
    """Tools whose results answer customers; those of all others are context for people."""
    log_fields: tuple[str, ...] = ()
    """Fields of a JSON log record that may be quoted to a customer; the rest of a log is for people."""
    public_contacts: tuple[str, ...] = ()
    """Addresses and numbers that are given to customers, as they stand in the documents: the shop's own."""

    @field_validator("answer_sources")
    @classmethod
    def _no_words_of_others(cls, named: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse tools that give what agents, customers or programs wrote."""
        for name in named:
            if name.startswith(_WRITTEN_BY_OTHERS) or name in _PROPOSALS:
                raise ValueError(f"{name} gives what agents, customers or programs wrote; it cannot answer customers")
        return named


class ToolLimits(BaseModel):
    """The `tool_policy` of TOOL tickets that are derived here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_turns: int = Field(default=3, ge=0)
    web_search_strategy: Literal["focused", "broad", "exhaustive"] = "focused"
    web_search_budget: int = Field(default=5, ge=0)
    tool_whitelist: tuple[str, ...] = ("kb.search", "kb.read", "mem.search", "insight.search", "logs.search")


class Options(BaseModel):
    """`[rooms.desk]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kb: str | None = Field(default=None, min_length=1, pattern=r"^[^\x00]*\S[^\x00]*$")
    """The folder of the knowledge base, relative to the workspace; default: `kb`, if it is there."""
    kb_meaning: bool = True
    """Whether the knowledge base is searched by meaning too, where the vectors for it are installed."""
    logs: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_as_tuple)] | None = None
    """Log files that people and agents may search: paths or patterns, such as `["logs/*.jsonl"]`."""
    web: WebOptions | None = None
    """The search engine behind `web.search`; without it there is no such tool."""
    verdict: VerdictPolicy = VerdictPolicy()
    """The bounds of the verdict's rules."""

    workers: Literal["own", "outside"] = "own"
    """outside: all tickets are left to leases."""
    agent: str | None = Field(default=None, max_length=64)
    """The agent whose model sorts, searches and writes; none, or one without a model: rules do it."""
    instructions: str = Field(default="", max_length=4_000)
    """What that model is told of the house besides."""
    tool_derivation: bool = True
    schema_validation: bool = False
    """Whether the contract's schema adds warnings. It never refuses anything."""

    min_chars: int = Field(default=1, ge=1)
    max_chars: int = Field(default=100_000, ge=1)
    """Of a customer's text: some thirty pages. Longer ones are not written by hand."""
    max_age_days: int = Field(default=730, ge=1)
    """Events that are older are not answered any more."""
    duplicate_hours: int = Field(default=24, ge=0)
    """How long the same words in a conversation are the same event, where the event has neither id nor time."""

    lease_s: int = Field(default=300, ge=1)
    max_lease_s: int = Field(default=3_600, ge=1)

    tool_policy: ToolLimits = ToolLimits()

    send: Annotated[dict[str, SendMode], BeforeValidator(_as_modes)] = {ANY_CATEGORY: "review"}
    """Whether replies that pass every check go out at once (`auto`) or wait for a person (`review`): one mode, or one
    for each category of messages; `default` stands for the categories that are not named."""
    channel: Literal["file", "webhook", "mail"] = "file"
    """Where replies go."""
    mail: MailOptions | None = None
    """The desk's mailbox, for `channel = "mail"` and for reading new mails."""
    outbox_folder: str = ".control-room/desk/outbox"
    """For the file channel: relative to the workspace."""
    webhook_url: str | None = None
    webhook_secret: SecretStr | None = None
    """Signs what is posted; best given as TALLY_ROOMS__DESK__WEBHOOK_SECRET."""
    webhook_in_secret: SecretStr | None = None
    """With it `POST /v1/desk/webhook` takes events from programs that sign them, without a token.
    Best given as TALLY_ROOMS__DESK__WEBHOOK_IN_SECRET."""
    send_attempts: int = Field(default=8, ge=1)

    answer_hours: int = Field(default=24, ge=1, le=8_760)
    """Within how many hours a message should be answered; what waits longer is marked."""

    def mode_of(self, category: str) -> SendMode:
        """How replies to messages of a category are sent."""
        return self.send.get(category, self.send.get(ANY_CATEGORY, "review"))
