"""The command line of a described process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from robot_rt_control.bringup.bringup import PACKAGE, Find, ProcessDescription, find_executable
from robot_rt_control.vocabulary.errors import RobotControlError

NODES = {
    "hardware_driver": "robot_rt_control.hardware.driver_node:HardwareDriverNode",
    "external_driver": "robot_rt_control.hardware.external_driver",
    "realtime_executor": "robot_rt_control.realtime.executor.node:RealtimeExecutorNode",
    "control_server": "robot_rt_control.server.node.node:ControlServerNode",
    "controller_manager": "robot_rt_control.controllers.node:ControllerManagerNode",
    "frame_publisher": "robot_rt_control.frames.node:FramePublisherNode",
    "planner": "robot_rt_control.planner.node:PlannerNode",
    "blueprints": "robot_rt_control.blueprint.node.node:BlueprintsNode",
    "blueprint_editor": "robot_rt_control.editor.main",
    "foxglove": "robot_rt_control.editor.foxglove.main",
    "application": "robot_rt_control.application.node:ApplicationNode",
}
"""The package's own executables: the modules that run them, and their nodes. The editor and the server for
Foxglove are clients, no nodes; a foreign driver may be anything."""

_LONGEST_VALUE = 1000
"""Longer ones go to a file: people read command lines, and one argument holds at most 128 KiB."""


def ros_arguments(process: ProcessDescription, folder: Path) -> list[str]:
    """The arguments that give a node its name, namespace and parameters.

    Args:
        process: whose node it is.
        folder: for files of long parameters.
    """
    words = ["--ros-args", "-r", f"__node:={process.node_name}"]
    if process.namespace:
        words += ["-r", f"__ns:=/{process.namespace.strip('/')}"]
    for topic, name in process.remappings:
        words += ["-r", f"{topic}:={name}"]
    long = {}
    for name, value in process.parameters.items():
        if value == []:
            continue  # ROS gives an empty list no type; omitting it means the same
        text = json.dumps(value)  # JSON is also YAML: a text stays a text, whatever it looks like
        if len(text) > _LONGEST_VALUE:
            long[name] = value
        else:
            words += ["-p", f"{name}:={text}"]
    if long:
        file = folder / f"{process.name}.yaml"
        file.write_text(json.dumps({"/**": {"ros__parameters": long}}))
        words += ["--params-file", str(file)]
    return words


def command_line(process: ProcessDescription, folder: Path, *, find: Find = find_executable) -> list[str]:
    """The command to execute.

    Args:
        process: what to start.
        folder: for files of long parameters.
        find: (package, executable) → its file.

    Raises:
        RobotControlError: the executable is not installed.
    """
    if process.command:
        return list(process.command)
    if process.package == PACKAGE:
        start = [sys.executable, "-m", NODES[process.executable].partition(":")[0]]
    else:
        path = find(process.package, process.executable)
        if path is None:
            raise RobotControlError(
                f"process {process.name!r}",
                expected=f"the executable {process.executable!r} of the package {process.package!r}",
                got="no such file in the folders of AMENT_PREFIX_PATH",
            )
        start = [str(path)]
    return [*start, *process.arguments, *ros_arguments(process, folder)]
