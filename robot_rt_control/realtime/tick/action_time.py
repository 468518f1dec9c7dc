"""The time that actions see: scaled by the speed override, and the last command's motion in that time."""

from robot_rt_control.native.realtime_code import realtime


@realtime
def set_time(w, p):
    """Set dt of a part. The speed override does not slow down its safety action."""
    slot = w.parts_runtime[p].active_action
    if slot >= 0 and slot == w.tables[w.active_tables].safety_action[p]:
        w.parts[p].dt = w.period
    else:
        w.parts[p].dt = w.period * w.speed


@realtime
def _within(x, bound):
    return min(max(x, -bound), bound)


@realtime
def show_motion(w, p):
    """Velocity and acceleration of the last command in the part's time: an action continues from these.

    While the part's time stands still, both are 0. The velocity shown is never above the limits, even if the part was
    braked in real time.
    """
    show_motion_of(w.parts[p], w.limits[p], w.period)


@realtime
def show_motion_of(part, limits, period):
    """As `show_motion`, of a part's record: the loop's own, or a copy of it."""
    if part.dt == period:
        for j in range(part.dof):
            part.motion_velocity[j] = part.commanded_velocity[j]
            part.motion_acceleration[j] = part.commanded_acceleration[j]
        return
    faster = 0.0 if part.dt <= 0.0 else period / part.dt
    for j in range(part.dof):
        part.motion_velocity[j] = _within(part.commanded_velocity[j] * faster, limits.velocity[j])
        part.motion_acceleration[j] = _within(part.commanded_acceleration[j] * faster * faster, limits.acceleration[j])
