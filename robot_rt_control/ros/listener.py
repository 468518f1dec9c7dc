"""Messages of some subscriptions, taken outside of rclpy's executor."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.callback_groups import CallbackGroup
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

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
                self._serve(subscription)

    def _serve(self, subscription: Any) -> None:
        messages: list[Any] = []
        with self._reported():
            messages = take_all(subscription)
        for message in messages:  # one that fails takes no other one along
            with self._reported():
                subscription.callback(message)

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except InvalidHandle:
            pass  # it has been destroyed
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
            gone = [subscription for subscription in served if not entered(held, subscription.handle)]
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


def entered(held: ExitStack, handle: Any) -> bool:
    """Hold a handle until the stack ends. Returns whether it still exists."""
    try:
        held.enter_context(handle)
    except InvalidHandle:
        return False
    return True
