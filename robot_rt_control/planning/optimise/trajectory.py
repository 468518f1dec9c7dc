"""Trajectories of a task and their linearization, as plain arrays.

The reduced state z, (2 n + 12,), in order: position and velocity of the n driven joints, then of the body: position
[m] in the world, rotation [rad] in the body's frame, linear velocity [m/s] in the world, angular velocity [rad/s] in
the body's frame. For a velocity-driven joint the first two are those of the command: the servo's lag is not a state
of the linearization, so a step of the arm's command moves the arm with it.

The input u, (n + pairs,), scaled: acceleration of the command, or effort, per limit; then k per `Scales.stiffness`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BODY_STATES = 12


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """A rollout, at the N + 1 ends of its control steps."""

    inputs: Array
    """(N, n + pairs)"""
    joint_position: Array
    """(N + 1, n) [rad or m] commanded for velocity-driven joints, else measured."""
    joint_velocity: Array
    body_position: Array
    """(N + 1, 3) p_WB [m]"""
    body_rotation: Array
    """(N + 1, 3, 3) R_WB"""
    body_velocity: Array
    """(N + 1, 6) linear [m/s] in the world, angular [rad/s] in the body's frame."""
    phi: Array
    """(N + 1, pairs) [m]"""
    gamma: Array
    """(N, pairs) [N] at the beginning of each control step."""
    knots: Array
    """(K + 1, state) MuJoCo's full states at the ends of the intervals in which virtual forces are constant."""
    commands: Array
    """(K + 1, 2 n) commanded positions and velocities there."""
    touching: NDArray[np.bool_]
    """(K,) whether robot and body may touch in the interval."""
    kept: Array | None = None
    """(6,) twist that a link has once its robot's joints have stopped after the end; None: the body is no link."""
    recoil: Array | None = None
    """(6, n) its change with the joints' velocity."""
    gap: Array | None = None
    """(K,) [m] least distance between the body and the robot's geometries that may touch it, over each interval's time
    steps; negative: depth; None: not looked at. Far apart it is that of the interval's ends."""
    missing: Array | None = None
    """(N + 1, pairs of clearance.py) what distances lack; None: not looked at."""

    @property
    def finite(self) -> bool:
        """Whether the simulation did not diverge."""
        return bool(np.isfinite(self.knots).all() and np.isfinite(self.commands).all())


@dataclass(frozen=True, kw_only=True)
class Linearization:
    """About a trajectory: z[i + 1] = A[i] z[i] + B[i] u[i], all deviations."""

    A: Array
    """(N, z, z)"""
    B: Array
    """(N, z, u)"""
    phi_z: Array
    """(N + 1, pairs, z) dφ/dz"""
    missing: tuple[tuple[int, float, Array], ...] = ()
    """Where distances lack something: end of a control step, how much, and its derivative (z,)."""
