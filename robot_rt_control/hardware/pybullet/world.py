"""The simulated world: a PyBullet client of its own, with objects and robots by name."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import pybullet

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.pybullet.parameters import ObjectParameters, PyBulletParameters, SurfaceParameters
from robot_rt_control.hardware.pybullet.shapes import shapes_of
from robot_rt_control.hardware.pybullet.tools import write_with_tools
from robot_rt_control.model.paths import resolve_path
from robot_rt_control.model.pose import Pose
from robot_rt_control.vocabulary.errors import HardwareError, unknown

BASE_LINK = -1
"""PyBullet's index of a body's root link."""


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

    def __init__(self, info: HardwareInfo, parameters: PyBulletParameters) -> None:
        self._info, self._parameters = info, parameters
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.client: int = pybullet.connect(pybullet.GUI if parameters.gui else pybullet.DIRECT)
        if self.client < 0:
            raise HardwareError(f"hardware {info.name!r}: PyBullet refused a connection", got=f"{self.client}")
        try:
            self.substeps = self._substeps()
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

    def _substeps(self) -> int:
        period, timestep = self._info.period_s, self._parameters.world.timestep or self._info.period_s
        substeps = round(period / timestep)
        if substeps < 1 or abs(substeps * timestep - period) > 1e-9 * period:
            raise HardwareError(
                f"hardware {self._info.name!r}: world.timestep",
                expected=f"the period {period} s or a whole fraction of it",
                got=f"{timestep} s",
            )
        return substeps

    # --- objects --------------------------------------------------------------------------------

    def _add_object(self, thing: ObjectParameters) -> int:
        pose = thing.pose
        item = f"hardware {self._info.name!r}, object {thing.name!r}"
        if thing.urdf is not None or thing.plane:
            path = resolve_path(thing.urdf or "pybullet_data://plane.urdf", Path.cwd(), item)
            body = self._load(path, pose, fixed=thing.fixed or bool(thing.plane), item=item)
            if thing.mass is not None and not thing.plane and not thing.fixed:
                pybullet.changeDynamics(body, BASE_LINK, mass=thing.mass, physicsClientId=self.client)
        else:
            body = self._add_shape(thing, pose)
        # A robot's link moves other bodies only if those may not sleep.
        changes = {"activationState": pybullet.ACTIVATION_STATE_DISABLE_SLEEPING}
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
            baseMass=0.0 if thing.fixed or thing.profile is not None else thing.mass or 1.0,
            baseCollisionShapeIndex=pybullet.createCollisionShape(physicsClientId=self.client, **shape),
            baseVisualShapeIndex=pybullet.createVisualShape(physicsClientId=self.client, **visual),
            basePosition=pose.position,
            baseOrientation=pose.orientation,
            physicsClientId=self.client,
        )

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
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE if self._parameters.world.inertia == "urdf" else 0
        place = pose.position, pose.orientation
        try:
            body = pybullet.loadURDF(
                str(path), *place, useFixedBase=fixed, flags=flags, physicsClientId=self.client
            )
        except pybullet.error as error:
            raise HardwareError(f"{item}: PyBullet cannot load {path}", got=str(error)) from error
        if body < 0:
            raise HardwareError(f"{item}: PyBullet cannot load {path}")
        return body

    # --- robots ---------------------------------------------------------------------------------

    def _add_robots(self) -> dict[str, Robot]:
        """Part name → its robot."""
        robots: dict[str, Robot] = {}
        loaded: dict[tuple[Path, Pose, str | None], Robot] = {}
        for part in self._info.parts:
            if part.urdf is None:
                continue
            item = f"hardware {self._info.name!r}, part {part.name!r}"
            path = resolve_path(part.urdf, Path.cwd(), item)
            path = self._with_tools(path, part.name)
            key = (path, part.base, part.base_link)
            if key not in loaded:
                loaded[key] = self._load_robot(path, part, item)
            robots[part.name] = loaded[key]
        self._refuse_foreign_tools(robots)
        for part in self._info.parts:
            if part.mounted_on in robots:
                robots[part.name] = robots[part.mounted_on]
            elif part.urdf is None and part.joint_names:
                robots[part.name] = self._find_robot(part, robots)
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
            if free:
                pybullet.setJointMotorControlArray(
                    robot.body,
                    free,
                    pybullet.VELOCITY_CONTROL,
                    forces=[0.0] * len(free),
                    physicsClientId=self.client,
                )

    def _with_tools(self, path: Path, part: str) -> Path:
        """The robot's file or, where tools are mounted on it, another one with them."""
        tools = [tool for tool in self._parameters.world.tools if tool.part_of == part]
        if not tools:
            return path
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="robot_rt_control_")
        extended = Path(self._folder.name) / f"{part}.urdf"
        write_with_tools(path, tools, extended, f"hardware {self._info.name!r}")
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
        position, orientation = pybullet.multiplyTransforms(
            part.base.position, part.base.orientation, *root_in_base
        )
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
            pybullet.changeDynamics(
                body, index, linearDamping=0.0, angularDamping=0.0, physicsClientId=self.client
            )
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

    def _find_robot(self, part: HardwarePart, robots: dict[str, Robot]) -> Robot:
        item = f"hardware {self._info.name!r}, part {part.name!r}"
        distinct = {robot.body: robot for robot in robots.values()}
        having = [robot for robot in distinct.values() if all(joint in robot.joints for joint in part.joint_names)]
        if len(having) != 1:
            raise HardwareError(
                f"{item} has no URDF of its own",
                expected="one robot that has its joints " + ", ".join(part.joint_names),
                got=f"{len(having)}",
                hint="Give the part a URDF, or say in the workcell which part it is mounted_on",
            )
        return having[0]

    # --- queries --------------------------------------------------------------------------------

    def link_pose(
        self, body: int, link: int
    ) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
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

    def object_pose(self, name: str) -> Pose:
        """X_WO: of an object's frame in the world."""
        position, orientation = self.link_pose(self._object(name), BASE_LINK)
        return Pose(position=position, orientation=orientation)

    def move_object(self, name: str, pose: Pose) -> None:
        """Put an object somewhere else, at rest."""
        body = self._object(name)
        dynamics = pybullet.getDynamicsInfo(body, BASE_LINK, physicsClientId=self.client)
        center = pybullet.multiplyTransforms(pose.position, pose.orientation, dynamics[3], dynamics[4])
        pybullet.resetBasePositionAndOrientation(body, *center, physicsClientId=self.client)
        pybullet.resetBaseVelocity(body, (0, 0, 0), (0, 0, 0), physicsClientId=self.client)

    def move_link(self, robot: Robot, link: int, pose: Pose) -> None:
        """Put a whole robot so that one of its links is there, its joints as they are: for pictures."""
        client = self.client
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
