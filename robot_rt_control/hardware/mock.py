"""The mock device: states follow commands. Computed inside the tick, without a process or a simulator.

Each joint is by itself, by the mode of its part:

==========  ==========================================================================================
POSITION    position follows the command with first-order dynamics; velocity is its change; no effort
VELOCITY    velocity follows the command with first-order dynamics; position integrates it; no effort
EFFORT      effort is the command, on an inertia with viscous damping; velocity and position integrate
NONE        the joint stands still where it is, as with closed brakes
==========  ==========================================================================================

First order, time constant T: x += (command - x) (1 - exp(-dt / T)); T = 0 follows at once. There is no
load, no gravity and no joint limit. Sensors keep the values they were given; outputs read back at once, and an
input may be wired to an output.

How states follow is a program of one int64 for each state interface (`mock_source`): bits 0 to 7 say
what it is (`_CONSTANT` …), bits 8 to 15 the part's index, the rest the index of the command.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, TypeVar

import numpy as np
from pydantic import Field

from robot_rt_control.hardware.info import JOINTED_KINDS, HardwareInfo, HardwarePart
from robot_rt_control.hardware.interfaces import standard_command_interfaces, standard_state_interfaces
from robot_rt_control.hardware.parameters import Parameters, checked
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import HardwareError, unknown

MOCK_PLUGIN = 1
"""Of `device_dtype.plugin`."""

_CONSTANT = 0
_OUTPUT = 1
"""Equals a command: an output, and an input that is wired to one."""
_JOINT = 2
"""Position of a joint; velocity and effort are the next two states, its commands lie likewise."""
_OF_JOINT = 3
"""Velocity or effort: computed together with the joint's position."""
_AGE = 4
"""Of a sensor's value, which is another state: 0, unknown where the value is."""

_POSITION = int(CommandMode.POSITION)
_VELOCITY = int(CommandMode.VELOCITY)
_EFFORT = int(CommandMode.EFFORT)
_NONE = int(CommandMode.NONE)

Wrench = Annotated[tuple[float, ...], Field(min_length=6, max_length=6)]


class MockParameters(Parameters):
    """Parameters of the mock plugin. A sensor's value holds for all parts of its kind, or is given by part name."""

    time_constant: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    """[s] of the first-order dynamics; 0: states equal commands."""
    inertia: float = Field(default=1.0, gt=0.0, allow_inf_nan=False)
    """[kg m^2 or kg] of each joint in effort mode."""
    damping: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    """[Nms/rad or Ns/m] of each joint in effort mode."""
    distance: float | dict[str, float] = math.inf
    """[m] that rangefinders report; inf: nothing in sight."""
    wrench: Wrench | dict[str, Wrench] = (0.0,) * 6
    """Force [N] and torque [Nm] that force-torque sensors report."""
    inputs: dict[str, tuple[float, ...] | dict[str, float]] = Field(default_factory=dict)
    """io part → its inputs, in their order or by name: true, false or a number; those not given are false."""
    wires: dict[str, dict[str, str]] = Field(default_factory=dict)
    """io part → input → the output of the same device that it follows, one cycle later: `clamp`, or `other.clamp` of
    another io part. Such an input cannot be set from outside."""
    values: dict[str, dict[str, float]] = Field(default_factory=dict)
    """sensor part → value → what it reports; those not given are unknown until a test sets them."""


_Value = TypeVar("_Value")


def _of_part(value: _Value | dict[str, _Value], part: HardwarePart, default: _Value) -> _Value:
    return value.get(part.name, default) if isinstance(value, dict) else value


def _check_part_names(info: HardwareInfo, parameter: str, given: object, kind: PartKind) -> None:
    known = [part.name for part in info.parts if part.kind == kind]
    for name in given if isinstance(given, dict) else ():
        if name not in known:
            what = f"hardware {info.name!r}, mock parameter {parameter!r}: part {name!r}"
            raise HardwareError(what, expected=unknown(f"part of kind {kind.name}", name, known))


def _check_parameters(info: HardwareInfo) -> MockParameters:
    parameters = checked(MockParameters, info.parameters, f"hardware {info.name!r}, parameters of the mock plugin")
    _check_part_names(info, "distance", parameters.distance, PartKind.RANGEFINDER)
    _check_part_names(info, "wrench", parameters.wrench, PartKind.FORCE_TORQUE_SENSOR)
    _check_part_names(info, "inputs", parameters.inputs, PartKind.IO)
    _check_part_names(info, "wires", parameters.wires, PartKind.IO)
    _check_part_names(info, "values", parameters.values, PartKind.SENSOR)
    for part in info.parts:
        names = [channel.name for channel in part.inputs]
        for parameter in ("inputs", "wires", "values"):
            what = f"hardware {info.name!r}, mock parameter {parameter!r} of part {part.name!r}"
            given = getattr(parameters, parameter).get(part.name, ())
            if len(given) > part.n_inputs:
                raise HardwareError(what, expected=f"at most {part.n_inputs} values", got=str(len(given)))
            for name in given if isinstance(given, dict) else ():
                if name not in names:
                    raise HardwareError(f"{what}: {name!r}", expected=unknown("input", name, names))
    return parameters


def _inputs_of(part: HardwarePart, given: tuple[float, ...] | dict[str, float], default: float) -> list[float]:
    """What each input of a part reports at first."""
    if isinstance(given, dict):
        return [given.get(channel.name, default) for channel in part.inputs]
    return [*given, *[default] * (part.n_inputs - len(given))]


def _wire_inputs(device: np.record, info: HardwareInfo, parameters: MockParameters) -> None:
    """Let inputs follow the commands of outputs."""
    states = {interface.name: i for i, interface in enumerate(standard_state_interfaces(info))}
    outputs = {f"{part.name}.{channel.name}": part for part in info.parts for channel in part.outputs}
    for name, wires in parameters.wires.items():
        for channel, output in wires.items():
            source = output if "." in output else f"{name}.{output}"
            if source not in outputs:
                what = f"hardware {info.name!r}, mock parameter 'wires': {name}.{channel}"
                raise HardwareError(what, expected=unknown("output", source, outputs), got=repr(output))
            device.mock_source[states[f"{name}/{channel}"]] = device.mock_source[states[source.replace(".", "/", 1)]]
            device.state[states[f"{name}/{channel}"]] = device.state[states[source.replace(".", "/", 1)]]


def configure_mock(device: np.record, info: HardwareInfo) -> None:
    """Set up a device record for `mock_cycle`: not real-time, before the first tick.

    Interfaces are in the order of `standard_state_interfaces(info)` and `standard_command_interfaces(info)`.
    Joints stand at their initial position with equal position commands; all modes are NONE.

    Args:
        device: a record of `layout.device_dtype`.
        info: the device; its parameters are those of MockParameters.

    Raises:
        HardwareError: a parameter is wrong.
    """
    parameters = _check_parameters(info)
    states, commands = standard_state_interfaces(info), standard_command_interfaces(info)
    command_index = {interface.name: i for i, interface in enumerate(commands)}
    device.plugin = MOCK_PLUGIN
    device.image = 0
    device.n_state, device.n_command = len(states), len(commands)
    device.n_parts = max((part.index for part in info.parts), default=-1) + 1
    device.last_cycle = device.age = 0
    device.max_age = defaults.MAX_AGE_TICKS_COMPILED
    device.enabled = device.faulted = 0
    device.time_constant = parameters.time_constant
    device.inertia, device.damping = parameters.inertia, parameters.damping
    for array in (device.mode, device.state, device.command, device.incoming, device.mock_source):
        array[:] = 0
    i = 0
    for part in info.parts:
        if part.kind in JOINTED_KINDS:
            for joint, position in zip(part.joint_names, part.initial_position, strict=True):
                k = command_index[f"{part.name}/{joint}/position"]
                device.mock_source[i] = _JOINT | part.index << 8 | k << 16
                device.mock_source[i + 1] = device.mock_source[i + 2] = _OF_JOINT
                device.state[i] = device.command[k] = position
                i += 3
        elif part.kind == PartKind.FORCE_TORQUE_SENSOR:
            device.state[i : i + 6] = _of_part(parameters.wrench, part, (0.0,) * 6)
            i += 6
        elif part.kind == PartKind.RANGEFINDER:
            device.state[i] = _of_part(parameters.distance, part, math.inf)
            i += 1
        elif part.kind == PartKind.IO:
            given = parameters.inputs.get(part.name, ())
            device.state[i : i + part.n_inputs] = _inputs_of(part, given, 0.0)
            i += part.n_inputs
            for channel in part.outputs:
                k = command_index[f"{part.name}/{channel.name}"]
                device.mock_source[i] = _OUTPUT | part.index << 8 | k << 16
                device.state[i] = device.command[k] = channel.initial
                i += 1
        elif part.kind == PartKind.SENSOR:
            values = _inputs_of(part, parameters.values.get(part.name, {}), math.nan)
            device.state[i : i + part.n_inputs] = values
            for value in range(i, i + part.n_inputs):
                device.mock_source[value + part.n_inputs] = _AGE | part.index << 8 | value << 16
                device.state[value + part.n_inputs] = math.nan if math.isnan(device.state[value]) else 0.0
            i += 2 * part.n_inputs
    _wire_inputs(device, info, parameters)


def set_mock_states(device: np.record, info: HardwareInfo, values: Mapping[str, float]) -> None:
    """Set what the mock's sensors report, or put joints somewhere else (velocity and effort, too).

    Args:
        device: a record that `configure_mock` set up with the same `info`.
        values: state interface name → value, such as {"rangefinder/distance": 0.3}.

    Raises:
        HardwareError: there is no such state interface; nothing was set.
    """
    index = {interface.name: i for i, interface in enumerate(standard_state_interfaces(info))}
    for name in values:
        if name not in index:
            what = f"hardware {info.name!r}: state interface {name!r}"
            raise HardwareError(what, expected=unknown("state interface", name, index))
    for name, value in values.items():
        device.state[index[name]] = value


@realtime
def mock_cycle(device, dt):
    """Advance the states by one period under the last commands: the `read` of a mock device.

    Args:
        device: record of `layout.device_dtype`. Parts whose `mode` is NONE stand still; while `enabled` is 0
            all stand still and outputs stay.
        dt: [s] the real period (the speed override does not slow down hardware).

    Returns:
        1: new data, as `read_state` does.
    """
    follow = 1.0
    if device.time_constant > 0.0:
        follow = 1.0 - math.exp(-dt / device.time_constant)
    for i in range(device.n_state):
        source = device.mock_source[i]
        kind = source & 0xFF
        k = source >> 16
        if kind == _OUTPUT and device.enabled != 0:
            device.state[i] = device.command[k]
        elif kind == _AGE:
            device.state[i] = math.nan if math.isnan(device.state[k]) else 0.0
        elif kind == _JOINT:
            mode = device.mode[(source >> 8) & 0xFF] if device.enabled != 0 else _NONE
            position = device.state[i]
            velocity = 0.0
            effort = 0.0
            if mode == _POSITION:
                # the last step is taken whole, so that an ideal mock reports its command to the last bit
                moved = device.command[k] if follow == 1.0 else position + follow * (device.command[k] - position)
                velocity = (moved - position) / dt
                position = moved
            elif mode == _VELOCITY:
                velocity = device.state[i + 1] + follow * (device.command[k + 1] - device.state[i + 1])
                position += dt * velocity
            elif mode == _EFFORT:
                effort = device.state[i + 2] + follow * (device.command[k + 2] - device.state[i + 2])
                # implicit in the damping: stable for any period
                velocity = (device.state[i + 1] + dt * effort / device.inertia) / (
                    1.0 + dt * device.damping / device.inertia
                )
                position += dt * velocity
            device.state[i] = position
            device.state[i + 1] = velocity
            device.state[i + 2] = effort
    return 1
