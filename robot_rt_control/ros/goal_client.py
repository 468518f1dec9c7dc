"""A ROS action client whose goals are answered, whichever thread sends them."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.action import ActionClient


class GoalClient(ActionClient):
    """May send goals while another thread spins its node.

    While a goal is being sent, rclpy's client forgets an answer that is already there (rclpy issue 1123; its version
    9.1.2 registers each goal twice, and what comes in between is lost). So an answer waits until the goal was sent.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        self._sending = threading.Lock()
        self._lock = threading.Lock()  # rclpy makes it only after a thread that spins may use it
        super().__init__(*args, **options)

    def send_goal_async(self, *args: Any, **options: Any) -> Any:
        with self._sending:
            return super().send_goal_async(*args, **options)

    async def execute(self, taken_data: Any) -> None:
        with self._sending:
            pass
        await super().execute(taken_data)
