"""The blueprint on the bench: what is tried again, chosen, repeated and interrupted, twice with the same bits."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from robot_rt_control.command_line.blueprints.main import main as command_line
from robot_rt_control.testing.lockstep_client import LockstepClient

FOLDER = Path(__file__).parents[2] / "examples" / "blueprints"


@pytest.mark.timeout(600)
@pytest.mark.long
def test_it_sorts_and_wipes(
    example: Callable[[str], ModuleType],
    colours: Callable[[Path], int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = example("20_blueprint")

    def run() -> list[dict[str, Any]]:
        with LockstepClient(module.WORKCELL) as client:
            log: list[dict[str, Any]] = module.main(client, tmp_path)
            assert not client.cell.kinds("part_faulted", "switch_dropped")
            return log

    log = run()
    ended = [(r["path"], r["result"]) for r in log if r["what"] == "ended"]
    assert ended == [
        ("rise", "done"),
        ("look_left", "missed"),
        ("look_left", "missed"),
        ("look_right", "done"),
        ("sorted", "done"),
        ("wipe/probe", "done"),
        ("wipe/over", "done"),
        ("wipe/wipe", "cancelled"),
        ("wipe/softer", "done"),
        ("wipe/told", "done"),
        ("wipe/up", "done"),
        ("wipe/over", "done"),
        ("wipe/wipe", "done"),
        ("wipe/again", "done"),
        ("wipe/over", "done"),
        ("wipe/wipe", "done"),
        ("wipe", "done"),
        ("bye", "done"),
    ]
    assert [r["path"] for r in log if r["what"] == "reaction"] == ["wipe"]
    (wiped,) = [r for r in log if r["what"] == "ended" and r["path"] == "wipe"]
    assert wiped["outputs"] == {"force": pytest.approx(15.6)}
    out = capsys.readouterr().out
    assert re.findall("said: (.*)", out) == ["The cube is in its place", "That was too hard", "The pad is clean"]
    for picture in ("scene", "way"):
        assert (tmp_path / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
        assert colours(tmp_path / f"{picture}.png") > 5, picture
    assert run() == log, "bit-identical"


def test_it_is_valid_and_can_be_rehearsed_without_a_robot(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(FOLDER / "sort_and_wipe.yaml")
    assert command_line(["check", file, str(FOLDER / "wipe_pad.yaml"), "--workcell", "bench"]) == 0
    choose = ["--choose", "look_left=missed,missed", "--choose", "look_right=missed"]
    assert command_line(["run", file, "--workcell", "bench", "--rehearse", *choose]) == 1
    assert "nothing" in capsys.readouterr().out
