"""Carries the orders of one run out: programs and actions in the run's session, waits, and texts to say."""

from __future__ import annotations

import itertools
import math
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from robot_rt_control.blueprint.engine.foresight import Foreseen
from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import EngineEvent, Moment
from robot_rt_control.blueprint.graph.plan import Plan
from robot_rt_control.blueprint.graph.results import CANCELLED, DONE, FAILED
from robot_rt_control.blueprint.runs.robot import Robot, Watched, moment
from robot_rt_control.blueprint.text.catalogue import Skill, SkillCatalogue
from robot_rt_control.client.backend import RunRequest, StartedRun
from robot_rt_control.client.program_state import RunOutcome
from robot_rt_control.client.session import Session
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.one_action import program_of_action
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError
from robot_rt_control.vocabulary.names import VARIABLE_PATTERN

KEPT_PREFIXES = 32
"""Programs with their values that are remembered to be in the session; as many as a session keeps."""
FORESEEN = 3
"""Skills that are installed at most while another one runs."""

_VARIABLE = re.compile(VARIABLE_PATTERN)


class Work(Protocol):
    """A skill under way that is neither a program nor an action. One thread."""

    def poll(self) -> EngineEvent | None:
        """What happened: Told or Asked, and at last Ended; None: nothing new."""

    def cancel(self) -> None:
        """Ask for its end; `poll` reports it."""

    def answer(self, text: str) -> None:
        """The answer to its question."""


Makers = Callable[[orders.StartSkill, Skill, SkillCatalogue, Robot, "Session | None"], Work]
"""Starts a skill of another kind, with the run's session. Raises RobotControlError: it cannot be started."""


@dataclass(eq=False)
class _Started:
    """A program or action that runs."""

    run: StartedRun
    skill: Skill
    prefix: str
    cancelled: bool = False


class RobotPerformer:
    """A run's `Performer`. One thread. What is foreseen is installed while a program runs, so that its start takes one
    command to the loop.

    Args:
        name: of the run, for sessions.
        parts: all that the run can move; they are held from now on.
        makers: for other kinds of skills.

    Attributes:
        prepares: see `runner.Preparing`. Nothing is prepared for a loop that ticks on request: no time passes there
            while a program is read.

    Raises:
        SessionError: a part is taken; names the holder.
    """

    def __init__(
        self,
        robot: Robot,
        catalogue: SkillCatalogue,
        plan: Plan,
        name: str,
        parts: Iterable[str],
        *,
        makers: Makers | None = None,
    ) -> None:
        self._robot, self._catalogue, self._name, self._makers = robot, catalogue, name, makers
        self.parts = tuple(sorted(parts))
        self._started: dict[int, _Started] = {}
        self._works: dict[int, Work] = {}
        self._waits: dict[int, Watched] = {}
        self._watched: dict[int, Watched] = {}
        self._prefixes: OrderedDict[Any, str] = OrderedDict()
        """What was started or foreseen → the prefix of its ids in the session."""
        self._numbers = itertools.count(1)
        self.prepares = 0 if robot.backend.gated else FORESEEN
        self._foreseen: deque[Foreseen] = deque()
        self._is_prepared: Callable[[], bool] = lambda: True
        """Whether what is being installed ahead is there."""
        self._soon: list[EngineEvent] = []
        self._stops, self._stopped = robot.stops, robot.is_stopped
        self._must_resume = False
        """A protective stop was reported: only what a person asks for after it is started (N28)."""
        self._names = dict.fromkeys(_names(plan, self.parts))
        self._session = self._open()  # last: what fails before it leaves nothing behind

    def _open(self) -> Session | None:
        """A session on all parts that the run moves; None: it moves none."""
        return self._robot.open(self._name, self.parts) if self.parts else None

    def close(self) -> None:
        """Close the sessions, whatever fails of it: parts take their safety action."""
        with ExitStack() as steps:
            if self._session is not None and self._session.ended is None:
                steps.callback(self._session.close)
            for watched in (*self._waits.values(), *self._watched.values()):
                steps.callback(watched.close)
            for work in self._works.values():
                steps.callback(work.cancel)

    # --- as Performer ---------------------------------------------------------------------------

    def moment(self) -> Moment:
        return moment(self._robot, self._names)

    def happened(self) -> list[EngineEvent]:
        robot = self._robot
        robot.sort_fired()
        found: list[EngineEvent] = []
        for id, watched in list(self._watched.items()):
            found += [events.Fired(watch=id, reaction=index) for index in watched.fired]
            watched.fired.clear()
        for id, watched in list(self._waits.items()):
            if watched.fired:
                found.append(self._end_wait(id, DONE))
        for id, started in list(self._started.items()):
            event = self._ended(id, started)
            if event is not None:
                found.append(event)
        for id, work in list(self._works.items()):
            said = work.poll()
            if isinstance(said, events.Ended):
                del self._works[id]
            if said is not None:
                found.append(said)
                self._robot.on_change()  # it may have more to say
        if not found:
            self._prepare_next()
        # A failure may be the first news of a stop: events come by another way than results of goals.
        stops = robot.stops
        failed = any(isinstance(event, events.Ended) and event.result == FAILED for event in found)
        stopped = robot.look_for_stop() if failed and not self._stopped else robot.is_stopped
        passed = stops != self._stops and not self._stopped and not stopped  # released before we looked
        if passed or (stopped and not self._stopped):
            found.append(events.Stopped())
            self._must_resume = True
        if passed or (self._stopped and not stopped):
            found.append(events.Released())
        self._stopped, self._stops = stopped, stops
        found, self._soon = [*self._soon, *found], []
        order = (events.Stopped, events.Released, events.Fired, events.Told, events.Asked, events.Ended)
        return sorted(found, key=lambda event: order.index(type(event)))

    def start(self, order: orders.StartSkill) -> None:
        if order.skill == "say":
            self._robot.say(str(order.arguments[0].value))
            self._soon.append(events.Ended(activity=order.activity, result=DONE))
            self._robot.on_change()
        elif order.skill == "wait_until":
            self._waits[order.activity] = self._robot.watch(f"{self._name}: wait", (order.until,))
        else:
            self._start(order)

    def _start(self, order: orders.StartSkill) -> None:
        skill = self._catalogue.find(order.skill)
        if self._session is not None and self._session.ended is not None:  # a failed action ended it (A6)
            self._session = self._open()
            self._prefixes.clear()
            self._must_resume = False
        if self._must_resume and self._session is not None:
            self._session.resume()
            self._must_resume = False
        self._foreseen.clear()  # nothing may come before the start
        if not isinstance(skill.template, ProgramTemplate | DeclaredType):
            if self._makers is None:
                raise DefinitionError(f"skill {order.skill!r} cannot be performed here")
            self._works[order.activity] = self._makers(order, skill, self._catalogue, self._robot, self._session)
            return
        prefix = self._prefix(order)[0]
        run = self._robot.backend.begin_run(
            run_request(order, self._catalogue, self._session, prefix, self._robot.on_change)
        )
        self._started[order.activity] = _Started(run, skill, prefix)

    def _prefix(self, skill: orders.StartSkill | Foreseen) -> tuple[str, bool]:
        """The same for the same skill, values and parts, unless it runs in another branch at this moment; and whether
        it is a new one."""
        key = (skill.skill, skill.arguments, tuple(sorted(skill.parts.items())), skill.until)
        prefix = self._prefixes.pop(key, "")
        is_new = not prefix or any(started.prefix == prefix for started in self._started.values())
        if is_new:
            prefix = f"n{next(self._numbers)}"
        self._prefixes[key] = prefix
        if len(self._prefixes) > KEPT_PREFIXES:
            self._prefixes.popitem(last=False)
        return prefix, is_new

    def foresee(self, skills: Sequence[Foreseen]) -> None:
        self._foreseen = deque(skills)

    def _prepare_next(self) -> None:
        """Install the next expected program once everything started is running, so that it delays nothing."""
        session = self._session
        if not self._foreseen or session is None or session.ended is not None or not self._is_prepared():
            return
        if not all(started.run.has_begun for started in self._started.values()):
            return
        skill = self._foreseen.popleft()
        with suppress(RobotControlError):  # if it is started, it is refused with its reason
            if isinstance(self._catalogue.find(skill.skill).template, ProgramTemplate | DeclaredType):
                prefix, is_new = self._prefix(skill)
                if is_new:
                    request = run_request(skill, self._catalogue, session, prefix, self._robot.on_change)
                    self._is_prepared = self._robot.backend.prepare_run(request)
        self._robot.on_change()  # there may be more of them

    def cancel(self, activity: int) -> None:
        self._foreseen.clear()
        if activity in self._started:
            self._started[activity].cancelled = True
            self._started[activity].run.cancel()
        elif activity in self._works:
            self._works[activity].cancel()
        elif activity in self._waits:
            self._soon.append(self._end_wait(activity, CANCELLED))
            self._robot.on_change()

    def answer(self, activity: int, answer: str) -> None:
        if activity in self._works:
            self._works[activity].answer(answer)

    def watch(self, order: orders.Watch) -> None:
        self._watched[order.watch] = self._robot.watch(f"{self._name}: reactions", order.conditions)

    def unwatch(self, watch: int) -> None:
        watched = self._watched.pop(watch, None)  # none: it could not be watched
        if watched is not None:
            watched.close()

    # --- details --------------------------------------------------------------------------------

    def _end_wait(self, activity: int, result: str) -> events.Ended:
        self._waits.pop(activity).close()
        return events.Ended(activity=activity, result=result)

    def _ended(self, activity: int, started: _Started) -> events.Ended | None:
        """How a run ended, once what it leaves is at rest or goes on by itself."""
        try:
            outcome = started.run.poll()
        except RobotControlError as error:
            del self._started[activity]
            result = CANCELLED if started.cancelled else FAILED
            return events.Ended(activity=activity, result=result, reason=str(error))
        if outcome is None:
            return None
        del self._started[activity]
        if started.cancelled:
            return events.Ended(activity=activity, result=CANCELLED)
        event = outcome_of(activity, outcome, started.skill)
        lost = self._session.ended if self._session is not None and not outcome.success else None
        return replace(event, reason=f"{event.reason}; {lost}") if lost and lost not in event.reason else event


def run_request(
    order: orders.StartSkill | Foreseen,
    catalogue: SkillCatalogue,
    session: Session | None,
    prefix: str,
    on_change: Callable[[], object],
) -> RunRequest:
    """How a program, or an action type as a program of one action, is run in a session; None: in one of its own."""
    skill = catalogue.find(order.skill)
    is_program = isinstance(skill.template, ProgramTemplate)
    if isinstance(skill.template, ProgramTemplate):
        text = skill.template.text
    else:
        taken = catalogue.workcell.parts or ()
        text = program_of_action(skill.name, order.parts, order.arguments, until=order.until, taken=taken)
    return RunRequest(
        program=text,
        parts=[f"{role}={part}" for role, part in order.parts.items()] if is_program else (),
        parameters=order.arguments if is_program else (),
        until_event="" if is_program else DONE,
        session=session.key if session is not None else None,
        prefix=prefix if session is not None else "",
        keep=session is not None,
        on_change=on_change,
    )


def program_request(text: str, session: Session | None, prefix: str, on_change: Callable[[], object]) -> RunRequest:
    """How a program without roles and parameters, given as text, is run in a session; None: in one of its own."""
    return RunRequest(
        program=text,
        parts=(),
        parameters=(),
        session=session.key if session is not None else None,
        prefix=prefix if session is not None else "",
        keep=session is not None,
        on_change=on_change,
    )


def outcome_of(activity: int, outcome: RunOutcome, skill: Skill) -> events.Ended:
    """How the run of a program, or of an action type, ended; a failure with its reason."""
    name = outcome.last_event if outcome.last_event in skill.results else DONE
    outputs = {key: value for key, value in outcome.values.items() if not math.isnan(value)}
    reason = ""
    if not outcome.success:
        name, reason = FAILED, outcome.message or f"{skill.name!r} was broken off, and nothing says why"
    elif skill.results[name]:
        captured = ", ".join(f"{key} = {value:.6g}" for key, value in outputs.items())
        reason = f"program {skill.name!r} ended with its event {name!r}" + (f": {captured}" if captured else "")
    return events.Ended(activity=activity, result=name, reason=reason, outputs=outputs)


def _names(plan: Plan, parts: Sequence[str]) -> Iterable[str]:
    """State variables that conditions and values of the plan may name, to be read together; a role can be any part."""
    for graph in plan.graphs.values():
        conditions = [candidate.when for node in graph.nodes.values() for candidate in node.then]
        for name in [*graph.state, *(name for condition in conditions for name in _VARIABLE.findall(condition))]:
            head, dot, rest = name.partition(".")
            if dot:
                yield name
                yield from (f"{part}.{rest}" for part in parts if part != head)
