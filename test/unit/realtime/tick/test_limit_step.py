"""The limits of a joint: whatever is asked, the next velocity keeps them, and leaves room to brake."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from robot_rt_control.hardware.approach import limited_velocity
from robot_rt_control.hardware.jerk_limit import braking_speed
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.joint_modes import mode_of, override_mode
from robot_rt_control.memory.layout import limits_dtype
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.tick.limit_step import limit
from robot_rt_control.vocabulary.enums import CommandMode, FaultReason, OperationalState

DT = 1e-3
UPPER, LOWER, TOP, ACCELERATION = 1.5, -0.5, 2.0, 8.0
any_number = st.one_of(
    st.floats(-10.0, 10.0), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([math.inf, -math.inf])
)


def make_limits(**values: float) -> Any:
    limits = np.zeros(1, limits_dtype)[0]
    given_limits = {"position_lower": LOWER, "position_upper": UPPER, "velocity": TOP, "acceleration": ACCELERATION}
    for name, value in (given_limits | values).items():
        limits[name][:] = value
    return limits


@given(st.floats(0.0, 100.0), st.floats(0.1, 100.0))
def test_from_the_braking_speed_a_joint_stops_within_its_distance(distance: float, acceleration: float) -> None:
    v = braking_speed(distance, acceleration, DT)
    assert v >= 0.0
    moved, n = 0.0, 0
    while v > 0.0 and n < 100_000:
        moved += v * DT
        v = max(0.0, v - acceleration * DT)
        n += 1
    # the last part of a period is rounded up: at most one step of the deceleration
    assert moved <= distance + acceleration * DT * DT + 1e-9
    assert braking_speed(-distance - 1e-300, acceleration, DT) == 0.0


def room_left(q: float, v: float) -> float:
    """Room after a period with velocity v, less what braking needs then."""
    after = q + v * DT
    return min(UPPER - after, after - LOWER) if v == 0 else (UPPER - after if v > 0 else after - LOWER)


@given(st.lists(any_number, min_size=1, max_size=300), st.floats(LOWER, UPPER))
def test_whatever_is_asked_the_velocity_keeps_all_limits(asked: list[float], q: float) -> None:
    limits, v = make_limits(), 0.0
    for wanted in asked:
        new = limited_velocity(limits, 0, q, v, wanted, DT)
        assert math.isfinite(new) and abs(new) <= TOP
        assert abs(new - v) <= ACCELERATION * DT * (1 + 1e-9)
        assert new * new / (2 * ACCELERATION) <= room_left(q, new) + 1e-9
        q, v = q + new * DT, new
        assert LOWER - 1e-9 <= q <= UPPER + 1e-9


@given(st.floats(LOWER + 0.4, UPPER - 0.4), st.floats(-1.0, 1.0), st.floats(-0.9, 0.9))
def test_what_keeps_the_limits_is_not_touched(q: float, v: float, part: float) -> None:
    wanted = v + part * ACCELERATION * DT
    assert limited_velocity(make_limits(), 0, q, v, wanted, DT) == wanted


@example(3.0, math.inf)
@given(st.floats(TOP, 2 * TOP), any_number)
def test_a_joint_that_is_too_fast_slows_down_within_its_acceleration(v: float, wanted: float) -> None:
    limits = make_limits(position_lower=-math.inf, position_upper=math.inf)
    for sign in (1.0, -1.0):
        new = limited_velocity(limits, 0, 0.0, sign * v, sign * wanted, DT)
        assert sign * new == pytest.approx(max(v - ACCELERATION * DT, min(wanted, TOP, v + ACCELERATION * DT)))
        assert abs(new) <= max(TOP, v - ACCELERATION * DT)


def test_beyond_its_range_a_joint_may_only_come_back() -> None:
    limits = make_limits()
    assert limited_velocity(limits, 0, UPPER + 0.1, 0.0, 1.0, DT) == 0.0
    assert limited_velocity(limits, 0, UPPER + 0.1, 0.0, -1.0, DT) == -ACCELERATION * DT
    assert limited_velocity(limits, 0, LOWER - 0.1, 0.0, -1.0, DT) == 0.0
    assert limited_velocity(limits, 0, LOWER - 0.1, 0.0, 1.0, DT) == ACCELERATION * DT


# --- the step ------------------------------------------------------------------------------------


class Part:
    """The arm of a world, enabled, with an action that seems to command it."""

    def __init__(self, workcell: Workcell) -> None:
        self.world, self.channel = World(workcell), Channel.private()
        w = self.world.memory
        self.live, self.limits, self.runtime = w.parts[0], w.limits[0], w.parts_runtime[0]
        for table in w.tables:
            table.n_actions, table.actions[0].n_parts = 1, 1
        w.n_parts = 1
        self.runtime.state, self.runtime.active_action = int(OperationalState.ENABLED), 0
        self.live.operational_state = float(OperationalState.ENABLED)
        self.live.velocity[:] = 0.0  # measured

    def limit(self, mode: int) -> None:
        self.live.command_mode = mode
        limit(self.world.memory, self.channel.memory)

    @property
    def fault(self) -> FaultReason:
        return FaultReason(int(self.runtime.fault))


@pytest.fixture
def part(workcell: Workcell) -> Part:
    return Part(workcell)


def test_a_mode_that_is_none_or_not_supported_faults(workcell: Workcell) -> None:
    for mode in (4, -1, 1 << 40):
        part = Part(workcell)
        part.live.commanded_velocity[0] = 1.0
        part.limit(mode)
        assert part.fault == FaultReason.UNSUPPORTED_COMMAND_MODE
        assert 0.0 < part.live.commanded_velocity[0] < 1.0, "it brakes"
    part = Part(workcell)
    part.limits.supported_modes = 1 << int(CommandMode.POSITION)
    part.limit(int(CommandMode.VELOCITY))
    assert part.fault == FaultReason.UNSUPPORTED_COMMAND_MODE


def test_an_action_that_commands_nothing_lets_the_loop_brake(part: Part) -> None:
    part.live.commanded_velocity[0] = 0.5
    part.limit(int(CommandMode.NONE))
    assert part.fault == FaultReason.NONE
    step = part.limits.acceleration[0] * DT
    assert part.live.commanded_velocity[0] == pytest.approx(0.5 - step)
    assert part.live.commanded_acceleration[0] == pytest.approx(-part.limits.acceleration[0])
    assert part.live.commanded_position[0] == pytest.approx((0.5 - step) * DT)


@pytest.mark.parametrize("modes", [("POSITION",), ("VELOCITY",), ("EFFORT",), ("POSITION", "EFFORT")])
def test_the_loop_brakes_in_a_mode_that_the_hardware_has(part: Part, modes: tuple[str, ...]) -> None:
    part.limits.supported_modes = sum(1 << int(CommandMode[mode]) for mode in modes)
    part.runtime.active_action = -1
    part.limit(int(CommandMode.NONE))
    assert mode_of(int(part.runtime.last_modes), 0) == CommandMode[modes[0]]


def test_a_drive_is_not_switched_while_it_moves(part: Part) -> None:
    part.live.velocity_command[:] = 0.004
    part.limit(int(CommandMode.VELOCITY))
    part.limit(int(CommandMode.NONE))
    assert mode_of(int(part.runtime.last_modes), 0) == CommandMode.VELOCITY


def test_each_joint_is_limited_in_its_own_mode_and_braked_where_it_has_none(part: Part) -> None:
    part.live.commanded_velocity[:3] = 0.5
    part.live.position_command[0], part.live.effort_command[1] = 0.5 * DT, 1.0
    override_mode(part.live, 1, int(CommandMode.EFFORT))
    override_mode(part.live, 2, int(CommandMode.NONE))
    part.limit(int(CommandMode.POSITION))
    modes = [CommandMode(mode_of(int(part.runtime.last_modes), j)) for j in range(3)]
    assert modes == [CommandMode.POSITION, CommandMode.EFFORT, CommandMode.POSITION]
    assert part.live.commanded_position[0] == 0.5 * DT and part.live.commanded_velocity[0] == 0.5
    assert part.live.commanded_effort[:3].tolist() == [0.0, 1.0, 0.0]
    assert 0.0 < part.live.commanded_velocity[2] < 0.5


def test_efforts_begin_with_what_the_drive_exerts(part: Part) -> None:
    change = part.limits.effort_rate[0] * DT
    part.live.effort[:2] = (30.0, math.nan)
    part.limit(int(CommandMode.EFFORT))
    assert part.live.commanded_effort[:2].tolist() == [pytest.approx(30.0 - change), 0.0]
    part.live.effort[0] = 50.0
    part.limit(int(CommandMode.EFFORT))
    assert part.live.commanded_effort[0] == pytest.approx(30.0 - 2 * change), "only at the beginning"


@pytest.mark.parametrize("mode", [CommandMode.EFFORT, 9])
def test_a_mode_that_one_joint_lacks_faults_and_names_it(part: Part, mode: int) -> None:
    part.limits.supported_modes = 1 << int(CommandMode.POSITION)
    override_mode(part.live, 1, int(mode))
    part.limit(int(CommandMode.POSITION))
    assert (part.fault, part.runtime.fault_joint) == (FaultReason.UNSUPPORTED_COMMAND_MODE, 1)


def test_effort_alone_is_braked_by_a_damper(part: Part) -> None:
    part.limits.supported_modes = 1 << int(CommandMode.EFFORT)
    part.live.commanded_effort[0] = 1.0
    part.live.velocity[0] = 0.25
    part.limit(int(CommandMode.NONE))
    change = part.limits.effort_rate[0] * DT
    damper = -part.limits.effort[0] * min(0.25 * 10.0 / part.limits.acceleration[0], 1.0)
    assert part.live.commanded_effort[0] == pytest.approx(max(damper, 1.0 - change))
    assert part.live.commanded_effort[0] < 0.0
    assert part.live.commanded_velocity[0] == 0.25, "what is measured is what the next action begins with"


def test_a_velocity_command_begins_where_the_joint_is_measured(part: Part) -> None:
    part.live.position[0] = 0.125
    part.live.velocity_command[0] = 0.003
    part.limit(int(CommandMode.VELOCITY))
    assert (part.live.commanded_position[0], part.live.commanded_velocity[0]) == (0.125 + 0.003 * DT, 0.003)
    part.live.position[0] = math.nan
    for n in (1, 2, 3):
        part.limit(int(CommandMode.VELOCITY))
        assert part.live.commanded_position[0] == pytest.approx(0.125 + (n + 1) * 0.003 * DT)


@pytest.mark.parametrize("field", ["position_command", "velocity_command", "effort_command"])
def test_only_the_commands_of_the_mode_have_to_be_finite(part: Part, field: str) -> None:
    modes = {"position_command": CommandMode.POSITION, "velocity_command": CommandMode.VELOCITY}
    part.live[field][3] = math.nan
    for mode in (CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT):
        part.runtime.fault, part.runtime.active_action = 0, 0
        part.runtime.state = int(OperationalState.ENABLED)
        part.limit(int(mode))
        written = modes.get(field, CommandMode.EFFORT) == mode
        assert part.fault == (FaultReason.NON_FINITE_COMMAND if written else FaultReason.NONE)
        if written:
            assert part.runtime.fault_joint == 3


LATE = {
    "a step": lambda t: 0.4,
    "a far step, and back at full speed": lambda t: 0.4 if t < 0.35 else -0.3,
    "a ramp that begins and ends at once": lambda t: 0.9 * min(t, 0.5),
    "a ramp that is too fast": lambda t: 3.0 * min(t, 0.2),
    "a wave that accelerates too much": lambda t: 0.05 * math.sin(18.0 * t) if t < 1.0 else 0.1,
    "a point at a low rate": lambda t: 0.3 * min(math.floor(t / 0.05) * 0.05, 0.6),
}


@pytest.mark.parametrize("jerk", [0.0, 10.0, 300.0])
@pytest.mark.parametrize("kind", LATE)
def test_who_is_late_comes_to_its_command_and_stays(part: Part, kind: str, jerk: float) -> None:
    part.limits.jerk[:] = jerk * part.limits.acceleration
    limits, target, modes = part.limits, LATE[kind], int(CommandMode.POSITION)
    begin = part.live.commanded_position[0]
    v = a = 0.0
    late = 0
    for k in range(6000):
        wanted = begin + target((k + 1) * DT)
        part.live.position_command[0] = wanted
        part.limit(modes)
        part.live.position[:] = part.live.commanded_position  # as measured
        part.live.velocity[:] = part.live.commanded_velocity
        late += part.live.commanded_position[0] != wanted
        new = part.live.commanded_velocity[0]
        assert abs(new) <= limits.velocity[0] * (1 + 1e-9)
        assert abs(new - v) / DT <= limits.acceleration[0] * (1 + 1e-6)
        assert jerk == 0.0 or abs((new - v) / DT - a) <= limits.jerk[0] * DT * (1 + 1e-5)
        v, a = new, (new - v) / DT
    assert part.fault == FaultReason.NONE and late > 10
    assert part.live.commanded_position[0] == pytest.approx(wanted, abs=1e-9) and abs(v) < 1e-6


def test_who_is_in_time_is_not_touched(part: Part) -> None:
    begin = part.live.commanded_position[0]
    for jerk in (0.0, 10.0 * part.limits.acceleration[0]):
        part.limits.jerk[:] = jerk
        for k in range(500):
            wanted = begin + 0.05 * (1.0 - math.cos(4.0 * (k + 1) * DT)) * (1.0 if jerk == 0.0 else (k * DT) ** 2)
            part.live.position_command[0] = wanted
            part.limit(int(CommandMode.POSITION))
            assert part.live.commanded_position[0] == wanted
        for _ in range(500):
            part.live.position_command[0] = begin
            part.limit(int(CommandMode.POSITION))
