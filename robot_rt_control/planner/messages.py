"""Between the messages of PlanContact and plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_rt_control import action
from robot_rt_control.planner.job import Numbers, Report
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all


def parameters_of(messages: Iterable[Any]) -> dict[str, tuple[Numbers, str]]:
    """Name → number or numbers, and unit, of msg/ParameterValue.

    Raises:
        DefinitionError, ProgramError: all that have no number.
    """
    found: dict[str, tuple[Numbers, str]] = {}
    mistakes = []
    for message in messages:
        numbers = tuple(float(value) for value in message.values)
        if message.text or not numbers:
            got = "a text" if message.text else "none"
            mistakes.append(DefinitionError(f"parameter {message.name!r}", expected="numbers in `values`", got=got))
        else:
            found[message.name] = numbers[0] if len(numbers) == 1 else numbers, message.unit
    raise_all(mistakes)
    return found


def checked_timeout(timeout: float) -> float:
    """Raises DefinitionError: it is no time."""
    if not 0.0 <= timeout < math.inf:
        raise DefinitionError("timeout", expected="a time in seconds, 0: none", got=f"{timeout:g}")
    return float(timeout)


def feedback(report: Report, elapsed: float) -> Any:
    """PlanContact.Feedback."""
    return action.PlanContact.Feedback(
        phase=report.phase,
        start=report.start,
        penalty_iteration=report.penalty_iteration,
        iteration=report.iteration,
        cost=report.cost,
        position_error=report.position_error,
        orientation_error=report.orientation_error,
        stiffness_average=report.stiffness_average,
        stiffness_greatest=report.stiffness_greatest,
        progress=report.progress,
        elapsed=elapsed,
        best_position_error=report.best_position_error,
        best_orientation_error=report.best_orientation_error,
    )


def result(plan: Plan | None, plan_file: str, joint_names: Mapping[str, str], *, elapsed: float) -> Any:
    """PlanContact.Result of a plan, without success and message.

    Args:
        joint_names: `<part>.<joint>` → its name in joint_states; joints that it lacks keep their own.
    """
    header: Mapping[str, Any] = {} if plan is None else plan.header
    convergence = header.get("convergence") or [{}]
    contact: Mapping[str, Any] = next(iter(header.get("verification", {}).get("replays", [])), {})
    made = action.PlanContact.Result(
        plan_file="" if plan is None else plan_file,
        position_error=_number(header, "position_error"),
        normalized_error=_number(header, "normalized_error"),
        orientation_error=_number(header, "orientation_error"),
        stiffness_average=_number(convergence[-1], "stiffness_average"),
        stiffness_greatest=_number(convergence[-1], "stiffness_greatest"),
        contact_peak=_number(contact, "peak"),
        contact_impulse=_number(contact, "impulse"),
        elapsed=elapsed,
    )
    if plan is not None:
        made.parts = list(plan.parts)
        made.trajectories = [_trajectory(plan, part, joint_names) for part in plan.parts]
    return made


def _number(values: Mapping[str, Any], name: str) -> float:
    value = values.get(name)
    return math.nan if value is None else float(value)


def _trajectory(plan: Plan, part: str, names: Mapping[str, str]) -> Any:
    """One part's trajectory, as `track_trajectory` follows it: cubic pieces; the last one brings the joints to rest."""
    own = [i for i, name in enumerate(plan.header["joints"]) if name.partition(".")[0] == part]
    parameters, n = plan.track_parameters(part), len(own)
    driven_by_effort = not any(plan.header["velocity_driven"][i] for i in own)
    joints = [plan.header["joints"][i] for i in own]
    message = JointTrajectory(joint_names=[names.get(joint, joint.partition(".")[2]) for joint in joints])
    for i, time in enumerate(parameters["times"]):
        point = JointTrajectoryPoint(
            positions=parameters["positions"][n * i : n * (i + 1)],
            velocities=parameters["velocities"][n * i : n * (i + 1)],
            time_from_start=_duration(time),
        )
        if driven_by_effort:
            point.effort = plan.inputs[i, own].tolist() if i < len(plan.inputs) else [0.0] * n
        message.points.append(point)
    return message


def _duration(seconds: float) -> Any:
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
