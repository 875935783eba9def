"""The audit: verify that the log is authentic and complete.

1. every record   complete, in order, chained, signed with the active key; payload, blob, session view    examiner.py
2. the tree       the root at every checkpoint equals the signed root
3. head, mirror   name no more records than the log has, and the same last leaf
4. from outside   a checkpoint kept elsewhere matches this log
5. leftovers      no view without records, no erased payload without an erasure record

The log is read once, from the beginning; memory grows only by a few bytes per session. Other processes may append
meanwhile: only the records present at the start are examined.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from tallystick.gate.record.archive import Archive, HeadClaim
from tallystick.gate.record.checkpoint import NoteVerifier, notes_in
from tallystick.gate.record.claims import Claim, claim_of
from tallystick.gate.record.examiner import Examiner, Fault
from tallystick.gate.record.report import MAX_PROBLEMS, AuditReport, Problem, Warrant
from tallystick.gate.record.signing import Keys
from tallystick.gate.record.tree import Frontier, subtree_root

BLOCK = 256
NEVER = 1 << 62
Progress = Callable[[int, int], None]
"""Progress callback: records examined so far, and records the heads name (0: there is no head)."""


def verify(
    archive: Archive,
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
    def __init__(self, archive: Archive, keys: Keys, outside: Sequence[bytes], verifier: NoteVerifier | None) -> None:
        self._archive = archive
        self._verifiers = keys.log_verifiers() if verifier is None else [verifier]
        self._examiner = Examiner(keys, archive.blob)
        self._tree = _Tree()
        self._problems: list[Problem] = []
        self._notes: list[Problem] = []
        self._warrants: list[Warrant] = []
        self._bad_views: dict[str, int] = {}
        self._stopped = False
        """The audit stopped before the end of the log."""
        self._heads = sorted(archive.heads(), key=lambda head: head.size)
        self._covered = max((head.size for head in self._heads), default=0)
        self._own = self._own_claims(keys)
        self._next = next(self._own, None)
        self._given = deque(sorted(self._claims_from_outside(outside), key=lambda claim: claim.size))
        if verifier is not None and verifier not in keys.log_verifiers():
            self._problem("log_key_differs", "the key that was given is not one of this log")

    def run(self, progress: Progress | None) -> AuditReport:
        self._walk(self._batches(progress))
        self._meet_claims(end=True)
        self._meet_given(end=True)
        self._meet_heads()
        self._look_for_rest()
        # Problems with a sequence number first, in log order; then those without one.
        problems = [*self._examiner.problems, *self._problems]
        problems.sort(key=lambda problem: (problem.seq is None, problem.seq or 0))
        return AuditReport(
            size=self._examiner.seq,
            problems=tuple(problems[:MAX_PROBLEMS]),
            notes=tuple([*self._examiner.notes, *self._notes][:MAX_PROBLEMS]),
            warrants=tuple(self._warrants),
            root=self._tree.root().hex(),
        )

    def _batches(self, progress: Progress | None) -> Iterator[list[bytes]]:
        """Yield the lines of the log; progress is reported between batches, so it costs nothing per record."""
        for batch in self._archive.lines():
            yield batch
            if progress is not None:
                progress(self._examiner.seq, self._covered)

    def _walk(self, batches: Iterator[list[bytes]]) -> None:
        """Examine all records, up to the first that breaks the chain."""
        examiner, archive = self._examiner, self._archive
        look, add, view_has = examiner.look, self._tree.add, archive.view_has
        due, covered = self._next_due(), self._covered if self._heads else NEVER
        try:
            for line in chain.from_iterable(batches):
                session_id, flat = look(line)
                add(examiner.leaf)
                # A view is written before the head, so only records that the head covers must be in it.
                if not view_has(session_id, flat) and examiner.seq <= covered:
                    self._bad_views.setdefault(session_id, examiner.seq - 1)
                if examiner.seq >= due:
                    due = self._meet(examiner.seq)
        except Fault as fault:
            self._stop(fault)
        else:
            if archive.torn():
                self._note("torn_tail", f"{archive.torn()} bytes of a record that was never finished follow")
        beyond = examiner.seq - self._covered
        if self._heads and beyond > 0:
            self._note("beyond_head", f"{beyond} whole records follow that the head does not name yet")

    def _meet(self, seq: int) -> int:
        """Compare with the heads and checkpoints of this size; return the size of the next comparison."""
        self._meet_heads_at(seq)
        self._meet_claims()
        self._meet_given()
        return self._next_due()

    def _next_due(self) -> int:
        seq = self._examiner.seq
        sizes = [head.size for head in self._heads if head.size > seq]
        given = self._given[0] if self._given else None
        sizes += [claim.size for claim in (self._next, given) if claim is not None]
        return min(sizes, default=NEVER)

    def _stop(self, fault: Fault) -> None:
        """Report a bad record: damage if the head covers it, else the unacknowledged tail of a crash."""
        seq = self._examiner.seq
        if self._heads and seq >= self._covered:
            self._note("torn_tail", f"a record that was never finished follows ({fault})")
        else:
            self._stopped = True
            self._problem(fault.code, str(fault), seq=seq, receipt_id=fault.receipt_id)

    # -- the tree ------------------------------------------------------------------------------------------------------

    def _meet_claims(self, *, end: bool = False) -> None:
        """Compare the root with the log's own checkpoints of this size; at the end, also report those beyond it."""
        seq = self._examiner.seq
        while self._next is not None and (end or self._next.size <= seq):
            claim = self._next
            self._next = next(self._own, None)
            if claim.size == seq:
                self._compare_root(claim)
            elif claim.size > seq:
                self._beyond(claim.source, claim.size)
            else:
                self._problem("checkpoint_out_of_order", f"a checkpoint of {claim.size} records comes too late")

    def _meet_given(self, *, end: bool = False) -> None:
        seq = self._examiner.seq
        while self._given and (end or self._given[0].size <= seq):
            claim = self._given.popleft()
            if claim.size == seq:
                self._compare_root(claim)
            elif claim.size > seq:
                self._beyond(claim.source, claim.size)

    def _compare_root(self, claim: Claim) -> None:
        retired = self._examiner.retired_log_keys.get(claim.vkey)
        if claim.root != self._tree.root():
            reason = f"the {claim.source} of {claim.size} records was signed for another log"
            self._problem("checkpoint_differs", reason, seq=claim.size - 1)
        elif retired is not None and claim.size > retired:
            self._problem("checkpoint_key_retired", f"the {claim.source} of {claim.size} records bears a retired key")
        else:
            self._warrant(claim.source, claim.size)

    def _beyond(self, source: str, size: int) -> None:
        seq = self._examiner.seq
        reason = f"the {source} names {size} records, the log holds {seq}: it was cut or rolled back"
        self._problem("rolled_back", reason, seq=seq)

    def _own_claims(self, keys: Keys) -> Iterator[Claim]:
        known = keys.log_verifiers()
        for note in self._archive.notes():
            claim = claim_of("checkpoint", note, known)
            if claim is None:
                self._problem("checkpoint_invalid", "a checkpoint was not signed with a key of this log")
            else:
                yield claim

    def _claims_from_outside(self, outside: Sequence[bytes]) -> Iterator[Claim]:
        mirrored = self._archive.mirrored_note()
        claim = None if mirrored is None else claim_of("mirrored checkpoint", mirrored, self._verifiers)
        if claim is not None:
            yield claim
        # A witness file may hold checkpoints of several logs; those of other logs are ignored.
        witnessed = (claim_of("witness", note, self._verifiers) for note in self._archive.witnessed())
        yield from (claim for claim in witnessed if claim is not None)
        for number, notes in enumerate(outside, 1):
            source = f"outside checkpoint {number}"
            # Check every note: if the log signed one before a rollback and one after it, only the earlier one fails.
            claims = [claim_of(source, note, self._verifiers) for note in notes_in(notes.splitlines(keepends=True))]
            if not claims or None in claims:
                self._problem("outside_invalid", f"{source} was not signed with the key of this log")
            yield from (claim for claim in claims if claim is not None)

    # -- heads ---------------------------------------------------------------------------------------------------------

    def _meet_heads_at(self, seq: int) -> None:
        for head in self._heads:
            if head.size == seq and head.leaf != self._examiner.leaf:
                reason = f"the {head.source} of {seq} records was written for another log"
                self._problem("head_differs", reason, seq=seq - 1)
            elif head.size == seq:
                self._warrant(head.source, seq)

    def _meet_heads(self) -> None:
        examiner = self._examiner
        for head in self._heads:
            if head.size > examiner.seq:
                self._beyond(head.source, head.size)
            elif examiner.seq and head.size == examiner.seq and not self._may_sign(head):
                self._problem("head_key_retired", f"the {head.source} bears the MAC of a retired key")
        for source in self._archive.missing_heads():
            say = self._problem if examiner.seq and source == "head" else self._note
            say("head_missing", f"there is no {source} that holds")

    def _may_sign(self, head: HeadClaim) -> bool:
        """Return whether the head has the active key, or the previous one if the last record is the rotation."""
        rotation = self._examiner.last_rotation
        return head.key_id in {self._examiner.key_in_force(), None if rotation is None else rotation.get("old_key")}

    # -- leftovers -----------------------------------------------------------------------------------------------------

    def _look_for_rest(self) -> None:
        examiner = self._examiner
        if examiner.erased:
            for line in self._archive.later_lines():
                examiner.ordered_later(line)
        # If the audit stopped early, the erasure record may follow in the part that was not read.
        for seq, receipt_id in () if self._stopped else examiner.erased.items():
            self._problem(
                "payload_missing", "the payload is gone, and nobody ordered it", seq=seq, receipt_id=receipt_id
            )
        self._problems[:0] = examiner.losses(self._archive.earlier())
        if self._bad_views:
            self._look_at_views_again()
        for session_id in self._archive.other_views(examiner.seq):
            self._problem("view_differs", "the session view holds what the log does not", session_id=session_id)

    def _look_at_views_again(self) -> None:
        """Check suspect views a second time, since an erasure during the audit rewrites a view."""
        suspects = self._bad_views
        self._bad_views = {}
        for session_id in suspects:
            self._archive.view_again(session_id)
        again = Examiner(self._examiner.keys, self._archive.blob)
        covered = self._covered if self._heads else NEVER
        try:
            for line in chain.from_iterable(self._archive.lines()):
                session_id, flat = again.look(line)
                if session_id in suspects and not self._archive.view_has(session_id, flat) and again.seq <= covered:
                    self._bad_views.setdefault(session_id, again.seq - 1)
        except Fault:
            pass  # reported the first time
        for session_id, seq in self._bad_views.items():
            reason = "the session view does not hold this record; `tally audit rebuild` writes it again"
            self._problem("view_differs", reason, seq=seq, session_id=session_id)

    def _problem(self, code: str, reason: str, **where: int | str | None) -> None:
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(Problem(code=code, reason=reason, **where))  # type: ignore[arg-type]

    def _note(self, code: str, reason: str) -> None:
        self._notes.append(Problem(code=code, reason=reason))

    def _warrant(self, source: str, size: int) -> None:
        """Keep only the warrant with the largest size of each kind, since their number grows with the log."""
        self._warrants = [warrant for warrant in self._warrants if warrant.by != source]
        self._warrants.append(Warrant(by=source, size=size))
