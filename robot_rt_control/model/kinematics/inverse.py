"""Differential inverse kinematics that stays bounded at singularities.

Damped least squares: Nakamura, Y., Hanafusa, H.: Inverse kinematic solutions with singularity robustness for
robot manipulator control (1986); damping that fades in near a singularity: Chiaverini, S., Siciliano, B.,
Egeland, O.: Review of the damped least-squares inverse kinematics (1994). The distance to a singularity is measured
by 1 / sqrt(trace((J J^T)^-1)) instead of the smallest singular value: it is never larger, at most a factor sqrt(6)
smaller, smooth in q, and follows from the Cholesky factor.
"""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.memory.layout import record
from robot_rt_control.model.kinematics.cholesky import factor, solve, trace_of_inverse
from robot_rt_control.model.kinematics.jacobian import jacobian
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import MAX_JOINTS
from robot_rt_control.vocabulary.enums import Status

kinematics_scratch_dtype = record(
    [
        ("J", "f8", (6, MAX_JOINTS)),
        ("A", "f8", (6, 6)),
        ("L", "f8", (6, 6)),
        ("x", "f8", (6,)),
        ("first_moment", "f8", (MAX_JOINTS, 3)),  # [kg m] of each joint's body, world frame
        ("singular_value", "f8"),  # nearness to a singularity, see differential_inverse
        ("damping", "f8"),  # lambda in use
    ]
)
"""Working memory of the kernel: add it to an action's State as ("scratch", kinematics_scratch_dtype)."""

_OK = int(Status.OK)
_SINGULAR = int(Status.SINGULAR)
_REGULARIZATION = 1e-6  # fraction of damping^2: keeps the factor defined at an exact singularity, negligible elsewhere


@realtime
def _normal_matrix(J: np.ndarray, n: int, A: np.ndarray) -> int:
    """The smaller of J J^T (6, 6) and J^T J (n, n), lower triangle; returns its size."""
    if n >= 6:
        for i in range(6):
            for k in range(i + 1):
                s = 0.0
                for j in range(n):
                    s += J[i, j] * J[k, j]
                A[i, k] = s
        return 6
    for i in range(n):
        for k in range(i + 1):
            s = 0.0
            for j in range(6):
                s += J[j, i] * J[j, k]
            A[i, k] = s
    return n


@realtime
def solve_twist(J: np.ndarray, n: int, V: np.ndarray, damping: float, dq: np.ndarray, scratch: np.record) -> int:
    """`differential_inverse` for a Jacobian that the caller has computed, (6, >= n) with n columns in use."""
    for j in range(n):
        dq[j] = 0.0
    size = _normal_matrix(J, n, scratch.A)
    lambda_squared = 0.0
    scratch.damping = 0.0
    scratch.singular_value = 0.0
    if not factor(scratch.A, _REGULARIZATION * damping * damping, size, scratch.L):
        return _SINGULAR
    nearness = 1.0 / math.sqrt(trace_of_inverse(scratch.L, size, scratch.x))
    scratch.singular_value = nearness
    if nearness < 2.0 * damping:
        ratio = nearness / (2.0 * damping)
        lambda_squared = damping * damping * (1.0 - ratio * ratio)
        scratch.damping = math.sqrt(lambda_squared)
        if not factor(scratch.A, lambda_squared, size, scratch.L):
            return _SINGULAR
    x = scratch.x
    if n >= 6:
        for i in range(6):
            x[i] = V[i]
        solve(scratch.L, 6, x)
        for j in range(n):
            s = 0.0
            for i in range(6):
                s += J[i, j] * x[i]
            dq[j] = s
    else:
        for j in range(n):
            s = 0.0
            for i in range(6):
                s += J[i, j] * V[i]
            x[j] = s
        solve(scratch.L, n, x)
        for j in range(n):
            dq[j] = x[j]
    for j in range(n):
        if not math.isfinite(dq[j]):
            for k in range(n):
                dq[k] = 0.0
            return _SINGULAR
    return _OK


@realtime
def differential_inverse(
    chain: np.record, q: np.ndarray, V_WT: np.ndarray, damping: float, dq: np.ndarray, scratch: np.record
) -> int:
    """Joint velocities that move the tool with the twist V_WT, as nearly as the joints can.

    Away from singularities the twist is met exactly, with the smallest joint velocities; chains of less than
    six joints approximate it as well as they can. If `scratch.singular_value` falls below 2 * damping, damping
    fades in. At all times |dq| <= 0.58 |V_WT| / damping (metres and radians have equal weight).

    Args:
        chain: `layout.chain_dtype`.
        q: joint positions [rad or m], at least (n_joints,).
        V_WT: (6,) linear [m/s], angular [rad/s]; world axes, at the tool.
        damping: largest lambda; 0.03 to 0.1 suits arms of about 1 m reach. 0: no damping, and no bound.
        dq: out, at least (n_joints,) [rad/s or m/s].
        scratch: `kinematics_scratch_dtype`; on return it contains J, singular_value and damping.

    Returns:
        Status.OK; Status.SINGULAR with dq = 0 if there is no finite solution: an input is not finite,
        or damping is 0 at a singularity.
    """
    jacobian(chain, q, scratch.J)
    return solve_twist(scratch.J, chain.n_joints, V_WT, damping, dq, scratch)
