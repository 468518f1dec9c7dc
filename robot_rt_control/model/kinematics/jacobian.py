"""The geometric Jacobian of the tool."""

from __future__ import annotations

import numpy as np

from robot_rt_control.memory.layout import PRISMATIC
from robot_rt_control.model.kinematics.frame import Frame, base_frame, joint_axis, joint_frame, moved, tool_frame
from robot_rt_control.model.rotation import quaternion_of_rotation
from robot_rt_control.native.realtime_code import realtime


@realtime
def _fill(chain: np.record, q: np.ndarray, J: np.ndarray) -> Frame:
    """J and X_WT. Until the tool's position is known, J holds each joint's origin and axis."""
    n = chain.n_joints
    f = base_frame(chain)
    for j in range(n):
        f = joint_frame(chain, j, f)
        ax, ay, az = joint_axis(chain, j, f)
        J[0, j] = f[9]
        J[1, j] = f[10]
        J[2, j] = f[11]
        J[3, j] = ax
        J[4, j] = ay
        J[5, j] = az
        f = moved(chain, j, q[j], f)
    f = tool_frame(chain, f)
    for j in range(n):
        ax, ay, az = J[3, j], J[4, j], J[5, j]
        if chain.joint_type[j] == PRISMATIC:
            J[0, j] = ax
            J[1, j] = ay
            J[2, j] = az
            J[3, j] = 0.0
            J[4, j] = 0.0
            J[5, j] = 0.0
        else:
            dx, dy, dz = f[9] - J[0, j], f[10] - J[1, j], f[11] - J[2, j]
            J[0, j] = ay * dz - az * dy
            J[1, j] = az * dx - ax * dz
            J[2, j] = ax * dy - ay * dx
    return f


@realtime
def jacobian(chain: np.record, q: np.ndarray, J: np.ndarray) -> None:
    """J with V_WT = J dq: rows linear x y z, angular x y z; world axes, at the tool.

    Args:
        chain: `layout.chain_dtype`.
        q: joint positions [rad or m], at least (n_joints,).
        J: (6, n) out, n >= n_joints; columns from n_joints on are not changed.
    """
    _fill(chain, q, J)


@realtime
def pose_and_jacobian(chain: np.record, q: np.ndarray, p_WT: np.ndarray, q_WT: np.ndarray, J: np.ndarray) -> None:
    """`forward` and `jacobian` in one pass, for Cartesian control laws that need both."""
    f = _fill(chain, q, J)
    p_WT[0] = f[9]
    p_WT[1] = f[10]
    p_WT[2] = f[11]
    x, y, z, w = quaternion_of_rotation(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8])
    q_WT[0] = x
    q_WT[1] = y
    q_WT[2] = z
    q_WT[3] = w
