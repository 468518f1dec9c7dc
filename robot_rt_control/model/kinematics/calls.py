"""The kinematics as Python calls it: its native code needs no compiler, if it is in the cache.

A call takes a few microseconds. Compiled code calls `forward` and `pose_and_jacobian` themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_rt_control.memory.atomics import address_of, record_at
from robot_rt_control.memory.layout import chain_dtype, record
from robot_rt_control.model.kinematics.forward import forward
from robot_rt_control.model.kinematics.jacobian import pose_and_jacobian
from robot_rt_control.model.rotation import orientation_error
from robot_rt_control.native.realtime_code import entry
from robot_rt_control.vocabulary.capacities import MAX_JOINTS

Array = NDArray[np.float64]

_call_dtype = record(
    [
        ("joints", "f8", (MAX_JOINTS,)),
        ("goal_position", "f8", (3,)),
        ("goal_orientation", "f8", (4,)),
        ("position", "f8", (3,)),
        ("orientation", "f8", (4,)),
        ("error", "f8", (6,)),
        ("jacobian", "f8", (6, MAX_JOINTS)),
    ]
)

_chain_at = record_at(chain_dtype)
_call_at = record_at(_call_dtype)


@entry
def _forward(chain: int, call: int) -> None:
    values = _call_at(call)
    forward(_chain_at(chain), values.joints, values.position, values.orientation)


@entry
def _error(chain: int, call: int) -> None:
    values = _call_at(call)
    pose_and_jacobian(_chain_at(chain), values.joints, values.position, values.orientation, values.jacobian)
    for i in range(3):
        values.error[i] = values.goal_position[i] - values.position[i]
    orientation_error(values.goal_orientation, values.orientation, values.error[3:])


def forward_kinematics(chain: np.record, q: ArrayLike) -> tuple[Array, Array]:
    """The tool's pose in the world, as `forward` computes it.

    Args:
        chain: `layout.chain_dtype`.
        q: joint positions [rad or m], at least (n_joints,).

    Returns:
        p_WT (3,) [m] and q_WT (4,), x y z w with w >= 0; NaN if a joint position is NaN.
    """
    memory = np.zeros(1, _call_dtype)
    n = int(chain.n_joints)
    memory["joints"][0, :n] = np.asarray(q, float)[:n]
    _forward(address_of(chain), address_of(memory))
    return memory["position"][0].copy(), memory["orientation"][0].copy()


def pose_error(chain: np.record, q: Array, p_WD: Array, q_WD: Array) -> tuple[Array, Array]:
    """What brings the tool to a pose.

    Args:
        chain: `layout.chain_dtype`.
        q: (n_joints,) joint positions [rad or m].
        p_WD, q_WD: (3,) [m] and (4,) x y z w: the desired pose in the world.

    Returns:
        (error (6,): position [m], rotation vector [rad], in world axes; J (6, n_joints), as of `jacobian`).
    """
    memory = np.zeros(1, _call_dtype)
    n = int(chain.n_joints)
    memory["joints"][0, :n], memory["goal_position"], memory["goal_orientation"] = q, p_WD, q_WD
    _error(address_of(chain), address_of(memory))
    return memory["error"][0].copy(), memory["jacobian"][0, :, :n].copy()
