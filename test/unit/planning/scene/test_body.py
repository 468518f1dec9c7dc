"""How the body moves: the maps of both kinds are inverse to each other, and the one of a link is that of MuJoCo."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_rt_control.planning.scene.body import ChainJoint, FreeBody, LinkBody


def chain():
    """x, z and pitch, as of a planar humanoid, on a tilted root; the second joint is 0.3 m further."""
    root = np.eye(4)
    root[:3, :3] = Rotation.from_quat([0.6, 0.0, 0.0, 0.8]).as_matrix()
    root[:3, 3] = 0.1, 0.2, 0.3
    shifted = np.eye(4)
    shifted[0, 3] = 0.3
    return LinkBody(
        chain=(
            ChainJoint(X_PJ=root, prismatic=True, axis=np.array([1.0, 0.0, 0.0]), q=1, v=1),
            ChainJoint(X_PJ=shifted, prismatic=True, axis=np.array([0.0, 0.0, 1.0]), q=2, v=2),
            ChainJoint(X_PJ=np.eye(4), prismatic=False, axis=np.array([0.0, 1.0, 0.0]), q=3, v=3),
        ),
        X_JL=shifted,
    )


FREE = FreeBody(q=1, v=1)
LINK = chain()


def state(body):
    random = np.random.default_rng(2)
    if body is LINK:
        return random.uniform(-1.0, 1.0, 5), random.uniform(-1.0, 1.0, 5)
    q = random.uniform(-1.0, 1.0, 9)
    q[4:8] /= np.linalg.norm(q[4:8])
    return q, random.uniform(-1.0, 1.0, 8)


def reachable(body, q, z):
    """The part of deviations that the body can take."""
    if body is FREE:
        return z
    J = body._frames(q)[2]
    P = J @ np.linalg.pinv(J)
    return np.concatenate([z[:, :6] @ P.T, z[:, 6:] @ P.T], axis=1)


@pytest.mark.parametrize("body", [FREE, LINK], ids=["free", "link"])
def test_a_deviation_that_is_taken_is_found_again(body):
    q, v = state(body)
    z = reachable(body, q, 1e-6 * np.random.default_rng(4).normal(size=(7, 12)))
    moved_q, moved_v = body.moved(q, v, z)
    assert body.deviation(q, v, moved_q, moved_v) == pytest.approx(z, abs=2e-11)
    others = [i for i in range(len(q)) if not 1 <= i < (8 if body is FREE else 4)]
    assert (moved_q[:, others] == q[others]).all()


@pytest.mark.parametrize("body", [FREE, LINK], ids=["free", "link"])
def test_the_twist_is_how_the_pose_changes(body):
    q, v = state(body)
    twist = body.twist(q, v)
    p, R = body.pose(q)
    z = np.zeros((2, 12))
    z[:, :6] = 1e-6 * np.array([twist, -twist])
    moved, _ = body.moved(q, v, z)
    ps, Rs = body.pose(moved)
    assert (ps[0] - ps[1]) / 2e-6 == pytest.approx(twist[:3], abs=1e-6)
    spin = R.T @ (Rs[0] - Rs[1]) / 2e-6
    assert [spin[2, 1], spin[0, 2], spin[1, 0]] == pytest.approx(twist[3:], abs=1e-6)


@pytest.mark.parametrize("body", [FREE, LINK], ids=["free", "link"])
def test_the_generalized_force_has_the_power_of_the_wrench(body):
    q, v = state(body)
    _, R = body.pose(q)
    wrench = np.random.default_rng(6).normal(size=6)
    twist = body.twist(q, v)
    power = wrench[:3] @ twist[:3] + wrench[3:] @ (R @ twist[3:])
    assert body.generalized(q, wrench, len(v)) @ v == pytest.approx(power)


@pytest.mark.parametrize("body", [FREE, LINK], ids=["free", "link"])
def test_placed_it_is_there(body):
    q, v = state(body)
    p, R = body.pose(q)
    placed = body.placed(np.where(np.arange(len(q)) == 4, 1.0, 0.0), p, Rotation.from_matrix(R).as_quat())
    assert body.pose(placed)[0] == pytest.approx(p, abs=1e-9)
    assert body.pose(placed)[1] == pytest.approx(R, abs=1e-9)
