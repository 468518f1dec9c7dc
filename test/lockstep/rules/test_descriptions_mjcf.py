"""A program moves a robot that is in an MJCF, and a reaction fires on a sensor of that MJCF."""

from __future__ import annotations

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.testing.lockstep_cell import LockstepCell


def test_X11_a_reaction_on_the_rangefinder_of_an_mjcf_stops_the_arm_above_the_box() -> None:
    """The MJCF's servo of positions lowers the shoulder, the plugin's own drive the elbow."""
    with LockstepCell("table_arm", hardware="mujoco") as cell:
        session = cell.session("arm", "gripper")
        session.add(
            Action(
                "down",
                "move_joint",
                parts="arm",
                position=[0.0, -0.2, 1.77],
                velocity_scale=0.1,
                reactions=[Reaction("eye.distance < 0.08", start="stay", event="near")],
            ),
            Action("stay", "stop", parts="arm"),
            Action("shut", "move_joint", parts="gripper", position=[0.01]),
        )
        session.start("down", "shut")
        before = session.value("eye.distance")
        for _ in range(4000):
            cell.step()
            if cell.active("arm") == "stay":
                break
        assert session.value("eye.distance") < 0.08 < before
        assert len(cell.kinds("reaction_fired")) == 1
        cell.step(1000)
        assert session.value("eye.distance") == pytest.approx(0.08, abs=0.02)
        assert session.value("io.opening") == pytest.approx(0.01, abs=5e-4)
        assert not cell.kinds("part_faulted")
