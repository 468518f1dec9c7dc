"""The static description of a part: joints, limits, kinematics, interfaces."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.model.kinematics.worn_tool import wear_tool
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf import Mimic, Urdf
from robot_rt_control.model.workcell.channels import Channel
from robot_rt_control.model.workcell.interfaces import InterfaceDescription, command_interfaces, state_interfaces
from robot_rt_control.model.workcell.mount import Mount
from robot_rt_control.model.workcell.tool_description import ToolDescription
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, unknown
from robot_rt_control.vocabulary.part_kinds import position_units

Array = NDArray[np.float64]


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
    """`layout.limits_dtype`: the limits that the loop enforces."""
    unmonitored: tuple[str, ...] = ()
    """Monitors that are off, in words, with the reason."""
    start_position: Array = field(default_factory=lambda: np.zeros(0))
    """(dof,) [rad or m] start position of simulated hardware."""
    default_action: str | None = None
    """Action type of the default action; None: the loop itself holds the part."""
    safety_action: str | None = None
    urdf: Urdf | None = None
    """Its own, or that of the part on which it is mounted."""
    mounted_on: str | None = None
    """Part whose URDF (the same body) contains this one."""
    base_link: str | None = None
    tip_link: str | None = None
    base: Pose = Pose()
    """X_WB: base_link in the world frame; without a chain, the URDF's root link."""
    root: Pose = Pose()
    """X_WR: root link of the part's URDF in the world frame; equal to `base` if base_link is the root."""
    tool: Pose = Pose()
    """X of the tool in the tip link; if it lists tools, of the one that is on at the start."""
    tools: tuple[ToolDescription, ...] = ()
    """The tools that can be put on; none: its tool is never changed."""
    start_tool: int = 0
    """Which of these is on at the start."""
    external_effort: bool = False
    """The loop computes `external_effort`, which are then state variables."""
    followers: tuple[Mimic, ...] = ()
    """The URDF's joints that mimic one of the part's."""
    inputs: tuple[Channel, ...] = ()
    """Inputs of an io part; values of a sensor part; own states of a part with joints."""
    outputs: tuple[Channel, ...] = ()
    """Outputs of an io part; own commands of a part with joints."""
    drive_states: tuple[Channel, ...] = ()
    """What its drives report of its motors and of themselves, see model/workcell/drives.py; none on other devices."""
    motor_names: tuple[str, ...] = ()
    """Each joint with its motor and drive, for people; none on other devices."""
    mount: Mount | None = None
    """The mount of a sensor; None: not known."""
    range: tuple[float, float] | None = None
    """[m] measuring range of a rangefinder; None: not known."""
    field_of_view: float = 0.0
    """[rad] opening angle of a rangefinder's beam."""
    initial_record: np.record
    """`layout.part_dtype`; use `record`, which returns a copy."""

    @property
    def dof(self) -> int:
        return len(self.joint_names)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs, in the order of the part's record."""
        return tuple(channel.name for channel in self.inputs)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs, in the order of the part's record."""
        return tuple(channel.name for channel in self.outputs)

    @property
    def record(self) -> np.record:
        """A copy of the part's record: dof, dt, limits, chain; at rest in start_position, sensors unknown (NaN)."""
        return self.initial_record.copy()

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools, in the order of their numbers."""
        return tuple(tool.name for tool in self.tools)

    def tool_name(self, number: float) -> str:
        """The name of a tool by its number in the part's record; empty: NaN, it lists no tools."""
        return self.tools[int(number)].name if self.tools and 0 <= number < len(self.tools) else ""

    def with_tool(self, name: str) -> PartDescription:
        """The description with another tool on at the start. Raises DefinitionError: the part has no such tool."""
        number = self.tool_index(name)
        if number == self.start_tool:
            return self
        record, limits = self.initial_record.copy(), self.system_limits.copy()
        wear_tool(record, limits, self.tools[number].record, number)
        return replace(
            self, start_tool=number, tool=self.tools[number].pose, initial_record=record, system_limits=limits
        )

    @property
    def tools_limit(self) -> bool:
        """Whether the limits that actions plan with depend on the tool that is on."""
        limits = [t.record[name] for name in ("velocity_limit", "acceleration_limit", "jerk_limit") for t in self.tools]
        n = len(self.tools)
        return any((limits[i] != limits[i - i % n]).any() for i in range(len(limits)))

    def tool_index(self, name: str) -> int:
        """The number of a tool. Raises DefinitionError: the part has no such tool."""
        if name not in self.tool_names:
            raise DefinitionError(
                f"tool {name!r} of part {self.name!r}",
                expected=unknown("tool", name, self.tool_names) if self.tools else "a part that lists tools",
                got=repr(name) if self.tools else "one whose tool is never changed",
                hint="" if self.tools else "List them under `tools` of the part in the workcell file",
            )
        return self.tool_names.index(name)

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each joint's position: rad or m."""
        return position_units(self.joint_types)

    @property
    def braking_time(self) -> float:
        """[s] in which the loop itself brings the part from full speed to rest, by its system limits; 0 without joints.

        A ramp with limited jerk takes v/a + a/j if it reaches its acceleration a, and less if it does not.
        """
        limits, n = self.system_limits, self.dof
        acceleration, jerk = limits.acceleration[:n], limits.jerk[:n]
        ramps = np.divide(acceleration, jerk, out=np.zeros(n), where=jerk > 0.0)  # 0: not limited
        return float(np.max(limits.velocity[:n] / acceleration + ramps, initial=0.0))

    @property
    def rest_wait(self) -> float:
        """[s] for which enabling waits until the part, if it still brakes, is at rest."""
        return self.braking_time + defaults.REST_WAIT_S

    @property
    def state_interfaces(self) -> list[InterfaceDescription]:
        """The interfaces that the hardware reports to the loop, in the order of its image."""
        return state_interfaces(self)

    @property
    def command_interfaces(self) -> list[InterfaceDescription]:
        """The interfaces that the loop sends to the hardware, in the order of its image."""
        return command_interfaces(self)
