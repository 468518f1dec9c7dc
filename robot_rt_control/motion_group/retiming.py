"""The least slowing of a motion along its own path that keeps its limits of velocity and acceleration, and of jerk.

A motion q(u) is followed at the path time u(t). Its slowness p = dt/du is a cubic B-spline over u, 1 where nothing is
to be slowed. With p' = dp/du, the derivatives by time are

    velocity      q' / p
    acceleration  q'' / p² - q' p' / p³
    jerk          q''' / p³ - (3 q'' p' + q' p'') / p⁴ + 3 q' p'² / p⁵

The limit of jerk is kept if `PlanLimits.keeps_jerk` says so. The motion then needs a continuous acceleration: no
slowing removes a step of it, short of standing still there.

Each coefficient of the spline is at least what its four cells of u need, so p is everywhere at least that. Where p'
itself leads to an excess, p is raised there, until nothing exceeds a limit. p is at least 1, and its second derivative
is continuous, so a slowing adds no step of the acceleration to those that the motion has.

What is made is quintic pieces, whose positions, velocities and accelerations at their ends are those of q(u(t)). The
last resort is a constant p, with the same geometry exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.motion_group.curve import Curve, polynomial
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.trajectory import (
    Excess,
    curve_through,
    find_excess,
    largest_accelerations,
    states_of,
)
from robot_rt_control.vocabulary.errors import DefinitionError

_CELLS_PER_RAMP = (7.0, 4.0, 1.5), (0.7, 0.3, 0.1)
"""Widths of a cell that are tried, as parts of the time that the joints take to their full speed; the shortest motion
is taken. Narrow cells slow less of the path, wide ones need less acceleration for the change. The second ones are tried
if the first ones make too many points."""
_MOST_CELLS = 20000
_SAMPLES_PER_PIECE, _SAMPLES_PER_CELL = 20, 4
"""At least."""
_MOST_ROUNDS, _MOST_ROUNDS_IN_MOTION = 100, 30
_MARGINS = 2e-3, 1e-2
"""The limits are kept by these fractions, so that the quintic pieces keep them as well."""
_PATH_ERROR, _ACCELERATION_ERROR = 1e-5, 5e-4
"""[rad or m] Distance of the quintic pieces from the motion q(u(t)); and what their acceleration differs, as a fraction
of its limit."""
_JERK_ERROR = 5e-3
"""The same for the jerk; its limit is kept by twice as much more."""
_INSIDE = np.array([0.2, 0.5, 0.8])
"""Where that is looked at, as fractions of each piece."""
_MOST_HALVINGS = 10
_SLOWED = 1e-4
"""A smaller slowing is none."""


@dataclass(frozen=True, kw_only=True)
class Slowing:
    """Where a motion is slowed."""

    rate: float
    """Lowest fraction of the planned speed."""
    begin: float
    """[s] of the plan."""
    end: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Retimed:
    """A motion through n points by quintic pieces."""

    times: np.ndarray
    """(n,) [s] from 0."""
    q: np.ndarray
    """(n, dof) [rad or m]"""
    v: np.ndarray
    a: np.ndarray
    """(2, n - 1, dof) at the begin of each piece, and at its end."""
    planned: np.ndarray
    """(n,) [s] when the plan is at these points."""
    slowings: tuple[Slowing, ...]

    @property
    def slowest(self) -> float:
        """Lowest fraction of the planned speed."""
        return min((s.rate for s in self.slowings), default=1.0)


def retimed(
    times: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    limits: PlanLimits,
    *,
    keeps_start: bool,
    most_points: int | None = None,
) -> Retimed | None:
    """A motion made slower on the same path, where it exceeds limits of velocity or acceleration, or of jerk if that
    is to be kept.

    Args:
        times: (n,) [s] from 0, increasing.
        q, v: (n, dof) [rad or m, per s].
        a: (2, n - 1, dof) at the begin of each quintic piece, and at its end.
        keeps_start: whether it has to begin with its own velocity, as it goes on from another motion.
        most_points: that it may have, unless its start is kept and it needs more; None: any number.

    Returns:
        None: a position is outside its limits, or its start cannot be kept.
    """
    plan = _Plan(times, q, v, a)
    if keeps_start and plan.starts_too_fast(limits):
        return None
    large: Retimed | None = None
    ramp = float(np.median(limits.velocity / limits.acceleration))
    for margin in _MARGINS:
        for widths in _CELLS_PER_RAMP:
            found = [
                spline
                for cells in widths
                if (spline := plan.slowness(limits, ramp / cells, margin, keeps_start)) is not None
            ]
            for spline in sorted(found, key=lambda spline: spline.duration):
                made = plan.followed(limits, spline)
                if _excess(made, limits) is None:
                    if most_points is None or len(made.times) <= most_points:
                        return made
                    large = large or made
            if not found:
                break
    if keeps_start:
        return large
    whole = plan.scaled(limits)
    return whole if whole is not None and _excess(whole, limits) is None else None


def keep_limits(
    what: str, curve: Curve, limits: PlanLimits, *, slowest: float, most_points: int | None = None
) -> Retimed:
    """A curve, slowed where it exceeds limits of velocity or acceleration. If it begins in motion, it still does so.

    Args:
        what: names it in errors.
        slowest: lowest fraction of its speed; 1: it is not slowed.
        most_points: as of `retimed`.

    Raises:
        DefinitionError: it exceeds a limit, or would have to be slower.
    """
    states = states_of(curve)
    excess = find_excess(curve, limits)
    if excess is None:
        return Retimed(times=curve.x, q=states[0], v=states[1], a=states[2], planned=curve.x, slowings=())
    made = None
    if slowest < 1.0 and excess.quantity != "position":
        moves = bool(np.abs(states[1][0]).max() > 0.0)
        made = retimed(curve.x, *states, limits, keeps_start=moves, most_points=most_points)
    if made is None or (most_points is not None and len(made.times) > most_points):
        raise excess.error(what)
    if made.slowest < slowest:
        raise too_slow(what, made.slowings, slowest)
    return made


def too_slow(what: str, slowings: Sequence[Slowing], slowest: float) -> DefinitionError:
    """The error of what would have to be slower than permitted."""
    return DefinitionError(
        f"{what}: to keep its limits it would be {describe(slowings)}",
        expected=f"at least {slowest:g} of its speed",
        got=f"{min(s.rate for s in slowings):.3g}",
        hint="Give it more time",
    )


def describe(slowings: Sequence[Slowing], most: int = 3) -> str:
    """Say where a motion is slowed: at most so many places; empty: nowhere."""
    if not slowings:
        return ""
    places = [f"to {s.rate:.3g} between {s.begin:.2f} and {s.end:.2f} s" for s in slowings[:most]]
    more = f" and at {len(slowings) - most} more places, to {min(s.rate for s in slowings):.3g} at the least"
    return f"slowed {', '.join(places)}{more if len(slowings) > most else ''}"


def _excess(made: Retimed, limits: PlanLimits) -> Excess | None:
    return find_excess(curve_through(made.times, made.q, made.v, made.a), limits)


class _Plan:
    """The motion as it was planned."""

    def __init__(self, times: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        self.times, self.q, self.v, self.a = times, q, v, a
        self.c = curve_through(times, q, v, a).c

    def starts_too_fast(self, limits: PlanLimits) -> bool:
        """Whether a limit is exceeded at once."""
        v, a, jerk = self.c[-2, 0], 2.0 * self.c[-3, 0], 6.0 * self.c[-4, 0]
        return bool(
            (np.abs(v) > limits.velocity).any()
            or (np.abs(a) > limits.acceleration).any()
            or (limits.keeps_jerk and (np.abs(jerk) > limits.jerk).any())
        )

    def scaled(self, limits: PlanLimits) -> Retimed | None:
        """As a whole slower."""
        samples = np.full(len(self.times) - 1, _SAMPLES_PER_PIECE)
        _, dq, ddq, jerk = self._sampled(samples, limits)
        with np.errstate(over="ignore"):
            slowness = max(
                1.0, (np.abs(dq) / limits.velocity).max(), np.sqrt((np.abs(ddq) / limits.acceleration).max())
            )
            if limits.keeps_jerk:
                slowness = max(slowness, (1.0 + _JERK_ERROR) * np.cbrt((np.abs(jerk) / limits.jerk).max()))
        if not np.isfinite(slowness):
            return None
        return Retimed(
            times=self.times * slowness,
            q=self.q,
            v=self.v / slowness,
            a=self.a / slowness**2,
            planned=self.times,
            slowings=(Slowing(rate=1.0 / slowness, begin=0.0, end=float(self.times[-1])),),
        )

    def slowness(self, limits: PlanLimits, cell: float, margin: float, keeps_start: bool) -> _Spline | None:
        """With which the limits are kept; None: none was found."""
        duration = float(self.times[-1])
        n = int(np.clip(np.ceil(duration / cell), 1, _MOST_CELLS))
        width = duration / n
        per_piece = np.ceil(np.minimum(_SAMPLES_PER_CELL * np.diff(self.times) / width, 4.0 * _MOST_CELLS)).astype(int)
        u, dq, ddq, jerk = self._sampled(np.maximum(per_piece, _SAMPLES_PER_PIECE), limits)
        basis = _Basis(u, width, n)
        per_jerk = (1.0 + margin + 2.0 * _JERK_ERROR) / limits.jerk
        relative_to_jerk = tuple(x * per_jerk for x in (dq, ddq, jerk)) if limits.keeps_jerk else None
        # Both relative to their limits, and dq to that of the acceleration as well.
        relative_a = (1.0 + margin) * dq / limits.acceleration
        speed = (1.0 + margin) * np.abs(dq / limits.velocity).max(axis=1)
        ddq *= (1.0 + margin) / limits.acceleration
        need = np.ones(n)
        for _ in range(_MOST_ROUNDS_IN_MOTION if keeps_start else _MOST_ROUNDS):
            coefficients = _coefficients(need, keeps_start)
            p, dp = basis.at(coefficients)
            a = np.abs(ddq / p[:, None] ** 2 - relative_a * (dp / p**3)[:, None]).max(axis=1)
            excess = np.maximum(speed / p, np.sqrt(a))
            if relative_to_jerk is not None:
                by_p = (x[:, None] for x in (p, dp, basis.curvature(coefficients)))
                excess = np.maximum(excess, np.cbrt(np.abs(_jerk(*relative_to_jerk, *by_p)).max(axis=1)))
            if not np.isfinite(excess).all():
                return None
            over = excess > 1.0 + margin / 2.0
            if not over.any():
                return _Spline(coefficients, width)
            np.maximum.at(need, basis.cell[over], (p * excess)[over])
        return None

    def _sampled(
        self, per_piece: np.ndarray, limits: PlanLimits
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Times (m,), first to third derivatives (m, dof), with both ends of each piece, and with the largest
        accelerations that are beyond their limits."""
        count = per_piece + 1
        piece = np.repeat(np.arange(len(count)), count)
        step = np.arange(len(piece)) - np.repeat(np.cumsum(count) - count, count)
        s = np.diff(self.times)[piece] * step / per_piece[piece]
        largest = largest_accelerations(self.c, np.diff(self.times))
        beyond = np.abs(polynomial(self.c[:, :, None], largest, 2)) > limits.acceleration
        piece = np.concatenate([piece, np.nonzero(beyond)[0]])
        s = np.concatenate([s, largest[beyond]])
        c = self.c[:, piece]
        dq, ddq, jerk = (polynomial(c, s[:, None], order) for order in (1, 2, 3))
        return self.times[piece] + s, dq, ddq, jerk

    def followed(self, limits: PlanLimits, slowness: _Spline) -> Retimed:
        """The motion at a slowness: as few quintic pieces as follow it closely."""
        u = self.times
        for _ in range(_MOST_HALVINGS):
            made = self._pieces(u, slowness)
            inside = (u[:-1, None] + np.diff(u)[:, None] * _INSIDE).ravel()
            wanted = self._states(inside, inside, slowness)
            piece = np.repeat(np.arange(len(u) - 1), len(_INSIDE))
            c = curve_through(made.times, made.q, made.v, made.a).c[:, piece]
            s = (slowness.integral(inside) - made.times[piece])[:, None]
            error = np.abs(polynomial(c, s, 0) - wanted[0]).max(axis=1) / _PATH_ERROR
            change = np.abs(polynomial(c, s, 2) - wanted[2]) / limits.acceleration
            error = np.maximum(error, change.max(axis=1) / _ACCELERATION_ERROR)
            if limits.keeps_jerk:
                change = np.abs(polynomial(c, s, 3) - wanted[3]) / limits.jerk
                error = np.maximum(error, change.max(axis=1) / _JERK_ERROR)
            bad = (error > 1.0).reshape(-1, len(_INSIDE)).any(axis=1)
            if not bad.any():
                break
            u = np.sort(np.concatenate([u, (u[:-1] + u[1:])[bad] / 2.0]))
        return self._pieces(u, slowness)

    def _states(
        self, u: np.ndarray, inside: np.ndarray, slowness: _Spline
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Positions, velocities, accelerations, jerks (m, dof) at path times; each belongs to the piece of a time
        inside."""
        p, dp, ddp = (x[:, None] for x in slowness.at(u))
        piece = np.clip(np.searchsorted(self.times, inside) - 1, 0, len(self.times) - 2)
        s, c = (u - self.times[piece])[:, None], self.c[:, piece]
        q, dq, ddq, dddq = (polynomial(c, s, order) for order in range(4))
        return q, dq / p, ddq / p**2 - dq * dp / p**3, _jerk(dq, ddq, dddq, p, dp, ddp)

    def _pieces(self, u: np.ndarray, slowness: _Spline) -> Retimed:
        middle = (u[:-1] + u[1:]) / 2.0
        begin, end = (self._states(at, middle, slowness) for at in (u[:-1], u[1:]))
        q, v = (np.concatenate([begin[i], end[i][-1:]]) for i in (0, 1))
        # Without rounding: what ends at rest does so exactly.
        q[-1], v[-1] = self.q[-1], self.v[-1] / slowness.at(u[-1:])[0]
        return Retimed(
            times=slowness.integral(u),
            q=q,
            v=v,
            a=np.stack([begin[2], end[2]]),
            planned=u,
            slowings=slowness.slowings(),
        )


def _jerk(
    dq: np.ndarray, ddq: np.ndarray, dddq: np.ndarray, p: np.ndarray, dp: np.ndarray, ddp: np.ndarray
) -> np.ndarray:
    """By time, as above."""
    found: np.ndarray = dddq / p**3 - (3.0 * ddq * dp + dq * ddp) / p**4 + 3.0 * dq * dp**2 / p**5
    return found


def _coefficients(need: np.ndarray, keeps_start: bool) -> np.ndarray:
    """(n + 3,) of a spline that is in each of n cells at least what is needed there."""
    padded = np.concatenate([np.ones(3), need, np.ones(3)])
    found: np.ndarray = np.lib.stride_tricks.sliding_window_view(padded, 4).max(axis=1)
    if keeps_start:
        found[:3] = 1.0
    return found


class _Basis:
    """Uniform cubic B-splines over n cells, at given places."""

    def __init__(self, u: np.ndarray, width: float, n: int) -> None:
        self.cell = np.minimum((u / width).astype(int), n - 1)
        f = self.fraction = u / width - self.cell
        rest = 1.0 - f
        self._weights = np.stack([rest**3, 3 * f**3 - 6 * f**2 + 4, 1 + 3 * f + 3 * f**2 - 3 * f**3, f**3]) / 6.0
        self._slopes = np.stack([-(rest**2), 3 * f**2 - 4 * f, 1 + 2 * f - 3 * f**2, f**2]) / (2.0 * width)
        self._curvatures = np.stack([rest, 3 * f - 2, 1 - 3 * f, f]) / width**2

    def at(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and slopes there."""
        local = self._local(coefficients)
        return (self._weights * local).sum(axis=0), (self._slopes * local).sum(axis=0)

    def curvature(self, coefficients: np.ndarray) -> np.ndarray:
        """Second derivatives there."""
        found: np.ndarray = (self._curvatures * self._local(coefficients)).sum(axis=0)
        return found

    def _local(self, coefficients: np.ndarray) -> np.ndarray:
        return np.stack([coefficients[self.cell + k] for k in range(4)])


class _Spline:
    """A slowness over the time of the plan.

    Args:
        coefficients: (n + 3,) of n cells.
        width: of a cell [s].
    """

    def __init__(self, coefficients: np.ndarray, width: float) -> None:
        self._coefficients, self._width, self._n = coefficients, width, len(coefficients) - 3
        self._local = np.stack([coefficients[k : k + self._n] for k in range(4)])  # (4, n) of each cell
        whole = np.array([1.0, 11.0, 11.0, 1.0]) / 24.0 @ self._local
        self._before = np.concatenate([[0.0], np.cumsum(whole)])  # integrals up to each cell

    @property
    def duration(self) -> float:
        """[s] of the slowed motion."""
        return float(self._width * self._before[-1])

    def at(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, slopes, and second derivatives."""
        basis = _Basis(u, self._width, self._n)
        return *basis.at(self._coefficients), basis.curvature(self._coefficients)

    def integral(self, u: np.ndarray) -> np.ndarray:
        """[s] of the slowed motion at these times of the plan."""
        basis = _Basis(u, self._width, self._n)
        f = basis.fraction
        weights = np.stack(
            [
                (1.0 - (1.0 - f) ** 4) / 4.0,
                3 * f**4 / 4 - 2 * f**3 + 4 * f,
                f + 1.5 * f**2 + f**3 - 3 * f**4 / 4,
                f**4 / 4.0,
            ]
        )
        inside = (weights * self._local[:, basis.cell]).sum(axis=0) / 6.0
        found: np.ndarray = self._width * (self._before[basis.cell] + inside)
        return found

    def slowings(self) -> tuple[Slowing, ...]:
        """Where it is above 1."""
        most = self._local.max(axis=0)
        slowed = np.concatenate([[False], most > 1.0 + _SLOWED, [False]])
        begins, ends = np.flatnonzero(~slowed[:-1] & slowed[1:]), np.flatnonzero(slowed[:-1] & ~slowed[1:])
        return tuple(
            Slowing(rate=float(1.0 / most[b:e].max()), begin=float(b * self._width), end=float(e * self._width))
            for b, e in zip(begins, ends, strict=True)
        )
