"""What a plan does without virtual forces: in the planner's engine again, and in worlds that differ from the model.

The result is plain data for a plan's header, `plan.with_verification(verify(plan, task))`:

    mujoco     the same inputs rolled out again: `repeated`, whether the bits are the same; errors at the horizon's end
    at_rest    the robot braked after the horizon, and the body at rest: errors
    perturbed  the same in what differs: `name`, `world` (else it is the start or the speed that differs), errors,
               `moved` [m] from the end of `at_rest`
    spread     [m] greatest `moved`, without that of `speed`

Replays through the tick loop in other engines are added (playing.py): `others`, by verified.py, and `replays`, by
`plan.with_replays`. Contact forces are theirs: contacts that are smooth enough to be differentiated show a fraction of
a peak.

Errors are position_error [m], normalized_error (per way) and orientation_error [rad], to the target; null: diverged.
As all errors in this engine, they are without the depth by which the body's weight presses it into the ground here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

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
_Pose = tuple[Array, Array]
"""p_WB (3,) [m], R_WB (3, 3)."""
_Result = TypeVar("_Result")

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
    plan: Plan,
    task: Task,
    perturbations: Iterable[Perturbation] = PERTURBED,
    *,
    scene: Scene | None = None,
    check: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Roll the plan out again, without virtual forces, and in perturbed worlds.

    Args:
        plan: of this task.
        task: as it was planned.
        perturbations: those of the start are left out if the body is a link of the robot, and `speed` if efforts
            drive a joint.
        scene: of the task, if it is at hand.
        check: called often; an exception from it ends the verification.

    Raises:
        DefinitionError: the task is not the plan's.
    """
    scene = scene or build_scene(task)
    if scene.digest != plan.header["workcell"] or list(scene.actuated.names) != plan.header["joints"]:
        raise DefinitionError("verify", expected="the task and the workcell of the plan", got="others")
    dynamics = _Played(plan, task, scene)
    again, at_rest = dynamics.again(), dynamics.at_rest()
    rows: list[dict[str, Any]] = []
    compared: list[float] = []
    for by in perturbations:
        if (by.of_start and not is_free(scene)) or (by.speed != 1.0 and not all(plan.header["velocity_driven"])):
            continue
        check()
        found = _Played(plan, task, perturbed(scene, by), by.speed).at_rest()
        moved = None if found is None or at_rest is None else float(np.linalg.norm(found[0] - at_rest[0]))
        world = not by.of_start and by.speed == 1.0
        rows.append({"name": by.name, "world": world, **_errors(plan, found), "moved": moved})
        if by.speed == 1.0 and moved is not None:
            compared.append(moved)
    same = (again.body_position == plan.body_position).all() and (again.joint_position == plan.position).all()
    end = (again.body_position[-1], again.body_rotation[-1]) if again.finite else None
    return {
        "mujoco": {"repeated": bool(same), **_errors(plan, end)},
        "at_rest": _errors(plan, at_rest),
        "perturbed": rows,
        "spread": max(compared, default=0.0),
    }


class _Played:
    """A plan in a scene, with a speed override."""

    def __init__(self, plan: Plan, task: Task, scene: Scene, speed: float = 1.0) -> None:
        time, steps = plan.header["time"] / speed, plan.header["steps"]  # the planner may have chosen them
        self.plan, self.scene, self.speed = plan, scene, speed
        self.task = replace(task, time=time, steps=steps, at_most=None)

    def again(self) -> Trajectory:
        """To the horizon's end."""
        return self._with(lambda dynamics, inputs: dynamics.roll_out(inputs))

    def at_rest(self) -> _Pose | None:
        """Where the body is once the robot has braked and stood for a while; None: the simulation diverged."""
        driven, step = np.array(self.plan.header["velocity_driven"]), self.task.control_step
        braking = np.zeros((0, len(driven)))
        if driven.all():  # a motor without effort does not stop a joint
            count = self.plan.braking
            braking = np.zeros((count + int(np.ceil(_REST / step)), len(driven)))
            braking[:count] = -self.plan.velocity[-1] * self.speed / (step * count)

        def end(dynamics: Dynamics, inputs: Array) -> _Pose | None:
            found = dynamics.ends(np.concatenate([inputs[:, : dynamics.n], braking])[None])
            if not np.isfinite(found.body_position).all():
                return None
            return found.body_position[0], found.body_rotation[0]

        return self._with(end)

    def _with(self, work: Callable[[Dynamics, Array], _Result]) -> _Result:
        dynamics = Dynamics(self.scene, self.task, np.ones(len(self.scene.pairs)))
        # The plan's inputs are in their own units: with scales of 1, the very same numbers drive the simulation again.
        dynamics.scale = np.ones(dynamics.n)
        inputs = np.zeros((len(self.plan.inputs), dynamics.inputs))
        inputs[:, : dynamics.n] = self.plan.inputs * self.speed**2
        try:
            return work(dynamics, inputs)
        finally:
            dynamics.close()


def _errors(plan: Plan, end: _Pose | None) -> dict[str, float | None]:
    if end is None:
        return {"position_error": None, "normalized_error": None, "orientation_error": None}
    error = plan.error_of(end[0] - np.array(plan.header.get("offset", (0.0, 0.0, 0.0))), end[1])
    return {
        "position_error": error.position,
        "normalized_error": error.normalized,
        "orientation_error": error.orientation,
    }
