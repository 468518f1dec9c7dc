"""The time that actions see, scaled by the speed override, and the motion at the end of the last command in that time.

An action continues from the end of the last tick. The mean velocity of that tick is half a tick older, its change a
whole tick. So both are extrapolated by the polynomial through the last commands (divided differences), which is exact
for a motion of constant jerk. A motion that continues from there is, with the last commands, a sampled curve of
continuous acceleration: its commands have no more jerk than the larger of the last command's and the new motion's.
"""

from robot_rt_control.memory.joint_modes import mode_of
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode

_EFFORT = int(CommandMode.EFFORT)


@realtime
def is_real(w, p):
    """Whether a part's time is real time: the speed override does not slow down its safety action."""
    slot = w.parts_runtime[p].active_action
    return slot >= 0 and slot == w.tables[w.active_tables].safety_action[p]


@realtime
def set_time(w, p):
    """Set dt of a part."""
    w.parts[p].dt = w.period if is_real(w, p) else w.period * w.speed


@realtime
def keep_speed(w):
    """Remember the speed at which this tick's commands are sent."""
    w.past_speeds[2] = w.past_speeds[1]
    w.past_speeds[1] = w.past_speeds[0]
    w.past_speeds[0] = w.speed


@realtime
def show_motion(w, p):
    """Velocity and acceleration at the end of the last command, in the part's time: actions continue from these.

    While the part's time does not advance, both are 0. They are within the system limits, even if the part was braked
    in real time. Jerk is continued up to the part's limit: a step of acceleration is not.
    """
    past = w.past_speeds
    s1, s2, s3 = past[0], past[1], past[2]
    if is_real(w, p):
        s1 = s2 = s3 = 1.0
    show_motion_of(w.parts[p], w.limits[p], w.parts_runtime[p].last_modes, w.period, s1, s2, s3)


@realtime
def _within(x, bound):
    return min(max(x, -bound), bound)


@realtime
def show_motion_of(part, limits, modes, period, s1, s2, s3):
    """As `show_motion`, of a part's record: the loop's own, or a copy of it.

    Args:
        modes: of the joints in the last command, see joint_modes.py.
        s1, s2, s3: the speed of the part's time at the last commands, the newest first.
    """
    if part.dt <= 0.0 or s1 <= 0.0:
        for j in range(part.dof):
            part.motion_velocity[j] = 0.0
            part.motion_acceleration[j] = 0.0
        return
    # The cubic through four positions, by divided differences. A velocity is the mean of its tick: that of its middle.
    # What was before a standstill does not count.
    h1, h2, h3 = s1 * period, s2 * period, s3 * period
    f1, f2, f3, g1, g2, g3 = 1.0 / s1, 0.0, 0.0, 0.0, 0.0, 0.0
    if s2 > 0.0:
        f2, g1 = 1.0 / s2, 2.0 / (h1 + h2)
        if s3 > 0.0:
            f3, g2, g3 = 1.0 / s3, 2.0 / (h2 + h3), 3.0 / (h1 + h2 + h3)
    v_by_a, v_by_jerk, a_by_jerk = h1 / 2.0, h1 * (h1 + h2) / 6.0, (2.0 * h1 + h2) / 3.0
    for j in range(part.dof):
        v1 = part.commanded_velocity[j]
        v2 = v1 - part.commanded_acceleration[j] * period
        v3 = v2 - part.former_acceleration[j] * period
        u1, u2, u3 = v1 * f1, v2 * f2, v3 * f3
        v, a = u1, (u1 - u2) * g1
        if mode_of(modes, j) != _EFFORT:  # whose velocities are measured, and so noisy
            jerk = _within((a - (u2 - u3) * g2) * g3, part.jerk_limit[j])
            v += a * v_by_a + jerk * v_by_jerk
            a += jerk * a_by_jerk
        part.motion_velocity[j] = _within(v, limits.velocity[j])
        part.motion_acceleration[j] = _within(a, limits.acceleration[j])
