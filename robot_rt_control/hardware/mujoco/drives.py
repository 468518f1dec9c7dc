"""Simulated joint drives: position, velocity and effort control, and holding, for each joint of a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.hardware.mujoco.actuated_part import ActuatedPart
from robot_rt_control.hardware.mujoco.drive_cycle import (
    APPLY,
    READ,
    STEER,
    drive_cycle,
    drives_dtype,
    follower_dtype,
    joint_dtype,
)
from robot_rt_control.hardware.mujoco.world import MujocoWorld
from robot_rt_control.hardware.world.drives import reaches
from robot_rt_control.hardware.world.parameters import GainParameters
from robot_rt_control.memory.atomics import address_of
from robot_rt_control.vocabulary.enums import CommandMode

Array = NDArray[np.float64]


@dataclass(kw_only=True)
class _PartDrives:
    """What of the records is a part's."""

    joints: np.ndarray
    """Records of `joint_dtype`."""
    dofs: list[int]
    """Places of the joints in qvel."""
    followers: dict[str, int]
    """Joints that drives let follow these: their places in qvel."""
    leaders: list[int]
    """Index of the joint that each of these follows."""
    actuated: ActuatedPart | None
    modes: tuple[CommandMode, ...] = ()


class Drives:
    """The drives of all joints, and of those that mimic them: motors of the world by the law of world/drives.py.

    Actuators of an MJCF take the place of these drives in the modes that they have.

    Args:
        world: where the parts' robots are.
        parts: each with float64 views of shape (3 n,) of its states and its commands: position, velocity, effort of
            each joint.
        gains: of position and velocity drives.
        period: [s]
    """

    def __init__(
        self,
        world: MujocoWorld,
        parts: Sequence[tuple[HardwarePart, Array, Array]],
        gains: GainParameters,
        period: float,
    ) -> None:
        self._world = world
        self._joints = np.zeros(sum(len(part.joint_names) for part, _, _ in parts), joint_dtype)
        n_followers = sum(not each.is_tied for part, _, _ in parts for each in world.followers(part))
        self._followers = np.zeros(n_followers, follower_dtype)
        self._kept = [memory for _, *both in parts for memory in both]
        """Whose addresses the records have."""
        self._parts: dict[str, _PartDrives] = {}
        n_joints, n_followers = 0, 0
        for part, state, command in parts:
            added = self._parts[part.name] = self._add(part, state, command, period, n_joints, n_followers)
            n_joints, n_followers = n_joints + len(added.dofs), n_followers + len(added.followers)
        self._actuated = tuple(part.actuated for part in self._parts.values() if part.actuated is not None)
        self._record = np.zeros(1, drives_dtype)[0]
        x = self._record
        x.n_joints, x.n_followers = n_joints, n_followers
        x.joints, x.followers = self._joints.ctypes.data, self._followers.ctypes.data
        x.velocities, x.motor_velocities = _address(world.data.qvel), _address(world.motor_velocity)
        x.n_motors, x.motors = _address(world.n_motors), _address(world.motors)
        x.references = _address(world.motor_references)
        x.step, x.rate = world.step_s, gains.position / world.step_s
        x.feed_forward, x.velocity_gain = (1.0 - gains.position) / period, gains.velocity
        self._address, self._cycle = address_of(x), drive_cycle()
        for part, _, _ in parts:
            self.switch(part.name, (CommandMode.NONE,) * len(part.joint_names))

    def _add(
        self, part: HardwarePart, state: Array, command: Array, period: float, first: int, first_follower: int
    ) -> _PartDrives:
        world, item = self._world, f"part {part.name!r}"
        data = world.data
        dofs, leaders = [], []
        followers: dict[str, int] = {}
        joints = self._joints[first : first + len(part.joint_names)]
        reach = reaches(part, period)
        for i, (name, x) in enumerate(zip(part.joint_names, joints, strict=True)):
            q, v = world.joint(part.name, name, item)
            x.q, x.v = _address(data.qpos, q), _address(data.qvel, v)
            x.motor_velocity, x.motor_effort = _address(world.motor_velocity, v), _address(world.motor_effort, v)
            x.state, x.command = _address(state, 3 * i), _address(command, 3 * i)
            x.reach, x.most = reach[i], part.limits.effort[i]
            x.last = part.initial_position[i]
            data.qpos[q] = x.last
            dofs.append(v)
        for each in world.followers(part):
            q, v = world.joint(part.name, each.joint, item)
            leader = part.joint_names.index(each.leader)
            data.qpos[q] = part.initial_position[leader] * each.multiplier + each.offset
            if each.is_tied:
                continue
            y = self._followers[first_follower + len(followers)]
            y.leader = self._joints.ctypes.data + (first + leader) * joint_dtype.itemsize
            y.q, y.motor_velocity = _address(data.qpos, q), _address(world.motor_velocity, v)
            y.multiplier, y.offset = each.multiplier, each.offset
            leaders.append(leader)
            followers[each.joint] = v
        world.changed()
        found = world.actuators(part)
        actuated = None if found is None else ActuatedPart(found, joints, state, command)
        return _PartDrives(joints=joints, dofs=dofs, followers=followers, leaders=leaders, actuated=actuated)

    def __contains__(self, part: str) -> bool:
        return part in self._parts

    def n_joints(self) -> dict[str, int]:
        """Number of joints of each part."""
        return {name: len(part.dofs) for name, part in self._parts.items()}

    def switch(self, name: str, modes: tuple[CommandMode, ...]) -> None:
        """Change a part's modes; where a joint is now is where NONE holds it, and what its first command moves from."""
        part, world = self._parts[name], self._world
        before, part.modes = part.modes, modes
        if part.actuated is not None:
            part.actuated.switch(modes)
        qpos_address = _address(world.data.qpos)
        most = []
        for i, (x, v) in enumerate(zip(part.joints, part.dofs, strict=True)):
            if before and modes[i] != before[i]:
                x.last = world.data.qpos[(x.q - qpos_address) // 8]
            x.mode, x.goal, x.forward = modes[i], x.last, 0.0
            world.efforts[v] = 0.0
            x.effort = _address(world.efforts, v)
            most.append(0.0 if modes[i] == CommandMode.EFFORT else float(x.most))
        of_followers = [most[leader] for leader in part.leaders]
        if (actuated := part.actuated) is not None:
            for i in map(int, np.flatnonzero(actuated.moved)):
                part.joints[i].effort, most[i] = _address(actuated.efforts, i), 0.0
            moved = [actuated.moves(name) for name in part.followers]
            of_followers = [0.0 if its else each for its, each in zip(moved, of_followers, strict=True)]
        world.set_motors([*part.dofs, *part.followers.values()], [*most, *of_followers])

    def read(self) -> None:
        """Fill positions, velocities and efforts."""
        self._cycle(self._address, READ)
        for each in self._actuated:
            each.read()

    def apply(self) -> None:
        """Take this period's commands, and `steer`."""
        self._cycle(self._address, APPLY | STEER)
        for each in self._actuated:
            each.command()

    def steer(self) -> None:
        """Before each step of the simulation: the speeds that the motors reach in it."""
        self._cycle(self._address, STEER)


def _address(array: np.ndarray, place: int = 0) -> int:
    """Address of an element of an array whose elements of 8 bytes follow each other."""
    return int(array.ctypes.data) + 8 * place
