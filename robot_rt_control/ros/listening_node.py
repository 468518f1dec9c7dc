"""The package's nodes, as far as messages, requests and answers take nothing of their executor's time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.time_source import USE_SIM_TIME_NAME, TimeSource

from robot_rt_control.ros.answers import Answers
from robot_rt_control.ros.listener import Listener, Unspun
from robot_rt_control.ros.requests import Requests, Served

_STOP_S = 2.0
"""[s] Time-out for callbacks that still run at the end."""


class ListeningNode(Node):
    """A node whose simulated time, what it listens to, and what is of the group `Served` take nothing of its executor's
    time; its services' answers are sent again while the client is not known (`Answers`).

    Args:
        name: of the node.
        options: of rclpy's Node.
    """

    def __init__(self, name: str, **options: Any) -> None:
        self._listener: Listener | None = None
        self._requests: Requests | None = None
        self._making = threading.Lock()
        self._answers = Answers(lambda text: self.get_logger().warning(text))
        super().__init__(name, **options)
        # In front of rclpy's own callback, which would act on it.
        self.add_on_set_parameters_callback(self._keep_clock)

    def _keep_clock(self, parameters: Sequence[Any]) -> SetParametersResult:
        """A running node keeps its clock: all stamps would be of another one, or 0."""
        for given in parameters:
            if given.name == USE_SIM_TIME_NAME and given.value != self.get_parameter(USE_SIM_TIME_NAME).value:
                reason = f"parameter {given.name!r} is fixed while a node runs; start it with -p {given.name}:=…"
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def listen(self, kind: Any, topic: str, callback: Callable[[Any], None], profile: Any) -> Any:
        """A subscription whose callback runs in the `Listener`'s thread, one after the other; it must not wait. From
        any thread."""
        subscription = super().create_subscription(kind, topic, callback, profile, callback_group=Unspun())
        with self._making:
            if self._listener is None:
                self._listener = Listener(self, lambda trace: self.get_logger().error(f"a callback failed:\n{trace}"))
        self._listener.serve(subscription)
        return subscription

    def create_subscription(self, msg_type: Any, topic: str, callback: Any, qos_profile: Any, **options: Any) -> Any:
        """As rclpy's; the one that rclpy itself makes for simulated time is listened to."""
        if isinstance(getattr(callback, "__self__", None), TimeSource):
            return self.listen(msg_type, topic, lambda message: self._take_clock(message, callback), qos_profile)
        return super().create_subscription(msg_type, topic, callback, qos_profile, **options)

    def _take_clock(self, message: Any, take: Callable[[Any], None]) -> None:
        """Anybody may publish it: rclpy raises for a time before 0."""
        if message.clock.sec >= 0:
            take(message)
        else:
            text = f"a time on /clock was ignored; expected 0 or later; got {message.clock.sec} s"
            self.get_logger().warning(text, throttle_duration_sec=1.0)

    def create_service(self, *given: Any, **options: Any) -> Any:
        """As rclpy's."""
        made = super().create_service(*given, **options)
        self._answers.serve(made)
        self._serve(made)
        return made

    def create_client(self, *given: Any, **options: Any) -> Any:
        """As rclpy's."""
        made: Any = super().create_client(*given, **options)
        self._serve(made)
        return made

    def add_waitable(self, waitable: Any) -> None:
        """As rclpy's."""
        super().add_waitable(waitable)
        self._serve(waitable)

    def _serve(self, entity: Any) -> None:
        if isinstance(entity.callback_group, Served):
            with self._making:
                if self._requests is None:
                    on_error = lambda trace: self.get_logger().error(f"a callback failed:\n{trace}")  # noqa: E731
                    self._requests = Requests(self.context, on_error)
            self._requests.serve(entity)

    def stop_requests(self, timeout_s: float) -> bool:
        """Serve nothing of the group `Served` any more. Returns as `Requests.stop`."""
        return self._requests is None or self._requests.stop(timeout_s)

    def _look_at_requests(self) -> None:
        if self._requests is not None:
            self._requests.look()

    def destroy_service(self, service: Any) -> bool:
        found = super().destroy_service(service)
        self._look_at_requests()
        return found

    def destroy_client(self, client: Any) -> bool:
        found = super().destroy_client(client)
        self._look_at_requests()
        return found

    def remove_waitable(self, waitable: Any) -> None:
        super().remove_waitable(waitable)
        self._look_at_requests()

    def destroy_subscription(self, subscription: Any) -> bool:
        found = super().destroy_subscription(subscription)
        if self._listener is not None:
            self._listener.look()
        return found

    def destroy_node(self) -> None:
        if self._listener is not None:
            self._listener.stop()
        self.stop_requests(_STOP_S)
        super().destroy_node()
