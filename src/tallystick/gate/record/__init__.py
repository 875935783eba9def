"""Step four: anything → Receipt.

A draft becomes a signed, chained record in an append-only log; no result is shown before its record is stored.

    receipt       Draft in, Receipt out
    ledger        record, find, prove, erase, rotate, recover: the API for the rest of the package
    seal          Draft → bytes: header, digests, signature          canonical   canonical JSON (RFC 8785)
    payload       columns, blobs, the flat view                      signing     HMAC keys; the key port
    journal       the storage port; Postgres can implement it        notary      signing and verifying for the journal
    commit        group commit: callers share an fsync               clock       timestamps, wall-clock jumps
    tree          Merkle tree and proofs (RFC 9162)                  checkpoint  C2SP signed notes
    proof         inclusion proofs for third parties                 bundle      a reply with all its proofs
    audit         verifies the whole log; examiner, archive (its port), report
    unfinished    started calls without a recorded outcome
    entries, recorder, secrets   what the pipeline records, and which secrets it masks

`docs/protocol.md` describes receipt, checkpoint and bundle byte by byte.
"""
