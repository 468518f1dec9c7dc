"""The sensors and actuators of an MJCF that belong to sensor and io parts of the workcell, by name.

- force_torque_sensor: a sensor `force` and a sensor `torque`, at a site with the part's name, or called `<part>_force`
  and `<part>_torque`
- rangefinder: the sensor `rangefinder` with the part's name
- sensor: the sensor with the part's name, if it has as many values; else `framepos` and `framequat` of the site, body
  or geometry with the part's name, for seven values; else for each value the sensor with its name
- io, and channels of arms, grippers and bases: for an input the sensor with its name; for an output the actuator with
  its name, whose control it is

`sensors` in the parameters names others. What `world.sensors` or `world.io` describes is simulated as there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.mujoco.parameters import MujocoParameters
from robot_rt_control.hardware.mujoco.robot import named
from robot_rt_control.hardware.mujoco.scene import Scene
from robot_rt_control.hardware.ranging import ranged
from robot_rt_control.hardware.world.simulator import has_io
from robot_rt_control.text.document import Step
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError, unknown

Array = NDArray[np.float64]
_Sensor = mujoco.mjtSensor

_QUATERNIONS = (int(_Sensor.mjSENS_FRAMEQUAT), int(_Sensor.mjSENS_BALLQUAT))
_OBJECTS = (mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtObj.mjOBJ_XBODY, mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_GEOM)
_POSE = ("framepos", "framequat")
_POSE_LENGTH = 7


@dataclass(frozen=True, kw_only=True)
class SceneNames:
    """What of the scene belongs to which part."""

    sensors: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Sensor part → numbers of its sensors, in the order of its values."""
    inputs: dict[str, dict[int, int]] = field(default_factory=dict)
    """Part → index of an input → number of its sensor."""
    outputs: dict[str, dict[int, int]] = field(default_factory=dict)
    """Part → index of an output → number of its actuator."""


def names_of(scene: Scene, info: HardwareInfo, given: MujocoParameters, moving: Sequence[int]) -> SceneNames:
    """Find what belongs to sensor parts and channels.

    Args:
        moving: numbers of the actuators that move joints of parts, and so are no outputs.

    Raises:
        HardwareError: all mistakes together: what is not there, or does not have the values of its part.
    """
    return _Reader(scene, info, given, moving).read()


class SceneSensor:
    """Fills the states of a sensor part from MuJoCo's `sensordata`.

    Forces and torques are those that the environment exerts on the site's body and what is on it: MuJoCo gives what its
    parent exerts. Quaternions are x y z w.
    """

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, part: HardwarePart, sensors: Sequence[int], state: Array
    ) -> None:
        places: list[int] = []
        for sensor in sensors:
            own = list(range(model.sensor_adr[sensor], model.sensor_adr[sensor] + model.sensor_dim[sensor]))
            places += own[1:] + own[:1] if model.sensor_type[sensor] in _QUATERNIONS else own
        self._data, self._places = data, np.array(places, np.intp)
        self._sign = -1.0 if part.kind == PartKind.FORCE_TORQUE_SENSOR else 1.0
        self._range = (part.range or (0.0, 10.0)) if part.kind == PartKind.RANGEFINDER else None
        self._state = state[: len(places)]
        if part.kind == PartKind.SENSOR:
            state[len(places) :] = 0.0  # the ages

    def read(self) -> None:
        """Fill them."""
        values = self._data.sensordata[self._places]
        if self._range is not None:
            # MuJoCo gives -1 if its ray meets nothing.
            self._state[0] = np.inf if values[0] < 0.0 else ranged(float(values[0]), self._range)
        else:
            np.multiply(values, self._sign, out=self._state)


class SceneChannels:
    """Inputs and outputs of one part that are sensors and actuators of the scene.

    Args:
        inputs, outputs: index of a channel → its sensor, or actuator.
        states: float64 view of the states of the part's channels, inputs first.
        commands: float64 view of its output commands.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        part: HardwarePart,
        inputs: Mapping[int, int],
        outputs: Mapping[int, int],
        states: Array,
        commands: Array,
    ) -> None:
        self._data, self._states, self._commands = data, states, commands
        self._inputs = [(i, int(model.sensor_adr[s]), part.inputs[i].is_digital) for i, s in inputs.items()]
        self._outputs = tuple(outputs.items())
        for i, actuator in self._outputs:
            data.ctrl[actuator] = part.outputs[i].initial

    def read(self) -> None:
        """Fill the inputs: digital ones are 1 while their sensor's value is above 0."""
        for i, place, is_digital in self._inputs:
            value = float(self._data.sensordata[place])
            self._states[i] = float(value > 0.0) if is_digital else value

    def apply(self) -> None:
        """Command the outputs."""
        for i, actuator in self._outputs:
            self._data.ctrl[actuator] = self._commands[i]


class _Reader:
    """Looks for the names, and keeps the mistakes."""

    def __init__(self, scene: Scene, info: HardwareInfo, given: MujocoParameters, moving: Sequence[int]) -> None:
        self._scene, self._info, self._given, self._moving = scene, info, given, moving
        self._mistakes: list[str] = []
        self._found = SceneNames()

    def read(self) -> SceneNames:
        parts = {part.name: part for part in self._info.parts}
        sensors = {name for name, part in parts.items() if part.kind in _READS}
        for name in self._given.sensors:
            if name not in sensors:
                self._refuse(("sensors", name), f"sensors.{name}", unknown("sensor part", name, sensors), repr(name))
        for part in parts.values():
            if part.kind in _READS and part.name not in self._given.world.sensors:
                self._read_sensor(part)
            elif has_io(part) and part.name not in self._given.world.sensors:
                self._read_channels(part)
        if self._mistakes:
            raise HardwareError("\n".join(self._mistakes))
        return self._found

    def _refuse(self, path: tuple[Step, ...], what: str, expected: str, got: str, hint: str = "") -> None:
        """A mistake in the plugin's parameters, or in a part if the path begins with `parts`."""
        begin = () if path[0] == "parts" else ("devices", self._info.name, "mujoco")
        what = f"{self._info.where(*begin, *path)}hardware {self._info.name!r}, {what}"
        self._mistakes.append(str(HardwareError(what, expected=expected, got=got, hint=hint)))

    def _sensor(self, name: str) -> int | None:
        """Number of a sensor; None: there is none."""
        number = mujoco.mj_name2id(self._scene.model, mujoco.mjtObj.mjOBJ_SENSOR, name)
        return None if number < 0 else int(number)

    # --- sensor parts ---------------------------------------------------------------------------

    def _read_sensor(self, part: HardwarePart) -> None:
        if part.name in self._given.sensors:
            numbers: list[int] = []
            for i, name in enumerate(self._given.sensors[part.name]):
                number = self._sensor(name)
                if number is None:
                    expected = f"{unknown('sensor', name, named(self._scene.sensors))}, in {self._scene.path}"
                    self._refuse(("sensors", part.name, i), f"sensor {part.name!r}", expected, repr(name))
                    return
                numbers.append(number)
        else:
            numbers = _READS[part.kind](self, part)
            if not numbers:
                if part.mount is None or part.kind == PartKind.SENSOR:
                    self._not_found(part)
                return  # the plugin's own, where the part is mounted
        self._keep(part, numbers)

    def _not_found(self, part: HardwarePart) -> None:
        wanted, near = _WANTED[part.kind].format(part.name), unknown("sensor", part.name, named(self._scene.sensors))
        expected = f"{wanted}, in {self._scene.path}: {near}"
        hint = f"`sensors: {{{part.name}: [...]}}` beside `mjcf` names others; or describe it in `world.sensors`"
        self._refuse(("parts", part.name), f"sensor {part.name!r}", expected, "none", hint)

    def _keep(self, part: HardwarePart, numbers: Sequence[int]) -> None:
        """Keep a part's sensors, if they are of its kind."""
        model = self._scene.model
        names = ", ".join(repr(self._scene.sensors[number] or _kind(model, number)) for number in numbers)
        kinds = [_kind(model, number) for number in numbers]
        if part.kind == PartKind.FORCE_TORQUE_SENSOR and sorted(kinds) != ["force", "torque"]:
            self._wrong(part, "a sensor `force` and a sensor `torque`", names, kinds)
        elif part.kind == PartKind.RANGEFINDER and kinds != ["rangefinder"]:
            self._wrong(part, "a sensor `rangefinder`", names, kinds)
        elif part.kind == PartKind.RANGEFINDER and model.sensor_dim[numbers[0]] != 1:
            self._wrong(part, "a sensor `rangefinder` with one value, its distance", names, kinds)
        elif part.kind == PartKind.SENSOR and (n := int(model.sensor_dim[list(numbers)].sum())) != len(part.inputs):
            self._wrong(part, f"{len(part.inputs)} values, as the part has", names, [f"{n} values"])
        else:
            ordered = sorted(numbers, key=lambda number: _kind(model, number)) if "torque" in kinds else numbers
            self._found.sensors[part.name] = tuple(ordered)

    def _wrong(self, part: HardwarePart, expected: str, names: str, got: Sequence[str]) -> None:
        path: tuple[Step, ...] = ("sensors", part.name) if part.name in self._given.sensors else ("parts", part.name)
        what = f"sensor {part.name!r}: {names} in {self._scene.path}"
        self._refuse(path, what, expected, ", ".join(got))

    def _of_object(self, name: str, kinds: Sequence[str]) -> list[int]:
        """The sensors of these kinds at the object with this name, if there is one of each."""
        model = self._scene.model
        found: dict[str, list[int]] = {kind: [] for kind in kinds}
        for number in range(model.nsensor):
            kind, of = _kind(model, number), int(model.sensor_objtype[number])
            if kind in found and of in [int(each) for each in _OBJECTS]:
                body = mujoco.mjtObj.mjOBJ_BODY if of == int(mujoco.mjtObj.mjOBJ_XBODY) else mujoco.mjtObj(of)
                if mujoco.mj_id2name(model, body, int(model.sensor_objid[number])) == name:
                    found[kind].append(number)
        return [numbers[0] for numbers in found.values()] if all(len(each) == 1 for each in found.values()) else []

    def _force_torque(self, part: HardwarePart) -> list[int]:
        by_name = [self._sensor(f"{part.name}_{kind}") for kind in ("force", "torque")]
        found = [number for number in by_name if number is not None]
        return found if len(found) == len(by_name) else self._of_object(part.name, ("force", "torque"))

    def _rangefinder(self, part: HardwarePart) -> list[int]:
        number = self._sensor(part.name)
        return [] if number is None else [number]

    def _values(self, part: HardwarePart) -> list[int]:
        number = self._sensor(part.name)
        if number is not None and self._scene.model.sensor_dim[number] == len(part.inputs):
            return [number]
        if len(part.inputs) == _POSE_LENGTH and (pose := self._of_object(part.name, _POSE)):
            return pose
        each = [self._sensor(channel.name) for channel in part.inputs]
        found = [number for number in each if number is not None and self._scene.model.sensor_dim[number] == 1]
        return found if len(found) == len(part.inputs) else []

    # --- channels -------------------------------------------------------------------------------

    def _read_channels(self, part: HardwarePart) -> None:
        """Those of an io part are all to be found, here or in `world.io`; own channels of others may do nothing."""
        model, described = self._scene.model, self._given.world.io.get(part.name)
        inputs, outputs = self._found.inputs.setdefault(part.name, {}), self._found.outputs.setdefault(part.name, {})
        for i, channel in enumerate(part.inputs):
            if described is not None and channel.name in described.inputs:
                continue
            number = self._sensor(channel.name)
            if number is not None and model.sensor_dim[number] != 1:
                what, expected = f"input {channel.name!r} of {part.name!r}", f"one value, in {self._scene.path}"
                got = f"a sensor with {int(model.sensor_dim[number])} values"
                self._refuse(("parts", part.name, "inputs", channel.name), what, expected, got)
            elif number is not None:
                inputs[i] = number
            elif part.kind == PartKind.IO:
                self._no_channel(part, "input", channel.name, "sensor", named(self._scene.sensors))
        free = [name for i, name in enumerate(self._scene.actuators) if i not in self._moving]
        for i, channel in enumerate(part.outputs):
            if described is not None and channel.name in described.outputs:
                continue
            if channel.name in free:
                outputs[i] = self._scene.actuators.index(channel.name)
            elif part.kind == PartKind.IO:
                self._no_channel(part, "output", channel.name, "actuator that moves no part", named(free))

    def _no_channel(self, part: HardwarePart, what: str, name: str, kind: str, known: Sequence[str]) -> None:
        expected = f"{unknown(kind, name, known)}, in {self._scene.path}"
        hint = f"Or describe it in world.io.{part.name}.{what}s. What does nothing can be on a device with plugin: mock"
        path = ("parts", part.name, f"{what}s", name)
        self._refuse(path, f"{what} {name!r} of {part.name!r}", expected, "none", hint)


def _kind(model: mujoco.MjModel, sensor: int) -> str:
    """As in MJCF: "framepos"."""
    return str(_Sensor(int(model.sensor_type[sensor])).name.removeprefix("mjSENS_").lower())


_READS = {
    PartKind.FORCE_TORQUE_SENSOR: _Reader._force_torque,
    PartKind.RANGEFINDER: _Reader._rangefinder,
    PartKind.SENSOR: _Reader._values,
}
_WANTED = {
    PartKind.FORCE_TORQUE_SENSOR: "`force` and `torque` at a site {0!r}, or called '{0}_force' and '{0}_torque'",
    PartKind.RANGEFINDER: "a rangefinder called {0!r}",
    PartKind.SENSOR: "a sensor {0!r} with the part's values, framepos and framequat of {0!r}, or one for each value",
}
