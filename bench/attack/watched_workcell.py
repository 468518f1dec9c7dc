"""A workcell in lockstep, as processes, whose commands are watched at the hardware's border.

    python watched_workcell.py FILE python -m robot_rt_control.bringup.workcell …

executes the command after FILE, with an executor that writes how many commands have left, and the first violation, into
FILE again and again. As a module, this is that executor.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

_FILE = "ROBOT_RT_CONTROL_BORDER"
_EVERY_S = 0.2


def seen_at_border(file: Path) -> tuple[int, str]:
    """Commands that have left, and the first violation; empty: there was none."""
    commands, violation = json.loads(file.read_text())
    return int(commands), str(violation)


def _workcell(file: str, words: list[str]) -> int:
    from robot_rt_control.bringup import process_command, workcell

    os.environ[_FILE] = file
    repository = str(Path(__file__).resolve().parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join((repository, os.environ.get("PYTHONPATH", "")))
    process_command.NODES["realtime_executor"] = "bench.attack.watched_workcell:"
    return workcell.main(words[words.index("robot_rt_control.bringup.workcell") + 1 :])


def _executor() -> int:
    from bench.attack.attack import watched_border
    from robot_rt_control.realtime.executor import node

    file = Path(os.environ[_FILE])
    with watched_border() as watches:

        def write() -> None:
            while True:
                found = sum(watch.commands for watch in watches), "; ".join(w.violation for w in watches if w.violation)
                fresh = file.with_suffix(".new")
                fresh.write_text(json.dumps(found))
                fresh.replace(file)
                time.sleep(_EVERY_S)

        threading.Thread(target=write, name="border", daemon=True).start()
        return node.main()


if __name__ == "__main__":
    sys.exit(_executor() if __spec__ is not None else _workcell(sys.argv[1], sys.argv[2:]))
