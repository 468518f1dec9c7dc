from __future__ import annotations

import math

import numpy as np
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointComponentTolerance, JointTolerance
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_rt_control.controllers.trajectory.goal import Code, Point
from robot_rt_control.controllers.trajectory.goal import JointTolerance as Tolerance
from robot_rt_control.controllers.trajectory.messages import controller_state, feedback, goal_of, result, trajectory_of
from robot_rt_control.controllers.trajectory.readings import Sample


def message() -> JointTrajectory:
    made = JointTrajectory(joint_names=["a", "b"])
    made.header.stamp.sec, made.header.stamp.nanosec = 12, 500_000_000
    point = JointTrajectoryPoint(positions=[1.0, 2.0], velocities=[0.1, 0.2], accelerations=[3.0, 4.0])
    point.effort = [5.0, 6.0]
    point.time_from_start.sec, point.time_from_start.nanosec = 1, 250_000_000
    made.points = [point]
    return made


def test_a_goal_with_all_its_fields() -> None:
    request = FollowJointTrajectory.Goal(trajectory=message())
    request.path_tolerance = [JointTolerance(name="a", position=0.1, velocity=0.2, acceleration=0.3)]
    request.goal_tolerance = [JointTolerance(name="b", position=-1.0)]
    request.goal_time_tolerance.sec = -1
    goal = goal_of(request)
    assert goal.joints == ("a", "b") and goal.start == 12.5 and goal.goal_time_tolerance == -1.0
    point = Point(time=1.25, positions=(1.0, 2.0), velocities=(0.1, 0.2), accelerations=(3.0, 4.0), efforts=(5.0, 6.0))
    assert goal.points == (point,)
    assert goal.path_tolerances == (Tolerance(joint="a", position=0.1, velocity=0.2, acceleration=0.3),)
    assert goal.goal_tolerances == (Tolerance(joint="b", position=-1.0),)
    assert goal.is_monitored and not goal.has_more
    request.component_path_tolerance = [JointComponentTolerance(joint_name="a")]
    assert goal_of(request).has_more


def test_a_trajectory_from_a_topic_without_a_stamp_starts_now() -> None:
    given = message()
    given.header.stamp.sec = given.header.stamp.nanosec = 0
    assert trajectory_of(given).start is None and not trajectory_of(given).is_monitored


def test_feedback_state_and_result() -> None:
    one = np.array([1.0, 2.0])
    sample = Sample(position=one, velocity=one * 2, commanded_position=one * 3, commanded_velocity=one * 4,
                    commanded_acceleration=one * 5, speed=0.5, elapsed=math.nan)  # fmt: skip
    stamp = message().header.stamp
    made = feedback(sample, ("a", "b"), stamp, 3)
    assert list(made.desired.positions) == [3.0, 6.0] and list(made.desired.accelerations) == [5.0, 10.0]
    assert list(made.actual.velocities) == [2.0, 4.0] and list(made.error.positions) == [2.0, 4.0]
    # Jazzy has no index.
    assert getattr(made, "index", 3) == 3 and made.header.stamp == stamp and list(made.joint_names) == ["a", "b"]
    state = controller_state(sample, ("a", "b"), stamp)
    assert list(state.reference.velocities) == [4.0, 8.0] and list(state.feedback.positions) == [1.0, 2.0]
    assert list(state.output.positions) == [3.0, 6.0] and state.speed_scaling_factor == 0.5
    found = result(Code.PATH_TOLERANCE_VIOLATED, "why")
    assert (found.error_code, found.error_string) == (-4, "why")
