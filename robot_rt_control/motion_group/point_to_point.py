"""Plans by the motion generator that the loop also uses: to a position, and at a velocity for a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from robot_rt_control.motion.calls import change_of_velocity, planned, sampled
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.plan import Plan, State, refuse_shorter, shortest_text
from robot_rt_control.vocabulary.errors import DefinitionError


@dataclass(frozen=True, eq=False)
class ProfilePlan:
    """One profile for each joint."""

    profiles: np.ndarray
    """(dof,) of `profile_dtype`: what `plan_position_in` has made."""
    duration: float

    @property
    def dof(self) -> int:
        return len(self.profiles)

    def sample(self, times: np.ndarray) -> State:
        return sampled(self.profiles, times)

    def breaks(self) -> np.ndarray:
        ends = np.cumsum(self.profiles["duration"], axis=1).ravel()
        return np.unique(np.concatenate(([0.0, self.duration], np.clip(ends, 0.0, self.duration))))


def point_to_point(start: ArrayLike, goal: ArrayLike, limits: PlanLimits, duration: float | None = None) -> Plan:
    """A motion from rest to rest whose joints arrive together: time-optimal for the slowest, the others cruise slower.

    It is to the bit what the loop plans and samples by `plan_position_in` and `sample_profile` from the same numbers.

    Args:
        start, goal: (dof,) [rad or m].
        limits: of velocity, acceleration and jerk. The goal's range is not checked here.
        duration: [s]; None: as short as possible.

    Raises:
        DefinitionError: `duration` is too short, or numbers are not finite.
    """
    q0, q1 = np.array(start, float), np.array(goal, float)
    profiles = _planned(q0, q1, limits, 0.0)
    shortest = float(profiles["total"].max(initial=0.0))
    if duration is None:
        return ProfilePlan(profiles, shortest)
    refuse_shorter("motion to a position", duration, shortest)
    return ProfilePlan(_planned(q0, q1, limits, float(duration)), max(float(duration), shortest))


def _planned(q0: np.ndarray, q1: np.ndarray, limits: PlanLimits, duration: float) -> np.ndarray:
    profiles = planned(q0, q1, limits.velocity, limits.acceleration, limits.jerk, duration)
    if profiles is None:
        raise DefinitionError(
            f"motion from {q0.tolist()} to {q1.tolist()}", expected="finite numbers and limits above 0", got="no plan"
        )
    return profiles


def velocity_for_time(
    start: np.ndarray, velocity: np.ndarray, time: float, limits: PlanLimits
) -> tuple[np.ndarray, PlanLimits]:
    """The motion that ramps from rest to a velocity, keeps it, and is at rest again after exactly `time`.

    The joints keep the ratio of their velocities: each ramp takes as long as that of the slowest joint.

    Args:
        start: (dof,) [rad or m].
        velocity: (dof,) [rad/s or m/s].
        time: [s], both ramps included.
        limits: of the joints.

    Returns:
        Its end (dof,), and the limits with which `point_to_point` plans it from `start` to there in `time`.

    Raises:
        DefinitionError: a velocity exceeds its limit, the time is too short to reach it, or the end is out of range.
    """
    for j in np.flatnonzero(~(np.abs(velocity) <= limits.velocity)):
        raise DefinitionError(
            f"velocity of joint {limits.names[j]!r}",
            expected=f"at most {limits.velocity[j]:g}",
            got=f"{velocity[j]:g}",
        )
    speed = np.abs(velocity)
    moving = speed > 1e-50  # any ramp is long enough for the others
    # of the joints' common fraction of their velocities
    acceleration = (limits.acceleration[moving] / speed[moving]).min(initial=np.inf)
    jerk = (limits.jerk[moving] / speed[moving]).min(initial=np.inf)
    ramp = change_of_velocity(0.0, 1.0, acceleration, jerk)[0] if moving.any() else 0.0
    if not time >= 2.0 * ramp or time == np.inf:
        raise DefinitionError(
            "motion at a velocity: time",
            expected=f"at least {shortest_text(2.0 * ramp)}, to reach the velocity and come to rest again",
            got=f"{time:g} s",
            hint="Give more time, a lower velocity, or more acceleration or jerk",
        )
    end = start + np.where(moving, velocity, 0.0) * (time - ramp)
    for j in np.flatnonzero(~((limits.lower <= end) & (end <= limits.upper))):
        raise DefinitionError(
            f"motion at a velocity: the end of joint {limits.names[j]!r} is outside its limits",
            expected=f"{limits.lower[j]:.4f} to {limits.upper[j]:.4f}",
            got=f"{end[j]:.4f}",
            hint="Give less time, or a lower velocity",
        )
    # The rounding of `end` must not make the distance of a slow joint too long for its velocity.
    speed = np.where(moving, speed + 16.0 * np.spacing(np.maximum(np.abs(start), np.abs(end))) / time, np.inf)
    return end, replace(
        limits,
        velocity=np.minimum(speed, limits.velocity),
        acceleration=np.minimum(speed * acceleration, limits.acceleration),
        jerk=np.minimum(speed * jerk, limits.jerk),
    )
