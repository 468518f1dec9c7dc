"""V17: track_trajectory commands velocities or efforts along its path, with feedback to it.

The joints of the harness are unit inertias without weight.
"""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from robot_rt_control.actions.track_trajectory import MAX_SEGMENTS, TrackTrajectory
from robot_rt_control.definitions.action_type import parameter_dtype
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue
from robot_rt_control.model.kinematics.inverse_dynamics import dynamics_scratch_dtype, inverse_dynamics
from robot_rt_control.server.tables.long_trajectory import as_group
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm, FakePart
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

T = np.linspace(0.0, 1.0, 21)
STEP = 0.05
SPRING = {"stiffness": [400.0] * 7, "damping": [40.0] * 7}


def _way(goal, bent):
    """Positions and velocities (21, 7) with one constant acceleration, then the opposite one; these (20, 7)."""
    a = 4.0 * (np.array(goal) - bent)
    s = np.where(T <= 0.5, 0.5 * T**2, 0.25 - 0.5 * (1.0 - T) ** 2)[:, None]
    v = np.where(T <= 0.5, T, 1.0 - T)[:, None]
    pieces = np.where(T[:-1] < 0.5 - 1e-9, 1.0, -1.0)[:, None]
    return np.array(bent) + s * a, v * a, pieces * a


def _track(harness, bent, goal, *, compiled=False, efforts=None, **parameters):
    q, v, a = _way(goal, bent)
    given = {"times": list(T), "positions": list(q.ravel()), "velocities": list(v.ravel()), **parameters}
    if efforts is not None:
        given["efforts"] = list(efforts.ravel())
    elif parameters.get("mode") == "effort" and "efforts" not in parameters:
        given["efforts"] = list(a.ravel())  # of unit inertias
    h = harness(TrackTrajectory, compiled=compiled, **given)
    return h, h.part("part"), (q, v, a)


def test_V17_efforts_alone_carry_unit_inertias_along_the_path(harness, bent, goal):
    h, part, (q, v, _) = _track(harness, bent, goal, mode="effort", correction=0.0)
    h.start()
    for i in range(1, 21):
        h.step(50)
        assert part.command_mode == int(CommandMode.EFFORT)
        np.testing.assert_allclose(part.commanded_position[:7], q[i], atol=1e-3)
        np.testing.assert_allclose(part.commanded_velocity[:7], v[i], atol=1e-6)  # they are kept with 24 bits
    h.step(2)
    assert h.state.is_done == 1.0 and not part.commanded_effort[:7].any(), "none after the last piece"


def test_V17_linear_efforts_are_held_at_the_end(harness, bent, goal):
    h, part, (_, _, a) = _track(
        harness, bent, goal, mode="effort", correction=0.0, efforts=np.repeat(T[:, None], 7, axis=1)
    )
    h.start()
    for _ in range(1000):
        h.step()
        np.testing.assert_allclose(part.commanded_effort[:7], h.state.elapsed - 0.001, atol=1e-6)
    h.step(3)
    np.testing.assert_allclose(part.commanded_effort[:7], 1.0, atol=1e-6)


def test_V17_feedback_leads_onto_the_path_and_settles(harness, bent, goal):
    h, part, (q, _, _) = _track(harness, bent, goal, mode="effort", **SPRING)
    part.commanded_position[:7] += 0.01
    part.commanded_velocity[:7] = -0.05
    before = part.commanded_position[:7].copy()
    h.start()
    h.step()
    np.testing.assert_allclose(part.commanded_position[:7], before - 0.05e-3, atol=2e-5)
    h.step(999)
    np.testing.assert_allclose(part.commanded_position[:7], q[-1], atol=2e-3)
    h.step(600)
    np.testing.assert_allclose(part.commanded_position[:7], q[-1], atol=1e-6)
    assert h.state.is_settled == 1.0 and h.state.tracking_error < 1e-6


def test_V17_without_efforts_the_arms_masses_give_them(harness, bent, goal):
    q, v, a = _way(goal, bent)
    h = harness(
        TrackTrajectory,
        times=list(T),
        positions=list(q.ravel()),
        velocities=list(v.ravel()),
        mode="effort",
        gravity=True,
        correction=0.0,
    )
    part, tau = h.part("part"), np.zeros(16)
    h.start()
    h.step(2)
    at, wanted = np.zeros((2, 16))
    at[:7], wanted[:7] = bent, a[0]
    inverse_dynamics(part.chain, at, np.zeros(16), wanted, 1.0, tau, np.zeros(1, dynamics_scratch_dtype)[0])
    np.testing.assert_allclose(part.commanded_effort[:7], tau[:7], atol=1e-3)


@pytest.mark.parametrize("speed", [0.5, 0.0])
def test_V17_a_slower_path_needs_the_square_of_its_speed_of_the_efforts(harness, bent, goal, speed):
    h, part, (q, v, a) = _track(harness, bent, goal, mode="effort", **SPRING)
    h.start()
    h.step(250)
    h.speed = speed
    h.step(300)
    if speed:
        np.testing.assert_allclose(part.commanded_velocity[:7], speed * 0.4 * a[0], rtol=0.05)
        np.testing.assert_allclose(part.commanded_effort[:7], speed**2 * a[0], rtol=0.15)
        h.step(1400)
    else:
        np.testing.assert_allclose(part.commanded_velocity[:7], 0.0, atol=0.01)
        held = h.state.elapsed
        h.speed = 1.0
        h.step(1400)
        assert held == pytest.approx(0.25)
    np.testing.assert_allclose(part.commanded_position[:7], q[-1], atol=1e-4)


@pytest.mark.parametrize("mode", ["velocity", "effort"])
def test_V17_the_signal_stop_brings_it_to_rest_on_its_path(harness, bent, goal, mode):
    more = SPRING if mode == "effort" else {}
    h, part, _ = _track(harness, bent, goal, mode=mode, **more)
    h.start()
    h.step(400)
    h.signal("stop")
    h.step(1200)
    assert h.state.is_stopped == 1.0 and h.state.is_done == 0.0 and abs(part.commanded_velocity[:7]).max() < 1e-6
    way = (part.commanded_position[:7] - bent) / (np.array(goal) - bent)
    np.testing.assert_allclose(way, way[0], atol=1e-6)
    assert 0.3 < way[0] < 0.8


def test_V17_efforts_without_feedback_leave_a_stop_to_the_loop(harness, bent, goal):
    h, part, _ = _track(harness, bent, goal, mode="effort", correction=0.0)
    h.start()
    h.step(400)
    h.signal("stop")
    h.step()
    assert part.command_mode == int(CommandMode.NONE)


def test_V17_velocities_pass_the_points_and_correct_what_the_joints_miss(harness, bent, goal):
    h, part, (q, _, _) = _track(harness, bent, goal, mode="velocity")
    h.start()
    h.step(500)
    assert part.command_mode == int(CommandMode.VELOCITY)
    np.testing.assert_allclose(part.commanded_position[:7], q[10], atol=1e-12)
    part.commanded_position[:7] += 0.01  # something has moved them
    h.step(500)
    np.testing.assert_allclose(part.commanded_position[:7] - q[-1], 0.01 * np.exp(-5.0), atol=1e-5)


def test_V17_the_mode_may_change_on_the_way(harness, bent, goal):
    h, part, (q, _, a) = _track(harness, bent, goal)
    h.start()
    h.step(300)
    h.set_parameters(mode="effort", efforts=list(a.ravel()), **SPRING)
    for _ in range(200):
        h.step()
        assert np.abs(part.commanded_acceleration[:7]).max() < 2.0, "no jump"
    np.testing.assert_allclose(part.commanded_position[:7], q[10], atol=1e-3)


@pytest.mark.parametrize("mode", ["velocity", "effort"])
def test_V17_compiled_equals_interpreted_and_allocates_nothing(harness, bent, goal, mode):
    more = {"correction": 20.0, "gravity": True, **SPRING} if mode == "effort" else {}
    runs = []
    for compiled in (False, True):
        h, part, _ = _track(harness, bent, goal, compiled=compiled, mode=mode, **more)
        h.start()
        commands = []
        for _ in range(60):
            assert h.step() == 0
            commands.append(part.commanded_position[:7].copy())
        runs.append(np.array(commands))
    np.testing.assert_array_equal(runs[0], runs[1])
    _nrt_python.memsys_enable_stats()
    counts = []
    for ticks in (10, 200):
        before = rtsys.get_allocation_stats()
        h.step(ticks)
        after = rtsys.get_allocation_stats()
        counts.append((after.alloc - before.alloc, after.mi_alloc - before.mi_alloc))
    assert counts[0] == counts[1]


EFFORT = {"mode": "effort"}
BELOW = [0.0] * 7


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"efforts": BELOW}, "efforts in mode position; expected none; got efforts. Set mode: effort"),
        ({"gravity": True}, "gravity in mode position; expected none; got gravity. Set mode: effort"),
        ({"mode": "velocity", "stiffness": BELOW}, "stiffness in mode velocity; expected none"),
        ({"mode": "torque"}, "parameter 'mode': not a valid choice; expected .*effort"),
        ({**EFFORT, "efforts": [0.0] * 13}, "number of efforts; expected 2 points of 7 joints, 14 in all, or 7 of the "
         "pieces; got 13"),
        ({**EFFORT, "efforts": [float("nan")] * 14}, r"'efforts': element \[0\] is not finite"),
        ({**EFFORT, "efforts": [0.0] * 9 + [-100.5] + [0.0] * 4},
         "the effort of joint 'arm_joint_3' at 1.000 s is above its limit; expected at most 100.0000; got -100.5000"),
        ({**EFFORT, "efforts": BELOW, "velocities": [0.0] * 8 + [1.6] + [0.0] * 5},
         "the velocity of joint 'arm_joint_2' at 1.000 s is above its limit, with 5 %; expected at most 1.5750; got"),
        ({**EFFORT, "stiffness": [1.0] * 6}, "'stiffness': wrong length"),
        ({**EFFORT, "stiffness": [-1.0] * 7}, "'stiffness': element .* out of range; expected at least 0"),
        ({**EFFORT, "stiffness": [1.0] * 7}, "stiffness; expected damping or correction with it; got stiffness alone"),
        ({**EFFORT, "correction": 301.0}, "correction is not stable with a period of 0.001 s; expected at most 300"),
    ],
)  # fmt: skip
def test_V17_what_does_not_fit_is_refused_with_its_text(parameters, text):
    given = {"times": [0.0, 1.0], "positions": [0.0] * 14, **parameters}
    with pytest.raises(DefinitionError, match=text):
        ActionHarness(TrackTrajectory, parts={"part": FakeArm(name="arm")}, parameters=given)


def test_V17_a_mode_that_the_hardware_lacks_is_refused():
    arm = FakeArm(name="arm")
    object.__setattr__(arm.description, "command_modes", (CommandMode.POSITION, CommandMode.VELOCITY))
    given = {"times": [0.0, 1.0], "positions": [0.0] * 14, "mode": "effort"}
    text = "track_trajectory of 'arm': its hardware does not take the mode; expected position or velocity; got effort"
    with pytest.raises(DefinitionError, match=text):
        ActionHarness(TrackTrajectory, parts={"part": arm}, parameters=given)


def test_V17_without_masses_the_gains_must_be_given():
    part = FakePart(name="fingers", kind=PartKind.GRIPPER, dof=2)
    part.description.initial_record.chain.n_joints = part.live.chain.n_joints = 0
    given = {"times": [0.0, 1.0], "positions": [0.0] * 4, "mode": "effort"}
    with pytest.raises(DefinitionError, match="masses are not known; expected stiffness and damping; got none of them"):
        ActionHarness(TrackTrajectory, parts={"part": part}, parameters=given)
    with pytest.raises(DefinitionError, match="expected stiffness and damping; got correction"):
        ActionHarness(TrackTrajectory, parts={"part": part}, parameters={**given, "correction": 50.0})
    for enough in ({"stiffness": [9.0] * 2, "damping": [6.0] * 2}, {"correction": 0.0, "efforts": [0.0] * 4}):
        h = ActionHarness(TrackTrajectory, parts={"part": part}, parameters={**given, **enough})
        h.start()
        assert h.step(10) == 0


def test_V17_its_record_grows_by_at_most_64_kB():
    record = parameter_dtype(TrackTrajectory)
    before = 8 * (4 + 513 + 2 * 513 * 16 + 2 * 512 * 16 + 16)
    assert record.itemsize - before <= 64_000


def test_V17_a_long_trajectory_of_efforts_names_the_capacity():
    n = MAX_SEGMENTS + 2
    given = {"times": (np.arange(n) * 0.1).tolist(), "positions": [0.0] * 7 * n, "mode": "effort"}
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    action = ActionDefinition(
        id="a",
        type="track_trajectory",
        parts=("arm",),
        parameters=tuple(ParameterValue(name=name, value=value) for name, value in values.items()),
    )
    assert as_group(action, {}) is action, "a motion group commands positions alone"
    text = "at most 513; got 514. Only mode position may have more points; motion_group/thinning.py leaves some of them"
    with pytest.raises(CapacityError, match=text):
        ActionHarness(TrackTrajectory, parts={"part": FakeArm(name="arm")}, parameters=given)
