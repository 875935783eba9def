"""The audit: verify that the log is authentic and complete.

1. every record   complete, in order, chained, signed with the active key; payload and blob match their digests, and the
                  session view (the session's own file) contains the record
2. the tree       the root at every checkpoint equals the signed root
3. head, mirror   the head file and its copy outside the workspace: size not above the log's, and the right last leaf
4. from outside   a checkpoint kept elsewhere matches this log
5. leftovers      no view without records, no erased payload without an erasure record
6. definitions    the policies and tools that records name by digest are stored and unchanged

The log is read once, from the beginning; memory grows only by a few bytes per session. Other processes may append
meanwhile: only the records present at the start are examined.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from tallystick.gate.record.archive import HeadClaim, LogArchive
from tallystick.gate.record.checkpoint import NoteVerifier, notes_in, open_checkpoint
from tallystick.gate.record.definitions import definition_faults
from tallystick.gate.record.record_verifier import RECOVERIES, RecordInvalid, RecordVerifier, mirror_alarm
from tallystick.gate.record.report import MAX_PROBLEMS, AuditProblem, AuditReport, Warrant
from tallystick.gate.record.signing import Keys
from tallystick.gate.record.tree import Frontier, subtree_root

BLOCK = 256
NEVER = 1 << 62
Progress = Callable[[int, int], None]
"""Progress callback: records examined so far, and the log's size according to the heads (0: there is no head)."""


def verify(
    archive: LogArchive,
    keys: Keys,
    *,
    outside: Sequence[bytes] = (),
    verifier: NoteVerifier | None = None,
    progress: Progress | None = None,
) -> AuditReport:
    """Verify a whole log.

    Args:
        archive: The log.
        keys: The keys of its workspace.
        outside: Checkpoints kept elsewhere, as signed notes; one item may hold several, one after another.
        verifier: The log's public key from a source outside the workspace; default: the log's own keys.
        progress: Called between batches with the number of records examined.
    """
    return _Audit(archive, keys, outside, verifier).run(progress)


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointClaim:
    """The content of a signed checkpoint: the log had this root at this size."""

    source: str
    size: int
    root: bytes
    vkey: str
    """Verifier line (vkey) of the signing key."""


def _claim_of(source: str, note: bytes, known: Sequence[NoteVerifier]) -> CheckpointClaim | None:
    opened = open_checkpoint(note, known)
    if opened is None:
        return None
    checkpoint, signer = opened
    return CheckpointClaim(source=source, size=checkpoint.size, root=checkpoint.root, vkey=signer.vkey())


@dataclass(slots=True)
class _Tree:
    """The Merkle root so far, built block by block."""

    frontier: Frontier = field(default_factory=Frontier)
    block: list[bytes] = field(default_factory=list)

    def add(self, leaf: bytes) -> None:
        self.block.append(leaf)
        if len(self.block) == BLOCK:
            self.frontier.add([subtree_root(self.block)])
            self.block.clear()

    def root(self) -> bytes:
        return self.frontier.root(self.block)


class _Audit:
    def __init__(
        self, archive: LogArchive, keys: Keys, outside: Sequence[bytes], verifier: NoteVerifier | None
    ) -> None:
        self._archive = archive
        self._verifiers = keys.log_verifiers() if verifier is None else [verifier]
        self._records = RecordVerifier(keys, archive.blob)
        self._tree = _Tree()
        self._problems: list[AuditProblem] = []
        self._notes: list[AuditProblem] = []
        self._warrants: list[Warrant] = []
        self._bad_views: dict[str, int] = {}
        self._stopped = False
        """The audit stopped before the end of the log."""
        self._heads = sorted(archive.heads(), key=lambda head: head.size)
        self._covered = max((head.size for head in self._heads), default=0)
        self._own_checkpoints = self._own_claims(keys)
        self._next_checkpoint = next(self._own_checkpoints, None)
        self._last_checkpoint = 0
        self._outside = deque(sorted(self._claims_from_outside(outside), key=lambda claim: claim.size))
        if verifier is not None and verifier not in keys.log_verifiers():
            self._problem("log_key_differs", "the given key does not belong to this log")

    def run(self, progress: Progress | None) -> AuditReport:
        self._verify_records(self._batches(progress))
        self._compare_own_checkpoints(end=True)
        self._compare_outside_checkpoints(end=True)
        self._compare_heads()
        self._check_leftovers()
        # Problems with a sequence number first, in log order; then those without one.
        problems = [*self._records.problems, *self._problems]
        problems.sort(key=lambda problem: (problem.seq is None, problem.seq or 0))
        return AuditReport(
            size=self._records.seq,
            problems=tuple(problems[:MAX_PROBLEMS]),
            notes=tuple([*self._records.notes, *self._notes][:MAX_PROBLEMS]),
            warrants=tuple(self._warrants),
            root=self._tree.root().hex(),
        )

    def _batches(self, progress: Progress | None) -> Iterator[list[bytes]]:
        """Yield the lines of the log; progress is reported between batches, so it costs nothing per record."""
        for batch in self._archive.lines():
            yield batch
            if progress is not None:
                progress(self._records.seq, self._covered)

    def _verify_records(self, batches: Iterator[list[bytes]]) -> None:
        """Examine all records, up to the first that breaks the chain."""
        records, archive = self._records, self._archive
        verify_next, add, view_has = records.verify_next, self._tree.add, archive.view_has
        due, covered = self._next_due(), self._covered if self._heads else NEVER
        try:
            for line in chain.from_iterable(batches):
                session_id, flat = verify_next(line)
                add(records.leaf)
                # A view is written before the head, so only records that the head covers must be in it.
                if not view_has(session_id, flat) and records.seq <= covered:
                    self._bad_views.setdefault(session_id, records.seq - 1)
                if records.seq >= due:
                    due = self._compare_at(records.seq)
        except RecordInvalid as fault:
            self._stop(fault)
        else:
            if archive.torn():
                self._note("torn_tail", f"{archive.torn()} bytes of an incomplete record follow the last complete one")
        beyond = records.seq - self._covered
        if self._heads and beyond > 0:
            self._note("beyond_head", f"the head does not cover the last {beyond} of {records.seq} records yet")

    def _compare_at(self, seq: int) -> int:
        """Compare with the heads and checkpoints of this size; return the size of the next comparison."""
        self._compare_heads_at(seq)
        self._compare_own_checkpoints()
        self._compare_outside_checkpoints()
        return self._next_due()

    def _next_due(self) -> int:
        seq = self._records.seq
        sizes = [head.size for head in self._heads if head.size > seq]
        given = self._outside[0] if self._outside else None
        sizes += [claim.size for claim in (self._next_checkpoint, given) if claim is not None]
        return min(sizes, default=NEVER)

    def _stop(self, fault: RecordInvalid) -> None:
        """Report a bad record: as damage if the head covers it, else as the unacknowledged tail that a crash left."""
        seq = self._records.seq
        if self._heads and seq >= self._covered:
            self._note(
                "torn_tail", f"an invalid record, which the head does not cover, follows the last valid one ({fault})"
            )
        else:
            self._stopped = True
            self._problem(fault.code, str(fault), seq=seq, receipt_id=fault.receipt_id)

    # -- the tree ------------------------------------------------------------------------------------------------------

    def _compare_own_checkpoints(self, *, end: bool = False) -> None:
        """Compare the root with the log's own checkpoints of this size; at the end, also report those beyond it."""
        seq = self._records.seq
        while self._next_checkpoint is not None and (end or self._next_checkpoint.size <= seq):
            claim = self._next_checkpoint
            self._last_checkpoint = max(self._last_checkpoint, claim.size)
            self._next_checkpoint = next(self._own_checkpoints, None)
            if claim.size == seq:
                self._compare_root(claim)
            elif claim.size > seq:
                self._beyond(claim.source, claim.size)
            else:
                self._problem("checkpoint_out_of_order", f"a checkpoint of {claim.size} records is out of order")

    def _compare_outside_checkpoints(self, *, end: bool = False) -> None:
        seq = self._records.seq
        while self._outside and (end or self._outside[0].size <= seq):
            claim = self._outside.popleft()
            if claim.size == seq:
                self._compare_root(claim)
            elif claim.size > seq:
                self._beyond(claim.source, claim.size)

    def _compare_root(self, claim: CheckpointClaim) -> None:
        retired = self._records.retired_log_keys.get(claim.vkey)
        if claim.root != self._tree.root():
            reason = f"the checkpoint of {claim.size} records ({claim.source}) does not match the log"
            self._problem("checkpoint_differs", reason, seq=claim.size - 1)
        elif retired is not None and claim.size > retired:
            self._problem(
                "checkpoint_key_retired", f"the {claim.source} of {claim.size} records was signed with a retired key"
            )
        else:
            self._warrant(claim.source, claim.size)

    def _beyond(self, source: str, size: int) -> None:
        seq = self._records.seq
        reason = f"the {source} covers {size} records, but the log has {seq}: it was truncated or rolled back"
        self._problem("rolled_back", reason, seq=seq)

    def _own_claims(self, keys: Keys) -> Iterator[CheckpointClaim]:
        known = keys.log_verifiers()
        for note in self._archive.notes():
            claim = _claim_of("checkpoint", note, known)
            if claim is None:
                self._problem("checkpoint_invalid", "a checkpoint was not signed with a key of this log")
            else:
                yield claim

    def _claims_from_outside(self, outside: Sequence[bytes]) -> Iterator[CheckpointClaim]:
        mirrored = self._archive.mirrored_note()
        claim = None if mirrored is None else _claim_of("mirrored checkpoint", mirrored, self._verifiers)
        if claim is not None:
            yield claim
        # A witness file may hold checkpoints of several logs; those of other logs are ignored.
        witnessed = (_claim_of("witness", note, self._verifiers) for note in self._archive.witnessed())
        yield from (claim for claim in witnessed if claim is not None)
        for number, notes in enumerate(outside, 1):
            source = f"outside checkpoint {number}"
            # Check every note: if the log signed one before a rollback and one after it, only the earlier one fails.
            claims = [_claim_of(source, note, self._verifiers) for note in notes_in(notes.splitlines(keepends=True))]
            if not claims or None in claims:
                self._problem("outside_invalid", f"{source} was not signed with the key of this log")
            yield from (claim for claim in claims if claim is not None)

    # -- heads ---------------------------------------------------------------------------------------------------------

    def _compare_heads_at(self, seq: int) -> None:
        for head in self._heads:
            if head.size == seq and head.leaf != self._records.leaf:
                reason = f"the head of {seq} records ({head.source}) does not match the log"
                self._problem("head_differs", reason, seq=seq - 1)
            elif head.size == seq:
                self._warrant(head.source, seq)

    def _compare_heads(self) -> None:
        records = self._records
        for head in self._heads:
            if head.size > records.seq:
                self._beyond(head.source, head.size)
            elif records.seq and head.size == records.seq and not self._may_sign(head):
                self._problem("head_key_retired", f"the {head.source} has the MAC of a retired key")
        for code in self._archive.head_faults():
            loss = None if code == "head_missing" else mirror_alarm(records.leaf)
            if records.seq:
                self._problem(code, RECOVERIES[code], loss=loss)
            else:
                self._note(code, RECOVERIES[code])
        # Heads carry a MAC, the file of checkpoints carries none over the whole.
        due = max((head.checkpointed for head in self._heads), default=0)
        if self._last_checkpoint < due <= records.seq:
            self._problem(
                "checkpoint_missing", f"the head names a checkpoint of {due} records, which is gone", seq=due - 1
            )

    def _may_sign(self, head: HeadClaim) -> bool:
        """Whether the head's MAC is of the active key, or of the previous one if the last record is the rotation."""
        rotation = self._records.last_rotation
        return head.key_id in {self._records.active_key_id(), None if rotation is None else rotation.get("old_key")}

    # -- leftovers -----------------------------------------------------------------------------------------------------

    def _check_leftovers(self) -> None:
        records = self._records
        if records.erased:
            for line in self._archive.later_lines():
                records.apply_later_record(line)
        # If the audit stopped early, the erasure record may follow in the part that was not read.
        for seq, receipt_id in () if self._stopped else records.erased.items():
            self._problem(
                "payload_missing", "the payload was erased without an erasure record", seq=seq, receipt_id=receipt_id
            )
        self._problems[:0] = records.losses(self._archive.earlier())
        for code, reason in definition_faults(self._archive.definition, records.policies, records.tools):
            self._problem(code, reason)
        if self._bad_views:
            self._recheck_views()
        for session_id in self._archive.other_views(records.seq):
            self._problem(
                "view_differs", "the session view contains records that are not in the log", session_id=session_id
            )

    def _recheck_views(self) -> None:
        """Check suspect views a second time, since an erasure during the audit rewrites a view."""
        suspects = self._bad_views
        self._bad_views = {}
        for session_id in suspects:
            self._archive.view_again(session_id)
        again = RecordVerifier(self._records.keys, self._archive.blob)
        covered = self._covered if self._heads else NEVER
        try:
            for line in chain.from_iterable(self._archive.lines()):
                session_id, flat = again.verify_next(line)
                if session_id in suspects and not self._archive.view_has(session_id, flat) and again.seq <= covered:
                    self._bad_views.setdefault(session_id, again.seq - 1)
        except RecordInvalid:
            pass  # reported the first time
        for session_id, seq in self._bad_views.items():
            reason = "the session view lacks this record; run `tally audit rebuild`"
            self._problem("view_differs", reason, seq=seq, session_id=session_id)

    def _problem(self, code: str, reason: str, **where: int | str | None) -> None:
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(AuditProblem(code=code, reason=reason, **where))  # type: ignore[arg-type]

    def _note(self, code: str, reason: str) -> None:
        self._notes.append(AuditProblem(code=code, reason=reason))

    def _warrant(self, source: str, size: int) -> None:
        """Keep the latest warrant (confirmed size) of each source only, since their number grows with the log."""
        self._warrants = [warrant for warrant in self._warrants if warrant.by != source]
        self._warrants.append(Warrant(by=source, size=size))
