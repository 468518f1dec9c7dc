"""Plain data that a hardware plugin gets at its start: the device, its parts, their limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf import Inertial, Mimic
from robot_rt_control.model.workcell.channels import Channel
from robot_rt_control.model.workcell.mount import Mount
from robot_rt_control.text.document import Document, Step
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import CapacityError, HardwareError
from robot_rt_control.vocabulary.part_kinds import JOINTED_KINDS, position_units


@dataclass(frozen=True, kw_only=True)
class JointLimits:
    """System limits of a part's joints, one value for each joint, SI units."""

    position_lower: tuple[float, ...] = ()
    position_upper: tuple[float, ...] = ()
    velocity: tuple[float, ...] = ()
    acceleration: tuple[float, ...] = ()
    effort: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class HardwarePart:
    """One part as its hardware sees it.

    Raises:
        HardwareError: lengths do not match the number of joints, or a limit is not usable.
        CapacityError: too many joints or channels.
    """

    name: str
    index: int
    """Its index among all parts of the workcell, also that of its command mode in images and devices."""
    kind: PartKind
    joint_names: tuple[str, ...] = ()
    joint_types: tuple[str, ...] = ()
    """revolute, continuous or prismatic, one for each joint; empty: all revolute."""
    urdf: str | None = None
    """A path, `package://…` or `pybullet_data://…`; None: it is `mounted_on` another part, or has no URDF."""
    mounted_on: str | None = None
    """The part whose URDF, and so whose robot, contains this part's joints and links."""
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
    followers: tuple[Mimic, ...] = ()
    """The URDF's joints that mimic one of the part's."""
    inputs: tuple[Channel, ...] = ()
    """Inputs of an io part, values of a sensor part, own states of a part with joints: in the order of interfaces."""
    outputs: tuple[Channel, ...] = ()
    """Outputs of an io part; own commands of a part with joints."""
    drive_states: tuple[Channel, ...] = ()
    """What drives report of the part, if its device has a configuration for them."""
    mount: Mount | None = None
    """The mount of a sensor; None: not known."""
    range: tuple[float, float] | None = None
    """[m] measuring range of a rangefinder; None: not known."""
    tools: tuple[Inertial, ...] = field(default=(), compare=False)
    """Bodies in the tip link of the tools that an arm lists, in the order of their numbers. Simulators attach them."""
    start_tool: int = 0
    """Number of the tool that is on at the start."""

    def __post_init__(self) -> None:
        where = f"part {self.name!r}"
        n = len(self.joint_names)
        if not 0 <= self.index < capacities.MAX_PARTS:
            expected = f"0 to {capacities.MAX_PARTS - 1}"
            raise CapacityError(f"{where}: index in the workcell", expected=expected, got=str(self.index))
        if n > capacities.MAX_JOINTS:
            raise CapacityError(f"{where}: joints", expected=f"at most {capacities.MAX_JOINTS}", got=str(n))
        for channels, what in ((self.inputs, "inputs"), (self.outputs, "outputs")):
            if len(channels) > capacities.MAX_CHANNELS:
                expected = f"0 to {capacities.MAX_CHANNELS} {what}"
                raise CapacityError(f"{where}: channels", expected=expected, got=str(len(channels)))
        if self.joint_types and len(self.joint_types) != n:
            got = f"{len(self.joint_types)} values"
            raise HardwareError(f"{where}: joint_types", expected=f"one value for each of {n} joints", got=got)
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
                    raise HardwareError(f"{where}, joint {joint!r}: limits.{name}", expected=expected, got=repr(value))
        for joint, lower, upper in zip(
            self.joint_names, self.limits.position_lower, self.limits.position_upper, strict=True
        ):
            if lower > upper:
                expected, got = "position_lower <= position_upper", f"{lower} and {upper}"
                raise HardwareError(f"{where}, joint {joint!r}: limits", expected=expected, got=got)

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each joint's position: rad or m."""
        return position_units(self.joint_types or ("revolute",) * len(self.joint_names))

    @property
    def initial_position(self) -> tuple[float, ...]:
        """Start position of the joints [rad or m]: `start_position`, else zero clamped into the limits."""
        if self.start_position:
            return self.start_position
        pairs = zip(self.limits.position_lower, self.limits.position_upper, strict=True)
        return tuple(min(max(0.0, lower), upper) for lower, upper in pairs)


@dataclass(frozen=True, kw_only=True)
class HardwareInfo:
    """One device: its name, period, its plugin's parameters, its parts in a fixed order.

    Raises:
        HardwareError: the period is not positive, or two parts have the same name.
        CapacityError: too many parts.
    """

    name: str
    period_s: float = defaults.PERIOD_S
    parameters: Mapping[str, Any] = field(default_factory=dict)
    simulated_time: bool = False
    """In lockstep: time passes with the periods, not with the wall clock."""
    parts: tuple[HardwarePart, ...] = ()
    folder: str = ""
    """The workcell file's, where relative paths of parameters begin; empty: the working directory."""
    document: Document | None = field(default=None, repr=False, compare=False)
    """The workcell file, for the lines in errors; None: the device is from no file."""

    def where(self, *path: Step) -> str:
        """What an error about an item of the workcell file begins with: file and line; empty: there is no file."""
        return "" if self.document is None else f"{self.document.where(*path)}: "

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
