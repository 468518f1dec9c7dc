"""Services: external systems move the robots of a cell in simulated time (docs/services.md)."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arms_cell import arms_file, commanded
from lost_events import losing

from robot_rt_control.application.services.json_lines import JsonLinesService
from robot_rt_control.application.services.requests import request_of
from robot_rt_control.application.services.service_manager import MAX_GROUPS, Answer, Caller, ServiceManager
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import SessionError

_PATIENCE_S = 60.0
_ENDS = ("done", "stopped", "refused", "failed")
_DOCS = Path(__file__).parents[3] / "docs" / "services.md"
_CONFIG = Path(__file__).parents[3] / "config"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[LockstepClient]:
    with LockstepClient(arms_file(tmp_path, 2)) as made:
        yield made


class Scripted(ServiceManager):
    """An external system in one thread: it asks, looks at each answer, and ends the service.

    Args:
        on: caller → state of an answer (with the id) → what to do then, once.
    """

    def __init__(self, client: LockstepClient, first: Callable[[Scripted], None], **options: Any) -> None:
        super().__init__(client, ("arm0", "arm1"), **options)
        self.first = first
        self.on: dict[tuple[int, str], Callable[[], None]] = {}
        self.answers: list[tuple[Caller, Answer]] = []
        self.closed = False

    def open(self) -> None:
        self.first(self)

    def answer(self, caller: Caller, answer: Answer) -> None:
        self.answers.append((caller, answer))
        self.on.pop((answer.get("id", 0), answer["state"]), lambda: None)()

    def close(self) -> None:
        self.closed = True

    def ask(self, caller: str = "plc", **request: Any) -> None:
        self.accept_command(request_of(request), caller)

    def states(self, id: int, caller: str = "plc") -> list[str]:
        """States of a request in their order, progress left out."""
        return [a["state"] for c, a in self.answers if c == caller and a.get("id") == id and a["state"] != "progress"]

    def last(self, id: int) -> Answer:
        return [answer for _, answer in self.answers if answer.get("id") == id][-1]


def test_a_request_is_accepted_started_reported_and_done(client: LockstepClient) -> None:
    def first(service: Scripted) -> None:
        service.ask(robot="arm0", to=[0.3, 0.0, 0.1], speed=0.5, jerk_percent=30, tag="a")
        service.on[1, "done"] = service.stop

    service = Scripted(client, first)
    service.run()
    assert service.states(1) == ["accepted", "started", "done"]
    progress = [a["progress"] for _, a in service.answers if a["state"] == "progress"]
    assert len(progress) > 3 and progress == sorted(progress) and progress[-1] <= 1.0
    assert all(answer["tag"] == "a" for _, answer in service.answers)
    np.testing.assert_allclose(commanded(client.cell, 2)[0], (0.3, 0.0, 0.1), atol=1e-9)
    assert service.closed and [s.parts for s in client.sessions()] == [], "the session is closed"


def test_what_cannot_be_is_refused_with_all_reasons_and_nothing_moves(client: LockstepClient) -> None:
    def first(service: Scripted) -> None:
        service.ask(robot="arm2", to=[0, 0, 0])
        service.ask(group=[{"robot": "arm0", "to": [9, 0, 0]}, {"robot": "arm1", "to": [0.1, 0, 0], "jerk_percent": 0}])
        service.on[1, "refused"] = then

    def then() -> None:
        service.ask(cancel=7)
        service.ask(robot="arm0", to=[0.1, 0, 0], start=[0.5, 0, 0])
        service.on[2, "refused"] = service.stop

    service = Scripted(client, first)
    service.run()
    unknown, _, first_refused, nothing, _, too_far = [a for _, a in service.answers]
    assert unknown["errors"][0]["what"] == "robot 'arm2'" and "did you mean" in unknown["errors"][0]["expected"]
    assert first_refused["id"] == 1 and first_refused["state"] == "refused"
    text = str(first_refused["errors"])
    assert "position of joint 'j0' is outside its limits" in text and "jerk_percent" in text
    assert nothing["errors"] == [{"what": "request 7", "expected": "one that has not ended", "got": "one of []"}]
    assert too_far["id"] == 2 and "too far from where the motion begins" in str(too_far["errors"])
    assert (commanded(client.cell, 2) == 0.0).all()


def test_a_robot_that_still_moves_is_refused_unless_it_is_replaced(client: LockstepClient) -> None:
    def first(service: Scripted) -> None:
        service.ask(group=[{"robot": "arm0", "to": [0.5, 0, 0]}, {"robot": "arm1", "to": [0.5, 0, 0]}])
        service.on[1, "started"] = then

    def then() -> None:
        service.ask(robot="arm1", to=[-0.2, 0, 0])
        service.ask(robot="arm1", to=[-0.2, 0, 0], replace=True)
        service.on[2, "done"] = service.stop

    service = Scripted(client, first)
    service.run()
    (refused,) = [a for _, a in service.answers if a["state"] == "refused"]
    assert refused["errors"][0]["what"] == "robot 'arm1' still belongs to request 1"
    assert service.states(2) == ["accepted", "started", "done"]
    assert service.last(1) == {"id": 1, "state": "stopped", "reason": "replaced by request 2"}
    assert commanded(client.cell, 2)[1, 0] == pytest.approx(-0.2)


@pytest.mark.parametrize("cancel", [1, "all"])
def test_a_cancelled_group_stops_on_its_paths(cancel: int | str, client: LockstepClient) -> None:
    def first(service: Scripted) -> None:
        service.ask(
            group=[{"robot": "arm0", "to": [1.0, 0, 0]}, {"robot": "arm1", "to": [-1.0, 0, 0]}], finish="together"
        )
        service.on[1, "progress"] = lambda: service.ask("panel", cancel=cancel)
        service.on[1, "stopped"] = service.stop

    service = Scripted(client, first)
    service.run()
    assert service.last(1) == {"id": 1, "state": "stopped", "reason": "cancelled"}
    assert ("panel", {"state": "cancelling", "ids": [1]}) in service.answers
    q = commanded(client.cell, 2)
    assert 0.0 < q[0, 0] < 0.9 and q[0, 0] == -q[1, 0]


def test_at_its_end_the_service_stops_its_groups_on_their_paths(client: LockstepClient) -> None:
    def first(service: Scripted) -> None:
        service.ask(
            group=[{"robot": "arm0", "to": [1.0, 0, 0]}, {"robot": "arm1", "to": [-1.0, 0, 0]}], finish="together"
        )
        service.on[1, "progress"] = service.stop

    service = Scripted(client, first)
    service.run()
    assert service.last(1) == {"id": 1, "state": "stopped", "reason": "the service ends"}
    q = commanded(client.cell, 2)
    assert 0.0 < q[0, 0] < 0.9 and q[0, 0] == -q[1, 0]


@pytest.mark.parametrize(
    "at_start, wish, stops", [(False, None, False), (True, None, True), (False, True, True), (True, False, False)]
)
def test_the_groups_of_a_client_that_disconnects(
    at_start: bool, wish: bool | None, stops: bool, client: LockstepClient
) -> None:
    def first(service: Scripted) -> None:
        if wish is not None:
            service.ask(cancel_on_disconnect=wish)
        service.ask(robot="arm0", to=[0.5, 0, 0])
        service.on[1, "progress"] = gone

    def gone() -> None:
        service.disconnected("plc")
        service.ask("other", robot="arm1", to=[0.7, 0, 0])
        service.on[2, "done"] = service.stop

    service = Scripted(client, first, cancel_on_disconnect=at_start)
    service.run()
    assert service.states(1) == ["accepted", "started"], "nobody is left to report to"
    reached = commanded(client.cell, 2)[0, 0]
    assert 0.0 < reached < 0.4 if stops else reached == pytest.approx(0.5)


def test_a_fault_fails_the_group_and_the_service_goes_on(client: LockstepClient) -> None:
    def first(service: Scripted) -> None:
        service.ask(group=[{"robot": "arm0", "to": [0.5, 0, 0]}, {"robot": "arm1", "to": [0.5, 0, 0]}])
        service.on[1, "progress"] = lambda: client.disable("arm1")
        service.on[1, "failed"] = lambda: service.ask(robot="arm0", to=[0.2, 0, 0])
        service.on[2, "done"] = service.stop

    service = Scripted(client, first)
    service.run()
    assert service.last(1)["reason"] == "a part of the motion group failed"
    assert service.states(2) == ["accepted", "started", "done"]


def test_a_session_that_has_ended_fails_its_groups_and_the_next_request_gets_another(client: LockstepClient) -> None:
    def first(service: Scripted) -> None:
        service.ask(robot="arm0", to=[0.5, 0, 0])
        service.on[1, "progress"] = lambda: client.cell.server.close_session(client.sessions()[0].id)
        service.on[1, "failed"] = lambda: service.ask(robot="arm0", to=[0.2, 0, 0])
        service.on[2, "done"] = service.stop

    service = Scripted(client, first)
    service.run()
    assert "the session" in service.last(1)["reason"]
    assert service.states(2) == ["accepted", "started", "done"]


@pytest.mark.parametrize(("stop", "state"), [(False, "done"), (True, "failed")])
def test_what_ended_while_events_were_lost(stop: bool, state: str, client: LockstepClient) -> None:
    def first(service: Scripted) -> None:
        service.ask(robot="arm0", to=[0.5, 0, 0])
        service.on[1, "progress"] = lose
        service.on[1, state] = service.stop

    def lose() -> None:
        with losing(client):
            if stop:
                client.stop_all()
            client.step(5000)

    service = Scripted(client, first)
    service.run()
    reason = {"reason": "it has ended, and events were lost: nothing says how"} if stop else {}
    assert service.last(1) == {"id": 1, "state": state, **reason}


def test_the_status_of_robots_and_groups(client: LockstepClient) -> None:
    def first(service: Scripted) -> None:
        service.ask(robot="arm0", to=[0.5, 0, 0])
        service.on[1, "started"] = lambda: service.ask(status=True, tag="look")
        service.on[0, "status"] = service.stop

    service = Scripted(client, first)
    service.run()
    (status,) = [a for _, a in service.answers if a["state"] == "status"]
    assert status["groups"] == [{"id": 1, "state": "started", "robots": ["arm0"], "progress": 0.0}]
    assert status["robots"]["arm1"] == {"state": "enabled", "fault": "", "position": [0.0, 0.0, 0.0]}
    assert status["tag"] == "look"


def test_finished_groups_are_removed_so_that_nothing_runs_out(client: LockstepClient) -> None:
    def first(service: Scripted) -> None:
        service.ask(robot="arm0", to=[0, 0, 0])
        for id in range(1, 20):
            service.on[id, "done"] = lambda: service.ask(robot="arm0", to=[0, 0, 0])
        service.on[20, "done"] = look

    def look() -> None:
        kept.extend(client.sessions()[0].actions)
        service.stop()

    kept: list[str] = []
    service = Scripted(client, first)
    service.run()
    assert kept in ([], ["request_20"])


def test_groups_and_requests_have_bounds(client: LockstepClient) -> None:
    def first(service: Scripted) -> None:
        for _ in range(MAX_GROUPS + 1):
            service.ask(robot="arm0", to=[0.1, 0, 0], replace=True)
        service.on[0, "refused"] = service.stop

    service = Scripted(client, first)
    service.run()
    (refused,) = [a for _, a in service.answers if a["state"] == "refused"]
    assert refused["errors"][0] == {"what": "too many groups", "expected": "at most 64 at a time", "got": "65"}


def test_a_part_that_somebody_holds_ends_the_start(client: LockstepClient) -> None:
    with client.session("arm1"):
        service = Scripted(client, lambda _: None)
        with pytest.raises(SessionError, match="arm1"):
            service.run()
    assert service.closed


def test_over_a_socket_with_the_documents_client(capsys: pytest.CaptureFixture[str]) -> None:
    client = LockstepClient(_CONFIG / "pair.yaml")
    service = JsonLinesService(client, ["left", "right"])
    runner = threading.Thread(target=service.run, daemon=True)  # from now on the cell belongs to this thread
    runner.start()
    try:
        assert service._is_open.wait(_PATIENCE_S)
        (example,) = re.findall(r"```python\n(import json.*?)```", _DOCS.read_text(), re.DOTALL)
        exec(compile(example.replace("7654", str(service.address[1])), str(_DOCS), "exec"), {})
        printed = capsys.readouterr().out.splitlines()
        assert json.loads(printed[0]) == {"id": 1, "state": "accepted"}
        assert json.loads(printed[-1]) == {"id": 1, "state": "done"}
        with socket.create_connection(service.address, _PATIENCE_S) as connection, connection.makefile() as lines:
            long = b'{"robot": "right", "to": [1.0, 0, 0, 0, 0, 0, 0]}'
            connection.sendall(long + b'\n{"robot": "arm5", "to": [0]}\n{"cancel": 2}\n')
            answers: list[Answer] = []
            while not answers or answers[-1]["state"] != "stopped":
                answers.append(json.loads(lines.readline()))
        states = [answer["state"] for answer in answers if answer["state"] != "progress"]
        assert states in (
            ["accepted", "started", "refused", "cancelling", "stopped"],
            ["accepted", "refused", "started", "cancelling", "stopped"],
            ["accepted", "refused", "cancelling", "stopped"],
        )
    finally:
        service.stop()
        runner.join(_PATIENCE_S)
        client.close()
    assert not runner.is_alive()


def test_L31_after_a_protective_stop_the_next_request_resumes_the_session(client: LockstepClient) -> None:
    def stop() -> None:
        client.protective_stop("door")
        client.cell.step(5)
        client.release(secret=client.backend.operator_secret())
        client.cell.step(5)
        service.ask(robot="arm0", to=[0.2, 0, 0])

    def first(made: Scripted) -> None:
        made.ask(robot="arm0", to=[0.5, 0, 0])
        made.on[1, "progress"] = lambda: made.ask(robot="arm1", to=[0.5, 0, 0])
        made.on[2, "accepted"] = stop  # it is prepared then
        made.on[3, "done"] = made.stop

    service = Scripted(client, first)
    service.run()
    assert "a protective stop" in service.last(1)["reason"]
    assert service.states(2)[-1] in ("stopped", "refused") and "started" not in service.states(2)
    assert service.states(3) == ["accepted", "started", "done"]
