"""The scene of a task in MuJoCo: the robots and the world that the PyBullet plugin is given, for the planner.

Both engines shall mean the same: masses, inertias, joints and damping are the URDF's, friction of a pair is PyBullet's
product, joints of no part swing free. Only geometries that may touch in the task collide: robot geometries of the
pairs, the body and other free objects with each other and with fixed objects. What cannot be simulated here is refused.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.parameters import checked
from robot_rt_control.hardware.pybullet.parameters import ObjectParameters, PyBulletParameters, WorldParameters
from robot_rt_control.hardware.pybullet.tools import write_with_tools
from robot_rt_control.model.part_description import PartDescription
from robot_rt_control.model.robot_description import body_of
from robot_rt_control.model.urdf import MOVABLE, Urdf, UrdfJoint
from robot_rt_control.model.urdf_file import urdf_file
from robot_rt_control.model.urdf_reader import read_urdf
from robot_rt_control.model.workcell import Workcell, load_workcell
from robot_rt_control.planning.body import ChainJoint, FreeBody, LinkBody
from robot_rt_control.planning.contact_model import Face, patch_face
from robot_rt_control.planning.scene_shapes import add_object, add_shape, faces_of, is_readable, quaternion, wxyz
from robot_rt_control.planning.scene_start import refuse_penetration, start_positions, start_state
from robot_rt_control.planning.task import TIME_STEP, PairGroup, Task
from robot_rt_control.planning.urdf_shapes import (
    DEFAULT_FRICTION,
    CollisionShape,
    collision_shapes,
    joint_dynamics,
    lateral_friction,
)
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

Array = NDArray[np.float64]

_CONTACT_TIME = 0.02
"""[s] time constant of contacts, at least twice the time step."""
_IMPEDANCE = (0.01, 0.95, 0.001, 0.5, 2.0)
"""Contact forces grow from nothing over the first millimetre. With MuJoCo's default, 0.9 at touch, a sliding box hops
by micrometres, and each hop multiplies the derivatives of an interval by 10 to 20."""
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
    """`<part>.<link> <object>.<face>`"""
    geom: int
    face: Face
    """Of the body, or of a fixed object: then what moves is the geometry, and it carries the body."""
    curvature: float
    fixed: tuple[Array, Array] | None = None
    """p_WO (3,) [m] and R_WO (3, 3) of the fixed object; None: the face is the body's."""

    @property
    def thing(self) -> str:
        """The object whose face it is."""
        return self.name.partition(" ")[2].rpartition(".")[0]

    def push(self, R_WB: Array) -> Array:
        """(3,) direction of the virtual force on the body: into its face, or outward from the fixed object."""
        return -R_WB @ self.face.axes[0] if self.fixed is None else self.fixed[1] @ self.face.axes[0]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A compiled scene at its start."""

    model: mujoco.MjModel
    qpos: Array
    """(nq,) start."""
    actuated: Actuated
    body: int
    motion: FreeBody | LinkBody
    """How the body's pose and twist follow from qpos and qvel."""
    body_q: int
    """First of a free body's seven places in qpos; -1 for a link."""
    body_v: int
    """First of a free body's six places in qvel; -1 for a link."""
    body_mass: float
    """[kg] with all that hangs from it."""
    body_friction: float
    """Greatest friction coefficient of the body with a fixed object."""
    gravity: float
    pairs: tuple[ScenePair, ...]
    digest: int
    """The workcell's."""
    links: tuple[int, ...] = ()
    """Geometries of the robots. Those in no pair collide with nothing here: clearance.py looks at them."""
    objects: tuple[int, ...] = ()
    """Geometries of all objects."""
    unchecked: tuple[str, ...] = ()
    """Links with a shape that MuJoCo cannot read, so nobody knows what they touch."""


def is_free(scene: Scene) -> bool:
    """Whether the body is an object, and no link of a robot."""
    joint = int(scene.model.body_jntadr[scene.body])
    return joint >= 0 and int(scene.model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_FREE)


def build_scene(task: Task) -> Scene:
    """The scene of a task.

    Raises:
        DefinitionError: the task names something that the workcell does not have, the workcell has something that
            cannot be simulated here, or the start is outside limits or in penetration.
        HardwareError: the world's parameters are not valid.
    """
    workcell = load_workcell(task.workcell, "pybullet")
    return _Builder(task, workcell).build()


class _Builder:
    def __init__(self, task: Task, workcell: Workcell) -> None:
        self.task, self.workcell = task, workcell
        self.spec = mujoco.MjSpec()
        self.colliding: list[tuple[str, float, str]] = []
        """Geometry, friction, and what it is: robot, body, loose or fixed."""
        self.free_joints: dict[str, tuple[float, float]] = {}
        """Joints of no part: the lower and upper limit."""
        self.joints: list[tuple[PartDescription, int, str]] = []
        self.links: dict[str, tuple[Urdf, str]] = {}
        """`<part>.<link>` → its URDF and link."""
        self.link_shapes: list[str] = []
        """Geometries of all links."""
        self.unchecked: list[str] = []
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
        spec.compiler.autolimits, spec.compiler.degree = False, False
        wanted = self._wanted_links()
        for part in self.workcell.parts:
            if part.urdf is not None and part.mounted_on is None:
                self._add_robot(part, wanted)
        for link in wanted:
            if link not in self.links:
                raise DefinitionError(f"pairs: {link!r}", expected=unknown("link", link, self.links))
        self._check_body()
        self._add_objects()
        self._add_pairs()
        return self._scene(spec.compile())

    def _wanted_links(self) -> set[str]:
        return {self._of_body(group.robot) for group in self.task.pairs}

    def _of_body(self, link: str) -> str:
        """`<part>.<link>` by the part whose URDF it is of: each part that is mounted on it may name its links."""
        part, dot, name = link.partition(".")
        by_name = {p.name: p for p in self.workcell.parts}
        return f"{body_of(by_name[part], self.workcell.parts).name}.{name}" if dot and part in by_name else link

    @property
    def _patched(self) -> bool:
        """Whether the body has patches: it is then touched itself, even if it is a link."""
        return bool(self.task.patches)

    def _objects(self) -> dict[str, ObjectParameters]:
        return {thing.name: thing for thing in self.world.objects}

    def _check_body(self) -> None:
        """The body is a free object with faces, or a link of a robot."""
        name, objects = self.task.body, self._objects()
        if self._of_body(name) in self.links:
            return
        if name not in objects:
            raise DefinitionError(f"body {name!r}", expected=unknown("object or link", name, [*objects, *self.links]))
        thing = objects[name]
        if thing.fixed or not faces_of(thing):
            got = "a fixed one" if thing.fixed else "another shape"
            what = f"body {name!r}"
            raise DefinitionError(what, expected="a free box or cylinder, whose faces have names", got=got)

    # --- robots ---------------------------------------------------------------------------------

    def _add_robot(self, part: PartDescription, wanted: set[str]) -> None:
        assert part.urdf is not None
        urdf = self._with_tools(part)
        driven = {name: (p, i) for p in self._sharing(part) for i, name in enumerate(p.joint_names)}
        self._refuse_followers(part, urdf)
        self._add_link(self.spec.worldbody, urdf, part, driven, joint_dynamics(urdf), wanted)

    def _sharing(self, part: PartDescription) -> list[PartDescription]:
        """The part, and those mounted on it."""
        found = [part]
        for other in self.workcell.parts:
            if other.mounted_on in {p.name for p in found}:
                found.append(other)
        return found

    def _refuse_followers(self, part: PartDescription, urdf: Urdf) -> None:
        for joint in urdf.joints.values():
            if joint.mimic is not None:
                what = f"part {part.name!r}, joint {joint.name!r}"
                expected = "a joint of its own: the planner does not simulate <mimic>"
                raise DefinitionError(what, expected=expected, got=f"one that follows {joint.mimic.joint!r}")

    def _with_tools(self, part: PartDescription) -> Urdf:
        assert part.urdf is not None
        tools = [tool for tool in self.world.tools if tool.part_of == part.name]
        for tool in tools:
            if tool.spring is not None:
                expected = "a tool without spring: the planner does not simulate springs"
                raise DefinitionError(f"tool {tool.name!r}", expected=expected)
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
        driven: dict[str, tuple[PartDescription, int]],
        dynamics: dict[str, tuple[float, float]],
        wanted: set[str],
        joint: UrdfJoint | None = None,
        free: bool = False,
    ) -> None:
        """A link and what hangs from it; `free`: from a joint of no part, and `joint` is before it."""
        link, X = (urdf.root, part.root.matrix) if joint is None else (joint.child, joint.X_PJ)
        name = f"{part.name}.{link}"
        self.links[name] = urdf, link
        body = parent.add_body(name=name, pos=X[:3, 3], quat=quaternion(X))
        self._add_mass(body, urdf, link, part)
        if joint is not None and joint.type != "fixed":
            if joint.name in driven:
                self._add_joint(body, joint, *driven[joint.name], dynamics)
            else:
                self._add_free_joint(body, joint, part, dynamics)
                free = True
        body.gravcomp = 0.0 if free else 1.0  # no drive holds what hangs from a free joint
        if name in wanted or (self._patched and name == self._of_body(self.task.body)):
            friction = self._surface_friction(part.name, link, lateral_friction(urdf, link))
            shapes = collision_shapes(urdf, link)
            if not shapes:
                raise DefinitionError(f"pairs: {name!r}", expected="a link with a collision shape", got="none")
            for i, shape in enumerate(shapes):
                add_shape(self.spec, body, f"{name}/{i}", shape)
                self.colliding.append((f"{name}/{i}", friction, "robot" if name in wanted else "body"))
                if name in wanted:
                    self.link_shapes.append(f"{name}/{i}")
        else:
            self._add_others(body, name, collision_shapes(urdf, link))
        for child in urdf.child_joints[link]:
            self._add_link(body, urdf, part, driven, dynamics, wanted, child, free)

    def _add_others(self, body: mujoco.MjsBody, name: str, shapes: tuple[CollisionShape, ...]) -> None:
        for i, shape in enumerate(shapes):
            if not is_readable(shape):
                self.unchecked.append(name)
                continue
            add_shape(self.spec, body, f"{name}/{i}", shape)
            self.link_shapes.append(f"{name}/{i}")

    def _add_mass(self, body: mujoco.MjsBody, urdf: Urdf, link: str, part: PartDescription) -> None:
        inertial = urdf.links[link]
        if inertial is None and _moves(urdf, link):
            what = f"part {part.name!r}, link {link!r}"
            expected = "<inertial>: PyBullet gives a link without it 1 kg; a mass of 0 is possible"
            raise DefinitionError(what, expected=expected, got="none")
        if inertial is not None and inertial.mass > 0.0:
            body.explicitinertial = True
            body.mass, body.ipos = inertial.mass, inertial.center_of_mass
            tensor = inertial.inertia
            body.fullinertia = [*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]

    def _add_free_joint(
        self, body: mujoco.MjsBody, joint: UrdfJoint, part: PartDescription, dynamics: dict[str, tuple[float, float]]
    ) -> None:
        if joint.type not in MOVABLE:
            what = f"part {part.name!r}, joint {joint.name!r} of no part"
            raise DefinitionError(what, expected=" or ".join(MOVABLE), got=joint.type)
        added = self._add_axis(body, joint, f"{part.name}.{joint.name}", dynamics)
        lower, upper = (-np.inf, np.inf) if joint.type == "continuous" else (joint.lower, joint.upper)
        self.free_joints[f"{part.name}.{joint.name}"] = lower, upper
        if np.isfinite(lower) and np.isfinite(upper):
            added.limited, added.range = True, [lower, upper]

    def _add_axis(
        self, body: mujoco.MjsBody, joint: UrdfJoint, name: str, dynamics: dict[str, tuple[float, float]]
    ) -> mujoco.MjsJoint:
        kind = mujoco.mjtJoint.mjJNT_SLIDE if joint.type == "prismatic" else mujoco.mjtJoint.mjJNT_HINGE
        damping, friction = dynamics.get(joint.name, (0.0, 0.0))
        added = body.add_joint(name=name, type=kind, axis=joint.axis, frictionloss=friction)
        added.damping[0] = damping
        return added

    def _add_joint(
        self,
        body: mujoco.MjsBody,
        joint: UrdfJoint,
        part: PartDescription,
        index: int,
        dynamics: dict[str, tuple[float, float]],
    ) -> None:
        name, effort = f"{part.name}.{joint.name}", float(part.record.effort_limit[index])
        added = self._add_axis(body, joint, name, dynamics)
        if np.isfinite(effort):
            added.actfrclimited, added.actfrcrange = True, [-effort, effort]
        actuator = self.spec.add_actuator(name=name, target=name)
        actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
        actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED
        if self.task.controls.get(part.name, "velocity") == "velocity":
            actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE  # gains follow once the inertia is known
        self.joints.append((part, index, joint.name))

    def _surface_friction(self, body: str, link: str | None, usual: float) -> float:
        for surface in self.world.surfaces:
            if surface.body == body and surface.link in (None, link) and surface.friction is not None:
                usual = surface.friction
        return usual

    # --- objects --------------------------------------------------------------------------------

    def _add_objects(self) -> None:
        for thing in self.world.objects:
            fixed = thing.fixed or thing.plane is not None or thing.profile is not None
            if fixed:
                role, names = "fixed", add_object(self.spec, self.spec.worldbody, thing, thing.pose.matrix)
            else:
                role = "body" if thing.name == self.task.body else "loose"
                body = self.spec.worldbody.add_body(name=thing.name, pos=thing.pose.position, quat=wxyz(thing.pose))
                body.add_freejoint(name=thing.name)
                names = add_object(self.spec, body, thing, np.eye(4))
            usual = _PLANE_FRICTION if thing.plane else DEFAULT_FRICTION
            friction = self._surface_friction(thing.name, None, usual if thing.friction is None else thing.friction)
            self.colliding += [(name, friction, role) for name in names]

    def _add_pairs(self) -> None:
        for i, (first, friction, role) in enumerate(self.colliding):
            for second, other, other_role in self.colliding[i + 1 :]:
                if role == other_role and role != "loose":
                    continue
                slide = max(friction * other, _SMALLEST_FRICTION)
                pair = self.spec.add_pair(geomname1=first, geomname2=second, condim=3)
                pair.friction = [slide, slide, _SMALLEST_FRICTION, _SMALLEST_FRICTION, _SMALLEST_FRICTION]
                pair.solref, pair.solimp = [_CONTACT_TIME, 1.0], _IMPEDANCE

    # --- compiled -------------------------------------------------------------------------------

    def _scene(self, model: mujoco.MjModel) -> Scene:
        actuated = self._actuated(model)
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, self._of_body(self.task.body))
        motion = self._motion(model, body)
        qpos = start_state(self.task, model, (actuated.q, actuated.start), self.free_joints, motion)
        _set_gains(model, qpos, actuated)
        refuse_penetration(model, qpos)
        mine = [friction for name, friction, role in self.colliding if role == "body"]
        fixed = [friction for _, friction, role in self.colliding if role == "fixed"]
        free = isinstance(motion, FreeBody)
        return Scene(
            model=model,
            qpos=qpos,
            actuated=actuated,
            body=body,
            motion=motion,
            body_q=motion.q if isinstance(motion, FreeBody) else -1,
            body_v=motion.v if isinstance(motion, FreeBody) else -1,
            body_mass=float(model.body_subtreemass[body]),
            body_friction=max(mine, default=0.0) * max(fixed, default=0.0),
            gravity=float(np.linalg.norm(self.world.gravity)),
            pairs=tuple(pair for group in self.task.pairs for pair in self._pairs_of(model, group, free)),
            digest=self.workcell.digest,
            links=tuple(model.geom(name).id for name in self.link_shapes),
            objects=tuple(model.geom(name).id for name, _, role in self.colliding if role != "robot"),
            unchecked=tuple(dict.fromkeys(self.unchecked)),
        )

    def _motion(self, model: mujoco.MjModel, body: int) -> FreeBody | LinkBody:
        if self._of_body(self.task.body) in self.links:
            return self._link_motion(model)
        joint = int(model.body_jntadr[body])
        return FreeBody(q=int(model.jnt_qposadr[joint]), v=int(model.jnt_dofadr[joint]))

    def _link_motion(self, model: mujoco.MjModel) -> LinkBody:
        name = self._of_body(self.task.body)
        urdf, link = self.links[name]
        part = name.removesuffix(f".{link}")
        path: list[UrdfJoint] = []
        while link in urdf.parent_joint:
            path.insert(0, urdf.parent_joint[link])
            link = path[0].parent
        X = next(p for p in self.workcell.parts if p.name == part).root.matrix
        chain = []
        for joint in path:
            X = X @ joint.X_PJ
            if joint.type == "fixed":
                continue
            if f"{part}.{joint.name}" not in self.free_joints:
                expected = "a free object, or a link that only joints of no part move"
                raise DefinitionError(f"body {self.task.body!r}", expected=expected, got=f"joint {joint.name!r}")
            i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, f"{part}.{joint.name}")
            q, v = int(model.jnt_qposadr[i]), int(model.jnt_dofadr[i])
            chain.append(ChainJoint(X_PJ=X, prismatic=joint.type == "prismatic", axis=joint.axis, q=q, v=v))
            X = np.eye(4)
        if not chain:
            expected = "a free object, or a link that joints of no part move"
            raise DefinitionError(f"body {self.task.body!r}", expected=expected, got="a fixed link")
        return LinkBody(chain=tuple(chain), X_JL=X)

    def _pairs_of(self, model: mujoco.MjModel, group: PairGroup, free: bool) -> list[ScenePair]:
        geom = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, f"{self._of_body(group.robot)}/0")
        objects = self._objects()
        # Faces of a body that is free, else `<object>.<face>` of fixed objects; and the body's patches.
        owners = [objects[self.task.body]] if free else [thing for thing in objects.values() if thing.fixed]
        faces: dict[str, tuple[str, Face, tuple[Array, Array] | None]] = {}
        for thing in owners:
            X = thing.pose.matrix
            for face, its in faces_of(thing).items():
                fixed = None if free else (X[:3, 3], X[:3, :3])
                faces[face if free else f"{thing.name}.{face}"] = thing.name, its, fixed
        for patch in self.task.patches:
            faces[patch.name] = self.task.body, patch_face(patch.name, patch.pose.matrix, patch.size), None
        pairs = []
        for name in group.faces:
            if name not in faces:
                what = f"pairs, {group.robot!r}: face {name!r}"
                raise DefinitionError(what, expected=unknown("face", name, faces))
            owner, its, fixed = faces[name]
            label = f"{group.robot} {owner}.{its.name}"
            pairs.append(ScenePair(name=label, geom=geom, face=its, curvature=group.curvature, fixed=fixed))
        return pairs

    # --- driven joints --------------------------------------------------------------------------

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
            start=start_positions(self.task.start, self.joints),
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


def _moves(urdf: Urdf, link: str) -> bool:
    """Whether a joint moves the link."""
    while link in urdf.parent_joint:
        joint = urdf.parent_joint[link]
        if joint.type != "fixed":
            return True
        link = joint.parent
    return False
