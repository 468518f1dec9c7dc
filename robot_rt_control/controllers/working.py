"""A controller with topics and actions, and threads for what may wait for the workcell."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any, Protocol, TypeVar

from robot_rt_control.client import Client
from robot_rt_control.controllers.controller import Controller, ControllerState
from robot_rt_control.controllers.tasks import Tasks
from robot_rt_control.hardware.parameters import checked
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.ros.judging_action_server import JudgingActionServer, end_goal
from robot_rt_control.ros.periodic import Periodic
from robot_rt_control.ros.requests import Served
from robot_rt_control.text.schema import Model
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError, RobotControlError


class WorkingController(Controller):
    """Base of the controllers that command a part.

    Args:
        as `Controller`.
    """

    def __init__(self, name: str, part: PartDescription, client: Client, options: Mapping[str, Any]) -> None:
        super().__init__(name, part, client, options)
        if not part.dof:
            raise DefinitionError(f"controller {name!r}: part {part.name!r}", expected="a part with joints", got="none")
        self._tasks: Tasks | None = None
        self._urgent: Tasks | None = None
        """Both: while it is configured."""
        self.arriving = threading.Lock()
        """Held while a command is noted that has come."""
        self._periodic: list[Periodic] = []
        self._remove: list[Callable[[], object]] = []

    @property
    def command_interfaces(self) -> tuple[str, ...]:
        return tuple(f"{joint}/position" for joint in self.part.joint_names)

    @abstractmethod
    def offer(self) -> None:
        """Make topics and actions with `subscribe`, `repeat` and `GoalSide`."""

    def configure(self) -> None:
        self._tasks = Tasks(f"{self.name} tasks", self._attempt)
        self._urgent = Tasks(f"{self.name} urgent", self._attempt)
        self.offer()
        self.state = ControllerState.INACTIVE

    def cleanup(self) -> None:
        for periodic in self._periodic:
            periodic.stop()
        for tasks in (self._tasks, self._urgent):
            if tasks is not None:
                tasks.end()
        for remove in self._remove:
            remove()
        self._tasks = self._urgent = None
        self._periodic, self._remove = [], []
        self.state = ControllerState.UNCONFIGURED

    def subscribe(self, kind: Any, topic: str, callback: Callable[[Any], object], profile: Any = 1) -> None:
        """Subscribe to a topic below the controller's name. `callback` runs in the node's thread: it must not wait.

        Each message replaces the one before, so by default only the newest one waits for the node.
        """
        subscription = self.client.node.create_subscription(kind, f"{self.name}/{topic}", callback, profile)
        self._remove.append(partial(self.client.node.destroy_subscription, subscription))

    def serve(self, kind: Any, service: str, answer: Callable[[Any, Any], Any]) -> None:
        """Offer a service below the controller's name. `answer(request, response)` runs in a thread of its own, so it
        may wait for the workcell; it must not raise."""
        node = self.client.node
        made = node.create_service(kind, f"{self.name}/{service}", answer, callback_group=Served())
        self._remove.append(partial(node.destroy_service, made))

    def repeat(self, function: Callable[[], object], rate: float) -> None:
        """Call a function with a rate [Hz], in a thread of its own."""
        self._periodic.append(Periodic(function, 1.0 / rate, self._failed))

    def later(self, task: Callable[[], None]) -> None:
        """Let the controller's thread do what may wait for the workcell; one task follows the other, see `Tasks`."""
        if self._tasks is not None:
            self._tasks.add(task)

    def at_once(self, task: Callable[[], None]) -> None:
        """As `later`, in another thread, whatever the controller's thread does: what stops the part."""
        if self._urgent is not None:
            self._urgent.add(task)

    def when_none_is_urgent(self, take: Callable[[], None]) -> None:
        """Wait until all is done that was to be done at once, and then take what has come: nothing that was to be
        done at once has come after it."""
        urgent = self._urgent
        while urgent is not None:
            urgent.wait_until_idle()
            with self.arriving:
                if urgent.is_idle:
                    take()
                    return

    def warn(self, text: str) -> None:
        self.client.node.get_logger().warning(f"{self.name}: {text}")

    def warn_seldom(self, text: str) -> None:
        """Log a warning, at most one in a second."""
        self.client.node.get_logger().warning(f"{self.name}: {text}", throttle_duration_sec=1.0)

    def now(self) -> float:
        """[s] on the ROS clock."""
        return float(self.client.node.get_clock().now().nanoseconds) * 1e-9

    def _attempt(self, task: Callable[[], None]) -> None:
        try:
            task()
        except RobotControlError as error:
            self.warn(str(error))

    def _failed(self, traceback: str) -> None:
        self.warn_seldom(f"its state cannot be published: {traceback.splitlines()[-1]}")


_Options = TypeVar("_Options", bound=Model)


def options_of(controller: Controller, model: type[_Options]) -> _Options:
    """A controller's options. Raises DefinitionError: names every wrong one."""
    try:
        return checked(model, controller.options, f"controller {controller.name!r}")
    except HardwareError as error:
        raise DefinitionError(str(error)) from None


class GoalOutcome(Protocol):
    """How an accepted goal ended."""

    @property
    def is_success(self) -> bool: ...

    @property
    def is_cancelled(self) -> bool: ...

    @property
    def text(self) -> str: ...


class GoalSide:
    """An action of a controller: its goals are judged before they are accepted; a newer one replaces the present one.

    Args:
        kind, name: of the action; the name is below the controller's.
        begin: gets a request, and what is to be called with its outcome; runs in a thread of its own. It raises
            RobotControlError if the goal is refused.
        cancel: runs in a thread of its own, because the controller's may wait for what is to be cancelled. It also
            gives up a goal that `begin` is preparing.
        result: the message for an outcome.
        refusal: the message for an error of `begin`.
    """

    def __init__(
        self,
        controller: WorkingController,
        kind: Any,
        name: str,
        *,
        begin: Callable[[Any, Callable[[Any], None]], None],
        cancel: Callable[[], None],
        result: Callable[[Any], Any],
        refusal: Callable[[RobotControlError], Any],
    ) -> None:
        self._controller = controller
        self._begin, self._cancel, self._result = begin, cancel, result
        self._present: tuple[Any, Future[GoalOutcome]] | None = None
        node, path = controller.client.node, f"{controller.name}/{name}"
        server = JudgingActionServer(
            node, kind, path, judge=self._judge, execute=self._execute, refusal=refusal,
            cancelled=self._cancelled, give_up=self._cancelled,
        )  # fmt: skip
        self.destroy = server.destroy

    def _judge(self, request: Any) -> Future[GoalOutcome]:
        outcome: Future[GoalOutcome] = Future()
        if self._controller.state != ControllerState.ACTIVE:
            state = self._controller.state
            raise RobotControlError(f"the controller is {state}", expected="active", hint="Activate it")
        self._begin(request, outcome.set_result)
        return outcome

    def _execute(self, goal: Any, outcome: Future[GoalOutcome]) -> Any:
        self._present = goal, outcome
        found = outcome.result()
        if not (found.is_success or found.is_cancelled):
            self._controller.warn(f"a goal failed: {found.text}")
        end_goal(goal, is_success=found.is_success, is_cancelled=found.is_cancelled)
        return self._result(found)

    def _cancelled(self, outcome: Future[GoalOutcome] | None) -> None:
        if outcome is None or not outcome.done():
            self._controller.at_once(self._cancel)

    def publish_feedback(self, make: Callable[[], Any]) -> None:
        """Publish what `make` gives, while there is a goal; None: nothing."""
        if self._present is None:
            return
        goal, outcome = self._present
        if not outcome.done():
            message = make()
            if message is not None and goal.is_active:
                goal.publish_feedback(message)
