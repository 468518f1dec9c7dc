"""Simulated sensors: rangefinder, wrist force and torque, contact, pose."""

from __future__ import annotations

import math
from collections.abc import Callable, Container
from typing import Protocol

import numpy as np

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.ranging import ranged
from robot_rt_control.hardware.world.io import IoWorld
from robot_rt_control.hardware.world.mounts import mount_of
from robot_rt_control.hardware.world.parameters import (
    ContactParameters,
    ForceTorqueParameters,
    PoseParameters,
    RangefinderParameters,
    SensorParameters,
    WorldParameters,
)
from robot_rt_control.model.workcell.mount import Mount
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError, unknown

Frame = Callable[[], tuple[tuple[float, float, float], tuple[float, float, float, float]]]
"""Position [m] and quaternion x y z w in the world."""


class Sensor(Protocol):
    def read(self) -> None:
        """Fill the part's states."""


class SensorWorld(IoWorld, Protocol):
    """What an engine does for sensors. All raise HardwareError for a name that does not exist."""

    def ray(self, mount: Mount, length: float, item: str) -> Callable[[], float]:
        """[m] Distance along z of a mounted frame to the next surface; inf: there is none within the length. A ray
        that starts inside a convex shape does not see that shape."""

    def frame(self, body: str, link: str | None, item: str) -> Frame:
        """Of an object, or of a link of a part's robot; None: its root link."""

    def force_torque(self, mount: Mount, joint: str | None, item: str, part: str) -> Callable[[np.ndarray], object]:
        """Fills force [N] and torque [Nm], in this order, that the environment exerts on the tool after a joint, in
        the sensor frame, which is mounted on the joint's child link.

        By Newton's law that is the sum of contact and weight of everything after the joint, minus its mass times
        acceleration. A tool of mass m that hangs at rest under a sensor with z up reads force.z = -m g; pressing on
        something with F adds +F. Nothing is tared.

        Args:
            joint: the joint; None: the one before the mount's link.
            part: the sensor's name.
        """


class Rangefinder:
    """A ray along z of the sensor frame; inf: nothing within the range, -inf: something nearer than it (REP 117)."""

    def __init__(
        self,
        world: SensorWorld,
        item: str,
        part: HardwarePart,
        given: RangefinderParameters,
        state: np.ndarray,
        seed: int,
    ) -> None:
        self._state, self._noise = state, given.noise
        mount = mount_of(item, part, given.part_of, given.link, given.pose)
        self._range = given.range or part.range or (0.0, 10.0)
        # A little farther than it can measure: what is exactly at the end of the range is still in it.
        self._ray = world.ray(mount, self._range[1] * (1.0 + 1e-6), item)
        self._random = np.random.default_rng(seed)

    def read(self) -> None:
        """Fill the distance [m]."""
        distance = self._ray()
        if distance < math.inf:
            if self._noise > 0.0:
                distance += self._noise * self._random.standard_normal()
            distance = ranged(distance, self._range)
        self._state[0] = distance


class ForceTorque:
    """Force and torque in a joint: see `SensorWorld.force_torque`."""

    def __init__(
        self, world: SensorWorld, item: str, part: HardwarePart, given: ForceTorqueParameters, state: np.ndarray
    ) -> None:
        mount = mount_of(item, part, given.part_of, given.joint, given.pose)
        if mount.part is None:
            raise HardwareError(item, expected="mounted_on and link in the workcell file", got="a place in the world")
        self._fill, self._state = world.force_torque(mount, given.joint, item, part.name), state

    def read(self) -> None:
        """Fill force [N] and torque [Nm]."""
        self._fill(self._state)


class Contact:
    """Inputs of an io part that say whether something is touched."""

    def __init__(self, world: SensorWorld, item: str, given: ContactParameters, state: np.ndarray) -> None:
        if len(given.inputs) > len(state):
            raise HardwareError(f"{item}: inputs", expected=f"at most {len(state)}", got=str(len(given.inputs)))
        self._state = state
        self._forces = [
            world.touched_force(contact.body, contact.link, contact.other, f"{item}, input {i}")
            for i, contact in enumerate(given.inputs)
        ]

    def read(self) -> None:
        """Fill the inputs: 1 touched, 0 not."""
        for i, force in enumerate(self._forces):
            self._state[i] = float(force() is not None)


class PoseSensor:
    """Position [m] and quaternion x y z w of an object's or link's frame in the world."""

    LENGTH = 7

    def __init__(self, world: SensorWorld, item: str, given: PoseParameters, state: np.ndarray) -> None:
        self._state = state[: self.LENGTH]
        state[self.LENGTH :] = 0.0  # the ages
        self._frame = world.frame(given.body, given.link, f"{item}: body")

    def read(self) -> None:
        """Fill the values."""
        self._state[:3], self._state[3:] = self._frame()


_TYPES: dict[PartKind, str] = {
    PartKind.RANGEFINDER: "rangefinder",
    PartKind.FORCE_TORQUE_SENSOR: "force_torque",
    PartKind.IO: "contact",
    PartKind.SENSOR: "pose",
}
_NEED_PARAMETERS = (PartKind.IO, PartKind.SENSOR)
"""Without them an io part's inputs stay 0, and a sensor part's values unknown."""


def make_sensors(
    world: SensorWorld,
    info: HardwareInfo,
    given: WorldParameters,
    states: dict[str, np.ndarray],
    leave_out: Container[str] = (),
) -> list[Sensor]:
    """A sensor for each sensor part.

    Args:
        states: part name → float64 view of the part's states.
        leave_out: parts whose sensors the engine has by itself.

    Raises:
        HardwareError: it is not known where a sensor is, or an entry belongs to no sensor part.
    """
    return [
        _make_sensor(world, item, part, parameters, states[part.name], given.seed + i)
        for i, part, parameters, item in chosen_sensors(info, given.sensors)
        if part.name not in leave_out
    ]


def chosen_sensors(
    info: HardwareInfo, given: dict[str, SensorParameters]
) -> list[tuple[int, HardwarePart, SensorParameters | None, str]]:
    """The sensor parts that are simulated: number, part, its parameters or None, and its name for errors.

    Raises:
        HardwareError: an entry belongs to no sensor part, or to one of another kind.
    """
    parts = {part.name: part for part in info.parts if part.kind in _TYPES}
    for name in given:
        if name not in parts:
            what = f"hardware {info.name!r}: world.sensors.{name}"
            raise HardwareError(what, expected=unknown("sensor or io part", name, parts))
    made = []
    for i, (name, part) in enumerate(parts.items()):
        parameters = given.get(name)
        if parameters is None and part.kind in _NEED_PARAMETERS:
            continue
        item = f"hardware {info.name!r}, sensor {name!r}"
        if parameters is not None and parameters.type != _TYPES[part.kind]:
            what = f"hardware {info.name!r}: world.sensors.{name}.type"
            raise HardwareError(what, expected=repr(_TYPES[part.kind]), got=repr(parameters.type))
        made.append((i, part, parameters, item))
    return made


def _make_sensor(
    world: SensorWorld,
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
