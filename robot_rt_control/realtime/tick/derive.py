"""What follows from the measured joints and wrenches of a part, in each tick, and again when its tool is changed."""

import math

from robot_rt_control.model.kinematics.forward import tool_state
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.gravity import find_gravity
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import PartKind

_FORCE_TORQUE = int(PartKind.FORCE_TORQUE_SENSOR)
_REST = defaults.REST_SPEED_FRACTION


@realtime
def derive(w, p):
    """Compute the tool's pose and twist, `at_rest` and `external_effort` from the measured joints; a wrench's norms."""
    part = w.parts[p]
    if part.dof == 0:
        if w.parts_runtime[p].kind == _FORCE_TORQUE:
            f = part.wrench
            part.force_norm = math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
            part.torque_norm = math.sqrt(f[3] * f[3] + f[4] * f[4] + f[5] * f[5])
        return
    if part.chain.n_joints > 0:
        tool_state(
            part.chain, part.position, part.velocity, part.tool_position, part.tool_orientation, part.tool_twist
        )
    if w.parts_runtime[p].external_effort == 1:
        find_gravity(w, p)
        for j in range(part.dof):
            part.external_effort[j] = part.effort[j] - part.gravity_effort[j]
    resting = 1.0
    for j in range(part.dof):
        slow = _REST * w.limits[p].velocity[j]
        if abs(part.commanded_velocity[j]) > slow or abs(part.velocity[j]) > slow:
            resting = 0.0
        elif math.isnan(part.velocity[j]):
            resting = math.nan
            break
    part.at_rest = resting
