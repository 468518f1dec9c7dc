"""Brings one part to rest from its last command, within its limits, when no commands arrive any more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.vocabulary.enums import CommandMode


class RestRamp:
    """Each joint's velocity goes to zero with its acceleration limit; then the part holds.

    Position and velocity commands keep their mode: a drive must not be switched while it moves. From effort commands,
    which have no speed, the measured motion is braked in position mode, else in velocity mode. A part with effort mode
    alone cannot be braked: its effort goes to zero.

    Args:
        part: with its limits.
        mode: in which the last command was given; not NONE.
        command: float64 of shape (3 n,): position, velocity, effort of each joint; a view, written in place.
        velocity: [rad/s] of shape (n,), of the last position commands.
        measured: float64 of shape (3 n,): position, velocity, effort of each joint.
    """

    def __init__(
        self,
        part: HardwarePart,
        mode: CommandMode,
        command: np.ndarray,
        velocity: Sequence[float] | np.ndarray,
        measured: np.ndarray,
    ) -> None:
        self._command = command
        self._acceleration = np.array(part.limits.acceleration)
        self._lower, self._upper = np.array(part.limits.position_lower), np.array(part.limits.position_upper)
        self.mode = mode
        if mode == CommandMode.POSITION:
            position, speed = command[0::3].copy(), np.array(velocity, dtype=float)
        elif mode == CommandMode.VELOCITY:
            position, speed = command[0::3].copy(), command[1::3].copy()
        else:
            position, speed = measured[0::3].copy(), measured[1::3].copy()
            known = bool(np.isfinite(position).all() and np.isfinite(speed).all())
            if CommandMode.POSITION in part.supported_modes and known:
                self.mode = CommandMode.POSITION
            elif CommandMode.VELOCITY in part.supported_modes and known:
                self.mode = CommandMode.VELOCITY
            else:
                speed = np.zeros(len(part.joint_names))
        limit = np.array(part.limits.velocity)
        self._position = position
        self._velocity = np.clip(np.nan_to_num(speed, nan=0.0), -limit, limit)
        self._write()

    @property
    def at_rest(self) -> bool:
        """Whether the command is at rest."""
        return not self._velocity.any()

    def step(self, period_s: float) -> None:
        """Write the next command."""
        change = self._acceleration * period_s
        slower = self._velocity - np.clip(self._velocity, -change, change)
        moved = self._position + 0.5 * (self._velocity + slower) * period_s
        # Never beyond a limit; a part that is already beyond one is not pulled back.
        lower, upper = np.minimum(self._lower, self._position), np.maximum(self._upper, self._position)
        self._velocity, self._position = slower, np.clip(moved, lower, upper)
        self._write()

    def _write(self) -> None:
        if self.mode == CommandMode.POSITION:
            self._command[0::3] = self._position
        self._command[1::3] = self._velocity
        self._command[2::3] = 0.0
