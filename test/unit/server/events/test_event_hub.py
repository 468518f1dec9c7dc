"""Events are numbered without a gap, and a bad listener disturbs nobody."""

import pytest

from robot_rt_control.server.events.event_hub import EventHub
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.vocabulary.event_kinds import Kind


def test_listeners_hear_numbered_events_in_order(caplog: pytest.LogCaptureFixture) -> None:
    hub = EventHub()
    heard: list[int] = []

    def fail(event: ServerEvent) -> None:
        raise ValueError("a listener's mistake")

    def listen(event: ServerEvent) -> None:
        heard.append(event.sequence)

    hub.emit(ServerEvent(kind=Kind.OVERRUN))
    hub.add(fail)
    hub.add(listen)
    hub.emit(ServerEvent(kind=Kind.OVERRUN))
    hub.emit(ServerEvent(kind=Kind.SERVER_LOST))
    hub.remove(listen)
    hub.emit(ServerEvent(kind=Kind.EVENTS_LOST))
    assert heard == [2, 3]
    assert "a listener's mistake" in caplog.text
