"""Pages are open to the roles they name: a token without one is given neither the page nor a socket."""

import time
from collections.abc import Iterator

import httpx
import pytest

pytest.importorskip("nicegui", reason="left out: the page, the page extra is not there")
pytest.importorskip("playwright", reason="left out: the page, playwright is not there")

from tallystick.app.discovery import manifests
from tests.browser.serving import Served, serving
from tests.doors.tokens import SECRET, token

AUDIT, TICKETS = {"auditor", "admin"}, {"support", "auditor", "admin"}
EVERYBODY = {"viewer", "analyst", "support", "auditor", "person", "agent", "admin"}
PAGES = {
    "/": EVERYBODY, "/conference": EVERYBODY, "/conference/conf_0": EVERYBODY, "/workspace": EVERYBODY,
    "/receipts": AUDIT, "/receipts/rcpt_0": AUDIT, "/approvals": AUDIT, "/approvals/appr_0": AUDIT,
    "/issues": EVERYBODY, "/issues/1": EVERYBODY, "/runs": EVERYBODY, "/runs/run_0": EVERYBODY,
    "/insight": EVERYBODY, "/insight/1": EVERYBODY, "/insight/1/search": EVERYBODY, "/insight/1/report": EVERYBODY,
    "/insight/1/questions": EVERYBODY, "/insight/1/file": EVERYBODY, "/memory": EVERYBODY, "/memory/prop_0": EVERYBODY,
    "/desk": TICKETS, "/desk/ticket_0": TICKETS, "/telemetry": EVERYBODY, "/settings": AUDIT, "/settings/keys": AUDIT,
    "/rooms": EVERYBODY, "/rooms/file_reader": EVERYBODY,
}  # fmt: skip


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    workspace = tmp_path_factory.mktemp("guarded")
    (workspace / "tallystick.toml").write_text(f'[auth]\nenabled = true\njwt_secret = "{SECRET}"\n')
    with serving(workspace, TALLY_ROOMS=",".join(manifests())) as server:
        yield server


def bearer(*roles: str) -> dict[str, str]:
    claims = {"sub": "mallory", "exp": int(time.time()) + 86_400, "roles": list(roles)}
    return {"authorization": f"Bearer {token(claims)}"}


@pytest.mark.promise("doors.deny-by-default", "page.roles")
def test_a_page_is_given_to_its_roles_and_to_nobody_else(guarded: Served) -> None:
    with httpx.Client(base_url=guarded.base, timeout=60) as client:
        for path, open_to in PAGES.items():
            for role in ("none", "owner", "Admin", *sorted(EVERYBODY)):
                answer = client.get(path, headers=bearer(*([] if role == "none" else [role])))
                assert answer.status_code == (200 if role in open_to else 403), (path, role)
                if role not in open_to:
                    assert "This page is not open to you" in answer.text
                    assert "client_id" not in answer.text
        assert client.get("/workspace").status_code == 303
