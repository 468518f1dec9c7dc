"""change_tool in the harness: fakes change tools as the loop does."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.actions.change_tool import ChangeTool
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm, FakePart
from robot_rt_control.vocabulary.enums import PartKind, Status
from robot_rt_control.vocabulary.errors import DefinitionError

BENT = (0.0, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0)


def moving_arm() -> FakeArm:
    arm = FakeArm(position=BENT)
    arm.live.commanded_velocity[:7] = 0.3
    return arm


def test_the_tool_is_put_on_at_rest_and_the_pose_follows() -> None:
    arm = moving_arm()
    harness = ActionHarness(ChangeTool, parts={"arm": arm}, parameters={"tool": "second"})
    harness.start()
    speeds = []
    while arm.tool == "first":
        harness.step()
        speeds.append(float(np.abs(arm.live.commanded_velocity[:7]).max()))
    assert len(speeds) > 20 and speeds[0] > 0.29 and speeds[-1] == 0.0
    held = arm.live.commanded_position[:7].copy()
    p_WT, _ = arm.forward()
    assert p_WT == pytest.approx(arm.live.tool_position, abs=1e-12)
    flange = arm.with_tool("first").forward()[0]
    assert np.linalg.norm(p_WT - flange) == pytest.approx(0.2)
    harness.step(2)
    assert harness.state.is_done == 1.0 and arm.tool == "second"
    harness.step(50)
    assert (arm.live.commanded_position[:7] == held).all()


def test_a_tool_that_does_not_fit_is_refused_at_the_start() -> None:
    arm = FakeArm(position=BENT)
    arm.live.tool_fits[1] = 0.0
    harness = ActionHarness(ChangeTool, parts={"arm": arm}, parameters={"tool": "second"})
    harness.start()
    assert harness.step() == Status.WRONG_TOOL
    assert arm.tool == "first"


def test_it_waits_for_a_sensor_if_asked_to() -> None:
    arm = FakeArm(position=BENT)
    arm.live.tool_fits[1] = np.nan
    harness = ActionHarness(ChangeTool, parts={"arm": arm}, parameters={"tool": "second", "wait": True})
    harness.start()
    harness.step(100)
    assert harness.state.is_waiting == 1.0 and harness.state.is_done == 0.0 and arm.tool == "first"
    arm.live.tool_fits[1] = 1.0
    harness.step(2)
    assert harness.state.is_waiting == 0.0 and harness.state.is_done == 1.0 and arm.tool == "second"


def test_a_tool_that_is_on_is_done_at_once() -> None:
    harness = ActionHarness(ChangeTool, parts={"arm": FakeArm(position=BENT)}, parameters={"tool": "first"})
    harness.start()
    harness.step(2)
    assert harness.state.is_done == 1.0


@pytest.mark.parametrize("arm", [FakeArm(position=BENT), FakePart(kind=PartKind.ARM, dof=0)])
def test_an_unknown_tool_is_refused(arm: FakePart) -> None:
    with pytest.raises(DefinitionError, match="tool"):
        ActionHarness(ChangeTool, parts={"arm": arm}, parameters={"tool": "secnd"})
