"""What all starts of a search share: the scene, the cost with its scales, limits, and first guesses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning import guide
from robot_rt_control.planning.clearance import Clearance, Touch
from robot_rt_control.planning.cost import Cost, PoseError, kept_twist, needed_stiffness
from robot_rt_control.planning.dynamics import Dynamics
from robot_rt_control.planning.following import Motion, follow, inverse_kinematics
from robot_rt_control.planning.gripping import Gripping
from robot_rt_control.planning.pieces import excess, planned_limits
from robot_rt_control.planning.plan import Plan
from robot_rt_control.planning.scene import Scene
from robot_rt_control.planning.scvx import Limits
from robot_rt_control.planning.settings import Settings
from robot_rt_control.planning.task import Task
from robot_rt_control.planning.trajectory import Trajectory
from robot_rt_control.vocabulary.errors import DefinitionError

Array = NDArray[np.float64]

_FIRST_STIFFNESS = 1.5
"""Scaled k of the first guess, of a pair that pushes towards the target: below 1 it may not overcome friction, and
then has no gradient."""
_TOUCHING = 1e-3
"""[m] into each other is still touching: after a push they are measured so."""
_FINE = 20
"""Points of a guide's path in a control step, for its velocity."""
_LEAST_PUSH = 0.5
"""Of the error that is accepted: no guide goes around the body for less."""
_MOVING = 1e-6
"""[m/s]"""
_PACE = 0.6
"""Of the limits of the joints: how fast a guide should go."""
_LEAST_STEPS = 8
"""A guide needs as many control steps."""


class Problem:
    """A task, ready to be solved.

    Raises:
        DefinitionError: the robot's geometry starts inside the body.
    """

    def __init__(self, task: Task, settings: Settings, scene: Scene) -> None:
        self.task, self.settings, self.scene = task, settings, scene
        actuated = scene.actuated
        self.n = len(actuated.names)
        self.stiffness: Array = np.ones(len(scene.pairs))
        self.clearance = Clearance(scene)
        self._body_geoms = np.flatnonzero(scene.model.geom_bodyid == scene.body)
        dynamics = self.dynamics(1)
        try:
            self.still: Trajectory = dynamics.roll_out(np.zeros((1, dynamics.inputs)))
            self.extents: Array = dynamics.extents()
            geoms = {pair.geom for pair in scene.pairs}
            self.placements = {geom: dynamics.placement(geom, actuated.start) for geom in geoms}
        finally:
            dynamics.close()
        self._refuse_penetration()
        target = task.target.matrix
        self.cost = Cost.of_task(
            (self.still.body_position[0], self.still.body_rotation[0]),
            (target[:3, 3] + self._sunk(), target[:3, :3]),
            time=task.time,
            velocity_limits=actuated.velocity,
            at_rest=task.at_rest,
            weights=settings.weights,
            free=task.free,
        )
        self.stiffness = self._needed_stiffness(scene)
        lower, upper, velocity = planned_limits(actuated, task.control_step)
        self.limits = Limits(lower=lower, upper=upper, velocity=velocity)

    def dynamics(self, threads: int, curvature: float = 1.0) -> Dynamics:
        """A new one, for one thread that calls; it has to be closed.

        Args:
            curvature: of the virtual forces, per that of the pairs.
        """
        scene, stiffness = self.scene, self.stiffness
        if curvature != 1.0:
            pairs = tuple(replace(pair, curvature=curvature * pair.curvature) for pair in scene.pairs)
            scene = replace(scene, pairs=pairs)
            stiffness = self._needed_stiffness(scene)
        return Dynamics(scene, self.task, stiffness, threads=threads)

    def _needed_stiffness(self, scene: Scene) -> Array:
        """(pairs,) [N]"""
        return needed_stiffness(
            mass=scene.body_mass,
            friction=scene.body_friction,
            gravity=scene.gravity,
            distance=self.cost.distance,
            time=self.task.time,
            curvature=np.array([pair.curvature for pair in scene.pairs]),
            phi=self.still.phi[0],
        )

    def good(self, trajectory: Trajectory, share: float = 1.0) -> bool:
        """Whether a trajectory without virtual forces is a result: near the target, at rest if that is wanted,
        within the joints' limits, and clear of all that it shall not touch.

        Args:
            share: of the errors that are accepted.
        """
        error, its = self.cost.error(trajectory), self.settings
        near = error.normalized <= share * its.accept_position and error.orientation <= share * its.accept_orientation
        slow = not self.task.at_rest or self._rests(trajectory, share)
        return near and slow and not self.excess(trajectory) and self.touch(trajectory) is None

    def _rests(self, trajectory: Trajectory, share: float) -> bool:
        """Whether the body rests once the robot's joints have stopped."""
        slow = self.speed(trajectory) <= share * self.accept_speed
        spin = float(np.linalg.norm(kept_twist(trajectory)[3:]))
        return slow and (self._braked or spin <= share * self.settings.accept_orientation / self.task.time)

    @property
    def accept_speed(self) -> float:
        """[m/s] at which the body counts as resting; what nothing brakes drifts by what is accepted in a horizon."""
        its = self.settings
        drift = its.accept_position * self.cost.distance / self.task.time
        return its.accept_speed if self._braked else min(its.accept_speed, drift)

    @property
    def _braked(self) -> bool:
        return self.scene.gravity * self.scene.body_friction > 0.0

    def excess(self, trajectory: Trajectory) -> str:
        """Which limit of the joints it exceeds between control steps; empty: none."""
        its, step = self.scene.actuated, self.task.control_step
        return excess(its, trajectory.joint_position, trajectory.joint_velocity, step)

    def touch(self, trajectory: Trajectory) -> Touch | None:
        """What it touches that it shall not, deepest first."""
        return self.clearance.touch(trajectory)

    def speed(self, trajectory: Trajectory) -> float:
        """[m/s] of the body after the end, once the robot's joints have stopped."""
        return float(np.linalg.norm(kept_twist(trajectory)[:3]))

    def error(self, trajectory: Trajectory) -> PoseError:
        """Of the final pose."""
        return self.cost.error(trajectory)

    def _sunk(self) -> Array:
        """(3,) [m] how far its weight presses the body into the ground: a target is meant without that."""
        gravity = np.asarray(self.scene.model.opt.gravity)
        if not self.scene.gravity > 0.0 or self.scene.body_q < 0:
            return np.zeros(3)
        down = gravity / np.linalg.norm(gravity)
        placed, _ = self.scene.motion.pose(self.scene.qpos)
        return np.asarray(down * float(down @ (self.still.body_position[0] - placed)))

    def _refuse_penetration(self) -> None:
        for i, pair in enumerate(self.scene.pairs):
            if self.still.phi[0, i] < -_TOUCHING:
                got = f"{1e3 * self.still.phi[0, i]:.1f} mm"
                raise DefinitionError(f"start, pair {pair.name!r}", expected="a distance of at least 0 mm", got=got)

    # --- first guesses --------------------------------------------------------------------------

    def pushing(self) -> Array:
        """(pairs,) how far each face pushes towards the target, 0 to 1."""
        way = self.cost.position_error(self.still, 0)
        way = way / max(float(np.linalg.norm(way)), 1e-9)
        pushes = [pair.push(self.still.body_rotation[0]) for pair in self.scene.pairs]
        return np.array([max(float(-d @ way), 0.0) for d in pushes])

    def virtual_inputs(self, only: int | None = None) -> Array:
        """(N, inputs): joints at rest; each pair, or one, pushes as far as its face pushes towards the target."""
        inputs = np.zeros((self.task.steps, self.n + len(self.scene.pairs)))
        pushing = self.pushing()
        together = float(np.sum(pushing**2)) if only is None else 1.0  # several may push at the same face
        inputs[:, self.n :] = _FIRST_STIFFNESS * pushing / max(together, 1.0)
        if only is not None:
            others = [self.n + i for i in range(len(self.scene.pairs)) if i != only]
            inputs[:, others] = 0.0
        return inputs

    def limits_of(self, only: int | None = None) -> Limits:
        """With virtual forces of all pairs, or of one."""
        if only is None:
            return self.limits
        stiffness = np.zeros(len(self.scene.pairs))
        stiffness[only] = self.limits.stiffness
        return replace(self.limits, stiffness=stiffness)

    def inputs_of(self, plan: Plan) -> Array:
        """(N, inputs) of a previous plan, from its first input on; after its end, nothing moves on."""
        step = plan.header["time"] / plan.header["steps"]
        inputs = np.zeros((self.task.steps, self.n + len(self.scene.pairs)))
        if plan.inputs.shape[1] != self.n:
            return inputs
        driven, actuated = self.scene.actuated.velocity_driven, self.scene.actuated
        scale = np.where(driven, actuated.acceleration, actuated.effort)
        for i in range(self.task.steps):
            j = int((i + 0.5) * self.task.control_step / step)
            if j < len(plan.inputs):
                inputs[i, : self.n] = np.clip(plan.inputs[j] / scale, -1.0, 1.0)
        return inputs

    def guides(self) -> list[tuple[str, Callable[[Dynamics, float], Array]]]:
        """Name and inputs of each guide, for a share of the horizon; the most promising one first."""
        if self.task.steps < _LEAST_STEPS:
            return []
        pushed = [(name, partial(self._pushed, geom=geom, row=row)) for name, geom, row in self.pushes()]
        gripping = Gripping(self)
        gripped = gripping.guides()
        return gripped if gripped and gripping.lifted else [*pushed, *gripped]  # a push lifts nothing

    def _pushed(self, dynamics: Dynamics, share: float, *, geom: int, row: tuple[guide.Push, ...]) -> Array:
        return self.guided_inputs(dynamics, geom, row, share)

    def pushes(self) -> list[tuple[str, int, tuple[guide.Push, ...]]]:
        """Name, geometry and pushes of each guide that pushes."""
        on_body = all(pair.fixed is None for pair in self.scene.pairs)
        if not self.scene.gravity > 0.0 or not on_body:
            return []
        found = []
        body = self._body()
        least = _LEAST_PUSH * self.settings.accept_position * self.cost.distance
        for geom in sorted({pair.geom for pair in self.scene.pairs}):
            places = [i for i, pair in enumerate(self.scene.pairs) if pair.geom == geom]
            for row in guide.pushes(body, [self.scene.pairs[i].face for i in places], least):
                own = tuple(replace(push, pair=places[push.pair]) for push in row)
                name = ", ".join(self.scene.pairs[push.pair].name for push in own)
                if own:
                    found.append((name, geom, own))
        return found

    def needed_time(self) -> float:
        """[s] in which a guide goes its way with some of the joints' speed and acceleration to spare; 0: no guide."""
        actuated, steps, found = self.scene.actuated, max(self.task.steps, _LEAST_STEPS), []
        step = self.task.time / steps
        dynamics = self.dynamics(1)
        try:
            for _, geom, row in self.pushes():
                q = inverse_kinematics(
                    self._path(dynamics, geom, row, steps, 1.0).centers,
                    partial(dynamics.placement, geom),
                    actuated.start,
                    self.limits,
                )
                v = np.diff(q, axis=0) / step
                speed = float(np.max(np.abs(v) / self.limits.velocity))
                bend = float(np.max(np.abs(np.diff(v, axis=0)) / step / actuated.acceleration))
                found.append(self.task.time * max(speed / _PACE, math.sqrt(bend / _PACE)))
        finally:
            dynamics.close()
        return min(found, default=0.0)

    def _path(
        self, dynamics: Dynamics, geom: int, row: tuple[guide.Push, ...], steps: int, share: float
    ) -> guide.Path:
        center = dynamics.placement(geom, self.scene.actuated.start).center
        geometry = guide.Geometry(center=center, extents=self.extents)
        faces = [pair.face for pair in self.scene.pairs]
        return guide.path(row, self._body(), geometry, faces, steps=steps, share=share)

    def _body(self) -> guide.Body:
        position = self.still.body_position[0]
        gravity = np.asarray(self.scene.model.opt.gravity)
        return guide.Body(
            position=position,
            rotation=self.still.body_rotation[0],
            target=position - self.cost.position_error(self.still, 0),
            up=-gravity / max(float(np.linalg.norm(gravity)), 1e-9),
        )

    def guided_inputs(self, dynamics: Dynamics, geom: int, row: tuple[guide.Push, ...], share: float) -> Array:
        """(N, inputs) with which a geometry pushes so, at rest after `share` of the horizon."""
        actuated = self.scene.actuated
        steps = self.task.steps
        path = self._path(dynamics, geom, row, steps, share)
        fine = self._path(dynamics, geom, row, _FINE * steps, share).centers
        around = Clearance(self.scene, [(geom, int(g)) for g in self._body_geoms])
        motion = follow(
            path.centers,
            partial(dynamics.placement, geom),
            velocities=np.gradient(fine, self.task.control_step / _FINE, axis=0)[::_FINE],
            start=actuated.start,
            acceleration=actuated.acceleration,
            limits=self.limits,
            step=self.task.control_step,
            keep=lambda i, q: self._lacking(q, path.bodies[i], around if path.apart[i] else None),
        )
        inputs = np.zeros((self.task.steps, dynamics.inputs))
        driven = dynamics.joint_inputs(motion)
        if not actuated.velocity_driven.all():
            driven = driven + self._pushing_efforts(dynamics, geom, motion, path)
        inputs[:, : self.n] = np.clip(driven, -1.0, 1.0)
        return inputs

    def _pushing_efforts(self, dynamics: Dynamics, geom: int, motion: Motion, path: guide.Path) -> Array:
        """(N, n) scaled efforts that push the body along its path: without them it is struck, and slides freely."""
        scene, step = self.scene, self.task.control_step
        v = np.diff(path.bodies, axis=0, prepend=path.bodies[:1]) / step
        speed = np.linalg.norm(v[1:], axis=1, keepdims=True)
        direction = np.where(speed > _MOVING, v[1:] / np.maximum(speed, _MOVING), 0.0)
        acceleration = np.sum(np.diff(v, axis=0) / step * direction, axis=1, keepdims=True)
        along = np.maximum(acceleration + scene.body_friction * scene.gravity, 0.0)  # a face is not pulled
        efforts = np.zeros((len(v) - 1, self.n))
        for i, force in enumerate(scene.body_mass * along * direction):
            efforts[i] = dynamics.placement(geom, motion.joint_position[i]).linear.T @ force
        return np.where(scene.actuated.velocity_driven, 0.0, efforts / scene.actuated.effort)

    def _lacking(self, joints: Array, body: Array, around: Clearance | None) -> list[tuple[float, Array]]:
        """What distances lack with the joints, (n,), and the body moved to a position [m]; and their derivatives.

        Args:
            around: of the geometry that goes around the body, and has to keep clear of it.
        """
        qpos = self.scene.qpos.copy()
        qpos[self.scene.actuated.q] = joints
        qpos[self.scene.body_q : self.scene.body_q + 3] = body
        found = self.clearance.rates(qpos[None]) + (around.rates(qpos[None]) if around is not None else [])
        return [(missing, rate[: self.n]) for _, missing, rate in found]

