"""State and command interfaces: their names, and which field of a part each one fills.

Names follow ros2_control: `part/joint/interface` for joints (`arm/lbr_iiwa_joint_1/position`) and
`part/interface` for the rest (`rangefinder/distance`, `wrist/force.x`, `io/clamp`, `person/distance`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from robot_rt_control.hardware.info import JOINTED_KINDS, HardwareChannel, HardwareInfo, HardwarePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError

JOINT_INTERFACES = ("position", "velocity", "effort")
"""Interfaces of each joint, in the order of export; states and commands are the same."""

WRENCH_INTERFACES = ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")


@dataclass(frozen=True, kw_only=True)
class InterfaceDescription:
    """One float64 that a device offers as a state, or takes as a command."""

    part: str
    interface: str
    item: str = ""
    """The joint, where the interface belongs to one."""
    unit: str = ""
    minimum: float = -math.inf
    maximum: float = math.inf

    @property
    def name(self) -> str:
        return "/".join(word for word in (self.part, self.item, self.interface) if word)


def _joint_interfaces(part: HardwarePart) -> list[InterfaceDescription]:
    described = []
    limits = part.limits
    for j, joint in enumerate(part.joint_names):
        bounds = {
            "position": (limits.position_lower[j], limits.position_upper[j]),
            "velocity": (-limits.velocity[j], limits.velocity[j]),
            "effort": (-limits.effort[j], limits.effort[j]),
        }
        units = {"position": "rad or m", "velocity": "rad/s or m/s", "effort": "Nm or N"}
        for name in JOINT_INTERFACES:
            lower, upper = bounds[name]
            described.append(
                InterfaceDescription(
                    part=part.name, item=joint, interface=name, unit=units[name], minimum=lower, maximum=upper
                )
            )
    return described


def _channels(part: HardwarePart, channels: tuple[HardwareChannel, ...]) -> list[InterfaceDescription]:
    return [
        InterfaceDescription(
            part=part.name, interface=channel.name, unit=channel.unit, minimum=channel.minimum, maximum=channel.maximum
        )
        for channel in channels
    ]


def _ages(part: HardwarePart) -> list[InterfaceDescription]:
    return [InterfaceDescription(part=part.name, interface=f"{channel.name}_age", unit="s") for channel in part.inputs]


def standard_state_interfaces(info: HardwareInfo) -> list[InterfaceDescription]:
    """The state interfaces that parts of these kinds have, part by part."""
    described: list[InterfaceDescription] = []
    for part in info.parts:
        if part.kind in JOINTED_KINDS:
            described += _joint_interfaces(part)
        elif part.kind == PartKind.FORCE_TORQUE_SENSOR:
            described += [
                InterfaceDescription(part=part.name, interface=name, unit="N" if name.startswith("force") else "Nm")
                for name in WRENCH_INTERFACES
            ]
        elif part.kind == PartKind.RANGEFINDER:
            described.append(InterfaceDescription(part=part.name, interface="distance", unit="m"))
        elif part.kind == PartKind.IO:
            described += _channels(part, part.inputs) + _channels(part, part.outputs)
        elif part.kind == PartKind.SENSOR:
            described += _channels(part, part.inputs) + _ages(part)
    return described


def standard_command_interfaces(info: HardwareInfo) -> list[InterfaceDescription]:
    """The command interfaces that parts of these kinds have, part by part."""
    described: list[InterfaceDescription] = []
    for part in info.parts:
        if part.kind in JOINTED_KINDS:
            described += _joint_interfaces(part)
        elif part.kind == PartKind.IO:
            described += _channels(part, part.outputs)
    return described


def part_slices(interfaces: list[InterfaceDescription]) -> dict[str, slice]:
    """Where the interfaces of each part stand, for interfaces that are listed part by part."""
    slices: dict[str, slice] = {}
    for i, interface in enumerate(interfaces):
        start = slices[interface.part].start if interface.part in slices else i
        slices[interface.part] = slice(start, i + 1)
    return slices


def part_field(part: HardwarePart, name: str) -> tuple[str, int] | None:
    """Which measured field of `layout.part_dtype`, and which element of it, an interface belongs to.

    Args:
        part: the part that the interface belongs to.
        name: full name of a state or command interface.

    Returns:
        (field, index), index 0 for a scalar field. A joint's interface gives ("position", j),
        ("velocity", j) or ("effort", j) for states and commands alike; a plugin's own extra
        interfaces, that no field of a part takes, give None.

    Raises:
        HardwareError: the interface is not one of this part.
    """
    owner, *words = name.split("/")
    if owner != part.name or not words:
        raise HardwareError(f"interface {name!r}", expected=f"an interface of the part {part.name!r}")
    if len(words) == 2 and words[0] in part.joint_names and words[1] in JOINT_INTERFACES:
        return words[1], part.joint_names.index(words[0])
    if len(words) != 1:
        return None
    if part.kind == PartKind.FORCE_TORQUE_SENSOR and words[0] in WRENCH_INTERFACES:
        return "wrench", WRENCH_INTERFACES.index(words[0])
    if part.kind == PartKind.RANGEFINDER and words[0] == "distance":
        return "distance", 0
    if part.kind in (PartKind.IO, PartKind.SENSOR):
        inputs = [channel.name for channel in part.inputs]
        outputs = [channel.name for channel in part.outputs]
        ages = [f"{name}_age" for name in inputs] if part.kind == PartKind.SENSOR else []
        for field, names in (("inputs", inputs), ("outputs", outputs), ("input_age", ages)):
            if words[0] in names:
                return field, names.index(words[0])
    return None
