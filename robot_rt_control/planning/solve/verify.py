"""What a plan does without virtual forces: in the planner's engine again, and in worlds that differ from the model.

The result is plain data for a plan's header, `plan.with_verification(verify(plan, task))`:

    mujoco     the same inputs rolled out again: `repeated`, whether the bits are the same; errors at the horizon's end
    at_rest    the robot braked after the horizon, and the body at rest: errors, peak [N] and impulse [N s] of contact
    perturbed  the same in worlds that differ: `name`, errors, `moved` [m] from the end of `at_rest`, peak
    spread     [m] greatest `moved`, without that of `speed`

Replays through the tick loop are added by `plan.with_replays`: testing/plan_replay.py makes them, which stands above
the planner.

Errors are position_error [m], normalized_error (per way) and orientation_error [rad], to the target; null: diverged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.trajectory import Trajectory
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.scene.perturbed_scene import Perturbation, perturbed
from robot_rt_control.planning.scene.scene import Scene, build_scene, is_free
from robot_rt_control.planning.solve.perturbation import PERTURBATIONS
from robot_rt_control.planning.task import Task
from robot_rt_control.vocabulary.errors import DefinitionError

Array = NDArray[np.float64]

PERTURBED = (
    *PERTURBATIONS,
    Perturbation(name="start x -5 mm", shift=(-0.005, 0.0)),
    Perturbation(name="start x +5 mm", shift=(0.005, 0.0)),
    Perturbation(name="start y -5 mm", shift=(0.0, -0.005)),
    Perturbation(name="start y +5 mm", shift=(0.0, 0.005)),
    Perturbation(name="start turned -2 deg", turn=-math.radians(2.0)),
    Perturbation(name="start turned +2 deg", turn=math.radians(2.0)),
    Perturbation(name="speed 0.5", speed=0.5),
)
"""Those that the planner chooses by, and of the start and the speed."""
_REST = 0.5
"""[s] for which a velocity-driven robot stands after the horizon, until the body rests."""


def verify(
    plan: Plan, task: Task, perturbations: Iterable[Perturbation] = PERTURBED, *, scene: Scene | None = None
) -> dict[str, Any]:
    """Roll the plan out again, without virtual forces, and in perturbed worlds.

    Args:
        plan: of this task.
        task: as it was planned.
        perturbations: those of the start are left out if the body is a link of the robot, and `speed` if efforts
            drive a joint.
        scene: of the task, if it is at hand.

    Raises:
        DefinitionError: the task is not the plan's.
    """
    scene = scene or build_scene(task)
    if scene.digest != plan.header["workcell"] or list(scene.actuated.names) != plan.header["joints"]:
        raise DefinitionError("verify", expected="the task and the workcell of the plan", got="others")
    again, at_rest, contact = _roll_out(plan, task, scene)
    end = at_rest.body_position[-1]
    rows: list[dict[str, Any]] = []
    compared: list[float] = []
    for by in perturbations:
        if (by.of_start and not is_free(scene)) or (by.speed != 1.0 and not all(plan.header["velocity_driven"])):
            continue
        _, found, force = _roll_out(plan, task, perturbed(scene, by), by.speed)
        moved = float(np.linalg.norm(found.body_position[-1] - end)) if found.finite else None
        rows.append({"name": by.name, **_errors(plan, found), "moved": moved, **force})
        if by.speed == 1.0 and moved is not None:
            compared.append(moved)
    same = (again.body_position == plan.body_position).all() and (again.joint_position == plan.position).all()
    return {
        "mujoco": {"repeated": bool(same), **_errors(plan, again)},
        "at_rest": {**_errors(plan, at_rest), **contact},
        "perturbed": rows,
        "spread": max(compared, default=0.0),
    }


def _roll_out(
    plan: Plan, task: Task, scene: Scene, speed: float = 1.0
) -> tuple[Trajectory, Trajectory, dict[str, float | None]]:
    """To the horizon's end; with braking and rest; its contact."""
    task = replace(task, time=task.time / speed)
    dynamics = Dynamics(scene, task, np.ones(len(scene.pairs)))
    # The plan's inputs are in their own units: with scales of 1, the very same numbers drive the simulation again.
    dynamics.scale = np.ones(dynamics.n)
    try:
        inputs = np.zeros((len(plan.inputs), dynamics.inputs))
        inputs[:, : dynamics.n] = plan.inputs * speed**2
        again = dynamics.roll_out(inputs)
        driven = np.array(plan.header["velocity_driven"])
        if not driven.all():  # a motor without effort does not stop a joint
            return again, again, _contact(dynamics, again)
        step = task.control_step
        rest = np.zeros((plan.braking + int(np.ceil(_REST / step)), dynamics.inputs))
        rest[: plan.braking, : dynamics.n] = -again.joint_velocity[-1] / (step * plan.braking)
        at_rest = dynamics.roll_out(np.concatenate([inputs, rest]))
        return again, at_rest, _contact(dynamics, at_rest)
    finally:
        dynamics.close()


def _contact(dynamics: Dynamics, trajectory: Trajectory) -> dict[str, float | None]:
    if not trajectory.finite:
        return {"peak": None, "impulse": None}
    forces = dynamics.contact_forces(trajectory)
    return {"peak": float(forces.max()), "impulse": float(forces.sum() * dynamics.h)}


def _errors(plan: Plan, trajectory: Trajectory) -> dict[str, float | None]:
    if not trajectory.finite:
        return {"position_error": None, "normalized_error": None, "orientation_error": None}
    error = plan.error_of(trajectory.body_position[-1], trajectory.body_rotation[-1])
    return {
        "position_error": error.position,
        "normalized_error": error.normalized,
        "orientation_error": error.orientation,
    }
