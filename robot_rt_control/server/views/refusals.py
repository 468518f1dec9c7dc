"""What the loop's refusal of a command means, with the names of actions and parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robot_rt_control.server.events.reasons import found_at_start, refusal_text
from robot_rt_control.server.link.transactions import Answer
from robot_rt_control.server.tables.entities import DefinedAction
from robot_rt_control.server.views.snapshot_view import SnapshotView
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import Command, OperationalState, Refusal, Status
from robot_rt_control.vocabulary.errors import CommandRefused

_HINTS = {
    Refusal.UNKNOWN_ACTION: "Define it again, under another id",
    Refusal.OTHER_SESSION: "Open a new session",
    Refusal.TARGET_TICK_PASSED: "Give a later tick, or 0 for the next one",
    Refusal.TOO_MANY_SCHEDULED: "Send it nearer to its tick",
    Refusal.SESSION_SUSPENDED: "Once a person has asked for it, resume the session: Session.resume(), the service "
    "resume_session, or `robot-rt resume`",
    Refusal.TARGET_TICK_TOO_FAR: "Send it nearer to its tick",
    Refusal.PROTECTIVE_STOP: "Release it first: the service protective_stop with stop: false, or Client.release()",
}


_START_HINTS = {
    int(Status.OTHER_TOOL): "Nothing has changed: put that tool on first, or give the goal for the tool that is on, "
    "with the parameter `tool`, or by setting the parameters again",
    int(Status.WRONG_TOOL): "Nothing has changed: look which tool is on, and at the sensor in the workcell file",
    int(Status.START_TOO_FAR): "Nothing has changed: move to where its motion begins first, as with move_joint",
    int(Status.OTHER_VELOCITY): "Nothing has changed: stop first if it begins at rest, or set `profile: realtime`",
}


def explain(
    command: Command,
    answer: Answer,
    actions: Sequence[DefinedAction],
    target_tick: int,
    snapshot: SnapshotView | None,
    fault_file: Callable[[str], str] = lambda _: "",
) -> CommandRefused:
    """The error for a refused command.

    Args:
        answer: the loop's.
        actions: that the command named.
        snapshot: taken after the refusal, for the state of the parts.
        fault_file: gives the log of the last ticks before a part's fault; empty: there is none.
    """
    refusal = answer.refusal
    names = ", ".join(repr(a.id) for a in actions)
    what = f"{command.name.lower().replace('_', ' ')}{' of ' + names if names else ''} was refused"
    if refusal == Refusal.PART_NOT_ENABLED and snapshot is not None:
        parts = [p for a in actions for p in a.prepared.parts[: len(a.entry.moved_parts)]]
        states, faulted = [], False
        for part in parts:
            state = snapshot.operational_state(part.index)
            faulted = faulted or state == OperationalState.FAULTED
            if state != OperationalState.ENABLED:
                fault = snapshot.fault(part.index)
                log = fault_file(part.name) if fault else ""
                fault += f"; the last ticks: {log}" if log else ""
                states.append(f"part {part.name!r} is {state.name.lower()}{' (' + fault + ')' if fault else ''}")
        if states:
            return CommandRefused(
                what,
                expected="parts whose motion is enabled",
                got=", ".join(states),
                hint="Clear the fault, then enable the motion" if faulted else "Enable the motion first",
            )
    if refusal == Refusal.CANNOT_START and answer.event is not None:
        identity, status = int(answer.event["current_action"]), int(answer.event["status"])
        for action in actions:
            if action.entry.identity == identity:
                return CommandRefused(
                    f"{what}: action {action.id!r} cannot start from the present state",
                    got=found_at_start(action, status, answer.event["values"], int(answer.event["part"])),
                    hint=_START_HINTS.get(status, "Nothing has changed: look at what its on_enter needs"),
                )
    if refusal == Refusal.TARGET_TICK_PASSED and snapshot is not None:
        return CommandRefused(
            what,
            expected=f"a tick after {snapshot.tick}",
            got=str(target_tick),
            hint=_HINTS[Refusal.TARGET_TICK_PASSED],
        )
    if refusal == Refusal.TARGET_TICK_TOO_FAR:
        return CommandRefused(
            what,
            expected=f"a tick that comes within {defaults.SCHEDULE_AHEAD_S:g} s"
            + (f", after tick {snapshot.tick}" if snapshot is not None else ""),
            got=str(target_tick),
            hint=_HINTS[refusal],
        )
    if refusal == Refusal.TOO_MANY_SCHEDULED:
        return CommandRefused(
            what,
            expected=f"at most {capacities.MAX_SCHEDULED_BY_SESSION} commands of a session that wait "
            f"(MAX_SCHEDULED_BY_SESSION), {capacities.MAX_SCHEDULED_COMMANDS} of all (MAX_SCHEDULED_COMMANDS)",
            hint=_HINTS[refusal],
        )
    return CommandRefused(f"{what}: {refusal_text(refusal)}", hint=_HINTS.get(refusal, ""))
