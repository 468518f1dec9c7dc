"""Rules A1 to A10 of docs/semantics/actions.md: actions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import Command, PartKind
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError

METHODS = {"on_enter": 1, "sense": 2, "set_parameters": 3, "control": 4}


def entry(cell: LockstepCell, session: Session, action: str) -> tuple[int, int]:
    """(slot, identity) of an action, for a raw command."""
    defined = cell.server.contents(cell.server.session(session.id)).actions[action].entry
    return defined.slot, defined.identity


def refused(cell: LockstepCell) -> list[str]:
    return [e.reason for e in cell.kinds("command_refused")]


# --- A1, A2, A3: starting ------------------------------------------------------------------------


def test_A1_all_actions_of_a_start_begin_in_one_tick(cell: LockstepCell) -> None:
    session = cell.session("left", "right", "tool")
    session.add(*[Action(f"on_{part}", "probe", parts=part) for part in session.parts])
    session.start("on_tool", "on_left", "on_right")
    tick = cell.step()
    started = {e.current_action: e.tick for e in cell.kinds("action_started")}
    assert started == {"on_left": tick, "on_right": tick, "on_tool": tick}
    assert [session.value(f"on_{part}.controls") for part in session.parts] == [1.0, 1.0, 1.0]


def test_A1_none_of_them_begins_where_one_may_not(cell: LockstepCell) -> None:
    session, other = cell.session("left", "tool"), cell.session("right")
    session.add(
        Action("a", "probe", parts="left"),
        Action("b", "probe", parts="left"),
        Action("both", "pair", parts={"one": "tool", "two": "left"}),
        Action("on_tool", "probe", parts="tool"),
    )
    other.add(Action("o", "probe"))
    cell.step()
    identity = cell.server.session(session.id).identity
    places = {name: entry(cell, session, name) for name in ("a", "b", "both", "on_tool")}
    slot, stale = entry(cell, other, "o"), (places["a"][0], 999_999)
    # The server refuses most of these itself: here the loop has to.
    for actions, reason in (
        ([places["on_tool"], places["a"], places["b"]], "two actions use the same part"),
        ([places["on_tool"], places["both"]], "two actions use the same part"),
        ([places["a"], places["a"]], "two actions use the same part"),
        ([places["a"], slot], "the session has ended, or the action belongs to another session"),
        ([places["a"], stale], "the action does not exist any more"),
        ([], "the command is malformed"),
    ):
        cell.events.clear()
        cell.link.send(Command.START, session=identity, actions=actions)
        cell.step()
        assert refused(cell) == [reason]
        assert not cell.kinds("action_started", "action_stopped")
    with pytest.raises(DefinitionError, match="actions that share no part"):
        session.start("on_tool", "both")
    cell.server.set_motion(["tool"], "disable")
    cell.events.clear()
    session.start("a", "on_tool")
    cell.step()
    assert refused(cell) == ["the motion of a part is not enabled"]
    assert cell.active("left") == "default"


def test_A2_what_gives_way_ends_and_its_other_parts_take_their_default_action(cell: LockstepCell) -> None:
    session = cell.session("left", "right", "tool")
    session.add(
        Action("both", "pair", parts={"one": "left", "two": "right"}),
        Action("a", "probe", parts="left"),
        Action("on_tool", "probe", parts="tool"),
        Action("cross", "pair", parts={"one": "right", "two": "tool"}),
    )
    session.start("both", "on_tool")
    cell.step(3)
    session.start("a")
    tick = cell.step()
    (stopped,) = cell.kinds("action_stopped", previous_action="both")
    assert (stopped.tick, stopped.reason) == (tick, "another action took a part")
    assert [cell.active(part) for part in session.parts] == ["a", "default", "on_tool"]
    assert session.value("on_tool.controls") == 4.0, "the others go on"
    # the default action has controlled its part in this very tick
    assert cell.written("right")["right/y/position"] == cell.part("right").commanded_position[0]
    session.start("both", "on_tool")
    cell.step()
    session.start("cross")
    cell.step()
    assert [cell.active(part) for part in session.parts] == ["default", "cross", "cross"]


def test_A3_starting_the_active_action_enters_it_again(cell: LockstepCell) -> None:
    session = cell.session("left")
    holds = Reaction("senses >= 2", event="holds")
    once = Reaction("senses >= 2", event="once", fire_once=True)
    session.add(Action("a", "probe", reactions=[holds, once]))
    session.start("a")
    cell.step(5)
    assert (session.value("a.senses"), len(cell.fired("holds")), len(cell.fired("once"))) == (5.0, 1, 1)
    session.start("a")
    tick = cell.step()
    assert [session.value(f"a.{name}") for name in ("entries", "senses", "controls", "left_over")] == [
        1.0,
        1.0,
        1.0,
        0.0,
    ]
    assert [(e.tick, e.reason) for e in cell.kinds("action_stopped", previous_action="a")] == [
        (tick, "another action took a part")
    ]
    cell.step()
    assert (len(cell.fired("holds")), len(cell.fired("once"))) == (2, 2), "memory and counts are new"


def test_A3_a_reaction_can_enter_its_owner_again(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe", reactions=[Reaction("senses == 3", start="a")]))
    session.start("a")
    first = cell.step(7) - 6
    assert [e.tick - first for e in cell.kinds("action_started", current_action="a")] == [0, 2, 4, 6]


# --- A4, A5: ending ------------------------------------------------------------------------------


def test_A4_is_done_ends_nothing(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe", duration=0.003, speed=0.001))
    session.start("a")
    cell.step(50)
    assert (session.value("a.is_done"), session.value("a.controls"), cell.active("left")) == (1.0, 50.0, "a")
    assert cell.part("left").commanded_position[0] == pytest.approx(50e-6), "it still commands"


def test_A5_stopping_an_action_starts_the_default_action(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(Action("a", "probe", parts="left"), Action("b", "probe", parts="right"))
    session.start("a", "b")
    cell.step()
    session.stop("a")
    tick = cell.step()
    assert (cell.active("left"), cell.active("right")) == ("default", "b")
    assert [(e.tick, e.reason) for e in cell.kinds("action_stopped", previous_action="a")] == [
        (tick, "stopped by a command")
    ]
    session.stop("a")  # it has ended already: nothing happens
    session.stop()
    cell.step()
    assert (cell.active("left"), cell.active("right"), session.ended) == ("default", "default", None)
    assert refused(cell) == []


# --- A6, A7: failing -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("status", [7, -1])
def test_A6_a_failure_ends_action_and_session_in_that_tick_and_no_other_session(
    cell: LockstepCell, method: str, status: int
) -> None:
    session, other = cell.session("left", "tool"), cell.session("right")
    at = 1 if method == "on_enter" else 4
    session.add(
        Action("bad", "probe", parts="left", speed=0.5, fail_in=METHODS[method], fail_at=at, status=status),
        Action("good", "probe", parts="tool"),
        # By a command, a start whose on_enter fails is refused (A13).
        Action("way", "probe", parts="left", reactions=[Reaction("senses == 1", start="bad")]),
    )
    other.add(Action("o", "probe"))
    other.start("o")
    cell.step(2)
    session.start("good", "way" if method == "on_enter" else "bad")
    tick = cell.step(at)
    (failed,) = cell.kinds("action_failed")
    why = "index out of range" if status == -1 else "status 7 of the action's own code"
    assert (failed.tick, failed.current_action, failed.reason) == (tick, "bad", why)
    # safety for all parts of the session, in the same tick
    assert [cell.active(part) for part in ("left", "tool", "right")] == ["safety", "safety", "o"]
    started = {e.part: e.tick for e in cell.kinds("action_started") if not e.session}
    assert started == {"left": tick, "tool": tick}
    assert session.ended == f"action 'bad' failed: {why}"
    # what leaves in this tick is the safety action's: slower than before
    speed = cell.part("left").commanded_velocity[0]
    assert speed == 0.0 if at == 1 else 0.0 < speed < 4 * 0.0048
    # nothing of it reaches the other session
    cell.step(10)
    assert (other.value("o.controls"), other.ended, cell.active("right")) == (2 + at + 10, None, "o")
    assert not np.isnan(cell.part("left").commanded_position[:2]).any()


@pytest.mark.parametrize("status", [7, -1])
@pytest.mark.parametrize("at_tick", [0, 3])
def test_A13_a_start_by_command_whose_on_enter_fails_is_refused_and_nothing_gives_way(
    cell: LockstepCell, status: int, at_tick: int
) -> None:
    session = cell.session("left", "tool")
    session.add(
        Action("a", "probe", parts="left", speed=0.1, reactions=[Reaction("senses == 5", event="five")]),
        Action("b", "probe", parts="tool"),
        Action("bad", "probe", parts="left", fail_in=METHODS["on_enter"], status=status),
        Action("c", "probe", parts="tool"),
    )
    session.start("a", "b")
    cell.step(2)
    before = cell.events.copy()
    session.start("c", "bad", at_tick=cell.tick + at_tick if at_tick else 0)
    tick = cell.step(at_tick or 1)
    (refused,) = [e for e in cell.events if e not in before and e.kind not in ("command_done", "reaction_fired")]
    why = "index out of range" if status == -1 else "status 7 of the action's own code"
    assert (refused.kind, refused.tick, refused.session) == ("command_refused", tick, session.id)
    assert refused.current_action == "bad"
    assert refused.reason.startswith(f"action 'bad' cannot start from the present state: {why}")
    assert "entries 1" in refused.reason and dict(zip(refused.names, refused.values, strict=True))["entries"] == 1.0
    assert session.ended is None and session.active == ("a", "b")
    cell.step(5 - int(session.value("a.senses")))
    assert len(cell.fired("five")) == 1 and session.value("a.entries") == 1.0, "what is active did not notice"
    session.start("c")
    cell.step()
    assert session.active == ("a", "c")


def test_A13_a_re_entry_that_fails_leaves_the_action_as_it_was(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe", speed=0.1))
    session.start("a")
    cell.step(3)
    session.set("a", fail_in=METHODS["on_enter"])
    session.start("a")
    cell.step()
    (refused,) = cell.kinds("command_refused")
    assert refused.current_action == "a" and session.ended is None
    assert session.value("a.senses") == 4.0 and session.value("a.entries") == 1.0


def test_A13_a_start_by_a_reaction_whose_on_enter_fails_is_the_actions_failure(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(
        Action("a", "probe", speed=0.1, reactions=[Reaction("senses == 3", start="bad")]),
        Action("bad", "probe", fail_in=METHODS["on_enter"]),
    )
    session.start("a")
    cell.step(3)
    assert [e.current_action for e in cell.kinds("action_failed")] == ["bad"] and cell.active("left") == "safety"
    assert session.ended == "action 'bad' failed: status 7 of the action's own code"


def test_A13_a_trajectory_that_begins_elsewhere_is_refused_with_joint_and_distance(cell: LockstepCell) -> None:
    session = cell.session("left", "tool")
    far = [float(q) + 0.11 for q in cell.part("left").commanded_position[: cell.part("left").dof]]
    session.add(Action("t", "track_trajectory", parts="left", times=[0.0, 9.0], positions=[*far, *far]))
    session.add(Action("grip", "probe", parts="tool"))
    session.start("grip")
    cell.step()
    session.start("t")
    cell.step()
    (refused,) = cell.kinds("command_refused")
    joint = cell.workcell.part("left").joint_names[0]
    assert refused.reason == (
        "action 't' cannot start from the present state: the robot is too far from where the motion begins "
        f"(start_joint '{joint}', start_distance 0.11)"
    )
    assert session.ended is None and session.active == ("grip",)


def test_A6_a_failure_in_the_tick_of_a_switch_is_that_ticks(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(
        Action("a", "probe", speed=0.1, reactions=[Reaction("senses == 3", start="bad")]),
        Action("bad", "probe", fail_in=METHODS["control"]),
    )
    session.start("a")
    tick = cell.step(3)
    assert [(e.current_action, e.tick) for e in cell.kinds("action_failed")] == [("bad", tick)]
    assert cell.active("left") == "safety"


def brought_to_rest(cell: LockstepCell, part: str, ticks: int) -> None:
    """The loop itself brakes a part within its limits, and holds it then."""
    limits, live = cell.workcell.part(part).system_limits, cell.part(part)
    speed = float(live.commanded_velocity[0])
    while speed:
        cell.step()
        ticks -= 1
        assert ticks > 0, "it is at rest in time"
        change = abs(float(live.commanded_velocity[0]) - speed)
        assert change <= limits.acceleration[0] * 1e-3 * (1 + 1e-9)
        assert abs(live.commanded_velocity[0]) < abs(speed)
        speed = float(live.commanded_velocity[0])
    held = float(live.commanded_position[0])
    cell.step(100)
    assert live.commanded_position[0] == live.position[0] == held


@pytest.mark.parametrize("end", ["stop", "close", "fail"])
def test_A7_where_the_default_or_safety_action_fails_the_loop_brings_the_part_to_rest(
    cell: LockstepCell, end: str
) -> None:
    session = cell.session("tool")
    # the tool's default and safety actions fail beyond 0.05 m
    session.add(Action("a", "probe", speed=0.15, fail_in=METHODS["control"] if end == "fail" else 0, fail_at=400))
    session.start("a")
    cell.step(399)
    assert cell.part("tool").position[0] > 0.05 and cell.active("tool") == "a"
    if end == "stop":
        session.stop("a")
    elif end == "close":
        session.close()
    tick = cell.step()
    assert cell.active("tool") == "none"
    assert [(e.tick, e.part) for e in cell.kinds("action_failed", session="")] == [(tick, "tool")]
    assert 0.0 < cell.part("tool").commanded_velocity[0] < 0.15, "it brakes in the same tick"
    brought_to_rest(cell, "tool", 500)
    assert (session.ended is None) == (end == "stop"), "a default action belongs to no session"


def test_A7_a_part_without_default_action_keeps_what_it_has(cell: LockstepCell) -> None:
    assert cell.active("io") == "none"
    cell.step(10)
    assert cell.active("io") == "none" and not cell.kinds("part_faulted", "action_failed")


# --- A8, A9, A10: the records --------------------------------------------------------------------


def test_A8_the_state_is_zeroed_as_a_whole_before_on_enter(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(Action("a", "probe", parts="left"), Action("b", "probe", parts="left"))
    for _ in range(3):
        session.start("a")
        cell.step(4)  # control leaves 77 in a field of the state
        assert session.value("a.left_over") == 0.0
        assert [session.value(f"a.{name}") for name in ("entries", "senses")] == [1.0, 4.0]
        session.start("b")
        cell.step()
    # also in memory that another action's state has used
    session.start("a")
    cell.step()
    session.remove("b")
    cell.step(3)
    session.add(*[Action(f"n{i}", "probe", parts="left") for i in range(4)])
    for i in range(4):
        session.start(f"n{i}")
        cell.step()
        assert session.value(f"n{i}.left_over") == 0.0


def test_A9_new_parameters_reach_an_active_action_in_one_tick(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe", speed=0.001, level=1.0))
    session.start("a")
    cell.step(3)
    assert (session.value("a.settings"), session.value("a.controls")) == (3.0, 3.0), "set_parameters runs in every tick"
    before = cell.part("left").commanded_position[0]
    tick = session.set("a", speed=0.003, level=2.0)
    assert cell.step() == tick
    assert session.value("a.level") == 2.0
    assert cell.part("left").commanded_position[0] - before == pytest.approx(3e-6), "control sees them in the same tick"
    assert [session.value(f"a.{name}") for name in ("entries", "settings")] == [1.0, 4.0], "it is not entered again"


def test_A9_all_of_them_or_none(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe", speed=0.001, level=1.0))
    session.start("a")
    cell.step()
    for bad in ({"level": 2.0, "sped": 1.0}, {"level": 3.0, "fail_in": 0.5}, {"level": math.nan}):
        with pytest.raises(DefinitionError):
            session.set("a", **bad)
    cell.step()
    assert session.value("a.level") == 1.0
    session.set("a", level=4.0)
    session.set("a", speed=0.002)  # before the tick: both
    cell.step()
    assert session.value("a.level") == 4.0
    assert cell.part("left").commanded_velocity[0] == pytest.approx(0.002)


def test_A9_an_inactive_action_takes_them_when_it_starts(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe", level=1.0))
    cell.step()
    session.set("a", level=5.0)
    cell.step(5)
    session.start("a")
    cell.step()
    assert session.value("a.level") == 5.0


@realtime
def _bend(params):
    params.speed = 2.0


class WritesParameters(ActionType):
    """Writes what it may only read."""

    name = "writes_parameters"
    slots = (Slot(name="part", kinds=(PartKind.BASE,)),)
    parameters = (Parameter(name="speed", default=0.0),)

    @staticmethod
    def control(state, params, part):
        params.speed = 1.0


class BendsParameters(WritesParameters):
    """The same in a function that it calls."""

    name = "bends_parameters"

    @staticmethod
    def control(state, params, part):
        _bend(params)


def test_A10_parameters_are_read_only_in_the_loop() -> None:
    with Builder() as builder:
        results = builder.build_many([WritesParameters, BendsParameters])
    for result, line in zip(results, ("params.speed = 1.0", "params.speed = 2.0"), strict=True):
        assert isinstance(result, CompileError)
        place, _, text = str(result).partition(": ")
        file, _, number = place.rpartition(":")
        assert line in Path(file).read_text().splitlines()[int(number) - 1], str(result)
        assert text.startswith("writes params.speed, which an action may only read")
