"""A client that the middleware does not connect to its server."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_rt_control.srv import TakePicture

from robot_rt_control.client import services as services_module
from robot_rt_control.client.services import Services
from robot_rt_control.ros.spinning import Spinner
from robot_rt_control.testing.ros_domain import claim_domain

PATIENCE_S = 60.0
DEAF = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""A client with it is not connected: the server's answers are volatile."""


def answer(_: Any, response: Any) -> Any:
    response.success, response.path = True, "a.png"
    return response


def test_a_client_that_is_not_connected_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services_module, "_RENEW_S", 0.1)
    context = Context()
    context.init(args=[], domain_id=claim_domain("services"))
    node: Any = rclpy.create_node("asking", context=context)
    serving = rclpy.create_node("serving", context=context)
    serving.create_service(TakePicture, "~/take_picture", answer)
    executor = MultiThreadedExecutor(num_threads=2, context=context)
    for added in (node, serving):
        executor.add_node(added)
    spinner = Spinner(executor, print)
    spinner.start()
    said: list[str] = []
    node.get_logger = lambda: SimpleNamespace(info=said.append, warning=said.append)
    services = Services(node, timeout_s=PATIENCE_S)
    services._clients["serving/take_picture"] = node.create_client(
        TakePicture, "serving/take_picture", qos_profile=DEAF, callback_group=services._group
    )
    try:
        assert services.call(TakePicture, "serving/take_picture").path == "a.png"
        assert said == ["service '/serving/take_picture' is listed but not connected: trying a new client"]
        assert len(list(node.clients)) == 1
    finally:
        assert spinner.stop(PATIENCE_S)
        node.destroy_node()
        serving.destroy_node()
        context.try_shutdown()
