"""The size of a motion group's set points, see `layout.motion_queue_dtype`."""

from robot_rt_control.native.realtime_code import realtime

STAMP_BYTES = 16
"""Run and number, before the joints."""


@realtime
def set_point_bytes(n_joints):
    """Size of a set point of a group with so many joints, those of all its parts [bytes]."""
    return STAMP_BYTES + 24 * n_joints
