"""Grippers, with the semantics of ros2_control's gripper controllers."""
