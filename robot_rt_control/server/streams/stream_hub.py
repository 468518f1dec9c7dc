"""All streams between one executor and applications: samples to the loop, and those that come from it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.definitions.stream_sample import OutputSample
from robot_rt_control.memory.atomics import address_of, fence_acquire, load_acquire, store_release
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import channel_dtype, offset_of, stream_ring_dtype
from robot_rt_control.server.streams.stream_writer import StreamWriter
from robot_rt_control.server.tables.definition_store import DefinitionStore
from robot_rt_control.server.tables.entities import DefinedAction, SessionContents
from robot_rt_control.server.tables.stream_entries import StreamEntry
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

_HEAD, _TAIL = offset_of(stream_ring_dtype, "head"), offset_of(stream_ring_dtype, "tail")
_SEQUENCE = offset_of(channel_dtype, "snapshot", "sequence")
_REPORT_EVERY_S = 1.0
"""Refused samples of a stream are reported as often as that at most."""


@dataclass(frozen=True)
class OpenedStream:
    """What an application needs to write a stream."""

    length: int
    """Values in each sample."""
    rates: bool
    """Whether a sample may also carry their rates."""
    tick: int
    """The last one that ran."""
    period: float
    delay: float
    """[s] from a sample's arrival to its effect."""
    token: str = ""
    """Goes with each sample of a caller outside of this process; empty: the session is unprotected."""


@dataclass(eq=False)
class _Input:
    writer: StreamWriter
    session: str
    refused: int = 0
    """Not reported yet."""
    reason: str = ""
    reported: float = -1e9
    """When, on the server's clock."""


class StreamHub:
    """Streams of one attachment. All methods may be called from any thread.

    Args:
        channel: to the executor.
        period: of a tick [s].
        store: what is defined.
        report: called with (session, action, reason) of refused samples, at most once a second for each stream.
        clock: monotonic time [s], for that.
    """

    def __init__(
        self,
        channel: Channel,
        period: float,
        store: DefinitionStore,
        *,
        report: Callable[[str, str, str], None],
        clock: Callable[[], float],
    ) -> None:
        self._channel, self._period, self._store = channel, period, store
        self._report, self._clock = report, clock
        self._lock = threading.RLock()  # a listener may write
        self._known: Mapping[int, SessionContents] = {}
        self._inputs: dict[tuple[int, str], _Input] = {}
        self._outputs: dict[int, tuple[str, DefinedAction, StreamEntry]] = {}
        self._seen = 0
        self._closed = False

    def close(self) -> None:
        """Nothing touches the channel any more."""
        with self._lock:
            self._closed = True

    # --- time -----------------------------------------------------------------------------------

    def now(self) -> float:
        """The loop's time [s]: that of the last tick, and what has passed since."""
        memory = self._channel.memory
        if memory.simulated:
            return int(memory.loop_beat) * self._period
        for _ in range(100):
            before = load_acquire(self._channel.address + _SEQUENCE)
            tick, started = int(memory.snapshot.tick), int(memory.snapshot.time_ns)
            fence_acquire()
            if before % 2 == 0 and load_acquire(self._channel.address + _SEQUENCE) == before:
                break
        passed = (time.monotonic_ns() - started) * 1e-9
        return tick * self._period + min(max(passed, 0.0), 1.0)

    # --- inputs ---------------------------------------------------------------------------------

    def open(self, session: str, action: DefinedAction, stream: str) -> OpenedStream:
        """Get ready for a new source.

        Raises:
            DefinitionError: the action has no such stream input.
        """
        entry = self._entry(action, stream)
        with self._lock:
            writer = self._input(session, action, entry).writer
            writer.begin()
            memory = self._channel.memory
            given = float(action.prepared.values[f"{stream}_delay"])
            return OpenedStream(
                entry.n_values, writer.declared.rates, int(memory.loop_beat), self._period, max(given, 0.0)
            )

    def write(
        self,
        session: str,
        action: DefinedAction,
        stream: str,
        values: Sequence[float] | np.ndarray,
        *,
        valid: Sequence[bool] = (),
        source_time: float | None = None,
        sequence: int = 0,
        tick: int = 0,
    ) -> bool:
        """Write a sample, see `StreamWriter.write`. Returns whether the loop will see it.

        Raises:
            DefinitionError: the action has no such stream input, or the sample is not valid.
        """
        entry = self._entry(action, stream)
        settings = action.prepared.values
        with self._lock:
            if self._closed:
                return False
            found = self._input(session, action, entry)
            try:
                reason = found.writer.write(
                    values,
                    valid=valid,
                    source_time=source_time,
                    sequence=sequence,
                    tick=tick,
                    now=self.now(),
                    gap=str(settings[f"{stream}_gap"]),
                    delay=float(settings[f"{stream}_delay"]),
                )
            except DefinitionError as error:
                self._refuse(found, action.id, str(error))
                raise
            if reason:
                self._refuse(found, action.id, f"{found.writer.of}: {reason}")
        return not reason

    def _entry(self, action: DefinedAction, stream: str) -> StreamEntry:
        for entry in action.entry.streams:
            if entry.declared.name == stream and not entry.is_output:
                return entry
        known = [s.name for s in action.type.declared.stream_inputs]
        raise DefinitionError(
            f"action {action.id!r} (type {action.type.name!r}) has no stream input {stream!r}",
            expected=unknown("stream input", stream, known),
            got=repr(stream),
        )

    def _input(self, session: str, action: DefinedAction, entry: StreamEntry) -> _Input:
        key = (action.entry.identity, entry.declared.name)
        found = self._inputs.get(key)
        if found is None:
            name = entry.declared.name
            declared = next(s for s in action.type.declared.stream_inputs if s.name == name)
            writer = StreamWriter(
                f"stream {name!r} of action {action.id!r}",
                declared,
                entry.n_values,
                self._channel.memory.streams[entry.place],
                action.entry.identity,
                self._period,
            )
            found = self._inputs[key] = _Input(writer, session)
        return found

    def _refuse(self, found: _Input, action: str, reason: str) -> None:
        found.refused += 1
        found.reason = f"{action}\n{reason}"
        self._tell(found)

    def _tell(self, found: _Input) -> None:
        if found.refused == 0 or self._clock() - found.reported < _REPORT_EVERY_S:
            return
        action, _, reason = found.reason.partition("\n")
        count = "" if found.refused == 1 else f" ({found.refused} samples since the last report)"
        found.refused, found.reported = 0, self._clock()
        self._report(found.session, action, f"a sample was refused: {reason}{count}")

    def poll(self) -> None:
        """Report what was refused and has not been reported yet."""
        with self._lock:
            for found in self._inputs.values():
                self._tell(found)

    # --- outputs --------------------------------------------------------------------------------

    def take(self) -> list[OutputSample]:
        """What actions have written since the last call, in the order of each stream."""
        with self._lock:
            if self._closed:
                return []
            self._notice_changes()
            if not self._outputs:
                return []
            written = int(self._channel.memory.samples_out)
            if written == self._seen:
                return []
            self._seen = written
            return [sample for place in self._outputs for sample in self._take(place)]

    def _notice_changes(self) -> None:
        """Of what is defined: each change makes a new mapping of sessions."""
        sessions = self._store.sessions
        if sessions is self._known:
            return
        self._known = sessions
        defined = [
            (self._store.directory.session_id(s.identity), a) for s in sessions.values() for a in s.actions.values()
        ]
        identities = {a.entry.identity for _, a in defined}
        self._inputs = {key: found for key, found in self._inputs.items() if key[0] in identities}
        self._outputs = {e.place: (s, a, e) for s, a in defined for e in a.entry.streams if e.is_output}

    def _take(self, place: int) -> list[OutputSample]:
        session, action, entry = self._outputs[place]
        ring = self._channel.memory.streams[place]
        address = address_of(ring)
        head, tail = load_acquire(address + _HEAD), int(ring.tail)
        if head == tail:
            return []
        rows = ring.entries[np.arange(tail, head) % capacities.STREAM_RING_ENTRIES]
        store_release(address + _TAIL, head)
        return [
            OutputSample(
                session=session,
                action=action.id,
                stream=entry.declared.name,
                sequence=int(row["sequence"]),
                tick=int(row["tick"]),
                time=float(row["time"]),
                values=tuple(float(v) for v in row["values"][: entry.n_values]),
            )
            for row in rows
            if row["identity"] == action.entry.identity
        ]
