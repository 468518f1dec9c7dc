"""What a client needs from a workcell, in the types of `definitions`: over ROS, or over a lockstep cell.

`Client` and `Session` use only this, so an application gets the same answers from both. All errors are those of
`vocabulary.errors`, with the same fields.
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
from robot_rt_control.vocabulary.errors import RobotControlError

Listener = Callable[[Event], None]
"""Called for every event, in order, in the receiving thread; it must return at once."""


@dataclass(frozen=True, kw_only=True)
class SessionRequest:
    """The arguments of `open_session`."""

    name: str
    parts: tuple[str, ...]
    lease_s: float
    """[s] 0: until it is closed."""
    deadline_s: float = 0.0
    """0: none."""
    read_only: bool = False
    unprotected: bool = False
    detached_s: float = 0.0
    """[s] for which it may go on without client or server."""
    yielding: bool = False
    """It holds its parts only while one of its actions is active."""


@dataclass(frozen=True)
class SessionKey:
    """The credentials for a session's commands."""

    id: str
    secret: str = ""
    """Known to its opener only; empty: the session is unprotected."""
    lease_s: float = 0.0
    """[s] The granted lease."""


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """The arguments of `run_program`; see `Programs.run`."""

    program: str
    parts: Sequence[str]
    """"role=part"."""
    parameters: Sequence[ParameterValue]
    until_event: str = ""
    timeout_s: float = 0.0
    detached_s: float = 0.0
    on_progress: Callable[[Any], None] | None = None
    cancelled: threading.Event | None = None
    session: SessionKey | None = None
    """To run in; None: one of its own."""
    prefix: str = ""
    """Prefix of the program's ids in that session."""
    keep: bool = False
    """What is active when the run ends goes on in that session."""
    on_change: Callable[[], object] = lambda: None
    """Of `begin_run`: called when there may be something new, in the receiving thread; it must return at once."""


class StartedRun(Protocol):
    """A run of a program under way. All methods may be called from any thread."""

    def poll(self) -> RunOutcome | None:
        """How it ended; None: it has not. In a given session a run that is cancelled or fails ends once its parts are
        at rest.

        Raises:
            RobotControlError: it could not be started, or nobody knows how it goes on; the class says why.
        """
        ...

    def cancel(self) -> None:
        """Ask for its end; `poll` reports it. It does not wait."""
        ...

    @property
    def has_begun(self) -> bool:
        """Whether it is known that its first actions have started."""
        ...


@dataclass(frozen=True, kw_only=True)
class ActionRequest:
    """The arguments of `run_action`; see `Client.run_action`."""

    type: str
    parts: Sequence[str]
    """"arm", or "slot=part"."""
    parameters: Sequence[ParameterValue]
    until: str
    timeout_s: float
    on_progress: Callable[[Any], None] | None
    cancelled: threading.Event | None


@dataclass(frozen=True)
class StreamKey:
    """A stream input that is ready for samples."""

    session: str
    action: str
    stream: str
    length: int
    """Number of values in a sample."""
    period: float
    """[s] Period of a tick."""
    token: str = ""
    """Sent with each sample."""


class Backend(Protocol):
    """One workcell.

    All methods may be called from any thread; they raise subclasses of RobotControlError. A returned tick is the one in
    which the command took effect or, if the loop ticks on request only, will take effect.
    """

    threaded: bool
    """Whether callbacks and leases have threads of their own. Otherwise they are served during waits, and leases do not
    run out."""

    @property
    def gated(self) -> bool:
        """Whether the loop ticks on request only; then a session's end is reported with a later tick."""
        ...

    # --- time and events ------------------------------------------------------------------------

    @property
    def simulated(self) -> bool:
        """Whether the workcell is known to live in simulated time."""
        ...

    def now(self) -> float:
        """[s] on the clock of time-outs: simulated time where the workcell lives in it, else monotonic."""
        ...

    def source_time(self) -> float:
        """[s] on the clock of a stream's source: see W15."""
        ...

    def present(self) -> tuple[int, float]:
        """The present tick, and the loop's time then [s]; over ROS an estimate that never goes back.

        Raises:
            NoAnswer: no executor has reported.
        """
        ...

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...

    def wait(self, changed: threading.Condition, happened: Callable[[], bool], timeout_s: float | None) -> None:
        """Return once something has `happened` or at the time-out, or earlier. `changed` is notified of changes."""
        ...

    def step(self, ticks: int) -> int:
        """Run ticks of a loop that ticks on request only. Returns the last one's number."""
        ...

    def serve(self, queue: CallbackQueue) -> None:
        """Call the callback of a queue for what arrives, until the queue is closed."""
        ...

    def sample_each_tick(self, sample: Callable[[], None]) -> Callable[[], None] | None:
        """Call `sample` after each tick. Returns a function that ends this; None: ticks cannot be seen."""
        ...

    def add_listener(self, listener: Listener) -> None:
        """Call `listener` with every event of every session."""
        ...

    def remove_listener(self, listener: Listener) -> None:
        """Undo `add_listener`."""
        ...

    @property
    def program_states(self) -> Mapping[str, ProgramState]:
        """Session → the present states of its program."""
        ...

    def close(self) -> None:
        """Disconnect."""
        ...

    # --- sessions -------------------------------------------------------------------------------

    def open_session(self, request: SessionRequest) -> SessionKey: ...

    def renew_session(self, key: SessionKey, timeout_s: float) -> None: ...

    def close_session(self, key: SessionKey, timeout_s: float | None = None) -> None: ...

    def define(
        self, key: SessionKey, actions: Sequence[ActionDefinition], reactions: Sequence[ReactionDefinition]
    ) -> None: ...

    def replace(self, key: SessionKey, actions: Sequence[ActionDefinition], start: Sequence[str]) -> int: ...

    def upload_program(
        self,
        key: SessionKey,
        program: str,
        parts: Sequence[str],
        parameters: Sequence[ParameterValue],
        *,
        prefix: str = "",
    ) -> list[str]:
        """Returns the ids of the program's actions. `parts`: "role=part"."""
        ...

    def remove(self, key: SessionKey, actions: Sequence[str], reactions: Sequence[str]) -> None:
        """No actions and no reactions: remove everything."""
        ...

    def start(self, key: SessionKey, actions: Sequence[str], at_tick: int) -> int: ...

    def stop(self, key: SessionKey | None, actions: Sequence[str]) -> int:
        """No session: all actions of all sessions."""
        ...

    def change_tool(self, key: SessionKey, part: str, tool: str) -> int: ...

    def raise_signal(self, key: SessionKey, action: str, signal: str) -> int: ...

    def set_parameters(self, key: SessionKey, action: str, values: Sequence[ParameterValue]) -> int: ...

    def open_stream(self, key: SessionKey, action: str, stream: str) -> StreamKey: ...

    def write_sample(self, key: StreamKey, sample: InputSample) -> None:
        """Returns at once; a refused sample is reported by an event, or by a warning in a log."""
        ...

    def listen(self, session: str, action: str, stream: str, queue: CallbackQueue) -> None:
        """Put samples of a stream output into a queue."""
        ...

    def forget(self, session: str) -> None:
        """Stop filling the queues of a session."""
        ...

    def give_up(self, session: str, reason: Callable[[], RobotControlError]) -> None:
        """Let a session's calls that wait for an answer raise what `reason` makes: the session cannot be reached."""
        ...

    # --- the workcell ---------------------------------------------------------------------------

    def executor_status(self) -> Any:
        """msg/ExecutorStatus, written after this call."""
        ...

    def run_action(self, request: ActionRequest) -> RunOutcome: ...

    def workcell_digest(self) -> int:
        """Digest of the workcell that runs: `Workcell.digest` of its file."""
        ...

    def list_parts(self) -> list[Any]:
        """msg/PartInfo."""
        ...

    def list_sessions(self) -> list[Any]:
        """msg/SessionInfo."""
        ...

    def list_action_types(self, name: str) -> list[Any]:
        """msg/ActionTypeInfo; no name: all."""
        ...

    def list_state_variables(self, prefixes: Iterable[str], session: str) -> list[Any]:
        """msg/StateVariableInfo, all from one tick."""
        ...

    def state_values(self, prefixes: Iterable[str], session: str) -> dict[str, float]:
        """Name → value of what `list_state_variables` lists."""
        ...

    def load_action_types(
        self, source: str | type[ActionType], *, replace: bool, timeout_s: float, code: str = ""
    ) -> list[str]:
        """`code`: the text of the file that `source` names on this machine, for a server on another one."""
        ...

    def unload_action_types(self, names: Sequence[str]) -> None: ...

    def set_motion(self, parts: Sequence[str], command: str, secret: str) -> str:
        """Returns a remark."""
        ...

    def set_speed(self, speed: float, *, who: str, secret: str) -> None: ...

    def protective_stop(
        self, *, stop: bool, source: str, reason: str, who: str, secret: str, everything: bool = False
    ) -> int:
        """Stop, or release a stop; `everything`: all that need no secret of their own."""
        ...

    def resume(self, key: SessionKey, who: str) -> int:
        """`key`: with the session's secret, or the operator's."""
        ...

    def operator_secret(self) -> str:
        """The operator's; empty: the workcell's executor is not this user's on this machine."""
        ...

    def recover(self, parts: Sequence[str]) -> list[str]: ...

    def take_picture(self, name: str, width: int, height: int) -> Path: ...

    def record(self, on: bool) -> str:
        """Returns the file."""
        ...

    def save_last_ticks(self) -> str:
        """Returns the file."""
        ...

    # --- programs -------------------------------------------------------------------------------

    def list_programs(self, name: str, *, search: str, tags: Sequence[str], with_text: bool) -> list[Any]:
        """msg/ProgramInfo."""
        ...

    def save_program(
        self, program: str, *, name: str, check_only: bool, based_on: int = 0
    ) -> tuple[int, tuple[str, ...]]:
        """Text, or with `name` also the name of a kept one. Returns the version, and warnings."""
        ...

    def delete_program(self, name: str) -> str:
        """Returns a remark."""
        ...

    def run_program(self, request: RunRequest) -> RunOutcome: ...

    def begin_run(self, request: RunRequest) -> StartedRun:
        """As `run_program`, but returns at once.

        Raises:
            RobotControlError: it could not be started. `StartedRun.poll` may raise this too.
        """
        ...

    def prepare_run(self, request: RunRequest) -> Callable[[], bool]:
        """Have installed what `begin_run` with this request would install in its given session, so that it only has to
        start. Does not wait, and reports nothing: a run that comes before installs what is missing.

        Returns:
            Whether it is over; `request.on_change` is called when it is.
        """
        ...
