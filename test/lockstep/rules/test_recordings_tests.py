"""Rule H14 of docs/semantics/recordings.md: tests that are written from a recording."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.command_line.main import main
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.testing.recorded_session import Fired, Reacts, run_again
from robot_rt_control.testing.recorded_test import written_test
from robot_rt_control.vocabulary.errors import RobotControlError

ROOT = Path(__file__).parents[3]
WORKCELL = Path(__file__).parent / "workcell.yaml"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An action that goes up and down between two distances, and a reaction of no action."""
    path = tmp_path_factory.mktemp("recorded") / "up_and_down.mcap"
    with LockstepCell(WORKCELL, record=path) as cell:
        cell.set_sensor("rangefinder/distance", 0.4)
        session = cell.session("left")
        far = Reaction("rangefinder.distance > 0.5", start="down")
        near = Reaction("rangefinder.distance < 0.3 and not is_unknown(rangefinder.distance)", start="up")
        down, up = ("down", -0.2, near), ("up", 0.2, far)
        actions = [Action(name, "probe", speed=speed, reactions=[then]) for name, speed, then in (down, up)]
        session.add(*actions, reactions=[Reaction("rangefinder.distance > 0.7", event="far")])
        session.start("down")
        for distance in (0.2, 0.6, 0.25, 0.8):
            cell.step(30)
            cell.set_sensor("rangefinder/distance", distance)
        cell.step(30)
    return path


@pytest.fixture(scope="module")
def text(recorded: Path) -> str:
    return written_test(recorded, 50)


def fired(text: str) -> list[Fired]:
    return [eval(line.strip(" ,"), {"Fired": Fired}) for line in re.findall(r"^    Fired.*$", text, re.MULTILINE)]


def run(path: Path) -> subprocess.CompletedProcess[str]:
    """pytest in a process of its own, as a user runs it."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(path)]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run(command, capture_output=True, text=True, cwd=path.parent, env=environment, check=False)


def test_H14_a_test_says_what_reacts_and_what_is_expected(text: str, recorded: Path) -> None:
    near = "not is_unknown(rangefinder.distance) and rangefinder.distance < 0.3: start up"
    assert f"    Reacts(session='s1', action='down', number=1),  # {near}\n" in text
    assert "Reacts(session='s1', action='up', number=1),  # rangefinder.distance > 0.5: start down\n" in text
    assert "Reacts(session='s1', action='', number=1),  # rangefinder.distance > 0.7\n" in text
    all_fired = fired(written_test(recorded, 1))
    assert [(each.action, each.starts) for each in all_fired] == [
        ("down", "up"), ("up", "down"), ("down", "up"), ("", ""), ("up", "down"),
    ]  # fmt: skip
    assert [each.tick - all_fired[0].tick for each in all_fired] == [0, 30, 60, 90, 90]
    later = [each for each in all_fired if each.tick + 1 >= 50]
    assert 0 < len(later) < len(all_fired)
    assert [each.tick + 50 for each in fired(text)] == [each.tick + 1 for each in later]


def test_H14_it_passes_on_its_recording_and_fails_without_a_reaction(text: str, tmp_path: Path) -> None:
    path = tmp_path / "test_up_and_down.py"
    path.write_text(text)
    passed = run(path)
    assert passed.returncode == 0 and "1 passed" in passed.stdout, passed.stdout + passed.stderr
    lines = text.splitlines(keepends=True)
    for reaction in ("action='up'", "action='down'", "action=''"):
        path.write_text("".join(line for line in lines if not (line.startswith("    Reacts") and reaction in line)))
        failed = run(path)
        assert failed.returncode == 1 and "1 failed" in failed.stdout and "assert [" in failed.stdout, failed.stdout
        assert reaction in failed.stdout, "what is missing is named"


def test_H14_what_was_taken_out_never_fires_and_the_others_do(recorded: Path) -> None:
    free = Reacts("s1", "", 1)
    found = run_again(recorded, 1, 10**6, [free])
    assert [each.action for each in found] == [""] and run_again(recorded, 1, 10**6, []) == []
    with pytest.raises(RobotControlError, match="action='nothing'"):
        run_again(recorded, 1, 10**6, [free, Reacts("s1", "nothing", 1)])


def test_H14_the_command_line_writes_it_and_overwrites_nothing(
    recorded: Path, text: str, tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "test_x.py"
    arguments = ["replay", str(recorded), "--write-test", str(path), "--from", "50"]
    assert main(arguments) == 0 and str(path) in capsys.readouterr().out
    assert path.read_text() == text
    assert main(arguments) == 1 and "File exists" in capsys.readouterr().err
    assert main([*arguments[:3], str(tmp_path / "y.py"), "--from", "60", "--to", "61"]) == 1
    said = capsys.readouterr().err
    assert "expected a reaction that fired in ticks 60 to 61; got none. Reactions fired in ticks " in said


def test_H14_what_cannot_be_run_again_is_refused(recorded: Path, tmp_path: Path) -> None:
    path = tmp_path / "late.mcap"
    with LockstepCell(WORKCELL) as cell:
        cell.step(5)
        cell.executor.session_recorder.start(path)
        cell.step(50)
    with pytest.raises(RobotControlError, match="expected the session from tick 1 on; got from tick"):
        written_test(path, 1)
    with pytest.raises(RobotControlError, match="expected ticks from 1 to "):
        written_test(recorded, 0)
    with pytest.raises(RobotControlError, match="expected ticks from 1 to "):
        written_test(recorded, 1, 10**6)
