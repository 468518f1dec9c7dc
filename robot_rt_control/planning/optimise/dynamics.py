"""Rollouts of a task's scene, and what their linearization needs of it (linearization.py).

Virtual forces are constant over an interval: they follow from the state at its beginning, by the contact model. So
the engine needs no callbacks, and all perturbed intervals of a linearization run in one call on several threads.
The result does not depend on their number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

from robot_rt_control.planning.optimise.clearance import Clearance
from robot_rt_control.planning.optimise.following import Motion, Placement
from robot_rt_control.planning.optimise.trajectory import BODY_STATES, Trajectory
from robot_rt_control.planning.scene import contact_model
from robot_rt_control.planning.scene.body import LinkBody
from robot_rt_control.planning.scene.contact_model import cross
from robot_rt_control.planning.scene.scene import Scene, ScenePair, is_free
from robot_rt_control.planning.task import Task

Array = NDArray[np.float64]

INTERVAL = 0.05
"""[s] at most, over which virtual forces are constant."""
_DIVERGED = 1e6
"""No state of a task gets that large."""
_SETTLING = 0.3
"""[s]"""
_NEAR = 0.1
"""[m] Farther apart at both ends of an interval, a robot's geometry and the body do not touch within it."""
_TOGETHER = 40
"""Rollouts of the whole horizon in one call: in between, the planner can be stopped."""
_APART = 1e-3
"""[m] Farther apart at all times, no deviation of the differences makes them touch."""
STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
CONTROL = mujoco.mjtState.mjSTATE_CTRL | mujoco.mjtState.mjSTATE_QFRC_APPLIED
TIME = 1
"""Places of the time in a full state, before qpos."""


@dataclass(frozen=True, kw_only=True)
class Ends:
    """The ends of rollouts, and the joints' ranges in them; NaN where the simulation diverged."""

    body_position: Array
    """(B, 3) [m]"""
    body_rotation: Array
    """(B, 3, 3)"""
    body_velocity: Array
    """(B, 6) linear [m/s] in the world, angular [rad/s] in the body's frame."""
    kept: Array
    """(B, 6) twist of a link once the joints have stopped; of a free body its own."""
    joint_velocity: Array
    """(B, n) commanded for velocity-driven joints, else simulated."""
    speed: Array
    """(B, n) greatest on the way."""
    lower: Array
    """(B, n) least position on the way."""
    upper: Array
    """(B, n)"""
    missing: Array
    """(B,) what distances lack, clearance.py: the sum of squares over pairs, on average over time."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What is found at the beginning of a control step."""

    phi: Array
    """(pairs,) [m]"""
    centers: Array
    """(pairs, 3) [m] of the robot's geometries."""
    points: Array
    """(pairs, 3) [m] the faces' points next to them."""
    inward: Array
    """(pairs, 3) the faces' unit normals into the body."""
    jacobians: Array
    """(pairs, 3, n) of the centres, by the driven joints."""
    inertia: Array
    """(n, n) of the driven joints."""
    velocity: Array
    """(n,) [rad/s or m/s] commanded for velocity-driven joints, else measured."""


class Dynamics:
    """The dynamics of one task.

    Args:
        scene: of the task.
        task: with the horizon.
        stiffness: (pairs,) [N] k of a scaled input of 1.
        threads: for rollouts.
    """

    def __init__(
        self,
        scene: Scene,
        task: Task,
        stiffness: Array,
        *,
        threads: int = 1,
    ) -> None:
        model, actuated = scene.model, scene.actuated
        # MuJoCo's own handler appends each diverged simulation to a file in the working directory.
        mujoco.set_mju_user_warning(lambda _: None)
        self.scene, self.task = scene, task
        self.n, self.pairs = len(actuated.names), len(scene.pairs)
        self.states, self.inputs = 2 * self.n + BODY_STATES, self.n + self.pairs
        self.intervals = int(np.ceil(task.control_step / INTERVAL - 1e-9))
        self.substeps = round(task.control_step / self.intervals / model.opt.timestep)
        self.h = task.control_step / self.intervals / self.substeps
        model.opt.timestep = self.h
        self.scale = np.where(actuated.velocity_driven, actuated.acceleration, actuated.effort)
        self.stiffness = stiffness
        self.check: Callable[[], None] = lambda: None
        """Called often while something is computed; an exception from it ends that."""
        self._data = mujoco.MjData(model)
        self._threads = [mujoco.MjData(model) for _ in range(threads)]
        self._rollout = rollout.Rollout(nthread=threads if threads > 1 else 0)
        self._size = mujoco.mj_stateSize(model, STATE)
        gains, bias = model.actuator_gainprm[: self.n, 0], model.actuator_biasprm[: self.n, 2]
        self._lead = np.where(actuated.velocity_driven, -bias / gains, 0.0)
        """[s] the servo's velocity gain per position gain."""
        bodies = model.geom_bodyid
        self._geometries = [(pair, int(bodies[pair.geom])) for pair in scene.pairs]
        self._separable = is_free(scene)
        """Whether the body moves on its own while no geometry of the robot touches it."""
        self._robot_geoms = sorted({pair.geom for pair in scene.pairs})
        self._body_geoms = [int(g) for g in np.flatnonzero(bodies == scene.body)]
        self._clearance = Clearance(scene)
        self._start = self._settled()

    def close(self) -> None:
        """End the threads; may be repeated."""
        self._rollout.close()

    # --- rollout --------------------------------------------------------------------------------

    def start(self) -> tuple[Array, Array]:
        """State and command at the start, at rest."""
        return self._start.copy(), np.concatenate([self.scene.actuated.start, np.zeros(self.n)])

    def _settled(self) -> Array:
        """The start state with the body where its weight presses it; the joints stay where they are.

        Else the first steps would be a fall by some µm, and their derivatives those of an impact.
        """
        state, w = np.zeros(self._size), TIME + self.scene.model.nq
        state[TIME:w] = self.scene.qpos
        command = np.concatenate([self.scene.actuated.start, np.zeros(self.n)])
        rest = self.controls(command[None], np.zeros((1, self.inputs)), np.zeros((1, self.scene.model.nv)))
        before = state.copy()
        for _ in range(round(_SETTLING / (self.h * self.substeps)) + 1):
            state = self.run(state[None], rest)[0]
            # Its joints would swing about their servo's equilibrium.
            joints = self.scene.actuated.moved_q
            state[TIME + joints] = before[TIME + joints]
            state[w + self.scene.actuated.moved_v] = 0.0
        state[w:] = 0.0
        state[0] = 0.0
        return state

    def roll_out(self, inputs: Array, adjust: Callable[[int, Moment], Array] | None = None) -> Trajectory:
        """The trajectory of these inputs, (N, n + pairs). Where the simulation diverges, it is not finite.

        Args:
            adjust: gives the inputs, (n + pairs,), of each control step, from what is found at its beginning.
        """
        inputs = inputs.copy()
        state, command = self.start()
        steps, per = len(inputs), self.intervals
        knots, commands = np.zeros((steps * per + 1, self._size)), np.zeros((steps * per + 1, 2 * self.n))
        phi, gamma = np.zeros((steps + 1, self.pairs)), np.zeros((steps, self.pairs))
        knots[0], commands[0] = state, command
        touching, gaps = np.ones(steps * per, dtype=bool), np.zeros(steps * per)
        gap = self._gap(state)
        for i in range(steps * per):
            self.check()
            found = self.distances(knots[i])
            if i % per == 0 and adjust is not None:
                inputs[i // per] = adjust(i // per, self._moment(knots[i], commands[i], found))
            u = inputs[i // per]
            if i % per == 0:
                phi[i // per] = [float(d.phi) for d in found]
                gamma[i // per] = self._forces(u, found)
            generalized = self.generalized(knots[i], found, u)
            controls = self.controls(commands[i][None], u[None], generalized[None])
            passed = self.passed(knots[i][None], controls)[0]
            knots[i + 1] = passed[-1]
            commands[i + 1] = self._next_command(commands[i], u)
            if not (np.abs(knots[i + 1]) < _DIVERGED).all():  # also NaN
                knots[i + 1 :] = np.nan
                break
            before, gap = gap, self._gap(knots[i + 1])
            gaps[i] = min(before, gap)
            if gaps[i] <= _NEAR and self._separable:
                gaps[i] = min(gaps[i], *map(self._gap, passed[:-1]), gap)
            touching[i] = gaps[i] <= _APART
        else:
            phi[-1] = [float(d.phi) for d in self.distances(knots[-1])]
        return self._trajectory(inputs, knots, commands, phi, gamma, touching, gaps)

    def ends(self, inputs: Array) -> Ends:
        """Where inputs of the joints (B, N, n), without virtual forces, lead to."""
        count, steps, n = inputs.shape
        state, command = self.start()
        commands = np.repeat(command[None], count, axis=0)
        u, rest = np.zeros((count, self.inputs)), np.zeros((count, self.scene.model.nv))
        controls, commanded = [], []
        for i in range(steps * self.intervals):
            u[:, :n] = inputs[:, i // self.intervals]
            controls.append(self.controls(commands, u, rest))
            commands = self._next_command(commands, u)
            commanded.append(commands)
        states = []
        every = np.concatenate(controls, axis=1)
        for i in range(0, count, _TOGETHER):
            self.check()
            some = every[i : i + _TOGETHER]
            states.append(self.passed(np.repeat(state[None], len(some), axis=0), some))
        passed = np.concatenate(states)
        end, actuated, nq = passed[:, -1], self.scene.actuated, self.scene.model.nq
        finite = np.all(np.abs(end) < _DIVERGED, axis=1, keepdims=True)  # also NaN
        end = np.where(finite, end, np.nan)
        end_q, end_v = end[:, TIME : TIME + nq], end[:, TIME + nq : TIME + nq + self.scene.model.nv]
        p, R = self.scene.motion.pose(end_q)
        q, v = passed[..., TIME + actuated.q], passed[..., TIME + nq + actuated.v]
        driven = actuated.velocity_driven
        knots = np.where(finite[:, None], passed[:, self.substeps - 1 :: self.substeps], state)
        missing = self._missing(knots.reshape(-1, self._size), np.stack(commanded, axis=1).reshape(-1, 2 * n))
        return Ends(
            body_position=p,
            body_rotation=R,
            body_velocity=self.scene.motion.twist(end_q, end_v),
            kept=np.array([self._kept(state)[0] for state in end]),
            joint_velocity=np.where(driven, commands[:, n:], v[:, -1]),
            speed=np.abs(v).max(axis=1),
            lower=q.min(axis=1),
            upper=q.max(axis=1),
            missing=np.sum(missing**2, axis=1).reshape(count, -1).mean(axis=1),
        )

    def _missing(self, knots: Array, commands: Array) -> Array:
        """(K, pairs of the clearance)"""
        return self._clearance.missing(self._clearance.commanded(knots, commands))

    def missing_rates(self, about: Trajectory) -> tuple[tuple[int, float, Array], ...]:
        """What distances lack at the ends of control steps: each with its step and its derivative (z,)."""
        knots, commands = about.knots[:: self.intervals], about.commands[:: self.intervals]
        found = []
        for i, missing, rate in self._clearance.rates(self._clearance.commanded(knots, commands)):
            by_state = np.zeros(self.states)
            by_state[: self.n], by_state[2 * self.n : 2 * self.n + 6] = rate[: self.n], rate[self.n :]
            found.append((i, missing, by_state))
        return tuple(found)

    def _gap(self, state: Array) -> float:
        """[m] between the body and the robot's geometries that may touch it, up to twice `_NEAR`."""
        if not self._separable:
            return 0.0
        nq = self.scene.model.nq
        self._data.qpos[:] = state[TIME : TIME + nq]
        mujoco.mj_kinematics(self.scene.model, self._data)
        return min(
            mujoco.mj_geomDistance(self.scene.model, self._data, robot, body, 2.0 * _NEAR, None)
            for robot in self._robot_geoms
            for body in self._body_geoms
        )

    def _trajectory(
        self,
        inputs: Array,
        knots: Array,
        commands: Array,
        phi: Array,
        gamma: Array,
        touching: NDArray[np.bool_],
        gaps: Array,
    ) -> Trajectory:
        actuated, nq = self.scene.actuated, self.scene.model.nq
        q, v = knots[:: self.intervals, TIME : TIME + nq], knots[:: self.intervals, TIME + nq :]
        command = commands[:: self.intervals]
        driven = actuated.velocity_driven
        p, R = self.scene.motion.pose(q)
        kept, recoil = self._kept(knots[-1])
        return Trajectory(
            inputs=inputs,
            joint_position=np.where(driven, command[:, : self.n], q[:, actuated.q]),
            joint_velocity=np.where(driven, command[:, self.n :], v[:, actuated.v]),
            body_position=p,
            body_rotation=R,
            body_velocity=self.scene.motion.twist(q, v),
            phi=phi,
            gamma=gamma,
            knots=knots,
            commands=commands,
            touching=touching,
            gap=gaps if self._separable else None,
            kept=kept,
            recoil=recoil,
            missing=self._missing(knots[:: self.intervals], command) if np.isfinite(knots).all() else None,
        )

    def _kept(self, state: Array) -> tuple[Array, Array | None]:
        """(6,) twist that the body keeps once the joints stop, and (6, n) its change with their velocity."""
        nq, nv, motion = self.scene.model.nq, self.scene.model.nv, self.scene.motion
        q, v = state[TIME : TIME + nq], state[TIME + nq : TIME + nq + nv]
        twist = motion.twist(q, v)
        if not isinstance(motion, LinkBody) or not np.isfinite(state).all():
            return twist, None
        self._place(state)
        M = np.zeros((nv, nv))
        mujoco.mj_crb(self.scene.model, self._data)
        mujoco.mj_fullM(self.scene.model, self._data, M)
        recoil = motion.recoil(q, M, self.scene.actuated.rates)
        return twist + recoil @ v[self.scene.actuated.v], recoil

    def run(self, states: Array, controls: Array) -> Array:
        """Final states of intervals: states (B, state), controls (B, substeps, control)."""
        return self.passed(states, controls)[:, -1]

    def passed(self, states: Array, controls: Array) -> Array:
        """(B, substeps, state) at the end of each time step."""
        result, _ = self._rollout.rollout(
            self.scene.model, self._threads, states, controls, control_spec=int(CONTROL), chunk_size=16
        )
        return np.asarray(result)

    def controls(self, commands: Array, inputs: Array, generalized: Array) -> Array:
        """(B, substeps, nu + nv) for commands (B, 2 n), inputs (B, u), generalized virtual forces (B, nv)."""
        actuated, n = self.scene.actuated, self.n
        t = self.h * np.arange(1, self.substeps + 1)[None, :, None]
        u = (inputs[:, :n] * self.scale)[:, None]
        q, v = commands[:, None, :n], commands[:, None, n:]
        position = q + v * t + 0.5 * u * t * t + self._lead * (v + u * t)
        drives = np.where(actuated.velocity_driven, position, u + 0.0 * t)
        virtual = np.broadcast_to(generalized[:, None], (*drives.shape[:2], generalized.shape[1]))
        return np.ascontiguousarray(np.concatenate([drives[..., actuated.leaders], virtual], axis=2))

    def _next_command(self, command: Array, u: Array) -> Array:
        t, a = self.h * self.substeps, u[..., : self.n] * self.scale * self.scene.actuated.velocity_driven
        q, v = command[..., : self.n], command[..., self.n :]
        return np.concatenate([q + v * t + 0.5 * a * t * t, v + a * t], axis=-1)

    # --- geometry -------------------------------------------------------------------------------

    def placement(self, geom: int, joints: Array) -> Placement:
        """A geometry of the robot at positions of the driven joints, the rest as at the start."""
        self.check()
        self._place_joints(joints)
        center = self._data.geom_xpos[geom].copy()
        Jp, Jr = self._jacobians(center, int(self.scene.model.geom_bodyid[geom]))
        return Placement(
            center=center, rotation=self._data.geom_xmat[geom].reshape(3, 3).copy(), linear=Jp, angular=Jr
        )

    def extents(self) -> Array:
        """(pairs,) [m] of each pair's geometry, from its centre towards the face, at the start."""
        self._place(self._start)
        _, R = self._pose()
        found = []
        for pair in self.scene.pairs:
            face_R = R if pair.fixed is None else pair.fixed[1]
            found.append(float(contact_model.inward_normal(pair.face, face_R) @ self._support(pair, face_R)))
        return np.array(found)

    def moves(self, geom: int, joints: Array, axes: Array | None = None) -> Array:
        """(directions, N + 1, n) motion of the joints (N + 1, n) that moves a geometry by 1 m without turning it.

        Args:
            axes: (directions, 3); None: those across gravity, or all three without gravity.
        """
        up = np.asarray(self.scene.model.opt.gravity)
        if axes is None:
            axes = np.linalg.svd(up[None])[2][1:] if np.linalg.norm(up) > 0.0 else np.eye(3)
        result = np.zeros((len(axes), *joints.shape))
        for i, q in enumerate(joints):
            found = self.placement(geom, q)
            J = np.concatenate([found.linear, found.angular])
            inverse = J.T @ np.linalg.inv(J @ J.T + 1e-4 * np.eye(6))
            result[:, i] = (inverse[:, :3] @ axes.T).T
        return result

    def scaled_inputs(self, joints: Array, acceleration: Array) -> Array:
        """(N, n) scaled inputs of accelerations (N, n) near joint positions (N + 1, n)."""
        actuated, driven = self.scene.actuated, self.scene.actuated.velocity_driven
        if driven.all():
            return acceleration / actuated.acceleration
        result = np.zeros(acceleration.shape)
        for i, a in enumerate(acceleration):
            self._place_joints(0.5 * (joints[i] + joints[i + 1]))
            result[i] = np.where(driven, a / actuated.acceleration, self._inertia() @ a / self.scale)
        return result

    def _place_joints(self, joints: Array) -> None:
        state = self._start.copy()
        self.scene.actuated.place(state[TIME : TIME + self.scene.model.nq], joints)
        self._place(state)

    def _inertia(self) -> Array:
        """(n, n) of the driven joints; the kinematics are placed."""
        model = self.scene.model
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_crb(model, self._data)
        mujoco.mj_fullM(model, self._data, M)
        return self.scene.actuated.inertia(M)

    def joint_inputs(self, motion: Motion) -> Array:
        """(N, n) scaled inputs of a motion of the joints in free space: efforts by the inverse dynamics."""
        driven, inputs = self.scene.actuated.velocity_driven, motion.inputs.copy()
        if driven.all():
            return inputs
        model, data, actuated = self.scene.model, self._data, self.scene.actuated
        M = np.zeros((model.nv, model.nv))
        for i, u in enumerate(motion.inputs):
            self._place(self._start)
            actuated.place(data.qpos, 0.5 * (motion.joint_position[i] + motion.joint_position[i + 1]))
            data.qvel[:] = actuated.rates @ (0.5 * (motion.joint_velocity[i] + motion.joint_velocity[i + 1]))
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            mujoco.mj_fullM(model, data, M)
            free = data.qfrc_bias - data.qfrc_passive  # gravity is compensated, in the passive forces
            effort = actuated.inertia(M) @ (u * actuated.acceleration) + free[actuated.v]
            inputs[i] = np.where(driven, u, np.clip(effort / self.scale, -1.0, 1.0))
        return inputs

    def _moment(self, state: Array, command: Array, found: list[contact_model.Distance]) -> Moment:
        """The kinematics are placed."""
        model, actuated = self.scene.model, self.scene.actuated
        velocity = np.where(
            actuated.velocity_driven, command[self.n :], state[TIME + model.nq + actuated.v]
        )
        centers = [self._data.geom_xpos[pair.geom].copy() for pair, _ in self._geometries]
        bodies = [body for _, body in self._geometries]
        jacobians = [self._jacobians(center, body)[0] for center, body in zip(centers, bodies, strict=True)]
        return Moment(
            phi=np.array([float(d.phi) for d in found]),
            centers=np.array(centers),
            points=np.array([d.point for d in found]),
            inward=np.array([d.inward for d in found]),
            jacobians=np.array(jacobians),
            inertia=self._inertia(),
            velocity=velocity,
        )

    # --- virtual forces -------------------------------------------------------------------------

    def _place(self, state: Array) -> None:
        nq = self.scene.model.nq
        self._data.qpos[:] = state[TIME : TIME + nq]
        mujoco.mj_kinematics(self.scene.model, self._data)
        mujoco.mj_comPos(self.scene.model, self._data)

    def _pose(self) -> tuple[Array, Array]:
        return self._data.xpos[self.scene.body].copy(), self._data.xmat[self.scene.body].reshape(3, 3).copy()

    def distances(self, state: Array) -> list[contact_model.Distance]:
        """Distance of each pair; also places the kinematics."""
        self._place(state)
        body = self._pose()
        found = []
        for pair, _ in self._geometries:
            p, R = pair.fixed or body
            center = self._data.geom_xpos[pair.geom].copy()
            found.append(contact_model.distance(pair.face, p, R, center, self._support(pair, R)))
        return found

    def _support(self, pair: ScenePair, R_WB: Array) -> Array:
        """(3,) [m] from the geometry's centre to its farthest point towards the body."""
        model, direction = self.scene.model, contact_model.inward_normal(pair.face, R_WB)
        R = self._data.geom_xmat[pair.geom].reshape(3, 3)
        local, size, kind = R.T @ direction, model.geom_size[pair.geom], model.geom_type[pair.geom]
        if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
            return np.asarray(size[0] * direction)
        if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
            radial = float(np.hypot(local[0], local[1]))
            # Smooth ends: an axis across the direction, the usual pose of a peg, would flip between both ends.
            along = size[1] * float(np.tanh(20.0 * local[2]))
            side = local[:2] / radial if radial > 1e-9 else np.zeros(2)
            return np.asarray(R @ np.array([size[0] * side[0], size[0] * side[1], along]))
        if kind == mujoco.mjtGeom.mjGEOM_BOX:
            return np.asarray(R @ (np.sign(local) * size))
        mesh = model.geom_dataid[pair.geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        vertices = model.mesh_vert[first : first + count].astype(float)
        return np.asarray(R @ vertices[int(np.argmax(vertices @ local))])

    def _forces(self, u: Array, found: list[contact_model.Distance]) -> list[Array]:
        """γ of each pair."""
        return [
            contact_model.force(u[..., self.n + i] * self.stiffness[i], pair.curvature, found[i].phi)
            for i, pair in enumerate(self.scene.pairs)
        ]

    def generalized(self, state: Array, found: list[contact_model.Distance], u: Array) -> Array:
        """(nv,) of the virtual forces on the body."""
        q = state[TIME : TIME + self.scene.model.nq]
        return self._on_body(q, self._pose()[0], found, self._forces(u, found))

    def _on_body(self, q: Array, p: Array, found: list[contact_model.Distance], gammas: list[Array]) -> Array:
        """(..., nv) for q (..., nq), p (..., 3) origin of the body's frame."""
        total = np.zeros((*p.shape[:-1], 6))
        for pair, distance, gamma in zip(self.scene.pairs, found, gammas, strict=True):
            # Pushed off a fixed face, the robot carries the body away from it.
            total = total + contact_model.wrench(distance, p, gamma if pair.fixed is None else -gamma)
        return self.scene.motion.generalized(q, total, self.scene.model.nv)

    def forces_near(self, state: Array, u: Array, deviations: Array) -> Array:
        """(B, nv) generalized virtual forces with deviations (B, z + u) of state and inputs."""
        self._place(state)
        n = self.n
        z, du = deviations[:, : self.states], deviations[:, self.states :]
        p, R = self._pose()
        q = self.moved(state, z)[:, TIME : TIME + self.scene.model.nq]
        moved_p, moved_R = self.scene.motion.pose(q)
        moved = []
        for pair, body in self._geometries:
            face_p, face_R = pair.fixed or (p, R)
            center, support = self._data.geom_xpos[pair.geom], self._support(pair, face_R)
            Jp, Jr = self._jacobians(center, body)
            turn = z[:, :n] @ Jr.T
            centers, supports = center + z[:, :n] @ Jp.T, support + cross(turn, support)
            if pair.fixed is None:
                face_p, face_R = moved_p, moved_R
            else:  # the body carries the geometry
                carried = moved_R @ R.T
                centers = moved_p + np.einsum("...ij,...j->...i", carried, centers - p)
                supports = np.einsum("...ij,...j->...i", carried, supports)
            moved.append(contact_model.distance(pair.face, face_p, face_R, centers, supports))
        return self._on_body(q, moved_p, moved, self._forces(u + du, moved))

    def _jacobians(self, point: Array, body: int) -> tuple[Array, Array]:
        """(3, n) each: of a robot's point, linear and angular, by the driven joints. The kinematics are placed."""
        model = self.scene.model
        Jp, Jr = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jac(model, self._data, Jp, Jr, point, body)
        return Jp @ self.scene.actuated.rates, Jr @ self.scene.actuated.rates

    def phi_rates(self, state: Array) -> Array:
        """(pairs, z) dφ/dz."""
        found, n = self.distances(state), self.n
        p, R = self._pose()
        rates = np.zeros((self.pairs, self.states))
        for i, ((pair, body), d) in enumerate(zip(self._geometries, found, strict=True)):
            Jp, Jr = self._jacobians(self._data.geom_xpos[pair.geom], body)
            rates[i, :n] = d.linear @ Jp + d.angular @ Jr
            # The face moves with the body, or the geometry does.
            sign, arm = (-1.0, d.point - p) if pair.fixed is None else (1.0, self._data.geom_xpos[pair.geom] - p)
            rates[i, 2 * n : 2 * n + 3] = sign * d.linear
            rates[i, 2 * n + 3 : 2 * n + 6] = sign * (cross(arm, d.linear) + d.angular) @ R
        return rates

    # --- deviations -----------------------------------------------------------------------------

    def moved(self, state: Array, z: Array) -> Array:
        """(B, state) with deviations (B, z)."""
        n, nq, actuated = self.n, self.scene.model.nq, self.scene.actuated
        states = np.repeat(state[None], len(z), axis=0)
        q, v = slice(TIME, TIME + nq), slice(TIME + nq, TIME + nq + self.scene.model.nv)
        states[:, q], states[:, v] = self.scene.motion.moved(state[q], state[v], z[:, 2 * n :])
        states[:, TIME + actuated.moved_q] += z[:, actuated.leaders] * actuated.ratio
        states[:, TIME + nq + actuated.moved_v] += z[:, n + actuated.leaders] * actuated.ratio
        return states

    def deviations(self, reference: Array, states: Array) -> Array:
        """(B, z) deviations of states from a reference; the places of velocity-driven joints are filled elsewhere."""
        n, nq, actuated = self.n, self.scene.model.nq, self.scene.actuated
        q, v = slice(TIME, TIME + nq), slice(TIME + nq, TIME + nq + self.scene.model.nv)
        change = states - reference
        z = np.zeros((len(states), self.states))
        z[:, :n], z[:, n : 2 * n] = change[:, TIME + actuated.q], change[:, TIME + nq + actuated.v]
        z[:, 2 * n :] = self.scene.motion.deviation(reference[q], reference[v], states[:, q], states[:, v])
        return z
