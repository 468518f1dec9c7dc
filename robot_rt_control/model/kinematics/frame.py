"""Rigid transforms as tuples of 12 numbers, and the step from one joint of a chain to the next.

A frame X_AB is (R row by row, p): (r00, r01, r02, r10, ..., r22, px, py, pz). Tuples live in processor
registers, so nothing here allocates memory.
"""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.memory.layout import PRISMATIC
from robot_rt_control.native.realtime_code import inlined, realtime

Frame = tuple[float, float, float, float, float, float, float, float, float, float, float, float]


@realtime
def base_frame(chain: np.record) -> Frame:
    """X_WB: the base of the chain."""
    b = chain["base"]  # for type checkers, `.base` is an attribute of every NumPy record
    return (
        b[0, 0], b[0, 1], b[0, 2],
        b[1, 0], b[1, 1], b[1, 2],
        b[2, 0], b[2, 1], b[2, 2],
        b[0, 3], b[1, 3], b[2, 3],
    )  # fmt: skip


@inlined
def _rotate(
    a: Frame,
    r00: float, r01: float, r02: float,
    r10: float, r11: float, r12: float,
    r20: float, r21: float, r22: float,
) -> tuple[float, float, float, float, float, float, float, float, float]:  # fmt: skip
    return (
        a[0] * r00 + a[1] * r10 + a[2] * r20,
        a[0] * r01 + a[1] * r11 + a[2] * r21,
        a[0] * r02 + a[1] * r12 + a[2] * r22,
        a[3] * r00 + a[4] * r10 + a[5] * r20,
        a[3] * r01 + a[4] * r11 + a[5] * r21,
        a[3] * r02 + a[4] * r12 + a[5] * r22,
        a[6] * r00 + a[7] * r10 + a[8] * r20,
        a[6] * r01 + a[7] * r11 + a[8] * r21,
        a[6] * r02 + a[7] * r12 + a[8] * r22,
    )


@inlined
def _compose(
    a: Frame,
    r00: float, r01: float, r02: float,
    r10: float, r11: float, r12: float,
    r20: float, r21: float, r22: float,
    x: float, y: float, z: float,
) -> Frame:  # fmt: skip
    return (
        *_rotate(a, r00, r01, r02, r10, r11, r12, r20, r21, r22),
        a[9] + a[0] * x + a[1] * y + a[2] * z,
        a[10] + a[3] * x + a[4] * y + a[5] * z,
        a[11] + a[6] * x + a[7] * y + a[8] * z,
    )


@inlined
def joint_frame(chain: np.record, j: int, parent: Frame) -> Frame:
    """X_WJ of joint j at q = 0, from the previous joint's moved frame X_WP."""
    o = chain.origin
    return _compose(
        parent,
        o[j, 0, 0], o[j, 0, 1], o[j, 0, 2],
        o[j, 1, 0], o[j, 1, 1], o[j, 1, 2],
        o[j, 2, 0], o[j, 2, 1], o[j, 2, 2],
        o[j, 0, 3], o[j, 1, 3], o[j, 2, 3],
    )  # fmt: skip


@realtime
def tool_frame(chain: np.record, last: Frame) -> Frame:
    """X_WT, from the last joint's moved frame."""
    t = chain.tool
    return _compose(
        last,
        t[0, 0], t[0, 1], t[0, 2],
        t[1, 0], t[1, 1], t[1, 2],
        t[2, 0], t[2, 1], t[2, 2],
        t[0, 3], t[1, 3], t[2, 3],
    )  # fmt: skip


@inlined
def joint_axis(chain: np.record, j: int, frame: Frame) -> tuple[float, float, float]:
    """Unit vector of joint j's axis in world axes; the joint's own motion does not change it."""
    x = chain.axis[j, 0]
    y = chain.axis[j, 1]
    z = chain.axis[j, 2]
    return (
        frame[0] * x + frame[1] * y + frame[2] * z,
        frame[3] * x + frame[4] * y + frame[5] * z,
        frame[6] * x + frame[7] * y + frame[8] * z,
    )


@inlined
def moved(chain: np.record, j: int, q: float, f: Frame) -> Frame:
    """Joint j's frame f after its motion by q [rad or m]."""
    x = chain.axis[j, 0]
    y = chain.axis[j, 1]
    z = chain.axis[j, 2]
    if chain.joint_type[j] == PRISMATIC:
        return (
            f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8],
            f[9] + q * (f[0] * x + f[1] * y + f[2] * z),
            f[10] + q * (f[3] * x + f[4] * y + f[5] * z),
            f[11] + q * (f[6] * x + f[7] * y + f[8] * z),
        )  # fmt: skip
    c = math.cos(q)
    s = math.sin(q)
    if x == 0.0 and y == 0.0:  # about z or y, as in most robot descriptions: a third of the work
        s = s * z
        return (
            c * f[0] + s * f[1], c * f[1] - s * f[0], f[2],
            c * f[3] + s * f[4], c * f[4] - s * f[3], f[5],
            c * f[6] + s * f[7], c * f[7] - s * f[6], f[8],
            f[9], f[10], f[11],
        )  # fmt: skip
    if x == 0.0 and z == 0.0:
        s = s * y
        return (
            c * f[0] - s * f[2], f[1], c * f[2] + s * f[0],
            c * f[3] - s * f[5], f[4], c * f[5] + s * f[3],
            c * f[6] - s * f[8], f[7], c * f[8] + s * f[6],
            f[9], f[10], f[11],
        )  # fmt: skip
    # Rodrigues' formula
    v = 1.0 - c
    return (
        *_rotate(
            f,
            c + v * x * x, v * x * y - s * z, v * x * z + s * y,
            v * x * y + s * z, c + v * y * y, v * y * z - s * x,
            v * x * z - s * y, v * y * z + s * x, c + v * z * z,
        ),
        f[9], f[10], f[11],
    )  # fmt: skip
