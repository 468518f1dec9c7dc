"""What the skill `push_to` does: a push is planned, verified, and played in the session of the skill's run."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from robot_rt_control.blueprint.graph.results import DONE
from robot_rt_control.blueprint.makers import Handle, Outcome
from robot_rt_control.model.pose import Pose
from robot_rt_control.planner.job import Job, Report
from robot_rt_control.planner.measured import Measured, measure_start
from robot_rt_control.planner.planning_process import SOLVER, PlanningProcess
from robot_rt_control.planning.files.task_file import read_task
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.plan.program_export import POSE_VALUES, export_program
from robot_rt_control.planning.scene.task_cell import TaskCell
from robot_rt_control.text.dump import dump
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

_STEP = 0.05
"""[s] of control."""
_HORIZON = 1.5
"""[s] that the planner extends."""
_SIDES = ("back", "front", "right", "left")


def push(
    handle: Handle,
    *,
    object: str,
    x: float,
    y: float,
    yaw: float,
    heading: str,
    pose: str,
    tool: str,
    at_most: float,
    patience: float,
) -> Any:
    """Plan, verify, play: the arguments are the skill's. Returns what a skill made of Python may return.

    Raises:
        RobotControlError: it cannot be tried: wrong names, another workcell, a robot that is held, a speed override.
    """
    part = handle.view.parts["robot"]
    if handle.view.workcell is None:
        raise DefinitionError("push_to", expected="a workcell file", got="none is known here")
    cell = TaskCell(handle.view.workcell)
    cell.check_body(object)
    tool = tool or _last_link(cell, part)
    cell.check_link(tool)
    backend = handle.view.backend
    if backend.workcell_digest() != cell.workcell.digest:
        got = f"{handle.view.workcell}, which has changed since"
        raise DefinitionError("push_to", expected="the file of the running workcell", got=got)
    start = _measured(handle, cell, pose)
    tools = {its.name: its.tool for its in backend.executor_status().parts if its.tool}
    body = start.body or Pose.of_matrix(cell.start_of(object))
    orientation: Any = {"kept": body.orientation, "yaw": _turned(body, yaw), "any": "free"}[heading]
    steps = int(min(_HORIZON, at_most) / _STEP + 1e-9)
    task = dump(
        {
            "name": "push_to",
            "workcell": str(handle.view.workcell),
            "body": object,
            "target": {"position": [x, y, body.position[2]], "orientation": orientation},
            "pairs": [{"robot": tool, "faces": [side for side in _SIDES if side in cell.face_names(object)]}],
            "horizon": {"time": steps * _STEP, "steps": steps},
            "duration": {"at_most": at_most},
            "tools": tools,
            "start": {
                "from": "given",
                "joints": {name: list(q) for name, q in start.joints.items()},
                "body": {"position": list(body.position), "orientation": list(body.orientation)},
            },
        }
    )
    try:
        read_task(task)
    except RobotControlError as error:
        return Outcome(result="impossible", failure=True, reason=str(error), outputs={})
    plan = _planned(handle, task, patience)
    if isinstance(plan, Outcome):
        return plan
    status = backend.executor_status()  # planning took a while
    plan.check_start(speed=status.speed, tools={its.name: its.tool for its in status.parts})
    handle.progress(f"pushing for {plan.header['time']:.1f} s")
    ended = handle.view.run_program(export_program(plan, name="push_to", sensor=pose))
    if ended.result in ("object_moved", "missed"):
        return Outcome(result=ended.result, failure=True, reason=_where(plan, ended.outputs, pose), outputs={})
    if ended.result != DONE:
        raise RobotControlError("push_to", expected="full speed, for which it was planned", got=ended.shown)
    if not pose:
        handle.progress(f"nothing measures where {object!r} ended")
    return {
        "measured": bool(pose),
        "x": ended.outputs.get(f"{pose}.x", plan.target.position[0]),
        "y": ended.outputs.get(f"{pose}.y", plan.target.position[1]),
        "peak": plan.header["verification"]["replays"][0]["peak"],
        "time": plan.header["time"],
    }


def _last_link(cell: TaskCell, part: str) -> str:
    links = [link for link, solid in cell.links.items() if solid and link.startswith(f"{part}.")]
    if not links:
        raise DefinitionError(f"part {part!r}", expected="one with a link that has a shape", got="none")
    return links[-1]


def _measured(handle: Handle, cell: TaskCell, pose: str) -> Measured:
    """Where all joints of the scene are, and the object, if something measures it."""
    jointed = [p.name for p in cell.parts.values() if p.dof and (p.urdf is not None or p.mounted_on is not None)]

    def measure(prefixes: Sequence[str]) -> Mapping[str, float]:
        return handle.view.backend.state_values(prefixes, "")

    return measure_start(cell.workcell, jointed, pose, measure, body=bool(pose))


def _turned(body: Pose, yaw: float) -> tuple[float, float, float, float]:
    """The body's orientation, turned about the vertical until its x axis points to a yaw [rad]."""
    R = body.matrix[:3, :3]
    half = (yaw - math.atan2(R[1, 0], R[0, 0])) / 2.0
    s, c = math.sin(half), math.cos(half)
    qx, qy, qz, qw = body.orientation
    return c * qx - s * qy, c * qy + s * qx, c * qz + s * qw, c * qw - s * qz


def _planned(handle: Handle, task: str, patience: float) -> Plan | Outcome:
    """A verified plan; or how the skill ends without one."""
    assert handle.view.workcell is not None
    phase = [""]

    def report(its: Report) -> None:
        if its.phase != phase[0]:
            phase[0] = its.phase
            handle.progress(its.phase)

    def cancelled() -> bool:
        handle.pause()  # the loop goes on meanwhile
        return handle.cancelled

    with tempfile.TemporaryDirectory(prefix="push_to") as folder:
        job = Job(task=task, workcell=handle.view.workcell, plan_file=Path(folder) / "found.plan", timeout=patience)
        outcome = PlanningProcess(job, measure=lambda _: {}, solver=SOLVER).run(report=report, cancelled=cancelled)
    handle.sleep(0.0)  # ends it, if it is cancelled
    if outcome.error is not None:
        raise outcome.error
    if outcome.success and outcome.plan is not None:
        return outcome.plan
    solved = outcome.plan is not None and outcome.plan.header["success"]
    return Outcome(result="not_verified" if solved else "not_solved", failure=True, reason=outcome.message, outputs={})


def _where(plan: Plan, values: Mapping[str, Any], pose: str) -> str:
    """Where the object is, beside where it should be."""
    try:
        x, y, z, qx, qy, qz, qw = (float(values[f"{pose}.{name}"]) for name in POSE_VALUES)
        at = Pose(position=(x, y, z), orientation=(qx, qy, qz, qw))
    except (KeyError, ValueError):
        return f"{pose!r} does not say where the object is"
    error = plan.error_of(at.matrix[:3, 3], at.matrix[:3, :3])
    far = f"{1e3 * error.position:.1f} mm and {error.orientation:.3f} rad from its target"
    return f"the object is at ({x:.4f}, {y:.4f}, {z:.4f}) m: {far}"
