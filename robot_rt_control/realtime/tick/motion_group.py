"""Motion groups: one action that moves several parts along their paths, on one common path time.

The methods of a group's type run for each of its parts, with records of the part's own (`motion_dtype` begins each
state).
The loop lets the members agree: each says on entry how long its motion takes, and learns how long it shall take. Then
the path
time advances with the action's time, times a rate. The rate is 1; to stop on the paths it goes to 0, as fast as the
joints
can follow, and it falls likewise while set points from outside the loop run short. So all parts stay on their paths,
and together, whatever happens to one of them.
"""

import math
from collections.abc import Callable
from typing import Any

from robot_rt_control.memory.atomics import address_of, field_address, record_at
from robot_rt_control.memory.layout import motion_dtype, offset_of, part_dtype, world_dtype
from robot_rt_control.motion.path_time import FASTEST_FALL, possible_fall
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion.tracking import track_velocity
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.motion_queue import entry_bytes, find_newest, is_orphaned, take_points
from robot_rt_control.realtime.tick.native_call import call_action
from robot_rt_control.vocabulary.capacities import EVENT_RING_ENTRIES
from robot_rt_control.vocabulary.defaults import JERK_TIME_S
from robot_rt_control.vocabulary.enums import CommandMode, EventKind, GroupFlag, Status, StopCause

_PARTS = offset_of(world_dtype, "parts")
_PART_SIZE = part_dtype.itemsize
_PARAMETERS = offset_of(world_dtype, "parameter_arena")
_STATE = offset_of(world_dtype, "state_arena")
_HEAD = motion_dtype.itemsize
_OK, _NO_SET_POINTS = int(Status.OK), int(Status.NO_SET_POINTS)
_POSITION, _NO_MODE = int(CommandMode.POSITION), int(CommandMode.NONE)
_TOGETHER, _GO_ON = int(GroupFlag.TOGETHER), int(GroupFlag.GO_ON)
_STARVED = int(EventKind.MOTION_STARVED)
_MEMBER_FAILED, _PROFILER_LOST = int(StopCause.MEMBER_FAILED), int(StopCause.PROFILER_LOST)

motion_at: Callable[[int], Any] = record_at(motion_dtype)
_profile_at: Callable[[int], Any] = record_at(profile_dtype)
assert profile_dtype.itemsize <= world_dtype["path_time"].itemsize


@realtime
def member_size(a):
    """Size of each part's state [bytes]."""
    return (a.state_size - _HEAD) // a.n_parts


@realtime
def _head_of(w, a):
    return motion_at(address_of(w) + _STATE + a.state_offset)


@realtime
def _member_address(w, a, s):
    return address_of(w) + _STATE + a.state_offset + _HEAD + s * member_size(a)


@realtime
def _has_member(w, slot, a, s):
    """Whether the part is still in the group: one that has failed has left it."""
    return w.parts_runtime[a.parts[s]].active_action == slot


@realtime
def _call(w, slot, a, s, address):
    """Call one real-time method for one part. Returns its status; OK if the type has no such method."""
    if address == 0:
        return _OK
    part = address_of(w) + _PARTS + int(a.parts[s]) * _PART_SIZE
    w.inside = slot + 1
    parameters = address_of(w) + _PARAMETERS + a.parameter_offset + s * (a.parameter_size // a.n_parts)
    status = call_action(address, _member_address(w, a, s), parameters, part, part, part, part)
    w.inside = 0
    return status


@realtime
def enter_group(w, ch, slot):
    """`on_enter` of all parts; then they agree on how long their motions take. Returns a status."""
    t = w.tables[w.active_tables]
    a = t.actions[slot]
    head = _head_of(w, a)
    longest = 0.0
    for s in range(a.n_parts):
        status = _call(w, slot, a, s, t.types[a.type].on_enter)
        m = motion_at(_member_address(w, a, s))
        if status != _OK:
            head.start_joint, head.start_distance = m.start_joint, m.start_distance
            return status
        longest = max(longest, m.duration)
    head.duration = head.total = longest
    for s in range(a.n_parts):
        m = motion_at(_member_address(w, a, s))
        m.total = longest if a.group & _TOGETHER != 0 else m.duration
    head.rate = 1.0
    if a.queue >= 0:
        find_newest(w, ch, a, head, entry_bytes(w, a))
        if head.newest < 0:
            if _begins_in_motion(w, a):
                return _NO_SET_POINTS
            head.rate = 0.0
    return _OK


@realtime
def _begins_in_motion(w, a):
    for s in range(a.n_parts):
        m = motion_at(_member_address(w, a, s))
        for j in range(w.parts[a.parts[s]].dof):
            if m.path_velocity[j] != 0.0:
                return True
    return False


@realtime
def sense_group(w, slot):
    """`sense` of all parts, and the group's own state variables. Returns a status."""
    t = w.tables[w.active_tables]
    a = t.actions[slot]
    head = _head_of(w, a)
    head.is_done = head.is_settled = 1.0
    for s in range(a.n_parts):
        if not _has_member(w, slot, a, s):
            continue
        status = _call(w, slot, a, s, t.types[a.type].sense)
        if status != _OK:
            return status
        m = motion_at(_member_address(w, a, s))
        head.is_done = min(head.is_done, m.is_done)
        if head.is_settled != 0.0 and m.is_settled != 1.0:
            head.is_settled = m.is_settled  # 0, or unknown
    head.remaining_time = max(head.total - head.elapsed, 0.0)
    head.progress = 1.0 if head.is_done != 0.0 or head.total <= 0.0 else min(head.elapsed / head.total, 1.0)
    return _OK


@realtime
def control_group(w, ch, slot):
    """Advance the path time; `set_parameters` and `control` of all parts for this time. Returns a status."""
    t = w.tables[w.active_tables]
    a = t.actions[slot]
    head = _head_of(w, a)
    code = t.types[a.type]
    end, final, size = math.inf, head.total, 0
    if a.queue >= 0:
        if head.is_stopping == 0.0 and is_orphaned(w, ch, a.queue):
            head.has_failed = 1.0
            _begin_stop(head, _PROFILER_LOST)
        size = entry_bytes(w, a)
        find_newest(w, ch, a, head, size)
        final = (a.n_points - 1) * w.period
        if head.newest < a.n_points - 1:
            end = max(head.newest, 0) * w.period
    if head.rate != 1.0 or head.change != 0.0 or head.is_stopping != 0.0 or end < math.inf:
        status = _advance(w, slot, a, head, end)
        if status != _OK:
            return status
    else:
        head.elapsed += w.period * w.speed
    time = min(head.elapsed, final)
    _report_starving(w, ch, slot, a, head, end)
    if head.is_stopping != 0.0 and head.rate == 0.0:
        w.actions_runtime[slot].ending = head.cause
    if a.queue >= 0:
        if head.newest < 0:  # nothing has come yet
            for s in range(a.n_parts):
                if _has_member(w, slot, a, s):
                    w.parts[a.parts[s]].command_mode = _POSITION
            return _OK
        number = min(int(time / w.period), head.newest)
        head.fraction = time / w.period - number
        take_points(w, ch, a, head, size, _member_address(w, a, 0), member_size(a), number)
    for s in range(a.n_parts):
        if not _has_member(w, slot, a, s):
            continue
        m = motion_at(_member_address(w, a, s))
        m.elapsed, m.fraction = time, head.fraction
        status = _call(w, slot, a, s, code.set_parameters)
        if status == _OK:
            status = _call(w, slot, a, s, code.control)
        if status != _OK:
            return status
    return _OK


@realtime
def _advance(w, slot, a, head, end):
    """One tick of the path time, whose rate is to become 1, or 0, and which may not pass `end` [s]. Returns a
    status."""
    goal, most = 1.0, a.braking_rate  # with which it can stop anywhere: how much lies ahead may change at any time
    if head.is_stopping != 0.0:
        goal, most = 0.0, max(_possible_fall(w, slot, a, head), a.braking_rate)
    scratch = _profile_at(field_address(w, "path_time"))
    time, rate, change, status = track_velocity(
        scratch,
        head.elapsed,
        head.rate,
        head.change,
        goal,
        -math.inf,
        end,
        1.0,
        most,
        most / JERK_TIME_S,
        w.period * w.speed,
    )
    head.elapsed, head.rate, head.change = max(time, head.elapsed), min(max(rate, 0.0), 1.0), change
    if rate <= 0.0 or (goal == 1.0 and rate >= 1.0):
        head.change = 0.0
    return status


@realtime
def _possible_fall(w, slot, a, head):
    """[1/s] How fast the path time's rate can fall now within the acceleration limits of all joints."""
    fall = FASTEST_FALL
    for s in range(a.n_parts):
        if not _has_member(w, slot, a, s):
            continue
        m = motion_at(_member_address(w, a, s))
        p = a.parts[s]
        for j in range(w.parts[p].dof):
            most = w.limits[p].acceleration[j]
            fall = possible_fall(fall, m.path_velocity[j], m.path_acceleration[j], head.rate, most)
    return fall


@realtime
def _report_starving(w, ch, slot, a, head, end):
    """The state variable `starved`, and an event as it becomes true."""
    starved = end < math.inf and head.rate < 1.0 and head.is_stopping == 0.0
    if starved and head.starved == 0.0 and begin_event(w, ch, _STARVED, 0) >= 0:
        e = ch.events.entries[ch.events.head % EVENT_RING_ENTRIES]
        e.session = w.tables[w.active_tables].sessions[a.session].identity
        e.current_action = a.identity
        e.part = a.parts[0]
        publish_event(ch)
    head.starved = 1.0 if starved else 0.0


@realtime
def _begin_stop(head, cause):
    if head.is_stopping == 0.0:
        head.is_stopping = 1.0
        head.cause = cause


@realtime
def stops_on_path(w, slot, cause):
    """Let a motion group that moves stop on its paths; it ends as soon as it stands. False: it is to be ended now."""
    a = w.tables[w.active_tables].actions[slot]
    if a.group == 0 or w.actions_runtime[slot].active == 0 or w.actions_runtime[slot].entering != 0:
        return False
    head = _head_of(w, a)
    if head.rate == 0.0 or head.is_done == 1.0 or w.speed == 0.0:
        return False
    _begin_stop(head, cause)
    return True


@realtime
def leave_group(w, slot, p):
    """Take a part that has failed out of its motion group, if others are left. False: the action is to be ended."""
    a = w.tables[w.active_tables].actions[slot]
    if a.group == 0 or w.actions_runtime[slot].entering != 0:
        return False
    left = 0
    for s in range(a.n_parts):
        if _has_member(w, slot, a, s) and a.parts[s] != p:
            left += 1
    if left == 0:
        return False
    w.parts_runtime[p].active_action = -1
    w.parts[p].command_mode = _NO_MODE
    w.parts[p].joint_modes = 0
    head = _head_of(w, a)
    head.has_failed = 1.0
    if a.group & _GO_ON == 0:
        _begin_stop(head, _MEMBER_FAILED)
    return True
