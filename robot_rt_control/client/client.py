"""The client: an application's way to the control server and the executor."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

import rclpy
import rclpy.context
import rclpy.executors
import rclpy.node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robot_rt_control import msg, srv
from robot_rt_control.client.conversions import event_of
from robot_rt_control.client.event import Event
from robot_rt_control.client.event_source import EventSource
from robot_rt_control.client.programs import Programs, ProgramState, state_of
from robot_rt_control.client.services import Services
from robot_rt_control.client.session import Session
from robot_rt_control.client.stream_link import StreamLink
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.definitions.class_place import source_text
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import CompileError, RobotControlError, SessionError

BUILD_TIMEOUT_S = 180.0
"""How long the client waits for code to be compiled: longer than the server does."""

_KEPT_STATES = 512


class Client:
    """Connects to a workcell. A context manager; usable from any thread.

    It has a ROS node of its own, spun by a thread of its own, so that an application needs no ROS code.

    Args:
        name: of the node.
        namespace: of the workcell's nodes.
        timeout_s: for services to appear and to answer.
        arguments: ROS command line of the node; default: the process's.
    """

    def __init__(
        self,
        name: str = "robot_rt_control_client",
        *,
        namespace: str = "",
        timeout_s: float = 10.0,
        arguments: list[str] | None = None,
    ) -> None:
        self._context = rclpy.context.Context()
        self._context.init(args=arguments)
        self.node: rclpy.node.Node = rclpy.create_node(name, namespace=namespace, context=self._context)
        self.timeout_s = timeout_s
        self._services = Services(self.node, timeout_s=timeout_s)
        self.programs = Programs(self)
        self.streams = StreamLink(self.node, timeout_s=timeout_s)
        self._loaded_classes: set[type[ActionType]] = set()
        self._sessions: list[Session] = []
        self._source = EventSource()
        # What a session does may be told before the topic has found this node: the server keeps its last events for it.
        profile = QoSProfile(
            depth=1000, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        self.node.create_subscription(msg.Event, "control_server/events", self._on_event, profile)
        self._program_states: dict[str, ProgramState] = {}
        latched = QoSProfile(
            depth=256, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        self.node.create_subscription(msg.ProgramState, "control_server/program_state", self._on_state, latched)
        self._executor = rclpy.executors.SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._spin, name=name, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        # A program's own rclpy may shut all contexts down at Ctrl-C.
        with contextlib.suppress(rclpy.executors.ExternalShutdownException):
            while not self._closing.is_set():
                self._executor.spin_once(timeout_sec=0.1)

    # --- life -----------------------------------------------------------------------------------

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all sessions and the node."""
        for session in self._sessions:
            if session.ended is None:
                session.close()
        self._closing.set()
        self._executor.wake()
        self._thread.join(2.0)
        self.programs.close()
        self._executor.shutdown(timeout_sec=1.0)
        self.node.destroy_node()
        self._context.try_shutdown()

    # --- the workcell -----------------------------------------------------------------------------

    def call(
        self, service: type, path: str, error: type[RobotControlError] = RobotControlError, /, **fields: Any
    ) -> Any:
        """Call a service of the control server; `error` is raised with the server's words where it refuses."""
        return self._services.call(service, f"control_server/{path}", error, **fields)

    def renew(self, session: str, timeout_s: float) -> None:
        """Renew a session's lease; the answer may take so long. Sessions do that by themselves.

        Raises:
            SessionError: it has ended.
            RobotControlError: no answer.
        """
        path = "control_server/renew_session"
        self._services.call(srv.RenewSession, path, SessionError, timeout_s=timeout_s, session=session)

    def parts(self) -> list[msg.PartInfo]:
        """All parts of the workcell, with limits, state and who holds them."""
        return list(self.call(srv.ListParts, "list_parts").parts)

    def action_types(self, name: str = "") -> list[msg.ActionTypeInfo]:
        """All action types, or the one of this name, with parameters, units and state variables."""
        return list(self.call(srv.ListActionTypes, "list_action_types", name=name).action_types)

    def load_action_types(
        self, *sources: str | Path | type[ActionType], replace: bool = True, timeout_s: float = BUILD_TIMEOUT_S
    ) -> list[str]:
        """Load action types while the loop runs, or load them anew after a change.

        The control server must be on this machine, or find the same files under the same paths. An action that is
        given a class of yours instead of the name of a type does this by itself.

        Args:
            sources: a file ("my_action.py": all that it defines; "my_action.py:Wave"), "package.module:Wave", the name
                of an entry point, or a class. All types of one source are loaded, or none of them.
            replace: whether types of the same name with other code are replaced. Actions that exist keep their code.
            timeout_s: for each source: new code is compiled, which may take many seconds.

        Returns:
            The names of the types.

        Raises:
            CompileError: the code is refused, with file, line and what to do instead; or a name is taken.
        """
        names: list[str] = []
        for source in sources:
            response = self.call(
                srv.LoadActionTypes,
                "load_action_types",
                CompileError,
                source=source_text(source),
                replace=replace,
                timeout_s=timeout_s,
            )
            names += response.names
        return names

    def load_classes(self, classes: Iterable[type[ActionType]]) -> None:
        """Load classes that this client has not loaded yet. `Session.add` calls it.

        Raises:
            CompileError: as `load_action_types`.
        """
        for action_type in classes:
            if action_type not in self._loaded_classes:
                self.load_action_types(action_type)
                self._loaded_classes.add(action_type)

    def unload_action_types(self, *names: str) -> None:
        """Unload action types, all of them or none; refused while an action of one exists."""
        self.call(srv.UnloadActionTypes, "unload_action_types", names=list(names))

    def state_variables(self, prefix: str = "", session: str = "") -> list[msg.StateVariableInfo]:
        """State variables whose name begins with `prefix`, with their present values."""
        response = self.call(srv.ListStateVariables, "list_state_variables", filter=prefix, session=session)
        return list(response.variables)

    def value(self, name: str) -> float:
        """Present value of a state variable of a part; NaN: unknown.

        Raises:
            RobotControlError: there is none of this name.
        """
        for info in self.state_variables(name):
            if info.name == name:
                return float(info.value)
        raise RobotControlError(f"state variable {name!r} is not known", hint="Client.state_variables() lists them")

    def session(
        self,
        parts: str | Iterable[str] = (),
        *,
        lease_s: float = defaults.LEASE_S,
        deadline_s: float = 0.0,
        read_only: bool = False,
        name: str = "python",
    ) -> Session:
        """Open a session on parts; `with client.session("arm") as session: …`.

        Args:
            lease_s: [s] after which the session is lost when this process does not renew it; 0: until it is closed.
            deadline_s: [s] after which it ends, whatever happens; 0: none.
            read_only: holds no parts, and may not move anything; see `watch`.
            name: for people.

        Raises:
            SessionError: a part is unknown, or held by another session.
        """
        session = Session(
            self,
            [parts] if isinstance(parts, str) else parts,
            lease_s=lease_s,
            deadline_s=deadline_s,
            read_only=read_only,
            name=name,
        )
        self._sessions.append(session)
        return session

    def watch(self, *, deadline_s: float = 0.0, name: str = "watch") -> Session:
        """Open a session that only watches: reactions with events, captured values and callbacks; `wait_until`."""
        return self.session(read_only=True, deadline_s=deadline_s, name=name)

    def sessions(self) -> list[msg.SessionInfo]:
        """All sessions that live, whoever opened them: who holds which parts, until when, with which actions."""
        return list(self.call(srv.ListSessions, "list_sessions").sessions)

    def stop_all(self) -> int:
        """Stop all actions of all sessions, whoever holds them, in one tick; their parts take their default action.

        The sessions live on. Returns the tick.
        """
        return int(self.call(srv.StopActions, "stop_actions").tick)

    def enable(self, *parts: str) -> None:
        """Enable the motion of parts, without arguments of all."""
        self.call(srv.SetMotion, "set_motion", parts=list(parts), command="enable")

    def disable(self, *parts: str) -> None:
        """Bring parts to rest and disable their motion, without arguments all."""
        self.call(srv.SetMotion, "set_motion", parts=list(parts), command="disable")

    def clear_faults(self, *parts: str) -> None:
        """Clear faults whose cause is gone; the parts are then disabled."""
        self.call(srv.SetMotion, "set_motion", parts=list(parts), command="clear_faults")

    def set_speed(self, speed: float) -> None:
        """Speed override, 0 to 1: all actions see time pass more slowly."""
        self.call(srv.SetSpeed, "set_speed", speed=float(speed))

    def protective_stop(self, reason: str = "") -> int:
        """End all actions, brake and hold all parts, and let nothing start until `release`. Returns the tick.

        Asks the executor itself where it can be reached, so that it works without a control server, too.
        """
        return self._protective_stop(stop=True, reason=reason)

    def release(self) -> int:
        """Release the protective stop. Nothing starts by this. Returns the tick."""
        return self._protective_stop(stop=False, reason="")

    def _protective_stop(self, *, stop: bool, reason: str) -> int:
        node = next(
            (n for n in ("realtime_executor", "control_server")
             if self._services.exists(srv.ProtectiveStop, f"{n}/protective_stop")),
            "control_server",
        )
        response = self._services.call(
            srv.ProtectiveStop, f"{node}/protective_stop", RobotControlError, stop=stop, reason=reason
        )
        return int(response.tick)

    def recover(self, *parts: str) -> list[str]:
        """Clear faults, enable, and run the recovery programs of parts; without arguments of all that are faulted.

        Returns the ids of the sessions that do it; the event `recovery_ended` tells how each ended.
        """
        return list(self.call(srv.RecoverParts, "recover_parts", parts=list(parts)).sessions)

    def take_picture(self, file: Path | str, *, width: int = 0, height: int = 0) -> Path:
        """Have the simulator's camera write a PNG on its machine; 0: the size that the workcell says.

        Raises:
            RobotControlError: the hardware has no camera, or the file cannot be written.
        """
        path = Path(file).resolve()
        refused = RobotControlError("no node offers take_picture", hint="Only simulated hardware has a camera")
        for service in self._services.offered("take_picture"):  # each driver does; in lockstep the executor
            try:
                response = self._services.call(
                    srv.TakePicture, service, RobotControlError, width=width, height=height, path=str(path)
                )
            except RobotControlError as error:
                refused = error  # the next one's device may have a camera
                continue
            return Path(response.path)
        raise refused

    def sleep(self, seconds: float) -> None:
        """Let time pass; a program that may also run in simulated time calls this in place of `time.sleep`."""
        time.sleep(max(seconds, 0.0))

    def step(self, ticks: int = 1) -> int:
        """In lockstep: run so many ticks. Returns the last tick's number."""
        return int(self._services.call(srv.Step, "realtime_executor/step", RobotControlError, ticks=ticks).tick)

    # --- events ---------------------------------------------------------------------------------

    def add_listener(self, listener: Callable[[Event], None]) -> None:
        """Call `listener(event)` at every event of every session, in the spinning thread: it must return at once.

        A client that has just connected is told the control server's last events first, up to 1000.
        """
        self._source.add(listener)

    def remove_listener(self, listener: Callable[[Event], None]) -> None:
        """Undo `add_listener`."""
        self._source.remove(listener)

    @property
    def program_states(self) -> dict[str, ProgramState]:
        """Session → the states that its program is in, of all sessions that have started something."""
        return dict(self._program_states)

    def _on_state(self, message: msg.ProgramState) -> None:
        self._program_states[message.session] = state_of(message)
        while len(self._program_states) > _KEPT_STATES:
            self._program_states.pop(next(iter(self._program_states)))

    def _on_event(self, message: msg.Event) -> None:
        self._source.receive(event_of(message))
