"""Step four: anything → Receipt.

A draft becomes a signed, chained record in an append-only log, and nothing is shown before it is there.

    receipt       Draft in, Receipt out
    ledger        record, find, prove, erase, rotate, recover: what the rest of the house calls
    seal          Draft → bytes: header, digests, signature          canonical   one sequence of bytes for one value
    payload       columns, blobs, the flat view                      signing     HMAC keys; the port of the keys
    journal       the port of the store; Postgres can satisfy it     notary      what a store may ask about records
    commit        callers share an fsync                             clock       timestamps and jumps; chance
    tree          Merkle tree and proofs (RFC 9162)                  checkpoint  C2SP signed notes
    proof         inclusion proofs for others                        bundle      an answer with all its proofs
    audit         the whole log examined; examiner, archive (its port), report
    unfinished    calls whose end nobody saw
    entries, recorder, secrets   what the pipeline writes down, and what it never does

`docs/protocol.md` describes receipt, checkpoint and bundle byte by byte.
"""
