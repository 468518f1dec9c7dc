"""The shared-memory channel between the executor, which owns it, and the one control server attached to it."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable

import numpy as np

from robot_rt_control.memory.atomics import address_of, copy_words, fence_acquire, load_acquire, store_release
from robot_rt_control.memory.clock import ring, wait
from robot_rt_control.memory.command_places import command_places
from robot_rt_control.memory.layout import (
    CHANNEL_LAYOUT,
    CHANNEL_MAGIC,
    channel_dtype,
    event_dtype,
    offset_of,
    snapshot_dtype,
    stop_dtype,
)
from robot_rt_control.memory.shared_memory import Segment, process_start
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.defaults import SNAPSHOT_WAIT_S
from robot_rt_control.vocabulary.errors import ChannelError

_SPINS, _YIELDS = 100, 20
"""Attempts to read a snapshot at once, and further ones after leaving the processor to others; then come pauses."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.0001, 0.02


def _offset(*path: str) -> int:
    return offset_of(channel_dtype, *path)


_COMMAND_HEAD, _COMMAND_TAIL = _offset("commands", "head"), _offset("commands", "tail")
_EVENT_HEAD, _EVENT_TAIL = _offset("events", "head"), _offset("events", "tail")
_SNAPSHOT = _offset("snapshot", "sequence")
_EVENT_BELL, _INSTALL_BELL = _offset("event_bell"), _offset("install_bell")
_REQUEST, _ANSWER = _offset("staging", "request"), _offset("staging", "answer")
_EPOCH, _SERVER_PID, _SERVER_EPOCH = _offset("epoch"), _offset("server_pid"), _offset("server_epoch")
_SERVER_GONE = _offset("server_gone")
_STOPS_SEQUENCE = _offset("stops_sequence")
_SET_POINTS = _offset("set_points")
_SPARE = channel_dtype.itemsize - _SET_POINTS


class ServerTaken(ChannelError):
    """Another control server is attached."""


class Channel:
    """One side of the channel. `memory` is the record (`layout.channel_dtype`), `address` its start."""

    def __init__(self, memory: np.record, segment: Segment | None) -> None:
        self._segment = segment
        self.memory = memory
        self.address = address_of(memory)
        self.feed: Callable[[], None] | None = None
        """Fills the queues of motion groups of a channel inside this process, which no other process can reach."""

    @property
    def descriptor(self) -> int | None:
        """Descriptor of the shared memory, for a process that inherits it; None: the channel is inside this process."""
        return None if self._segment is None else self._segment.descriptor

    # --- making ---------------------------------------------------------------------------------

    @classmethod
    def private(cls) -> Channel:
        """A channel inside this process, for lockstep tests and composed nodes."""
        channel = cls(np.zeros(1, channel_dtype)[0], None)
        channel._initialize(0, 0)
        return channel

    @classmethod
    def create(cls, name: str, *, workcell: int, period_ns: int) -> Channel:
        """Create the channel as the executor.

        Raises:
            ChannelError: another living executor owns a channel of this name.
        """
        segment = Segment.create(name, channel_dtype.itemsize, spare=_SPARE)
        channel = cls(np.frombuffer(segment.buffer, channel_dtype, 1)[0], segment)
        channel._initialize(workcell, period_ns)
        return channel

    def commit_set_points(self, offset: int, size: int) -> None:
        """Have memory for a queue of set points, and have it mapped in this process. Not for a real-time thread.

        Args:
            offset: [bytes] in `set_points`.
            size: [bytes]

        Raises:
            ChannelError: there is not enough shared memory.
        """
        if self._segment is not None:
            self._segment.commit(_SET_POINTS + offset, _SET_POINTS + offset + size)

    def _initialize(self, workcell: int, period_ns: int) -> None:
        m = self.memory
        m.layout = CHANNEL_LAYOUT
        m.workcell = workcell
        m.period_ns = period_ns
        m.executor_pid = os.getpid()
        m.executor_start = process_start(os.getpid())
        m.epoch = time.time_ns()
        store_release(self.address, CHANNEL_MAGIC)  # last: from now on a server may attach

    @classmethod
    def attach(cls, name: str, *, workcell: int, timeout_s: float = 0.0, require_active: bool = False) -> Channel:
        """Attach as the control server; `detach` ends it.

        Args:
            workcell: digest of the workcell that this side has read.
            timeout_s: how long to wait for the executor to start.
            require_active: refuse an executor that does not tick because it is preparing or was deactivated.

        Raises:
            ChannelError: there is no executor, layout or workcell differ, or another server is attached.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                segment = Segment.attach(name, channel_dtype.itemsize, spare=_SPARE)
                break
            except ChannelError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.02)
        channel = cls(np.frombuffer(segment.buffer, channel_dtype, 1)[0], segment)
        try:
            channel._check(name, workcell, deadline, require_active)
            channel.claim_server()
        except BaseException:
            channel.close()
            raise
        return channel

    def _check(self, name: str, workcell: int, deadline: float, require_active: bool) -> None:
        """Raise ChannelError if a server of this workcell cannot attach to this channel."""
        m = self.memory
        while load_acquire(self.address) != CHANNEL_MAGIC:
            if time.monotonic() >= deadline + 1.0:
                raise ChannelError(f"channel {name!r} was never initialized", hint="Restart the executor")
            time.sleep(0.005)
        if m.layout != CHANNEL_LAYOUT:
            raise ChannelError(
                f"channel {name!r} has another layout",
                expected=f"{CHANNEL_LAYOUT:x}",
                got=f"{int(m.layout):x}",
                hint="Run the same version of robot_rt_control in executor and control server",
            )
        if m.workcell != workcell:
            raise ChannelError(
                f"channel {name!r} belongs to another workcell",
                expected=f"digest {workcell:x}",
                got=f"{int(m.workcell):x}",
                hint="Give executor and control server the same workcell file and hardware",
            )
        if require_active and m.executor_beat == 0:
            raise ChannelError(f"the executor of channel {name!r} is not active yet")

    def claim_server(self) -> None:
        """Claim the one place of a control server.

        Raises:
            ServerTaken: another running server holds it.
            ChannelError: a detached session goes on without one (U5).
        """
        m = self.memory
        if m.detached_until > 0:
            session, until = bytes(m.detached_session).decode(errors="replace"), int(m.detached_until)
            raise ChannelError(
                f"session {session!r} goes on without a control server, as requested when it was opened",
                expected="no such session, or its end",
                got=f"one that ends within {(until - int(m.loop_beat)) * int(m.period_ns) * 1e-9:.1f} s",
                hint="A protective stop at the executor ends it at once",
            )
        if self._segment is not None and not self._segment.claim_user():
            raise ServerTaken(
                "a control server is attached to this executor already",
                expected="one server",
                got=f"process {int(m.server_pid)}",
                hint="Stop it first, or start this one in another namespace",
            )
        m.server_start = process_start(os.getpid())
        store_release(self.address + _SERVER_PID, os.getpid())
        # Discard what an earlier server left unread or unfinished.
        store_release(self.address + _EVENT_TAIL, load_acquire(self.address + _EVENT_HEAD))
        store_release(self.address + _SERVER_EPOCH, int(m.server_epoch) + 1)

    def renew_server(self) -> None:
        """As the attached server, after the loop declared it lost: be monitored again from now on."""
        if int(self.memory.server_pid) != os.getpid():
            return  # not attached any more
        store_release(self.address + _SERVER_EPOCH, int(self.memory.server_epoch) + 1)

    def release_server(self) -> None:
        """Release the place of the control server: the loop brings the parts of all sessions to safety."""
        self.end_server(int(self.memory.server_epoch))
        store_release(self.address + _SERVER_PID, 0)

    def end_server(self, epoch: int) -> None:
        """Mark the server of this epoch as gone. The epoch matters: another server may have attached since."""
        if epoch > int(self.memory.server_gone):
            store_release(self.address + _SERVER_GONE, epoch)

    @property
    def server_attached(self) -> bool:
        """Whether a control server is attached and not known to be lost."""
        return load_acquire(self.address + _SERVER_EPOCH) > load_acquire(self.address + _SERVER_GONE)

    def close(self) -> None:
        """Release this side; the executor also removes the name. The memory stays mapped while a view is held."""
        if self._segment is not None:
            self._segment.close()

    def executor_alive(self) -> bool:
        """Whether the process that owns the channel is running."""
        return self._segment is None or self._segment.owner_alive()

    # --- commands: server → loop ----------------------------------------------------------------

    def push_command(self, command: np.record, parameters: np.ndarray | None = None) -> bool:
        """Put one transaction into the ring; False if the ring is full. One thread at a time.

        Args:
            parameters: its record, or changes of one: bytes, shape (size,), at most PARAMETER_UPDATE_BYTES, or
                UPDATES_OF_COMMAND times that.
        """
        ring_ = self.memory.commands
        head, places = int(ring_.head), command_places(0 if parameters is None else len(parameters))
        if head + places - load_acquire(self.address + _COMMAND_TAIL) > capacities.COMMAND_RING_ENTRIES:
            return False
        i = head % capacities.COMMAND_RING_ENTRIES
        ring_.entries[i] = command
        if parameters is not None:
            updates = self.memory.parameter_updates[i : i + places].reshape(-1)
            updates.view(np.uint8)[: len(parameters)] = parameters
        store_release(self.address + _COMMAND_HEAD, head + places)
        return True

    @property
    def commands_taken(self) -> bool:
        """Whether the loop has taken all commands."""
        return load_acquire(self.address + _COMMAND_TAIL) >= int(self.memory.commands.head)

    # --- events: loop → server --------------------------------------------------------------------

    def take_events(self) -> np.ndarray:
        """Read all pending events: a copy of shape (n,) of `event_dtype`. One thread at a time."""
        head = load_acquire(self.address + _EVENT_HEAD)
        tail = int(self.memory.events.tail)
        if head == tail:
            return np.zeros(0, event_dtype)
        indices = np.arange(tail, head) % capacities.EVENT_RING_ENTRIES
        events = self.memory.events.entries[indices]
        store_release(self.address + _EVENT_TAIL, head)
        return events

    def wait_for_events(self, timeout_s: float) -> bool:
        """Sleep, without the GIL, until there are events. False: it timed out."""
        seen = int(self.memory.event_bell[0])
        if load_acquire(self.address + _EVENT_HEAD) != int(self.memory.events.tail):
            return True
        wait(self.address + _EVENT_BELL, seen, timeout_s)
        return load_acquire(self.address + _EVENT_HEAD) != int(self.memory.events.tail)

    def ring_events(self) -> None:
        """Wake the thread that waits for events (the wall-clock loop does this itself)."""
        self.memory.event_bell[0] += 1
        ring(self.address + _EVENT_BELL)

    # --- snapshot: loop → all readers------------------------------------------------------------

    def snapshot(self) -> np.record:
        """A consistent copy of the last tick's snapshot.

        While the loop writes, or has lost its processor within a write, this waits: at first it only tries again, then
        it leaves the processor to others, then it sleeps. From any thread.

        Raises:
            ChannelError: the loop was writing at each attempt in SNAPSHOT_WAIT_S.
        """
        copy = np.zeros(1, snapshot_dtype)[0]
        begin, pause = time.monotonic(), _FIRST_PAUSE_S
        for attempt in itertools.count():
            before = load_acquire(self.address + _SNAPSHOT)
            if not before & 1:
                copy_words(address_of(copy), self.address + _SNAPSHOT, snapshot_dtype.itemsize // 8)
                fence_acquire()
                if load_acquire(self.address + _SNAPSHOT) == before:
                    break
            if attempt < _SPINS:
                continue
            if attempt < _SPINS + _YIELDS:
                os.sched_yield()
                continue
            waited = time.monotonic() - begin
            if waited >= SNAPSHOT_WAIT_S:
                raise ChannelError(
                    f"no consistent snapshot could be read for {waited:.1f} s",
                    expected=f"a tick that ends within {SNAPSHOT_WAIT_S:g} s",
                    got=f"{attempt + 1} attempts, each while the loop was writing",
                    hint="The executor was stopped within a tick, or gets no processor time: look at its process",
                )
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        return copy

    def stops(self) -> np.ndarray:
        """A consistent copy of the places of protective stops: shape (MAX_STOPS,) of `stop_dtype`.

        Raises:
            ChannelError: the loop was writing at each attempt for a second.
        """
        copy = np.zeros(capacities.MAX_STOPS, stop_dtype)
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline:
            before = load_acquire(self.address + _STOPS_SEQUENCE)
            if not before & 1:
                copy_words(address_of(copy), address_of(self.memory.stops), copy.nbytes // 8)
                fence_acquire()
                if load_acquire(self.address + _STOPS_SEQUENCE) == before:
                    return copy
            time.sleep(0)
        raise ChannelError("the protective stops could not be read", hint="Did the executor stop within a tick?")

    # --- installing tables: server → executor ------------------------------------------------------

    def request_install(self) -> int:
        """Ask the executor to install the complete staging area. Return the request's number."""
        request = int(self.memory.staging.request) + 1
        store_release(self.address + _REQUEST, request)
        self.ring_install()
        return request

    def ring_install(self) -> None:
        """Wake the thread that waits for a request."""
        self.memory.install_bell[0] += 1
        ring(self.address + _INSTALL_BELL)

    def install_answered(self, request: int) -> bool:
        """Whether the executor has answered this request (`staging.accepted`, `staging.reason`)."""
        return load_acquire(self.address + _ANSWER) >= request

    def wait_for_install(self, timeout_s: float) -> bool:
        """As the executor: sleep until a request is waiting. False: it timed out."""
        seen = int(self.memory.install_bell[0])
        if self.install_requested():
            return True
        wait(self.address + _INSTALL_BELL, seen, timeout_s)
        return self.install_requested()

    def install_requested(self) -> bool:
        """As the executor: whether a request is waiting."""
        return load_acquire(self.address + _REQUEST) != load_acquire(self.address + _ANSWER)

    def answer_install(self, accepted: bool, reason: str) -> None:
        """As the executor: answer the waiting request."""
        staging = self.memory.staging
        staging.accepted = accepted
        staging.reason = reason.encode()[:511]
        store_release(self.address + _ANSWER, int(staging.request))
