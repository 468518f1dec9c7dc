"""Timing the real-time methods of one action type: called tick by tick, as the loop would, on records of its own."""

from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.clock import now_ns
from robot_rt_control.memory.layout import part_dtype
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.native_call import call_action
from robot_rt_control.vocabulary.enums import CommandMode

_PART_SIZE = part_dtype.itemsize
_POSITION = int(CommandMode.POSITION)
_VELOCITY = int(CommandMode.VELOCITY)


@realtime
def _call(address, state, params, parts):
    if address == 0:
        return 0
    return call_action(
        address, state, params, parts, parts + _PART_SIZE, parts + 2 * _PART_SIZE, parts + 3 * _PART_SIZE
    )


@realtime
def _obey(part):
    """What was commanded is measured in the next tick."""
    for j in range(part.dof):
        q = part.commanded_position[j]
        if part.command_mode == _POSITION:
            q = part.position_command[j]
        elif part.command_mode == _VELOCITY:
            q += part.velocity_command[j] * part.dt
        velocity = (q - part.commanded_position[j]) / part.dt
        part.commanded_acceleration[j] = (velocity - part.commanded_velocity[j]) / part.dt
        part.commanded_velocity[j] = velocity
        part.commanded_position[j] = q
        part.position[j] = q
        part.velocity[j] = velocity
        part.command_mode = 0


@realtime
def time_ticks(code, state, params, parts, shortest_ns):
    """Run ticks of an action from its start, and keep the shortest time that each one has taken in any pass.

    Args:
        code: addresses of on_enter, sense, set_parameters and control, shape (4,); 0: none.
        state, params: addresses of its records.
        parts: record that holds `parts`, MAX_ACTION_SLOTS records of `layout.part_dtype`.
        shortest_ns: shape (ticks,), [ns], updated.

    Returns:
        The number of ticks that ran: fewer if the action failed.
    """
    base = address_of(parts)
    for k in range(len(shortest_ns)):
        began = now_ns()
        status = 0
        if k == 0:
            status = _call(code[0], state, params, base)
        if status == 0:
            status = _call(code[1], state, params, base)
        if status == 0:
            status = _call(code[2], state, params, base)
        if status == 0:
            status = _call(code[3], state, params, base)
        shortest_ns[k] = min(shortest_ns[k], now_ns() - began)
        if status != 0:
            return k + 1
        for i in range(len(parts.parts)):
            _obey(parts.parts[i])
    return len(shortest_ns)
