"""Pushes of a problem: from which faces a geometry pushes the body to its target, and the joints' inputs to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.guess import guide
from robot_rt_control.planning.optimise.clearance import Clearance
from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.following import Motion, follow, inverse_kinematics
from robot_rt_control.planning.optimise.problem import Problem

Array = NDArray[np.float64]

_FINE = 20
"""Points of a guide's path in a control step, for its velocity."""
_LEAST_PUSH = 0.5
"""Fraction of the accepted error: no guide goes around the body for less."""
_MOVING = 1e-6
"""[m/s]"""
_PACE = 0.6
"""Fraction of the joints' limits: how fast a guide should go."""
_HELD = 0.3
"""Fraction of what friction brakes a body with: slower than that, it stays at the geometry, also with less friction."""
_LINES = 6
"""Of a push, about."""
_TOUCHING = 0.02
"""[m/s] at which a geometry touches, at most."""
_LEAST_LINE = 2
"""Control steps of each line."""
_AIMS = 3
"""Rollouts at most in which a line is aimed,"""
_AIMED = 0.1
"""until this fraction of the accepted error is left."""
LEAST_STEPS = 8
"""A guide needs as many control steps."""


class Pushing:
    """Start guesses that push the body, one geometry at a time; none if nothing carries it."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.scene = problem, problem.scene

    def pushes(self) -> list[tuple[str, int, tuple[guide.Push, ...]]]:
        """Name, geometry and pushes of each guide that pushes."""
        on_body = all(pair.fixed is None for pair in self.scene.pairs)
        if not self.scene.gravity > 0.0 or not on_body:
            return []
        found = []
        body = self._body()
        least = _LEAST_PUSH * self.problem.settings.accept_position * self.problem.cost.distance
        for geom in sorted({pair.geom for pair in self.scene.pairs}):
            places = [i for i, pair in enumerate(self.scene.pairs) if pair.geom == geom]
            for row in guide.pushes(body, [self.scene.pairs[i].face for i in places], least):
                own = tuple(replace(push, pair=places[push.pair]) for push in row)
                name = ", ".join(self.scene.pairs[push.pair].name for push in own)
                if own:
                    found.append((name, geom, own))
        return found

    def needed_time(self, *, slow: bool = False) -> float:
        """[s] in which a guide goes its way with some of the joints' speed and acceleration to spare; 0: no guide.

        Args:
            slow: it halts before it touches, and friction holds the body against the geometry while that brakes.
        """
        dynamics = self.problem.dynamics(1)
        try:
            if slow:
                return min((sum(self._durations(dynamics, geom, row)) for _, geom, row in self.pushes()), default=0.0)
            found = []
            for _, geom, row in self.pushes():
                steps = max(self.problem.task.steps, LEAST_STEPS)
                path = self._path(dynamics, geom, row, steps, 1.0)
                found.append(self.problem.task.time * float(np.max(self._haste(dynamics, geom, path))))
            return min(found, default=0.0)
        finally:
            dynamics.close()

    def _durations(self, dynamics: Dynamics, geom: int, row: tuple[guide.Push, ...]) -> list[float]:
        """[s] that each line of a slow push needs."""
        steps = _FINE * _LINES * len(row)
        step = self.problem.task.time / steps
        path = self._path(dynamics, geom, row, steps, 1.0, halting=True)
        haste = self._haste(dynamics, geom, path)
        speed = np.linalg.norm(np.diff(path.centers, axis=0), axis=1) / step
        haste = np.maximum(haste, np.where(path.creeping[1:], speed / _TOUCHING, 0.0))
        if (held := _HELD * self.scene.body_friction * self.scene.gravity) > 0.0:
            braking = np.diff(np.linalg.norm(np.diff(path.bodies, axis=0), axis=1), append=0.0) / step**2
            haste = np.maximum(haste, np.sqrt(np.maximum(-braking, 0.0) / held))
        lines = [path.line[1:] == j for j in range(path.line[-1] + 1)]
        needed = [step * float(np.sum(own)) * float(np.max(haste[own])) for own in lines]
        return [max(its, _LEAST_LINE * self.problem.task.control_step) for its in needed]

    def _haste(self, dynamics: Dynamics, geom: int, path: guide.Path) -> Array:
        """(N,) by what factor a path has to be slower for the joints to have speed and acceleration to spare."""
        actuated, step = self.scene.actuated, self.problem.task.time / (len(path.centers) - 1)
        q = inverse_kinematics(path.centers, partial(dynamics.placement, geom), actuated.start, self.problem.limits)
        v = np.diff(q, axis=0) / step
        speed = np.max(np.abs(v) / self.problem.limits.velocity, axis=1)
        bend = np.max(np.abs(np.diff(v, axis=0, append=v[-1:])) / step / actuated.acceleration, axis=1)
        return np.asarray(np.maximum(speed / _PACE, np.sqrt(bend / _PACE)))

    def line(self, dynamics: Dynamics, share: float, *, geom: int, row: tuple[guide.Push, ...]) -> Array:
        """(N, inputs) of a straight push as a person would write it: to the body, halt, push as far as is missing.

        How far the contact gives way in the planner's engine is added to the push.
        """
        durations = [its / self.problem.task.time for its in self._durations(dynamics, geom, row)]
        lengths, best = np.array([push.length for push in row]), (math.inf, np.zeros(0))
        for _ in range(_AIMS):
            pushes = tuple(replace(push, length=float(length)) for push, length in zip(row, lengths, strict=True))
            inputs = self.inputs(dynamics, share, geom=geom, row=pushes, durations=durations)
            found = dynamics.roll_out(inputs)
            if not found.finite:
                break
            error = self.problem.error(found)
            if error.position < best[0]:
                best = error.position, inputs
            left = -self.problem.cost.position_error(found, -1)
            R = found.body_rotation[0]
            lengths = lengths + np.array([float(-R @ self.scene.pairs[push.pair].face.axes[0] @ left) for push in row])
            if error.normalized < _AIMED * self.problem.settings.accept_position or (lengths <= 0.0).any():
                break
        return best[1] if math.isfinite(best[0]) else inputs

    def _path(
        self,
        dynamics: Dynamics,
        geom: int,
        row: tuple[guide.Push, ...],
        steps: int,
        share: float,
        durations: Sequence[float] | None = None,
        *,
        halting: bool = False,
    ) -> guide.Path:
        center = dynamics.placement(geom, self.scene.actuated.start).center
        geometry = guide.Geometry(center=center, extents=self.problem.extents)
        faces = [pair.face for pair in self.scene.pairs]
        halting = halting or durations is not None
        return guide.path(
            row, self._body(), geometry, faces, steps=steps, share=share, halting=halting, durations=durations
        )

    def _body(self) -> guide.Body:
        position = self.problem.still.body_position[0]
        gravity = np.asarray(self.scene.model.opt.gravity)
        return guide.Body(
            position=position,
            rotation=self.problem.still.body_rotation[0],
            target=position - self.problem.cost.position_error(self.problem.still, 0),
            up=-gravity / max(float(np.linalg.norm(gravity)), 1e-9),
        )

    def inputs(
        self,
        dynamics: Dynamics,
        share: float,
        *,
        geom: int,
        row: tuple[guide.Push, ...],
        durations: Sequence[float] | None = None,
    ) -> Array:
        """(N, inputs) by which a geometry pushes, at rest after `share` of the horizon.

        Args:
            durations: that each line of a push that halts needs, guide.py; None: it does not halt.
        """
        actuated = self.scene.actuated
        steps = self.problem.task.steps
        path = self._path(dynamics, geom, row, steps, share, durations)
        fine = self._path(dynamics, geom, row, _FINE * steps, share, durations).centers
        of_body = np.flatnonzero(self.scene.model.geom_bodyid == self.scene.body)
        around = Clearance(self.scene, [(geom, int(g)) for g in of_body])
        motion = follow(
            path.centers,
            partial(dynamics.placement, geom),
            velocities=np.gradient(fine, self.problem.task.control_step / _FINE, axis=0)[::_FINE],
            start=actuated.start,
            acceleration=actuated.acceleration,
            limits=self.problem.limits,
            step=self.problem.task.control_step,
            keep=lambda i, q: self._lacking(q, path.bodies[i], around if path.apart[i] else None),
        )
        inputs = np.zeros((self.problem.task.steps, dynamics.inputs))
        driven = dynamics.joint_inputs(motion)
        if not actuated.velocity_driven.all():
            driven = driven + self._pushing_efforts(dynamics, geom, motion, path)
        inputs[:, : self.problem.n] = np.clip(driven, -1.0, 1.0)
        return inputs

    def _pushing_efforts(self, dynamics: Dynamics, geom: int, motion: Motion, path: guide.Path) -> Array:
        """(N, n) scaled efforts that push the body along its path: without them it is struck, and slides freely."""
        scene, step = self.scene, self.problem.task.control_step
        v = np.diff(path.bodies, axis=0, prepend=path.bodies[:1]) / step
        speed = np.linalg.norm(v[1:], axis=1, keepdims=True)
        direction = np.where(speed > _MOVING, v[1:] / np.maximum(speed, _MOVING), 0.0)
        acceleration = np.sum(np.diff(v, axis=0) / step * direction, axis=1, keepdims=True)
        along = np.maximum(acceleration + scene.body_friction * scene.gravity, 0.0)  # a face is not pulled
        efforts = np.zeros((len(v) - 1, self.problem.n))
        for i, force in enumerate(scene.body_mass * along * direction):
            efforts[i] = dynamics.placement(geom, motion.joint_position[i]).linear.T @ force
        return np.where(scene.actuated.velocity_driven, 0.0, efforts / scene.actuated.effort)

    def _lacking(self, joints: Array, body: Array, around: Clearance | None) -> list[tuple[float, Array]]:
        """What distances lack with the joints, (n,), and the body moved to a position [m]; and their derivatives.

        Args:
            around: of the geometry that goes around the body, and has to keep clear of it.
        """
        qpos = self.scene.qpos.copy()
        self.scene.actuated.place(qpos, joints)
        qpos[self.scene.body_q : self.scene.body_q + 3] = body
        found = self.problem.clearance.rates(qpos[None]) + (around.rates(qpos[None]) if around is not None else [])
        return [(missing, rate[: self.problem.n]) for _, missing, rate in found]
