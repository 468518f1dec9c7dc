"""The simulated world: a PyBullet client of its own, with objects and robots by name."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import pybullet

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.parameters import Vector
from robot_rt_control.hardware.pybullet.io import BASE_LINK as BASE_LINK
from robot_rt_control.hardware.pybullet.io import BodyGrip, BodyJoint, ContactQuery
from robot_rt_control.hardware.pybullet.sensors import JointReaction, Ray
from robot_rt_control.hardware.pybullet.shapes import PLANE_COLORS, shapes_of
from robot_rt_control.hardware.world.io_parameters import GripOutput
from robot_rt_control.hardware.world.parameters import ObjectParameters, SimulatorParameters, SurfaceParameters
from robot_rt_control.hardware.world.part_robot import robot_with_joints
from robot_rt_control.hardware.world.png import write_png
from robot_rt_control.hardware.world.sensors import Frame
from robot_rt_control.hardware.world.substeps import substeps_of
from robot_rt_control.hardware.world.tools import listed_tools, write_with_tools
from robot_rt_control.hardware.world.urdf_shapes import PLANE_FRICTION, require_meshes
from robot_rt_control.model.paths import resolve_path
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf_reader import read_urdf
from robot_rt_control.model.workcell.mount import Mount
from robot_rt_control.vocabulary.errors import HardwareError, unknown

_LINK_BITS = 24
"""In PyBullet's pictures of what is seen where: below, the number of the body; above, that of the link and 1."""


@dataclass
class Robot:
    """One URDF in the world, with PyBullet's indices by name."""

    body: int
    joints: dict[str, int]
    links: dict[str, int]

    def joint(self, name: str, item: str) -> int:
        if name not in self.joints:
            raise HardwareError(f"{item}: joint {name!r}", expected=unknown("joint", name, self.joints))
        return self.joints[name]

    def link(self, name: str, item: str) -> int:
        if name not in self.links:
            raise HardwareError(f"{item}: link {name!r}", expected=unknown("link", name, self.links))
        return self.links[name]


class PyBulletWorld:
    """A world of its own; several may live side by side in one process.

    Args:
        info: the device; every part with a URDF becomes a robot with a fixed base. Parts with the same
            URDF and base share one robot.
        parameters: checked parameters.

    Raises:
        HardwareError: a file, link, joint or name is wrong.
    """

    def __init__(self, info: HardwareInfo, parameters: SimulatorParameters) -> None:
        self._info, self._parameters = info, parameters
        self._seen: dict[tuple[int, int], tuple[tuple[float, float, float], tuple[float, float, float, float]]] = {}
        """Body and link → its pose, since the last `look`."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.client: int = pybullet.connect(pybullet.GUI if parameters.gui else pybullet.DIRECT)
        if self.client < 0:
            raise HardwareError(f"hardware {info.name!r}: PyBullet refused a connection", got=f"{self.client}")
        try:
            self.substeps = substeps_of(info, parameters.world.timestep)
            pybullet.setGravity(*parameters.world.gravity, physicsClientId=self.client)
            pybullet.setTimeStep(info.period_s / self.substeps, physicsClientId=self.client)
            # Contact pairs in a fixed order: the same run gives the same bits.
            pybullet.setPhysicsEngineParameter(deterministicOverlappingPairs=1, physicsClientId=self.client)
            self.objects = {thing.name: self._add_object(thing) for thing in parameters.world.objects}
            self.robots = self._add_robots()
            for surface in parameters.world.surfaces:
                self._soften(surface)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the client; may be repeated."""
        if self.client >= 0 and pybullet.isConnected(self.client):
            pybullet.disconnect(self.client)
        self.client = -1
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    # --- objects --------------------------------------------------------------------------------

    def _add_object(self, thing: ObjectParameters) -> int:
        pose = thing.pose
        item = f"hardware {self._info.name!r}, object {thing.name!r}"
        if thing.urdf is not None:
            path = resolve_path(thing.urdf, Path.cwd(), item)
            body = self._load(path, pose, fixed=thing.fixed, item=item)
            if thing.mass is not None and not thing.fixed:
                pybullet.changeDynamics(body, BASE_LINK, mass=thing.mass, physicsClientId=self.client)
            self._release(body, list(range(pybullet.getNumJoints(body, physicsClientId=self.client))))
        else:
            body = self._add_shape(thing, pose)
        # A robot's link moves other bodies only if those may not sleep.
        # By default what flies would lose part of its speed, and so would joints that nothing drives.
        changes = {
            "activationState": pybullet.ACTIVATION_STATE_DISABLE_SLEEPING, "linearDamping": 0.0, "angularDamping": 0.0,
        }  # fmt: skip
        if thing.plane:
            changes["lateralFriction"] = PLANE_FRICTION
            self._chequer(body)
        if thing.friction is not None:
            changes["lateralFriction"] = thing.friction
        pybullet.changeDynamics(body, BASE_LINK, physicsClientId=self.client, **changes)
        if thing.color is not None:
            rgba = (*thing.color, 1.0)[:4]
            pybullet.changeVisualShape(body, BASE_LINK, rgbaColor=rgba, physicsClientId=self.client)
        return body

    def _add_shape(self, thing: ObjectParameters, pose: Pose) -> int:
        shape, visual = shapes_of(thing)
        return pybullet.createMultiBody(
            baseMass=0.0 if thing.fixed or thing.plane or thing.profile is not None else thing.mass or 1.0,
            baseCollisionShapeIndex=pybullet.createCollisionShape(physicsClientId=self.client, **shape),
            baseVisualShapeIndex=pybullet.createVisualShape(physicsClientId=self.client, **visual),
            basePosition=pose.position,
            baseOrientation=pose.orientation,
            physicsClientId=self.client,
        )

    def _chequer(self, body: int) -> None:
        with tempfile.TemporaryDirectory(prefix="robot_rt_control_") as folder:
            file = Path(folder) / "plane.png"
            write_png(PLANE_COLORS, file)
            texture = pybullet.loadTexture(str(file), physicsClientId=self.client)
        pybullet.changeVisualShape(body, BASE_LINK, textureUniqueId=texture, physicsClientId=self.client)

    def _soften(self, surface: SurfaceParameters) -> None:
        item = f"hardware {self._info.name!r}, surface of {surface.body!r}"
        body = self.body(surface.body, item)
        if surface.link is not None:
            links = [self.robot(surface.body, item).link(surface.link, item)]
        else:
            links = list(range(BASE_LINK, pybullet.getNumJoints(body, physicsClientId=self.client)))
        changes = {"contactStiffness": surface.stiffness, "contactDamping": surface.damping}
        if surface.friction is not None:
            changes["lateralFriction"] = surface.friction
        for link in links:
            pybullet.changeDynamics(body, link, physicsClientId=self.client, **changes)

    def _load(self, path: Path, pose: Pose, *, fixed: bool, item: str) -> int:
        require_meshes(read_urdf(path), item)
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE if self._parameters.world.inertia != "shapes" else 0
        place = pose.position, pose.orientation
        try:
            body = pybullet.loadURDF(str(path), *place, useFixedBase=fixed, flags=flags, physicsClientId=self.client)
        except pybullet.error as error:
            raise HardwareError(f"{item}: PyBullet cannot load {path}", got=str(error)) from error
        if body < 0:
            raise HardwareError(f"{item}: PyBullet cannot load {path}")
        return body

    # --- robots ---------------------------------------------------------------------------------

    def _add_robots(self) -> dict[str, Robot]:
        """Part name → its robot."""
        robots: dict[str, Robot] = {}
        loaded: dict[tuple[Path, Pose, str | None, tuple[str, ...]], Robot] = {}
        for part in self._info.parts:
            if part.urdf is None:
                continue
            item = f"hardware {self._info.name!r}, part {part.name!r}"
            path = resolve_path(part.urdf, Path.cwd(), item)
            tools = tuple(tool.name for tool in self._parameters.world.tools if tool.part_of == part.name)
            key = (path, part.base, part.base_link, tools)
            if key not in loaded:
                loaded[key] = self._load_robot(self._with_tools(path, part), part, item)
            robots[part.name] = loaded[key]
        self._refuse_foreign_tools(robots)
        for part in self._info.parts:
            if part.mounted_on in robots:
                robots[part.name] = robots[part.mounted_on]
            elif part.urdf is None and part.joint_names:
                distinct = {robot.body: robot for robot in robots.values()}
                item = f"hardware {self._info.name!r}, part {part.name!r}"
                robots[part.name] = robot_with_joints(part, distinct.values(), item)
        self._free_joints(robots)
        return robots

    def _free_joints(self, robots: Mapping[str, Robot]) -> None:
        """Let joints that belong to no part swing: the simulator's own motors would hold them."""
        driven: dict[int, set[str]] = {robot.body: set() for robot in robots.values()}
        for part in self._info.parts:
            if part.name in robots:
                driven[robots[part.name].body].update(part.joint_names, (m.name for m in part.followers))
        for robot in {robot.body: robot for robot in robots.values()}.values():
            free = [index for name, index in robot.joints.items() if name not in driven[robot.body]]
            self._release(robot.body, free)

    def _release(self, body: int, joints: list[int]) -> None:
        if joints:
            pybullet.setJointMotorControlArray(
                body, joints, pybullet.VELOCITY_CONTROL, forces=[0.0] * len(joints), physicsClientId=self.client
            )

    def _with_tools(self, path: Path, part: HardwarePart) -> Path:
        """The robot's file or, where tools are mounted on it, another one with them."""
        tools = [tool for tool in self._parameters.world.tools if tool.part_of == part.name]
        changing = listed_tools(part, self._info.parts)
        if not tools and not changing:
            return path
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="robot_rt_control_")
        extended = Path(self._folder.name) / f"{part.name}.urdf"
        write_with_tools(path, tools, extended, f"hardware {self._info.name!r}", changing)
        return extended

    def _refuse_foreign_tools(self, mounted: Collection[str]) -> None:
        for tool in self._parameters.world.tools:
            if tool.part_of not in mounted:
                what = f"hardware {self._info.name!r}, tool {tool.name!r}: part_of"
                raise HardwareError(what, expected=unknown("part with a URDF", tool.part_of, mounted))

    def _load_robot(self, path: Path, part: HardwarePart, item: str) -> Robot:
        robot = self._describe(self._load(path, part.base, fixed=True, item=item), path)
        link = robot.link(part.base_link, f"{item}, base_link") if part.base_link else BASE_LINK
        if link == BASE_LINK:
            return robot
        # The base link is not the root: load again so that it, and not the root, stands at the base pose.
        base, root = self.link_pose(robot.body, link), self.link_pose(robot.body, BASE_LINK)
        root_in_base = pybullet.multiplyTransforms(*pybullet.invertTransform(*base), *root)
        position, orientation = pybullet.multiplyTransforms(part.base.position, part.base.orientation, *root_in_base)
        pybullet.removeBody(robot.body, physicsClientId=self.client)
        pose = Pose(position=position, orientation=orientation)
        return self._describe(self._load(path, pose, fixed=True, item=item), path)

    def _describe(self, body: int, path: Path) -> Robot:
        root, _ = pybullet.getBodyInfo(body, physicsClientId=self.client)
        links, joints = {root.decode(): BASE_LINK}, {}
        for index in range(pybullet.getNumJoints(body, physicsClientId=self.client)):
            joint = pybullet.getJointInfo(body, index, physicsClientId=self.client)
            joints[joint[1].decode()] = index
            links[joint[12].decode()] = index
            # Without these the simulator would invent friction that no model has.
            pybullet.changeDynamics(body, index, linearDamping=0.0, angularDamping=0.0, physicsClientId=self.client)
        self._refuse_links_without_contact(body, path)
        return Robot(body, joints, links)

    def _refuse_links_without_contact(self, body: int, path: Path) -> None:
        """PyBullet 3.2.7 takes a link that only fixed joints connect to the first joint's link for immovable, also
        where that first joint moves: it would pass through everything."""
        count = pybullet.getNumJoints(body, physicsClientId=self.client)
        joints = [pybullet.getJointInfo(body, index, physicsClientId=self.client) for index in range(count)]
        if not joints or joints[0][2] == pybullet.JOINT_FIXED:
            return
        for joint in joints[1:]:
            ancestor = joint
            while ancestor[2] == pybullet.JOINT_FIXED and ancestor[16] >= 0:
                ancestor = joints[ancestor[16]]
            if joint[2] != pybullet.JOINT_FIXED or ancestor[0] != 0:
                continue
            if pybullet.getCollisionShapeData(body, joint[0], physicsClientId=self.client):
                raise HardwareError(
                    f"hardware {self._info.name!r}: in {path}, link {joint[12].decode()!r} would touch nothing",
                    expected=f"a fixed joint before {joints[0][1].decode()!r}",
                    hint="PyBullet needs it: put a fixed joint and a link between the root and the first moving joint",
                )

    def set_body(self, part: str, link: str, mass: float, moments: Vector) -> None:
        """Give a link of a part's robot another mass [kg] and principal moments [kg m^2] about its own axes."""
        robot = self.robots[part]
        pybullet.changeDynamics(
            robot.body, robot.link(link, part), mass=mass, localInertiaDiagonal=moments, physicsClientId=self.client
        )

    # --- queries --------------------------------------------------------------------------------

    def link_pose(self, body: int, link: int) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
        """X_WL: position and quaternion x y z w of a link's URDF frame in the world."""
        if link >= 0:
            state = pybullet.getLinkState(body, link, computeForwardKinematics=1, physicsClientId=self.client)
            return state[4], state[5]
        # PyBullet gives the root's center of mass.
        center = pybullet.getBasePositionAndOrientation(body, physicsClientId=self.client)
        dynamics = pybullet.getDynamicsInfo(body, BASE_LINK, physicsClientId=self.client)
        position, orientation = pybullet.multiplyTransforms(
            *center, *pybullet.invertTransform(dynamics[3], dynamics[4])
        )
        return position, orientation

    def body(self, name: str, item: str) -> int:
        """Body of an object, or of a part's robot. Raises: HardwareError."""
        if name in self.objects:
            return self.objects[name]
        if name in self.robots:
            return self.robots[name].body
        raise HardwareError(
            f"{item}: {name!r}", expected=unknown("object or part with joints", name, [*self.objects, *self.robots])
        )

    def robot(self, part: str, item: str) -> Robot:
        """Robot of a part. Raises: HardwareError."""
        if part not in self.robots:
            raise HardwareError(f"{item}: part {part!r}", expected=unknown("part with joints", part, self.robots))
        return self.robots[part]

    def contact_force(self, one: str, other: str) -> float:
        """[N] Sum of the normal forces between two bodies in the last step: objects, or robots by a part's name."""
        item = f"hardware {self._info.name!r}, contact"
        points = pybullet.getContactPoints(
            bodyA=self.body(one, item), bodyB=self.body(other, item), physicsClientId=self.client
        )
        return float(sum(point[9] for point in points))

    def object_pose(self, name: str, link: str | None = None) -> Pose:
        """X_WO: of an object's frame in the world, or of a link of it."""
        index = BASE_LINK if link is None else self._link_of(name, link, f"object {name!r}")
        position, orientation = self.link_pose(self._object(name), index)
        return Pose(position=position, orientation=orientation)

    def part_link_pose(self, part: str, link: str, item: str) -> Pose:
        """X_WL: of a link of a part's robot."""
        robot = self.robot(part, item)
        position, orientation = self.link_pose(robot.body, robot.link(link, item))
        return Pose(position=position, orientation=orientation)

    def touched_force(self, body: str, link: str | None, other: str | None, item: str) -> ContactQuery:
        query = {"bodyA": self.body(body, item)}
        if link is not None:
            query["linkIndexA"] = self._link_of(body, link, item)
        if other is not None:
            query["bodyB"] = self.body(other, item)
        return ContactQuery(self.client, query)

    def object_joint(self, body: str, joint: str, item: str) -> BodyJoint:
        movable = (pybullet.JOINT_REVOLUTE, pybullet.JOINT_PRISMATIC)
        joints = {info[1].decode(): info[0] for info in self._joint_infos(body, item) if info[2] in movable}
        if joint not in joints:
            expected = unknown("revolute or prismatic joint", joint, joints)
            raise HardwareError(f"{item}: joint of {body!r}", expected=expected, got=repr(joint))
        return BodyJoint(self.client, self.body(body, item), int(joints[joint]))

    def ray(self, mount: Mount, length: float, item: str) -> Ray:
        if mount.part is None:
            return Ray(self.client, None, mount.pose, length)
        robot = self.robot(mount.part, f"{item}: part_of")
        return Ray(self.client, self._look_at(robot.body, robot.link(str(mount.link), item)), mount.pose, length)

    def frame(self, body: str, link: str | None, item: str) -> Frame:
        number = self.body(body, item)
        index = BASE_LINK if link is None else self.robot(body, item).link(link, item)
        return self._look_at(number, index)

    def look(self) -> None:
        """Sensors see everything anew: where each link is will be asked once, whoever wants to know."""
        self._seen.clear()

    def _look_at(self, body: int, link: int) -> Frame:
        def found() -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
            pose = self._seen.get((body, link))
            if pose is None:
                pose = self._seen[body, link] = self.link_pose(body, link)
            return pose

        return found

    def force_torque(self, mount: Mount, joint: str | None, item: str, part: str) -> JointReaction:
        robot = self.robot(str(mount.part), f"{item}: part_of")
        # PyBullet gives a link the index of the joint before it.
        index = robot.link(str(mount.link), item) if joint is None else robot.joint(joint, item)
        if index == BASE_LINK:
            raise HardwareError(f"{item}: link {mount.link!r}", expected="a joint's child link", got="the root link")
        return JointReaction(self.client, robot.body, index, mount.pose)

    def grip(self, part: str, output: str, given: GripOutput, item: str) -> BodyGrip:
        link = BASE_LINK if given.link is None else self._link_of(given.body, given.link, item)
        objects = [self.objects[name] for name in given.objects]
        return BodyGrip(self.client, self.body(given.body, item), link, objects, given)

    def paint(self, name: str, color: tuple[float, ...]) -> None:
        pybullet.changeVisualShape(self._object(name), BASE_LINK, rgbaColor=color, physicsClientId=self.client)

    def push(self, name: str, force: Vector, place: Vector, link: str | None = None) -> None:
        item = f"hardware {self._info.name!r}, push"
        body, index = self.body(name, item), BASE_LINK if link is None else self._link_of(name, link, item)
        pybullet.applyExternalForce(body, index, force, place, pybullet.WORLD_FRAME, physicsClientId=self.client)

    def _joint_infos(self, body: str, item: str) -> list[tuple]:
        index = self.body(body, item)
        count = pybullet.getNumJoints(index, physicsClientId=self.client)
        return [pybullet.getJointInfo(index, j, physicsClientId=self.client) for j in range(count)]

    def _link_of(self, body: str, name: str, item: str) -> int:
        root, _ = pybullet.getBodyInfo(self.body(body, item), physicsClientId=self.client)
        links = {root.decode(): BASE_LINK} | {info[12].decode(): info[0] for info in self._joint_infos(body, item)}
        if name not in links:
            raise HardwareError(f"{item}: link of {body!r}", expected=unknown("link", name, links), got=repr(name))
        return int(links[name])

    def move_object(self, name: str, pose: Pose) -> None:
        """Put an object somewhere else, at rest."""
        body = self._object(name)
        dynamics = pybullet.getDynamicsInfo(body, BASE_LINK, physicsClientId=self.client)
        center = pybullet.multiplyTransforms(pose.position, pose.orientation, dynamics[3], dynamics[4])
        pybullet.resetBasePositionAndOrientation(body, *center, physicsClientId=self.client)
        pybullet.resetBaseVelocity(body, (0, 0, 0), (0, 0, 0), physicsClientId=self.client)

    def seen_as(self, name: str) -> list[int]:
        """Numbers of an object, of a part's whole robot, or of one `<part>.<link>` in `picture_and_bodies`."""
        part, dot, link = name.partition(".")
        if dot:
            robot = self.robot(part, name)
            return [robot.body + (robot.link(link, name) + 1 << _LINK_BITS)]
        body = self.body(name, name)
        count = pybullet.getNumJoints(body, physicsClientId=self.client)
        return [body + (link + 1 << _LINK_BITS) for link in range(BASE_LINK, count)]

    def move_link(self, part: str, name: str, pose: Pose) -> None:
        """Put a whole robot so that one of its links is there, its joints as they are: for pictures."""
        client, robot = self.client, self.robot(part, name)
        link = robot.link(name, part)
        there = pybullet.multiplyTransforms(
            pose.position, pose.orientation, *pybullet.invertTransform(*self.link_pose(robot.body, link))
        )
        base = pybullet.getBasePositionAndOrientation(robot.body, physicsClientId=client)
        moved = pybullet.multiplyTransforms(*there, *base)
        pybullet.resetBasePositionAndOrientation(robot.body, *moved, physicsClientId=client)

    def _object(self, name: str) -> int:
        if name not in self.objects:
            what = f"hardware {self._info.name!r}: object {name!r}"
            raise HardwareError(what, expected=unknown("object", name, self.objects))
        return self.objects[name]
