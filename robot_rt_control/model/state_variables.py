"""The state variables of a part: every named number that conditions and users can read."""

from __future__ import annotations

from dataclasses import dataclass

from robot_rt_control.memory.layout import offset_of, part_dtype
from robot_rt_control.model.channels import Channel
from robot_rt_control.model.part_description import FORCE_TORQUE_AXES, PartDescription, quantity_units
from robot_rt_control.vocabulary.enums import PartKind

_QUANTITIES = (
    # name, quantity that gives the unit, description
    ("position", "position", "measured position"),
    ("velocity", "velocity", "measured velocity"),
    ("effort", "effort", "measured effort"),
    ("commanded_position", "position", "position of the last command"),
    ("commanded_velocity", "velocity", "velocity of the last command"),
    ("commanded_acceleration", "acceleration", "acceleration of the last command"),
    ("commanded_effort", "effort", "effort of the last command"),
)


@dataclass(frozen=True, kw_only=True)
class PartVariable:
    """A state variable of a part: a float64 at an offset in the part's record."""

    name: str
    """As in conditions: arm.position[0]."""
    type: str
    """float, int or bool."""
    unit: str
    description: str
    offset: int
    """[bytes] in `layout.part_dtype`."""


def _joint_variables(part: PartDescription) -> list[PartVariable]:
    found = []
    for field, quantity, text in _QUANTITIES:
        for j, (joint, unit) in enumerate(zip(part.joint_names, part.units, strict=True)):
            offset = offset_of(part_dtype, field, j)
            names = [f"{part.name}.{field}[{j}]"]
            if joint.isidentifier():
                names.append(f"{part.name}.{joint}.{field}")
            found += [
                PartVariable(
                    name=name,
                    type="float",
                    unit=quantity_units(unit)[quantity],
                    description=f"{text} of joint {joint}",
                    offset=offset,
                )
                for name in names
            ]
    return found


def _tool_variables(part: PartDescription) -> list[PartVariable]:
    def some(field: str, prefix: str, names: str, unit: str, text: str, first: int = 0) -> list[PartVariable]:
        return [
            PartVariable(
                name=f"{part.name}.tool.{prefix}{name}",
                type="float",
                unit=unit,
                description=f"{text}, {name}, in world axes" if unit else f"{text}, {name}",
                offset=offset_of(part_dtype, field, first + i),
            )
            for i, name in enumerate(names)
        ]

    return [
        *some("tool_position", "", "xyz", "m", "measured position of the tool"),
        *some("tool_orientation", "q", "xyzw", "", "measured orientation of the tool in the world, quaternion"),
        *some("tool_twist", "velocity.", "xyz", "m/s", "measured velocity of the tool"),
        *some("tool_twist", "angular_velocity.", "xyz", "rad/s", "measured angular velocity of the tool", 3),
    ]


def _sensor_variables(part: PartDescription) -> list[PartVariable]:
    found = []
    if part.kind == PartKind.FORCE_TORQUE_SENSOR:
        for i, axis in enumerate(FORCE_TORQUE_AXES):
            quantity, direction = axis.split(".")
            found.append(
                PartVariable(
                    name=f"{part.name}.{axis}",
                    type="float",
                    unit="N" if i < 3 else "Nm",
                    description=f"measured {quantity} along {direction} of the sensor frame",
                    offset=offset_of(part_dtype, "wrench", i),
                )
            )
    if part.kind == PartKind.RANGEFINDER:
        found.append(
            PartVariable(
                name=f"{part.name}.distance",
                type="float",
                unit="m",
                description="measured distance",
                offset=offset_of(part_dtype, "distance"),
            )
        )
    if part.kind == PartKind.SENSOR:
        return _value_variables(part)
    return (
        found
        + _channel_variables(part, "input", part.input_channels)
        + _channel_variables(part, "output", part.output_channels)
    )


def _value_variables(part: PartDescription) -> list[PartVariable]:
    """Of a sensor part: each value, and its age."""
    found = []
    for i, channel in enumerate(part.input_channels):
        offset = offset_of(part_dtype, "inputs", i)
        age = offset_of(part_dtype, "input_age", i)
        name, text = f"{part.name}.{channel.name}", channel.description or channel.name
        found += [
            PartVariable(name=name, type=channel.type, unit=channel.unit, description=text, offset=offset),
            PartVariable(
                name=f"{name}_age", type="float", unit="s", description=f"time since {text} was received", offset=age
            ),
        ]
    return found


def _channel_variables(part: PartDescription, kind: str, channels: tuple[Channel, ...]) -> list[PartVariable]:
    """Of an io part: each channel by its number, and by its name where the workcell file gives one."""
    found = []
    for i, channel in enumerate(channels):
        names = [f"{part.name}.{kind}[{i}]"]
        if channel.is_named:
            names.append(f"{part.name}.{channel.name}")
        found += [
            PartVariable(
                name=name,
                type=channel.type,
                unit=channel.unit,
                description=channel.description or f"{kind} {channel.name if channel.is_named else i}",
                offset=offset_of(part_dtype, f"{kind}s", i),
            )
            for name in names
        ]
    return found


def part_state_variables(part: PartDescription) -> list[PartVariable]:
    """All state variables of a part.

    A joint's variables have two names, arm.position[0] and arm.joint.position, where the joint's name is one word.
    """
    found = []
    if part.dof:
        found += _joint_variables(part)
        found.append(
            PartVariable(
                name=f"{part.name}.at_rest",
                type="bool",
                unit="",
                description="commanded and measured speed of every joint are below 1 % of the limit",
                offset=offset_of(part_dtype, "at_rest"),
            )
        )
    if part.kind == PartKind.ARM:
        found += _tool_variables(part)
    found += _sensor_variables(part)
    for name, unit, text in (
        ("age", "ticks", "ticks since the device's data was taken"),
        ("operational_state", "", "0 disabled, 1 enabled, 2 faulted"),
    ):
        offset = offset_of(part_dtype, name)
        found.append(PartVariable(name=f"{part.name}.{name}", type="int", unit=unit, description=text, offset=offset))
    return found
