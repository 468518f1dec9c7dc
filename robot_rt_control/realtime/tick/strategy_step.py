"""Strategies: which one governs each degree of freedom in this tick, and its law.

Between react and control the strategies of all active actions are selected, on the state that the switches of the tick
have left: so no strategy of an action that has ended runs, and an action that has just started selects in the same
tick. Within control the law of each governing strategy commands its degree of freedom: before the action's own code one
that the action's type declares, after it a joint.

A law is an action type whose part has one joint. `w.axis` shows it the degree of freedom as such a part.
"""

import math
from collections.abc import Callable
from typing import Any

from robot_rt_control.conditions.kernel import TRUE, evaluate
from robot_rt_control.memory.atomics import address_of, field_address, record_at
from robot_rt_control.memory.joint_modes import override_mode
from robot_rt_control.memory.layout import (
    JOINT_FIELDS,
    degree_dtype,
    governed_dtype,
    offset_of,
    part_dtype,
    world_dtype,
)
from robot_rt_control.memory.plain_access import load_f8, store_f8
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.gravity import find_gravity
from robot_rt_control.realtime.tick.native_call import call_action
from robot_rt_control.vocabulary.enums import CommandMode, EventKind, Status

_STATE = offset_of(world_dtype, "state_arena")
_PARAMETERS = offset_of(world_dtype, "parameter_arena")
_PARTS = offset_of(world_dtype, "parts")
_PART_SIZE = part_dtype.itemsize
_JOINT_FIELDS = tuple(offset_of(part_dtype, name) for name in JOINT_FIELDS)
_DEGREE_FIELDS = tuple(offset_of(degree_dtype, name) for name in JOINT_FIELDS)
_N_FIELDS = len(JOINT_FIELDS)
_OK = int(Status.OK)
_NO_MODE = int(CommandMode.NONE)
_CHANGED = int(EventKind.STRATEGY_CHANGED)
_NONE = -1

governed_at: Callable[[int], Any] = record_at(governed_dtype)
degree_at: Callable[[int], Any] = record_at(degree_dtype)


@realtime
def select(w, ch):
    """Select the governing strategy of each degree of freedom of each active action.

    All are chosen before one takes over: so conditions, inputs and captured values see what governed in the last tick.
    """
    t = w.tables[w.active_tables]
    if t.n_axes == 0:
        return
    base = address_of(w)
    for k in range(w.n_active):
        slot = w.active[k]
        a = t.actions[slot]
        for i in range(a.first_axis, a.first_axis + a.n_axes):
            _choose(w, ch, t, slot, i, base)
    for k in range(w.n_active):
        slot = w.active[k]
        a = t.actions[slot]
        for i in range(a.first_axis, a.first_axis + a.n_axes):
            _take_over(w, t, slot, i, base)


@realtime
def _choose(w, ch, t, slot, i, base):
    x = t.axes[i]
    g = governed_at(base + _STATE + x.state_offset)
    chosen = x.n_strategies - 1
    for n in range(x.n_strategies - 1):
        s = t.strategies[x.first_strategy + n]
        if evaluate(base, t.instructions, int(s.first_instruction), int(s.n_instructions)) == TRUE:
            chosen = n
            break
    s = t.strategies[x.first_strategy + chosen]
    for k in range(s.n_inputs):
        g.inputs[k] = load_f8(base + s.inputs[k]) if s.inputs[k] >= 0 else math.nan
    g.chosen = chosen
    if g.activation != w.actions_runtime[slot].activation:
        _report(w, ch, t, slot, i, _NONE, chosen)
    elif g.strategy != chosen:
        _report(w, ch, t, slot, i, int(g.strategy), chosen)


@realtime
def _take_over(w, t, slot, i, base):
    g = governed_at(base + _STATE + t.axes[i].state_offset)
    activation = w.actions_runtime[slot].activation
    if g.activation == activation and g.strategy == g.chosen:
        g.ticks += 1.0
        return
    g.activation = activation
    g.strategy = g.chosen
    g.ticks = 0.0
    g.entering = 1


@realtime
def _report(w, ch, t, slot, i, before, chosen):
    """The event of a change. `before` is -1 in the tick in which the action starts."""
    a, x = t.actions[slot], t.axes[i]
    k = begin_event(w, ch, _CHANGED, chosen)
    if k >= 0:
        e = ch.events.entries[k]
        e.session = t.sessions[a.session].identity
        e.current_action = a.identity
        e.part = x.part
        e.joint = i - a.first_axis
        e.status = before
        s = t.strategies[x.first_strategy + chosen]
        e.n_values = s.n_captures
        for c in range(s.n_captures):
            e.values[c] = load_f8(address_of(w) + int(s.captures[c]))
        publish_event(ch)


@realtime
def _show_joint(part, j, axis):
    """Show joint j of a part as a part with one joint."""
    joint, shown = address_of(part) + 8 * int(j), address_of(axis)
    for offset in _JOINT_FIELDS:
        store_f8(shown + offset, load_f8(joint + offset))


@realtime
def _show_degree(degree, axis):
    """Show a declared degree of freedom as a part with one joint.

    Args:
        degree: address of its record.
    """
    shown = address_of(axis)
    for k in range(_N_FIELDS):
        store_f8(shown + _JOINT_FIELDS[k], load_f8(degree + _DEGREE_FIELDS[k]))


@realtime
def _show_rest(part, axis):
    """Show what degrees of freedom have in common with their part; they hold unless the law writes a command."""
    axis.dof = 1
    axis.dt = part.dt
    axis.age = part.age
    axis.at_rest = part.at_rest
    axis.operational_state = part.operational_state
    axis.command_mode = _NO_MODE
    axis.position_command[0] = axis.commanded_position[0]
    axis.velocity_command[0] = 0.0
    axis.effort_command[0] = 0.0


@realtime
def _call(w, slot, s, base, address):
    """Call one real-time function of a law on `w.axis`. Returns its status; OK where the law has no such function."""
    if address == 0:
        return _OK
    w.inside = slot + 1
    status = call_action(
        address,
        base + _STATE + s.state_offset,
        base + _PARAMETERS + s.parameter_offset,
        field_address(w, "axis"),
        base + _PARTS + int(s.parts[0]) * _PART_SIZE,
        base + _PARTS + int(s.parts[1]) * _PART_SIZE,
        base + _PARTS + int(s.parts[2]) * _PART_SIZE,
    )
    w.inside = 0
    return status


@realtime
def _run_law(w, slot, s, base, entering):
    """Run a law as an action is run: `on_enter` once, then `sense`, `set_parameters`, `control`. Returns a status."""
    code = w.tables[w.active_tables].types[s.type]
    status = _OK
    if entering:
        for k in range(s.state_offset // 8, (s.state_offset + s.state_size) // 8):
            w.state_arena[k] = 0.0
        status = _call(w, slot, s, base, code.on_enter)
    if status == _OK:
        status = _call(w, slot, s, base, code.sense)
    if status == _OK:
        status = _call(w, slot, s, base, code.set_parameters)
    if status == _OK:
        status = _call(w, slot, s, base, code.control)
    return status


@realtime
def _govern_one(w, slot, x, base):
    """Run the governing law of a degree of freedom on `w.axis`. Returns a status."""
    g = governed_at(base + _STATE + x.state_offset)
    s = w.tables[w.active_tables].strategies[x.first_strategy + int(g.strategy)]
    part, axis = w.parts[x.part], w.axis
    if s.gravity != 0:
        find_gravity(w, x.part)
    if x.record_offset >= 0:
        _show_degree(base + _STATE + x.record_offset, axis)
    else:
        _show_joint(part, x.joint, axis)
    _show_rest(part, axis)
    for k in range(s.n_inputs):
        axis.inputs[k] = g.inputs[k]
    entering = g.entering == 1
    g.entering = 0
    return _run_law(w, slot, s, base, entering)


@realtime
def _command_joint(part, j, axis):
    """Give a law's command, and its mode, to a joint. A law that commands nothing leaves it to the loop to hold it."""
    if axis.command_mode != part.command_mode:
        override_mode(part, j, axis.command_mode)
    part.position_command[j] = axis.position_command[0]
    part.velocity_command[j] = axis.velocity_command[0]
    part.effort_command[j] = axis.effort_command[0]


@realtime
def govern(w, slot, declared):
    """Let the governing laws of an action command its degrees of freedom.

    Args:
        declared: those that the action's type declares, into its state; else those that are joints, into its parts.

    Returns:
        A status: that of the first law that fails.
    """
    t = w.tables[w.active_tables]
    a = t.actions[slot]
    base = address_of(w)
    for i in range(a.first_axis, a.first_axis + a.n_axes):
        x = t.axes[i]
        if (x.record_offset >= 0) != declared:
            continue
        status = _govern_one(w, slot, x, base)
        axis = w.axis
        if status == _OK and declared:
            d = degree_at(base + _STATE + x.record_offset)
            d.command_mode = axis.command_mode
            d.position_command = axis.position_command[0]
            d.velocity_command = axis.velocity_command[0]
            d.effort_command = axis.effort_command[0]
        elif status == _OK:
            _command_joint(w.parts[x.part], x.joint, axis)
        if status != _OK:
            return status
    return _OK
