"""What the node and the process that plans say to each other, as plain data.

The job, measured values and a cancel go down as they are; what comes up is checked (`planning_process.message_of`).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from robot_rt_control.drawing.shape import Shape
from robot_rt_control.processes.errors import Fields

Numbers = float | tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Job:
    """A plan to be made."""

    task: str
    """YAML text, the path of a file, or the name of a task that comes with the package."""
    parameters: Mapping[str, tuple[Numbers, str]] = field(default_factory=dict)
    """Name → number or numbers, and unit; an empty unit is not checked."""
    from_measured: bool = False
    previous_plan: str = ""
    """File whose rest is the first guess; empty: none."""
    timeout: float = 0.0
    """[s] for planning; 0: no limit."""
    workcell: Path
    """The running one; a task given as text has its relative paths from there."""
    plan_file: Path
    """Each better plan without virtual forces is written there, whole or not at all."""
    threads: int = 1
    """To compute with."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """How planning goes. NaN: there is none; errors and k are those of the feedback of PlanContact."""

    phase: str
    start: str = ""
    penalty_iteration: int = 0
    iteration: int = 0
    cost: float = math.nan
    position_error: float = math.nan
    orientation_error: float = math.nan
    stiffness_average: float = math.nan
    stiffness_greatest: float = math.nan
    progress: float = math.nan
    best_position_error: float = math.nan
    best_orientation_error: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Described:
    """What the task says that the node needs to know."""

    pose: str
    """The part that measures where the body is; empty: none."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Asks for the present values of the state variables whose names begin with these words, all from one tick."""

    prefixes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What is to be drawn, all of it."""

    shapes: tuple[Shape, ...]


@dataclass(frozen=True, kw_only=True)
class Finished:
    """Planning has ended by itself, at the time limit or by a cancel."""

    success: bool
    message: str


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Nothing was computed."""

    mistakes: Sequence[Fields]
    """See `fields_of`."""


Message = Report | Described | Measure | Picture | Finished | Refused
"""What comes up."""


def plain(message: Message) -> dict[str, Any]:
    """A message for JSON; `planning_process.message_of` is its counterpart."""
    fields = vars(message)
    if isinstance(message, Picture):
        fields = {"shapes": [vars(shape) | {"kind": shape.kind.value} for shape in message.shapes]}
    return {type(message).__name__: fields}


class Link(Protocol):
    """What planning has of the node that it plans for."""

    cancelled: threading.Event

    def describe(self, described: Described) -> None: ...

    def report(self, report: Report) -> None: ...

    def draw(self, shapes: Sequence[Shape]) -> None: ...

    def measure(self, prefixes: Sequence[str]) -> Mapping[str, float]:
        """Present values, from one tick; NaN: unknown. Raises RobotControlError: the workcell does not answer."""
        ...
