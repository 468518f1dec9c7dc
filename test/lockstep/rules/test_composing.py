"""Rules U1 to U3 of docs/semantics/composing.md: programs that use programs, reactions that start several actions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.server.programs.program_store import ProgramStore
from robot_rt_control.server.runs.runs import Run, plan_program
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError

NEAR = "rangefinder.distance < 0.3"

APPROACH = """\
name: approach
roles: {mover: {kinds: [base]}, side: {kinds: [base], default: left}}
parameters: {speed: {unit: m/s, default: 0.1, maximum: 0.5}, limit: {unit: s}}
start: [ready, watch]
actions:
  watch:
    type: probe
    parts: side
    reactions:
      - {when: elapsed > $limit, start: lost, keep_owner: true}
      - {when: arrived.is_done or lost.is_done, stop: true}
  ready: {type: probe, parts: mover, reactions: [{when: watch.senses > 2, start: go}]}
  go:
    type: probe
    parts: mover
    parameters: {speed: $speed}
    reactions:
      - {when: rangefinder.distance < 0.3, start: arrived, event: near, capture: [watch.senses], signal: watch.ping}
  arrived:
    type: probe
    parts: mover
    parameters: {duration: 0.003}
    final: true
    reactions: [{when: is_done, stop: true, event: arrived, capture: [watch.heard]}]
  lost:
    type: probe
    parts: mover
    parameters: {duration: 0.002}
    final: true
    reactions: [{when: is_done, stop: true, event: lost}]
"""
TOUR = """\
name: tour
roles: {base: {kinds: [base], default: right}}
parameters: {fast: {unit: m/s, default: 0.2}}
start: first
actions:
  first:
    use: approach
    parts: {mover: base}
    parameters: {limit: 0.05, speed: $fast}
    exits: {arrived: second, lost: end}
  second: {use: approach, parts: {mover: base}, parameters: {limit: 0.02}, exits: {arrived: end, lost: first}}
  end: {type: probe, parts: base, final: true, parameters: {duration: 0.001}}
"""


@pytest.fixture
def keep(cell: LockstepCell, tmp_path: Path) -> Callable[[str], int]:
    """Keeps a program by its name."""
    cell.server.programs = cell.server.core.programs = store = ProgramStore(tmp_path)
    cell.set_sensor("rangefinder/distance", 1.0)
    return store.save


def touring(cell: LockstepCell, text: str = TOUR, parts: tuple[str, ...] = ("left", "right")) -> Session:
    """A session in which the first program of the tour moves the base."""
    session = cell.session(*parts)
    session.upload(text)
    session.start("first__ready", "first__watch")
    cell.step_until(lambda: cell.active("right") == "first__go", at_most=10)
    return session


def story(cell: LockstepCell, tick: int) -> list[tuple[str, str]]:
    """What started and ended in a tick, in order."""
    events = cell.kinds("action_started", "action_stopped", tick=tick)
    return [("+" if e.kind == "action_started" else "-", e.current_action or e.previous_action) for e in events]


# --- U1: a program as a state --------------------------------------------------------------------------


def test_U1_an_exit_leads_on_in_its_tick_and_the_used_program_ends_as_a_whole(
    cell: LockstepCell, keep: Callable[[str], int]
) -> None:
    keep(APPROACH)
    session = touring(cell)
    assert session.value("first__watch.senses") >= 3 and cell.active("left") == "first__watch"
    cell.set_sensor("rangefinder/distance", 0.2)
    near = cell.step()
    assert cell.active("right") == "first__arrived"
    (event,) = cell.kinds("reaction_fired", tick=near)
    assert event.event == "near" and event.names == ("first__watch.senses",)
    assert session.value("first__watch.heard") == 1
    cell.set_sensor("rangefinder/distance", 1.0)
    # `arrived` senses for the third time two ticks later: its exit and the next program's start are in that tick.
    cell.step(2)
    left = near + 2
    assert story(cell, left) == [
        ("-", "first__arrived"), ("-", "first__watch"), ("+", "second__ready"), ("+", "second__watch"),
    ]  # fmt: skip
    exit, *_ = [e for e in cell.kinds("reaction_fired", tick=left) if e.event]
    assert (exit.event, exit.previous_action, exit.current_action) == ("arrived", "first__arrived", "second__ready")
    assert exit.values == (1.0,)
    assert [session.value(f"second__{action}.controls") for action in ("ready", "watch")] == [1.0, 1.0]
    assert cell.kinds("switch_dropped") == []


def test_U1_what_takes_a_part_from_a_used_program_ends_all_of_it(
    cell: LockstepCell, keep: Callable[[str], int]
) -> None:
    keep(APPROACH)
    near = "{when: rangefinder.distance < 0.1, start: end, keep_owner: true}"
    guard = f"actions:\n  guard: {{type: probe, parts: tool, reactions: [{near}]}}"
    text = TOUR.replace("start: first", "start: [first, guard]").replace("actions:", guard)
    session = touring(cell, text, ("left", "right", "tool"))
    session.start("guard")
    cell.set_sensor("rangefinder/distance", 0.05)
    cell.step_until(lambda: cell.active("right") == "end", at_most=4)
    assert cell.active("left") == "default" and cell.active("tool") == "guard", "the watch has ended with the rest"
    cell.set_sensor("rangefinder/distance", 1.0)
    session.start("first__ready", "first__watch")
    cell.step()
    assert (cell.active("right"), cell.active("left")) == ("first__ready", "first__watch")
    session.start("end")
    cell.step()
    assert (cell.active("right"), cell.active("left")) == ("end", "default"), "a command likewise"
    session.start("first__ready", "first__watch")
    cell.step()
    session.start("first__go")
    cell.step()
    assert (cell.active("right"), cell.active("left")) == ("first__go", "first__watch"), "within it, nothing else ends"


def test_U1_an_exit_may_lead_back_to_its_own_program(cell: LockstepCell, keep: Callable[[str], int]) -> None:
    keep(APPROACH)
    session = touring(cell, TOUR.replace("lost: end", "lost: first"))
    cell.step_until(lambda: cell.active("right") == "first__ready", at_most=80)
    assert story(cell, cell.tick) == [
        ("-", "first__lost"), ("-", "first__watch"), ("+", "first__ready"), ("+", "first__watch"),
    ]  # fmt: skip
    assert session.value("first__watch.senses") == 1.0


def test_U1_programs_within_programs_and_final_states_that_are_exits(
    cell: LockstepCell, keep: Callable[[str], int]
) -> None:
    keep(APPROACH)
    keep(TOUR)
    text = """\
start: outer
actions:
  outer: {use: tour, exits: {end: over}}
  over: {type: probe, parts: [right], parameters: {duration: 0.001}, final: true}
"""
    session = cell.session("left", "right")
    ids = session.upload(text)
    assert "outer__second__go" in ids and "outer__end" not in ids, "a final state without a reaction is only an exit"
    session.start("outer__first__ready", "outer__first__watch")
    cell.step_until(lambda: cell.active("right") == "over", at_most=80)
    assert story(cell, cell.tick)[:2] == [("-", "outer__first__lost"), ("-", "outer__first__watch")]
    assert cell.active("left") == "default"
    assert [e.event for e in cell.kinds("reaction_fired") if e.event] == ["lost"]


def test_U1_a_run_goes_through_all_of_them_and_its_state_names_them(
    cell: LockstepCell, keep: Callable[[str], int]
) -> None:
    keep(APPROACH)
    keep(TOUR)
    run = Run(cell.server, plan_program(cell.server, "tour", until_event="", timeout=0.0))
    result, seen = None, [""]
    while result is None and cell.tick < 300:
        cell.step()
        seen += [cell.active("right")] if cell.active("right") not in seen[-1:] else []
        result = run.update()
    run.close()
    assert result is not None and result.success and result.last_event == "lost"
    assert seen[-1] == "end" and "first__lost" in seen


# --- U2: no loop ---------------------------------------------------------------------------------------


def test_U2_a_program_that_uses_itself_is_refused_with_the_chain(
    cell: LockstepCell, keep: Callable[[str], int]
) -> None:
    session = cell.session("right")
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        keep(f"name: {name}\nstart: x\nactions:\n  x: {{use: {other}}}\n")
    with pytest.raises(DefinitionError) as error:
        session.upload("a")
    assert "program 'a' uses itself: a → b → c → a" in str(error.value)
    assert str(error.value).startswith("a@1.yaml:4: state 'x' uses 'b': b@1.yaml:4: state 'x' uses 'c': c@1.yaml:4: ")
    with pytest.raises(DefinitionError, match="program 'own' uses itself: own → own"):
        session.upload("name: own\nstart: x\nactions:\n  x: {use: own}\n")


def test_U2_depth_and_size_are_bounded(cell: LockstepCell, keep: Callable[[str], int]) -> None:
    session = cell.session("right")
    keep("name: p0\nstart: x\nactions:\n  x: {type: probe, parts: right}\n")
    for i in range(1, 10):
        keep(f"name: p{i}\nstart: x\nactions:\n  x: {{use: p{i - 1}}}\n")
    assert session.upload("p8") == ["__".join(9 * "x")]
    with pytest.raises(DefinitionError, match=r"too deeply; expected at most 8 within one another \(MAX_USE_DEPTH\)"):
        session.upload("p9")
    eight = "".join(f"  x{i}: {{use: q%d}}\n" for i in range(8))
    keep("name: q0\nstart: x\nactions:\n  x: {type: probe, parts: right}\n")
    for i in range(1, 5):
        keep(f"name: q{i}\nstart: x0\nactions:\n" + eight % ((i - 1,) * 8))
    with pytest.raises(DefinitionError) as error:
        session.upload("q4")
    too_many = "too many actions, those of used programs included; expected at most 1024 (MAX_ACTIONS); got 1536 so far"
    assert too_many in str(error.value)


# --- U3: a set of actions ------------------------------------------------------------------------------


def switching(cell: LockstepCell, *reactions: Reaction) -> Session:
    """A session in which `a` moves `left`, with these reactions."""
    session = cell.session("left", "right", "tool")
    cell.set_sensor("rangefinder/distance", 1.0)
    session.add(
        Action("a", "probe", parts="left", reactions=reactions),
        Action("b", "probe", parts="left"),
        Action("c", "probe", parts="right"),
        Action("d", "pair", parts={"one": "right", "two": "tool"}),
    )
    session.start("a")
    cell.step(2)
    cell.set_sensor("rangefinder/distance", 0.2)
    return session


def test_U3_a_reaction_starts_several_actions_in_its_tick(cell: LockstepCell) -> None:
    session = switching(cell, Reaction(NEAR, start=["b", "c"], event="both"))
    tick = cell.step()
    assert [cell.active(part) for part in ("left", "right", "tool")] == ["b", "c", "default"]
    assert [session.value(f"{action}.controls") for action in "bc"] == [1.0, 1.0]
    (event,) = cell.kinds("reaction_fired", tick=tick)
    assert (event.previous_action, event.current_action) == ("a", "b")
    assert story(cell, tick)[-2:] == [("+", "b"), ("+", "c")]


def test_U3_all_of_them_or_none(cell: LockstepCell) -> None:
    first = Reaction(NEAR, start="d", keep_owner=True, name="first")
    switching(cell, first, Reaction(NEAR, start=["b", "c"], name="both", event="e"))
    tick = cell.step()
    assert [cell.active(part) for part in ("left", "right", "tool")] == ["a", "d", "d"], "R6: `right` is claimed"
    (dropped,) = cell.kinds("switch_dropped", tick=tick)
    assert (dropped.reaction, dropped.current_action) == ("both", "b")


def test_U3_a_part_that_is_not_enabled_keeps_all_of_them_from_starting(cell: LockstepCell) -> None:
    switching(cell, Reaction(NEAR, start=["b", "c"]))
    cell.set_sensor("rangefinder/distance", 1.0)
    cell.server.set_motion(["right"], "disable")
    cell.step(2)
    cell.set_sensor("rangefinder/distance", 0.2)
    tick = cell.step()
    assert cell.active("left") == "a"
    assert [e.current_action for e in cell.kinds("switch_dropped", tick=tick)] == ["b"]


def test_U3_actions_that_share_a_part_are_refused(cell: LockstepCell) -> None:
    with pytest.raises((DefinitionError, ProgramError)) as error:
        switching(cell, Reaction(NEAR, start=["c", "d"]))
    assert "actions 'c' and 'd' cannot start together; expected actions that share no part; got both move right" in (
        str(error.value)
    )
