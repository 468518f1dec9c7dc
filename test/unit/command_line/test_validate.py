"""Files are examined without a workcell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.bringup import bringup
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.main import main
from robot_rt_control.model.workcell import workcell
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.server import offline_catalogue

from .conftest import ARM7

PROGRAM = "start: [a]\nactions: {a: {type: hold, parts: arm}}\n"


def test_workcells_and_programs_are_told_apart(
    tmp_path: Path, shown: Callable[..., str], data: Callable[..., Any]
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(PROGRAM.replace("arm}", "arm, final: true}"))
    assert shown("validate", str(ARM7), str(file), "trace_edge") == (
        f"{ARM7}: valid workcell; 5 parts\n{file}: valid program; 1 actions\ntrace_edge: valid program; 11 actions\n"
    )
    cell, program = data("validate", str(ARM7), str(file), "--workcell", "arm7")["files"]
    assert (cell["kind"], cell["valid"], cell["errors"]) == ("workcell", True, [])
    assert (program["kind"], program["valid"], program["warnings"]) == ("program", True, [])


def test_a_workcell_is_loaded_once(shown: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Path] = []

    def load(path: str) -> workcell.Workcell:
        reads.append(Path(path))
        return load_workcell(path)

    for module in (workcell, bringup, offline_catalogue):
        monkeypatch.setattr(module, "load_workcell", load)
    assert "valid workcell" in shown("validate", str(ARM7))
    assert reads == [ARM7]


def test_every_mistake_has_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell, program, broken = tmp_path / "cell.yaml", tmp_path / "p.yaml", tmp_path / "b.yaml"
    cell.write_text(ARM7.read_text().replace("period: ", "perod: ", 1) + "extra: 1\n")
    program.write_text(PROGRAM.replace("hold", "hodl"))
    broken.write_text("a: [\n")
    files = [str(cell), str(program), str(broken), str(tmp_path / "none.yaml")]
    assert main(["validate", *files]) == ExitCode.FAILED
    err = capsys.readouterr().err
    assert "cell.yaml:" in err and "'extra'" in err and "p.yaml:2: action 'a': unknown action type" in err
    assert "b.yaml:" in err and "none.yaml" in err
    assert main(["validate", "--json", *files]) == ExitCode.FAILED
    told = json.loads(capsys.readouterr().out)["files"]
    assert [one["valid"] for one in told] == [False] * 4
    assert told[1]["errors"][0]["expected"].startswith("one of the known names; did you mean 'hold'")


def test_warnings_fail_only_if_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(PROGRAM)
    assert main(["validate", str(file)]) == ExitCode.DONE
    assert "warning: p.yaml:2: action 'a' has no exit" in capsys.readouterr().err
    assert main(["validate", str(file), "--strict"]) == ExitCode.FAILED


def test_what_a_workcell_names_is_looked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cell.yaml"
    text = "name: c\nparts: {r: {kind: rangefinder, device: d}}\ndevices: {d: {}}\n"
    file.write_text(text + "default_hardware: no.such:Plugin\n")
    assert main(["validate", str(file)]) == ExitCode.FAILED
    assert "no.such" in capsys.readouterr().err


def test_options_of_controllers_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = tmp_path / "cell.yaml"
    text = ARM7.read_text().replace("robots/", f"{ARM7.parent}/robots/")
    options = "{nonsense: 5, constraints.goal_time: 0.5}"
    kind = "joint_trajectory_controller/JointTrajectoryController"
    cell.write_text(f"{text}\ncontrollers:\n  follow: {{type: {kind}, part: arm, options: {options}}}\n")
    assert main(["validate", str(cell)]) == ExitCode.FAILED
    err = capsys.readouterr().err
    line = cell.read_text().splitlines().index("controllers:") + 2
    assert f"cell.yaml:{line}: controllers.follow" in err and "nonsense" in err and "constraints.goal_time" in err


def test_meshes_that_are_missing_are_a_warning(tmp_path: Path, data: Callable[..., Any]) -> None:
    robot = (ARM7.parent / "robots/arm7.urdf").read_text()
    mesh = '<collision><geometry><mesh filename="package://{}"/></geometry></collision></link>'
    for name in ("a.stl", "b.stl"):
        robot = robot.replace("</link>", mesh.format(name), 1)
    (tmp_path / "arm.urdf").write_text(robot)
    cell = tmp_path / "cell.yaml"
    part = "{kind: arm, device: d, urdf: arm.urdf, base_link: base, tip_link: flange}"
    cell.write_text(f"name: c\nparts: {{arm: {part}}}\ndevices: {{d: {{mock: {{}}}}}}\n")
    (found,) = data("validate", str(cell))["files"]
    (warning,) = found["warnings"]
    assert found["valid"] and warning.startswith("part 'arm': simulators refuse it without its meshes, of which 2 ")
