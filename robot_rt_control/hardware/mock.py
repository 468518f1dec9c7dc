"""The mock device: states follow commands. Computed inside the tick, without a process or a simulator.

Each joint is independent and follows its mode:

==========  ==========================================================================================
POSITION    position follows the command with first-order dynamics; velocity is its change; no effort
VELOCITY    velocity follows the command with first-order dynamics; position integrates it; no effort
EFFORT      effort is the command, on an inertia with viscous damping; velocity and position integrate
NONE        the joint does not move, as with closed brakes
==========  ==========================================================================================

First order, time constant T: x += (command - x) (1 - exp(-dt / T)); T = 0 follows at once. There is no
load, no gravity and no joint limit. Sensors keep their given values; outputs read back at once, and an
input may be wired to an output.

`mock_source` has one int64 for each state interface: bits 0 to 7 are its type (`_CONSTANT` …), bits 8 to 15 the part's
index, bits 16 to 31 the index of the command, the rest the joint's index in its part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

import numpy as np
from pydantic import Field

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.interfaces import standard_command_interfaces, standard_state_interfaces
from robot_rt_control.hardware.parameters import Parameters, checked
from robot_rt_control.memory.joint_modes import mode_of
from robot_rt_control.model.interfaces import state_interfaces
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError, unknown
from robot_rt_control.vocabulary.part_kinds import PART_KINDS

MOCK_PLUGIN = 1
"""Value of `device_dtype.plugin`."""

_CONSTANT = 0
_OUTPUT = 1
"""Equals a command: an output, and an input that is wired to one."""
_JOINT = 2
"""Position of a joint; velocity and effort are the next two states, and likewise for its commands."""
OF_JOINT = 3
"""Velocity or effort: computed together with the joint's position."""
_AGE = 4
"""Age of a sensor's value, which is another state: 0, or unknown if the value is unknown."""

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
    distance: float | dict[str, float] = Field(default_factory=dict)
    """[m] that rangefinders report; not given: inf, out of range."""
    wrench: Wrench | dict[str, Wrench] = Field(default_factory=dict)
    """Force [N] and torque [Nm] that force-torque sensors report; not given: zero."""
    inputs: dict[str, tuple[float, ...] | dict[str, float]] = Field(default_factory=dict)
    """io part → values of its inputs, in order or by name: true, false or a number; omitted inputs are false."""
    wires: dict[str, dict[str, str]] = Field(default_factory=dict)
    """io part → input → the output of the same device that it follows, one cycle later: `clamp`, or `other.clamp` of
    another io part. Such an input cannot be set from outside."""
    values: dict[str, dict[str, float]] = Field(default_factory=dict)
    """part → value → number: of parts that are only read, and own states of an arm, gripper or base. Omitted values of
    a sensor part, and own states, are unknown until a test sets them."""


def _names(part: HardwarePart, parameter: str) -> list[str]:
    """Names of the numbers that a parameter gives: `values` all numbers of a sensor, the others one of its fields."""
    is_io = PART_KINDS[part.kind].is_numbered
    return [
        i.interface
        for i in state_interfaces(part)
        if not i.item
        and i.field not in ("outputs", "input_age")
        and is_io == (parameter == "inputs")
        and parameter in (i.field, "values")
    ]


def _given_values(info: HardwareInfo, parameters: MockParameters) -> dict[str, float]:
    """The initial values of sensors and inputs that the parameters give, by state interface."""
    found = {}
    for parameter in ("distance", "wrench", "inputs", "values"):
        what, given = f"hardware {info.name!r}, mock parameter {parameter!r}", getattr(parameters, parameter)
        known = {part.name: names for part in info.parts if (names := _names(part, parameter))}
        for part, values in (given if isinstance(given, dict) else dict.fromkeys(known, given)).items():
            if part not in known:
                raise HardwareError(f"{what}: part {part!r}", expected=unknown("part with such values", part, known))
            if isinstance(values, float):
                values = (values,)
            if len(values) > len(known[part]):
                expected = f"at most {len(known[part])} values"
                raise HardwareError(f"{what} of part {part!r}", expected=expected, got=str(len(values)))
            if not isinstance(values, dict):
                values = dict(zip(known[part], values, strict=False))
            for name, value in values.items():
                if name not in known[part]:
                    raise HardwareError(
                        f"{what} of part {part!r}: {name!r}", expected=unknown("value", name, known[part])
                    )
                found[f"{part}/{name}"] = value
    return found


def _wire_inputs(device: np.record, info: HardwareInfo, parameters: MockParameters) -> None:
    """Let inputs follow the commands of outputs."""
    states = {interface.name: i for i, interface in enumerate(standard_state_interfaces(info))}
    inputs = {part.name: names for part in info.parts if (names := _names(part, "inputs"))}
    outputs = {f"{part.name}.{channel.name}": part for part in info.parts for channel in part.outputs}
    what = f"hardware {info.name!r}, mock parameter 'wires'"
    for name, wires in parameters.wires.items():
        if name not in inputs:
            raise HardwareError(f"{what}: part {name!r}", expected=unknown("part with inputs", name, inputs))
        for channel, output in wires.items():
            if channel not in inputs[name]:
                expected = unknown("input", channel, inputs[name])
                raise HardwareError(f"{what} of part {name!r}: {channel!r}", expected=expected)
            source = output if "." in output else f"{name}.{output}"
            if source not in outputs:
                raise HardwareError(
                    f"{what}: {name}.{channel}", expected=unknown("output", source, outputs), got=repr(output)
                )
            i, k = states[f"{name}/{channel}"], states[source.replace(".", "/", 1)]
            device.mock_source[i], device.state[i] = device.mock_source[k], device.state[k]


def configure_mock(device: np.record, info: HardwareInfo) -> None:
    """Set up a device record for `mock_cycle`; not real-time, call it before the first tick.

    Interfaces are in the order of `standard_state_interfaces(info)` and `standard_command_interfaces(info)`.
    Joints are at their initial position with equal position commands; all modes are NONE.

    Args:
        device: a record of `layout.device_dtype`.
        info: the device; its parameters are those of MockParameters.

    Raises:
        HardwareError: a parameter is wrong.
    """
    parameters = checked(MockParameters, info.parameters, f"hardware {info.name!r}, parameters of the mock plugin")
    given = _given_values(info, parameters)
    states, commands = standard_state_interfaces(info), standard_command_interfaces(info)
    state_index = {interface.name: i for i, interface in enumerate(states)}
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
        described = PART_KINDS[part.kind]
        idle = {quantity.name: quantity.idle for quantity in described.measured}
        for interface in state_interfaces(part):
            name, j = interface.name, interface.index or 0
            if interface.field in ("position", "outputs"):
                k = command_index[name]
                output = _OUTPUT | part.index << 8 | k << 16
                device.mock_source[i] = joint_source(part.index, k, j) if interface.item else output
                initial = part.initial_position[j] if interface.item else part.outputs[j].initial
                device.state[i] = device.command[k] = initial
            elif interface.item:
                device.mock_source[i] = OF_JOINT
            elif interface.field == "input_age":
                value = state_index[f"{part.name}/{part.inputs[j].name}"]
                device.mock_source[i] = _AGE | part.index << 8 | value << 16
                device.state[i] = math.nan if math.isnan(device.state[value]) else 0.0
            else:
                unset = 0.0 if described.is_numbered else math.nan
                device.state[i] = given.get(name, idle.get(interface.interface, unset))
            i += 1
    _wire_inputs(device, info, parameters)


def joint_source(part: int, command: int, joint: int) -> int:
    """`mock_source` of the position of a joint. That of its velocity and effort is OF_JOINT."""
    return _JOINT | part << 8 | command << 16 | joint << 32


def set_mock_states(device: np.record, info: HardwareInfo, values: Mapping[str, float]) -> None:
    """Set the values of the mock's sensors, or the position, velocity and effort of joints.

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
        device: record of `layout.device_dtype`. Joints whose mode is NONE do not move; while `enabled` is 0 no part
            moves and outputs keep their values.
        dt: [s] the real period (the speed override does not slow down hardware).

    Returns:
        1: new data, as `read_state` does.
    """
    follow = 1.0
    if device.time_constant > 0.0:
        follow = 1.0 - math.exp(-dt / device.time_constant)
    i = 0
    while i < device.n_state:
        source = device.mock_source[i]
        kind = source & 0xFF
        k = (source >> 16) & 0xFFFF
        if kind == _OUTPUT and device.enabled != 0:
            device.state[i] = device.command[k]
        elif kind == _AGE:
            device.state[i] = math.nan if math.isnan(device.state[k]) else 0.0
        elif kind == _JOINT:
            mode = mode_of(device.mode[(source >> 8) & 0xFF], source >> 32) if device.enabled != 0 else _NONE
            position = device.state[i]
            velocity = 0.0
            effort = 0.0
            if mode == _POSITION:
                # the last step is exact, so an ideal mock reports its command to the last bit
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
            i += 2
        i += 1
    return 1
