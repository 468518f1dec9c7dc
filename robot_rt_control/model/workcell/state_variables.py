"""The state variables of a part: every named number that conditions and users can read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from robot_rt_control.model.workcell.channels import Channel
from robot_rt_control.model.workcell.drives import MOTOR_STATES
from robot_rt_control.model.workcell.interfaces import part_offset
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.vocabulary.part_kinds import (
    EXTERNAL_EFFORT,
    JOINT_QUANTITIES,
    PART_KINDS,
    JointQuantity,
    quantity_units,
)

_TOOL = (
    # field, its first element, between "tool." and the letters, letters, unit, description
    ("tool_position", 0, "", "xyz", "m", "measured position of the tool, {}, in world axes"),
    ("tool_orientation", 0, "q", "xyzw", "", "measured orientation of the tool in the world, quaternion, {}"),
    ("tool_twist", 0, "velocity.", "xyz", "m/s", "measured velocity of the tool, {}, in world axes"),
    ("tool_twist", 3, "angular_velocity.", "xyz", "rad/s", "measured angular velocity of the tool, {}, in world axes"),
)


@dataclass(frozen=True, kw_only=True)
class PartVariable:
    """A state variable of a part: a float64 at an offset in the part's record."""

    name: str
    """The name in conditions: arm.position[0]."""
    type: str
    """float, int or bool."""
    unit: str
    description: str
    offset: int
    """[bytes] in `layout.part_dtype`."""
    length: int = 1
    """More: a vector, whose elements are also variables; only `norm` reads it as a whole."""


def part_state_variables(part: PartDescription) -> list[PartVariable]:
    """All state variables of a part, its vectors included.

    A joint's variables have two names, arm.position[0] and arm.joint.position, if the joint's name is one word.
    """
    return [
        PartVariable(
            name=f"{part.name}.{name}",
            type=kind,
            unit=unit,
            description=text,
            offset=part_offset(field, index),
            length=length,
        )
        for name, kind, unit, text, field, index, length in (
            *((*row, 1) for row in _variables(part)),
            *_vectors(part),
        )
    ]


_Row = tuple[str, str, str, str, str, int | None]
"""Name without the part's name, type, unit, description, field of the record, element of the field."""


def _variables(part: PartDescription) -> Iterator[_Row]:
    described = PART_KINDS[part.kind]
    if part.dof:
        yield from _joint_variables(part)
    if described.has_tool:
        for field, first, prefix, letters, unit, text in _TOOL:
            for i, letter in enumerate(letters):
                yield f"tool.{prefix}{letter}", "float", unit, text.format(letter), field, first + i
    if part.tools:
        numbers = ", ".join(f"{i} {tool.name}" for i, tool in enumerate(part.tools))
        yield "tool", "int", "", f"the tool that is on: {numbers}", "tool_number", None
        yield "tool_confirmed", "bool", "", "whether the sensors agree with that", "tool_confirmed", None
        for i, tool in enumerate(part.tools):
            yield f"tool.{tool.name}.fits", "bool", "", f"whether the sensors let {tool.name} be put on", "tool_fits", i
    for quantity in (*described.measured, *described.derived):
        yield quantity.name, "float", quantity.unit, quantity.description, quantity.field, quantity.index
    for field, channels in (("input", part.inputs), ("output", part.outputs)):
        for i, channel in enumerate(channels):
            yield from _channel_variables(field, i, channel, described.is_numbered)
            if described.has_ages:
                text = f"time since {channel.description or channel.name} was received"
                yield f"{channel.name}_age", "float", "s", text, "input_age", i
    yield from _drive_variables(part)
    yield "age", "int", "ticks", "ticks since the device's data was taken", "age", None
    yield "operational_state", "int", "", "0 disabled, 1 enabled, 2 faulted", "operational_state", None


def _vectors(part: PartDescription) -> Iterator[tuple[str, str, str, str, str, int, int]]:
    """As `_Row`, and the number of elements, which have one unit."""
    if part.dof > 1 and len(set(part.units)) == 1:
        for q in _joint_quantities(part):
            unit = quantity_units(part.units[0])[q.quantity]
            yield q.field, "float", unit, f"{q.description} of all joints", q.field, 0, part.dof
    if PART_KINDS[part.kind].has_tool:
        for field, first, prefix, letters, unit, text in _TOOL:
            if prefix.endswith("."):
                described = text.format(letters)
                yield f"tool.{prefix[:-1]}", "float", unit, described, field, first, len(letters)
    for stem, group in groupby(PART_KINDS[part.kind].measured, lambda quantity: quantity.name.rpartition(".")[0]):
        elements = list(group)
        if stem:
            unit, start = elements[0].unit, elements[0].index
            assert start is not None  # a name with a dot is that of an element
            yield stem, "float", unit, f"measured {stem}", elements[0].field, start, len(elements)


def _joint_quantities(part: PartDescription) -> tuple[JointQuantity, ...]:
    return (*JOINT_QUANTITIES, *([EXTERNAL_EFFORT] if part.external_effort else []))


def _joint_variables(part: PartDescription) -> Iterator[_Row]:
    for q in _joint_quantities(part):
        for j, (joint, position_unit) in enumerate(zip(part.joint_names, part.units, strict=True)):
            unit, text = quantity_units(position_unit)[q.quantity], f"{q.description} of joint {joint}"
            yield f"{q.field}[{j}]", "float", unit, text, q.field, j
            if joint.isidentifier():
                yield f"{joint}.{q.field}", "float", unit, text, q.field, j
    text = "commanded and measured speed of every joint are below 1 % of the limit"
    yield "at_rest", "bool", "", text, "at_rest", None


def _drive_variables(part: PartDescription) -> Iterator[_Row]:
    """Those of motors as other variables of joints: error[0] and elbow.error. Those of drives: base.lost."""
    for i, state in enumerate(part.drive_states):
        owner, _, quantity = state.name.rpartition(".")
        names = [f"{quantity}[{i // len(MOTOR_STATES)}]"] if i < len(MOTOR_STATES) * part.dof else []
        if owner.isidentifier():
            names.append(state.name)
        for name in names:
            yield name, state.type, state.unit, f"{owner}: {state.description}", "drive_states", i


def _channel_variables(direction: str, i: int, channel: Channel, is_numbered: bool) -> Iterator[_Row]:
    """The variables of a channel: by index, if the kind has this, and by name, if the workcell file gives one."""
    text = channel.description or (f"{direction} {channel.name if channel.is_named else i}" if is_numbered else "")
    names = [f"{direction}[{i}]"] if is_numbered else []
    if channel.is_named:
        names.append(channel.name)
    for name in names:
        yield name, channel.type, channel.unit, text or channel.name, f"{direction}s", i
