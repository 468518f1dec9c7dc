"""Orientations in the loop: quaternions in the order x y z w, rotation vectors, rotation matrices.

Every function writes into an array of the caller, which may be one of its inputs.
q_AB maps vectors in axes of B to axes of A: v_A = q_AB v_B q_AB^-1.
"""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.model import rotation_formulas
from robot_rt_control.model.rotation_formulas import Quaternion
from robot_rt_control.native.realtime_code import realtime


@realtime
def _product(ax: float, ay: float, az: float, aw: float, bx: float, by: float, bz: float, bw: float) -> Quaternion:
    """Hamilton's product."""
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@realtime
def _rotation_vector(x: float, y: float, z: float, w: float) -> tuple[float, float, float]:
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    sine = math.sqrt(x * x + y * y + z * z)
    # tends to 2; below 1e-9 the quotient would lose digits
    scale = 2.0 * math.atan2(sine, w) / sine if sine > 1e-9 else 2.0
    return scale * x, scale * y, scale * z


@realtime
def quaternion_multiply(q_AB: np.ndarray, q_BC: np.ndarray, q_AC: np.ndarray) -> None:
    """q_AC = q_AB q_BC."""
    x, y, z, w = _product(q_AB[0], q_AB[1], q_AB[2], q_AB[3], q_BC[0], q_BC[1], q_BC[2], q_BC[3])
    q_AC[0] = x
    q_AC[1] = y
    q_AC[2] = z
    q_AC[3] = w


@realtime
def quaternion_inverse(q_AB: np.ndarray, q_BA: np.ndarray) -> None:
    """q_BA of a unit quaternion q_AB."""
    q_BA[0] = -q_AB[0]
    q_BA[1] = -q_AB[1]
    q_BA[2] = -q_AB[2]
    q_BA[3] = q_AB[3]


@realtime
def rotation_between(q_WA: np.ndarray, q_WB: np.ndarray, q_AB: np.ndarray) -> None:
    """q_AB: the orientation of B relative to A."""
    x, y, z, w = _product(-q_WA[0], -q_WA[1], -q_WA[2], q_WA[3], q_WB[0], q_WB[1], q_WB[2], q_WB[3])
    q_AB[0] = x
    q_AB[1] = y
    q_AB[2] = z
    q_AB[3] = w


@realtime
def quaternion_normalize(q: np.ndarray, out: np.ndarray) -> None:
    """Scale to length 1; a zero quaternion becomes NaN, because it has no orientation."""
    length = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    scale = 1.0 / length if length > 0.0 else math.nan
    for i in range(4):
        out[i] = q[i] * scale


@realtime
def quaternion_rotate(q_AB: np.ndarray, v_B: np.ndarray, v_A: np.ndarray) -> None:
    """v_A, a vector of B in the axes of A; 18 products: v + w t + u x t with t = 2 u x v."""
    x, y, z, w = q_AB[0], q_AB[1], q_AB[2], q_AB[3]
    vx, vy, vz = v_B[0], v_B[1], v_B[2]
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    v_A[0] = vx + w * tx + y * tz - z * ty
    v_A[1] = vy + w * ty + z * tx - x * tz
    v_A[2] = vz + w * tz + x * ty - y * tx


@realtime
def quaternion_align(reference: np.ndarray, q: np.ndarray, out: np.ndarray) -> None:
    """Choose the quaternion nearer to the reference from q and -q, which are the same orientation."""
    dot = reference[0] * q[0] + reference[1] * q[1] + reference[2] * q[2] + reference[3] * q[3]
    sign = -1.0 if dot < 0.0 else 1.0
    for i in range(4):
        out[i] = sign * q[i]


@realtime
def rotation_vector(q: np.ndarray, out: np.ndarray) -> None:
    """The rotation vector (axis times angle [rad], at most pi) of a unit quaternion."""
    x, y, z = _rotation_vector(q[0], q[1], q[2], q[3])
    out[0] = x
    out[1] = y
    out[2] = z


@realtime
def orientation_error(q_WD: np.ndarray, q_WT: np.ndarray, out: np.ndarray) -> None:
    """The rotation vector, in world axes [rad], that turns the orientation q_WT into the desired q_WD.

    An angular velocity of `gain * out` reduces the error exponentially; its length is the angle between both.
    """
    ex, ey, ez, ew = _product(q_WD[0], q_WD[1], q_WD[2], q_WD[3], -q_WT[0], -q_WT[1], -q_WT[2], q_WT[3])
    x, y, z = _rotation_vector(ex, ey, ez, ew)
    out[0] = x
    out[1] = y
    out[2] = z


@realtime
def quaternion_slerp(q_WA: np.ndarray, q_WB: np.ndarray, s: float, out: np.ndarray) -> None:
    """From q_WA (s = 0) to q_WB (s = 1) along the shorter arc at constant angular speed."""
    dot = q_WA[0] * q_WB[0] + q_WA[1] * q_WB[1] + q_WA[2] * q_WB[2] + q_WA[3] * q_WB[3]
    sign = -1.0 if dot < 0.0 else 1.0
    dot = min(sign * dot, 1.0)
    a = 1.0 - s
    b = s
    if dot < 0.9999:  # for smaller angles the chord equals the arc numerically, and 1 / sine is inaccurate
        angle = math.acos(dot)
        sine = math.sin(angle)
        a = math.sin((1.0 - s) * angle) / sine
        b = math.sin(s * angle) / sine
    b = b * sign
    for i in range(4):
        out[i] = a * q_WA[i] + b * q_WB[i]
    quaternion_normalize(out, out)


@realtime
def compose_pose(
    p_AB: np.ndarray, q_AB: np.ndarray, p_BC: np.ndarray, q_BC: np.ndarray, p_AC: np.ndarray, q_AC: np.ndarray
) -> None:
    """X_AC = X_AB X_BC, positions [m] and quaternions."""
    px, py, pz = p_AB[0], p_AB[1], p_AB[2]
    quaternion_rotate(q_AB, p_BC, p_AC)
    p_AC[0] += px
    p_AC[1] += py
    p_AC[2] += pz
    quaternion_multiply(q_AB, q_BC, q_AC)


quaternion_from_rotation_vector = realtime(rotation_formulas.quaternion_from_rotation_vector)
quaternion_to_matrix = realtime(rotation_formulas.quaternion_to_matrix)
quaternion_of_rotation = realtime(rotation_formulas.quaternion_of_rotation)
