"""From what the control server works with to ROS messages."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from builtin_interfaces.msg import Time

from robot_rt_control import msg
from robot_rt_control.definitions.streams import Stream, StreamInput, StreamOutput, numbers
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.ros.conversions import parameter_message, reaction_message
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.tables.entities import DefinedReaction, SessionContents
from robot_rt_control.server.types.action_types import RegisteredType
from robot_rt_control.server.views.snapshot_view import SnapshotView
from robot_rt_control.server.views.variable_entries import variable_entries
from robot_rt_control.vocabulary.enums import CommandMode


def event_message(event: ServerEvent, stamp: Time) -> Any:
    """msg/Event.

    Args:
        stamp: start of the event's tick on the ROS clock.
    """
    return msg.Event(
        kind=event.kind,
        session=event.session,
        tick=event.tick,
        stamp=stamp,
        event=event.event,
        reaction=event.reaction,
        previous_action=event.previous_action,
        current_action=event.current_action,
        degree_of_freedom=event.degree_of_freedom,
        from_strategy=event.from_strategy,
        to_strategy=event.to_strategy,
        part=event.part,
        reason=event.reason,
        file=event.file,
        names=list(event.names),
        values=list(event.values),
        sequence=event.sequence,
    )


def part_message(server: ControlServer, part: PartDescription, view: SnapshotView | None) -> Any:
    """msg/PartInfo: with the limits of the tool that is on."""
    tool = part.tool_name(part.start_tool)
    if view is not None and part.tools:
        tool = part.tool_name(float(view.measured(part.index).tool_number))
    record, n = part.with_tool(tool).record if tool else part.record, part.dof

    def per_joint(name: str) -> list[float]:
        return [float(v) for v in record[name][:n]]

    can_effort = CommandMode.EFFORT in part.command_modes
    return msg.PartInfo(
        name=part.name,
        kind=part.kind.name.lower(),
        device=part.device,
        joint_names=list(part.joint_names),
        joint_units=list(part.units),
        position_lower=per_joint("position_lower"),
        position_upper=per_joint("position_upper"),
        velocity_limit=per_joint("velocity_limit"),
        acceleration_limit=per_joint("acceleration_limit"),
        jerk_limit=per_joint("jerk_limit"),
        effort_limit=per_joint("effort_limit") if can_effort else [math.inf] * n,
        command_modes=[mode.name.lower() for mode in part.command_modes],
        default_action=part.default_action or "",
        safety_action=part.safety_action or "",
        session=server.session_of_part(part.name),
        operational_state=view.operational_state(part.index).name.lower() if view is not None else "disabled",
        fault=view.fault(part.index) if view is not None else "",
        tools=list(part.tool_names),
        tool=tool,
    )


def session_messages(server: ControlServer) -> list[Any]:
    """msg/SessionInfo of all sessions that live, the oldest first, without those that have yielded their parts."""
    view = server.snapshot()
    active = set(view.active_identities) if view is not None else set()
    messages = []
    for session in filter(server.core.registry.holds, server.sessions()):
        actions = server.contents(session).actions if server.attached else {}
        messages.append(
            msg.SessionInfo(
                id=session.id,
                name=session.name,
                parts=list(session.parts),
                read_only=session.read_only,
                unprotected=not session.secret,
                lease=session.lease,
                remaining=server.remaining(session),
                detached=session.detached,
                suspended=session.suspended,
                program=session.program,
                actions=list(actions),
                active=[a.id for a in actions.values() if a.entry.identity in active],
            )
        )
    return messages


def action_messages(contents: SessionContents) -> list[Any]:
    """msg/ActionDefinition of each action of a session, with its reactions; what it does is left out."""
    return [
        msg.ActionDefinition(
            id=action.id,
            type=action.type.name,
            parts=list(action.moved_parts),
            reactions=reaction_messages(action.reactions),
        )
        for action in contents.actions.values()
    ]


def reaction_messages(reactions: Iterable[DefinedReaction]) -> list[Any]:
    """msg/Reaction of each, by the names that their events have."""
    return [reaction_message(replace(reaction.definition, name=reaction.name)) for reaction in reactions]


def _stream_message(stream: Stream) -> Any:
    units = stream.units if isinstance(stream.units, tuple) else (stream.units,) if stream.units else ()
    info = msg.StreamInfo(
        name=stream.name,
        is_output=isinstance(stream, StreamOutput),
        length=str(stream.length),
        units=list(units),
        description=stream.description,
    )
    if isinstance(stream, StreamInput):
        info.minimum, info.maximum = numbers(stream.minimum), numbers(stream.maximum)
        info.beyond = stream.beyond if info.minimum or info.maximum else ""
    return info


def action_type_message(registered: RegisteredType) -> Any:
    """msg/ActionTypeInfo."""
    declared = registered.declared
    return msg.ActionTypeInfo(
        name=registered.name,
        description=declared.description,
        slots=[
            msg.SlotInfo(name=s.name, kinds=[k.name.lower() for k in s.kinds], moves=s.moves, description=s.description)
            for s in declared.slots
        ],
        parameters=[parameter_message(p) for p in declared.parameters],
        state_variables=[
            msg.StateVariableInfo(name=v.name, type=v.type, unit=v.unit, description=v.description, value=math.nan)
            for v in (*declared.state_variables, *declared.action_variables)
        ],
        streams=[_stream_message(s) for s in declared.streams],
        inputs=[
            msg.StateVariableInfo(name=i.name, type="float", unit=i.unit, description=i.description, value=math.nan)
            for i in declared.inputs
        ],
        degrees_of_freedom=[degree.name for degree in declared.degrees_of_freedom],
        signals=list(declared.signals),
        source=registered.origin,
        compute_time=registered.compute_time,
        time_budget=registered.time_budget,
    )


def action_type_messages(server: ControlServer, name: str) -> list[Any]:
    """msg/ActionTypeInfo of the type of this name, without one of all.

    Raises:
        DefinitionError: there is none of this name.
    """
    types = [server.types.get(name, "the list of types")] if name else server.types.all()
    return [action_type_message(t) for t in types]


def variable_messages(server: ControlServer, wanted: str, session_id: str) -> list[Any]:
    """msg/StateVariableInfo of all state variables whose name begins with a wanted word, by name. All of one tick.

    Args:
        wanted: words with spaces between them; empty: all variables.
        session_id: lists the variables of this session's actions too; empty: of none.

    Raises:
        SessionError: there is no such session.
    """
    view = server.snapshot()
    contents = server.contents(server.session(session_id)) if session_id else None
    return [
        msg.StateVariableInfo(
            name=v.name,
            type=v.type,
            unit=v.unit,
            description=v.description,
            value=v.read(view) if view is not None else math.nan,
        )
        for v in variable_entries(tuple(wanted.split()), server.variables.values(), contents)
    ]
