"""Rules B10 to B14 of docs/semantics/callbacks.md: actions that are followed to their end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lost_events import losing

from robot_rt_control.client import (
    Action,
    CommandRefused,
    DefinitionError,
    End,
    Ending,
    Reaction,
    Session,
    variable,
)
from robot_rt_control.testing.lockstep_client import LockstepClient

CONFIG = Path(__file__).parents[3] / "config"
FAR = [0.9] * 7


@pytest.fixture(scope="module")
def shared() -> Iterator[LockstepClient]:
    with LockstepClient(CONFIG / "iiwa.yaml") as client:
        yield client


@pytest.fixture
def client(shared: LockstepClient) -> Iterator[LockstepClient]:
    with shared.session("arm") as session:
        session.follow("home", add=[Action("home", "move_joint", parts="arm", position=[0.0] * 7)]).wait(20)
    yield shared
    shared.release(everything=True, secret=shared.backend.operator_secret())
    shared.clear_faults()
    shared.enable()
    assert not shared.sessions()


@pytest.fixture
def session(client: LockstepClient) -> Iterator[Session]:
    with client.session("arm") as session:
        session.add(move("far", FAR), move("back", [0.0] * 7))
        yield session


def move(id: str, position: list[float], scale: float = 0.5, reactions: tuple[Reaction, ...] = ()) -> Action:
    return Action(id, "move_joint", parts="arm", position=position, velocity_scale=scale, reactions=reactions)


# --- B10 ------------------------------------------------------------------------------------------


def test_B10_without_a_condition_it_ends_when_the_actions_are_settled(session: Session) -> None:
    followed = session.follow("far")
    assert followed.poll() is None and followed.active == ("far",) and followed.tick > 0
    ending = followed.wait(20)
    assert (ending.end, ending.name, ending.reason, ending.reached) == (End.REACHED, "done", "", True)
    assert session.value("far.is_settled") == 1.0 and followed.at_rest
    assert followed.active == ("far",), "what is done stays active"
    fired = [event.tick for event in session.events if event.kind == "reaction_fired"]
    assert fired == [ending.tick]


def test_B10_the_first_of_several_ends_is_named(session: Session) -> None:
    followed = session.follow("far", until={"there": "far.is_settled", "half": variable("arm.position[0]") > 0.45})
    ending = followed.wait(20)
    assert (ending.end, ending.name) == (End.REACHED, "half")
    assert session.value("arm.position[0]") == pytest.approx(0.45, abs=0.05)


def test_B10_a_chain_is_followed_to_its_end(session: Session) -> None:
    first = move("first", FAR, reactions=(Reaction("is_done", start="second"),))
    followed = session.follow("first", add=[first, move("second", [0.1] * 7)], until="second.is_settled")
    seen = []
    while followed.poll() is None:
        seen += [followed.active] if followed.active not in seen else []
        session.backend.sleep(0.01)
    assert seen == [("first",), ("second",)] and followed.wait().reached
    assert session.value("arm.position[0]") == pytest.approx(0.1, abs=0.01)


def test_B10_what_is_entered_again_and_holds_already_is_reached(session: Session) -> None:
    session.follow("back").wait(20)
    before = session.follow("back").wait(20)
    again = session.follow("back", until={"near": "abs(arm.position[0]) < 0.1"}).wait(20)
    assert before.reached and again.reached and again.tick > before.tick


def test_B10_what_holds_already_is_reached_with_the_start(session: Session) -> None:
    ending = session.follow("far", until={"near": "abs(arm.position[0]) < 0.1"}).wait(20)
    assert ending.name == "near" and session.value("arm.position[0]") < 0.3


def test_B10_a_condition_may_be_an_expression(session: Session) -> None:
    ending = session.follow("far", until=variable("arm.position[0]") > 0.45).wait(20)
    assert ending.name == "done" and session.value("arm.position[0]") < 0.6


def test_B10_with_nothing_to_reach_it_ends_otherwise(client: LockstepClient, session: Session) -> None:
    followed = session.follow("far", until=None)
    client.sleep(10)
    assert followed.poll() is None and session.value("far.is_settled") == 1.0
    assert followed.cancel().end == End.CANCELLED


def test_B10_it_may_be_prepared_and_started_later(client: LockstepClient, session: Session) -> None:
    followed = session.follow("far", until="far.is_settled", start=False)
    client.sleep(0.1)
    assert followed.poll() is None and followed.tick == 0 and session.active == ()
    assert followed.start() == followed.tick > 0
    assert followed.wait(20).reached
    session.follow("back", start=False)
    session.remove("back")
    assert session._followed == [followed]


def test_B10_an_action_without_an_end_of_its_own_needs_a_condition(session: Session) -> None:
    session.add(Action("stand", "hold", parts="arm"))
    with pytest.raises(DefinitionError, match="action 'stand' has no state variable 'is_done'"):
        session.follow("stand")
    assert session.follow("stand", until="stand.elapsed > 0.1").wait(1).reached


def test_B10_what_cannot_start_leaves_nothing(client: LockstepClient, session: Session) -> None:
    client.disable("arm")
    client.sleep(0.5)
    called: list[Ending] = []
    with pytest.raises(CommandRefused, match="'arm' is disabled"):
        session.follow("far", on_end=called.append)
    client.enable("arm")
    client.sleep(0.1)
    session.start("far")
    client.sleep(5)
    assert called == []
    session.remove("far")


def test_B10_its_reactions_do_not_pile_up_nor_hold_the_actions(client: LockstepClient, session: Session) -> None:
    server = client.cell.server
    for _ in range(20):
        session.follow("back").wait(20)
    kept = server.contents(server.session(session.id)).reactions
    assert 0 < len(kept) < 20
    session.remove("far", "back")
    assert not server.contents(server.session(session.id)).reactions


def test_B10_an_action_may_be_removed_while_it_is_followed(session: Session) -> None:
    followed = session.follow("far")
    session.remove("far")
    assert followed.wait(1).end == End.PREEMPTED
    session.remove("back")


def test_B10_a_time_out_ends_the_wait_alone(session: Session) -> None:
    followed = session.follow("far")
    with pytest.raises(TimeoutError, match="far did not end within 0.1 s"):
        followed.wait(0.1)
    assert followed.wait(20).reached


# --- B11 ------------------------------------------------------------------------------------------


def ended(session: Session, what: Callable[[], object]) -> Ending:
    """How a motion ends when this happens to it."""
    followed = session.follow("far")
    session.backend.sleep(0.1)
    assert followed.poll() is None
    what()
    found = followed.wait(5)
    session.backend.sleep(0.5)
    assert followed.poll() is found, "the first one stays"
    return found


def test_B11_preempted_by_another_start(session: Session) -> None:
    found = ended(session, lambda: session.start("back"))
    assert (found.end, found.reason) == (End.PREEMPTED, "another action took a part")


def test_B11_preempted_by_somebody_elses_stop(client: LockstepClient, session: Session) -> None:
    found = ended(session, client.stop_all)
    assert (found.end, found.reason) == (End.PREEMPTED, "stopped by a command")


def test_B11_preempted_by_a_replacement(session: Session) -> None:
    assert ended(session, lambda: session.replace(move("far", [0.5] * 7))).end == End.PREEMPTED


def test_B11_cancelled(session: Session) -> None:
    followed = session.follow("far")
    session.backend.sleep(0.1)
    followed.stop()
    assert followed.wait(1).end == End.CANCELLED


def test_B11_aborted_by_its_own_reaction(session: Session) -> None:
    session.replace(move("far", FAR, reactions=(Reaction("elapsed > 0.2", stop=True),)))
    found = ended(session, lambda: None)
    assert (found.end, found.reason) == (End.ABORTED, "ended by a reaction")


def test_B11_aborted_by_its_time_limit(session: Session) -> None:
    session.replace(Action("far", "move_joint", parts="arm", position=FAR, velocity_scale=0.1, time_limit=0.2))
    assert ended(session, lambda: None).end == End.ABORTED


def test_B11_a_protective_stop(client: LockstepClient, session: Session) -> None:
    found = ended(session, lambda: client.protective_stop("door"))
    assert found.end == End.PROTECTIVE_STOP and "door" in found.reason


def test_B11_faulted() -> None:
    with LockstepClient(CONFIG / "pusher.yaml", hardware="mock") as client, client.session("pusher") as session:
        session.add(Action("far", "move_joint", parts="pusher", position=[0.05], velocity_scale=0.1))

        def leave_the_range() -> None:
            client.cell.executor.world.memory.devices[0].mock_source[:] = 0  # the test says what is measured
            client.cell.set_sensor("pusher/slide/position", 5.0)

        found = ended(session, leave_the_range)
        assert found.end == End.FAULTED
        assert found.reason.endswith("part 'pusher': the measured position left its range (slide)")


def test_B11_session_lost(client: LockstepClient, session: Session) -> None:
    server = client.cell.server
    found = ended(session, lambda: server.close_session(session.id))
    assert found.end == End.SESSION_LOST and found.reason == session.ended


def test_B11_session_closed(session: Session) -> None:
    followed = session.follow("far")
    session.close()
    assert followed.wait(1).end == End.SESSION_LOST and followed.active == ()


# --- B12 ------------------------------------------------------------------------------------------


def test_B12_a_lost_end_that_holds_is_reached(client: LockstepClient, session: Session) -> None:
    followed = session.follow("far")
    with losing(client):
        client.sleep(20.0)
    assert followed.wait(1).reached


def test_B12_what_is_active_goes_on(client: LockstepClient, session: Session) -> None:
    followed = session.follow("far")
    with losing(client):
        client.sleep(0.1)
    assert followed.poll() is None and followed.active == ("far",)
    assert followed.wait(20).reached


def test_B12_a_switch_in_a_chain_that_was_lost_is_found(client: LockstepClient, session: Session) -> None:
    first = move("first", [0.2] * 7, reactions=(Reaction("is_done", start="second"),))
    followed = session.follow("first", add=[first, move("second", FAR, 0.2)], until="second.is_settled")
    with losing(client):
        while session.value("second.elapsed") != session.value("second.elapsed"):
            client.step(10)
    assert followed.poll() is None and followed.active == ("second",)
    assert followed.wait(20).reached


def test_B12_what_has_ended_meanwhile_is_not_guessed(client: LockstepClient, session: Session) -> None:
    followed = session.follow("far")
    with losing(client):
        client.stop_all()
        client.sleep(0.5)
    found = followed.wait(1)
    assert (found.end, found.reason) == (
        End.EVENTS_LOST,
        "it has ended, and events were lost: nothing says how",
    )
    assert followed.at_rest


# --- B13 ------------------------------------------------------------------------------------------


def test_B13_cancel_waits_for_rest(client: LockstepClient, session: Session) -> None:
    followed = session.follow("far")
    client.sleep(0.3)
    assert not followed.at_rest
    followed.stop()
    assert followed.wait(1).end == End.CANCELLED
    assert session.value("arm.at_rest") == 0.0, "it still brakes"
    assert followed.cancel().end == End.CANCELLED
    assert session.value("arm.at_rest") == 1.0


def test_B13_what_was_reached_and_still_moves_is_stopped(session: Session) -> None:
    followed = session.follow("far", until="arm.position[0] > 0.2")
    assert followed.wait(20).reached and session.value("arm.at_rest") == 0.0
    assert followed.cancel().reached and followed.active == () and session.active == ()
    assert session.value("arm.at_rest") == 1.0 and session.value("arm.position[0]") < 0.8


def test_B13_a_chain_is_stopped_whichever_of_its_actions_is_active(session: Session) -> None:
    first = move("first", [0.2] * 7, reactions=(Reaction("is_done", start="second"),))
    followed = session.follow("first", add=[first, move("second", FAR, 0.2)], until="second.is_settled")
    session.wait_until("second.elapsed > 0.1", 20)
    followed._active = {"first": None}  # as if the news of the switch were still on its way
    followed.stop()
    assert session.active == ()


def test_B13_unknown_is_not_at_rest(
    client: LockstepClient, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed = session.follow("far")
    client.sleep(0.3)
    monkeypatch.setattr(client.backend, "state_values", lambda names, session: dict.fromkeys(names, float("nan")))
    with pytest.raises(TimeoutError, match="arm did not come to rest within 0.5 s"):
        followed.cancel(0.5)


def test_B13_a_part_without_joints_is_at_rest() -> None:
    with LockstepClient(Path(__file__).with_name("io_workcell.yaml")) as client, client.session("io") as session:
        outputs = Action("open", "set_output", parts="io", outputs="clamp", values=1)
        followed = session.follow("open", add=[outputs])
        client.step(3)
        assert followed.active == ("open",)
        followed.cancel(0.5)
        assert followed.at_rest


# --- B14 ------------------------------------------------------------------------------------------


def test_B14_the_callback_comes_once_and_may_call_the_session(client: LockstepClient, session: Session) -> None:
    found: list[Ending] = []

    def next_one(ending: Ending) -> None:
        found.append(ending)
        session.start("back")

    session.follow("far", on_end=next_one)
    client.sleep(20)
    assert [ending.end for ending in found] == [End.REACHED] and session.active == ("back",)


def test_B14_the_callback_comes_after_lost_events_and_with_the_session(
    client: LockstepClient, session: Session
) -> None:
    found: list[Ending] = []
    session.follow("far", on_end=found.append)
    with losing(client):
        client.sleep(20.0)
    client.step(5)
    session.follow("back", on_end=found.append)
    session.close()
    assert [ending.end for ending in found] == [End.REACHED, End.SESSION_LOST]


def test_B14_who_polls_is_woken(client: LockstepClient, session: Session) -> None:
    woken: list[int] = []
    followed = session.follow("far", on_change=lambda: woken.append(client.cell.tick))
    client.sleep(20)
    ending = followed.poll()
    assert ending is not None and len(woken) == 2 and woken[-1] == ending.tick
