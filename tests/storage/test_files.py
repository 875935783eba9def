"""The files of a workspace. Tests that begin with E and a number are cases of the abuse list."""

import errno
import os
import socket
import stat
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.storage import openat
from tallystick.storage.file_cache import FileCache
from tallystick.storage.files import FileSources
from tallystick.storage.paths import matches
from tests.sizes import size

SECRET = "root:x:0:0: never to be read"
KNOWN = {"Story/a.md", "Story/Scenes/SCN-01.md", "Notes/é.md", "Canon.md"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for path in ("Story/Scenes", "Notes", ".control-room/canon", ".control-room/audit", ".git"):
        (root / path).mkdir(parents=True)
    (root / "Story/a.md").write_text("one\ntwo\n", encoding="utf-8")
    (root / "Story/Scenes/SCN-01.md").write_text("rain\n", encoding="utf-8")
    (root / "Notes" / unicodedata.normalize("NFC", "é.md")).write_text("accent\n", encoding="utf-8")
    (root / ".control-room/canon/canon-index.md").write_text("canon\n", encoding="utf-8")
    (root / ".control-room/audit/secret.key").write_text(SECRET, encoding="utf-8")
    (root / ".git/config").write_text(SECRET, encoding="utf-8")
    (root / "tallystick.toml").write_text(SECRET, encoding="utf-8")
    (tmp_path / "project-evil").mkdir()
    (tmp_path / "project-evil/s.txt").write_text(SECRET, encoding="utf-8")
    (tmp_path / "outside.md").write_text(SECRET, encoding="utf-8")
    return root


@pytest.fixture
def files(root: Path) -> FileSources:
    return FileSources(root)


def refusal(files: FileSources, path: str) -> str:
    """The code a path is refused with; every way in agrees on it."""
    with pytest.raises(PathRefused) as refused:
        files.read_bytes(path)
    if refused.value.code == "not_found":
        assert files.read(path) is None
    else:
        with pytest.raises(PathRefused) as again:
            files.read(path)
        assert again.value.code == refused.value.code
    return refused.value.code


def reads(files: FileSources, path: str) -> str | None:
    """What a path leads to: the name of a file of the workspace, or nothing."""
    try:
        source = files.read(path)
    except PathRefused:
        source = None
    try:
        data = files.read_bytes(path)
    except PathRefused:
        data = None
    assert (source is None) == (data is None)
    if source is None or data is None:
        return None
    assert SECRET not in source.text
    assert SECRET.encode() not in data.data
    assert source.path == data.path
    return source.path


@pytest.mark.promise("reply.files-stay-inside")
@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd", "/etc/passwd", "~/.ssh/id_rsa", "C:\\Windows\\win.ini", "C:/Windows/win.ini", "..", "Story/..",
        "Story/../Story/a.md", "..\\outside.md", "Story\\..\\..\\outside.md", "\\\\host\\share", "~root/x", "./../outside.md",
    ],
)  # fmt: skip
def test_E01_paths_that_lead_outside_are_refused(files: FileSources, path: str) -> None:
    assert refusal(files, path) == "path_outside"


def payloads(data: Path) -> Iterator[str]:
    lists = [*(data / "seclists" / "dev" / "Fuzzing" / "LFI").rglob("*.txt")]
    lists += (data / "payloads-all-the-things" / "dev").glob("File Inclusion/Intruders/*.txt")
    lists += (data / "payloads-all-the-things" / "dev").glob("Directory Traversal/Intruder/*.txt")
    for path in sorted(lists):
        yield from path.read_bytes().decode("utf-8", errors="surrogateescape").splitlines()


OWN_PAYLOADS = [
    "../" * 9 + "etc/passwd", "..%2f" * 6 + "etc%2fpasswd", "..%252f" * 6 + "etc%252fpasswd", "....//....//etc/passwd",
    "..;/..;/etc/passwd", "/proc/self/environ", "php://filter/resource=/etc/passwd", "file:///etc/passwd",
    "/etc/passwd%00", "../outside.md", "%2e%2e/outside.md", "..%c0%af..%c0%afetc/passwd", "Story/../../outside.md",
    "．．／outside.md", "../project-evil/s.txt", ".control-room/audit/secret.key", ".git/config", "tallystick.toml",
]  # fmt: skip


@pytest.mark.promise("reply.files-stay-inside", "reply.files-nothing-decoded")
def test_E02_no_payload_of_the_lists_reads_outside(files: FileSources, data: Path) -> None:
    tried = 0
    for raw in [*OWN_PAYLOADS, *payloads(data)]:
        for payload in dict.fromkeys([raw, unquote(raw), unquote(unquote(raw))]):
            tried += 1
            assert reads(files, payload) is None, payload
    assert tried >= len(OWN_PAYLOADS)


@pytest.mark.promise("reply.files-nothing-decoded")
def test_E03_encoded_dots_are_taken_literally(files: FileSources, root: Path) -> None:
    assert refusal(files, "%2e%2e%2foutside.md") == "not_found"
    assert refusal(files, "%252e%252e%252foutside.md") == "not_found"
    (root / "%2e%2e").mkdir()
    (root / "%2e%2e/x.md").write_text("a plain file", encoding="utf-8")
    assert reads(files, "%2e%2e/x.md") == "%2e%2e/x.md"


@pytest.mark.parametrize(
    "path", ["Story/a.md\0.png", "\0", "Story/a.md\n", "Story/\x1b[31m.md", "", "Story/\ud800.md", "a\\b.md"]
)
def test_E04_a_path_with_nul_or_control_characters_is_refused(files: FileSources, path: str) -> None:
    assert refusal(files, path) == "bad_path"


def test_E05_a_sibling_with_the_same_prefix_is_outside(files: FileSources) -> None:
    assert refusal(files, "../project-evil/s.txt") == "path_outside"


@pytest.mark.promise("reply.files-no-links")
def test_E06_links_are_not_followed(files: FileSources, root: Path, tmp_path: Path) -> None:
    (root / "Story/link.md").symlink_to(tmp_path / "outside.md")
    (root / "Story/inner.md").symlink_to(root / "Story/a.md")
    (root / "Linked").symlink_to(tmp_path)
    (root / "Story/Sub").symlink_to(root / "Story/Scenes")
    for path in (
        "Story/link.md",
        "Story/inner.md",
        "Linked/outside.md",
        "Linked/project-evil/s.txt",
        "Story/Sub/SCN-01.md",
    ):
        assert refusal(files, path) == "path_outside"
    assert set(files.paths()) == KNOWN
    with pytest.raises(PathRefused):
        files.write("Linked/new.md", b"x")
    with pytest.raises(PathRefused):
        files.write("Story/link.md", b"x")
    assert (tmp_path / "outside.md").read_text(encoding="utf-8") == SECRET


@pytest.mark.promise("reply.files-no-links")
def test_a_link_put_in_place_meanwhile_is_never_followed(files: FileSources, root: Path, tmp_path: Path) -> None:
    """One thread swaps a folder for a link to a folder outside and back, while another reads through it."""
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil/a.md").write_text(SECRET, encoding="utf-8")
    (root / "link").symlink_to(tmp_path / "evil")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "Story").rename(root / "aside")
            (root / "link").rename(root / "Story")
            (root / "Story").rename(root / "link")
            (root / "aside").rename(root / "Story")

    thread = threading.Thread(target=swap)
    thread.start()
    seen = Counter(reads_raced(files, "Story/a.md") for _ in range(size(3_000, 50_000)))
    stop.set()
    thread.join()
    assert set(seen) <= {"one\ntwo\n", "refused", "missing"}
    assert seen["one\ntwo\n"] > 0


def reads_raced(files: FileSources, path: str) -> str:
    try:
        source = files.read(path)
    except PathRefused:
        return "refused"
    return "missing" if source is None else source.text


@pytest.mark.promise("reply.files-plain-files")
def test_E08_what_is_no_plain_file_is_refused(files: FileSources, root: Path) -> None:
    os.mkfifo(root / "Story/pipe")
    listening = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    try:
        os.chdir(root)
        listening.bind("sock")
        for path in ("/proc/self/environ", "/dev/zero", "/proc", "Story", "Story/", "Story/pipe", "sock", "."):
            assert refusal(files, path) == "not_a_file"
    finally:
        os.chdir(here)
        listening.close()


def test_E10_strange_file_names_work_or_are_refused(files: FileSources, root: Path) -> None:
    for name in ('say "no".md', "🌊👩‍👩‍👧.md", "a;b.md", "é" * 126 + ".md"):
        (root / name).write_text("x", encoding="utf-8")
        assert reads(files, name) == unicodedata.normalize("NFC", name)
    assert refusal(files, "line\nbreak.md") == "bad_path"
    assert refusal(files, "x" * 256) == "bad_path"
    assert refusal(files, "CON.md") == "bad_path"
    assert refusal(files, "/".join("x" * 65)) == "bad_path"
    (root / "line\nbreak.md").write_text("x", encoding="utf-8")
    assert all("\n" not in path for path in files.paths())


@pytest.mark.promise("reply.files-one-name")
def test_E11_one_file_has_one_name_however_its_accents_are_typed(files: FileSources, root: Path) -> None:
    nfc, nfd = (unicodedata.normalize(form, "Notes/é.md") for form in ("NFC", "NFD"))
    assert reads(files, nfc) == reads(files, nfd) == nfc
    (root / "Notes" / unicodedata.normalize("NFD", "ü.md")).write_text("decomposed", encoding="utf-8")
    assert reads(files, "Notes/ü.md") == reads(files, "Notes/u\u0308.md") == "Notes/ü.md"
    (root / "Notes" / unicodedata.normalize("NFD", "é.md")).write_text("the other", encoding="utf-8")
    found = files.read(nfd)
    assert found is not None
    assert found.text == "accent\n"
    assert files.paths("Notes/*") == sorted([nfc, "Notes/ü.md"])
    files.write("Notes/u\u0308.md", b"new")
    assert files.read_bytes("Notes/ü.md").data == b"new"
    assert len(list((root / "Notes").iterdir())) == 3


@pytest.mark.promise("reply.files-budget")
def test_E12_a_file_larger_than_the_budget_is_cut_and_says_so(files: FileSources, root: Path) -> None:
    (root / "big.txt").write_bytes(b"x" * 10_000)
    cut = files.read_bytes("big.txt", limit=100)
    assert (len(cut.data), cut.size, cut.truncated) == (100, 10_000, True)
    assert cut.sha256 == sha256(b"x" * 10_000).hexdigest()
    whole = files.read_bytes("big.txt")
    assert (whole.truncated, len(whole.data)) == (False, 10_000)
    small = FileSources(root, max_bytes=5_000)
    huge = small.read_bytes("big.txt")
    assert (len(huge.data), huge.size, huge.truncated, huge.sha256) == (5_000, 10_000, True, None)
    with pytest.raises(PathRefused) as refused:
        small.read("big.txt")
    assert refused.value.code == "too_large"


@pytest.mark.promise("reply.files-protected")
@pytest.mark.parametrize(
    "path",
    [
        ".git/config", ".git/hooks/pre-commit", ".control-room/audit/secret.key", ".control-room/x", "Story/.git/config",
        ".GIT/config", ".Control-Room/audit/secret.key", "tallystick.toml", ".git /config", "Canon.md", "Story/Compendium/Canon.md",
    ],
)  # fmt: skip
def test_E13_the_gates_own_places_cannot_be_written(files: FileSources, root: Path, path: str) -> None:
    with pytest.raises(PathRefused) as refused:
        files.write(path, b"mine now")
    assert refused.value.code == "path_protected"
    assert (root / ".git/config").read_text(encoding="utf-8") == SECRET
    if "Canon" not in path:
        assert refusal(files, path) == "path_protected"


@pytest.mark.promise("reply.files-canon")
def test_the_canon_is_served_from_the_control_room_under_one_name(files: FileSources) -> None:
    assert reads(files, "Canon.md") == reads(files, "Story/Compendium/Canon.md") == "Canon.md"
    assert files.expand("Story/Compendium/Canon.md") == ["Canon.md"]
    assert "Canon.md" in files.paths()
    assert not any(path.startswith(".control-room") for path in files.paths())


def test_files_are_listed_by_glob_in_order(files: FileSources) -> None:
    assert set(files.paths()) == KNOWN
    assert files.paths("Story/*.md") == ["Story/a.md"]
    assert files.paths("Story/**") == ["Story/Scenes/SCN-01.md", "Story/a.md"]
    assert files.paths("**/SCN-0?.md") == ["Story/Scenes/SCN-01.md"]
    assert files.expand("Story") == ["Story/Scenes/SCN-01.md", "Story/a.md"]
    assert files.expand("Story/a.md") == ["Story/a.md"]
    assert files.expand("Nothing") == []
    with pytest.raises(PathRefused):
        files.paths("../*")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("**", "a/b/c", True), ("*", "a", True), ("*", "a/b", False), ("a/**/c", "a/c", True), ("a/**/c", "a/x/y/c", True),
        ("a*b*c", "axxbyyc", True), ("a*b*c", "axxbyy", False), ("*a*a*a*", "aa", False), ("?", "é", True), ("??", "a", False),
        ("*.md", ".md", False), (".*", ".md", True), ("a?*", "a", False), ("*?", "a", True), ("x*", "", False),
    ],
)  # fmt: skip
def test_globs_fit_as_people_expect(pattern: str, path: str, *, fits: bool) -> None:
    assert matches(tuple(pattern.split("/")), tuple(path.split("/"))) is fits


def test_no_glob_is_slow() -> None:
    assert not matches(("*a" * 100 + "b",), ("a" * 200,))
    assert not matches(("**",) * 60 + ("b",), ("a",) * 60)


@pytest.mark.promise("reply.files-atomic-write")
def test_a_write_replaces_the_file_in_one_step(files: FileSources, root: Path) -> None:
    (root / "Story/a.md").chmod(0o640)
    digest = files.write("Story/a.md", b"three\n")
    assert digest == sha256(b"three\n").hexdigest()
    assert (root / "Story/a.md").read_bytes() == b"three\n"
    assert stat.S_IMODE((root / "Story/a.md").stat().st_mode) == 0o640
    files.write("New/Folder/b.md", b"made")
    assert reads(files, "New/Folder/b.md") == "New/Folder/b.md"
    assert list((root / "Story").glob(".tally*")) == []
    with pytest.raises(PathRefused) as refused:
        files.write("Story/Scenes", b"x")
    assert refused.value.code == "not_a_file"


@pytest.mark.promise("reply.files-atomic-write")
def test_a_write_against_a_file_that_changed_is_refused(files: FileSources) -> None:
    base = files.read_bytes("Story/a.md").sha256
    files.write("Story/a.md", b"theirs", base_sha256=base)
    with pytest.raises(PathRefused) as refused:
        files.write("Story/a.md", b"mine", base_sha256=base)
    assert refused.value.code == "changed_meanwhile"
    with pytest.raises(PathRefused):
        files.write("Story/a.md", b"mine", base_sha256="")
    files.write("Story/fresh.md", b"first", base_sha256="")
    assert files.read_bytes("Story/a.md").data == b"theirs"


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "fchmod"])
def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(
    files: FileSources, root: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(openat.os, call, full)
        with pytest.raises(PathRefused) as refused:
            files.write("Story/a.md", b"half")
    assert refused.value.code == "file_unusable"
    assert files.read_bytes("Story/a.md").data == b"one\ntwo\n"
    assert sorted(path.name for path in (root / "Story").iterdir()) == ["Scenes", "a.md"]


@pytest.mark.promise("reply.files-no-links", "reply.files-plain-files")
def test_what_is_exchanged_after_it_was_looked_at_is_still_refused(
    files: FileSources, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look is taken away, as if the entry had been a plain file when it happened."""
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    os.mkfifo(root / "pipe.md")
    monkeypatch.setattr(openat, "check_plain", lambda *_: None)
    assert refusal(files, "link.md") == "path_outside"
    assert refusal(files, "pipe.md") == "not_a_file"
    assert refusal(files, "Story") == "not_a_file"
    assert refusal(files, "gone.md") == "not_found"


def test_a_file_in_the_place_of_a_folder_is_no_folder(files: FileSources) -> None:
    assert refusal(files, "Story/a.md/b.md") == "not_found"
    with pytest.raises(PathRefused):
        files.write("Story/a.md/b.md", b"x")


def test_the_least_recently_used_files_fall_out_of_the_cache() -> None:
    cache = FileCache(max_chars=10)
    signature = (1, 2, 3, 4, 5)
    sources = {name: Source(path=name, text="x" * 5, sha256=name) for name in "abc"}
    for name, source in sources.items():
        cache.put(name, signature, source)
        cache.get("a", signature)
    assert cache.get("a", signature) is sources["a"]
    assert cache.get("b", signature) is None
    assert cache.get("c", signature) is sources["c"]
    assert cache.get("c", (0, 0, 0, 0, 0)) is None


@pytest.mark.promise("reply.files-current")
def test_an_unchanged_file_is_not_read_again_and_a_changed_one_is(root: Path) -> None:
    path = root / "Story/a.md"
    long_ago = path.stat().st_mtime_ns
    files = FileSources(root, clock_ns=lambda: long_ago + 10**12)
    first = files.read("Story/a.md")
    assert files.read("Story/a.md") is first
    path.write_text("one\nTWO\n", encoding="utf-8")
    os.utime(path, ns=(long_ago, long_ago))
    changed = files.read("Story/a.md")
    assert changed is not None
    assert changed.text == "one\nTWO\n"


@pytest.mark.promise("reply.files-current")
def test_a_file_changed_just_now_is_not_trusted_to_show_its_next_change(root: Path) -> None:
    path = root / "Story/a.md"
    just_now = path.stat().st_mtime_ns
    files = FileSources(root, clock_ns=lambda: just_now + 1_000)
    first = files.read("Story/a.md")
    again = files.read("Story/a.md")
    assert first is not again
    assert first == again


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("café".encode(), "café"),
        (b"\xef\xbb\xbfcaf\xc3\xa9", "café"),
        ("café — “x”".encode("cp1252"), "café — “x”"),
        ("café".encode("latin-1") + b"\x81", "café\x81"),
        ("café".encode("utf-16"), "café"),
        (b"", ""),
    ],
)
def test_texts_of_common_encodings_are_read(files: FileSources, root: Path, data: bytes, text: str) -> None:
    (root / "x.txt").write_bytes(data)
    found = files.read("x.txt")
    assert found is not None
    assert found.text == text
    assert found.sha256 == sha256(data).hexdigest()


def test_a_file_that_holds_no_text_cannot_be_cited(files: FileSources, root: Path) -> None:
    (root / "x.bin").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(PathRefused) as refused:
        files.read("x.bin")
    assert refused.value.code == "not_text"


def test_the_outline_is_found_by_its_usual_name_or_any_other(files: FileSources, root: Path) -> None:
    assert files.outline() is None
    (root / "Notes/My Outline.md").write_text("# x", encoding="utf-8")
    found = files.outline()
    assert found is not None
    assert found.path == "Notes/My Outline.md"
    (root / "Story/SCN-outline.md").write_text("# y", encoding="utf-8")
    assert (files.outline() or found).path == "Story/SCN-outline.md"


strange = st.text(max_size=30) | st.lists(
    st.sampled_from(["..", ".", "/", "\\", "~", "C:", "\0", "Story", "a.md", ".git", "%2e", "//", " ", "link", "*"]),
    max_size=8,
).map("".join)


@settings(max_examples=size(400, 10_000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=strange)
@pytest.mark.promise("reply.files-stay-inside")
def test_any_path_names_a_file_of_the_workspace_or_nothing(
    files: FileSources, root: Path, tmp_path: Path, path: str
) -> None:
    link = root / "link"
    if not link.is_symlink():
        link.symlink_to(tmp_path)
    assert reads(files, path) in {*KNOWN, None}
    with suppress(PathRefused):
        assert set(files.expand(path)) <= KNOWN
