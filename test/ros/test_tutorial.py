"""docs/tutorial.md, followed word by word beside a running workcell.

A block's first line says what is done with it: ```bash runs each line (`fails`: it must), ```text is what the command
before it prints ("…" matches anything), ```python changes a file (`change=FILE after="LINE"`, or `replace="LINE"`),
appends to one (`append=FILE`), or is run (`run`). Blocks of other languages are only shown.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from robot_rt_control.demo.demo_workcell import DemoWorkcell

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.timeout(900)  # the first time, everything is compiled

_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = ("~/robot_rt_control/run ", "mkdir ", "cp ", "sed ", "cd ", "ros2 ")
"""Beginnings of lines that make the reader's surroundings, or need ROS's own tools."""


@dataclass(frozen=True)
class Step:
    """One block."""

    language: str
    words: tuple[str, ...]
    """Behind the language: `fails`, or name=value."""
    text: str

    def value(self, name: str) -> str:
        """The value of name=value; empty: there is none."""
        return next((w.partition("=")[2] for w in self.words if w.startswith(f"{name}=")), "")


def steps(document: Path) -> list[Step]:
    """All blocks of a document."""
    return [Step(m[1], tuple(shlex.split(m[2])), m[3]) for m in _BLOCK.finditer(document.read_text())]


class Reader:
    """Follows a tutorial in a folder.

    Args:
        timeout_s: for each command.
    """

    def __init__(self, folder: Path, *, timeout_s: float) -> None:
        self.folder, self.timeout_s = folder, timeout_s
        self.output = ""
        self.commands: list[str] = []

    def follow(self, step: Step) -> None:
        """Do what a block says.

        Raises:
            AssertionError: a command did not end as the tutorial says, or a place for a change is not there.
        """
        if step.language == "bash":
            for line in step.text.splitlines():
                if not line.startswith(NOT_RUN):
                    self.run(line, fails="fails" in step.words)
        elif step.language == "text":
            expected = ".*".join(re.escape(piece) for piece in step.text.strip().split("…"))
            assert re.search(expected, self.output), f"expected {step.text!r}; printed:\n{self.output}"
        elif step.language == "python" and "run" in step.words:
            (self.folder / "tutorial_program.py").write_text(step.text)
            self.run("python tutorial_program.py")
        elif step.language == "python" and step.value("append"):
            file = self.folder / step.value("append")
            file.write_text(file.read_text() + step.text)
        elif step.language == "python" and step.value("change"):
            self._change(self.folder / step.value("change"), step)

    def _change(self, file: Path, step: Step) -> None:
        lines = file.read_text().splitlines(keepends=True)
        wanted = step.value("after") or step.value("replace")
        (place,) = [i for i, line in enumerate(lines) if line.startswith(wanted)]
        lines[place : place + 1] = [*([lines[place]] if step.value("after") else []), step.text]
        file.write_text("".join(lines))

    def run(self, command: str, *, fails: bool = False) -> None:
        """Run a command in the folder."""
        words = shlex.split(command)
        if words[0] == "python":
            words[0] = sys.executable
        done = subprocess.run(
            words,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=self.timeout_s,
            check=False,
        )
        self.output = done.stdout
        self.commands.append(command)
        assert (done.returncode != 0) == fails, f"{command}: exit code {done.returncode}\n{done.stdout}"


@pytest.mark.long
def test_the_tutorial_leads_to_a_moving_arm(workcell: DemoWorkcell, tmp_path: Path) -> None:
    folder = tmp_path / "nodding"
    folder.mkdir()
    reader = Reader(folder, timeout_s=900.0)
    for step in steps(ROOT / "docs" / "tutorial.md"):
        reader.follow(step)
    assert reader.commands.count("python run_nod.py") == 4
    assert "up to" in reader.output and "angle = 0.2 rad: Deflection." in reader.output
