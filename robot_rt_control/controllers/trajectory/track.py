"""A joint motion in time, made of quintic pieces, that can be cut and continued."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_rt_control.motion_group.curve import Curve, spline
from robot_rt_control.motion_group.led_onto import BLEND_TIME
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.retiming import Retimed, retimed
from robot_rt_control.motion_group.trajectory import curve_through, states_of

State = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Position, velocity, acceleration, each (dof,) [rad or m, per s, per s²]."""


@dataclass(frozen=True, eq=False)
class Track:
    """Quintic pieces between points.

    Args:
        times: (n,) [s] of the points, from 0.
        q, v: (n, dof) there.
        a: (2, n - 1, dof) accelerations at the begin of each piece, and at its end.
    """

    times: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    @property
    def duration(self) -> float:
        return float(self.times[-1])

    @cached_property
    def curve(self) -> Curve:
        """The same as polynomials."""
        return curve_through(self.times, self.q, self.v, self.a)

    def slowed(self, limits: PlanLimits, *, keeps_start: bool, most_points: int | None) -> tuple[Track, Retimed] | None:
        """The same within limits of velocity and acceleration, as `retimed`."""
        made = retimed(self.times, self.q, self.v, self.a, limits, keeps_start=keeps_start, most_points=most_points)
        return None if made is None else (Track(made.times, made.q, made.v, made.a), made)

    def at(self, t: float) -> State:
        """The state at time t [s]; after the end it stands there."""
        if t >= self.duration:
            return self.q[-1], np.zeros_like(self.q[-1]), np.zeros_like(self.q[-1])
        return self.curve(t), self.curve(t, 1), self.curve(t, 2)

    def cut(self, begin: float, end: float) -> Track:
        """What happens between two times [s], of which the second is later; after the end it stands."""
        inside = (self.times > begin + _SAME) & (self.times < end - _SAME)
        first, last = self.at(begin), self.at(end)
        times = np.concatenate([[begin], self.times[inside], [end]])
        piece = np.clip(np.searchsorted(self.times, (times[:-1] + times[1:]) / 2.0) - 1, 0, len(self.times) - 2)
        standing = times[:-1] >= self.duration - _SAME
        a = np.stack([self._acceleration(times[:-1], piece), self._acceleration(times[1:], piece)])
        a[:, standing] = 0.0
        q = np.concatenate([first[0][None], self.q[inside], last[0][None]])
        v = np.concatenate([first[1][None], self.v[inside], last[1][None]])
        return Track(times - begin, q, v, a)

    def _acceleration(self, times: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """(n, dof) at times that belong to these pieces."""
        c, s = self.curve.c[:, piece], (times - self.times[piece])[:, None]
        return 2.0 * c[3] + s * (6.0 * c[2] + s * (12.0 * c[1] + s * 20.0 * c[0]))

    def then(self, other: Track) -> Track:
        """This motion and then the other one, which begins in the state in which this one ends."""
        return Track(
            np.concatenate([self.times, self.duration + other.times[1:]]),
            np.concatenate([self.q, other.q[1:]]),
            np.concatenate([self.v, other.v[1:]]),
            np.concatenate([self.a, other.a], axis=1),
        )

    def led_from(self, q: np.ndarray, v: np.ndarray) -> Track:
        """The same from another position and velocity: the difference vanishes by a quintic."""
        dq, dv = q - self.q[0], v - self.v[0]
        if not (np.abs(dq).max() > 0.0 or np.abs(dv).max() > 0.0):
            return self
        h = min(BLEND_TIME, self.duration)
        begin = self.cut(0.0, h)
        rest = np.zeros_like(dq)
        difference = _between((dq, dv, rest), (rest, rest, rest), h)
        c, t = difference.curve, begin.times
        led = Track(t, begin.q + c(t), begin.v + c(t, 1), begin.a + np.stack([c(t[:-1], 2), c(t[1:], 2)]))
        led.q[-1], led.v[-1] = begin.q[-1], begin.v[-1]  # without rounding
        return led.then(self.cut(h, self.duration)) if h < self.duration - _SAME else led


_SAME = 1e-9
"""[s] Times that differ by less are equal."""
_RESTS = 1e-6
"""[rad/s or m/s] A slower end is one at rest: rounding of who made the points."""


def standing(q: np.ndarray, duration: float) -> Track:
    """Standing at q (dof,) for a time [s]."""
    rest = np.zeros((2, len(q)))
    return Track(np.array([0.0, duration]), np.stack([q, q]), rest, rest[:, None])


def _between(first: State, last: State, duration: float) -> Track:
    return Track(
        np.array([0.0, duration]),
        np.stack([first[0], last[0]]),
        np.stack([first[1], last[1]]),
        np.stack([first[2], last[2]])[:, None],
    )


def stopping(state: State, acceleration: np.ndarray) -> Track:
    """From a state to rest, with at most these accelerations (dof,), twice the time that a constant one would take."""
    q, v, a = state
    duration = max(float((2.0 * np.abs(v) / acceleration).max()), BLEND_TIME)
    return _between((q, v, a), (q + v * duration / 2.0, 0.0 * v, 0.0 * v), duration)


def through(
    times: np.ndarray,
    positions: np.ndarray,
    velocities: np.ndarray | None,
    accelerations: np.ndarray | None,
    start_velocity: np.ndarray,
    start_acceleration: np.ndarray | None = None,
) -> Track:
    """Through points (n, dof) at times (n,) from 0: at least two.

    Positions alone: the cubic spline of continuous acceleration, from `start_velocity` (dof,) to rest. With velocities:
    cubic pieces; with accelerations as well: quintic ones.

    Args:
        start_acceleration: (dof,) with which it begins: then its acceleration has no step. Where those of two pieces
            differ it has their mean at the point, and at an end at rest none. None: it may have steps.
    """
    if velocities is None:
        curve = spline(times, positions, start_velocity)
    else:
        curve = curve_through(times, positions, velocities, accelerations)
    q, v, a = states_of(curve)
    q[-1] = positions[-1]
    if velocities is None or np.abs(velocities[-1]).max() < _RESTS:
        v[-1] = 0.0
    if start_acceleration is not None:
        last = a[1, -1] if v[-1].any() else np.zeros_like(q[-1])
        at = np.concatenate([start_acceleration[None], (a[1, :-1] + a[0, 1:]) / 2.0, last[None]])
        a = np.stack([at[:-1], at[1:]])
    return Track(times, q, v, a)
