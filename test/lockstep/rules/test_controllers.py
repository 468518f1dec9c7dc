"""The rules of controllers (docs/semantics/controllers.md)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_controllers import Bench, broken

from robot_rt_control.controllers.hardware import Hardware, HardwareState
from robot_rt_control.controllers.manager import Strictness
from robot_rt_control.model.workcell.controllers import BROADCASTER, PARALLEL_GRIPPER, TRAJECTORY
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.vocabulary.errors import RobotControlError

BEST_EFFORT, STRICT, AUTO, FORCE_AUTO = Strictness
CONFIG = Path(__file__).parents[3] / "config"


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    made.calls()
    yield made
    made.manager.close(print)


def refusal(function: Callable[..., object], *arguments: Any, **named: Any) -> str:
    with pytest.raises(RobotControlError) as caught:
        function(*arguments, **named)
    return str(caught.value)


def test_Q1_a_controller_goes_through_its_states() -> None:
    bench = Bench(loaded=False)
    manager = bench.manager
    manager.load("a")
    assert bench.states == {"a": "unconfigured"}
    manager.configure("a")
    assert bench.states == {"a": "inactive"}
    assert manager.switch(["a"], []) == "activated: a"
    assert bench.states == {"a": "active"} and manager.claims() == {"j1/position": "a"}
    assert manager.switch([], ["a"]) == "deactivated: a" and manager.claims() == {}
    manager.configure("a")  # anew
    manager.cleanup("a")
    manager.unload("a")
    assert bench.states == {}
    assert bench.calls() == [
        *("a.configure", "a.activate", "a.deactivate", "a.cleanup", "a.configure", "a.cleanup"),
    ]
    assert [change.get("a") for change in bench.changes] == [
        *("unconfigured", "inactive", "active", "inactive", "unconfigured", "inactive", "unconfigured", None),
    ]
    manager.close(print)


def test_Q1_a_request_in_the_wrong_state_is_refused(bench: Bench) -> None:
    manager = bench.manager
    manager.switch(["a"], [])
    manager.cleanup("c")
    states = bench.states
    wrong = "controller 'a' cannot {}; expected state {}; got active. Deactivate it first"
    assert refusal(manager.configure, "a") == wrong.format("be configured", "unconfigured or inactive")
    assert refusal(manager.cleanup, "a") == wrong.format("be cleaned up", "inactive")
    assert refusal(manager.unload, "a") == wrong.format("be unloaded", "inactive")
    assert refusal(manager.load, "a") == "controller 'a' is already loaded"
    assert refusal(manager.switch, ["c"], []) == (
        "controller 'c' cannot be activated; expected state inactive; got unconfigured. Configure it first"
    )
    assert refusal(manager.switch, ["a"], []) == (
        "controller 'a' cannot be activated; expected state inactive; got active"
    )
    assert refusal(manager.switch, [], ["b"]) == (
        "controller 'b' cannot be deactivated; expected state active; got inactive"
    )
    manager.unload("c")
    assert refusal(manager.configure, "c") == (
        "controller 'c' is not loaded; expected one of: a, b, states. Load it first: ros2 control load_controller c"
    )
    assert refusal(manager.load, "d") == (
        "controller 'd'; expected one of: a, b, c, states. "
        "The section `controllers` of the workcell file describes them"
    )
    del states["c"]
    assert bench.states == states


@pytest.mark.parametrize("strictness", [STRICT, BEST_EFFORT, AUTO])
def test_Q2_two_active_controllers_never_command_the_same_interface(bench: Bench, strictness: Strictness) -> None:
    manager = bench.manager
    taken = "controller 'b' cannot be activated; expected interface 'j1/position' to be free; got controller 'a'"
    manager.switch(["a"], [], strictness)
    assert refusal(manager.switch, ["b"], [], strictness).startswith(taken)
    assert bench.active == "a"
    manager.switch(["b"], ["a"], strictness)  # in one switch
    assert bench.active == "b"
    manager.switch([], ["b"])
    assert ("got controller 'a'" in refusal(manager.switch, ["a", "b"], [])) and bench.active == ""


def test_Q2_also_not_if_the_other_one_cannot_be_deactivated(bench: Bench) -> None:
    bench.manager.switch(["a"], [])
    bench.made["a"].fails["deactivate"] = broken()
    message = refusal(bench.manager.switch, ["b"], ["a"], BEST_EFFORT)
    assert message.startswith("controller 'a': deactivate failed: the sky fell\ncontroller 'b' cannot be activated")
    assert bench.active == "a"


def test_Q3_STRICT_is_all_or_nothing(bench: Bench) -> None:
    manager = bench.manager
    manager.switch(["a"], [])
    bench.calls()
    message = refusal(manager.switch, ["c", "d"], ["a", "e"], STRICT)
    assert [line.split(";")[0] for line in message.splitlines()] == [
        *("controller 'e' is not loaded", "controller 'd' is not loaded"),
    ]
    assert bench.active == "a" and bench.calls() == []


def test_Q3_what_was_switched_is_switched_back(bench: Bench) -> None:
    manager = bench.manager
    manager.switch(["a"], [])
    bench.calls()
    bench.made["b"].fails["activate"] = broken()
    assert refusal(manager.switch, ["c", "b"], ["a"], STRICT) == "controller 'b': activate failed: the sky fell"
    assert bench.active == "a"
    assert bench.calls() == ["a.deactivate", "a.activate", "b.activate", "c.activate", "c.deactivate"]


@pytest.mark.parametrize("strictness", [BEST_EFFORT, AUTO])
def test_Q4_BEST_EFFORT_switches_what_it_can(bench: Bench, strictness: Strictness) -> None:
    manager = bench.manager
    manager.switch(["a"], [])
    left = manager.switch(["a", "c", "d"], [], strictness)
    assert left.startswith("activated: c; left out: controller 'd' is not loaded; expected one of: a, b, c, states")
    assert manager.switch(["a"], [], strictness) == "nothing had to be switched"
    assert manager.switch([], ["b"], strictness) == "nothing had to be switched"
    assert "controller 'd' is not loaded" in refusal(manager.switch, ["d"], ["a"], strictness)
    assert bench.active == "a c"
    bench.made["b"].fails["activate"] = broken()
    assert manager.switch(["b"], ["a", "c"], strictness) == (
        "deactivated: a, c; left out: controller 'b': activate failed: the sky fell"
    )
    assert refusal(manager.switch, ["b"], [], strictness) == "controller 'b': activate failed: the sky fell"


def test_Q5_FORCE_AUTO_deactivates_what_is_in_the_way(bench: Bench) -> None:
    manager = bench.manager
    manager.switch(["a", "c"], [])
    bench.calls()
    assert manager.switch(["b"], [], FORCE_AUTO) == "deactivated: a; activated: b"
    assert bench.active == "b c" and bench.calls() == ["a.deactivate", "b.activate"]
    assert "controller 'a', which" in manager.switch(["a", "b"], ["b"], FORCE_AUTO)
    assert bench.active == "a c"


def test_Q6_the_time_out_ends_a_switch(bench: Bench) -> None:
    manager, block = bench.manager, threading.Event()
    manager.switch(["a"], [])
    bench.made["b"].block = block
    message = refusal(manager.switch, ["b", "c"], ["a"], STRICT, timeout_s=0.05)
    assert message == "switching a, b, c did not end within 0.05 s. Look at the controllers' states"
    message = refusal(manager.switch, ["c"], [], STRICT, timeout_s=0.05)
    assert message.startswith("switching c did not end within 0.05 s")
    block.set()
    manager.configure("b")  # waits its turn
    assert bench.active == "a" and "activate" not in bench.made["c"].calls
    block.clear()
    assert "did not end" in refusal(manager.switch, ["b"], ["a"], STRICT, timeout_s=0.05)  # in its last step
    block.set()
    manager.configure("c")
    assert bench.active == "a"
    assert manager.switch([], ["a"], timeout_s=0.0) == "deactivated: a"


def test_Q7_the_broadcaster_is_always_active(bench: Bench) -> None:
    manager = bench.manager
    assert bench.states["states"] == "active"
    manager.configure("states")
    assert manager.switch(["states"], [], STRICT) == "nothing had to be switched"
    reason = (
        "controller 'states' is always active: the executor publishes joint_states, with or without controllers"
    )
    assert refusal(manager.switch, [], ["states"], BEST_EFFORT) == reason
    assert refusal(manager.cleanup, "states") == refusal(manager.unload, "states") == reason
    assert bench.states["states"] == "active" and bench.calls() == []


def test_Q8_without_a_section_each_arm_has_a_trajectory_controller_and_each_gripper_one_of_its_kind() -> None:
    found = load_workcell(CONFIG / "two_arms.yaml", "mock").controllers
    assert [(c.name, c.type, c.part, c.is_active) for c in found] == [
        ("joint_state_broadcaster", BROADCASTER, None, True),
        ("arm_a_controller", TRAJECTORY, "arm_a", True),
        ("gripper_a_controller", PARALLEL_GRIPPER, "gripper_a", True),
        ("arm_b_controller", TRAJECTORY, "arm_b", True),
        ("gripper_b_controller", PARALLEL_GRIPPER, "gripper_b", True),
    ]


def test_Q8_what_a_tool_has_loaded_before_is_left_to_it() -> None:
    bench = Bench(loaded=False)
    bench.manager.load("a")
    complaints: list[RobotControlError] = []
    bench.manager.start(complaints.append)
    assert bench.states == {"a": "unconfigured", "states": "active", "b": "active", "c": "active"} and not complaints
    bench.manager.close(print)


def test_Q8_one_that_fails_does_not_keep_the_others_down() -> None:
    bench = Bench(loaded=False)
    complaints: list[str] = []
    bench.manager.start(lambda error: complaints.append(str(error)))
    assert bench.states == {"states": "active", "a": "active", "b": "inactive", "c": "active"}
    assert len(complaints) == 1 and complaints[0].startswith("controller 'b' cannot be activated")
    bench.manager.close(print)


@pytest.fixture
def arm7() -> Workcell:
    return load_workcell(CONFIG / "arm7.yaml")


def test_Q9_a_device_is_active_while_all_of_its_parts_are_enabled(arm7: Workcell) -> None:
    asked = []

    def set_motion(active: bool, parts: tuple[str, ...]) -> None:
        asked.append((active, parts))
        hardware.take(dict.fromkeys(parts, "enabled" if active else "disabled"), True)

    hardware = Hardware(arm7, set_motion)
    names = tuple(part.name for part in arm7.parts)
    device = hardware.find("sim")
    assert hardware.state(device) == HardwareState.UNKNOWN and not hardware.is_enabled("arm")
    assert refusal(hardware.set_state, device, "active") == "hardware component 'sim'; expected an executor; got none"
    hardware.take({**dict.fromkeys(names, "enabled"), "arm": "faulted"}, False)
    assert refusal(hardware.set_state, device, "active").endswith("expected a control server; got none")
    hardware.take({**dict.fromkeys(names, "enabled"), "arm": "faulted"}, True)
    assert hardware.states() == {"sim": HardwareState.INACTIVE}
    assert hardware.is_enabled("gripper") and not hardware.is_enabled("arm")
    hardware.set_state(device, "active")
    assert hardware.state(device) == HardwareState.ACTIVE and hardware.is_enabled("arm")
    hardware.set_state(device, "inactive")
    assert hardware.state(device) == HardwareState.INACTIVE
    assert asked == [(True, names), (False, names)]


def test_Q9_other_states_and_names_are_refused(arm7: Workcell) -> None:
    hardware = Hardware(arm7, lambda active, parts: pytest.fail("nothing may be asked"))
    assert refusal(hardware.set_state, hardware.find("sim"), "unconfigured") == (
        "hardware component 'sim'; expected active (motion enabled) or inactive (disabled); got unconfigured. "
        "Devices are configured and shut down with the workcell"
    )
    assert refusal(hardware.find, "simm") == (
        "hardware component 'simm'; expected one of the known names; did you mean 'sim'"
    )
