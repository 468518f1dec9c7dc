"""The link to the executor, against a loop that is played by the test."""

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from robot_rt_control.memory.channel import Channel
from robot_rt_control.server.link import executor_link
from robot_rt_control.server.link.executor_link import ExecutorLink
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import Command, EventKind, Refusal
from robot_rt_control.vocabulary.errors import CapacityError, ChannelError, DefinitionError


class Loop:
    """Plays the executor: answers what the test tells it to answer."""

    def __init__(self) -> None:
        self.channel = Channel.private()
        self.alive = True
        self.channel.executor_alive = lambda: self.alive  # type: ignore[method-assign]
        self.tick = 100
        self.commands: list[np.record] = []
        self.refusal = Refusal.NONE
        self.silent = False
        self.before_answer: Callable[[], None] = lambda: None
        self.install_error = ""
        self.events: list[int] = []
        self.lost: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def link(self) -> ExecutorLink:
        return ExecutorLink(
            self.channel, on_event=lambda e: self.events.append(int(e["kind"])), on_lost=self.lost.append
        )

    def tell(self, kind: EventKind, *, transaction: int = 0, reason: int = 0) -> None:
        ring = self.channel.memory.events
        event = ring.entries[int(ring.head) % capacities.EVENT_RING_ENTRIES]
        event.kind, event.transaction, event.reason, event.tick = int(kind), transaction, reason, self.tick
        ring.head = int(ring.head) + 1
        self.channel.ring_events()

    def _run(self) -> None:
        ring = self.channel.memory.commands
        while not self._stop.wait(0.001):
            self.tick += 1
            if self.silent:
                continue
            while ring.tail < ring.head:
                command = ring.entries[int(ring.tail) % capacities.COMMAND_RING_ENTRIES].copy()
                ring.tail = int(ring.tail) + 1
                self.commands.append(command)
                self.before_answer()
                kind = EventKind.COMMAND_REFUSED if self.refusal else EventKind.COMMAND_DONE
                self.tell(kind, transaction=int(command["transaction"]), reason=int(self.refusal))
            if self.channel.install_requested():
                version = int(self.channel.memory.staging.tables.version)
                self.channel.answer_install(not self.install_error, self.install_error)
                if not self.install_error:
                    self.tell(EventKind.TABLES_INSTALLED, transaction=version)

    def close(self) -> None:
        self._stop.set()
        self._thread.join()


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.close()


@pytest.fixture
def link(loop: Loop) -> Iterator[ExecutorLink]:
    made = loop.link()
    made.start()
    yield made
    made.stop()


def version_writer(version: int) -> Callable[[np.record], int]:
    def write(staging: np.record) -> int:
        staging.tables.version = version
        return version

    return write


def test_a_command_is_answered_with_its_tick(loop: Loop, link: ExecutorLink) -> None:
    answer = link.send(Command.START, session=5, actions=[(3, 33), (4, 44)], target_tick=0)
    assert (answer.queued, answer.refusal) == (False, Refusal.NONE)
    assert 100 < answer.tick <= loop.tick
    (command,) = loop.commands
    assert (command.command, command.session, command.n_actions) == (Command.START, 5, 2)
    assert (list(command.actions[:2]), list(command.identities[:2])) == ([3, 4], [33, 44])
    assert loop.events == [EventKind.COMMAND_DONE]


def test_a_refusal_is_told(loop: Loop, link: ExecutorLink) -> None:
    loop.refusal = Refusal.PARTS_OVERLAP
    assert link.send(Command.STOP, session=1, actions=[(0, 1)]).refusal == Refusal.PARTS_OVERLAP


def test_listeners_hear_everything_before_the_caller_goes_on(loop: Loop, link: ExecutorLink) -> None:
    loop.before_answer = lambda: loop.tell(EventKind.ACTION_STARTED)
    link.send(Command.START, session=1, actions=[(0, 1)])
    assert loop.events == [EventKind.ACTION_STARTED, EventKind.COMMAND_DONE]


def test_many_threads_get_their_own_answers(loop: Loop, link: ExecutorLink) -> None:
    transactions: list[int] = []
    threads = [
        threading.Thread(target=lambda: transactions.append(link.send(Command.STOP_SESSION, session=1).transaction))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(transactions) == list(range(1, 21))
    assert [int(c.transaction) for c in loop.commands] == sorted(int(c.transaction) for c in loop.commands)


def test_too_many_actions_are_refused_here(link: ExecutorLink) -> None:
    with pytest.raises(CapacityError, match=r"expected at most 64 \(MAX_ACTIONS_PER_COMMAND\); got 65"):
        link.send(Command.START, session=1, actions=[(i, i + 1) for i in range(65)])


def test_a_silent_executor_is_an_error_in_time(loop: Loop, link: ExecutorLink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_link, "TIMEOUT_S", 0.05)
    loop.silent = True
    with pytest.raises(ChannelError, match="did not answer command SET_SPEED within 0.05 s"):
        link.send(Command.SET_SPEED, value=0.5)
    assert not link.lost, "one late answer is not the end"
    loop.silent = False
    monkeypatch.setattr(executor_link, "TIMEOUT_S", 2.0)
    assert not link.send(Command.SET_SPEED, value=0.5).queued


def test_the_executors_end_wakes_whoever_waits(loop: Loop, link: ExecutorLink) -> None:
    loop.silent = True
    errors: list[str] = []

    def send() -> None:
        try:
            link.send(Command.STOP_SESSION, session=1)
        except ChannelError as error:
            errors.append(str(error))

    thread = threading.Thread(target=send)
    thread.start()
    time.sleep(0.02)
    loop.alive = False
    thread.join()
    assert errors == ["command STOP_SESSION was not answered: the executor has ended. Start the executor again"]
    assert loop.lost == ["the executor has ended"]
    with pytest.raises(ChannelError, match="there is no executor: the executor has ended"):
        link.send(Command.STOP_SESSION, session=1)
    with pytest.raises(ChannelError, match="there is no executor: the executor has ended"):
        link.install(version_writer(1))


def test_a_full_ring_is_refused(loop: Loop) -> None:
    loop.silent = True
    loop.channel.memory.gated = 1
    gated = loop.link()
    for _ in range(capacities.COMMAND_RING_ENTRIES):
        assert gated.send(Command.SET_SPEED, value=1.0).queued
    with pytest.raises(CapacityError, match=r"the command ring is full; expected at most 1024 commands"):
        gated.send(Command.SET_SPEED, value=1.0)


def test_an_installation_ends_when_the_loop_has_taken_it(loop: Loop, link: ExecutorLink) -> None:
    tick = link.install(version_writer(41))
    assert 100 < tick <= loop.tick
    assert loop.events == [EventKind.TABLES_INSTALLED]


def test_a_refused_installation_gives_the_executors_reason(loop: Loop, link: ExecutorLink) -> None:
    loop.install_error = "program tables refused: sessions"
    with pytest.raises(DefinitionError, match="the executor refused the definitions: program tables refused: sessions"):
        link.install(version_writer(41))
    loop.install_error = ""
    assert link.install(version_writer(42)) > 0


def test_an_executor_that_is_silent_about_an_installation_counts_as_lost(
    loop: Loop, link: ExecutorLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_link, "TIMEOUT_S", 0.05)
    loop.silent = True
    with pytest.raises(ChannelError, match="did not answer an installation within 0.05 s"):
        link.install(version_writer(1))
    assert loop.lost == ["the executor did not answer an installation within 0.05 s"]


def test_a_gated_loop_is_not_waited_for(loop: Loop) -> None:
    loop.channel.memory.gated = 1
    gated = loop.link()
    assert gated.send(Command.SET_SPEED, value=1.0).queued
    assert gated.install(version_writer(3)) == 0


def test_a_listener_that_fails_does_not_end_the_dispatcher(loop: Loop, caplog: pytest.LogCaptureFixture) -> None:
    def fail(event: np.record) -> None:
        raise ValueError("a listener's mistake")

    link = ExecutorLink(loop.channel, on_event=fail, on_lost=loop.lost.append)
    link.start()
    try:
        assert not link.send(Command.SET_SPEED, value=1.0).queued
        assert not link.send(Command.SET_SPEED, value=1.0).queued
    finally:
        link.stop()
    assert "a listener's mistake" in caplog.text
    with pytest.raises(ChannelError, match="there is no executor: the control server is shutting down"):
        link.send(Command.SET_SPEED, value=1.0)
