"""Tools: which of them sensors let be on, and the change from one to another, at rest and within one tick."""

import math

from robot_rt_control.conditions.kernel import evaluate
from robot_rt_control.memory.atomics import address_of
from robot_rt_control.model.kinematics.worn_tool import wear_tool
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.derive import derive
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.parts import is_at_rest, refusal_by_sensor
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import EventKind, OperationalState, Refusal

_ENABLED = int(OperationalState.ENABLED)
_CHANGED = int(EventKind.TOOL_CHANGED)
_MALFORMED, _UNKNOWN_PART = int(Refusal.MALFORMED), int(Refusal.UNKNOWN_PART)
_MOVES, _IN_USE = int(Refusal.PART_MOVES), int(Refusal.TOOL_IN_USE)
_ROOM = capacities.MAX_SENSOR_INSTRUCTIONS
_FALSE, _TRUE = 0, 1

_wear_tool = realtime(wear_tool)


@realtime
def judge_tools(w, p):
    """Judge for each tool of a part whether its sensors let it be on. Costs one condition for each tool with a sensor.

    A tool's own sensor must say so, and that of no other tool. A tool without a sensor is on if no other one's says
    that it is; if one of these is unknown, so is the answer.
    """
    pr, part, base = w.parts_runtime[p], w.parts[p], address_of(w)
    seen = unknown = 0
    for k in range(pr.n_tools):
        i = pr.first_tool + k
        n = w.tools[i].n_instructions
        if n > 0:
            value = evaluate(base, w.tool_instructions, int(i * _ROOM), int(n))
            part.tool_fits[k] = 1.0 if value == _TRUE else 0.0 if value == _FALSE else math.nan
            seen += value == _TRUE
            unknown += value != _TRUE and value != _FALSE
    for k in range(pr.n_tools):
        own = 0
        if w.tools[pr.first_tool + k].n_instructions == 0:
            part.tool_fits[k] = 1.0 if unknown == 0 else math.nan
        elif part.tool_fits[k] == 1.0:
            own = 1
        if seen > own:
            part.tool_fits[k] = 0.0
    part.tool_confirmed = part.tool_fits[int(part.tool_number)]


@realtime
def _refusal(w, p, number):
    """Why a tool cannot be put on a part in this tick, whatever commands the part; 0: it can."""
    pr, part = w.parts_runtime[p], w.parts[p]
    if not 0 <= number < pr.n_tools:
        return _MALFORMED
    # A velocity that the device never knew: what is commanded tells, if it is followed.
    unknown_rest = math.isnan(part.at_rest) and pr.state == _ENABLED
    if not (part.at_rest == 1.0 or unknown_rest) or not is_at_rest(w, p):
        return _MOVES
    return refusal_by_sensor(w, p, number)


@realtime
def _put_on(w, ch, p, number):
    """Everything that follows from the tool changes now. What is commanded does not."""
    pr, part = w.parts_runtime[p], w.parts[p]
    if part.tool_number == number:
        return
    _wear_tool(part, w.limits[p], w.tools[pr.first_tool + number], number)
    part.tool_confirmed = part.tool_fits[number]
    pr.gravity_tick = -1  # what was computed before holds for the other tool
    derive(w, p)
    k = begin_event(w, ch, _CHANGED, 0)
    if k >= 0:
        e = ch.events.entries[k]
        e.part, e.n_values = p, 1
        e.values[0] = number
        publish_event(ch)


@realtime
def change_by_command(w, ch, p, number):
    """Put a tool on a part that no session's action commands. Returns 0, or why not."""
    if p < 0 or p >= w.n_parts:
        return _UNKNOWN_PART
    t = w.tables[w.active_tables]
    slot = w.parts_runtime[p].active_action
    if slot >= 0 and t.actions[slot].session != 0:
        return _IN_USE
    refusal = _refusal(w, p, number)
    if refusal == 0:
        _put_on(w, ch, p, number)
    return refusal


@realtime
def change_by_actions(w, ch):
    """After control: put on the tools that actions ask for, where that can be. They see in the next tick whether."""
    for p in range(w.n_parts):
        pr, asked = w.parts_runtime[p], w.parts[p].tool_command
        if (
            pr.n_tools > 0
            and pr.active_action >= 0
            and math.isfinite(asked)
            and 0.0 <= asked < pr.n_tools
            and _refusal(w, p, int(asked)) == 0
        ):
            _put_on(w, ch, p, int(asked))
