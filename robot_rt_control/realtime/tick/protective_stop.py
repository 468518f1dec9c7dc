"""The protective stop: all actions end, the loop itself brakes and holds every part, and nothing starts meanwhile."""

from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.activation import end_activation
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.recorder import request_log
from robot_rt_control.vocabulary.enums import EventKind, StopCause

_STOPPED = int(EventKind.PROTECTIVE_STOP)
_RELEASED = int(EventKind.PROTECTIVE_STOP_RELEASED)
_CAUSE = int(StopCause.PROTECTIVE_STOP)


@realtime
def _report(w, ch, kind, transaction, log):
    k = begin_event(w, ch, kind, 0)
    if k >= 0:
        ch.events.entries[k].transaction = transaction
        ch.events.entries[k].log = log
        publish_event(ch)


@realtime
def stop_protectively(w, ch, transaction):
    """End all actions, default and safety actions among them. Sessions live on. A second stop changes nothing."""
    if w.protective_stop != 0.0:
        return
    w.protective_stop = 1.0
    _report(w, ch, _STOPPED, transaction, request_log(w, _STOPPED, 0, -1, -1, 0, -1))
    for _ in range(w.n_active):
        end_activation(w, ch, w.active[w.n_active - 1], _CAUSE)


@realtime
def release_protective_stop(w, ch, transaction):
    """Allow starts again. Starts nothing: the parts are held until something is asked of them."""
    if w.protective_stop == 0.0:
        return
    w.protective_stop = 0.0
    _report(w, ch, _RELEASED, transaction, 0)
