"""The efforts that a motion of an arm needs: rigid bodies, without friction and without the drives' own inertia.

Recursive Newton-Euler: Luh, J., Walker, M., Paul, R.: On-line computational scheme for mechanical manipulators (1980),
in world axes, with all moments about the world's origin.
"""

from __future__ import annotations

import numpy as np

from robot_rt_control.memory.layout import PRISMATIC, record
from robot_rt_control.model.kinematics.frame import Frame, base_frame, joint_axis, joint_frame, moved
from robot_rt_control.native.realtime_code import inlined, realtime
from robot_rt_control.vocabulary.capacities import MAX_JOINTS

dynamics_scratch_dtype = record(
    [
        ("origin", "f8", (MAX_JOINTS, 3)),  # p_WJ of each joint [m]
        ("axis", "f8", (MAX_JOINTS, 3)),  # world axes
        ("force", "f8", (MAX_JOINTS, 3)),  # [N] that moves the body after each joint
        ("moment", "f8", (MAX_JOINTS, 3)),  # [Nm] likewise, about the world's origin
    ]
)
"""Working memory of `inverse_dynamics`: add it to an action's State as ("scratch", dynamics_scratch_dtype)."""

Vector = tuple[float, float, float]


@inlined
def _cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def _sum(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inlined
def _times(a: Vector, s: float) -> Vector:
    return a[0] * s, a[1] * s, a[2] * s


@inlined
def _to_world(f: Frame, a: Vector) -> Vector:
    return (
        f[0] * a[0] + f[1] * a[1] + f[2] * a[2],
        f[3] * a[0] + f[4] * a[1] + f[5] * a[2],
        f[6] * a[0] + f[7] * a[1] + f[8] * a[2],
    )


@inlined
def _from_world(f: Frame, a: Vector) -> Vector:
    return (
        f[0] * a[0] + f[3] * a[1] + f[6] * a[2],
        f[1] * a[0] + f[4] * a[1] + f[7] * a[2],
        f[2] * a[0] + f[5] * a[1] + f[8] * a[2],
    )


@inlined
def _inertia_times(chain: np.record, j: int, a: Vector) -> Vector:
    m = chain.inertia
    return (
        m[j, 0, 0] * a[0] + m[j, 0, 1] * a[1] + m[j, 0, 2] * a[2],
        m[j, 1, 0] * a[0] + m[j, 1, 1] * a[1] + m[j, 1, 2] * a[2],
        m[j, 2, 0] * a[0] + m[j, 2, 1] * a[1] + m[j, 2, 2] * a[2],
    )


@inlined
def _carried(a: Vector, w: Vector, alpha: Vector, r: Vector) -> Vector:
    """The acceleration of a point at r from one with acceleration a, in a body that turns with w and alpha."""
    return _sum(a, _sum(_cross(alpha, r), _cross(w, _cross(w, r))))


@inlined
def _keep(rows: np.ndarray, j: int, a: Vector) -> None:
    rows[j, 0] = a[0]
    rows[j, 1] = a[1]
    rows[j, 2] = a[2]


@realtime
def inverse_dynamics(
    chain: np.record,
    q: np.ndarray,
    v: np.ndarray,
    acceleration: np.ndarray,
    weight: float,
    tau: np.ndarray,
    scratch: np.record,
) -> None:
    """tau = M(q) acceleration + C(q, v) v + weight g(q). With v = 0 and weight 0: the mass matrix times a vector.

    Args:
        chain: `layout.chain_dtype` with masses, inertias and gravity.
        q, v, acceleration: joint positions, velocities, accelerations, at least (n_joints,) [rad or m, per s, per s²].
        weight: 1: with the efforts that hold the arm against gravity; 0: without.
        tau: out, at least (n_joints,) [Nm or N].
        scratch: `dynamics_scratch_dtype`, overwritten.
    """
    n = chain.n_joints
    f = base_frame(chain)
    at = (f[9], f[10], f[11])
    w = (0.0, 0.0, 0.0)
    alpha = (0.0, 0.0, 0.0)
    # A base that is accelerated upwards makes the same efforts as gravity.
    a = (-weight * chain.gravity[0], -weight * chain.gravity[1], -weight * chain.gravity[2])
    for j in range(n):
        f = joint_frame(chain, j, f)
        z = joint_axis(chain, j, f)
        f = moved(chain, j, q[j], f)
        p = (f[9], f[10], f[11])
        a = _carried(a, w, alpha, _sum(p, _times(at, -1.0)))
        spin, change = _times(z, v[j]), _times(z, acceleration[j])
        if chain.joint_type[j] == PRISMATIC:
            a = _sum(a, _sum(_times(_cross(w, spin), 2.0), change))
        else:
            alpha = _sum(alpha, _sum(_cross(w, spin), change))
            w = _sum(w, spin)
        at = p
        local = (chain.center_of_mass[j, 0], chain.center_of_mass[j, 1], chain.center_of_mass[j, 2])
        c = _to_world(f, local)
        force = _times(_carried(a, w, alpha, c), chain.mass[j])
        turning = _from_world(f, w)
        moment = _inertia_times(chain, j, _from_world(f, alpha))
        moment = _sum(moment, _cross(turning, _inertia_times(chain, j, turning)))
        _keep(scratch.origin, j, p)
        _keep(scratch.axis, j, z)
        _keep(scratch.force, j, force)
        _keep(scratch.moment, j, _sum(_to_world(f, moment), _cross(_sum(p, c), force)))
    force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(n):
        j = n - 1 - i
        force = _sum(force, (scratch.force[j, 0], scratch.force[j, 1], scratch.force[j, 2]))
        moment = _sum(moment, (scratch.moment[j, 0], scratch.moment[j, 1], scratch.moment[j, 2]))
        z = (scratch.axis[j, 0], scratch.axis[j, 1], scratch.axis[j, 2])
        load = force
        if chain.joint_type[j] != PRISMATIC:
            p = (scratch.origin[j, 0], scratch.origin[j, 1], scratch.origin[j, 2])
            load = _sum(moment, _times(_cross(p, force), -1.0))
        tau[j] = z[0] * load[0] + z[1] * load[1] + z[2] * load[2]
