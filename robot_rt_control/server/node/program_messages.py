"""From programs to ROS messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robot_rt_control import msg
from robot_rt_control.ros.conversions import parameter_message, time_message
from robot_rt_control.server.programs.program_states import SessionState
from robot_rt_control.server.programs.program_store import StoredProgram, events_of
from robot_rt_control.vocabulary.errors import RobotControlError


def program_message(program: StoredProgram, *, with_text: bool) -> Any:
    """msg/ProgramInfo. A file that is no program says why in its description."""
    info = msg.ProgramInfo(
        name=program.name,
        version=program.version,
        versions=list(program.versions),
        origin="library" if program.library else "store",
        saved=time_message(0 if program.library else program.saved_ns),
        tags=list(program.tags),
        text=program.text if with_text else "",
    )
    if program.template is None:
        info.description = f"not a valid program: {program.problem}"
        return info
    template = program.template
    info.description = template.description
    info.parameters = [parameter_message(p) for p in template.parameters]
    try:
        definition = template.sample().definition
        info.events = events_of(definition)
    except RobotControlError as error:
        info.description = f"not a valid program: {error}"
        return info
    info.parts = [role.name for role in template.roles] or list(definition.parts) or _parts_of(definition)
    return info


def _parts_of(definition: Any) -> list[str]:
    names: dict[str, None] = {}
    for action in definition.actions:
        names.update(dict.fromkeys(action.parts.values() if isinstance(action.parts, dict) else action.parts))
    return list(names)


def deleted_remark(versions: Iterable[int]) -> str:
    """What became of a program that was to be deleted."""
    return f"deleted: version {', '.join(map(str, versions))}"


def state_message(state: SessionState, stamp: Any) -> Any:
    """msg/ProgramState."""
    return msg.ProgramState(
        stamp=stamp,
        tick=state.tick,
        session=state.session,
        program=state.program,
        active=list(state.active),
        since=list(state.active.values()),
        strategies=[
            msg.StrategyState(action=action, degree_of_freedom=axis, strategy=strategy, since=since)
            for (action, axis), (strategy, since) in state.strategies.items()
        ],
        last_reaction=state.last_reaction,
        last_event=state.last_event,
        suspended=state.suspended,
        ended=state.ended,
        end_reason=state.end_reason,
    )
