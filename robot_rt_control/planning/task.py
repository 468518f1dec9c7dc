"""A planning task: which body is to go where, which surfaces may touch, how long it may take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from robot_rt_control.model.pose import Pose
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

Control = Literal["velocity", "effort"]
COORDINATES = ("x", "y", "z", "rx", "ry", "rz")
TIME_STEP = 0.005
"""[s] at most, of the planner's simulation."""


@dataclass(frozen=True, kw_only=True)
class PairGroup:
    """One robot geometry that may touch some faces of the body: one contact pair for each face."""

    robot: str
    """`<part>.<link>`; the link must have collision shapes."""
    faces: tuple[str, ...]
    """Patches of the task, or faces of the body, a box or a cylinder, in its frame: back (-x), front (+x), right (-y),
    left (+y), bottom (-z), top (+z). Of a body that is a link: `<fixed object>.<face>`."""
    curvature: float = 10.0
    """[1/m] decay of the virtual force with distance."""


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A rectangle on the body that may touch: a face beside those that its shape has."""

    name: str
    pose: Pose
    """X_BP in the body's frame: x is the outward normal, y and z are along the edges, the origin is in the middle."""
    size: tuple[float, float]
    """[m] edges along y and z."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """Where the motion begins, as far as it is not where the workcell starts: measured, or given."""

    joints: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Part → [rad or m] position of each joint."""
    body: Pose | None = None
    """X_WB of the body."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A planning task, checked as it is made.

    Raises:
        DefinitionError: a value is out of its range.
    """

    name: str = "plan"
    workcell: Path
    start: Start = field(default_factory=Start)
    body: str
    """A free object of the scene."""
    target: Pose
    """X_WB of the body at the end."""
    free: frozenset[str] = frozenset()
    """Coordinates of the target that do not count: x, y, z in the world; rx, ry, rz about the body's axes."""
    pairs: tuple[PairGroup, ...]
    patches: tuple[Patch, ...] = ()
    """Patches of the body, an object or a link; faces of the pairs may be their names."""
    controls: Mapping[str, Control] = field(default_factory=dict)
    """Part → how it is driven; parts not named: velocity."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """Part → the tool that is on; those of other parts are those of the workcell's start."""
    time: float
    """[s] horizon."""
    steps: int
    """Control steps in the horizon; each input is constant over one of them."""
    at_most: float | None = None
    """[s] to which the planner may extend the horizon, by as many steps; None: it is as it is."""
    at_rest: bool = True
    """Whether the body must be at rest at the end."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.time) and self.time > 0.0):
            raise DefinitionError("horizon, time", expected="a positive number of seconds", got=f"{self.time:g}")
        if self.at_most is not None and not (math.isfinite(self.at_most) and self.at_most >= self.time - 1e-9):
            expected, got = f"at least the horizon of {self.time:g} s", f"{self.at_most:g}"
            raise DefinitionError("duration, at_most", expected=expected, got=got)
        if self.steps < 1:
            raise DefinitionError("horizon, steps", expected="at least 1", got=str(self.steps))
        for coordinate in sorted(self.free - set(COORDINATES)):
            item = f"target, free coordinate {coordinate!r}"
            raise DefinitionError(item, expected=unknown("coordinate", coordinate, COORDINATES))
        if not self.pairs:
            raise DefinitionError("pairs", expected="at least one contact pair", got="none")
        for group in self.pairs:
            if not (math.isfinite(group.curvature) and group.curvature > 0.0):
                item = f"pairs, {group.robot!r}: curvature"
                raise DefinitionError(item, expected="a positive number of 1/m", got=f"{group.curvature:g}")

    def lasting(self, time: float) -> Task:
        """With a horizon of at least this time [s], in control steps as long, as far as `at_most` allows."""
        step, most = self.control_step, self.time if self.at_most is None else self.at_most
        steps = max(min(math.ceil(time / step - 1e-9), math.floor(most / step + 1e-9)), self.steps)
        return self if steps == self.steps else replace(self, time=steps * step, steps=steps)

    @property
    def control_step(self) -> float:
        """[s] duration of one control step."""
        return self.time / self.steps
