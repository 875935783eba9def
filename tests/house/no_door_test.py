"""Promises that no test at a door shows yet, and those that have none.

`NOT_YET` only shrinks: a promise that gets a test at a door leaves it, and a new promise comes with one.
"""

REPOSITORY = "a rule for this repository itself, which no user meets"
MEASURED = "a time, measured by a benchmark that starts the door where one is meant"

INTERNAL: dict[str, str] = {
    "house.protocol": REPOSITORY,
    "house.configuration": REPOSITORY,
    "house.threat-model": REPOSITORY,
    "house.contracts-kept": REPOSITORY,
    "house.contracts-break": REPOSITORY,
    "house.rooms-found": REPOSITORY,
    "house.plugin-alone": REPOSITORY,
    "house.sizes": REPOSITORY,
    "house.comments": REPOSITORY,
    "house.names": REPOSITORY,
    "house.text-work": REPOSITORY,
    "house.no-unused": REPOSITORY,
    "house.environment": REPOSITORY,
    "house.no-traces": REPOSITORY,
    "house.locks": REPOSITORY,
    "house.one-build": REPOSITORY,
    "house.promises": REPOSITORY,
    "house.door-tests": REPOSITORY,
    "house.readme": REPOSITORY,
    "plugin.document": REPOSITORY,
    "api.exported": "for programs that import the package: the Python API is the door",
    "api.typed": "for programs that import the package: the type checker shows it",
    "house.docs": REPOSITORY,
    "reading.hybrid": "the port through which rooms search; what they find with it is promised by them",
    "reading.vectors": "the same port; its files are seen by no user",
    "speed.": MEASURED,
    "studio.tree-speed": MEASURED,
    "studio.scan-speed": MEASURED,
    "studio.check-speed": MEASURED,
    "relay.speed": MEASURED,
    "relay.web-speed": MEASURED,
    "relay.start": MEASURED,
    "memory.speed": MEASURED,
    "memory.judged-speed": MEASURED,
    "reading.speed": MEASURED,
    "page.speed": MEASURED,
    "reply.fast": "the check by itself; a door adds its own time, which `speed.http` measures",
}
"""A part (with its dot) or a promise that needs no test at a door → why."""

NOT_YET: dict[str, str] = {
    "admit": """
        size python-values linear tool-syntax nonce-size ref-circle schema-cheap schema-suite pattern-linear
        pattern-meaning format closed draft cleaned no-echo tool-id call forced-null no-content-filter
        turn-schema from-annotations
    """,
    "decide": """
        order pure shadow defaults budgets budget-of-task policy-digest policy-errors policy-test
        approval-states approval-found-again migrations
    """,
    "provenance": "values total",
    "execute": "ways shown current-call file-refs wire",
    "record": """
        canonical plain no-floats header receipt-id signature wycheproof salted payload-exact excerpt find
        tree merkle-suite proof-fast checkpoint-often replayable group-commit cancelled-wait tiles opens-tail
        witness-away witness-secrets rest roll-seen verify-streams bundle bundle-signer bundle-hostile inputs
        session-ids started tool-version
    """,
    "storage": "archives",
    "durable": """
        steps async kill last-step one-taker stale paused hand-over nothing-stuck dead-letter start-together
        own-id one-per-process same-id queues delay schedule retries sleep events cancel resume list forget
        states plain-values refusals database no-pickle quiet lazy
    """,
    "turns": "loop plain-answer no-retry tool-policy budget bytes results container prompt schema watched transcript",
    "agents": """
        card-lines endpoint files processes caps clamp demotion tier-per-model tier-policy grading
        credit-points credit-receipt credit-once credit-balance
    """,
    "tasks": "strict contract",
    "telemetry": "buckets bounded light rejections-written rejections-processes never-steers logs-masked",
    "providers": "upstream addresses retries no-leak cancelled lazy not-installed local schema-works",
    "offline": """
        accepted cards arguments steps fields findings cards-of-people honest abstains routes protocol
        conference deterministic any-text injection
    """,
    "studio": """
        locator-fast locator-deep locator-globs locator-inside locator-absent reader reader-inside file-refs
        router router-cards router-evidence receipts-quote tree read write-inside patch-states patch-diff
        patch-bad-input patch-crash import-formats import-structure import-emphasis import-novels
        import-folder import-losses import-safe export-bytes export-epub dry-run conference-states
    """,
    "book": "front-matter front-matter-bounded outline cards order discovery quick quotes",
    "outline": "structure coverage balance matching validator validator-card",
    "prose": "sentences figures baseline findings lint",
    "canon": "same-bytes model",
    "continuity": """
        finds clean-twins across-files wrapped quotes speech card-forms bans years-since names-from-cards
        modes progressions waivers unchanged untouched-novels fast canon-checker no-canon-no-check
        consistency-checker
    """,
    "sample": "project planted copy outline checked",
    "issues": "processes damaged many decay levels memory reworded deferred search",
    "notifications": "kept",
    "prompts": "bundled catalogue",
    "runs": "phases receipts files references bundled states conditions evidence patch held notified frozen",
    "mcp": "names",
    "relay": "effects names",
    "house": "examples open settings sync",
    "memory": """
        bad-input owned-keys rejected-changes-nothing transformed hidden scoring states laundering first-come
        agent-ceiling contradiction tests tests-matter crowds looks decay promotion rivals announced
        carry-over policy entities replay processes one-stand databases tampering bounded places published
    """,
    "reading": "words index doubt json-ld forgets tools extract properties same-bytes poisoning honest locomo",
    "insight": """
        same-everywhere pii planted formats headers mapping dates once paths streams sample figures
        analysis.offline analysis.cannot analysis.significance analysis.sample analysis.budget
        analysis.governed analysis.unsupported analysis.pii analysis.tools evidence reports reports.safe
        prompts history cluster-ward cluster-order cluster-k cluster-algorithms cluster-large cluster-figures
        cluster-labels cluster-good cluster-tool cluster-bad embed-builtin embed-new embed-resume
        embed-durable embed-optional embed-unknown search-nearest search-exact search-large search-pgvector
        search-filters search-ties search-stale search-before search-rerank search-why search-pii search-rooms
        search-measured
    """,
    "desk": """
        round-trip warnings derivation derivation-flag server-verdict no-verdict no-proceed one-transaction
        repeats clock send-once send-again webhook files shown-results citations model model-bounds replay
        queue-decide queue-edit queue-block queue-ledger flows flows-send-time kb-formats kb-verbatim
        kb-ranking kb-standing kb-incremental kb-unseen kb-hostile kb-paths kb-speed kb-tools logs web-off
        web-bounds
    """,
}
"""Part → the rest of their ids."""

MOST = 404
"""How many there were when the list was last shortened. It is lowered with the list and never raised."""
