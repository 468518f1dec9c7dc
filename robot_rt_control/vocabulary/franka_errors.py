"""What stops a Franka: the robot's own names, as error codes with a remedy.

The names are the maker's (libfranka, `franka::Errors` and `franka::RobotMode`).
"""

from __future__ import annotations

from collections.abc import Mapping

_FIRST = 0x20000
"""Above the codes of drives, which have 16 bits."""

_LIMIT = "our command was beyond the robot's limits: report it with the fault log"
_TOUCHED = "remove what the robot touches, or raise `collision` in the workcell file"
_START = "enable again at rest; if it repeats, report it with the fault log"

NETWORK_LOST, USER_STOPPED, GUIDING, NOT_READY = "network_lost", "user_stopped", "guiding", "not_ready"
"""Reasons beside the errors: no answer, and modes of the robot in which it takes no motion."""

REMEDIES: Mapping[str, str] = {
    NETWORK_LOST: "check the cable and that the robot is on; then clear the fault twice: the first time reconnects",
    USER_STOPPED: "release the user stop and switch the robot to execution, then clear the fault",
    GUIDING: "let go of the guiding button and switch the robot to execution, then clear the fault",
    NOT_READY: "look at Desk: the joints must be unlocked and the FCI active",
    "base_acceleration_initialization_timeout": "restart the robot",
    "base_acceleration_invalid_reading": "restart the robot",
    "cartesian_motion_generator_acceleration_discontinuity": _LIMIT,
    "cartesian_motion_generator_elbow_limit_violation": _LIMIT,
    "cartesian_motion_generator_elbow_sign_inconsistent": _LIMIT,
    "cartesian_motion_generator_joint_acceleration_discontinuity": _LIMIT,
    "cartesian_motion_generator_joint_position_limits_violation": _LIMIT,
    "cartesian_motion_generator_joint_velocity_discontinuity": _LIMIT,
    "cartesian_motion_generator_joint_velocity_limits_violation": _LIMIT,
    "cartesian_motion_generator_start_elbow_invalid": _LIMIT,
    "cartesian_motion_generator_velocity_discontinuity": _LIMIT,
    "cartesian_motion_generator_velocity_limits_violation": _LIMIT,
    "cartesian_position_limits_violation": "move the tool back into the space that Desk allows",
    "cartesian_position_motion_generator_invalid_frame": _LIMIT,
    "cartesian_position_motion_generator_start_pose_invalid": _START,
    "cartesian_reflex": _TOUCHED,
    "cartesian_spline_motion_generator_violation": _LIMIT,
    "cartesian_velocity_profile_safety_violation": _LIMIT,
    "cartesian_velocity_violation": "slower: the tool was faster than Desk allows",
    "communication_constraints_violation": "too many packets were late: see docs/franka.md, Network and kernel",
    "controller_torque_discontinuity": "efforts changed too fast: lower limits.effort_rate",
    "force_control_safety_violation": _TOUCHED,
    "force_controller_desired_force_tolerance_violation": _TOUCHED,
    "instability_detected": "lower the impedance or the gains of your action, and check `load`",
    "joint_motion_generator_acceleration_discontinuity": _LIMIT,
    "joint_motion_generator_position_limits_violation": _LIMIT,
    "joint_motion_generator_velocity_discontinuity": _LIMIT,
    "joint_motion_generator_velocity_limits_violation": _LIMIT,
    "joint_move_in_wrong_direction": "move the joint back into its range by hand, by guiding",
    "joint_p2p_insufficient_torque_for_planning": "check `load`",
    "joint_position_limits_violation": "move the joint back into its range by hand, by guiding",
    "joint_position_motion_generator_start_pose_invalid": _START,
    "joint_reflex": _TOUCHED,
    "joint_velocity_violation": "slower: a joint was faster than the robot allows",
    "joint_via_motion_generator_planning_joint_limit_violation": _LIMIT,
    "max_goal_pose_deviation_violation": "remove what holds the robot back, and check `load`",
    "max_path_pose_deviation_violation": "remove what holds the robot back, and check `load`",
    "power_limit_violation": "slower, or with a lighter load",
    "self_collision_avoidance_violation": "the robot would have touched itself: choose another way",
    "start_elbow_sign_inconsistent": _START,
    "tau_j_range_violation": "lower the load or the accelerations, and check `load`",
}
"""Name → what to do before the fault is cleared."""

ROBOT_ERRORS = tuple(name for name in REMEDIES if name not in (NETWORK_LOST, USER_STOPPED, GUIDING, NOT_READY))
"""The names of `franka::Errors`."""

CODES: Mapping[str, int] = {name: _FIRST + i for i, name in enumerate(REMEDIES)}
"""Name → code of the fault."""
