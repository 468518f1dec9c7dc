from __future__ import annotations

from robot_rt_control.client.event import Event
from robot_rt_control.client.event_source import EventSource, SequenceWatch


def test_a_gap_is_counted_and_another_server_counts_anew():
    watch = SequenceWatch()
    assert [watch.missing(n) for n in (17, 18, 19, 23, 24, 1, 2, 5)] == [0, 0, 0, 3, 0, 0, 0, 2]


def test_listeners_hear_of_a_gap_before_the_event_behind_it(caplog):
    source = EventSource()
    heard: list[Event] = []
    other: list[Event] = []
    source.add(heard.append)
    source.add(other.append)
    source.receive(Event(kind="a", tick=3, sequence=1))
    source.remove(other.append)  # equal, not identical: each access makes a new bound method
    source.receive(Event(kind="b", tick=9, sequence=4))
    assert [(e.kind, e.tick) for e in heard] == [("a", 3), ("events_lost", 9), ("b", 9)]
    assert heard[1].reason == "2 events were lost between the control server and this application"
    assert heard[1].values == {"lost": 2.0} and heard[1].reason in caplog.text
    assert [e.kind for e in other] == ["a"]
