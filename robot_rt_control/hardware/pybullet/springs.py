"""Springs of tools: joints that no drive moves, so the world lets them swing."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pybullet

from robot_rt_control.hardware.pybullet.world import PyBulletWorld
from robot_rt_control.hardware.world.parameters import ToolParameters


class Springs:
    """The springs of all tools that have one.

    Args:
        world: with the robots that carry them.
        tools: all tools.
    """

    def __init__(self, world: PyBulletWorld, tools: Iterable[ToolParameters]) -> None:
        self._client = world.client
        self._springs = []
        for tool in tools:
            if tool.spring is not None:
                robot = world.robot(tool.part_of, f"tool {tool.name!r}")
                joint = robot.joint(f"{tool.name}_joint", f"tool {tool.name!r}")
                self._springs.append((robot.body, joint, tool.spring))

    @property
    def exists(self) -> bool:
        """Whether there is any."""
        return bool(self._springs)

    def apply(self) -> None:
        """Push, for the next step of the simulation."""
        for body, joint, spring in self._springs:
            position, velocity, _, _ = pybullet.getJointState(body, joint, physicsClientId=self._client)
            force = -(spring.preload + spring.stiffness * position + spring.damping * velocity)
            force -= spring.stop * max(0.0, position - math.hypot(*spring.way))
            pybullet.setJointMotorControl2(
                body, joint, pybullet.TORQUE_CONTROL, force=force, physicsClientId=self._client
            )
