"""The tests do not depend on how their run was started."""

import subprocess
import sys

from tests.house.sources import ROOT

CTRL_C = "tests/doors/cli/test_bad_input.py::test_ctrl_c_during_a_call_leaves_a_receipt_that_says_so"


def test_a_run_that_a_shell_started_in_the_background_can_test_ctrl_c() -> None:
    # A shell without job control lets what ends with `&` ignore Ctrl-C.
    deaf = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    command = [*deaf, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", CTRL_C]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
