"""The mock device outside of the loop: its parameters, and how it is set up. See mock_cycle.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

import numpy as np
from pydantic import Field

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.interfaces import standard_command_interfaces, standard_state_interfaces
from robot_rt_control.hardware.mock_cycle import AGE, MOCK_PLUGIN, OF_JOINT, OUTPUT, joint_source
from robot_rt_control.hardware.parameters import Parameters, checked
from robot_rt_control.model.workcell.interfaces import state_interfaces
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import HardwareError, unknown
from robot_rt_control.vocabulary.part_kinds import PART_KINDS

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
                output = OUTPUT | part.index << 8 | k << 16
                device.mock_source[i] = joint_source(part.index, k, j) if interface.item else output
                initial = part.initial_position[j] if interface.item else part.outputs[j].initial
                device.state[i] = device.command[k] = initial
            elif interface.item:
                device.mock_source[i] = OF_JOINT
            elif interface.field == "input_age":
                value = state_index[f"{part.name}/{part.inputs[j].name}"]
                device.mock_source[i] = AGE | part.index << 8 | value << 16
                device.state[i] = math.nan if math.isnan(device.state[value]) else 0.0
            else:
                unset = 0.0 if described.is_numbered else math.nan
                device.state[i] = given.get(name, idle.get(interface.interface, unset))
            i += 1
    _wire_inputs(device, info, parameters)


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
