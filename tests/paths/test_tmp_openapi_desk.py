import pytest
from schemathesis import GenerationMode
from tests.doors.http.doorway import Doorway
from tests.paths.test_openapi import tried

@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_x(tmp_path, mode):
    door = Doorway(tmp_path / "work")
    door.post("/events", {"content": "hello there?"})
    n = tried(door, mode, 40, lambda path: path.startswith(("/events", "/v1/tri", "/v1/tick")))
    print(n)
    door.close()
