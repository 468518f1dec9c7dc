"""All streams between one executor and applications: samples to the loop, and those that come from it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue

import numpy as np

from robot_rt_control.definitions.stream_sample import OutputSample
from robot_rt_control.memory.atomics import address_of, fence_acquire, load_acquire, store_release
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import channel_dtype, offset_of, stream_ring_dtype
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.streams.resampler import Resampler
from robot_rt_control.server.streams.stream_writer import ArrivedSample, StreamWriter
from robot_rt_control.server.tables.definition_store import DefinitionStore
from robot_rt_control.server.tables.entities import DefinedAction, SessionContents
from robot_rt_control.server.tables.preparation import Preparer
from robot_rt_control.server.tables.stream_entries import StreamEntry
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, unknown

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
    session: Session
    resampler: Resampler | None
    """What makes other samples from those that arrive."""
    opened: bool = False
    """The next sample is a new source's."""
    closed: bool = False
    """Its action is gone."""
    time_line: int = 0
    """That the resampler has begun with, see `StreamWriter.time_lines`."""
    refused: int = 0
    """Not reported yet."""
    reason: str = ""
    reported: float = -1e9
    """When, on the server's clock."""
    waiting: SimpleQueue[tuple[DefinedAction, ArrivedSample] | None] = field(default_factory=SimpleQueue)
    """Samples for the resampler's thread; None: it ends."""
    thread: threading.Thread | None = None


class StreamHub:
    """Streams of one attachment. All methods may be called from any thread.

    Args:
        channel: to the executor.
        period: of a tick [s].
        store: what is defined.
        preparer: has the objects of actions that resample.
        report: called with (session, action, reason) of refused samples, at most once a second for each stream.
        clock: monotonic time [s], for that.
        threads: a stream that is resampled has a thread of its own; otherwise `write` waits for its function.
    """

    def __init__(
        self,
        channel: Channel,
        period: float,
        store: DefinitionStore,
        preparer: Preparer,
        *,
        report: Callable[[str, str, str], None],
        clock: Callable[[], float],
        threads: bool,
    ) -> None:
        self._channel, self._period, self._store = channel, period, store
        self._preparer, self._report, self._clock, self._threads = preparer, report, clock, threads
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
            for found in self._inputs.values():
                self._leave(found)

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

    def open(self, session: Session, action: DefinedAction, stream: str) -> OpenedStream:
        """Get ready for a new source.

        Raises:
            DefinitionError: the action has no such stream input.
        """
        entry = self._entry(action, stream)
        with self._lock:
            found = self._input(session, action, entry)
            found.opened = True
            memory = self._channel.memory
            given = float(action.prepared.values[f"{stream}_delay"])
            return OpenedStream(
                entry.n_values, found.writer.declared.rates, int(memory.loop_beat), self._period, max(given, 0.0)
            )

    def write(
        self,
        session: Session,
        action: DefinedAction,
        stream: str,
        values: Sequence[float] | np.ndarray,
        *,
        valid: Sequence[bool] = (),
        source_time: float | None = None,
        sequence: int = 0,
        tick: int = 0,
    ) -> bool:
        """Write a sample, see `StreamWriter`. Returns whether the loop, or the stream's own function, will see it.

        Raises:
            DefinitionError: the action has no such stream input, or the sample is not valid.
        """
        entry = self._entry(action, stream)
        with self._lock:
            if self._closed:
                return False
            found = self._input(session, action, entry)
            try:
                sample = found.writer.arrived(
                    values, valid=valid, source_time=source_time, sequence=sequence, tick=tick, now=self.now()
                )
            except DefinitionError as error:
                self._refuse(found, action.id, str(error))
                raise
            if found.resampler is None or not self._threads:
                return self._write(found, action, sample)
            if found.waiting.qsize() >= capacities.STREAM_QUEUE:
                reason = f"{capacities.STREAM_QUEUE} samples wait for its function: it is slower than its source"
                self._refuse(found, action.id, f"{found.writer.of}: {reason}")
                return False
            found.waiting.put((action, sample))
            if found.thread is None:
                found.thread = threading.Thread(target=self._serve, args=(found,), daemon=True, name=found.writer.of)
                found.thread.start()
            return True

    def _serve(self, found: _Input) -> None:
        """The thread of a stream that is resampled: it alone uses the stream's writer."""
        while (job := found.waiting.get()) is not None and not found.closed:
            with suppress(RobotControlError):  # it was reported
                self._write(found, *job)

    def _write(self, found: _Input, action: DefinedAction, sample: ArrivedSample) -> bool:
        """Returns whether the loop will see it. Raises RobotControlError: its function has failed, or what it made."""
        writer, resampler, settings = found.writer, found.resampler, action.prepared.values
        if found.opened:
            writer.begin()
        found.opened = False
        source, reason = writer.order(sample)
        if resampler is not None and found.time_line != writer.time_lines:
            resampler.begin()
        found.time_line = writer.time_lines
        name = writer.declared.name
        try:
            made = None
            if resampler is not None and not reason:
                given = sample.values if writer.declared.rates else sample.values[0]
                made = resampler.call(action.prepared, source, given)
            with self._lock:
                if self._closed:
                    return False
                gap = str(settings[f"{name}_gap"])
                delay, timeout = float(settings[f"{name}_delay"]), float(settings[f"{name}_timeout"])
                reason = reason or writer.write(
                    sample, source, now=self.now(), gap=gap, delay=delay, timeout=timeout, made=made
                )
                if reason:
                    self._refuse(found, action.id, f"{writer.of}: {reason}")
        except RobotControlError as error:
            self._refuse(found, action.id, str(error))
            raise
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

    def _input(self, session: Session, action: DefinedAction, entry: StreamEntry) -> _Input:
        key = (action.entry.identity, entry.declared.name)
        found = self._inputs.get(key)
        if found is None:
            name = entry.declared.name
            declared = next(s for s in action.type.declared.stream_inputs if s.name == name)
            of = f"stream {name!r} of action {action.id!r}"
            resampled = name in action.type.declared.resampled
            writer = StreamWriter(
                of,
                declared,
                action.prepared.parts[0].joint_units,
                self._channel.memory.streams[entry.place],
                action.entry.identity,
                self._period,
                resampled=resampled,
                # In simulated time the source's clock need not run as the loop's does.
                drift=math.inf if self._channel.memory.simulated else defaults.STREAM_DRIFT,
            )
            resampler = Resampler(of, key, self._preparer, session) if resampled else None
            found = self._inputs[key] = _Input(writer, session, resampler)
        return found

    def _leave(self, found: _Input) -> None:
        """The input's action is gone, or the executor."""
        found.closed = True
        found.waiting.put(None)
        if found.resampler is not None:
            found.resampler.leave()

    def _refuse(self, found: _Input, action: str, reason: str) -> None:
        with self._lock:
            if found.closed or found.session.end_reason:
                return
            found.refused += 1
            found.reason = f"{action}\n{reason}"
            self._tell(found)

    def _tell(self, found: _Input) -> None:
        if found.refused == 0 or self._clock() - found.reported < _REPORT_EVERY_S:
            return
        action, _, reason = found.reason.partition("\n")
        count = "" if found.refused == 1 else f" ({found.refused} samples since the last report)"
        found.refused, found.reported = 0, self._clock()
        self._report(found.session.id, action, f"a sample was refused: {reason}{count}")

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
        """Take over what is defined, if it has changed: each change makes a new mapping of sessions."""
        sessions = self._store.sessions
        if sessions is self._known:
            return
        self._known = sessions
        defined = [
            (self._store.directory.session_id(s.identity), a) for s in sessions.values() for a in s.actions.values()
        ]
        identities = {a.entry.identity for _, a in defined}
        for key in [key for key in self._inputs if key[0] not in identities]:
            self._leave(self._inputs.pop(key))
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
