"""All that lives as long as the control server is attached to one executor."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import numpy as np

from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import stop_dtype
from robot_rt_control.recording.fault_log import promised_log
from robot_rt_control.server.events.session_ends import Stamp
from robot_rt_control.server.link.executor_link import ExecutorLink
from robot_rt_control.server.link.heartbeat import Heartbeats
from robot_rt_control.server.preparer.part_view import PartView
from robot_rt_control.server.profiler.profilers import Profilers
from robot_rt_control.server.streams.stream_hub import StreamHub
from robot_rt_control.server.tables.definer import Definer
from robot_rt_control.server.tables.definition_store import DefinitionStore
from robot_rt_control.server.tables.directory import Directory
from robot_rt_control.server.tables.preparation import Preparer
from robot_rt_control.server.types.action_types import ActionTypes
from robot_rt_control.vocabulary.enums import EventKind

_EPOCH_BITS = 40
"""So many identities fit between two attachments."""


class Attachment:
    """The channel, the link over it, what is defined, and the heartbeats.

    Args:
        channel: attached (`Channel.attach`) or private.
        types: the action types, built.
        parts: of the workcell, in its order.
        variables: state variables of parts and system, by full name.
        on_event: see ExecutorLink; called after the attachment itself has taken notice.
        on_lost: see ExecutorLink.
        while_waiting: see ExecutorLink; given, there are no threads at all.
        period: of a tick [s].
        after_dispatch: called after events were handed out: sessions may have ended, stream outputs may have samples.
        on_refused_sample: see StreamHub.
        clock: likewise.
    """

    def __init__(
        self,
        channel: Channel,
        types: ActionTypes,
        parts: Mapping[str, PartView],
        variables: Mapping[str, VariableRef],
        *,
        on_event: Callable[[np.record], None],
        on_lost: Callable[[str], None],
        while_waiting: Callable[[], None] | None,
        period: float,
        after_dispatch: Callable[[], None],
        on_refused_sample: Callable[[str, str, str], None],
        clock: Callable[[], float],
    ) -> None:
        self.channel = channel
        self.epoch = int(channel.memory.server_epoch)
        base = self.epoch << _EPOCH_BITS
        self.directory = Directory()
        self._on_event = on_event
        self.link = ExecutorLink(
            channel, on_event=self._take, on_lost=on_lost, while_waiting=while_waiting, first_transaction=base + 1
        )
        self.link.after_dispatch = after_dispatch
        self.profilers = Profilers(channel)
        self.store = DefinitionStore(
            types,
            self.link.install,
            self.directory,
            base,
            profilers=self.profilers,
            period=period,
            gated=self.link.gated,
        )
        self.preparer = Preparer(types, parts, period)
        self.streams = StreamHub(
            channel,
            period,
            self.store,
            self.preparer,
            report=on_refused_sample,
            clock=clock,
            threads=while_waiting is None,
        )
        self.definer = Definer(self.store, self.preparer, variables)
        self.system_identity = self.store.new_identity()
        self.ending: dict[int, int] = {}
        """Transaction → session that it ends."""
        self._ended: list[tuple[int, Stamp]] = []
        self._last_event: tuple[int, int] = (0, 0)
        self._dropped: set[int] = set()
        self._events_lost = int(channel.memory.snapshot.events_lost)
        self._reading = threading.Lock()  # nobody may read the channel while it is unmapped
        self._closed = False
        self._heartbeats = Heartbeats(channel) if while_waiting is None else None

    def start(self) -> None:
        """Start heartbeats and dispatcher: from now on events come."""
        if self._heartbeats is not None:
            self._heartbeats.start()
            self.link.start()

    def close(self) -> None:
        """Leave the executor: the loop brings all sessions' parts to safety. Afterwards nobody touches the channel."""
        self.preparer.close()
        self.link.stop()
        if self._heartbeats is not None:
            self._heartbeats.stop()
        with self._reading:
            self._closed = True
            self.streams.close()
            self.profilers.close()
            self.channel.release_server()
            self.channel.close()

    @property
    def without_threads(self) -> bool:
        """Whether `poll` has to hand out the events."""
        return self._heartbeats is None

    def now(self) -> tuple[int, int]:
        """The last tick and its start time [ns]; not of one snapshot, for messages only."""
        with self._reading:
            if self._closed:
                return 0, 0
            memory = self.channel.memory
            return int(memory.loop_beat), int(memory.snapshot.time_ns)

    def snapshot(self) -> np.record | None:
        """The last tick's snapshot, a copy; None: there was no tick yet, or the attachment is closed."""
        with self._reading:
            if self._closed:
                return None
            snapshot = self.channel.snapshot()
        return snapshot if snapshot.tick > 0 else None

    def stops(self) -> np.ndarray:
        """The places of protective stops, a copy, of `layout.stop_dtype`; none: the attachment is closed."""
        with self._reading:
            return np.zeros(0, stop_dtype) if self._closed else self.channel.stops()

    def fault_file(self, number: int) -> str:
        """The file of the log with this number, on the executor's machine; empty: there is none."""
        with self._reading:
            return "" if self._closed else promised_log(bytes(self.channel.memory.fault_files), number)

    def guarded(self, sessions: int) -> None:
        """Tell the executor how many open sessions with a secret hold parts."""
        with self._reading:
            if not self._closed:
                self.channel.memory.guarded_sessions = sessions

    def figures(self) -> tuple[np.record, tuple[float, float, float]] | None:
        """The snapshot, and of the loop since its start: missed deadlines, longest tick [s], latest start [s]."""
        snapshot = self.snapshot()
        with self._reading:
            if snapshot is None or self._closed:
                return None
            timing = self.channel.memory.timing
            longest, latest = float(timing.max_compute_ns), float(timing.max_lateness_ns)
            return snapshot, (float(timing.deadline_misses), longest * 1e-9, latest * 1e-9)

    def take_ended(self) -> list[tuple[int, Stamp]]:
        """Sessions that the loop has ended on request since the last call, and when. In the dispatcher's thread."""
        ended, self._ended = self._ended, []
        return ended

    def new_losses(self) -> int:
        """How many events the loop has had no room for since this was asked last."""
        with self._reading:
            if self._closed:
                return 0
            lost, before = int(self.channel.memory.snapshot.events_lost), self._events_lost
        self._events_lost = lost
        return lost - before

    def signal_dropped(self, transaction: int) -> bool:
        """Whether the signal that this transaction raised was dropped. To be asked once."""
        if transaction in self._dropped:
            self._dropped.discard(transaction)
            return True
        return False

    def knows(self, event: np.record) -> bool:
        """Whether an event concerns this server: actions of a server before it may still end."""
        session = int(event["session"])
        return session == 0 or session in self.directory.sessions

    def _take(self, event: np.record) -> None:
        kind, transaction = int(event["kind"]), int(event["transaction"])
        if kind == EventKind.TABLES_INSTALLED:
            self.store.taken(transaction)
        elif kind == EventKind.REPLACE_REFUSED:
            self.store.refused(transaction)
        elif kind in (EventKind.COMMAND_DONE, EventKind.COMMAND_REFUSED):
            ended = self.ending.pop(transaction, None)
            if ended is not None:
                self._ended.append((ended, (int(event["tick"]), int(event["time_ns"]))))
                self.store.retiring.add(ended)
            # The loop reports a dropped signal right before it answers the command that raised it.
            if self._last_event == (EventKind.SIGNAL_DROPPED, int(event["tick"])) and not self.link.gated:
                self._dropped.add(transaction)
        self._last_event = (kind, int(event["tick"]))
        if self.knows(event):
            self._on_event(event)
