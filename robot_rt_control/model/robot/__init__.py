"""Robots from URDF and xacro, with their ros2_control tags."""
