"""The command lines of described processes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

from robot_rt_control.bringup.bringup import BringupOptions, ProcessDescription, processes
from robot_rt_control.bringup.process_command import NODES, command_line, ros_arguments
from robot_rt_control.vocabulary.errors import RobotControlError


def test_own_executables_are_modules_of_this_python(tmp_path: Path) -> None:
    process = ProcessDescription(
        name="executor",
        executable="realtime_executor",
        node_name="loop",
        namespace="/cell_1/",
        parameters={"clock": "lockstep", "realtime_cpu": 1, "gui": False, "real_time_factor": 0.5},
    )
    assert command_line(process, tmp_path) == [
        sys.executable,
        *("-m", "robot_rt_control.realtime.executor.node", "--ros-args", "-r", "__node:=loop", "-r", "__ns:=/cell_1"),
        *("-p", 'clock:="lockstep"', "-p", "realtime_cpu:=1", "-p", "gui:=false", "-p", "real_time_factor:=0.5"),
    ]
    assert list(tmp_path.iterdir()) == []


def test_every_process_has_a_command(tmp_path: Path) -> None:
    options = BringupOptions(workcell="iiwa", program="a.py", rviz=True)

    def find(package: str, executable: str) -> Path:
        return Path("/opt") / package / executable

    for process in processes(options, find=find):
        command = command_line(process, tmp_path, find=find)
        assert command[0] == (sys.executable if process.executable in NODES else f"/opt/{process.name}/{process.name}")


def values(arguments: list[str]) -> dict[str, object]:
    """The parameters as ROS reads them: each value is YAML."""
    found = {}
    for flag, word in zip(arguments, arguments[1:], strict=False):
        if flag == "-p":
            name, _, text = word.partition(":=")
            found[name] = yaml.safe_load(text)
        if flag == "--params-file":
            found |= yaml.safe_load(Path(word).read_text())["/**"]["ros__parameters"]
    return found


def test_texts_stay_texts_and_long_ones_go_to_a_file(tmp_path: Path) -> None:
    parameters: dict[str, bool | int | float | str | list[str]] = {
        "number": "12",
        "truth": "true",
        "quoted": 'say "ä: [#]"\n',
        "list": ["1", "2", "x y"],
        "long": "<robot/>\n" * 20_000,
    }
    process = ProcessDescription(name="p", executable="application", node_name="p", parameters=parameters)
    arguments = ros_arguments(process, tmp_path)
    assert values(arguments) == parameters
    assert max(len(word) for word in arguments) < 1000


def test_topics_are_renamed(tmp_path: Path) -> None:
    process = ProcessDescription(
        name="p", executable="application", node_name="p", namespace="cell", remappings=(("/clock", "clock"),)
    )
    words = " ".join(ros_arguments(process, tmp_path))
    assert words == "--ros-args -r __node:=p -r __ns:=/cell -r /clock:=clock"


def test_an_empty_list_is_left_out(tmp_path: Path) -> None:
    process = ProcessDescription(name="p", executable="application", node_name="p", parameters={"a": [], "b": 1})
    assert values(ros_arguments(process, tmp_path)) == {"b": 1}


def test_an_executable_that_is_not_installed_is_an_error(tmp_path: Path) -> None:
    process = ProcessDescription(name="rviz2", package="rviz2", executable="rviz2", node_name="rviz2")
    with pytest.raises(RobotControlError) as caught:
        command_line(process, tmp_path, find=lambda package, executable: None)
    assert str(caught.value) == (
        "process 'rviz2'; expected the executable 'rviz2' of the package 'rviz2'; "
        "got no such file in the folders of AMENT_PREFIX_PATH"
    )
