"""The transforms between the links of a URDF at given positions of its joints. It knows no ROS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.model.robot.urdf import MOVABLE, Urdf, UrdfJoint
from robot_rt_control.model.rotation_formulas import quaternion_of_rotation

Array = NDArray[np.float64]

_KEPT = 64
"""Lists of names; each node that publishes joint_states usually has one."""


@dataclass(frozen=True, kw_only=True)
class Transforms:
    """Some transforms X_PC, of child links C in their parent links P."""

    links: tuple[tuple[str, str], ...]
    """(parent, child), n of them."""
    positions: Array
    """(n, 3) [m] p_PC"""
    orientations: Array
    """(n, 4) q_PC, x y z w"""


@dataclass(frozen=True, kw_only=True)
class _Constants:
    """Constants of n joints at q: p_PC = begin + slide q, and q_PC = rest cos(half q) + turn sin(half q)."""

    links: tuple[tuple[str, str], ...]
    begin: Array
    """(n, 3) [m]"""
    slide: Array
    """(n, 3): the axis in P, of joints that slide; else 0."""
    half: Array
    """(n): 0.5; 0 of joints that slide."""
    rest: Array
    """(n, 4) q_PC at q = 0"""
    turn: Array
    """(n, 4): `rest` times the quaternion of half a turn."""

    @classmethod
    def of(cls, joints: Sequence[UrdfJoint]) -> _Constants:
        X, rest = _origins(joints)
        axes = np.array([joint.axis for joint in joints]).reshape(-1, 3)
        slides = np.array([joint.type == "prismatic" for joint in joints], dtype=bool)
        v, w = rest[:, :3], rest[:, 3:]
        return cls(
            links=_links(joints),
            begin=X[:, :3, 3],
            slide=np.where(slides[:, None], np.einsum("nij,nj->ni", X[:, :3, :3], axes), 0.0),
            half=np.where(slides, 0.0, 0.5),
            rest=rest,
            turn=np.hstack((w * axes + np.cross(v, axes), -np.sum(v * axes, axis=1, keepdims=True))),
        )

    def only(self, chosen: NDArray[np.bool_]) -> _Constants:
        """Those of the chosen joints."""
        return _Constants(
            links=tuple(link for link, wanted in zip(self.links, chosen.tolist(), strict=True) if wanted),
            begin=self.begin[chosen],
            slide=self.slide[chosen],
            half=self.half[chosen],
            rest=self.rest[chosen],
            turn=self.turn[chosen],
        )


class _Taken(NamedTuple):
    """Joints whose position is found: its index among some names, the factor and offset from it, and constants."""

    indices: NDArray[np.int64]
    factors: Array
    offsets: Array
    constants: _Constants


class LinkFrames:
    """The frames of all links of a URDF, except its root.

    Attributes:
        fixed: of the links that never move against their parents.
        unsupported: joints whose position is not one number (floating, planar): the links below have no known place.
    """

    def __init__(self, urdf: Urdf) -> None:
        fixed = [joint for joint in urdf.joints.values() if joint.type == "fixed"]
        X, q = _origins(fixed)
        self.fixed = Transforms(links=_links(fixed), positions=X[:, :3, 3], orientations=q)
        self.unsupported = tuple(j.name for j in urdf.joints.values() if j.type not in (*MOVABLE, "fixed"))
        self._joints = [joint for joint in urdf.joints.values() if joint.type in MOVABLE]
        self._sources = [list(_sources(joint, urdf)) for joint in self._joints]
        self._taken: dict[tuple[str, ...], _Taken] = {}

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
        if named not in self._taken:
            if len(self._taken) >= _KEPT:
                self._taken.clear()
            self._taken[named] = self._take(named)
        indices, factors, offsets, constants = self._taken[named]
        q = factors * np.asarray(positions, dtype=np.float64)[indices] + offsets
        known = np.isfinite(q)
        if not known.all():
            q, constants = q[known], constants.only(known)
        half = constants.half * q
        return Transforms(
            links=constants.links,
            positions=constants.begin + constants.slide * q[:, None],
            orientations=constants.rest * np.cos(half)[:, None] + constants.turn * np.sin(half)[:, None],
        )

    def _take(self, names: Sequence[str]) -> _Taken:
        index = {name: i for i, name in enumerate(names)}
        joints, rows = [], []
        for joint, sources in zip(self._joints, self._sources, strict=True):
            found = next(((index[name], *rest) for name, *rest in sources if name in index), None)
            if found is not None:
                joints.append(joint)
                rows.append(found)
        table = np.array(rows, dtype=np.float64).reshape(-1, 3)
        return _Taken(table[:, 0].astype(np.int64), table[:, 1], table[:, 2], _Constants.of(joints))


def _links(joints: Sequence[UrdfJoint]) -> tuple[tuple[str, str], ...]:
    return tuple((joint.parent, joint.child) for joint in joints)


def _origins(joints: Sequence[UrdfJoint]) -> tuple[Array, Array]:
    """(n, 4, 4) X_PJ of joints, and (n, 4) their quaternions."""
    X = np.array([joint.X_PJ for joint in joints]).reshape(-1, 4, 4)
    q = [quaternion_of_rotation(*row) for row in X[:, :3, :3].reshape(-1, 9).tolist()]
    return X, np.array(q).reshape(-1, 4)


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
