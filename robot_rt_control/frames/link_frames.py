"""The transforms between the links of a URDF at given positions of its joints. It knows no ROS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from robot_rt_control.model.urdf import MOVABLE, Urdf, UrdfJoint

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Transforms:
    """Some transforms X_PC, of child links C in their parent links P."""

    links: tuple[tuple[str, str], ...]
    """(parent, child), n of them."""
    positions: Array
    """(n, 3) [m] p_PC"""
    orientations: Array
    """(n, 4) q_PC, x y z w"""


class LinkFrames:
    """The frames of all links of a URDF, except its root.

    Attributes:
        fixed: of the links that never move against their parents.
        unsupported: joints whose position is not one number (floating, planar): the links below have no known place.
    """

    def __init__(self, urdf: Urdf) -> None:
        fixed = [joint for joint in urdf.joints.values() if joint.type == "fixed"]
        X, rotations = _origins(fixed)
        self.fixed = Transforms(
            links=tuple((joint.parent, joint.child) for joint in fixed),
            positions=X[: len(fixed), :3, 3],
            orientations=rotations.as_quat()[: len(fixed)],
        )
        self.unsupported = tuple(j.name for j in urdf.joints.values() if j.type not in (*MOVABLE, "fixed"))
        self._joints = [joint for joint in urdf.joints.values() if joint.type in MOVABLE]
        self._sources = [list(_sources(joint, urdf)) for joint in self._joints]
        self._X_PJ, self._rotations = _origins(self._joints)
        self._axes = np.array([joint.axis for joint in self._joints]).reshape(-1, 3)
        self._slides = np.array([joint.type == "prismatic" for joint in self._joints], dtype=bool)
        self._names: tuple[str, ...] | None = None
        self._taken = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))

    @property
    def moving(self) -> int:
        """Number of links that move against their parents."""
        return len(self._joints)

    def at(self, names: Sequence[str], positions: Sequence[float]) -> Transforms:
        """The transforms of the moving links whose joint's position is known.

        A joint that is not named follows the joint that it mimics; if that one is not named either, it is left out, as
        is a joint whose position is not finite.

        Args:
            names: of joints, in any order; those of other robots may be among them.
            positions: [rad or m] of these joints; those of the last ones may be missing.
        """
        named = tuple(names[: len(positions)])
        if named != self._names:
            self._taken, self._names = self._take(named), named
        joints, indices, factors, offsets = self._taken
        q = factors * np.asarray(positions, dtype=np.float64)[indices] + offsets
        known = np.isfinite(q)
        joints, q = joints[known], q[known]
        if not len(joints):
            return Transforms(links=(), positions=np.zeros((0, 3)), orientations=np.zeros((0, 4)))
        X, axes, slides = self._X_PJ[joints], self._axes[joints], self._slides[joints]
        turned = Rotation.from_rotvec(axes * np.where(slides, 0.0, q)[:, None])
        slid = axes * np.where(slides, q, 0.0)[:, None]
        return Transforms(
            links=tuple((self._joints[j].parent, self._joints[j].child) for j in joints.tolist()),
            positions=X[:, :3, 3] + np.einsum("nij,nj->ni", X[:, :3, :3], slid),
            orientations=(self._rotations[joints] * turned).as_quat(),
        )

    def _take(self, names: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], Array, Array]:
        """Joints with a position; for each its index among `names`, and the factor and offset from it to theirs."""
        index = {name: i for i, name in enumerate(names)}
        rows = []
        for j, sources in enumerate(self._sources):
            found = next(((index[name], *rest) for name, *rest in sources if name in index), None)
            if found is not None:
                rows.append((j, *found))
        table = np.array(rows, dtype=np.float64).reshape(-1, 4)
        return table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2], table[:, 3]


def _origins(joints: Sequence[UrdfJoint]) -> tuple[Array, Rotation]:
    """(n, 4, 4) X_PJ of joints, and their rotations; without joints one identity, as SciPy knows no empty ones."""
    X = np.array([joint.X_PJ for joint in joints] or [np.eye(4)])
    return X, Rotation.from_matrix(X[:, :3, :3])


def _sources(joint: UrdfJoint, urdf: Urdf) -> Iterator[tuple[str, float, float]]:
    """Joints from which a joint's position follows, as factor * q + offset: itself, then the one that it mimics, …"""
    factor, offset, seen = 1.0, 0.0, set()
    while joint.name not in seen:
        seen.add(joint.name)
        yield joint.name, factor, offset
        if joint.mimic is None or joint.mimic.joint not in urdf.joints:
            return
        factor, offset = factor * joint.mimic.multiplier, offset + factor * joint.mimic.offset
        joint = urdf.joints[joint.mimic.joint]
