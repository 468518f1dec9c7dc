"""Rollouts of a task's scene, and their linearization by differences over whole intervals.

Virtual forces are constant over an interval: they follow from the state at its beginning, by the contact model. So
the engine needs no callbacks, and all perturbed intervals of a linearization run in one call on several threads.
The result does not depend on their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

from robot_rt_control.planning import contact_model
from robot_rt_control.planning.scene import Scene, ScenePair
from robot_rt_control.planning.task import Task
from robot_rt_control.planning.trajectory import BODY_STATES, Linearization, Trajectory

Array = NDArray[np.float64]

INTERVAL = 0.05
"""[s] at most, over which virtual forces are constant."""
_DIVERGED = 1e6
"""No state of a task gets that large."""
_SETTLING = 0.3
"""[s]"""
_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
_CONTROL = mujoco.mjtState.mjSTATE_CTRL | mujoco.mjtState.mjSTATE_QFRC_APPLIED
_TIME = 1
"""Places of the time in a full state, before qpos."""


@dataclass(frozen=True, kw_only=True)
class Differences:
    """Steps of the differences.

    A body at rest is pressed into the ground by some 20 µm: larger steps lift it off on one side of the difference.
    Smaller ones see the solver's tolerance.
    """

    position: float = 1e-5
    """[m or rad]"""
    velocity: float = 1e-4
    """[m/s or rad/s]"""
    inputs: float = 1e-3
    """Of the scaled inputs."""


class Dynamics:
    """The dynamics of one task.

    Args:
        scene: of the task.
        task: with the horizon.
        stiffness: (pairs,) [N] k of a scaled input of 1.
        threads: for rollouts.
        differences: steps of the linearization.
    """

    def __init__(
        self,
        scene: Scene,
        task: Task,
        stiffness: Array,
        *,
        threads: int = 1,
        differences: Differences | None = None,
    ) -> None:
        model, actuated = scene.model, scene.actuated
        # MuJoCo's own handler appends each diverged simulation to a file in the working directory.
        mujoco.set_mju_user_warning(lambda _: None)
        self.scene, self.task, self.differences = scene, task, differences or Differences()
        self.n, self.pairs = len(actuated.names), len(scene.pairs)
        self.states, self.inputs = 2 * self.n + BODY_STATES, self.n + self.pairs
        self.intervals = int(np.ceil(task.control_step / INTERVAL - 1e-9))
        self.substeps = round(task.control_step / self.intervals / model.opt.timestep)
        self.h = task.control_step / self.intervals / self.substeps
        model.opt.timestep = self.h
        self.scale = np.where(actuated.velocity_driven, actuated.acceleration, actuated.effort)
        self.stiffness = stiffness
        self._data = mujoco.MjData(model)
        self._threads = [mujoco.MjData(model) for _ in range(threads)]
        self._rollout = rollout.Rollout(nthread=threads if threads > 1 else 0)
        self._size = mujoco.mj_stateSize(model, _STATE)
        gains, bias = model.actuator_gainprm[:, 0], model.actuator_biasprm[:, 2]
        self._lead = np.where(actuated.velocity_driven, -bias / gains, 0.0)
        """[s] the servo's velocity gain per position gain."""
        bodies = model.geom_bodyid
        self._geometries = [(pair, int(bodies[pair.geom])) for pair in scene.pairs]
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
        state, w = np.zeros(self._size), _TIME + self.scene.model.nq
        state[_TIME:w] = self.scene.qpos
        command = np.concatenate([self.scene.actuated.start, np.zeros(self.n)])
        rest = self._controls(command[None], np.zeros((1, self.inputs)), np.zeros((1, self.scene.model.nv)))
        before = state.copy()
        for _ in range(round(_SETTLING / (self.h * self.substeps)) + 1):
            state = self._run(state[None], rest)[0]
            # Its joints would swing about their servo's equilibrium.
            state[_TIME + self.scene.actuated.q] = before[_TIME + self.scene.actuated.q]
            state[w + self.scene.actuated.v] = 0.0
        state[w:] = 0.0
        state[0] = 0.0
        return state

    def roll_out(self, inputs: Array) -> Trajectory:
        """The trajectory of these inputs, (N, n + pairs). Where the simulation diverges, it is not finite."""
        state, command = self.start()
        steps, per = len(inputs), self.intervals
        knots, commands = np.zeros((steps * per + 1, self._size)), np.zeros((steps * per + 1, 2 * self.n))
        phi, gamma = np.zeros((steps + 1, self.pairs)), np.zeros((steps, self.pairs))
        knots[0], commands[0] = state, command
        for i in range(steps * per):
            u = inputs[i // per]
            found = self._distances(knots[i])
            if i % per == 0:
                phi[i // per] = [float(d.phi) for d in found]
                gamma[i // per] = self._forces(u, found)
            generalized = self._generalized(knots[i], found, u)
            controls = self._controls(commands[i][None], u[None], generalized[None])
            knots[i + 1] = self._run(knots[i][None], controls)[0]
            commands[i + 1] = self._next_command(commands[i], u)
            if not (np.abs(knots[i + 1]) < _DIVERGED).all():  # also NaN
                knots[i + 1 :] = np.nan
                break
        else:
            phi[-1] = [float(d.phi) for d in self._distances(knots[-1])]
        return self._trajectory(inputs, knots, commands, phi, gamma)

    def _trajectory(self, inputs: Array, knots: Array, commands: Array, phi: Array, gamma: Array) -> Trajectory:
        actuated, nq = self.scene.actuated, self.scene.model.nq
        q, v = knots[:: self.intervals, _TIME : _TIME + nq], knots[:: self.intervals, _TIME + nq :]
        command = commands[:: self.intervals]
        driven = actuated.velocity_driven
        b, w = self.scene.body_q, self.scene.body_v
        return Trajectory(
            inputs=inputs,
            joint_position=np.where(driven, command[:, : self.n], q[:, actuated.q]),
            joint_velocity=np.where(driven, command[:, self.n :], v[:, actuated.v]),
            body_position=q[:, b : b + 3],
            body_rotation=_matrices(q[:, b + 3 : b + 7]),
            body_velocity=v[:, w : w + 6],
            phi=phi,
            gamma=gamma,
            knots=knots,
            commands=commands,
        )

    def _run(self, states: Array, controls: Array) -> Array:
        """Final states of intervals: states (B, state), controls (B, substeps, control)."""
        result, _ = self._rollout.rollout(
            self.scene.model, self._threads, states, controls, control_spec=int(_CONTROL), chunk_size=16
        )
        return np.asarray(result)[:, -1]

    def _controls(self, commands: Array, inputs: Array, generalized: Array) -> Array:
        """(B, substeps, nu + nv) for commands (B, 2 n), inputs (B, u), generalized virtual forces (B, nv)."""
        actuated, n = self.scene.actuated, self.n
        t = self.h * np.arange(1, self.substeps + 1)[None, :, None]
        u = (inputs[:, :n] * self.scale)[:, None]
        q, v = commands[:, None, :n], commands[:, None, n:]
        position = q + v * t + 0.5 * u * t * t + self._lead * (v + u * t)
        drives = np.where(actuated.velocity_driven, position, u + 0.0 * t)
        virtual = np.broadcast_to(generalized[:, None], (*drives.shape[:2], generalized.shape[1]))
        return np.ascontiguousarray(np.concatenate([drives, virtual], axis=2))

    def _next_command(self, command: Array, u: Array) -> Array:
        t, a = self.h * self.substeps, u[..., : self.n] * self.scale * self.scene.actuated.velocity_driven
        q, v = command[..., : self.n], command[..., self.n :]
        return np.concatenate([q + v * t + 0.5 * a * t * t, v + a * t], axis=-1)

    def contact_forces(self, about: Trajectory) -> Array:
        """(steps of the simulation,) [N] normal force between the robot's geometries and the body in each of them."""
        model, data, robot = self.scene.model, self._data, {pair.geom for pair in self.scene.pairs}
        forces, found = np.zeros((len(about.knots) - 1, self.substeps)), np.zeros(6)
        for i, knot in enumerate(about.knots[:-1]):
            u = about.inputs[i // self.intervals]
            generalized = self._generalized(knot, self._distances(knot), u)
            controls = self._controls(about.commands[i][None], u[None], generalized[None])
            ends, _ = self._rollout.rollout(model, self._threads, knot[None], controls, control_spec=int(_CONTROL))
            for j, state in enumerate([knot, *np.asarray(ends)[0, :-1]]):
                mujoco.mj_setState(model, data, state, _STATE)
                mujoco.mj_setState(model, data, controls[0, j], _CONTROL)
                mujoco.mj_forward(model, data)
                for k in range(data.ncon):
                    geoms = {int(g) for g in data.contact[k].geom}
                    if geoms & robot and any(model.geom_bodyid[g] == self.scene.body for g in geoms - robot):
                        mujoco.mj_contactForce(model, data, k, found)
                        forces[i, j] += found[0]
        data.ctrl[:], data.qfrc_applied[:] = 0.0, 0.0
        return forces.ravel()

    # --- virtual forces -------------------------------------------------------------------------

    def _place(self, state: Array) -> None:
        nq = self.scene.model.nq
        self._data.qpos[:] = state[_TIME : _TIME + nq]
        mujoco.mj_kinematics(self.scene.model, self._data)
        mujoco.mj_comPos(self.scene.model, self._data)

    def _pose(self) -> tuple[Array, Array]:
        return self._data.xpos[self.scene.body].copy(), self._data.xmat[self.scene.body].reshape(3, 3).copy()

    def _distances(self, state: Array) -> list[contact_model.Distance]:
        """Of each pair; also places the kinematics."""
        self._place(state)
        p, R = self._pose()
        found = []
        for pair, _ in self._geometries:
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

    def _generalized(self, state: Array, found: list[contact_model.Distance], u: Array) -> Array:
        """(nv,) of the virtual forces on the free body, whose frame is at its centre of mass."""
        p, R = self._pose()
        return self._on_body(p, R, found, self._forces(u, found))

    def _on_body(self, p: Array, R: Array, found: list[contact_model.Distance], gammas: list[Array]) -> Array:
        total = np.zeros((*p.shape[:-1], 6))
        for distance, gamma in zip(found, gammas, strict=True):
            total = total + contact_model.wrench(distance, p, gamma)
        result = np.zeros((*p.shape[:-1], self.scene.model.nv))
        w = self.scene.body_v
        result[..., w : w + 3] = total[..., :3]
        result[..., w + 3 : w + 6] = np.einsum("...ji,...j->...i", R, total[..., 3:])
        return result

    # --- linearization --------------------------------------------------------------------------

    def linearize(self, about: Trajectory) -> Linearization:
        """Central differences over each interval, chained to control steps."""
        steps, per = len(about.inputs), self.intervals
        count = steps * per
        rows = self.states + self.inputs
        eps = self._eps()
        batch = np.concatenate([np.diag(eps), -np.diag(eps)])
        states = np.zeros((count, 2 * rows, self._size))
        controls = np.zeros((count, 2 * rows, self.substeps, len(self.scale) + self.scene.model.nv))
        phi_z = np.zeros((steps + 1, self.pairs, self.states))
        for i in range(count):
            u = about.inputs[i // per]
            states[i], controls[i], rates = self._perturbed(about.knots[i], about.commands[i], u, batch)
            if i % per == 0:
                phi_z[i // per] = rates
        phi_z[-1] = self._phi_rates(about.knots[-1], self._distances(about.knots[-1]))
        ends = self._run(states.reshape(-1, self._size), controls.reshape(-1, *controls.shape[2:]))
        ends = ends.reshape(count, 2 * rows, self._size)
        A, B = np.zeros((steps, self.states, self.states)), np.zeros((steps, self.states, self.inputs))
        A[:] = np.eye(self.states)
        for i in range(count):
            change = self._differences(about.knots[i + 1], ends[i])
            jacobian = ((change[:rows] - change[rows:]) / (2.0 * eps[:, None])).T
            self._exact_commands(jacobian)
            a, b = jacobian[:, : self.states], jacobian[:, self.states :]
            j = i // per
            A[j], B[j] = a @ A[j], a @ B[j] + b
        return Linearization(A=A, B=B, phi_z=phi_z)

    def _eps(self) -> Array:
        steps, n = self.differences, self.n
        joints = np.concatenate([np.full(n, steps.position), np.full(n, steps.velocity)])
        body = np.concatenate([np.full(6, steps.position), np.full(6, steps.velocity)])
        return np.concatenate([joints, body, np.full(self.inputs, steps.inputs)])

    def _perturbed(self, state: Array, command: Array, u: Array, batch: Array) -> tuple[Array, Array, Array]:
        """States, controls and dφ/dz of one interval; batch: (B, z + u) deviations."""
        n, nq, actuated = self.n, self.scene.model.nq, self.scene.actuated
        z, du = batch[:, : self.states], batch[:, self.states :]
        states = np.repeat(state[None], len(batch), axis=0)
        states[:, _TIME + actuated.q] += z[:, :n]
        states[:, _TIME + nq + actuated.v] += z[:, n : 2 * n]
        b, w = _TIME + self.scene.body_q, _TIME + nq + self.scene.body_v
        states[:, b : b + 3] += z[:, 2 * n : 2 * n + 3]
        states[:, b + 3 : b + 7] = _turned(state[b + 3 : b + 7], z[:, 2 * n + 3 : 2 * n + 6])
        states[:, w : w + 6] += z[:, 2 * n + 6 :]
        commands = command + z[:, : 2 * n]
        inputs = u + du
        found = self._distances(state)
        rates = self._phi_rates(state, found)
        p, _ = self._pose()
        moved_p, moved_R = p + z[:, 2 * n : 2 * n + 3], _matrices(states[:, b + 3 : b + 7])
        moved = []
        for pair, body in self._geometries:
            center, support = self._data.geom_xpos[pair.geom], self._support(pair, _matrices(state[b + 3 : b + 7]))
            Jp, Jr = self._jacobians(center, body)
            turn = z[:, :n] @ Jr.T
            moved.append(
                contact_model.distance(
                    pair.face, moved_p, moved_R, center + z[:, :n] @ Jp.T, support + np.cross(turn, support)
                )
            )
        generalized = self._on_body(moved_p, moved_R, moved, self._forces(inputs, moved))
        return states, self._controls(commands, inputs, generalized), rates

    def _jacobians(self, point: Array, body: int) -> tuple[Array, Array]:
        """(3, n) each: of a robot's point, linear and angular, by the driven joints. The kinematics are placed."""
        model = self.scene.model
        Jp, Jr = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jac(model, self._data, Jp, Jr, point, body)
        return Jp[:, self.scene.actuated.v], Jr[:, self.scene.actuated.v]

    def _phi_rates(self, state: Array, found: list[contact_model.Distance]) -> Array:
        """(pairs, z) dφ/dz; the kinematics are placed."""
        n = self.n
        p, R = self._pose()
        rates = np.zeros((self.pairs, self.states))
        for i, ((pair, body), d) in enumerate(zip(self._geometries, found, strict=True)):
            Jp, Jr = self._jacobians(self._data.geom_xpos[pair.geom], body)
            rates[i, :n] = d.linear @ Jp + d.angular @ Jr
            rates[i, 2 * n : 2 * n + 3] = -d.linear
            rates[i, 2 * n + 3 : 2 * n + 6] = (-np.cross(d.point - p, d.linear) - d.angular) @ R
        return rates

    def _differences(self, reference: Array, states: Array) -> Array:
        """(B, z) deviations of states from a reference; the places of velocity-driven joints are filled elsewhere."""
        n, nq, actuated = self.n, self.scene.model.nq, self.scene.actuated
        change = states - reference
        z = np.zeros((len(states), self.states))
        z[:, :n], z[:, n : 2 * n] = change[:, _TIME + actuated.q], change[:, _TIME + nq + actuated.v]
        b, w = _TIME + self.scene.body_q, _TIME + nq + self.scene.body_v
        z[:, 2 * n : 2 * n + 3] = change[:, b : b + 3]
        z[:, 2 * n + 3 : 2 * n + 6] = _turn_between(reference[b + 3 : b + 7], states[:, b + 3 : b + 7])
        z[:, 2 * n + 6 :] = change[:, w : w + 6]
        return z

    def _exact_commands(self, jacobian: Array) -> None:
        """A commanded joint is a double integrator, whatever it touches."""
        n, t = self.n, self.h * self.substeps
        for j in np.flatnonzero(self.scene.actuated.velocity_driven):
            jacobian[[j, n + j]] = 0.0
            jacobian[j, j] = jacobian[n + j, n + j] = 1.0
            jacobian[j, n + j] = t
            jacobian[j, self.states + j] = 0.5 * t * t * self.scale[j]
            jacobian[n + j, self.states + j] = t * self.scale[j]


def _matrices(q: Array) -> Array:
    """(..., 3, 3) of unit quaternions w x y z."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def _product(a: Array, b: Array) -> Array:
    """Of quaternions w x y z."""
    aw, av, bw, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    w = aw * bw - np.sum(av * bv, axis=-1, keepdims=True)
    return np.concatenate([w, aw * bv + bw * av + np.cross(av, bv)], axis=-1)


def _turned(q: Array, v: Array) -> Array:
    """(B, 4) q turned by small rotation vectors (B, 3) in its own frame."""
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    half = 0.5 * np.sinc(angle / (2.0 * np.pi)) * v
    return _product(np.broadcast_to(q, (len(v), 4)), np.concatenate([np.cos(angle / 2.0), half], axis=-1))


def _turn_between(reference: Array, q: Array) -> Array:
    """(B, 3) small rotation vectors in the frame of the reference."""
    inverse = reference * np.array([1.0, -1.0, -1.0, -1.0])
    d = _product(np.broadcast_to(inverse, q.shape), q)
    return 2.0 * np.sign(np.where(d[:, :1] == 0.0, 1.0, d[:, :1])) * d[:, 1:]
