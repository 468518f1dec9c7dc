"""Inputs of the joints that let a geometry of the robot follow a path: kinematics alone, no contact.

A sum of squares over the horizon, solved by the same convex subproblem as SCVX, linearized a few times. Joint limits
hold as there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.model.rotation_formulas import vector_of_rotation
from robot_rt_control.planning.optimise.cost import CLEAR, Quadratic
from robot_rt_control.planning.optimise.scvx import Limits
from robot_rt_control.planning.optimise.subproblem import solve
from robot_rt_control.planning.optimise.trajectory import BODY_STATES, Linearization

Array = NDArray[np.float64]

Keep = Callable[[int, Array], Sequence[tuple[float, Array]]]

_PLACE = 0.002
"""[m] An error that counts 1,"""
_BETWEEN = 0.25
"""A velocity that is wrong at an end of a control step, in turns to both sides, displaces its middle by this share of
the way that it would cover in the step: without a price, long steps leave the path in between."""
_TURN = 0.1
"""[rad] and of the orientation, which is to stay as at the start."""
_MOTION, _INPUTS = 0.1, 0.1
_ROUNDS = 8
_RADIUS = 0.5
_WHOLE = 2.0
"""From one limit of an input to the other."""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where a geometry is, and how it moves with the joints."""

    center: Array  # (3,)
    rotation: Array  # (3, 3)
    linear: Array
    """(3, n)"""
    angular: Array
    """(3, n)"""


@dataclass(frozen=True, kw_only=True)
class Motion:
    """Motion of the joints, at the ends of control steps."""

    inputs: Array
    """(N, n) scaled accelerations."""
    joint_position: Array
    joint_velocity: Array


def follow(
    centers: Array,
    place: Callable[[Array], Placement],
    *,
    velocities: Array,
    start: Array,
    acceleration: Array,
    limits: Limits,
    step: float,
    keep: Keep = lambda i, q: [],
) -> Motion:
    """The motion from rest at `start`, (n,), that follows centers, (N + 1, 3) [m], best.

    Args:
        place: the geometry at joint positions, (n,).
        velocities: (N + 1, 3) [m/s] of the centers.
        acceleration: (n,) of a scaled input of 1.
        step: [s] of a control step.
        keep: what distances lack at the end of a control step with joints (n,): each with its derivative (n,).
    """
    steps, n = len(centers) - 1, len(start)
    A, B = _integrator(n, step, acceleration, steps)
    linear = Linearization(A=A, B=B, phi_z=np.zeros((steps + 1, 0, A.shape[1])))
    motion = _integrated(np.zeros((steps, n)), start, A, B)
    upright, drift = place(start).rotation, (velocities, _BETWEEN * step)
    guess = inverse_kinematics(centers, place, start, limits)
    # The first solution is linearized where the path is, as limits of acceleration do not let the joints be there.
    _, quadratic = _model(motion, centers, place, upright, limits, drift, keep, guess)
    found = solve(quadratic, linear, limits.bounds(motion, _WHOLE))
    if found is not None:
        motion = _integrated(found.du, start, A, B)
    value, quadratic = _model(motion, centers, place, upright, limits, drift, keep)
    radius = _RADIUS
    for _ in range(_ROUNDS):
        found = solve(quadratic, linear, limits.bounds(motion, radius))
        if found is None:
            break
        candidate = _integrated(motion.inputs + found.du, start, A, B)
        its, next_quadratic = _model(candidate, centers, place, upright, limits, drift, keep)
        if its < value:
            done = value - its < 0.01 * value
            motion, value, quadratic = candidate, its, next_quadratic
            radius *= 2.0
            if done:
                break
        else:
            radius /= 4.0
    return motion


def inverse_kinematics(centers: Array, place: Callable[[Array], Placement], start: Array, limits: Limits) -> Array:
    """(N + 1, n) joint positions, one after the other, whatever the speed between them; arguments as of `follow`."""
    joints = np.repeat(start[None], len(centers), axis=0)
    upright = place(start).rotation
    for i in range(1, len(centers)):
        q = joints[i - 1]
        for _ in range(3):
            found = place(q)
            error = np.concatenate([centers[i] - found.center, vector_of_rotation(upright @ found.rotation.T)])
            J = np.concatenate([found.linear, found.angular])
            q = np.clip(q + J.T @ np.linalg.solve(J @ J.T + 1e-4 * np.eye(len(J)), error), limits.lower, limits.upper)
        joints[i] = q
    return joints


def _integrator(n: int, t: float, acceleration: Array, steps: int) -> tuple[Array, Array]:
    states = 2 * n + BODY_STATES
    A, B = np.eye(states), np.zeros((states, n))
    joint = np.arange(n)
    A[joint, n + joint] = t
    B[joint, joint], B[n + joint, joint] = 0.5 * t * t * acceleration, t * acceleration
    return np.repeat(A[None], steps, axis=0), np.repeat(B[None], steps, axis=0)


def _integrated(inputs: Array, start: Array, A: Array, B: Array) -> Motion:
    n = len(start)
    z = np.zeros((len(inputs) + 1, A.shape[1]))
    z[0, :n] = start
    for i, u in enumerate(inputs):
        z[i + 1] = A[i] @ z[i] + B[i] @ u
    return Motion(inputs=inputs, joint_position=z[:, :n], joint_velocity=z[:, n : 2 * n])


def _model(
    motion: Motion,
    centers: Array,
    place: Callable[[Array], Placement],
    upright: Array,
    limits: Limits,
    drift: tuple[Array, float],
    keep: Keep,
    about: Array | None = None,
) -> tuple[float, Quadratic]:
    """Cost and its Gauss-Newton model, which is made about the motion or about other joint positions.

    Args:
        drift: velocities (N + 1, 3) of the centers, and how long [s] a wrong one displaces the geometry.
    """
    (steps, n), states = motion.inputs.shape, 2 * motion.inputs.shape[1] + BODY_STATES
    g, H = np.zeros((steps + 1, states)), np.zeros((steps + 1, states, states))
    value = 0.5 * _INPUTS * float(np.sum(motion.inputs**2))
    speeds, joint = motion.joint_velocity / limits.velocity, np.arange(n, 2 * n)
    value += 0.5 * _MOTION * float(np.sum(speeds**2))
    g[:, joint] = _MOTION * speeds / limits.velocity
    H[:, joint, joint] = _MOTION / limits.velocity**2
    for i in range(1, steps + 1):
        q = motion.joint_position[i] if about is None else about[i]
        found = place(q)
        J = np.concatenate([found.linear / _PLACE, found.angular / _TURN])
        turn = vector_of_rotation(found.rotation @ upright.T) / _TURN
        error = np.concatenate([(found.center - centers[i]) / _PLACE, turn])
        if about is not None:
            error = error + J @ (motion.joint_position[i] - q)
        value += 0.5 * float(error @ error)
        g[i, :n] += J.T @ error
        H[i, :n, :n] += J.T @ J
        J = found.linear * (drift[1] / _PLACE)
        error = J @ motion.joint_velocity[i] - drift[0][i] * (drift[1] / _PLACE)
        value += 0.5 * float(error @ error)
        g[i, joint] += J.T @ error
        H[i, n : 2 * n, n : 2 * n] += J.T @ J
        for lacks, rate in keep(i, q):
            lacks = max(lacks + float(rate @ (motion.joint_position[i] - q)), 0.0)
            value += 0.5 * CLEAR * lacks**2
            g[i, :n] += CLEAR * lacks * rate
            H[i, :n, :n] += CLEAR * np.outer(rate, rate)
    u = _INPUTS * motion.inputs
    return value, Quadratic(z_gradient=g, z_hessian=H, u_gradient=u, u_hessian=np.full(u.shape, _INPUTS))
