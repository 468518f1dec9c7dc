"""Simulated sensors: rangefinder, wrist force and torque, contact, pose."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pybullet

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.pybullet.parameters import (
    ContactParameters,
    ForceTorqueParameters,
    PoseParameters,
    RangefinderParameters,
    SensorParameters,
)
from robot_rt_control.hardware.pybullet.world import BASE_LINK, PyBulletWorld
from robot_rt_control.hardware.ranging import ranged
from robot_rt_control.model.mount import Mount
from robot_rt_control.model.pose import Pose
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError, unknown


def _rotation(orientation: tuple[float, ...]) -> np.ndarray:
    """3x3 matrix of a quaternion x y z w."""
    return np.array(pybullet.getMatrixFromQuaternion(orientation)).reshape(3, 3)


def _mount(item: str, part: HardwarePart, part_of: str | None, place: str | None, pose: Pose | None) -> Mount:
    """Where a sensor is: as the simulation's parameters say (`place`: link or joint), else as the part says."""
    told = part.mount
    part_of = part_of or (told.part if told is not None else None)
    if place is not None and part_of is not None:
        return Mount(part=part_of, link=place, pose=pose or Pose())
    if told is None or place is not None:
        raise HardwareError(
            f"{item}: where it is mounted",
            expected="part_of, and link or joint, in world.sensors; or mounted_on in the workcell file",
            got="nothing" if place is None else f"{place!r} of no part",
        )
    return told if pose is None else replace(told, pose=pose)


class Rangefinder:
    """A ray along z of the sensor frame; inf: nothing within the range, -inf: something nearer than it (REP 117)."""

    def __init__(
        self,
        world: PyBulletWorld,
        item: str,
        part: HardwarePart,
        given: RangefinderParameters,
        state: np.ndarray,
        seed: int,
    ) -> None:
        self._world, self._state, self._noise = world, state, given.noise
        mount = _mount(item, part, given.part_of, given.link, given.pose)
        self._pose = (mount.pose.position, mount.pose.orientation)
        self._body, self._link = None, BASE_LINK
        if mount.part is not None:
            robot = world.robot(mount.part, f"{item}: part_of")
            self._body, self._link = robot.body, robot.link(str(mount.link), item)
        self._range = given.range or part.range or (0.0, 10.0)
        # A little farther than it can measure: what is exactly at the end of the range is still in it.
        self._length = self._range[1] * (1.0 + 1e-6)
        self._random = np.random.default_rng(seed)

    def read(self) -> None:
        """Fill the distance [m]."""
        start, orientation = self._pose
        if self._body is not None:
            link = self._world.link_pose(self._body, self._link)
            start, orientation = pybullet.multiplyTransforms(*link, *self._pose)
        end, _ = pybullet.multiplyTransforms(start, orientation, (0.0, 0.0, self._length), (0.0, 0.0, 0.0, 1.0))
        hit = pybullet.rayTest(start, end, physicsClientId=self._world.client)[0]
        if hit[0] < 0:
            self._state[0] = math.inf
            return
        distance = hit[2] * self._length
        if self._noise > 0.0:
            distance += self._noise * self._random.standard_normal()
        self._state[0] = ranged(distance, self._range)


class ForceTorque:
    """The wrench that the environment exerts on the tool after a joint, in the sensor frame.

    The simulator gives R, what the link before the joint exerts on the one after it, about that link's center of
    mass and in its inertial frame. What is reported is -R, moved to the sensor frame: by Newton's law the
    sum of contact and weight of everything after the joint, minus its mass times acceleration. A tool of
    mass m that hangs at rest under a sensor with z up reads force.z = -m g; pressing on something with F
    adds +F. Nothing is tared.
    """

    def __init__(
        self, world: PyBulletWorld, item: str, part: HardwarePart, given: ForceTorqueParameters, state: np.ndarray
    ) -> None:
        mount = _mount(item, part, given.part_of, given.joint, given.pose)
        if mount.part is None:
            raise HardwareError(item, expected="mounted_on and link in the workcell file", got="a place in the world")
        robot = world.robot(mount.part, f"{item}: part_of")
        # PyBullet gives a link the index of the joint before it.
        index = robot.link(str(mount.link), item) if given.joint is None else robot.joint(given.joint, item)
        if index == BASE_LINK:
            raise HardwareError(f"{item}: link {mount.link!r}", expected="a joint's child link", got="the root link")
        self._body, self._joint, pose = robot.body, index, mount.pose
        self._client, self._state = world.client, state
        pybullet.enableJointForceTorqueSensor(self._body, self._joint, True, physicsClientId=self._client)
        dynamics = pybullet.getDynamicsInfo(self._body, self._joint, physicsClientId=self._client)
        sensor = pybullet.invertTransform(pose.position, pose.orientation)
        # X_SC: the inertial frame C of the joint's child link, in the sensor frame S
        position, orientation = pybullet.multiplyTransforms(*sensor, dynamics[3], dynamics[4])
        turn = _rotation(orientation)
        x, y, z = position
        lever = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        transform = np.zeros((6, 6))
        transform[:3, :3] = transform[3:, 3:] = -turn
        transform[3:, :3] = -lever @ turn
        # The reaction lacks what the joint's own drive exerts along its axis, which is also given in frame C.
        info = pybullet.getJointInfo(self._body, self._joint, physicsClientId=self._client)
        drive = np.zeros(6)
        if info[2] == pybullet.JOINT_PRISMATIC:
            drive[:3] = info[13]
        elif info[2] == pybullet.JOINT_REVOLUTE:
            drive[3:] = info[13]
        self._transform = np.column_stack([transform, transform @ drive])

    def read(self) -> None:
        """Fill force [N] and torque [Nm]."""
        _, _, reaction, effort = pybullet.getJointState(self._body, self._joint, physicsClientId=self._client)
        np.dot(self._transform, (*reaction, effort), out=self._state)


class Contact:
    """Inputs of an io part that say whether something is touched."""

    def __init__(self, world: PyBulletWorld, item: str, given: ContactParameters, state: np.ndarray) -> None:
        if len(given.inputs) > len(state):
            raise HardwareError(f"{item}: inputs", expected=f"at most {len(state)}", got=str(len(given.inputs)))
        self._client, self._state = world.client, state
        self._queries: list[dict[str, int]] = []
        for i, contact in enumerate(given.inputs):
            query = {"bodyA": world.body(contact.body, f"{item}, input {i}")}
            if contact.link is not None:
                query["linkIndexA"] = world.robot(contact.body, f"{item}, input {i}").link(contact.link, item)
            if contact.other is not None:
                query["bodyB"] = world.body(contact.other, f"{item}, input {i}")
            self._queries.append(query)

    def read(self) -> None:
        """Fill the inputs: 1 touched, 0 not."""
        for i, query in enumerate(self._queries):
            contacts = pybullet.getContactPoints(physicsClientId=self._client, **query)
            # Points with a positive distance are near, not touching.
            self._state[i] = 1.0 if any(contact[8] <= 0.0 for contact in contacts) else 0.0


class PoseSensor:
    """Position [m] and quaternion x y z w of an object's or link's frame in the world."""

    LENGTH = 7

    def __init__(self, world: PyBulletWorld, item: str, given: PoseParameters, state: np.ndarray) -> None:
        self._world, self._state = world, state[: self.LENGTH]
        state[self.LENGTH :] = 0.0  # the ages
        self._body, self._link = world.body(given.body, f"{item}: body"), BASE_LINK
        if given.link is not None:
            self._link = world.robot(given.body, f"{item}: body").link(given.link, item)

    def read(self) -> None:
        """Fill the values."""
        position, orientation = self._world.link_pose(self._body, self._link)
        self._state[:3], self._state[3:] = position, orientation


Sensor = Rangefinder | ForceTorque | Contact | PoseSensor

_TYPES: dict[PartKind, str] = {
    PartKind.RANGEFINDER: "rangefinder",
    PartKind.FORCE_TORQUE_SENSOR: "force_torque",
    PartKind.IO: "contact",
    PartKind.SENSOR: "pose",
}
_NEED_PARAMETERS = (PartKind.IO, PartKind.SENSOR)
"""Without them an io part's inputs stay 0, and a sensor part's values unknown."""


def make_sensors(
    world: PyBulletWorld,
    info: HardwareInfo,
    given: dict[str, SensorParameters],
    states: dict[str, np.ndarray],
    seed: int,
) -> list[Sensor]:
    """A sensor for each sensor part.

    Args:
        states: part name → float64 view of the part's states.

    Raises:
        HardwareError: it is not known where a sensor is, or an entry belongs to no sensor part.
    """
    parts = {part.name: part for part in info.parts if part.kind in _TYPES}
    for name in given:
        if name not in parts:
            what = f"hardware {info.name!r}: world.sensors.{name}"
            raise HardwareError(what, expected=unknown("sensor or io part", name, parts))
    made: list[Sensor] = []
    for i, (name, part) in enumerate(parts.items()):
        parameters = given.get(name)
        if parameters is None and part.kind in _NEED_PARAMETERS:
            continue
        item = f"hardware {info.name!r}, sensor {name!r}"
        if parameters is not None and parameters.type != _TYPES[part.kind]:
            what = f"hardware {info.name!r}: world.sensors.{name}.type"
            raise HardwareError(what, expected=repr(_TYPES[part.kind]), got=repr(parameters.type))
        made.append(_make_sensor(world, item, part, parameters, states[name], seed + i))
    return made


def _make_sensor(
    world: PyBulletWorld,
    item: str,
    part: HardwarePart,
    given: SensorParameters | None,
    state: np.ndarray,
    seed: int,
) -> Sensor:
    """A part's sensor; the parameters are of its type, or None where all have defaults."""
    if isinstance(given, PoseParameters):
        if len(part.inputs) != PoseSensor.LENGTH:
            expected = "seven: position x, y, z, and quaternion x, y, z, w"
            raise HardwareError(f"{item}: values", expected=expected, got=str(len(part.inputs)))
        return PoseSensor(world, item, given, state)
    if isinstance(given, ContactParameters):
        return Contact(world, item, given, state[: len(part.inputs)])
    if part.kind == PartKind.RANGEFINDER:
        assert given is None or isinstance(given, RangefinderParameters)
        return Rangefinder(world, item, part, given or RangefinderParameters(), state, seed)
    assert given is None or isinstance(given, ForceTorqueParameters)
    return ForceTorque(world, item, part, given or ForceTorqueParameters(), state)
