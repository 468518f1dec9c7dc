"""Which processes a workcell needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.bringup import bringup
from robot_rt_control.bringup.bringup import (
    BringupOptions,
    ProcessDescription,
    described_workcell,
    find_executable,
    has_messages,
    processes,
    publishes_frames,
    remarks,
    view_file,
)
from robot_rt_control.bringup.process_command import NODES, command_line
from robot_rt_control.bringup.workcell import options_of, parser
from robot_rt_control.editor import installed
from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.workcell.simulators import default_simulator
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.planning.solve import engines
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError, RobotControlError

ARM = """
name: cell
default_hardware: {hardware}
parts:
  io: {{kind: io, device: one, inputs: 1, outputs: 1}}
  other: {{kind: io, device: two, inputs: 1, outputs: 1}}
devices:
  one: {{mock: {{}}, "my.module:Plugin": {{}}}}
  two: {{mock: {{}}, "my.module:Plugin": {{}}}}
"""


@pytest.fixture(autouse=True)
def without_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bringup, "has_messages", lambda package: False)


def nothing(package: str, executable: str) -> Path | None:
    return None


def everything(package: str, executable: str) -> Path | None:
    return Path("/opt/ros/lib") / package / executable


def described(find: Any = nothing, **options: Any) -> list[ProcessDescription]:
    return processes(BringupOptions(**options), find=find)


def by_name(found: list[ProcessDescription]) -> dict[str, ProcessDescription]:
    assert len({process.name for process in found}) == len(found)
    return {process.name: process for process in found}


@pytest.fixture
def two_devices(tmp_path: Path) -> Path:
    path = tmp_path / "cell.yaml"
    path.write_text(ARM.format(hardware='"my.module:Plugin"'))
    return path


def test_shared_topics_lie_in_the_namespace_if_asked_for() -> None:
    assert {process.remappings for process in described(everything, namespace="cell")} == {()}
    own = described(everything, namespace="cell", own_topics=True, rviz=True, program="a.py")
    assert len(own) == 5
    assert {process.remappings for process in own} == {
        (("/clock", "clock"), ("/diagnostics", "diagnostics"), ("/tf", "tf"), ("/tf_static", "tf_static"))
    }
    assert options_of(parser().parse_args(["--own-topics"])).own_topics


def test_mock_needs_executor_and_server_alone() -> None:
    found = described()
    assert [process.name for process in found] == ["realtime_executor", "control_server"]
    executor, server = found
    assert executor.parameters == {
        "workcell": str(find_workcell("arm7")),
        "hardware": "mock",
        "clock": "realtime",
        "realtime_cpu": -1,
        "realtime_priority": 80,
    }
    assert server.parameters == {"workcell": str(find_workcell("arm7")), "hardware": "mock"}
    assert "use_sim_time" not in executor.parameters
    assert executor.required and server.required


def test_the_driver_comes_first_and_ends_last() -> None:
    found = described(workcell="iiwa", clock="realtime", program="a.py")
    names = [process.name for process in found]
    assert names == ["hardware_driver", "realtime_executor", "control_server", "application"]
    assert found[0].parameters == {
        "workcell": str(find_workcell("iiwa")),
        "hardware": default_simulator(),
        "device": "sim",
        "gui": False,
    }
    assert found[0].consequence == "the parts of device 'sim' are faulted"


def test_several_devices_have_a_driver_each(two_devices: Path) -> None:
    found = by_name(described(workcell=two_devices, clock="realtime"))
    assert [name for name in found if name.startswith("hardware")] == ["hardware_driver_one", "hardware_driver_two"]
    assert found["hardware_driver_two"].node_name == "hardware_driver_two"
    assert found["hardware_driver_two"].parameters["device"] == "two"


def test_mock_overrides_the_workcells_hardware(two_devices: Path) -> None:
    found = by_name(described(workcell=two_devices, hardware="mock"))
    assert list(found) == ["realtime_executor", "control_server"]
    assert found["control_server"].parameters["hardware"] == "mock"


def test_I13_a_simulator_lives_in_simulated_time_and_so_do_all_nodes() -> None:
    found = by_name(described(everything, workcell="iiwa", gui=True, rviz=True, program="a.py", record="/tmp/a.mcap"))
    assert list(found) == ["realtime_executor", "control_server", "robot_state_publisher", "rviz2", "application"]
    parameters = found["realtime_executor"].parameters
    assert parameters["clock"] == "lockstep" and parameters["gui"] is True and parameters["record"] == "/tmp/a.mcap"
    assert parameters["real_time_factor"] == 1.0 and isinstance(parameters["real_time_factor"], float)
    assert all(process.parameters["use_sim_time"] is True for process in found.values())


PLUGINS = """
from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.model.workcell.simulators import default_simulator
from robot_rt_control.model.workcell.workcell import load_workcell
class Simulator(MockPlugin): simulated = True
class Device(MockPlugin): simulated = False
"""


@pytest.mark.parametrize(
    ("one", "two", "clock"),
    [
        ("Simulator", "Simulator", "lockstep"),
        ("Simulator", "Device", "realtime"),
        ("Device", "Device", "realtime"),
        ("Simulator", "mock", "lockstep"),
        ("Device", "mock", "realtime"),
        ("mock", "mock", "realtime"),
    ],
)
def test_I13_the_default_clock_is_simulated_time_if_all_devices_simulate(
    tmp_path: Path, one: str, two: str, clock: str
) -> None:
    (tmp_path / "plugins.py").write_text(PLUGINS)
    names = [name if name == "mock" else f"{tmp_path / 'plugins.py'}:{name}" for name in (one, two)]
    text = ARM.format(hardware="mock")
    for name in names:
        text = text.replace(', "my.module:Plugin": {}', "" if name == "mock" else f", '{name}': {{}}", 1)
    (tmp_path / "cell.yaml").write_text(text)
    found = by_name(described(workcell=tmp_path / "cell.yaml", hardware=f"{names[0]},two={names[1]}"))
    assert found["realtime_executor"].parameters["clock"] == clock


def test_topics_follow_any_clock() -> None:
    gluing = by_name(described(workcell="gluing"))
    assert gluing["realtime_executor"].parameters["clock"] == "lockstep"
    assert by_name(described(workcell="gluing", hardware="mock"))["realtime_executor"].parameters["clock"] == "realtime"


def test_a_plugin_that_is_not_there_is_an_error(two_devices: Path) -> None:
    with pytest.raises(HardwareError, match="hardware plugin 'my.module:Plugin': cannot import 'my'"):
        described(workcell=two_devices)


def test_as_fast_as_possible_and_step_by_step() -> None:
    for factor in (0.0, -1.0):
        found = by_name(described(workcell="iiwa", real_time_factor=factor))
        assert found["realtime_executor"].parameters["real_time_factor"] == factor


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (
            {"real_time_factor": "fast"},
            "real_time_factor; expected a number of simulated seconds per second; 0: as fast as possible, "
            "negative: by step; got 'fast'",
        ),
        ({"real_time_factor": "nan"}, "got 'nan'"),
        ({"realtime_cpu": "one"}, "realtime_cpu; expected a whole number; got 'one'"),
        ({"gui": "maybe"}, "gui; expected true or false; got 'maybe'"),
    ],
)
def test_a_bad_value_answers_with_what_is_expected(texts: dict[str, str], message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        BringupOptions.from_texts(texts)
    assert message in str(caught.value)


def test_options_from_texts() -> None:
    texts = {"workcell": "iiwa", "real_time_factor": "0.5", "gui": "true", "realtime_cpu": "1"}
    texts["program_arguments"] = "a b"
    assert BringupOptions.from_texts(texts) == BringupOptions(
        workcell="iiwa", real_time_factor=0.5, gui=True, realtime_cpu=1, program_arguments=("a", "b")
    )
    with pytest.raises(DefinitionError, match="real_time_factor; expected a number.*got 'fast'"):
        options_of(parser().parse_args(["--real-time-factor", "fast"]))


def test_the_window_is_the_drivers_on_the_wall_clock() -> None:
    found = by_name(described(workcell="iiwa", clock="realtime", gui=True))
    assert found["hardware_driver"].parameters["gui"] is True
    assert "gui" not in found["realtime_executor"].parameters


def test_a_program_may_end_everything_or_not() -> None:
    application = by_name(described(program="a.py", program_arguments=("1", "x")))["application"]
    assert application.parameters == {"program": "a.py", "program_arguments": ["1", "x"], "exit_at_end": False}
    assert not application.required
    application = by_name(described(program="a.py", exit_with_program=True))["application"]
    assert application.parameters["exit_at_end"] is True
    assert application.required


def test_all_nodes_are_in_the_namespace() -> None:
    found = described(everything, workcell="iiwa", clock="realtime", namespace="cell_1", program="a.py", rviz=True)
    assert len(found) == 6
    assert {process.namespace for process in found} == {"cell_1"}


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
def test_frames_are_published_by_whatever_is_installed(monkeypatch: pytest.MonkeyPatch, clock: str) -> None:
    def names(find: Any, **options: Any) -> list[str]:
        return [p.name for p in described(find, clock=clock, **options) if publishes_frames([p])]

    assert names(nothing) == []
    monkeypatch.setattr(bringup, "has_messages", lambda package: package == "tf2_msgs")
    assert names(everything) == ["robot_state_publisher"]
    assert names(nothing) == ["frame_publisher"]
    assert names(everything, frames=False) == names(nothing, frames=False) == []
    ours = by_name(described(nothing, clock=clock, namespace="cell"))["frame_publisher"]
    assert ours.parameters == ({"use_sim_time": True} if clock == "lockstep" else {})
    assert (ours.package, ours.namespace, ours.required) == ("robot_rt_control", "cell", False)


def test_messages_are_found_where_they_are_installed() -> None:
    assert has_messages("sensor_msgs") and not has_messages("nothing_msgs")


def test_viewers_where_they_are_installed() -> None:
    found = by_name(described(everything, rviz=True, clock="lockstep"))
    publisher, rviz = found["robot_state_publisher"], found["rviz2"]
    assert not publisher.required and not rviz.required
    assert str(publisher.parameters["robot_description"]).startswith("<?xml")
    assert rviz.arguments == ("-d", str(view_file()))
    assert publisher.parameters["use_sim_time"] is True and rviz.parameters["use_sim_time"] is True
    assert list(by_name(described(everything))) == ["realtime_executor", "control_server", "robot_state_publisher"]


def test_rviz_that_is_not_installed_is_an_error() -> None:
    with pytest.raises(DefinitionError) as caught:
        described(rviz=True)
    assert str(caught.value) == (
        "rviz; expected the package rviz2 in one of the folders of AMENT_PREFIX_PATH; got no such package. "
        "Install it (Debian, Ubuntu: apt install ros-$ROS_DISTRO-rviz2) and source the ROS installation"
    )


def test_a_window_of_the_mock_is_an_error() -> None:
    with pytest.raises(DefinitionError) as caught:
        described(gui=True)
    assert str(caught.value) == "gui; expected hardware with a window, a simulator; got hardware 'mock'"


def test_an_unknown_clock_is_an_error() -> None:
    with pytest.raises(DefinitionError) as caught:
        described(clock="sundial")
    assert str(caught.value) == "clock; expected one of: auto, realtime, lockstep, hardware; got 'sundial'"


def test_executables_are_found_in_the_ament_prefixes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "b" / "lib" / "package" / "program"
    file.parent.mkdir(parents=True)
    file.write_text("#!/bin/sh\n")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    assert find_executable("package", "program") is None  # not executable
    file.chmod(0o755)
    assert find_executable("package", "program") == file
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    assert find_executable("package", "program") is None


def test_with_the_hardware_clock_the_executor_follows_a_driver(two_devices: Path) -> None:
    with pytest.raises(DefinitionError, match="clock:=hardware; expected one device with a driver"):
        described(workcell=two_devices, clock="hardware")
    two_devices.write_text(two_devices.read_text() + "clock_device: one\n")
    found = by_name(described(workcell=two_devices, clock="hardware"))
    assert found["realtime_executor"].parameters["clock"] == "hardware"
    assert {"hardware_driver_one", "hardware_driver_two"} < set(found)


def test_nothing_hangs_on_the_driver_of_topics(two_devices: Path) -> None:
    text = two_devices.read_text().replace('two: {mock: {}, "my.module:Plugin": {}}', "two: {topic: {}}")
    two_devices.write_text(text.replace("two, inputs: 1, outputs: 1", "two, inputs: 1"))
    found = by_name(described(workcell=two_devices, clock="realtime"))
    assert found["hardware_driver_one"].required and not found["hardware_driver_two"].required
    assert found["hardware_driver_two"].consequence == "the parts of device 'two' are unknown"


def test_the_controller_manager_runs_if_its_messages_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bringup, "has_messages", lambda package: True)
    found = described(controllers="auto", frames=False, namespace="cell", program="a.py")
    names = [process.name for process in found]
    assert names == ["realtime_executor", "control_server", "controller_manager", "application"]
    assert found[2].parameters == found[1].parameters and found[2].namespace == "cell" and not found[2].required
    assert remarks(BringupOptions(), described(controllers="auto", frames=True), load_workcell("arm7")) == []
    assert options_of(parser().parse_args(["--controllers", "false"])).controllers == "false"
    assert "controller_manager" not in by_name(described(controllers="false"))


def test_the_planner_runs_if_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "planner" not in by_name(described())
    assert options_of(parser().parse_args(["--planner"])).planner
    found = by_name(described(planner=True, namespace="cell"))
    assert found["planner"].parameters == found["control_server"].parameters and found["planner"].namespace == "cell"
    assert not found["planner"].required
    monkeypatch.setattr(engines, "find_spec", lambda module: None)
    with pytest.raises(RobotControlError, match="expected MuJoCo and PIQP; got no MuJoCo and no PIQP"):
        described(planner=True)


def test_the_node_of_blueprints_runs_if_it_is_asked_for() -> None:
    assert "blueprints" not in by_name(described())
    assert options_of(parser().parse_args(["--blueprints"])).blueprints
    process = by_name(described(blueprints=True, namespace="cell"))["blueprints"]
    assert process.namespace == "cell" and not process.required and "interrupted" in process.consequence


def test_the_editor_is_a_process_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "blueprint_editor" not in by_name(described(blueprints=True))
    options = options_of(parser().parse_args(["--editor", "--editor-port", "0"]))
    assert options.editor and options.editor_port == 0
    assert BringupOptions.from_texts({"editor": "true", "editor_port": "81"}) == BringupOptions(
        editor=True, editor_port=81
    )
    process = by_name(described(editor=True, blueprints=True))["blueprint_editor"]
    file = ("--workcell", str(load_workcell(BringupOptions().workcell).path))
    assert process.arguments == ("--port", "8420", *file) and process.executable in NODES
    assert not process.required and "no run is disturbed" in process.consequence
    process = by_name(described(editor=True, editor_port=81, namespace="cell"))["blueprint_editor"]
    assert process.arguments == ("--port", "81", "--namespace", "cell", *file)
    assert options_of(parser().parse_args(["--view"])).view
    process = by_name(described(view=True))["blueprint_editor"]
    assert process.arguments == ("--port", "8420", *file, "--view"), "the same server prints the view's links alone"
    assert by_name(described(view=True, editor=True))["blueprint_editor"].arguments == ("--port", "8420", *file)
    alone = BringupOptions(editor=True, frames=False, controllers="false")
    said = "the editor without the node blueprints: it shows programs only, until one is started"
    assert remarks(alone, [], load_workcell("arm7")) == [said]
    assert remarks(replace(alone, blueprints=True), [], load_workcell("arm7")) == []
    monkeypatch.setattr(installed, "find_spec", lambda module: None)
    with pytest.raises(RobotControlError, match=r"aiohttp. pip install 'robot_rt_control\[editor\]'"):
        described(editor=True)


def test_the_server_for_foxglove_is_a_process_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda module: object())
    assert "foxglove" not in by_name(described(view=True))
    options = options_of(parser().parse_args(["--foxglove", "--foxglove-port", "0"]))
    assert options.foxglove and options.foxglove_port == 0
    process = by_name(described(foxglove=True))["foxglove"]
    assert process.arguments == ("--port", "8765") and process.executable in NODES and not process.required
    process = by_name(described(foxglove=True, foxglove_port=81, namespace="cell"))["foxglove"]
    assert process.arguments == ("--port", "81", "--namespace", "cell")
    monkeypatch.setattr(installed, "find_spec", lambda module: None)
    with pytest.raises(RobotControlError, match=r"foxglove-sdk. pip install 'robot_rt_control\[foxglove\]'"):
        described(foxglove=True)


def test_without_its_messages_it_is_left_out_or_an_error() -> None:
    assert "controller_manager" not in by_name(described(controllers="auto"))
    assert remarks(BringupOptions(), [], load_workcell("arm7")) == [
        "no TF: neither robot_state_publisher nor tf2_msgs, for frame_publisher, is installed. "
        "`./run interfaces` builds what is missing",
        "without the controller manager: no control_msgs and controller_manager_msgs. "
        "`./run interfaces` builds what is missing",
    ]
    assert remarks(BringupOptions(controllers="false", frames=False), [], load_workcell("arm7")) == []
    with pytest.raises(DefinitionError) as caught:
        described(controllers="true")
    assert str(caught.value) == (
        "controllers; expected the messages of control_msgs and controller_manager_msgs; got no such package. "
        "`./run interfaces` builds what is missing"
    )
    with pytest.raises(DefinitionError, match="^controllers; expected one of: auto, true, false; got 'yes'$"):
        described(controllers="yes")


FOREIGN = """
name: foreign
period: 0.002
parts:
  axis:
    kind: base
    device: drive
    joints: [{name: x, type: prismatic, position_lower: -1.0, position_upper: 1.0, velocity: 0.5}]
devices:
  drive: {external: {command: [my_driver]}}
default_hardware: external
"""


def test_I28_a_foreign_driver_is_started_by_its_command_or_awaited(tmp_path: Path) -> None:
    file = tmp_path / "cell.yaml"
    file.write_text(FOREIGN)
    options = BringupOptions(workcell=file, clock="hardware", namespace="cell", controllers="false", frames=False)
    found = processes(options)
    assert [process.executable for process in found] == ["external_driver", "realtime_executor", "control_server"]
    assert found[0].name == found[0].node_name == "hardware_driver_drive" and found[0].required
    assert found[0].arguments == (str(file), "drive", "--hardware", "external", "--namespace", "cell")
    assert found[0].consequence == "the parts of device 'drive' are faulted"
    command = command_line(found[0], tmp_path)
    assert command[1:5] == ["-m", "robot_rt_control.hardware.external_driver", str(file), "drive"]
    assert command[-4:] == ["-r", "__node:=hardware_driver_drive", "-r", "__ns:=/cell"]
    assert remarks(options, found, described_workcell(options)) == []
    file.write_text(FOREIGN.replace("{command: [my_driver]}", "{}"))
    found = processes(options)
    assert [process.executable for process in found] == ["realtime_executor", "control_server"]
    assert remarks(options, found, described_workcell(options)) == [
        "device 'drive': no driver is started, and the executor waits for one: hardware_driver_drive. "
        f"What it needs to know: external_driver {file} drive --namespace cell --print"
    ]
    with pytest.raises(DefinitionError, match="clock:=lockstep; expected hardware that this package runs itself"):
        processes(replace(options, clock="lockstep"))
    file.write_text(FOREIGN.replace("{command: [my_driver]}", "{pace: loop}"))
    with pytest.raises(DefinitionError, match="clock:=hardware; expected one device with a driver"):
        processes(options)
    assert processes(replace(options, clock="auto"))[0].parameters["clock"] == "realtime"
