import numpy as np
import pytest

from robot_rt_control.model.kinematics.forward import forward
from robot_rt_control.model.kinematics.inverse_kinematics import inverse_kinematics
from robot_rt_control.vocabulary.errors import DefinitionError


def _pose(arm, q):
    p, quat = np.zeros(3), np.zeros(4)
    forward(arm.record, q, p, quat)
    return p, quat


def test_reaches_every_pose_that_a_configuration_within_limits_has(arm):
    middle = 0.5 * (arm.lower + arm.upper)
    for q in arm.configurations(40):
        p, quat = _pose(arm, q)
        found = inverse_kinematics(arm.record, p, quat, middle, (arm.lower, arm.upper))
        assert (found >= arm.lower).all() and (found <= arm.upper).all()
        X, Y = arm.pose(found), arm.pose(q)
        np.testing.assert_allclose(X.translation, Y.translation, atol=1e-6)
        np.testing.assert_allclose(X.rotation, Y.rotation, atol=2e-6)


def test_a_goal_near_the_seed_gives_a_configuration_near_the_seed(iiwa):
    seed = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
    p, quat = _pose(iiwa, seed)
    found = inverse_kinematics(iiwa.record, p + [0, 0, 0.01], quat, seed, (iiwa.lower, iiwa.upper))
    assert np.abs(found - seed).max() < 0.1


def test_out_of_reach_tells_the_residual(iiwa):
    with pytest.raises(DefinitionError) as error:
        inverse_kinematics(
            iiwa.record, [3.0, 0.0, 0.0], [0, 0, 0, 1], np.zeros(7), (iiwa.lower, iiwa.upper), item="goal 'above'"
        )
    text = str(error.value)
    assert text.startswith("goal 'above': no joint positions found for position [3.0, 0.0, 0.0] m")
    assert "expected a residual of at most 1e-06 m and 1e-06 rad" in text
    residual = float(text.split("got ")[1].split(" m")[0])
    assert 1.5 < residual < 2.5  # about 3 m away, and the arm is about 1.3 m long
    assert "Choose a pose within reach" in text


@pytest.mark.parametrize(
    ("p", "quat", "text"),
    [
        ([0, 0], [0, 0, 0, 1], "position; expected 3 finite numbers; got [0.0, 0.0]"),
        ([0, 0, np.nan], [0, 0, 0, 1], "position; expected 3 finite numbers"),
        ([0, 0, 1], [0, 0, 0, 2], "expected a quaternion x y z w of length 1; got length 2"),
    ],
)
def test_malformed_goals_are_refused(iiwa, p, quat, text):
    with pytest.raises(DefinitionError) as error:
        inverse_kinematics(iiwa.record, p, quat, np.zeros(7))
    assert text in str(error.value)
