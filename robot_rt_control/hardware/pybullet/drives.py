"""Simulated joint drives of one part: position, velocity and effort control, and holding."""

from __future__ import annotations

from operator import gt, sub

import numpy as np
import pybullet

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.hardware.pybullet.parameters import GainParameters
from robot_rt_control.hardware.pybullet.world import PyBulletWorld, Robot
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

_POSITION, _VELOCITY, _EFFORT = CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT
_CATCH_UP = 1.1
"""A position drive moves its goal, and the joint, at most this many times as fast as the system limit."""


def _clamped(value: float, most: float) -> float:
    return min(max(value, -most), most)


class Drives:
    """The drives of a part's joints, and of those that mimic them.

    Position and velocity drives are PyBullet's motor constraints, with the joint's effort limit as their
    greatest effort. A position drive takes away the fraction k of the error in each step; so that
    it does not lag a moving command, its velocity goal is (1 - k) times the command's change: then the
    joint is where the command was for it to be, in the step after the command. As a real drive does, it limits the
    joint's speed: if commands went on while the simulation stood still, or stopped dead, the joint catches up
    without a blow.

    Args:
        world: where the part's robot is.
        part: the part.
        gains: of position and velocity drives.
        command: float64 of shape (3 n,): position, velocity, effort of each joint; a view.
        state: float64 of shape (3 n,): the same, measured; a view.
        period: [s]
    """

    def __init__(
        self,
        world: PyBulletWorld,
        part: HardwarePart,
        gains: GainParameters,
        command: np.ndarray,
        state: np.ndarray,
        period: float,
    ) -> None:
        item = f"part {part.name!r}"
        self._client = world.client
        self._part, self._period = part, period
        self._robot: Robot = world.robot(part.name, item)
        self._joints = [self._robot.joint(name, item) for name in part.joint_names]
        movable = (pybullet.JOINT_REVOLUTE, pybullet.JOINT_PRISMATIC)
        for name, index in zip(part.joint_names, self._joints, strict=True):
            kind = pybullet.getJointInfo(self._robot.body, index, physicsClientId=self._client)[2]
            if kind not in movable:
                raise HardwareError(f"{item}: joint {name!r}", expected="a revolute or prismatic joint", got="another")
        n = len(self._joints)
        self.joints = tuple(self._joints)
        """PyBullet's indices, without mimics."""
        self.body = self._robot.body
        # PyBullet ignores <mimic>: these joints are driven along.
        self._mimics = [(part.joint_names.index(m.joint), m) for m in part.followers]
        self._all = self._joints + [self._robot.joint(m.name, item) for m in part.followers]
        self._forces = [*part.limits.effort, *(part.limits.effort[leader] for leader, _ in self._mimics)]
        self._position_gains = [gains.position] * len(self._all)
        self._velocity_gains = [gains.velocity] * len(self._all)
        self._steps = [_CATCH_UP * velocity * period for velocity in part.limits.velocity]
        self._feed_forward = (1.0 - gains.position) / period
        self._measured = state[0 : 3 * n : 3]
        self._commands = (command[0 : 3 * n : 3], command[1 : 3 * n : 3], command[2 : 3 * n : 3])
        self._last = list(part.initial_position)
        self._held = list(part.initial_position)
        self.mode = CommandMode.NONE
        for index, position in zip(self._all, self._followed(self._held, offset=True), strict=True):
            pybullet.resetJointState(self.body, index, position, 0.0, physicsClientId=self._client)
        self._release()

    def _followed(self, values: list[float], *, offset: bool) -> list[float]:
        """Values of the joints, then those of the mimics."""
        if not self._mimics:
            return values
        return values + [values[leader] * m.multiplier + (m.offset if offset else 0.0) for leader, m in self._mimics]

    def _release(self) -> None:
        """Take the simulator's own velocity motors away: else they brake whatever an effort command moves."""
        pybullet.setJointMotorControlArray(
            self.body,
            self._all,
            pybullet.VELOCITY_CONTROL,
            forces=[0.0] * len(self._all),
            physicsClientId=self._client,
        )

    def switch(self, mode: CommandMode, measured: list[float]) -> None:
        """Change the mode; `measured` positions are where NONE holds, and what the first command moves from."""
        self._release()
        self._held = list(measured)
        self._last = list(measured)
        self.mode = mode

    def apply(self) -> None:
        """Hand this period's goals to the simulator; efforts count for one step of the simulation only."""
        if self.mode == _POSITION:
            k = self._feed_forward
            goal = self._commands[0].tolist()
            changes = list(map(sub, goal, self._last))
            if any(map(gt, map(abs, changes), self._steps)):
                changes = list(map(_clamped, changes, self._steps))
                goal = [last + change for last, change in zip(self._last, changes, strict=True)]
            self._last = goal
            # The joint's next speed is (position gain) * error / period + k * change: both parts keep the limit.
            measured = self._measured.tolist()
            errors = list(map(sub, goal, measured))
            if any(map(gt, map(abs, errors), self._steps)):
                goal = [q + _clamped(error, most) for q, error, most in zip(measured, errors, self._steps, strict=True)]
            self._drive(goal, [k * change for change in changes])
        elif self.mode == _VELOCITY:
            pybullet.setJointMotorControlArray(
                self.body,
                self._all,
                pybullet.VELOCITY_CONTROL,
                targetVelocities=self._followed(self._commands[1].tolist(), offset=False),
                forces=self._forces,
                velocityGains=self._velocity_gains,
                physicsClientId=self._client,
            )
        elif self.mode == _EFFORT:
            self.apply_effort()
        else:
            self._drive(self._held, [0.0] * len(self._held))

    def _drive(self, goal: list[float], velocity: list[float]) -> None:
        pybullet.setJointMotorControlArray(
            self.body,
            self._all,
            pybullet.POSITION_CONTROL,
            targetPositions=self._followed(goal, offset=True),
            targetVelocities=self._followed(velocity, offset=False),
            forces=self._forces,
            positionGains=self._position_gains,
            velocityGains=self._velocity_gains,
            physicsClientId=self._client,
        )

    def apply_effort(self) -> None:
        """Again before each further step of the simulation, in effort mode."""
        efforts = self._commands[2].tolist()
        bounded = [min(max(e, -top), top) for e, top in zip(efforts, self._part.limits.effort, strict=True)]
        pybullet.setJointMotorControlArray(
            self.body, self._joints, pybullet.TORQUE_CONTROL, forces=bounded, physicsClientId=self._client
        )
