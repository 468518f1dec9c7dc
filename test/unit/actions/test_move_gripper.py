from __future__ import annotations

import pytest

from robot_rt_control.actions.move_gripper import MoveGripper
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError


def _gripper() -> FakePart:
    part = FakePart(name="gripper", kind=PartKind.GRIPPER, dof=2, position=(0.0, 0.01))
    part.live.position_lower[:2], part.live.position_upper[:2] = (0.0, -0.01), (0.04, 0.03)
    return part


@pytest.mark.parametrize(("opening", "expected"), [(1.0, (0.04, 0.03)), (0.0, (0.0, -0.01)), (0.25, (0.01, 0.0))])
def test_all_fingers_reach_the_fraction_of_their_range(opening, expected):
    part = _gripper()
    h = ActionHarness(MoveGripper, parts={"gripper": part}, parameters={"opening": opening}, compiled=True)
    h.start()
    h.step_until(lambda: bool(h.state.is_settled), at_most=3000)
    assert part.live.commanded_position[:2] == pytest.approx(expected, abs=1e-9)
    assert h.state.progress == 1.0


def test_more_than_open_is_refused():
    with pytest.raises(DefinitionError, match="'opening': out of range; expected 0 to 1; got 1.5"):
        ActionHarness(MoveGripper, parts={"gripper": _gripper()}, parameters={"opening": 1.5})
