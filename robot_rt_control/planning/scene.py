"""The scene of a task in MuJoCo: the robots and the world that the PyBullet plugin is given, for the planner.

Both engines shall mean the same: masses, inertias, joints and damping are the URDF's, friction of a pair is PyBullet's
product. Only geometries that may touch in the task collide: robot geometries of the pairs and the body with each other
and with fixed objects.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.parameters import checked
from robot_rt_control.hardware.pybullet.parameters import ObjectParameters, PyBulletParameters, WorldParameters
from robot_rt_control.hardware.pybullet.tools import write_with_tools
from robot_rt_control.model.part_description import PartDescription
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.urdf import Urdf
from robot_rt_control.model.urdf_file import urdf_file
from robot_rt_control.model.urdf_reader import read_urdf
from robot_rt_control.model.workcell import Workcell, load_workcell
from robot_rt_control.planning.contact_model import Face, box_faces
from robot_rt_control.planning.task import TIME_STEP, Task
from robot_rt_control.planning.urdf_shapes import (
    DEFAULT_FRICTION,
    CollisionShape,
    collision_shapes,
    joint_dynamics,
    lateral_friction,
)
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

Array = NDArray[np.float64]

_CONTACT_TIME = 0.01
"""[s] time constant of contacts: twice the time step, the stiffest that MuJoCo integrates safely."""
_SERVO_FREQUENCY = 60.0
"""[rad/s] natural frequency of a velocity-driven joint's servo, critically damped at the start configuration."""
_PLANE_FRICTION = 1.0
"""What plane.urdf of pybullet_data says."""
_SMALLEST_FRICTION = 1e-5


@dataclass(frozen=True, kw_only=True)
class Actuated:
    """The joints that the task drives, in the order of its inputs; arrays are (n,)."""

    names: tuple[str, ...]
    """`<part>.<joint>`"""
    velocity_driven: NDArray[np.bool_]
    q: NDArray[np.intp]
    """Index of each in qpos."""
    v: NDArray[np.intp]
    """Index of each in qvel."""
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array
    start: Array


@dataclass(frozen=True, kw_only=True)
class ScenePair:
    """A contact pair with its MuJoCo geometry."""

    name: str
    """`<part>.<link> <body>.<face>`"""
    geom: int
    face: Face
    curvature: float


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A compiled scene at its start."""

    model: mujoco.MjModel
    qpos: Array
    """(nq,) start."""
    actuated: Actuated
    body: int
    body_q: int
    """First of the body's seven places in qpos."""
    body_v: int
    """First of the body's six places in qvel."""
    body_mass: float
    body_friction: float
    """Greatest friction coefficient of the body with a fixed object."""
    gravity: float
    pairs: tuple[ScenePair, ...]
    digest: int
    """The workcell's."""


def build_scene(task: Task) -> Scene:
    """The scene of a task.

    Raises:
        DefinitionError: the task names something that the workcell does not have, or that cannot be simulated here.
        HardwareError: the world's parameters are not valid.
    """
    workcell = load_workcell(task.workcell, "pybullet")
    return _Builder(task, workcell).build()


class _Builder:
    def __init__(self, task: Task, workcell: Workcell) -> None:
        self.task, self.workcell = task, workcell
        self.spec = mujoco.MjSpec()
        self.colliding: list[tuple[str, float, str]] = []
        """Geometry, friction, and what it is: robot, body or fixed."""
        self.joints: list[tuple[PartDescription, int, str]] = []
        self.links: dict[str, tuple[Urdf, str]] = {}
        """`<part>.<link>` → its URDF and link."""
        self.world = self._world()

    def _world(self) -> WorldParameters:
        for device in self.workcell.devices:
            if device.plugin == "pybullet":
                where = f"device {device.name!r}, parameters of the pybullet plugin"
                return checked(PyBulletParameters, device.config, where).world
        what = f"workcell {self.workcell.name!r}"
        raise DefinitionError(what, expected="a device on the plugin 'pybullet'", got="none")

    def build(self) -> Scene:
        spec, task = self.spec, self.task
        spec.option.timestep = task.control_step / np.ceil(task.control_step / TIME_STEP - 1e-9)
        spec.option.gravity = self.world.gravity
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 10.0
        spec.option.tolerance = 1e-14  # differences by 10 µm see what the solver leaves
        # Else a simulation that diverges would go on from the start, with finite numbers.
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        spec.compiler.autolimits = False
        wanted = self._wanted_links()
        for part in self.workcell.parts:
            if part.urdf is not None and part.mounted_on is None:
                self._add_robot(part, wanted)
        for link in wanted:
            if link not in self.links:
                raise DefinitionError(f"pairs: {link!r}", expected=unknown("link", link, self.links))
        free = self._add_objects()
        self._add_pairs()
        model = spec.compile()
        return self._scene(model, free)

    def _wanted_links(self) -> set[str]:
        return {group.robot for group in self.task.pairs}

    # --- robots ---------------------------------------------------------------------------------

    def _add_robot(self, part: PartDescription, wanted: set[str]) -> None:
        assert part.urdf is not None
        urdf = self._with_tools(part)
        driven = {name: (p, i) for p in self._sharing(part) for i, name in enumerate(p.joint_names)}
        damping = joint_dynamics(urdf)
        self._add_link(self.spec.worldbody, urdf, part, urdf.root, part.root.matrix, driven, damping, wanted)

    def _sharing(self, part: PartDescription) -> list[PartDescription]:
        """The part, and those mounted on it."""
        found = [part]
        for other in self.workcell.parts:
            if other.mounted_on in {p.name for p in found}:
                found.append(other)
        return found

    def _with_tools(self, part: PartDescription) -> Urdf:
        assert part.urdf is not None
        tools = [tool for tool in self.world.tools if tool.part_of == part.name]
        if not tools:
            return part.urdf
        with tempfile.TemporaryDirectory(prefix="robot_rt_control_") as folder:
            file = Path(folder) / f"{part.name}.urdf"
            write_with_tools(urdf_file(part.urdf), tools, file, f"part {part.name!r}")
            return read_urdf(file)

    def _add_link(
        self,
        parent: mujoco.MjsBody,
        urdf: Urdf,
        part: PartDescription,
        link: str,
        X: Array,
        driven: dict[str, tuple[PartDescription, int]],
        dynamics: dict[str, tuple[float, float]],
        wanted: set[str],
        joint: str | None = None,
    ) -> None:
        name = f"{part.name}.{link}"
        self.links[name] = urdf, link
        body = parent.add_body(name=name, pos=X[:3, 3], quat=_quaternion(X), gravcomp=1.0)
        inertial = urdf.links[link]
        if inertial is not None and inertial.mass > 0.0:
            body.explicitinertial = True
            body.mass, body.ipos = inertial.mass, inertial.center_of_mass
            tensor = inertial.inertia
            body.fullinertia = [*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]
        if joint is not None and joint in driven:
            self._add_joint(body, urdf, *driven[joint], joint, dynamics)
        if name in wanted:
            friction = self._surface_friction(part.name, link, lateral_friction(urdf, link))
            shapes = collision_shapes(urdf, link)
            if not shapes:
                raise DefinitionError(f"pairs: {name!r}", expected="a link with a collision shape", got="none")
            for i, shape in enumerate(shapes):
                self._add_shape(body, f"{name}/{i}", shape)
                self.colliding.append((f"{name}/{i}", friction, "robot"))
        for child in urdf.child_joints[link]:
            self._add_link(body, urdf, part, child.child, child.X_PJ, driven, dynamics, wanted, child.name)

    def _add_joint(
        self,
        body: mujoco.MjsBody,
        urdf: Urdf,
        part: PartDescription,
        index: int,
        name: str,
        dynamics: dict[str, tuple[float, float]],
    ) -> None:
        found = urdf.joint(name)
        kind = mujoco.mjtJoint.mjJNT_SLIDE if found.type == "prismatic" else mujoco.mjtJoint.mjJNT_HINGE
        damping, friction = dynamics.get(name, (0.0, 0.0))
        effort = float(part.record.effort_limit[index])
        joint = body.add_joint(name=f"{part.name}.{name}", type=kind, axis=found.axis, frictionloss=friction)
        joint.damping[0] = damping
        if np.isfinite(effort):
            joint.actfrclimited, joint.actfrcrange = True, [-effort, effort]
        actuator = self.spec.add_actuator(name=f"{part.name}.{name}", target=f"{part.name}.{name}")
        actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
        actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED
        if self.task.controls.get(part.name, "velocity") == "velocity":
            actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE  # gains follow once the inertia is known
        self.joints.append((part, index, name))

    def _surface_friction(self, body: str, link: str | None, usual: float) -> float:
        for surface in self.world.surfaces:
            if surface.body == body and surface.link in (None, link) and surface.friction is not None:
                usual = surface.friction
        return usual

    # --- objects --------------------------------------------------------------------------------

    def _add_objects(self) -> ObjectParameters:
        names = [thing.name for thing in self.world.objects]
        if self.task.body not in names:
            raise DefinitionError(f"body {self.task.body!r}", expected=unknown("object", self.task.body, names))
        for thing in self.world.objects:
            if thing.name == self.task.body:
                found = thing
                if thing.fixed or thing.box is None:
                    got = "a fixed one" if thing.fixed else "another shape"
                    what = f"body {thing.name!r}"
                    raise DefinitionError(what, expected="a free box, whose faces have names", got=got)
                body = self.spec.worldbody.add_body(name=thing.name, pos=thing.pose.position, quat=_wxyz(thing.pose))
                body.add_freejoint(name=thing.name)
                self._add_object_shape(body, thing, np.eye(4), "body")
            elif thing.fixed or thing.plane:
                self._add_object_shape(self.spec.worldbody, thing, thing.pose.matrix, "fixed")
            # Other free objects, profiles and URDFs are not in the scene yet.
        return found

    def _add_object_shape(self, body: mujoco.MjsBody, thing: ObjectParameters, X: Array, role: str) -> None:
        usual = _PLANE_FRICTION if thing.plane else DEFAULT_FRICTION
        friction = self._surface_friction(thing.name, None, usual if thing.friction is None else thing.friction)
        if thing.plane:
            body.add_geom(
                name=thing.name, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[15, 15, 1], pos=X[:3, 3], quat=_quaternion(X),
                contype=0, conaffinity=0,
            )  # fmt: skip
        elif thing.box is not None:
            shape = CollisionShape(kind="box", size=thing.box.size, X_LS=X)
            self._add_shape(body, thing.name, shape, thing.mass or 1.0)
        elif thing.sphere is not None:
            shape = CollisionShape(kind="sphere", size=(thing.sphere.radius,), X_LS=X)
            self._add_shape(body, thing.name, shape, thing.mass or 1.0)
        elif thing.cylinder is not None:
            shape = CollisionShape(kind="cylinder", size=(thing.cylinder.radius, thing.cylinder.height), X_LS=X)
            self._add_shape(body, thing.name, shape, thing.mass or 1.0)
        else:
            return
        self.colliding.append((thing.name, friction, role))

    def _add_shape(self, body: mujoco.MjsBody, name: str, shape: CollisionShape, mass: float = 0.0) -> None:
        geom = body.add_geom(name=name, contype=0, conaffinity=0, mass=mass)
        geom.pos, geom.quat = shape.X_LS[:3, 3], _quaternion(shape.X_LS)
        if shape.kind == "box":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [edge / 2 for edge in shape.size]
        elif shape.kind == "sphere":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, [shape.size[0], 0, 0]
        elif shape.kind == "cylinder":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [shape.size[0], shape.size[1] / 2, 0]
        else:
            mesh = self.spec.add_mesh(name=name, file=str(shape.file), scale=shape.size)
            geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, mesh.name

    def _add_pairs(self) -> None:
        for i, (first, friction, role) in enumerate(self.colliding):
            for second, other, other_role in self.colliding[i + 1 :]:
                if role == other_role:
                    continue
                slide = max(friction * other, _SMALLEST_FRICTION)
                pair = self.spec.add_pair(geomname1=first, geomname2=second, condim=3)
                pair.friction = [slide, slide, _SMALLEST_FRICTION, _SMALLEST_FRICTION, _SMALLEST_FRICTION]
                pair.solref = [_CONTACT_TIME, 1.0]

    # --- compiled -------------------------------------------------------------------------------

    def _scene(self, model: mujoco.MjModel, thing: ObjectParameters) -> Scene:
        actuated = self._actuated(model)
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, thing.name)
        joint = int(model.body_jntadr[body])
        qpos = model.qpos0.copy()
        qpos[actuated.q] = actuated.start
        _set_gains(model, qpos, actuated)
        mine = next(friction for name, friction, _ in self.colliding if name == thing.name)
        fixed = [friction for _, friction, role in self.colliding if role == "fixed"]
        assert thing.box is not None
        return Scene(
            model=model,
            qpos=qpos,
            actuated=actuated,
            body=body,
            body_q=int(model.jnt_qposadr[joint]),
            body_v=int(model.jnt_dofadr[joint]),
            body_mass=float(model.body_subtreemass[body]),
            body_friction=mine * max(fixed, default=0.0),
            gravity=float(np.linalg.norm(self.world.gravity)),
            pairs=tuple(self._scene_pairs(model, box_faces(thing.box.size))),
            digest=self.workcell.digest,
        )

    def _scene_pairs(self, model: mujoco.MjModel, faces: dict[str, Face]) -> list[ScenePair]:
        found = []
        for group in self.task.pairs:
            geom = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, f"{group.robot}/0")
            for face in group.faces:
                if face not in faces:
                    what = f"pairs, {group.robot!r}: face {face!r}"
                    raise DefinitionError(what, expected=unknown("face", face, faces))
                name = f"{group.robot} {self.task.body}.{face}"
                found.append(ScenePair(name=name, geom=geom, face=faces[face], curvature=group.curvature))
        return found

    def _actuated(self, model: mujoco.MjModel) -> Actuated:
        names = [f"{part.name}.{name}" for part, _, name in self.joints]
        ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in names]

        def values(field: str) -> Array:
            return np.array([float(getattr(part.record, field)[i]) for part, i, _ in self.joints])

        controls = [self.task.controls.get(part.name, "velocity") for part, _, _ in self.joints]
        return Actuated(
            names=tuple(names),
            velocity_driven=np.array([control == "velocity" for control in controls]),
            q=np.array([model.jnt_qposadr[i] for i in ids], dtype=np.intp),
            v=np.array([model.jnt_dofadr[i] for i in ids], dtype=np.intp),
            lower=values("position_lower"),
            upper=values("position_upper"),
            velocity=values("velocity_limit"),
            acceleration=values("acceleration_limit"),
            effort=values("effort_limit"),
            start=np.array([float(part.start_position[i]) for part, i, _ in self.joints]),
        )


def _set_gains(model: mujoco.MjModel, qpos: Array, actuated: Actuated) -> None:
    """Servo gains that go with the inertia that each joint moves at the start."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    for i, v in enumerate(actuated.v):
        if actuated.velocity_driven[i]:
            stiffness = M[v, v] * _SERVO_FREQUENCY**2
            model.actuator_gainprm[i, 0] = stiffness
            model.actuator_biasprm[i, :3] = 0.0, -stiffness, -2.0 * M[v, v] * _SERVO_FREQUENCY
        else:
            model.actuator_gainprm[i, 0] = 1.0


def _wxyz(pose: Pose) -> Sequence[float]:
    x, y, z, w = pose.orientation
    return w, x, y, z


def _quaternion(X: Array) -> Sequence[float]:
    return _wxyz(Pose.of_matrix(X))
