"""A scene from an MJCF with what of it belongs to which part of a device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from robot_rt_control.hardware.info import HardwareInfo
from robot_rt_control.hardware.mujoco.actuators import Actuator, Follower, actuators_of, followers_of
from robot_rt_control.hardware.mujoco.parameters import MujocoParameters
from robot_rt_control.hardware.mujoco.robot import Robot
from robot_rt_control.hardware.mujoco.scene import Scene, read_scene
from robot_rt_control.hardware.mujoco.scene_beside import check_beside
from robot_rt_control.hardware.mujoco.scene_robots import objects_of, robots_of
from robot_rt_control.hardware.mujoco.scene_sensors import SceneNames, names_of
from robot_rt_control.model.paths import resolve_path


@dataclass(frozen=True, kw_only=True)
class SceneParts:
    """What of a scene is whose."""

    scene: Scene
    robots: dict[str, Robot]
    """By part."""
    objects: dict[str, Robot]
    """By name: bodies of the scene's world that belong to no robot."""
    followers: dict[str, tuple[Follower, ...]]
    """Part → joints that follow its own."""
    actuators: dict[str, list[Actuator]]
    """Part → those that move its joints."""
    names: SceneNames
    """Sensors and other actuators, by parts."""


def read_parts(info: HardwareInfo, given: MujocoParameters, mjcf: str) -> SceneParts:
    """Read the MJCF of a device, and map its names to the parts.

    Raises:
        HardwareError: the file is wrong, or does not fit the workcell.
    """
    item = f"{info.where('devices', info.name, 'mujoco', 'mjcf')}hardware {info.name!r}, mjcf"
    scene = read_scene(resolve_path(mjcf, Path(info.folder or Path.cwd()), item), item)
    check_beside(scene, info, given)
    robots = robots_of(scene, info)
    followers = {part.name: followers_of(scene, part) for part in info.parts if part.name in robots}
    actuators = actuators_of(scene, info, followers)
    moving = [each.number for found in actuators.values() for each in found]
    return SceneParts(
        scene=scene,
        robots=robots,
        objects=objects_of(scene, list(robots.values())),
        followers=followers,
        actuators=actuators,
        names=names_of(scene, info, given, moving),
    )
