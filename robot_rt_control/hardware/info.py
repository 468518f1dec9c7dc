"""Plain data that a hardware plugin is started with: the device, its parts, their limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import CapacityError, HardwareError

JOINTED_KINDS = (PartKind.ARM, PartKind.GRIPPER, PartKind.BASE)
"""Kinds of parts that have joints."""


@dataclass(frozen=True, kw_only=True)
class Pose:
    """Position [m] and orientation (quaternion x y z w) of one frame in another."""

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class JointLimits:
    """System limits of a part's joints, one value for each joint, SI units."""

    position_lower: tuple[float, ...] = ()
    position_upper: tuple[float, ...] = ()
    velocity: tuple[float, ...] = ()
    acceleration: tuple[float, ...] = ()
    effort: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class HardwareChannel:
    """One input or output of an io part, or one value of a sensor part."""

    name: str
    unit: str = ""
    is_digital: bool = True
    """0 or 1."""
    minimum: float = -math.inf
    maximum: float = math.inf
    initial: float = 0.0
    """Of an output: what a simulated device starts with."""
    safe: float = math.nan
    """Of an output: what the driver writes when it brings the device to rest by itself; NaN: it keeps its value."""


@dataclass(frozen=True, kw_only=True)
class HardwarePart:
    """One part as its hardware sees it.

    Raises:
        HardwareError: lengths do not fit the number of joints, or a limit is not usable.
        CapacityError: too many joints or channels.
    """

    name: str
    index: int
    """Its place among all parts of the workcell: where its command mode stands in images and devices."""
    kind: PartKind
    joint_names: tuple[str, ...] = ()
    urdf: str | None = None
    """A path, `package://…` or `pybullet_data://…`; None: it is `mounted_on` another part, or has none."""
    mounted_on: str | None = None
    """The part in whose URDF, and so on whose robot, this one's joints and links are."""
    base_link: str | None = None
    tip_link: str | None = None
    base: Pose = field(default_factory=Pose)
    """X_WB: the part's base frame in the world."""
    tool: Pose = field(default_factory=Pose)
    """The tool frame in the tip link's frame."""
    start_position: tuple[float, ...] = ()
    """[rad or m], one for each joint; empty: zero, or the nearest position within the limits."""
    limits: JointLimits = field(default_factory=JointLimits)
    supported_modes: frozenset[CommandMode] = frozenset({CommandMode.POSITION})
    n_inputs: int = 0
    """Of an io part its inputs, of a sensor part its values."""
    n_outputs: int = 0
    input_channels: tuple[HardwareChannel, ...] = ()
    """One for each input; empty: they are called input_0, input_1, … and are digital."""
    output_channels: tuple[HardwareChannel, ...] = ()

    def __post_init__(self) -> None:
        where = f"part {self.name!r}"
        n = len(self.joint_names)
        if not 0 <= self.index < capacities.MAX_PARTS:
            expected = f"0 to {capacities.MAX_PARTS - 1}"
            raise CapacityError(f"{where}: index in the workcell", expected=expected, got=str(self.index))
        if n > capacities.MAX_JOINTS:
            raise CapacityError(f"{where}: joints", expected=f"at most {capacities.MAX_JOINTS}", got=str(n))
        for count, what in ((self.n_inputs, "inputs"), (self.n_outputs, "outputs")):
            if not 0 <= count <= capacities.MAX_CHANNELS:
                expected = f"0 to {capacities.MAX_CHANNELS} {what}"
                raise CapacityError(f"{where}: channels", expected=expected, got=str(count))
        for channels, count, what in (
            (self.input_channels, self.n_inputs, "inputs"),
            (self.output_channels, self.n_outputs, "outputs"),
        ):
            if channels and len(channels) != count:
                raise HardwareError(f"{where}: {what}", expected=f"{count} descriptions", got=f"{len(channels)}")
        if self.kind in JOINTED_KINDS and n == 0:
            raise HardwareError(f"{where} of kind {self.kind.name}", expected="joint_names", got="none")
        if self.kind not in JOINTED_KINDS:
            return
        if self.start_position and len(self.start_position) != n:
            got = f"{len(self.start_position)} values"
            raise HardwareError(f"{where}: start_position", expected=f"one value for each of {n} joints", got=got)
        for name in ("position_lower", "position_upper", "velocity", "acceleration", "effort"):
            values = getattr(self.limits, name)
            if len(values) != n:
                got = f"{len(values)} values"
                raise HardwareError(f"{where}: limits.{name}", expected=f"one value for each of {n} joints", got=got)
            for joint, value in zip(self.joint_names, values, strict=True):
                positive = name.startswith("position") or value > 0
                if math.isnan(value) or not positive:
                    expected = "a number" if name.startswith("position") else "a positive number"
                    raise HardwareError(
                        f"{where}, joint {joint!r}: limits.{name}", expected=expected, got=repr(value)
                    )
        for joint, lower, upper in zip(
            self.joint_names, self.limits.position_lower, self.limits.position_upper, strict=True
        ):
            if lower > upper:
                expected, got = "position_lower <= position_upper", f"{lower} and {upper}"
                raise HardwareError(f"{where}, joint {joint!r}: limits", expected=expected, got=got)

    @property
    def inputs(self) -> tuple[HardwareChannel, ...]:
        """Its inputs or values, in the order of their interfaces."""
        return self.input_channels or tuple(HardwareChannel(name=f"input_{i}") for i in range(self.n_inputs))

    @property
    def outputs(self) -> tuple[HardwareChannel, ...]:
        """Its outputs, in the order of their interfaces."""
        return self.output_channels or tuple(HardwareChannel(name=f"output_{i}") for i in range(self.n_outputs))

    @property
    def initial_position(self) -> tuple[float, ...]:
        """Where the joints start [rad or m]: `start_position`, else zero clamped into the limits."""
        if self.start_position:
            return self.start_position
        pairs = zip(self.limits.position_lower, self.limits.position_upper, strict=True)
        return tuple(min(max(0.0, lower), upper) for lower, upper in pairs)


@dataclass(frozen=True, kw_only=True)
class HardwareInfo:
    """One device: its name, period, its plugin's parameters, its parts in a fixed order.

    Raises:
        HardwareError: the period is not positive, or two parts have one name.
        CapacityError: too many parts.
    """

    name: str
    period_s: float = defaults.PERIOD_S
    parameters: Mapping[str, Any] = field(default_factory=dict)
    simulated_time: bool = False
    """In lockstep: time passes with the periods, not with the wall clock."""
    parts: tuple[HardwarePart, ...] = ()

    def __post_init__(self) -> None:
        where = f"hardware {self.name!r}"
        if not (self.period_s > 0 and math.isfinite(self.period_s)):
            raise HardwareError(f"{where}: period", expected="a positive number of seconds", got=repr(self.period_s))
        if len(self.parts) > capacities.MAX_PARTS:
            expected = f"at most {capacities.MAX_PARTS}"
            raise CapacityError(f"{where}: parts", expected=expected, got=str(len(self.parts)))
        names = [part.name for part in self.parts]
        for name in names:
            if names.count(name) > 1:
                raise HardwareError(f"{where}: the part {name!r} is listed twice")
        indices = [part.index for part in self.parts]
        for part in self.parts:
            if indices.count(part.index) > 1:
                got = f"{part.index} for {part.name!r} and another one"
                raise HardwareError(f"{where}: parts", expected="indices that differ", got=got)
