"""What a client needs of a workcell, in the words of `definitions`: over ROS, or over a lockstep cell.

`Client` and `Session` are written against this alone, so that an application's program gets the same answers from
either. All errors are those of `vocabulary.errors`, with the same fields.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from robot_rt_control.client.callback_queue import CallbackQueue
from robot_rt_control.client.event import Event
from robot_rt_control.client.program_state import ProgramState, RunOutcome
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.definitions.stream_sample import InputSample

Listener = Callable[[Event], None]
"""Called for every event, in order, in the thread that receives it: it must return at once."""


@dataclass(frozen=True, kw_only=True)
class SessionRequest:
    """What `open_session` is asked for."""

    name: str
    parts: tuple[str, ...]
    lease_s: float
    """0: until it is closed."""
    deadline_s: float = 0.0
    """0: none."""
    read_only: bool = False
    unprotected: bool = False


@dataclass(frozen=True)
class SessionKey:
    """What a session's opener commands it with."""

    id: str
    secret: str = ""
    """Only its opener has it; empty: the session is unprotected."""
    lease_s: float = 0.0
    """That applies."""


@dataclass(frozen=True)
class StreamKey:
    """A stream input that is ready for samples."""

    session: str
    action: str
    stream: str
    length: int
    """Values in a sample."""
    period: float
    """Of a tick [s]."""
    token: str = ""
    """Goes with each sample."""


class Backend(Protocol):
    """One workcell. All methods may be called from any thread, and raise RobotControlError of some kind.

    Methods that return a tick return the one in which the command took effect; where the loop ticks on request only,
    the one in which it will.
    """

    threaded: bool
    """Whether callbacks and leases have threads of their own. Else they are served while somebody waits, and leases do
    not run out."""

    @property
    def gated(self) -> bool:
        """Whether the loop is known to tick on request only: then a session's end is told with a later tick."""
        ...

    # --- time and events ------------------------------------------------------------------------

    def now(self) -> float:
        """[s] on the clock of time-outs: simulated time where the workcell lives in it, else monotonic."""
        ...

    def source_time(self) -> float:
        """[s] on the clock of a stream's source: see W15."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...

    def wait(self, changed: threading.Condition, happened: Callable[[], bool], timeout_s: float | None) -> None:
        """Return when something has `happened`, or at a time-out; also in between. `changed` is notified of changes."""
        ...

    def step(self, ticks: int) -> int:
        """Run ticks, where the loop ticks on request only. Returns the last one's number."""
        ...

    def serve(self, queue: CallbackQueue) -> None:
        """See that the callback of a queue is called, until the queue is closed."""
        ...

    def sample_each_tick(self, sample: Callable[[], None]) -> Callable[[], None] | None:
        """Call `sample` after each tick; returns what ends it. None: ticks are not seen from here."""
        ...

    def add_listener(self, listener: Listener) -> None:
        """Tell `listener` every event of every session."""
        ...

    def remove_listener(self, listener: Listener) -> None:
        """Undo `add_listener`."""
        ...

    @property
    def program_states(self) -> Mapping[str, ProgramState]:
        """Session → the states that its program is in."""
        ...

    def close(self) -> None:
        """Leave the workcell."""
        ...

    # --- sessions -------------------------------------------------------------------------------

    def open_session(self, request: SessionRequest) -> SessionKey: ...

    def renew_session(self, key: SessionKey, timeout_s: float) -> None: ...

    def close_session(self, key: SessionKey, timeout_s: float | None = None) -> None: ...

    def define(
        self, key: SessionKey, actions: Sequence[ActionDefinition], reactions: Sequence[ReactionDefinition]
    ) -> None: ...

    def upload_program(
        self, key: SessionKey, program: str, parts: Sequence[str], parameters: Sequence[ParameterValue]
    ) -> list[str]:
        """Returns the ids of the program's actions. `parts`: "role=part"."""
        ...

    def remove(self, key: SessionKey, actions: Sequence[str], reactions: Sequence[str]) -> None:
        """Without actions and reactions: everything."""
        ...

    def start(self, key: SessionKey, actions: Sequence[str], at_tick: int) -> int: ...

    def stop(self, key: SessionKey | None, actions: Sequence[str]) -> int:
        """Without session: all actions of all sessions."""
        ...

    def raise_signal(self, key: SessionKey, action: str, signal: str) -> int: ...

    def set_parameters(self, key: SessionKey, action: str, values: Sequence[ParameterValue]) -> int: ...

    def open_stream(self, key: SessionKey, action: str, stream: str) -> StreamKey: ...

    def write_sample(self, key: StreamKey, sample: InputSample) -> None:
        """Returns at once; what the control server refuses is an event, or a warning in a log."""
        ...

    def listen(self, session: str, action: str, stream: str, queue: CallbackQueue) -> None:
        """Put the samples of a stream output into a queue."""
        ...

    def forget(self, session: str) -> None:
        """Hand nothing more to the queues of a session."""
        ...

    # --- the workcell ---------------------------------------------------------------------------

    def list_parts(self) -> list[Any]:
        """msg/PartInfo."""
        ...

    def list_sessions(self) -> list[Any]:
        """msg/SessionInfo."""
        ...

    def list_action_types(self, name: str) -> list[Any]:
        """msg/ActionTypeInfo; without a name all."""
        ...

    def list_state_variables(self, prefixes: Iterable[str], session: str) -> list[Any]:
        """msg/StateVariableInfo, all of one tick."""
        ...

    def load_action_types(self, source: str | type[ActionType], *, replace: bool, timeout_s: float) -> list[str]: ...

    def unload_action_types(self, names: Sequence[str]) -> None: ...

    def set_motion(self, parts: Sequence[str], command: str, secret: str) -> str:
        """Returns a remark."""
        ...

    def set_speed(self, speed: float) -> None: ...

    def protective_stop(self, *, stop: bool, reason: str) -> int: ...

    def recover(self, parts: Sequence[str]) -> list[str]: ...

    def take_picture(self, path: Path, width: int, height: int) -> Path: ...

    # --- programs -------------------------------------------------------------------------------

    def list_programs(self, name: str, *, with_text: bool) -> list[Any]:
        """msg/ProgramInfo."""
        ...

    def save_program(self, program: str, *, check_only: bool) -> tuple[int, tuple[str, ...]]:
        """Returns the version, and warnings."""
        ...

    def delete_program(self, name: str) -> str:
        """Returns a remark."""
        ...

    def run_program(
        self,
        program: str,
        parts: Sequence[str],
        parameters: Sequence[ParameterValue],
        *,
        until_event: str,
        timeout_s: float,
        on_progress: Callable[[Any], None] | None,
        cancelled: threading.Event | None,
    ) -> RunOutcome: ...
