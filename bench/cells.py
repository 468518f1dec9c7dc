"""Workcells for measurements: rows of seven-axis arms with a rangefinder each, on mock hardware."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from robot_rt_control.client import MotionCommand, MotionGroup, Reaction
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition, Value
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.types.action_types import ActionTypes

JOINTS = 7
_ROBOT = Path(__file__).resolve().parents[1] / "config" / "robots" / "arm7.urdf"
_START = [0.0, 0.5236, 0.0, 1.5708, 0.0, 1.0472, 0.0]
_PARTS = """
  arm_{i}: {{kind: arm, device: device_{i}, urdf: {robot}, base_link: base, tip_link: flange, start_position: {start}}}
  rangefinder_{i}: {{kind: rangefinder, device: device_{i}}}
"""


def arms_cell(n: int, period: float = 0.001) -> Workcell:
    """A workcell with arms arm_0 …, each with a rangefinder, each pair on a mock device of its own if they fit.

    Args:
        n: number of arms; up to 32.
        period: of a tick [s].
    """
    devices = min(n, 8)
    parts = "".join(_PARTS.format(i=i, robot=_ROBOT, start=_START) for i in range(n))
    for i in range(n):
        parts = parts.replace(f"device: device_{i},", f"device: device_{i % devices},").replace(
            f"device: device_{i}}}", f"device: device_{i % devices}}}"
        )
    text = f"name: bench\nperiod: {period}\ndefault_hardware: mock\nparts:{parts}devices:\n"
    text += "".join(f"  device_{i}: {{mock: {{time_constant: 0.0}}}}\n" for i in range(devices))
    return in_file(text)


def in_file(text: str, simulator: str = "") -> Workcell:
    """The workcell that a text describes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.yaml"
        path.write_text(text)
        return load_workcell(path, simulator=simulator)


@cache
def builtin_types() -> ActionTypes:
    """The built-in action types, with native code."""
    with Builder() as builder:
        return ActionTypes.build((), builder, lambda _: None)


def never_firing(n: int, arm: int) -> tuple[ReactionDefinition, ...]:
    """Reactions with three-term conditions that never hold; no two have the same numbers."""
    return tuple(
        ReactionDefinition(
            condition=f"arm_{arm}.position[{i % JOINTS}] > {10 + i} and rangefinder_{arm}.distance < {0.1 / (1 + i)}"
            f" or arm_{arm}.velocity[{(i + 2) % JOINTS}] > {5 + i}",
            event=f"event_{i}",
        )
        for i in range(n)
    )


def action(
    id: str, type: str, part: str, values: Mapping[str, Value], reactions: Sequence[ReactionDefinition] = ()
) -> ActionDefinition:
    """An action of a built-in type on one part."""
    parameters = tuple(ParameterValue(name=name, value=value) for name, value in values.items())
    return ActionDefinition(id=id, type=type, parts=(part,), parameters=parameters, reactions=tuple(reactions))


def sine(arm: int, reactions: Sequence[ReactionDefinition] = (), id: str = "") -> ActionDefinition:
    """A joint-space action that moves for ever, with an amplitude so small that it can restart at any point."""
    values: dict[str, Value] = {"amplitude": 0.01, "frequency": 0.3}
    return action(id or f"sine_{arm}", "sine_wave", f"arm_{arm}", values, reactions)


def twist(arm: int, reactions: Sequence[ReactionDefinition] = ()) -> ActionDefinition:
    """A Cartesian action: inverse kinematics in each tick. Slow enough to last for minutes."""
    return action(f"twist_{arm}", "velocity_move", f"arm_{arm}", {"linear": (0.0, 0.0, 1e-4)}, reactions)


def motions(n: int, *, profile: str, duration: float, repeat: bool = False) -> list[ActionDefinition]:
    """Two motion groups, "there" and "back", that move n arms by half a radian; they arrive together.

    Args:
        duration: [s] of the first arm's motion; the others would be faster.
        repeat: each starts the other one as it arrives; else it emits an event.
    """
    here, there = tuple(_START), tuple(q + 0.5 for q in _START)
    groups = []
    for name, other, begin, end in (("there", "back", here, there), ("back", "there", there, here)):
        commands = [
            MotionCommand(
                part=f"arm_{i}",
                start=begin,
                start_tolerance=3.0,
                position=end,
                duration=None if i else duration,
            )
            for i in range(n)
        ]
        arrives = Reaction("is_done", start=other) if repeat else Reaction("is_done", event=f"{name}_arrived")
        groups.append(MotionGroup(name, *commands, finish="together", profile=profile, reactions=[arrives]))
    return [group.definition(()) for group in groups]
