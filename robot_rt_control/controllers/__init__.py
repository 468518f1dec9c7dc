"""Controllers: how MoveIt and other packages written for ros2_control command parts (docs/ros2_control.md)."""
