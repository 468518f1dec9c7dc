"""The cost of a trajectory, scaled by the task, and its quadratic model.

    J = ½ w_p |e_p / d|² + ½ w_o |e_o / θ|²              final pose of the body
      + ½ w_r (|v / v_d|² + |ω / ω_d|²)                  the body at rest at the end, `kept_twist`
      + 1/N Σ ½ w_g (|v / v_d|² + |ω / ω_d|²)            the body's speed on its way
      + 1/N Σ ( ½ w_v |q̇ / q̇_max|² + ½ w_u |u|² + ω Σ k )  motion, inputs, virtual stiffness
      + ½ w_e |q̇_N / q̇_max|²                             the robot at rest at the end
      + 1/N Σ ½ Σ κ_p (φ_p / φ_0)²                       draw of the geometries towards the faces, see traction.py
      + 1/N Σ ½ w_c Σ s²                                 s: what distances lack of 1 cm, see clearance.py

d: distance of the task, at least 1 cm; θ: its angle, at least 0.5 rad; v_d = d / T, ω_d = θ / T; φ_0: 0.1 m.
k is scaled by the force that the task needs (`needed_stiffness`), so that the same weights serve all tasks.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.model.rotation_formulas import inverse_right_jacobian, vector_of_rotation
from robot_rt_control.planning.optimise.trajectory import BODY_STATES, Linearization, Trajectory

Array = NDArray[np.float64]

_LEAST_DISTANCE = 0.01
_LEAST_ANGLE = 0.5
_DRAW_DISTANCE = 0.1
CLEAR = 100.0
"""w_c, weight of the distances that links are to keep."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Weights of the cost, the same for all tasks."""

    position: float = 1000.0
    """w_p, of the body's final position, per distance of the task."""
    orientation: float = 300.0
    """w_o, of its final orientation, per angle of the task."""
    rest: float = 10.0
    """w_r, of its final velocity, if it must be at rest."""
    robot_rest: float = 10.0
    """w_e, of the joints' final velocity, per limit."""
    motion: float = 0.1
    """w_v, of the joints' velocity on the way, per limit."""
    inputs: float = 0.1
    """w_u, of the inputs, per limit."""
    gentle: float = 0.0
    """On the body's speed on its way: a blow is fast, a push is slower."""


@dataclass(frozen=True, kw_only=True)
class PoseError:
    """How far the body is from its target."""

    position: float
    """[m]"""
    orientation: float
    """[rad]"""
    normalized: float
    """Position error per distance of the task."""


class FinalState(Protocol):
    """The final state of several rollouts, `dynamics.Ends`; or of a trajectory, whose last one counts."""

    @property
    def body_position(self) -> Array: ...
    @property
    def body_rotation(self) -> Array: ...
    @property
    def body_velocity(self) -> Array: ...
    @property
    def joint_velocity(self) -> Array: ...
    @property
    def kept(self) -> Array | None: ...


@dataclass(frozen=True, kw_only=True)
class Quadratic:
    """J ≈ J₀ + Σ gᵀ δ + ½ δᵀ H δ, over z at the ends of the control steps and u in them."""

    z_gradient: Array  # (N + 1, z)
    z_hessian: Array  # (N + 1, z, z)
    u_gradient: Array  # (N, u)
    u_hessian: Array  # (N, u) diagonal


@dataclass(frozen=True, kw_only=True, eq=False)
class Cost:
    """The cost of one task.

    The first three are of the target and the start; `penalty` is ω.
    """

    target_position: Array
    """(3,) [m]"""
    target_rotation: Array
    """(3, 3)"""
    distance: float
    """[m] scale of the position error."""
    angle: float
    """[rad] scale of the orientation error."""
    time: float
    """[s] horizon."""
    velocity_limits: Array
    """(n,)"""
    at_rest: bool = True
    weights: Weights = field(default_factory=Weights)
    penalty: float = 0.1
    draw: Array | None = None
    """(N + 1, pairs) κ; None: no draw."""
    counts: Array = field(default_factory=lambda: np.ones(6))
    """(6,) 1 for coordinates of the target that count, 0 for free ones: x, y, z, rx, ry, rz."""

    @classmethod
    def of_task(
        cls,
        start: tuple[Array, Array],
        target: tuple[Array, Array],
        *,
        time: float,
        velocity_limits: Array,
        at_rest: bool = True,
        weights: Weights | None = None,
        free: Collection[str] = (),
    ) -> Cost:
        """Scaled by the way from start to target, each position and rotation matrix.

        Args:
            free: of the target's coordinates x, y, z in the world, rx, ry, rz about the body's axes.
        """
        counts = np.array([float(name not in free) for name in ("x", "y", "z", "rx", "ry", "rz")])
        way, turn = counts[:3] * (target[0] - start[0]), counts[3:] * vector_of_rotation(start[1].T @ target[1])
        return cls(
            target_position=target[0],
            target_rotation=target[1],
            distance=max(float(np.linalg.norm(way)), _LEAST_DISTANCE),
            angle=max(float(np.linalg.norm(turn)), _LEAST_ANGLE),
            time=time,
            velocity_limits=velocity_limits,
            at_rest=at_rest,
            weights=weights or Weights(),
            counts=counts,
        )

    def with_penalty(self, penalty: float, draw: Array | None = None) -> Cost:
        """The same with another ω and another draw."""
        return replace(self, penalty=penalty, draw=draw)

    def error(self, trajectory: FinalState) -> PoseError:
        """Error of the final pose."""
        position = float(np.linalg.norm(self.position_error(trajectory, -1)))
        angle = float(np.linalg.norm(self._turn(trajectory)))
        return PoseError(position=position, orientation=angle, normalized=position / self.distance)

    def position_error(self, trajectory: FinalState, i: int) -> Array:
        """(3,) [m] from the target to the body at an end of a control step; 0 in free coordinates."""
        return np.asarray(self.counts[:3] * (trajectory.body_position[i] - self.target_position))

    def _turn(self, trajectory: FinalState) -> Array:
        """(3,) [rad] that is left to turn at the end."""
        return np.asarray(self.counts[3:] * vector_of_rotation(trajectory.body_rotation[-1].T @ self.target_rotation))

    def residuals(self, ends: FinalState) -> Array:
        """(B, 6 or 12 + n): half the sum of their squares is what `value` adds for the final state."""
        w = self.weights
        place = math.sqrt(w.position) / self.distance * self.counts[:3] * (ends.body_position - self.target_position)
        turns = np.array([vector_of_rotation(R.T @ self.target_rotation) for R in ends.body_rotation])
        parts = [place, math.sqrt(w.orientation) / self.angle * self.counts[3:] * turns]
        if self.at_rest:
            kept = ends.body_velocity if ends.kept is None else ends.kept
            parts.append(math.sqrt(w.rest) * kept / self._body_speed())
        parts.append(math.sqrt(w.robot_rest) * ends.joint_velocity / self.velocity_limits)
        return np.concatenate(parts, axis=1)

    def value(self, t: Trajectory) -> float:
        """J; infinite where the simulation diverged."""
        if not t.finite:
            return math.inf
        w, steps, n = self.weights, len(t.inputs), len(self.velocity_limits)
        error = self.error(t)
        J = 0.5 * w.position * error.normalized**2 + 0.5 * w.orientation * (error.orientation / self.angle) ** 2
        speed = t.joint_velocity[1:] / self.velocity_limits
        J += 0.5 * w.motion * float(np.sum(speed**2)) / steps + 0.5 * w.robot_rest * float(np.sum(speed[-1] ** 2))
        J += 0.5 * w.inputs * float(np.sum(t.inputs[:, :n] ** 2)) / steps
        J += self.penalty * float(np.sum(t.inputs[:, n:])) / steps
        J += 0.5 * w.gentle * float(np.sum((t.body_velocity[1:] / self._body_speed()) ** 2)) / steps
        if self.at_rest:
            J += 0.5 * w.rest * float(np.sum((kept_twist(t) / self._body_speed()) ** 2))
        if self.draw is not None:
            J += 0.5 * float(np.sum(self.draw * np.maximum(t.phi, 0.0) ** 2)) / _DRAW_DISTANCE**2 / steps
        if t.missing is not None:
            J += 0.5 * CLEAR * float(np.sum(t.missing**2)) / steps
        return float(J)

    def quadratic(self, t: Trajectory, linear: Linearization) -> Quadratic:
        """Gauss-Newton model of `value` about a trajectory."""
        w, steps, n = self.weights, len(t.inputs), len(self.velocity_limits)
        states, inputs = linear.A.shape[1], linear.B.shape[2]
        g, H = np.zeros((steps + 1, states)), np.zeros((steps + 1, states, states))
        body = states - BODY_STATES
        # Final pose: the position in the world, the rotation in the body's frame.
        place = np.arange(body, body + 3)
        scale = w.position / self.distance**2
        g[-1, place] += scale * self.position_error(t, -1)
        H[-1, place, place] += scale * self.counts[:3]
        turn = np.arange(body + 3, body + 6)
        error = vector_of_rotation(t.body_rotation[-1].T @ self.target_rotation)
        jacobian = self.counts[3:, None] * inverse_right_jacobian(-error)
        scale = w.orientation / self.angle**2
        g[-1, turn] += scale * jacobian.T @ -error
        H[-1, body + 3 : body + 6, body + 3 : body + 6] += scale * jacobian.T @ jacobian
        speed = np.arange(body + 6, states)
        g[1:, speed] += w.gentle / steps * t.body_velocity[1:] / self._body_speed() ** 2
        H[1:, speed, speed] += w.gentle / steps / self._body_speed() ** 2
        if self.at_rest:
            rates = np.zeros((6, states))
            rates[:, speed] = np.eye(6)
            if t.recoil is not None:
                rates[:, n : 2 * n] = t.recoil
            g[-1] += w.rest * rates.T @ (kept_twist(t) / self._body_speed() ** 2)
            H[-1] += w.rest * rates.T @ (rates / self._body_speed()[:, None] ** 2)
        joints = np.arange(n, 2 * n)
        for i in range(1, steps + 1):
            scales = (w.motion / steps + (w.robot_rest if i == steps else 0.0)) / self.velocity_limits**2
            g[i, joints] += scales * t.joint_velocity[i]
            H[i, joints, joints] += scales
        if self.draw is not None:
            scales = self.draw / _DRAW_DISTANCE**2 / steps * (t.phi > 0.0)
            g += np.einsum("ip,ipz->iz", scales * t.phi, linear.phi_z)
            H += np.einsum("ip,ipz,ipy->izy", scales, linear.phi_z, linear.phi_z)
        for i, missing, rate in linear.missing:
            g[i] += CLEAR / steps * missing * rate
            H[i] += CLEAR / steps * np.outer(rate, rate)
        u_g, u_H = np.zeros((steps, inputs)), np.zeros((steps, inputs))
        u_g[:, :n], u_H[:, :n] = w.inputs / steps * t.inputs[:, :n], w.inputs / steps
        u_g[:, n:] = self.penalty / steps
        return Quadratic(z_gradient=g, z_hessian=H, u_gradient=u_g, u_hessian=u_H)

    def _body_speed(self) -> Array:
        """(6,) scales of the body's velocity."""
        return np.array([self.distance / self.time] * 3 + [self.angle / self.time] * 3)


def kept_twist(t: Trajectory) -> Array:
    """(6,) of the body at the end, once the robot's joints have stopped."""
    return t.body_velocity[-1] if t.kept is None else t.kept


def needed_stiffness(
    *, mass: float, friction: float, gravity: float, distance: float, time: float, curvature: Array, phi: Array
) -> Array:
    """(pairs,) [N] k with which each pair, from its distance at the start, could move the body in the horizon alone.

    It overcomes friction [coefficient, times gravity in m/s^2] and accelerates for half of the way.
    """
    force = mass * (friction * gravity + 4.0 * distance / time**2)
    return np.asarray(force * np.exp(curvature * np.maximum(phi, 0.0)))
