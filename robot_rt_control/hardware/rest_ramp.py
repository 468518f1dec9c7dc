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
    alone cannot be braked: its effort goes to zero. Joints that were not commanded stay as they are.

    Args:
        part: with its limits.
        modes: in which each joint was commanded last.
        command: float64 of shape (3 n,): position, velocity, effort of each joint; a view, written in place.
        velocity: [rad/s] of shape (n,), of the last position commands.
        measured: float64 of shape (3 n,): position, velocity, effort of each joint.
    """

    def __init__(
        self,
        part: HardwarePart,
        modes: Sequence[CommandMode],
        command: np.ndarray,
        velocity: Sequence[float] | np.ndarray,
        measured: np.ndarray,
    ) -> None:
        self._command = command
        self._acceleration = np.array(part.limits.acceleration)
        self._lower, self._upper = np.array(part.limits.position_lower), np.array(part.limits.position_upper)
        self._position = command[0::3].copy()
        speed = np.zeros(len(modes))
        found = []
        for j, mode in enumerate(modes):
            if mode == CommandMode.POSITION:
                speed[j] = velocity[j]
            elif mode == CommandMode.VELOCITY:
                speed[j] = command[3 * j + 1]
            elif mode == CommandMode.EFFORT and np.isfinite(measured[3 * j : 3 * j + 2]).all():
                moving = (CommandMode.POSITION, CommandMode.VELOCITY)
                mode = next((m for m in moving if m in part.supported_modes), mode)
                if mode != CommandMode.EFFORT:
                    self._position[j], speed[j] = measured[3 * j : 3 * j + 2]
            found.append(mode)
        self.modes = tuple(found)
        self._followed = np.array([mode == CommandMode.POSITION for mode in found])
        limit = np.array(part.limits.velocity)
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
        self._command[0::3][self._followed] = self._position[self._followed]
        self._command[1::3] = self._velocity
        self._command[2::3] = 0.0
