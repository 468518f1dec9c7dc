"""Channels: inputs and outputs of an io part, values of a sensor part, and interfaces of an arm's or base's own."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.model.workcell import workcell_schema as schema
from robot_rt_control.text.document import Place
from robot_rt_control.vocabulary.capacities import MAX_CHANNELS
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

RESERVED = ("age", "at_rest", "input", "output", "operational_state")
"""State variables of every part, or of every io part; a channel cannot have one of these names."""


@dataclass(frozen=True, kw_only=True)
class Channel:
    """One named number of a part."""

    name: str
    """The name in `part.name`; unnamed channels are called input_0, input_1, …"""
    is_named: bool = True
    """Whether the workcell file gives the name."""
    type: str = "bool"
    """float, int or bool."""
    unit: str = ""
    description: str = ""
    lower: float = -math.inf
    """Range of an output, in its unit."""
    upper: float = math.inf
    initial: float = 0.0
    """Output: initial value of simulated hardware, and the first command if nothing is read back."""
    safe: float = math.nan
    """Output: value that is written after a failure; NaN: it keeps its value."""

    @property
    def is_digital(self) -> bool:
        """Whether its values are 0 and 1."""
        return self.type == "bool"


def numbered_channels(direction: str, count: int, signal: str = "digital") -> tuple[Channel, ...]:
    """Unnamed channels: input_0, input_1, … or output_0, …"""
    if signal == "digital":
        return tuple(Channel(name=f"{direction}_{i}", is_named=False, lower=0.0, upper=1.0) for i in range(count))
    return tuple(Channel(name=f"{direction}_{i}", is_named=False, type="float") for i in range(count))


def _inputs(given: Mapping[str, schema.InputChannel], signal: str) -> tuple[Channel, ...]:
    return tuple(
        Channel(
            name=name,
            type="bool" if (channel.signal or signal) == "digital" else "float",
            unit=channel.unit,
            description=channel.description,
        )
        for name, channel in given.items()
    )


def _outputs(given: Mapping[str, schema.OutputChannel], signal: str, place: Place) -> tuple[Channel, ...]:
    return tuple(_output(name, channel, signal, place / name) for name, channel in given.items())


def _output(name: str, given: schema.OutputChannel, signal: str, place: Place) -> Channel:
    digital = (given.signal or signal) == "digital"
    if digital and given.range is not None:
        raise DefinitionError(str(place / "range"), expected="none, as the output is digital: 0 or 1")
    lower, upper = (0.0, 1.0) if digital else given.range or (-math.inf, math.inf)
    initial = given.initial
    if initial is None:
        initial = min(max(0.0, lower), upper)
    for field, value in (("initial", initial), ("safe", given.safe)):
        if value is None:
            continue
        if digital and value not in (0.0, 1.0):
            raise DefinitionError(
                str(place / field), expected="true or false, as the output is digital", got=f"{value:g}"
            )
        if not lower <= value <= upper:
            raise DefinitionError(str(place / field), expected=f"a value from {lower:g} to {upper:g}", got=f"{value:g}")
    return Channel(
        name=name,
        type="bool" if digital else "float",
        unit=given.unit,
        description=given.description,
        lower=lower,
        upper=upper,
        initial=initial,
        safe=math.nan if given.safe is None else given.safe,
    )


def io_channels(part: schema.Io, place: Place) -> tuple[tuple[Channel, ...], tuple[Channel, ...]]:
    """Inputs and outputs of an io part.

    Raises:
        DefinitionError: a name is already in use, or a value does not suit the output.
        CapacityError: too many channels.
    """
    if isinstance(part.inputs, int):
        inputs = numbered_channels("input", part.inputs, part.signal)
    else:
        inputs = _inputs(part.inputs, part.signal)
    if isinstance(part.outputs, int):
        outputs = numbered_channels("output", part.outputs, part.signal)
    else:
        outputs = _outputs(part.outputs, part.signal, place / "outputs")
    _check_names("inputs", inputs, (), place)
    _check_names("outputs", outputs, [channel.name for channel in inputs], place)
    return inputs, outputs


def own_interfaces(
    part: schema.MovingPart, known: Iterable[str], place: Place
) -> tuple[tuple[Channel, ...], tuple[Channel, ...]]:
    """What the hardware of a part with joints measures and takes apart from these: its states and commands.

    Args:
        known: names of the part's state variables without them.

    Raises:
        DefinitionError: a name is already in use, or a value does not suit the command.
        CapacityError: too many.
    """
    states = _inputs(part.states, "analog")
    commands = _outputs(part.commands, "analog", place / "commands")
    taken = {re.split(r"[.\[]", name)[0] for name in known}
    _check_names("states", states, taken, place)
    _check_names("commands", commands, [*taken, *(channel.name for channel in states)], place)
    return states, commands


def sensor_values(part: schema.Sensor, place: Place) -> tuple[Channel, ...]:
    """The values of a sensor part.

    Raises:
        DefinitionError: a name is taken.
        CapacityError: too many values.
    """
    values = tuple(
        Channel(name=name, type=given.type, unit=given.unit, description=given.description)
        for name, given in part.values.items()
    )
    _check_names("values", values, [f"{channel.name}_age" for channel in values], place)
    return values


def _check_names(field: str, channels: Sequence[Channel], taken: Collection[str], place: Place) -> None:
    if len(channels) > MAX_CHANNELS:
        raise CapacityError(
            str(place / field), expected=f"at most MAX_CHANNELS = {MAX_CHANNELS} channels", got=str(len(channels))
        )
    for channel in channels:
        if channel.name in RESERVED:
            raise DefinitionError(
                str(place / field / channel.name), expected=f"a name other than {', '.join(RESERVED)}", got=channel.name
            )
        if channel.name in taken:
            raise DefinitionError(
                str(place / field / channel.name), expected="a name that no other state variable of the part has"
            )


def fill_channels(record: np.record, limits: np.record, inputs: Sequence[Channel], outputs: Sequence[Channel]) -> None:
    """Write channels into a part's record (`layout.part_dtype`) and its system limits (`layout.limits_dtype`)."""
    record.n_inputs = len(inputs)
    record.n_outputs = limits.n_outputs = len(outputs)
    for i, channel in enumerate(outputs):
        record.output_lower[i] = limits.output_lower[i] = channel.lower
        record.output_upper[i] = limits.output_upper[i] = channel.upper
        limits.output_digital[i] = channel.is_digital
        limits.output_safe[i] = channel.safe
        limits.output_initial[i] = channel.initial
        record.output_command[i] = record.commanded_outputs[i] = channel.initial
