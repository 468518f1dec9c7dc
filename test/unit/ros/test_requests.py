"""Requests that take long hold up no other: leases are renewed meanwhile."""

import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from rclpy.executors import MultiThreadedExecutor

from robot_rt_control import srv
from robot_rt_control.ros import requests
from robot_rt_control.ros.listening_node import ListeningNode
from robot_rt_control.ros.requests import Served
from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.node.services import Services


@pytest.fixture
def node() -> Iterator[Any]:
    context = rclpy.Context()
    rclpy.init(context=context)
    made = ListeningNode(f"requests_{secrets.token_hex(4)}", context=context)  # other test runs
    executor = MultiThreadedExecutor(num_threads=2, context=context)
    executor.add_node(made)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    yield made
    executor.shutdown()
    thread.join(60.0)
    made.destroy_node()
    context.try_shutdown()


def answered(future: Any) -> Any:
    until(future.done, "no answer")
    return future.result()


def until(happened: Any, what: object) -> None:
    deadline = time.monotonic() + 60.0
    while not happened():
        assert time.monotonic() < deadline, what
        time.sleep(0.002)


def test_slow_requests_delay_no_quick_one(node: Any) -> None:
    go_on, served = threading.Event(), Served()

    def slow(request: Any, response: Any) -> Any:
        go_on.wait(60.0)
        response.message = "slow"
        return response

    def renew(request: Any, response: Any) -> Any:
        response.message = "renewed"
        return response

    node.create_service(srv.DefineActions, "~/slow", slow, callback_group=served)
    node.create_service(srv.RenewSession, "~/renew", renew, callback_group=served)
    define = node.create_client(srv.DefineActions, "~/slow", callback_group=served)
    lease = node.create_client(srv.RenewSession, "~/renew", callback_group=served)
    assert define.wait_for_service(60.0) and lease.wait_for_service(60.0)
    waiting = [define.call_async(srv.DefineActions.Request()) for _ in range(8)]  # the middleware keeps ten
    assert answered(lease.call_async(srv.RenewSession.Request())).message == "renewed"
    time.sleep(0.1)
    assert answered(lease.call_async(srv.RenewSession.Request())).message == "renewed"
    assert not any(f.done() for f in waiting)
    go_on.set()
    assert {answered(f).message for f in waiting} == {"slow"}
    until(lambda: len(node._requests._threads) <= 5, "threads that nobody needs stay")


def test_callbacks_that_fail_or_await_end_nothing(node: Any) -> None:
    served, said = Served(), list[str]()

    def fails(request: Any, response: Any) -> Any:
        raise ValueError("no answer")

    def answers(request: Any, response: Any) -> Any:
        return response

    node.create_service(srv.RenewSession, "~/fails", fails, callback_group=served)
    node._requests._on_error = said.append
    node.create_service(srv.RenewSession, "~/answers", answers, callback_group=served)
    names = ("~/fails", "~/answers")
    clients = [node.create_client(srv.RenewSession, name, callback_group=served) for name in names]
    assert all(client.wait_for_service(60.0) for client in clients)
    lost = clients[0].call_async(srv.RenewSession.Request())
    until(lambda: said, "no error")
    assert "ValueError: no answer" in said[0]
    answered(clients[1].call_async(srv.RenewSession.Request()))
    assert not lost.done()


class Unreadable:
    """A type whose first request cannot be read."""

    def __init__(self) -> None:
        self.asked = 0

    @property
    def Request(self) -> Any:
        self.asked += 1
        if self.asked == 1:
            raise ValueError("cannot be read")
        return srv.RenewSession.Request


def test_a_request_that_cannot_be_read_holds_up_no_other(node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "_PAUSE_S", 600.0)
    served, said = Served(), list[str]()
    services = [
        node.create_service(srv.RenewSession, name, lambda request, response: response, callback_group=served)
        for name in ("~/broken", "~/sound")
    ]
    node._requests._on_error = said.append
    services[0].srv_type = Unreadable()
    clients = [
        node.create_client(srv.RenewSession, name, callback_group=served) for name in ("~/broken", "~/sound")
    ]
    assert all(client.wait_for_service(60.0) for client in clients)
    clients[0].call_async(srv.RenewSession.Request())
    until(lambda: said, "no error")
    assert "cannot be read" in said[0]
    answered(clients[1].call_async(srv.RenewSession.Request()))


def test_what_was_taken_before_something_that_cannot_be_read_is_not_lost() -> None:
    class Handle(nullcontext[None]):
        left = [("first", 1), ("second", 2)]

        def take_response(self, _: object) -> Any:
            if not self.left:
                raise ValueError("cannot be read")
            return self.left.pop(0)

    client, found = SimpleNamespace(handle=Handle(), srv_type=srv.RenewSession), deque[Any]()
    with pytest.raises(ValueError, match="cannot be read"):
        requests._take(client, found)
    assert len(found) == 2


def test_what_is_destroyed_is_let_go(node: Any) -> None:
    served = Served()
    service = node.create_service(srv.RenewSession, "~/one", lambda request, response: response, callback_group=served)
    client = node.create_client(srv.RenewSession, "~/one", callback_group=served)
    assert client.wait_for_service(60.0)
    node.destroy_service(service)
    until(lambda: not client.service_is_ready(), "the service is still there")
    node.destroy_client(client)
    until(lambda: not node._requests._served, "they are still served")


def test_a_node_that_stops_waits_for_its_callbacks_and_takes_no_further_request(node: Any) -> None:
    served, begun, go_on = Served(), threading.Event(), threading.Event()

    def slow(request: Any, response: Any) -> Any:
        begun.set()
        go_on.wait(60.0)
        return response

    node.create_service(srv.RenewSession, "~/slow", slow, callback_group=served)
    asking = ListeningNode("asking", context=node.context)
    client = asking.create_client(srv.RenewSession, f"/{node.get_name()}/slow", callback_group=Served())
    assert client.wait_for_service(60.0)
    first = client.call_async(srv.RenewSession.Request())
    assert begun.wait(60.0)
    assert not node.stop_requests(0.05), "its callback still runs"
    begun.clear()
    second = client.call_async(srv.RenewSession.Request())
    go_on.set()
    answered(first)
    assert node.stop_requests(60.0)
    assert not begun.wait(0.1) and not second.done()
    asking.destroy_node()


class Core:
    is_changing = ServerCore.is_changing

    def __init__(self) -> None:
        self.changing = threading.RLock()


class Server:
    """Stops as the control server does: while nothing else is changed."""

    gated = False

    def __init__(self) -> None:
        self.core = Core()

    def authorize(self, *_: object, operator: bool = False) -> None: ...

    def renew_session(self, _: str) -> None: ...

    def stop(self, *_: object) -> int:
        with self.core.changing:
            return 7


def test_requests_that_wait_for_another_change_delay_no_renewal(node: Any) -> None:
    server: Any = Server()
    group = Served()
    Services(node, lambda: server, lambda: pytest.fail("unused"))
    name = f"/{node.get_name()}"
    stop = node.create_client(srv.StopActions, f"{name}/stop_actions", callback_group=group)
    lease = node.create_client(srv.RenewSession, f"{name}/renew_session", callback_group=group)
    assert stop.wait_for_service(60.0) and lease.wait_for_service(60.0)
    with server.core.changing:
        waiting = [stop.call_async(srv.StopActions.Request()) for _ in range(6)]
        for _ in range(3):
            assert answered(lease.call_async(srv.RenewSession.Request())).success
            time.sleep(0.05)
        assert not any(f.done() for f in waiting)
    assert [answered(f).tick for f in waiting] == [7] * 6
    assert answered(stop.call_async(srv.StopActions.Request())).tick == 7, "at once, as nothing is changing"
