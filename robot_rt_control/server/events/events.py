"""Events with names instead of numbers, for listeners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_rt_control.definitions.strategy import StrategyDefinition
from robot_rt_control.memory.layout import event_dtype, stop_dtype
from robot_rt_control.memory.stops import stop_of_number
from robot_rt_control.server.events.reasons import fault_text, found_at_start, refusal_text, status_text, stop_text
from robot_rt_control.server.tables.directory import Directory
from robot_rt_control.vocabulary.enums import EventKind, Refusal, StopCause
from robot_rt_control.vocabulary.event_kinds import Kind
from robot_rt_control.vocabulary.fault_reasons import fault_in_words

_FIELDS = event_dtype.names or ()
_CAUSES = frozenset(StopCause)
_REFUSALS = (EventKind.COMMAND_REFUSED, EventKind.REPLACE_REFUSED)
_OF_PARTS = (EventKind.PART_FAULTED, EventKind.PART_ENABLED, EventKind.PART_DISABLED, EventKind.TOOL_CHANGED)
_BUDGET_NAMES = ("compute_time", "time_budget")
"""[s] Values of a budget_exceeded event."""
_Change = tuple[str, StrategyDefinition | None, StrategyDefinition | None]
_NO_CHANGE: _Change = "", None, None


@dataclass(frozen=True, kw_only=True)
class ServerEvent:
    """Something that happened, as reported outside real time. The fields are those of msg/Event."""

    kind: Kind
    session: str = ""
    tick: int = 0
    time_ns: int = 0
    """Start of the tick: CLOCK_MONOTONIC, or simulated time."""
    event: str = ""
    """The user's name for it, from the reaction."""
    reaction: str = ""
    previous_action: str = ""
    current_action: str = ""
    degree_of_freedom: str = ""
    """strategy_changed: that of `current_action` which it concerns, as its list of strategies names it."""
    from_strategy: str = ""
    """Empty: the action has just started."""
    to_strategy: str = ""
    part: str = ""
    reason: str = ""
    """Why, for people; programs read `cause`."""
    cause: StopCause | None = None
    """Why an action ended; None: the event is another one, or the loop gave a cause that is not known."""
    file: str = ""
    """The log of the last ticks, on the executor's machine."""
    by_client: bool = False
    """session_ended: its client asked for it."""
    names: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    sequence: int = 0
    """Counts this server's events from 1, without a gap."""


class EventTranslator:
    """Turns raw events of the loop (`layout.event_dtype`) into ServerEvents without a sequence number.

    Args:
        directory: names of identities.
        part_names: in the workcell's order.
        joint_names: of each part; of one on drives, with the joint's motor.
        tool_names: of each part, in the order of their numbers.
        holder_of: id of the session that holds a part, or an empty text.
        log_file: path of the log of this number; empty: there is none.
        stops: gives the places of protective stops, of `layout.stop_dtype`.
    """

    def __init__(
        self,
        directory: Directory,
        part_names: Sequence[str],
        joint_names: Sequence[Sequence[str]],
        holder_of: Callable[[str], str],
        *,
        tool_names: Sequence[Sequence[str]] = (),
        log_file: Callable[[int], str] = lambda _: "",
        stops: Callable[[], np.ndarray] = lambda: np.zeros(0, stop_dtype),
    ) -> None:
        self._directory, self._part_names, self._joint_names = directory, part_names, joint_names
        self._holder_of, self._tool_names = holder_of, tool_names
        self._log_file, self._stops = log_file, stops

    def translate(self, record: np.record) -> ServerEvent:
        """The event in words."""
        event = dict(zip(_FIELDS, record.item(), strict=True))  # to read a field of a record takes a microsecond
        kind = EventKind(int(event["kind"]))
        directory = self._directory
        session = directory.session_id(int(event["session"]))
        previous, current = int(event["previous_action"]), int(event["current_action"])
        part = self._part(event, current or previous)
        if kind in _OF_PARTS:
            session = self._holder_of(part)
        reaction = directory.reactions.get(int(event["reaction"]))
        n = int(event["n_values"])
        names: tuple[str, ...] = reaction.captures[:n] if reaction else ()
        if kind == EventKind.BUDGET_EXCEEDED:
            names = _BUDGET_NAMES
        elif kind == EventKind.TOOL_CHANGED:
            names = ("tool",)
        elif kind in _REFUSALS and current in directory.actions:
            variables = directory.actions[current].type.declared.state_variables
            names = tuple(v.name for v in variables[:n])
        axis, before, after = self._change(event) if kind == EventKind.STRATEGY_CHANGED else _NO_CHANGE
        if after is not None:
            names = after.capture
        return ServerEvent(
            kind=Kind[kind.name],
            session=session,
            tick=int(event["tick"]),
            time_ns=int(event["time_ns"]),
            event=reaction.event if reaction and kind == EventKind.REACTION_FIRED else "",
            reaction=reaction.name if reaction else "",
            previous_action=directory.action_id(previous),
            current_action=directory.action_id(current),
            degree_of_freedom=axis,
            from_strategy="" if before is None else before.name,
            to_strategy="" if after is None else after.name,
            part=part,
            reason=self._reason(kind, event),
            cause=_cause(event) if kind == EventKind.ACTION_STOPPED else None,
            file=self._log_file(int(event["log"])),
            names=names,
            values=tuple(float(v) for v in event["values"][:n]),
        )

    def _part(self, event: dict[str, Any], action: int) -> str:
        known = self._directory.actions.get(action)
        if known is not None:
            return ", ".join(known.moved_parts)
        index = int(event["part"])
        return self._part_names[index] if 0 <= index < len(self._part_names) else ""

    def _change(self, event: dict[str, Any]) -> _Change:
        """The degree of freedom of a strategy_changed event, and its strategies before and after."""
        action = self._directory.actions.get(int(event["current_action"]))
        if action is None:
            return _NO_CHANGE
        axis = action.prepared.axes[int(event["joint"])]
        before, after = int(event["status"]), int(event["reason"])
        return axis.name, axis.laws[before].definition if before >= 0 else None, axis.laws[after].definition

    def _reason(self, kind: EventKind, event: dict[str, Any]) -> str:
        reason = int(event["reason"])
        if kind in (*_REFUSALS, EventKind.SWITCH_DROPPED):
            action = self._directory.actions.get(int(event["current_action"]))
            if reason == Refusal.CANNOT_START and action is not None:
                found = found_at_start(action, int(event["status"]), event["values"], int(event["part"]))
                return f"action {action.id!r} cannot start from the present state: {found}"
            return refusal_text(reason)
        if kind == EventKind.ACTION_STOPPED:
            status = status_text(int(event["status"]))
            return f"{stop_text(reason)}: {status}" if status else stop_text(reason)
        if kind == EventKind.ACTION_FAILED:
            return status_text(int(event["status"]))
        if kind == EventKind.PART_FAULTED:
            part, joint = int(event["part"]), int(event["joint"])
            names = self._joint_names[part] if 0 <= part < len(self._joint_names) else ()
            where = names[joint] if 0 <= joint < len(names) else ""
            return fault_in_words(fault_text(reason), where, int(event["status"]))
        if kind == EventKind.TOOL_CHANGED:
            part, number = int(event["part"]), int(event["values"][0])
            return self._tool_names[part][number] if part < len(self._tool_names) else f"tool number {number}"
        if kind == EventKind.SIGNAL_DROPPED:
            return "a signal was raised to an action that is not active"
        if kind == EventKind.STRATEGY_CHANGED:
            axis, before, after = self._change(event)
            return f"{axis}: {f'{before.name} → ' if before else ''}{after.name}" if after else ""
        if kind in (EventKind.PROTECTIVE_STOP, EventKind.PROTECTIVE_STOP_RELEASED):
            stop = stop_of_number(self._stops(), int(event["status"]))
            if stop is None:
                return f"stop number {int(event['status'])}"
            return stop.words if kind == EventKind.PROTECTIVE_STOP else stop.release_words
        if kind == EventKind.OVERRUN:
            return f"{int(event['status'])} deadlines missed since the last report"
        if kind == EventKind.BUDGET_EXCEEDED:
            took, budget = (float(v) * 1e6 for v in event["values"][:2])
            return f"its code took {took:.0f} µs in this tick, more than its time budget of {budget:.0f} µs"
        if kind == EventKind.MOTION_STARVED:
            return "it slows down on its path: the next set points have not come yet"
        if kind == EventKind.SERVER_LOST:
            return "the loop heard nothing from the control server"
        return ""


def _cause(event: dict[str, Any]) -> StopCause | None:
    cause = int(event["reason"])
    return StopCause(cause) if cause in _CAUSES else None
