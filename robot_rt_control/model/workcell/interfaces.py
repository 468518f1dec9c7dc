"""State and command interfaces: their names, and the element of a part's record for each of them.

Names follow ros2_control: `part/joint/interface` for joints (`arm/lbr_iiwa_joint_1/position`) and
`part/interface` for the rest (`rangefinder/distance`, `wrist/force.x`, `io/clamp`, `person/distance`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from robot_rt_control.memory.layout import offset_of, part_dtype
from robot_rt_control.model.workcell.channels import Channel
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.part_kinds import JOINT_INTERFACES, PART_KINDS, quantity_units


@dataclass(frozen=True, kw_only=True)
class InterfaceDescription:
    """One float64 that a device reports as a state or accepts as a command."""

    part: str
    interface: str
    item: str = ""
    """The joint, if the interface belongs to one."""
    unit: str = ""
    field: str = ""
    """Field of `layout.part_dtype`: filled by a state, sent by a command. Empty: only the plugin uses the interface."""
    index: int | None = None
    """Element of the field; None: the field is a single number."""

    @property
    def name(self) -> str:
        return "/".join(word for word in (self.part, self.item, self.interface) if word)

    @property
    def offset(self) -> int:
        """[bytes] in `layout.part_dtype`."""
        return part_offset(self.field, self.index)


def part_offset(field: str, index: int | None) -> int:
    """[bytes] of a number in `layout.part_dtype`; index None: the field is a single number."""
    return offset_of(part_dtype, field) if index is None else offset_of(part_dtype, field, index)


class PartWithInterfaces(Protocol):
    """The properties of a part on which interfaces depend, as the workcell or its hardware describes it."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> PartKind: ...

    @property
    def joint_names(self) -> tuple[str, ...]: ...

    @property
    def units(self) -> tuple[str, ...]: ...

    @property
    def inputs(self) -> tuple[Channel, ...]: ...

    @property
    def outputs(self) -> tuple[Channel, ...]: ...

    @property
    def drive_states(self) -> tuple[Channel, ...]: ...


def state_interfaces(part: PartWithInterfaces) -> list[InterfaceDescription]:
    """The state interfaces of a part, in the order of its image."""
    described = PART_KINDS[part.kind]
    found = _joints(part, "")
    found += [
        InterfaceDescription(part=part.name, interface=q.name, unit=q.unit, field=q.field, index=q.index)
        for q in described.measured
    ]
    found += _channels(part, part.inputs, "inputs")
    if described.has_ages:
        found += [
            InterfaceDescription(part=part.name, interface=f"{c.name}_age", unit="s", field="input_age", index=i)
            for i, c in enumerate(part.inputs)
        ]
    return found + _channels(part, part.outputs, "outputs") + _channels(part, part.drive_states, "drive_states")


def command_interfaces(part: PartWithInterfaces) -> list[InterfaceDescription]:
    """The command interfaces of a part: the last command after the limits, in the order of its image."""
    return _joints(part, "commanded_") + _channels(part, part.outputs, "commanded_outputs")


def tool_interface(part: str) -> InterfaceDescription:
    """The command interface for the number of the tool that is on, of an arm that lists tools. Plugins may export it
    beside the others; it is sent whether the part is enabled or not."""
    return InterfaceDescription(part=part, interface="tool", field="tool_number")


def _joints(part: PartWithInterfaces, prefix: str) -> list[InterfaceDescription]:
    return [
        InterfaceDescription(
            part=part.name,
            item=joint,
            interface=quantity,
            unit=quantity_units(unit)[quantity],
            field=prefix + quantity,
            index=j,
        )
        for j, (joint, unit) in enumerate(zip(part.joint_names, part.units, strict=True))
        for quantity in JOINT_INTERFACES
    ]


def _channels(part: PartWithInterfaces, channels: Sequence[Channel], field: str) -> list[InterfaceDescription]:
    return [
        InterfaceDescription(part=part.name, interface=channel.name, unit=channel.unit, field=field, index=i)
        for i, channel in enumerate(channels)
    ]
