"""Between the ROS messages and what the control server works with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time

from robot_rt_control import msg
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    AxisDefinition,
    ParameterValue,
    ReactionDefinition,
    StrategyDefinition,
    Value,
)
from robot_rt_control.definitions.motion_command import POINTS, MotionCommand, Trajectory, points_in_time
from robot_rt_control.definitions.streams import Stream, StreamInput, StreamOutput, numbers
from robot_rt_control.model.part_description import PartDescription
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.link.snapshot_view import SnapshotView
from robot_rt_control.server.link.variable_entries import variable_entries
from robot_rt_control.server.types.action_types import RegisteredType
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import DefinitionError

# --- from messages -------------------------------------------------------------------------------


def parameter_value(message: Any) -> ParameterValue:
    """From msg/ParameterValue. Numbers stay a list: what is declared as a scalar takes a list of one.

    Raises:
        DefinitionError: both numbers and a text, or a bad name.
    """
    if len(message.values) and message.text:
        raise DefinitionError(
            f"parameter {message.name!r}",
            expected="either `values` or `text`",
            got="both",
            hint="Leave one of them out",
        )
    value: Value = tuple(message.values) if len(message.values) else message.text
    return ParameterValue(name=message.name, value=value, unit=message.unit)


def parameter_values(messages: Iterable[Any]) -> tuple[ParameterValue, ...]:
    """From a list of msg/ParameterValue."""
    return tuple(map(parameter_value, messages))


def reaction_definition(message: Any) -> ReactionDefinition:
    """From msg/Reaction.

    Raises:
        DefinitionError: it is not valid in itself.
    """
    return ReactionDefinition(
        name=message.name,
        condition=message.condition,
        start=tuple(name.strip() for name in message.start.split(",")) if message.start else (),
        stop=message.stop,
        signal=message.signal,
        event=message.event,
        fire_once=message.fire_once,
        keep_owner=message.keep_owner,
        capture=tuple(message.capture),
    )


def _strategy_definition(message: Any) -> StrategyDefinition:
    """From msg/Strategy."""
    for text in message.inputs:
        if "=" not in text:
            raise DefinitionError(
                f"strategy {message.name!r}: input", expected="'input=variable': 'force=watch.push_x'", got=repr(text)
            )
    return StrategyDefinition(
        name=message.name,
        law=message.law,
        when=message.condition,
        parts=tuple(message.parts),
        parameters=parameter_values(message.parameters),
        inputs=tuple((name, variable) for name, _, variable in (text.partition("=") for text in message.inputs)),
        capture=tuple(message.capture),
    )


def _axis_definition(message: Any) -> AxisDefinition:
    """From msg/StrategyList."""
    return AxisDefinition(
        axis=message.degree_of_freedom, strategies=tuple(map(_strategy_definition, message.strategies))
    )


def motion_commands(messages: Iterable[Any]) -> tuple[MotionCommand, ...]:
    """From msg/MotionCommand of each.

    Raises:
        DefinitionError: one is not valid in itself.
    """
    return tuple(map(_motion_command, messages))


def _motion_command(message: Any) -> MotionCommand:
    of = f"motion command of {message.part!r}"
    pose = _rows(f"{of}: pose", message.pose, 7)
    n = next((len(x) for x in (message.position, message.start, message.velocity) if len(x)), 0)
    via = () if not len(message.via) else tuple(map(tuple, _rows(f"{of}: via", message.via, n or len(message.via))))
    return MotionCommand(
        part=message.part,
        position=_given(message.position),
        pose=None if not len(pose) else (tuple(pose[0][:3]), tuple(pose[0][3:])),
        velocity=_given(message.velocity),
        time=message.time or None,
        trajectory=_trajectory(of, message),
        start=_given(message.start),
        start_tolerance=message.start_tolerance,
        speed=message.speed,
        joint_speed=_given(message.joint_speed),
        acceleration_percent=message.acceleration_percent,
        jerk_percent=message.jerk_percent,
        duration=message.duration or None,
        via=via,
        blend=message.blend,
    )


def _given(numbers: Any) -> tuple[float, ...] | None:
    """Numbers of a message; None: there are none."""
    return tuple(map(float, numbers)) or None


def _rows(what: str, numbers: Any, width: int) -> np.ndarray:
    """(n, width) numbers of a message, row by row."""
    array = np.array(numbers, float)
    if array.size % width:
        raise DefinitionError(what, expected=f"a multiple of {width} numbers", got=str(array.size))
    return array.reshape(-1, width)


def _trajectory(of: str, message: Any) -> Trajectory | None:
    n = len(message.trajectory_times)
    given = {name: getattr(message, f"trajectory_{name}") for name in POINTS}
    if n == 0:
        if any(len(numbers) for numbers in given.values()):
            raise DefinitionError(f"{of}: trajectory", expected="the times of its points", got="none")
        return None
    arrays = points_in_time(f"{of}: trajectory_", n, given)
    return Trajectory(times=np.array(message.trajectory_times, float), **arrays)


def action_definition(message: Any) -> ActionDefinition:
    """From msg/ActionDefinition.

    Raises:
        DefinitionError: it is not valid in itself.
    """
    return ActionDefinition(
        id=message.id,
        type=message.type,
        parts=tuple(message.parts),
        parameters=parameter_values(message.parameters),
        reactions=tuple(map(reaction_definition, message.reactions)),
        strategies=tuple(map(_axis_definition, message.strategies)),
        time_limit=message.time_limit or None,
        commands=motion_commands(message.commands),
    )


# --- to messages ---------------------------------------------------------------------------------


def time_message(nanoseconds: int) -> Time:
    """builtin_interfaces/Time."""
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


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
    """msg/PartInfo."""
    record, n = part.record, part.dof

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
    )


def session_messages(server: ControlServer) -> list[Any]:
    """msg/SessionInfo of all sessions that live, the oldest first."""
    view = server.snapshot()
    active = set(view.active_identities) if view is not None else set()
    messages = []
    for session in server.sessions():
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


def _shown(value: object) -> str:
    """A default as text: 0.5, true, [0, 0, 1]."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_shown, value))}]"
    return str(value)


def parameter_message(parameter: Parameter) -> Any:
    """msg/ParameterInfo."""
    return msg.ParameterInfo(
        name=parameter.name,
        type=parameter.type,
        unit=parameter.unit,
        length=str(parameter.length),
        required=parameter.default is None and not parameter.optional,
        default_value=_shown(parameter.default),
        minimum=-math.inf if parameter.minimum is None else float(parameter.minimum),
        maximum=math.inf if parameter.maximum is None else float(parameter.maximum),
        choices=list(parameter.choices),
        description=parameter.description,
    )


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
