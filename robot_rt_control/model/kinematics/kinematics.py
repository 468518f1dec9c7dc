"""The kinematics kernel in one place; the tick and action types import it from here.

Everything except `inverse_kinematics` is real-time code on `layout.chain_dtype` records.
Conventions: SI units, quaternions x y z w, twists linear then angular in world axes at the tool.
"""

from robot_rt_control.model.kinematics.forward import forward, tool_state, tool_twist
from robot_rt_control.model.kinematics.gravity import gravity_torque
from robot_rt_control.model.kinematics.inverse import differential_inverse, kinematics_scratch_dtype, solve_twist
from robot_rt_control.model.kinematics.inverse_kinematics import inverse_kinematics
from robot_rt_control.model.kinematics.jacobian import jacobian, pose_and_jacobian
from robot_rt_control.model.rotation import (
    compose_pose,
    orientation_error,
    quaternion_align,
    quaternion_from_rotation_vector,
    quaternion_inverse,
    quaternion_multiply,
    quaternion_normalize,
    quaternion_rotate,
    quaternion_slerp,
    quaternion_to_matrix,
    rotation_between,
    rotation_vector,
)

__all__ = [
    "compose_pose",
    "differential_inverse",
    "forward",
    "gravity_torque",
    "inverse_kinematics",
    "jacobian",
    "kinematics_scratch_dtype",
    "orientation_error",
    "pose_and_jacobian",
    "quaternion_align",
    "quaternion_from_rotation_vector",
    "quaternion_inverse",
    "quaternion_multiply",
    "quaternion_normalize",
    "quaternion_rotate",
    "quaternion_slerp",
    "quaternion_to_matrix",
    "rotation_between",
    "rotation_vector",
    "solve_twist",
    "tool_state",
    "tool_twist",
]
