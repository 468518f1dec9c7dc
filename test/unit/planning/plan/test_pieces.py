"""Limits between the ends of control steps."""

from types import SimpleNamespace

import numpy as np
import pytest

from robot_rt_control.planning.plan.pieces import excess, planned_limits


def joints(**changes):
    values = {
        "names": ("arm.a",), "velocity_driven": np.array([True]), "start": np.zeros(1),
        "lower": np.array([-1.0]), "upper": np.array([1.0]),
        "velocity": np.array([2.0]), "acceleration": np.array([4.0]),
    }  # fmt: skip
    return SimpleNamespace(**{**values, **changes})


def turned_back(top, step=0.1, acceleration=4.0):
    """Position and velocity at the ends of four control steps: it turns back in the middle of the third."""
    v = acceleration * step * np.array([0.0, 0.5, 0.5, -0.5, 0.0])
    q = np.concatenate([[0.0], np.cumsum(0.5 * step * (v[1:] + v[:-1]))])
    beyond = acceleration * step**2 / 8.0
    return (q - q[2] - beyond + top)[:, None], v[:, None]


def test_V27_a_joint_that_turns_back_beyond_its_limit_between_two_ends_is_named():
    q, v = turned_back(top=1.001)
    assert q.max() < 1.0
    found = excess(joints(), q, v, 0.1)
    assert "the position of joint 'arm.a' at 0.230 s is outside its limits" in found


def test_V27_limits_of_the_ends_leave_room_for_it():
    lower, upper, velocity = planned_limits(joints(), 0.1)
    assert upper[0] == pytest.approx(1.0 - 4.0 * 0.1**2 / 8.0) and lower[0] == pytest.approx(-upper[0])
    assert 1.9999 < velocity[0] < 2.0
    q, v = turned_back(top=1.0)
    assert q.max() == pytest.approx(upper[0]) and excess(joints(), q, v, 0.1) == ""


def test_a_joint_may_stay_where_it_starts():
    lower, upper, _ = planned_limits(joints(start=np.array([1.0])), 0.1)
    assert upper[0] == 1.0 and lower[0] > -1.0


def test_without_limits_of_position_there_is_nothing_to_keep():
    lower, upper, _ = planned_limits(joints(lower=np.array([-np.inf]), upper=np.array([np.inf])), 0.5)
    assert lower[0] == -np.inf and upper[0] == np.inf


def test_what_efforts_lead_to_may_be_a_little_too_fast():
    q, v = np.zeros((2, 1)), np.array([[0.0], [2.05]])
    driven = joints(velocity_driven=np.array([False]))
    assert excess(driven, q, v, 0.1) == ""
    assert "above its velocity limit" in excess(driven, q, 1.1 * v, 0.1)
