"""The control server's end of the channel: commands and their answers, installations, and the stream of events.

Who waits for an answer sleeps until the dispatcher has seen it. The dispatcher is a thread of its own
(`start`) or, if executor and server share one process and one thread, the one that waits.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from robot_rt_control.memory.channel import Channel
from robot_rt_control.server.link.transactions import Answer, InstallRefused, Posted, Waiter, transaction_row
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import Command, EventKind, Refusal
from robot_rt_control.vocabulary.errors import CapacityError, ChannelError, DefinitionError

_log = logging.getLogger(__name__)

_LAST_TICK = 2**63 - 1
"""That a command can name; later ones are too far ahead as well."""
TIMEOUT_S = 2.0
"""How long the executor may take to answer; in simulated time SIMULATED_PATIENCE times as long."""
_WAKE_S = 0.1
"""The dispatcher looks this often whether the executor lives."""


class _Silent(ChannelError):
    """The executor did not answer in time."""


class ExecutorLink:
    """Sends transactions and hands out what comes back. All methods may be called from any thread.

    Args:
        channel: attached or private.
        on_event: called for every event of the loop, in order, in the dispatcher's thread, before the
            caller who waits for it goes on. It must not send commands or install.
        on_lost: called once with the reason when the executor is gone; in the dispatcher's thread or that of `install`.
        while_waiting: where the executor lives in this thread: lets it do its part; called instead of sleeping.
        first_transaction: numbers of transactions that another server may have left in the ring are below this one.
    """

    def __init__(
        self,
        channel: Channel,
        *,
        on_event: Callable[[np.record], None],
        on_lost: Callable[[str], None],
        while_waiting: Callable[[], None] | None = None,
        first_transaction: int = 1,
    ) -> None:
        self._channel, self._on_event, self._on_lost = channel, on_event, on_lost
        self._while_waiting = while_waiting
        self.after_dispatch: Callable[[], None] = lambda: None
        """Called when the loop has rung, after the events, in the dispatcher's thread."""
        self.told = (int(channel.memory.loop_beat), int(channel.memory.snapshot.time_ns))
        """The last tick whose events were all handed out, and its start [ns]."""
        self.latest = self.told
        """The tick of the last event that was handed out, or a later one."""
        self._sending = threading.Lock()
        self._dispatching = threading.Lock()
        self._transaction = first_transaction - 1
        self._waiters: dict[int, Waiter] = {}
        self._versions: dict[int, Waiter] = {}
        self._lost = ""
        simulated = bool(channel.memory.simulated) and while_waiting is None
        self._patience = defaults.SIMULATED_PATIENCE if simulated else 1.0
        self.gated = bool(channel.memory.gated)
        """Whether the loop ticks on request only."""
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    # --- life -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the dispatcher's thread."""
        self._thread = threading.Thread(target=self._run, name="event dispatcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the dispatcher; requests that still wait get an error. Afterwards the link does not touch the channel."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        with self._sending:  # no request is being sent, and none begins
            self._fail_waiters("the control server is shutting down")

    @property
    def lost(self) -> str:
        """Why the executor is gone; empty: it is there."""
        return self._lost

    def _run(self) -> None:
        while not self._stopping.is_set() and not self._lost:
            self._channel.wait_for_events(_WAKE_S)
            self.dispatch()

    def dispatch(self) -> int:
        """Hand out the events that have come; returns how many. Also notices the executor's end."""
        with self._dispatching:
            memory = self._channel.memory
            told = int(memory.loop_beat), int(memory.snapshot.time_ns)  # first: a tick has all its events at its end
            events = self._channel.take_events()
            for event in events:
                self.latest = max(self.latest, (int(event["tick"]), int(event["time_ns"])))
                self._hand_out(event)
                self._answer(event)
            self.told = max(self.told, told)
            self.latest = max(self.latest, told)
            self.after_dispatch()
        self._check_alive()
        return len(events)

    def _hand_out(self, event: np.record) -> None:
        try:
            self._on_event(event)
        except Exception:  # a listener's mistake must not end the dispatcher
            if self._thread is None:
                raise
            _log.exception("An event could not be handled")

    def _answer(self, event: np.record) -> None:
        kind = int(event["kind"])
        waiter = None
        if kind in (EventKind.COMMAND_DONE, EventKind.COMMAND_REFUSED):
            waiter = self._waiters.pop(int(event["transaction"]), None)
        elif kind in (EventKind.TABLES_INSTALLED, EventKind.REPLACE_REFUSED):
            waiter = self._versions.pop(int(event["transaction"]), None)
        if waiter is not None:
            waiter.event = event
            waiter.done.set()

    def _check_alive(self) -> None:
        if self._lost:
            return
        if not self._channel.executor_alive():
            self._lose("the executor has ended")

    def _lose(self, reason: str) -> None:
        self._fail_waiters(reason)
        self._on_lost(reason)

    def _fail_waiters(self, reason: str) -> None:
        self._lost = self._lost or reason
        for pending in (self._waiters, self._versions):
            while pending:
                pending.popitem()[1].done.set()

    # --- commands -------------------------------------------------------------------------------

    def send(
        self,
        command: Command,
        *,
        session: int = 0,
        actions: Sequence[tuple[int, int]] = (),
        part: int = -1,
        signal: int = 0,
        value: float = 0.0,
        target_tick: int = 0,
        record: np.record | None = None,
        on_transaction: Callable[[int], None] | None = None,
    ) -> Answer:
        """Send one transaction and wait for the loop's answer (not where the loop is gated).

        Args:
            session: identity of the session.
            actions: (slot, identity) of each action.
            target_tick: 0: the next tick.
            record: what it carries beside itself.
            on_transaction: called with the transaction's number before the loop can see it.

        Raises:
            CapacityError: too many actions, or the command ring is full.
            ChannelError: the executor is gone or silent.
        """
        row = transaction_row(command, session=session, actions=actions)
        row.part, row.signal, row.value = part, signal, value
        row.target_tick = min(target_tick, _LAST_TICK)
        beside = None if record is None else np.frombuffer(record.tobytes(), np.uint8)
        row.record_size = 0 if beside is None else len(beside)
        return self.answer(self._post(row, beside, on_transaction))

    def post_parameters(self, session: int, action: tuple[int, int] | None, parameters: np.ndarray) -> Posted:
        """Send an action's new parameter record, or a session's variables; `answer` waits for what the loop says to it.

        So that the order of several callers' records can be kept while nobody waits for anybody's answer.

        Args:
            session: identity of the session.
            action: its (slot, identity); None: these are the session's variables.
            parameters: bytes, shape (size,), at most PARAMETER_UPDATE_BYTES.

        Raises:
            as `send`.
        """
        actions = [] if action is None else [action]
        row = transaction_row(Command.SET_PARAMETERS, session=session, actions=actions)
        row.part, row.record_size = -1, len(parameters)
        return self._post(row, parameters, None)

    def post_changes(self, session: int, action: tuple[int, int], changes: np.ndarray, *, start: bool) -> Posted:
        """Send what changes of an action's parameter record, as `changes_of` gives it; `answer` as above.

        Args:
            action: its (slot, identity).
            start: start it in the same tick; it must not be active.

        Raises:
            as `send`.
        """
        row = transaction_row(Command.START if start else Command.SET_PARAMETERS, session=session, actions=[action])
        row.part, row.signal, row.record_size = -1, 0 if start else 1, len(changes)
        return self._post(row, changes, None)

    def _post(
        self, row: np.record, parameters: np.ndarray | None, on_transaction: Callable[[int], None] | None
    ) -> Posted:
        waiter = Waiter()
        with self._sending:
            self._refuse_if_lost()
            self._transaction += 1
            transaction = self._transaction
            row.transaction = transaction
            until_due = self._time_until(int(row.target_tick))
            if not self.gated:
                self._waiters[transaction] = waiter
            if on_transaction is not None:
                on_transaction(transaction)
            if not self._channel.push_command(row, parameters):
                self._waiters.pop(transaction, None)
                raise CapacityError(
                    "the command ring is full",
                    expected=f"at most {capacities.COMMAND_RING_ENTRIES} commands (COMMAND_RING_ENTRIES)",
                    hint="Let the loop step before sending more" if self.gated else "Is the real-time thread running?",
                )
        timeout_s = (TIMEOUT_S + until_due) * self._patience
        return Posted(transaction, f"command {Command(int(row.command)).name}", timeout_s, waiter)

    def answer(self, posted: Posted) -> Answer:
        """Wait for the loop's answer to a transaction (not where the loop is gated).

        Raises:
            ChannelError: the executor is gone or silent.
        """
        if self.gated:
            return Answer(queued=True, transaction=posted.transaction)
        try:
            event = self._wait(posted.waiter, posted.timeout_s, posted.what)
        finally:
            self._waiters.pop(posted.transaction, None)
        return _answer(event)

    @property
    def is_idle(self) -> bool:
        """Whether the loop has taken all commands."""
        return self._channel.commands_taken

    def _time_until(self, tick: int) -> float:
        """[s] until a tick is due, at the nominal period."""
        if tick == 0:
            return 0.0
        memory = self._channel.memory
        return float(max(tick - int(memory.loop_beat), 0) * int(memory.period_ns) * 1e-9)

    # --- installations --------------------------------------------------------------------------

    def install(self, write: Callable[[np.record], int]) -> int:
        """Have new tables installed. One caller at a time.

        Args:
            write: fills the staging area and returns the version of the tables.

        Returns:
            The tick that took them; 0 where the loop is gated: the next step takes them.

        Raises:
            CapacityError: they do not fit; nothing has changed.
            DefinitionError: the executor refused them; nothing has changed.
            InstallRefused: the loop refused to start actions with them; nothing has changed.
            ChannelError: the executor is gone, or silent: then it counts as gone from now on.
        """
        self._refuse_if_lost()
        channel, staging = self._channel, self._channel.memory.staging
        version = write(staging)
        waiter = Waiter()
        self._versions[version] = waiter
        try:
            request, timeout_s = channel.request_install(), TIMEOUT_S * self._patience
            self._sleep_until(lambda: channel.install_answered(request), timeout_s, "an installation")
            if not staging.accepted:
                raise DefinitionError(f"the executor refused the definitions: {bytes(staging.reason).decode()}")
            if self.gated:
                return 0
            event = self._wait(waiter, timeout_s, "an installation")
            if event["kind"] == EventKind.REPLACE_REFUSED:
                raise InstallRefused(_answer(event))
            return int(event["tick"])
        except _Silent as silent:  # nobody knows which tables it has, or will have
            self._lose(silent.what)
            raise
        finally:
            self._versions.pop(version, None)

    # --- waiting --------------------------------------------------------------------------------

    def _wait(self, waiter: Waiter, timeout_s: float, what: str) -> np.record:
        if self._thread is None:
            self._sleep_until(waiter.done.is_set, timeout_s, what)
        elif not waiter.done.wait(timeout_s):
            raise self._silent(what, timeout_s)
        if waiter.event is None:
            raise ChannelError(f"{what} was not answered: {self._lost}", hint="Start the executor again")
        return waiter.event

    def _sleep_until(self, condition: Callable[[], bool], timeout_s: float, what: str) -> None:
        deadline = time.monotonic() + timeout_s
        while not condition():
            self._refuse_if_lost()
            if time.monotonic() > deadline:
                raise self._silent(what, timeout_s)
            if self._while_waiting is not None:
                self._while_waiting()
            else:
                time.sleep(0.0002)
            if self._thread is None:
                self.dispatch()

    def _refuse_if_lost(self) -> None:
        if self._lost:
            raise ChannelError(f"there is no executor: {self._lost}", hint="Start the executor again")

    @staticmethod
    def _silent(what: str, timeout_s: float) -> _Silent:
        return _Silent(
            f"the executor did not answer {what} within {timeout_s:g} s",
            hint="Is the executor active, and its real-time thread running?",
        )


def _answer(event: np.record) -> Answer:
    """What the loop's event (`layout.event_dtype`) answers."""
    refusal = Refusal.NONE if event["kind"] == EventKind.COMMAND_DONE else Refusal(int(event["reason"]))
    tick, transaction = int(event["tick"]), int(event["transaction"])
    return Answer(queued=False, tick=tick, refusal=refusal, transaction=transaction, event=event)
