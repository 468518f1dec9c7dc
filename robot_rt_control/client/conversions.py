"""Converts between definitions or events and ROS messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from robot_rt_control import msg
from robot_rt_control.client.event import Event
from robot_rt_control.client.program_state import ProgramState, StrategyState
from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    ReactionDefinition,
    StrategyDefinition,
)


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
    )


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
        strategies=[
            msg.StrategyList(degree_of_freedom=x.axis, strategies=[_strategy_message(s) for s in x.strategies])
            for x in action.strategies
        ],
    )


def event_of(message: Any) -> Event:
    """From msg/Event."""
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
            StrategyState(
                action=s.action, degree_of_freedom=s.degree_of_freedom, strategy=s.strategy, since=s.since
            )
            for s in message.strategies
        ),
        last_reaction=message.last_reaction,
        last_event=message.last_event,
        ended=message.end_reason if message.ended else None,
    )
