"""Messages of some subscriptions, taken outside of rclpy's executor."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.callback_groups import CallbackGroup
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.time_source import USE_SIM_TIME_NAME, TimeSource

from robot_rt_control.ros.answers import Answers

_SHORTEST_S = 0.01
"""[s] Between two looks for messages: a simulator that publishes /clock at 1 kHz costs as one at 100 Hz."""
_STOP_S = 2.0
"""[s] Time-out for a callback that still runs at the end."""


class Unspun(CallbackGroup):
    """For subscriptions that rclpy's executor leaves alone.

    For each message its executor lists everything that the node waits for, three times, and passes the callback to
    another thread: one to three milliseconds of processor time for a node with a few services.
    """

    def can_execute(self, entity: Any) -> bool:
        return False


def take_all(subscription: Any, *, raw: bool = False) -> list[Any]:
    """The messages that have come since the last call, the oldest first; at most as many as the profile's depth.

    Args:
        raw: as bytes (`ros/cdr.py`).

    Raises:
        InvalidHandle: the subscription was destroyed.
    """
    messages = []
    with subscription.handle:  # what is held is not destroyed before its end
        while (taken := subscription.handle.take_message(subscription.msg_type, raw)) is not None:
            messages.append(taken[0])
            if len(messages) >= max(subscription.qos_profile.depth, 1):
                break
    return messages


class Listener:
    """Serves subscriptions of the group `Unspun` in a thread of its own, which sleeps until a message comes.

    Args:
        node: of the subscriptions.
        on_error: called with the traceback of each exception of a callback; the others continue.
    """

    def __init__(self, node: Node, on_error: Callable[[str], object]) -> None:
        self._context = node.context
        self._on_error = on_error
        self._lock = threading.Lock()
        self._served: list[Any] = []
        self._stopped = threading.Event()
        self._changed = GuardCondition(None, None, self._context)
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)
        self._context.on_shutdown(self.stop)
        self._thread.start()

    def serve(self, subscription: Any) -> None:
        """Call the subscription's callback with each of its messages, until it is destroyed."""
        with self._lock:
            self._served.append(subscription)
        self.look()

    def look(self) -> None:
        """Let go of subscriptions that were destroyed."""
        with suppress(InvalidHandle):  # it was stopped
            self._changed.trigger()

    def stop(self) -> None:
        """End; waits for a callback that runs, unless it is called by one."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        self.look()
        if threading.current_thread() is not self._thread:
            self._thread.join(_STOP_S)
        self._changed.destroy()

    def _run(self) -> None:
        last = 0.0
        while not self._stopped.is_set():
            try:
                ready = self._wait()
            except InvalidHandle:
                return  # the context was destroyed: nothing comes any more
            if (early := last + _SHORTEST_S - time.monotonic()) > 0.0:
                self._stopped.wait(early)
            last = time.monotonic()
            for subscription in ready:
                try:
                    for message in take_all(subscription):
                        subscription.callback(message)
                except InvalidHandle:
                    continue  # it has been destroyed
                except Exception:  # it must not end the thread
                    self._on_error(traceback.format_exc())

    def _wait(self) -> list[Any]:
        """Sleep until there are messages, or something else has changed. Returns the subscriptions with messages."""
        with self._lock:
            served = list(self._served)
        with ExitStack() as held:  # what is held is not destroyed before its end
            context: Any = self._context.handle
            held.enter_context(context)
            held.enter_context(self._changed.handle)
            gone = [subscription for subscription in served if not _entered(held, subscription.handle)]
            kept = [subscription for subscription in served if subscription not in gone]
            waiting = rclpy_implementation.WaitSet(len(kept), 1, 0, 0, 0, 0, context)
            waiting.clear_entities()
            waiting.add_guard_condition(self._changed.handle)
            for subscription in kept:
                waiting.add_subscription(subscription.handle)
            waiting.wait(-1)
            pointers = waiting.get_ready_entities("subscription")
            ready = [subscription for subscription in kept if subscription.handle.pointer in pointers]
        if gone:
            with self._lock:
                self._served = [subscription for subscription in self._served if subscription not in gone]
        return ready


def _entered(held: ExitStack, handle: Any) -> bool:
    try:
        held.enter_context(handle)
    except InvalidHandle:
        return False
    return True


class ListeningNode(Node):
    """A node whose simulated time, and what it listens to, take nothing of its executor's time; its services' answers
    are sent again while the client is not known (`Answers`).

    Args:
        name: of the node.
        options: of rclpy's Node.
    """

    def __init__(self, name: str, **options: Any) -> None:
        self._listener: Listener | None = None
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
        """A subscription whose callback runs in the `Listener`'s thread, one after the other; it must not wait."""
        subscription = super().create_subscription(kind, topic, callback, profile, callback_group=Unspun())
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
        return made

    def destroy_subscription(self, subscription: Any) -> bool:
        found = super().destroy_subscription(subscription)
        if self._listener is not None:
            self._listener.look()
        return found

    def destroy_node(self) -> None:
        if self._listener is not None:
            self._listener.stop()
        super().destroy_node()
