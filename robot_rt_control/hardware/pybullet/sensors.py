"""Simulated sensors: rangefinder, wrist force and torque, contact."""

from __future__ import annotations

import math

import numpy as np
import pybullet

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.parameters import Parameters
from robot_rt_control.hardware.pybullet.parameters import (
    ContactParameters,
    ForceTorqueParameters,
    RangefinderParameters,
)
from robot_rt_control.hardware.pybullet.world import PyBulletWorld
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError, unknown


def _rotation(orientation: tuple[float, ...]) -> np.ndarray:
    """3x3 matrix of a quaternion x y z w."""
    return np.array(pybullet.getMatrixFromQuaternion(orientation)).reshape(3, 3)


class Rangefinder:
    """A ray along z of the sensor frame; inf: nothing within the range, -inf: something nearer than it (REP 117)."""

    def __init__(
        self, world: PyBulletWorld, item: str, given: RangefinderParameters, state: np.ndarray, seed: int
    ) -> None:
        robot = world.robot(given.part_of, f"{item}: part_of")
        self._body, self._link = robot.body, robot.link(given.link, item)
        self._world, self._state, self._given = world, state, given
        self._pose = (given.pose.position, given.pose.orientation)
        # A little farther than it can measure: what lies exactly at the end of the range is still in it.
        self._length = given.range[1] * (1.0 + 1e-6)
        self._random = np.random.default_rng(seed)

    def read(self) -> None:
        """Fill the distance [m]."""
        link = self._world.link_pose(self._body, self._link)
        start, orientation = pybullet.multiplyTransforms(*link, *self._pose)
        end, _ = pybullet.multiplyTransforms(start, orientation, (0.0, 0.0, self._length), (0.0, 0.0, 0.0, 1.0))
        hit = pybullet.rayTest(start, end, physicsClientId=self._world.client)[0]
        if hit[0] < 0:
            self._state[0] = math.inf
            return
        distance = hit[2] * self._length
        if self._given.noise > 0.0:
            distance += self._given.noise * self._random.standard_normal()
        least, greatest = self._given.range
        if distance < least:
            distance = -math.inf
        elif distance > greatest * (1.0 + 1e-6):
            distance = math.inf
        self._state[0] = distance


class ForceTorque:
    """The wrench that the environment exerts on the tool behind a joint, in the sensor frame.

    The simulator gives R, what the link before the joint exerts on the one behind it, about that link's center of
    mass and in its inertial frame. What is reported is -R, moved to the sensor frame: by Newton's law the
    sum of contact and weight of everything behind the joint, minus its mass times acceleration. A tool of
    mass m that hangs at rest under a sensor with z up reads force.z = -m g; pressing on something with F
    adds +F. Nothing is tared.
    """

    def __init__(self, world: PyBulletWorld, item: str, given: ForceTorqueParameters, state: np.ndarray) -> None:
        robot = world.robot(given.part_of, f"{item}: part_of")
        self._body, self._joint = robot.body, robot.joint(given.joint, item)
        self._client, self._state = world.client, state
        pybullet.enableJointForceTorqueSensor(self._body, self._joint, True, physicsClientId=self._client)
        dynamics = pybullet.getDynamicsInfo(self._body, self._joint, physicsClientId=self._client)
        sensor = pybullet.invertTransform(given.pose.position, given.pose.orientation)
        # X_SC: the inertial frame C of the link behind the joint, in the sensor frame S
        position, orientation = pybullet.multiplyTransforms(*sensor, dynamics[3], dynamics[4])
        turn = _rotation(orientation)
        x, y, z = position
        lever = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        transform = np.zeros((6, 6))
        transform[:3, :3] = transform[3:, 3:] = -turn
        transform[3:, :3] = -lever @ turn
        # The reaction lacks what the joint's own drive exerts along its axis, which is given in frame C, too.
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


Sensor = Rangefinder | ForceTorque | Contact

_KINDS: dict[PartKind, type[Parameters]] = {
    PartKind.RANGEFINDER: RangefinderParameters,
    PartKind.FORCE_TORQUE_SENSOR: ForceTorqueParameters,
    PartKind.IO: ContactParameters,
}


def make_sensors(
    world: PyBulletWorld,
    info: HardwareInfo,
    given: dict[str, RangefinderParameters | ForceTorqueParameters | ContactParameters],
    states: dict[str, np.ndarray],
    seed: int,
) -> list[Sensor]:
    """A sensor for each sensor part.

    Args:
        states: part name → float64 view of the part's states.

    Raises:
        HardwareError: a sensor part has no entry, or an entry no sensor part.
    """
    parts = {part.name: part for part in info.parts if part.kind in _KINDS}
    for name in given:
        if name not in parts:
            what = f"hardware {info.name!r}: world.sensors.{name}"
            raise HardwareError(what, expected=unknown("sensor or io part", name, parts))
    made: list[Sensor] = []
    for i, (name, part) in enumerate(parts.items()):
        parameters = given.get(name)
        if parameters is None:
            if part.kind == PartKind.IO:
                continue  # without contacts its inputs stay 0
            hint = "Say where it is mounted"
            raise HardwareError(f"hardware {info.name!r}: world.sensors has no entry for part {name!r}", hint=hint)
        _check_kind(info, part, parameters)
        item = f"hardware {info.name!r}, sensor {name!r}"
        if isinstance(parameters, RangefinderParameters):
            made.append(Rangefinder(world, item, parameters, states[name], seed + i))
        elif isinstance(parameters, ForceTorqueParameters):
            made.append(ForceTorque(world, item, parameters, states[name]))
        else:
            made.append(Contact(world, item, parameters, states[name][: part.n_inputs]))
    return made


def _check_kind(
    info: HardwareInfo,
    part: HardwarePart,
    given: RangefinderParameters | ForceTorqueParameters | ContactParameters,
) -> None:
    wanted = _KINDS[part.kind]
    if not isinstance(given, wanted):
        what = f"hardware {info.name!r}: world.sensors.{part.name}.type"
        expected = {
            PartKind.RANGEFINDER: "rangefinder",
            PartKind.FORCE_TORQUE_SENSOR: "force_torque",
            PartKind.IO: "contact",
        }[part.kind]
        raise HardwareError(what, expected=repr(expected), got=repr(given.type))
