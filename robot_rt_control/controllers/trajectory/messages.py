"""Between the messages of FollowJointTrajectory and plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from trajectory_msgs.msg import JointTrajectoryPoint

from robot_rt_control.controllers.trajectory.goal import Code, Goal, JointTolerance, Point
from robot_rt_control.controllers.trajectory.readings import Sample
from robot_rt_control.controllers.trajectory.track import State


def goal_of(request: Any) -> Goal:
    """From FollowJointTrajectory.Goal."""
    made = trajectory_of(request.trajectory)
    tolerances = [
        tuple(
            JointTolerance(joint=t.name, position=t.position, velocity=t.velocity, acceleration=t.acceleration)
            for t in given
        )
        for given in (request.path_tolerance, request.goal_tolerance)
    ]
    return Goal(
        joints=made.joints,
        points=made.points,
        start=made.start,
        path_tolerances=tolerances[0],
        goal_tolerances=tolerances[1],
        goal_time_tolerance=seconds(request.goal_time_tolerance),
        has_more=bool(
            request.multi_dof_trajectory.points
            or request.multi_dof_trajectory.joint_names
            or request.component_path_tolerance
            or request.component_goal_tolerance
        ),
    )


def trajectory_of(message: Any) -> Goal:
    """From trajectory_msgs/JointTrajectory; its goal tolerances are not watched."""
    stamp = message.header.stamp
    return Goal(
        joints=tuple(message.joint_names),
        points=tuple(
            Point(
                time=seconds(p.time_from_start),
                positions=tuple(p.positions),
                velocities=tuple(p.velocities),
                accelerations=tuple(p.accelerations),
                efforts=tuple(p.effort),
            )
            for p in message.points
        ),
        start=seconds(stamp) if stamp.sec or stamp.nanosec else None,
        is_monitored=False,
    )


def seconds(message: Any) -> float:
    """From builtin_interfaces/Time or Duration."""
    return float(message.sec) + float(message.nanosec) * 1e-9


def _duration(time: float) -> Any:
    sec, rest = divmod(round(time * 1e9), 10**9)
    return Duration(sec=sec, nanosec=rest)


def result(code: Code, text: str) -> Any:
    """FollowJointTrajectory.Result."""
    return FollowJointTrajectory.Result(error_code=int(code), error_string=text)


def _point(q: np.ndarray, v: np.ndarray, a: np.ndarray | None = None) -> Any:
    accelerations = [] if a is None else a.tolist()
    return JointTrajectoryPoint(positions=q.tolist(), velocities=v.tolist(), accelerations=accelerations)


def _points(sample: Sample) -> tuple[Any, Any, Any]:
    """Desired, actual, and their difference."""
    return (
        _point(sample.commanded_position, sample.commanded_velocity, sample.commanded_acceleration),
        _point(sample.position, sample.velocity),
        _point(sample.commanded_position - sample.position, sample.commanded_velocity - sample.velocity),
    )


def feedback(
    sample: Sample, joints: Sequence[str], stamp: Any, index: int, goal_time: float = 0.0, late: float = 0.0
) -> Any:
    """FollowJointTrajectory.Feedback.

    Args:
        stamp: builtin_interfaces/Time.
        index: of the point that is reached next.
        goal_time: [s] of the goal at the commanded position.
        late: [s] by which the trajectory was slowed until then.
    """
    desired, actual, error = _points(sample)
    for point, time in ((desired, goal_time), (actual, goal_time + late), (error, late)):
        point.time_from_start = _duration(time)
    made = FollowJointTrajectory.Feedback(joint_names=list(joints), desired=desired, actual=actual, error=error)
    made.header.stamp = stamp
    if hasattr(made, "index"):  # control_msgs of Jazzy has none
        made.index = index
    return made


def fill_state(response: Any, joints: Sequence[str], state: State) -> None:
    """Make a successful QueryTrajectoryState.Response of a state."""
    response.success, response.name = True, list(joints)
    response.position, response.velocity, response.acceleration = (x.tolist() for x in state)


def controller_state(sample: Sample, joints: Sequence[str], stamp: Any) -> Any:
    """control_msgs/JointTrajectoryControllerState."""
    reference, actual, error = _points(sample)
    made = JointTrajectoryControllerState(
        joint_names=list(joints), reference=reference, feedback=actual, error=error, speed_scaling_factor=sample.speed
    )
    made.output.positions = sample.commanded_position.tolist()
    made.header.stamp = stamp
    return made
