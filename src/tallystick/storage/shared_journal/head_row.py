"""The row of the head: the lock on it decides the order of all nodes' records."""

from typing import NamedTuple

from tallystick.storage.journal.head import Head

ROTATION = b'"kind":"key_rotation"'
NO_KEY = (
    "The journal is signed with a key that this node does not have. "
    "Copy secret.key, log.key and keys/ of .control-room/audit from a node that has it."
)
TAKE = """BEGIN; SELECT size, leaf, slot, stamp, rotated, moved, (SELECT leaf FROM tally_records WHERE seq = %d)
    FROM tally_head FOR UPDATE OF tally_head"""
STORE = """WITH head AS (UPDATE tally_head SET size = %s, leaf = %s, slot = %s, stamp = %s, rotated = %s
    WHERE size = %s AND leaf = %s RETURNING 1)
    INSERT INTO tally_records (seq, session_id, leaf, header, inputs, outputs)
    SELECT one.* FROM head,
    unnest(%s::bigint[], %s::text[], %s::bytea[], %s::bytea[], %s::bytea[], %s::bytea[]) AS one"""
STORE_BLOB = "INSERT INTO tally_blobs VALUES (%s, %s) ON CONFLICT (digest) DO UPDATE SET data = EXCLUDED.data"


class HeadRow(NamedTuple):
    """The row of the head, as it is while this node holds its lock."""

    size: int
    leaf: bytes
    head: Head
    rotated: int
    """Sequence number of the latest rotation of keys; -1: none."""
