"""A world as a MuJoCo model: robots, objects and surfaces as the workcell describes them.

What the simulating plugin adds is in simulated_model.py, what the planner adds in planning/scene/scene.py.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.hardware.mujoco.inertias import take_from_shapes
from robot_rt_control.hardware.mujoco.looks import add_looks, tile
from robot_rt_control.hardware.mujoco.robot import Robot, UrdfRobot
from robot_rt_control.hardware.mujoco.robot_bodies import RobotBodies
from robot_rt_control.hardware.mujoco.scene import attach, quiet
from robot_rt_control.hardware.mujoco.scene_parts import SceneParts
from robot_rt_control.hardware.mujoco.shapes import add_object, wxyz
from robot_rt_control.hardware.world.parameters import (
    ObjectParameters,
    SurfaceParameters,
    WorldParameters,
)
from robot_rt_control.hardware.world.part_robot import robot_with_joints
from robot_rt_control.hardware.world.tools import listed_tools, write_with_tools
from robot_rt_control.hardware.world.urdf_shapes import DEFAULT_FRICTION, PLANE_FRICTION
from robot_rt_control.model.paths import resolve_path
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf import Urdf
from robot_rt_control.model.robot.urdf_reader import read_urdf
from robot_rt_control.vocabulary.errors import HardwareError, unknown

Array = NDArray[np.float64]

_SMALLEST_FRICTION = 1e-5
"""MuJoCo refuses 0."""


@dataclass(frozen=True, kw_only=True)
class Surface:
    """A geometry that may touch others."""

    geom: str
    owner: str
    """Robot or object: its own geometries do not touch each other."""
    link: str
    """Of it."""
    moves: bool
    friction: float
    softness: float = 0.0
    """[m/N] its own part of how a contact gives way; 0: as stiff as the simulator can make it."""
    damping: float = 0.0
    """[Ns/m]"""
    shear: float | None = None
    """[N/m] sideways: friction by `Shear`, not by MuJoCo."""
    in_scene: bool = False
    """From an MJCF, which says itself what touches what in it."""


@dataclass(kw_only=True)
class WorldModel:
    """A specification with the names of what is in it."""

    spec: mujoco.MjSpec
    what: str
    """Whose world it is, for errors."""
    world: WorldParameters
    robots: dict[str, Robot] = field(default_factory=dict)
    """By part."""
    objects: dict[str, Robot | None] = field(default_factory=dict)
    """By name; None: a shape."""
    surfaces: list[Surface] = field(default_factory=list)
    scene: SceneParts | None = None
    """From an MJCF."""

    @property
    def urdf_robots(self) -> Sequence[UrdfRobot]:
        """Each once: those of parts, and objects with a URDF."""
        found = (*self.robots.values(), *self.objects.values())
        return tuple({robot.name: robot for robot in found if isinstance(robot, UrdfRobot)}.values())

    def touching(self) -> Iterator[tuple[Surface, Surface]]:
        """Pairs that may touch: of two owners, one of them moves; not two of an MJCF."""
        for i, first in enumerate(self.surfaces):
            for second in self.surfaces[i + 1 :]:
                if first.owner == second.owner or (first.in_scene and second.in_scene):
                    continue
                if first.moves or second.moves:
                    yield first, second

    def add_pair(self, first: Surface, second: Surface, *, condim: int = 3) -> mujoco.MjsPair:
        """A contact. MuJoCo would take the greater friction of both; PyBullet, and so the world, means the product."""
        pair = self.spec.add_pair(geomname1=first.geom, geomname2=second.geom, condim=condim)
        slide = max(first.friction * second.friction, _SMALLEST_FRICTION)
        pair.friction = [slide, slide, _SMALLEST_FRICTION, _SMALLEST_FRICTION, _SMALLEST_FRICTION]
        return pair

    def compiled(self) -> mujoco.MjModel:
        """The model, with inertias of links from their shapes if the world says so.

        Raises:
            HardwareError: MuJoCo refuses it.
        """
        try:
            with quiet():
                model = self.spec.compile()
                if self.world.inertia == "shapes":
                    links = (body for robot in self.urdf_robots for body in robot.bodies.bodies.values())
                    take_from_shapes(links, model)
                    model = self.spec.compile()
        except ValueError as error:
            raise HardwareError(f"{self.what}: MuJoCo refuses the world", got=str(error)) from error
        return model


def build_world(
    what: str,
    parts: Sequence[HardwarePart],
    world: WorldParameters,
    *,
    step: float,
    drawn: bool,
    scene: SceneParts | None = None,
) -> WorldModel:
    """A world without contacts, but for those inside an MJCF: they differ with what it is for.

    Every part with a URDF becomes a robot with a fixed base. Parts with the same URDF and base share one robot. With an
    MJCF, all robots are in its scene.

    Args:
        what: whose world it is, for errors.
        parts: those that are in it.
        step: [s] of the simulation.
        drawn: with what is only drawn.
        scene: from an MJCF.

    Raises:
        HardwareError: a file, link, joint or name is wrong.
    """
    made = WorldModel(spec=mujoco.MjSpec(), what=what, world=world, scene=scene)
    return _Builder(made, parts, step, drawn).build()


class _Builder:
    def __init__(self, made: WorldModel, parts: Sequence[HardwarePart], step: float, drawn: bool) -> None:
        self.made, self._what, self._world = made, made.what, made.world
        self._parts, self._step, self._drawn = parts, step, drawn

    def build(self) -> WorldModel:
        spec, world, scene = self.made.spec, self._world, self.made.scene
        if scene is not None:
            self._add_scene(scene)
        else:
            spec.option.gravity = world.gravity
            spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
            spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.timestep = self._step
        # Else a simulation that diverges would go on from the start, with finite numbers.
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        spec.compiler.autolimits, spec.compiler.degree = False, False
        if self._drawn:
            add_looks(spec)
        for thing in world.objects:
            self._add_object(thing)
        if scene is None:
            self._add_robots()
        for surface in world.surfaces:
            self._soften(surface)
        return self.made

    def _add_scene(self, parts: SceneParts) -> None:
        """Put it into the empty specification, with its options."""
        made, scene = self.made, parts.scene
        made.robots.update(parts.robots)
        made.objects.update(parts.objects)
        attach(scene, made.spec)
        owners = {robot.root: robot.name for robot in (*parts.robots.values(), *parts.objects.values())}
        model, bodies, geoms = scene.model, scene.bodies, scene.names(mujoco.mjtObj.mjOBJ_GEOM, scene.model.ngeom)
        for geom in np.flatnonzero(scene.collides):
            body = int(model.geom_bodyid[geom])
            made.surfaces.append(
                Surface(
                    geom=geoms[geom],
                    owner=owners.get(bodies[int(model.body_rootid[body])], ""),
                    link=bodies[body],
                    moves=bool(model.body_weldid[body]),
                    friction=float(model.geom_friction[geom, 0]),
                    in_scene=True,
                )
            )

    def _bodies(self, name: str, urdf: Urdf, root: Array, item: str, *, free: bool = False) -> RobotBodies:
        shaped = self._world.inertia == "shapes"
        balanced = self._world.inertia == "balanced"
        return RobotBodies(
            self.made.spec, name, urdf, root, item, free=free, drawn=self._drawn, shaped=shaped, balanced=balanced
        )

    # --- objects --------------------------------------------------------------------------------

    def _add_object(self, thing: ObjectParameters) -> None:
        item = f"{self._what}, object {thing.name!r}"
        if thing.urdf is not None:
            urdf = read_urdf(resolve_path(thing.urdf, Path.cwd(), item))
            bodies = self._bodies(thing.name, urdf, thing.pose.matrix, item, free=not thing.fixed)
            if not thing.fixed:
                self._give_mass(thing, urdf, bodies.bodies[urdf.root], item)
            self.made.objects[thing.name] = UrdfRobot.of(thing.name, urdf, bodies)
            self._add_surfaces(thing.name, bodies, thing.friction)
            return
        fixed = thing.fixed or thing.plane is not None or thing.profile is not None
        body = self.made.spec.worldbody.add_body(name=thing.name, pos=thing.pose.position, quat=wxyz(thing.pose))
        if fixed:
            body.mocap = True  # it can be put elsewhere
        else:
            body.add_freejoint(name=thing.name)
        names = add_object(self.made.spec, body, thing, np.eye(4))
        friction = thing.friction
        if friction is None:
            friction = PLANE_FRICTION if thing.plane else DEFAULT_FRICTION
        if thing.plane and self._drawn:
            tile(body, self.made.spec.geom(thing.name))
        owner = thing.name
        kind = Surface(geom="", owner=owner, link=owner, moves=not fixed, friction=friction, shear=thing.shear)
        self.made.surfaces += [replace(kind, geom=name) for name in names]
        self.made.objects[thing.name] = None

    def _give_mass(self, thing: ObjectParameters, urdf: Urdf, root: mujoco.MjsBody, item: str) -> None:
        """To an object that moves: its root link has the given mass instead of the URDF's."""
        if thing.mass is not None:
            root.mass = thing.mass
            if not root.explicitinertial:  # the URDF has none: see WorldParameters.inertia
                root.explicitinertial, root.fullinertia = True, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
        elif _mass_behind(urdf, urdf.root) <= 0.0:
            expected = "a mass: <inertial> in its URDF, or `mass`"
            raise HardwareError(item, expected=expected, got="none", hint="A thing that never moves is `fixed: true`")

    def _add_surfaces(self, owner: str, bodies: RobotBodies, friction: float | None = None) -> None:
        for link, name, own in bodies.geoms:
            given = own if friction is None else friction
            self.made.surfaces.append(
                Surface(geom=name, owner=owner, link=link, moves=link in bodies.moving, friction=given)
            )

    # --- robots ---------------------------------------------------------------------------------

    def _add_robots(self) -> None:
        robots = self.made.robots
        loaded: dict[tuple[str, Pose, str | None, tuple[str, ...]], UrdfRobot] = {}
        for part in self._parts:
            if part.urdf is None:
                continue
            tools = tuple(tool.name for tool in self._world.tools if tool.part_of == part.name)
            key = (part.urdf, part.base, part.base_link, tools)
            if key not in loaded:
                loaded[key] = self._add_robot(part)
            robots[part.name] = loaded[key]
        for tool in self._world.tools:
            if tool.part_of not in robots:
                what = f"{self._what}, tool {tool.name!r}: part_of"
                raise HardwareError(what, expected=unknown("part with a URDF", tool.part_of, robots))
        for part in self._parts:
            if part.mounted_on in robots:
                robots[part.name] = robots[part.mounted_on]
            elif part.urdf is None and part.joint_names:
                robots[part.name] = robot_with_joints(part, loaded.values(), f"{self._what}, part {part.name!r}")

    def _add_robot(self, part: HardwarePart) -> UrdfRobot:
        assert part.urdf is not None
        item = f"{self._what}, part {part.name!r}"
        urdf = self._with_tools(resolve_path(part.urdf, Path.cwd(), item), part)
        root = part.base.matrix
        if part.base_link is not None and part.base_link != urdf.root:
            if part.base_link not in urdf.links:
                expected = unknown("link", part.base_link, urdf.links)
                raise HardwareError(f"{item}, base_link: link {part.base_link!r}", expected=expected)
            # The base link, and not the root, stands at the base pose.
            for joint in reversed(urdf.path_to(urdf.root, part.base_link)):
                root = root @ np.linalg.inv(joint.X_PJ)
        bodies = self._bodies(part.name, urdf, root, item)
        self._refuse_massless(urdf, item)
        self._add_surfaces(part.name, bodies)
        return UrdfRobot.of(part.name, urdf, bodies)

    def _refuse_massless(self, urdf: Urdf, item: str) -> None:
        """Each joint moves a mass."""
        for joint in urdf.joints.values():
            if joint.type != "fixed" and _mass_behind(urdf, joint.child) <= 0.0:
                raise HardwareError(
                    f"{item}: joint {joint.name!r} moves the link {joint.child!r}",
                    expected="a link with a mass: <inertial>",
                    got="none, nor behind it",
                )

    def _with_tools(self, path: Path, part: HardwarePart) -> Urdf:
        tools = [tool for tool in self._world.tools if tool.part_of == part.name]
        changing = listed_tools(part, self._parts)
        if not tools and not changing:
            return read_urdf(path)
        with tempfile.TemporaryDirectory(prefix="robot_rt_control_") as folder:
            extended = Path(folder) / f"{part.name}.urdf"
            write_with_tools(path, tools, extended, self._what, changing)
            return read_urdf(extended)

    # --- contacts -------------------------------------------------------------------------------

    def _soften(self, surface: SurfaceParameters) -> None:
        item = f"{self._what}, surface of {surface.body!r}"
        made = self.made
        robot = made.robots.get(surface.body) or made.objects.get(surface.body)
        if robot is None and surface.body not in made.objects:
            known = [*made.objects, *made.robots]
            raise HardwareError(f"{item}: {surface.body!r}", expected=unknown("object or part", surface.body, known))
        owner = surface.body if robot is None else robot.name
        names = {each.geom for each in made.surfaces if each.owner == owner}
        if surface.link is not None:
            if surface.body not in made.robots or robot is None:
                raise HardwareError(f"{item}: link", expected="a part's name as the body", got=repr(surface.body))
            robot.link(surface.link, item)
            names = {each.geom for each in made.surfaces if each.owner == owner and each.link == surface.link}
        for i, each in enumerate(made.surfaces):
            if each.geom in names:
                friction = each.friction if surface.friction is None else surface.friction
                soft = replace(each, friction=friction, softness=1.0 / surface.stiffness, damping=surface.damping)
                made.surfaces[i] = soft


def _mass_behind(urdf: Urdf, link: str) -> float:
    """[kg] Of a link and all that are behind it."""
    inertial = urdf.links[link]
    own = 0.0 if inertial is None else inertial.mass
    return own + sum(_mass_behind(urdf, joint.child) for joint in urdf.child_joints[link])


def body_name(model: WorldModel, name: str, link: str | None, item: str) -> str:
    """MuJoCo's name of an object's body, of a part's robot's root, or of a link of either.

    Raises:
        HardwareError: there is none.
    """
    if name in model.robots:
        return model.robots[name].link(link, item)
    if name not in model.objects:
        known = [*model.objects, *model.robots]
        raise HardwareError(f"{item}: {name!r}", expected=unknown("object or part with joints", name, known))
    robot = model.objects[name]
    if robot is not None:
        return robot.link(link, item)
    if link is not None and link != name:
        raise HardwareError(f"{item}: link of {name!r}", expected="none: it is one shape", got=repr(link))
    return name
