"""What the plugin adds to a world's model: contacts as hard as can be, what grips hold, springs, sensors."""

from __future__ import annotations

import mujoco

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.mujoco.parameters import MujocoParameters
from robot_rt_control.hardware.mujoco.robot_bodies import HARD
from robot_rt_control.hardware.mujoco.scene_parts import SceneParts, read_parts
from robot_rt_control.hardware.mujoco.shapes import quaternion
from robot_rt_control.hardware.mujoco.world_model import WorldModel, body_name, build_world
from robot_rt_control.hardware.world.io_parameters import GripOutput
from robot_rt_control.hardware.world.mounts import mount_of
from robot_rt_control.hardware.world.parameters import ForceTorqueParameters
from robot_rt_control.hardware.world.sensors import chosen_sensors
from robot_rt_control.hardware.world.substeps import substeps_of
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError, unknown

_FRICTION_RATIO = 100.0
"""How much stiffer friction is than the contact itself."""


def build_simulated(info: HardwareInfo, given: MujocoParameters) -> WorldModel:
    """The world of a device, as the plugin simulates it.

    Raises:
        HardwareError: a file, link, joint or name is wrong.
    """
    what = f"hardware {info.name!r}"
    scene = None if given.mjcf is None else read_parts(info, given, given.mjcf)
    made = build_world(what, info.parts, given.world, step=_step(info, given, scene), drawn=True, scene=scene)
    for robot in made.urdf_robots:
        robot.bodies.refuse_unreadable(robot.links)
    if scene is None:
        made.spec.option.impratio, made.spec.option.tolerance = _FRICTION_RATIO, 1e-10
    made.spec.option.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)  # what sleeps has no rows
    # The rows of constraints stay in the order in which `MujocoWorld` changes them.
    made.spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    _add_pairs(made)
    _add_grips(made)
    _add_springs(made)
    for part in info.parts:
        if scene is None or part.name not in scene.followers:  # a scene has its own equality constraints
            _add_gears(made, part, f"{what}, part {part.name!r}")
    for _, part, parameters, item in chosen_sensors(info, given.world.sensors):
        if part.kind == PartKind.FORCE_TORQUE_SENSOR and (scene is None or part.name not in scene.names.sensors):
            assert parameters is None or isinstance(parameters, ForceTorqueParameters)
            _add_force_torque(made, part, parameters or ForceTorqueParameters(), item)
    return made


def _step(info: HardwareInfo, given: MujocoParameters, scene: SceneParts | None) -> float:
    """[s] of the simulation: that of the workcell file, else that of the MJCF, else the period."""
    timestep, where, hint = given.world.timestep, "world.timestep", ""
    if timestep is None and scene is not None and scene.scene.timestep is not None:
        timestep, where = scene.scene.timestep, f"the timestep in {scene.scene.path}"
        hint = "world.timestep in the workcell file replaces that of the MJCF"
    return info.period_s / substeps_of(info, timestep, where, hint)


def _add_pairs(made: WorldModel) -> None:
    for first, second in made.touching():
        sheared = first.shear is not None or second.shear is not None
        pair = made.add_pair(first, second, condim=1 if sheared else 3)
        pair.solref, pair.solimp = [2.0 * made.spec.option.timestep, 1.0], HARD


def _add_grips(made: WorldModel) -> None:
    """A weld for each pair that may be held together, off at first."""
    for part, io in made.world.io.items():
        for name, output in io.outputs.items():
            if isinstance(output, GripOutput):
                holder = body_name(made, output.body, output.link, f"world.io.{part}.outputs.{name}")
                for held in output.objects:
                    if held not in made.objects:
                        what = f"world.io.{part}.outputs.{name}: objects"
                        expected = unknown("object", held, made.objects)
                        raise HardwareError(what, expected=expected, got=repr(held))
                    weld = made.spec.add_equality(
                        name=grip_name(part, name, held),
                        type=mujoco.mjtEq.mjEQ_WELD,
                        objtype=mujoco.mjtObj.mjOBJ_BODY,
                        name1=holder,
                        name2=body_name(made, held, None, held),
                    )
                    weld.active = False
                    weld.solref = [2.0 * made.spec.option.timestep, 1.0]
                    weld.solimp = [0.99, 0.999, 0.001, 0.5, 2.0]


def _add_gears(made: WorldModel, part: HardwarePart, item: str) -> None:
    """Couple joints that mimic others to these: else two fingers, each with all its effort, hold a thing anywhere."""
    for mimic in part.followers:
        robot = made.robots[part.name]
        gear = made.spec.add_equality(
            name=f"{part.name}.{mimic.name}",
            type=mujoco.mjtEq.mjEQ_JOINT,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=robot.joint(mimic.name, item),
            name2=robot.joint(mimic.joint, item),
        )
        gear.data[:5] = [mimic.offset, mimic.multiplier, 0.0, 0.0, 0.0]
        gear.solref = [2.0 * made.spec.option.timestep, 1.0]
        gear.solimp = [0.99, 0.999, 0.001, 0.5, 2.0]


def _add_springs(made: WorldModel) -> None:
    """Of tools; their stops are pushed by `Springs`."""
    for tool in made.world.tools:
        if tool.spring is not None:
            joint = made.spec.joint(made.robots[tool.part_of].joint(f"{tool.name}_joint", tool.name))
            joint.stiffness[0], joint.damping[0] = tool.spring.stiffness, tool.spring.damping
            joint.springref = -tool.spring.preload / tool.spring.stiffness


def _add_force_torque(made: WorldModel, part: HardwarePart, given: ForceTorqueParameters, item: str) -> None:
    """A site with two sensors on the joint's child link."""
    mount = mount_of(item, part, given.part_of, given.joint, given.pose)
    if mount.part is None:
        return  # refused when the sensor is made
    if mount.part not in made.robots:
        expected = unknown("part with joints", mount.part, made.robots)
        raise HardwareError(f"{item}: part_of: part {mount.part!r}", expected=expected)
    robot = made.robots[mount.part]
    if given.joint is not None:
        robot.joint(given.joint, item)
        link = robot.joints[given.joint]
    else:
        link = str(mount.link)
    body = made.spec.body(robot.link(link, item))
    if link == robot.root:
        raise HardwareError(f"{item}: link {link!r}", expected="a joint's child link", got="the root link")
    X = mount.pose.matrix
    site = body.add_site(name=f"{part.name}/mount", pos=X[:3, 3], quat=quaternion(X))
    for kind, which in (("force", mujoco.mjtSensor.mjSENS_FORCE), ("torque", mujoco.mjtSensor.mjSENS_TORQUE)):
        made.spec.add_sensor(
            name=f"{part.name}/{kind}", type=which, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=site.name
        )


def grip_name(part: str, output: str, held: str) -> str:
    """Of the weld by which an output holds an object."""
    return f"{part}.{output}>{held}"
