"""What missed deadlines lead to, by the policy. The loop has counted them; who counts is the clock's business."""

from robot_rt_control.native.realtime_code import inlined, realtime
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.parts import fault_part
from robot_rt_control.vocabulary.enums import EventKind, FaultReason, OperationalState, OverrunPolicy

_COUNT = int(OverrunPolicy.COUNT)
_FAULT = int(OverrunPolicy.FAULT)
_OVERRUN = int(EventKind.OVERRUN)
_MISSED = int(FaultReason.DEADLINE_MISSED)
_ENABLED = int(OperationalState.ENABLED)


@realtime
def _too_many(w, missed):
    """Note misses of this tick. Returns whether the last `limit` of them were within `window` ticks."""
    o = w.overrun
    for _ in range(min(missed, o.limit)):
        o.ticks[o.count % o.limit] = w.tick
        o.count += 1
    return o.count >= o.limit and w.tick - o.ticks[o.count % o.limit] < o.window


@inlined
def act_on_overruns(w, ch):
    """Report missed deadlines, and fault all enabled parts if there were too many. Policy COUNT does nothing."""
    if w.overrun.missed | w.overrun.unreported != 0:
        _act(w, ch)


@realtime
def _act(w, ch):
    o = w.overrun
    missed = o.missed
    o.missed = 0
    if o.policy == _COUNT:
        return
    o.unreported += missed
    faults = o.policy == _FAULT and missed > 0 and _too_many(w, missed)
    if faults or o.reported_tick == 0 or w.tick - o.reported_tick >= o.report_ticks:
        k = begin_event(w, ch, _OVERRUN, 0)
        if k >= 0:
            ch.events.entries[k].status = o.unreported
            publish_event(ch)
        o.unreported = 0
        o.reported_tick = w.tick
    if faults:
        o.count = 0
        for p in range(w.n_parts):
            if w.parts_runtime[p].state == _ENABLED:
                fault_part(w, ch, p, _MISSED, -1)
