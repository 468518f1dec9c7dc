"""Runs programs of the library on the simulated bench, and returns their results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.hardware.plugin import Pose
from robot_rt_control.hardware.world.simulator import SimulatorPlugin
from robot_rt_control.server.runs.runs import plan_program
from robot_rt_control.testing.lockstep_cell import LockstepCell

BENCH = Path(__file__).parents[3] / "config" / "bench.yaml"
MARGIN = {"pybullet": 1e-3, "mujoco": 0.0}
"""[m] around meshes and cylinders of robots and tools, by which they are thicker than they are drawn."""
FINGERS = 2e4
"""[N/m] Stiffness of both finger tips together."""
_SETTLING = 60
"""Ticks until the program has taken its zero of the force; only then does it move."""


@dataclass(frozen=True)
class Outcome:
    """The result of a run."""

    exit: str
    """The event of the exit; empty: it had not ended in time."""
    values: dict[str, float]
    """What the exit's event carries."""
    states: list[str]
    """The arm's states, in order."""
    changes: list[tuple[int, str]]
    """Tick of each change of a strategy, and what changed: "x: velocity → distance"."""
    ticks: int
    peak: float
    """[N] largest force at the wrist against its value at the start, weight and inertia of the hand included."""
    tool: np.ndarray
    """[m] final position of the tool, shape (3,)."""
    digest: str
    """Digest of all sent commands and all events."""


def run(
    program: str,
    *,
    workcell: Path = BENCH,
    parts: dict[str, str] | None = None,
    at_most: int = 20_000,
    prepare: Callable[[LockstepCell], None] | None = None,
    each_tick: Callable[[LockstepCell], None] | None = None,
    **parameters: Any,
) -> Outcome:
    """Run a program of the library from start to end, as RunProgram does.

    Args:
        workcell: its file.
        parts: for its roles; left out: their defaults.
        at_most: ticks.
        prepare: called before the program starts, to change the world.
        each_tick: called after each tick.
        parameters: of the program.
    """
    with LockstepCell(workcell, hardware="simulator") as cell:
        cell.step(20)
        if prepare is not None:
            prepare(cell)
        cell.events.clear()
        values = [ParameterValue(name=name, value=value) for name, value in parameters.items()]
        plan = plan_program(cell.server, program, until_event="", timeout=0.0, parameters=values, parts=parts or {})
        session = cell.session(*plan.parts)
        session.upload(program, parts or {}, **parameters)
        session.start(*plan.program.start)
        return _follow(cell, session.id, plan.parts, at_most, each_tick)


def _follow(
    cell: LockstepCell,
    session: str,
    parts: tuple[str, ...],
    at_most: int,
    each_tick: Callable[[LockstepCell], None] | None,
) -> Outcome:
    first = cell.step()
    device = cell.executor.world.memory.devices[0]
    commands, wrench = hashlib.sha256(), cell.part("wrist").wrench
    zero, peak, ended = np.zeros(3), 0.0, False
    for tick in range(at_most):
        cell.step()
        commands.update(device.command[: int(device.n_command)].tobytes())
        if each_tick is not None:
            each_tick(cell)
        if tick == _SETTLING - 20:
            zero = np.array(wrench[:3])
        elif tick > _SETTLING:
            peak = max(peak, float(np.linalg.norm(wrench[:3] - zero)))
        if all(cell.active(part) in ("default", "safety", "none") for part in parts):
            ended = True
            break
    events = [e for e in cell.events if e.session == session]
    exits = [e for e in events if e.event]
    assert not cell.kinds("part_faulted", "action_failed", "session_ended")
    last = exits[-1] if ended and exits else None
    assert last is None or [e.event for e in exits].count(last.event) == 1
    story = repr([(e.kind, e.tick, e.reaction, e.event, e.values) for e in events])
    return Outcome(
        exit=last.event if last else "",
        values=dict(zip(last.names, last.values, strict=True)) if last else {},
        states=[e.current_action for e in events if e.kind == "action_started" and e.part == "arm"],
        changes=[(e.tick, e.reason) for e in events if e.kind == "strategy_changed"],
        ticks=cell.tick - first,
        peak=peak,
        tool=np.array(cell.part("arm").tool_position),
        digest=hashlib.sha256(commands.digest() + story.encode()).hexdigest(),
    )


def place_object(
    cell: LockstepCell,
    name: str,
    position: tuple[float, float, float],
    orientation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0),
) -> None:
    """Put an object of the bench somewhere else, at rest."""
    _plugin(cell).move_object(name, Pose(position=position, orientation=orientation))


def object_position(cell: LockstepCell, name: str) -> tuple[float, float, float]:
    """[m] Position of an object of the bench."""
    return _plugin(cell).object_pose(name).position


def _plugin(cell: LockstepCell) -> SimulatorPlugin:
    plugin = cell.executor.devices.hosts["sim"].plugin
    assert isinstance(plugin, SimulatorPlugin)
    return plugin
