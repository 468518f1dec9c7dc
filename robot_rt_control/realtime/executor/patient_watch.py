"""Noticing, in simulated time, a control server that hangs: time in which it gets no processor does not count."""

from __future__ import annotations

import time
from collections.abc import Callable

from robot_rt_control.memory.atomics import load_acquire
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import channel_dtype, offset_of
from robot_rt_control.realtime.executor.server_patience import ServerPatience

_BEATS = tuple(offset_of(channel_dtype, name) for name in ("server_native_beat", "server_python_beat"))
_LOOK_S = 0.05
_LONGEST_STEP_S = 0.25
"""A longer time between two looks counts as this: while the executor itself stands still, it misses nobody."""


class PatientWatch:
    """Watches the heartbeats of the attached server on the wall clock.

    A server is watched from its first heartbeat on: one in the executor's own process has none.

    Args:
        channel: of the executor.
        silence_s: silence of either heartbeat after which the server counts as lost.
        patience: what is seen of a silent server.
        clock: [s] the wall clock; monotonic.
    """

    def __init__(
        self,
        channel: Channel,
        silence_s: float,
        patience: ServerPatience,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._channel, self._silence_s, self._clock = channel, silence_s, clock
        self._patience = patience
        self._epoch = 0
        self._looked = clock()
        self._beats = [0, 0]
        self._silent = [0.0, 0.0]
        self._watching = [False, False]

    def lost(self) -> bool:
        """Look; True: the attached server has been silent for too long (once for each server)."""
        now = self._clock()
        passed = now - self._looked
        if passed < _LOOK_S:
            return False
        self._looked = now
        epoch = int(self._channel.memory.server_epoch)
        beats = [load_acquire(self._channel.address + offset) for offset in _BEATS]
        if epoch != self._epoch:
            self._epoch, self._beats, self._watching = epoch, beats, [False, False]
            return False
        starved = self._patience.native_starved, self._patience.python_starved
        for i, beat in enumerate(beats):
            if beat != self._beats[i]:
                self._beats[i], self._silent[i], self._watching[i] = beat, 0.0, True
            elif not starved[i]:
                self._silent[i] += min(passed, _LONGEST_STEP_S)
        if any(w and s > self._silence_s for w, s in zip(self._watching, self._silent, strict=True)):
            self._watching = [False, False]
            return True
        return False
