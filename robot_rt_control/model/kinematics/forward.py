"""Forward kinematics: pose and velocity of the tool."""

from __future__ import annotations

import numpy as np

from robot_rt_control.memory.layout import PRISMATIC
from robot_rt_control.model.kinematics.frame import Frame, base_frame, joint_axis, joint_frame, moved, tool_frame
from robot_rt_control.model.rotation import quaternion_of_rotation
from robot_rt_control.native.realtime_code import realtime

Twist = tuple[float, float, float, float, float, float]


@realtime
def forward(chain: np.record, q: np.ndarray, p_WT: np.ndarray, q_WT: np.ndarray) -> None:
    """Pose of the tool in the world.

    Args:
        chain: `layout.chain_dtype`.
        q: joint positions [rad or m], at least (n_joints,).
        p_WT: (3,) out, position [m].
        q_WT: (4,) out, unit quaternion x y z w with w >= 0. The outputs are NaN if a joint position is NaN.
    """
    f = base_frame(chain)
    for j in range(chain.n_joints):
        f = moved(chain, j, q[j], joint_frame(chain, j, f))
    f = tool_frame(chain, f)
    p_WT[0] = f[9]
    p_WT[1] = f[10]
    p_WT[2] = f[11]
    x, y, z, w = quaternion_of_rotation(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8])
    q_WT[0] = x
    q_WT[1] = y
    q_WT[2] = z
    q_WT[3] = w


@realtime
def _sweep(chain: np.record, q: np.ndarray, dq: np.ndarray) -> tuple[Frame, Twist]:
    """X_WT and V_WT in one pass: the velocity is propagated from origin to origin, and each joint adds to it."""
    f = base_frame(chain)
    px, py, pz = f[9], f[10], f[11]
    vx = vy = vz = wx = wy = wz = 0.0
    for j in range(chain.n_joints):
        f = joint_frame(chain, j, f)
        ax, ay, az = joint_axis(chain, j, f)
        f = moved(chain, j, q[j], f)
        dx, dy, dz = f[9] - px, f[10] - py, f[11] - pz
        vx += wy * dz - wz * dy
        vy += wz * dx - wx * dz
        vz += wx * dy - wy * dx
        px, py, pz = f[9], f[10], f[11]
        if chain.joint_type[j] == PRISMATIC:
            vx += ax * dq[j]
            vy += ay * dq[j]
            vz += az * dq[j]
        else:
            wx += ax * dq[j]
            wy += ay * dq[j]
            wz += az * dq[j]
    f = tool_frame(chain, f)
    dx, dy, dz = f[9] - px, f[10] - py, f[11] - pz
    return f, (vx + wy * dz - wz * dy, vy + wz * dx - wx * dz, vz + wx * dy - wy * dx, wx, wy, wz)


@realtime
def tool_state(
    chain: np.record, q: np.ndarray, dq: np.ndarray, p_WT: np.ndarray, q_WT: np.ndarray, V_WT: np.ndarray
) -> None:
    """Pose and twist of the tool in one pass over the chain; the tick computes it for each arm.

    Of the two quaternions of an orientation, the result is the one nearer to the value of `q_WT` on entry, so
    successive calls give a continuous signal. (With w >= 0 alone, a tool that points down would make it flicker.)

    Args:
        chain: `layout.chain_dtype`.
        q, dq: joint positions [rad or m] and velocities [rad/s or m/s], at least (n_joints,).
        p_WT: (3,) out [m].
        q_WT: (4,) in and out, x y z w.
        V_WT: (6,) out: linear [m/s], angular [rad/s] velocity; world axes, at the tool.
    """
    f, twist = _sweep(chain, q, dq)
    p_WT[0] = f[9]
    p_WT[1] = f[10]
    p_WT[2] = f[11]
    for i in range(6):
        V_WT[i] = twist[i]
    x, y, z, w = quaternion_of_rotation(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8])
    sign = -1.0 if q_WT[0] * x + q_WT[1] * y + q_WT[2] * z + q_WT[3] * w < 0.0 else 1.0
    q_WT[0] = sign * x
    q_WT[1] = sign * y
    q_WT[2] = sign * z
    q_WT[3] = sign * w


@realtime
def tool_twist(chain: np.record, q: np.ndarray, dq: np.ndarray, V_WT: np.ndarray) -> None:
    """V_WT (6,) = J(q) dq: linear [m/s], angular [rad/s] velocity of the tool; world axes, at the tool."""
    _, twist = _sweep(chain, q, dq)
    for i in range(6):
        V_WT[i] = twist[i]
