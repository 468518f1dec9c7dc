from __future__ import annotations

import threading
from typing import Any

import pytest

from robot_rt_control.client.event import Event
from robot_rt_control.client.inbox import Inbox
from robot_rt_control.client.ros_backend import ThreadedWaiting
from robot_rt_control.vocabulary.errors import SessionError

BACKEND: Any = ThreadedWaiting()


def _event(name: str, kind: str = "reaction_fired") -> Event:
    return Event(kind=kind, session="s1", name=name)


def test_each_event_is_given_once_to_those_who_wait_also_when_it_came_before():
    inbox = Inbox(BACKEND, "s1")
    for name in ("a", "b", "a"):
        inbox.receive(_event(name))
    assert [inbox.wait_for("a", 0.0).name for _ in range(2)] == ["a", "a"]
    assert inbox.wait_for("b", 0.0).name == "b"
    assert inbox.wait_for("reaction_fired", 0.0).name == "a", "by its kind it has not been given yet"
    with pytest.raises(TimeoutError, match=r"'a' did not come within 0 s; events so far: \['a', 'b'\]"):
        inbox.wait_for("a", 0.0)


def test_only_the_last_events_are_kept_and_each_is_still_given_once():
    inbox = Inbox(BACKEND, "s1", kept=3)
    for _ in range(10):
        inbox.receive(_event("a"))
    assert len(inbox.events) == 3
    for _ in range(3):
        inbox.wait_for("a", 0.0)
    with pytest.raises(TimeoutError):
        inbox.wait_for("a", 0.0)
    inbox.receive(_event("a"))
    assert inbox.wait_for("a", 0.0).name == "a"


def test_who_follows_too_slowly_hears_how_much_was_lost():
    inbox = Inbox(BACKEND, "s1", kept=3)
    events = inbox.listen("")
    for k in range(5):
        inbox.receive(_event(f"e{k}"))
    first = next(events)
    assert (first.kind, first.values) == ("events_lost", {"lost": 2.0})
    assert [next(events).name for _ in range(3)] == ["e2", "e3", "e4"]
    inbox.receive(_event("e5"))
    assert next(events).name == "e5"
    inbox.end("the executor has ended")
    assert next(events).kind == "session_ended"
    with pytest.raises(SessionError, match="ended while its events were listened to: the executor has ended"):
        next(events)


def test_it_ends_once_and_callbacks_get_what_has_come_and_then_the_end():
    inbox = Inbox(BACKEND, "s1")
    got: list[str] = []
    begin, done = threading.Event(), threading.Event()

    def slow(event: Event) -> None:
        begin.wait(60)
        got.append(event.name or event.reason)
        if event.kind == "session_ended":
            done.set()

    inbox.on("a", slow, 10)
    inbox.on("session_ended", slow, 10)
    inbox.receive(_event("a"))
    inbox.receive(_event("a"))
    inbox.end("lost")
    inbox.end("closed by its client")
    inbox.receive(Event(kind="session_ended", session="s1", reason="told late"))
    inbox.receive(_event("a"))  # too late
    begin.set()
    assert done.wait(60)
    inbox.close()
    assert sorted(got) == ["a", "a", "lost"] and inbox.end_reason == "lost"
    late = inbox.on("a", slow, 10)
    late.close()
    assert late._thread is not None and not late._thread.is_alive(), "nobody waits for what cannot come any more"


def test_an_application_that_closes_is_not_told_an_error():
    inbox = Inbox(BACKEND, "s1")
    events = inbox.listen("")
    inbox.expect_end()
    inbox.receive(Event(kind="session_ended", session="s1", reason="closed by its client"))
    assert [e.kind for e in events] == ["session_ended"]
    assert inbox.end_reason == "closed by the application"


def test_a_report_about_a_callback_for_reports_is_not_reported_again():
    inbox = Inbox(BACKEND, "s1")
    calls: list[str] = []
    came = threading.Event()

    def fail(event: Event) -> None:
        calls.append(event.kind)
        came.set()
        raise RuntimeError("again")

    inbox.on("callback_failed", fail, 10)
    inbox.on("a", fail, 10)
    inbox.receive(_event("a"))
    assert came.wait(60)
    reason = inbox.wait_for("callback_failed", 5.0).reason
    assert reason.startswith("callback for 'a': RuntimeError: again (test_inbox.py:")
    inbox.close()
    assert calls == ["reaction_fired", "callback_failed"]
    assert [e.kind for e in inbox.events] == ["reaction_fired", "callback_failed"]
