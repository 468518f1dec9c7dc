"""Events are numbered without a gap, and a bad listener disturbs nobody."""

import pytest

from robot_rt_control.server.events.event_hub import EventHub
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.vocabulary.event_kinds import Kind


def test_listeners_hear_numbered_events_in_order(caplog: pytest.LogCaptureFixture) -> None:
    hub = EventHub(lambda: (7, 7_000))
    heard: list[ServerEvent] = []

    def fail(event: ServerEvent) -> None:
        raise ValueError("a listener's mistake")

    def listen(event: ServerEvent) -> None:
        heard.append(event)

    hub.emit(ServerEvent(kind=Kind.OVERRUN))
    hub.add(fail)
    hub.add(listen)
    hub.emit(ServerEvent(kind=Kind.OVERRUN))
    hub.emit(ServerEvent(kind=Kind.SERVER_LOST))
    hub.announce(Kind.SESSION_OPENED, session="s1", parts=("arm", "gripper"))
    hub.remove(listen)
    hub.emit(ServerEvent(kind=Kind.EVENTS_LOST))
    assert [event.sequence for event in heard] == [2, 3, 4]
    assert heard[-1] == ServerEvent(
        kind=Kind.SESSION_OPENED, session="s1", part="arm, gripper", tick=7, time_ns=7_000, sequence=4
    ), "the server's own events have the tick of the loop's last one"
    assert "a listener's mistake" in caplog.text
