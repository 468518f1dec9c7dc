"""Rule A16 of docs/semantics/actions.md: new parameters of a velocity_move, through the server."""

from __future__ import annotations

import numpy as np

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.testing.lockstep_cell import LockstepCell


def test_A16_a_moving_arm_takes_a_new_velocity_within_its_limits_from_the_tick_of_the_answer() -> None:
    with LockstepCell("arm7") as cell:
        session = cell.session("arm")
        session.add(
            Action("go", "velocity_move", parts="arm", velocity=[0.3, 0, 0, 0, 0, 0, 0]),
            reactions=[Reaction("go.is_done", event="reached")],
        )
        session.start("go")
        cell.step_until(lambda: len(cell.fired("reached")) == 1)
        arm, record = cell.part("arm"), cell.workcell.part("arm").record
        accelerations = [arm.commanded_acceleration[:7].copy()]
        session.set("go", velocity=[-0.2, 0.1, 0, 0, 0, 0, 0])
        before = arm.commanded_velocity[0]
        cell.step()
        assert arm.commanded_velocity[0] < before, "in that tick"
        while len(cell.fired("reached")) < 2:
            accelerations.append(arm.commanded_acceleration[:7].copy())
            assert len(accelerations) < 2000
            cell.step()
        np.testing.assert_allclose(arm.commanded_velocity[:7], [-0.2, 0.1, 0, 0, 0, 0, 0], atol=1e-9)
        assert (np.abs(accelerations) <= record.acceleration_limit[:7] * 1.001).all()
        jerk = np.abs(np.diff(accelerations, axis=0)) / cell.workcell.period
        assert (jerk <= record.jerk_limit[:7] * 1.05 + 1e-3).all()
        assert session.value("go.is_done") == 1.0 and cell.active("arm") == "go"
