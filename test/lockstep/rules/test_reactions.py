"""Rules R1 to R13 of docs/semantics/reactions.md: reactions."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError

NEAR = "rangefinder.distance < 0.3"


def see(cell: LockstepCell, *distances: float) -> int:
    """One tick for each distance that the rangefinder measures. Returns the last one's number."""
    for distance in distances:
        cell.set_sensor("rangefinder/distance", distance)
        cell.step()
    return cell.tick


def ticks(cell: LockstepCell, event: str) -> list[int]:
    return [e.tick for e in cell.fired(event)]


def running(cell: LockstepCell, *reactions: Reaction, others: tuple[Action, ...] = ()) -> Session:
    """A session on left and right whose actions `a` (with these reactions) and `b` are on the left.

    `a`, and of the others the one called "other", are about to start.
    """
    session = cell.session("left", "right")
    session.add(
        Action("a", "probe", parts="left", speed=0.002, reactions=reactions),
        Action("b", "probe", parts="left", speed=-0.002),
        *others,
    )
    session.start("a", *[action for action in others if action.id == "other"])
    return session


OTHER = Action("other", "probe", parts="right")
ON_RIGHT = Action("on_right", "probe", parts="right")


# --- R1, R2: the edge ------------------------------------------------------------------------------


def test_R1_a_reaction_fires_on_true_after_false(cell: LockstepCell) -> None:
    running(cell, Reaction(NEAR, event="near"))
    first = see(cell, 0.5, 0.2)
    assert ticks(cell, "near") == [first]
    see(cell, 0.2, 0.1, 0.2)
    assert ticks(cell, "near") == [first], "it holds on: no new edge"
    last = see(cell, 0.5, 0.29)
    assert ticks(cell, "near") == [first, last]


def test_R1_a_reaction_fires_at_once_where_its_condition_holds_as_it_becomes_active(cell: LockstepCell) -> None:
    see(cell, 0.1)
    session = running(cell, Reaction(NEAR, event="near"))
    first = cell.step()
    session.add(reactions=[Reaction(NEAR, event="free")])
    second = cell.step()
    assert (ticks(cell, "near"), ticks(cell, "free")) == ([first], [second])
    session.start("b")
    cell.step()
    session.start("a")  # a new activation has a new memory
    third = cell.step()
    assert (ticks(cell, "near"), ticks(cell, "free")) == ([first, third], [second])


@pytest.mark.parametrize(
    ("values", "fires"),
    [
        ((0.5, math.nan, 0.1), [2]),  # false, unknown, true
        ((0.1, math.nan, 0.1), [0]),  # true, unknown, true: no edge
        ((math.nan, 0.1, math.nan, math.nan, 0.5, math.nan, 0.1), [1, 6]),
        ((math.nan, math.nan), []),
        ((0.1, math.nan, 0.5, math.nan, 0.1), [0, 4]),
    ],
)
def test_R2_unknown_neither_fires_nor_changes_the_memory(
    cell: LockstepCell, values: tuple[float, ...], fires: list[int]
) -> None:
    running(cell, Reaction(NEAR, event="near"))
    first = cell.tick + 1
    see(cell, *values)
    assert ticks(cell, "near") == [first + i for i in fires]


# --- R3, R4, R5: what is judged, on what, in which order ---------------------------------------------


def test_R3_reactions_of_inactive_actions_are_not_judged(cell: LockstepCell) -> None:
    session = running(cell)
    reactions = [Reaction("true", event="c"), Reaction(NEAR, event="near")]
    session.add(Action("c", "probe", parts="left", reactions=reactions))
    see(cell, 0.5, 0.2, 0.5)
    assert ticks(cell, "c") == ticks(cell, "near") == []
    # not even looked at: what the loop remembers of reactions is untouched
    memory = cell.executor.world.memory.reactions_runtime
    slots = [r.runtime_slot for r in cell.server.contents(cell.server.session(session.id)).actions["c"].reactions]
    assert len(slots) == 2 and not memory[slots]["identity"].any()
    session.start("c")
    tick = see(cell, 0.5)
    assert (ticks(cell, "c"), ticks(cell, "near")) == ([tick], [])
    assert memory[slots]["identity"].all()


def test_R4_all_conditions_see_the_state_before_any_response(cell: LockstepCell) -> None:
    session = running(cell, Reaction(NEAR, start="b", event="switch"))
    session.add(
        Action("watcher", "probe", parts="right", reactions=[
            Reaction(f"{NEAR} and a.senses > 0", event="a_is_known", capture=["a.senses"]),
            Reaction("is_unknown(a.senses)", event="a_is_gone"),
            Reaction("b.senses > 0", event="b_is_there"),
        ]),
    )  # fmt: skip
    session.start("watcher")
    tick = see(cell, 0.5, 0.5, 0.2)
    assert cell.active("left") == "b"
    assert [(e.tick, e.values) for e in cell.fired("a_is_known")] == [(tick, (3.0,))], "though a ended in this tick"
    assert ticks(cell, "a_is_gone") == ticks(cell, "b_is_there") == []
    cell.step()
    assert ticks(cell, "a_is_gone") == ticks(cell, "b_is_there") == [tick + 1]


def test_R5_firings_come_free_standing_first_then_sessions_by_age_then_as_defined(cell: LockstepCell) -> None:
    old, young = cell.session("left", "tool"), cell.session("right")
    young.add(Action("y", "probe", reactions=[Reaction(NEAR, event="y_action_1"), Reaction(NEAR, event="y_action_2")]))
    young.add(reactions=[Reaction(NEAR, event="y_free")])
    old.add(
        Action("one", "probe", parts="tool", reactions=[Reaction(NEAR, event="o_one")]),
        Action("two", "probe", parts="left", reactions=[Reaction(NEAR, event="o_two")]),
    )
    old.add(reactions=[Reaction(NEAR, event="o_free_1"), Reaction(NEAR, event="o_free_2")])
    see(cell, 0.5)
    for session, action in ((young, "y"), (old, "two"), (old, "one")):  # the order of starts does not matter
        session.start(action)
        cell.step()
    tick = see(cell, 0.2)
    fired = cell.kinds("reaction_fired")
    assert {e.tick for e in fired} == {tick}
    order = ["o_free_1", "o_free_2", "y_free", "o_one", "o_two", "y_action_1", "y_action_2"]
    assert [e.event for e in fired] == order


def test_R5_of_two_switches_of_one_part_the_first_in_that_order_wins(cell: LockstepCell) -> None:
    session = running(cell, Reaction(NEAR, start="b", name="mine"))
    session.add(Action("c", "probe", parts="left"), reactions=[Reaction(NEAR, start="c", name="free")])
    see(cell, 0.5, 0.2)
    assert cell.active("left") == "c"
    assert [e.reaction for e in cell.kinds("switch_dropped")] == ["mine"]


# --- R6: claims -----------------------------------------------------------------------------------


def test_R6_a_later_switch_of_a_claimed_part_is_dropped_but_its_signal_and_event_happen(cell: LockstepCell) -> None:
    first = Reaction(NEAR, start="b", name="first")
    second = Reaction(NEAR, start="c", name="second", signal="other.ping", event="second_event")
    session = running(cell, first, second, others=(Action("c", "probe", parts="left"), OTHER))
    tick = see(cell, 0.5, 0.5, 0.2)
    assert cell.active("left") == "b"
    (dropped,) = cell.kinds("switch_dropped")
    assert (dropped.tick, dropped.reaction, dropped.current_action) == (tick, "second", "c")
    assert dropped.reason == "two actions use the same part"
    assert ticks(cell, "second_event") == [tick]
    assert session.value("other.heard") == 1.0
    # the edge is consumed: it does not come up for the switch that was dropped
    session.start("a")
    cell.events.clear()
    see(cell, 0.5, 0.5)
    assert cell.active("left") == "a" and not cell.kinds("switch_dropped", "action_started", event="second_event")


def test_R6_the_edge_of_a_dropped_switch_is_consumed(cell: LockstepCell) -> None:
    session = running(cell)
    session.add(
        Action("c", "probe", parts="left"),
        reactions=[Reaction(NEAR, start="b", name="wins", fire_once=True), Reaction(NEAR, start="c", name="loses")],
    )
    see(cell, 0.5, 0.2, 0.2, 0.2)
    assert cell.active("left") == "b"
    tick = see(cell, 0.5, 0.2)
    assert [e.reaction for e in cell.kinds("switch_dropped")] == ["loses"]
    assert [(e.tick, e.reaction) for e in cell.kinds("reaction_fired")][-1] == (tick, "loses")
    assert cell.active("left") == "c", "a new edge, and nobody was first"


def test_R6_the_parts_of_a_displaced_action_are_claimed(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(
        Action("both", "pair", parts={"one": "left", "two": "right"}),
        Action("on_left", "probe", parts="left"),
        Action("on_right", "probe", parts="right"),
        reactions=[Reaction(NEAR, start="on_left", name="first"), Reaction(NEAR, start="on_right", name="second")],
    )
    session.start("both")
    see(cell, 0.5, 0.2)
    assert (cell.active("left"), cell.active("right")) == ("on_left", "default")
    assert [e.reaction for e in cell.kinds("switch_dropped")] == ["second"]


@pytest.mark.parametrize("keep", [False, True])
def test_R6_the_owners_parts_are_claimed_unless_it_is_kept(cell: LockstepCell, keep: bool) -> None:
    first = Reaction(NEAR, start="on_right", keep_owner=keep, name="first")
    second = Reaction(NEAR, start="b", name="second")
    running(cell, first, second, others=(ON_RIGHT,))
    see(cell, 0.5, 0.2)
    assert cell.active("right") == "on_right"
    assert cell.active("left") == ("b" if keep else "default")
    assert [e.reaction for e in cell.kinds("switch_dropped")] == ([] if keep else ["second"])


def test_R6_an_action_that_was_displaced_in_this_tick_starts_nothing(cell: LockstepCell) -> None:
    session = running(cell, Reaction(NEAR, start="on_right", name="of_a"), others=(ON_RIGHT,))
    session.add(reactions=[Reaction(NEAR, start="b", name="free")])
    see(cell, 0.5, 0.2)
    assert (cell.active("left"), cell.active("right")) == ("b", "default")
    assert [e.reaction for e in cell.kinds("switch_dropped")] == ["of_a"]


def test_R6_switches_of_other_parts_go_through(cell: LockstepCell) -> None:
    one, two = cell.session("left"), cell.session("right")
    one.add(Action("a", "probe", reactions=[Reaction(NEAR, start="b")]), Action("b", "probe"))
    one.start("a")
    two.add(Action("a", "probe", reactions=[Reaction(NEAR, start="c")]), Action("c", "probe"))
    two.start("a")
    see(cell, 0.5, 0.2)
    assert (cell.active("left"), cell.active("right")) == ("b", "c")
    assert not cell.kinds("switch_dropped") and one.ended is two.ended is None


# --- R7, R8: the tick of the switch -----------------------------------------------------------------


def test_R7_the_target_enters_senses_and_controls_in_the_tick_of_the_firing(cell: LockstepCell) -> None:
    session = running(cell, Reaction(NEAR, start="b", event="near"))
    tick = see(cell, 0.5, 0.5, 0.2)
    assert ticks(cell, "near") == [tick]
    counts = [session.value(f"b.{name}") for name in ("entries", "senses", "settings", "controls")]
    assert counts == [1.0, 1.0, 1.0, 1.0]
    # two commands of a, then one of b
    assert cell.written("left")["left/x/position"] == pytest.approx((2 - 1) * 2e-6)


def test_R7_the_old_actions_control_is_not_called_any_more(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(
        # it would fail in its third call of control: in the tick of the firing
        Action("a", "probe", fail_in=4, fail_at=3, reactions=[Reaction(NEAR, start="b")]),
        Action("b", "probe"),
    )
    session.start("a")
    see(cell, 0.5, 0.5, 0.2)
    assert cell.active("left") == "b" and not cell.kinds("action_failed")


def test_R8_reactions_of_an_action_started_by_a_reaction_are_judged_from_the_next_tick(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(
        Action("a", "probe", reactions=[Reaction(NEAR, start="b")]),
        Action("b", "probe", reactions=[Reaction("true", start="c")]),
        Action("c", "probe", reactions=[Reaction("true", start="d")]),
        Action("d", "probe"),
    )
    session.start("a")
    tick = see(cell, 0.5, 0.2)
    cell.step(2)
    started = {e.current_action: e.tick for e in cell.kinds("action_started")}
    assert started == {"a": tick - 1, "b": tick, "c": tick + 1, "d": tick + 2}


def test_R8_those_of_an_action_started_by_a_command_are_judged_in_the_same_tick(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe", reactions=[Reaction("true", start="b")]), Action("b", "probe"))
    session.start("a")
    tick = cell.step()
    assert {e.current_action: e.tick for e in cell.kinds("action_started")} == {"a": tick, "b": tick}
    assert session.value("b.controls") == 1.0


# --- R9 to R13: responses ---------------------------------------------------------------------------


def test_R9_one_reaction_starts_signals_and_emits(cell: LockstepCell) -> None:
    session = running(cell, Reaction(NEAR, start="b", signal="b.ping", event="near"))
    tick = see(cell, 0.5, 0.2)
    assert ticks(cell, "near") == [tick] and cell.active("left") == "b"
    assert session.value("b.heard") == 1.0, "the signal reaches the action that it has just started"


def test_R9_one_reaction_stops_signals_and_emits(cell: LockstepCell) -> None:
    stop = Reaction(NEAR, stop=True, signal="other.ping", event="near")
    session = running(cell, stop, others=(OTHER,))
    tick = see(cell, 0.5, 0.2)
    assert ticks(cell, "near") == [tick]
    assert (cell.active("left"), cell.active("right"), session.value("other.heard")) == ("default", "other", 1.0)


def test_R9_responses_that_exclude_each_other_are_refused(cell: LockstepCell) -> None:
    for reaction, text in (
        (Reaction(NEAR, start="b", stop=True), "starts and stops"),
        (Reaction(NEAR), "has no response"),
        (Reaction(NEAR, event="e", keep_owner=True), "keeps its owner"),
    ):
        with pytest.raises(DefinitionError, match=text):
            cell.session("left", name=text).add(Action("a", "probe", reactions=[reaction]))
        cell.server.close_session(cell.server.sessions()[0].id)


def test_R10_fire_once_counts_for_each_activation(cell: LockstepCell) -> None:
    session = running(cell, Reaction(NEAR, event="once", fire_once=True), Reaction(NEAR, event="often"))
    see(cell, 0.5, 0.2, 0.5, 0.2, 0.5, 0.2)
    assert (len(ticks(cell, "once")), len(ticks(cell, "often"))) == (1, 3)
    session.start("a")  # entered again
    see(cell, 0.5, 0.2, 0.5, 0.2)
    assert (len(ticks(cell, "once")), len(ticks(cell, "often"))) == (2, 5)


def test_R10_a_free_standing_one_fires_once_in_its_life(cell: LockstepCell) -> None:
    session = running(cell)
    session.add(reactions=[Reaction(NEAR, event="once", fire_once=True)])
    see(cell, 0.5, 0.2, 0.5, 0.2)
    session.start("b")
    session.add(Action("c", "probe", parts="left"))  # new tables
    see(cell, 0.5, 0.2)
    session.start("c")
    see(cell, 0.5, 0.2)
    assert len(ticks(cell, "once")) == 1


def test_R11_a_kept_owner_goes_on_beside_the_started_action(cell: LockstepCell) -> None:
    session = running(cell, Reaction(NEAR, start="on_right", keep_owner=True), others=(ON_RIGHT,))
    see(cell, 0.5, 0.2, 0.2)
    assert (cell.active("left"), cell.active("right")) == ("a", "on_right")
    assert session.value("a.controls") == 3.0 and not cell.kinds("action_stopped", previous_action="a")


def test_R11_the_started_action_must_use_other_parts(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    both = Action("both", "pair", parts={"one": "right", "two": "left"})
    owner = Action("a", "probe", parts="left", reactions=[Reaction(NEAR, start="both", keep_owner=True, name="r")])
    with pytest.raises(DefinitionError, match="keeps its owner"):
        session.add(owner, both)


def test_R12_every_firing_is_told_with_what_its_condition_saw(cell: LockstepCell) -> None:
    session = cell.session("left", "right", name="mine")
    captures = ["rangefinder.distance", "elapsed", "b.elapsed", "time"]
    look_reaction = Reaction(NEAR, start="b", event="near", name="look", capture=captures)
    session.add(
        Action("a", "probe", parts="left", reactions=[look_reaction]),
        Action("b", "probe", parts="left", reactions=[Reaction("elapsed > 0.0015", signal="ping", name="self")]),
        reactions=[
            Reaction("b.senses == 3", start="a", name="free"),
            Reaction("b.senses == 3", stop=True, name="stop"),
        ],
    )
    session.start("a")
    tick = see(cell, 0.5, 0.25)
    cell.step(2)
    events = {e.reaction: e for e in cell.kinds("reaction_fired")}
    assert len(events) == len(cell.kinds("reaction_fired")) == 4
    look = events["look"]
    assert (look.session, look.event, look.tick, look.time_ns) == (session.id, "near", tick, tick * 1_000_000)
    assert (look.previous_action, look.current_action) == ("a", "b")
    assert look.names == tuple(captures)
    assert look.values[:2] == (0.25, 0.002) and math.isnan(look.values[2])
    assert look.values[3] == pytest.approx(tick * 1e-3)
    own = events["self"]
    assert (own.tick, own.event, own.previous_action, own.current_action) == (tick + 1, "", "b", "b")
    free = events["free"]
    assert (free.tick, free.previous_action, free.current_action) == (tick + 2, "b", "a")
    assert (events["stop"].previous_action, events["stop"].current_action) == ("", "")


def test_R13_stop_ends_the_owner(cell: LockstepCell) -> None:
    session = running(cell, Reaction(NEAR, stop=True), others=(OTHER,))
    tick = see(cell, 0.5, 0.2)
    assert (cell.active("left"), cell.active("right")) == ("default", "other")
    assert [(e.tick, e.reason) for e in cell.kinds("action_stopped", previous_action="a")] == [
        (tick, "ended by a reaction")
    ]
    assert session.ended is None, "the session goes on"


def test_R13_a_free_standing_stop_ends_all_actions_of_its_session(cell: LockstepCell) -> None:
    session = running(cell, others=(OTHER,))
    session.add(reactions=[Reaction(NEAR, stop=True)])
    other = cell.session("tool")
    other.add(Action("o", "probe"))
    other.start("o")
    tick = see(cell, 0.5, 0.2)
    assert [cell.active(part) for part in ("left", "right", "tool")] == ["default", "default", "o"]
    assert {(e.previous_action, e.tick) for e in session.events if e.kind == "action_stopped" and e.session} == {
        ("a", tick),
        ("other", tick),
    }
    session.start("a")
    see(cell, 0.5)
    assert cell.active("left") == "a", "the session goes on"
