"""A goal of FollowJointTrajectory, its refusal and its outcome, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from robot_rt_control.vocabulary.errors import RobotControlError


class Code(IntEnum):
    """`error_code` of control_msgs/action/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a trajectory. Positions [rad or m] of the goal's joints, and their rates; an empty one is not
    given."""

    time: float
    """[s] from the start."""
    positions: tuple[float, ...] = ()
    velocities: tuple[float, ...] = ()
    accelerations: tuple[float, ...] = ()
    efforts: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class JointTolerance:
    """As control_msgs/JointTolerance: 0: the default; -1: any difference; otherwise the largest difference."""

    joint: str
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A trajectory and what it means to follow it."""

    joints: tuple[str, ...]
    points: tuple[Point, ...]
    start: float | None = None
    """[s] on the ROS clock; None: as soon as possible."""
    path_tolerances: tuple[JointTolerance, ...] = ()
    goal_tolerances: tuple[JointTolerance, ...] = ()
    goal_time_tolerance: float = 0.0
    """[s] 0: the default; -1: any time."""
    is_monitored: bool = True
    """Whether goal tolerances are watched. A trajectory from a topic ends with its last point."""
    has_more: bool = False
    """Whether it also has joints of several degrees of freedom."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How an accepted goal ended."""

    code: Code
    text: str
    tick: int = 0
    """That decided it; 0: no tick did."""
    is_cancelled: bool = False
    is_interrupted: bool = False
    """Something else has ended the motion: a protective stop, a fault, a failure, the end of the session."""

    @property
    def is_success(self) -> bool:
        return self.code == Code.SUCCESSFUL


class GoalRefused(RobotControlError):
    """A goal is refused; nothing has changed."""

    code = Code.INVALID_GOAL
    is_by_workcell = False
    """Whether it was valid, but the part could not be moved."""

    @classmethod
    def by_workcell(cls, error: RobotControlError, what: str = "") -> GoalRefused:
        """The refusal for an error of the workcell; `what`: instead of the error's own."""
        made = cls(what or error.what, expected=error.expected, got=error.got, hint=error.hint)
        made.is_by_workcell = True
        return made

    @classmethod
    def because(cls, code: Code, what: str, *, expected: str = "", got: str = "", hint: str = "") -> GoalRefused:
        """The refusal with this code."""
        made = cls(what, expected=expected, got=got, hint=hint)
        made.code = code
        return made
