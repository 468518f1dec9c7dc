"""Parts without hardware, for tests of actions: what is commanded is measured in the next tick."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robot_rt_control.model.kinematics import tool_state
from robot_rt_control.program.capacities import MAX_CHANNELS, MAX_JOINTS
from robot_rt_control.program.defaults import REST_SPEED_FRACTION
from robot_rt_control.program.layout import part_dtype
from robot_rt_control.program.realtime_code import realtime
from robot_rt_control.program.vocabulary import CommandMode, OperationalState, PartKind

_LINK_LENGTH = 0.2


@realtime
def _place_tool(part):
    """Takes the record as a whole: arrays handed over from Python would be counted as allocations."""
    tool_state(part.chain, part.position, part.velocity, part.tool_position, part.tool_orientation, part.tool_twist)


class FakePart:
    """A part of any kind. Implements `program.action_type.Part`.

    Args:
        name: the part's name in messages.
        kind: what it is.
        dof: number of joints; sensors and io have none.
        position: where its joints are [rad or m]; all zero by default.
        inputs: names of an io part's inputs, or of a sensor part's values: `part.live.inputs[0] = 1.0` sets the first.
        outputs: names of an io part's outputs, digital ones: 0 or 1.

    Attributes:
        live: the part's record itself (`layout.part_dtype`): read what an action sees, write what a sensor measures
            (`part.live.distance = 0.2`), or change limits.
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
        if not 0 <= dof <= MAX_JOINTS:
            raise ValueError(f"dof = {dof}: expected 0 to {MAX_JOINTS}")
        if len(position) not in (0, dof):
            raise ValueError(f"position has {len(position)} values, expected one for each of {dof} joints")
        self.name = name
        self.kind = kind
        self.dof = dof
        self.joint_names = tuple(f"{name}_joint_{j + 1}" for j in range(dof))
        self.input_names, self.output_names = tuple(inputs), tuple(outputs)
        for what, names in (("inputs", self.input_names), ("outputs", self.output_names)):
            if len(names) > MAX_CHANNELS:
                raise ValueError(f"{what}: {len(names)} names, expected at most {MAX_CHANNELS}")
        self.memory = np.zeros(1, part_dtype)
        self.live: np.record = self.memory[0]
        self._fill(position)

    def _fill(self, position: Sequence[float]) -> None:
        live = self.live
        live.dof = self.dof
        live.distance = math.nan
        live.wrench[:] = math.nan
        live.tool_orientation[3] = 1.0
        live.at_rest = 1.0
        live.n_inputs, live.n_outputs = len(self.input_names), len(self.output_names)
        live.output_upper[:] = 1.0
        live.operational_state = float(OperationalState.ENABLED)
        for j, q in enumerate(position):
            live.position[j] = live.commanded_position[j] = q
        joints = slice(0, self.dof)
        live.position_lower[joints], live.position_upper[joints] = -2.9, 2.9  # [rad]
        live.velocity_limit[joints] = 1.5  # [rad/s]
        live.acceleration_limit[joints] = 10.0  # [rad/s^2]
        live.jerk_limit[joints] = 100.0  # [rad/s^3]
        live.effort_limit[joints] = 100.0  # [Nm]
        chain = live.chain
        chain.n_joints = self.dof
        # By name in brackets: `chain.base` is NumPy's own attribute of every record.
        chain["base"][:, :3] = chain.tool[:, :3] = np.eye(3)
        chain.tool[2, 3] = _LINK_LENGTH
        chain.gravity[2] = -9.81
        for j in range(self.dof):
            chain.origin[j, :, :3] = np.eye(3)
            chain.origin[j, 2, 3] = _LINK_LENGTH
            chain.axis[j, 2 if j % 2 == 0 else 1] = 1.0  # about z and y in turn, as arms are built
            chain.mass[j] = 1.0
            chain.center_of_mass[j, 2] = 0.5 * _LINK_LENGTH
            chain.inertia[j] = 0.01 * np.eye(3)

    @property
    def record(self) -> np.record:
        """A copy of the part's record."""
        return self.memory.copy()[0]

    def measure(self, dt: float) -> None:
        """Begin a tick: what was commanded is measured, and dt [s] is the time until the next tick."""
        live = self.live
        live.dt = dt
        live.position[:] = live.commanded_position
        live.velocity[:] = live.commanded_velocity
        live.effort[:] = live.commanded_effort
        joints = slice(0, self.dof)
        live.at_rest = float((np.abs(live.velocity[joints]) < REST_SPEED_FRACTION * live.velocity_limit[joints]).all())
        live.outputs[:] = live.commanded_outputs
        if live.chain.n_joints:
            _place_tool(live)

    def prepare_command(self) -> None:
        """Before `control`: what it does not write, holds."""
        live = self.live
        live.command_mode = int(CommandMode.NONE)
        live.position_command[:] = live.commanded_position
        live.velocity_command[:] = 0.0
        live.effort_command[:] = 0.0
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
        live.commanded_acceleration[joints] = (velocity - v) / dt
        live.commanded_velocity[joints] = velocity
        live.commanded_position[joints] = position
        live.commanded_effort[joints] = live.effort_command[joints] if mode is CommandMode.EFFORT else 0.0


class FakeArm(FakePart):
    """An arm with reasonable limits: 7 joints, ±2.9 rad, 1.5 rad/s, 10 rad/s², 100 rad/s³, 100 Nm."""

    def __init__(self, *, name: str = "arm", dof: int = 7, position: Sequence[float] = ()) -> None:
        super().__init__(name=name, kind=PartKind.ARM, dof=dof, position=position)
