"""The keys of a workspace: a secret that signs receipts, a key pair that signs checkpoints, and retired keys.

    .control-room/audit/secret.key     active HMAC-SHA256 secret, 64 hex digits, mode 0600
    .control-room/audit/log.key        active Ed25519 key, as a C2SP signer line, mode 0600
    .control-room/audit/keys/          retired keys, for verification: KEY_ID.key and KEY_ID.vkey;
                                       during a rotation also next.key, next.log and next.json
    .control-room/audit/.gitignore     excludes all of it from Git

Keys are created on first use. If a journal exists but its key is missing, none is created: the key must be restored.
"""

import base64
import binascii
import contextlib
import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import orjson

from tallystick.errors import ConfigError
from tallystick.gate.record.checkpoint import ED25519, NoteSigner, NoteVerifier, parse_vkey
from tallystick.gate.record.signing import HmacKey, Rotation
from tallystick.storage.journal import disk

SECRET = "secret.key"  # noqa: S105 - a file name
LOG = "log.key"
_SIGNER = "PRIVATE+KEY+"
_SEED = 32
_OTHERS = 0o077


class FileKeys:
    """Keys in files; implements `gate.record.signing.Keys`."""

    def __init__(
        self,
        audit: Path,
        random: Callable[[int], bytes] = os.urandom,
        *,
        create: bool = True,
        signed: Callable[[], bool] | None = None,
    ) -> None:
        """Read the keys.

        Args:
            audit: `.control-room/audit`.
            random: Source of random bytes for new keys.
            create: Create missing keys if nothing was signed yet.
            signed: Whether anything was signed yet; if not given, whether the folder has a journal.

        Raises:
            ConfigError: A key is missing, malformed or readable by others.
        """
        self._audit = audit
        self._random = random
        self._create = create
        self._signed = signed or (lambda: _has_records(audit / "journal"))
        self._old = audit / "keys"
        if create:
            self._prepare_folder()
        self._active = _hmac_key(self._first(SECRET, lambda: new_secret(random)))
        self._signer = _signer(self._first(LOG, lambda: new_log_key(random)))
        self._ring: dict[str, HmacKey] = {}
        self._verifiers: list[NoteVerifier] = []
        self.refresh()

    def active(self) -> HmacKey:
        """Return the key that currently signs."""
        return self._active

    def find(self, key_id: str) -> HmacKey | None:
        """Return any key of this workspace, including retired ones; None if unknown."""
        return self._ring.get(key_id)

    def refresh(self) -> None:
        """Read the keys again: another process may have rotated them."""
        self._active = _hmac_key(read_key(self._audit / SECRET))
        self._signer = _signer(read_key(self._audit / LOG))
        ring = [_hmac_key(read_key(path)) for path in sorted(self._old.glob("????????????????.key"))]
        old = [parse_vkey(path.read_text()) for path in sorted(self._old.glob("*.vkey"))]
        coming = self._coming()
        if coming is not None:
            # By the log they may be active already: their signatures must not look like those of an unknown key.
            ring.append(_hmac_key(coming[0]))
            old.append(_signer(coming[1]).verifier)
        self._ring = {key.key_id: key for key in (*ring, self._active)}
        self._verifiers = [self._signer.verifier, *(key for key in old if key != self._signer.verifier)]

    def log_signer(self) -> NoteSigner:
        """Return the Ed25519 key that currently signs checkpoints."""
        return self._signer

    def log_verifiers(self) -> list[NoteVerifier]:
        """Return the public keys of all keys that ever signed checkpoints here, the active one first."""
        return self._verifiers

    def retired(self) -> list[str]:
        """Return the ids of receipt keys that no longer sign."""
        pending = self.pending_rotation()
        not_yet = None if pending is None else pending[0].new_key
        return sorted(key_id for key_id in self._ring if key_id not in {self._active.key_id, not_yet})

    def begin_rotation(self, size: int) -> Rotation:
        """Create and store new keys; nothing signs with them yet."""
        secret, log = new_secret(self._random), new_log_key(self._random)
        rotation = Rotation(
            old_key=self._active.key_id,
            new_key=_hmac_key(secret).key_id,
            old_log_key=self._signer.verifier.vkey(),
            new_log_key=_signer(log).verifier.vkey(),
        )
        disk.make_folder(self._old)
        disk.write_whole(self._old / "next.key", secret)
        disk.write_whole(self._old / "next.log", log)
        # Written last: the two keys are valid only once this file names them.
        disk.write_whole(self._old / "next.json", orjson.dumps({**rotation.as_dict(), "since": size}))
        return rotation

    def pending_rotation(self) -> tuple[Rotation, int] | None:
        """Return a rotation that is neither finished nor abandoned, and the number of records at its start."""
        data = disk.read_whole(self._old / "next.json")
        if data is None:
            return None
        fields = orjson.loads(data)
        since = fields.pop("since")
        return Rotation(**fields), since

    def finish_rotation(self) -> None:
        """Activate the new keys; safe to repeat if it was interrupted."""
        pending = self.pending_rotation()
        if pending is None:
            return
        rotation = pending[0]
        secret, log = read_key(self._audit / SECRET), read_key(self._audit / LOG)
        new_secret_, new_log = read_key(self._old / "next.key"), read_key(self._old / "next.log")
        # In memory first: by the log they are active even if the disk cannot be written now.
        old = self._signer.verifier
        self._active, self._signer = _hmac_key(new_secret_), _signer(new_log)
        self._ring[self._active.key_id] = self._active
        if old != self._signer.verifier:
            self._verifiers = [self._signer.verifier, *self._verifiers]
        if _hmac_key(secret).key_id == rotation.old_key:
            disk.write_whole(self._old / f"{rotation.old_key}.key", secret)
            disk.write_whole(self._audit / SECRET, new_secret_)
        verifier = _signer(log).verifier
        if verifier.vkey() == rotation.old_log_key:
            disk.write_whole(self._old / f"{verifier.key_id.hex()}.vkey", verifier.vkey().encode() + b"\n")
            disk.write_whole(self._audit / LOG, new_log)
        self.abandon_rotation()

    def abandon_rotation(self) -> None:
        """Delete the new keys."""
        for name in ("next.json", "next.key", "next.log"):
            with contextlib.suppress(FileNotFoundError):
                disk.unlink(self._old / name)

    def _coming(self) -> tuple[bytes, bytes] | None:
        """Return the new keys of a pending rotation."""
        if self.pending_rotation() is None:
            return None
        try:
            return read_key(self._old / "next.key"), read_key(self._old / "next.log")
        except ConfigError:
            if self.pending_rotation() is None:
                return None  # it was finished or abandoned meanwhile
            raise

    def _prepare_folder(self) -> None:
        disk.make_folder(self._audit)
        ignore = self._audit / ".gitignore"
        if not ignore.exists():
            disk.write_whole(ignore, b"*\n", durable=False)

    def _first(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Read a key, or create it if nothing was ever signed here."""
        path = self._audit / name
        # Check for records before the key: another process may create the key and sign with it meanwhile.
        signed = self._signed()
        if not path.exists() and not path.is_symlink():
            if signed:
                message = (
                    f"{name} is missing, but there is a journal that was signed with it. Bring it back from a copy."
                )
                raise ConfigError(message, code="key_missing")
            if not self._create:
                raise ConfigError(f"There is no ledger here ({name} is missing).", code="ledger_missing")
            _make_once(path, make())
        return read_key(path)


def new_secret(random: Callable[[int], bytes]) -> bytes:
    """Create an HMAC secret in its file format."""
    return random(_SEED).hex().encode() + b"\n"


def own_secret(path: Path, random: Callable[[int], bytes]) -> bytes:
    """Read a component's own secret in a separate folder; created on first use and excluded from Git.

    Raises:
        ConfigError: The file is malformed or readable by others.
    """
    disk.make_folder(path.parent)
    if not path.exists() and not path.is_symlink():
        disk.write_whole(path.with_name(".gitignore"), b"*\n", durable=False)
        _make_once(path, new_secret(random))
    try:
        return bytes.fromhex(read_key(path).decode())
    except ValueError:
        raise ConfigError(
            f"{path.name} does not hold a key. Bring it back from a copy.", code="key_malformed"
        ) from None


def new_log_key(random: Callable[[int], bytes]) -> bytes:
    """Create an Ed25519 key in its file format; its name is derived from the public key, so it is unique per log."""
    seed = random(_SEED)
    public = NoteSigner("new", seed).verifier.public
    signer = NoteSigner(f"tallystick/{sha256(public).hexdigest()[:16]}", seed)
    encoded = base64.b64encode(ED25519 + seed).decode()
    return f"{_SIGNER}{signer.verifier.name}+{signer.verifier.key_id.hex()}+{encoded}\n".encode()


def read_key(path: Path) -> bytes:
    """Read the bytes of a key file.

    Raises:
        ConfigError: The file is missing, not a regular file, accessible by others, or owned by another user.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        message = f"{path.name} cannot be read ({error.strerror}). It must be a plain file of yours."
        raise ConfigError(message, code="key_unreadable") from None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise ConfigError(f"{path.name} is not a plain file.", code="key_unreadable")
        if found.st_mode & _OTHERS:
            message = f"{path.name} can be read or written by others. Run `chmod 600` on it."
            raise ConfigError(message, code="key_world_readable")
        # Root may work in any user's workspace; other users only with their own keys.
        if os.geteuid() not in {0, found.st_uid}:
            raise ConfigError(f"{path.name} belongs to somebody else.", code="key_foreign")
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def _make_once(path: Path, data: bytes) -> None:
    """Create a key file atomically, unless another process is first."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    with contextlib.suppress(FileNotFoundError):
        disk.unlink(draft)
    fd = disk.open_file(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, disk.FILE_MODE)
    try:
        disk.write_all(fd, data)
        disk.fsync(fd)
    finally:
        os.close(fd)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # use the other process's key
    finally:
        disk.unlink(draft)
    disk.sync_folder(path.parent)


def _has_records(journal: Path) -> bool:
    return any(path.stat().st_size for path in journal.glob("*.log"))


def _hmac_key(data: bytes) -> HmacKey:
    try:
        secret = bytes.fromhex(data.decode().strip())
    except ValueError:
        secret = b""
    if len(secret) != _SEED:
        raise ConfigError("secret.key does not hold 64 hex digits. Bring it back from a copy.", code="key_malformed")
    return HmacKey(secret)


def _signer(data: bytes) -> NoteSigner:
    try:
        name, key_id, encoded = data.decode().strip().removeprefix(_SIGNER).split("+", 2)
        key = base64.b64decode(encoded, validate=True)
        signer = NoteSigner(name, key[1:])
    except (ValueError, binascii.Error):
        signer = None
    if signer is None or key[:1] != ED25519 or signer.verifier.key_id.hex() != key_id:
        raise ConfigError(
            "log.key does not hold an Ed25519 signer line. Bring it back from a copy.", code="key_malformed"
        )
    return signer
