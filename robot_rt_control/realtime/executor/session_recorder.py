"""Recording every tick to a file, outside the loop: the ring of the last ticks is read before the loop reuses it."""

from __future__ import annotations

import logging
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import robot_rt_control
from robot_rt_control.memory.atomics import load_acquire
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.command_places import command_places
from robot_rt_control.memory.layout import CHANNEL_LAYOUT, channel_dtype, offset_of
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.event_fields import event_fields
from robot_rt_control.realtime.executor.set_points import set_point_words, slots_with_queues
from robot_rt_control.realtime.executor.tick_ring import COMMANDS_TAKEN, EVENTS_WRITTEN, TickRing
from robot_rt_control.recording.columns import TIME
from robot_rt_control.recording.inputs import InputKind, pack_command, pack_points
from robot_rt_control.recording.kept_files import KeptFiles
from robot_rt_control.recording.reaction_names import named_reactions
from robot_rt_control.recording.tick_writer import TickWriter
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.private_files import make_private

_log = logging.getLogger(__name__)

_COMMAND_HEAD = offset_of(channel_dtype, "commands", "head")
_EVENT_HEAD = offset_of(channel_dtype, "events", "head")
TICKS_AT_ONCE = 50
"""Lockstep: ticks between two looks; less than the ring holds."""
_LOOK_S = 0.02
_MOST_NOTED = 1000
"""Inputs, and texts of names, that wait for a slow disk; further ones are lost."""
_LOOK_BYTES = 16 << 20
"""After so much it is looked whether older files must give way."""
LOSSES = ("ticks", "commands", "events", "inputs", "samples")
"""What may be lost; it is counted as `lost_…` in the file's metadata, and noted as an event `…_lost` in its place."""


class SessionRecorder:
    """Writes a file of all ticks, and what came from outside. In lockstep it is complete: simulated time waits for it.

    On other clocks a thread reads the ring. What was overwritten before it came, as the disk was too slow, is counted
    and noted in the file, as are events that the loop could not report because the control server did not take them. If
    the disk is full, the recording ends; the loop notices nothing of either.

    Args:
        lockstep: `drain` is called after every `ticks_at_once` ticks; otherwise a thread does it.
        epoch_ns: added to the loop's time for time stamps.
        about: of the executor, for the metadata.
    """

    def __init__(
        self,
        world: World,
        channel: Channel,
        ring: TickRing,
        *,
        lockstep: bool,
        epoch_ns: int,
        about: Callable[[], Mapping[str, Any]],
    ) -> None:
        self._world, self._channel, self._ring = world, channel, ring
        self._lockstep, self._epoch_ns, self._about = lockstep, epoch_ns, about
        self._words = {name: ring.word(name) for name in (TIME, COMMANDS_TAKEN, EVENTS_WRITTEN)}
        self._writer: TickWriter | None = None
        # Noting something never waits for the disk.
        self._noted: deque[tuple[int, int, str, bytes]] = deque()
        self._names: dict[int, bytes] = {}
        """What the present reactions are called, also while nothing is recorded: identity → line, see
        `reaction_names`."""
        self._unwritten: deque[bytes] = deque()
        self._lost = dict.fromkeys(LOSSES, 0)
        self._told = dict(self._lost)
        self._kept: KeptFiles | None = None
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def path(self) -> Path | None:
        """The file that is being written; None: nothing is recorded."""
        writer = self._writer
        return None if writer is None else writer.path

    # --- begin and end --------------------------------------------------------------------------

    def start(self, path: Path, kept: KeptFiles | None = None) -> None:
        """Record from the next tick on. In lockstep while no tick runs.

        Args:
            kept: the file is one of these, and ends when it alone has their size; None: only the disk bounds it.

        Raises:
            RobotControlError: something is recorded already, or the file cannot be written.
        """
        with self._lock:
            if self._writer is not None:
                raise RobotControlError(
                    f"recording to {path}", got=f"a recording to {self._writer.path}", hint="Stop that one first"
                )
            memory, workcell = self._channel.memory, self._world.workcell
            self._begin()
            self._kept, self._looked = kept, 0
            self._lost = dict.fromkeys(LOSSES, 0)
            self._told = dict(self._lost)
            self._dropped = int(self._world.memory.events_lost)
            self._taken = memory.streams["tail"].copy()
            self._points: dict[int, tuple[int, int]] = {}
            self._noted.clear()
            self._unwritten.clear()
            self._actions = self._ring.action_names()
            about = {
                "workcell": workcell.name,
                "workcell_file": str(workcell.path),
                "workcell_digest": f"{workcell.digest:x}",
                "hardware": workcell.hardware,
                "period": workcell.period,
                "version": robot_rt_control.__version__,
                "layout": f"{CHANNEL_LAYOUT:x}",
                "first_tick": self._next,
                "epoch_ns": self._epoch_ns,
                "parts": self._ring.parts(),
                **self._about(),
            }
            try:
                texts = {workcell.path.name: workcell.path.read_bytes()}
                make_private(path.parent)
                self._writer = TickWriter(
                    path, about, self._ring.columns, epoch_ns=self._epoch_ns, texts=texts, robot=self._ring.robot
                )
            except OSError as error:
                raise RobotControlError(f"recording to {path}", got=str(error)) from error
            # Now that others note new ones.
            self._unwritten.appendleft(b"\n".join(self._names.values()))
            if kept is not None:
                kept.give_way(path)
        if not self._lockstep:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
            self._thread.start()
        _log.info("recording to %s", path)

    def _begin(self) -> None:
        """The next tick, and the counts of commands and events before it, from one row: the loop may be going on."""
        while True:
            last = self._ring.last
            rows = self._ring.take(last, last) if last else np.zeros((1, 1 + max(self._words.values())), np.int64)
            if len(rows):  # else the loop has overwritten it
                self._next = last + 1
                self._commands, self._events = (int(rows[0, self._words[n]]) for n in (COMMANDS_TAKEN, EVENTS_WRITTEN))
                return

    def stop(self, reason: str = "stopped") -> Path | None:
        """End the file. Returns its path; None: nothing was recorded, or it has ended already."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None
        with self._lock:
            last = self._ring.last
            self.drain()
            path = self.path
            if path is not None:
                self._lost["ticks"] += max(last - self._next + 1, 0)
            self._end(reason)
        return path

    def _end(self, reason: str, problem: bool = False) -> None:
        writer, self._writer = self._writer, None
        if writer is None:
            return
        losses = {f"lost_{what}": n for what, n in self._lost.items()}
        try:
            writer.end(reason=reason, **losses, actions=self._actions | self._ring.action_names())
        except Exception as error:  # most often an OSError; the loop goes on in any case
            reason, problem = f"{reason}; it has no index: {error}", True
        lost = ", ".join(f"{n} {what}" for what, n in self._lost.items() if n)
        text = f"the recording {writer.path} ended in tick {self._next - 1}: {reason}; lost: {lost or 'nothing'}"
        (_log.error if problem else _log.warning if lost else _log.info)(text)

    # --- while it records -----------------------------------------------------------------------

    def ticks_at_once(self, ticks: int) -> int:
        """Lockstep: how many of these ticks may run until `drain`. Samples of streams belong to a tick only so."""
        if self._writer is None:
            return ticks
        self._note_points()
        streams = any(int(tables.n_streams) for tables in self._world.memory.tables)
        return min(ticks, 1 if streams else TICKS_AT_ONCE)

    def _note_points(self) -> None:
        """The set points of motion groups that the next ticks can take."""
        world, memory = self._world.memory, self._channel.memory
        heads, failures = world.queue_heads, world.queue_failures
        tables = [world.tables[int(world.active_tables)]]
        if world.pending_tables:
            tables.append(world.tables[1 - int(world.active_tables)])
        for table in tables:
            for slot in slots_with_queues(table):
                group = table.actions[slot]
                number, identity = int(group.queue), int(group.identity)
                before, now = self._points.get(identity), (int(heads[number]), int(failures[number]))
                if now != before:
                    first, words = None if before is None else before[0], set_point_words(world, group)
                    self.note(InputKind.POINTS, partial(pack_points, group, first, *now, memory.set_points, words))
                    self._points[identity] = now

    def note(self, kind: InputKind, data: Callable[[], bytes] = bytes) -> None:
        """Something from outside takes effect in the next tick. Any thread; never waits. In lockstep no tick runs.

        Args:
            data: gives it; called only if something is recorded.
        """
        if self._writer is None:
            return
        world = self._world.memory
        if kind == InputKind.TABLES:  # soon the loop does not know what goes with them any more
            self._actions |= self._ring.action_names()
        if not self._lockstep and len(self._noted) >= _MOST_NOTED:
            self._lost["inputs"] += 1
            return
        self._noted.append((int(world.tick) + 1, int(world.now_ns), kind, data()))

    def name_reactions(self, staging: np.record) -> None:
        """Note what those are called that a server has staged (`staging_dtype`). As `note`."""
        size = min(max(int(staging.n_names), 0), len(staging.names))
        text = staging.names[:size].tobytes()
        new = named_reactions([text.decode(errors="replace")])
        names = {**self._names, **{identity: each.line() for identity, each in new.items()}}
        present = staging.tables.reactions["identity"][: int(staging.tables.n_reactions)].tolist()
        self._names = {identity: names[identity] for identity in present if identity in names}
        if text and self._writer is not None and len(self._unwritten) < _MOST_NOTED:
            self._unwritten.append(text)

    def drain(self) -> None:
        """Write what is new."""
        with self._lock:
            writer = self._writer
            if writer is None:
                return
            try:
                self._drain(writer)
                full = self._is_full(writer)
            except OSError as error:
                self._end(f"it could not be written: {error}", True)
                return
            except Exception:  # time must not stand still for it, nor the file stay open
                _log.exception("recording failed unexpectedly")
                self._end("it failed unexpectedly", True)
                return
            if writer.failure is not None:
                self._end(f"it could not be written any further: {writer.failure}", True)
            elif full:
                self._end(f"it has all the {full:g} GB that recordings of this workcell may have", True)

    def _is_full(self, writer: TickWriter) -> float:
        """Let older files give way. Returns the bound [GB] that this one alone has reached; 0: none."""
        kept = self._kept
        if kept is None or writer.size - self._looked < min(_LOOK_BYTES, kept.size or _LOOK_BYTES):
            return 0.0
        self._looked = writer.size
        kept.give_way(writer.path)
        return kept.size * 1e-9 if kept.size is not None and writer.size >= kept.size else 0.0

    def _drain(self, writer: TickWriter) -> None:
        while self._noted:
            writer.input(*self._noted.popleft())
        while self._unwritten:
            if text := self._unwritten.popleft().decode(errors="replace"):
                writer.definitions(self._next, int(self._world.memory.now_ns), text)
        last = self._ring.last
        if last < self._next:
            return
        rows = self._ring.take(self._next, last)
        if not len(rows):
            return  # what is lost is counted with the next row that is there
        before = np.concatenate([[self._next - 1], rows[:-1, 0]])
        self._next = int(rows[-1, 0]) + 1
        self._write_commands(writer, rows)
        if self._lockstep:
            self._write_samples(writer, rows)
        self._write_events(writer, rows)
        for at in np.flatnonzero(rows[:, 0] - before > 1):
            self._lost["ticks"] += int(rows[at, 0] - before[at] - 1)
            self._tell_losses(writer, rows[at])
        self._tell_losses(writer, rows[-1])
        writer.rows(rows)  # last: a file that was cut off has all inputs and events of the ticks that it has

    def _tell_losses(self, writer: TickWriter, row: np.ndarray) -> None:
        """Note what was lost since the last call, in the tick of this row."""
        for what, n in self._lost.items():
            if n > self._told[what]:
                writer.event(int(row[0]), int(row[self._words[TIME]]), f"{what}_lost", status=n - self._told[what])
                self._told[what] = n

    def _write_commands(self, writer: TickWriter, rows: np.ndarray) -> None:
        taken, ring = rows[:, self._words[COMMANDS_TAKEN]], self._channel.memory.commands
        i = self._commands
        while i < int(taken[-1]):
            place = i % capacities.COMMAND_RING_ENTRIES
            places = command_places(int(ring.entries[place]["record_size"]))
            beside = self._channel.memory.parameter_updates[place : place + places]
            data = pack_command(ring.entries[place], beside)
            row = rows[np.searchsorted(taken, i, side="right")]
            # The next one that the server writes is in the places of the oldest.
            behind = load_acquire(self._channel.address + _COMMAND_HEAD) - i
            i += places
            if behind >= capacities.COMMAND_RING_ENTRIES - capacities.UPDATES_OF_COMMAND:
                self._lost["commands"] += 1
                continue
            writer.input(int(row[0]), int(row[self._words[TIME]]), InputKind.COMMAND, data)
        self._commands = int(taken[-1])

    def _write_samples(self, writer: TickWriter, rows: np.ndarray) -> None:
        """Samples that the loop has taken in the one tick since the last call."""
        world, streams = self._world.memory, self._channel.memory.streams
        tables = world.tables[int(world.active_tables)]
        for stream in tables.streams[: int(tables.n_streams)]:
            place = int(stream["place"])
            tail = int(streams["tail"][place])
            if stream["is_output"] == 0:
                for i in range(int(self._taken[place]), tail):
                    sample = streams["entries"][place, i % capacities.STREAM_RING_ENTRIES]
                    data = struct.pack("<q", place) + sample.tobytes()
                    if int(streams["head"][place]) - i >= capacities.STREAM_RING_ENTRIES:
                        self._lost["samples"] += 1
                        continue
                    writer.input(int(rows[-1, 0]), int(rows[-1, self._words[TIME]]), InputKind.SAMPLE, data)
        self._taken = streams["tail"].copy()

    def _write_events(self, writer: TickWriter, rows: np.ndarray) -> None:
        dropped = int(self._world.memory.events_lost)  # the ring was full of what the server had not taken
        self._lost["events"] += dropped - self._dropped
        self._dropped = dropped
        end = int(rows[-1, self._words[EVENTS_WRITTEN]])
        if end == self._events:
            return
        numbers = np.arange(self._events, end)
        events = self._channel.memory.events.entries[numbers % capacities.EVENT_RING_ENTRIES]
        whole = numbers > load_acquire(self._channel.address + _EVENT_HEAD) - capacities.EVENT_RING_ENTRIES
        self._lost["events"] += int((~whole).sum())
        actions = self._ring.action_names()
        for event in events[whole]:
            writer.event(int(event["tick"]), int(event["time_ns"]), **event_fields(event, self._world, actions))
        self._events = end

    def _run(self) -> None:
        while not self._stop.wait(_LOOK_S) and self._writer is not None:
            self.drain()


def wall_clock_epoch_ns() -> int:
    """What CLOCK_MONOTONIC lacks to the wall clock [ns]."""
    return time.time_ns() - time.monotonic_ns()
