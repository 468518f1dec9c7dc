"""Joint torques that compensate the arm's own weight."""

from __future__ import annotations

import numpy as np

from robot_rt_control.memory.layout import PRISMATIC
from robot_rt_control.model.kinematics.frame import base_frame, joint_axis, joint_frame, moved
from robot_rt_control.native.realtime_code import realtime


@realtime
def gravity_torque(chain: np.record, q: np.ndarray, tau: np.ndarray, scratch: np.record) -> None:
    """The efforts that hold the arm still at q against gravity; tool loads that are not in the chain are excluded.

    From the tip inwards, the mass and first moment of all bodies beyond joint j give its load:
    tau_j = -axis_j . ((sum m c - p_j sum m) x g) about a revolute axis, -axis_j . g sum m along a prismatic one.

    Args:
        chain: `layout.chain_dtype` with masses and gravity.
        q: joint positions [rad or m], at least (n_joints,).
        tau: out, at least (n_joints,) [Nm or N].
        scratch: `layout.gravity_scratch_dtype` or `kinematics_scratch_dtype`; its J and first_moment are overwritten.
    """
    n = chain.n_joints
    J = scratch.J
    moment = scratch.first_moment
    f = base_frame(chain)
    for j in range(n):
        f = joint_frame(chain, j, f)
        ax, ay, az = joint_axis(chain, j, f)
        f = moved(chain, j, q[j], f)
        J[0, j] = f[9]
        J[1, j] = f[10]
        J[2, j] = f[11]
        J[3, j] = ax
        J[4, j] = ay
        J[5, j] = az
        m = chain.mass[j]
        x, y, z = chain.center_of_mass[j, 0], chain.center_of_mass[j, 1], chain.center_of_mass[j, 2]
        moment[j, 0] = m * (f[9] + f[0] * x + f[1] * y + f[2] * z)
        moment[j, 1] = m * (f[10] + f[3] * x + f[4] * y + f[5] * z)
        moment[j, 2] = m * (f[11] + f[6] * x + f[7] * y + f[8] * z)
    gx, gy, gz = chain.gravity[0], chain.gravity[1], chain.gravity[2]
    mass = sx = sy = sz = 0.0
    for i in range(n):
        j = n - 1 - i
        mass += chain.mass[j]
        sx += moment[j, 0]
        sy += moment[j, 1]
        sz += moment[j, 2]
        ax, ay, az = J[3, j], J[4, j], J[5, j]
        if chain.joint_type[j] == PRISMATIC:
            tau[j] = -mass * (ax * gx + ay * gy + az * gz)
        else:
            x, y, z = sx - mass * J[0, j], sy - mass * J[1, j], sz - mass * J[2, j]
            tau[j] = -(ax * (y * gz - z * gy) + ay * (z * gx - x * gz) + az * (x * gy - y * gx))
