"""Rule U5 of docs/semantics/composing.md: a detached session goes on without client and server, for a bounded time."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import ChannelError, DefinitionError

BOUND = 200  # ticks
WITHOUT = "detached, it went on without its client or the control server for at most 0.2 s: "


def detached(cell: LockstepCell, part: str = "left", *reactions: Reaction, lease_s: float = 0.0) -> Session:
    """A session whose action `a` moves a part."""
    session = cell.session(part, detached_s=BOUND * 1e-3, lease_s=lease_s)
    session.add(Action("a", "velocity_move", velocity=[0.1] * (2 if part == "left" else 1), reactions=reactions))
    session.start("a")
    cell.step(3)
    return session


def bound_to_its_server(cell: LockstepCell) -> Session:
    session = cell.session("right")
    session.add(Action("a", "probe", speed=0.1))
    session.start("a")
    cell.step(3)
    return session


def active(cell: LockstepCell, part: str) -> str:
    """What commands a part, seen from the executor alone: default, safety, or something else."""
    w, index = cell.executor.world.memory, cell.workcell.part(part).index
    tables, slot = w.tables[int(w.active_tables)], int(w.parts_runtime[index].active_action)
    return {int(tables.default_action[index]): "default", int(tables.safety_action[index]): "safety"}.get(slot, "other")


def test_U5_without_a_server_it_goes_on_until_its_bound_and_the_others_stop(workcell: Workcell) -> None:
    with LockstepCell(workcell) as cell, LockstepCell(workcell) as twin:
        for one in (cell, twin):
            detached(one)
            bound_to_its_server(one)
        lost = cell.tick + 1
        cell.server.detach("it leaves")
        for _ in range(BOUND):
            cell.executor.step(1)
            twin.executor.step(1)
            assert (active(cell, "left"), active(cell, "right")) == ("other", "safety")
            assert cell.part("left").commanded_position.tobytes() == twin.part("left").commanded_position.tobytes()
        with pytest.raises(ChannelError) as waits:
            cell.new_server()
        assert str(waits.value) == (
            "session 's1' goes on without a control server, as requested when it was opened; "
            "expected no such session, or its end; got one that ends within 0.0 s. "
            "A protective stop at the executor ends it at once"
        )
        cell.executor.step(1)
        assert cell.tick == lost + BOUND and active(cell, "left") == "safety"
        twin.executor.step(100)
        assert twin.active("left") == "a", "it would have gone on"
        cell.server = cell.new_server()
        cell.step()
        session = bound_to_its_server(cell)
        assert cell.active("right") == "a" and session.ended is None


def test_U5_it_ends_before_when_nothing_of_it_is_active(cell: LockstepCell) -> None:
    detached(cell, "left", Reaction("elapsed > 0.05", stop=True))
    detached(cell, "right", Reaction("elapsed > 0.02", stop=True))
    cell.server.detach("it leaves")
    cell.executor.step(30)
    assert (active(cell, "left"), active(cell, "right")) == ("other", "default")
    with pytest.raises(ChannelError, match="'s1' goes on without a control server"):
        cell.new_server()
    cell.executor.step(30)
    assert (active(cell, "left"), active(cell, "right")) == ("default", "default"), "as after any stop"
    cell.server = cell.new_server()
    cell.step()
    assert cell.kinds("server_lost") == []


def test_U5_a_protective_stop_needs_no_server_and_ends_it(cell: LockstepCell) -> None:
    detached(cell)
    cell.server.detach("it leaves")
    cell.executor.step(10)
    cell.executor.protective_stop(True, "door")
    cell.executor.step(2)
    w = cell.executor.world.memory
    assert int(w.n_active) == 0 and w.protective_stop == 1.0
    cell.server = cell.new_server()
    cell.step(400)
    assert abs(cell.part("left").commanded_velocity[0]) == 0.0


def test_U5_a_server_that_comes_to_itself_again_has_it_still(cell: LockstepCell) -> None:
    session, other = detached(cell), bound_to_its_server(cell)
    cell.executor.world.memory.server_lost = 1  # it was silent
    cell.step()
    assert (cell.active("left"), cell.active("right"), session.ended) == ("a", "safety", None)
    assert other.ended == "the executor heard nothing from the control server, and ended all sessions"
    cell.step(2 * BOUND)
    assert cell.active("left") == "a", "nothing counts any more"
    session.set("a", velocity=[0.2, 0.2])
    session.start("a")
    cell.step(200)
    assert cell.part("left").commanded_velocity[0] == pytest.approx(0.2)


def test_U5_without_its_client_it_goes_on_until_its_bound(cell: LockstepCell) -> None:
    session = detached(cell, lease_s=1.0)
    other = cell.session("right", lease_s=1.0)
    other.add(Action("a", "probe"))
    other.start("a")
    cell.step()
    assert session.lease_s + 0.19 < cell.server.remaining(cell.server.session(session.id)) <= session.lease_s + 0.2
    cell.now += 1.01
    cell.step(2)
    assert (cell.active("left"), cell.active("right")) == ("a", "safety")
    assert other.ended == "its client did not renew it for its lease of 1 s"
    cell.step(BOUND // 2)
    session.renew()
    cell.step(900)
    assert cell.active("left") == "a", "its client was there again"
    session.renew()
    cell.now += 1.01
    lost = cell.step() + 1  # the server asks the loop to count from the next tick on
    cell.step(BOUND)
    assert (cell.active("left"), session.ended) == ("a", None)
    tick = cell.step()
    assert (cell.active("left"), tick) == ("safety", lost + BOUND)
    assert session.ended == WITHOUT + "its bound has passed"
    (event,) = cell.kinds("session_ended", session=session.id)
    assert (event.tick, event.by_client) == (tick, False)
    assert [e.reason for e in cell.kinds("action_stopped", tick=tick, previous_action="a")] == ["the session ended"]
    cell.session("left")


def test_U5_its_bound_counts_once_from_the_first_loss(cell: LockstepCell) -> None:
    detached(cell, lease_s=1.0)
    cell.now += 1.01
    lost = cell.step() + 1
    cell.step(BOUND // 2)
    cell.server.detach("it dies as well")
    cell.executor.step(lost + BOUND - 1 - cell.tick)
    assert active(cell, "left") == "other"
    cell.executor.step(1)
    assert active(cell, "left") == "safety"


def test_U5_if_nothing_of_it_is_defined_or_active_it_ends_with_its_client(cell: LockstepCell) -> None:
    empty, idle = cell.session("left", lease_s=1.0, detached_s=0.2), cell.session("right", lease_s=1.0, detached_s=0.2)
    idle.add(Action("a", "probe"))
    cell.step()
    cell.now += 1.01
    cell.step(3)
    assert empty.ended == "its client did not renew it for its lease of 1 s"
    assert idle.ended == WITHOUT + "nothing of it is active any more"


@pytest.mark.parametrize("bound", [-1.0, 600.1, math.inf, math.nan])
def test_U5_a_bound_that_is_too_long_is_refused(cell: LockstepCell, bound: float) -> None:
    text = "session 'x' cannot be opened: detached; expected a time in seconds, at most 600; 0: it ends with its client"
    with pytest.raises(DefinitionError, match=text):
        cell.session("left", name="x", detached_s=bound)
    with pytest.raises(DefinitionError, match="it is read-only; expected detached: 0"):
        cell.session(read_only=True, detached_s=1.0)
