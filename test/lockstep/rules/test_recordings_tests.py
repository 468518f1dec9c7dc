"""Rules H14 and H17 of docs/semantics/recordings.md: tests that are written from a recording, and names in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.command_line.main import main
from robot_rt_control.editor.past.recorded import Recorded
from robot_rt_control.recording.reaction_names import NamedReaction, named_reactions
from robot_rt_control.recording.tick_index import TickIndex
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.recording.tick_writer import TickWriter
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.testing.recorded_session import Fired, Reacts, run_again
from robot_rt_control.testing.recorded_test import written_test
from robot_rt_control.vocabulary.errors import RobotControlError

ROOT = Path(__file__).parents[3]
WORKCELL = Path(__file__).parent / "workcell.yaml"
NEAR = "rangefinder.distance < 0.3 and not is_unknown(rangefinder.distance)"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An action that goes up and down between two distances, and a reaction of no action."""
    path = tmp_path_factory.mktemp("recorded") / "up_and_down.mcap"
    with LockstepCell(WORKCELL, record=path) as cell:
        cell.set_sensor("rangefinder/distance", 0.4)
        session = cell.session("left")
        far = Reaction("rangefinder.distance > 0.5", start="down")
        near = Reaction(NEAR, name="near", start="up", event="too_near", capture=["rangefinder.distance", "speed"])
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
    assert f"    Reacts(session='s1', action='down', number=1),  # near: {NEAR}: start up\n" in text
    far = "reaction_1: rangefinder.distance > 0.5: start down"
    assert f"Reacts(session='s1', action='up', number=1),  # {far}\n" in text
    assert "Reacts(session='s1', action='', number=1),  # reaction_1: rangefinder.distance > 0.7\n" in text
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


def shown_events(path: Path) -> list[dict[str, Any]]:
    """The firings, as the page of a recording has them."""
    it = Recorded(path)
    try:
        return [each for each in it.events()["events"] if each["kind"] == "reaction_fired"]
    finally:
        it.close()


def test_H17_firings_have_the_names_of_their_reactions_and_of_what_they_captured(recorded: Path) -> None:
    first, second, third, fourth, fifth = shown_events(recorded)
    assert [first[key] for key in ("reaction", "event", "values")] == [
        "near", "too_near", {"rangefinder.distance": 0.2, "speed": 1.0},
    ]  # fmt: skip
    assert third["values"]["rangefinder.distance"] == 0.25
    assert (second["reaction"], second["event"], second["values"]) == ("reaction_1", "", {})
    assert {fourth["event"], fifth["event"]} == {"far", ""}


def test_H17_a_recording_that_begins_later_names_what_was_defined_before(tmp_path: Path) -> None:
    path = tmp_path / "later.mcap"
    with LockstepCell(WORKCELL) as cell:
        cell.set_sensor("rangefinder/distance", 0.4)
        session = cell.session("left")
        near = Reaction(NEAR, name="near", start="up", capture=["rangefinder.distance"])
        session.add(Action("down", "probe", speed=-0.2, reactions=[near]), Action("up", "probe", speed=0.2))
        session.start("down")
        with cell.session("right") as other:
            other.add(Action("gone", "probe", reactions=[Reaction("speed < 0", name="gone", stop=True)]))
        cell.step(10)
        session.add(Action("more", "probe", speed=0.3))  # takes what has ended out of the tables
        cell.step(10)
        cell.executor.session_recorder.start(path)
        cell.step(10)
        session.add(Action("later", "probe", speed=0.1, reactions=[Reaction("speed < 0", name="never", stop=True)]))
        cell.set_sensor("rangefinder/distance", 0.1)
        cell.step(10)
        cell.executor.session_recorder.stop()
    assert [(each["reaction"], each["values"]) for each in shown_events(path)] == [
        ("near", {"rangefinder.distance": 0.1})
    ]
    index = TickIndex(TickFile(path))
    assert {each.name: each.condition for each in named_reactions(index.definitions()).values()} == {
        "near": NEAR, "never": "speed < 0",
    }  # fmt: skip
    index.close()


def test_H17_a_file_without_names_and_lines_of_a_later_version_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "older.mcap"
    monkeypatch.setattr(TickWriter, "definitions", lambda self, tick, time_ns, text: None)
    with LockstepCell(WORKCELL, record=path) as cell:
        cell.set_sensor("rangefinder/distance", 0.4)
        session = cell.session("left")
        near = Reaction(NEAR, name="near", start="up", capture=["rangefinder.distance"])
        session.add(Action("down", "probe", speed=-0.2, reactions=[near]), Action("up", "probe", speed=0.2))
        session.start("down")
        cell.step(10)
        cell.set_sensor("rangefinder/distance", 0.1)
        cell.step(10)
    (fired,) = shown_events(path)
    assert (fired["reaction"], fired["values"]) == ("", {"value 1": 0.1})
    assert "# not is_unknown(rangefinder.distance) and rangefinder.distance < 0.3: start up\n" in written_test(path, 1)
    line = NamedReaction(identity=3, name="n", owner="", event="", condition="c", starts=(), values=())
    later = line.line().replace(b'"version":1', b'"version":2')
    assert named_reactions([later.decode(), "no JSON", "[1]", line.line().decode()]) == {3: line}
