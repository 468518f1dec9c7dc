"""A part some of whose joints are moved by actuators of an MJCF, beside the drives of the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.mujoco.actuators import PartActuators
from robot_rt_control.vocabulary.enums import CommandMode

Array = NDArray[np.float64]


class ActuatedPart:
    """The actuators of an MJCF that move a part's joints. While one does, its joints have no drive of ours.

    Args:
        joints: records of `joint_dtype` of the part.
        state, command: float64 views of shape (3 n,): position, velocity, effort of each joint.
    """

    def __init__(self, actuators: PartActuators, joints: np.ndarray, state: Array, command: Array) -> None:
        self._actuators, self._last = actuators, joints["last"]
        self._state, self._velocities = state[2::3], command[1::3]
        self.efforts = np.zeros(len(joints))
        """(n,) [Nm or N] where `drive_cycle` leaves the efforts that actuators are to exert."""
        self.moved = self._by_velocity = np.zeros(len(joints), np.bool_)
        """(n,) which joints they move."""

    def switch(self, modes: Sequence[CommandMode]) -> None:
        """Use those that the modes of all joints ask for."""
        self.efforts[:] = 0.0
        self.moved = self._actuators.switch(modes)
        self._by_velocity = np.array([mode == CommandMode.VELOCITY for mode in modes], np.bool_)

    def moves(self, follower: str) -> bool:
        """Whether one of them moves a joint that follows one of the part's."""
        return self._actuators.moves(follower)

    def read(self) -> None:
        """The efforts of the joints that they move."""
        np.copyto(self._state, self._actuators.efforts(), where=self.moved)

    def command(self) -> None:
        """Once a period, after the drives have taken their commands."""
        velocities = np.where(self._by_velocity, self._velocities, 0.0)
        self._actuators.command(self._last, velocities, self.efforts)
