"""Events of the loop in words, as far as the loop knows them."""

from __future__ import annotations

import numpy as np

from robot_rt_control.memory.layout import event_dtype
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.event_fields import event_fields
from robot_rt_control.vocabulary.enums import EventKind, StopCause


def test_names_are_those_of_the_tables_else_the_numbers(world: World) -> None:
    event = np.zeros(1, event_dtype)[0]
    event.kind, event.reason, event.part = EventKind.ACTION_STOPPED, StopCause.PART_FAULT, 0
    event.session, event.previous_action, event.current_action, event.n_values = 5, 70, 80, 2
    event.values[:2] = 1.5, 2.5
    tables = world.memory.tables[0]
    tables.n_sessions, tables.sessions[0].identity, tables.sessions[0].name = 1, 5, b"s1"
    found = event_fields(event, world, {"70": "go"})
    assert (found["kind"], found["reason"], found["session"]) == ("action_stopped", "part_fault", "s1")
    assert (found["previous_action"], found["current_action"], found["values"]) == ("go", "80", [1.5, 2.5])
    assert found["part"] == world.workcell.parts[0].name
    event.kind, event.part, event.session, event.current_action = 99, -1, 6, 0
    found = event_fields(event, world, {})
    assert (found["kind"], found["reason"], found["part"]) == ("99", str(int(StopCause.PART_FAULT)), "")
    assert (found["session"], found["current_action"]) == ("6", "")
