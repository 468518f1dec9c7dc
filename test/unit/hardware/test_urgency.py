from __future__ import annotations

import os
import subprocess
import sys

_PROGRAM = """
import os
from robot_rt_control.hardware.urgency import raise_urgency
os.setpriority(os.PRIO_PROCESS, 0, 0)
{prepare}
print(repr(raise_urgency()), os.getpriority(os.PRIO_PROCESS, 0))
"""


def _run(prepare: str) -> str:
    program = _PROGRAM.format(prepare=prepare)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def test_it_goes_before_ordinary_processes_or_says_what_to_do():
    said = _run("")
    permitted = said == "'' -10"
    assert permitted or "Allow it with 'ulimit -e 30'" in said
    assert permitted or os.geteuid() != 0


def test_where_it_is_not_permitted_it_says_so_and_goes_on():
    refuse = "def refuse(*_): raise PermissionError(1, 'Operation not permitted')\nos.setpriority = refuse"
    said = _run(refuse)
    assert "ordinary priority (Operation not permitted)" in said
    assert "'<user> - nice -10'" in said and said.endswith(" 0")
