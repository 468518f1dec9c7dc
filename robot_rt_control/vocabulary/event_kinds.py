"""Kinds of events, as msg/Event and every listener name them: those of the loop, the server and the application."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The first ones are the loop's: the names of `EventKind` in lower case."""

    COMMAND_DONE = "command_done"
    COMMAND_REFUSED = "command_refused"
    TABLES_INSTALLED = "tables_installed"
    ACTION_STARTED = "action_started"
    ACTION_STOPPED = "action_stopped"
    REACTION_FIRED = "reaction_fired"
    SWITCH_DROPPED = "switch_dropped"
    ACTION_FAILED = "action_failed"
    PART_FAULTED = "part_faulted"
    PART_ENABLED = "part_enabled"
    PART_DISABLED = "part_disabled"
    SERVER_LOST = "server_lost"
    SIGNAL_DROPPED = "signal_dropped"
    PROTECTIVE_STOP = "protective_stop"
    PROTECTIVE_STOP_RELEASED = "protective_stop_released"
    OVERRUN = "overrun"
    BUDGET_EXCEEDED = "budget_exceeded"
    STRATEGY_CHANGED = "strategy_changed"
    REPLACE_REFUSED = "replace_refused"
    MOTION_STARVED = "motion_starved"
    SESSION_RESUMED = "session_resumed"
    """Its actions may start again."""
    TOOL_CHANGED = "tool_changed"
    """Another tool is on a part: `values` has its number, `reason` its name."""

    SESSION_OPENED = "session_opened"
    """The following kinds are the control server's."""
    SESSION_ENDED = "session_ended"
    SESSION_SUSPENDED = "session_suspended"
    """A protective stop: nothing of it starts until it is resumed."""
    EVENTS_LOST = "events_lost"
    RECOVERY_STARTED = "recovery_started"
    RECOVERY_ENDED = "recovery_ended"
    STREAM_REFUSED = "stream_refused"
    """A sample for a stream input was refused."""

    CALLBACK_FAILED = "callback_failed"
    """The following kinds are made in the application, for its own callbacks."""
    CALLBACK_OVERFLOW = "callback_overflow"
