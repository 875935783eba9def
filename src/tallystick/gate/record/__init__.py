"""Step 4 of 5 (admit, decide, execute, record, reply): anything → Receipt.

An event becomes a signed, chained record in an append-only log. Every record takes these steps, in this order; the code
names them by number:

    1 draft      content of header and payload; secrets are masked          entries, secrets, recorder
    2 prepare    checks, salts, digests and payload columns                 record_signer, header_templates, payload
    3 queue      concurrent callers share one fsync                         ledger, commit
    4 lock       the journal's lock; sequence number and previous leaf      journal (the port of the store)
    5 sign       timestamp, canonical header, signature                     record_signer, header_templates, signing
    6 write      log line, session view, head file; durable as configured   storage/journal
    7 return     outcome with receipt id; no result is shown before step 6  recorder
    8 observe    metrics and traces; they cannot change or stop the call    recorder

A session view is a session's own file with its records; the head file holds the log's size and last leaf. The other
modules:

    ledger       the API for the rest of the package: record, find, prove, erase, rotate, recover
    receipt      Draft and Receipt                            canonical     canonical JSON (RFC 8785)
    notary       verifies and signs for the journal           clock         timestamps, wall-clock jumps
    tree         Merkle tree and proofs (RFC 9162)            checkpoint    C2SP signed notes
    proof, consistency   proofs for third parties             bundle        a reply with all its proofs
    audit        verifies the whole log, with record_verifier, archive (its port) and report
    in_flight    started calls without a recorded outcome     maintenance   erasure and key rotation

`docs/protocol.md` describes receipt, checkpoint and bundle byte by byte.
"""
