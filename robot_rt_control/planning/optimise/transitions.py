"""Derivatives of intervals, chained from those of the engine for each time step (`mjd_transitionFD`).

Differences over a whole interval see what begins to touch within it, if a deviation of its beginning is large enough;
those of a time step see what touches in that step. Neither is better everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.optimise.dynamics import CONTROL, STATE, TIME, Dynamics
from robot_rt_control.planning.optimise.trajectory import Trajectory

Array = NDArray[np.float64]

_FORCE = 5e-3
"""[m/s^2] Of the body's mass: the step of virtual forces."""


def jacobians(
    dynamics: Dynamics, about: Trajectory, eps: float, centered: bool, virtual: bool
) -> Iterator[Array]:
    """(z, z + u) of each interval; without virtual forces, (z, z + n).

    Args:
        eps: step of the differences, in the simulation's positions, velocities and controls.
        centered: differences to both sides.
    """
    data = mujoco.MjData(dynamics.scene.model)
    for i in range(len(about.knots) - 1):
        dynamics.check()
        yield _jacobian(dynamics, data, about, i, eps, centered, virtual)


def _jacobian(
    dynamics: Dynamics, data: mujoco.MjData, about: Trajectory, i: int, eps: float, centered: bool, virtual: bool
) -> Array:
    state, command, u = about.knots[i], about.commands[i], about.inputs[i // dynamics.intervals]
    model, states, n = dynamics.scene.model, dynamics.states, dynamics.n
    columns = states + (dynamics.inputs if virtual else n)
    generalized = dynamics.generalized(state, dynamics.distances(state), u)
    controls = dynamics.controls(command[None], u[None], generalized[None])
    passed = [state, *dynamics.passed(state[None], controls)[0, :-1]]
    deviations = eps * np.concatenate([np.eye(columns), -np.eye(columns)])
    if virtual:
        forces = dynamics.forces_near(state, u, deviations)
        pushes = (forces[:columns] - forces[columns:]).T / (2.0 * eps)  # (nv, columns)
        pushed = np.flatnonzero(pushes.any(axis=1))
        accelerations = _accelerations(dynamics, passed, controls[0], pushed)
    # Drives are linear in commands and inputs.
    unit, none = np.eye(columns), np.zeros((columns, model.nv))
    drives = dynamics.controls(unit[:, : 2 * n], unit[:, states:], none)[..., : model.nu]
    moved = dynamics.moved(state, deviations[:, :states])
    X = np.array([_tangent(model, state, its) for its in moved])
    X = (X[:columns] - X[columns:]).T / (2.0 * eps)  # (2 nv, columns)
    A, B = np.zeros((2 * model.nv, 2 * model.nv)), np.zeros((2 * model.nv, model.nu))
    for j, before in enumerate(passed):
        mujoco.mj_setState(model, data, before, STATE)
        mujoco.mj_setState(model, data, controls[0, j], CONTROL)
        data.qacc_warmstart[:] = 0.0
        mujoco.mjd_transitionFD(model, data, eps, centered, A, B, None, None)
        X = A @ X + B @ drives[:, j].T
        if virtual:
            speed = accelerations[j] @ pushes[pushed]
            X += np.concatenate([dynamics.h * speed, speed])
    return _reduced(dynamics, about.knots[i + 1], eps) @ X


def _accelerations(dynamics: Dynamics, passed: list[Array], controls: Array, pushed: NDArray[np.intp]) -> Array:
    """(time steps, nv, pushed) change of the velocity after a time step per generalized force."""
    model, count = dynamics.scene.model, len(pushed)
    step = _FORCE * dynamics.scene.body_mass
    pushes = np.zeros((2 * count, controls.shape[1]))
    pushes[np.arange(count), model.nu + pushed] = step
    pushes[count:] = -pushes[:count]
    states = np.repeat(np.array(passed), 2 * count, axis=0)
    ends = dynamics.run(states, (controls[:, None] + pushes).reshape(len(states), 1, -1))
    ends = ends.reshape(len(passed), 2 * count, -1)[:, :, TIME + model.nq : TIME + model.nq + model.nv]
    return np.swapaxes(ends[:, :count] - ends[:, count:], 1, 2) / (2.0 * step)


def _tangent(model: mujoco.MjModel, reference: Array, state: Array) -> Array:
    """(2 nv,) the engine's deviation of a state."""
    nq, nv = model.nq, model.nv
    result = np.zeros(2 * nv)
    mujoco.mj_differentiatePos(model, result[:nv], 1.0, reference[TIME : TIME + nq], state[TIME : TIME + nq])
    result[nv:] = state[TIME + nq : TIME + nq + nv] - reference[TIME + nq : TIME + nq + nv]
    return result


def _reduced(dynamics: Dynamics, reference: Array, eps: float) -> Array:
    """(z, 2 nv) reduced deviations of the engine's."""
    nq, nv = dynamics.scene.model.nq, dynamics.scene.model.nv
    steps = eps * np.concatenate([np.eye(2 * nv), -np.eye(2 * nv)])
    states = np.repeat(reference[None], len(steps), axis=0)
    for state, step in zip(states, steps, strict=True):
        mujoco.mj_integratePos(dynamics.scene.model, state[TIME : TIME + nq], step[:nv], 1.0)
        state[TIME + nq : TIME + nq + nv] += step[nv:]
    change = dynamics.deviations(reference, states)
    return (change[: 2 * nv] - change[2 * nv :]).T / (2.0 * eps)
