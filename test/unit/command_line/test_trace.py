"""Events at the command line."""

from __future__ import annotations

import json
from collections.abc import Callable

from robot_rt_control.client import Action, Event
from robot_rt_control.client.backend import Listener
from robot_rt_control.command_line.trace import line
from robot_rt_control.testing.lockstep_client import LockstepClient


def test_events_come_one_in_each_line_and_filtered(
    client: LockstepClient, shown: Callable[..., str]
) -> None:
    with client.session("arm") as session, client.session("gripper") as other:
        session.add(Action("stay", "hold"))
        other.add(Action("grip", "hold"))

        def begin() -> None:  # once `trace` listens
            client.cell.after_tick.remove(begin)
            session.start("stay")
            other.start("grip")

        client.cell.after_tick.append(begin)
        out = shown("trace", "--session", session.id, "--kind", "action_started", "--count", "1", "--json")
        told = json.loads(out)
        assert (told["kind"], told["current_action"], told["session"]) == ("action_started", "stay", session.id)


def test_only_new_events_unless_the_past_is_asked_for(client: LockstepClient, shown: Callable[..., str]) -> None:
    first = Event(kind="action_started", time=0.001, tick=1, current_action="old", sequence=1)
    lost = Event(kind="events_lost", reason="3 events were lost", sequence=2)
    add = client.add_listener

    def with_past(listener: Listener) -> None:
        add(listener)
        listener(first)  # as over ROS
        if past:
            listener(past.pop())

    past = [lost, lost]
    client.add_listener = with_past  # type: ignore[method-assign]
    try:
        assert shown("trace", "--count", "1").split()[3] == "events_lost"
        assert [row.split()[3] for row in shown("trace", "--past", "--count", "2").splitlines()] == [
            "action_started",
            "events_lost",
        ]
        assert shown("trace", "--limit", "0.01") == ""  # the one that was there before
    finally:
        del client.add_listener


def test_a_line_has_what_the_event_has() -> None:
    event = Event(
        kind="reaction_fired",
        session="s1",
        tick=123,
        time=1.5,
        name="near",
        reaction="r1",
        previous_action="down",
        current_action="up",
        part="arm",
        values={"rangefinder.distance": 0.25},
    )
    assert line(event) == (
        "1.500       123  s1  reaction_fired  near  [r1]  down -> up  (arm)  rangefinder.distance=0.25"
    )
    changed = Event(kind="strategy_changed", current_action="a", degree_of_freedom="z", to_strategy="press")
    assert line(changed) == "0.000         0  -  strategy_changed  a  z: - -> press"
