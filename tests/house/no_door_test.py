"""Promises that no test at a door shows yet, and those that have none.

`NOT_YET` only shrinks: a promise that gets a test at a door leaves it, and a new promise comes with one.
"""

REPOSITORY = "a rule for this repository itself, which no user meets"

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
    "speed.": "measured by the benchmarks, which start the doors themselves where one is meant",
    "reply.fast": "the check by itself; a door adds its own time, which `speed.http` measures",
}
"""A part (with its dot) or a promise that needs no test at a door → why."""

NOT_YET: dict[str, str] = {
    "admit": """
        size python-values envelope thinking linear tool-syntax nonce-single-use nonce-bound
        nonce-size nonce-expiry abuse remote-ref ref-circle schema-refused schema-cheap schema-suite
        pattern-linear pattern-meaning format closed draft cleaned no-echo tool-id upstream call
        echo forced-null no-content-filter turn-schema injected-outputs client-tools
        from-annotations native-calls turn-steps
    """,
    "decide": """
        order pure shadow defaults budgets budget-of-task policy-digest policy-errors replay
        replay-undecidable policy-test approval-states approval-found-again migrations held-turn
    """,
    "provenance": "values total",
    "execute": "ways shown current-call file-refs wire many",
    "record": """
        canonical plain no-floats header receipt-id signature wycheproof salted payload-exact
        excerpt flat-view find session-view tree merkle-suite proof-fast checkpoint-form
        checkpoint-strict checkpoint-often keys-private replayable group-commit cancelled-wait tiles
        opens-tail witness-away witness-secrets rest roll-seen verify-streams bundle bundle-signer
        bundle-hostile bundle-tamper audit-record inputs session-ids started tool-version
    """,
    "storage": "archives",
    "durable": """
        steps async kill exactly-once last-step take-over one-taker stale paused hand-over
        nothing-stuck dead-letter start-together own-id one-per-process same-id queues delay
        schedule retries sleep events cancel resume list forget states plain-values refusals
        database database-away no-pickle quiet lazy
    """,
    "turns": """
        loop plain-answer no-retry required tool-policy step-limit budget bytes results container
        prompt schema thinking abstain native native-multiple held handed-back unheard cancelled
        watched conference stop-hooks turn-gate transcript
    """,
    "agents": """
        defaults card-lines endpoint files processes caps clamp demotion tier-per-model tier-policy
        grading credit-points credit-self credit-receipt credit-once credit-balance
    """,
    "tasks": """
        strict clarify route route-fresh route-fallback execute execute-fresh execute-stop contract
        kept
    """,
    "telemetry": """
        names calls buckets bounded light rejections-written rejections-processes never-steers
        no-secrets logs-masked
    """,
    "providers": """
        upstream addresses failures retries no-leak cancelled lazy not-installed local schema-works
    """,
    "offline": """
        grounded accepted cards arguments steps fields findings cards-of-people honest abstains
        routes protocol conference deterministic any-text injection
    """,
    "studio": """
        locator-fast locator-deep locator-globs locator-inside
        locator-absent reader reader-inside file-refs router router-cards router-evidence
        receipts-quote tree tree-speed scan-speed check-speed read write-inside patch-states
        patch-diff patch-bad-input patch-crash snapshots import-formats import-structure
        import-emphasis import-novels import-folder import-losses import-safe import-bad-input
        export-bytes export-epub dry-run conference-flow conference-states
    """,
    "book": "front-matter front-matter-bounded outline cards order discovery quick quotes",
    "outline": "structure coverage balance matching validator validator-card",
    "prose": "sentences figures baseline findings lint",
    "canon": "rules same-bytes model",
    "continuity": """
        finds clean-twins across-files wrapped quotes speech card-forms bans years-since
        names-from-cards modes progressions waivers unchanged
        untouched-novels fast canon-checker no-canon-no-check consistency-checker
    """,
    "sample": "project planted copy outline checked",
    "issues": "opened bad-input moves processes damaged many decay levels memory reworded deferred search",
    "notifications": "kept",
    "prompts": "bundled catalogue",
    "runs": """
        phases receipts files references bundled states conditions done evidence patch held notified
        frozen
    """,
    "mcp": "names",
    "relay": "effects names third-party conformance speed web-speed start",
    "house": "examples open settings sync",
    "memory": """
        bad-input owned-keys quotes rejected-changes-nothing transformed hidden scoring states
        laundering model-flood first-come agent-ceiling contradiction tests tests-matter crowds
        looks decay promotion rivals announced carry-over policy entities replay erasure founded
        processes one-stand databases tampering bounded places published speed judged-speed
    """,
    "reading": """
        words index recall budget doubt taken-back as-of explain what-if supports diff json-ld
        forgets tools extract remember properties same-bytes poisoning honest locomo speed
    """,
    "insight": """
        same-everywhere pii planted formats headers mapping dates once paths streams sample figures
        analysis.offline analysis.cannot analysis.significance analysis.sample analysis.budget
        analysis.governed analysis.unsupported analysis.pii analysis.tools evidence reports
        reports.safe prompts history cluster-ward cluster-order cluster-k cluster-algorithms
        cluster-large cluster-figures cluster-labels cluster-good cluster-tool cluster-bad
        embed-builtin embed-new embed-resume embed-durable embed-optional embed-unknown
        search-nearest search-exact search-large search-pgvector search-filters search-ties
        search-stale search-before search-rerank search-why search-pii search-rooms search-measured
    """,
    "desk": """
        events round-trip warnings derivation derivation-flag server-verdict no-verdict no-proceed
        one-transaction lease repeats clock send-once send-again webhook files verdict
        rooms-evidence shown-results citations model model-bounds replay queue queue-take
        queue-decide queue-edit queue-more queue-block queue-ledger flows flows-send-time kb-formats
        kb-verbatim kb-ranking kb-standing kb-incremental kb-unseen kb-hostile kb-paths kb-speed
        kb-tools logs web-off web-bounds sample
    """,
    "page": "speed",
}
"""Part → the rest of their ids."""

MOST = 501
"""How many there were when the list was last shortened. It is lowered with the list and never raised."""
