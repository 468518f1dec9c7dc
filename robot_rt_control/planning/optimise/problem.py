"""What all starts of a search share: the scene, the cost with its scales, limits, and first guesses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.optimise.clearance import Clearance, Touch
from robot_rt_control.planning.optimise.cost import Cost, PoseError, kept_twist, needed_stiffness
from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.scvx import Limits
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.optimise.trajectory import Trajectory
from robot_rt_control.planning.plan.pieces import excess, planned_limits
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.scene.scene import Scene
from robot_rt_control.planning.task import Task
from robot_rt_control.vocabulary.errors import DefinitionError

Array = NDArray[np.float64]

_FIRST_STIFFNESS = 1.5
"""Scaled k of the first guess, of a pair that pushes towards the target: below 1 it may not overcome friction, and
then has no gradient."""
_CUT = 5e-3
"""[m] Contacts give way by less, also those of blows: deeper, a geometry is driven through a corner of the body, which
a stiff one would push aside."""
_TOUCHING = 1e-3
"""[m] into each other is still touching: after a push they are measured so."""


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
        dynamics = self.dynamics(1)
        try:
            self.still: Trajectory = dynamics.roll_out(np.zeros((1, dynamics.inputs)))
            self.extents: Array = dynamics.extents()
            geoms = {pair.geom for pair in scene.pairs}
            self.placements = {geom: dynamics.placement(geom, actuated.start) for geom in geoms}
        finally:
            dynamics.close()
        self._refuse_penetration()
        self.sunk: Array = self._sunk()
        """(3,) [m] how far its weight presses the body into the ground: a target is meant without that."""
        target = task.target.matrix
        self.cost = Cost.of_task(
            (self.still.body_position[0], self.still.body_rotation[0]),
            (target[:3, 3] + self.sunk, target[:3, :3]),
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
        within the joints' limits, and clear of all that it must not touch.

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
        """What it touches and must not, deepest first; or where a geometry of a pair cuts through the body."""
        found = self.clearance.touch(trajectory)
        if trajectory.gap is None or not trajectory.finite or trajectory.gap.min(initial=0.0) > -_CUT:
            return found
        i = int(np.argmin(trajectory.gap))
        depth, time = -float(trajectory.gap[i]), float(trajectory.knots[i, 0])
        if found is not None and found.depth > depth:
            return found
        nearest = int(np.argmin(trajectory.phi[round(time / self.task.control_step)]))
        link, _, face = self.scene.pairs[nearest].name.partition(" ")
        return Touch(link=link, thing=face.rpartition(".")[0], depth=depth, time=time)

    def speed(self, trajectory: Trajectory) -> float:
        """[m/s] of the body after the end, once the robot's joints have stopped."""
        return float(np.linalg.norm(kept_twist(trajectory)[:3]))

    def error(self, trajectory: Trajectory) -> PoseError:
        """Error of the final pose."""
        return self.cost.error(trajectory)

    def _sunk(self) -> Array:
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
