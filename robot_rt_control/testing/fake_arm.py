"""Parts without hardware, for tests of actions: a command is measured in the next tick."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.memory.layout import limits_dtype, part_dtype
from robot_rt_control.model.kinematics.kinematics import tool_state
from robot_rt_control.model.kinematics.worn_tool import wear_tool
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.model.workcell.sample_part import sample_part
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.action_time import show_motion_of
from robot_rt_control.vocabulary.defaults import REST_SPEED_FRACTION
from robot_rt_control.vocabulary.enums import CommandMode, PartKind


@realtime
def _place_tool(part):
    """Takes the whole record, because arrays passed from Python would be counted as allocations."""
    tool_state(part.chain, part.position, part.velocity, part.tool_position, part.tool_orientation, part.tool_twist)


class FakePart(PartFacts):
    """A part of any kind. Implements `program.action_type.Part`.

    Args:
        name: the part's name in messages.
        kind: its kind.
        dof: number of joints; sensors and io have none.
        position: [rad or m] of its joints; all zero by default.
        inputs: names of an io part's inputs, or of a sensor part's values: `part.live.inputs[0] = 1.0` sets the first.
        outputs: names of an io part's outputs, digital ones: 0 or 1.

    Attributes:
        live: the part's record itself (`layout.part_dtype`): what an action reads. Write to it to set a sensor
            (`part.live.distance = 0.2`, `part.live.tool_fits[1] = 0.0`) or a limit.
    """

    def __init__(
        self,
        *,
        name: str = "part",
        kind: PartKind = PartKind.ARM,
        dof: int = 0,
        position: Sequence[float] = (),
        inputs: Sequence[str] = (),
        outputs: Sequence[str] = (),
    ) -> None:
        super().__init__(sample_part(kind, name=name, dof=dof, position=position, inputs=inputs, outputs=outputs))
        self.memory = np.zeros(1, part_dtype)
        self.memory[0] = self.description.initial_record
        self.live: np.record = self.memory[0]
        self._unlimited: np.record = np.zeros(1, limits_dtype)[0]
        self._unlimited.velocity[:] = self._unlimited.acceleration[:] = math.inf
        self._modes, self._speed = 0, 1.0
        self._past_speeds = (1.0, 1.0, 1.0)

    @property
    def record(self) -> np.record:
        """A copy of the part's record."""
        return self.memory.copy()[0]

    def measure(self, dt: float, *, speed: float = 1.0) -> None:
        """Begin a tick: the last command is measured.

        Args:
            dt: [s] until the next tick, scaled by the speed override.
            speed: the override.
        """
        live = self.live
        live.dt = dt
        live.position[:] = live.commanded_position
        live.velocity[:] = live.commanded_velocity
        live.effort[:] = live.commanded_effort
        self._speed = speed
        period = dt / speed if speed > 0.0 else 0.0
        show_motion_of(live, self._unlimited, self._modes, period, *self._past_speeds)
        joints = slice(0, self.dof)
        live.at_rest = float((np.abs(live.velocity[joints]) < REST_SPEED_FRACTION * live.velocity_limit[joints]).all())
        live.outputs[:] = live.commanded_outputs
        if self.tools:
            live.tool_confirmed = live.tool_fits[int(live.tool_number)]
        if live.chain.n_joints:
            _place_tool(live)

    def prepare_command(self) -> None:
        """Call before `control`: joints without a new command hold."""
        live = self.live
        live.command_mode = int(CommandMode.NONE)
        live.position_command[:] = live.commanded_position
        live.velocity_command[:] = 0.0
        live.effort_command[:] = 0.0
        live.tool_command = math.nan
        live.output_command[:] = live.commanded_outputs

    def obey(self, dt: float) -> None:
        """End a tick: take the command exactly, without limits. Joints under effort are unit inertias.

        Args:
            dt: period [s].

        Raises:
            ValueError: a command is not finite.
        """
        live = self.live
        for name, value in zip(self.output_names, live.output_command, strict=False):
            if not math.isfinite(value):
                raise ValueError(f"{self.name}, output {name!r}: the command is {value}, not finite")
        live.commanded_outputs[:] = live.output_command
        mode = CommandMode(int(live.command_mode))
        joints = slice(0, self.dof)
        q, v = live.commanded_position[joints], live.commanded_velocity[joints]
        if mode is CommandMode.VELOCITY:
            velocity = live.velocity_command[joints].copy()
            position = q + velocity * dt
        elif mode is CommandMode.EFFORT:
            velocity = v + live.effort_command[joints] * dt
            position = q + velocity * dt
        else:
            position = live.position_command[joints].copy()
            velocity = (position - q) / dt
        for joint, value in zip(self.joint_names, position, strict=True):
            if not math.isfinite(value):
                raise ValueError(f"{joint}: the {mode.name.lower()} command is {value}, not finite")
        self._modes = pack_modes([mode] * self.dof)
        self._past_speeds = (self._speed, *self._past_speeds[:2])
        live.former_acceleration[joints] = live.commanded_acceleration[joints]
        live.commanded_acceleration[joints] = (velocity - v) / dt
        live.commanded_velocity[joints] = velocity
        live.commanded_position[joints] = position
        live.commanded_effort[joints] = live.effort_command[joints] if mode is CommandMode.EFFORT else 0.0
        self._change_tool()

    def _change_tool(self) -> None:
        """As the loop: at rest, and if the sensors let the tool be on."""
        live, asked = self.live, self.live.tool_command
        if not (self.tools and 0.0 <= asked < len(self.tools)) or live.tool_number == asked:
            return
        joints = slice(0, self.dof)
        at_rest = not live.commanded_velocity[joints].any() and not live.commanded_acceleration[joints].any()
        if at_rest and live.tool_fits[int(asked)] == 1.0:
            wear_tool(live, self._unlimited, self.description.tools[int(asked)].record, int(asked))
            live.tool_confirmed = 1.0
            _place_tool(live)


class FakeArm(FakePart):
    """An arm with reasonable limits: 7 joints, ±2.9 rad, 1.5 rad/s, 10 rad/s², 100 rad/s³, 100 Nm."""

    def __init__(self, *, name: str = "arm", dof: int = 7, position: Sequence[float] = ()) -> None:
        super().__init__(name=name, kind=PartKind.ARM, dof=dof, position=position)
