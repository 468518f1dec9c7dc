"""How the body of a task moves: on its own, or as a link whose joints belong to no part.

Its state is the same for both, and reduced: pose and twist, see trajectory.py. These classes map it to the simulation's
positions q and velocities v and back. Arrays may have more axes in front: one call serves all states of a
linearization.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.model.rotation_formulas import rotations_about, rotations_of, small_turns, turned

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class FreeBody:
    """A body that nothing holds, its frame at its centre of mass: q is position and quaternion w x y z."""

    q: int
    """First of its seven places in q."""
    v: int
    """First of its six places in v: linear in the world, angular in the body's frame."""

    @property
    def _orientation(self) -> list[int]:
        """Places of x y z w."""
        return [self.q + i for i in (4, 5, 6, 3)]

    def pose(self, q: Array) -> tuple[Array, Array]:
        """p_WB (..., 3) [m] and R_WB (..., 3, 3) of q (..., nq)."""
        return q[..., self.q : self.q + 3], rotations_of(q[..., self._orientation])

    def twist(self, q: Array, v: Array) -> Array:
        """(..., 6) linear velocity [m/s] in the world, angular [rad/s] in the body's frame."""
        return v[..., self.v : self.v + 6]

    def moved(self, q: Array, v: Array, z: Array) -> tuple[Array, Array]:
        """q (B, nq) and v (B, nv) after small deviations z (B, 12) from q (nq,) and v (nv,)."""
        moved_q, moved_v = np.repeat(q[None], len(z), axis=0), np.repeat(v[None], len(z), axis=0)
        moved_q[:, self.q : self.q + 3] += z[:, :3]
        moved_q[:, self._orientation] = turned(q[self._orientation], z[:, 3:6])
        moved_v[:, self.v : self.v + 6] += z[:, 6:]
        return moved_q, moved_v

    def deviation(self, reference_q: Array, reference_v: Array, q: Array, v: Array) -> Array:
        """(B, 12) small deviations of q (B, nq) and v (B, nv) from a reference."""
        z = np.zeros((len(q), 12))
        z[:, :3] = q[:, self.q : self.q + 3] - reference_q[self.q : self.q + 3]
        z[:, 3:6] = small_turns(reference_q[self._orientation], q[:, self._orientation])
        z[:, 6:] = v[:, self.v : self.v + 6] - reference_v[self.v : self.v + 6]
        return z

    def generalized(self, q: Array, wrench: Array, nv: int) -> Array:
        """(..., nv) of a force [N] and a torque [Nm] about the origin, (..., 6) in the world, at q (..., nq)."""
        _, R = self.pose(q)
        result = np.zeros((*wrench.shape[:-1], nv))
        result[..., self.v : self.v + 3] = wrench[..., :3]
        result[..., self.v + 3 : self.v + 6] = np.einsum("...ji,...j->...i", R, wrench[..., 3:])
        return result

    def placed(self, q: Array, p_WB: Array, quaternion: Array) -> Array:
        """q (nq,) with the body in another pose; quaternion x y z w."""
        q = q.copy()
        q[self.q : self.q + 3], q[self._orientation] = p_WB, quaternion
        return q


@dataclass(frozen=True, kw_only=True)
class ChainJoint:
    """A joint between the world and a link."""

    X_PJ: Array
    """(4, 4) of the joint at 0 in the frame of the joint before it, or in the world."""
    prismatic: bool
    axis: Array
    """(3,) in the joint's frame."""
    q: int
    v: int


@dataclass(frozen=True, kw_only=True)
class LinkBody:
    """A link that joints of no part carry, such as a humanoid's torso; the frame is the link's."""

    chain: tuple[ChainJoint, ...]
    """From the world on."""
    X_JL: Array
    """(4, 4) of the link in the frame of the last joint."""

    def _frames(self, q: Array) -> tuple[Array, Array, Array]:
        """p_WL (..., 3), R_WL (..., 3, 3), and the Jacobian (..., 6, joints): rows as the twist's."""
        lead = q.shape[:-1]
        p, R = np.zeros((*lead, 3)), np.broadcast_to(np.eye(3), (*lead, 3, 3))
        origins, axes = [], []
        for joint in self.chain:
            p = p + R @ joint.X_PJ[:3, 3]
            R = R @ joint.X_PJ[:3, :3]
            value = q[..., joint.q]
            axis = R @ joint.axis
            if joint.prismatic:
                p = p + axis * value[..., None]
            else:
                R = R @ rotations_about(joint.axis, value)
            origins.append(p)
            axes.append(axis)
        p, R = p + R @ self.X_JL[:3, 3], R @ self.X_JL[:3, :3]
        J = np.zeros((*lead, 6, len(self.chain)))
        for i, joint in enumerate(self.chain):
            if joint.prismatic:
                J[..., :3, i] = axes[i]
            else:
                J[..., :3, i] = np.cross(axes[i], p - origins[i])
                J[..., 3:, i] = np.einsum("...ji,...j->...i", R, axes[i])
        return p, R, J

    @property
    def _q(self) -> list[int]:
        return [joint.q for joint in self.chain]

    @property
    def _v(self) -> list[int]:
        return [joint.v for joint in self.chain]

    def pose(self, q: Array) -> tuple[Array, Array]:
        """As of FreeBody."""
        p, R, _ = self._frames(q)
        return p, R

    def twist(self, q: Array, v: Array) -> Array:
        """As of FreeBody."""
        return np.einsum("...ij,...j->...i", self._frames(q)[2], v[..., self._v])

    def moved(self, q: Array, v: Array, z: Array) -> tuple[Array, Array]:
        """As of FreeBody; of a deviation the part that the joints can take."""
        p, R, J = self._frames(q)
        moved_q, moved_v = np.repeat(q[None], len(z), axis=0), np.repeat(v[None], len(z), axis=0)
        moved_q[:, self._q] += z[:, :6] @ np.linalg.pinv(J).T
        _, _, moved_J = self._frames(moved_q)
        twist = J @ v[self._v] + z[:, 6:]
        moved_v[:, self._v] = np.einsum("...ij,...j->...i", np.linalg.pinv(moved_J), twist)
        return moved_q, moved_v

    def deviation(self, reference_q: Array, reference_v: Array, q: Array, v: Array) -> Array:
        """As of FreeBody."""
        p0, R0, J0 = self._frames(reference_q)
        p, R, J = self._frames(q)
        turn = 0.5 * (R0.T @ R - np.swapaxes(R, -1, -2) @ R0)
        z = np.zeros((len(q), 12))
        z[:, :3] = p - p0
        z[:, 3], z[:, 4], z[:, 5] = turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0]
        z[:, 6:] = np.einsum("...ij,...j->...i", J, v[..., self._v]) - J0 @ reference_v[self._v]
        return z

    def recoil(self, q: Array, M: Array, rates: Array) -> Array:
        """(6, n) twist that the link gets for a unit velocity of each joint that stops: momentum stays.

        Args:
            q: (nq,)
            M: (nv, nv) mass matrix there.
            rates: (nv, n) velocities of all by those of these joints.
        """
        own = np.array(self._v, dtype=np.intp)
        return np.asarray(self._frames(q)[2] @ np.linalg.solve(M[np.ix_(own, own)], M[own] @ rates))

    def generalized(self, q: Array, wrench: Array, nv: int) -> Array:
        """As of FreeBody: by the transposed Jacobian."""
        _, R, J = self._frames(q)
        own = np.concatenate([wrench[..., :3], np.einsum("...ji,...j->...i", R, wrench[..., 3:])], axis=-1)
        result = np.zeros((*wrench.shape[:-1], nv))
        result[..., self._v] = np.einsum("...ji,...j->...i", J, own)
        return result

    def placed(self, q: Array, p_WB: Array, quaternion: Array) -> Array:
        """As of FreeBody: the nearest pose that the joints can take."""
        q, goal = q.copy(), rotations_of(np.asarray(quaternion))
        for _ in range(50):
            p, R, J = self._frames(q)
            turn = 0.5 * (R.T @ goal - goal.T @ R)
            error = np.concatenate([p_WB - p, [turn[2, 1], turn[0, 2], turn[1, 0]]])
            q[self._q] += np.linalg.pinv(J) @ error
        return q
