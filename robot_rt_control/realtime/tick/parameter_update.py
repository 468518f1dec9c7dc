"""New parameters of an action, or variables of a session, carried by a command: cheap enough for callbacks that answer
at a high rate."""

from robot_rt_control.memory.atomics import address_of, load_acquire
from robot_rt_control.memory.command_places import MOST_BYTES
from robot_rt_control.memory.layout import channel_dtype, offset_of, world_dtype
from robot_rt_control.memory.plain_access import copy_bytes
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import Refusal

_ARENA = offset_of(world_dtype, "parameter_arena")
_VARIABLES = offset_of(world_dtype, "session_variables")
_VARIABLES_SIZE = 8 * capacities.MAX_SESSION_VARIABLES
_UPDATES = offset_of(channel_dtype, "parameter_updates")
_SIZE = capacities.PARAMETER_UPDATE_BYTES
_MALFORMED = int(Refusal.MALFORMED)


@realtime
def parameters_beside(ch, i):
    """Address of the parameter record that the command at entry i of the ring may carry."""
    return address_of(ch) + _UPDATES + i * _SIZE


@realtime
def take_parameters(w, slot, source, size):
    """Copy a whole record over the one of an action. Returns 0, or why not.

    Args:
        source: address of the record; 0: there is none.
        size: [bytes], as the command says; the action's own size decides.
    """
    a = w.tables[w.active_tables].actions[slot]
    if source == 0 or size != a.parameter_size or size > _SIZE:
        return _MALFORMED
    copy_bytes(address_of(w) + _ARENA + a.parameter_offset, source, size)
    return 0


@realtime
def take_changes(w, slot, source, size):
    """Change some of the record of an action. Returns 0, or why not; then nothing has changed.

    Args:
        source: address of what `server/link/transactions.py` writes: how many runs of bytes, offset and size of each,
            and then the bytes themselves; 0: there is none.
        size: [bytes] of all of that, as the command says.
    """
    a = w.tables[w.active_tables].actions[slot]
    if source == 0 or size < 8 or size > MOST_BYTES:
        return _MALFORMED
    n = load_acquire(source)
    if n < 0 or n > size or 8 + 16 * n > size:
        return _MALFORMED
    data = 8 + 16 * n
    for i in range(n):
        first, count = load_acquire(source + 8 + 16 * i), load_acquire(source + 16 + 16 * i)
        if first < 0 or count < 0 or first > a.parameter_size or count > a.parameter_size - first:
            return _MALFORMED
        data += count
        if data > size:
            return _MALFORMED
    data = 8 + 16 * n
    for i in range(n):
        first, count = load_acquire(source + 8 + 16 * i), load_acquire(source + 16 + 16 * i)
        copy_bytes(address_of(w) + _ARENA + a.parameter_offset + first, source + data, count)
        data += count
    return 0


@realtime
def take_variables(w, session, source, size):
    """Copy all variables of a session. Returns 0, or why not.

    Args:
        session: its index in the tables.
        source: address of the record; 0: there is none.
        size: [bytes], as the command says.
    """
    if source == 0 or size != _VARIABLES_SIZE:
        return _MALFORMED
    copy_bytes(address_of(w) + _VARIABLES + session * _VARIABLES_SIZE, source, size)
    return 0
