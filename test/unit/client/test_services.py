"""Finding services by what they are called; waiting for the first one with patience."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from robot_rt_control.client import services as services_module
from robot_rt_control.client.services import Services
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import NoAnswer, RobotControlError, SessionEnded


class FakeNode:
    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.said: list[str] = []

    def get_namespace(self) -> str:
        return self.namespace

    def get_logger(self) -> Any:
        return SimpleNamespace(info=self.said.append)

    def get_service_names_and_types(self) -> list[tuple[str, list[str]]]:
        paths = (
            "/hardware_driver_sim/take_picture",
            "/hardware_driver_detector/take_picture",
            "/hardware_driver_sim/take_pictures",
            "/left/hardware_driver/take_picture",
            "/control_server/list_parts",
        )
        return [(path, ["robot_rt_control/srv/TakePicture"]) for path in paths]


@pytest.mark.parametrize(
    ("namespace", "expected"),
    [
        ("/", ["/hardware_driver_detector/take_picture", "/hardware_driver_sim/take_picture"]),
        ("/left", ["/left/hardware_driver/take_picture"]),
        ("/lef", []),
    ],
)
def test_services_of_a_name_are_those_of_the_own_namespace(namespace: str, expected: list[str]) -> None:
    node: Any = FakeNode(namespace)
    assert Services(node, timeout_s=1.0).offered("take_picture") == expected


class Clock:
    """A wait for a server passes time by itself; the server appears at a time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, appears_at: float) -> None:
        self.now, self.appears_at = 0.0, appears_at
        waiting = services_module.Waiting
        monkeypatch.setattr(
            services_module, "Waiting", lambda say, timeout_s: waiting(say, timeout_s, clock=lambda: self.now)
        )

    def wait(self, at_most: float) -> bool:
        self.now = min(self.now + at_most, max(self.now, self.appears_at))
        return self.now >= self.appears_at


def test_the_first_server_is_waited_for_with_a_line_on_what_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    node: Any = FakeNode("/")
    clock = Clock(monkeypatch, appears_at=25.0)
    Services(node, timeout_s=1.0).find(clock.wait, "service '/control_server/list_parts'")
    assert clock.now == 25.0
    assert node.said == [
        f"still waiting for service '/control_server/list_parts'; is the workcell up? ({s} s)" for s in (10, 20)
    ]


def test_a_server_that_does_not_come_up_is_an_error_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    node: Any = FakeNode("/")
    clock = Clock(monkeypatch, appears_at=1e9)
    text = r"service 'x' is not available.*within 900 s.*Bring the workcell up first"
    with pytest.raises(RobotControlError, match=text):
        Services(node, timeout_s=1.0).find(clock.wait, "service 'x'")
    assert clock.now == defaults.STARTUP_S


def test_after_the_first_one_and_for_a_shorter_call_a_server_is_not_waited_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node: Any = FakeNode("/")
    clock = Clock(monkeypatch, appears_at=0.0)
    services = Services(node, timeout_s=8.0)
    services.find(clock.wait, "service 'x'")
    clock.appears_at = 1e9
    for timeout_s, expected in ((600.0, 8.0), (3.0, 3.0)):
        begin = clock.now
        with pytest.raises(RobotControlError, match=f"within {expected:g} s"):
            services.find(clock.wait, "service 'x'", timeout_s)
        assert clock.now - begin == expected
    assert node.said == []


class DeafServer:
    """A service client that is never answered. `ready`: whether its server is there."""

    srv_name = "/control_server/start_actions"

    def __init__(self) -> None:
        self.ready = [True]
        self.pending: list[Any] = []

    def wait_for_service(self, timeout_s: float) -> bool:
        return True

    def service_is_ready(self) -> bool:
        return self.ready.pop(0) if len(self.ready) > 1 else self.ready[0]

    def call_async(self, request: Any) -> Any:
        self.pending.append(SimpleNamespace(add_done_callback=lambda done: None))
        return self.pending[-1]

    def remove_pending_request(self, future: Any) -> None:
        self.pending.remove(future)


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> tuple[Services, DeafServer]:
    monkeypatch.setattr(services_module, "_LOOK_S", 0.001)
    monkeypatch.setattr(services_module, "GONE_S", 0.02)
    node: Any = FakeNode("/")
    client = DeafServer()
    node.create_client = lambda service, path, callback_group: client
    return Services(node, timeout_s=600.0), client


SERVICE = SimpleNamespace(Request=lambda **fields: fields)


def test_a_call_of_a_session_that_cannot_be_reached_any_more_ends_with_its_reason(deaf: Any) -> None:
    services, client = deaf
    services.give_up("s1", lambda: SessionEnded.of("s1", "weld", "the network is cut"))
    for _ in range(2):
        with pytest.raises(SessionEnded, match=r"'s1' \(weld\) has ended: the network is cut") as raised:
            services.call(SERVICE, "control_server/start_actions", session="s1")
    assert raised.value.reason == "the network is cut" and not client.pending
    # The last try to close it has a time-out of its own.
    with pytest.raises(NoAnswer, match=r"did not answer within 0\.01 s.*It may still get the request"):
        services.call(SERVICE, "control_server/close_session", timeout_s=0.01, session="s1")
    client.ready = [True] * 20 + [False]  # another session is not concerned
    with pytest.raises(NoAnswer, match="has gone"):
        services.call(SERVICE, "control_server/start_actions", session="s2")


def test_a_call_whose_server_has_gone_is_not_waited_for(deaf: Any) -> None:
    services, client = deaf
    client.ready = [True, False, True, False]
    begin = time.monotonic()
    with pytest.raises(NoAnswer, match=r"start_actions' has gone before it answered\. .*network to its machine"):
        services.call(SERVICE, "control_server/start_actions")
    assert time.monotonic() - begin >= 0.02 and len(client.ready) == 1 and not client.pending


def test_a_call_of_a_closed_client_ends(deaf: Any) -> None:
    services, client = deaf

    def destroyed() -> bool:
        raise services_module.InvalidHandle("the client was destroyed")

    client.service_is_ready = destroyed
    with pytest.raises(NoAnswer, match="has gone"):
        services.call(SERVICE, "control_server/start_actions")
