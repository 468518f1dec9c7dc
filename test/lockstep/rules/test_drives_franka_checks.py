"""What leaves for an FR3 never violates the robot's own checks, whatever the loop commands and however late.

The checks here are written anew from the maker's documents: libfranka differentiates the commanded positions at 1 kHz,
and permits velocities that depend on the position.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from samples import tries

from robot_rt_control.hardware.franka import limits as fr3
from robot_rt_control.hardware.franka.shaping import Shaper, shape
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode

N, DT = 7, 1e-3
START = np.array([0.0, 0.0, 0.0, -1.57, 0.0, 1.57, 0.785])


@realtime
def permitted(j, q, upper):
    """The velocity [rad/s] that an FR3 permits joint j at q [rad]: the maker's formulas."""
    if j == 0:
        curve = -0.30 + math.sqrt(max(0.0, 12.0 * ((2.75010 - q) if upper else (2.75010 + q))))
        most = 2.62
    elif j == 1:
        curve = -0.20 + math.sqrt(max(0.0, 5.17 * ((1.79180 - q) if upper else (1.79180 + q))))
        most = 2.62
    elif j == 2:
        curve = -0.20 + math.sqrt(max(0.0, 7.00 * ((2.90650 - q) if upper else (2.90650 + q))))
        most = 2.62
    elif j == 3:
        curve = -0.30 + math.sqrt(max(0.0, 8.00 * ((-0.1458 - q) if upper else (3.04810 + q))))
        most = 2.62
    elif j == 4:
        curve = -0.35 + math.sqrt(max(0.0, 34.0 * ((2.81010 - q) if upper else (2.81010 + q))))
        most = 5.26
    elif j == 5:
        curve = -0.35 + math.sqrt(max(0.0, 11.0 * ((4.52050 - q) if upper else (-0.54092 + q))))
        most = 4.18
    else:
        curve = -0.35 + math.sqrt(max(0.0, 34.0 * ((3.01960 - q) if upper else (3.01960 + q))))
        most = 5.26
    return min(most, max(0.0, curve))


@realtime
def check(q, past, worst):
    """Differentiate the positions that left: how much of each limit is used. past: (3, 7) of the last cycles."""
    for j in range(7):
        v = (q[j] - past[0, j]) / 0.001
        v1 = (past[0, j] - past[1, j]) / 0.001
        v2 = (past[1, j] - past[2, j]) / 0.001
        a, a1 = (v - v1) / 0.001, (v1 - v2) / 0.001
        worst[0] = max(worst[0], abs(a) / 10.0)
        worst[1] = max(worst[1], abs(a - a1) / 0.001 / 5000.0)
        most = permitted(j, q[j], v > 0.0)
        if abs(v) > 1e-6:
            worst[2] = max(worst[2], abs(v) / max(most, 1e-9))
        for i in (2, 1):
            past[i, j] = past[i - 1, j]
        past[0, j] = q[j]


@realtime
def run(shaper, limits, wanted, fresh, braking, past, worst):
    """Many cycles: wanted (n, 7), fresh (n), braking (n)."""
    for i in range(len(wanted)):
        for j in range(7):
            shaper.wanted[j] = wanted[i, j]
        shaper.fresh, shaper.braking = fresh[i], braking[i]
        shape(shaper, limits, 0.001)
        check(shaper.commanded_position, past, worst)


def _begin(mode: CommandMode) -> tuple[Shaper, np.ndarray, np.ndarray]:
    shaper = Shaper()
    shaper.begin(mode, START)
    return shaper, np.tile(START, (3, 1)), np.zeros(3)


def _random(mode: CommandMode, rng: np.random.Generator, switches: int) -> tuple[Any, ...]:
    """Commands that switch at random: jumps, ramps, sines, noise, no numbers; late, and braked in between."""
    lower, upper = fr3.CURVE_LOWER - 0.5, fr3.CURVE_UPPER + 0.5
    wanted, at = [], START.copy()
    for _ in range(switches):
        n = int(rng.integers(1, 60))
        kind = rng.integers(0, 6)
        t = np.arange(1, n + 1)[:, None] * DT
        goal = rng.uniform(lower, upper)
        if mode == CommandMode.VELOCITY:
            part = np.tile(rng.uniform(-8, 8, N), (n, 1)) if kind < 3 else rng.uniform(-8, 8, (n, N))
        elif kind == 0:
            part = np.tile(goal, (n, 1))
        elif kind == 1:
            part = at + t * rng.uniform(-6, 6, N)
        elif kind == 2:
            part = at + rng.uniform(0, 0.3, N) * np.sin(rng.uniform(1, 60) * t)
        elif kind == 3:
            part = at + rng.normal(0, 0.01, (n, N))
        elif kind == 4:
            part = np.tile(at, (n, 1))
        else:
            part = np.tile(rng.choice([math.nan, math.inf, -math.inf], N), (n, 1))
        wanted.append(part)
        at = np.where(np.isfinite(part[-1]), part[-1], at)
        if mode != CommandMode.VELOCITY:
            at = np.clip(at, lower, upper)
    all_wanted = np.vstack(wanted)
    n = len(all_wanted)
    fresh = (rng.random(n) > 0.1).astype(np.int64)
    silences = rng.integers(0, n, n // 500)
    for s in silences:
        fresh[s : s + 40] = 0
    braking = np.zeros(n, np.int64)
    for s in rng.integers(0, n, n // 800):
        braking[s : s + int(rng.integers(1, 600))] = 1
    return all_wanted, fresh, braking


@pytest.mark.sampled
@pytest.mark.parametrize("mode", [CommandMode.POSITION, CommandMode.VELOCITY], ids=["position", "velocity"])
def test_D25_random_switches_keep_the_robots_own_checks(mode):
    rng = np.random.default_rng(3)
    shaper, past, worst = _begin(mode)
    for _ in range(tries(3, whole=10)):  # 100 000 switches
        wanted, fresh, braking = _random(mode, rng, 5_000)
        run(shaper.memory[0], shaper._limits[0], wanted, fresh, braking, past, worst)
    acceleration, jerk, velocity = worst
    assert acceleration < 1.0 and jerk < 1.0 and velocity < 1.0, worst
    assert acceleration > 0.3 and jerk > 0.5 and velocity > 0.5, "it has moved"
    position = shaper.memory["commanded_position"][0, :N]
    assert (position > fr3.CURVE_LOWER).all() and (position < fr3.CURVE_UPPER).all()


def test_D25_a_command_within_the_bounds_leaves_unchanged():
    shaper, past, worst = _begin(CommandMode.POSITION)
    t = np.arange(1, 2001) * DT
    s = t / 2.0
    way = 10 * s**3 - 15 * s**4 + 6 * s**5
    for x in way:
        q = START + x * np.array([0.6, 0.3, -0.5, 0.5, 1.0, -0.6, 1.0])
        np.testing.assert_array_equal(shaper.next(q, np.zeros(N), fresh=True), q)
        check(shaper.memory["commanded_position"][0], past, worst)
    assert (worst < 1.0).all()


@pytest.mark.parametrize("mode", [CommandMode.POSITION, CommandMode.VELOCITY], ids=["position", "velocity"])
@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_D25_commands_that_are_no_numbers_bring_the_joints_to_rest(mode, wrong):
    shaper, past, worst = _begin(mode)
    for i in range(400):
        way = np.zeros(N)
        way[4] = 2.0 * (i * DT) ** 2 if mode == CommandMode.POSITION else 4.0 * i * DT
        shaper.next(START + way if mode == CommandMode.POSITION else way, np.zeros(N), fresh=True)
    assert shaper.speed > 1.0
    for _ in range(800):
        shaper.next(np.where(np.arange(N) == 0, wrong, 0.0) + way, np.zeros(N), fresh=True)
    assert shaper.speed < 1e-6


def test_D25_efforts_keep_their_rate_and_their_limit_in_100_000_random_commands():
    rng = np.random.default_rng(5)
    shaper = Shaper()
    shaper.begin(CommandMode.EFFORT, START)
    last = np.zeros(N)
    for i in range(100_000):
        if i % 20 == 0:
            wanted = rng.choice([0.0, 1.0, 100.0, 1e6, math.nan, math.inf], N) * rng.choice([-1.0, 1.0], N)
        left = shaper.next(wanted, rng.uniform(-2, 2, N), fresh=i % 7 != 0, braking=i % 1000 > 900)
        assert (np.abs(left - last) < 1000.0 * DT).all() and (np.abs(left) <= fr3.EFFORT).all()
        last = left.copy()


def test_D25_skipped_cycles_go_on_within_the_limits():
    shaper, _, _ = _begin(CommandMode.VELOCITY)
    for _ in range(200):
        shaper.next(np.full(N, 8.0), np.zeros(N), fresh=True)
    shaper.skip(20)
    assert (np.abs(shaper.memory["commanded_velocity"][0, :N]) <= fr3.BOUND_VELOCITY).all()


@pytest.mark.parametrize("lower", [False, True])
def test_D25_braking_with_the_bounds_stays_below_the_permitted_velocity_everywhere(lower):
    """The reason for the constant bounds (limits.py)."""
    for j in range(N):
        end = fr3.BOUND_POSITION_LOWER[j] if lower else fr3.BOUND_POSITION_UPPER[j]
        for d in np.linspace(0.0, 3.0, 2000):
            v = min(math.sqrt(2.0 * fr3.BOUND_ACCELERATION[j] * d), fr3.BOUND_VELOCITY[j])
            q = end + d if lower else end - d
            assert v <= permitted(j, q, not lower) + 1e-12, (j, d)
