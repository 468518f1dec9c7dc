"""Each command of README.md: run, or checked as far as a test can; a command that this file does not know fails."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from robot_rt_control.application.bringup import BringupOptions, processes
from robot_rt_control.application.demo_workcell import DemoWorkcell
from robot_rt_control.application.workcell import options_of, parser

from .by_hand import ByHand

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEEN_ELSEWHERE = {
    "./run demo": "test/examples",
    "./run test": "this run",
    "./run bench": "bench/",
    "colcon build": "needs a ROS workspace",
    "cd ": "the reader's folders",
    "mkdir ": "the reader's folders",
    "git clone": "the reader's folders",
    "source ": "the reader's shell",
    "pip install .": "needs a new environment",
}
"""Beginnings of commands that are not run here, and why."""


def commands() -> list[str]:
    """Every command of the README: continued lines joined, `&&` split, remarks left out."""
    texts = [text for language, text in _BLOCK.findall(README) if language in ("", "bash", "sh")]
    lines = [line for text in texts for line in text.replace("\\\n", " ").splitlines()]
    pieces = [piece.strip() for line in lines for piece in re.sub(r"\s+# .*", "", line).split("&&")]
    return [piece for piece in pieces if re.match(r"\./run|ros2|pip|colcon|cd|git|source|mkdir|\S*/run ", piece)]


BY_HAND = [c for c in commands() if c.startswith(("ros2 service", "ros2 action", "ros2 topic"))]
OTHERS = [c for c in commands() if c not in BY_HAND]


def test_the_readme_has_commands_of_each_kind() -> None:
    assert len(BY_HAND) >= 8 and len(OTHERS) >= 8


@pytest.mark.parametrize("command", OTHERS)
def test_each_command_works(command: str) -> None:
    if any(command.startswith(known) for known in SEEN_ELSEWHERE):
        return
    words = shlex.split(command)
    if words[0].endswith("/run") and words[1] == "requirements":
        done = subprocess.run([ROOT / "run", "requirements"], check=True, capture_output=True, text=True)
        assert {"numba", "pybullet"} <= {Requirement(line).name for line in done.stdout.splitlines()}
    elif words[:2] == ["pip", "install"]:
        assert words[2:] == ["-r", "requirements.txt"]
    elif words[:2] == ["./run", "--help"]:
        done = subprocess.run([ROOT / "run", "--help"], check=True, capture_output=True, text=True)
        assert "./run COMMAND" in done.stdout
    elif words[:3] == ["./run", "shell", "workcell"]:
        assert processes(options_of(parser().parse_args(words[3:])))
    elif words[:3] == ["./run", "shell", "python"]:
        assert (ROOT / words[3]).is_file()
    elif words[:2] == ["./run", "shell"]:
        assert subprocess.run([words[2], "--help"], capture_output=True, timeout=600, check=False).returncode == 0
    elif words[:3] == ["ros2", "launch", "robot_rt_control"]:
        given = dict(word.split(":=") for word in words[4:])
        given.pop("rviz")  # a program of another package, which may be missing here
        (path,) = {given.pop("workcell").split("robot_rt_control/")[-1]}
        assert processes(BringupOptions.from_texts({"workcell": str(ROOT / path), **given}))
    else:
        pytest.fail(f"README.md: nobody has tried {command!r}; run it here, or say where it is run")


def test_the_commands_by_hand_do_what_they_say(workcell: DemoWorkcell) -> None:
    session = ""
    with ByHand(timeout_s=600.0) as person:
        for command in BY_HAND:
            typed = command.replace("session: s1", f"session: {session}") if session else command
            answer = person.run(typed)
            if command.startswith("ros2 topic"):
                continue
            assert answer.success, f"{typed}: {answer.message}"
            session = getattr(answer, "session", session)
