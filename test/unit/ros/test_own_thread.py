"""Requests that take long hold none of a node's threads: leases are renewed meanwhile."""

import secrets
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor

from robot_rt_control import srv
from robot_rt_control.ros.listener import ListeningNode
from robot_rt_control.ros.own_thread import aside
from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.node.services import Services


@pytest.fixture
def node() -> Iterator[Any]:
    context = rclpy.Context()
    rclpy.init(context=context)
    made = ListeningNode(f"own_thread_{secrets.token_hex(4)}", context=context)  # other test runs
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
    deadline = time.monotonic() + 60.0
    while not future.done():
        assert time.monotonic() < deadline, "no answer"
        time.sleep(0.002)
    return future.result()


def test_slow_requests_beyond_the_nodes_threads_delay_no_quick_one(node: Any) -> None:
    group, go_on = ReentrantCallbackGroup(), threading.Event()

    async def slow(request: Any, response: Any) -> Any:
        def work() -> Any:
            go_on.wait(60.0)
            response.message = threading.current_thread().name
            return response

        return await aside(node, "slow work", work)

    def renew(request: Any, response: Any) -> Any:
        response.message = "renewed"
        return response

    node.create_service(srv.DefineActions, "~/slow", slow, callback_group=group)
    node.create_service(srv.RenewSession, "~/renew", renew, callback_group=group)
    define = node.create_client(srv.DefineActions, "~/slow", callback_group=group)
    lease = node.create_client(srv.RenewSession, "~/renew", callback_group=group)
    assert define.wait_for_service(60.0) and lease.wait_for_service(60.0)
    waiting = [define.call_async(srv.DefineActions.Request()) for _ in range(6)]
    assert answered(lease.call_async(srv.RenewSession.Request())).message == "renewed"
    time.sleep(0.1)
    assert answered(lease.call_async(srv.RenewSession.Request())).message == "renewed"
    assert not any(f.done() for f in waiting)
    go_on.set()
    assert {answered(f).message for f in waiting} == {"slow work"}


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
    group = ReentrantCallbackGroup()
    Services(node, lambda: server, lambda: pytest.fail("unused"), group)
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
