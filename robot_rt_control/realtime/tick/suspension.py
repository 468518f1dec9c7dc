"""After a protective stop nothing moves before somebody has asked: sessions are suspended until they are resumed, and
parts take no default action.
"""

from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.vocabulary.enums import EventKind, Refusal

_RESUMED = int(EventKind.SESSION_RESUMED)
_IN_FORCE = int(Refusal.PROTECTIVE_STOP)


@realtime
def suspend_all(w):
    """At a protective stop: nothing of any session starts, and no part takes its default action, until it is asked
    for."""
    t = w.tables[w.active_tables]
    for i in range(1, t.n_sessions):
        w.suspended_sessions[i] = t.sessions[i].identity
    for p in range(w.n_parts):
        w.parts_runtime[p].held = 1


@realtime
def resume_session(w, ch, session):
    """Let actions of a session start again. Starts nothing. Returns 0, or why not.

    Args:
        session: its index in the tables.
    """
    if w.protective_stop != 0.0:
        return _IN_FORCE
    identity = w.tables[w.active_tables].sessions[session].identity
    if w.suspended_sessions[session] == identity:
        w.suspended_sessions[session] = 0
        k = begin_event(w, ch, _RESUMED, 0)
        if k >= 0:
            ch.events.entries[k].session = identity
            publish_event(ch)
    return 0


@realtime
def meet_sessions(w):
    """After new tables were taken: sessions that they hold for the first time may be suspended already."""
    t = w.tables[w.active_tables]
    for i in range(1, t.n_sessions):
        identity = t.sessions[i].identity
        if w.known_sessions[i] != identity:
            w.known_sessions[i] = identity
            if w.protective_stop != 0.0 or t.sessions[i].suspended == 1:
                w.suspended_sessions[i] = identity


@realtime
def is_suspended(w, tables, session):
    """Whether nothing of the session at this index may start.

    Args:
        tables: index of the tables that hold it: the active ones, or those that are about to be.
    """
    s = w.tables[tables].sessions[session]
    unmet = w.known_sessions[session] != s.identity
    return w.suspended_sessions[session] == s.identity or (unmet and s.suspended == 1)
