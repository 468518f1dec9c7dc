"""Motion generation inside the tick: jerk-limited, from any state, compiled, in bounded time.

Plans for one degree of freedom (`plan_position`, `plan_velocity`, `plan_stop`), for several
(`plan_position_synchronized`, `plan_position_in`, `plan_stop_synchronized`), and queries on the result
(`sample_profile`, `progress`, `position_range`, `velocity_range`, `acceleration_range`).

Planning returns a Status: OK, or PLANNING_FAILED when a number is not finite, a limit is not positive,
or the motion's own numbers overflow; the profile then rests at its start (at 0, if the start is not finite).
"""

from robot_rt_control.motion.extremes import acceleration_range, position_range, velocity_range
from robot_rt_control.motion.position import plan_position
from robot_rt_control.motion.profile import MAX_SEGMENTS, profile_dtype, progress, sample_profile
from robot_rt_control.motion.stop import plan_stop, plan_stop_synchronized
from robot_rt_control.motion.synchronize import plan_position_in, plan_position_synchronized
from robot_rt_control.motion.velocity import plan_velocity

__all__ = [
    "MAX_SEGMENTS",
    "acceleration_range",
    "plan_position",
    "plan_position_in",
    "plan_position_synchronized",
    "plan_stop",
    "plan_stop_synchronized",
    "plan_velocity",
    "position_range",
    "profile_dtype",
    "progress",
    "sample_profile",
    "velocity_range",
]
