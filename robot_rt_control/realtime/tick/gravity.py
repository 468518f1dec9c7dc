"""The efforts that hold a part's joints against gravity: computed where they are needed, once in a tick."""

from robot_rt_control.model.kinematics.gravity import gravity_torque
from robot_rt_control.native.realtime_code import realtime


@realtime
def find_gravity(w, p):
    """Compute `gravity_effort` of a part at the measured position; zero if the part is no chain, NaN if unknown."""
    pr = w.parts_runtime[p]
    if pr.gravity_tick != w.tick:
        pr.gravity_tick = w.tick
        part = w.parts[p]
        gravity_torque(part.chain, part.position, part.gravity_effort, w.gravity_scratch)
