"""Programs that the control server keeps or has in its library, and the states that running ones are in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rclpy.action import ActionClient

from robot_rt_control import action, msg, srv
from robot_rt_control.client.conversions import parameter_messages, role_texts
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

if TYPE_CHECKING:
    from robot_rt_control.client.client import Client


@dataclass(frozen=True, kw_only=True)
class ProgramState:
    """The states that a session's program is in."""

    session: str
    program: str
    """Its name; empty: it has none."""
    tick: int
    """Of the last change."""
    active: tuple[str, ...]
    """Ids of the active actions, in the order in which they started."""
    last_reaction: str
    last_event: str
    ended: str | None
    """Why the session has ended; None while it lives."""


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """How a run ended."""

    success: bool
    message: str
    """Why it did not succeed; empty where it did."""
    ticks: int
    last_event: str
    """Which exit it took: name of the last event that a reaction emitted."""


def state_of(message: msg.ProgramState) -> ProgramState:
    """From msg/ProgramState."""
    return ProgramState(
        session=message.session,
        program=message.program,
        tick=message.tick,
        active=tuple(message.active),
        last_reaction=message.last_reaction,
        last_event=message.last_event,
        ended=message.end_reason if message.ended else None,
    )


def read_program(program: str | Path) -> str:
    """A program as services take it: the text of a file, else what was given: YAML text or a name.

    Raises:
        DefinitionError: the file cannot be read.
    """
    if isinstance(program, str) and ("\n" in program or not program.endswith((".yaml", ".yml"))):
        return program
    try:
        return Path(program).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"program file {str(program)!r} cannot be read", got=str(error)) from None


class Programs:
    """`client.programs`. All methods may be called from any thread."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._runner: ActionClient | None = None
        self._lock = threading.Lock()

    def list(self, name: str = "", *, with_text: bool = False) -> list[msg.ProgramInfo]:
        """All programs, or the one of this name ("trace_edge", "trace_edge@2").

        Raises:
            DefinitionError: there is none of this name.
        """
        response = self._client.call(srv.ListPrograms, "list_programs", DefinitionError, name=name, with_text=with_text)
        return list(response.programs)

    def text(self, name: str) -> str:
        """A program's YAML text.

        Raises:
            DefinitionError: there is none of this name.
        """
        return str(self.list(name, with_text=True)[0].text)

    def check(self, program: str | Path) -> tuple[str, ...]:
        """Check a program against the workcell, without keeping it. Returns warnings.

        Args:
            program: YAML text, or a file on this machine.

        Raises:
            DefinitionError: all that is wrong, each with its line.
        """
        return tuple(self._save(program, check_only=True).warnings)

    def save(self, program: str | Path) -> tuple[int, tuple[str, ...]]:
        """Check a program and keep it as the next version of its name. Returns the version, and warnings.

        Args:
            program: YAML text, or a file on this machine.

        Raises:
            DefinitionError: all that is wrong, each with its line; nothing is kept.
        """
        response = self._save(program, check_only=False)
        return int(response.version), tuple(response.warnings)

    def _save(self, program: str | Path, *, check_only: bool) -> Any:
        return self._client.call(
            srv.SaveProgram, "save_program", DefinitionError, program=read_program(program), check_only=check_only
        )

    def delete(self, name: str) -> str:
        """Delete all versions of a program, or one of them ("trace_edge@2"). Running ones go on. Returns a remark.

        Raises:
            DefinitionError: there is none, or it comes with the package.
        """
        return str(self._client.call(srv.DeleteProgram, "delete_program", DefinitionError, name=name).message)

    def run(
        self,
        program: str | Path,
        parts: Mapping[str, str] | Iterable[str] = (),
        /,
        *,
        until_event: str = "",
        timeout_s: float = 0.0,
        on_progress: Callable[[Any], None] | None = None,
        cancelled: threading.Event | None = None,
        **parameters: Any,
    ) -> RunOutcome:
        """Run a program in a session of its own, and wait for its end.

        Args:
            program: a name, YAML text, or a file on this machine.
            parts: parts for its roles, role → part or "role=part".
            until_event: name of the event that ends it; empty: it ends when all that is active is done.
            timeout_s: longest time that it may run [s] of the loop's time; 0: no limit.
            on_progress: is called with the ROS action's feedback about ten times a second, in the spinning thread.
            cancelled: when it is set, the run is cancelled, and its parts take their default action.
            parameters: values of its parameters, as those of an Action.

        Raises:
            RobotControlError: the control server is not there.
        """
        runner = self._action_client()
        if not runner.wait_for_server(self._client.timeout_s):
            raise RobotControlError(
                "the ROS action 'control_server/run_program' is not there", hint="Bring the workcell up first"
            )
        goal = action.RunProgram.Goal(
            program=read_program(program),
            parts=role_texts(parts),
            parameters=parameter_messages(parameters),
            until_event=until_event,
            timeout=float(timeout_s),
        )
        feedback: Callable[[Any], None] | None = None
        if on_progress is not None:
            told = on_progress

            def feedback(message: Any) -> None:
                told(message.feedback)

        sent = runner.send_goal_async(goal, feedback_callback=feedback)
        handle = _wait(sent, None, self._client.timeout_s)
        if handle is None or not handle.accepted:
            raise RobotControlError("the control server did not accept the run")
        done = handle.get_result_async()
        if cancelled is not None and _wait(done, cancelled, None) is None:
            handle.cancel_goal_async()
        result = _wait(done, None, None).result
        return RunOutcome(
            success=result.success, message=result.message, ticks=result.ticks, last_event=result.last_event
        )

    def _action_client(self) -> ActionClient:
        with self._lock:
            if self._runner is None:
                self._runner = ActionClient(self._client.node, action.RunProgram, "control_server/run_program")
            return self._runner

    def close(self) -> None:
        """Take the action client back."""
        if self._runner is not None:
            self._runner.destroy()


def _wait(future: Any, unless: threading.Event | None, timeout_s: float | None) -> Any:
    """A future's result; None: it did not come in time, or `unless` was set before."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    arrived = threading.Event()
    future.add_done_callback(lambda _: arrived.set())
    while not arrived.wait(0.05):
        if (unless is not None and unless.is_set()) or (deadline is not None and time.monotonic() > deadline):
            return None
    return future.result()
