"""Writing a stream input of an action, independent of ROS: `send` passes the samples on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np

from robot_rt_control.definitions.stream_sample import InputSample
from robot_rt_control.vocabulary.errors import DefinitionError, SessionError

Values = Sequence[float] | np.ndarray | float


class Stream:
    """Made by `Session.stream`; a context manager. One thread at a time.

    Leaving the context ends the writing: the stream then times out, and the part comes to rest.

    Args:
        action, name: id of the action, and name of the stream.
        length: values in a sample.
        rates: whether samples may carry rates.
        send: sends a sample.
        clock: [s] time of samples that are written without one.
    """

    def __init__(
        self,
        action: str,
        name: str,
        *,
        length: int,
        rates: bool,
        period: float,
        send: Callable[[InputSample], Any],
        clock: Callable[[], float],
    ) -> None:
        self.action, self.name, self.length, self.period = action, name, length, period
        self._rates, self._send, self._clock = rates, send, clock
        self._sequence = 0
        self._closed: str | None = None
        """Why it is closed; None: it is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def time(self) -> float:
        """[s] Present time on the clock of samples that are written without a time."""
        return self._clock()

    def close(self, reason: str = "") -> None:
        """Close the stream; `reason`: why, if the application did not ask for it."""
        self._closed = self._closed or reason

    @property
    def is_closed(self) -> bool:
        """Whether it is closed."""
        return self._closed is not None

    def write(
        self,
        values: Values,
        rates: Values | None = None,
        *,
        time: float | None = None,
        valid: Sequence[bool] | None = None,
        tick: int = 0,
    ) -> None:
        """Write one sample. Returns at once: the server chooses the tick in which it takes effect, to absorb jitter.

        Args:
            values: shape (length,), in the stream's units; a number if the length is 1.
            rates: their rates of change, per second, if the stream takes rates.
            time: [s] when the sample was made, on any clock: only differences count, and it must increase.
                Default: now.
            valid: (length,) which of the values are given; the others keep their last value.
            tick: the tick in which it takes effect; default: the server chooses.

        Raises:
            DefinitionError: wrong length, or a value is not finite; nothing was written.
            SessionError: the stream is closed, its action was removed by the session, or the session has ended.
        """
        what = f"stream {self.name!r} of action {self.action!r}"
        if self._closed is not None:
            why = f": {self._closed}" if self._closed else ""
            raise SessionError(f"{what} is closed{why}", hint="Open it again: session.stream(...)")
        given = [True] * self.length if valid is None else [bool(v) for v in valid]
        if len(given) != self.length:
            raise DefinitionError(f"{what}: `valid`", expected=f"{self.length} booleans", got=str(len(given)))
        flat = self._checked(what, "values", values, given)
        if rates is not None:
            if not self._rates:
                raise DefinitionError(f"{what} takes no rates", expected="values alone", got="rates")
            flat += self._checked(what, "rates", rates, given)
        now = self._clock() if time is None else float(time)
        if not math.isfinite(now):
            raise DefinitionError(f"{what}: time of a sample", expected="a finite number", got=str(now))
        self._sequence += 1
        all_valid = [] if all(given) else given * (1 if rates is None else 2)
        self._send(InputSample(self._sequence, now, flat, all_valid, tick))

    def _checked(self, what: str, kind: str, given: Values, valid: list[bool]) -> list[float]:
        try:
            flat = np.atleast_1d(np.asarray(given, np.float64)).ravel()
        except (TypeError, ValueError):
            raise DefinitionError(f"{what}: {kind} of a sample", expected="numbers", got=repr(given)) from None
        if len(flat) != self.length:
            raise DefinitionError(
                f"{what}: a sample has the wrong number of {kind}", expected=str(self.length), got=str(len(flat))
            )
        for i, value in enumerate(flat):
            if valid[i] and not math.isfinite(value):
                raise DefinitionError(
                    f"{what}: {kind}[{i}] of a sample is not finite",
                    expected="finite numbers",
                    got=str(value),
                    hint="Mark unknown values as not given by `valid`",
                )
        return [float(v) if ok else 0.0 for v, ok in zip(flat, valid, strict=True)]
