"""The workcell over ROS: services, topics and the action run_program."""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import rclpy
import rclpy.context
import rclpy.executors
import rclpy.node
import std_srvs.srv
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robot_rt_control import action, msg, srv
from robot_rt_control.client.backend import (
    ActionRequest,
    Listener,
    RunRequest,
    SessionKey,
    SessionRequest,
    StartedRun,
    StreamKey,
)
from robot_rt_control.client.callback_queue import CallbackQueue
from robot_rt_control.client.conversions import (
    action_message,
    event_of,
    parameter_messages,
    reaction_message,
    state_of,
)
from robot_rt_control.client.event_source import EventSource
from robot_rt_control.client.program_state import ProgramState, RunOutcome
from robot_rt_control.client.sent_goal import SentGoal
from robot_rt_control.client.services import Services
from robot_rt_control.client.stream_link import StreamLink
from robot_rt_control.client.workcell_clock import WorkcellClock
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.definitions.class_place import source_text
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.definitions.stream_sample import InputSample
from robot_rt_control.memory.operator_secret import read_operator_secret
from robot_rt_control.ros.goal_client import GoalClient
from robot_rt_control.ros.listening_node import ListeningNode
from robot_rt_control.ros.refusals import error_of
from robot_rt_control.ros.spinning import is_of_removed
from robot_rt_control.vocabulary.enums import LOCKSTEP
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError, NoAnswer, RobotControlError

_KEPT_STATES = 512
_FASTEST = 1e6
"""Simulated time per wall-clock time: no simulator is as fast."""
_SHORTEST_S = 1e-9
"""Period: no loop is as fast."""
_GRAIN_S = 0.05
"""How often it is looked how far the time has come."""

_SPIN_S = 1.0
"""[s] An idle client's thread wakes this often; `close` wakes it at once."""

_log = logging.getLogger(__name__)


class RosServices(ABC):
    """A `Backend`'s requests as calls of the control server's services. A subclass makes the calls."""

    @abstractmethod
    def call(self, service: Any, path: str, /, *, timeout_s: float | None = None, **fields: Any) -> Any:
        """Call a service of the control server.

        Args:
            service: its generated class.
            path: its name.
            timeout_s: for the answer; None: the usual one.
            fields: of the request.

        Raises:
            RobotControlError: refused, by the exception that the control server raised; or no answer.
        """

    # --- sessions -------------------------------------------------------------------------------

    def open_session(self, request: SessionRequest) -> SessionKey:
        answer = self.call(
            srv.OpenSession,
            "open_session",
            name=request.name,
            parts=list(request.parts),
            lease=request.lease_s,
            deadline=request.deadline_s,
            read_only=request.read_only,
            unprotected=request.unprotected,
            detached=request.detached_s,
            yielding=request.yielding,
        )
        return SessionKey(answer.session, answer.secret, answer.lease)

    def _command(
        self, key: SessionKey, service: Any, path: str, /, *, timeout_s: float | None = None, **fields: Any
    ) -> Any:
        return self.call(service, path, timeout_s=timeout_s, session=key.id, secret=key.secret, **fields)

    def renew_session(self, key: SessionKey, timeout_s: float) -> None:
        self._command(key, srv.RenewSession, "renew_session", timeout_s=timeout_s)

    def close_session(self, key: SessionKey, timeout_s: float | None = None) -> None:
        self._command(key, srv.CloseSession, "close_session", timeout_s=timeout_s)

    def define(
        self, key: SessionKey, actions: Sequence[ActionDefinition], reactions: Sequence[ReactionDefinition]
    ) -> None:
        self._command(
            key,
            srv.DefineActions,
            "define_actions",
            actions=[action_message(a) for a in actions],
            reactions=[reaction_message(r) for r in reactions],
        )

    def replace(self, key: SessionKey, actions: Sequence[ActionDefinition], start: Sequence[str]) -> int:
        messages = [action_message(a) for a in actions]
        answer = self._command(key, srv.ReplaceActions, "replace_actions", actions=messages, start=list(start))
        return int(answer.tick)

    def upload_program(
        self,
        key: SessionKey,
        program: str,
        parts: Sequence[str],
        parameters: Sequence[ParameterValue],
        *,
        prefix: str = "",
    ) -> list[str]:
        messages = parameter_messages(parameters)
        answer = self._command(
            key,
            srv.UploadProgram,
            "upload_program",
            program=program,
            parts=list(parts),
            parameters=messages,
            prefix=prefix,
        )
        return list(answer.actions)

    def remove(self, key: SessionKey, actions: Sequence[str], reactions: Sequence[str]) -> None:
        self._command(key, srv.RemoveActions, "remove_actions", actions=list(actions), reactions=list(reactions))

    def start(self, key: SessionKey, actions: Sequence[str], at_tick: int) -> int:
        answer = self._command(key, srv.StartActions, "start_actions", actions=list(actions), target_tick=at_tick)
        return int(answer.tick)

    def stop(self, key: SessionKey | None, actions: Sequence[str]) -> int:
        session = "" if key is None else key.id  # no secret is needed: every client may stop
        return int(self.call(srv.StopActions, "stop_actions", session=session, actions=list(actions)).tick)

    def change_tool(self, key: SessionKey, part: str, tool: str) -> int:
        return int(self._command(key, srv.ChangeTool, "change_tool", part=part, tool=tool).tick)

    def raise_signal(self, key: SessionKey, action: str, signal: str) -> int:
        return int(self._command(key, srv.RaiseSignal, "raise_signal", action=action, signal=signal).tick)

    def set_parameters(self, key: SessionKey, action: str, values: Sequence[ParameterValue]) -> int:
        messages = parameter_messages(values)
        answer = self._command(
            key, srv.SetActionParameters, "set_action_parameters", action=action, parameters=messages
        )
        return int(answer.tick)

    def open_stream(self, key: SessionKey, action: str, stream: str) -> StreamKey:
        opened = self._command(key, srv.OpenStream, "open_stream", action=action, stream=stream)
        return StreamKey(key.id, action, stream, int(opened.length), float(opened.period), opened.token)

    # --- the workcell ---------------------------------------------------------------------------

    def workcell_digest(self) -> int:
        return int(self.call(std_srvs.srv.Trigger, "workcell_digest").message, 16)

    def list_parts(self) -> list[Any]:
        return list(self.call(srv.ListParts, "list_parts").parts)

    def list_sessions(self) -> list[Any]:
        return list(self.call(srv.ListSessions, "list_sessions").sessions)

    def list_action_types(self, name: str) -> list[Any]:
        return list(self.call(srv.ListActionTypes, "list_action_types", name=name).action_types)

    def list_state_variables(self, prefixes: Iterable[str], session: str) -> list[Any]:
        wanted = " ".join(prefixes)
        answer = self.call(srv.ListStateVariables, "list_state_variables", filter=wanted, session=session)
        return list(answer.variables)

    def state_values(self, prefixes: Iterable[str], session: str) -> dict[str, float]:
        return {v.name: float(v.value) for v in self.list_state_variables(prefixes, session)}

    def load_action_types(
        self, source: str | type[ActionType], *, replace: bool, timeout_s: float, code: str = ""
    ) -> list[str]:
        text = {"code": code, "file": source} if code else {"source": source_text(source)}
        answer = self.call(srv.LoadActionTypes, "load_action_types", timeout_s=timeout_s, replace=replace, **text)
        return list(answer.names)

    def unload_action_types(self, names: Sequence[str]) -> None:
        self.call(srv.UnloadActionTypes, "unload_action_types", names=list(names))

    def set_motion(self, parts: Sequence[str], command: str, secret: str) -> str:
        return str(self.call(srv.SetMotion, "set_motion", parts=list(parts), command=command, secret=secret).message)

    def set_speed(self, speed: float, *, who: str, secret: str) -> None:
        self.call(srv.SetSpeed, "set_speed", speed=speed, who=who, secret=secret)

    def protective_stop(
        self, *, stop: bool, source: str, reason: str, who: str, secret: str, everything: bool = False
    ) -> int:
        given = {"source": source, "reason": reason, "who": who, "secret": secret}
        return int(self._ask_to_stop(stop=stop, all=everything, **given).tick)

    def _ask_to_stop(self, **fields: Any) -> Any:
        return self.call(srv.ProtectiveStop, "protective_stop", **fields)

    def resume(self, key: SessionKey, who: str) -> int:
        return int(self._command(key, srv.ResumeSession, "resume_session", who=who).tick)

    def recover(self, parts: Sequence[str]) -> list[str]:
        return list(self.call(srv.RecoverParts, "recover_parts", parts=list(parts)).sessions)

    # --- programs -------------------------------------------------------------------------------

    def list_programs(self, name: str, *, search: str, tags: Sequence[str], with_text: bool) -> list[Any]:
        answer = self.call(
            srv.ListPrograms, "list_programs", name=name, search=search, tags=list(tags), with_text=with_text
        )
        return list(answer.programs)

    def save_program(
        self, program: str, *, name: str, check_only: bool, based_on: int = 0
    ) -> tuple[int, tuple[str, ...]]:
        answer = self.call(
            srv.SaveProgram, "save_program", program=program, name=name, check_only=check_only, based_on=based_on
        )
        return int(answer.version), tuple(answer.warnings)

    def delete_program(self, name: str) -> str:
        return str(self.call(srv.DeleteProgram, "delete_program", name=name).message)


class ThreadedWaiting:
    """Waiting in real time; callbacks have threads of their own."""

    threaded = True
    gated = False

    def now(self) -> float:
        return time.monotonic()

    def source_time(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        end = self.now() + seconds
        while (left := end - self.now()) > 0.0:
            time.sleep(min(left, _GRAIN_S))

    def wait(self, changed: threading.Condition, happened: Callable[[], bool], timeout_s: float | None) -> None:
        with changed:
            changed.wait_for(happened, None if timeout_s is None else min(timeout_s, _GRAIN_S))

    def serve(self, queue: CallbackQueue) -> None:
        queue.start_thread()

    def sample_each_tick(self, sample: Callable[[], None]) -> Callable[[], None] | None:
        return None


class RosBackend(RosServices, ThreadedWaiting):
    """A `Backend` with a ROS node of its own, spun by a thread of its own.

    Args:
        name, namespace, timeout_s, startup_s, arguments: see Client.
    """

    def __init__(
        self, name: str, *, namespace: str, timeout_s: float, startup_s: float, arguments: list[str] | None
    ) -> None:
        self._context = rclpy.context.Context()
        self._context.init(args=arguments)
        # Without parameter services: for each event, rclpy lists everything that the node waits for.
        self.node = ListeningNode(name, namespace=namespace, context=self._context, start_parameter_services=False)
        self._timeout_s = timeout_s
        self._services = Services(self.node, timeout_s=timeout_s, startup_s=startup_s)
        self._streams = StreamLink(self.node, timeout_s=timeout_s)
        self._runners: dict[str, GoalClient] = {}
        self._lock = threading.Lock()
        self._source = EventSource()
        # Events may be published before the topic has found this node: the topic is latched.
        take_event = self._judged("event", lambda message: self._source.receive(event_of(message)))
        self.node.create_subscription(msg.Event, "control_server/events", take_event, _latched(1000))
        self._clock = WorkcellClock()
        self._reported = 0, 0.0, 0.0
        """Tick and period [s] of the executor's last status, and `now` then."""
        self._tick = 0
        """The last one that `present` gave."""
        self._status: Any = None
        self._status_came = threading.Event()
        take_status = self._judged("status of the executor", self._on_status)
        self.node.listen(msg.ExecutorStatus, "realtime_executor/status", take_status, 1)
        self._program_states: dict[str, ProgramState] = {}
        self.node.create_subscription(msg.ProgramState, "control_server/program_state", self._on_state, _latched(256))
        self._executor = rclpy.executors.SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._spin, name=name, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._closing.is_set():
            try:
                self._executor.spin_once(timeout_sec=_SPIN_S)
            except rclpy.executors.ExternalShutdownException:
                return  # a program's own rclpy may shut all contexts down at Ctrl-C
            except Exception as error:  # of a callback: all answers come through this thread
                if is_of_removed(error):
                    continue
                _log.exception("a callback of the client's node failed")

    def close(self) -> None:
        self._closing.set()
        self._executor.wake()
        self._thread.join(2.0)
        for runner in self._runners.values():
            runner.destroy()
        self._executor.shutdown(timeout_sec=1.0)
        self.node.destroy_node()
        self._context.try_shutdown()

    def call(self, service: Any, path: str, /, *, timeout_s: float | None = None, **fields: Any) -> Any:
        return self._services.call(service, f"control_server/{path}", timeout_s=timeout_s, **fields)

    # --- events and streams ---------------------------------------------------------------------

    def add_listener(self, listener: Listener) -> None:
        self._source.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        self._source.remove(listener)

    @property
    def program_states(self) -> Mapping[str, ProgramState]:
        return dict(self._program_states)

    def _judged(self, what: str, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """A callback that ignores, with a warning, what `take` refuses: anybody may publish."""

        def judged(message: Any) -> None:
            try:
                take(message)
            except RobotControlError as error:
                text = f"a message was ignored that no node of a workcell can have sent: {what}: {error}"
                self.node.get_logger().warning(text, throttle_duration_sec=1.0)

        return judged

    def _on_status(self, message: Any) -> None:
        """Raises DefinitionError: with these numbers time would stand still, or end."""
        if not _SHORTEST_S <= message.period <= 1.0:
            raise DefinitionError("period", expected=f"{_SHORTEST_S:g} to 1 s", got=f"{message.period:g}")
        if not (math.isnan(message.real_time_factor) or 0.0 <= message.real_time_factor <= _FASTEST):
            raise DefinitionError(
                "real_time_factor", expected=f"0 to {_FASTEST:g}, or NaN", got=f"{message.real_time_factor:g}"
            )
        stamp = message.stamp.sec + message.stamp.nanosec * 1e-9
        self._clock.take(stamp if message.clock == LOCKSTEP else None, message.real_time_factor)
        with self._lock:
            tick, period, _ = self._reported
            if message.tick < tick or message.period != period:
                self._tick = 0  # another executor
            self._reported = int(message.tick), float(message.period), self._clock.now()
        self._status = message
        self._status_came.set()

    def present(self) -> tuple[int, float]:
        if not self._reported[1]:
            self.executor_status()
        with self._lock:
            tick, period, since = self._reported
            self._tick = max(self._tick, tick + int((self._clock.now() - since) / period))
            return self._tick, self._tick * period

    @property
    def simulated(self) -> bool:
        return self._clock.simulated

    def now(self) -> float:
        return self._clock.now()

    def _on_state(self, message: Any) -> None:
        self._program_states[message.session] = state_of(message)
        while len(self._program_states) > _KEPT_STATES:
            self._program_states.pop(next(iter(self._program_states)))

    def open_stream(self, key: SessionKey, action: str, stream: str) -> StreamKey:
        self._streams.connect()
        return super().open_stream(key, action, stream)

    def write_sample(self, key: StreamKey, sample: InputSample) -> None:
        self._streams.send(key, sample)

    def listen(self, session: str, action: str, stream: str, queue: CallbackQueue) -> None:
        self._streams.listen(session, action, stream, queue)

    def forget(self, session: str) -> None:
        self._streams.forget(session)

    def give_up(self, session: str, reason: Callable[[], RobotControlError]) -> None:
        self._services.give_up(session, reason)

    # --- other nodes ----------------------------------------------------------------------------

    def executor_status(self) -> Any:
        self._status_came.clear()
        if not self._status_came.wait(self._timeout_s):
            raise NoAnswer(
                f"topic '{self.node.resolve_topic_name('realtime_executor/status')}' is silent",
                expected=f"a message of an active executor within {self._timeout_s:g} s",
                hint="Bring the workcell up first: ros2 launch robot_rt_control workcell.launch.py",
            )
        return self._status

    def step(self, ticks: int) -> int:
        return int(self._services.call(srv.Step, "realtime_executor/step", ticks=ticks).tick)

    def operator_secret(self) -> str:
        return read_operator_secret(self.node.get_namespace())

    def _ask_to_stop(self, **fields: Any) -> Any:
        path = ""
        nodes = "realtime_executor", "control_server"

        def look(timeout_s: float) -> bool:
            nonlocal path
            for node in nodes if fields["stop"] else reversed(nodes):  # the control server knows the sessions' secrets
                path = f"{node}/protective_stop"
                if self._services.exists(srv.ProtectiveStop, path, timeout_s / 2):
                    return True
            return False

        self._services.find(look, "service 'protective_stop', of the executor or the control server,")
        return self._services.call(srv.ProtectiveStop, path, **fields)

    def take_picture(self, name: str, width: int, height: int) -> Path:
        hint = "Only simulators have one"
        if os.environ.get("ROS_DISCOVERY_SERVER", ""):
            hint += ". With a discovery server, it is found only with ROS_SUPER_CLIENT=TRUE"
        refused: RobotControlError = HardwareError("no device has a camera", hint=hint)
        for service in self._services.offered("take_picture"):  # by each driver; in lockstep by the executor
            try:
                answer = self._services.call(srv.TakePicture, service, width=width, height=height, name=name)
            except DefinitionError:
                raise
            except RobotControlError as error:
                refused = error  # the next one's device may have a camera
                continue
            return Path(answer.path)
        raise refused

    def record(self, on: bool) -> str:
        return str(self._services.call(std_srvs.srv.SetBool, "realtime_executor/record", data=on).message)

    def save_last_ticks(self) -> str:
        return str(self._services.call(std_srvs.srv.Trigger, "realtime_executor/save_last_ticks").message)

    # --- runs -----------------------------------------------------------------------------------

    def run_program(self, request: RunRequest) -> RunOutcome:
        return _outcome(self._send_program(request).result(request.cancelled))

    def begin_run(self, request: RunRequest) -> StartedRun:
        return _StartedRun(self._send_program(request))

    def prepare_run(self, request: RunRequest) -> Callable[[], bool]:
        assert request.session is not None
        return self._services.send(
            srv.UploadProgram,
            "control_server/upload_program",
            request.on_change,
            program=request.program,
            parts=list(request.parts),
            parameters=parameter_messages(request.parameters),
            session=request.session.id,
            secret=request.session.secret,
            prefix=request.prefix,
        )

    def _send_program(self, request: RunRequest) -> SentGoal:
        session = request.session or SessionKey("")
        goal = action.RunProgram.Goal(
            program=request.program,
            parts=list(request.parts),
            parameters=parameter_messages(request.parameters),
            until_event=request.until_event,
            timeout=request.timeout_s,
            detached=request.detached_s,
            session=session.id,
            secret=session.secret,
            prefix=request.prefix,
            keep=request.keep,
        )
        return self._send(action.RunProgram, "run_program", goal, request)

    def run_action(self, request: ActionRequest) -> RunOutcome:
        goal = action.RunAction.Goal(
            type=request.type,
            parts=list(request.parts),
            parameters=parameter_messages(request.parameters),
            until=request.until,
            timeout=request.timeout_s,
        )
        return _outcome(self._send(action.RunAction, "run_action", goal, request).result(request.cancelled))

    def _send(self, kind: Any, name: str, goal: Any, request: RunRequest | ActionRequest) -> SentGoal:
        with self._lock:
            if name not in self._runners:
                self._runners[name] = GoalClient(self.node, kind, f"control_server/{name}")
        runner = self._runners[name]
        self._services.find(runner.wait_for_server, f"the ROS action 'control_server/{name}'")
        return SentGoal(
            runner,
            goal,
            server="the control server",
            timeout_s=self._timeout_s,
            on_feedback=request.on_progress,
            on_change=request.on_change if isinstance(request, RunRequest) else lambda: None,
            hint="If its process has ended, the executor brings the run's parts to rest, unless the run is detached. "
            "If the network to its machine is cut, the run goes on there",
        )


def _latched(depth: int) -> QoSProfile:
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class _StartedRun:
    """A `StartedRun` that is a goal on its way."""

    def __init__(self, sent: SentGoal) -> None:
        self._sent, self.cancel = sent, sent.cancel

    def poll(self) -> RunOutcome | None:
        result = self._sent.poll()
        return None if result is None else _outcome(result)

    @property
    def has_begun(self) -> bool:
        return self._sent.reported


def _outcome(result: Any) -> RunOutcome:
    """Outcome of a run. Raises RobotControlError: it could not be started."""
    if result.refusals:
        raise error_of(result)
    return RunOutcome(
        success=result.success,
        message=result.message,
        ticks=result.ticks,
        last_event=result.last_event,
        values=dict(zip(getattr(result, "names", ()), getattr(result, "values", ()), strict=True)),
    )
