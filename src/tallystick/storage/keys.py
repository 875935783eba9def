"""The keys of a workspace: one secret that signs receipts, one key pair that signs checkpoints, and the old ones.

    .control-room/audit/secret.key     HMAC-SHA256 secret in force, 64 hex digits, mode 0600
    .control-room/audit/log.key        Ed25519 key in force, as a C2SP signer line, mode 0600
    .control-room/audit/keys/          what was in force before, for checking: KEY_ID.key and KEY_ID.vkey;
                                       while keys are being rotated also next.key, next.log and next.json
    .control-room/audit/.gitignore     keeps all of it out of a repository

Keys are made on first use. Where a journal exists and its key does not, none is made: it has to be brought back.
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
    """Keys in files; satisfies `gate.record.signing.Keys`."""

    def __init__(self, audit: Path, random: Callable[[int], bytes] = os.urandom, *, create: bool = True) -> None:
        """Read the keys.

        Args:
            audit: `.control-room/audit`.
            random: Chance, for new keys.
            create: Make keys where there are none and nothing was signed yet.

        Raises:
            ConfigError: A key is missing, malformed or readable by others.
        """
        self._audit = audit
        self._random = random
        self._create = create
        self._old = audit / "keys"
        if create:
            self._prepare_folder()
        self._active = _hmac_key(self._first(SECRET, lambda: new_secret(random)))
        self._signer = _signer(self._first(LOG, lambda: new_log_key(random)))
        self._ring: dict[str, HmacKey] = {}
        self._verifiers: list[NoteVerifier] = []
        self.refresh()

    def active(self) -> HmacKey:
        """The key that signs now."""
        return self._active

    def find(self, key_id: str) -> HmacKey | None:
        """Any key of this workspace, the retired ones too."""
        return self._ring.get(key_id)

    def refresh(self) -> None:
        """Read the keys again: another process may have rotated them."""
        self._active = _hmac_key(read_key(self._audit / SECRET))
        self._signer = _signer(read_key(self._audit / LOG))
        ring = [_hmac_key(read_key(path)) for path in sorted(self._old.glob("????????????????.key"))]
        old = [parse_vkey(path.read_text()) for path in sorted(self._old.glob("*.vkey"))]
        coming = self._coming()
        if coming is not None:
            # The log may say that they are in force already: what they signed must not look like a stranger's.
            ring.append(_hmac_key(coming[0]))
            old.append(_signer(coming[1]).verifier)
        self._ring = {key.key_id: key for key in (*ring, self._active)}
        self._verifiers = [self._signer.verifier, *(key for key in old if key != self._signer.verifier)]

    def log_signer(self) -> NoteSigner:
        """The Ed25519 key that signs checkpoints now."""
        return self._signer

    def log_verifiers(self) -> list[NoteVerifier]:
        """The public halves of all keys that ever signed checkpoints here, the present one first."""
        return self._verifiers

    def retired(self) -> list[str]:
        """Ids of the receipt keys that no longer sign."""
        pending = self.pending_rotation()
        not_yet = None if pending is None else pending[0].new_key
        return sorted(key_id for key_id in self._ring if key_id not in {self._active.key_id, not_yet})

    def begin_rotation(self, size: int) -> Rotation:
        """Make new keys and keep them ready; nothing signs with them yet."""
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
        # Written last: the two keys count only when this names them.
        disk.write_whole(self._old / "next.json", orjson.dumps({**rotation.as_dict(), "since": size}))
        return rotation

    def pending_rotation(self) -> tuple[Rotation, int] | None:
        """A rotation that was begun and neither finished nor given up, and how many records there were then."""
        data = disk.read_whole(self._old / "next.json")
        if data is None:
            return None
        fields = orjson.loads(data)
        since = fields.pop("since")
        return Rotation(**fields), since

    def finish_rotation(self) -> None:
        """Put the new keys in force; safe to do again if it was cut off half-way."""
        pending = self.pending_rotation()
        if pending is None:
            return
        rotation = pending[0]
        secret, log = read_key(self._audit / SECRET), read_key(self._audit / LOG)
        new_secret_, new_log = read_key(self._old / "next.key"), read_key(self._old / "next.log")
        # In memory first: the log says that they are in force, whatever the disk can take just now.
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
        """Forget the new keys."""
        for name in ("next.json", "next.key", "next.log"):
            with contextlib.suppress(FileNotFoundError):
                disk.unlink(self._old / name)

    def _coming(self) -> tuple[bytes, bytes] | None:
        """The new keys of a rotation that is under way."""
        if self.pending_rotation() is None:
            return None
        try:
            return read_key(self._old / "next.key"), read_key(self._old / "next.log")
        except ConfigError:
            if self.pending_rotation() is None:
                return None  # it was finished or given up meanwhile
            raise

    def _prepare_folder(self) -> None:
        disk.make_folder(self._audit)
        ignore = self._audit / ".gitignore"
        if not ignore.exists():
            disk.write_whole(ignore, b"*\n", durable=False)

    def _first(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Read a key, or make it if nothing was ever signed here."""
        path = self._audit / name
        # In this order: another process may make the key and sign with it while this one looks.
        signed = _has_records(self._audit / "journal")
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
    """A fresh HMAC secret, as it stands in its file."""
    return random(_SEED).hex().encode() + b"\n"


def own_secret(path: Path, random: Callable[[int], bytes]) -> bytes:
    """A secret that some part keeps for itself, in a folder of its own; made on first use, kept out of a repository.

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
    """A fresh Ed25519 key, as it stands in its file; its name is made from it, so no two logs share one."""
    seed = random(_SEED)
    public = NoteSigner("new", seed).verifier.public
    signer = NoteSigner(f"tallystick/{sha256(public).hexdigest()[:16]}", seed)
    encoded = base64.b64encode(ED25519 + seed).decode()
    return f"{_SIGNER}{signer.verifier.name}+{signer.verifier.key_id.hex()}+{encoded}\n".encode()


def read_key(path: Path) -> bytes:
    """The bytes of a key file.

    Raises:
        ConfigError: It is not there, is not a plain file, or others can read it.
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
        # Root may work in anybody's workspace; anybody else only with keys of their own.
        if os.geteuid() not in {0, found.st_uid}:
            raise ConfigError(f"{path.name} belongs to somebody else.", code="key_foreign")
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def _make_once(path: Path, data: bytes) -> None:
    """Make a key file, whole, unless another process is first."""
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
        pass  # the other process's key is as good
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
