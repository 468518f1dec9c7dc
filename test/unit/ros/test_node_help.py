"""Help of a node's executable: of each that is shipped."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from robot_rt_control.ros.lifecycle_node import NodeParameter
from robot_rt_control.ros.node_help import NodeHelp, asks_for_help

REPOSITORY = Path(__file__).resolve().parents[3]
NODES = {
    "application": "robot_rt_control.application.node",
    "blueprints": "robot_rt_control.blueprint.node.node",
    "controller_manager": "robot_rt_control.controllers.node",
    "frame_publisher": "robot_rt_control.frames.node",
    "control_server": "robot_rt_control.server.node.node",
    "hardware_driver": "robot_rt_control.hardware.driver_node",
    "planner": "robot_rt_control.planner.node",
    "realtime_executor": "robot_rt_control.realtime.executor.node",
}


def test_the_text() -> None:
    parameters = (
        NodeParameter(name="rate", default=5.0, minimum=1.0, maximum=9.0, description="[Hz] It.", changeable=True),
        NodeParameter(name="kind", default="x", choices=("x", "y"), description="A choice."),
        NodeParameter(name="words", default=(), description="Words."),
        NodeParameter(name="on", default=True, description="Whether."),
    )
    about = NodeHelp(executable="n", summary="A node.", parameters=parameters, examples=("--ros-args -p on:=false",))
    usage, _, text = about.text().partition("\n\n")
    assert usage == "usage: ros2 run robot_rt_control n [--help] [--ros-args [-p NAME:=VALUE ...] [-r FROM:=TO ...]]"
    assert text == """A node.

parameters:
  rate (float, 1..9; default 5.0)
      [Hz] It. May be set while the node runs.
  kind (x | y; default x)
      A choice.
  words (list of texts; default empty)
      Words.
  on (true or false; default true)
      Whether.

Parameters are read-only once the node runs, unless marked otherwise.

examples:
  ros2 run robot_rt_control n --ros-args -p on:=false

A whole workcell: ros2 launch robot_rt_control workcell.launch.py --show-args"""


def test_who_asks_for_help() -> None:
    assert asks_for_help(["--help"]) and asks_for_help(["--ros-args", "-p", "a:=1", "-h"])
    assert not asks_for_help(["--ros-args", "-p", "text:=--help"])


@pytest.mark.parametrize("executable", sorted(NODES))
def test_every_executable_prints_help_instead_of_running(executable: str) -> None:
    about = importlib.import_module(NODES[executable]).ABOUT
    assert about.executable == executable and about.examples and len(about.summary) > 50
    script = REPOSITORY / "scripts" / executable
    ended = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, about.text() + "\n", "")
    for parameter in about.parameters:
        assert len(parameter.description) > 10 and f"\n  {parameter.name} (" in ended.stdout


def test_only_what_takes_effect_at_once_is_changeable() -> None:
    parameters = [(n, p) for n, module in NODES.items() for p in importlib.import_module(module).ABOUT.parameters]
    changeable = [
        ("control_server", "introspection_rate"),
        ("frame_publisher", "rate"),
        ("realtime_executor", "joint_state_rate"),
    ]
    assert sorted((n, p.name) for n, p in parameters if p.changeable) == changeable
