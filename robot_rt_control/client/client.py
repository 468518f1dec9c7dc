"""The client: an application's way to a workcell."""

from __future__ import annotations

import atexit
import itertools
import shutil
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from robot_rt_control.client.actions import parameter_values, role_texts
from robot_rt_control.client.backend import ActionRequest, Backend, Listener, SessionKey, SessionRequest
from robot_rt_control.client.program_state import ProgramState, RunOutcome
from robot_rt_control.client.programs import Programs
from robot_rt_control.client.session import BUILD_TIMEOUT_S, Session
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.definitions.class_place import file_and_text, source_text
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError, RobotControlError, unknown


class Client:
    """Connects to a workcell.

    A context manager; all methods may be called from any thread. The client spins a ROS node of its own, so an
    application needs no ROS code.

    Args:
        name: of the node.
        namespace: of the workcell's nodes.
        timeout_s: for a service to answer, and to appear once the workcell has been found.
        startup_s: for the workcell to come up. A log line every 10 s names what is awaited.
        arguments: ROS command line of the node; default: the process's.
        operator: act with the operator's secret, which the executor keeps for its user on its machine: for tools in the
            hands of a person. It gives authority to speed up, to release protective stops and to resume sessions.
            Without it, this client's own sessions give it.
        backend: another way to a workcell, without ROS (`testing.lockstep_client`).
    """

    def __init__(
        self,
        name: str = "robot_rt_control_client",
        *,
        namespace: str = "",
        timeout_s: float = defaults.ANSWER_S,
        startup_s: float = defaults.STARTUP_S,
        arguments: list[str] | None = None,
        backend: Backend | None = None,
        operator: bool = False,
    ) -> None:
        if backend is None:
            # Imported here, so that programs can be written and run in simulated time without ROS.
            from robot_rt_control.client.ros_backend import RosBackend

            backend = RosBackend(
                name, namespace=namespace, timeout_s=timeout_s, startup_s=startup_s, arguments=arguments
            )
            # Python tears the threads of a client that is still open out of their C++ code, which aborts the process.
            atexit.register(self.close)
        self.backend: Backend = backend
        self._name, self._operator = name, operator
        self.programs = Programs(backend)
        self._loaded_classes: set[type[ActionType]] = set()
        self._sessions: weakref.WeakValueDictionary[int, Session] = weakref.WeakValueDictionary()
        """In the order of their opening. The backend holds those that live: they receive events."""
        self._numbers = itertools.count()

    # --- life -----------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all sessions, and disconnect. A client that is still open at the end of its process is closed then."""
        atexit.unregister(self.close)
        for session in list(self._sessions.values()):
            if session.ended is None:
                session.close()
        self.backend.close()

    @property
    def node(self) -> Any:
        """The client's ROS node (rclpy.node.Node), for the application's own topics and timers.

        Raises:
            RobotControlError: there is none, as in a lockstep cell.
        """
        node = getattr(self.backend, "node", None)
        if node is None:
            raise RobotControlError("this client has no ROS node", expected="a client over ROS")
        return node

    # --- the workcell -----------------------------------------------------------------------------

    def parts(self) -> list[Any]:
        """All parts of the workcell with limits, state and holding session, as msg/PartInfo."""
        return self.backend.list_parts()

    def executor_status(self) -> Any:
        """The state of the real-time loop and of all parts, as msg/ExecutorStatus. It needs no control server.

        Raises:
            NoAnswer: no executor publishes it.
        """
        return self.backend.executor_status()

    def action_types(self, name: str = "") -> list[Any]:
        """All action types, or the one of this name, with parameters, units and state variables: msg/ActionTypeInfo.

        Raises:
            DefinitionError: there is none of this name.
        """
        return self.backend.list_action_types(name)

    def load_action_types(
        self,
        *sources: str | Path | type[ActionType],
        replace: bool = True,
        upload: bool = False,
        timeout_s: float = BUILD_TIMEOUT_S,
    ) -> list[str]:
        """Load action types while the loop runs, or reload them after a change.

        The control server must be on this machine, or find the same files under the same paths; otherwise `upload`
        them. An Action with a class as its type loads it by itself, unless it was loaded here.

        Args:
            sources: a file ("my_action.py" for all of its types, or "my_action.py:Wave"), "package.module:Wave", the
                name of an entry point, or a class. All types of one source are loaded, or none of them.
            upload: send the text of the files: to a control server on another computer, whose workcell allows it
                (`allow_code_upload`). All types of a file are loaded; it may import what is installed there.
            replace: replace types of the same name that have other code. Existing actions keep their code.
            timeout_s: for each source; compiling new code may take many seconds.

        Returns:
            The names of the types.

        Raises:
            CompileError: the code is refused, with file, line and what to do instead.
            DefinitionError: a declaration is not valid, or a name is taken.
        """
        names: list[str] = []
        for source in sources:
            given = source if isinstance(source, type) else source_text(source)
            code = ""
            if upload:
                given, code = file_and_text(source)
            names += self.backend.load_action_types(given, replace=replace, timeout_s=timeout_s, code=code)
            if isinstance(source, type):
                self._loaded_classes.add(source)
        return names

    def unload_action_types(self, *names: str) -> None:
        """Unload action types, all or none; refused while an action of such a type exists."""
        self.backend.unload_action_types(names)
        self._loaded_classes.clear()

    def state_variables(self, prefix: str = "", session: str = "") -> list[Any]:
        """State variables whose name begins with `prefix`, with their present values, as msg/StateVariableInfo."""
        return self.backend.list_state_variables([prefix], session)

    def value(self, name: str) -> float:
        """Present value of a state variable of a part; NaN: unknown.

        Raises:
            DefinitionError: there is none of this name.
        """
        for info in self.state_variables(name):
            if info.name == name:
                return float(info.value)
        known = unknown("state variable", name, [info.name for info in self.state_variables()])
        raise DefinitionError(f"state variable {name!r} is not known", expected=known)

    def session(
        self,
        parts: str | Iterable[str] = (),
        *,
        lease_s: float = defaults.LEASE_S,
        deadline_s: float = 0.0,
        read_only: bool = False,
        unprotected: bool = False,
        detached_s: float = 0.0,
        yielding: bool = False,
        name: str = "python",
    ) -> Session:
        """Open a session on parts; `with client.session("arm") as session: …`.

        Args:
            lease_s: [s] after which the session is lost unless this process renews it; 0: it lives until it is closed.
            deadline_s: [s] after which it ends in any case; 0: none.
            read_only: the session holds no parts and commands no motion; see `watch`.
            unprotected: any client may command it, not this one alone.
            detached_s: [s] for which its actions go on without this process (lease lost) and without the control
                server, at most 600; then its parts take their safety action. 0: they do so at once. Think of who
                stands beside the robot: until then the protective stop can stop it.
            yielding: it holds the parts only while one of its actions is active. If somebody opens a session on one of
                them otherwise, it ends.
            name: for people.

        Raises:
            DefinitionError: a part is unknown.
            SessionError: a part is held by another session.
        """
        request = SessionRequest(
            name=name,
            parts=(parts,) if isinstance(parts, str) else tuple(parts),
            lease_s=float(lease_s),
            deadline_s=float(deadline_s),
            read_only=read_only,
            unprotected=unprotected,
            detached_s=float(detached_s),
            yielding=yielding,
        )
        session = Session(self.backend, request, self._loaded_classes)
        self._sessions[next(self._numbers)] = session
        return session

    def watch(self, *, deadline_s: float = 0.0, name: str = "watch") -> Session:
        """Open a session that only watches: for reactions with events, captured values and callbacks, and
        `wait_until`."""
        return self.session(read_only=True, deadline_s=deadline_s, name=name)

    def sessions(self) -> list[Any]:
        """All open sessions of all clients with their parts, leases and actions, as msg/SessionInfo."""
        return self.backend.list_sessions()

    def stop_all(self) -> int:
        """Stop all actions of all clients' sessions in one tick; their parts take their default action.

        The sessions stay open. Returns the tick.
        """
        return self.backend.stop(None, ())

    def stop_session(self, session: str, *actions: str) -> int:
        """Stop actions of any client's session, by its id; none named: all of them. The session stays open.

        Returns the tick.
        """
        return self.backend.stop(SessionKey(session), actions)

    def enable(self, *parts: str) -> None:
        """Enable the motion of parts; no arguments: of all."""
        self._set_motion(parts, "enable")

    def disable(self, *parts: str) -> None:
        """Bring parts to rest and disable their motion; no arguments: all parts."""
        self._set_motion(parts, "disable")

    def clear_faults(self, *parts: str) -> None:
        """Clear faults whose cause is gone; the parts are then disabled."""
        self._set_motion(parts, "clear_faults")

    def _set_motion(self, parts: tuple[str, ...], command: str) -> None:
        """Send one request for each session of this client that holds some of the parts: each has its own secret."""
        live = list(self._sessions.values())
        own = [session for session in live if session.ended is None and session.secret and session.parts]
        if not parts and len(own) < 2:
            self.backend.set_motion((), command, own[0].secret if own else "")
            return
        if not parts and command == "disable":  # all parts or, if another client holds one of them, none
            parts = tuple(part.name for part in self.backend.list_parts())
        elif not parts:
            self.backend.set_motion((), command, "")  # leaves out what sessions hold
            parts = tuple(part for session in own for part in session.parts)
        groups: dict[str, list[str]] = {"": []}  # first: it is refused as a whole if another client holds a part
        for part in parts:
            secret = next((session.secret for session in own if part in session.parts), "")
            groups.setdefault(secret, []).append(part)
        for secret, group in groups.items():
            if group:
                self.backend.set_motion(group, command, secret)

    def _authority(self) -> str:
        """The secret that gives this client authority; empty: it has none."""
        found = self.backend.operator_secret() if self._operator else ""
        live = list(self._sessions.values())
        own = (s.secret for s in live if s.ended is None and s.secret and s.parts)
        return found or next(own, "")

    def set_speed(self, speed: float, *, who: str = "") -> None:
        """Set the speed override, 0 to 1: time passes more slowly for all actions.

        To slow down is open to all. To speed up needs authority while sessions with a secret hold parts: an open
        session of this client that holds some, or the operator's secret.

        Args:
            who: asks, for the log; default: this client's name.

        Raises:
            CommandRefused: it is faster, and this client has no authority.
        """
        self.backend.set_speed(float(speed), who=who or self._name, secret=self._authority())

    def protective_stop(self, reason: str = "", *, source: str = "", secret: str = "", who: str = "") -> int:
        """End all actions, brake and hold all parts, and refuse starts until each source that stopped is released.

        Returns the tick. If possible it asks the executor directly, so it works without a control server.

        Args:
            reason: why, for those who see it.
            source: which stop: "door". Default: the reason, else "stop".
            secret: its release needs the same; empty: none.
            who: asks, for those who see it; default: this client's name.
        """
        return self.backend.protective_stop(
            stop=True, source=source, reason=reason, who=who or self._name, secret=secret
        )

    def release(
        self, source: str = "", *, everything: bool = False, secret: str = "", reason: str = "", who: str = ""
    ) -> int:
        """Release a protective stop. Nothing starts by it: sessions are to be resumed. Returns the tick.

        Args:
            source: which one; empty: the only one that is latched.
            everything: all that need no secret of their own; `stops` lists those that stay.
            secret: that of the stop, or one that gives authority; empty: this client's (see `set_speed`).
            reason, who: for the log.

        Raises:
            CommandRefused: nothing was released; says which stops are latched.
        """
        return self.backend.protective_stop(
            stop=False,
            source=source,
            reason=reason,
            who=who or self._name,
            secret=secret or self._authority(),
            everything=everything,
        )

    def stops(self) -> list[Any]:
        """The protective stops that are latched, the oldest first, as msg/ActiveStop. It needs no control server."""
        return list(self.executor_status().stops)

    def resume_session(self, session: str, *, who: str = "") -> int:
        """After a released protective stop: let any client's session, by its id, start motion again.

        Starts nothing by itself. A client's own sessions have `Session.resume`. Returns the tick.

        Raises:
            CommandRefused: a protective stop is still latched.
            SessionError: the session is protected, and this client is not the operator's.
        """
        own = next((s.secret for s in list(self._sessions.values()) if s.id == session), "")
        secret = own or (self.backend.operator_secret() if self._operator else "")
        return self.backend.resume(SessionKey(session, secret), who or self._name)

    def recover(self, *parts: str) -> list[str]:
        """Clear faults, enable parts and run their recovery programs; no arguments: all faulted parts.

        Returns the ids of the sessions that recover; the event `recovery_ended` reports the result of each.
        """
        return self.backend.recover(parts)

    def take_picture(
        self, name: str = "", *, width: int = 0, height: int = 0, copy_to: Path | str | None = None
    ) -> Path:
        """Have the simulator's camera write a PNG on its machine, into the folder of its run. Returns its path.

        Args:
            name: of a new file: letters, digits, "_" and "-"; empty: made from the time.
            width, height: [pixels]; 0: the size in the workcell file.
            copy_to: a file on this machine, written by this process: its path is returned. It may exist.

        Raises:
            DefinitionError: the name is not valid, or there is such a picture.
            CapacityError: there are too many in this run.
            HardwareError: the hardware has no camera, or the file cannot be written, or not be copied: the simulator
                runs on another machine or as another user.
        """
        path = self.backend.take_picture(name, width, height)
        if copy_to is None:
            return path
        try:
            return Path(shutil.copyfile(path, copy_to))
        except OSError as error:
            raise HardwareError(
                f"picture {path} cannot be copied to {copy_to}",
                got=str(error),
                hint="It is on the machine of the simulator, readable for the simulator's user",
            ) from error

    def record(self, on: bool) -> str:
        """Begin, or end, to record all ticks. Returns the file, on the executor's machine.

        Raises:
            RobotControlError: something is recorded already, nothing is, or the file cannot be written.
        """
        return self.backend.record(on)

    def save_last_ticks(self) -> str:
        """Write the last ticks to a file on the executor's machine. Returns the file.

        Raises:
            RobotControlError: it cannot be written.
        """
        return self.backend.save_last_ticks()

    def sleep(self, seconds: float) -> None:
        """Let the workcell's time pass, simulated time if it runs in it (I17). Use it instead of `time.sleep`."""
        self.backend.sleep(max(seconds, 0.0))

    def step(self, ticks: int = 1) -> int:
        """Run this number of ticks, if the loop ticks on request only. Returns the last tick's number."""
        return self.backend.step(ticks)

    def run_action(
        self,
        type: str,
        parts: str | Iterable[str],
        /,
        *,
        until: str = "",
        timeout_s: float = 0.0,
        on_progress: Callable[[Any], None] | None = None,
        cancelled: threading.Event | None = None,
        **parameters: Any,
    ) -> RunOutcome:
        """Run one action in a session of its own, and wait for its end; `programs.run` does so with a program.

        Args:
            type: of the action.
            parts: "arm", or "slot=part".
            until: condition that ends it; empty: its `is_done`.
            timeout_s, on_progress, cancelled: see `Programs.run`.
            parameters: of the action.

        Raises:
            RobotControlError: it could not be started; the class says why.
        """
        return self.backend.run_action(
            ActionRequest(
                type=type,
                parts=role_texts(parts),
                parameters=parameter_values(parameters),
                until=until,
                timeout_s=float(timeout_s),
                on_progress=on_progress,
                cancelled=cancelled,
            )
        )

    # --- events ---------------------------------------------------------------------------------

    def add_listener(self, listener: Listener) -> None:
        """Call `listener(event)` for every event of every session, in the receiving thread; it must return at once.

        A client that has just connected over ROS first receives the control server's last events, up to 1000.
        """
        self.backend.add_listener(listener)

    def remove_listener(self, listener: Listener) -> None:
        """Undo `add_listener`."""
        self.backend.remove_listener(listener)

    @property
    def program_states(self) -> Mapping[str, ProgramState]:
        """Session → the present states of its program, for all sessions that have started actions."""
        return self.backend.program_states
