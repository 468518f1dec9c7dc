"""Writing one stream input: checks each sample, chooses its tick, and puts it into the ring that the loop reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.definitions.resampling import RESAMPLE_METHOD, Resampled
from robot_rt_control.definitions.streams import LOOK_AHEAD, StreamInput, range_of, units_of
from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.layout import offset_of, stream_ring_dtype
from robot_rt_control.server.streams.stream_timing import StreamTiming
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import GapPolicy
from robot_rt_control.vocabulary.errors import DefinitionError

_HEAD, _TAIL = offset_of(stream_ring_dtype, "head"), offset_of(stream_ring_dtype, "tail")
_REWOUND = 3
"""So many samples without numbers, one after the other, come from a clock that has jumped back."""
_RENUMBERED = 3
"""So many samples, one after the other, whose numbers are too low to have been overtaken, show that a number before
was wrong. (RTP receivers take two: H. Schulzrinne et al., RFC 3550, appendix A.1.)"""
_LAST_NUMBER = 2**53
"""A double is exact up to here; the loop and the application count what is missing between two numbers."""


@dataclass(frozen=True, eq=False)
class ArrivedSample:
    """What a source has sent, as far as it does not depend on samples before it."""

    values: np.ndarray
    """Values and rates, shape (2, n); NaN where not given."""
    clamped: bool
    """Whether a value was clamped to its range."""
    arrival: float
    """[s] on the loop's clock."""
    source_time: float | None
    """When it was made, on the source's clock [s]; None: when it arrived."""
    sequence: int
    """Counts the source's samples from 1, a 1 begins a new source; 0: not counted."""
    tick: int
    """From which it holds; 0: the server chooses."""


class StreamWriter:
    """One source's side of a stream input. One thread at a time; `arrived` may be called from any.

    Args:
        of: the stream, for messages: "stream 'goal' of action 'follow'".
        declared: the stream.
        joint_units: units of the positions of the joints in the action's first slot.
        ring: record of `layout.stream_ring_dtype`; this is its one writer.
        identity: of the action.
        period: of a tick [s].
        resampled: a function of the action type makes other samples from those that arrive.
        drift: as StreamTiming.
    """

    def __init__(
        self,
        of: str,
        declared: StreamInput,
        joint_units: Sequence[str],
        ring: np.record,
        identity: int,
        period: float,
        *,
        resampled: bool = False,
        drift: float = defaults.STREAM_DRIFT,
    ) -> None:
        self._resampled, self._drift = resampled, drift
        self.time_lines = 0
        """Counts the beginnings of a time line of a source: a new source, or its clock has jumped back."""
        self.of, self.declared, self.units = of, declared, units_of(declared, joint_units)
        self.n = len(self.units)
        self._low, self._high = range_of(declared, self.n)
        self._ring, self._address, self._identity, self._period = ring, address_of(ring), identity, period
        self.begin()

    def begin(self) -> None:
        """Whatever source comes next is a new one."""
        self._sequence = self._written = 0
        self._time = -math.inf
        self._tick = 0
        self._low_numbers = self._low_number = 0
        self._begin_time_line()

    def _begin_time_line(self) -> None:
        self.timing = StreamTiming(self._period, self._drift)
        self._source_time = self._behind_time = -math.inf
        self._behind = 0
        self.time_lines += 1

    def arrived(
        self,
        values: Sequence[float] | np.ndarray,
        *,
        valid: Sequence[bool] = (),
        source_time: float | None = None,
        sequence: int = 0,
        tick: int = 0,
        now: float,
    ) -> ArrivedSample:
        """A sample that has just arrived.

        Args:
            values: shape (n,); or (2 n,), followed by their rates, if the stream takes rates.
            valid: which of them are given; empty: all.
            source_time, sequence, tick: see ArrivedSample.
            now: time on the loop's clock [s].

        Raises:
            DefinitionError: wrong number of values, not finite, or beyond their range; or no time or number.
        """
        sample, clamped = self._checked(values, valid), False
        if not self._resampled:  # else the range is that of what the function makes
            sample, clamped = self._in_range(sample)
        if source_time is not None and not math.isfinite(source_time):
            raise DefinitionError(f"{self.of}: time of a sample", expected="a finite number", got=str(source_time))
        if sequence > _LAST_NUMBER:
            raise DefinitionError(f"{self.of}: number of a sample", expected="at most 2^53", got=str(sequence))
        return ArrivedSample(sample, clamped, now, source_time, sequence, tick)

    def order(self, sample: ArrivedSample) -> tuple[float, str]:
        """Its time on the source's clock [s], and why it is passed over; empty: `write` takes it."""
        if sample.sequence == 1 or self._is_renumbered(sample.sequence):
            self.begin()
        elif 0 < sample.sequence <= self._sequence:
            return 0.0, f"out of order: number {sample.sequence} came after number {self._sequence}"
        source = sample.arrival if sample.source_time is None else sample.source_time
        if sample.tick == 0 and source <= self._source_time:
            if sample.source_time is None:
                return self._source_time + 1e-6, ""  # several without a time in one tick
            if not self._is_rewound(sample.sequence, source):
                return 0.0, f"out of order: its time {source:g} s is not after that of the sample before"
            self._begin_time_line()
        self._behind = 0
        return source, ""

    def _is_renumbered(self, number: int) -> bool:
        """Whether a number that is too low shows that the one of the sample before was wrong: one sample with a wrong
        number would have all others refused.
        """
        if number == 0 or number > self._sequence - capacities.STREAM_ON_THE_WAY:
            self._low_numbers = 0
            return False
        self._low_numbers = self._low_numbers + 1 if number > self._low_number else 1
        self._low_number = number
        return self._low_numbers >= _RENUMBERED

    def _is_rewound(self, number: int, source: float) -> bool:
        """Whether a sample that seems to be older than the one before shows that the source's clock has jumped back.

        A number proves that it was made later. Without numbers it may have been overtaken; but not several, one after
        the other. A time that is repeated proves nothing.
        """
        if source == self._source_time:
            return False
        if number > 0:
            return True
        self._behind = self._behind + 1 if source > self._behind_time else 1
        self._behind_time = source
        return self._behind >= _REWOUND

    def write(
        self,
        sample: ArrivedSample,
        source: float,
        *,
        now: float,
        gap: str,
        delay: float,
        timeout: float,
        made: Resampled | None = None,
    ) -> str:
        """Write a sample, or what was made from it.

        Args:
            source: its time, see `order`.
            now: time on the loop's clock [s].
            gap: the stream's gap policy.
            delay: its delay [s]; negative: to be chosen.
            timeout: its time-out [s]; 0: none.

        Returns:
            Why it was passed over; empty: it was written.

        Raises:
            DefinitionError: what was made from it is not valid.
        """
        given = [(source, sample.values, sample.clamped)]
        samples = given if made is None else [(at, *self._made(values)) for at, values in made]
        time = sample.tick * self._period
        if sample.tick == 0:
            lookahead = LOOK_AHEAD[GapPolicy[gap.upper()]]
            time = self.timing.effective_time(source, now, delay=delay, lookahead=lookahead, timeout=timeout)
            if made is None:
                time = max(time, self._time + 1e-6)
        missed = sample.sequence - self._sequence - 1 if self._sequence and sample.sequence else 0
        for at, values, clamped in samples:
            # Without a delay it is seen in the next tick, which may have begun meanwhile.
            at_once = at == source and sample.tick == 0 and delay == 0.0 and self._tick <= now / self._period
            # A sample for a tick that its source has chosen is as old as that.
            age_from = self.timing.made(at) if sample.tick == 0 else time + at - source
            if why := self._put(values, clamped, time + at - source, age_from, at_once, missed, now):
                return why
            missed = 0
        self._sequence, self._source_time = sample.sequence or self._sequence + 1, source
        return ""

    def _made(self, values: Sequence[float]) -> tuple[np.ndarray, bool]:
        """What the stream's own function has made, as `_in_range`."""
        try:
            return self._in_range(self._checked(values, [not math.isnan(value) for value in values]))
        except DefinitionError as error:
            what = f"{error.what} (made by {RESAMPLE_METHOD}{self.declared.name})"
            raise DefinitionError(what, expected=error.expected, got=error.got, hint=error.hint) from error

    def _put(
        self, values: np.ndarray, clamped: bool, time: float, made: float, at_once: bool, missed: int, now: float
    ) -> str:
        """Put a sample into the ring, after some that did not come. Returns why not; empty: it is there."""
        tick = max(math.ceil(time / self._period - 1e-6), 1)
        if time <= self._time:
            return f"out of order: it is for tick {tick}, and the sample before is for a later one"
        if time > now + defaults.STREAM_LEAD_S:
            return f"too early: it is for {time - now:.3g} s from now; at most {defaults.STREAM_LEAD_S:g} s are kept"
        number = self._written + missed + 1
        if not self._push(values, clamped, number, 0 if at_once else tick, time, made):
            return (
                f"no room: {capacities.STREAM_RING_ENTRIES} samples wait for their tick (STREAM_RING_ENTRIES); "
                "is the loop running?"
            )
        self._written, self._time = number, time
        self._tick = self._tick if at_once else max(tick, self._tick)
        return ""

    def _in_range(self, sample: np.ndarray) -> tuple[np.ndarray, bool]:
        """The sample within the range of its values, and whether some were clamped."""
        values = sample[0]
        outside = (values < self._low) | (values > self._high)
        if outside.any() and self.declared.beyond == "refuse":
            i = int(np.flatnonzero(outside)[0])
            low, high, unit = self._low[i], self._high[i], self.units[i]
            limits = f"{low:g} to {high:g}"
            if not math.isfinite(high - low):
                limits = f"at least {low:g}" if math.isfinite(low) else f"at most {high:g}"
            raise DefinitionError(
                f"{self.of}: value {i} of a sample is beyond its range",
                expected=f"{limits} {unit}".strip(),
                got=f"{values[i]:g}",
                hint="Is it in the stream's unit?" if unit else "",
            )
        return np.stack([np.clip(values, self._low, self._high), sample[1]]), bool(outside.any())

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

    def _push(
        self, sample: np.ndarray, clamped: bool, sequence: int, tick: int, time: float, made: float
    ) -> bool:
        ring = self._ring
        head = int(ring.head)
        if head - load_acquire(self._address + _TAIL) >= capacities.STREAM_RING_ENTRIES:
            return False
        entry = ring.entries[head % capacities.STREAM_RING_ENTRIES]
        entry.identity, entry.sequence, entry.tick, entry.time = self._identity, sequence, tick, time
        entry.made, entry.clamped = made, clamped
        entry.values[: self.n], entry.rates[: self.n] = sample
        store_release(self._address + _HEAD, head + 1)
        return True
