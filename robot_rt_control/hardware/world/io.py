"""Inputs and outputs in the simulated world: what inputs see, and what outputs do. Parameters: io_parameters.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.hardware.world.io_parameters import (
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
from robot_rt_control.hardware.world.parameters import WorldParameters
from robot_rt_control.hardware.world.simulator import SimulatedWorld
from robot_rt_control.vocabulary.errors import HardwareError, unknown

ON = 0.5
"""From this value on, a grip holds."""
TouchedForce = Callable[[], float | None]
"""[N] Sum of the normal forces of a contact in the last step; None: nothing touches."""


class Grip(Protocol):
    """Holds the nearest object within reach while it is on."""

    @property
    def holds(self) -> bool:
        """Whether it holds something."""

    def apply(self, value: float) -> None:
        """Before each step, with the output's value."""


class IoWorld(SimulatedWorld, Protocol):
    """What an engine does for inputs and outputs. All raise HardwareError for a name that does not exist."""

    def touched_force(self, body: str, link: str | None, other: str | None, item: str) -> TouchedForce:
        """Of a body or a link of it with another body, or with anything."""

    def grip(self, part: str, output: str, given: GripOutput, item: str) -> Grip:
        """That of an output."""

    def paint(self, name: str, color: tuple[float, ...]) -> None:
        """Give an object a colour: red, green, blue and opacity."""


def _contact(world: IoWorld, item: str, given: ContactInput, is_digital: bool) -> Callable[[], float]:
    """The sum of the normal forces of a contact [N]; of a digital input, whether something is touched."""
    force = world.touched_force(given.body, given.link, given.other, item)
    return (lambda: float(force() is not None)) if is_digital else (lambda: force() or 0.0)


def _zone(world: IoWorld, item: str, given: ZoneInput, is_digital: bool) -> Callable[[], float]:
    """How many of the objects have their origin in a box; of a digital input, whether any."""
    _check_objects(world, item, given.objects)
    X_ZW = np.linalg.inv(given.pose.matrix)[:3]
    half = np.array(given.size) / 2

    def count() -> float:
        found = 0
        for name in given.objects:
            p = X_ZW[:, :3] @ world.object_pose(name).position + X_ZW[:, 3]
            found += bool((np.abs(p) <= half).all())
        return float(min(found, 1) if is_digital else found)

    return count


def _joint(world: IoWorld, item: str, given: JointInput, is_digital: bool) -> Callable[[], float]:
    """Where a joint is [rad or m]; of a digital input, whether it is above a level. A weak drive pushes it back."""
    joint = world.object_joint(given.body, given.joint, item)
    if given.body in world.objects:
        joint.drive(given.rest, given.force)
    return (lambda: float(joint.position() > given.above)) if is_digital else joint.position


class _JointDrive:
    """Drives a joint of an object to a position."""

    def __init__(self, world: IoWorld, item: str, given: JointOutput) -> None:
        if given.body not in world.objects:
            expected = unknown("object", given.body, world.objects)
            raise HardwareError(f"{item}: body", expected=expected, got=repr(given.body))
        self._given, self._joint = given, world.object_joint(given.body, given.joint, item)
        self._last: float | None = None

    def apply(self, value: float) -> None:
        if value != self._last:
            given = self._given
            goal = given.off + (given.on - given.off) * value
            if self._last is None:  # it begins there
                self._joint.place(goal)
            self._joint.drive(goal, given.force, given.speed)
            self._last = value


class _Paint:
    """Paints an object."""

    def __init__(self, world: IoWorld, item: str, given: ColorOutput) -> None:
        if given.object not in world.objects:
            expected = unknown("object", given.object, world.objects)
            raise HardwareError(f"{item}: object", expected=expected, got=repr(given.object))
        self._world, self._given = world, given
        self._last: float | None = None

    def apply(self, value: float) -> None:
        if value == self._last:
            return
        self._last = value
        off, on = ((*color, 1.0)[:4] for color in (self._given.off, self._given.on))
        mixed = tuple(a + (b - a) * min(max(value, 0.0), 1.0) for a, b in zip(off, on, strict=True))
        self._world.paint(self._given.object, mixed)


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
        world: IoWorld,
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
        self._effects: list[tuple[int, Grip | _JointDrive | _Paint]] = []
        grips: dict[str, Grip] = {}
        for i, channel in enumerate(part.outputs):
            if channel.name in given.outputs:
                effect = _effect(world, part.name, channel.name, given.outputs[channel.name])
                self._effects.append((i, effect))
                effect.apply(channel.initial)
                if not isinstance(effect, _JointDrive | _Paint):
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


def simulated_io(
    world: IoWorld, part: HardwarePart, given: WorldParameters, states: np.ndarray, commands: np.ndarray
) -> SimulatedIo:
    """The channels of one part.

    Args:
        states: float64 view of the states of its channels, inputs first.
        commands: float64 view of its output commands.
    """
    n = len(part.inputs)
    return SimulatedIo(world, part, given.io.get(part.name, IoParameters()), states[:n], states[n:], commands)


def _effect(world: IoWorld, part: str, output: str, given: OutputParameters) -> Grip | _JointDrive | _Paint:
    item = f"world.io.{part}.outputs.{output}"
    if isinstance(given, GripOutput):
        _check_objects(world, item, given.objects)
        return world.grip(part, output, given, item)
    return _JointDrive(world, item, given) if isinstance(given, JointOutput) else _Paint(world, item, given)


def _source(
    world: IoWorld, item: str, given: InputParameters, is_digital: bool, grips: dict[str, Grip]
) -> Callable[[], float]:
    if isinstance(given, HeldInput):
        if given.output not in grips:
            raise HardwareError(
                f"{item}: output", expected=unknown("output of type grip", given.output, grips), got=repr(given.output)
            )
        grip = grips[given.output]
        return lambda: 1.0 if grip.holds else 0.0
    if isinstance(given, ContactInput):
        return _contact(world, item, given, is_digital)
    if isinstance(given, ZoneInput):
        return _zone(world, item, given, is_digital)
    return _joint(world, item, given, is_digital)


def _check_objects(world: IoWorld, item: str, objects: tuple[str, ...]) -> None:
    for name in objects:
        if name not in world.objects:
            raise HardwareError(f"{item}: objects", expected=unknown("object", name, world.objects), got=repr(name))
