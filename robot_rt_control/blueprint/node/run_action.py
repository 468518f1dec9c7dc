"""The ROS action `run` of the node `blueprints`: each goal is a run."""

from __future__ import annotations

import traceback
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from robot_rt_control import action
from robot_rt_control.blueprint.node.driver import Driver
from robot_rt_control.blueprint.node.messages import fill_result, node_message, start_of
from robot_rt_control.blueprint.node.services import executor_of
from robot_rt_control.blueprint.results import CANCELLED
from robot_rt_control.blueprint.run import ExecutedRun
from robot_rt_control.ros.refusals import refuse
from robot_rt_control.server.node.judging_action_server import JudgingActionServer
from robot_rt_control.server.node.own_thread import aside
from robot_rt_control.server.node.request_sizes import check_sizes
from robot_rt_control.vocabulary.errors import InternalError, RobotControlError

_LOOK_S = 0.1
"""A request to cancel is seen after this time at the latest."""
_ELAPSED_S = 1.0
"""Feedback is repeated after this time, with the time that has elapsed."""
_KEPT = 64
"""Accepted runs whose goal has not begun."""


class RunAction:
    """Offers the action under `~/run`, until `close`.

    Args:
        group: callbacks may run in parallel.
    """

    def __init__(self, node: Node, driver: Driver, group: CallbackGroup) -> None:
        self._node, self._driver = node, driver
        self._accepted: dict[int, tuple[Any, ExecutedRun]] = {}
        self._server = JudgingActionServer(
            node, action.RunBlueprint, "~/run", judge=self._judge, execute=self._attempt, group=group
        )

    def close(self) -> None:
        """Take the action back."""
        self._server.destroy()

    async def _judge(self, request: Any) -> Any:
        """The result that says why a goal is rejected; None: it is accepted, and has begun or waits for its parts."""

        def judge() -> Any:
            run: ExecutedRun | None = None
            try:
                check_sizes("run", request)
                run = executor_of(self._driver).start(start_of(request))
                with self._driver.changed:
                    self._accepted[id(request)] = request, run
                    while len(self._accepted) > _KEPT:
                        self._accepted.pop(next(iter(self._accepted)))
                self._driver.publish_now()
            except RobotControlError as error:
                self._node.get_logger().warning(f"a run was rejected: {error}")
                if self._driver.executor is not None:
                    self._driver.executor.note("start", request.source, request.skill[:200], refused=str(error))
                self._cancel(run)
                return refuse(action.RunBlueprint.Result(), error)
            except BaseException as error:
                self._node.get_logger().error(f"a run could not be judged:\n{traceback.format_exc()}")
                self._cancel(run)
                return refuse(action.RunBlueprint.Result(), InternalError.of("a run", error))
            return None

        return await aside(self._node, "run", judge)

    def _cancel(self, run: ExecutedRun | None) -> None:
        """A run whose goal is refused or given up does not go on without it."""
        executor = self._driver.executor
        if run is not None and executor is not None:
            executor.cancel(run, "the node: its goal has failed")

    def _attempt(self, goal: Any) -> Any:
        """In a thread of its own, which lives as long as the run."""
        result = action.RunBlueprint.Result()
        run: ExecutedRun | None = None
        try:
            with self._driver.changed:
                _, run = self._accepted.pop(id(goal.request))
            self._follow(goal, run)
            fill_result(result, run)
        except BaseException as error:
            self._node.get_logger().error(f"a run failed unexpectedly:\n{traceback.format_exc()}")
            self._cancel(run)
            goal.abort()
            return refuse(result, InternalError.of("a run", error))
        if result.result == CANCELLED and goal.is_cancel_requested:
            goal.canceled()
        elif result.success:
            goal.succeed()
        else:
            goal.abort()
        return result

    def _follow(self, goal: Any, run: ExecutedRun) -> None:
        """Publish feedback until the run has ended."""
        driver, last, told = self._driver, None, float("-inf")
        cancelled = False
        while True:
            executor = driver.executor
            if executor is not None and goal.is_cancel_requested and not cancelled:
                cancelled = True
                executor.cancel(run, run.start.source or "the goal's client")
                driver.publish_now()
            if executor is not None:
                _, now = executor.robot.backend.present()
                with executor.lock:
                    views = run.views(now)
                if views != last or now - told > _ELAPSED_S:
                    last, told = views, now
                    nodes = [node_message(view) for view in views]
                    if goal.is_active:
                        goal.publish_feedback(
                            action.RunBlueprint.Feedback(run=run.id, nodes=nodes, elapsed=now - run.asked)
                        )
            with driver.changed:
                if run.outcome is not None:
                    return
                driver.changed.wait(_LOOK_S)
