"""The linearization of a trajectory: derivatives of each interval, chained to control steps.

Of the intervals, differences over each one as a whole (here), or the engine's own derivatives of each time step
(transitions.py). What a commanded joint does is known, and not taken from the simulation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.optimise import transitions
from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.trajectory import BODY_STATES, Linearization, Trajectory

Array = NDArray[np.float64]

_TOGETHER = 40
"""Intervals that are linearized in one call: in between, the planner can be stopped."""


@dataclass(frozen=True, kw_only=True)
class Differences:
    """Which ones, and their steps.

    A body at rest is pressed into the ground by some 20 µm: larger steps lift it off on one side of the difference.
    Smaller ones see the solver's tolerance.
    """

    over: Literal["intervals", "time steps"] = "intervals"
    """Whole intervals, or each time step of the simulation by the engine."""
    position: float = 1e-5
    """[m or rad]"""
    velocity: float = 1e-4
    """[m/s or rad/s]"""
    inputs: float = 1e-3
    """Step of the scaled inputs; for virtual forces, per 5 m/s^2 of the body's mass."""
    sides: Literal["both", "one"] = "both"
    """One side needs half of the rollouts."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """What SCVX works on: a task's dynamics, and how they are differentiated."""

    dynamics: Dynamics
    differences: Differences
    virtual: bool = True
    """Whether k may change; without virtual forces, they need no derivatives: those by k are 0."""

    def roll_out(self, inputs: Array) -> Trajectory:
        """As of the dynamics."""
        return self.dynamics.roll_out(inputs)

    def linearize(self, about: Trajectory) -> Linearization:
        """Derivatives of the intervals, chained to control steps."""
        dynamics, its = self.dynamics, self.differences
        if its.over == "intervals":
            jacobians: Iterable[Array] = _Intervals(dynamics, its, self.virtual).jacobians(about)
        else:
            centered = its.sides == "both"
            jacobians = transitions.jacobians(dynamics, about, its.position, centered, self.virtual)
        return _chained(dynamics, about, jacobians)


def _chained(dynamics: Dynamics, about: Trajectory, jacobians: Iterable[Array]) -> Linearization:
    """The linearization from the jacobians (z, z + u) or (z, z + n) of all intervals."""
    steps, per, states = len(about.inputs), dynamics.intervals, dynamics.states
    phi_z = np.array([dynamics.phi_rates(about.knots[i * per]) for i in range(steps + 1)])
    A, B = np.zeros((steps, states, states)), np.zeros((steps, states, dynamics.inputs))
    A[:] = np.eye(states)
    for i, jacobian in enumerate(jacobians):
        _exact_commands(dynamics, jacobian)
        a, b = jacobian[:, :states], jacobian[:, states:]
        j, given = i // per, b.shape[1]
        A[j], B[j] = a @ A[j], a @ B[j]
        B[j, :, :given] += b
    return Linearization(A=A, B=B, phi_z=phi_z, missing=dynamics.missing_rates(about))


def _exact_commands(dynamics: Dynamics, jacobian: Array) -> None:
    """A commanded joint is a double integrator, whatever it touches."""
    n, t = dynamics.n, dynamics.h * dynamics.substeps
    for j in np.flatnonzero(dynamics.scene.actuated.velocity_driven):
        jacobian[[j, n + j]] = 0.0
        jacobian[j, j] = jacobian[n + j, n + j] = 1.0
        jacobian[j, n + j] = t
        jacobian[j, dynamics.states + j] = 0.5 * t * t * dynamics.scale[j]
        jacobian[n + j, dynamics.states + j] = t * dynamics.scale[j]


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """Deviations of one interval that are rolled out."""

    touching: bool
    """Whether robot and body may touch in the interval: then each state and input has a rollout of its own."""
    deviations: Array
    """(B, z + u)"""
    forces: Array
    """(B, 6) deviations of the virtual forces on the body."""


class _Intervals:
    """Differences over whole intervals."""

    def __init__(self, dynamics: Dynamics, differences: Differences, virtual: bool) -> None:
        self._dynamics, self._differences, self._virtual = dynamics, differences, virtual
        n, steps = dynamics.n, differences
        joints = np.concatenate([np.full(n, steps.position), np.full(n, steps.velocity)])
        body = np.concatenate([np.full(6, steps.position), np.full(6, steps.velocity)])
        self._eps = np.concatenate([joints, body, np.full(dynamics.inputs if virtual else n, steps.inputs)])

    def jacobians(self, about: Trajectory) -> list[Array]:
        """(z, z + u) of each interval; without virtual forces, (z, z + n)."""
        dynamics = self._dynamics
        columns = [self._columns(bool(touching)) for touching in about.touching]
        perturbed = []
        for i, its in enumerate(columns):
            dynamics.check()
            inputs = about.inputs[i // dynamics.intervals]
            perturbed.append(self._perturbed(about.knots[i], about.commands[i], inputs, its))
        ends: list[Array] = []
        for i in range(0, len(columns), _TOGETHER):
            dynamics.check()
            some = perturbed[i : i + _TOGETHER]
            places = np.cumsum([*(len(states) for states, _, _ in some)])[:-1]
            states, controls = (np.concatenate([its[k] for its in some]) for k in range(2))
            ends.extend(np.split(dynamics.run(states, controls), places))
        return [
            self._jacobian(its, dynamics.deviations(about.knots[i + 1], ends[i]), perturbed[i][2])
            for i, its in enumerate(columns)
        ]

    def _columns(self, touching: bool) -> _Columns:
        """Which deviations are rolled out."""
        eps, n = self._eps, self._dynamics.n
        deviations, forces = np.diag(eps), np.zeros((len(eps), 6))
        if not touching:
            # Robot and body move apart from each other, so one rollout serves a deviation of each. The robot acts on
            # the body through virtual forces alone, which the contact model differentiates.
            body = 2 * n
            joints = self._joint_columns()
            size = max(BODY_STATES + 6 * self._virtual, len(joints))
            deviations, forces = np.zeros((size, len(eps))), np.zeros((size, 6))
            for i in range(BODY_STATES):
                deviations[i, body + i] = eps[body + i]
            for i, j in enumerate(joints):
                deviations[i, j] = eps[j]
            if self._virtual:
                step = self._differences.inputs * 5.0 * self._dynamics.scene.body_mass
                forces[BODY_STATES : BODY_STATES + 6] = step * np.diag([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])
        if self._differences.sides == "both":
            deviations, forces = np.concatenate([deviations, -deviations]), np.concatenate([forces, -forces])
        return _Columns(touching=touching, deviations=deviations, forces=forces)

    def _joint_columns(self) -> NDArray[np.intp]:
        """Position, velocity and input of the joints; none if all of them are commanded."""
        n, states = self._dynamics.n, self._dynamics.states
        driven = self._dynamics.scene.actuated.velocity_driven.all()
        joints = [] if driven else [*range(2 * n), *range(states, states + n)]
        return np.array(joints, dtype=np.intp)

    def _perturbed(self, state: Array, command: Array, u: Array, columns: _Columns) -> tuple[Array, Array, Array]:
        """States and controls of one interval with deviations, (6, z + u) rates of the virtual forces."""
        dynamics, eps = self._dynamics, self._eps
        rates = np.zeros((6, 0))
        if not self._virtual:
            generalized = np.zeros((len(columns.deviations), dynamics.scene.model.nv))
        elif columns.touching:
            generalized = dynamics.forces_near(state, u, columns.deviations)
        else:
            w = dynamics.scene.body_v
            near = dynamics.forces_near(state, u, np.concatenate([np.diag(eps), -np.diag(eps)]))[:, w : w + 6]
            rates = ((near[: len(eps)] - near[len(eps) :]) / (2.0 * eps[:, None])).T
            about = dynamics.generalized(state, dynamics.distances(state), u)
            generalized = np.repeat(about[None], len(columns.deviations), axis=0)
            generalized[:, w : w + 6] += columns.forces
        z, du = np.split(columns.deviations, [dynamics.states], axis=1)
        controls = dynamics.controls(command + z[:, : 2 * dynamics.n], u[: du.shape[1]] + du, generalized)
        return dynamics.moved(state, z), controls, rates

    def _jacobian(self, columns: _Columns, change: Array, rates: Array) -> Array:
        """(z, z + u) of one interval, of the ends' deviations and of the forces' rates."""
        eps = self._eps
        if self._differences.sides == "both":
            half = len(change) // 2
            change = (change[:half] - change[half:]) / 2.0
        if columns.touching:
            return (change / eps[:, None]).T
        states, body = self._dynamics.states, 2 * self._dynamics.n
        result = np.zeros((states, len(eps)))
        places = np.arange(body, states)
        result[body:, places] = (change[:BODY_STATES, body:] / eps[places, None]).T
        if self._virtual:
            steps = np.diag(columns.forces[BODY_STATES : BODY_STATES + 6])
            result[body:] += (change[BODY_STATES : BODY_STATES + 6, body:] / steps[:, None]).T @ rates
        joints = self._joint_columns()
        result[:body, joints] = (change[: len(joints), :body] / eps[joints, None]).T
        return result
