"""Simulated joint drives of one part: position, velocity and effort control, and holding, for each joint."""

from __future__ import annotations

from collections.abc import Sequence
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
        self.client = world.client
        self.part, self.gains, self.period = part, gains, period
        robot: Robot = world.robot(part.name, item)
        self.body = robot.body
        self.joints = tuple(robot.joint(name, item) for name in part.joint_names)
        """PyBullet's indices, without mimics."""
        movable = (pybullet.JOINT_REVOLUTE, pybullet.JOINT_PRISMATIC)
        for name, index in zip(part.joint_names, self.joints, strict=True):
            kind = pybullet.getJointInfo(self.body, index, physicsClientId=self.client)[2]
            if kind not in movable:
                raise HardwareError(f"{item}: joint {name!r}", expected="a revolute or prismatic joint", got="another")
        # PyBullet ignores <mimic>: these joints are driven along.
        self.mimics = [(part.joint_names.index(m.joint), m, robot.joint(m.name, item)) for m in part.followers]
        self.measured = state[0::3]
        self.commands = (command[0::3], command[1::3], command[2::3])
        n = len(self.joints)
        self.modes = (CommandMode.NONE,) * n
        self._groups = [_Group(self, CommandMode.NONE, range(n), list(part.initial_position))]
        self._groups[0].place()

    def switch(self, modes: tuple[CommandMode, ...], measured: list[float]) -> None:
        """Change the modes; `measured` positions are where NONE holds, and what the first command moves from."""
        last = list(measured)
        for group in self._groups:
            for j, position in zip(group.joints, group.last, strict=True):
                if modes[j] == group.mode:
                    last[j] = position  # it goes on
        self.modes, before = modes, self.modes
        self._groups = []
        for mode in sorted(set(modes)):
            joints = [j for j, its in enumerate(modes) if its == mode]
            self._groups.append(_Group(self, mode, joints, [last[j] for j in joints]))
        if changed := [j for j, (mode, old) in enumerate(zip(modes, before, strict=True)) if mode != old]:
            _Group(self, CommandMode.NONE, changed, []).release()

    def apply(self) -> None:
        """Hand this period's goals to the simulator; efforts count for one step of the simulation only."""
        for group in self._groups:
            group.apply()

    def apply_effort(self) -> None:
        """Again before each further step of the simulation, for the joints in effort mode."""
        for group in self._groups:
            if group.mode == _EFFORT:
                group.apply_effort()


class _Group:
    """Joints of a part that are in one mode.

    Args:
        joints: their indices in the part.
        last: where they are held, or the first position command moves them from [rad or m].
    """

    def __init__(self, drives: Drives, mode: CommandMode, joints: Sequence[int], last: list[float]) -> None:
        part, gains = drives.part, drives.gains
        self.mode, self.joints, self.last = mode, joints, last
        self._target = {"bodyUniqueId": drives.body, "physicsClientId": drives.client}
        # Of the whole part, a view instead of a copy.
        pick = slice(None) if len(joints) == len(drives.joints) else list(joints)
        self._pick, self._measured, self._commands = pick, drives.measured, drives.commands
        self._indices = [drives.joints[j] for j in joints]
        place = {j: i for i, j in enumerate(joints)}
        self._mimics = [(place[leader], m) for leader, m, _ in drives.mimics if leader in place]
        self._all = self._indices + [index for leader, _, index in drives.mimics if leader in place]
        self._most = [part.limits.effort[j] for j in joints]
        self._forces = self._most + [self._most[leader] for leader, _ in self._mimics]
        self._position_gains = [gains.position] * len(self._all)
        self._velocity_gains = [gains.velocity] * len(self._all)
        self._steps = [_CATCH_UP * part.limits.velocity[j] * drives.period for j in joints]
        self._feed_forward = (1.0 - gains.position) / drives.period

    def place(self) -> None:
        """Put the joints where they are held, without motors."""
        for index, position in zip(self._all, self._followed(self.last, offset=True), strict=True):
            pybullet.resetJointState(
                self._target["bodyUniqueId"], index, position, 0.0, physicsClientId=self._target["physicsClientId"]
            )
        self.release()

    def release(self) -> None:
        """Take the simulator's own velocity motors away: else they brake whatever an effort command moves."""
        pybullet.setJointMotorControlArray(
            **self._target,
            jointIndices=self._all,
            controlMode=pybullet.VELOCITY_CONTROL,
            forces=[0.0] * len(self._all),
        )

    def apply(self) -> None:
        """Hand this period's goals to the simulator."""
        if self.mode == _POSITION:
            self._follow_positions()
        elif self.mode == _VELOCITY:
            pybullet.setJointMotorControlArray(
                **self._target,
                jointIndices=self._all,
                controlMode=pybullet.VELOCITY_CONTROL,
                targetVelocities=self._followed(self._commands[1][self._pick].tolist(), offset=False),
                forces=self._forces,
                velocityGains=self._velocity_gains,
            )
        elif self.mode == _EFFORT:
            self.apply_effort()
        else:
            self._drive(self.last, [0.0] * len(self.last))

    def apply_effort(self) -> None:
        """Hand the efforts to the simulator, which forgets them after each of its steps."""
        efforts = self._commands[2][self._pick].tolist()
        pybullet.setJointMotorControlArray(
            **self._target,
            jointIndices=self._indices,
            controlMode=pybullet.TORQUE_CONTROL,
            forces=list(map(_clamped, efforts, self._most)),
        )

    def _followed(self, values: list[float], *, offset: bool) -> list[float]:
        """Values of the joints, then those of the mimics."""
        if not self._mimics:
            return values
        return values + [values[leader] * m.multiplier + (m.offset if offset else 0.0) for leader, m in self._mimics]

    def _follow_positions(self) -> None:
        k = self._feed_forward
        goal = self._commands[0][self._pick].tolist()
        changes = list(map(sub, goal, self.last))
        if any(map(gt, map(abs, changes), self._steps)):
            changes = list(map(_clamped, changes, self._steps))
            goal = [last + change for last, change in zip(self.last, changes, strict=True)]
        self.last = goal
        # The joint's next speed is (position gain) * error / period + k * change: both parts keep the limit.
        measured = self._measured[self._pick].tolist()
        errors = list(map(sub, goal, measured))
        if any(map(gt, map(abs, errors), self._steps)):
            goal = [q + _clamped(error, most) for q, error, most in zip(measured, errors, self._steps, strict=True)]
        self._drive(goal, [k * change for change in changes])

    def _drive(self, goal: list[float], velocity: list[float]) -> None:
        pybullet.setJointMotorControlArray(
            **self._target,
            jointIndices=self._all,
            controlMode=pybullet.POSITION_CONTROL,
            targetPositions=self._followed(goal, offset=True),
            targetVelocities=self._followed(velocity, offset=False),
            forces=self._forces,
            positionGains=self._position_gains,
            velocityGains=self._velocity_gains,
        )
