"""What the page asks a client of the workcell for: jogging a part, its motion, an action in a session of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from robot_rt_control.client import Action, Client
from robot_rt_control.client.jogger import Jogger
from robot_rt_control.editor.jogs import (
    ANGULAR,
    BY_HAND,
    IN_TOOL,
    IN_WORLD,
    JOINTS,
    LINEAR,
    LOOP_S,
    guided_speeds,
    has_tool,
    why_not_guided,
)
from robot_rt_control.editor.robot import Json
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

_TOOL = {"linear_acceleration": 2.0, "angular_acceleration": 8.0, "smoothing": 0.02}
"""[m/s^2, rad/s^2, s] So that the tool rests soon: what is left of its motion decays with `smoothing`."""
_IDLE_S = 2.0
"""[s] after the last motion for which the part stays held."""


def part_jogger(client: Client, part: Json, name: str, on_event: Callable[[], None]) -> Jogger:
    """A jogger of a part that `has_joints`. The loop brings the part to rest LOOP_S after the last sample.

    Args:
        part: msg/PartInfo.
        name: of its sessions: who jogs.
        on_event: see `Jogger`.
    """
    common: dict[str, Any] = {"parts": part["name"], "goal_timeout": LOOP_S, "report_interval": 0.0}
    actions = [Action(JOINTS, "follow_joint_velocity_stream", **common)]
    if not why_not_guided(part):
        guided = {"parts": part["name"], "goal_timeout": LOOP_S, "gravity": True}
        actions.append(
            Action(BY_HAND, "follow_joint_effort_stream", slow_down_above=guided_speeds(part), **guided)
        )
    if has_tool(part):
        common |= {"linear_velocity": LINEAR, "angular_velocity": ANGULAR, **_TOOL}
        frames = ((IN_WORLD, "world"), (IN_TOOL, "tool"))
        actions += [Action(id, "follow_twist_stream", frame=frame, **common) for id, frame in frames]
    return Jogger(name, part["name"], client, actions=actions, timeout=LOOP_S, idle_time=_IDLE_S, on_event=on_event)


def set_motion(client: Client, part: str, command: str) -> None:
    """`Robot.set_motion`, by a client."""
    commands = {
        "enable": client.enable, "disable": client.disable, "clear_faults": client.clear_faults,
        "recover": client.recover,
    }  # fmt: skip
    if command not in commands:
        raise DefinitionError("set_motion: command", expected=unknown("command", command, commands))
    commands[command](part)


def run_action(
    client: Client,
    type: str,
    parts: list[str],
    values: Mapping[str, Any],
    until: str,
    limit_s: float,
    cancelled: threading.Event,
    on_progress: Callable[[], None],
) -> Json:
    """`Robot.run_action`, by a client."""
    for name in ("until", "timeout_s", "on_progress", "cancelled"):
        if name in values:
            raise DefinitionError(f"parameter {name!r}", expected="a parameter of the action")
    outcome = client.run_action(
        type, parts, until=until, timeout_s=limit_s, cancelled=cancelled, on_progress=lambda _: on_progress(), **values
    )
    return {"success": outcome.success, "message": outcome.message}
