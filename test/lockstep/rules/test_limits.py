"""Rules L1 to L5 of docs/semantics/limits.md: limits and faults. Random commands: test/lockstep/system."""

from __future__ import annotations

import math
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from robot_rt_control.client.actions import Action
from robot_rt_control.client.session import Session
from robot_rt_control.hardware.clocks import LOCKSTEP
from robot_rt_control.memory.joint_modes import unpack_modes
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode, OperationalState
from robot_rt_control.vocabulary.errors import CommandRefused, RobotControlError

POSITION, VELOCITY, EFFORT = (int(mode) for mode in (CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT))
DT = 1e-3
CONFIG = Path(__file__).parents[3] / "config"


def state(cell: LockstepCell, part: str) -> str:
    return OperationalState(int(cell.part(part).operational_state)).name.lower()


def moving(cell: LockstepCell, *others: Action, speed: float = 0.2, ticks: int = 200) -> Session:
    """A session whose action `a` moves the left part with a steady speed; `b` holds the right part."""
    session = cell.session("left", "right")
    session.add(Action("a", "probe", parts="left", speed=speed), Action("b", "probe", parts="right"), *others)
    session.start("a", "b")
    cell.step(ticks)
    assert cell.part("left").commanded_velocity[0] == pytest.approx(speed)
    return session


def brakes(cell: LockstepCell, part: str, ticks: int = 500) -> None:
    """The part slows down with the deceleration of its limits, from this tick on, and then rests."""
    live, limits = cell.part(part), cell.workcell.part(part).system_limits
    while (speed := live.commanded_velocity[: live.dof].copy()).any():
        position = live.commanded_position[: live.dof].copy()
        cell.step()
        change = live.commanded_velocity[: live.dof] - speed
        assert (np.abs(change) <= limits.acceleration[: live.dof] * DT * (1 + 1e-9)).all()
        assert (np.abs(live.commanded_velocity[: live.dof]) <= np.maximum(np.abs(speed) - 1e-12, 0.0)).all()
        np.testing.assert_allclose(
            live.commanded_position[: live.dof], position + live.commanded_velocity[: live.dof] * DT
        )
        ticks -= 1
        assert ticks > 0
    rest = live.commanded_position[: live.dof].copy()
    cell.step(50)
    assert (live.position[: live.dof] == rest).all()


# --- L1 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [1, 2, 3], ids=["nan", "inf", "-inf"])
@pytest.mark.parametrize("mode", [POSITION, VELOCITY, EFFORT])
@pytest.mark.parametrize("joint", [-1, 1])
def test_L1_of_a_command_that_is_not_finite_nothing_leaves(
    cell: LockstepCell, mode: int, kind: int, joint: int
) -> None:
    session = moving(cell, Action("bad", "writer", parts="left", mode=mode, kind=kind, joint=joint))
    before = cell.written("left")
    speed = cell.part("left").commanded_velocity[:2].copy()
    session.start("bad")
    tick = cell.step()
    (fault,) = cell.kinds("part_faulted")
    name = "x" if joint < 0 else "turn"
    assert (fault.tick, fault.part) == (tick, "left")
    assert fault.reason == f"the action wrote a command that is not finite ({name})"
    after = cell.written("left")
    assert all(math.isfinite(value) for value in after.values())
    live, limits = cell.part("left"), cell.workcell.part("left").system_limits
    np.testing.assert_allclose(
        live.commanded_velocity[:2], speed - limits.acceleration[:2] * DT, err_msg="it brakes at once"
    )
    assert after["left/x/position"] == pytest.approx(before["left/x/position"] + live.commanded_velocity[0] * DT)
    assert (cell.active("left"), state(cell, "left")) == ("none", "faulted")
    brakes(cell, "left")
    assert cell.active("right") == "b"


# --- L2 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [POSITION, VELOCITY])
@pytest.mark.parametrize("value", [1e6, -1e6, 1e308])
def test_L2_wild_commands_leave_within_the_limits_and_stop_before_the_end(
    cell: LockstepCell, mode: int, value: float
) -> None:
    session = cell.session("left")
    session.add(Action("wild", "writer", mode=mode, value=value))
    session.start("wild")
    live, limits = cell.part("left"), cell.workcell.part("left").system_limits
    acceleration, top = limits.acceleration[:2], limits.velocity[:2]
    lower, upper = limits.position_lower[:2], limits.position_upper[:2]
    fastest, speed = np.zeros(2), np.zeros(2)
    for _ in range(3000):
        cell.step()
        v, q = live.commanded_velocity[:2], live.commanded_position[:2]
        fastest = np.maximum(fastest, np.abs(v))
        assert (np.abs(v) <= top * (1 + 1e-12)).all() and (np.abs(v - speed) <= acceleration * DT * (1 + 1e-9)).all()
        room = np.where(v > 0, upper - q, q - lower)
        assert (v * v / (2 * acceleration) <= room + 1e-9).all(), "it can still brake"
        speed = v.copy()
    np.testing.assert_allclose(fastest, top, err_msg="it does go as fast as it may")
    np.testing.assert_allclose(live.position[:2], upper if value > 0 else lower, atol=1e-6)
    assert not cell.kinds("part_faulted")


@pytest.mark.parametrize("value", [3.0, 1e9, -1e9])
def test_L2_effort_and_its_rate_are_clamped(cell: LockstepCell, value: float) -> None:
    session = cell.session("right")
    session.add(Action("push", "writer", mode=EFFORT, value=value))
    session.start("push")
    limits = cell.workcell.part("right").system_limits
    top, change = float(limits.effort[0]), float(limits.effort_rate[0]) * DT
    last = 0.0
    for _ in range(20):
        cell.step()
        effort = cell.written("right")["right/y/effort"]
        assert abs(effort) <= top and abs(effort - last) <= change * (1 + 1e-12)
        last = effort
    assert last == pytest.approx(math.copysign(min(abs(value), min(top, 20 * change)), value))


def test_L2_a_command_within_the_limits_leaves_as_it_is(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("small", "writer", mode=POSITION, value=3.3e-6, joint=0))
    session.start("small")
    cell.step()
    assert cell.written("left")["left/x/position"] == 3.3e-6
    assert cell.written("left")["left/turn/position"] == 0.0, "a joint that is not written holds"


# --- L3 ------------------------------------------------------------------------------------------


def measure(cell: LockstepCell, position: float, velocity: float) -> None:
    cell.set_sensor("left/x/position", position)
    cell.set_sensor("left/x/velocity", velocity)
    cell.step()


@pytest.mark.parametrize(
    ("position", "velocity", "reason"),
    [
        (1.006, 0.1, "the measured position left its range (x)"),  # the tolerance is 5 mm
        (-1.006, -0.1, "the measured position left its range (x)"),
        (1.006, -0.1, ""),  # it comes back
        (1.004, 0.1, ""),
        (1.006, 0.0, ""),  # it does not move
        (0.0, 1.6, "the measured velocity exceeded the system limit (x)"),  # 1.05 m/s and 50 %
        (0.0, -1.6, "the measured velocity exceeded the system limit (x)"),
        (0.0, 1.5, ""),
    ],
)
def test_L3_measured_motion_beyond_the_limits_brakes_and_faults(
    hosted_cell: LockstepCell, position: float, velocity: float, reason: str
) -> None:
    cell = hosted_cell
    session = moving(cell)
    cell.executor.world.memory.limits[0].jump[:] = 0.0  # off: a jump is a fault of its own (L22)
    measure(cell, position, velocity)
    assert [(e.part, e.tick, e.reason) for e in cell.kinds("part_faulted")] == (
        [("left", cell.tick, reason)] if reason else []
    )
    if reason:
        assert (cell.active("left"), state(cell, "left")) == ("none", "faulted")
        assert cell.part("left").commanded_velocity[0] < 0.2, "it brakes in the same tick"
        assert session.ended is None and cell.active("right") == "b"
    else:
        assert cell.active("left") == "a"


# --- L4, L5 --------------------------------------------------------------------------------------


def test_L4_a_faulted_part_accepts_no_start_until_it_is_cleared_and_enabled(cell: LockstepCell) -> None:
    started = cell.tick
    session = moving(cell, Action("bad", "writer", parts="left", kind=1))
    session.start("bad")
    cell.step()
    assert [(e.previous_action, e.reason) for e in cell.kinds("action_stopped", previous_action="bad")] == [
        ("bad", "a part was faulted")
    ]
    brakes(cell, "left")

    def refusal(action: str) -> list[str]:
        cell.events.clear()
        session.start(action)
        cell.step()
        return [e.reason for e in cell.kinds("command_refused")]

    assert refusal("a") == ["the motion of a part is not enabled"]
    with pytest.raises(CommandRefused, match="^enable of part 'left' was refused; got the action wrote a command"):
        cell.server.set_motion(["left"], "enable")
    cell.step()
    assert state(cell, "left") == "faulted", "enabling does not clear"
    cell.server.set_motion(["left"], "clear_faults")
    cell.step()
    assert state(cell, "left") == "disabled", "clearing does not enable"
    assert refusal("a") == ["the motion of a part is not enabled"]
    cell.server.set_motion(["left"], "enable")
    cell.step()
    assert (state(cell, "left"), cell.active("left")) == ("enabled", "default")
    assert refusal("a") == [] and cell.active("left") == "a"
    assert session.value("b.controls") == cell.tick - started, "the other part has moved all the while"
    assert session.ended is None


def test_L4_other_parts_of_the_action_go_to_safety_and_other_actions_go_on(cell: LockstepCell) -> None:
    session, other = cell.session("left", "right"), cell.session("tool")
    session.add(Action("both", "pair", parts={"one": "left", "two": "right"}, speed=0.2))
    other.add(Action("o", "probe"))
    session.start("both")
    other.start("o")
    cell.step(200)
    cell.set_sensor("left/x/position", 0.9)  # a jump: as fast as nothing may be
    cell.step()
    assert [e.part for e in cell.kinds("part_faulted")] == ["left"]
    cell.step()
    assert [cell.active(part) for part in ("left", "right", "tool")] == ["none", "safety", "o"]
    assert session.ended is None and other.value("o.controls") == 202.0


def test_L4_a_fault_is_not_cleared_while_its_cause_persists(hosted_cell: LockstepCell) -> None:
    cell = hosted_cell
    cell.silence("second")
    cell.step(10)
    assert state(cell, "right") == "faulted"

    def refusals(command: str) -> list[str]:
        cell.events.clear()
        cell.server.set_motion(["right"], command)
        cell.step()
        return [e.reason for e in cell.kinds("command_refused")]

    still = ["the part is faulted, and the cause of the fault is still there or was not cleared"]
    assert refusals("clear_faults") == still
    with pytest.raises(CommandRefused, match="^enable of part 'right' was refused; got the hardware's data is too old"):
        refusals("enable")
    cell.silence("second", False)
    cell.step()
    assert state(cell, "right") == "faulted", "never on the user's behalf"
    assert refusals("clear_faults") == refusals("enable") == []
    assert (state(cell, "right"), cell.active("right")) == ("enabled", "default")


def test_L5_commands_leave_for_parts_whose_motion_is_enabled_and_while_they_brake(cell: LockstepCell) -> None:
    session = moving(cell)
    cell.server.set_motion(["left"], "disable")
    ticks = 0
    device = cell.executor.world.memory.devices[0]
    while cell.step() and cell.written("left"):
        ticks += 1
        assert unpack_modes(int(device.mode[0]), 2) == (POSITION, POSITION)
    assert 30 < ticks < 100  # 0.2 m/s with 4.8 m/s^2
    assert device.mode[0] == 0 and not cell.part("left").commanded_velocity[:2].any()
    assert state(cell, "left") == "disabled" and cell.written("right")
    rest = cell.part("left").position[0]
    cell.step(100)
    assert cell.part("left").position[0] == rest and not cell.written("left")
    # only the user enables it
    session.close()
    other = cell.session("left")
    other.add(Action("a", "probe"))
    other.start("a")
    cell.step(10)
    assert state(cell, "left") == "disabled" and not cell.written("left")
    cell.server.set_motion(["left"], "enable")
    cell.step()
    assert cell.written("left") and cell.active("left") == "default"


def test_L5_a_device_whose_moving_parts_are_disabled_gets_no_commands(cell: LockstepCell) -> None:
    # A driver that has missed its executor takes commands again once it has seen that: sensors must not prevent it.
    devices = cell.executor.world.memory.devices[: len(cell.workcell.devices)]
    assert devices["enabled"].any()
    cell.server.set_motion(["left", "right", "tool", "io"], "disable")
    cell.step(300)
    assert not devices["enabled"].any()
    assert any(state(cell, part.name) == "enabled" for part in cell.workcell.parts if not part.dof)


def test_L5_enabling_begins_where_the_part_is(cell: LockstepCell) -> None:
    cell.server.set_motion(["left"], "disable")
    cell.step()
    cell.set_sensor("left/x/position", 0.4)  # moved by hand
    cell.step()
    cell.server.set_motion(["left"], "enable")
    cell.step()
    assert cell.written("left")["left/x/position"] == 0.4
    cell.step(10)
    assert cell.part("left").position[0] == 0.4 and not cell.kinds("part_faulted")


def test_L5_activating_the_executor_enables_the_parts_without_fault(cell: LockstepCell) -> None:
    assert [state(cell, part) for part in ("left", "right", "tool")] == ["enabled"] * 3
    with pytest.raises(RobotControlError, match="unknown part"):
        cell.server.set_motion(["middle"], "enable")


def test_L16_enabling_a_faulted_part_is_refused_and_enables_the_others(cell: LockstepCell) -> None:
    cell.session("left").add(Action("bad", "probe", parts="left"))
    cell.executor.world.memory.parts_runtime[0].state = int(OperationalState.FAULTED)
    cell.executor.world.memory.parts[0].operational_state = float(OperationalState.FAULTED)
    cell.server.set_motion(["right"], "disable")
    cell.step()
    assert (state(cell, "left"), state(cell, "right")) == ("faulted", "disabled")
    with pytest.raises(CommandRefused, match="^enable of part 'left' was refused"):
        cell.server.set_motion([], "enable")
    cell.step()
    assert (state(cell, "left"), state(cell, "right")) == ("faulted", "enabled")
    cell.server.set_motion([], "clear_faults")
    assert cell.server.set_motion([], "enable") == "", "both come in the same step"
    cell.step()
    assert state(cell, "left") == "enabled"


@pytest.mark.beyond_border("full speed is written into the loop's memory")
def test_L5_the_executor_ticks_until_its_slowest_part_is_at_rest_before_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (CONFIG / "mobile_base.yaml").read_text()
    assert "[2.5, 2.5, 4.0]" in text and "robots/" in text
    text = text.replace("[2.5, 2.5, 4.0]", "[0.25, 0.25, 0.4]").replace("robots/", f"{CONFIG}/robots/")
    (tmp_path / "cell.yaml").write_text(text)
    workcell = load_workcell(tmp_path / "cell.yaml", "mock")
    executor = Executor(workcell, ExecutorOptions(clock=LOCKSTEP), channel_name=None, image_name=str)
    executor.configure(lambda _: None)
    try:
        executor.activate(lambda _: None)
        base = executor.world.memory.parts[workcell.part("base").index]
        left = executor.world.memory.left[workcell.part("base").index]
        base.commanded_velocity[:2] = left.velocity[:2] = 1.0  # [m/s]: full speed, which needs 3.3 s to rest
        tick = int(executor.world.memory.tick)
        world = executor.world.memory
        # Its clock is that of the ticks, so that the machine's speed does not matter.
        clock = SimpleNamespace(monotonic=lambda: float(world.tick) * workcell.period, sleep=time.sleep)
        monkeypatch.setattr("robot_rt_control.realtime.executor.executor.time", clock)
        assert executor.deactivate(), "as long as its limits need, and not a fixed time"
        assert not base.commanded_velocity.any()
        assert 3.3 < (executor.world.memory.tick - tick) * workcell.period < workcell.part("base").braking_time
    finally:
        executor.cleanup()
