"""Where limits come from, and what may override what."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from robot_rt_control.model.workcell.limits import resolve_limits, resolve_system_limits
from robot_rt_control.model.workcell.workcell_schema import Limits, SystemLimits
from robot_rt_control.text.document import Document
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import DefinitionError


@dataclass
class Joint:
    name: str
    type: str = "revolute"
    lower: float = -2.0
    upper: float = 3.0
    velocity: float | None = 2.0
    effort: float | None = 50.0


@pytest.fixture
def place(tmp_path):
    return Document("a: 1", str(tmp_path / "cell.yaml"), max_bytes=100).root / "limits"


JOINTS = [Joint("a"), Joint("b", type="continuous", lower=-math.inf, upper=math.inf, effort=None)]


def test_defaults(place):
    limits = resolve_limits(JOINTS, Limits(), place)
    np.testing.assert_array_equal(limits.position_lower, [-2.0, -math.inf])
    np.testing.assert_array_equal(limits.position_upper, [3.0, math.inf])
    np.testing.assert_array_equal(limits.velocity, [2.0, 2.0])
    np.testing.assert_array_equal(limits.acceleration, [8.0, 8.0])  # 2 rad/s in 0.25 s
    np.testing.assert_allclose(limits.jerk, [80.0, 80.0])  # 8 rad/s^2 in 0.1 s
    np.testing.assert_array_equal(limits.effort, [50.0, math.inf])
    np.testing.assert_allclose(limits.effort_rate, [1000.0, math.inf])


def test_the_default_limits_allow_rest_within_half_a_second(place):
    limits = resolve_limits(JOINTS, Limits(), place)
    time = limits.velocity / limits.acceleration + limits.acceleration / limits.jerk
    assert (time < 0.5).all()


def test_a_number_counts_for_all_joints_and_lists_for_each(place):
    limits = resolve_limits(JOINTS, Limits(velocity=1.5, acceleration=(1.0, 2.0), position_upper=(1.0, 9.0)), place)
    np.testing.assert_array_equal(limits.velocity, [1.5, 1.5])
    np.testing.assert_array_equal(limits.acceleration, [1.0, 2.0])
    np.testing.assert_array_equal(limits.position_upper, [1.0, 9.0])
    np.testing.assert_allclose(limits.jerk, [10.0, 20.0])


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"velocity": 2.5}, "limits.velocity, joint 'a'; expected at most 2, the limit of the URDF; got 2.5"),
        ({"effort": 60.0}, "limits.effort, joint 'a'; expected at most 50, the limit of the URDF; got 60"),
        (
            {"position_lower": -2.5},
            "limits.position_lower, joint 'a'; expected at least -2, the limit of the URDF; got ",
        ),
        ({"position_upper": (3.5, 0.0)}, "limits.position_upper, joint 'a'; expected at most 3"),
        ({"position_upper": (-2.0, 1.0)}, "joint 'a'; expected position_lower < position_upper; got -2, -2"),
        ({"acceleration": (1.0, 0.0)}, "limits.acceleration, joint 'b'; expected a number above 0; got 0"),
        ({"jerk": (1.0, 2.0, 3.0)}, "limits.jerk; expected 2 numbers, one for each joint; got 3"),
    ],
)
def test_limits_may_only_be_tightened(place, given, text):
    with pytest.raises(DefinitionError) as error:
        resolve_limits(JOINTS, Limits(**given), place)
    assert text in str(error.value)


def test_a_velocity_limit_is_needed(place):
    joints = [Joint("a"), Joint("b", velocity=None)]
    with pytest.raises(DefinitionError, match="expected a velocity limit, as the URDF has none for b; got none"):
        resolve_limits(joints, Limits(), place)
    np.testing.assert_array_equal(resolve_limits(joints, Limits(velocity=1.0), place).velocity, [1.0, 1.0])


def _system(place, given, planned=None):
    limits = resolve_limits(JOINTS, planned or Limits(), place)
    return resolve_system_limits(JOINTS, limits, given, [CommandMode.POSITION, CommandMode.EFFORT], place)


def test_system_limits_lie_outside_of_what_actions_plan_with(place):
    record = _system(place, SystemLimits())
    np.testing.assert_allclose(record.velocity[:2], [2.1, 2.1])
    np.testing.assert_allclose(record.acceleration[:2], [9.6, 9.6])
    np.testing.assert_array_equal(record.position_upper[:2], [3.0, math.inf])
    assert record.position_tolerance == 0.05 and record.velocity_tolerance == 0.5
    assert record.supported_modes == 0b1010
    assert (record.velocity[2:] == 0).all()


def test_given_system_limits(place):
    given = SystemLimits(velocity=1.2, position_upper=2.0, position_tolerance=0.2)
    record = _system(place, given, Limits(velocity=1.0, position_upper=1.5))
    np.testing.assert_array_equal(record.velocity[:2], [1.2, 1.2])
    np.testing.assert_array_equal(record.position_upper[:2], [2.0, 2.0])
    assert record.position_tolerance == 0.2


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"velocity": 1.9}, "velocity, joint 'a'; expected at least 2, what actions plan with; got 1.9"),
        ({"velocity": 2.2}, "velocity, joint 'a'; expected at most 2.1, the limit of the URDF times 1.05; got 2.2"),
        ({"position_lower": 0.0}, "position_lower, joint 'a'; expected at most -2, what actions plan with; got 0"),
        (
            {"position_upper": (3.1, 9.0)},
            "position_upper, joint 'a'; expected at most 3, the limit of the URDF; got 3.1",
        ),
        ({"acceleration": (8.0, 7.0)}, "acceleration, joint 'b'; expected at least 8, what actions plan with; got 7"),
    ],
)
def test_system_limits_that_do_not_fit(place, given, text):
    planned = Limits(position_upper=(3.0, 5.0))
    with pytest.raises(DefinitionError) as error:
        _system(place, SystemLimits(**given), planned)
    assert text in str(error.value)
