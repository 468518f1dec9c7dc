"""Puts a tool on a part: the one place that knows what of a part's record follows from its tool.

Plain Python, as workcells are also read without the compiler; the tick compiles it.
"""

from __future__ import annotations

import numpy as np


def wear_tool(part: np.record, limits: np.record, tool: np.record, number: int) -> None:
    """Write what follows from a tool into a part's record and its system limits: frame, mass, limits, number.

    What is derived from these, as the tool's pose, is the caller's to compute anew.

    Args:
        part: `layout.part_dtype`, of a chain.
        limits: `layout.limits_dtype` of the part.
        tool: `layout.tool_dtype`, one of the part's.
        number: which one, from 0.
    """
    chain, n = part.chain, part.dof
    for i in range(3):
        for k in range(4):
            chain.tool[i, k] = tool.tool[i, k]
        chain.center_of_mass[n - 1, i] = tool.center_of_mass[i]
        for k in range(3):
            chain.inertia[n - 1, i, k] = tool.inertia[i, k]
    chain.mass[n - 1] = tool.mass
    for j in range(n):
        part.velocity_limit[j] = tool.velocity_limit[j]
        part.acceleration_limit[j] = tool.acceleration_limit[j]
        part.jerk_limit[j] = tool.jerk_limit[j]
        limits.velocity[j] = tool.velocity[j]
        limits.acceleration[j] = tool.acceleration[j]
        limits.jerk[j] = tool.jerk[j]
    part.tool_number = number
