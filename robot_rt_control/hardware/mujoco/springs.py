"""Stops of tools on springs. The springs themselves are MuJoCo's."""

from __future__ import annotations

import math
from collections.abc import Iterable

from robot_rt_control.hardware.mujoco.world import MujocoWorld
from robot_rt_control.hardware.world.parameters import ToolParameters


class Stops:
    """The rubber stops of all tools on springs.

    Args:
        world: with the robots that carry them.
        tools: all tools.
    """

    def __init__(self, world: MujocoWorld, tools: Iterable[ToolParameters]) -> None:
        self._world = world
        self._stops = []
        for tool in tools:
            if tool.spring is not None:
                q, v = world.joint(tool.part_of, f"{tool.name}_joint", f"tool {tool.name!r}")
                self._stops.append((q, v, math.hypot(*tool.spring.way), tool.spring.stop))

    @property
    def exists(self) -> bool:
        """Whether there is any."""
        return bool(self._stops)

    def apply(self) -> None:
        """Push, for the next step of the simulation."""
        for q, v, way, stiffness in self._stops:
            self._world.efforts[v] = -stiffness * max(0.0, self._world.data.qpos[q] - way)
