"""Finding services by what they are called; waiting for the first one with patience."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from robot_rt_control.client import services as services_module
from robot_rt_control.client.services import Services
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import RobotControlError


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
