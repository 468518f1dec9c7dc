"""One servo: its units, what it last said, and what is wrong with it."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from robot_rt_control.hardware.dynamixel import control_table as table
from robot_rt_control.hardware.dynamixel.bus import ServoBus
from robot_rt_control.hardware.dynamixel.control_table import Register
from robot_rt_control.hardware.dynamixel.parameters import ServoParameters
from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

_ANSWER = struct.Struct("<BBBBhii")
assert _ANSWER.size == len(table.MAPPED)
_HOMING = 1024
_FARTHEST = 1_048_575
"""[pulses] A goal beyond is refused in extended position mode."""


@dataclass(kw_only=True)
class Servo:
    """A servo and its joint. Numbers with `shown` are those of its last answer."""

    given: ServoParameters
    part: HardwarePart
    state: int
    """Place of its joint's position among the states; velocity and effort follow."""
    command: int
    """Likewise among the commands."""
    mode: CommandMode = CommandMode.NONE
    operating_mode: int = -1
    """The servo's own; -1: not known."""
    is_live: bool = False
    """It has its torque, and follows commands."""
    failure: str = ""
    """Why it is given up, until it is healthy again and its part is not commanded."""
    is_set_up: bool = False
    setting_up: Iterator[None] | None = None
    """Its set-up, if it is under way beside others that move."""
    written: list[str] = field(default_factory=list)
    """Registers that the set-up has written."""
    missed: int = 0
    """Exchanges in a row without an answer."""
    answered: bool = False
    waiting_s: float = 0.0
    """Since it was to be enabled, or since it was rebooted."""
    to_write: list[tuple[Register, int]] = field(default_factory=list)
    """Registers to write before it can be enabled, one in each exchange."""
    refused: str = ""
    """Why it has not got the goal with which it stays where it is."""
    shown_torque: int = 0
    shown_watchdog: int = 0
    shown_error: int = 0
    shown_position: int = 0
    """[pulses]"""
    values: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    """Position, velocity and effort of the joint."""

    def __post_init__(self) -> None:
        given, turn = self.given, 2 * math.pi
        self.id, self.model = given.id, table.MODELS[given.model]
        self.joint = self.part.joint_names.index(given.joint.partition(".")[2])
        self.what = f"servo {given.id} ({given.joint})"
        per_turn = given.direction * (turn if given.per_turn is None else given.per_turn)
        self._pulse, self._velocity = per_turn / table.PULSES, per_turn / turn * table.VELOCITY_UNIT
        torque = math.nan if given.torque_constant is None else given.torque_constant * self.model.current_unit
        self._effort = torque * turn / per_turn
        limits = self.part.limits
        ends = sorted(self._pulses(q) for q in (limits.position_lower[self.joint], limits.position_upper[self.joint]))
        self._velocity_limit = round(min(limits.velocity[self.joint] / abs(self._velocity), 1023))
        self._current_limit = 0
        if math.isfinite(self._effort) and math.isfinite(limits.effort[self.joint]):
            self._current_limit = min(int(limits.effort[self.joint] / abs(self._effort)), 1193)
        self._range = max(ends[0], -_FARTHEST), min(ends[1], _FARTHEST)
        self._ends: tuple[int, int] | None = (ends[0], ends[1])
        if ends[0] < 0 or ends[1] >= table.PULSES:
            self._ends = None
        if self._ends is not None and abs(given.homing_offset or 0) > _HOMING:
            raise HardwareError(
                f"{self.what}: homing_offset",
                expected=f"-{_HOMING} to {_HOMING}, as in position mode a servo ignores others",
                got=str(given.homing_offset),
                hint="Give `zero` instead",
            )

    def _pulses(self, position: float) -> int:
        limit = 1 << 30  # what the register holds; a joint without limits has infinite ones
        return self.given.zero + round(min(max(position / self._pulse, -limit), limit))

    # --- set-up -----------------------------------------------------------------------------------

    def operating_mode_for(self, mode: CommandMode) -> int:
        if mode == CommandMode.VELOCITY:
            return table.VELOCITY_MODE
        if mode == CommandMode.EFFORT:
            return table.CURRENT_MODE
        return table.EXTENDED_POSITION_MODE if self._ends is None else table.POSITION_MODE

    def settings(self) -> list[tuple[Register, int]]:
        """What its EEPROM must hold, beside the operating mode."""
        wanted = [(table.RETURN_DELAY, 0), (table.DRIVE_MODE, 0), (table.VELOCITY_LIMIT, self._velocity_limit)]
        if self.given.homing_offset is not None:
            wanted.append((table.HOMING_OFFSET, self.given.homing_offset))
        if self._current_limit:
            wanted.append((table.CURRENT_LIMIT, self._current_limit))
        if self._ends is not None:
            wanted += [(table.MIN_POSITION, self._ends[0]), (table.MAX_POSITION, self._ends[1])]
        return wanted

    def set_up(self, bus: ServoBus) -> Iterator[None]:
        """Write what the servo does not hold yet, one acknowledged access in each step; `written` has the names.

        Its torque is switched off only if one of these must be: so a new driver does not drop an arm that the last one
        left holding.

        Raises:
            HardwareError: in a step: it does not answer, refuses a value, or is another model.
        """
        self.written = []
        number = bus.read(self.id, table.MODEL, self.what)
        if number != self.model.number:
            found = next((n for n, m in table.MODELS.items() if m.number == number), f"model number {number}")
            raise HardwareError(f"{self.what}: model", expected=self.given.model, got=found)
        yield
        firmware = bus.read(self.id, table.FIRMWARE, self.what)
        if firmware < table.FIRST_FIRMWARE:
            raise HardwareError(
                f"{self.what}: firmware",
                expected=f"{table.FIRST_FIRMWARE} or newer, which has a bus watchdog",
                got=str(firmware),
                hint="Update it with the maker's tool",
            )
        yield
        settings = []
        for register, value in self.settings():
            if bus.read(self.id, register, self.what) != value:
                settings.append((register, value))
            yield
        self.operating_mode = bus.read(self.id, table.OPERATING_MODE, self.what)
        yield
        modes = sorted(self.part.supported_modes - {CommandMode.NONE})
        if self.operating_mode not in map(self.operating_mode_for, modes):
            self.operating_mode = self.operating_mode_for(modes[0])
            settings.append((table.OPERATING_MODE, self.operating_mode))
        wanted = list(table.MAPPED)
        remaps = bus.mapped(self.id, table.INDIRECT_ADDRESSES, len(wanted), self.what) != wanted
        yield
        self._rest(bus, keeps_torque=not (settings or remaps))
        yield
        if settings or remaps:
            bus.write(self.id, table.TORQUE_ENABLE, 0, self.what)
            yield
            for register, value in settings:
                bus.write(self.id, register, value, self.what)
                self.written.append(register.name)
                yield
            bus.map(self.id, table.INDIRECT_ADDRESSES, wanted, self.what)
            yield
        for profile in (table.PROFILE_ACCELERATION, table.PROFILE_VELOCITY):  # the loop plans the motion
            bus.write(self.id, profile, 0, self.what)
            yield
        bus.write(self.id, table.STATUS_RETURN_LEVEL, table.ANSWERS_ALL, self.what)
        self.is_set_up = True

    def _rest(self, bus: ServoBus, keeps_torque: bool) -> None:
        """Clear its watchdog, and let it stay where it is.

        A servo that its watchdog has stopped takes no goal before, and may have one from the driver that died: so both
        leave at once.
        """
        position = bus.read(self.id, table.PRESENT_POSITION, self.what)
        goals = [(table.GOAL_VELOCITY, 0), (table.GOAL_POSITION, self._inside(position))]
        if self.model.has_current:
            goals.append((table.GOAL_CURRENT, 0))
        bus.write_all(table.BUS_WATCHDOG, {self.id: 0})
        for register, value in goals:
            bus.write_all(register, {self.id: value})
        bus.write(self.id, table.BUS_WATCHDOG, 0, self.what)
        if keeps_torque and bus.read(self.id, table.TORQUE_ENABLE, self.what):
            for register, value in goals:  # what is not acknowledged may have been lost
                bus.write(self.id, register, value, self.what)

    # --- exchange ---------------------------------------------------------------------------------

    def goal(self, command: float) -> int:
        """A command of its mode, a finite number, in its units and within the joint's limits."""
        if self.mode == CommandMode.POSITION:
            return min(max(self._pulses(command), self._range[0]), self._range[1])
        unit, limit = self._velocity, self._velocity_limit
        if self.mode == CommandMode.EFFORT:
            unit, limit = self._effort, self._current_limit
        return min(max(round(command / unit), -limit), limit)

    def resting_goal(self) -> int:
        """The goal with which it stays where it is, or comes back to its position limits."""
        return self._inside(self.shown_position) if self.mode == CommandMode.POSITION else 0

    @property
    def beyond(self) -> float:
        """[rad or m] by which it is outside of its position limits, if it shall have position commands."""
        if self.mode != CommandMode.POSITION:
            return 0.0
        return abs(self._inside(self.shown_position) - self.shown_position) * abs(self._pulse)

    def _inside(self, pulses: int) -> int:
        """The nearest goal within its position limits: position mode refuses, and so ignores, others."""
        return pulses if self._ends is None else min(max(pulses, self._ends[0]), self._ends[1])

    def take(self, data: bytes) -> None:
        """Take an answer; the plugin judges what it shows."""
        torque, level, error, watchdog, current, velocity, position = _ANSWER.unpack(data)
        self.answered = True
        if level != table.ANSWERS_ALL:  # the addresses are not mapped: nothing of this is what it seems
            self.is_set_up = False
            return
        self.shown_torque, self.shown_error, self.shown_watchdog = torque, error, watchdog
        self.shown_position = position
        effort = current * self._effort if self.model.has_current else math.nan
        self.values = ((position - self.given.zero) * self._pulse, velocity * self._velocity, effort)
