"""Watching how long the code of each action takes in a tick: only in the wall-clock loop.

Only here does the tick read a clock, and only if `w.watching` is set. In lockstep it never does, so a replay does
not depend on the machine.

The wall clock is read, which is cheap, but also runs while the system does something else. An action that was far above
its budget once is suspect: from its next tick on the processor time of the loop's thread is read, which is its own.
"""

from robot_rt_control.memory.clock import now_ns, thread_ns
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.defaults import BUDGET_STRIKES, FAR_ABOVE_BUDGET, FAR_STRIKES
from robot_rt_control.vocabulary.enums import BudgetPolicy, EventKind, Status

_OK = int(Status.OK)
_EXCEEDED, _FAR_ABOVE = int(Status.TIME_BUDGET), int(Status.FAR_ABOVE_BUDGET)
_FAIL = int(BudgetPolicy.FAIL)
_EVENT = int(EventKind.BUDGET_EXCEEDED)


@realtime
def begin_timing(w, slot):
    """The time before a call of an action's code [ns]; 0 if nothing is watched."""
    if w.watching == 0:
        return 0
    if w.actions_runtime[slot].suspect != 0:
        return thread_ns()
    return now_ns()


@realtime
def elapsed_ns(w, slot, began):
    """The time [ns] since `begin_timing`; 0 if nothing is watched."""
    if w.watching == 0:
        return 0
    return begin_timing(w, slot) - began


@realtime
def _is_far_above(w, rt, budget):
    """Whether the action has been far above its budget once too often. The first time makes it suspect only."""
    if rt.busy_ns <= FAR_ABOVE_BUDGET * budget:
        return False
    if rt.suspect == 0:
        rt.suspect = 1
        return False
    if rt.far_strikes == 0 or w.tick - rt.far_tick >= w.far_window:
        rt.far_strikes, rt.far_tick = 0, w.tick
    rt.far_strikes += 1
    return rt.far_strikes >= FAR_STRIKES


@realtime
def judge_budget(w, ch, slot):
    """After an action's last call in a tick: report it if it took longer than allowed. Returns a status.

    Unless the action is suspect, the time includes the operating system's interruptions: so it fails only if it is too
    slow in several ticks.
    """
    if w.watching == 0:
        return _OK
    a = w.tables[w.active_tables].actions[slot]
    rt = w.actions_runtime[slot]
    budget = w.tables[w.active_tables].types[a.type].budget_ns * (a.n_parts if a.group != 0 else 1)
    if budget == 0 or rt.busy_ns <= budget:
        rt.strikes = 0
        return _OK
    rt.strikes += 1
    if rt.reported_tick == 0 or w.tick - rt.reported_tick >= w.budget_report_ticks:
        rt.reported_tick = w.tick
        if begin_event(w, ch, _EVENT, 0) >= 0:
            e = ch.events.entries[ch.events.head % capacities.EVENT_RING_ENTRIES]
            e.session = w.tables[w.active_tables].sessions[a.session].identity
            e.current_action = a.identity
            e.part = a.parts[0]
            e.n_values = 2
            e.values[0] = rt.busy_ns * 1e-9
            e.values[1] = budget * 1e-9
            publish_event(ch)
    if _is_far_above(w, rt, budget):
        return _FAR_ABOVE
    if w.budget_policy == _FAIL and rt.strikes >= BUDGET_STRIKES:
        return _EXCEEDED
    return _OK
