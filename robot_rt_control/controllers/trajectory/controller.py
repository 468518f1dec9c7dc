"""The ROS side of trajectories: the action, the topics, and their life."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState, SpeedScalingFactor
from control_msgs.srv import QueryTrajectoryState
from rclpy.qos import DurabilityPolicy, QoSProfile
from trajectory_msgs.msg import JointTrajectory

from robot_rt_control.client import Client
from robot_rt_control.controllers.controller import ControllerState
from robot_rt_control.controllers.trajectory.follower import Follower
from robot_rt_control.controllers.trajectory.goal import Code, GoalRefused, Outcome
from robot_rt_control.controllers.trajectory.messages import (
    controller_state,
    feedback,
    fill_state,
    goal_of,
    result,
    seconds,
    trajectory_of,
)
from robot_rt_control.controllers.trajectory.options import read_options
from robot_rt_control.controllers.working import GoalSide, WorkingController
from robot_rt_control.model.controllers import TRAJECTORY
from robot_rt_control.model.part_description import PartDescription
from robot_rt_control.vocabulary.errors import RobotControlError


class TrajectoryController(WorkingController):
    """Follows trajectories of MoveIt and others with one part: see docs/moveit.md.

    Topics, the action and the service are below its name: `follow_joint_trajectory`, `joint_trajectory`,
    `controller_state`, `speed_scaling_input`, `query_state`.
    """

    type = TRAJECTORY

    def __init__(self, name: str, part: PartDescription, client: Client, options: Mapping[str, Any]) -> None:
        super().__init__(name, part, client, options)
        self._read = read_options(f"controller {name!r}", options, part)
        self._follower: Follower | None = None

    @property
    def state_interfaces(self) -> tuple[str, ...]:
        return tuple(f"{joint}/{kind}" for joint in self.part.joint_names for kind in self._read.state_interfaces)

    # --- life -----------------------------------------------------------------------------------

    def offer(self) -> None:
        node = self.client.node
        goals = GoalSide(
            self,
            FollowJointTrajectory,
            "follow_joint_trajectory",
            begin=self._begin,
            cancel=self._cancel,
            result=lambda outcome: result(outcome.code, outcome.text),
            refusal=_refusal,
        )
        state = node.create_publisher(JointTrajectoryControllerState, f"{self.name}/controller_state", 10)
        self._remove = [goals.destroy, partial(node.destroy_publisher, state)]
        self.subscribe(JointTrajectory, "joint_trajectory", self._on_trajectory)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.subscribe(SpeedScalingFactor, "speed_scaling_input", self._on_speed_scaling, latched)
        self.serve(QueryTrajectoryState, "query_state", self._query)
        self.repeat(partial(self._publish_state, state), self._read.state_publish_rate)
        self.repeat(partial(goals.publish_feedback, self._feedback), self._read.action_monitor_rate)

    def activate(self) -> None:
        self._follower = Follower(self.name, self.part, self.client, self._read, self._on_event)
        self.state = ControllerState.ACTIVE

    def deactivate(self) -> None:
        self.state = ControllerState.INACTIVE
        follower, self._follower = self._follower, None
        if follower is not None:
            follower.close("the controller was deactivated")

    def _on_event(self) -> None:
        self.later(self._process)

    def _process(self) -> None:
        follower = self._follower
        if follower is not None:
            follower.process()

    # --- the action -----------------------------------------------------------------------------

    def _begin(self, request: Any, done: Callable[[Outcome], None]) -> None:
        follower = self._follower
        if follower is None:
            raise GoalRefused("the controller was deactivated")
        follower.follow(goal_of(request), done, self.now())

    def _cancel(self) -> None:
        follower = self._follower
        if follower is not None:
            follower.cancel()

    def _feedback(self) -> Any:
        follower = self._follower
        if follower is None:
            return None
        sample = follower.sample()
        stamp = self.client.node.get_clock().now().to_msg()
        return feedback(sample, self.part.joint_names, stamp, follower.index(sample.elapsed))

    def _query(self, request: Any, response: Any) -> Any:
        follower = self._follower
        try:
            if follower is None:
                raise RobotControlError(f"the controller is {self.state}", expected="active", hint="Activate it")
            fill_state(response, self.part.joint_names, follower.state_at(seconds(request.time)))
        except RobotControlError as error:
            response.message = str(error)
        return response

    # --- topics ---------------------------------------------------------------------------------

    def _on_trajectory(self, message: Any) -> None:
        if not message.points:  # it also ends what the controller's thread prepares
            self.at_once(partial(self._take_trajectory, message))
        self.later(partial(self._take_trajectory, message))

    def _take_trajectory(self, message: Any) -> None:
        follower = self._follower
        if follower is None:
            self.warn(f"a trajectory was ignored: the controller is {self.state}")
        elif not message.points:  # as JTC's documentation says: hold
            follower.stop("stopped by an empty trajectory on the topic")
        else:
            follower.follow(trajectory_of(message), self._report, self.now())

    def _report(self, outcome: Outcome) -> None:
        if outcome.code != Code.SUCCESSFUL:
            self.warn(f"a trajectory from the topic ended: {outcome.text}")

    def _on_speed_scaling(self, message: Any) -> None:
        self.later(partial(self._set_speed, float(message.factor)))

    def _set_speed(self, factor: float) -> None:
        if not 0.0 <= factor <= 1.0:
            self.warn(f"speed_scaling_input: factor; expected 0 to 1; got {factor:g}")
        elif self._follower is not None:
            self.client.set_speed(factor)

    def _publish_state(self, publisher: Any) -> None:
        follower = self._follower
        if follower is not None and publisher.get_subscription_count() > 0:
            stamp = self.client.node.get_clock().now().to_msg()
            publisher.publish(controller_state(follower.sample(), self.part.joint_names, stamp))


def _refusal(error: RobotControlError) -> Any:
    return result(error.code if isinstance(error, GoalRefused) else Code.INVALID_GOAL, str(error))
