"""The size of a motion group's set points, see `layout.motion_queue_dtype`."""

from robot_rt_control.native.realtime_code import realtime

STAMP_BYTES = 16
"""Run and number, before the joints."""


def size_of_set_point(n_joints: int) -> int:
    """Size of a set point of a group with so many joints, those of all its parts [bytes]; for Python."""
    return STAMP_BYTES + 24 * n_joints


set_point_bytes = realtime(size_of_set_point)
"""The same in real-time code. Called from Python it would load the compiler, while the loop waits for new tables."""
