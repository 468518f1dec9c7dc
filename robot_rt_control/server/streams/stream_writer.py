"""Writing one stream input: checks each sample, chooses its tick, and puts it into the ring that the loop reads."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robot_rt_control.definitions.streams import LOOK_AHEAD, StreamInput
from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.layout import offset_of, stream_ring_dtype
from robot_rt_control.server.streams.stream_timing import StreamTiming
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import GapPolicy
from robot_rt_control.vocabulary.errors import DefinitionError

_HEAD, _TAIL = offset_of(stream_ring_dtype, "head"), offset_of(stream_ring_dtype, "tail")


class StreamWriter:
    """One source's side of a stream input. One thread at a time.

    Args:
        of: the stream, for messages: "stream 'goal' of action 'follow'".
        declared: the stream.
        n: values in a sample.
        ring: record of `layout.stream_ring_dtype`; this is its one writer.
        identity: of the action.
        period: of a tick [s].
    """

    def __init__(self, of: str, declared: StreamInput, n: int, ring: np.record, identity: int, period: float) -> None:
        self.of, self.declared, self.n = of, declared, n
        self._ring, self._address, self._identity, self._period = ring, address_of(ring), identity, period
        self.begin()

    def begin(self) -> None:
        """Whatever source comes next is a new one."""
        self.timing = StreamTiming(self._period)
        self._sequence = 0
        self._source_time = -math.inf
        self._time = -math.inf
        self._tick = 0

    def write(
        self,
        values: Sequence[float] | np.ndarray,
        *,
        valid: Sequence[bool] = (),
        source_time: float | None = None,
        sequence: int = 0,
        tick: int = 0,
        now: float,
        gap: str,
        delay: float,
    ) -> str:
        """Write a sample.

        Args:
            values: shape (n,); or (2 n,), followed by their rates, if the stream takes rates.
            valid: which of them are given; empty: all.
            source_time: when it was made, on the source's clock [s]; None: now.
            sequence: counts the source's samples from 1, a 1 begins a new source; 0: not counted.
            tick: from which it holds; 0: the server chooses.
            now: time on the loop's clock [s].
            gap: the stream's gap policy.
            delay: its delay [s]; negative: to be chosen.

        Returns:
            Why it was passed over; empty: it was written.

        Raises:
            DefinitionError: wrong number of values, or not finite.
        """
        sample = self._checked(values, valid)
        if sequence == 1:
            self.begin()
        elif 0 < sequence <= self._sequence:
            return f"out of order: number {sequence} came after number {self._sequence}"
        source = now if source_time is None else source_time
        if not math.isfinite(source):
            raise DefinitionError(f"{self.of}: time of a sample", expected="a finite number", got=str(source))
        if tick == 0 and source <= self._source_time:
            if source_time is not None:
                return f"out of order: its time {source:g} s is not after that of the sample before"
            source = self._source_time + 1e-6  # several without a time in one tick
        time, tick = self._when(source, tick, now, gap, delay)
        if time <= self._time:
            return f"out of order: it is for tick {tick}, and the sample before is for a later one"
        if time > now + defaults.STREAM_LEAD_S:
            return f"too early: it is for {time - now:.3g} s from now; at most {defaults.STREAM_LEAD_S:g} s are kept"
        if not self._push(sample, sequence or self._sequence + 1, tick, time):
            return (
                f"no room: {capacities.STREAM_RING_ENTRIES} samples wait for their tick (STREAM_RING_ENTRIES); "
                "is the loop running?"
            )
        self._sequence = sequence or self._sequence + 1
        self._source_time, self._time, self._tick = source, time, max(tick, self._tick)
        return ""

    def _when(self, source: float, tick: int, now: float, gap: str, delay: float) -> tuple[float, int]:
        """Time [s] and tick from which a sample holds; tick 0: the next one."""
        if tick > 0:
            return tick * self._period, tick
        time = self.timing.effective_time(source, now, delay=delay, lookahead=LOOK_AHEAD[GapPolicy[gap.upper()]])
        time = max(time, self._time + 1e-6)
        if delay == 0.0 and self._tick <= now / self._period:
            return time, 0
        return time, max(math.ceil(time / self._period - 1e-6), 1)

    def _checked(self, values: Sequence[float] | np.ndarray, valid: Sequence[bool]) -> np.ndarray:
        """Values and rates, shape (2, n); NaN where not given."""
        try:
            flat = np.asarray(values, np.float64).ravel()
        except (TypeError, ValueError):
            raise DefinitionError(f"{self.of}: a sample", expected="numbers", got=repr(values)) from None
        lengths = (self.n, 2 * self.n) if self.declared.rates else (self.n,)
        if len(flat) not in lengths:
            raise DefinitionError(
                f"{self.of}: a sample has the wrong length",
                expected=f"{self.n} values" + (f", or {2 * self.n} with their rates" if self.declared.rates else ""),
                got=str(len(flat)),
            )
        given = np.asarray(valid, bool).ravel()
        if len(given) not in (0, len(flat)):
            raise DefinitionError(
                f"{self.of}: `valid` of a sample", expected=f"one for each of {len(flat)} values", got=str(len(given))
            )
        if len(given) == 0:
            given = np.ones(len(flat), bool)
        bad = np.flatnonzero(given & ~np.isfinite(flat))
        if len(bad):
            raise DefinitionError(
                f"{self.of}: value {bad[0]} of a sample is not finite",
                expected="finite numbers",
                got=str(flat[bad[0]]),
                hint="Mark values that are not known as not valid",
            )
        sample = np.full((2, self.n), np.nan)
        sample.ravel()[: len(flat)][given] = flat[given]
        self._check_rotation(sample[0])
        return sample

    def _check_rotation(self, values: np.ndarray) -> None:
        i = self.declared.quaternion
        if i is None:
            return
        given = np.isfinite(values[i : i + 4])
        if given.any() and not given.all():
            raise DefinitionError(f"{self.of}: a quaternion is given in part", expected="all of it, or nothing")
        length = float(np.linalg.norm(values[i : i + 4]))
        if given.all() and not 0.9 < length < 1.1:
            raise DefinitionError(
                f"{self.of}: values {i} to {i + 3} of a sample are no rotation",
                expected="a unit quaternion x y z w",
                got=f"length {length:.3g}",
            )

    def _push(self, sample: np.ndarray, sequence: int, tick: int, time: float) -> bool:
        ring = self._ring
        head = int(ring.head)
        if head - load_acquire(self._address + _TAIL) >= capacities.STREAM_RING_ENTRIES:
            return False
        entry = ring.entries[head % capacities.STREAM_RING_ENTRIES]
        entry.identity, entry.sequence, entry.tick, entry.time = self._identity, sequence, tick, time
        entry.values[: self.n], entry.rates[: self.n] = sample
        store_release(self._address + _HEAD, head + 1)
        return True
