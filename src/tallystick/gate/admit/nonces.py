"""The nonce of a step: proof that a proposal answers this prompt and no other.

A turn has one slot with at most one nonce. Every attempt consumes the nonce, whether it matches or not, so a model can
guess only once. Clock and randomness are passed in as arguments, so that recorded turns and
tests can be reproduced exactly.
"""

from collections.abc import Callable
from hashlib import blake2s
from hmac import compare_digest
from threading import Lock

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import NONCE

NONCE_BYTES = 16
"""128 bits: infeasible to guess, and a model can still copy 32 hex digits reliably."""

# All three share one fault, and so one code; only the reason differs. `docs/protocol.md` lists the reasons word for
# word, so their wording cannot change.
WRONG = Rejection(fault=NONCE, reason="nonce is not the one of this step")  # not the nonce that this step issued
USED = Rejection(fault=NONCE, reason="nonce was used before")
EXPIRED = Rejection(fault=NONCE, reason="nonce has expired with its turn")


class NonceSlot:
    """Holds the one nonce that a turn currently accepts."""

    __slots__ = ("_binding", "_clock", "_current", "_expires_at", "_lock", "_random", "_spent")

    def __init__(
        self,
        *,
        session_id: str,
        turn_id: str,
        agent_id: str | None,
        random: Callable[[int], bytes],
        clock: Callable[[], float],
        expires_at: float,
    ) -> None:
        """Create an empty slot.

        Args:
            session_id: Mixed into each nonce together with turn and agent, so two slots never share a nonce, even if
                the source of randomness repeats itself.
            turn_id: See `session_id`.
            agent_id: See `session_id`.
            random: Returns the given number of random bytes, e.g. `os.urandom`.
            clock: A monotonic clock; setting back a wall clock would make an expired nonce valid again.
            expires_at: The reading of `clock` at which the turn ends.
        """
        # Length prefixes: ("ab", "c") and ("a", "bc") must have different bindings.
        parts = [part.encode("utf-8", "surrogatepass") for part in (session_id, turn_id, agent_id or "")]
        self._binding = blake2s(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()
        self._random = random
        self._clock = clock
        self._expires_at = expires_at
        self._lock = Lock()
        self._current: bytes | None = None
        self._spent: set[bytes] = set()

    @property
    def current(self) -> str | None:
        """The nonce to put into the prompt; None once it is consumed."""
        current = self._current
        return None if current is None else current.decode()

    def issue(self) -> str:
        """Create the nonce of the next step; an unused earlier one becomes invalid."""
        # Keyed with the binding, which ties the nonce to this slot without making it longer.
        fresh = blake2s(self._random(NONCE_BYTES), digest_size=NONCE_BYTES, key=self._binding).hexdigest()
        with self._lock:
            self._burn()
            self._current = fresh.encode()
        return fresh

    def take(self, given: object) -> Rejection | None:
        """Consume the nonce and compare the given one with it; return None on a match, else the rejection.

        Of several concurrent callers, one gets the nonce; the others find the slot empty.
        """
        # The input may be any object, including text with lone surrogates; a non-string cannot match.
        attempt = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else b""
        # Consume before comparing, so that no other caller can use the nonce in between.
        with self._lock:
            current = self._burn()
            # Used nonces are no longer secret; only the current one needs a constant-time comparison.
            used = attempt in self._spent and attempt != current
        if used:
            return USED
        if current is None or not compare_digest(attempt, current):
            return WRONG
        # A correct but expired nonce is consumed too.
        return EXPIRED if self._clock() >= self._expires_at else None

    def burn(self) -> None:
        """Empty the slot, because a message was rejected before its nonce could be read, or the turn is over."""
        with self._lock:
            self._burn()

    def _burn(self) -> bytes | None:
        """Empty the slot and remember its nonce as used; the caller must hold the lock."""
        current, self._current = self._current, None
        if current is not None:
            self._spent.add(current)
        return current
