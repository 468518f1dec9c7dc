"""The ROS side of trajectories: the action, the topics, and their life."""

from __future__ import annotations

import contextlib
import math
import time
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
from robot_rt_control.controllers.trajectory.follower import PREEMPTED, Follower
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
from robot_rt_control.model.workcell.controllers import TRAJECTORY
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.vocabulary.errors import RobotControlError

_PAUSE_S = 0.5
"""[s] Trajectories from the topic that something else has ended are followed again after a pause of this length: they
must not move a part as soon as a protective stop is released."""


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
        self._newest: Any = None
        """The trajectory from the topic that is to be followed next."""
        self._came = -math.inf
        """[s] when the last one came."""
        self._must_pause = ""
        """Why none is followed until they have paused; empty: they are followed."""
        self._speed = math.nan

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
        with contextlib.suppress(RobotControlError):  # then the first goal takes longer
            self._follower.prepare()
        self.state = ControllerState.ACTIVE

    def deactivate(self) -> None:
        self.state = ControllerState.INACTIVE
        self._drop()
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
        if follower.slowed:
            self.client.node.get_logger().info(f"{self.name}: a goal is {follower.slowed}")

    def _cancel(self) -> None:
        self._drop()
        follower = self._follower
        if follower is not None:
            follower.cancel()

    def _feedback(self) -> Any:
        follower = self._follower
        if follower is None:
            return None
        sample = follower.sample()
        stamp = self.client.node.get_clock().now().to_msg()
        progress = follower.progress(sample.elapsed)
        return feedback(sample, self.part.joint_names, stamp, *progress)

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
        now, is_hold = time.monotonic(), not message.points  # as JTC's documentation says
        with self.arriving:
            if is_hold or now - self._came >= _PAUSE_S:
                self._must_pause = ""
            self._came = now
            self._newest = None if is_hold else message
            if is_hold:
                self.at_once(self._hold)
        if not is_hold:
            self.later(self._follow_newest)

    def _drop(self) -> None:
        """What has come and was not begun is not followed."""
        with self.arriving:
            self._newest = None

    def _hold(self) -> None:
        follower = self._follower
        if follower is not None:
            follower.stop("stopped by an empty trajectory on the topic")

    def _follow_newest(self) -> None:
        follower, taken = self._follower, []

        def take() -> None:
            if self._newest is not None:
                taken.append((self._newest, 0 if follower is None else follower.turn()))
            self._newest = None

        self.when_none_is_urgent(take)
        for message, turn in taken:
            try:
                if follower is None:
                    raise RobotControlError(f"the controller is {self.state}", expected="active", hint="Activate it")
                if self._must_pause:
                    hint = f"Send none for {_PAUSE_S:g} s, or an empty one, to go on"
                    raise RobotControlError(self._must_pause, hint=hint)
                follower.follow(trajectory_of(message), self._report, self.now(), turn)
            except RobotControlError as error:
                if isinstance(error, GoalRefused) and error.is_by_workcell:
                    self._must_pause = str(error)
                self.warn_seldom(f"a trajectory from the topic was ignored: {error}")

    def _report(self, outcome: Outcome) -> None:
        if outcome.is_interrupted:
            self._must_pause = outcome.text
        if outcome.code != Code.SUCCESSFUL and outcome.text != PREEMPTED:
            self.warn(f"a trajectory from the topic ended: {outcome.text}")

    def _on_speed_scaling(self, message: Any) -> None:
        self._speed = float(message.factor)
        self.at_once(self._set_speed)

    def _set_speed(self) -> None:
        factor = self._speed
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
