"""The ROS side of grippers: one action, in the two forms of ros2_control."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from control_msgs.action import GripperCommand, ParallelGripperCommand
from sensor_msgs.msg import JointState

from robot_rt_control.client import Client
from robot_rt_control.controllers.controller import ControllerState
from robot_rt_control.controllers.grippers.hand import (
    GripperGoal,
    GripperOutcome,
    GripperSample,
    Hand,
    HandOptions,
    joint_number,
)
from robot_rt_control.controllers.working import GoalSide, WorkingController, options_of
from robot_rt_control.model.workcell.controllers import GRIPPER, PARALLEL_GRIPPER
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, unknown


class AnyGripperController(WorkingController):
    """Base of both forms: the action `gripper_cmd` below the controller's name."""

    action: ClassVar[Any]

    def __init__(self, name: str, part: PartDescription, client: Client, options: Mapping[str, Any]) -> None:
        super().__init__(name, part, client, options)
        self._read = options_of(self, HandOptions)
        self.joint = part.joint_names[joint_number(name, part, self._read)]
        self._hand: Hand | None = None

    @property
    def state_interfaces(self) -> tuple[str, ...]:
        return tuple(f"{joint}/{kind}" for joint in self.part.joint_names for kind in ("position", "velocity"))

    @abstractmethod
    def goal_of(self, request: Any) -> GripperGoal:
        """What a request means. Raises RobotControlError: it cannot be followed."""

    @abstractmethod
    def message(self, kind: Any, sample: GripperSample, *, stalled: bool, reached_goal: bool) -> Any:
        """A result or feedback."""

    def offer(self) -> None:
        goals = GoalSide(
            self, self.action, "gripper_cmd", begin=self._begin, cancel=self._cancel,
            result=self._result, refusal=lambda _: self.action.Result(),
        )  # fmt: skip
        self._remove = [goals.destroy]
        self.repeat(partial(goals.publish_feedback, self._feedback), self._read.action_monitor_rate)
        self.repeat(self._wake, self._read.action_monitor_rate)

    def activate(self) -> None:
        self._hand = Hand(self.name, self.part, self.client, self._read, self._wake)
        self.state = ControllerState.ACTIVE

    def deactivate(self) -> None:
        self.state = ControllerState.INACTIVE
        hand, self._hand = self._hand, None
        if hand is not None:
            hand.close("the controller was deactivated")

    def _wake(self) -> None:
        self.later(self._process)

    def _process(self) -> None:
        self._do(Hand.process)

    def _cancel(self) -> None:
        self._do(Hand.cancel)

    def _do(self, step: Callable[[Hand], None]) -> None:
        hand = self._hand
        if hand is not None:
            step(hand)

    def _begin(self, request: Any, done: Callable[[GripperOutcome], None]) -> None:
        hand = self._hand
        if hand is None:
            raise RobotControlError("the controller was deactivated")
        hand.follow(self.goal_of(request), done)

    def _result(self, outcome: GripperOutcome) -> Any:
        return self.message(
            self.action.Result, outcome.sample, stalled=outcome.stalled, reached_goal=outcome.reached_goal
        )

    def _feedback(self) -> Any:
        hand = self._hand
        if hand is None:
            return None
        return self.message(self.action.Feedback, hand.sample(), stalled=False, reached_goal=False)


class GripperController(AnyGripperController):
    """By control_msgs/action/GripperCommand."""

    type = GRIPPER
    action = GripperCommand

    def goal_of(self, request: Any) -> GripperGoal:
        return GripperGoal(position=request.command.position, max_effort=request.command.max_effort)

    def message(self, kind: Any, sample: GripperSample, *, stalled: bool, reached_goal: bool) -> Any:
        return kind(position=sample.position, effort=-sample.effort, stalled=stalled, reached_goal=reached_goal)


class ParallelGripperController(AnyGripperController):
    """By control_msgs/action/ParallelGripperCommand."""

    type = PARALLEL_GRIPPER
    action = ParallelGripperCommand

    def goal_of(self, request: Any) -> GripperGoal:
        command = request.command
        names = list(command.name)
        if names not in ([], [self.joint]):
            expected = unknown("joint", ", ".join(names), [self.joint])
            raise DefinitionError("joint names", expected=expected, got=", ".join(names))
        if len(command.position) != 1 or len(command.velocity) > 1 or len(command.effort) > 1:
            got = f"{len(command.position)}, {len(command.velocity)}, {len(command.effort)}"
            raise DefinitionError(
                "numbers of positions, velocities, efforts", expected="1, at most 1, at most 1", got=got
            )
        (position,) = command.position
        return GripperGoal(position=position, velocity=sum(command.velocity), max_effort=sum(command.effort))

    def message(self, kind: Any, sample: GripperSample, *, stalled: bool, reached_goal: bool) -> Any:
        joint = {"name": [self.joint], "position": [sample.position], "velocity": [sample.velocity]}
        made = kind(state=JointState(**joint, effort=[sample.effort]))
        if kind is self.action.Result:
            made.stalled, made.reached_goal = stalled, reached_goal
        return made
