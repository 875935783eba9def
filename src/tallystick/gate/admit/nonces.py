"""The nonce of a step: proof that a proposal answers this prompt and no other.

A turn holds one slot. The slot has at most one nonce, and taking it empties the slot, whether it matched or not: a
model that guesses has one guess. Nothing here reads a clock or makes randomness; both come in, so replay is exact.
"""

from collections.abc import Callable
from hashlib import blake2s
from hmac import compare_digest
from threading import Lock

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import NONCE

NONCE_BYTES = 16
"""128 bits: no one guesses it, and a model can still copy 32 hex digits without a slip."""

# One fault for all three: which of them it was is for the log, not for whoever guesses.
WRONG = Rejection(fault=NONCE, reason="nonce is not the one of this step")
USED = Rejection(fault=NONCE, reason="nonce was used before")
EXPIRED = Rejection(fault=NONCE, reason="nonce has expired with its turn")


class NonceSlot:
    """The one nonce a turn is waiting for."""

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
        """Make an empty slot.

        Args:
            session_id: With turn and agent it is mixed into each nonce, so two slots never share one, even if the
                source of randomness repeats itself.
            turn_id: See `session_id`.
            agent_id: See `session_id`.
            random: Gives so many random bytes, e.g. `os.urandom`.
            clock: The monotonic clock; a wall clock set back would give an old nonce a second life.
            expires_at: The reading of `clock` at which the turn ends.
        """
        # Lengths in front: ("ab", "c") and ("a", "bc") must not be bound alike.
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
        """The nonce to put into the prompt; None once it is burnt."""
        current = self._current
        return None if current is None else current.decode()

    def issue(self) -> str:
        """Make the nonce of the next step; one that was still open is burnt."""
        fresh = blake2s(self._random(NONCE_BYTES), digest_size=NONCE_BYTES, key=self._binding).hexdigest()
        # Keyed with the binding, so the nonce proves where it belongs without growing longer.
        with self._lock:
            self._burn()
            self._current = fresh.encode()
        return fresh

    def take(self, given: object) -> Rejection | None:
        """Burn the nonce and say whether the given one was it (None) or why not.

        Of any number of callers at once, one finds the nonce; the others find the slot empty.
        """
        # Any object may come, half surrogates too; what is no text cannot match.
        attempt = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else b""
        # Take first, compare then: between the two nobody else finds it.
        with self._lock:
            current = self._burn()
            # Spent nonces are no secret any more; only the current one is compared in constant time.
            used = attempt in self._spent and attempt != current
        if used:
            return USED
        if current is None or not compare_digest(attempt, current):
            return WRONG
        # The right nonce, too late: it is burnt all the same.
        return EXPIRED if self._clock() >= self._expires_at else None

    def burn(self) -> None:
        """Empty the slot: the message was refused before its nonce could be read, or the turn is over."""
        with self._lock:
            self._burn()

    def _burn(self) -> bytes | None:
        """Empty the slot and remember what was in it; the lock is held."""
        current, self._current = self._current, None
        if current is not None:
            self._spent.add(current)
        return current
