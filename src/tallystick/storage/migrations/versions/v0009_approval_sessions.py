"""A grant is looked up by call, session and agent: recompute the digest of live requests."""

import json
from hashlib import sha256

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0001"

_REQUESTS = sa.table(
    "tally_approvals",
    sa.column("approval_id", sa.String),
    sa.column("live_digest", sa.String),
    sa.column("digest", sa.String),
    sa.column("session", sa.LargeBinary),
)


def upgrade() -> None:
    """Write the new digest of every live request."""
    connection = op.get_bind()
    live = sa.select(_REQUESTS).where(_REQUESTS.c.live_digest.is_not(None))
    for row in connection.execute(live).all():
        session = json.loads(row.session)
        bound = {"agent": session.get("agent_id"), "digest": row.digest, "session": session["session_id"], "v": 1}
        # For strings, null and one small number this equals the canonical JSON form.
        data = json.dumps(bound, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        named = sa.update(_REQUESTS).where(_REQUESTS.c.approval_id == row.approval_id)
        connection.execute(named.values(live_digest=sha256(data).hexdigest()))
