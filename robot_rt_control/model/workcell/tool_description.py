"""The static description of a tool that can be put on a part."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.memory.layout import instruction_dtype
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf import Inertial


@dataclass(frozen=True, kw_only=True, eq=False)
class ToolDescription:
    """A tool that can be put on a part."""

    name: str
    pose: Pose
    """X of the tool in the tip link."""
    body: Inertial
    """In the tip link."""
    sensor: str = ""
    """The condition by which sensors tell that it is on; empty: none does."""
    instructions: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, instruction_dtype))
    """`layout.instruction_dtype`: that condition, compiled."""
    record: np.record
    """`layout.tool_dtype`: what is written over the part's while it is on."""
