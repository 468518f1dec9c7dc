"""The scene of a task: the simulated world as the MuJoCo plugin builds it, and what only planning needs.

That is: drives with a servo or an effort instead of the plugin's motors, weight that these need not carry, contacts
that are smooth enough to be differentiated, faces, and which geometries may touch: robot geometries of the pairs, the
body and other free objects with each other and with fixed objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.from_workcell import hardware_part
from robot_rt_control.hardware.mujoco.robot import UrdfRobot
from robot_rt_control.hardware.mujoco.world_model import Surface, build_world
from robot_rt_control.hardware.world.of_workcell import world_of
from robot_rt_control.model.robot.urdf import Mimic
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.planning.scene.actuated import Actuated
from robot_rt_control.planning.scene.body import ChainJoint, FreeBody, LinkBody
from robot_rt_control.planning.scene.contact_model import Face, faces_of, patch_face
from robot_rt_control.planning.scene.scene_start import refuse_penetration, start_positions, start_state
from robot_rt_control.planning.task import TIME_STEP, PairGroup, Task
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError, unknown

Array = NDArray[np.float64]

_CONTACT_TIME = 0.02
"""[s] time constant of contacts, at least twice the time step."""
_IMPEDANCE = (0.01, 0.95, 0.001, 0.5, 2.0)
"""Contact forces grow from nothing over the first millimetre. With MuJoCo's default, 0.9 at touch, a sliding box hops
by micrometres, and each hop multiplies the derivatives of an interval by 10 to 20."""
_SERVO_FREQUENCY = 60.0
"""[rad/s] natural frequency of a velocity-driven joint's servo, critically damped at the start configuration."""
_FRICTION_RATIO = 10.0
"""How much stiffer friction is than the contact itself."""


@dataclass(frozen=True, kw_only=True)
class ScenePair:
    """A contact pair with its MuJoCo geometry."""

    name: str
    """`<part>.<link> <object>.<face>`"""
    geom: int
    face: Face
    """A face of the body, or of a fixed object: then what moves is the geometry, and it carries the body."""
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
    tools: dict[str, str] = field(default_factory=dict)
    """Part → the tool that is on, of the driven parts that list tools."""
    links: tuple[int, ...] = ()
    """Geometries of the robots. Those in no pair collide with nothing here: clearance.py looks at them."""
    objects: tuple[int, ...] = ()
    """Geometries of all objects."""
    unchecked: tuple[str, ...] = ()
    """Links with a shape that MuJoCo cannot read, so nobody knows what they touch."""


def is_free(scene: Scene) -> bool:
    """Whether the body is an object, and no link of a robot."""
    return isinstance(scene.motion, FreeBody)


def build_scene(task: Task) -> Scene:
    """The scene of a task.

    Raises:
        DefinitionError: the task names something that the workcell does not have, the workcell has something that
            cannot be simulated here, or the start is outside limits or in penetration.
    """
    workcell = load_workcell(task.workcell).with_tools(task.tools)
    try:
        return _Builder(task, workcell).build()
    except HardwareError as error:
        raise DefinitionError(error.what, expected=error.expected, got=error.got, hint=error.hint) from error


@dataclass(frozen=True, kw_only=True)
class _Drive:
    """What drives a joint of a robot: a part, or another joint that it follows."""

    part: PartDescription
    index: int
    """Of the part's joint."""
    joint: str
    """MuJoCo's name."""
    mimic: Mimic | None = None

    @property
    def leader(self) -> str:
        """The part's joint."""
        return self.part.joint_names[self.index]


class _Builder:
    def __init__(self, task: Task, workcell: Workcell) -> None:
        self.task, self.workcell, self.world = task, workcell, world_of(workcell)
        self.objects = {thing.name: thing for thing in self.world.objects}
        self._refuse_springs()
        step = task.control_step / np.ceil(task.control_step / TIME_STEP - 1e-9)
        parts = [hardware_part(part) for part in workcell.parts if part.urdf is not None]
        self.made = build_world(f"workcell {workcell.name!r}", parts, self.world, step=float(step), drawn=False)
        its = [robot.name for robot in self.made.robots.values()]
        self.robots = {robot.name: robot for robot in self.made.urdf_robots if robot.name in its}
        self.links = {f"{name}.{link}": robot for name, robot in self.robots.items() for link in robot.urdf.links}
        self.wanted = {self._of_robot(group.robot) for group in task.pairs}
        self.body = self._of_robot(task.body)
        self.drives: list[_Drive] = []
        self.free_joints: dict[str, tuple[float, float]] = {}
        """Joints of no part: the lower and upper limit."""

    def build(self) -> Scene:
        option = self.made.spec.option
        option.impratio, option.tolerance = _FRICTION_RATIO, 1e-14  # differences by 10 µm see what the solver leaves
        for body in self.made.spec.bodies:
            body.mocap = False  # nobody puts elsewhere what is fixed
        self._check_links()
        self._check_body()
        for robot in self.made.urdf_robots:
            self._find_drives(robot)
        self.drives.sort(key=lambda drive: drive.mimic is not None)
        for drive in self.drives:
            self._add_drive(drive)
        roles = {surface.geom: self._role(surface) for surface in self.made.surfaces}
        for i, surface in enumerate(self.made.surfaces):
            if roles[surface.geom] == "body":  # a link too: its own robot may touch it
                self.made.surfaces[i] = replace(surface, owner=self.body)
        for first, second in self.made.touching():
            role, other = roles[first.geom], roles[second.geom]
            if role and other and (role != other or role == "loose"):
                pair = self.made.add_pair(first, second)
                pair.solref, pair.solimp = [_CONTACT_TIME, 1.0], _IMPEDANCE
        return self._scene(self.made.compiled(), roles)

    def _refuse_springs(self) -> None:
        for tool in self.world.tools:
            if tool.spring is not None:
                expected = "a tool without spring: the planner does not simulate springs"
                raise DefinitionError(f"tool {tool.name!r}", expected=expected)

    def _of_robot(self, link: str) -> str:
        """`<part>.<link>` by the part that the robot is named after: each part of it may name its links."""
        part, dot, name = link.partition(".")
        return f"{self.made.robots[part].name}.{name}" if dot and part in self.made.robots else link

    def _check_links(self) -> None:
        """The links of the pairs, and a body that is touched itself, have shapes."""
        for name in sorted(self.wanted | ({self.body} & self.links.keys() if self.task.patches else set())):
            if name not in self.links:
                raise DefinitionError(f"pairs: {name!r}", expected=unknown("link", name, self.links))
            robot, link = self.links[name], name.partition(".")[2]
            robot.bodies.refuse_unreadable([link])
            if link not in {its for its, _, _ in robot.bodies.geoms}:
                raise DefinitionError(f"pairs: {name!r}", expected="a link with a collision shape", got="none")

    def _check_body(self) -> None:
        """The body is a free object with faces, or a link of a robot."""
        name = self.task.body
        if self.body in self.links:
            return
        if name not in self.objects:
            expected = unknown("object or link", name, [*self.objects, *self.links])
            raise DefinitionError(f"body {name!r}", expected=expected)
        thing = self.objects[name]
        if thing.fixed or not faces_of(thing):
            got = "a fixed one" if thing.fixed else "another shape"
            expected = "a free box or cylinder, whose faces have names"
            raise DefinitionError(f"body {name!r}", expected=expected, got=got)

    def _role(self, surface: Surface) -> str:
        """robot, body, loose or fixed; empty: a link that is in no pair, so clearance.py looks at it."""
        if surface.owner in self.robots:
            link = f"{surface.owner}.{surface.link}"
            return "robot" if link in self.wanted else "body" if self.task.patches and link == self.body else ""
        return "body" if surface.owner == self.task.body else "loose" if surface.moves else "fixed"

    # --- drives ---------------------------------------------------------------------------------

    def _find_drives(self, robot: UrdfRobot) -> None:
        """And take away the weight that drives would carry: not that of what hangs from a joint that nothing drives."""
        driven = self._driven(robot)
        swinging: set[str] = set()
        for link, body in robot.bodies.bodies.items():
            joint = robot.urdf.parent_joint.get(link)
            if joint is not None and joint.type != "fixed":
                if joint.name in driven:
                    self.drives.append(driven[joint.name])
                else:
                    limits = (-np.inf, np.inf) if joint.type == "continuous" else (joint.lower, joint.upper)
                    self.free_joints[f"{robot.name}.{joint.name}"] = limits
                    swinging.add(link)
            if joint is not None and joint.parent in swinging:
                swinging.add(link)
            body.gravcomp = 1.0 if robot.name in self.robots and link not in swinging else 0.0

    def _driven(self, robot: UrdfRobot) -> Mapping[str, _Drive]:
        """By joint. A joint that follows one is driven as that is, unless it belongs to a part itself."""
        found: dict[str, _Drive] = {}
        for part in self.workcell.parts:
            if self.made.robots.get(part.name) is robot:
                for i, name in enumerate(part.joint_names):
                    found[name] = _Drive(part=part, index=i, joint=f"{robot.name}.{name}")
                for mimic in part.followers:
                    i, joint = part.joint_names.index(mimic.joint), f"{robot.name}.{mimic.name}"
                    found.setdefault(mimic.name, _Drive(part=part, index=i, joint=joint, mimic=mimic))
        return found

    def _add_drive(self, drive: _Drive) -> None:
        spec, effort = self.made.spec, float(drive.part.record.effort_limit[drive.index])
        velocity = self.task.controls.get(drive.part.name, "velocity") == "velocity"
        if drive.mimic is not None and not velocity:
            what = f"part {drive.part.name!r}: control"
            got = f"effort, which does not move {drive.mimic.name!r} along"
            raise DefinitionError(what, expected="velocity, as a joint follows one of its joints", got=got)
        joint = spec.joint(drive.joint)
        joint.limited = False  # the optimizer keeps the limits, which are the workcell's
        if np.isfinite(effort):
            joint.actfrclimited, joint.actfrcrange = True, [-effort, effort]
        actuator = spec.add_actuator(name=drive.joint, target=drive.joint)
        actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
        actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED
        if velocity:
            actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE  # gains follow once the inertia is known

    # --- compiled -------------------------------------------------------------------------------

    def _scene(self, model: mujoco.MjModel, roles: Mapping[str, str]) -> Scene:
        actuated = self._actuated(model)
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, self.body)
        motion = self._motion(model)
        qpos = start_state(self.task, model, actuated, self.free_joints, motion)
        _set_gains(model, qpos, actuated)
        refuse_penetration(model, qpos)
        friction = {"body": 0.0, "fixed": 0.0}
        for surface in self.made.surfaces:
            role = roles[surface.geom]
            friction[role] = max(surface.friction, friction.get(role, 0.0))
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
            body_friction=friction["body"] * friction["fixed"],
            gravity=float(np.linalg.norm(self.world.gravity)),
            pairs=tuple(pair for group in self.task.pairs for pair in self._pairs_of(model, group, free)),
            digest=self.workcell.digest,
            tools={d.part.name: d.part.tool_name(d.part.start_tool) for d in self.drives if d.part.tools},
            links=tuple(model.geom(geom).id for geom, role in roles.items() if role in ("robot", "")),
            objects=tuple(model.geom(geom).id for geom, role in roles.items() if role not in ("robot", "")),
            unchecked=tuple(f"{name}.{link}" for name, its in self.robots.items() for link in its.bodies.unreadable),
        )

    def _motion(self, model: mujoco.MjModel) -> FreeBody | LinkBody:
        if self.body not in self.links:
            found = model.joint(self.body)
            return FreeBody(q=int(found.qposadr[0]), v=int(found.dofadr[0]))
        robot, link = self.links[self.body], self.body.partition(".")[2]
        X = self.workcell.part(robot.name).root.matrix
        chain = []
        for joint in robot.urdf.path_to(robot.urdf.root, link):
            X = X @ joint.X_PJ
            if joint.type == "fixed":
                continue
            if f"{robot.name}.{joint.name}" not in self.free_joints:
                expected = "a free object, or a link that only joints of no part move"
                raise DefinitionError(f"body {self.task.body!r}", expected=expected, got=f"joint {joint.name!r}")
            found = model.joint(f"{robot.name}.{joint.name}")
            q, v = int(found.qposadr[0]), int(found.dofadr[0])
            chain.append(ChainJoint(X_PJ=X, prismatic=joint.type == "prismatic", axis=joint.axis, q=q, v=v))
            X = np.eye(4)
        if not chain:
            expected = "a free object, or a link that joints of no part move"
            raise DefinitionError(f"body {self.task.body!r}", expected=expected, got="a fixed link")
        return LinkBody(chain=tuple(chain), X_JL=X)

    def _pairs_of(self, model: mujoco.MjModel, group: PairGroup, free: bool) -> list[ScenePair]:
        geom = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, f"{self._of_robot(group.robot)}/0")
        # Faces of a body that is free, else `<object>.<face>` of fixed objects; and the body's patches.
        owners = [self.objects[self.task.body]] if free else [thing for thing in self.objects.values() if thing.fixed]
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
        joints = [model.joint(drive.joint) for drive in self.drives]
        own = [(drive.part, drive.index, drive.leader) for drive in self.drives if drive.mimic is None]
        names = [f"{part.name}.{name}" for part, _, name in own]
        leaders = [names.index(f"{drive.part.name}.{drive.leader}") for drive in self.drives]
        moved_v, rates = np.array([int(joint.dofadr[0]) for joint in joints], np.intp), np.zeros((model.nv, len(own)))
        rates[moved_v, leaders] = [drive.mimic.multiplier if drive.mimic else 1.0 for drive in self.drives]

        def values(field: str) -> Array:
            return np.array([float(getattr(part.record, field)[i]) for part, i, _ in own])

        controls = [self.task.controls.get(part.name, "velocity") for part, _, _ in own]
        return Actuated(
            names=tuple(names),
            velocity_driven=np.array([control == "velocity" for control in controls]),
            moved_q=np.array([int(joint.qposadr[0]) for joint in joints], np.intp),
            moved_v=moved_v,
            leaders=np.array(leaders, np.intp),
            rates=rates,
            offset=np.array([drive.mimic.offset if drive.mimic else 0.0 for drive in self.drives]),
            lower=values("position_lower"),
            upper=values("position_upper"),
            velocity=values("velocity_limit"),
            acceleration=values("acceleration_limit"),
            effort=values("effort_limit"),
            start=start_positions(self.task.start, own),
        )


def _set_gains(model: mujoco.MjModel, qpos: Array, actuated: Actuated) -> None:
    """Servo gains that go with the inertia that each joint moves at the start."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    for i, v in enumerate(actuated.moved_v):
        if actuated.velocity_driven[actuated.leaders[i]]:
            stiffness = M[v, v] * _SERVO_FREQUENCY**2
            model.actuator_gainprm[i, 0] = stiffness * actuated.ratio[i]
            bias = stiffness * actuated.offset[i], -stiffness, -2.0 * M[v, v] * _SERVO_FREQUENCY
            model.actuator_biasprm[i, :3] = bias
        else:
            model.actuator_gainprm[i, 0] = 1.0
