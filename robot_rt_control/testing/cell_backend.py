"""A client's backend over a lockstep cell: no ROS, no threads; waiting lets the workcell tick."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from robot_rt_control.client.backend import (
    ActionRequest,
    Listener,
    RunRequest,
    SessionKey,
    SessionRequest,
    StreamKey,
)
from robot_rt_control.client.callback_queue import CallbackQueue
from robot_rt_control.client.event import Event
from robot_rt_control.client.event_source import EventSource
from robot_rt_control.client.program_state import ProgramState, RunOutcome, StrategyState
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.definitions.stream_sample import InputSample, OutputSample
from robot_rt_control.hardware.picture import PictureFolder, camera_of
from robot_rt_control.realtime.executor.conversions import status_message
from robot_rt_control.ros.conversions import time_message
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.core.programs import find_programs, save_program
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.node import conversions
from robot_rt_control.server.node.program_messages import deleted_remark, program_message
from robot_rt_control.server.programs.program_states import ProgramStates, SessionState
from robot_rt_control.server.runs import shared
from robot_rt_control.server.runs.runs import Run, RunResult, plan_action, plan_program, upload_prefixed
from robot_rt_control.server.tables.entities import SessionContents
from robot_rt_control.server.views.variable_entries import VariableEntry, variable_entries
from robot_rt_control.testing.stepped_cell import SteppedCell
from robot_rt_control.vocabulary.errors import HardwareError, RobotControlError

_log = logging.getLogger(__name__)

_FEEDBACK_S = 0.1


class CellBackend:
    """A `Backend` over a cell. One thread.

    Args:
        cell: the workcell. If it is gated, commands take effect at its next step; otherwise each command lets it tick
            until the loop has answered.
        keeps_leases: leases do not run out: in simulated time a client does not vanish.
    """

    threaded = False

    def __init__(self, cell: SteppedCell, *, keeps_leases: bool) -> None:
        self.cell, self._keeps_leases = cell, keeps_leases
        self._source = EventSource()
        self._pictures = PictureFolder(cell.workcell.name)
        self._queues: list[tuple[tuple[str, str, str], CallbackQueue[OutputSample]]] = []
        self._states = ProgramStates(self._program_of, self._take_state)
        self._program_states: dict[str, ProgramState] = {}
        self._entries: dict[tuple[str, ...], tuple[SessionContents | None, list[VariableEntry]]] = {}
        cell.listeners += [self._states.take, lambda event: self._source.receive(event_of(event))]
        cell.sample_listeners.append(self._take_sample)

    @property
    def gated(self) -> bool:
        return self.server.gated

    @property
    def server(self) -> ControlServer:
        """The cell's control server."""
        return self.cell.server

    # --- time and events ------------------------------------------------------------------------

    @property
    def simulated(self) -> bool:
        return True

    def now(self) -> float:
        return self.cell.tick * self.cell.workcell.period

    def source_time(self) -> float:
        return self.now()

    def present(self) -> tuple[int, float]:
        return self.cell.tick, self.now()

    def sleep(self, seconds: float) -> None:
        self.cell.step(max(round(seconds / self.cell.workcell.period), 1))

    def wait(self, changed: threading.Condition, happened: Callable[[], bool], timeout_s: float | None) -> None:
        if not happened():
            self.cell.step()

    def step(self, ticks: int) -> int:
        return self.cell.step(ticks)

    def serve(self, queue: CallbackQueue) -> None:
        self.cell.serve(queue)

    def sample_each_tick(self, sample: Callable[[], None]) -> Callable[[], None] | None:
        self.cell.after_tick.append(sample)
        return lambda: self.cell.after_tick.remove(sample)

    def add_listener(self, listener: Listener) -> None:
        self._source.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        self._source.remove(listener)

    @property
    def program_states(self) -> Mapping[str, ProgramState]:
        self._states.flush()
        return self._program_states

    def _program_of(self, session: str) -> str:
        try:
            return self.server.session(session).program
        except RobotControlError:
            return ""

    def _take_state(self, state: SessionState) -> None:
        self._program_states[state.session] = ProgramState(
            session=state.session,
            program=state.program,
            tick=state.tick,
            active=tuple(state.active),
            strategies=tuple(
                StrategyState(action=action, degree_of_freedom=axis, strategy=strategy, since=since)
                for (action, axis), (strategy, since) in state.strategies.items()
            ),
            last_reaction=state.last_reaction,
            last_event=state.last_event,
            suspended=state.suspended,
            ended=state.end_reason if state.ended else None,
        )

    def close(self) -> None:
        self.cell.close()

    # --- sessions -------------------------------------------------------------------------------

    def open_session(self, request: SessionRequest) -> SessionKey:
        session = self.server.open_session(
            request.name,
            request.parts,
            request.lease_s,
            read_only=request.read_only,
            deadline=request.deadline_s,
            unprotected=request.unprotected,
            detached=request.detached_s,
            yielding=request.yielding,
        )
        if self._keeps_leases:
            session.lease_end = math.inf
        return SessionKey(session.id, session.secret, session.lease)

    def renew_session(self, key: SessionKey, timeout_s: float) -> None:
        self.server.renew_session(key.id)

    def close_session(self, key: SessionKey, timeout_s: float | None = None) -> None:
        self.server.close_session(key.id)

    def define(
        self, key: SessionKey, actions: Sequence[ActionDefinition], reactions: Sequence[ReactionDefinition]
    ) -> None:
        self.server.define(key.id, actions, reactions)

    def replace(self, key: SessionKey, actions: Sequence[ActionDefinition], start: Sequence[str]) -> int:
        return self.server.replace(key.id, actions, start)

    def upload_program(
        self,
        key: SessionKey,
        program: str,
        parts: Sequence[str],
        parameters: Sequence[ParameterValue],
        *,
        prefix: str = "",
    ) -> list[str]:
        if prefix:
            return upload_prefixed(self.server, self.server.session(key.id), program, parameters, parts, prefix)
        return [a.id for a in self.server.upload_program(key.id, program, parameters, parts).actions]

    def remove(self, key: SessionKey, actions: Sequence[str], reactions: Sequence[str]) -> None:
        if actions or reactions:
            ids = shared.remove(self.server, self.server.session(key.id), actions)
            if ids or reactions:
                self.server.remove(key.id, ids, reactions)
        else:
            self.server.clear(key.id)

    def start(self, key: SessionKey, actions: Sequence[str], at_tick: int) -> int:
        return self.server.start(key.id, actions, at_tick)

    def stop(self, key: SessionKey | None, actions: Sequence[str]) -> int:
        return self.server.stop("" if key is None else key.id, actions)

    def change_tool(self, key: SessionKey, part: str, tool: str) -> int:
        return self.server.change_tool(key.id, part, tool)

    def raise_signal(self, key: SessionKey, action: str, signal: str) -> int:
        return self.server.signal(key.id, action, signal)

    def set_parameters(self, key: SessionKey, action: str, values: Sequence[ParameterValue]) -> int:
        return self.server.set_parameters(key.id, action, values)

    def open_stream(self, key: SessionKey, action: str, stream: str) -> StreamKey:
        opened = self.server.open_stream(key.id, action, stream)
        return StreamKey(key.id, action, stream, opened.length, opened.period)

    def write_sample(self, key: StreamKey, sample: InputSample) -> None:
        try:
            self.server.write_stream(
                key.session,
                key.action,
                key.stream,
                sample.values,
                valid=sample.valid,
                time=sample.source_time,
                sequence=sample.sequence,
                tick=sample.tick,
            )
        except RobotControlError as error:  # as over ROS, where a write does not wait for an answer
            _log.warning("a sample was refused: %s", error)

    def listen(self, session: str, action: str, stream: str, queue: CallbackQueue) -> None:
        self._queues.append(((session, action, stream), queue))

    def forget(self, session: str) -> None:
        self._queues = [(key, queue) for key, queue in self._queues if key[0] != session]

    def give_up(self, session: str, reason: Callable[[], RobotControlError]) -> None:
        """Nothing waits: the server is in this process."""

    def _take_sample(self, sample: OutputSample) -> None:
        for key, queue in self._queues:
            if key == (sample.session, sample.action, sample.stream):
                queue.put(sample)

    # --- the workcell ---------------------------------------------------------------------------

    def executor_status(self) -> Any:
        core = self.cell.executor
        factor, target, _ = core.real_time_factor()
        time_ns = int(core.channel.snapshot().time_ns)
        return status_message(
            core,
            stamp=time_message(time_ns),
            lifecycle_state="active",
            factors=(factor, target),
            stamp_of=time_message,
        )

    def workcell_digest(self) -> int:
        return self.server.workcell.digest

    def list_parts(self) -> list[Any]:
        view = self.server.snapshot()
        return [conversions.part_message(self.server, part, view) for part in self.server.workcell.parts]

    def list_sessions(self) -> list[Any]:
        return conversions.session_messages(self.server)

    def list_action_types(self, name: str) -> list[Any]:
        return conversions.action_type_messages(self.server, name)

    def list_state_variables(self, prefixes: Iterable[str], session: str) -> list[Any]:
        return conversions.variable_messages(self.server, " ".join(prefixes), session)

    def state_values(self, prefixes: Iterable[str], session: str) -> dict[str, float]:
        wanted, contents = tuple(prefixes), self.server.contents(self.server.session(session)) if session else None
        known = self._entries.get(wanted)
        if known is None or known[0] is not contents:  # a recording asks for the same ones in each tick
            known = contents, variable_entries(wanted, self.server.variables.values(), contents)
            self._entries[wanted] = known
        view = self.server.snapshot()
        return {v.name: math.nan if view is None else v.read(view) for v in known[1]}

    def load_action_types(
        self, source: str | type[ActionType], *, replace: bool, timeout_s: float, code: str = ""
    ) -> list[str]:
        if code:
            return list(self.server.load_action_types(code=code, file=str(source), replace=replace, stranger=True))
        return list(self.cell.load(source, replace=replace))

    def unload_action_types(self, names: Sequence[str]) -> None:
        self.server.unload_action_types(names)

    def set_motion(self, parts: Sequence[str], command: str, secret: str) -> str:
        return self.server.set_motion(parts, command, secret=secret)

    def set_speed(self, speed: float, *, who: str, secret: str) -> None:
        self.server.set_speed(speed, secret=secret)

    def protective_stop(
        self, *, stop: bool, source: str, reason: str, who: str, secret: str, everything: bool = False
    ) -> int:
        return self.server.protective_stop(
            stop, reason, source=source, who=who, secret=secret, everything=everything
        )

    def resume(self, key: SessionKey, who: str) -> int:
        self.server.authorize(key.id, key.secret, "resume_session", operator=True)
        return self.server.resume(key.id, who)

    def operator_secret(self) -> str:
        return self.cell.executor.operator_secret

    def recover(self, parts: Sequence[str]) -> list[str]:
        return self.cell.recoveries.recover(parts)

    def take_picture(self, name: str, width: int, height: int) -> Path:
        for host in self.cell.executor.devices.hosts.values():
            if hasattr(host.plugin, "take_picture"):
                with self._pictures.new(name) as file:
                    camera_of(host.plugin).take_picture(file, width, height)
                return file
        raise HardwareError("no device has a camera", hint="Only simulators have one")

    def record(self, on: bool) -> str:
        file = self.cell.executor.record(on)
        if file is None:
            raise RobotControlError("nothing is recorded")
        return str(file)

    def save_last_ticks(self) -> str:
        return str(self.cell.executor.save_last_ticks())

    # --- programs -------------------------------------------------------------------------------

    def list_programs(self, name: str, *, search: str, tags: Sequence[str], with_text: bool) -> list[Any]:
        programs = find_programs(self.server.core, name, search, tags)
        return [program_message(program, with_text=with_text) for program in programs]

    def save_program(
        self, program: str, *, name: str, check_only: bool, based_on: int = 0
    ) -> tuple[int, tuple[str, ...]]:
        saved = save_program(self.server.core, program, name=name, check_only=check_only, based_on=based_on)
        return saved.version, saved.warnings

    def delete_program(self, name: str) -> str:
        return deleted_remark(self.server.programs.delete(name))

    def run_program(self, request: RunRequest) -> RunOutcome:
        return self._drive(self.begin_run(request), request)

    def begin_run(self, request: RunRequest) -> _CellRun:
        session = None
        if request.session is not None:
            session = self.server.authorize(request.session.id, request.session.secret, "run_program")
        plan = plan_program(
            self.server,
            request.program,
            until_event=request.until_event,
            timeout=request.timeout_s,
            detached=request.detached_s,
            parameters=request.parameters,
            parts=request.parts,
            prefix=request.prefix,
            session=session,
        )
        return _CellRun(Run(self.server, plan, session=session), keep=request.keep)

    def prepare_run(self, request: RunRequest) -> Callable[[], bool]:
        assert request.session is not None
        with suppress(RobotControlError):
            self.upload_program(
                request.session, request.program, request.parts, request.parameters, prefix=request.prefix
            )
        return lambda: True

    def run_action(self, request: ActionRequest) -> RunOutcome:
        plan = plan_action(
            self.server,
            request.type,
            request.parts,
            request.parameters,
            until=request.until,
            timeout=request.timeout_s,
        )
        return self._drive(_CellRun(Run(self.server, plan)), request)

    def _drive(self, run: _CellRun, request: RunRequest | ActionRequest) -> RunOutcome:
        next_feedback = 0.0
        try:
            while (outcome := run.poll()) is None:
                if request.cancelled is not None and request.cancelled.is_set():
                    run.cancel()
                if request.on_progress is not None and self.now() >= next_feedback:
                    next_feedback = self.now() + _FEEDBACK_S
                    at = run.progress()
                    request.on_progress(
                        SimpleNamespace(
                            progress=at.progress,
                            active_action=", ".join(at.active),
                            elapsed=at.elapsed,
                            last_event=at.last_event,
                        )
                    )
                self.cell.step()
        finally:
            run.close()
        return outcome


class _CellRun:
    """A `StartedRun` of a cell."""

    def __init__(self, run: Run, *, keep: bool = False) -> None:
        self._run, self._keep = run, keep
        self._result: RunResult | None = None
        self.progress = run.progress

    def poll(self) -> RunOutcome | None:
        if self._result is None:
            self._result = self._run.update()
            if self._result is not None:
                self.close()
        result = self._result
        if result is None or not (result.success or not self._run.is_shared or self._run.at_rest()):
            return None
        return RunOutcome(
            success=result.success,
            message=result.message,
            ticks=result.ticks,
            last_event=result.last_event,
            values=result.values,
        )

    @property
    def has_begun(self) -> bool:
        return self._run.has_begun

    def cancel(self) -> None:
        if self._result is None:
            self._result = self._run.cancelled()
            self.close()

    def close(self) -> None:
        """Stop what is not to go on."""
        if self._keep and self._result is not None and self._result.success:
            self._run.leave()
        else:
            self._run.close()


def event_of(event: ServerEvent) -> Event:
    """The event as an application sees it; its time is the loop's own."""
    return Event(
        kind=event.kind,
        session=event.session,
        tick=event.tick,
        time=event.time_ns * 1e-9,
        name=event.event,
        reaction=event.reaction,
        previous_action=event.previous_action,
        current_action=event.current_action,
        degree_of_freedom=event.degree_of_freedom,
        from_strategy=event.from_strategy,
        to_strategy=event.to_strategy,
        part=event.part,
        reason=event.reason,
        file=event.file,
        values=dict(zip(event.names, event.values, strict=True)),
        sequence=event.sequence,
    )
