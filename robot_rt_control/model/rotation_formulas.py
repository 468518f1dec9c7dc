"""Rotations in Python and NumPy, for readers of files and the planner, which do not load the compiler.

`rotation` compiles the first three for the loop. The others compute whole arrays at once, or are needed outside the
loop only: their quaternions are x y z w as well.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Quaternion = tuple[float, float, float, float]


def quaternion_from_rotation_vector(v: np.ndarray, out: np.ndarray) -> None:
    """The unit quaternion of a rotation vector (axis times angle [rad])."""
    vx, vy, vz = v[0], v[1], v[2]
    angle = math.sqrt(vx * vx + vy * vy + vz * vz)
    scale = math.sin(0.5 * angle) / angle if angle > 1e-9 else 0.5
    out[0] = scale * vx
    out[1] = scale * vy
    out[2] = scale * vz
    out[3] = math.cos(0.5 * angle)


def quaternion_to_matrix(q_AB: np.ndarray, R_AB: np.ndarray) -> None:
    """R_AB (3, 3) of a unit quaternion; its columns are the axes of B seen from A."""
    x, y, z, w = q_AB[0], q_AB[1], q_AB[2], q_AB[3]
    R_AB[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    R_AB[0, 1] = 2.0 * (x * y - z * w)
    R_AB[0, 2] = 2.0 * (x * z + y * w)
    R_AB[1, 0] = 2.0 * (x * y + z * w)
    R_AB[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    R_AB[1, 2] = 2.0 * (y * z - x * w)
    R_AB[2, 0] = 2.0 * (x * z - y * w)
    R_AB[2, 1] = 2.0 * (y * z + x * w)
    R_AB[2, 2] = 1.0 - 2.0 * (x * x + y * y)


def quaternion_of_rotation(
    r00: float, r01: float, r02: float,
    r10: float, r11: float, r12: float,
    r20: float, r21: float, r22: float,
) -> Quaternion:  # fmt: skip
    """(x, y, z, w) of a rotation matrix given row by row, w >= 0.

    Shepperd, S. W.: Quaternion from rotation matrix. J. Guidance and Control 1 (1978): divide by the largest component.
    """
    trace = r00 + r11 + r22
    if trace >= r00 and trace >= r11 and trace >= r22:
        x, y, z, w = r21 - r12, r02 - r20, r10 - r01, 1.0 + trace
    elif r00 >= r11 and r00 >= r22:
        x, y, z, w = 1.0 + r00 - r11 - r22, r01 + r10, r02 + r20, r21 - r12
    elif r11 >= r22:
        x, y, z, w = r01 + r10, 1.0 + r11 - r00 - r22, r12 + r21, r02 - r20
    else:
        x, y, z, w = r02 + r20, r12 + r21, 1.0 + r22 - r00 - r11, r10 - r01
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    if w < 0.0:
        scale = -scale
    return scale * x, scale * y, scale * z, scale * w


def rotation_of_vector(vector: ArrayLike) -> Array:
    """(3, 3) of a rotation vector (3,) [rad]."""
    q, R = np.zeros(4), np.eye(3)
    quaternion_from_rotation_vector(np.array(vector, dtype=float), q)
    quaternion_to_matrix(q, R)
    return R


def vector_of_rotation(R: Array) -> Array:
    """(3,) rotation vector [rad] of a rotation matrix."""
    w = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = 0.5 * float(np.linalg.norm(w)), 0.5 * (float(np.trace(R)) - 1.0)
    angle = math.atan2(sine, cosine)
    if sine > 1e-9:
        return np.asarray(w * (0.5 * angle / sine))
    if cosine > 0.0:
        return 0.5 * w
    # Half a turn: the axis is the largest column of R + 1.
    columns = 0.5 * (R + np.eye(3))
    axis = columns[int(np.argmax(np.diag(columns)))]
    return np.asarray(angle * axis / np.linalg.norm(axis))


def angle_between(one: Array, other: Array) -> float:
    """[rad] of the turn from one rotation matrix to another."""
    return float(np.linalg.norm(vector_of_rotation(one.T @ other)))


def inverse_right_jacobian(v: Array) -> Array:
    """(3, 3) d log(exp(v) exp(δ)) / dδ at δ = 0."""
    angle = float(np.linalg.norm(v))
    K = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    if angle < 1e-6:
        return np.asarray(np.eye(3) + 0.5 * K)
    factor = 1.0 / angle**2 - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle))
    return np.asarray(np.eye(3) + 0.5 * K + factor * K @ K)


def rotations_about(axis: Array, angles: Array) -> Array:
    """(..., 3, 3) about a unit axis (3,), by angles (...) [rad]."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    s, c = np.sin(angles)[..., None, None], np.cos(angles)[..., None, None]
    return np.asarray(np.eye(3) + s * K + (1.0 - c) * (K @ K))


def rotations_of(q: Array) -> Array:
    """(..., 3, 3) of unit quaternions (..., 4)."""
    x, y, z, w = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def _products(a: Array, b: Array) -> Array:
    """(..., 4) Hamilton's products."""
    av, aw, bv, bw = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    w = aw * bw - np.sum(av * bv, axis=-1, keepdims=True)
    return np.concatenate([aw * bv + bw * av + np.cross(av, bv), w], axis=-1)


def turned(q: Array, v: Array) -> Array:
    """(B, 4) the quaternion q (4,) turned by rotation vectors v (B, 3) [rad] in its own frame."""
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    half = 0.5 * np.sinc(angle / (2.0 * np.pi)) * v
    return _products(np.broadcast_to(q, (len(v), 4)), np.concatenate([half, np.cos(angle / 2.0)], axis=-1))


def small_turns(reference: Array, q: Array) -> Array:
    """(B, 3) [rad] rotation vectors from a quaternion (4,) to near ones (B, 4), in its frame; to the second order."""
    inverse = reference * np.array([-1.0, -1.0, -1.0, 1.0])
    d = _products(np.broadcast_to(inverse, q.shape), q)
    return 2.0 * np.sign(np.where(d[:, 3:] == 0.0, 1.0, d[:, 3:])) * d[:, :3]
