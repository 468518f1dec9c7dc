"""Inputs and outputs in the simulated world: what inputs see, and what outputs do. Parameters: see there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pybullet

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.hardware.pybullet.io_parameters import (
    ColorOutput,
    ContactInput,
    GripOutput,
    HeldInput,
    InputParameters,
    IoParameters,
    JointInput,
    JointOutput,
    OutputParameters,
    ZoneInput,
)
from robot_rt_control.hardware.pybullet.world import BASE_LINK, PyBulletWorld
from robot_rt_control.vocabulary.errors import HardwareError, unknown

_ON = 0.5
"""From this value on, a grip holds."""


class ContactSwitch:
    """The sum of the normal forces of a contact [N]; of a digital input, whether something is touched."""

    def __init__(self, world: PyBulletWorld, item: str, given: ContactInput, is_digital: bool) -> None:
        self._client, self._is_digital = world.client, is_digital
        self._query = {"bodyA": world.body(given.body, item)}
        if given.link is not None:
            self._query["linkIndexA"] = _link(world, given.body, given.link, item)
        if given.other is not None:
            self._query["bodyB"] = world.body(given.other, item)

    def read(self) -> float:
        contacts = pybullet.getContactPoints(physicsClientId=self._client, **self._query)
        # Points with a positive distance are near, not touching.
        forces = [contact[9] for contact in contacts if contact[8] <= 0.0]
        return float(bool(forces)) if self._is_digital else float(sum(forces))


class Zone:
    """How many of the objects have their origin in a box; of a digital input, whether any."""

    def __init__(self, world: PyBulletWorld, item: str, given: ZoneInput, is_digital: bool) -> None:
        for name in given.objects:
            if name not in world.objects:
                raise HardwareError(f"{item}: objects", expected=unknown("object", name, world.objects), got=repr(name))
        self._world, self._objects, self._is_digital = world, given.objects, is_digital
        self._inverse = pybullet.invertTransform(given.pose.position, given.pose.orientation)
        self._half = tuple(edge / 2 for edge in given.size)

    def read(self) -> float:
        count = 0
        for name in self._objects:
            pose = self._world.object_pose(name)
            local, _ = pybullet.multiplyTransforms(*self._inverse, pose.position, pose.orientation)
            count += all(abs(x) <= half for x, half in zip(local, self._half, strict=True))
        return float(min(count, 1) if self._is_digital else count)


class JointSwitch:
    """Where a joint is [rad or m]; of a digital input, whether it is above a level. A weak drive pushes it back."""

    def __init__(self, world: PyBulletWorld, item: str, given: JointInput, is_digital: bool) -> None:
        self._client, self._given, self._is_digital = world.client, given, is_digital
        self._body = world.body(given.body, item)
        self._joint = _joint(world, given.body, given.joint, item)
        if given.body in world.objects:
            _drive(self._client, self._body, self._joint, given.rest, given.force)

    def read(self) -> float:
        position = pybullet.getJointState(self._body, self._joint, physicsClientId=self._client)[0]
        return float(position > self._given.above) if self._is_digital else float(position)


class Grip:
    """Holds the nearest object within reach while it is on."""

    def __init__(self, world: PyBulletWorld, item: str, given: GripOutput) -> None:
        self._client, self._given = world.client, given
        self._body = world.body(given.body, item)
        self._link = BASE_LINK if given.link is None else _link(world, given.body, given.link, item)
        for name in given.objects:
            if name not in world.objects:
                raise HardwareError(f"{item}: objects", expected=unknown("object", name, world.objects), got=repr(name))
        self._objects = [world.objects[name] for name in given.objects]
        self._constraint = -1

    @property
    def holds(self) -> bool:
        return self._constraint >= 0

    def apply(self, value: float) -> None:
        if value < _ON:
            if self.holds:
                pybullet.removeConstraint(self._constraint, physicsClientId=self._client)
                self._constraint = -1
        elif not self.holds:
            nearest = self._nearest()
            if nearest is not None:
                self._take(nearest)

    def _nearest(self) -> int | None:
        found: list[tuple[float, int]] = []
        for body in self._objects:
            points = pybullet.getClosestPoints(
                self._body, body, self._given.reach, linkIndexA=self._link, physicsClientId=self._client
            )
            found += [(point[8], body) for point in points]
        return min(found)[1] if found else None

    def _take(self, body: int) -> None:
        if self._link == BASE_LINK:
            holder = pybullet.getBasePositionAndOrientation(self._body, physicsClientId=self._client)
        else:
            holder = pybullet.getLinkState(self._body, self._link, physicsClientId=self._client)[:2]
        held = pybullet.getBasePositionAndOrientation(body, physicsClientId=self._client)
        position, orientation = pybullet.multiplyTransforms(*pybullet.invertTransform(*holder), *held)
        self._constraint = pybullet.createConstraint(
            self._body,
            self._link,
            body,
            BASE_LINK,
            pybullet.JOINT_FIXED,
            (0.0, 0.0, 0.0),
            position,
            (0.0, 0.0, 0.0),
            orientation,
            physicsClientId=self._client,
        )
        pybullet.changeConstraint(self._constraint, maxForce=self._given.force, physicsClientId=self._client)


class JointDrive:
    """Drives a joint of an object to a position."""

    def __init__(self, world: PyBulletWorld, item: str, given: JointOutput) -> None:
        if given.body not in world.objects:
            raise HardwareError(
                f"{item}: body", expected=unknown("object", given.body, world.objects), got=repr(given.body)
            )
        self._client, self._given = world.client, given
        self._body = world.objects[given.body]
        self._joint = _joint(world, given.body, given.joint, item)
        self._last: float | None = None

    def apply(self, value: float) -> None:
        if value != self._last:
            given = self._given
            goal = given.off + (given.on - given.off) * value
            if self._last is None:  # it begins there
                pybullet.resetJointState(self._body, self._joint, goal, 0.0, physicsClientId=self._client)
            _drive(self._client, self._body, self._joint, goal, given.force, given.speed)
            self._last = value


class Paint:
    """Paints an object."""

    def __init__(self, world: PyBulletWorld, item: str, given: ColorOutput) -> None:
        if given.object not in world.objects:
            raise HardwareError(
                f"{item}: object", expected=unknown("object", given.object, world.objects), got=repr(given.object)
            )
        self._client, self._body, self._given = world.client, world.objects[given.object], given
        self._last: float | None = None

    def apply(self, value: float) -> None:
        if value == self._last:
            return
        self._last = value
        off, on = ((*color, 1.0)[:4] for color in (self._given.off, self._given.on))
        mixed = [a + (b - a) * min(max(value, 0.0), 1.0) for a, b in zip(off, on, strict=True)]
        pybullet.changeVisualShape(self._body, BASE_LINK, rgbaColor=mixed, physicsClientId=self._client)


class SimulatedIo:
    """The channels of one io part. `read` looks before the tick, `apply` acts before the step of the simulation.

    Args:
        inputs: float64 view of the part's input states.
        outputs: float64 view of its output states: what is read back.
        commands: float64 view of its output commands.

    Raises:
        HardwareError: a channel, body, link, joint or object does not exist.
    """

    def __init__(
        self,
        world: PyBulletWorld,
        part: HardwarePart,
        given: IoParameters,
        inputs: np.ndarray,
        outputs: np.ndarray,
        commands: np.ndarray,
    ) -> None:
        self._inputs, self._outputs, self._commands = inputs, outputs, commands
        what = f"world.io.{part.name}"
        names = {"inputs": [c.name for c in part.inputs], "outputs": [c.name for c in part.outputs]}
        for kind, known in names.items():
            for name in getattr(given, kind):
                if name not in known:
                    raise HardwareError(f"{what}.{kind}.{name}", expected=unknown(kind.removesuffix("s"), name, known))
        self._effects: list[tuple[int, Grip | JointDrive | Paint]] = []
        grips: dict[str, Grip] = {}
        for i, channel in enumerate(part.outputs):
            if channel.name in given.outputs:
                effect = _effect(world, f"{what}.outputs.{channel.name}", given.outputs[channel.name])
                self._effects.append((i, effect))
                effect.apply(channel.initial)
                if isinstance(effect, Grip):
                    grips[channel.name] = effect
        inputs[:] = 0.0
        outputs[:] = [channel.initial for channel in part.outputs]
        self._sources: list[tuple[int, Callable[[], float]]] = [
            (i, _source(world, f"{what}.inputs.{channel.name}", given.inputs[channel.name], channel.is_digital, grips))
            for i, channel in enumerate(part.inputs)
            if channel.name in given.inputs
        ]

    def read(self) -> None:
        """Fill the inputs."""
        for i, source in self._sources:
            self._inputs[i] = source()

    def apply(self) -> None:
        """Act as the outputs are commanded, and read them back."""
        for i, effect in self._effects:
            effect.apply(float(self._commands[i]))
        self._outputs[:] = self._commands


def _effect(world: PyBulletWorld, item: str, given: OutputParameters) -> Grip | JointDrive | Paint:
    if isinstance(given, GripOutput):
        return Grip(world, item, given)
    return JointDrive(world, item, given) if isinstance(given, JointOutput) else Paint(world, item, given)


def _source(
    world: PyBulletWorld, item: str, given: InputParameters, is_digital: bool, grips: dict[str, Grip]
) -> Callable[[], float]:
    if isinstance(given, HeldInput):
        if given.output not in grips:
            raise HardwareError(
                f"{item}: output", expected=unknown("output of type grip", given.output, grips), got=repr(given.output)
            )
        grip = grips[given.output]
        return lambda: 1.0 if grip.holds else 0.0
    if isinstance(given, ContactInput):
        return ContactSwitch(world, item, given, is_digital).read
    if isinstance(given, ZoneInput):
        return Zone(world, item, given, is_digital).read
    return JointSwitch(world, item, given, is_digital).read


def _joint_infos(world: PyBulletWorld, body: str, item: str) -> list[tuple]:
    index = world.body(body, item)
    count = pybullet.getNumJoints(index, physicsClientId=world.client)
    return [pybullet.getJointInfo(index, j, physicsClientId=world.client) for j in range(count)]


def _joint(world: PyBulletWorld, body: str, name: str, item: str) -> int:
    movable = (pybullet.JOINT_REVOLUTE, pybullet.JOINT_PRISMATIC)
    joints = {info[1].decode(): info[0] for info in _joint_infos(world, body, item) if info[2] in movable}
    if name not in joints:
        raise HardwareError(
            f"{item}: joint of {body!r}", expected=unknown("revolute or prismatic joint", name, joints), got=repr(name)
        )
    return int(joints[name])


def _link(world: PyBulletWorld, body: str, name: str, item: str) -> int:
    root, _ = pybullet.getBodyInfo(world.body(body, item), physicsClientId=world.client)
    links = {root.decode(): BASE_LINK} | {info[12].decode(): info[0] for info in _joint_infos(world, body, item)}
    if name not in links:
        raise HardwareError(f"{item}: link of {body!r}", expected=unknown("link", name, links), got=repr(name))
    return int(links[name])


def _drive(client: int, body: int, joint: int, goal: float, force: float, speed: float | None = None) -> None:
    """A position drive of a joint; without force it is free."""
    limits = {} if speed is None else {"maxVelocity": speed}
    mode = pybullet.POSITION_CONTROL if force > 0.0 else pybullet.VELOCITY_CONTROL
    pybullet.setJointMotorControl2(
        body, joint, mode, targetPosition=goal, force=force, physicsClientId=client, **limits
    )
