"""The bounds of the JSON lines service over a real socket, without a robot."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from robot_rt_control.application.services import json_lines
from robot_rt_control.application.services.json_lines import MAX_CLIENTS, MAX_LINE_BYTES, RATE, JsonLinesService, Rate
from robot_rt_control.application.services.requests import Request
from robot_rt_control.application.services.service_manager import Caller
from robot_rt_control.client import RobotControlError

_PATIENCE_S = 60.0


class Echo(JsonLinesService):
    """Answers each request with its tag."""

    def __init__(self, **options: Any) -> None:
        super().__init__(None, ["left"], clock=lambda: 0.0, **options)  # type: ignore[arg-type]
        self.gone = threading.Semaphore(0)

    def accept_command(self, request: Request, caller: Caller) -> None:
        self.answer(caller, {"took": request.tag})

    def disconnected(self, caller: Caller) -> None:
        self.gone.release()


@pytest.fixture
def service() -> Iterator[Echo]:
    made = Echo()
    made.open()
    yield made
    made.close()


@contextmanager
def connected(service: JsonLinesService) -> Iterator[tuple[socket.socket, Callable[[], Any]]]:
    """A client, and the next answer."""
    with socket.create_connection(service.address, _PATIENCE_S) as connection, connection.makefile() as lines:
        yield connection, lambda: json.loads(lines.readline())


def test_requests_are_taken_and_answered(service: Echo) -> None:
    with connected(service) as (connection, answer):
        connection.sendall(b'{"status": true, "tag": "a"}\n\n{"status": true, "tag": "b"}\n')
        assert [answer(), answer()] == [{"took": "a"}, {"took": "b"}]
    assert service.gone.acquire(timeout=_PATIENCE_S)


def test_a_bad_line_is_answered_and_the_connection_goes_on(service: Echo) -> None:
    with connected(service) as (connection, answer):
        connection.sendall(b'{"status": tru}\n{"status": true, "tag": "b"}\n')
        refused = answer()
        assert refused["state"] == "refused"
        assert refused["errors"][0]["what"] == "the request, column 12: not valid JSON"
        assert answer() == {"took": "b"}


def test_a_line_that_is_too_long_is_skipped(service: Echo) -> None:
    with connected(service) as (connection, answer):
        connection.sendall(b" " * (3 * MAX_LINE_BYTES) + b"\n" + b'{"status": true, "tag": "b"}\n')
        (error,) = answer()["errors"]
        assert (error["what"], error["expected"]) == ("a line is too long", "at most 65536 bytes")
        assert error["got"] == str(3 * MAX_LINE_BYTES)
        assert answer() == {"took": "b"}


def test_more_requests_than_the_rate_are_dropped_but_cancels(service: Echo) -> None:
    with connected(service) as (connection, answer):
        connection.sendall(b'{"status": true}\n' * (RATE + 2) + b'{"cancel": "all", "tag": "stop"}\n')
        answers = [answer() for _ in range(RATE + 3)]
        assert answers.count({"took": ""}) == RATE and answers[-1] == {"took": "stop"}
        refused = [answer["errors"][0] for answer in answers if "errors" in answer]
        assert len(refused) == 2
        assert (refused[0]["what"], refused[0]["expected"]) == ("too many requests", "at most 50 per second")


def test_the_rate_fills_again() -> None:
    now = 0.0
    rate = Rate(10, lambda: now)
    assert [rate.admits() for _ in range(11)] == [True] * 10 + [False]
    now = 0.25
    assert [rate.admits() for _ in range(3)] == [True, True, False]
    now = 100.0
    assert [rate.admits() for _ in range(11)] == [True] * 10 + [False]


def test_more_clients_than_fit_are_refused(service: Echo) -> None:
    clients = [socket.create_connection(service.address, _PATIENCE_S) for _ in range(MAX_CLIENTS)]
    with connected(service) as (_, answer):
        (error,) = answer()["errors"]
        assert error == {"what": "too many clients", "expected": "at most 8", "got": "9"}
    clients[0].close()
    assert service.gone.acquire(timeout=_PATIENCE_S)
    with connected(service) as (connection, answer):
        connection.sendall(b'{"status": true, "tag": "in"}\n')
        assert answer() == {"took": "in"}
    for client in clients:
        client.close()


def test_a_client_that_does_not_read_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(json_lines, "MAX_UNSENT_BYTES", 1000)

    class Talkative(Echo):
        def accept_command(self, request: Request, caller: Caller) -> None:
            for _ in range(200):
                self.answer(caller, {"text": "x" * 100_000})

    service = Talkative()
    service.open()
    try:
        with connected(service) as (connection, _):
            connection.sendall(b'{"status": true}\n')
            assert service.gone.acquire(timeout=_PATIENCE_S)
    finally:
        service.close()
    assert "a client does not read its answers: it is cut off" in caplog.text


def test_a_client_whose_machine_died_is_gone_without_an_error(
    service: Echo, caplog: pytest.LogCaptureFixture
) -> None:
    with connected(service) as (connection, answer):
        connection.sendall(b'{"status": true, "tag": "a"}\n')
        assert answer() == {"took": "a"}
        (writer,) = service._writers
        link = writer.get_extra_info("socket")
        assert link.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 5000
        assert link.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        lost = writer.transport.get_protocol().connection_lost
        service._loop.call_soon_threadsafe(lost, TimeoutError("as the system reports it"))
        assert service.gone.acquire(timeout=_PATIENCE_S)
    service.close()
    assert not caplog.records or "Unhandled" not in caplog.text


def test_other_addresses_than_loopback_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    service = Echo(host="0.0.0.0")
    service.open()
    service.close()
    assert "everyone who reaches it may move left, as there is no authentication" in caplog.text


def test_an_address_in_use_is_refused(service: Echo, caplog: pytest.LogCaptureFixture) -> None:
    second = Echo(port=service.address[1])
    with pytest.raises(RobotControlError, match=r"listening at 127.0.0.1, port \d+; expected a free port .*in use"):
        second.open()
    second.close()
    assert not caplog.records


class Lingering(Echo):
    """Its thread is still alive for a moment when the loop of its connections has ended."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.ended, self.may_end = threading.Event(), threading.Event()

    def _run_loop(self) -> None:
        super()._run_loop()
        self.ended.set()
        assert self.may_end.wait(_PATIENCE_S)


def test_closing_while_the_thread_of_a_refused_open_ends_is_no_error(service: Echo) -> None:
    second = Lingering(port=service.address[1])
    with pytest.raises(RobotControlError, match="listening at"):
        second.open()
    assert second.ended.wait(_PATIENCE_S)
    threading.Timer(0.2, second.may_end.set).start()
    second.close()
    second.close()  # as a service that was closed already
