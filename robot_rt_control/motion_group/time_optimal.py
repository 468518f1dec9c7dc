"""A plan made faster on the same path, within velocity, acceleration and jerk limits of all joints.

A plan q(u) is followed at rate r = du/dt. With b = r², α = dr/dt = b'/2 and γ = α' (derivatives by u), its
derivatives by time are

    velocity      q' √b
    acceleration  q'' b + q' α
    jerk          √b (q''' b + 3 q'' α + q' γ)

The first two limits are linear in b. The third is linear <= J / √b, and a tangent of the convex right side lies below
it: so with tangents at a known solution it is linear, too, and whatever fulfils it keeps the limit. Each linear program
(SciPy's HiGHS) therefore starts at a solution and finds a faster one. Debrouwere, F., et al.: Time-optimal path
following for robots with convex-concave constraints using sequential convex programming (2013).

The first solution is the plan itself: b = 1. As q(u) already rests at its ends, b stays away from 0 there; over the
length of the path it would not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PPoly
from scipy.optimize import linprog
from scipy.sparse import csr_array, diags_array, vstack

from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.plan import Plan, State, stretched
from robot_rt_control.motion_group.trajectory import curve_through

_MOST_INTERVALS = 1000
_MOST_PROGRAMS = 8
_WORTH = 2e-3
"""The programs end when one gains less than this fraction of the duration; less is not worth another path time."""
_LARGEST_CHANGE = 0.2
"""Largest change of the rate from one grid point to the next: between them b is a parabola."""
_PLACES = (0.0, 0.5, 1.0)
"""Where the limits are imposed in each interval, as fractions of it."""
_MARGIN = 1.0 + 1e-5
"""Factor of the duration, for a peak between two samples."""
_SAMPLES = 64
"""Samples of each piece of a plan, to find its peaks."""


@dataclass(frozen=True, eq=False)
class _Warped:
    """A plan q(u(t))."""

    plan: Plan
    warp: PPoly  # u over t

    @property
    def duration(self) -> float:
        return float(self.warp.x[-1])

    @property
    def dof(self) -> int:
        return self.plan.dof

    def sample(self, times: np.ndarray) -> State:
        times = np.clip(np.asarray(times, float), 0.0, self.duration)
        u, rate, change = (self.warp(times, order) for order in range(3))
        q, v, a = self.plan.sample(np.where(times >= self.duration, self.plan.duration, u))
        return q, v * rate[:, None], a * rate[:, None] ** 2 + v * change[:, None]

    def breaks(self) -> np.ndarray:
        return np.asarray(self.warp.x)


def jerk_between(plan: Plan, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(n, dof) jerk in the middle of n short spans of path time, without a break inside."""
    return (plan.sample(end)[2] - plan.sample(begin)[2]) / (end - begin)[:, None]


def slowdown(plan: Plan, limits: PlanLimits) -> float:
    """The factor by which a plan's duration must be multiplied to keep velocity, acceleration and jerk limits."""
    x = _pieces(plan)
    h = np.diff(x) / _SAMPLES
    begin = (x[:-1, None] + h[:, None] * np.arange(_SAMPLES)).ravel()
    h = np.repeat(h, _SAMPLES)
    _, v, a = plan.sample(np.append(begin, x[-1]))
    # The jerk jumps at breaks: it is looked at on both sides of each.
    jerk = [jerk_between(plan, begin + f * h, begin + (f + 1e-3) * h) for f in (1e-3, 0.998)]
    ratios = [np.abs(value) / limit for value, limit in ((v, limits.velocity), (a, limits.acceleration))]
    worst = [*(float(ratio.max()) for ratio in ratios), float((np.abs(jerk) / limits.jerk).max(initial=0.0))]
    return max(worst[0], worst[1] ** (1.0 / 2.0), worst[2] ** (1.0 / 3.0))


def _pieces(plan: Plan) -> np.ndarray:
    """The breaks of a plan, without those that rounding has put beside others."""
    x = plan.breaks()
    kept = x[np.concatenate(([True], np.diff(x) > 1e-6 * plan.duration))]
    kept[-1] = plan.duration
    return kept


def _grid(plan: Plan, step: float) -> np.ndarray:
    x = _pieces(plan)
    spans = zip(x[:-1], x[1:], strict=True)
    inner = [np.linspace(a, b, int(np.ceil((b - a) / step)) + 1)[1:] for a, b in spans]
    return np.concatenate([[0.0], *inner])


class _Program:
    """Limits on the unknowns b_0 … b_n, α_0 … α_n at grid points. In an interval α is linear, so b is a parabola."""

    def __init__(self, plan: Plan, limits: PlanLimits, u: np.ndarray, step: float) -> None:
        self.n = n = len(u) - 1
        self.h = h = np.diff(u)
        k = np.arange(n)
        self.columns = np.stack([k, n + 1 + k, n + 2 + k])  # b_k, α_k, α_k+1 of each interval
        one, zero = np.ones(n), np.zeros(n)
        velocity, acceleration, jerk, places = [], [], [], []
        for f in _PLACES:
            x = f * h
            b = np.stack([one, 2.0 * x - x * f, x * f])[:, :, None]
            alpha = np.stack([zero, one - f, zero + f])[:, :, None]
            gamma = np.stack([zero, -1.0 / h, 1.0 / h])[:, :, None]
            _, dq, ddq = plan.sample(u[:-1] + x)
            side = u[:-1] + np.clip(f, 1e-3, 0.998) * h
            dddq = jerk_between(plan, side, side + 1e-3 * h)
            velocity.append(self._rows(b * ((dq / limits.velocity) ** 2).max(axis=1)[:, None]))
            acceleration.append(self._rows((ddq * b + dq * alpha) / limits.acceleration))
            jerk.append(self._rows((dddq * b + 3.0 * ddq * alpha + dq * gamma) / limits.jerk))
            places.append(self._rows(np.repeat(b, dq.shape[1], axis=2)))
        a, j, at = vstack(acceleration), vstack(jerk), vstack(places)
        self.fixed = vstack([*velocity, a, -a])
        self.jerk = vstack([j, -j])
        self.at = vstack([at, at])  # b, where the jerk is limited
        parabola = np.stack([-one, -h, -h])
        self.equal = self._rows(parabola[:, :, None]) + csr_array((one, (k, k + 1)), shape=(n, 2 * n + 2))
        self.weight = (np.append(h, 0.0) + np.append(0.0, h)) / 2.0
        self.largest = _LARGEST_CHANGE / step

    def _rows(self, coefficients: np.ndarray) -> csr_array:
        """Rows for intervals and joints; coefficients (3, n, joints) of the interval's three unknowns."""
        _, n, joints = coefficients.shape
        rows = np.broadcast_to(np.arange(n * joints).reshape(n, joints), coefficients.shape)
        columns = np.broadcast_to(self.columns[:, :, None], coefficients.shape)
        entries = (coefficients.ravel(), (rows.ravel(), columns.ravel()))
        return csr_array(entries, shape=(n * joints, 2 * self.n + 2))

    def duration(self, solution: np.ndarray) -> float:
        return float((self.weight / np.sqrt(solution[: self.n + 1])).sum())

    def improved(self, known: np.ndarray) -> np.ndarray:
        """A solution at least as fast as a known one: (b, α)."""
        n, b = self.n, known[: self.n + 1]
        at = self.at @ known
        rows = vstack([self.fixed, self.jerk + diags_array(0.5 * at**-1.5) @ self.at])
        bound = np.concatenate([np.ones(self.fixed.shape[0]), 1.5 * at**-0.5])
        free = np.full(n + 1, self.largest)
        found = linprog(
            np.concatenate([-self.weight * b**-1.5, np.zeros(n + 1)]),  # the gradient of the duration
            A_ub=rows,
            b_ub=bound,
            A_eq=self.equal,
            b_eq=np.zeros(n),
            bounds=np.column_stack([np.concatenate([b / 4.0, -free]), np.concatenate([4.0 * b, free])]),
            method="highs-ipm",
        )
        if found.x is None:
            return known
        candidates = [known + part * (found.x - known) for part in (1.0, 0.7, 0.4, 0.2)]
        return min((known, *candidates), key=self.duration)


def faster(plan: Plan, limits: PlanLimits) -> Plan:
    """A plan on the same path that is faster if possible, within velocity, acceleration and jerk limits.

    It takes seconds for a plan of ten seconds, whatever the path, and is the same at each call. A plan with more
    than _MOST_INTERVALS breaks is returned as it is.

    Args:
        plan: within the limits.
        limits: of velocity, acceleration and jerk.
    """
    # A ramp of the acceleration takes A / J: it is resolved by some grid points, if the duration permits.
    step = float(np.clip((limits.acceleration / limits.jerk).min() / 5.0, plan.duration / 500.0, plan.duration / 50.0))
    if plan.duration == 0.0 or len(plan.breaks()) > _MOST_INTERVALS / 2:
        return plan
    u = _grid(plan, step)
    program = _Program(plan, limits, u, step)
    n = program.n
    solution = np.concatenate([np.ones(n + 1), np.zeros(n + 1)])
    for _ in range(_MOST_PROGRAMS):
        before = program.duration(solution)
        solution = program.improved(solution)
        if program.duration(solution) > before * (1.0 - _WORTH):
            break
    result = _over_time(plan, u, solution)
    if result is None:
        return plan
    factor = slowdown(result, limits) * _MARGIN
    if result.duration * factor > plan.duration * (1.0 - _WORTH):
        return plan
    return stretched(result, result.duration * factor) if factor > 1.0 else result


def _over_time(plan: Plan, u: np.ndarray, solution: np.ndarray) -> Plan | None:
    """The plan at the rate that a solution gives; None: the rate is not positive everywhere."""
    n, h = len(u) - 1, np.diff(u)
    b, alpha = solution[: n + 1], solution[n + 1 :]
    place, weight = np.polynomial.legendre.leggauss(5)
    x = h[:, None] * (place + 1.0) / 2.0
    inside = b[:-1, None] + 2.0 * alpha[:-1, None] * x + (np.diff(alpha) / h)[:, None] * x**2
    if inside.min() <= 0.0 or b.min() <= 0.0:
        return None
    times = np.concatenate(([0.0], np.cumsum((h[:, None] * weight / 2.0 / np.sqrt(inside)).sum(axis=1))))
    curve = curve_through(times, u[:, None], np.sqrt(b)[:, None], alpha[:, None])
    return _Warped(plan, PPoly(curve.c[:, :, 0], curve.x))
