"""Rules B1 to B9 of docs/semantics/callbacks.md: callbacks, and other waits for events."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cell_client import CellClient, names

from robot_rt_control.client import Action, Event, Reaction, Strategy
from robot_rt_control.client.lease import LeaseKeeper, longest_silence
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import (
    CapacityError,
    DefinitionError,
    RobotControlError,
    SessionEnded,
    SessionError,
)

NEAR = "rangefinder.distance < 0.3"


@pytest.fixture
def client(cell: LockstepCell) -> CellClient:
    cell.set_sensor("rangefinder/distance", 1.0)
    return CellClient(cell)


@pytest.fixture
def session(client: CellClient) -> Iterator[Session]:
    with client.open("left") as made:
        yield made


def soon(condition: Callable[[], bool]) -> bool:
    """Whether it holds within 60 s."""
    deadline = time.monotonic() + 60.0
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def come_near(client: CellClient, times: int = 1) -> list[int]:
    """Let the condition become true so often. Returns the ticks."""
    ticks = []
    for _ in range(times):
        client.cell.set_sensor("rangefinder/distance", 1.0)
        client.step()
        client.cell.set_sensor("rangefinder/distance", 0.1)
        ticks.append(client.step())
    return ticks


def test_B1_a_callback_gets_the_data_of_its_tick(client: CellClient, session: Session) -> None:
    got: list[Event] = []
    capture = ["elapsed", "rangefinder.distance", "b.elapsed"]
    session.add(
        Action("a", "probe", reactions=[Reaction(NEAR, start="b", call=got.append, capture=capture, name="close")]),
        Action("b", "probe"),
    )
    session.start("a")
    client.step(3)
    (tick,) = come_near(client)
    elapsed = (tick - 1) * 1e-3
    client.step(5)
    assert soon(lambda: len(got) == 1)
    event = got[0]
    assert (event.kind, event.tick, event.reaction) == ("reaction_fired", tick, "close")
    assert (event.previous_action, event.current_action) == ("a", "b")
    assert event.values["rangefinder.distance"] == 0.1 and event.values["elapsed"] <= elapsed
    assert event.values["b.elapsed"] != event.values["b.elapsed"], "unknown: b was not active yet"
    (fired,) = client.cell.fired(event.name)
    assert event.time == pytest.approx(fired.time_ns * 1e-9) and event.missed == 0


def test_B1_every_firing_calls_it_once_and_in_order(client: CellClient, session: Session) -> None:
    got: list[int] = []
    session.add(reactions=[Reaction(NEAR, call=lambda e: got.append(e.tick))])
    ticks = come_near(client, 50)
    assert soon(lambda: len(got) == 50) and got == ticks


def test_B2_a_slow_callback_delays_neither_the_loop_nor_another_one(client: CellClient, session: Session) -> None:
    release, quick = threading.Event(), []
    slow: list[int] = []

    def wait(event: Event) -> None:
        release.wait(60)
        slow.append(event.tick)

    session.add(reactions=[Reaction(NEAR, call=wait), Reaction(NEAR, call=lambda e: quick.append(e.tick))])
    ticks = come_near(client, 10)
    client.step(100)
    assert soon(lambda: len(quick) == 10) and quick == ticks and slow == []
    release.set()
    assert soon(lambda: len(slow) == 10) and slow == ticks


@pytest.mark.parametrize("later", [0, 40])
def test_B3_the_result_becomes_parameters_of_the_running_action_at_any_later_time(
    client: CellClient, session: Session, later: int
) -> None:
    release = threading.Event()

    def think(event: Event) -> dict[str, float]:
        release.wait(60)
        return {"level": 100.0 * event.values["rangefinder.distance"]}

    session.add(
        Action("a", "probe", level=1.0, speed=0.1),
        reactions=[Reaction(NEAR, call=think, reply_to="a", capture=["rangefinder.distance"])],
    )
    session.start("a")
    come_near(client)
    client.step(1 + later)
    assert client.cell.value(session.id, "a.level") == 1.0, "the loop goes on meanwhile"
    release.set()
    assert soon(lambda: client.step() > 0 and client.cell.value(session.id, "a.level") == pytest.approx(10.0))
    assert client.cell.value(session.id, "a.entries") == 1.0, "the same activation"
    assert client.cell.value(session.id, "a.elapsed") * 1000 == pytest.approx(
        client.cell.value(session.id, "a.controls")
    ), "no tick was missed"


def test_B3_a_callback_may_call_its_session(client: CellClient, session: Session) -> None:
    def act(event: Event) -> None:
        session.signal("a", "ping")
        session.add(Action("late", "probe"))
        session.start("late")

    session.add(Action("a", "probe"), reactions=[Reaction(NEAR, call=act, fire_once=True)])
    session.start("a")
    come_near(client)
    assert soon(lambda: client.step() > 0 and client.cell.active("left") == "late")
    assert session.wait_for("action_started").current_action == "a"


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"levl": 1.0}, "did you mean 'level'"),
        (3.0, "expected a mapping of parameters, such as {'velocity': 0.1}, or None; got 3.0"),
    ],
)
def test_B3_a_result_that_cannot_be_taken_is_an_event(
    client: CellClient, session: Session, result: object, text: str
) -> None:
    session.add(Action("a", "probe"), reactions=[Reaction(NEAR, call=lambda e: result, reply_to="a")])
    session.start("a")
    (tick,) = come_near(client)
    failed = session.wait_for("callback_failed", 5)
    assert failed.tick == tick and text in failed.reason and session.ended is None
    with pytest.raises(DefinitionError, match="expected a callback to reply"):
        Reaction(NEAR, reply_to="a")


def test_B3_a_lockstep_cell_calls_behind_the_tick_and_the_reply_holds_in_the_next(cell: LockstepCell) -> None:
    cell.set_sensor("rangefinder/distance", 1.0)
    session = cell.session("left")
    called: list[int] = []

    def reply(event: Event) -> dict[str, float]:
        called.append(event.tick)
        return {"level": float(event.tick)}

    session.add(Action("a", "probe", reactions=[Reaction(NEAR, call=reply, reply_to="a")]))
    session.start("a")
    cell.step(10)
    cell.set_sensor("rangefinder/distance", 0.1)
    tick = cell.step()
    assert called == [tick] and session.value("a.level") == 0.0
    cell.step()
    assert session.value("a.level") == float(tick)


def test_B4_overflow_is_an_event_and_counted(client: CellClient, session: Session) -> None:
    release = threading.Event()
    got: list[Event] = []
    begun = threading.Event()

    def slow(event: Event) -> None:
        begun.set()
        release.wait(60)
        got.append(event)

    told: list[Event] = []
    session.on("callback_overflow", told.append)
    session.add(reactions=[Reaction(NEAR, call=slow, queue=2, event="near")])
    ticks = come_near(client)
    assert begun.wait(60)
    ticks += come_near(client, 7)  # one is being handled, two wait, five are dropped
    overflow = session.wait_for("callback_overflow", 5)
    assert overflow.tick == ticks[3] and overflow.values == {"dropped": 1.0}
    assert overflow.reason == "the callback for 'near' is too slow: its queue is full, 1 events dropped so far"
    release.set()
    assert soon(lambda: len(got) == 3)
    ticks += come_near(client)
    assert soon(lambda: len(got) == 4)
    assert [(e.tick, e.missed) for e in got] == [(ticks[0], 0), (ticks[1], 0), (ticks[2], 0), (ticks[8], 5)]
    assert [e.kind for e in session.events].count("callback_overflow") == 1, "one for a row of losses"
    assert soon(lambda: told == [overflow])


def test_B5_an_exception_is_logged_and_told_and_the_next_event_comes(
    client: CellClient, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    got: list[int] = []

    def fragile(event: Event) -> None:
        got.append(event.tick)
        if len(got) == 1:
            raise ValueError("my mistake")

    session.add(reactions=[Reaction(NEAR, call=fragile, event="near", name="close")])
    ticks = come_near(client, 2)
    failed = session.wait_for("callback_failed", 5)
    assert (failed.tick, failed.reaction) == (ticks[0], "close")
    assert failed.reason.startswith("callback for 'near': ValueError: my mistake (test_callbacks.py:")
    assert soon(lambda: got == ticks) and session.ended is None
    assert "Traceback" in caplog.text and "callback for near failed at tick" in caplog.text


# --- B6: the end ---------------------------------------------------------------------------------


def waiting(session: Session) -> dict[str, list[object]]:
    """Somebody waits in each way; what each of them got in the end."""
    got: dict[str, list[object]] = {"for": [], "follow": [], "until": [], "callback": []}

    def noted(key: str, wait: Callable[[], object]) -> None:
        try:
            wait()
        except SessionError as error:
            got[key].append(str(error))

    def follow() -> None:
        for event in session.listen():
            got["follow"].append(event.kind)

    begun: list[str] = []
    wait_for = session._inbox.wait_for

    def begins(name: str, timeout_s: float | None) -> Event:
        begun.append(name)
        return wait_for(name, timeout_s)

    session._inbox.wait_for = begins  # type: ignore[method-assign]
    session.on("session_ended", lambda e: got["callback"].append(e.reason))
    for key, wait in (
        ("for", lambda: session.wait_for("never")),
        ("follow", follow),
        ("until", lambda: session.wait_until("time > 1e9")),
    ):
        threading.Thread(target=noted, args=(key, wait), daemon=True).start()
    assert soon(lambda: {*begun} == {"never", "wait_1"}), "the condition is defined, and its event awaited"
    time.sleep(0.05)
    return got


@pytest.mark.parametrize("end", ["failure", "executor", "server", "takeover"])
def test_B6_the_end_reaches_whoever_waits(
    client: CellClient, session: Session, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if end == "server":  # otherwise a busy machine would end the session by its silence
        monkeypatch.setattr("robot_rt_control.client.lease.longest_silence", lambda lease_s, simulated: 0.2)
        monkeypatch.setattr("robot_rt_control.client.lease._LOOK_S", 0.05)
        session = client.open("right")
    part = "left" if session.parts == ("left",) else "right"
    session.add(Action("a", "probe", parts=part, fail_in=4, fail_at=3))
    got = waiting(session)
    if end == "failure":
        session.start("a")
        client.step(4)
        reason = "action 'a' failed: status 7 of the action's own code"
    elif end == "executor":
        client.cell.server.core.loop_events.take_loss("the executor has ended")
        reason = "the executor has ended"
    elif end == "takeover":
        client.cell.server.detach("the control server was deactivated")
        reason = "the control server was deactivated"
    else:
        client.services.deaf = client.services.losing = True
        reason = "the control server has not answered for"
    assert soon(lambda: all(any(reason in str(x) for x in each) for each in got.values())), got
    assert reason in str(session.ended)
    for key in ("for", "until"):
        assert reason in str(got[key][0])
    assert "session_ended" in got["follow"] and reason in str(got["follow"][-1])
    assert len(got["callback"]) == 1 and reason in str(got["callback"][0])
    with pytest.raises(SessionError, match="has ended: "):
        session.start("a")
    if end == "server":
        given_up = client.services.given_up[session.id]  # what calls raise that still wait for an answer
        assert isinstance(given_up, SessionEnded) and given_up.reason == session.ended
        client.services.deaf = False  # it was the network: what was believed dead lives, and holds the part
        assert client.cell.server.session_of_part("right") == session.id
        session.close()
        assert client.cell.server.session_of_part("right") == "" and client.services.timeouts[-1] == 0.5


def test_B6_closing_ends_whoever_follows_without_an_error(client: CellClient) -> None:
    session = client.open("right")
    events = session.listen()
    session.add(reactions=[Reaction("true", event="now")])
    client.step()
    session.close()
    followed = list(events)
    assert names(followed) == ["now"] and followed[-1].kind == "session_ended"
    assert session.ended == "closed by the application"


def test_B6_a_session_whose_lease_is_not_renewed_in_time_has_ended(client: CellClient) -> None:
    """The bound of the rule, and that a short silence is survived."""
    assert (longest_silence(0.0), longest_silence(1.0), longest_silence(5.0)) == (4.0, 4.0, 6.0)
    assert longest_silence(10.0, simulated=True) == 21.0
    answers = iter([None, RobotControlError("no answer"), None, SessionError("session 's1' has ended: lost")])
    lost: list[str] = []
    renewed: list[float] = []

    def renew(timeout_s: float) -> None:
        renewed.append(timeout_s)
        answer = next(answers)
        if answer is not None:
            raise answer

    LeaseKeeper(renew, lost.append, lease_s=0.03, name="test")
    assert soon(lambda: lost == ["session 's1' has ended: lost"])
    assert renewed == [1.0] * 4


# --- B7, B8 --------------------------------------------------------------------------------------


def test_B7_events_lost_between_server_and_application_are_told(
    client: CellClient, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    session.add(reactions=[Reaction(NEAR, event="near")])
    come_near(client)
    assert not [e for e in session.events if e.kind == "events_lost"]
    client.services.losing = True
    before = len(client.cell.events)
    come_near(client, 3)
    lost = len(client.cell.events) - before
    client.services.losing = False
    (tick,) = come_near(client)
    told = session.wait_for("events_lost", 5)
    assert told.values == {"lost": float(lost)} and lost >= 3 and told.tick == tick
    assert told.reason == f"{lost} events were lost between the control server and this application"
    assert told.reason in caplog.text
    kinds = [e.kind for e in session.events]
    assert kinds.index("events_lost") < len(kinds) - 1, "it comes before the event that shows the gap"


def test_B7_events_that_the_loop_had_no_room_for_are_told(cell: LockstepCell) -> None:
    session = cell.session("left")
    each = [Reaction("true", event=f"e{i}") for i in range(capacities.EVENT_RING_ENTRIES + 100)]
    session.add(Action("a", "probe", reactions=each))
    session.start("a")
    cell.step()
    (lost,) = cell.kinds("events_lost")
    came = len(cell.kinds("reaction_fired"))
    assert came < len(each)
    n = int(cell.executor.channel.memory.snapshot.events_lost)
    assert lost.reason == f"the loop could not report {n} events: the control server did not take them in time"
    assert n >= len(each) - came
    cell.step(5)
    assert len(cell.kinds("events_lost")) == 1, "each loss once"
    assert cell.active("left") == "a", "the loop itself goes on"


def test_B8_what_comes_while_the_session_opens_is_not_missed(client: CellClient) -> None:
    """The first events may come before the answer to open_session; old ones of the workcell are not this session's."""
    client.cell.executor.world.memory.server_lost = 1
    early = client.open("right")
    client.step()
    assert early.ended is not None, "it was there to hear it"
    session = client.open("left")
    assert [e.kind for e in session.events] == ["session_opened"]
    assert session.events[0].part == "left"
    session.close()


def test_B9_what_a_callback_replies_to_the_session_is_read_by_its_reactions(
    client: CellClient, session: Session
) -> None:
    session.set("session", way=[0.0, 0.0], found=False)
    session.add(
        Action("a", "probe", reactions=[Reaction("session.found > 0 and norm(session.way) > 4", start="b", name="go")]),
        Action("b", "probe"),
        reactions=[Reaction(NEAR, call=lambda e: {"way": [3.0, 4.0], "found": True}, reply_to="session")],
    )
    session.start("a")
    come_near(client)
    assert soon(lambda: client.step() > 0 and client.cell.active("left") == "b")
    assert session.value("session.way[1]") == 4.0 and session.value("session.found") == 1.0


def test_B9_all_of_a_call_hold_from_one_tick_on(client: CellClient, session: Session) -> None:
    session.set("session", x=0.0, y=0.0)
    differ = Reaction("session.x < session.y or session.x > session.y", event="torn")
    session.add(reactions=[differ, Reaction("session.x > 2", event="seen", capture=["session.y"])])
    for i in range(1, 20):
        session.set("session", x=float(i), y=float(i))
        client.step()
    assert not client.cell.kinds("event_emitted", event="torn") and not client.cell.fired("torn")
    assert session.wait_for("seen").values == {"session.y": 3.0}


def test_B9_a_strategy_reads_them(client: CellClient, session: Session) -> None:
    session.set("session", offset=(2.0, "m"))
    law = Strategy("law", "gauge", inputs={"seen": "session.offset"})
    session.add(Action("a", "hold", parts="left", strategies={"x": [law]}))
    session.start("a")
    client.step(2)
    before = float(client.cell.part("left").commanded_position[0])
    client.step()
    assert float(client.cell.part("left").commanded_position[0]) - before == pytest.approx(2e-6)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"offset": [1.0, 2.0]}, "offset changes its unit or length; expected a number in m; got 2 numbers in m"),
        ({"new": 1.0, "offset": (1.0, "rad")}, "expected a number in m; got a number in rad"),
        ({"offset": math.nan}, "session.offset; expected a finite number, or a list of them; got "),
        ({"offset": "far"}, "session.offset; expected a finite number, or a list of them; got 'far'"),
        ({"many": [0.0] * 32}, "the session has too many variables; expected at most 32 numbers .* got 33"),
    ],
)
def test_B9_what_is_not_as_it_was_is_refused_and_nothing_is_written(
    client: CellClient, session: Session, values: dict[str, Any], text: str
) -> None:
    session.set("session", offset=(0.5, "m"))
    with pytest.raises((DefinitionError, CapacityError), match=text):
        session.set("session", **values)
    client.step()
    assert session.values(["session."]) == {"session.offset": 0.5}


def test_B9_they_belong_to_one_session_and_are_unknown_after_it(client: CellClient, session: Session) -> None:
    session.set("session", offset=0.5)
    with client.open("right") as other:
        with pytest.raises(DefinitionError, match="got .session.offset.. Variables of a session exist once"):
            other.add(reactions=[Reaction("session.offset > 0", event="e")])
        other.set("session", offset=9.0)
        session.add(reactions=[Reaction("session.offset > 1", event="mixed")])
        client.step(3)
        assert not client.cell.fired("mixed")
    with pytest.raises(DefinitionError, match="word of the condition grammar"):
        session.add(Action("session", "probe"))
    memory = client.cell.executor.world.memory
    session.close()
    client.step(2)
    assert not (memory.session_variables == 0.5).any() and not (memory.session_variables == 9.0).any()


def test_B1_two_reactions_that_emit_one_event_call_each_its_own_callback(client: CellClient, session: Session) -> None:
    near: list[int] = []
    far: list[int] = []
    session.add(
        reactions=[
            Reaction(NEAR, event="changed", call=lambda e: near.append(e.tick)),
            Reaction(f"not {NEAR}", event="changed", call=lambda e: far.append(e.tick)),
        ]
    )
    ticks = come_near(client, 3)
    assert soon(lambda: len(near) == 3 and len(far) == 3)
    assert near == ticks and far == [tick - 1 for tick in ticks]
    assert [session.wait_for("changed", 1).tick for _ in range(6)] == sorted(near + far)
