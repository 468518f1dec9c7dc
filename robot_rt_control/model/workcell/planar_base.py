"""Which joints move a holonomic base in its plane, and how its frames are turned against them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from robot_rt_control.model.robot.urdf import MOVABLE, Urdf
from robot_rt_control.model.workcell.part_description import Array, PartDescription
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

ROLES = ("x", "y", "yaw")
_SAME = 1e-6
"""[1] Axes that differ by less are equal."""


@dataclass(frozen=True, kw_only=True)
class PlanarBase:
    """A base that two prismatic joints move horizontally, and a third joint turns about the vertical."""

    joints: tuple[int, int, int]
    """Indices of x, y and yaw in the part."""
    heading: float = 0.0
    """[rad] angle of the base's own x axis to the axis of joint x, when yaw is 0."""
    own: Mapping[str, float] = field(default_factory=dict)
    """Link that moves with the base → [rad] angle of its x axis to the base's own."""
    fixed: Mapping[str, float] = field(default_factory=dict)
    """Frame that does not move → [rad] angle of its x axis to the axis of joint x. Among them is `world`."""


def planar_base(part: PartDescription, joints: Mapping[str, str] | None = None) -> PlanarBase:
    """The planar base that a part is.

    Its URDF says how the joints move it. For joints without a URDF, those that are named x, y and yaw are taken to move
    along x and y, and about z, of its `base_pose`.

    Args:
        part: its joints and its URDF have the same names.
        joints: x, y, yaw → name of the joint; None: they are found by the URDF.

    Raises:
        DefinitionError: it is no planar base, or its joints cannot be found.
    """
    urdf = part.urdf
    if urdf is not None and not set(part.joint_names) <= set(urdf.joints):
        urdf = None
    names = _given(part, joints)
    if joints is None and urdf is None:
        raise DefinitionError(
            f"part {part.name!r}: joints",
            expected="{x: …, y: …, yaw: …}, as no URDF says how they move the base",
            got="nothing",
        )
    axes, R_WB = _by_base_pose(part) if urdf is None else _by_urdf(part, urdf, names)
    if joints is None and np.cross(axes[0], axes[1])[2] < 0.0:
        names, axes = [names[1], names[0], names[2]], axes[[1, 0, 2]]
    up = np.array([0.0, 0.0, 1.0])
    if not np.allclose([axes[2], np.cross(axes[0], axes[1])], [up, up], atol=_SAME):
        given = (f"{name} ({', '.join(f'{v:.3g}' for v in axis)})" for name, axis in zip(names, axes, strict=True))
        raise _not_planar(part, f"the axes {', '.join(given)} in the world")
    if not np.allclose(R_WB[:, 2], up, atol=_SAME):
        raise _not_planar(part, f"a joint {names[2]} whose link is tilted")
    x, y, yaw = (part.joint_names.index(name) for name in names)
    own = {} if urdf is None else _moved_links(urdf, urdf.joints[names[2]].child)
    fixed = {"world": np.eye(3)} | ({} if urdf is None else {urdf.root: part.root.matrix[:3, :3]})
    return PlanarBase(
        joints=(x, y, yaw),
        heading=_angle(axes @ R_WB),
        own=_angles(own),
        fixed=_angles({frame: axes @ R for frame, R in fixed.items()}),
    )


def _given(part: PartDescription, joints: Mapping[str, str] | None) -> list[str]:
    """The names of x, y and yaw. Without `joints`, x and y are in any order."""
    types = dict(zip(part.joint_names, part.joint_types, strict=True))
    if joints is None:
        names = sorted(types, key=lambda name: types[name] != "prismatic")
    else:
        names = [joints[role] for role in ROLES]
        for role, name in zip(ROLES, names, strict=True):
            if name not in types:
                expected = unknown("joint", name, part.joint_names)
                raise DefinitionError(f"part {part.name!r}: joints: {role}", expected=expected, got=repr(name))
    if sorted(names) != sorted(types) or [types[name] == "prismatic" for name in names] != [True, True, False]:
        raise _not_planar(part, ", ".join(f"{name} ({kind})" for name, kind in types.items()))
    return names


def _by_base_pose(part: PartDescription) -> tuple[Array, Array]:
    """Axes (3, 3) of x, y and yaw in the world, one in each row, and R_WB of the base when yaw is 0."""
    R = part.root.matrix[:3, :3]
    return R.T.copy(), R


def _by_urdf(part: PartDescription, urdf: Urdf, names: list[str]) -> tuple[Array, Array]:
    """As `_by_base_pose`."""
    X, axes = part.root.matrix, {}
    for joint in urdf.path_to(urdf.root, urdf.joints[names[2]].child):
        X = X @ joint.X_PJ
        if joint.type in MOVABLE:
            axes[joint.name] = X[:3, :3] @ joint.axis
    if sorted(axes) != sorted(names):
        raise _not_planar(part, f"a chain to {urdf.joints[names[2]].child!r} with the joints {', '.join(axes)}")
    return np.array([axes[name] for name in names]), X[:3, :3]


def _moved_links(urdf: Urdf, base: str) -> dict[str, Array]:
    """R of the links that are fixed to a link, in that link; itself included."""
    found, new = {base: np.eye(3)}, [base]
    while new:
        link = new.pop()
        for joint in urdf.child_joints[link]:
            if joint.type == "fixed":
                found[joint.child] = found[link] @ joint.X_PJ[:3, :3]
                new.append(joint.child)
    return found


def _angle(R: Array) -> float:
    """[rad] of a rotation about z."""
    return math.atan2(R[1, 0], R[0, 0])


def _angles(rotations: Mapping[str, Array]) -> dict[str, float]:
    """Those of frames that are not tilted."""
    return {name: _angle(R) for name, R in rotations.items() if abs(R[2, 2] - 1.0) < _SAME}


def _not_planar(part: PartDescription, got: str) -> DefinitionError:
    return DefinitionError(
        f"part {part.name!r} is not a planar base",
        expected="two prismatic joints x and y at right angles, and above them a joint yaw about z, which turns x to y",
        got=got,
        hint="A base that is given by its wheels is not driven: let its driver take velocities of x, y and yaw",
    )
