"""The motors of a device, all at once: commands to targets, answers to states, and when each may be enabled."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robot_rt_control.hardware.canopen.exchange import Exchange
from robot_rt_control.hardware.canopen.objects import CYCLIC_MODES
from robot_rt_control.hardware.canopen.power import Goal, controlwords, motor_states
from robot_rt_control.model.workcell.canopen import CanopenDrives
from robot_rt_control.vocabulary.defaults import DRIVE_MISSING_PACKETS
from robot_rt_control.vocabulary.enums import CommandMode, MotorStatus
from robot_rt_control.vocabulary.motor_errors import FOLLOWING_ERROR, GENERIC_ERROR, IGNORES_COMMANDS, WRONG_MODE

_ENABLED, _SWITCHED_ON = int(MotorStatus.ENABLED), int(MotorStatus.SWITCHED_ON)
_FAULT_REACTION = int(MotorStatus.FAULT_REACTION)
"""This state and the last one, FAULT, are those of a fault."""
_FOLLOWING = 1 << 12
"""Bit of the statusword in the cyclic modes: the drive follows the commanded values."""
_QUICK, _OFF, _ENABLING = int(Goal.QUICK_STOP), int(Goal.OFF), int(Goal.ENABLED)


class Motors:
    """What each period does with the records of an Exchange. Arrays have one element for each motor.

    Args:
        places: the motors, in the order of the exchange's records: array of `drive_layout.motor_dtype`.
        exchange: whose `commands` are written and `states` read.
        settings: of the device.
        modes: of each motor: those in which its joint is commanded.
        velocity: [units per rad/s or m/s] of the drives' velocities.
        torque: [Nm or N] of the joint for a thousandth of the motor's rated torque.
        period_s: [s]
    """

    def __init__(
        self,
        places: np.ndarray,
        exchange: Exchange,
        settings: CanopenDrives,
        *,
        modes: Sequence[Sequence[CommandMode]],
        velocity: np.ndarray,
        torque: np.ndarray,
        period_s: float,
    ) -> None:
        self._period_s, self._measured_velocity = period_s, settings.measured_velocity
        self._commands, self._states = exchange.commands, exchange.states
        self._enable_periods = math.ceil(settings.enable_timeout / period_s)
        self._tolerance = settings.enable_tolerance
        n = len(places)
        self._counts, self._offset = places["counts"].copy(), places["offset"].copy()
        self._velocity, self._torque = velocity, torque
        quantities = np.arange(3)
        self._command_places = places["command"][:, None] + quantities
        self._state_places = places["state"][:, None] + quantities
        self._report_places = places["report"][:, None] + quantities
        reports = [drive.reports_following for drive in settings.drives for _ in drive.motors]
        self._reports_following = np.array(reports)
        self.mode = np.array([CYCLIC_MODES[of_motor[0]] for of_motor in modes], np.int8)
        """Wanted mode of operation of each motor."""
        self.goal = np.full(n, _OFF, np.int8)
        self.status = np.zeros(n, np.int8)
        self.found = np.zeros(n, np.int64)
        """Error codes that this computer has found, until the motor is enabled again."""
        self.emergency = np.zeros(n, np.int64)
        """Code of the last emergency message of each motor's drive."""
        self._live = np.zeros(n, bool)
        """Its targets were its commands in the last period."""
        self._waiting = np.zeros(n, np.int64)
        """Periods since it was to reach its present state, to take its mode, or to follow its commands."""
        self._ready = np.zeros(n, bool)
        """Since it was to be enabled, it has followed its commands once."""
        self._settled = np.zeros(n, bool)
        """It has followed its commands since its mode was set."""
        self._resetting = np.zeros(n, bool)
        """It may still have the fault that is being reset."""
        self._count = np.zeros(n, np.int64)
        self._periods = np.zeros(n, np.int64)
        """Since its drive's last answer."""
        self._last_velocity = np.full(n, np.nan)
        self._report = np.zeros((n, 3))

    # --- goals ------------------------------------------------------------------------------------

    def switch(self, motor: int, mode: CommandMode) -> None:
        """Enable a motor in a mode, or disable it (NONE). Enabling clears its errors and resets its fault."""
        if mode == CommandMode.NONE:
            if self.goal[motor] == _ENABLING:
                self.goal[motor] = _OFF
            return
        wanted = CYCLIC_MODES[mode]
        if self.goal[motor] != _ENABLING:
            self.goal[motor] = _ENABLING
            self.found[motor] = self.emergency[motor] = 0
            self._resetting[motor], self._live[motor] = True, False
            self._ready[motor] = self._settled[motor] = False
        if self.mode[motor] != wanted:
            self._settled[motor] = False
        self.mode[motor], self._waiting[motor] = wanted, 0

    def drop(self, motors: np.ndarray | slice, code: int = 0) -> None:
        """Stop motors until they are switched again; `code`: the error that was found."""
        self.goal[motors] = _QUICK  # they may be in motion
        if code:
            self.found[motors] = code

    def quick_stop(self) -> None:
        """Let all motors brake by their drives' quick stop, and switch off."""
        self.goal[:] = _QUICK

    def hold(self) -> None:
        """Let all motors be ready, without torque."""
        self.goal[:] = _OFF

    def any_moving(self, known: np.ndarray) -> bool:
        """Whether a motor whose state is known has torque."""
        torque = (self.status == _ENABLED) | (self.status == int(MotorStatus.QUICK_STOP))
        return bool((torque & known).any())

    # --- a period ---------------------------------------------------------------------------------

    def set_position_counts(self, counts: np.ndarray) -> None:
        """The first positions, before any exchange."""
        self._count[:] = self._states["position"] = counts

    def take(self, state: np.ndarray, answered: np.ndarray, known: np.ndarray) -> None:
        """Judge the answers, and write the device's states.

        Args:
            state: the device's states.
            answered: bool; the motor's drive has answered in this period.
            known: bool; false: the last answer is too old, and values are unknown.
        """
        states = self._states
        self.status[:] = motor_states(states["statusword"])
        # Positions wrap around at 32 bits.
        change = (states["position"] - self._count.astype(np.int32)).astype(np.int64)
        self._count += change
        self._periods += 1
        time_s = self._periods * self._period_s
        self._periods[answered] = 0
        measured = np.empty((len(self.status), 3))
        measured[:, 0] = self._offset + self._count / self._counts
        if self._measured_velocity:
            measured[:, 1] = states["velocity"] / self._velocity
        else:
            measured[:, 1] = np.where(answered, change / self._counts / time_s, self._last_velocity)
        measured[:, 2] = states["torque"] * self._torque
        faulted = self._judge()
        reported = np.where(self.emergency != 0, self.emergency, states["error"])
        self._report[:, 0] = np.where(faulted, np.where(reported != 0, reported, GENERIC_ERROR), self.found)
        # A part moves once its motors are enabled. One that does not follow yet is not.
        held = (self.status == _ENABLED) & (self.goal == _ENABLING) & ~self._ready
        self._report[:, 1] = np.where(held, _SWITCHED_ON, self.status)
        self._report[answered, 2] = ((measured[:, 1] - self._last_velocity) / time_s)[answered]
        self._last_velocity[:] = measured[:, 1]
        report = self._report.copy()
        measured[~known], report[~known] = math.nan, math.nan
        state[self._state_places] = measured
        state[self._report_places] = report

    def _judge(self) -> np.ndarray:
        """Give up motors that fault, that leave their state, their mode or their commands, or that do not reach them in
        time. Returns which fault.

        The loop itself gives up a part that is not enabled within `enable_timeout`, and names the state: so what it can
        not see is found before that, and what it sees is left to it.
        """
        enabled, enabling = self.status == _ENABLED, self.goal == _ENABLING
        left = self._live & ~enabled
        in_mode = self._states["mode"] == self.mode
        follows = ~self._reports_following | (self._states["statusword"] & _FOLLOWING != 0)
        works = enabling & enabled & in_mode & follows
        self._ready |= works
        self._settled |= works
        self._waiting[:] = np.where(enabling & ~works, self._waiting + 1, 0)
        self._waiting[enabled & ~self._live] = 0
        longest = np.where(enabled, self._enable_periods // 2, 2 * self._enable_periods)
        longest[self._ready] = self._enable_periods
        longest[self._settled] = DRIVE_MISSING_PACKETS
        late = self._waiting > longest
        # A reset has ended once the fault has gone, or its time is over.
        faulted = self.status >= _FAULT_REACTION
        self._resetting &= enabling & faulted & (self._waiting <= self._enable_periods)
        faulted &= ~self._resetting
        lost = enabling & (faulted | left | late)
        if lost.any():
            self.found[lost & enabled & late] = np.where(in_mode, IGNORES_COMMANDS, WRONG_MODE)[lost & enabled & late]
            self.drop(lost)
        return faulted

    def command(self, command: np.ndarray) -> None:
        """Write the records that are sent next, from the device's commands."""
        commands = self._commands
        wanted = command[self._command_places]
        live = (self.goal == _ENABLING) & (self.status == _ENABLED)
        in_position = self.mode == CYCLIC_MODES[CommandMode.POSITION]
        actual = self._offset + self._count / self._counts
        # A command that moved on while a brake was released would be a jump.
        jump = live & ~self._live & in_position & (np.abs(wanted[:, 0] - actual) > self._tolerance)
        if jump.any():
            self.drop(jump, FOLLOWING_ERROR)
            live &= ~jump
        commands["controlword"] = controlwords(self.status, self.goal)
        commands["mode"] = self.mode
        # A drive that still shows its former mode goes on with that one's last target.
        shown = self._states["mode"]
        for field, mode, target, idle in (
            ("position", CommandMode.POSITION, (wanted[:, 0] - self._offset) * self._counts, self._count),
            ("velocity", CommandMode.VELOCITY, wanted[:, 1] * self._velocity, 0),
            ("torque", CommandMode.EFFORT, wanted[:, 2] / self._torque, 0),
        ):
            cyclic = CYCLIC_MODES[mode]
            follows = live & (self.mode == cyclic)
            keeps = live & ~follows & (shown == cyclic)
            if field == "position":  # wraps around at 32 bits
                target = np.where(follows, target, 0.0)
            else:
                largest = np.iinfo(commands[field].dtype).max
                target = np.clip(np.where(follows, target, 0.0), -largest, largest)
            new = np.where(follows, np.rint(target).astype(np.int64), idle)
            commands[field] = np.where(keeps, commands[field], new).astype(commands[field].dtype)
        self._live[:] = live
