"""Actions of users' types as the server sees them: their objects are in workers."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from robot_rt_control.definitions.action_type import ParameterValue
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.definitions.resampling import RESAMPLE_METHOD, Resampled
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.server.code.uploads import shown_errors
from robot_rt_control.server.preparer.axis_view import LIMITS, AxisDescription
from robot_rt_control.server.preparer.process import MAX_ERROR_BYTES, Ended, Process, UserClass
from robot_rt_control.server.preparer.user_code import CORRECT
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

_numbers = itertools.count(1)
MAX_SAMPLES_BYTES = capacities.STREAM_RING_ENTRIES * (2 * capacities.MAX_STREAM_VALUES + 1) * 32
"""Largest answer with samples [bytes]."""


class Worker:
    """A process that prepares the actions of one type and session. Its requests are served in order.

    Args:
        code: the class.
        declared: of the class.
        parts: all parts of the workcell.
        limit: see `Process`.
    """

    def __init__(
        self, code: UserClass, declared: DeclaredType, parts: Iterable[PartDescription], limit: float | None
    ) -> None:
        self._code, self._declared, self._parts, self._limit = code, declared, list(parts), limit
        self._process: Process | None = None
        """Started by the first request."""
        self._turn = threading.Lock()
        self._ended = self._left = False
        self._gone: deque[int] = deque()

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended: its objects are lost."""
        if self._turn.acquire(blocking=False):
            try:
                return self._is_gone()
            finally:
                self._turn.release()
        return False

    def _is_gone(self) -> bool:
        return self._ended or self._left or (self._process is not None and self._process.is_gone)

    def create(self, of: str, slots: Mapping[str, str | AxisDescription], measured: np.ndarray | None) -> RemoteAction:
        """Create an action's object.

        Args:
            of: the action, for messages.
            slots: slot → part; for a law's first slot, the degree of freedom.
            measured: what was measured of all parts (`layout.measured_dtype`); None: nothing yet.

        Raises:
            DefinitionError: its code refuses, raised an exception, or ended the process; or the session has ended.
            CompileError: the process that had imported the file has died, and the file has changed since.
        """
        action = RemoteAction(self, next(_numbers))
        self._ask(of, "create", action.number, slots, measured)
        return action

    def fill(self, of: str, action: int, values: Mapping[str, ParameterValue], measured: np.ndarray | None) -> bytes:
        """Fill the parameter record of an action, from checked values. Raises as `create`."""
        answer = self._ask(of, "prepare_parameters", action, values, measured)
        return self._bytes(f"{of}: parameter record", answer, self._declared.parameter_record.size)

    def degree_limits(self, of: str, action: int, parameters: bytes, measured: np.ndarray | None) -> np.ndarray:
        """The limits of the declared degrees of freedom, see `axis_view.degree_limits`. Raises as `create`."""
        answer = self._ask(of, "prepare_degrees", action, {"parameters": parameters}, measured)
        shape = (len(self._declared.degrees_of_freedom), len(LIMITS))
        data = self._bytes(f"{of}: limits of degrees of freedom", answer, 8 * shape[0] * shape[1])
        return np.frombuffer(data).reshape(shape)

    def resample(self, of: str, action: int, stream: str, time: float, sample: np.ndarray) -> Resampled:
        """See `resampling.resample`. Raises as `create`."""
        given = {"time": time, "sample": sample}
        answer = self._ask(of, RESAMPLE_METHOD + stream, action, given, None, MAX_SAMPLES_BYTES)
        made: Any = answer.get("samples")
        try:
            return [(float(at), [float(value) for value in values]) for at, values in made]
        except (TypeError, ValueError) as error:
            raise DefinitionError(f"{of}: answer of its process", expected="samples", got=f"{made!r:.80}") from error

    def _bytes(self, what: str, answer: Mapping[str, Any], size: int) -> bytes:
        data = bytes.fromhex(str(answer.get("record")))
        if len(data) != size:
            raise DefinitionError(
                f"{what} of action type {self._declared.name!r}", expected=f"{size} bytes", got=str(len(data))
            )
        return data

    def _ask(
        self,
        of: str,
        method: str,
        action: int,
        given: Mapping[str, Any],
        measured: np.ndarray | None,
        more_bytes: int = 0,
    ) -> dict[str, Any]:
        with self._turn, shown_errors():
            if self._is_gone():
                raise DefinitionError(
                    f"{of}: the process that prepares it has ended",
                    hint="Define it again"
                    if method == "create"
                    else "It keeps the parameters that it has. To change them, define a new action",
                )
            gone = [self._gone.popleft() for _ in range(len(self._gone))]
            state = None if measured is None else measured.tobytes()
            request = {"method": method, "of": of, "action": action, "given": dict(given), "measured": state}
            try:
                process = self._started()
                process.connection.send({**request, "gone": gone})
                record_bytes = 2 * self._declared.parameter_record.size
                answer = process.receive(MAX_ERROR_BYTES + max(record_bytes, more_bytes))
            except Ended as ended:
                self._ended = True
                if self._process is not None:
                    self._process.close()
                raise self._refusal(of, method, ended) from ended
            if "error" in answer:
                kind = CapacityError if answer.get("class") == "CapacityError" else DefinitionError
                raise kind(**answer["error"])
            return answer

    def _started(self) -> Process:
        if self._process is None:
            self._process = self._code.file.start(self._code.name, self._limit)
            self._process.connection.send(self._parts)
            if self._left:  # meanwhile: `leave` may have found no process
                self._process.abort()
        return self._process

    def _refusal(self, of: str, method: str, ended: Ended) -> DefinitionError:
        what = f"{of}: {method} of action type {self._declared.name!r}"
        at = f" at {ended.place}" if ended.place else ""
        if self._left:
            return DefinitionError(
                f"{what} had not returned when its session ended", got=f"it was still running{at}", hint=CORRECT
            )
        return DefinitionError(f"{what} ended its process", got=f"{ended.how}{at}", hint=CORRECT)

    def leave(self) -> None:
        """The session ends: the process as well, whatever it does. Does not wait."""
        self._left = True
        idle = self._turn.acquire(blocking=False)
        if self._process is not None:
            self._process.close() if idle else self._process.abort()
        if idle:
            self._turn.release()

    def forget(self, action: int) -> None:
        """The object of an action is not needed any more. May be called at any place, also by the garbage collector."""
        self._gone.append(action)


class RemoteAction:
    """An action's object in a worker."""

    def __init__(self, worker: Worker, number: int) -> None:
        self._worker, self.number = worker, number
        weakref.finalize(self, worker.forget, number)

    @property
    def is_gone(self) -> bool:
        """See `Worker.is_gone`."""
        return self._worker.is_gone

    def fill(self, of: str, values: Mapping[str, ParameterValue], measured: np.ndarray | None) -> bytes:
        """See `Worker.fill`."""
        return self._worker.fill(of, self.number, values, measured)

    def degree_limits(self, of: str, parameters: bytes, measured: np.ndarray | None) -> np.ndarray:
        """See `Worker.degree_limits`."""
        return self._worker.degree_limits(of, self.number, parameters, measured)

    def resample(self, of: str, stream: str, time: float, sample: np.ndarray) -> Resampled:
        """See `Worker.resample`."""
        return self._worker.resample(of, self.number, stream, time, sample)
