"""Programs that the control server keeps or has in its library."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from robot_rt_control.client.actions import parameter_values, role_texts
from robot_rt_control.client.backend import Backend, RunRequest
from robot_rt_control.client.program_state import ProgramState, RunOutcome
from robot_rt_control.client.session import Session
from robot_rt_control.vocabulary.errors import DefinitionError

__all__ = ["ProgramState", "Programs", "RunOutcome", "read_program"]


def read_program(program: str | Path) -> str:
    """A program for the control server: the text of a file; YAML text or a name is returned unchanged.

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

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def list(
        self, name: str = "", *, search: str = "", tags: Iterable[str] = (), with_text: bool = False
    ) -> list[Any]:
        """All programs, or the one of this name ("trace_edge", "trace_edge@2"), as msg/ProgramInfo.

        Args:
            search: only those that have all of these words, or parts of words, in name, description or tags.
            tags: only those with all of these tags.

        Raises:
            DefinitionError: there is none of this name.
        """
        return self._backend.list_programs(name, search=search, tags=tuple(tags), with_text=with_text)

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
            DefinitionError, ProgramError: all that is wrong, each with its line.
        """
        return self._backend.save_program(read_program(program), name="", check_only=True)[1]

    def save(self, program: str | Path, *, based_on: int = 0) -> tuple[int, tuple[str, ...]]:
        """Check a program and keep it as the next version of its name. Returns the version, and warnings.

        Args:
            program: YAML text, or a file on this machine.
            based_on: the version that it was made from; 0: whatever there is.

        Raises:
            Overtaken: another version has come since `based_on`; its `text` has it. Nothing is kept.
            DefinitionError, ProgramError: all that is wrong, each with its line; nothing is kept.
        """
        return self._backend.save_program(read_program(program), name="", check_only=False, based_on=based_on)

    def copy(self, program: str, name: str) -> int:
        """Keep a program, of the library or saved, as the next version of another name. Returns the version.

        Args:
            program: its name, or name and version ("trace_edge@2").
            name: of the copy.

        Raises:
            DefinitionError: there is none of this name, or a program of the library has the other one.
        """
        return self._backend.save_program(program, name=name, check_only=False)[0]

    def delete(self, name: str) -> str:
        """Delete all versions of a program, or one of them ("trace_edge@2"). Runs continue. Returns a remark.

        Raises:
            DefinitionError: there is none, or it comes with the package.
        """
        return self._backend.delete_program(name)

    def run(
        self,
        program: str | Path,
        parts: Mapping[str, str] | Iterable[str] = (),
        /,
        *,
        until_event: str = "",
        timeout_s: float = 0.0,
        detached_s: float = 0.0,
        on_progress: Callable[[Any], None] | None = None,
        cancelled: threading.Event | None = None,
        session: Session | None = None,
        prefix: str = "",
        keep: bool = False,
        **parameters: Any,
    ) -> RunOutcome:
        """Run a program in a session of its own or in a given one, and wait for its end.

        Args:
            program: a name, YAML text, or a file on this machine.
            parts: parts for its roles, role → part or "role=part".
            until_event: name of the event that ends it; empty: it ends when all active actions are done.
            timeout_s: [s] limit in the loop's time; 0: none.
            detached_s: [s] for which it goes on without the control server, see `Client.session`. Then neither
                `until_event` nor `timeout_s` ends it: let its last action end by `stop`.
            on_progress: called with the ROS action's feedback about ten times a second, in the client's thread.
            cancelled: when it is set, the run is cancelled, and its parts take their default action.
            session: to run in; it stays open. None: one of its own.
            prefix: before the ids in that session: the same program with the same values is installed once, and other
                values take its place. `session.remove("n1__*")` removes what was installed under "n1".
            keep: what is active at the end goes on in that session, such as a grasp.
            parameters: values of its parameters, as those of an Action.

        Raises:
            RobotControlError: it could not be started; the class says why: DefinitionError, SessionError,
                CommandRefused …
        """
        return self._backend.run_program(
            RunRequest(
                program=read_program(program),
                parts=role_texts(parts),
                parameters=parameter_values(parameters),
                until_event=until_event,
                timeout_s=float(timeout_s),
                detached_s=float(detached_s),
                on_progress=on_progress,
                cancelled=cancelled,
                session=session.key if session is not None else None,
                prefix=prefix,
                keep=keep,
            )
        )
