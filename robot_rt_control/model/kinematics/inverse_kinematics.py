"""Joint positions for a tool pose. Not for the loop: it iterates and allocates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_rt_control.model.kinematics.calls import pose_error
from robot_rt_control.vocabulary.errors import DefinitionError

Array = NDArray[np.float64]


class _Goal:
    """A tool pose, and the error of a configuration."""

    def __init__(self, chain: np.record, p_WD: Array, q_WD: Array) -> None:
        self.chain = chain
        self.p_WD = p_WD
        self.q_WD = q_WD
        self.n = int(chain.n_joints)

    def error(self, q: Array) -> tuple[Array, Array]:
        """(error (6,): position [m], rotation vector [rad]; J (6, n)) at q."""
        return pose_error(self.chain, q, self.p_WD, self.q_WD)


def _descend(
    goal: _Goal, q: Array, lower: Array, upper: Array, tolerance: tuple[float, float], iterations: int
) -> tuple[Array, Array, bool]:
    """Levenberg-Marquardt with bounds: joints that are pushed against a limit are excluded from the step.

    Levenberg, K. (1944); Marquardt, D. (1963); the projection after Bertsekas, D.: Projected Newton methods (1982).
    """
    q = np.clip(q, lower, upper)
    e, J = goal.error(q)
    damping = 1e-2
    for _ in range(iterations):
        if np.linalg.norm(e[:3]) <= tolerance[0] and np.linalg.norm(e[3:]) <= tolerance[1]:
            return q, e, True
        gradient = J.T @ e
        free = ~(((q <= lower) & (gradient < 0)) | ((q >= upper) & (gradient > 0)))
        if not free.any():
            break
        Jf = J[:, free]
        step = np.zeros(goal.n)
        step[free] = np.linalg.solve(Jf.T @ Jf + damping * np.eye(int(free.sum())), Jf.T @ e)
        longest = float(np.max(np.abs(step)))
        if longest > 0.5:  # the linear model is not valid beyond that
            step *= 0.5 / longest
        candidate = np.clip(q + step, lower, upper)
        e_new, J_new = goal.error(candidate)
        if e_new @ e_new < e @ e:
            q, e, J = candidate, e_new, J_new
            damping = max(damping / 5.0, 1e-12)
        else:
            damping *= 4.0
            if damping > 1e8:
                break
    done = bool(np.linalg.norm(e[:3]) <= tolerance[0] and np.linalg.norm(e[3:]) <= tolerance[1])
    return q, e, done


def nearest_joints(
    chain: np.record,
    p_WD: Array,
    q_WD: Array,
    q_seed: Array,
    limits: tuple[Array, Array],
    tolerance: tuple[float, float] = (1e-6, 1e-6),
    *,
    iterations: int = 200,
    attempts: int = 30,
) -> tuple[Array, Array, bool]:
    """Joint positions that bring the tool to a pose, or as near to it as was found.

    Args:
        p_WD, q_WD, tolerance, iterations, attempts: see `inverse_kinematics`; the orientation has length 1.
        q_seed: (n,) start configuration [rad or m].
        limits: (lower, upper), each (n,); equal ones keep a joint where they are.

    Returns:
        (q (n,), error (6,): position [m], rotation vector [rad]; whether it is within the tolerance).
    """
    lower, upper = limits
    goal = _Goal(chain, p_WD, q_WD)
    random = np.random.default_rng(0)
    # if a joint has no limits: one turn (or one metre) around the seed
    low = np.where(np.isfinite(lower), lower, q_seed - np.pi)
    high = np.where(np.isfinite(upper), upper, q_seed + np.pi)
    best: tuple[Array, Array, bool] | None = None
    for attempt in range(attempts):
        start = q_seed if attempt == 0 else random.uniform(low, high)
        found = _descend(goal, start, lower, upper, tolerance, iterations)
        _, e, done = found
        if done:
            return found
        if best is None or e @ e < best[1] @ best[1]:
            best = found
    assert best is not None
    return best


def inverse_kinematics(
    chain: np.record,
    p_WD: ArrayLike,
    q_WD: ArrayLike,
    q_seed: ArrayLike,
    limits: tuple[ArrayLike, ArrayLike] | None = None,
    tolerance: tuple[float, float] = (1e-6, 1e-6),
    *,
    iterations: int = 200,
    attempts: int = 30,
    item: str = "inverse kinematics",
) -> Array:
    """Joint positions that bring the tool to a pose.

    The first attempt starts at the seed, so nearby goals give nearby configurations. The others start at random
    configurations around it, which are the same at each call.

    Args:
        chain: `layout.chain_dtype`.
        p_WD: (3,) desired position of the tool in the world [m].
        q_WD: (4,) desired orientation, x y z w, of length 1 within 1e-3.
        q_seed: (n,) start configuration [rad or m].
        limits: (lower, upper), each (n,); None: unlimited.
        tolerance: position [m], orientation [rad].
        iterations: per attempt.
        attempts: number of starting points.
        item: name of the goal in errors.

    Returns:
        (n,) joint positions within the limits.

    Raises:
        DefinitionError: the input is malformed, or no solution was found; then `got` contains the smallest residual.
    """
    n = int(chain.n_joints)
    position = np.array(p_WD, dtype=float).reshape(-1)
    orientation = np.array(q_WD, dtype=float).reshape(-1)
    seed = np.array(q_seed, dtype=float).reshape(-1)
    for what, value, size in (("position", position, 3), ("orientation", orientation, 4), ("seed", seed, n)):
        if len(value) != size or not np.all(np.isfinite(value)):
            raise DefinitionError(f"{item}: {what}", expected=f"{size} finite numbers", got=str(value.tolist()))
    length = float(np.linalg.norm(orientation))
    if abs(length - 1.0) > 1e-3:
        raise DefinitionError(
            f"{item}: orientation {orientation.tolist()}",
            expected="a quaternion x y z w of length 1",
            got=f"length {length:.6g}",
        )
    lower = np.full(n, -np.inf) if limits is None else np.array(limits[0], dtype=float)[:n]
    upper = np.full(n, np.inf) if limits is None else np.array(limits[1], dtype=float)[:n]
    q, e, done = nearest_joints(
        chain, position, orientation / length, seed, (lower, upper), tolerance, iterations=iterations, attempts=attempts
    )
    if done:
        return q
    raise DefinitionError(
        f"{item}: no joint positions found for position {np.round(position, 6).tolist()} m "
        f"and orientation {np.round(orientation, 6).tolist()}",
        expected=f"a residual of at most {tolerance[0]:.3g} m and {tolerance[1]:.3g} rad",
        got=f"{np.linalg.norm(e[:3]):.3g} m and {np.linalg.norm(e[3:]):.3g} rad at best",
        hint="Choose a pose within reach and within the joint limits",
    )
