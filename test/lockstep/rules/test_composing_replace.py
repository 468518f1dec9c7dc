"""Rule U4 of docs/semantics/composing.md: actions get new definitions under their ids, and some start in that tick."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Reaction, Strategy
from robot_rt_control.client.event import Event
from robot_rt_control.client.session import Session
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.programs.program_store import ProgramStore
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import StopCause
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError, ProgramError, SessionError

NEAR = "rangefinder.distance < 0.3"
ON_ENTER = 1

Make = Callable[[], LockstepCell]


@pytest.fixture
def make(workcell: Workcell) -> Iterator[Make]:
    """Makes cells that are alike."""
    cells: list[LockstepCell] = []

    def one() -> LockstepCell:
        cells.append(LockstepCell(workcell))
        return cells[-1]

    yield one
    for cell in cells:
        cell.close()


def commands(cell: LockstepCell, ticks: int, part: str = "left") -> np.ndarray:
    """Commanded positions and velocities [., .] of the two joints in the next ticks, shape (ticks, 2, 2)."""
    rows = []
    for _ in range(ticks):
        cell.step()
        record = cell.part(part)
        rows.append([record.commanded_position[:2].copy(), record.commanded_velocity[:2].copy()])
    return np.array(rows)


def moving(cell: LockstepCell, *more: Action, **of_go: Any) -> Session:
    """A session whose action `go` accelerates `left`, and `watch` is active on `right`."""
    session = cell.session("left", "right")
    go = {"velocity": [0.5, 0.5], **of_go}
    session.add(Action("go", "velocity_move", parts="left", **go), Action("watch", "probe", parts="right"), *more)
    session.start("go", "watch")
    cell.step(120)
    return session


BACK = [-0.3, 0.9]


@pytest.mark.parametrize("start", ["go", (), ["go", "watch"]])
def test_U4_the_new_definition_moves_on_as_if_another_action_had_been_started(make: Make, start: Any) -> None:
    """Bit-identical to a start of an action that existed before: so T5 holds, without jump and standstill."""
    cell, twin = make(), make()
    session = moving(cell)
    before = cell.part("left").commanded_velocity[:2].copy()
    assert 0.1 < before[0] < 0.45, "it speeds up"
    reference = moving(twin, Action("back", "velocity_move", parts="left", velocity=BACK))
    asked = session.replace(Action("go", "velocity_move", parts="left", velocity=BACK), start=start)
    reference.start("back", *(["watch"] if "watch" in start else []))
    got, expected = commands(cell, 400), commands(twin, 400)
    assert got.tobytes() == expected.tobytes()
    (ended,) = cell.kinds("action_stopped", tick=asked, previous_action="go")
    assert (ended.reason, ended.cause) == ("the action was replaced", StopCause.REPLACED)
    assert [e.tick for e in cell.kinds("action_started", current_action="go")][1:] == [asked]
    limits = cell.workcell.part("left").system_limits
    steps = np.abs(np.diff(np.vstack([before, got[:, 1]]), axis=0))
    assert (steps <= np.array(limits.acceleration[:2]) * 1e-3 * 1.0001).all(), "no jump, also not in this tick"
    assert got[-1, 1] == pytest.approx(BACK)


def test_U4_what_is_not_replaced_goes_on_with_its_memory_and_means_the_new_definition(cell: LockstepCell) -> None:
    session = cell.session("left", "right", "tool")
    watch = [
        Reaction("a.level > 5", event="high", capture=["a.level", "a.elapsed"]),
        Reaction("senses >= 2", event="once"),
        Reaction(NEAR, start="a", keep_owner=True, name="near"),
    ]
    high = Reaction("a.level > 5 and a.senses > 1", event="free", signal="a.ping")
    hold = Strategy("keep", "gauge", when="a.senses > 2", inputs={"seen": "left.position[0]"})
    session.add(
        Action("a", "probe", parts="left", level=1.0),
        Action("other", "probe", parts="left"),
        Action("watch", "probe", parts="right", reactions=watch),
        Action("sway", "hold", parts="tool", strategies={"finger": [hold, Strategy("rest", "hold")]}),
        reactions=[high],
    )
    session.start("a", "watch", "sway")
    cell.step(4)
    assert session.value("sway.finger.strategy") == 0.0 and len(cell.fired("once")) == 1
    tick = session.replace(Action("a", "probe", parts="left", level=7.0))
    cell.step()
    assert not cell.fired("high"), "R4: the level is known after the first control"
    cell.step(3)
    (fired,) = cell.fired("high")
    assert fired.tick == tick + 1 and fired.values == pytest.approx((7.0, 0.002))
    assert [e.tick for e in cell.fired("free")] == [tick + 1] and session.value("a.heard") == 1.0
    assert session.value("watch.senses") == 8.0 and len(cell.fired("once")) == 1, "its reactions remember"
    assert session.value("sway.finger.strategy") == 0.0
    session.start("other")
    cell.step()
    cell.set_sensor("rangefinder/distance", 0.1)
    switched = cell.step()
    assert cell.active("left") == "a" and session.value("a.level") == 7.0
    assert [e.reaction for e in cell.kinds("reaction_fired", tick=switched)][0] == "near"
    assert list(cell.server.contents(cell.server.session(session.id)).actions) == ["a", "other", "watch", "sway"]


def test_U4_another_type_other_parts_and_new_ids(cell: LockstepCell) -> None:
    session = cell.session("left", "right", "tool")
    session.add(
        Action("a", "probe", parts="left", speed=0.1),
        Action("b", "probe", parts="right"),
        Action("c", "probe", parts="tool", reactions=[Reaction("a.is_done", start="a", keep_owner=True)]),
    )
    session.start("a", "b", "c")
    cell.step(3)
    tick = session.replace(
        [
            Action("a", "pair", parts={"one": "left", "two": "right"}, duration=0.003),
            Action("b", "hold", parts="right"),
            Action("new", "probe", parts="tool", reactions=[Reaction("a.is_done", event="done")]),
        ],
        start=["a", "new"],
    )
    cell.step()
    assert [cell.active(part) for part in ("left", "right", "tool")] == ["a", "a", "new"]
    stopped = {e.previous_action: e.reason for e in cell.kinds("action_stopped", tick=tick)}
    replaced = "the action was replaced"
    assert stopped == {"a": replaced, "b": replaced, "c": "another action took a part"}
    assert cell.kinds("action_started", part="left, right")[0].tick == tick
    cell.step(3)
    assert len(cell.fired("done")) == 1
    # An active one that is replaced and does not start ends as one that is removed (S7).
    tick = session.replace(Action("new", "hold", parts="tool"), start="b")
    cell.step()
    assert [cell.active(part) for part in ("left", "right", "tool")] == ["default", "b", "default"]
    reasons = {e.previous_action: e.reason for e in cell.kinds("action_stopped", tick=tick)}
    assert reasons["new"] == "the action was replaced"
    assert session.ended is None


def test_U4_a_start_that_is_refused_changes_nothing(make: Make) -> None:
    cell, twin = make(), make()
    on_near = Action("near", "probe", parts="right", reactions=[Reaction(NEAR, start="go", keep_owner=True)])
    session, _ = moving(cell, on_near), moving(twin, on_near)
    expected = commands(twin, 100)
    session.set("go", velocity=[0.5, 0.5])
    bad = Action("go", "probe", parts="left", fail_in=ON_ENTER)
    tick = session.replace([bad, Action("more", "probe", parts="right")], start=["more", "go"])
    with pytest.raises(CommandRefused, match="definitions cannot change.*Let the loop step first"):
        session.add(Action("late", "hold", parts="left"))
    assert session.set("go", level=1.0) == tick, "it is the new one as long as nobody knows better"
    got = commands(cell, 100)
    assert got.tobytes() == expected.tobytes()
    (event,) = cell.kinds("replace_refused")
    assert (event.tick, event.session, event.current_action) == (tick, session.id, "go")
    why = "action 'go' cannot start from the present state: status 7 of the action's own code"
    assert event.reason.startswith(why) and "entries 1" in event.reason
    assert session.ended is None and session.active == ("go", "watch")
    with pytest.raises(DefinitionError, match="unknown action"):
        session.start("more")
    # What was before is there, with its types and parameters: it can be changed, started and replaced.
    session.set("go", velocity=[0.1, 0.1])
    session.start("near", "go")
    cell.step(300)
    assert cell.part("left").commanded_velocity[0] == pytest.approx(0.1)
    session.replace([Action("more", "probe", parts="right")], start=["more"])
    cell.step()
    assert session.active == ("go", "more")
    session.add(Action("late", "hold", parts="left"))
    cell.step()
    store = cell.store
    used = store.parameters.used, store.state.used, store.action_slots.in_use, store.reaction_slots.in_use
    for _ in range(5):
        session.replace(bad, start="go")
        cell.step()
        session.add(reactions=[Reaction("time < 0", event="never", name="gone")])
        session.remove(reactions=["gone"])
        cell.step()
    assert (store.parameters.used, store.state.used, store.action_slots.in_use, store.reaction_slots.in_use) == used


def test_U4_if_the_loop_answers_at_once_a_refusal_is_raised(workcell: Workcell) -> None:
    with LockstepCell(workcell, gated=False) as cell:
        session = moving(cell)
        bad = Action("go", "probe", parts="left", fail_in=ON_ENTER)
        for start in ("go", ()):
            with pytest.raises(CommandRefused) as refused:
                session.replace(bad, start=start)
            assert str(refused.value) == (
                "start of 'go' was refused: action 'go' cannot start from the present state; "
                "got status 7 of the action's own code (entries 1). "
                "Nothing has changed: look at what its on_enter needs"
            )
        assert session.active == ("go", "watch")
        cell.server.protective_stop(True, "test")
        with pytest.raises(CommandRefused, match="start of 'go' was refused: a protective stop holds all parts"):
            session.replace(Action("go", "hold", parts="left"), start="go")
        assert session.replace(Action("go", "hold", parts="left")) == cell.tick, "nothing is active, nothing starts"
        cell.server.protective_stop(False)
        session.resume()
        cell.server.set_motion(["left"], "disable", secret=session.secret)
        with pytest.raises(CommandRefused, match="part 'left' is disabled"):
            session.replace(Action("go", "probe", parts="left"), start="go")
        session.start("watch")
        tick = session.replace(Action("watch", "hold", parts="right"))
        assert tick == cell.kinds("action_started")[-1].tick == cell.tick
        assert cell.active("right") == "watch"


def test_U4_what_cannot_be_prepared_changes_nothing(make: Make) -> None:
    cell, twin = make(), make()
    keeps = Strategy("keep", "gauge", when="other.senses > 2", inputs={"seen": "left.position[0]"})
    more = (
        Action("other", "probe", parts="left", reactions=[Reaction(NEAR, start="go")]),
        Action("near", "probe", parts="right", reactions=[Reaction("other.senses > 5", signal="other.ping")]),
        Action("sway", "hold", parts="right", strategies={"y": [keeps, Strategy("rest", "hold")]}),
    )
    session, _ = moving(cell, *more), moving(twin, *more)
    hold = Action("other", "hold", parts="left")
    for new, error, text in (
        (Action("go", "velocity_move", parts="left", velocity=[9.0, 0.0]), DefinitionError, "action 'go'"),
        (Action("go", "velocty_move", parts="left"), DefinitionError, "unknown action type"),
        (Action("go", "hold", parts="tool"), DefinitionError, "a part that the session does not hold"),
        (hold, ProgramError, "raises a signal that action 'other' (type 'hold') does not have"),
        (hold, ProgramError, "condition of a reaction of action 'near', column 1: there is no such state variable"),
        (hold, ProgramError, "condition of action 'sway': strategy 'keep' of 'y'"),
    ):
        with pytest.raises(error) as refused:
            session.replace(new, start="go")
        assert text in str(refused.value), str(refused.value)
    with pytest.raises(DefinitionError, match="nothing to replace; expected at least one action; got none"):
        session.replace([])
    with pytest.raises(DefinitionError, match="starts an action that is not defined.*got 'gone'"):
        session.replace(Action("go", "hold", parts="left"), start="gone")
    session.remove("near", "sway")
    twin_session = twin.server.sessions()[0]
    twin.server.remove(twin_session.id, ["near", "sway"])
    with pytest.raises(DefinitionError, match="action 'near' existed before and was removed"):
        session.replace(Action("near", "hold", parts="right"))
    assert commands(cell, 100).tobytes() == commands(twin, 100).tobytes()
    assert [e.kind for e in cell.events] == [e.kind for e in twin.events]


def test_U4_a_reaction_that_is_kept_must_fit_the_parts_of_the_new_definition(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    beside = Reaction(NEAR, start="a", keep_owner=True)
    session.add(Action("a", "probe", parts="left"), Action("b", "probe", parts="right", reactions=[beside]))
    with pytest.raises(DefinitionError, match="keeps its owner, but starts an action that takes a part from it"):
        session.replace(Action("a", "pair", parts={"one": "left", "two": "right"}))


def test_U4_commands_to_the_old_definition_are_refused_from_that_tick_on(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe"), Action("b", "probe"))
    cell.step()
    session.start("b", at_tick=cell.tick + 5)
    cell.step()
    tick = session.replace([Action("a", "probe", level=3.0), Action("b", "probe", level=4.0)], start="a")
    session.start("b")  # of the new one, after the exchange (S15)
    cell.step()
    assert session.active == ("b",) and session.value("b.level") == 4.0
    assert [e.current_action for e in cell.kinds("action_started", tick=tick)] == ["a", "b"]
    cell.step(5)
    (refused,) = cell.kinds("command_refused")
    assert refused.reason == "the action does not exist any more" and session.value("b.entries") == 1.0
    assert session.value("b.senses") == 6.0


def test_U4_callbacks_belong_to_their_definition(cell: LockstepCell) -> None:
    session = cell.session("left")
    calls: list[tuple[str, int]] = []

    def into(name: str) -> Callable[[Event], None]:
        return lambda event: calls.append((name, event.tick))

    def action(name: str) -> Action:
        reaction = Reaction("senses == 2", event="two", name="two", call=into(name))
        return Action("a", "probe", reactions=[reaction])

    session.add(action("old"), Action("b", "probe"))
    session.start("a")
    first = cell.step(2)
    tick = session.replace(action("new"))
    cell.step(2)
    refused = action("refused")
    session.replace([refused, Action("b", "probe", fail_in=ON_ENTER)], start="b")
    cell.step()
    session.start("a")
    last = cell.step(3)
    assert calls == [("old", first), ("new", tick + 1), ("new", last - 1)]


def test_U4_streams_end_with_the_definition(tmp_path: Path) -> None:
    with LockstepCell(Path(__file__).parent / "streams.yaml") as cell:
        session = cell.session("left")
        session.add(Action("a", "listener", parts="left"))
        session.start("a")
        cell.step()
        stream = session.stream("a", "goal")
        token = cell.server.open_stream(session.id, "a", "goal").token
        stream.write([1.0, 2.0])
        cell.step()
        assert session.value("a.first") == 1.0
        session.replace(Action("a", "listener", parts="left"))
        cell.step()
        with pytest.raises(SessionError, match="closed: its action 'a' was replaced. Open it again"):
            stream.write([3.0, 4.0])
        with pytest.raises(SessionError, match="or the action was replaced; .*got another one. Open"):
            cell.server.write_stream(session.id, "a", "goal", [3.0, 4.0], token=token)
        cell.step()
        assert session.value("a.goal_valid") == 0.0, "no sample of the old one has reached it"
        session.stream("a", "goal").write([5.0, 6.0])
        cell.step()
        assert session.value("a.first") == 5.0


PROGRAM = """\
name: approach
start: [go, watch]
actions:
  watch: {type: probe, parts: left, reactions: [{when: arrived.is_done, stop: true}]}
  go:
    type: probe
    parts: right
    parameters: {speed: 0.1}
    reactions: [{when: rangefinder.distance < 0.3, start: arrived, event: near}]
  arrived:
    {type: probe, parts: right, parameters: {duration: 0.002}, final: true,
     reactions: [{when: is_done, stop: true, event: arrived}]}
"""
TOUR = """\
name: tour
start: first
actions:
  first: {use: approach, exits: {arrived: end}}
  end: {type: hold, parts: right, final: true}
"""


def test_U4_an_action_of_a_used_program_stays_within_it(cell: LockstepCell, tmp_path: Path) -> None:
    cell.server.programs = cell.server.core.programs = store = ProgramStore(tmp_path)
    store.save(PROGRAM)
    cell.set_sensor("rangefinder/distance", 1.0)
    session = cell.session("left", "right")
    session.upload(TOUR)
    session.start("first__go", "first__watch")
    cell.step(3)
    reactions = [Reaction("senses == 4", start="first__arrived")]
    session.replace(Action("first__go", "probe", parts="right", speed=0.2, reactions=reactions))
    cell.step(4)
    assert (cell.active("right"), cell.active("left")) == ("first__arrived", "first__watch"), "no exit"
    cell.step(3)
    assert (cell.active("right"), cell.active("left")) == ("end", "default"), "it has left as a whole"


def test_U4_it_is_for_the_session_alone(cell: LockstepCell) -> None:
    session, other = cell.session("left"), cell.session("right")
    session.add(Action("a", "probe"))
    other.add(Action("a", "probe", reactions=[Reaction("senses == 4", event="four")]))
    session.start("a")
    other.start("a")
    cell.step(2)
    session.replace(Action("a", "probe", level=1.0))
    cell.step(5)
    assert (session.value("a.senses"), other.value("a.senses")) == (5.0, 7.0)
    assert [e.session for e in cell.fired("four")] == [other.id]
    level = ParameterValue(name="level", value=2.0)
    new = [ActionDefinition(id="a", type="probe", parts=("right",), parameters=(level,))]
    cell.server.replace(other.id, new)
    cell.server.close_session(other.id)
    cell.step()
    assert cell.active("right") == "safety" and cell.active("left") == "a"
