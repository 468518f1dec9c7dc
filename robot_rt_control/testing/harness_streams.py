"""The streams of an action under test: the loop's own functions over memory of the harness."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from robot_rt_control.client.stream import Stream
from robot_rt_control.definitions import streams
from robot_rt_control.definitions.action_type import ActionType, gap_method
from robot_rt_control.definitions.resampling import has_resampler, resample
from robot_rt_control.definitions.stream_sample import InputSample, OutputSample
from robot_rt_control.definitions.streams import StreamInput
from robot_rt_control.memory.layout import stream_ring_dtype, stream_runtime_dtype
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.stream_step import (
    read_custom,
    send_sample,
    show_flags,
    show_values,
    window_address,
    write_window,
)
from robot_rt_control.realtime.tick.stream_values import find_values, join_stream
from robot_rt_control.realtime.tick.stream_window import reset_stream, take_samples
from robot_rt_control.server.streams.stream_writer import StreamWriter
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import GapPolicy
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

_IDENTITY = 1
_CUSTOM = int(GapPolicy.CUSTOM)


@realtime
def _begin(s, ring, n, width, quaternion, tick, period, activation, gap, horizon, timeout, record):
    """The functions up to the gap function."""
    now = tick * period
    if s.identity != _IDENTITY:
        reset_stream(s, _IDENTITY)
    take_samples(s, ring, n, quaternion, tick, period)
    if activation == 0:
        return
    if s.activation != activation:
        join_stream(s, n, activation, timeout, now)
    find_values(s, n, quaternion, gap, horizon, now)
    if gap == _CUSTOM:
        show_values(s, n, width, record, 1.0)
        write_window(s, width, window_address(width, record), now)


@realtime
def _end(s, n, width, gap, tick, period, timeout, per_action_time, record, variables):
    """Behind it."""
    if gap == _CUSTOM:
        read_custom(s, n, width, record)
    show_values(s, n, width, record, per_action_time)
    show_flags(s, n, width, record, variables, timeout, tick, tick * period)


@realtime
def _send(s, ring, width, n, record, tick, period):
    return send_sample(s, ring, width, n, record, tick, tick * period)


class HarnessStream:
    """One stream of an action under test.

    Args:
        state, params: the action's records, as arrays of one; they stay.
        n: values in a sample.
    """

    def __init__(
        self,
        action_type: type[ActionType],
        declared: streams.Stream,
        state: np.ndarray,
        params: np.ndarray,
        *,
        n: int,
        joint_units: Sequence[str],
        period: float,
    ) -> None:
        self.declared, self._n, self._params, self._period = declared, n, params, period
        self._width = streams.width(declared)
        self._runtime = np.zeros(1, stream_runtime_dtype)[0]
        self._ring = np.zeros(1, stream_ring_dtype)[0]
        assert state.dtype.fields is not None  # a record type
        self._state = state
        self._record = state.ctypes.data + state.dtype.fields[declared.name][1]
        self.gap_method = gap_method(action_type, declared.name)
        if isinstance(declared, StreamInput):
            self._variables = state.ctypes.data + state.dtype.fields[f"{declared.name}_{streams.VARIABLES[0][0]}"][1]
            of = f"stream {declared.name!r} of action type {action_type.name!r}"
            self._resampled = has_resampler(action_type, declared.name)
            self._writer = StreamWriter(
                of, declared, joint_units, self._ring, _IDENTITY, period, resampled=self._resampled
            )

    def _setting(self, name: str) -> float:
        return float(self._params[0][f"{self.declared.name}_{name}"])

    def open(self, tick: Callable[[], int], action: ActionType) -> Stream:
        """A writer, as an application's.

        Args:
            tick: the last one.
            action: whose function resamples, if it has one.
        """
        declared = self.declared
        assert isinstance(declared, StreamInput)
        self._writer.begin()

        def send(sample: InputSample) -> None:
            arrived = self._writer.arrived(
                sample.values,
                valid=sample.valid,
                source_time=sample.source_time,
                sequence=sample.sequence,
                tick=sample.tick,
                now=tick() * self._period,
            )
            source, why = self._writer.order(arrived)
            if why:
                return
            given = arrived.values if declared.rates else arrived.values[0]
            self._writer.write(
                arrived,
                source,
                made=resample(action, declared.name, source, given) if self._resampled else None,
                now=tick() * self._period,
                gap=GapPolicy(int(self._setting("gap"))).name.lower(),
                delay=self._setting("delay"),
                timeout=self._setting("timeout"),
            )

        return Stream(
            "action",
            declared.name,
            length=self._n,
            rates=declared.rates,
            period=self._period,
            send=send,
            clock=lambda: tick() * self._period,
        )

    @property
    def own_function(self) -> bool:
        """Whether to call the action type's own gap function."""
        return self.gap_method is not None and int(self._setting("gap")) == _CUSTOM

    def begin(self, tick: int, activation: int) -> None:
        """Take in the samples that are due. `activation` 0: the action is not active."""
        declared = self.declared
        assert isinstance(declared, StreamInput)
        quaternion = -1 if declared.quaternion is None else declared.quaternion
        _begin(
            self._runtime,
            self._ring,
            self._n,
            self._width,
            quaternion,
            tick,
            self._period,
            activation,
            int(self._setting("gap")),
            self._setting("horizon"),
            self._setting("timeout"),
            self._record,
        )

    def end(self, tick: int, speed: float) -> None:
        """Write the present values to the action's state."""
        _end(
            self._runtime,
            self._n,
            self._width,
            int(self._setting("gap")),
            tick,
            self._period,
            self._setting("timeout"),
            1.0 / speed if speed > 0.0 else 0.0,
            self._record,
            self._variables,
        )

    def collect(self, tick: int) -> list[OutputSample]:
        """The values that the action has written to an output in this tick."""
        if self._state[0][self.declared.name].ready == 0.0:
            return []
        self._runtime.identity = _IDENTITY
        _send(self._runtime, self._ring, self._width, self._n, self._record, tick, self._period)
        entry = self._ring.entries[int(self._ring.tail) % capacities.STREAM_RING_ENTRIES]
        self._ring.tail = self._ring.head
        values = tuple(float(v) for v in entry["values"][: self._n])
        number = int(entry["sequence"])
        return [OutputSample("", "", self.declared.name, number, tick, tick * self._period, values)]


class HarnessStreams:
    """All streams of an action under test."""

    def __init__(
        self,
        action_type: type[ActionType],
        state: np.ndarray,
        params: np.ndarray,
        *,
        joint_units: Sequence[str],
        period: float,
    ) -> None:
        self._of = f"action type {action_type.name!r}"
        dof = len(joint_units)
        made = [
            HarnessStream(
                action_type, s, state, params, n=streams.n_values(s, dof), joint_units=joint_units, period=period
            )
            for s in action_type.streams
        ]
        self.inputs = [s for s in made if isinstance(s.declared, StreamInput)]
        self.outputs = [s for s in made if not isinstance(s.declared, StreamInput)]
        self.samples: dict[str, list[OutputSample]] = {s.declared.name: [] for s in self.outputs}

    def open(self, name: str, tick: Callable[[], int], action: ActionType) -> Stream:
        """A writer of a stream input, as an application's.

        Raises:
            DefinitionError: there is none of this name.
        """
        for stream in self.inputs:
            if stream.declared.name == name:
                return stream.open(tick, action)
        known = [s.declared.name for s in self.inputs]
        raise DefinitionError(f"{self._of} has no stream input {name!r}", expected=unknown("stream input", name, known))

    def take_in(self, tick: int, activation: int, speed: float, call: Callable[[str], int]) -> int:
        """The loop's step before `on_enter` and `sense`. Returns the status of the gap functions that it calls."""
        for stream in self.inputs:
            stream.begin(tick, activation)
            if activation == 0:
                continue
            if stream.own_function and stream.gap_method is not None and (status := call(stream.gap_method)):
                return status
            stream.end(tick, speed)
        return 0

    def send(self, tick: int) -> None:
        """The loop's step after `control`."""
        for stream in self.outputs:
            self.samples[stream.declared.name] += stream.collect(tick)
