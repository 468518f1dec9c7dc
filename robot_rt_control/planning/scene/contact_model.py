"""The relaxed contact model: a virtual force for each pair of a robot geometry and a face of the free body.

    φ      signed distance [m] from the geometry to the face
    γ      = k exp(-α φ)                      [N], k the pair's virtual stiffness, α its curvature
    λ      = γ n                              n: unit normal of the face, pointing into the body
    wrench on the body [Σ λ; Σ r × λ]         r: from its centre of mass to the face's point next to the geometry

φ is the distance from the geometry's centre to the face, a rectangle, minus the geometry's extent towards the body.
So it is the gap in front of the face and grows beside it, and it is bounded below: a geometry on the far side of the
body is far from the face, not deep inside it. All vectors are in the world frame. Arrays may have more axes in front:
one call serves all perturbed states of a linearization.

Source: the document's variable smooth contact model; formulas restored from its prose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.world.parameters import ObjectParameters

Array = NDArray[np.float64]

_TINY = 1e-9


@dataclass(frozen=True, kw_only=True)
class Face:
    """A rectangle in the body's frame."""

    name: str
    center: Array  # (3,) [m]
    axes: Array
    """(3, 3) rows: outward normal and the two edges' directions, unit vectors."""
    half: tuple[float, float]
    """[m] half the lengths of the edges."""


@dataclass(frozen=True, kw_only=True)
class Distance:
    """φ of a pair and how it changes with the motion of both bodies."""

    phi: Array
    """(...) [m]"""
    point: Array
    """(..., 3) [m] the face's point that is next to the geometry's centre."""
    inward: Array
    """(..., 3) unit normal into the body."""
    linear: Array
    """(..., 3) dφ/dt per velocity [m/s] of the geometry's centre relative to the body's point at `point`."""
    angular: Array
    """(..., 3) dφ/dt per angular velocity [rad/s] of the geometry relative to the body."""


def box_faces(size: Sequence[float]) -> dict[str, Face]:
    """The six faces of a box with its frame in the middle, by name; size: edges along x, y, z [m]."""
    found = {}
    names = (("back", 0, -1), ("front", 0, 1), ("right", 1, -1), ("left", 1, 1), ("bottom", 2, -1), ("top", 2, 1))
    for name, axis, sign in names:
        others = [i for i in range(3) if i != axis]
        axes = np.eye(3)[[axis, *others]]
        axes[0] *= sign
        half = size[others[0]] / 2, size[others[1]] / 2
        found[name] = Face(name=name, center=axes[0] * size[axis] / 2, axes=axes, half=half)
    return found


def cylinder_faces(radius: float, height: float) -> dict[str, Face]:
    """Faces of a cylinder along z with its frame in the middle, by name [m].

    Its ends, `bottom` and `top`, are squares of the same area. Its side has four strips, `back`, `front`, `right` and
    `left`, that touch it along a line; they are as wide as an eighth of the way around.
    """
    found = {}
    end, width = 0.5 * np.sqrt(np.pi) * radius, radius * np.tan(np.pi / 8.0)
    for name, face in box_faces((2.0 * radius, 2.0 * radius, height)).items():
        half = (end, end) if name in ("bottom", "top") else (width, height / 2)
        found[name] = replace(face, half=half)
    return found


def patch_face(name: str, X_BP: Array, size: Sequence[float]) -> Face:
    """A rectangle as a face; X_BP (4, 4): x is the outward normal, y and z are along its edges, of `size` [m]."""
    return Face(name=name, center=X_BP[:3, 3], axes=X_BP[:3, :3].T, half=(size[0] / 2, size[1] / 2))


def inward_normal(face: Face, R_WB: Array) -> Array:
    """(..., 3) the face's unit normal into the body."""
    return -R_WB @ face.axes[0]


def distance(face: Face, p_WB: Array, R_WB: Array, center: Array, support: Array) -> Distance:
    """The signed distance of a pair.

    Args:
        face: of the body.
        p_WB, R_WB: (..., 3) [m] and (..., 3, 3) pose of the body.
        center: (..., 3) [m] of the robot's geometry.
        support: (..., 3) [m] from that centre to the geometry's farthest point along `inward_normal`.
    """
    inward = inward_normal(face, R_WB)
    local = np.einsum("...ji,...j->...i", R_WB, center - p_WB) @ face.axes.T - face.axes @ face.center
    inside = np.clip(local[..., 1:], (-face.half[0], -face.half[1]), face.half)
    point = p_WB + np.einsum("...ij,...j->...i", R_WB, face.center + inside @ face.axes[1:])
    away = center - point
    length = np.linalg.norm(away, axis=-1)
    # In the face itself the direction is undetermined: outwards then.
    near = (length < _TINY)[..., None]
    linear = np.where(near, -inward, away / np.where(near, 1.0, length[..., None]))
    # The extent is the largest of inward · s over the geometry, so its change comes from rotations alone.
    extent = np.einsum("...i,...i->...", inward, support)
    return Distance(
        phi=length - extent, point=point, inward=inward, linear=linear, angular=cross(inward, support)
    )


def cross(a: Array, b: Array) -> Array:
    """(..., 3) a × b; on few vectors several times faster than NumPy's."""
    a, b = np.broadcast_arrays(a, b)
    result = np.empty(a.shape)
    result[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    result[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    result[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return result


def force(k: Array | float, curvature: float, phi: Array) -> Array:
    """(...) [N] γ, the magnitude of the virtual force."""
    return np.asarray(k * np.exp(-curvature * phi))


def wrench(found: Distance, center_of_mass: Array, gamma: Array) -> Array:
    """(..., 6) force [N] on the body, then torque [Nm] about its centre of mass."""
    direction = np.asarray(gamma)[..., None] * found.inward
    return np.concatenate([direction, cross(found.point - center_of_mass, direction)], axis=-1)


def faces_of(thing: ObjectParameters) -> dict[str, Face]:
    """The faces of an object by name; empty if its shape has none with names."""
    if thing.box is not None:
        return box_faces(thing.box.size)
    return {} if thing.cylinder is None else cylinder_faces(thing.cylinder.radius, thing.cylinder.height)
