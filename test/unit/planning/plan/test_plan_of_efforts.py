"""V17: the efforts of a plan as parameters of track_trajectory."""

from typing import Any

import numpy as np
import pytest

from robot_rt_control.planning.plan.plan import FORMAT, Plan
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm


def make(driven=(False, False, True)):
    """Two joints under constant efforts, unit inertias from rest, and one of another part."""
    header = {
        "format": FORMAT, "joints": ["a.j", "a.k", "b.j"], "pairs": [], "steps": 4, "time": 0.4,
        "velocity_driven": list(driven),
    }  # fmt: skip
    t, u = 0.1 * np.arange(5)[:, None], np.array([0.5, -1.0, 2.0])
    nothing = np.zeros((5, 0))
    return Plan(
        header=header, position=0.5 * t**2 * u, velocity=t * u, inputs=np.tile(u, (4, 1)),
        body_position=np.zeros((5, 3)),
        body_rotation=np.tile(np.eye(3), (5, 1, 1)), distance=nothing, stiffness=nothing[1:], virtual_force=nothing[1:],
        virtual_distance=nothing,
    )  # fmt: skip


def parameters(part: str) -> dict[str, Any]:
    (action,) = (action for action in make().actions() if action.parts == (part,))
    return {parameter.name: parameter.value for parameter in action.parameters}


def test_V17_one_effort_for_each_control_step_and_none_in_the_last_piece():
    found = parameters("a")
    assert found["mode"] == "effort" and found["gravity"] is True
    assert found["times"] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert np.reshape(found["efforts"], (-1, 2)).tolist() == [[0.5, -1.0]] * 4 + [[0.0, 0.0]]
    assert np.reshape(found["velocities"], (-1, 2))[-2:].tolist() == [[0.2, -0.4], [0.0, 0.0]]
    assert np.reshape(found["positions"], (-1, 2))[-1] == pytest.approx([0.04 + 0.01, -0.08 - 0.02])


def test_V17_they_carry_unit_inertias_along_the_plan():
    from robot_rt_control.actions.track_trajectory import TrackTrajectory

    arm = FakeArm(name="arm", dof=2)
    given = parameters("a") | {"gravity": False, "correction": 0.0}
    h = ActionHarness(TrackTrajectory, parts={"part": arm}, parameters=given)
    h.start()
    h.step(400)
    np.testing.assert_allclose(arm.live.commanded_position[:2], [0.04, -0.08], atol=3e-4)


def test_V17_a_part_that_is_velocity_driven_has_positions():
    assert set(parameters("b")) == {"times", "positions", "velocities", "slowest"}
