"""The skill `push_to`: plans how a robot pushes an object to a pose, and plays that, in the session of its run."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from robot_rt_control.blueprint.makers import Handle, skill

_FAILURES = ("impossible", "not_solved", "not_verified", "object_moved", "missed")


@skill(
    category="path_planning",
    results={name: {"failure": True} for name in _FAILURES},
    outputs={"measured": {"type": "bool"}, "x": "m", "y": "m", "peak": "N", "time": "s"},
    roles={"robot": {"kinds": ["arm", "base"]}},
    tags=["push"],
)
def push_to(
    handle: Handle,
    object: str,
    x: Annotated[float, "m"],
    y: Annotated[float, "m"],
    yaw: Annotated[float, "rad", (-math.pi, math.pi)] = 0.0,
    heading: Literal["kept", "yaw", "any"] = "kept",
    pose: str = "",
    tool: str = "",
    at_most: Annotated[float, "s", (1.0, 30.0)] = 6.0,
    patience: Annotated[float, "s", (1.0, 600.0)] = 120.0,
) -> object:
    """Push an object of the workcell's simulated world to a place on the ground.

    The push is planned from where the robot is, and is verified, before anything moves. x and y are those of the
    object's frame in the world. heading: kept, or `yaw` about the vertical, or any. pose: the sensor part that
    measures where the object is; empty: it is where the workcell file has it, and nobody knows where it ends. tool: the
    link that pushes, "arm.peg"; empty: the robot's last one that has a shape. at_most: of the push. patience: of
    planning.

    impossible: no plan can do it, and why. not_solved, not_verified: none was found, or simulators do not agree that
    it ends there. object_moved: it was elsewhere, or was moved meanwhile; the robot did not push. missed: it is
    measured elsewhere than it should be.
    """
    # Here: what plans needs half a second to load, and most workcells never push.
    from robot_rt_control.planner.pushing import push

    return push(
        handle, object=object, x=x, y=y, yaw=yaw, heading=heading, pose=pose, tool=tool, at_most=at_most,
        patience=patience,
    )  # fmt: skip
