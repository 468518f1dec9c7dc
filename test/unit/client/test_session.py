from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from robot_rt_control.client import Action, Event, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.vocabulary.errors import DefinitionError, SessionError


class FakeClient:
    """Answers like a control server; refuses the next definition where `refuse` says so."""

    def __init__(self) -> None:
        self.refuse = ""

    def call(self, service: type, path: str, error: type[Exception], /, **fields: Any) -> SimpleNamespace:
        if path == "define_actions" and self.refuse:
            text, self.refuse = self.refuse, ""
            raise error(text)
        if path == "list_state_variables":
            return SimpleNamespace(variables=self.variables(tuple(fields["filter"].split()) or ""))
        return SimpleNamespace(session="s1", lease=0.0)

    def variables(self, prefixes: str | tuple[str, ...]) -> list[SimpleNamespace]:
        """Time goes on by 1 ms from look to look."""
        self.looks = getattr(self, "looks", 0) + 1
        values = {"time": self.looks * 0.001, "arm.tool.z": 0.5, "move.progress": 0.25}
        return [SimpleNamespace(name=n, value=v) for n, v in values.items() if n.startswith(prefixes)]

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
    assert came.wait(2)
    session.close()
    assert calls == [7]
    with pytest.raises(SessionError, match="has ended"):
        session.start("a")


def test_it_looks_at_state_variables_and_records_them():
    client: Any = FakeClient()
    session = Session(client, ["arm"], lease_s=0.0, name="test")
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
