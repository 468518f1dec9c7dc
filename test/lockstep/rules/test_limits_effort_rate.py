"""L34: feedback by efforts settles after any blow, although efforts change at a limited rate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_rt_control.actions.laws.impedance import Impedance
from robot_rt_control.actions.path_control import command_efforts
from robot_rt_control.actions.track_trajectory import TrackTrajectory
from robot_rt_control.model.kinematics.inverse_dynamics import dynamics_scratch_dtype, inverse_dynamics
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm, FakePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

N, DT = 7, 1e-3
EFFORT = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])  # [Nm] of a Franka, as is the rate
RATE = 800.0  # [Nm/s]


def _arm(rate: float = RATE) -> FakeArm:
    arm = FakeArm(name="arm")
    for record in (arm.description.initial_record, arm.live):
        record.effort_limit[:N], record.effort_rate_limit[:N] = EFFORT, rate
    return arm


def _held(arm: FakePart, **parameters: Any) -> ActionHarness:
    """The action that holds the arm where it is."""
    at = [0.0, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0][: arm.description.dof]
    arm.live.position[: len(at)] = at
    given = {"times": [0.0, 1.0], "positions": at * 2, "mode": "effort", **parameters}
    return ActionHarness(TrackTrajectory, parts={"part": arm}, parameters=given)


@realtime
def _plant(state, params, part, chain, v, tau, work, scratch, rate, ticks):
    """Let the arm with the masses of `chain` move under the feedback. Returns the greatest speed of the last tenth.

    work: (3 + n, n) zeros.
    """
    n = part.dof
    bias, unit, column = work[0], work[1], work[2]
    greatest = 0.0
    for tick in range(ticks):
        for j in range(n):
            part.effort_command[j] = 0.0
            part.velocity[j] = v[j]
            part.position_command[j] = state.reference[j]
        command_efforts(state, params, part)
        inverse_dynamics(chain, part.position, v, work[1], 0.0, bias, scratch)
        for j in range(n):
            unit[j] = 1.0
            inverse_dynamics(chain, part.position, work[2], unit, 0.0, column, scratch)
            unit[j] = 0.0
            for i in range(n):
                work[3 + i, j] = column[i]
                column[i] = 0.0
        for j in range(n):
            column[j] = tau[j] - bias[j]  # what was commanded in the tick before
            change = min(max(part.effort_command[j] - tau[j], -rate * 0.001), rate * 0.001)
            tau[j] += change
        for k in range(n):  # Gaussian elimination; a mass matrix needs no pivots
            for i in range(k + 1, n):
                f = work[3 + i, k] / work[3 + k, k]
                for j in range(k, n):
                    work[3 + i, j] -= f * work[3 + k, j]
                column[i] -= f * column[k]
        for k in range(n):
            i = n - 1 - k
            for j in range(i + 1, n):
                column[i] -= work[3 + i, j] * column[j]
            column[i] /= work[3 + i, i]
        for j in range(n):
            v[j] += 0.001 * column[j]
            part.position[j] += 0.001 * v[j]
            column[j] = 0.0
            if tick >= ticks - ticks // 10:
                greatest = max(greatest, abs(v[j]))
    return greatest


def _settles(h: ActionHarness, rng: np.random.Generator, blow: float, ticks: int = 6000, rate: float = RATE) -> bool:
    """Whether the arm comes back after a blow: speeds of up to `blow` rad/s, and a third of it in rad."""
    part = h.part("part")
    chain = np.array([part.chain])
    wrong = rng.uniform(0.7, 1.3, N)
    chain["mass"][0, :N] *= wrong
    chain["inertia"][0, :N] *= wrong[:, None, None]
    at = np.array([0.0, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0])
    state = h._state
    state["reference"][0, :N] = at
    part.position[:N] = at + rng.uniform(-blow / 3, blow / 3, N)
    v, tau = np.zeros((2, 16))
    v[:N] = rng.uniform(-blow, blow, N)
    work, scratch = np.zeros((3 + N, 16)), np.zeros(1, dynamics_scratch_dtype)
    speed = _plant(state[0], h._params[0], part, chain[0], v, tau, work, scratch[0], rate, ticks)
    return bool(speed < 1e-2 and np.abs(part.position[:N] - at).max() < 5e-3)


@pytest.mark.parametrize(("parameters", "ticks"), [({}, 5000), ({"correction": 60.0}, 20000)], ids=["default", "60"])
def test_L34_feedback_settles_after_any_blow_with_masses_wrong_by_30_percent(parameters, ticks):
    rng = np.random.default_rng(34)
    h = _held(_arm(), **parameters)
    blows = rng.uniform(0.05, 1.0, 100_000 // ticks)
    failed = [blow for blow in blows if not _settles(h, rng, blow, ticks)]
    assert not failed


def test_L34_without_the_bound_the_same_blows_make_it_swing():
    rng = np.random.default_rng(34)
    h = _held(_arm(), correction=60.0)
    h._params["feedback_bound"][:] = np.inf
    assert not all(_settles(h, rng, 0.5) for _ in range(5)), "the test above would find nothing"


def test_L34_the_default_follows_from_the_efforts_rate():
    for rate, expected in ((np.inf, 60.0), (20.0 * 87.0, 60.0), (800.0, 0.75 * 800.0 / 87.0 * 4.0)):
        h = _held(_arm(rate))
        assert h._params["correction"][0] == pytest.approx(expected)
        assert h._params["feedback_bound"][0, 0] == pytest.approx(0.75 * rate / expected)


def test_L34_a_faster_correction_is_refused_with_its_limit():
    text = (
        r"correction is too fast for the rates at which efforts may change \(limits.effort_rate\); "
        r"expected at most 137.9 1/s; got 138. Leave it out: the default is 27.59 1/s"
    )
    with pytest.raises(DefinitionError, match=text):
        _held(_arm(), correction=138.0)
    _held(_arm(), correction=137.9)


def test_L34_a_spring_of_its_own_is_bounded_by_its_damper():
    h = _held(_arm(), stiffness=[400.0] * N, damping=[40.0] * N)
    np.testing.assert_allclose(h._params["spring_bound"][0, :N], 0.75 * RATE * 40.0 / 400.0)
    both = _held(_arm(), stiffness=[400.0] * N, correction=20.0)
    np.testing.assert_allclose(both._params["spring_bound"][0, :N], 0.75 * RATE / 20.0)
    fingers = FakePart(name="fingers", kind=PartKind.GRIPPER, dof=2)
    fingers.description.initial_record.chain.n_joints = fingers.live.chain.n_joints = 0
    none = _held(fingers, stiffness=[0.0] * 2, damping=[6.0] * 2)
    assert np.isinf(none._params["spring_bound"][0, :2]).all(), "there is no spring"


def test_L34_the_spring_of_impedance_is_bounded_by_its_damper():
    axis = FakePart(name="axis", kind=PartKind.AXIS, dof=1)
    axis.live.inputs[0] = np.nan  # not bound
    h = ActionHarness(Impedance, parts={"axis": axis}, parameters={"stiffness": 400.0, "damping": 20.0, "rest": 1.0})
    axis.live.effort_rate_limit[0] = RATE
    h.start()
    h.step(2)
    h.state.found = 0.0
    h.step()
    assert axis.live.commanded_effort[0] == pytest.approx(0.75 * RATE * 20.0 / 400.0, rel=0.05)
