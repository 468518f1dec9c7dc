"""What the node and the process that plans say to each other: plain data that can be pickled."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from robot_rt_control.server.markers.shape import Shape
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError, RobotControlError, error_class

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
class Mistake:
    """An error of the hierarchy as fields, for exceptions of several arguments are not pickled well."""

    error: str
    what: str
    expected: str = ""
    got: str = ""
    hint: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class Finished:
    """Planning has ended by itself, at the time limit or by a cancel."""

    success: bool
    message: str


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Nothing was computed."""

    mistakes: tuple[Mistake, ...]


class Link(Protocol):
    """What planning has of the node that it plans for."""

    cancelled: threading.Event

    def describe(self, described: Described) -> None: ...

    def report(self, report: Report) -> None: ...

    def draw(self, shapes: Sequence[Shape]) -> None: ...

    def measure(self, prefixes: Sequence[str]) -> Mapping[str, float]:
        """Present values, from one tick; NaN: unknown. Raises RobotControlError: the workcell does not answer."""
        ...


def mistakes_of(error: RobotControlError) -> tuple[Mistake, ...]:
    """As fields; several of a ProgramError."""
    all_of_them = error.mistakes if isinstance(error, ProgramError) else (error,)
    return tuple(
        Mistake(
            error=type(one).__name__,
            what=one.what,
            expected=one.expected,
            got=one.got,
            hint=one.hint,
            line=one.line if isinstance(one, DefinitionError) else 0,
        )
        for one in all_of_them
    )


def error_of(mistakes: Iterable[Mistake]) -> RobotControlError:
    """The exception that `mistakes_of` took apart."""
    errors = [_error(mistake) for mistake in mistakes]
    if len(errors) == 1:
        return errors[0]
    return ProgramError(error for error in errors if isinstance(error, DefinitionError))


def _error(mistake: Mistake) -> RobotControlError:
    kind = error_class(mistake.error)
    if issubclass(kind, ProgramError):
        kind = DefinitionError
    error = kind(mistake.what, expected=mistake.expected, got=mistake.got, hint=mistake.hint)
    if isinstance(error, DefinitionError):
        error.line = mistake.line
    return error
