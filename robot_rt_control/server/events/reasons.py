"""The loop's numbers in words: why a command was refused, an action ended, a part was faulted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from robot_rt_control.definitions.action_type import JOINT_INDEX
from robot_rt_control.server.tables.entities import DefinedAction
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import FaultReason, Refusal, Status, StopCause
from robot_rt_control.vocabulary.fault_reasons import FAULTS
from robot_rt_control.vocabulary.stop_causes import STOP_CAUSES

_REFUSALS = {
    Refusal.NONE: "",
    Refusal.UNKNOWN_ACTION: "the action does not exist any more",
    Refusal.OTHER_SESSION: "the session has ended, or the action belongs to another session",
    Refusal.PARTS_OVERLAP: "two actions use the same part",
    Refusal.PART_NOT_ENABLED: "the motion of a part is not enabled",
    Refusal.UNKNOWN_PART: "there is no such part",
    Refusal.TOO_MANY_SCHEDULED: "too many commands wait for their target tick",
    Refusal.TARGET_TICK_PASSED: "the target tick has passed",
    Refusal.MALFORMED: "the command is malformed",
    Refusal.STILL_FAULTED: "the part is faulted, and the cause of the fault is still there or was not cleared",
    Refusal.PROTECTIVE_STOP: "a protective stop holds all parts",
    Refusal.CANNOT_START: "an action cannot start from the present state",
    Refusal.TARGET_TICK_TOO_FAR: "the target tick is too far ahead",
    Refusal.SESSION_SUSPENDED: "a protective stop has suspended the session",
    Refusal.NO_AUTHORITY: "it needs authority",
    Refusal.NO_SUCH_STOP: "this protective stop is not latched",
    Refusal.SEVERAL_STOPS: "several protective stops are latched",
    Refusal.STOP_NEEDS_SECRET: "the protective stop needs the secret that it was made with",
    Refusal.STOPPED_NOW: "a stop came in the same tick",
    Refusal.PART_MOVES: "the part is not at rest",
    Refusal.TOOL_IN_USE: "an action commands the part",
    Refusal.WRONG_TOOL: "the sensors say that another tool is on",
    Refusal.TOOL_UNKNOWN: "a sensor that tells which tool is on is unknown",
}

_STATUSES = {
    Status.OK: "",
    Status.BOUNDS: "index out of range",
    Status.NO_CODE: "its native code is missing",
    Status.PLANNING_FAILED: "a motion could not be planned from the present state",
    Status.START_TOO_FAR: "the robot is too far from where the motion begins",
    Status.OTHER_VELOCITY: "the robot has another velocity than the motion at its begin",
    Status.NO_SET_POINTS: "the motion begins with a velocity, and its set points have not come yet",
    Status.OTHER_TOOL: "it was prepared for another tool than the one that is on",
    Status.WRONG_TOOL: "the sensors do not confirm the tool that is to be put on",
    Status.SINGULAR: "the kinematics are singular",
    Status.DEGREE_MODE: "a law commands a degree of freedom in a mode that the action cannot carry out",
    Status.TIME_BUDGET: "its code took longer than its time budget in several ticks in a row",
    Status.FAR_ABOVE_BUDGET: (
        f"its code used more than {defaults.FAR_ABOVE_BUDGET} times its time budget in {defaults.FAR_STRIKES} ticks"
    ),
}


def _text(table: dict, kind: type, number: int) -> str:
    try:
        return table[kind(number)]
    except ValueError:
        return f"reason {number}"


def refusal_text(reason: int) -> str:
    """Why the loop refused a command or dropped a switch (`vocabulary.Refusal`)."""
    return _text(_REFUSALS, Refusal, reason)


def stop_text(cause: int) -> str:
    """Why an action ended (`vocabulary.StopCause`)."""
    return _text(STOP_CAUSES, StopCause, cause)


def fault_text(reason: int) -> str:
    """Why a part is faulted (`vocabulary.FaultReason`)."""
    return _text({r: info.text for r, info in FAULTS.items()}, FaultReason, reason)


def fault_remedy(reason: int) -> str:
    """What to do before the fault is cleared; empty: unknown."""
    return FAULTS[FaultReason(reason)].remedy if reason in set(FaultReason) else ""


def status_text(status: int) -> str:
    """What a real-time function returned (`vocabulary.Status`, or the user's own positive number)."""
    if status > 0:
        return f"status {status} of the action's own code"
    return _text(_STATUSES, Status, status)


def found_at_start(action: DefinedAction, status: int, values: Sequence[float], part_index: int) -> str:
    """Why an action's `on_enter` fails: its status, and the state variables that it has set.

    Args:
        values: of its first state variables; what is 0 or unknown was not set.
        part_index: of the workcell's part that it concerns, if it is a motion group.
    """
    part, found = action.prepared.parts[0], []
    if action.prepared.group is not None:
        part = next((p for p in action.prepared.parts if p.index == part_index), part)
        found.append(f"part {part.name!r}")
    for variable, value in zip(action.type.declared.state_variables, values, strict=False):
        if variable.unit == JOINT_INDEX and math.isfinite(value) and 0 <= value < len(part.joint_names):
            found.append(f"{variable.name} {part.joint_names[int(value)]!r}")
        elif value and math.isfinite(value):
            found.append(f"{variable.name} {value:.4g}")
    return status_text(status) + (f" ({', '.join(found)})" if found else "")
