"""Between definitions and the ROS messages that carry them to a node, and back as a description."""

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
        place=message.place,
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


def reaction_message(reaction: ReactionDefinition) -> Any:
    """msg/Reaction."""
    return msg.Reaction(
        name=reaction.name,
        condition=reaction.condition,
        start=", ".join(reaction.start),
        stop=reaction.stop,
        signal=reaction.signal,
        event=reaction.event,
        fire_once=reaction.fire_once,
        keep_owner=reaction.keep_owner,
        capture=list(reaction.capture),
        place=reaction.place,
    )


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
