from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from robot_rt_control.client import Action, Event, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.program.errors import DefinitionError, SessionError


class FakeClient:
    """Answers like a control server; refuses the next definition where `refuse` says so."""

    def __init__(self) -> None:
        self.refuse = ""

    def call(self, service: type, path: str, error: type[Exception], /, **fields: Any) -> SimpleNamespace:
        if path == "define_actions" and self.refuse:
            text, self.refuse = self.refuse, ""
            raise error(text)
        return SimpleNamespace(session="s1", lease=0.0)

    def load_classes(self, classes: Any) -> None:
        self.loaded = [*getattr(self, "loaded", []), *classes]

    def add_listener(self, listener: Any) -> None:
        self.listener = listener

    def remove_listener(self, listener: Any) -> None: ...

    def renew(self, session: str, timeout_s: float) -> None: ...


def test_a_callback_is_called_once_also_when_its_definition_was_refused_first():
    client: Any = FakeClient()
    session = Session(client, ["arm"], lease_s=0.0, name="test")
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
    client.listener(Event(kind="reaction_fired", session="s1", name=reaction.event, tick=7))
    assert came.wait(2)
    session.close()
    assert calls == [7]
    with pytest.raises(SessionError, match="has ended"):
        session.start("a")
