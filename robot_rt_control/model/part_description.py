"""What is known of a part before anything runs: joints, limits, kinematics, interfaces."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.memory.layout import offset_of, part_dtype
from robot_rt_control.model.channels import Channel
from robot_rt_control.model.rotation import quaternion_of_rotation, quaternion_to_matrix
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

Array = NDArray[np.float64]

FORCE_TORQUE_AXES = ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")


@dataclass(frozen=True, kw_only=True)
class Pose:
    """Position [m] and orientation (unit quaternion x y z w) of one frame in another."""

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)

    @property
    def matrix(self) -> Array:
        """The same as a (4, 4) matrix."""
        X = np.eye(4)
        quaternion_to_matrix(np.array(self.orientation), X[:3, :3])
        X[:3, 3] = self.position
        return X

    @classmethod
    def of_matrix(cls, X: Array) -> Pose:
        """Of a (4, 4) matrix, or its first three rows."""
        x, y, z, w = quaternion_of_rotation(*(float(v) for v in X[:3, :3].ravel()))
        return cls(position=(float(X[0, 3]), float(X[1, 3]), float(X[2, 3])), orientation=(x, y, z, w))


@dataclass(frozen=True, kw_only=True)
class Interface:
    """A float64 that hardware and loop exchange; names as in ros2_control: part/joint/quantity."""

    name: str
    unit: str
    offset: int
    """[bytes] in `part_dtype`: the field that a state interface fills, or that a command interface is sent from."""


@dataclass(frozen=True, kw_only=True)
class Follower:
    """A joint that mimics one of the part: q = multiplier * q_joint + offset. Simulators have to move it along."""

    name: str
    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, kw_only=True, eq=False)
class PartDescription:
    """A part of a workcell."""

    name: str
    index: int
    """Position in the workcell file, and in the world's `parts`."""
    kind: PartKind
    device: str
    joint_names: tuple[str, ...] = ()
    joint_types: tuple[str, ...] = ()
    """Each revolute, continuous or prismatic."""
    command_modes: tuple[CommandMode, ...] = ()
    system_limits: np.record
    """`layout.limits_dtype`: what the loop enforces."""
    start_position: Array = field(default_factory=lambda: np.zeros(0))
    """(dof,) [rad or m] where simulated hardware starts."""
    default_action: str | None = None
    """Action type of the default action; None: the loop itself holds the part."""
    safety_action: str | None = None
    urdf_path: Path | None = None
    mounted_on: str | None = None
    """Part in whose URDF, the same body, this one is."""
    base_link: str | None = None
    tip_link: str | None = None
    base: Pose = Pose()
    """X_WB: base_link in the world frame; without a chain, the URDF's root link."""
    root: Pose = Pose()
    """X_WR: root link of the part's URDF in the world frame; the same as `base` where base_link is the root."""
    tool: Pose = Pose()
    """X of the tool in the tip link."""
    followers: tuple[Follower, ...] = ()
    input_channels: tuple[Channel, ...] = ()
    """Inputs of an io part; of a sensor part, its values."""
    output_channels: tuple[Channel, ...] = ()
    """Outputs of an io part."""
    initial_record: np.record
    """`layout.part_dtype`; ask for `record`, which is a copy."""

    @property
    def dof(self) -> int:
        return len(self.joint_names)

    @property
    def inputs(self) -> int:
        """How many inputs an io part has, or values a sensor part."""
        return len(self.input_channels)

    @property
    def outputs(self) -> int:
        """How many outputs it has."""
        return len(self.output_channels)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Of the inputs, in the order of the part's record."""
        return tuple(channel.name for channel in self.input_channels)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Of the outputs, in the order of the part's record."""
        return tuple(channel.name for channel in self.output_channels)

    @property
    def record(self) -> np.record:
        """A copy of the part's record: dof, dt, limits, chain; at rest in start_position, sensors unknown (NaN)."""
        return self.initial_record.copy()

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each joint's position: rad or m."""
        return tuple("m" if kind == "prismatic" else "rad" for kind in self.joint_types)

    @property
    def state_interfaces(self) -> tuple[Interface, ...]:
        """What the hardware tells the loop, in the order of its image."""
        return _state_interfaces(self)

    @property
    def command_interfaces(self) -> tuple[Interface, ...]:
        """What the loop tells the hardware: the last command after the limits, in the order of its image."""
        return _command_interfaces(self)


def quantity_units(position_unit: str) -> dict[str, str]:
    """Units of a joint's quantities, for a joint whose position is in rad or m."""
    effort = "Nm" if position_unit == "rad" else "N"
    return {
        "position": position_unit,
        "velocity": f"{position_unit}/s",
        "acceleration": f"{position_unit}/s^2",
        "effort": effort,
    }


def _channels(part: PartDescription, channels: tuple[Channel, ...], field: str) -> list[Interface]:
    return [
        Interface(name=f"{part.name}/{channel.name}", unit=channel.unit, offset=offset_of(part_dtype, field, i))
        for i, channel in enumerate(channels)
    ]


def _ages(part: PartDescription) -> list[Interface]:
    """Of a sensor part: how old each value is."""
    return [
        Interface(name=f"{part.name}/{channel.name}_age", unit="s", offset=offset_of(part_dtype, "input_age", i))
        for i, channel in enumerate(part.input_channels)
    ]


def _state_interfaces(part: PartDescription) -> tuple[Interface, ...]:
    found = []
    for j, (joint, unit) in enumerate(zip(part.joint_names, part.units, strict=True)):
        units = quantity_units(unit)
        for quantity in ("position", "velocity", "effort"):
            offset = offset_of(part_dtype, quantity, j)
            found.append(Interface(name=f"{part.name}/{joint}/{quantity}", unit=units[quantity], offset=offset))
    if part.kind == PartKind.FORCE_TORQUE_SENSOR:
        for i, axis in enumerate(FORCE_TORQUE_AXES):
            unit = "N" if i < 3 else "Nm"
            found.append(Interface(name=f"{part.name}/{axis}", unit=unit, offset=offset_of(part_dtype, "wrench", i)))
    if part.kind == PartKind.RANGEFINDER:
        found.append(Interface(name=f"{part.name}/distance", unit="m", offset=offset_of(part_dtype, "distance")))
    found += _channels(part, part.input_channels, "inputs")
    if part.kind == PartKind.SENSOR:
        found += _ages(part)
    return (*found, *_channels(part, part.output_channels, "outputs"))


def _command_interfaces(part: PartDescription) -> tuple[Interface, ...]:
    found = []
    for j, (joint, unit) in enumerate(zip(part.joint_names, part.units, strict=True)):
        units = quantity_units(unit)
        for quantity in ("position", "velocity", "effort"):
            offset = offset_of(part_dtype, f"commanded_{quantity}", j)
            found.append(Interface(name=f"{part.name}/{joint}/{quantity}", unit=units[quantity], offset=offset))
    return (*found, *_channels(part, part.output_channels, "commanded_outputs"))
