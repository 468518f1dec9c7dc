"""What the nodes load: those that need neither the control server nor the compiler start without them."""

import json
import subprocess
import sys

import pytest

LOADED = """
import importlib, json, sys
importlib.import_module(sys.argv[1])
print(json.dumps(list(sys.modules)))
"""


def loaded(module: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", LOADED, module], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("node", ["blueprint.node.node", "planner.node", "controllers.node", "application.node"])
def test_nodes_that_only_command_load_neither_the_server_nor_the_compiler(node: str) -> None:
    found = loaded(f"robot_rt_control.{node}")
    assert f"robot_rt_control.{node}" in found
    assert not {"numba", "llvmlite"} & found
    assert not [name for name in found if name.startswith(("robot_rt_control.server", "robot_rt_control.realtime"))]


@pytest.mark.parametrize("module", ["planner.child", "editor.main", "frames.node"])
def test_what_starts_often_or_shows_pages_does_not_even_read_workcells(module: str) -> None:
    found = loaded(f"robot_rt_control.{module}")
    assert not {"numba", "pydantic", "robot_rt_control.model.workcell.workcell"} & found


def test_the_tick_loads_nothing_that_reads_files() -> None:
    found = loaded("robot_rt_control.realtime.tick.tick")
    rooms = {name.split(".")[1] for name in found if name.startswith("robot_rt_control.")}
    assert "pydantic" not in found and not {"text", "program", "validation", "definitions", "client"} & rooms


def test_the_executor_and_drivers_read_no_programs() -> None:
    for node in ("realtime.executor.node", "hardware.driver_node"):
        assert "robot_rt_control.program" not in loaded(f"robot_rt_control.{node}")


@pytest.mark.parametrize("node", ["realtime.executor.node", "hardware.driver_node", "frames.node"])
def test_nodes_that_need_no_splines_start_without_them(node: str) -> None:
    """What comes with scipy.spatial is 165 modules, which take as long as all others of a node."""
    found = loaded(f"robot_rt_control.{node}")
    assert not {"scipy.spatial", "scipy.interpolate", "scipy.optimize", "scipy.sparse"} & found


@pytest.mark.parametrize("module", ["command_line.main", "demo.demo", "server.node.node", "testing.plan_replay"])
def test_nothing_needs_the_extra_pictures_to_start(module: str) -> None:
    assert not {"matplotlib", "PIL"} & loaded(f"robot_rt_control.{module}")


def test_the_client_alone_needs_numpy_and_nothing_else() -> None:
    ours = ("robot_rt_control", "numpy", "cmeel_pth", "ros_wheels_bootstrapper", "sitecustomize")
    others = {name.partition(".")[0] for name in loaded("robot_rt_control.client")} - sys.stdlib_module_names
    assert {name for name in others if not name.startswith("_")} <= set(ours)


@pytest.mark.parametrize("node", ["server.node.node", "realtime.executor.node", "hardware.driver_node"])
def test_what_runs_native_code_does_not_load_the_compiler(node: str) -> None:
    """It does so when the cache lacks the code."""
    found = loaded(f"robot_rt_control.{node}")
    assert f"robot_rt_control.{node}" in found
    assert not {"numba", "llvmlite", "robot_rt_control.realtime.executor.compiled_loops"} & found


def test_the_builder_loads_the_compiler() -> None:
    """What this file looks for is there to be found."""
    assert {"numba", "llvmlite"} <= loaded("robot_rt_control.server.builder.build")


def test_a_workcells_processes_are_started_before_anything_reads_programs_or_loads_the_compiler() -> None:
    found = loaded("robot_rt_control.bringup.workcell")
    assert "robot_rt_control.bringup.supervisor" in found
    assert not {"numba", "llvmlite", "rclpy", "robot_rt_control.program", "robot_rt_control.conditions"} & found
