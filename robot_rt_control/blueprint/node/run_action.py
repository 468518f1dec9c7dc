"""The ROS action `run` of the node `blueprints`: each goal is a run."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from robot_rt_control import action
from robot_rt_control.blueprint.graph.results import CANCELLED
from robot_rt_control.blueprint.node.driver import Driver
from robot_rt_control.blueprint.node.messages import fill_result, node_message, start_of
from robot_rt_control.blueprint.node.services import executor_of
from robot_rt_control.blueprint.runs.run import ExecutedRun
from robot_rt_control.ros.judging_action_server import JudgingActionServer, end_goal
from robot_rt_control.ros.request_sizes import check_sizes
from robot_rt_control.vocabulary.errors import RobotControlError

_LOOK_S = 0.1
"""A request to cancel is seen after this time at the latest."""
_ELAPSED_S = 1.0
"""Feedback is repeated after this time, with the time that has elapsed."""


class RunAction:
    """Offers the action under `~/run`, until `close`.

    """

    def __init__(self, node: Node, driver: Driver) -> None:
        self._node, self._driver = node, driver
        self._server = JudgingActionServer(
            node,
            action.RunBlueprint,
            "~/run",
            judge=self._judge,
            execute=self._execute,
            give_up=self._cancel,
        )

    def close(self) -> None:
        """Take the action back."""
        self._server.destroy()

    def _judge(self, request: Any) -> ExecutedRun:
        """The goal's run, which has begun or waits for its parts."""
        run: ExecutedRun | None = None
        try:
            check_sizes("run", request)
            run = executor_of(self._driver).start(start_of(request))
            self._driver.publish_now()
        except BaseException as error:
            if isinstance(error, RobotControlError) and self._driver.executor is not None:
                self._driver.executor.note("start", request.source, request.skill[:200], refused=str(error))
            self._cancel(run)
            raise
        return run

    def _cancel(self, run: ExecutedRun | None) -> None:
        """A run whose goal is refused or given up does not go on without it."""
        executor = self._driver.executor
        if run is not None and executor is not None:
            executor.cancel(run, "the node: its goal has failed")

    def _execute(self, goal: Any, run: ExecutedRun) -> Any:
        """In a thread of its own, which lives as long as the run."""
        try:
            self._follow(goal, run)
            result = fill_result(action.RunBlueprint.Result(), run)
        except BaseException:
            self._cancel(run)
            raise
        end_goal(goal, is_success=result.success, is_cancelled=result.result == CANCELLED)
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
