"""What leaves for the robot: the loop's commands, never beyond what the robot's own checks allow.

A command of the loop that keeps the bounds passes unchanged. Otherwise (it came late, or began elsewhere) the joints
come to it within the bounds, as the loop brings a joint to a command that is out of reach (hardware/approach.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from robot_rt_control.hardware.approach import approach, next_velocity
from robot_rt_control.hardware.franka import limits as fr3
from robot_rt_control.memory.atomics import address_of, record_at
from robot_rt_control.memory.layout import limits_dtype, record
from robot_rt_control.native.entries import python_call
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import MAX_JOINTS
from robot_rt_control.vocabulary.enums import CommandMode

_POSITION, _VELOCITY, _EFFORT = int(CommandMode.POSITION), int(CommandMode.VELOCITY), int(CommandMode.EFFORT)
_LATE_CYCLES = 10
"""For so many cycles without a new command the last motion goes on; then the joints brake."""
_CATCH_UP = 0.1
"""[rad/s] at most, while a robot that was brought to rest in between comes to the loop's command, which went on."""
_NEAR = 1e-3
"""[rad] from a command that is no faster than this, from which it is followed as usual."""
_BRAKING = 20.0
"""[1/s] An effort that brakes a joint takes its speed away at this rate, if the joint is as heavy as 1 kg m²."""

shaper_dtype = record(
    [
        *(
            (name, "f8", (MAX_JOINTS,))
            for name in (
                "commanded_position",  # what left last [rad], and its derivatives
                "commanded_velocity",
                "commanded_acceleration",
                "commanded_effort",  # [Nm]
                "position_command",  # what the loop commanded last
                "step",  # [rad] its last change
                "wanted",  # the loop's command of this cycle, in the present mode
                "velocity",  # measured [rad/s]
            )
        ),
        ("mode", "i8"),  # CommandMode
        ("fresh", "i8"),  # 1: `wanted` is new
        ("late", "i8"),  # cycles since the last new command
        ("braking", "i8"),  # 1: come to rest, whatever is commanded
        ("effort_rate", "f8", (MAX_JOINTS,)),
    ]
)

shaper_at: Callable[[int], Any] = record_at(shaper_dtype)
limits_at: Callable[[int], Any] = record_at(limits_dtype)


@realtime
def _leave(shaper, limits, j, v, q, dt):
    """Let velocity v leave: whatever it is, velocity, acceleration and jerk keep their bounds."""
    v_last, a_last = shaper.commanded_velocity[j], shaper.commanded_acceleration[j]
    most, change = limits.acceleration[j], limits.jerk[j] * dt
    low = v_last + max(a_last - change, -most) * dt
    high = v_last + min(a_last + change, most) * dt
    kept = min(max(v, low), high)
    shaper.commanded_acceleration[j] = (kept - v_last) / dt
    shaper.commanded_velocity[j] = kept
    shaper.commanded_position[j] = q if kept == v else shaper.commanded_position[j] + kept * dt


@realtime
def _shape_position(shaper, limits, j, dt):
    last, q = shaper.position_command[j], shaper.commanded_position[j]
    if shaper.braking != 0:
        v = next_velocity(shaper, limits, j, q, 0.0, True, dt)
        shaper.position_command[j] = q + v * dt
        _leave(shaper, limits, j, v, q + v * dt, dt)
        return
    command = shaper.wanted[j]
    if shaper.fresh != 0:
        shaper.step[j] = command - last
    elif shaper.late <= _LATE_CYCLES:
        command = last + shaper.step[j]
    else:
        command = last
    if abs(command - last) > limits.velocity[j] * dt:
        shaper.step[j] = 0.0  # no motion that goes on
    shaper.position_command[j] = command
    wanted = (command - q) / dt
    v = approach(shaper, limits, j, wanted, last, dt)
    _leave(shaper, limits, j, v, command if v == wanted else q + v * dt, dt)


@realtime
def _shape_velocity(shaper, limits, j, dt):
    q = shaper.commanded_position[j]
    stop = shaper.braking != 0 or shaper.late > _LATE_CYCLES
    v = next_velocity(shaper, limits, j, q, 0.0 if stop else shaper.wanted[j], stop, dt)
    _leave(shaper, limits, j, v, q + v * dt, dt)


@realtime
def _shape_effort(shaper, limits, j, dt):
    wanted = shaper.wanted[j]
    if shaper.braking != 0 or shaper.late > _LATE_CYCLES:
        wanted = -_BRAKING * shaper.velocity[j]
    change = shaper.effort_rate[j] * dt
    last = shaper.commanded_effort[j]
    e = min(max(wanted, last - change), last + change)
    shaper.commanded_effort[j] = min(max(e, -limits.effort[j]), limits.effort[j])


@realtime
def shape(shaper, limits, dt):
    """One cycle: `wanted` of the present mode into `commanded_…`."""
    for j in range(7):
        if not math.isfinite(shaper.wanted[j]):
            shaper.fresh = 0  # as if it had not come, however often
            shaper.wanted[j] = shaper.position_command[j] if shaper.mode == _POSITION else 0.0
    shaper.late = 0 if shaper.fresh != 0 else shaper.late + 1
    for j in range(7):
        if shaper.mode == _POSITION:
            _shape_position(shaper, limits, j, dt)
        elif shaper.mode == _VELOCITY:
            _shape_velocity(shaper, limits, j, dt)
        elif shaper.mode == _EFFORT:
            _shape_effort(shaper, limits, j, dt)


def _shape(shaper: int, limits: int) -> None:
    shape(shaper_at(shaper), limits_at(limits), fr3.PERIOD_S)


@cache
def _shape_call() -> Callable[[int, int], object]:
    return python_call(__name__, "_shape", 2, returns=False)


class Shaper:
    """The robot's last command, and the next one."""

    def __init__(self) -> None:
        n = fr3.JOINTS
        self.memory = np.zeros(1, shaper_dtype)
        self._limits = np.zeros(1, limits_dtype)
        bounds = self._limits[0]
        bounds.position_lower[:n], bounds.position_upper[:n] = fr3.BOUND_POSITION_LOWER, fr3.BOUND_POSITION_UPPER
        bounds.velocity[:n], bounds.acceleration[:n] = fr3.BOUND_VELOCITY, fr3.BOUND_ACCELERATION
        bounds.jerk[:n], bounds.effort[:n] = fr3.BOUND_JERK, fr3.BOUND_EFFORT
        self.memory["effort_rate"][0, :n] = fr3.BOUND_EFFORT_RATE
        self._catching_up = False
        self._addresses = address_of(self.memory[0]), address_of(self._limits[0])
        self._call = _shape_call()
        self._fields = {
            name: self.memory[name][0, :n] for name in shaper_dtype.names or () if self.memory[name].ndim == 2
        }

    def begin(self, mode: CommandMode, position: np.ndarray, *, slowly: bool = False) -> None:
        """Start at rest at these commanded positions (7,) [rad], without effort.

        Args:
            slowly: the loop's command may be elsewhere, or in motion: until it is reached, no faster than _CATCH_UP.
        """
        self._catching_up = slowly
        most = np.minimum(fr3.BOUND_VELOCITY, _CATCH_UP) if slowly else fr3.BOUND_VELOCITY
        self._limits["velocity"][0, : fr3.JOINTS] = most
        rate = self._fields["effort_rate"].copy()
        self.memory[0] = np.zeros(1, shaper_dtype)[0]
        self._fields["effort_rate"][:] = rate
        self._fields["commanded_position"][:] = self._fields["position_command"][:] = position
        self._fields["wanted"][:] = position if mode == CommandMode.POSITION else 0.0
        self.memory["mode"][0] = int(mode)

    def next(self, command: np.ndarray, velocity: np.ndarray, *, fresh: bool, braking: bool = False) -> np.ndarray:
        """The next command (7,) that leaves, of the present mode: a view.

        Args:
            command: (7,) of the loop, [rad], [rad/s] or [Nm].
            velocity: (7,) measured [rad/s].
            fresh: it is newer than the last one; else the motion goes on for 10 cycles, and then brakes.
            braking: come to rest instead.
        """
        fields, memory = self._fields, self.memory
        last = fields["position_command"].copy() if self._catching_up else fields["position_command"]
        fields["wanted"][:] = command
        fields["velocity"][:] = velocity
        memory["fresh"][0], memory["braking"][0] = fresh, braking
        self._call(*self._addresses)
        mode = int(memory["mode"][0])
        if mode == _EFFORT:
            return fields["commanded_effort"]
        if self._catching_up and not braking:
            away = fields["position_command"] - fields["commanded_position"]
            speed = fields["wanted"] if mode == _VELOCITY else (fields["position_command"] - last) / fr3.PERIOD_S
            if np.abs(speed).max() <= _CATCH_UP and (mode == _VELOCITY or np.abs(away).max() <= _NEAR):
                self._catching_up = False
                self._limits["velocity"][0, : fr3.JOINTS] = fr3.BOUND_VELOCITY
        return fields["commanded_position" if mode == _POSITION else "commanded_velocity"]

    def skip(self, cycles: int) -> None:
        """The robot has missed commands: it goes on with the acceleration of the last one."""
        if int(self.memory["mode"][0]) == _EFFORT:
            return
        f = self._fields
        for _ in range(min(cycles, 20)):
            f["commanded_velocity"] += f["commanded_acceleration"] * fr3.PERIOD_S
            np.clip(f["commanded_velocity"], -fr3.BOUND_VELOCITY, fr3.BOUND_VELOCITY, out=f["commanded_velocity"])
            f["commanded_position"] += f["commanded_velocity"] * fr3.PERIOD_S

    @property
    def wanted_speed(self) -> float:
        """The highest speed of a joint that the loop commanded last [rad/s]; of efforts: 0."""
        mode = int(self.memory["mode"][0])
        if mode == _VELOCITY:
            return float(np.abs(self._fields["wanted"]).max())
        return float(np.abs(self._fields["step"]).max()) / fr3.PERIOD_S if mode == _POSITION else 0.0

    @property
    def speed(self) -> float:
        """The highest commanded speed of a joint [rad/s]; of efforts: 0."""
        return float(np.abs(self._fields["commanded_velocity"]).max())
