from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Any

import pytest

from robot_rt_control.client import Action, Event, Reaction
from robot_rt_control.client.backend import SessionKey, SessionRequest
from robot_rt_control.client.ros_backend import ThreadedWaiting
from robot_rt_control.client.session import Session
from robot_rt_control.vocabulary.errors import DefinitionError, SessionError


class FakeBackend(ThreadedWaiting):
    """Answers like a control server; refuses the next definition if `refuse` is set."""

    def __init__(self) -> None:
        self.refuse = ""
        self.looks = 0

    @property
    def simulated(self) -> bool:
        return False

    def open_session(self, request: SessionRequest) -> SessionKey:
        return SessionKey("s1", "secret", request.lease_s)

    def close_session(self, key: SessionKey, timeout_s: float | None = None) -> None:
        assert key.secret == "secret"
        self.listener(Event(kind="session_ended", session=key.id, reason="closed by its client"))

    def start(self, key: SessionKey, actions: Any, at_tick: int) -> int:
        raise AssertionError("a session that has ended asks for nothing")

    def define(self, key: SessionKey, actions: Any, reactions: Any) -> None:
        if self.refuse:
            text, self.refuse = self.refuse, ""
            raise DefinitionError(text)

    def state_values(self, prefixes: Iterable[str], session: str) -> dict[str, float]:
        """Time advances by 1 ms at each call."""
        self.looks += 1
        values = {"time": self.looks * 0.001, "arm.tool.z": 0.5, "move.progress": 0.25}
        return {name: value for name, value in values.items() if name.startswith(tuple(prefixes))}

    def add_listener(self, listener: Any) -> None:
        self.listener = listener

    def remove_listener(self, listener: Any) -> None: ...


REQUEST = SessionRequest(name="test", parts=("arm",), lease_s=0.0)


def test_a_callback_is_called_once_also_when_its_definition_was_refused_first():
    client: Any = FakeBackend()
    session = Session(client, REQUEST)
    calls: list[int] = []
    came = threading.Event()

    def callback(event: Event) -> None:
        calls.append(event.tick)
        came.set()

    reaction = Reaction("is_done", call=callback)
    actions = [Action("a", "hold", reactions=[reaction]), Action("b", "hold", reactions=[reaction])]
    client.refuse = "action 'a': unknown action type"
    with pytest.raises(DefinitionError, match="unknown action type"):
        session.add(*actions)
    session.add(*actions)
    for owner in ("a", "c"):  # c has a reaction of the same name, without this callback
        event = Event(
            kind="reaction_fired",
            session="s1",
            name=reaction.event,
            reaction=reaction.name,
            previous_action=owner,
            tick=7,
        )
        client.listener(event)
    assert came.wait(60)
    session.close()
    assert calls == [7]
    with pytest.raises(SessionError, match="has ended"):
        session.start("a")


def test_it_looks_at_state_variables_and_records_them():
    client: Any = FakeBackend()
    session = Session(client, REQUEST)
    assert session.value("move.progress") == 0.25
    assert session.values(["arm.", "move."]) == {"arm.tool.z": 0.5, "move.progress": 0.25}
    with pytest.raises(DefinitionError, match="'arm.tool.q' is not known; expected .*did you mean 'arm.tool.z'"):
        session.value("arm.tool.q")
    with session.record("arm.tool.z", period_s=0.001) as recording:
        before = len(recording)
        while len(recording) < before + 3:
            time.sleep(0.001)
    assert (recording["arm.tool.z"] == 0.5).all() and (recording.time[1:] > recording.time[:-1]).all()
    session.close()
