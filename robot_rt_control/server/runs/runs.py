"""One action or one program in a session of its own, from start to end: what the ROS actions do, without ROS."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
)
from robot_rt_control.definitions.motion_command import MotionCommand
from robot_rt_control.program.check import check_program
from robot_rt_control.program.exits import captured_as_written
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.filled_program import FilledProgram
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.core.programs import check_for_session
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.runs import shared
from robot_rt_control.server.runs.plan import RunPlan
from robot_rt_control.server.sessions import Session, check_detached
from robot_rt_control.server.views.snapshot_view import SnapshotView
from robot_rt_control.validation.catalogue import moved_parts
from robot_rt_control.validation.definitions import SessionFacts, check_definitions
from robot_rt_control.vocabulary.enums import StopCause
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError
from robot_rt_control.vocabulary.event_kinds import Kind

_DONE = "done"
_BROKEN_OFF = (
    *(StopCause.PART_FAULT, StopCause.PROTECTIVE_STOP, StopCause.TIME_LIMIT),
    *(StopCause.MEMBER_FAILED, StopCause.PROFILER_LOST),
)
_STOPPING_S = 10.0
"""[s] at most for which a run that is broken off waits until its motion groups stand on their paths."""


@dataclass(frozen=True, kw_only=True)
class RunProgress:
    """Where a run is."""

    progress: float
    """0 to 1; NaN: unknown."""
    active: tuple[str, ...]
    """Ids of its active actions."""
    elapsed: float
    """[s] of the loop's time since the first start."""
    last_event: str


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """How a run ended."""

    success: bool
    message: str
    ticks: int
    last_event: str
    values: Mapping[str, float] = field(default_factory=dict)
    """What the last event captured, by the names in the program's text."""


def plan_action(
    server: ControlServer,
    type_name: str,
    parts: Sequence[str],
    parameters: Sequence[ParameterValue],
    *,
    until: str,
    timeout: float,
    commands: Sequence[MotionCommand] = (),
) -> RunPlan:
    """The plan for one action.

    Args:
        parts: "arm", or "slot=part".
        commands: of a motion group.
        until: the condition that ends it; empty: the action's own `is_done`.

    Raises:
        DefinitionError: unknown type, or it has no `is_done` and there is no `until`.
    """
    registered = server.types.get(type_name, "the action to run")
    own = [v.name for v in registered.declared.state_variables]
    if not until and "is_done" not in own:
        raise DefinitionError(
            f"action type {type_name!r} has no state variable 'is_done'",
            expected="a condition in `until`",
            got="none",
            hint="Say when the action is to end, such as 'time > 10'",
        )
    id_ = type_name.rpartition(".")[2]
    while id_ in server.parts:
        id_ += "_action"
    end = ReactionDefinition(condition=until or "is_done", name="until", event=_DONE, stop=True)
    definition = ActionDefinition(
        id=id_,
        type=type_name,
        parts=tuple(parts),
        parameters=tuple(parameters),
        reactions=(end,),
        commands=tuple(commands),
    )
    program = ProgramDefinition(actions=(definition,), start=(id_,))
    return RunPlan(
        name=f"run {type_name}",
        program=program,
        parts=_moved_parts(server, program),
        end_event=_DONE,
        timeout=_checked_timeout(timeout),
    )


def plan_program(
    server: ControlServer,
    program: str,
    *,
    until_event: str,
    timeout: float,
    detached: float = 0.0,
    parameters: Iterable[ParameterValue] = (),
    parts: Mapping[str, str] | Iterable[str] = (),
    prefix: str = "",
    session: Session | None = None,
) -> RunPlan:
    """The plan for a program.

    Args:
        program: YAML text, the path of a file, or the name of a kept program: "trace_edge", "trace_edge@2".
        parameters: values of its parameters; what is left out takes its default.
        parts: parts for its roles, role → part or "role=part".
        until_event: name of the event that ends it; empty: it ends when everything that is active is done.
        prefix: of its ids, for a run in a session that others use as well.
        session: that one; what it remembers for the same text, values and parts is not read again.

    Raises:
        DefinitionError: the program is not valid, starts nothing, or never emits `until_event`; with the line.
    """
    filled, asked = _filled(server, program, tuple(parameters), parts, prefix, session)
    check_detached("a run", detached)
    read = filled.definition
    if not read.start:
        raise DefinitionError("the program starts no action", expected="start: [id, …]", got="none")
    events = {r.event for a in read.actions for r in a.reactions} | {r.event for r in read.reactions}
    if until_event and until_event not in events:
        raise DefinitionError(
            "the program cannot end: no reaction emits its last event",
            expected=f"one of: {', '.join(sorted(e for e in events if e)) or 'none is emitted'}",
            got=repr(until_event),
        )
    return RunPlan(
        name=f"program {read.name}".strip(),
        program=read,
        parts=read.parts or _moved_parts(server, read),
        end_event=until_event,
        timeout=_checked_timeout(timeout),
        detached=detached,
        filled=filled,
        prefix=prefix,
        asked=asked,
    )


def _filled(
    server: ControlServer,
    program: str,
    parameters: tuple[ParameterValue, ...],
    parts: Mapping[str, str] | Iterable[str],
    prefix: str,
    session: Session | None,
) -> tuple[FilledProgram, object]:
    """The program with its values and parts, checked; and what it was made from. Arguments as of `plan_program`."""
    parts = parts if isinstance(parts, Mapping) else tuple(parts)
    given = tuple(sorted(parts.items())) if isinstance(parts, Mapping) else parts
    is_text = "\n" in program
    if is_text and session is not None:
        with session.installing:  # it may be being installed at this moment
            known = session.installed.get(prefix)
        if known is not None and known.plan.asked == (program, parameters, given):
            return known.plan.filled, known.plan.asked
    is_path = not is_text and (program.endswith((".yaml", ".yml")) or os.path.isfile(program))
    find = server.programs.template
    template = ProgramTemplate.load(program, find=find) if is_path else find(program)
    filled = template.fill(parameters=parameters, parts=parts)
    check_for_session(server.core, filled, None)
    return filled, (program, parameters, given) if is_text else None


def upload_prefixed(
    server: ControlServer,
    session: Session,
    program: str,
    parameters: Iterable[ParameterValue],
    parts: Iterable[str],
    prefix: str,
) -> list[str]:
    """Add a program's actions to a session under a prefix, as a run would; nothing starts. Returns their ids.

    A run that comes before its end waits for it.

    Args:
        program: YAML text, or the name of a kept program; the others as of `plan_program`.

    Raises:
        DefinitionError: the program is not valid, with the line; or it has free-standing reactions.
        SessionError: the session has ended, or a run of this prefix is under way.
    """
    with session.installing:
        filled, asked = _filled(server, program, tuple(parameters), parts, prefix, session)
        plan = RunPlan(
            name=filled.definition.name,
            program=filled.definition,
            parts=(),
            end_event="",
            timeout=0.0,
            filled=filled,
            prefix=prefix,
            asked=asked,
        )
        wanted = shared.enter(server, session, plan)
        try:
            shared.install(server, session, wanted, ())
        finally:
            shared.leave(session, plan)
        return [action.id for action in wanted.program.actions]


def check_plan(server: ControlServer, plan: RunPlan) -> None:
    """Check all that the run will define, the action types' own code included: it is refused before the run begins.

    Raises:
        DefinitionError: names what is wrong.
        ChannelError: there is no executor.
    """
    facts, places = SessionFacts(parts=plan.parts, variables={}), None  # no application writes any
    if plan.filled is None:
        check_definitions(plan.program, server.core.catalogue, facts)
    else:
        check_program(plan.filled, server.core.catalogue, facts)
        places = plan.filled.places
    server.core.connection.at().definer.prepare(None, plan.program.actions, places)


def _checked_timeout(timeout: float) -> float:
    if not 0.0 <= timeout < math.inf:
        raise DefinitionError("timeout", expected="a time in seconds, 0: none", got=f"{timeout:g}")
    return timeout


def _moved_parts(server: ControlServer, program: ProgramDefinition) -> tuple[str, ...]:
    """The parts that the program's actions move; what is wrong with them shows when they are defined."""
    found: dict[str, None] = {}
    for action in program.actions:
        declared = server.types.get(action.type, f"action {action.id!r}").declared
        found.update(dict.fromkeys(moved_parts(declared, action.parts)))
    return tuple(found)


class Run:
    """A run under way. One thread drives it: `update` about ten times a second, then `close`.

    Args:
        prepare: called once the session holds the parts, before anything starts.
        session: to run in, under the plan's prefix; it stays open, and remembers what was installed. None: one of its
            own.

    Raises:
        RobotControlError: it could not be started; nothing is left of it.
    """

    def __init__(
        self,
        server: ControlServer,
        plan: RunPlan,
        prepare: Callable[[], None] | None = None,
        *,
        session: Session | None = None,
    ) -> None:
        self._server, self._plan = server, plan
        self._program, self._prefix = plan.program, ""
        self._ids: frozenset[str] = frozenset()
        self._written = captured_as_written(plan.filled) if plan.filled is not None else {}
        self._values: dict[str, float] = {}
        self._shared = session is not None
        self._entered = False
        self._asked_tick = -1
        self._changed = threading.Event()
        self._lock = threading.Lock()
        self._active: dict[str, None] = {}
        self._first_tick = self._last_tick = 0
        self._last_event = self._end = self._fault = ""
        self._end_reached = False
        self._session = session or server.open_session(plan.name, plan.parts, 0.0, detached=plan.detached)
        server.add_listener(self._take)
        try:
            if prepare is not None:
                prepare()
            if self._shared:
                wanted = shared.enter(server, self._session, plan)
                self._entered, self._program, self._prefix = True, wanted.program, wanted.prefix
                self._ids = frozenset(wanted.ids)
                self._asked_tick = shared.install(server, self._session, wanted, wanted.program.start)
                return
            if plan.filled is not None:
                server.install_program(self._session.id, plan.filled)
            else:
                server.define(self._session.id, self._program.actions, self._program.reactions)
            server.start(self._session.id, self._program.start)
        except BaseException:
            self.close()
            raise

    @property
    def session_id(self) -> str:
        """The id of its own session."""
        return self._session.id

    def _take(self, event: ServerEvent) -> None:
        """In the dispatcher's thread."""
        if event.session != self._session.id:
            return
        own = not self._shared or event.kind == Kind.SESSION_ENDED
        own = own or (event.kind == Kind.REPLACE_REFUSED and event.tick == self._asked_tick)
        if not own and not self._ids & {event.previous_action, event.current_action}:
            return  # of another run in this session
        with self._lock:
            self._last_tick = max(self._last_tick, event.tick)
            if event.kind == Kind.ACTION_STARTED:
                self._first_tick = self._first_tick or event.tick
                self._active[event.current_action] = None
            elif event.kind == Kind.ACTION_STOPPED:
                self._active.pop(event.previous_action, None)
                self._fault = f"action {event.previous_action!r}: {event.reason}" if event.cause in _BROKEN_OFF else ""
            elif event.kind == Kind.REACTION_FIRED and event.event:
                self._last_event = event.event
                self._values = {self._as_written(n): v for n, v in zip(event.names, event.values, strict=True)}
                if event.event == self._plan.end_event:
                    self._end_reached = True
            elif event.kind == Kind.SESSION_ENDED:
                self._end = event.reason
            elif event.kind in (Kind.COMMAND_REFUSED, Kind.REPLACE_REFUSED):
                self._end = f"the loop refused a command: {event.reason}"
        self._changed.set()

    def _as_written(self, captured: str) -> str:
        """The name that the program's text has for a captured state variable."""
        name = captured.removeprefix(f"{self._prefix}__") if self._prefix else captured
        return self._written.get(name, name)

    @property
    def has_begun(self) -> bool:
        """Whether an action of it has started."""
        with self._lock:
            return self._first_tick > 0

    def wait(self, timeout_s: float) -> None:
        """Sleep until something happens, at most for this time; and only for some ticks if events have come before the
        snapshot of their tick."""
        view = self._server.snapshot()
        with self._lock:
            is_behind = view is not None and view.tick < self._last_tick
        self._changed.wait(min(timeout_s, 2 * self._server.workcell.period) if is_behind else timeout_s)
        self._changed.clear()

    def progress(self) -> RunProgress:
        """Where it is."""
        view = self._server.snapshot()
        with self._lock:
            active, first, last_event = tuple(self._active), self._first_tick, self._last_event
        values = [] if view is None else self._values_of(active, "progress")
        return RunProgress(
            progress=values[0] if len(values) == 1 else math.nan,
            active=active,
            elapsed=0.0 if view is None or not first else max(view.tick - first, 0) * self._server.workcell.period,
            last_event=last_event,
        )

    def _values_of(self, active: Sequence[str], variable: str, view: SnapshotView | None = None) -> list[float]:
        """A state variable of each active action; NaN: unknown."""
        view = view or self._server.snapshot()
        try:
            actions = self._server.contents(self._session).actions
        except RobotControlError:
            return []
        if view is None:
            return []
        return [view.action_value(actions[name], variable) for name in active if name in actions]

    def _agrees(self, view: SnapshotView, active: Sequence[str]) -> bool:
        """Whether a snapshot shows just these actions as active: events may have come that are newer than it, and in
        the middle of a switch they tell of a state that never was."""
        try:
            actions = self._server.contents(self._session).actions.values()
        except RobotControlError:
            return False
        with self._lock:
            if tuple(self._active) != tuple(active) or view.tick < self._last_tick:
                return False  # the snapshot is older than what the events say
        found = {a.id for a in actions if view.active_since(a.entry.identity) is not None}
        return (found & self._ids if self._shared else found) == set(active)

    def update(self) -> RunResult | None:
        """How it ended; None: it has not."""
        view = self._server.snapshot()
        self._server.take_events()  # so that the events say all that led to the snapshot: the last one is the result's
        with self._lock:
            ended, reached, fault = self._end, self._end_reached, self._fault
            active, first = tuple(self._active), self._first_tick
        if reached:
            return self._result(True, "")
        if ended:
            return self._result(False, ended)
        if not first:
            return None
        agrees = view is not None and self._agrees(view, active)
        if agrees and not active and fault:
            return self._result(False, fault)
        if agrees and not self._plan.end_event and self._is_done(active, view):
            return self._result(True, "")
        if agrees and not active and len(self._plan.program.actions) == 1:
            return self._result(False, "its action was stopped before its end")
        if self._plan.timeout and self.progress().elapsed > self._plan.timeout:
            return self._result(False, f"it took longer than its timeout of {self._plan.timeout:g} s")
        return None

    def _is_done(self, active: Sequence[str], view: SnapshotView | None) -> bool:
        """Whether nothing is active any more, or all that is active is done at the end of the same tick."""
        values = self._values_of(active, "is_done", view)
        return len(values) == len(active) and all(
            value == 1.0 or self._ends_in(name) for name, value in zip(active, values, strict=True)
        )

    def _ends_in(self, action: str) -> bool:
        """Whether the program ends by being in this state: it is final, and never done."""
        (definition,) = (a for a in self._program.actions if a.id == action)
        declared = self._server.types.get(definition.type, "the run").declared.state_variables
        return definition.final and all(v.name != "is_done" for v in declared)

    def _result(self, success: bool, message: str) -> RunResult:
        with self._lock:
            ticks = max(self._last_tick - self._first_tick, 0) if self._first_tick else 0
            if not self._end_reached and not self._end:
                view = self._server.snapshot()
                ticks = max(view.tick - self._first_tick, 0) if view is not None and self._first_tick else ticks
            return RunResult(
                success=success, message=message, ticks=ticks, last_event=self._last_event, values=dict(self._values)
            )

    def cancelled(self) -> RunResult:
        """The result of a run that is broken off; `close` does it."""
        return self._result(False, "cancelled")

    def close(self) -> None:
        """Stop what is still active, with its default action, and give the parts back. In a session of others: what
        this run has started."""
        if self._session.end_reason:
            self.leave()
            return
        try:
            self._server.take_events()  # so that what it has just started is known
            with self._lock:
                active = tuple(self._active)
            if active or not self._shared:
                self._server.stop(self._session.id, active if self._shared else ())
            deadline = time.monotonic() + _STOPPING_S
            while self._is_stopping() and time.monotonic() < deadline:
                self.wait(0.02)
        finally:
            self.leave()
            if not self._shared:
                self._server.close_session(self._session.id)

    def leave(self) -> None:
        """Let what is active go on, in a session of others."""
        self._server.remove_listener(self._take)
        if self._entered:
            self._entered = False
            shared.leave(self._session, self._plan)

    @property
    def is_shared(self) -> bool:
        """Whether its session is one that others use as well."""
        return self._shared

    def at_rest(self) -> bool:
        """Whether the parts of its actions stand still, as far as that is known."""
        view = self._server.snapshot()
        names = [f"{part}.at_rest" for part in self._plan.parts]
        variables = [self._server.variables[name] for name in names if name in self._server.variables]
        return view is None or all(view.value(variable.offset) != 0.0 for variable in variables)

    def _is_stopping(self) -> bool:
        """Whether a motion group has yet to come to rest on its paths."""
        with self._lock:
            active, ended = tuple(self._active), self._end
        actions = {} if ended or self._server.gated else self._server.contents(self._session).actions
        return any(actions[name].prepared.group is not None for name in active if name in actions)
