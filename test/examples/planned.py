"""A plan in place of one that takes long to make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.planning.plan.plan import FORMAT, Plan
from robot_rt_control.planning.solve.planner import Result


def straight(file: Path, body: str, start: list[float], ways: dict[str, list[float]]) -> Any:
    """What may stand in for `plan_file`: each part moves its joints by a way, smoothly, in 1 s; the body stays.

    Args:
        file: of the workcell.
        start: p_WB [m] of the body.
        ways: part → [rad or m] of each joint.
    """
    workcell = load_workcell(file)
    s = np.linspace(0.0, 1.0, 21)[:, None]
    parts = [workcell.part(name) for name in ways]
    first = np.concatenate([part.start_position[: part.dof] for part in parts])
    way = np.concatenate([np.array(values, dtype=float) for values in ways.values()])
    header = {
        "format": FORMAT,
        "workcell": workcell.digest,
        "body": body,
        "joints": [f"{part.name}.{joint}" for part in parts for joint in part.joint_names],
        "velocity_driven": [True] * len(way),
        "pairs": ["limb face"],
        "time": 1.0,
        "steps": 20,
        "target": [start, [0.0, 0.0, 0.0, 1.0]],
        "success": True,
        "position_error": 0.0,
        "orientation_error": 0.0,
        "verification": {
            "replays": [
                {"engine": "other", "speed": 1.0, "rests": True, "error_to_target": 0.0, "orientation_error": 0.0}
            ],
            "perturbed": [],
        },
    }
    plan = Plan(
        header=header,
        position=first + (3.0 * s**2 - 2.0 * s**3) * way,
        velocity=(6.0 * s - 6.0 * s**2) * way,
        inputs=np.zeros((20, len(way))),
        body_position=np.tile(np.array(start), (21, 1)),
        body_rotation=np.tile(np.eye(3), (21, 1, 1)),
        distance=np.where(s > 0.5, 0.0, 0.1),
        stiffness=np.zeros((20, 1)),
        virtual_force=np.zeros((20, 1)),
        virtual_distance=np.zeros((21, 1)),
    )
    result = Result(success=True, message="", plan=plan, error=None, iterates=())
    return lambda task, **parameters: result
