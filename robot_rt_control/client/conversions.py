"""Converts between definitions or events and ROS messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from robot_rt_control import msg
from robot_rt_control.client.event import Event
from robot_rt_control.client.program_state import ProgramState, StrategyState
from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    StrategyDefinition,
)
from robot_rt_control.definitions.motion_command import MotionCommand
from robot_rt_control.ros.conversions import reaction_message
from robot_rt_control.vocabulary.errors import DefinitionError

_LAST_COUNT = 2**53
"""That no count reaches, and up to which a double is exact."""


def parameter_messages(values: Iterable[ParameterValue]) -> list[Any]:
    """msg/ParameterValue of each."""
    messages = []
    for value in values:
        message = msg.ParameterValue(name=value.name, unit=value.unit)
        if isinstance(value.value, str):
            message.text = value.value
        else:
            numbers = value.value if isinstance(value.value, tuple) else (value.value,)
            message.values = [float(number) for number in numbers]
        messages.append(message)
    return messages


def _strategy_message(strategy: StrategyDefinition) -> Any:
    """msg/Strategy."""
    return msg.Strategy(
        name=strategy.name,
        condition=strategy.when,
        law=strategy.law,
        parameters=parameter_messages(strategy.parameters),
        parts=list(strategy.parts),
        inputs=[f"{name}={variable}" for name, variable in strategy.inputs],
        capture=list(strategy.capture),
    )


def _flat(numbers: Any) -> list[float]:
    """Numbers of any shape, or None, as a message carries them."""
    return [] if numbers is None else np.asarray(numbers, float).ravel().tolist()


def _command_message(command: MotionCommand) -> Any:
    """msg/MotionCommand."""
    points = command.trajectory
    return msg.MotionCommand(
        part=command.part,
        position=_flat(command.position),
        pose=[] if command.pose is None else [*command.pose[0], *command.pose[1]],
        velocity=_flat(command.velocity),
        time=command.time or 0.0,
        trajectory_times=_flat(None if points is None else points.times),
        trajectory_positions=_flat(None if points is None else points.positions),
        trajectory_velocities=_flat(None if points is None else points.velocities),
        trajectory_accelerations=_flat(None if points is None else points.accelerations),
        trajectory_poses=_flat(None if points is None else points.poses),
        start=_flat(command.start),
        start_tolerance=command.start_tolerance,
        speed=command.speed,
        joint_speed=_flat(command.joint_speed),
        acceleration_percent=command.acceleration_percent,
        jerk_percent=command.jerk_percent,
        duration=command.duration or 0.0,
        via=_flat(command.via),
        blend=command.blend,
    )


def action_message(action: ActionDefinition) -> Any:
    """msg/ActionDefinition."""
    parts = action.parts
    return msg.ActionDefinition(
        id=action.id,
        type=action.type,
        parts=[f"{slot}={part}" for slot, part in parts.items()] if isinstance(parts, Mapping) else list(parts),
        parameters=parameter_messages(action.parameters),
        reactions=[reaction_message(r) for r in action.reactions],
        time_limit=action.time_limit or 0.0,
        commands=[_command_message(command) for command in action.commands],
        strategies=[
            msg.StrategyList(degree_of_freedom=x.axis, strategies=[_strategy_message(s) for s in x.strategies])
            for x in action.strategies
        ],
    )


def event_of(message: Any) -> Event:
    """From msg/Event. Raises DefinitionError: no control server makes such a one."""
    if len(message.names) != len(message.values):
        expected = f"a value for each of {len(message.names)} names"
        raise DefinitionError("captured values", expected=expected, got=str(len(message.values)))
    for name in ("tick", "sequence"):
        if getattr(message, name) > _LAST_COUNT:
            raise DefinitionError(name, expected="at most 2^53", got=str(getattr(message, name)))
    return Event(
        kind=message.kind,
        session=message.session,
        tick=message.tick,
        time=message.stamp.sec + message.stamp.nanosec * 1e-9,
        name=message.event,
        reaction=message.reaction,
        previous_action=message.previous_action,
        current_action=message.current_action,
        degree_of_freedom=message.degree_of_freedom,
        from_strategy=message.from_strategy,
        to_strategy=message.to_strategy,
        part=message.part,
        reason=message.reason,
        file=message.file,
        values=dict(zip(message.names, message.values, strict=True)),
        sequence=message.sequence,
    )


def state_of(message: Any) -> ProgramState:
    """From msg/ProgramState."""
    return ProgramState(
        session=message.session,
        program=message.program,
        tick=message.tick,
        active=tuple(message.active),
        strategies=tuple(
            StrategyState(action=s.action, degree_of_freedom=s.degree_of_freedom, strategy=s.strategy, since=s.since)
            for s in message.strategies
        ),
        last_reaction=message.last_reaction,
        last_event=message.last_event,
        suspended=message.suspended,
        ended=message.end_reason if message.ended else None,
    )
