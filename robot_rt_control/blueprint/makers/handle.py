"""What a Python skill gets: a handle on its run, and a view of the run's session."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.results import Outcome
from robot_rt_control.blueprint.runs.performer import outcome_of, program_request, run_request
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.blueprint.text.catalogue import Skill, SkillCatalogue
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.client.actions import parameter_values
from robot_rt_control.client.backend import RunRequest, StartedRun
from robot_rt_control.client.session import Session
from robot_rt_control.program.declarations import values_of
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, SessionError, unknown

_LOOK_S = 0.005
"""[s] between two looks of a thread that waits."""


class SkillCancelled(BaseException):
    """Raised in a skill's function when it waits and the skill is cancelled. Not an Exception, so that a function that
    goes on after errors ends as well."""


class SkillFailed(RobotControlError):
    """A program or action that the function ran ended with a failure.

    Attributes:
        outcome: its result, reason and outputs.
    """

    def __init__(self, name: str, outcome: Outcome) -> None:
        super().__init__(f"{name} ended as {outcome.shown}")
        self.outcome = outcome


class Turns:
    """In lockstep, the loop's driver and the skill's thread take turns, so that two runs are the same.

    Args:
        patience_s: [s] of the machine's time; a thread that takes longer runs beside the loop from then on.
    """

    def __init__(self, patience_s: float) -> None:
        self._changed = threading.Condition()
        self._skills, self._loose, self._patience_s = False, False, patience_s

    def give(self) -> None:
        """In the driver's thread: let the skill go on until it waits or ends."""
        with self._changed:
            if not self._loose:
                self._skills = True
                self._changed.notify_all()
                self._loose = not self._changed.wait_for(lambda: not self._skills, self._patience_s)

    def back(self) -> None:
        """In the skill's thread: it has ended."""
        with self._changed:
            self._skills = False
            self._changed.notify_all()

    def wait(self, *, first: bool = False) -> None:
        """In the skill's thread: wait for the next turn."""
        with self._changed:
            if not first:
                self._skills = False
                self._changed.notify_all()
            self._changed.wait_for(lambda: self._skills, _LOOK_S if self._loose else None)


class Handle:
    """A skill's hold on its run. Used in the skill's thread.

    Attributes:
        view: what it may move and read.
        turns: None: the loop does not wait for the skill.
        activity: its number in the run.
    """

    def __init__(self, activity: int, robot: Robot, turns: Turns | None) -> None:
        self.activity, self._robot, self.turns = activity, robot, turns
        self._cancelled = threading.Event()
        self._answers: deque[str] = deque()
        self.told: deque[events.Told | events.Asked] = deque()
        """For the run; taken by the driver's thread."""
        self.view: View

    @property
    def cancelled(self) -> bool:
        """Whether the function is asked to end; after 2 s it is abandoned."""
        return self._cancelled.is_set()

    @property
    def time(self) -> float:
        """[s] of the loop."""
        return self._robot.backend.present()[1]

    def sleep(self, seconds: float) -> None:
        """Wait [s of the loop's time]. Raises SkillCancelled."""
        until = self.time + seconds
        self.wait_for(lambda: self.time >= until)

    def wait_for(self, happened: Callable[[], object], timeout_s: float | None = None) -> bool:
        """Wait until a function returns something true. Returns whether it did in time.

        Args:
            happened: called again and again, at least about every 5 ms or once a tick.

        Raises:
            SkillCancelled
        """
        until = None if timeout_s is None else self.time + timeout_s
        while True:
            self._check()
            if happened():
                return True
            if until is not None and self.time >= until:
                return False
            self.pause()

    def pause(self) -> None:
        """Let a moment pass, or a tick."""
        if self.turns is not None:
            self.turns.wait()
        else:
            self._cancelled.wait(_LOOK_S)

    def progress(self, text: object) -> None:
        """How far it is, for the log and those who watch."""
        self._tell(events.Told(activity=self.activity, what="progress", content={"text": str(text)}))

    def ask(self, text: str, answers: Iterable[str] = ("yes", "no")) -> str:
        """Ask the operator. Returns the answer. Raises SkillCancelled."""
        self._check()
        self._answers.clear()
        self._tell(events.Asked(activity=self.activity, text=text, answers=tuple(answers)))
        self.wait_for(lambda: self._answers)
        return self._answers.popleft()

    def _check(self) -> None:
        if self.cancelled:
            raise SkillCancelled

    def _tell(self, event: events.Told | events.Asked) -> None:
        self.told.append(event)
        self._robot.on_change()

    # --- in the driver's thread -----------------------------------------------------------------

    def cancel(self) -> None:
        """Ask the function to end."""
        self._cancelled.set()

    def answer(self, text: str) -> None:
        """The answer to its question."""
        self._answers.append(text)


class View:
    """The run's session, limited to the parts of the skill's roles. All methods raise RobotControlError.

    Attributes:
        parts: role → part.
        workcell: its file; None: not known.
        backend: of the running workcell, for what reads it.
    """

    def __init__(
        self,
        handle: Handle,
        robot: Robot,
        catalogue: SkillCatalogue,
        session: Session | None,
        parts: Mapping[str, str],
        workcell: Path | None = None,
    ) -> None:
        self.parts, self.workcell, self.backend = dict(parts), workcell, robot.backend
        self._handle, self._robot, self._catalogue, self._session = handle, robot, catalogue, session
        self._substitution = Substitution({}, self.parts)
        self._closed = False
        self._running: list[StartedRun] = []
        self._prefixes: dict[Any, str] = {}

    def value(self, name: str) -> float:
        """A state variable: "arm.tool.z", where `arm` is a part or a role. NaN: unknown."""
        name = self._substitution.variable(name)
        values = self._robot.backend.state_values([name], "")
        if name not in values:
            raise DefinitionError(f"state variable {name!r} is not known")
        return values[name]

    def take_picture(self, name: str = "") -> Path:
        """Write what the robot's camera sees to a new PNG on the workcell's machine; only simulated hardware has one.

        Args:
            name: as of `Client.take_picture`; empty: made from the time.
        """
        return self._robot.backend.take_picture(name, 0, 0)

    def wait_until(self, condition: str, timeout_s: float | None = None) -> bool:
        """Wait until a condition holds, judged by the loop in every tick. Returns whether it did in time."""
        watched = self._robot.watch("python skill", [self._substitution.condition(condition, "condition")])
        try:
            return self._handle.wait_for(lambda: watched.fired, timeout_s)
        finally:
            watched.close()

    def run(
        self,
        name: str,
        parts: Mapping[str, str] | None = None,
        /,
        *,
        until: str = "",
        accept: Iterable[str] = (),
        **parameters: Any,
    ) -> Outcome:
        """Run an action type or a program to its end, in the run's session: `view.run("move_gripper", opening=0.5)`.

        Args:
            parts: role of the program, or slot of the action → role of this skill, or part; left out: the role of the
                same name, or the only one.
            until: the condition that ends an action; default: its is_done.
            accept: failures that are returned instead of raised.
            parameters: values, or (value, unit).

        Raises:
            SkillFailed: it ended with a failure.
            SkillCancelled
            SessionError: the view is closed, or it would move a part that is not the skill's.
        """
        order = self._order(name, parts or {}, until, parameters)
        key = order.skill, order.arguments, tuple(sorted(order.parts.items())), until
        request = run_request(order, self._catalogue, self._session, self._prefix(key), self._robot.on_change)
        return self._followed(request, self._catalogue.find(name), accept)

    def run_program(self, text: str, /, *, accept: Iterable[str] = ()) -> Outcome:
        """Run a program, given as YAML text without roles and parameters, to its end, in the run's session.

        Args:
            accept: failures that are returned instead of raised.

        Raises:
            SkillFailed, SkillCancelled, SessionError: as `run`.
            DefinitionError, ProgramError: the text has mistakes.
        """
        template = ProgramTemplate(text)
        skill = self._catalogue.of_program(template.name, template)
        if skill.problem:
            raise DefinitionError(skill.problem)
        self._check_moved(skill.name, skill.moves)
        request = program_request(text, self._session, self._prefix(text), self._robot.on_change)
        return self._followed(request, skill, accept)

    def _prefix(self, key: Any) -> str:
        if self._closed:
            raise SessionError("the skill has ended: its view of the session is closed")
        return self._prefixes.setdefault(key, f"p{self._handle.activity}_{len(self._prefixes)}")

    def _followed(self, request: RunRequest, skill: Skill, accept: Iterable[str]) -> Outcome:
        run = self._robot.backend.begin_run(request)
        self._running.append(run)
        cancelled = False
        while (outcome := run.poll()) is None:
            if (self._closed or self._handle.cancelled) and not cancelled:
                cancelled = True
                run.cancel()
            self._handle.pause()
        self._running.remove(run)
        if cancelled:
            raise SkillCancelled
        ended = outcome_of(self._handle.activity, outcome, skill)
        failure = skill.results.get(ended.result, True)
        found = Outcome(result=ended.result, failure=failure, reason=ended.reason, outputs=ended.outputs)
        if failure and ended.result not in set(accept):
            raise SkillFailed(skill.name, found)
        return found

    def _check_moved(self, name: str, moved: Iterable[str]) -> None:
        foreign = sorted(set(moved) - set(self.parts.values()))
        if foreign:
            raise SessionError(
                f"{name!r} would move {', '.join(foreign)}",
                expected=f"parts of the skill's roles: {', '.join(self.parts.values()) or 'it has none'}",
            )

    def _order(
        self, name: str, parts: Mapping[str, str], until: str, parameters: Mapping[str, Any]
    ) -> orders.StartSkill:
        skill = self._catalogue.find(name)
        if isinstance(skill.template, SkillTemplate):
            raise DefinitionError(f"skill {name!r}", expected="an action type or a program", got="a graph")
        arguments = tuple(parameter_values(parameters))
        values_of(skill.parameters, arguments, of=name)
        roles = [role.name for role in skill.roles]
        given = {role: self.parts.get(part, part) for role, part in parts.items()}
        for role in given:
            if role not in roles:
                raise DefinitionError(f"{name!r} has no role {role!r}", expected=unknown("role", role, roles))
        for known in skill.roles:
            only = next(iter(self.parts.values())) if len(self.parts) == len(roles) == 1 else ""
            part = given.get(known.name) or self.parts.get(known.name) or only or known.default
            if not part:
                raise DefinitionError(f"{name!r}: no part for role {known.name!r}", expected=known.shown_kinds)
            given[known.name] = part
        self._check_moved(name, {given.get(part, part) for part in skill.moves})
        activity = self._handle.activity
        return orders.StartSkill(activity=activity, path=(), skill=name, arguments=arguments, parts=given, until=until)

    # --- in the driver's thread -----------------------------------------------------------------

    def close(self) -> None:
        """What runs is cancelled, and nothing can be started any more."""
        self._closed = True
        for run in list(self._running):
            run.cancel()

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing that it started runs."""
        for run in list(self._running):
            try:
                if run.poll() is None:
                    return False
            except RobotControlError:  # it is over
                continue
        return True
