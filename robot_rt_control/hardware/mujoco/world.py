"""The simulated world in MuJoCo: a model and its data, with objects and robots by name.

Three things that MuJoCo does not have are written into the rows of its constraints between the two halves of a step,
`mj_step1` and `mj_step2`, so that its solver finds them together with all contacts:

- a motor of a joint that reaches its goal in one step with as much effort as it has. MuJoCo's friction in a joint is
  such a constraint with the speed 0 as its goal; here the goal is any speed.
- surfaces whose stiffness is in N/m and whose damping is in Ns/m: see soft_surfaces.py.
- a weld whose force has a bound: `_bound_welds` solves once more if it is exceeded.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.mujoco.actuators import Follower, PartActuators, mimics_of
from robot_rt_control.hardware.mujoco.contacts import Contacts
from robot_rt_control.hardware.mujoco.failures import failure_of, no_memory
from robot_rt_control.hardware.mujoco.io import BodyGrip, BodyJoint
from robot_rt_control.hardware.mujoco.parameters import MujocoParameters
from robot_rt_control.hardware.mujoco.robot import Robot
from robot_rt_control.hardware.mujoco.sensors import Ray, SiteWrench
from robot_rt_control.hardware.mujoco.shapes import DRAWN_GROUPS, wxyz
from robot_rt_control.hardware.mujoco.simulated_model import build_simulated, grip_name
from robot_rt_control.hardware.mujoco.soft_surfaces import SoftSurfaces
from robot_rt_control.hardware.mujoco.world_model import WorldModel, body_name
from robot_rt_control.hardware.parameters import Vector
from robot_rt_control.hardware.world.io import TouchedForce
from robot_rt_control.hardware.world.io_parameters import GripOutput
from robot_rt_control.hardware.world.sensors import Frame
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.workcell.mount import Mount
from robot_rt_control.vocabulary.errors import HardwareError, unknown

Array = NDArray[np.float64]
_log = logging.getLogger(__name__)

_LEAST_OPACITY = 1e-3
"""A ray would not see what has none at all."""
_MOTOR_IMPEDANCE = (0.9999, 0.9999, 0.001, 0.5, 2.0)
"""The most that MuJoCo allows: a motor that holds a joint lets it give way by 1e-4 of what the load alone would."""
_SLACK = 1e15
"""Inverse stiffness of a row that holds nothing."""


class MujocoWorld:
    """A world of its own; several may live side by side in one process.

    Args:
        info: the device.
        parameters: checked parameters.

    Attributes:
        model, data: MuJoCo's.
        robots: part → its robot.
        objects: name → its robot if it has links, else None.
        motor_velocity: (nv,) [rad/s or m/s] that motors reach in the next step.
        motors: (nv,) the first `n_motors[0]` are the places in qvel of joints with a motor.
        motor_references: (nv,) [rad/s² or m/s²] for each of these, what its motor aims at in the next step.
        contacts: what touched in the last step.
        motor_effort: (nv,) [Nm or N] that motors exerted in the last step.

    Raises:
        HardwareError: a file, link, joint or name is wrong.
    """

    def __init__(self, info: HardwareInfo, parameters: MujocoParameters) -> None:
        self._what = f"hardware {info.name!r}"
        # MuJoCo's own handler would append to a file in the working directory.
        mujoco.set_mju_user_warning(_log.warning)
        self.built: WorldModel = build_simulated(info, parameters)
        self.model = self.built.compiled()
        self.data = mujoco.MjData(self.model)
        self.robots: dict[str, Robot] = self.built.robots
        self.objects: Mapping[str, Robot | None] = self.built.objects
        self.step_s = float(self.model.opt.timestep)
        self.substeps = round(info.period_s / self.step_s)
        model = self.model
        self._collides = np.zeros(model.ngeom, np.bool_)
        self._collides[[self.geom(surface.geom) for surface in self.built.surfaces]] = True
        if parameters.keyframe is not None:
            mujoco.mj_resetDataKeyframe(model, self.data, model.key(parameters.keyframe).id)
        for thing in parameters.world.objects:
            if thing.color is not None:
                self.paint(thing.name, (*thing.color, 1.0)[:4])
        self._damping, self._friction = model.dof_damping.copy(), model.dof_frictionloss.copy()
        self._friction_impedance = model.dof_solimp.copy()
        self._passive, self._has_passive = np.zeros(model.nv), False
        """[Nms/rad or Ns/m] damping of joints with a motor, which the motor has to overcome."""
        self.motor_velocity, self.motor_effort = np.zeros(model.nv), np.zeros(model.nv)
        self.efforts = np.zeros(model.nv)
        """[Nm or N] that act on joints beside motors, in the next step."""
        self.steered: dict[int, BodyJoint] = {}
        """Place in qvel → a joint that no part drives."""
        self._pushes, self._is_pushed = np.zeros(model.nv), False
        self._welds = np.zeros(model.neq)
        """[N] greatest force of each weld that is on, else 0."""
        sheared = {self.geom(surface.geom) for surface in self.built.surfaces if surface.shear}
        self.contacts = Contacts(sheared, is_pyramidal=model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL)
        self._soft = self._soft_surfaces()
        # What every step needs, where MuJoCo has it: to look it up by name takes as long as to use it.
        self._velocity, self._applied, self._warnings = self.data.qvel, self.data.qfrc_applied, self.data.warning.number
        self._no_warnings = self._warnings.tolist()
        self._has_motor = np.zeros(model.nv, np.bool_)
        self.motors, self.n_motors = np.zeros(model.nv, np.int64), np.zeros(1, np.int64)
        self.motor_references = np.zeros(model.nv)
        self._set_motors()
        self._is_changed = True
        self.refresh()

    def _soft_surfaces(self) -> SoftSurfaces:
        softness, damping = [0.0] * self.model.ngeom, [0.0] * self.model.ngeom
        for surface in self.built.surfaces:
            geom = self.geom(surface.geom)
            softness[geom], damping[geom] = surface.softness, surface.damping
        return SoftSurfaces(softness, damping, self.step_s)

    def close(self) -> None:
        """MuJoCo's memory is Python's."""

    # --- steps ----------------------------------------------------------------------------------

    def set_motors(self, dofs: Iterable[int], most: Iterable[float]) -> None:
        """Give joints motors, or take them away.

        Args:
            dofs: their places in qvel.
            most: [Nm or N] effort of each; 0: no motor.
        """
        model = self.model
        for dof, effort in zip(dofs, most, strict=True):
            # The joint's own friction is in the motor: it reaches its goal in spite of it.
            self._has_motor[dof] = effort > 0.0
            model.dof_frictionloss[dof] = min(effort, 1e9) if effort else self._friction[dof]
            model.dof_solimp[dof] = _MOTOR_IMPEDANCE if effort else self._friction_impedance[dof]
            # MuJoCo integrates damping implicitly, after the constraints: it would take away from what motors reach.
            own = self._damping[dof]
            model.dof_damping[dof], self._passive[dof] = (0.0, own) if effort else (own, 0.0)
        self._set_motors()
        self._is_changed = True

    def _set_motors(self) -> None:
        self._has_passive = bool(self._passive.any())
        motors, with_row = np.flatnonzero(self._has_motor), np.flatnonzero(self.model.dof_frictionloss)
        # Joints with friction of their own have rows between those of motors.
        self._motor_rows = None if len(motors) == len(with_row) else np.searchsorted(with_row, motors)
        self.n_motors[0] = len(motors)
        self.motors[: len(motors)] = motors
        self._motors, self._references = motors, self.motor_references[: len(motors)]

    def set_body(self, part: str, link: str, mass: float, moments: Vector) -> None:
        """Give a link of a part's robot another mass [kg] and principal moments [kg m^2] about its own axes. A robot of
        a scene has no links for tools, and keeps what it has."""
        robot = self.robots[part]
        if link not in robot.links:
            return
        body = self.model.body(robot.link(link, part)).id
        model = self.model
        model.body_mass[body], model.body_inertia[body] = mass, moments
        # Of a body without mass, MuJoCo's compiler puts the frame of the inertia elsewhere.
        model.body_ipos[body], model.body_iquat[body], model.body_sameframe[body] = 0.0, (1.0, 0.0, 0.0, 0.0), 0
        mujoco.mj_setConst(model, mujoco.MjData(model))  # it would leave the robot at its zero position
        self._is_changed = True

    def changed(self) -> None:
        """After a change of the state from outside: what follows from it is computed again before it is used."""
        self._is_changed = True

    def refresh(self) -> None:
        """Compute what follows from positions and velocities, if these were changed since.

        Raises:
            HardwareError: MuJoCo has no memory for all contacts.
        """
        if self._is_changed:
            self._is_changed = False
            try:
                mujoco.mj_step1(self.model, self.data)
            except mujoco.FatalError as error:
                raise self._no_memory(error) from error

    def step(self) -> None:
        """One step of the simulation. `motor_references` are up to date.

        Raises:
            HardwareError: it has diverged, or cannot go on for another reason.
        """
        model, data = self.model, self.data
        self.refresh()
        first, n = data.ne, len(self._motors)
        rows = slice(first, first + n) if self._motor_rows is None else first + self._motor_rows
        if self._has_passive:
            np.subtract(self.efforts, self._passive * self._velocity, out=self._applied)
        else:
            self._applied[:] = self.efforts
        if self._is_pushed:
            self._applied += self._pushes
            self._pushes[:] = 0.0
            self._is_pushed = False
        if n:
            data.efc_aref[rows] = self._references
        contact = data.contact if data.ncon else None
        pairs: list[list[int]] = [] if contact is None else contact.geom.tolist()
        if self._soft.exists and contact is not None:
            self._soft.write(data, contact, pairs)
        try:
            if self._welds.any():
                self._bound_welds()
            mujoco.mj_step2(model, data)
            if n:
                self.motor_effort[self._motors] = data.efc_force[rows]
            if contact is not None:
                self.contacts.keep(data, contact, pairs)
            else:
                self.contacts.keep_none()
            mujoco.mj_step1(model, data)
        except mujoco.FatalError as error:
            raise self._no_memory(error) from error
        if self._warnings.tolist() != self._no_warnings:
            raise failure_of(model, data, self._what)

    def _no_memory(self, error: mujoco.FatalError) -> HardwareError:
        return no_memory(self._what, " ".join(str(error).split()))

    def set_weld(self, weld: int, most: float) -> None:
        """Let a weld hold with at most this force [N], or with 0: not at all."""
        self.data.eq_active[weld], self._welds[weld] = most > 0.0, most
        self._is_changed = True

    def _bound_welds(self) -> None:
        """Where the solver needs more than a weld's greatest force, that force takes the place of the weld."""
        model, data = self.model, self.data
        mujoco.mj_fwdActuation(model, data)
        mujoco.mj_fwdAcceleration(model, data)
        mujoco.mj_fwdConstraint(model, data)
        of_welds = data.efc_type[: data.ne] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        numbers = np.where(of_welds, data.efc_id[: data.ne], -1)
        forces = np.zeros(data.nefc)
        for weld in np.flatnonzero(self._welds):
            rows = np.flatnonzero(numbers == weld)
            needed = float(np.linalg.norm(data.efc_force[rows[:3]]))
            if needed > self._welds[weld]:
                forces[rows] = data.efc_force[rows] * self._welds[weld] / needed
                data.efc_R[rows], data.efc_D[rows] = _SLACK, 1.0 / _SLACK
        if forces.any():
            pull = np.zeros(model.nv)
            mujoco.mj_mulJacTVec(model, data, pull, forces)
            data.qfrc_applied += pull

    def push(self, name: str, force: Vector, place: Vector, link: str | None = None) -> None:
        """Let a force [N] act at a place [m], both in the world, in the next step of the simulation."""
        body = self.body(name, f"{self._what}, push", link)
        self.push_body(body, np.array(force), np.array(place))

    def push_body(self, body: int, force: Array, place: Array) -> None:
        """`push`, of the body with this number; arrays (3,)."""
        self.refresh()
        mujoco.mj_applyFT(self.model, self.data, force, np.zeros(3), place, body, self._pushes)
        self._is_pushed = True

    # --- by name --------------------------------------------------------------------------------

    def geom(self, name: str) -> int:
        """Number of a geometry."""
        return int(mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_GEOM, name))

    def body(self, name: str, item: str, link: str | None = None) -> int:
        """Number of an object's body, of a part's robot's root, or of a link of either. Raises: HardwareError."""
        found = body_name(self.built, name, link, item)
        return int(mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, found))

    def geoms(self, name: str, item: str, link: str | None = None) -> NDArray[np.intp]:
        """Geometries that may touch others, of an object, of a part's whole robot, or of one link of it.

        Raises:
            HardwareError: there is none of these names.
        """
        return np.flatnonzero(self._is_of(name, item, link) & self._collides)

    def _is_of(self, name: str, item: str, link: str | None = None) -> NDArray[np.bool_]:
        """(ngeom,) whether each geometry belongs to it, drawn or not."""
        robot = self.robots.get(name) or self.objects.get(name)
        if link is not None or robot is None:
            return np.asarray(self.model.geom_bodyid == self.body(name, item, link))
        return np.isin(self.model.geom_bodyid, [self.body(name, item, each) for each in robot.links])

    def robot(self, part: str, item: str) -> Robot:
        """Robot of a part. Raises: HardwareError."""
        if part not in self.robots:
            raise HardwareError(f"{item}: part {part!r}", expected=unknown("part with joints", part, self.robots))
        return self.robots[part]

    def joint(self, body: str, name: str, item: str) -> tuple[int, int]:
        """Places in qpos and qvel of a joint of a part's robot, or of an object. Raises: HardwareError."""
        robot = self.robots.get(body) or self.objects.get(body)
        if robot is None:
            raise HardwareError(f"{item}: {body!r}", expected=unknown("part or object with joints", body, self.robots))
        number = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, robot.joint(name, item))
        if number < 0:
            raise HardwareError(f"{item}: joint {name!r}", expected="a revolute or prismatic joint", got="a fixed one")
        return int(self.model.jnt_qposadr[number]), int(self.model.jnt_dofadr[number])

    def actuators(self, part: HardwarePart) -> PartActuators | None:
        """The MJCF's actuators that move a part's joints; None: there are none."""
        scene = self.built.scene
        found = None if scene is None else scene.actuators.get(part.name)
        if not found:
            return None
        places = np.array([self.joint(part.name, name, part.name)[0] for name in part.joint_names], np.intp)
        return PartActuators(self.model, self.data, found, len(places), places)

    def followers(self, part: HardwarePart) -> tuple[Follower, ...]:
        """Joints of the part's robot that follow the part's ones."""
        scene = self.built.scene
        return mimics_of(part) if scene is None else scene.followers.get(part.name, ())

    # --- queries --------------------------------------------------------------------------------

    def body_pose(self, body: int) -> Pose:
        """X_WB."""
        self.refresh()
        w, x, y, z = self.data.xquat[body].tolist()
        px, py, pz = self.data.xpos[body].tolist()
        return Pose(position=(px, py, pz), orientation=(x, y, z, w))

    def object_pose(self, name: str, link: str | None = None) -> Pose:
        """X_WO: of an object's frame in the world, or of a link of it."""
        return self.body_pose(self._object(name) if link is None else self.body(name, name, link))

    def part_link_pose(self, part: str, link: str, item: str) -> Pose:
        """X_WL: of a link of a part's robot."""
        self.robot(part, item)
        return self.body_pose(self.body(part, item, link))

    def contact_force(self, one: str, other: str) -> float:
        """[N] Sum of the normal forces between two bodies in the last step: objects, or robots by a part's name."""
        item = f"{self._what}, contact"
        first, second = (self._mask(self.geoms(name, item)) for name in (one, other))
        return self._between(first, second) or 0.0

    def _mask(self, geoms: NDArray[np.intp]) -> NDArray[np.bool_]:
        """(ngeom,) which geometries they are."""
        mask = np.zeros(self.model.ngeom, np.bool_)
        mask[geoms] = True
        return mask

    def _between(self, first: NDArray[np.bool_], second: NDArray[np.bool_] | None) -> float | None:
        """[N] Sum of the normal forces between geometries in the last step; None: nothing touched.

        Args:
            second: None: all that touch the first.
        """
        touching = self.contacts.touching
        if not len(touching):
            return None
        found = first[touching]
        if second is not None:
            found &= second[touching[:, ::-1]]
        both = found.any(axis=1)
        return float(self.contacts.normal_forces[both].sum()) if both.any() else None

    # --- for sensors and io ----------------------------------------------------------------------

    def ray(self, mount: Mount, length: float, item: str) -> Ray:
        body = 0
        if mount.part is not None:
            link = self.robot(mount.part, f"{item}: part_of").link(str(mount.link), item)
            body = int(mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, link))
        return Ray(self.model, self.data, body, mount.pose.matrix, length)

    def frame(self, body: str, link: str | None, item: str) -> Frame:
        number, data = self.body(body, item, link), self.data

        def found() -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
            w, x, y, z = data.xquat[number].tolist()
            px, py, pz = data.xpos[number].tolist()
            return (px, py, pz), (x, y, z, w)

        return found

    def force_torque(self, mount: Mount, joint: str | None, item: str, part: str) -> SiteWrench:
        force, torque = (int(self.model.sensor(f"{part}/{kind}").adr[0]) for kind in ("force", "torque"))
        return SiteWrench(self.data, (force, torque))

    def touched_force(self, body: str, link: str | None, other: str | None, item: str) -> TouchedForce:
        mine = self._mask(self.geoms(body, item, link))
        others = None if other is None else self._mask(self.geoms(other, item))
        return lambda: self._between(mine, others)

    def object_joint(self, body: str, joint: str, item: str) -> BodyJoint:
        self.body(body, item)
        robot = self.robots.get(body) or self.objects.get(body)
        joints = [] if robot is None else robot.movable
        if joint not in joints:
            expected = unknown("revolute or prismatic joint", joint, joints)
            raise HardwareError(f"{item}: joint of {body!r}", expected=expected, got=repr(joint))
        return BodyJoint(self, self.joint(body, joint, item))

    def grip(self, part: str, output: str, given: GripOutput, item: str) -> BodyGrip:
        body = self.body(given.body, item, given.link)
        geoms = np.flatnonzero((self.model.geom_bodyid == body) & self._collides)
        welds = {name: int(self.model.equality(grip_name(part, output, name)).id) for name in given.objects}
        return BodyGrip(self, body, geoms, welds, given)

    def paint(self, name: str, color: tuple[float, ...]) -> None:
        """Give an object a colour, or its root link: red, green, blue and opacity. Raises: HardwareError."""
        self.model.geom_rgba[self.model.geom_bodyid == self._object(name)] = (*color[:3], max(color[3], _LEAST_OPACITY))

    # --- changes --------------------------------------------------------------------------------

    def move_object(self, name: str, pose: Pose) -> None:
        """Put an object somewhere else, at rest."""
        self._put(self._object(name), pose)

    def _put(self, body: int, pose: Pose) -> None:
        model, data = self.model, self.data
        if (place := int(model.body_mocapid[body])) >= 0:
            data.mocap_pos[place], data.mocap_quat[place] = pose.position, wxyz(pose)
        else:
            joint = int(model.body_jntadr[body])
            if joint < 0 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
                raise HardwareError(
                    f"{self._what}: {model.body(body).name!r} cannot be put elsewhere",
                    expected='a body with a free joint, or with mocap="true"',
                    got="one that is fixed in the world" if joint < 0 else "one on another joint",
                )
            q, v = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
            data.qpos[q : q + 3], data.qpos[q + 3 : q + 7] = pose.position, wxyz(pose)
            data.qvel[v : v + 6] = 0.0
        self._is_changed = True

    def _object(self, name: str) -> int:
        if name not in self.objects:
            what = f"{self._what}: object {name!r}"
            raise HardwareError(what, expected=unknown("object", name, self.objects))
        return self.body(name, name)

    def seen_as(self, name: str) -> list[int]:
        """Numbers of an object, of a part's whole robot, or of one `<part>.<link>` in `picture_and_bodies`."""
        part, dot, link = name.partition(".")
        drawn = DRAWN_GROUPS[self.model.geom_group] != 0
        return [int(geom) for geom in np.flatnonzero(self._is_of(part, name, link if dot else None) & drawn)]

    def move_link(self, part: str, name: str, pose: Pose) -> None:
        """Put a whole robot so that one of its links is there, its joints as they are: for pictures."""
        robot = self.robot(part, name)
        root = self.body_pose(self.body(part, name)).matrix
        there = pose.matrix @ np.linalg.inv(self.part_link_pose(part, name, part).matrix) @ root
        self._put(self.body(part, name, robot.root), Pose.of_matrix(there))
