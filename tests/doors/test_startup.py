"""The start-up token: what only a person at this machine has."""

import io
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.identity import StartupToken, person_at_terminal
from tallystick.errors import ConfigError


@pytest.fixture
def made(tmp_path: Path) -> StartupToken:
    return StartupToken.create(state_dir=tmp_path / "state", workspace=tmp_path / "novel")


@pytest.mark.promise("doors.startup-token")
def test_the_token_is_long_new_each_time_and_readable_by_its_user_alone(tmp_path: Path, made: StartupToken) -> None:
    again = StartupToken.create(state_dir=tmp_path / "state", workspace=tmp_path / "novel")
    assert len(bytes.fromhex(made.value)) * 8 >= 128
    assert made.value != again.value
    assert again.path is not None
    assert again.path.read_text().strip() == again.value
    assert stat.S_IMODE(again.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(again.path.parent.stat().st_mode) == 0o700
    assert made.value not in repr(made)


@pytest.mark.promise("doors.startup-token")
def test_the_file_is_written_where_no_link_leads_elsewhere(tmp_path: Path) -> None:
    first = StartupToken.create(state_dir=tmp_path / "state", workspace=tmp_path / "novel")
    assert first.path is not None
    bystander = tmp_path / "bystander"
    bystander.write_text("untouched")
    first.path.unlink()
    first.path.symlink_to(bystander)
    second = StartupToken.create(state_dir=tmp_path / "state", workspace=tmp_path / "novel")
    assert bystander.read_text() == "untouched"
    assert not first.path.is_symlink()
    assert first.path.read_text().strip() == second.value


@pytest.mark.promise("doors.startup-token-hidden")
def test_nothing_is_kept_where_the_file_tools_can_read(tmp_path: Path) -> None:
    workspace = tmp_path / "novel"
    for state in (workspace / "state", workspace, workspace / ".control-room" / "state"):
        made = StartupToken.create(state_dir=state, workspace=workspace)
        assert made.path is None
        assert not any(made.value in file.read_text() for file in workspace.rglob("*") if file.is_file())
    outside = StartupToken.create(state_dir=tmp_path / "state", workspace=workspace)
    assert outside.path is not None
    assert not outside.path.resolve().is_relative_to(workspace.resolve())


@pytest.mark.promise("doors.startup-token")
def test_a_state_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in the way")
    with pytest.raises(ConfigError) as error:
        StartupToken.create(state_dir=tmp_path / "state", workspace=tmp_path / "novel")
    assert error.value.code == "state_dir_unwritable"


@pytest.mark.promise("doors.person")
def test_header_scheme_and_cookie_each_show_a_person(made: StartupToken) -> None:
    value = made.value.encode()
    cookie = made.set_cookie().partition(";")[0].encode()
    assert made.is_person([(b"x-tally-token", value)])
    assert made.is_person([(b"authorization", b"Token " + value)])
    assert made.is_person([(b"cookie", b"theme=dark; " + cookie + b"; a=b")])
    assert made.is_person([(b"authorization", b"Bearer x.y.z"), (b"x-tally-token", value)])


@pytest.mark.promise("doors.person")
def test_anything_else_shows_nobody(tmp_path: Path, made: StartupToken) -> None:
    other = StartupToken.create(state_dir=tmp_path / "state", workspace=tmp_path / "another")
    value = made.value.encode()
    for headers in (
        [],
        [(b"x-tally-token", b"")],
        [(b"x-tally-token", value[:-1])],
        [(b"x-tally-token", value + b"0")],
        [(b"x-tally-token", value.upper() if value.upper() != value else value[::-1])],
        [(b"x-tally-token", b"\xff\xfe")],
        [(b"authorization", b"Bearer " + value)],
        [(b"authorization", value)],
        [(b"cookie", b"token=" + value)],
        [(b"cookie", other.cookie_name.encode() + b"=" + value)],
        [(b"x-other", value)],
    ):
        assert not made.is_person(headers), headers
    assert not made.matches(None)
    assert not made.matches("\ud800")


@pytest.mark.promise("doors.person")
@given(st.lists(st.tuples(st.sampled_from([b"x-tally-token", b"authorization", b"cookie"]), st.binary(max_size=99))))
def test_no_guess_is_a_person_and_none_crashes(headers: list[tuple[bytes, bytes]]) -> None:
    made = StartupToken(value="c" * 64, path=None, cookie_name="tally_x")
    assert not made.is_person(headers)


def test_the_cookie_goes_to_this_server_s_pages_alone(made: StartupToken) -> None:
    parts = {part.strip() for part in made.set_cookie(secure=True).split(";")}
    assert {"HttpOnly", "SameSite=Strict", "Secure", "Path=/"} <= parts


def test_closing_takes_the_file_away_but_not_a_later_server_s(tmp_path: Path, made: StartupToken) -> None:
    assert made.path is not None
    later = StartupToken.create(state_dir=tmp_path / "state", workspace=tmp_path / "novel")
    made.close()
    assert made.path.exists()
    later.close()
    assert not made.path.exists()
    later.close()


@pytest.mark.promise("doors.startup-token")
def test_the_kept_token_is_found_again_by_its_user_and_not_when_others_could_read_it(
    tmp_path: Path, made: StartupToken
) -> None:
    assert made.path is not None
    where = {"state_dir": tmp_path / "state", "workspace": tmp_path / "novel"}
    found = StartupToken.kept(**where)
    assert found is not None
    assert found.matches(made.value)
    assert StartupToken.kept(state_dir=tmp_path / "state", workspace=tmp_path / "another") is None
    made.path.chmod(0o644)
    assert StartupToken.kept(**where) is None
    made.path.unlink()
    made.path.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_text(made.value)
    assert StartupToken.kept(**where) is None


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.promise("doors.person")
def test_a_person_at_a_terminal_can_be_asked_and_answer() -> None:
    assert person_at_terminal(_Terminal(), _Terminal())
    assert not person_at_terminal(io.StringIO(), _Terminal())
    assert not person_at_terminal(_Terminal(), io.StringIO())
