"""Why an action ended, in the words that events carry; clients find the cause by them."""

from __future__ import annotations

from robot_rt_control.vocabulary.enums import StopCause

STOP_CAUSES = {
    StopCause.COMMAND: "stopped by a command",
    StopCause.REACTION: "ended by a reaction",
    StopCause.FAILURE: "the action failed",
    StopCause.SESSION_END: "the session ended",
    StopCause.SERVER_LOST: "the control server was lost",
    StopCause.PART_FAULT: "a part was faulted",
    StopCause.REMOVED: "the action was removed",
    StopCause.DISPLACED: "another action took a part",
    StopCause.PROTECTIVE_STOP: "a protective stop",
    StopCause.TIME_LIMIT: "its time limit was reached",
    StopCause.REPLACED: "the action was replaced",
    StopCause.MEMBER_FAILED: "a part of the motion group failed",
    StopCause.PROFILER_LOST: "the process that planned its motion ended",
}
_BY_WORDS = {words: cause for cause, words in STOP_CAUSES.items()}


def cause_of(reason: str) -> StopCause | None:
    """The cause in the reason of an event `action_stopped`: its words, and a status after a colon. None: unknown."""
    return _BY_WORDS.get(reason.partition(":")[0])
