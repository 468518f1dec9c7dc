"""Requests and answers of a node, taken outside of rclpy's executor: each in a thread of its own, at once."""

from __future__ import annotations

import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Coroutine, Set
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.client import Client
from rclpy.context import Context
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.service import Service
from rclpy.waitable import NumberOfEntities, Waitable

from robot_rt_control.ros.listener import Unspun, entered

_KEPT = 4
"""Threads that wait for their turn; more of them end."""
_AT_ONCE = 16
"""Requests or answers that are taken together at most."""
_PAUSE_S = 0.05
"""[s] after a wait that failed: what fails again and again must not keep the processor."""


class Served(Unspun):
    """For services, clients and servers of actions of a `ListeningNode` that its `Requests` serve: their callbacks run
    in parallel, each in a thread of its own, and may wait; those of clients must not.

    rclpy's executor takes two to three milliseconds from a request to its callback, and as long from the end of a
    coroutine to its answer: for each event it makes anew what it waits for, and changes threads twice.
    """


class Requests:
    """Serves entities of the group `Served`.

    One thread waits; the one that found something does it at once itself, and the next one waits. So nothing that takes
    long holds up anything else: a thread is made whenever none is left that could wait.

    Args:
        context: of the entities.
        on_error: called with the traceback of each exception of a callback; the others continue.
    """

    def __init__(self, context: Context, on_error: Callable[[str], object]) -> None:
        self._context, self._on_error = context, on_error
        self._lock = threading.Lock()
        """Of what follows."""
        self._served: list[Any] = []
        self._threads: set[threading.Thread] = set()
        self._waiting = 0
        """Threads that wait for their turn, or for requests."""
        self._turn = threading.Lock()
        """Its holder waits for requests."""
        self._found: deque[Callable[[], object]] = deque()
        """What is left to be done of that which has come together; of the holder of `_turn`."""
        self._stopped = False
        self._changed = GuardCondition(None, None, context)
        context.on_shutdown(self._halt)

    def serve(self, entity: Any) -> None:
        """Serve a service, client or server of an action, until it is destroyed."""
        with self._lock:
            self._served.append(entity)
        self.look()
        self._keep_one_waiting()

    def look(self) -> None:
        """Let go of what was destroyed."""
        with suppress(InvalidHandle):  # it was stopped
            self._changed.trigger()

    def stop(self, timeout_s: float) -> bool:
        """Take no further request, and wait for the callbacks that run, but for the caller's own.

        Returns:
            Whether all of them have ended in time. Otherwise nothing that they use may be destroyed.
        """
        self._halt()
        deadline = time.monotonic() + timeout_s
        with self._lock:
            threads = self._threads - {threading.current_thread()}
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            return False
        self._changed.destroy()
        return True

    def _halt(self) -> None:
        self._stopped = True
        self.look()

    def _keep_one_waiting(self) -> None:
        with self._lock:
            if self._waiting or self._stopped:
                return
            self._waiting += 1
            thread = threading.Thread(target=self._run, name="requests", daemon=True)
            self._threads.add(thread)
        thread.start()

    def _run(self) -> None:
        """In each thread; it is counted as one that waits."""
        try:
            while (work := self._next()) is not None:
                try:
                    work()
                except InvalidHandle:
                    pass  # it has been destroyed
                except Exception:  # it must not end the thread
                    self._on_error(traceback.format_exc())
                with self._lock:
                    if self._waiting >= _KEPT:
                        return
                    self._waiting += 1
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _next(self) -> Callable[[], object] | None:
        """Wait for the turn, and for something to do; None: nothing comes any more. The thread then waits no more."""
        with self._turn:
            while not self._found:
                try:
                    if self._stopped:
                        break
                    ready = self._ready()
                except InvalidHandle:
                    break  # the context was destroyed
                except Exception:
                    self._on_error(traceback.format_exc())
                    time.sleep(_PAUSE_S)
                    continue
                for entity in ready:
                    try:
                        _take(entity, self._found)
                    except Exception:  # a message that cannot be read: it is gone, and the others go on
                        self._on_error(traceback.format_exc())
            work = self._found.popleft() if self._found else None
            with self._lock:
                self._waiting -= 1
        if work is not None:
            self._keep_one_waiting()
        return work

    def _ready(self) -> list[Any]:
        """Sleep until something has come, or what is served has changed. Returns that for which something has come."""
        with self._lock:
            served = list(self._served)
        with ExitStack() as held:  # what is held is not destroyed before its end
            context: Any = self._context.handle
            held.enter_context(context)
            held.enter_context(self._changed.handle)
            gone = [entity for entity in served if not entered(held, _handle(entity))]
            kept = [entity for entity in served if entity not in gone] if gone else served
            if gone:
                with self._lock:
                    self._served = [entity for entity in self._served if entity not in gone]
            sizes = NumberOfEntities(0, 1, 0, 0, 0, 0)
            for entity in kept:
                sizes += _size(entity)
            waiting = rclpy_implementation.WaitSet(
                sizes.num_subscriptions,
                sizes.num_guard_conditions,
                sizes.num_timers,
                sizes.num_clients,
                sizes.num_services,
                sizes.num_events,
                context,
            )
            waiting.clear_entities()
            waiting.add_guard_condition(self._changed.handle)
            for entity in kept:
                if isinstance(entity, Service):
                    waiting.add_service(entity.handle)
                elif isinstance(entity, Client):
                    waiting.add_client(entity.handle)
                else:
                    entity.add_to_wait_set(waiting)
            waiting.wait(-1)
            pointers = {*waiting.get_ready_entities("service"), *waiting.get_ready_entities("client")}
            return [entity for entity in kept if _is_ready(entity, waiting, pointers)]


def _handle(entity: Any) -> Any:
    return entity if isinstance(entity, Waitable) else entity.handle


def _is_ready(entity: Any, waiting: Any, pointers: Set[int]) -> bool:
    """Whether something has come for it, of which `pointers` has the handles of services and clients."""
    return entity.is_ready(waiting) if isinstance(entity, Waitable) else entity.handle.pointer in pointers


def _size(entity: Any) -> NumberOfEntities:
    if isinstance(entity, Waitable):
        return entity.get_num_entities()
    is_client = isinstance(entity, Client)
    return NumberOfEntities(num_clients=int(is_client), num_services=int(not is_client))


def _take(entity: Any, found: deque[Callable[[], object]]) -> None:
    """Append to `found` what is to be done with what has come. It is taken here, so that the next wait does not find
    it."""
    try:
        if isinstance(entity, Waitable):
            with entity:
                taken = entity.take_data()
            # Apart: the answer to one request must not wait for another one's.
            found += [partial(_through, entity.execute, {key: data}) for key, data in taken.items()]
            return
        with entity.handle:
            for _ in range(_AT_ONCE):  # all: the middleware keeps ten, and drops older ones
                if isinstance(entity, Service):
                    request, header = entity.handle.service_take_request(entity.srv_type.Request)
                    work = partial(_answer, entity, request, header)
                else:
                    header, response = entity.handle.take_response(entity.srv_type.Response)
                    work = partial(_give, entity, header, response)
                if header is None:
                    break
                found.append(work)
    except InvalidHandle:
        pass  # it has been destroyed


def _answer(service: Any, request: Any, header: Any) -> None:
    response = service.callback(request, service.srv_type.Response())
    with suppress(InvalidHandle):  # it was destroyed meanwhile
        service.send_response(response, header)


def _give(client: Any, header: Any, response: Any) -> None:
    with suppress(KeyError):  # nobody waits for it any more
        client.get_pending_request(header.request_id.sequence_number).set_result(response)


def _through(execute: Callable[[Any], Coroutine[Any, Any, None]], data: Any) -> None:
    """Run a coroutine of rclpy to its end. Raises RuntimeError: it awaits something, which nothing would end."""
    coroutine = execute(data)
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    raise RuntimeError("a callback of the group Served awaited something; it may wait instead")
