"""Rules A11 and A12 of docs/semantics/actions.md: parameters that a command carries, and starts for a later tick."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.link.transactions import transaction_row
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import Command
from robot_rt_control.vocabulary.errors import CapacityError, CommandRefused, DefinitionError

NEAR = "rangefinder.distance < 0.3"


@pytest.fixture
def session(cell: LockstepCell) -> Session:
    cell.set_sensor("rangefinder/distance", 1.0)
    session = cell.session("left")
    session.add(Action("a", "probe", level=1.0, reactions=[Reaction(NEAR, event="near")]), Action("b", "probe"))
    session.start("a")
    cell.step(3)
    return session


def test_A11_they_hold_from_the_tick_of_the_answer_without_new_tables(cell: LockstepCell, session: Session) -> None:
    installed = len(cell.kinds("tables_installed"))
    for i in range(50):
        tick = session.set("a", level=float(i))
        assert cell.step() == tick and session.value("a.level") == float(i)
    assert len(cell.kinds("tables_installed")) == installed
    assert session.value("a.settings") == session.value("a.controls") == 53.0, "each once in every tick"
    assert session.value("a.entries") == 1.0


def test_A11_of_several_in_a_tick_the_last_one_holds_and_the_values_left_out_stay(
    cell: LockstepCell, session: Session
) -> None:
    session.set("a", level=5.0)
    session.set("a", speed=0.1)
    session.set("a", level=6.0)
    session.set("a", duration=0.5)
    cell.step()
    assert session.value("a.level") == 6.0
    cell.step(200)
    assert float(cell.part("left").commanded_velocity[0]) == pytest.approx(0.1)
    values = cell.server.contents(cell.server.session(session.id)).actions["a"].prepared.values
    assert (values["level"], values["speed"], values["duration"]) == (6.0, 0.1, 0.5)


def test_A11_an_action_that_is_not_active_enters_with_them_also_in_the_same_tick(
    cell: LockstepCell, session: Session
) -> None:
    session.set("b", level=7.0)
    session.start("b")
    session.set("b", level=8.0)
    cell.step()
    assert session.value("b.level") == 8.0 and session.value("b.settings") == 1.0
    session.start("b")
    session.set("b", level=9.0, fail_in=1)  # fails in on_enter, which also sees the new ones
    cell.step()
    assert session.ended == "action 'b' failed: status 7 of the action's own code"


def test_A11_their_order_with_definitions_is_kept(cell: LockstepCell, session: Session) -> None:
    """Tables come first in a tick, whatever came first in time: both concern what they name alone."""
    session.set("a", level=2.0)
    session.add(Action("c", "probe", level=3.0))
    session.set("c", level=4.0)
    session.set("a", level=5.0)
    session.remove("b")
    session.start("c")
    cell.step()
    assert session.value("c.level") == 4.0
    session.start("a")
    cell.step()
    assert session.value("a.level") == 5.0
    session.add(Action("d", "probe", level=1.0))  # takes the places that b has left
    session.start("d")
    cell.step()
    assert session.value("d.level") == 1.0


def test_A11_a_value_that_is_refused_changes_nothing(cell: LockstepCell, session: Session) -> None:
    with pytest.raises(DefinitionError, match="'levl'"):
        session.set("a", levl=4.0)
    with pytest.raises(DefinitionError, match="level"):
        session.set("a", speed=0.5, level=[1.0, 2.0])
    cell.step()
    assert session.value("a.level") == 1.0
    session.set("a", level=3.0)
    cell.step()
    assert session.value("a.level") == 3.0 and float(cell.part("left").commanded_velocity[0]) == 0.0


def test_A11_the_loop_refuses_records_that_are_not_the_actions(cell: LockstepCell, session: Session) -> None:
    """For any content of the ring, the tick copies a record of the action's own size, or nothing."""
    world = cell.executor.world.memory
    entry = cell.server.contents(cell.server.session(session.id)).actions["a"].entry
    arena = world.parameter_arena.copy()
    system = min(cell.store.sessions)  # the system's session takes no commands
    nine = np.full(capacities.PARAMETER_UPDATE_BYTES, 0x77, np.uint8)
    for size, slot, identity, owner in (
        (entry.parameter_size - 8, entry.slot, entry.identity, session.id),
        (entry.parameter_size + 8, entry.slot, entry.identity, session.id),
        (-8, entry.slot, entry.identity, session.id),
        (1 << 40, entry.slot, entry.identity, session.id),
        (entry.parameter_size, entry.slot, entry.identity + 1, session.id),
        (entry.parameter_size, -1, entry.identity, session.id),
        (entry.parameter_size, 10**6, entry.identity, session.id),
        (entry.parameter_size, entry.slot, entry.identity, ""),
    ):
        of = cell.server.session(session.id).identity if owner else system
        row = transaction_row(Command.SET_PARAMETERS, session=of, actions=[(slot, identity)])
        row.part, row.record_size = -1, size
        assert cell.executor.channel.push_command(row, nine)
    row = transaction_row(
        Command.SET_PARAMETERS,
        session=cell.server.session(session.id).identity,
        actions=[(entry.slot, entry.identity)],
    )
    row.record_size, row.target_tick = entry.parameter_size, cell.tick + 5
    assert cell.executor.channel.push_command(row, nine)
    cell.step(10)
    assert len(cell.kinds("command_refused")) == 9
    assert (world.parameter_arena == arena).all() and session.value("a.level") == 1.0


def test_A11_a_record_too_large_for_a_command_comes_with_new_tables(cell: LockstepCell) -> None:
    s = np.linspace(0.0, 1.0, 60)
    smooth = np.repeat(10 * s**3 - 15 * s**4 + 6 * s**5, 2)  # for both joints
    session = cell.session("left")
    session.add(Action("t", "track_trajectory", times=list(1.5 * s), positions=list(0.02 * smooth)))
    entry = cell.server.contents(cell.server.session(session.id)).actions["t"].entry
    assert entry.parameter_size > capacities.PARAMETER_UPDATE_BYTES
    cell.step()
    installed = len(cell.kinds("tables_installed"))
    session.start("t")
    session.set("t", positions=list(0.05 * smooth))
    cell.step(1600)
    assert len(cell.kinds("tables_installed")) == installed + 1
    assert float(cell.part("left").commanded_position[0]) == pytest.approx(0.05, abs=1e-3)


@pytest.fixture
def answering(workcell: Workcell) -> Iterator[LockstepCell]:
    """Its commands wait for the loop's answer."""
    with LockstepCell(workcell, gated=False) as made:
        yield made


def track(end: float, n: int = 60, time_limit: float | None = None, begin: float = 0.0) -> Action:
    s = np.linspace(0.0, 1.0, n)
    smooth = np.repeat(10 * s**3 - 15 * s**4 + 6 * s**5, 2)  # for both joints
    times, positions = list(1.5 * s), list(begin + (end - begin) * smooth)
    return Action("t", "track_trajectory", time_limit=time_limit, times=times, positions=positions)


@pytest.mark.parametrize("n", [2, 60])
def test_A11_a_replacement_by_other_values_is_a_command_that_starts_the_action(
    answering: LockstepCell, n: int
) -> None:
    cell, session = answering, answering.session("left")
    session.add(track(0.02))
    installed = len(cell.kinds("tables_installed"))
    session.replace(track(0.05, n), start="t")
    cell.step(1600)
    assert float(cell.part("left").commanded_position[0]) == pytest.approx(0.05, abs=1e-3)
    session.stop("t")
    session.replace(track(0.08, n, begin=0.05))
    cell.step(10)
    assert cell.active("left") != "t", "nothing starts by it"
    session.start("t")
    assert len(cell.kinds("tables_installed")) == installed
    with pytest.raises(DefinitionError, match="at least two"):
        session.replace(Action("t", "track_trajectory", times=[0.0], positions=[0.0, 0.0]), start="t")


@pytest.mark.parametrize("why", ["disabled", "far"])
def test_A11_a_replacement_whose_start_is_refused_leaves_the_values_as_they_were(
    answering: LockstepCell, why: str
) -> None:
    """Also where the loop has them already: else the next one, of which only what differs is sent, would be mixed."""
    cell, session = answering, answering.session("left")
    session.add(track(0.02))
    session.replace(track(0.03))
    if why == "disabled":
        cell.server.set_motion(["left"], "disable")
        refused = track(0.3, n=20)
    else:
        refused = Action("t", "track_trajectory", times=[0.0, 1.5], positions=[0.5, 0.5, 0.6, 0.6])
    with pytest.raises(CommandRefused):
        session.replace(refused, start="t")
    if why == "disabled":
        cell.server.set_motion(["left"], "enable")
    cell.step(10)
    session.start("t")
    cell.step(1600)
    assert float(cell.part("left").commanded_position[0]) == pytest.approx(0.03, abs=1e-3)
    session.stop("t")
    back = Action("t", "track_trajectory", times=[0.0, 1.5], positions=[0.03, 0.03, -0.04, -0.04])
    session.replace(back, start="t")
    cell.step(1600)
    assert float(cell.part("left").commanded_position[0]) == pytest.approx(-0.04, abs=1e-3)


def test_A11_another_definition_or_one_of_an_active_action_brings_new_tables(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(track(0.02))
    cell.step()
    installed = len(cell.kinds("tables_installed"))
    session.replace(track(0.02, time_limit=10.0))
    cell.step()
    assert len(cell.kinds("tables_installed")) == installed + 1
    session.start("t")
    cell.step(3)
    session.replace(track(0.0, time_limit=10.0))  # its start takes the place of what is active
    cell.step(2)
    assert len(cell.kinds("tables_installed")) == installed + 2


def test_A11_the_loop_refuses_changes_that_are_not_of_the_record(cell: LockstepCell, session: Session) -> None:
    world = cell.executor.world.memory
    entry = cell.server.contents(cell.server.session(session.id)).actions["a"].entry
    arena, size = world.parameter_arena.copy(), entry.parameter_size
    for runs in (
        [(-8, 8)], [(size, 8)], [(0, size + 8)], [(0, -8)], [(1 << 62, 8)], [(8, (1 << 62))], [(0, 8)] * 100
    ):  # fmt: skip
        data = np.array([len(runs), *(word for run in runs for word in run), 7, 7]).view(np.uint8)
        row = transaction_row(
            Command.SET_PARAMETERS,
            session=cell.server.session(session.id).identity,
            actions=[(entry.slot, entry.identity)],
        )
        row.part, row.signal, row.record_size = -1, 1, len(data)
        assert cell.executor.channel.push_command(row, data)
    for count in (-1, 1 << 40, 1 << 60):
        data = np.array([count, 0, 8, 7]).view(np.uint8)
        row.record_size = len(data)
        assert cell.executor.channel.push_command(row, data)
    row.record_size = 5 * capacities.PARAMETER_UPDATE_BYTES  # more than what lies in the ring
    assert cell.executor.channel.push_command(row, data)
    cell.step(10)
    assert len(cell.kinds("command_refused")) == 11
    assert (world.parameter_arena == arena).all() and session.value("a.level") == 1.0


# --- A12: later ----------------------------------------------------------------------------------


def test_A12_a_start_for_a_later_tick_comes_in_that_tick(cell: LockstepCell, session: Session) -> None:
    due = cell.tick + 10
    assert session.start("b", at_tick=due) == due
    while cell.tick < due - 1:
        cell.step()
        assert cell.active("left") == "a"
    cell.step()
    assert cell.active("left") == "b"
    session.start("a", at_tick=due)
    cell.step()
    assert cell.kinds("command_refused")[-1].reason == "the target tick has passed"


def test_A12_a_target_tick_that_is_too_far_ahead_is_refused(cell: LockstepCell, session: Session) -> None:
    ahead = round(defaults.SCHEDULE_AHEAD_S / cell.workcell.period)
    session.start("b", at_tick=cell.tick + 1 + ahead + 1)
    session.start("b", at_tick=cell.tick + 1 + ahead)
    session.start("b", at_tick=2**64 - 1)
    cell.step()
    assert [e.reason for e in cell.kinds("command_refused")] == ["the target tick is too far ahead"] * 2
    cell.executor.channel.memory.gated = False  # so that the server waits for the answer
    cell.server.core.connection.at().link.gated = False
    with pytest.raises(CommandRefused) as refused:
        session.start("b", at_tick=10**9)
    assert str(refused.value) == (
        f"start of 'b' was refused; expected a tick that comes within 10 s, after tick {cell.tick}; got 1000000000. "
        "Send it nearer to its tick"
    )


@pytest.mark.parametrize("when", ["before", "same tick"])
@pytest.mark.parametrize("what", ["removed", "closed", "cleared"])
def test_A12_what_has_gone_by_then_is_refused_and_nothing_starts(
    cell: LockstepCell, session: Session, when: str, what: str
) -> None:
    due = cell.tick + 10
    session.start("b", at_tick=due)
    cell.step(9 if when == "same tick" else 4)
    if what == "removed":
        session.remove("b")
    elif what == "cleared":
        session.clear()
    else:
        session.close()
    while cell.tick < due + 3:
        cell.step()
        assert cell.active("left") != "b"
    # a close in the same tick comes after the start that was due: the session ends with what has begun
    begun = cell.kinds("action_started", current_action="b")
    if (what, when) == ("closed", "same tick"):
        assert [e.tick for e in begun] == [due] and cell.active("left") == "safety"
        return
    (refused,) = cell.kinds("command_refused")
    wanted = "the session has ended" if what == "closed" else "the action does not exist any more"
    assert refused.tick == due and refused.reason.startswith(wanted) and begun == []
    assert cell.active("left") == {"removed": "a", "closed": "safety", "cleared": "default"}[what]


def test_A12_one_session_takes_no_waiting_place_of_another(cell: LockstepCell, session: Session) -> None:
    other = cell.session("right")
    other.add(Action("b", "probe"))
    due = cell.tick + 20
    for _ in range(100):
        session.start("b", at_tick=due)
    cell.step(10)  # 16 commands are taken in a tick
    other.start("b", at_tick=due)
    refused = [e for e in cell.kinds("command_refused") if e.session == session.id]
    assert len(refused) == 100 - capacities.MAX_SCHEDULED_BY_SESSION
    assert {e.reason for e in refused} == {"too many commands wait for their target tick"}
    cell.step(15)
    assert (cell.active("left"), cell.active("right")) == ("b", "b")
    with pytest.raises(CapacityError, match="COMMAND_RING_ENTRIES"):
        for _ in range(capacities.COMMAND_RING_ENTRIES + 1):
            session.set("b", level=1.0)
