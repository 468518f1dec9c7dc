"""Simulated joint drives of one part: position, velocity and effort control, and holding, for each joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pybullet

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.hardware.pybullet.world import PyBulletWorld, Robot
from robot_rt_control.hardware.world.drives import clamped, position_step, reaches
from robot_rt_control.hardware.world.parameters import GainParameters
from robot_rt_control.model.robot.urdf import Mimic
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

_POSITION, _VELOCITY, _EFFORT = CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT
_GEAR = 0.2
"""The share of its error that the gear between a follower and its leader takes away in each step."""


class Drives:
    """The drives of a part's joints, and of those that mimic them: PyBullet's motor constraints by world/drives.py.

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
        # PyBullet ignores <mimic>: these joints are driven along, and a gear couples them to their leaders. Without it,
        # two fingers that both press as hard as they can would hold a thing anywhere between them.
        self.mimics = [(part.joint_names.index(m.joint), m, robot.joint(m.name, item)) for m in part.followers]
        for leader, mimic, index in self.mimics:
            self._couple(leader, mimic, index)
        self.measured = state[0::3]
        self.commands = (command[0::3], command[1::3], command[2::3])
        n = len(self.joints)
        self.modes = (CommandMode.NONE,) * n
        self._groups = [_Group(self, CommandMode.NONE, range(n), list(part.initial_position))]
        self._groups[0].place()

    def _couple(self, leader: int, mimic: Mimic, index: int) -> None:
        zero = (0.0, 0.0, 0.0)
        frames = ((1.0, 0.0, 0.0), zero, zero)  # of no meaning for joints of one body
        gear = pybullet.createConstraint(
            self.body, index, self.body, self.joints[leader], pybullet.JOINT_GEAR, *frames, physicsClientId=self.client
        )
        pybullet.changeConstraint(
            gear,
            gearRatio=-mimic.multiplier,
            relativePositionTarget=mimic.offset,
            erp=_GEAR,
            maxForce=self.part.limits.effort[leader],
            physicsClientId=self.client,
        )

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

    @property
    def appliers(self) -> list[Callable[[], None]]:
        """They hand this period's goals to the simulator. Valid until the modes change."""
        return [group.apply for group in self._groups]

    @property
    def effort_appliers(self) -> list[Callable[[], None]]:
        """They do so again before each further step of the simulation, for the joints in effort mode."""
        return [group.apply for group in self._groups if group.mode == _EFFORT]


def _reader(values: np.ndarray, joints: Sequence[int]) -> Callable[[], list[float]]:
    """A function that gives the present values of these joints."""
    if len(joints) == len(values):
        reader: Callable[[], list[float]] = values.tolist
        return reader
    chosen = list(joints)
    return lambda: list(values[chosen].tolist())


class _Group:
    """Joints of a part that are in one mode.

    The simulator keeps the goals of motors: they cross its border only when they change.

    Args:
        joints: their indices in the part.
        last: where they are held, or the first position command moves them from [rad or m].
    """

    def __init__(self, drives: Drives, mode: CommandMode, joints: Sequence[int], last: list[float]) -> None:
        part, gains = drives.part, drives.gains
        self.mode, self.joints, self.last = mode, joints, last
        self._body, self._client = drives.body, drives.client
        self._measured = _reader(drives.measured, joints)
        self._positions, self._velocities, self._efforts = (_reader(values, joints) for values in drives.commands)
        self._indices = [drives.joints[j] for j in joints]
        place = {j: i for i, j in enumerate(joints)}
        self._mimics = [(place[leader], m) for leader, m, _ in drives.mimics if leader in place]
        self._all = self._indices + [index for leader, _, index in drives.mimics if leader in place]
        self._most = [part.limits.effort[j] for j in joints]
        self._forces = self._most + [self._most[leader] for leader, _ in self._mimics]
        self._position_gains = [gains.position] * len(self._all)
        self._velocity_gains = [gains.velocity] * len(self._all)
        reach = reaches(part, drives.period)
        self._reach = [reach[j] for j in joints]
        self._feed_forward = (1.0 - gains.position) / drives.period
        self._at_rest = [0.0] * len(joints)
        self._sent: tuple[list[float], ...] = ()
        self.apply = self._apply_of(mode)
        """Hand this period's goals to the simulator; efforts count for one step of the simulation only."""

    def _apply_of(self, mode: CommandMode) -> Callable[[], None]:
        if mode == _POSITION:
            return self._follow_positions
        if mode == _VELOCITY:
            return self._follow_velocities
        return self._apply_efforts if mode == _EFFORT else self._hold

    def place(self) -> None:
        """Put the joints where they are held, without motors."""
        for index, position in zip(self._all, self._followed(self.last, offset=True), strict=True):
            pybullet.resetJointState(self._body, index, position, 0.0, physicsClientId=self._client)
        self.release()

    def release(self) -> None:
        """Take the simulator's own velocity motors away: else they brake whatever an effort command moves."""
        pybullet.setJointMotorControlArray(
            self._body,
            self._all,
            pybullet.VELOCITY_CONTROL,
            forces=[0.0] * len(self._all),
            physicsClientId=self._client,
        )

    def _apply_efforts(self) -> None:
        pybullet.setJointMotorControlArray(
            self._body,
            self._indices,
            pybullet.TORQUE_CONTROL,
            forces=list(map(clamped, self._efforts(), self._most)),
            physicsClientId=self._client,
        )

    def _hold(self) -> None:
        self._drive(self.last, self._at_rest)

    def _follow_velocities(self) -> None:
        wanted = self._velocities()
        if self._sent == (wanted,):
            return
        self._sent = (wanted,)
        pybullet.setJointMotorControlArray(
            self._body,
            self._all,
            pybullet.VELOCITY_CONTROL,
            targetVelocities=self._followed(wanted, offset=False),
            forces=self._forces,
            velocityGains=self._velocity_gains,
            physicsClientId=self._client,
        )

    def _followed(self, values: list[float], *, offset: bool) -> list[float]:
        """Values of the joints, then those of the mimics."""
        if not self._mimics:
            return values
        return values + [values[leader] * m.multiplier + (m.offset if offset else 0.0) for leader, m in self._mimics]

    def _follow_positions(self) -> None:
        self.last, changes, goal = position_step(self._positions(), self.last, self._measured(), self._reach)
        self._drive(goal, [self._feed_forward * change for change in changes])

    def _drive(self, goal: list[float], velocity: list[float]) -> None:
        if self._sent == (goal, velocity):
            return
        self._sent = (goal, velocity)
        if self._mimics:
            goal, velocity = self._followed(goal, offset=True), self._followed(velocity, offset=False)
        # By place: to find nine arguments by their names takes as long as the rest of the call.
        pybullet.setJointMotorControlArray(
            self._body,
            self._all,
            pybullet.POSITION_CONTROL,
            goal,
            velocity,
            self._forces,
            self._position_gains,
            self._velocity_gains,
            self._client,
        )
