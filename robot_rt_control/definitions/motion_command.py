"""What a user asks of one part: a motion command, as data. `check.py` says whether the part can do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robot_rt_control.vocabulary.errors import DefinitionError
from robot_rt_control.vocabulary.names import check_name

Numbers = Sequence[float] | np.ndarray
"""As given; kept as a tuple, which can be compared and hashed."""
POINTS: tuple[str, ...] = ("positions", "velocities", "accelerations", "poses")
"""What a trajectory may have at each of its times."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Trajectory:
    """A motion given at points in time. It ends at rest, and begins with the first velocity.

    Args:
        times: (n,) [s], from 0, increasing; at least two.
        positions: (n, dof) [rad or m]; or None, and `poses` are given.
        velocities: (n, dof) [rad/s or m/s]; None: a smooth curve from rest, by cubic pieces.
        accelerations: (n, dof) [rad/s² or m/s²], with `velocities`: quintic pieces instead of cubic ones. Or
            (2 n - 2, dof): those at the begin of each piece, then those at its end, which may differ at a point.
        poses: (n, 7) of the tool in the world: p_WT [m], q_WT (x y z w). Joint positions are computed from them.

    Raises:
        DefinitionError: an array has another shape.
    """

    times: np.ndarray
    positions: np.ndarray | None = None
    velocities: np.ndarray | None = None
    accelerations: np.ndarray | None = None
    poses: np.ndarray | None = None

    def __post_init__(self) -> None:
        times = _array("times of a trajectory", self.times, (-1,))
        object.__setattr__(self, "times", times)
        for name, width in (("positions", -1), ("velocities", -1), ("accelerations", -1), ("poses", 7)):
            given = getattr(self, name)
            if given is not None:
                n = len(times)
                if name == "accelerations" and len(np.atleast_1d(given)) == 2 * n - 2:
                    n = 2 * n - 2
                array = _array(f"{name} of a trajectory of {len(times)} points", given, (n, width))
                object.__setattr__(self, name, array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trajectory) and all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )

    def __hash__(self) -> int:
        return hash(self.times.tobytes())


@dataclass(frozen=True, kw_only=True)
class MotionCommand:
    """A motion of one part, from rest (but for a trajectory) to rest.

    Give one target: position, pose, velocity with time, or trajectory.

    Args:
        part: its name.
        position: (dof,) to reach [rad or m].
        pose: of the tool in the world, to reach: p_WT (3,) [m] and q_WT (4,), x y z w.
        velocity: (dof,) to keep [rad/s or m/s], with `time`.
        time: [s] after which the motion at `velocity` has ended; includes both ramps.
        trajectory: points in time.
        start: (dof,) where the motion begins [rad or m]; None: where the part is commanded to be.
        start_tolerance: largest difference of a joint from `start` [rad or m]; beyond it the command is refused.
        speed: fraction of the velocity limits, above 0, at most 1.
        joint_speed: largest velocity [rad/s or m/s]: (dof,), or one number for all joints; with `speed`, the
            smaller one is valid.
        acceleration_percent: of the acceleration limits, above 0, at most 100.
        jerk_percent: of the jerk limits, above 0, at most 100; it does not depend on the acceleration.
        duration: [s] that the motion takes, at least the shortest possible; None: as short as possible.
        via: points (dof,) to pass on the way to `position` or `pose`, on straight lines in joint space.
        blend: largest distance of the path from a via point, of any joint [rad or m]; 0: it stops at each.

    Raises:
        DefinitionError: a value has another shape, or a name is not valid.
    """

    part: str
    position: Numbers | None = None
    pose: tuple[Numbers, Numbers] | None = None
    velocity: Numbers | None = None
    time: float | None = None
    trajectory: Trajectory | None = None
    start: Numbers | None = None
    start_tolerance: float = 0.02
    speed: float = 1.0
    joint_speed: Numbers | float | None = None
    acceleration_percent: float = 100.0
    jerk_percent: float = 100.0
    duration: float | None = None
    via: Sequence[Numbers] | np.ndarray = ()
    blend: float = 0.0

    @property
    def has_pose(self) -> bool:
        """Whether it needs the part's kinematics: its goal, or its points, are poses of the tool."""
        return self.pose is not None or (self.trajectory is not None and self.trajectory.poses is not None)

    def __post_init__(self) -> None:
        check_name("part of a motion command", self.part)
        of = f"motion command of {self.part!r}"
        for name in ("position", "velocity", "start", "joint_speed"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _numbers(f"{of}: {name}", getattr(self, name)))
        if self.pose is not None:
            p_WT, q_WT = _pair(f"{of}: pose", self.pose)
            pose = _numbers(f"{of}: position of the tool", p_WT, 3), _numbers(f"{of}: orientation of the tool", q_WT, 4)
            object.__setattr__(self, "pose", pose)
        points = tuple(_numbers(f"{of}: via point {k + 1}", point) for k, point in enumerate(self.via))
        object.__setattr__(self, "via", points)
        for name in ("time", "duration"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _number(f"{of}: {name}", getattr(self, name)))
        for name in ("start_tolerance", "speed", "acceleration_percent", "jerk_percent", "blend"):
            object.__setattr__(self, name, _number(f"{of}: {name}", getattr(self, name)))
        if self.trajectory is not None and not isinstance(self.trajectory, Trajectory):
            raise DefinitionError(f"{of}: trajectory", expected="a Trajectory", got=repr(self.trajectory))


def points_in_time(what: str, n: int, given: Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
    """What lists of numbers, one point after the other, give at each of n times, as Trajectory takes it.

    Args:
        what: before the name of a list, for messages.
        given: `positions`, `velocities`, … as in Trajectory; empty ones are left out.

    Raises:
        DefinitionError: a list does not fit.
    """
    found: dict[str, np.ndarray] = {}
    for name, numbers in given.items():
        array = np.asarray(numbers, float).ravel()
        rows = n
        if name == "accelerations" and "positions" in found and array.size == 2 * (n - 1) * found["positions"].shape[1]:
            rows = 2 * (n - 1)
        if array.size % max(rows, 1) or n == 0:
            raise DefinitionError(
                f"{what}{name}", expected=f"a multiple of {n}, the number of times", got=str(array.size)
            )
        if array.size:
            found[name] = array.reshape(rows, -1)
    return found


def _number(what: str, given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, float | int | np.floating | np.integer):
        raise DefinitionError(what, expected="a number", got=repr(given))
    return float(given)


def _numbers(what: str, given: Any, length: int | None = None) -> tuple[float, ...]:
    given = given.tolist() if hasattr(given, "tolist") else given  # NumPy
    if isinstance(given, float | int) and length is None:
        given = (given,)
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise DefinitionError(what, expected="a list of numbers", got=repr(given))
    if length is not None and len(given) != length:
        raise DefinitionError(what, expected=f"{length} numbers", got=str(len(given)))
    return tuple(_number(what, number) for number in given)


def _pair(what: str, given: Any) -> tuple[Any, Any]:
    if not isinstance(given, Sequence) or len(given) != 2:
        raise DefinitionError(what, expected="position (3 numbers) and orientation (x y z w)", got=repr(given))
    return given[0], given[1]


def _array(what: str, given: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """A read-only copy; a length of -1 is any from 1."""
    wanted = " x ".join("n" if length < 0 else str(length) for length in shape)
    try:
        array = np.array(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise DefinitionError(what, expected=f"numbers, {wanted}", got=str(error)) from None
    fits = array.ndim == len(shape) and all(
        n == length or (length < 0 and n > 0) for n, length in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise DefinitionError(what, expected=f"numbers, {wanted}", got=" x ".join(map(str, array.shape)) or "one")
    array.setflags(write=False)
    return array
