"""Braking from any command: within the limits, to the end, and holding there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.hardware.rest_ramp import RestRamp
from robot_rt_control.testing.devices import arm
from robot_rt_control.vocabulary.enums import CommandMode

DT = 0.001
ONLY_EFFORT = frozenset({CommandMode.EFFORT})
NO_POSITION = frozenset({CommandMode.EFFORT, CommandMode.VELOCITY})


def run(ramp, command):
    """Positions and velocities of both joints until rest, shape (k, 2) each."""
    positions, velocities = [command[0::3].copy()], [command[1::3].copy()]
    while not ramp.at_rest:
        ramp.step(DT)
        positions.append(command[0::3].copy())
        velocities.append(command[1::3].copy())
        assert len(positions) < 5000
    return np.array(positions), np.array(velocities)


speeds = st.lists(st.floats(-2.0, 2.0), min_size=2, max_size=2)


@settings(max_examples=tries(15, whole=60), deadline=None)
@given(speeds, st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=2))
def test_position_commands_brake_within_all_limits(speed, start):
    command = np.zeros(6)
    command[0::3] = start
    ramp = RestRamp(arm(), [CommandMode.POSITION] * 2, command, speed, np.zeros(6))
    positions, _ = run(ramp, command)
    assert (np.abs(positions) <= 3.0).all()
    step = np.diff(positions, axis=0) / DT
    inside = (np.abs(positions[1:]) < 3.0).all()
    if len(step) > 1 and inside:
        assert (np.abs(np.diff(step, axis=0)) <= 10.0 * DT + 1e-9).all()
        assert (np.abs(step) <= np.abs(speed).max() + 1e-9).all()
        # v^2 / 2a, but for the rest of speed that is left for the last period: at most a dt^2
        assert positions[-1] - start == pytest.approx(np.sign(speed) * np.square(speed) / 20.0, abs=1e-5)
    held = command.copy()
    ramp.step(DT)
    assert (command == held).all()


def test_velocity_commands_go_to_zero_by_the_acceleration_limit():
    command = np.array([0.0, 1.0, 5.0, 0.0, -0.5, 5.0])
    _, velocities = run(RestRamp(arm(), [CommandMode.VELOCITY] * 2, command, [0, 0], np.zeros(6)), command)
    assert len(velocities) == pytest.approx(1.0 / (10.0 * DT) + 1, abs=1)
    assert (np.abs(np.diff(velocities, axis=0)) <= 10.0 * DT + 1e-12).all()
    assert command.tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_a_command_beyond_the_limits_is_not_pulled_back():
    command = np.array([3.5, 0, 0, 0, 0, 0])
    ramp = RestRamp(arm(), [CommandMode.POSITION] * 2, command, [1.0, 0.0], np.zeros(6))
    run(ramp, command)
    assert command[0] == 3.5


def test_effort_commands_become_the_braking_of_the_measured_motion():
    measured = np.array([0.3, 1.0, 7.0, -0.2, 0.0, 3.0])
    command = np.array([9.0, 9.0, 7.0, 9.0, 9.0, 3.0])
    ramp = RestRamp(arm(), [CommandMode.EFFORT] * 2, command, [0, 0], measured)
    assert ramp.modes == (CommandMode.POSITION,) * 2
    run(ramp, command)
    assert command.tolist() == pytest.approx([0.35, 0.0, 0.0, -0.2, 0.0, 0.0])


def test_without_position_mode_effort_commands_brake_by_velocity():
    ramp = RestRamp(
        arm(supported_modes=NO_POSITION), [CommandMode.EFFORT] * 2, np.zeros(6), [0, 0], np.array([0, 1.0, 0, 0, 0, 0])
    )
    assert ramp.modes == (CommandMode.VELOCITY,) * 2


@pytest.mark.parametrize("measured", [np.ones(6), np.full(6, np.nan)])
def test_with_effort_alone_or_nothing_measured_the_part_is_let_go(measured):
    modes = ONLY_EFFORT if np.isfinite(measured).all() else arm().supported_modes
    command = np.array([0, 0, 7.0, 0, 0, 3.0])
    ramp = RestRamp(arm(supported_modes=modes), [CommandMode.EFFORT] * 2, command, [0, 0], measured)
    assert ramp.modes == (CommandMode.EFFORT,) * 2
    assert ramp.at_rest
    assert command[2::3].tolist() == [0.0, 0.0]


def test_each_joint_is_braked_in_its_own_mode():
    command = np.array([0.1, 0.0, 0.0, 0.2, 9.0, 7.0])
    measured = np.array([0.1, 0.0, 0.0, 0.5, -1.0, 7.0])
    ramp = RestRamp(arm(), [CommandMode.POSITION, CommandMode.EFFORT], command, [0.0, 0.0], measured)
    assert ramp.modes == (CommandMode.POSITION, CommandMode.POSITION)
    positions, _ = run(ramp, command)
    assert (positions[:, 0] == 0.1).all(), "at rest it stays"
    assert positions[-1, 1] == pytest.approx(0.5 - 0.05), "the measured motion is braked"


def test_a_joint_that_was_not_commanded_stays_so():
    command = np.zeros(6)
    ramp = RestRamp(arm(), [CommandMode.NONE, CommandMode.POSITION], command, [0.7, 0.5], np.zeros(6))
    assert ramp.modes == (CommandMode.NONE, CommandMode.POSITION)
    run(ramp, command)
    assert command[0] == 0.0 and command[3] > 0.0
