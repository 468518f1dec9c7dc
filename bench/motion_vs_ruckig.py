"""Compare plan_position with Ruckig on random motions: duration, limits kept, time to plan."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numba
import numpy as np

from robot_rt_control.motion import (
    acceleration_range,
    plan_position,
    plan_position_synchronized,
    position_range,
    profile_dtype,
    sample_profile,
    velocity_range,
)

TOLERANCE = 1e-9
ARM_JOINTS = 7
REPEATS = 20
"""Plans in one time measurement, so that the call from Python does not count."""


def random_cases(rng: np.random.Generator, n: int, end_velocity: bool) -> np.ndarray:
    """Random cases, shape (n, 8): q0, v0, a0, q1, v1, vmax, amax, jmax.

    Limits over two decades each, amax up to ten seconds' worth of jerk. A quarter of the cases starts at rest;
    speeds and accelerations of the others exceed their limits by up to a half in one case out of three.
    """
    vmax = 10.0 ** rng.uniform(-1.0, 1.0, n)
    amax = 10.0 ** rng.uniform(-1.0, 1.0, n)
    jmax = amax * 10.0 ** rng.uniform(-1.0, 2.0, n)
    moving = rng.random(n) < 0.75
    v0 = moving * vmax * rng.uniform(-1.5, 1.5, n)
    a0 = moving * amax * rng.uniform(-1.5, 1.5, n) * (rng.random(n) < 0.8)
    q0 = rng.uniform(-3.0, 3.0, n)
    q1 = q0 + rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-4.0, 1.5, n)
    v1 = vmax * rng.uniform(-1.0, 1.0, n) if end_velocity else np.zeros(n)
    return np.column_stack([q0, v0, a0, q1, v1, vmax, amax, jmax])


@numba.njit
def plan_repeatedly(profile, case, repeats):
    for _ in range(repeats):
        status = plan_position(profile, case[0], case[1], case[2], case[3], case[4], case[5], case[6], case[7])
    return status


@numba.njit
def plan_arms(profiles, arms, repeats):
    """Plan for an arm whose joints are the cases arms[:, 0], ..., together."""
    for _ in range(repeats):
        status = plan_position_synchronized(
            profiles, len(profiles), arms[0], arms[1], arms[2], arms[3], arms[5], arms[6], arms[7]
        )
    return status


@numba.njit
def examine(profile, case):
    """Whether velocity, acceleration, jerk exceed what they must, and the end's error relative to the travel."""
    v0, a0, vmax, amax, jmax = case[1], case[2], case[5], case[6], case[7]
    released = v0 + a0 * abs(a0) / (2.0 * jmax)  # not even the fastest brake ends with less
    v_allowed = max(vmax, abs(v0), abs(released)) * (1.0 + TOLERANCE)
    a_allowed = max(amax, abs(a0)) * (1.0 + TOLERANCE)
    v_low, v_high = velocity_range(profile)
    a_low, a_high = acceleration_range(profile)
    bad = max(-v_low, v_high) > v_allowed or max(-a_low, a_high) > a_allowed
    bad = bad or np.max(np.abs(profile.jerk)) > jmax
    q_low, q_high = position_range(profile)
    q, _, _ = sample_profile(profile, profile.total * (1.0 - 1e-15))
    return bad, abs(q - case[3]) / (q_high - q_low)


def ruckig_duration(otg: Any, motion: Any, trajectory: Any, case: np.ndarray) -> float:
    """Ruckig's duration [s]; NaN if it finds no motion."""
    from ruckig import Result, RuckigError

    q0, v0, a0, q1, v1, vmax, amax, jmax = case.tolist()
    motion.current_position, motion.current_velocity, motion.current_acceleration = [q0], [v0], [a0]
    motion.target_position, motion.target_velocity, motion.target_acceleration = [q1], [v1], [0.0]
    motion.max_velocity, motion.max_acceleration, motion.max_jerk = [vmax], [amax], [jmax]
    try:
        result = otg.calculate(motion, trajectory)
    except RuckigError:
        return float("nan")
    return trajectory.duration if result == Result.Working else float("nan")


def print_ratios(name: str, ratio: np.ndarray) -> None:
    quantiles = np.quantile(ratio, [0.0, 0.5, 0.9, 0.99, 0.999, 1.0])
    numbers = "  ".join(f"{x:9.6f}" for x in quantiles)
    print(f"  {name:32s} {len(ratio):7d}  {numbers}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000, help="number of random motions, at least 7")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random motions")
    parser.add_argument("--end-velocity", action="store_true", help="random velocities at the end, instead of rest")
    arguments = parser.parse_args()

    from ruckig import InputParameter, Ruckig, Trajectory

    cases = random_cases(np.random.default_rng(arguments.seed), arguments.cases, arguments.end_velocity)
    profile = np.zeros(1, profile_dtype)[0]
    otg, motion, trajectory = Ruckig(1), InputParameter(1), Trajectory(1)
    plan_repeatedly(profile, cases[0], 1)  # compiles

    n = len(cases)
    ours, theirs, seconds, errors = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    failures = violations = 0
    for i, case in enumerate(cases):
        begin = time.perf_counter()
        status = plan_repeatedly(profile, case, REPEATS)
        seconds[i] = (time.perf_counter() - begin) / REPEATS
        failures += status != 0
        ours[i] = profile.total
        bad, errors[i] = examine(profile, case)
        violations += bad
        theirs[i] = ruckig_duration(otg, motion, trajectory, case)

    solved = np.isfinite(theirs)
    ratio = ours[solved] / theirs[solved]
    v0, a0, vmax, amax, jmax = cases[solved][:, [1, 2, 5, 6, 7]].T
    inside = (np.abs(v0) <= vmax) & (np.abs(a0) <= amax) & (np.abs(v0 + a0 * np.abs(a0) / (2.0 * jmax)) <= vmax)
    print(f"cases {n}, seed {arguments.seed}, end velocity {'random' if arguments.end_velocity else 'zero'}")
    print(f"  not planned: ours {failures}, Ruckig {n - solved.sum()}")
    print(f"  limit violations: {violations};  largest end error: {errors.max():.1e} of the travel")
    print(
        f"  {'duration / Ruckig duration':32s} {'cases':>7s}  "
        + "  ".join(f"{name:>9s}" for name in ("min", "median", "p90", "p99", "p99.9", "max"))
    )
    print_ratios("all", ratio)
    print_ratios("limits can be kept from the start", ratio[inside])
    print_ratios("start beyond a limit", ratio[~inside])
    print("  time [µs]                              median       p99     p99.9       max")
    print_micros("plan_position", seconds)
    print_micros(f"plan_position_synchronized, {ARM_JOINTS} joints", time_arms(cases))


def time_arms(cases: np.ndarray) -> np.ndarray:
    """Seconds for each synchronized plan, of up to 2000 arms whose joints are successive cases."""
    profiles = np.zeros(ARM_JOINTS, profile_dtype)
    n = min(len(cases) // ARM_JOINTS, 2000)
    arms = np.ascontiguousarray(cases[: n * ARM_JOINTS].reshape(n, ARM_JOINTS, 8).transpose(0, 2, 1))
    plan_arms(profiles, arms[0], 1)  # compiles
    seconds = np.empty(n)
    for i in range(n):
        begin = time.perf_counter()
        plan_arms(profiles, arms[i], REPEATS)
        seconds[i] = (time.perf_counter() - begin) / REPEATS
    return seconds


def print_micros(name: str, seconds: np.ndarray) -> None:
    micros = "".join(f"{x:10.2f}" for x in np.quantile(seconds * 1e6, [0.5, 0.99, 0.999, 1.0]))
    print(f"    {name:34s}{micros}")


if __name__ == "__main__":
    main()
