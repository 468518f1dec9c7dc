"""Executes blueprints: several runs side by side on disjoint parts, commands, logs, and the state of it all as data.

It has no thread and no clock of its own: its driver calls `update` when something may have happened. The node
`blueprints` does so over ROS, and tests in lockstep.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path as File
from typing import Any

from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.graph.results import CANCELLED, FAILED, Outcome
from robot_rt_control.blueprint.runs.armed import Armed, Sensed, Topics
from robot_rt_control.blueprint.runs.command_log import COMMANDS_FILE, note
from robot_rt_control.blueprint.runs.control_request import COMMANDS, ControlRequest, command_of
from robot_rt_control.blueprint.runs.performer import Makers, RobotPerformer
from robot_rt_control.blueprint.runs.rehearsal import Rehearsal
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.blueprint.runs.run import REPLACE, WAIT, ExecutedRun, NodeView, Start
from robot_rt_control.blueprint.runs.run_history import RUN, RunHistory
from robot_rt_control.blueprint.runs.run_log import RunLog, end_record
from robot_rt_control.blueprint.runs.run_planning import planned_run
from robot_rt_control.blueprint.runs.runner import Runner
from robot_rt_control.blueprint.skills.skill_library import SkillLibrary
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.phrases import is_stop, of_gesture, understand
from robot_rt_control.vocabulary.capacities import MAX_BLUEPRINT_RUNS
from robot_rt_control.vocabulary.errors import (
    CapacityError,
    CommandRefused,
    DefinitionError,
    InternalError,
    RobotControlError,
    SessionError,
    unknown,
)

_log = logging.getLogger(__name__)

_PATIENCE_S = 0.5
"""[s] of the machine's time after which a cancel does not wait for the lock any more."""
KEPT_RUNS = 16
"""Runs that have ended and are still part of the state."""
_SHOWN = 80
"""Characters of a sentence in reasons and the log."""
_REHEARSED_S = 1.0
"""[s] that a rehearsed skill takes."""
_ASK_AGAIN_S = 1.0
"""[s] of the loop's time after which a run that waits tries its parts again."""


@dataclass(frozen=True, kw_only=True)
class ExecutorState:
    """What the executor does: msg/BlueprintState."""

    tick: int
    time: float
    nodes: tuple[NodeView, ...]
    protective_stop: bool
    armed: float
    waiting: tuple[str, ...]
    problem: str
    skills_changed: int


class Executor:
    """All runs of one process. All methods may be called from any thread.

    A skill is read and checked without holding up the runs that go on.

    Args:
        robot: the workcell.
        library: of skills.
        logs: folder of the runs' logs.
        wall: the date and time as text; run ids begin with it, and sort by it. None: the tick.
        makers: of skills that are neither programs nor actions.
        topics: whose messages may start runs; None: there are none.

    Attributes:
        lock: held while runs change.
        runs: by id, in the order in which they were asked for: those that go on, wait, or ended last.
    """

    def __init__(
        self,
        robot: Robot,
        library: SkillLibrary,
        logs: File,
        *,
        wall: Callable[[], str] | None = None,
        makers: Makers | None = None,
        topics: Topics | None = None,
    ) -> None:
        self.robot, self.library, self.history = robot, library, RunHistory(logs)
        self._logs, self._makers = logs, makers
        self._wall = wall or (lambda: f"{robot.backend.present()[0]:09d}")
        self.lock = threading.RLock()
        self.runs: dict[str, ExecutedRun] = {}
        self._tried = -_ASK_AGAIN_S
        self._sensed: list[Sensed] = []
        """What sensors and messages ask for."""
        self._armed = Armed(robot, lambda wanted: self._sensed.append(wanted), topics)
        self._problem = ""
        self._stop_words, self._stops_seen = 0, robot.stops
        """Count sentences that stopped everything, and the protective stops that `update` has seen."""
        self._soon: deque[Callable[[], object]] = deque()
        """What the next `update` is to do: asked for while the lock was held by somebody who waits for an answer."""

    # --- life -----------------------------------------------------------------------------------

    def close(self) -> None:
        """End: sessions are closed, and parts take their safety action. Runs that go on have no end in their logs."""
        with self.lock:
            self._armed.disarm()
            for run in self.runs.values():
                if run.outcome is None:
                    run.close(Outcome.standard(CANCELLED, "the executor has ended"))
            self.robot.close()

    @property
    def is_idle(self) -> bool:
        """Whether no run goes on or waits, and no sensor can start one."""
        return not self._armed.is_armed and all(run.outcome is not None for run in self.runs.values())

    def update(self) -> None:
        """Take in what has happened. Call it whenever something may have, and about every 20 ms while a run goes on."""
        with self.lock:
            self._update()
            sensed, self._sensed = self._sensed, []
            stops = self._stops
        for wanted in sensed:  # their skills are read without holding up what goes on
            self._start_by_sensor(wanted, stops)

    @property
    def _stops(self) -> int:
        """Counts what stopped everything: what was asked for before does not start after (N28, N52)."""
        return self._stop_words + self.robot.stops

    def _update(self) -> None:
        if self._stops_seen != self.robot.stops:
            self._stops_seen = self.robot.stops
            self._after_protective_stop()
        while self._soon:
            with suppress(RobotControlError):  # it has just ended
                self._soon.popleft()()
        for run in list(self.runs.values()):
            if run.runner is not None and run.outcome is None:
                try:
                    outcome = run.runner.update()
                except Exception as error:  # it must not hold up the other runs, nor its parts without anybody
                    outcome = self._broken(run, error)
                if outcome is not None:
                    self._end(run, outcome)
        self._begin_waiting()
        self._armed.update(self._moment().time if self._armed.is_armed else 0.0)

    def _broken(self, run: ExecutedRun, error: Exception) -> Outcome:
        """The outcome of a run that cannot be driven any more; closing its session brings its parts to rest."""
        outcome = Outcome.standard(FAILED, f"internal error: {type(error).__name__}: {error}")
        moment = self._moment()
        self._problem = f"run {run.id}: {outcome.reason}"
        _log.exception("run %s cannot be driven any more", run.id)
        with suppress(OSError):
            if run.log is not None:
                run.log.write(end_record(moment, outcome))
        return outcome

    def _end(self, run: ExecutedRun, outcome: Outcome) -> None:
        try:
            run.close(outcome)
        except Exception as error:  # it must not hold up the other runs
            self._problem = f"run {run.id}: what it leaves cannot be ended: {type(error).__name__}: {error}"
            _log.exception("what run %s leaves cannot be ended", run.id)
        ended = [other.id for other in self.runs.values() if other.outcome is not None]
        for id in ended[:-KEPT_RUNS]:
            del self.runs[id]

    def _moment(self) -> Moment:
        tick, time = self.robot.backend.present()
        return Moment(tick=tick, time=time)

    # --- starting -------------------------------------------------------------------------------

    def start(self, start: Start, *, stops: int | None = None) -> ExecutedRun:
        """Start a run, or have it wait for its parts.

        Args:
            stops: the count of `_stops` when it was asked for; None: it is asked for now.

        Raises:
            DefinitionError, ProgramError: what is wrong with the skill, its values or parts; each with its line.
            SessionError: a part is taken; names the holder.
            CommandRefused: a part is disabled or faulted, there is a protective stop, or everything was stopped
                meanwhile.
            CapacityError: too many runs.
            RobotControlError: its log cannot be written.
            InternalError: a bug. Whatever it is, nothing of the run is left; a log that was begun says "refused".
        """
        stops = self._stops if stops is None else stops
        run = planned_run(start, self.library, self.history, self._moment().time)
        with self.lock:
            if stops != self._stops:
                raise CommandRefused("everything was stopped while this run was being started")
            return self._admitted(run)

    def _admitted(self, run: ExecutedRun) -> ExecutedRun:
        """Begin a planned run, or have it wait for its parts."""
        start, going = run.start, [other for other in self.runs.values() if other.outcome is None]
        if len(going) >= MAX_BLUEPRINT_RUNS:
            raise CapacityError(
                "too many runs side by side",
                expected=f"at most {MAX_BLUEPRINT_RUNS} (MAX_BLUEPRINT_RUNS)",
                got=", ".join(other.id for other in going),
            )
        run.id = self._new_id()
        holders = self._holders(run)
        if holders and start.busy not in (WAIT, REPLACE):
            (first, *_) = holders
            shared = sorted(set(first.parts) & set(run.parts))
            raise SessionError(
                f"part {shared[0]!r} is held by run {first.id!r} of {first.skill!r}",
                expected="free parts, or `busy`: wait or replace",
                got=", ".join(shared),
            )
        if holders:
            self.robot.check(())  # what was asked for during a protective stop does not begin after it
            self.runs[run.id] = run
            for holder in holders if start.busy == REPLACE else ():
                self._cancel(holder, f"{start.source or 'somebody'}: replaced by run {run.id}")
            return run
        try:
            self._begin(run)
        except RobotControlError as error:
            if run.log is not None:
                self._never_began(run, Outcome.standard(FAILED, str(error)), refused=True)
            raise
        self.runs[run.id] = run
        return run

    def _new_id(self) -> str:
        wall, count = self._wall(), 1
        while (id := f"{wall}-{count}") in self.runs or (self._logs / f"{id}.jsonl").exists():
            count += 1
        return id

    def _holders(self, run: ExecutedRun) -> list[ExecutedRun]:
        """The runs that hold, or wait before it for, parts that this one moves."""
        found = []
        for other in self.runs.values():
            if other is run:
                break
            if other.outcome is None and not other.start.rehearse and set(other.parts) & set(run.parts):
                found.append(other)
        return found if not run.start.rehearse else []

    def _begin(self, run: ExecutedRun) -> None:
        """Begin a run. Raises RobotControlError: it cannot; nothing of it goes on, and a log that was begun is open."""
        try:
            self._try_to_begin(run)
        except BaseException as error:
            try:
                run.give_up()
            except Exception:
                _log.exception("what run %s leaves cannot be ended", run.id)
            if isinstance(error, RobotControlError) or not isinstance(error, Exception):
                raise
            _log.exception("run %s cannot begin", run.id)
            raise InternalError.of(f"the start of {run.skill!r}", error) from error

    def _try_to_begin(self, run: ExecutedRun) -> None:
        moment = self._moment()
        if run.start.rehearse:
            run.performer = Rehearsal(run.catalogue, self._moment, seconds=_REHEARSED_S)
        else:
            self.robot.check(run.parts)
            name = f"blueprint {run.skill}"
            run.performer = RobotPerformer(
                self.robot, run.catalogue, run.plan, name, run.parts, makers=self._makers
            )
        try:
            self._begin_log(run, moment)
        except OSError as error:
            raise RobotControlError(f"the log of the run cannot be written: {error}") from None
        refused = run.begin()
        if refused:
            raise DefinitionError(f"blueprint {run.skill!r} cannot begin: {refused}")

    def _begin_log(self, run: ExecutedRun, moment: Moment) -> None:
        """Raises OSError: there is no log then."""
        log = RunLog(self._logs, run.id)
        try:
            log.write(self._first_record(run, moment))
        except BaseException:
            log.discard()
            raise
        run.log = log

    def _first_record(self, run: ExecutedRun, moment: Moment) -> Mapping[str, Any]:
        start = run.start
        return {
            "tick": moment.tick,
            "time": moment.time,
            "what": RUN,
            "run": run.id,
            "skill": run.skill,
            **({"title": title} if (title := run.plan.graphs[run.plan.root].title) else {}),
            "began": self._wall(),
            "source": start.source,
            "parts": list(run.parts),
            "roles": dict(run.roles),
            "parameters": {p.name: _json(p.value) for p in start.parameters},
            "versions": dict(run.versions),
            "rehearsed": start.rehearse,
            **({"text": start.skill} if "\n" in start.skill else {}),  # else nobody could see later what ran
            "outputs_of": start.outputs_of,
            "breakpoints": list(start.breakpoints),
        }

    def _begin_waiting(self) -> None:
        waiting = [run for run in self.runs.values() if run.runner is None and run.outcome is None]
        if not waiting or self._stops_seen != self.robot.stops:
            return
        time = self._moment().time
        for run in waiting:
            if self._holders(run):
                continue
            if 0.0 <= time - self._tried < _ASK_AGAIN_S and run.asked < self._tried:
                continue  # another application holds its parts
            try:
                self._begin(run)
            except SessionError:
                self._tried = time
                if run.log is not None:  # it is tried again, and then has a new one
                    run.log.discard()
                    run.log = None
            except RobotControlError as error:
                self._never_began(run, Outcome.standard(FAILED, str(error)), refused=True)

    def _never_began(self, run: ExecutedRun, outcome: Outcome, *, refused: bool = False) -> None:
        """A run ends without having begun; its log says why."""
        moment = self._moment()
        try:
            if run.log is None:
                self._begin_log(run, moment)
            if run.log is not None:
                run.log.write(end_record(moment, outcome, refused=refused))
        except Exception as error:
            self._problem = f"the log of run {run.id} cannot be written: {error}"
        self._end(run, outcome)

    # --- commands -------------------------------------------------------------------------------

    def control(self, request: ControlRequest) -> str:
        """Give a command to a run. Returns a remark.

        Raises:
            CommandRefused: with what would be possible.
            DefinitionError: unknown command, run or node.
        """
        command = request.command
        if command not in COMMANDS:
            raise DefinitionError(f"unknown command {command!r}", expected=unknown("command", command, COMMANDS))
        catalogue = self.library.snapshot() if command == "arm" else None
        if command == "cancel":
            return self._at_once_or_soon(lambda: self._controlled(request, command, None))
        with self.lock:
            return self._controlled(request, command, catalogue)

    def _at_once_or_soon(self, do: Callable[[], str]) -> str:
        """Do it, or have the next `update` do it if somebody holds the lock for long. Returns a remark."""
        if not self.lock.acquire(timeout=_PATIENCE_S):
            self._soon.append(do)
            return "the control server keeps the executor waiting; it is done as soon as that has answered"
        try:
            return do()
        finally:
            self.lock.release()

    def _controlled(self, request: ControlRequest, command: str, catalogue: SkillCatalogue | None) -> str:
        if catalogue is not None:
            self.robot.check(())
            self._armed.arm(request.seconds, self._moment().time, catalogue)
            self.note(command, request.source, f"for {request.seconds:g} s")
            return f"sensors may start runs for {request.seconds:g} s"
        if command == "disarm":
            self._armed.disarm()
            self.note(command, request.source, "")
            return ""
        if command == "cancel" and not request.run:
            return self._cancel_all(request.source)
        run = self._run_of(request.run)
        if command == "cancel":
            self._cancel(run, request.source)
            return ""
        if run.runner is None:
            raise CommandRefused(f"run {run.id!r} waits for its parts", expected="cancel", got=command)
        refused = self._give(run, run.runner, command_of(request, run))
        if refused:
            raise CommandRefused(f"{command} was refused: {refused}")
        return ""

    def _give(self, run: ExecutedRun, runner: Runner, command: events.Command) -> str:
        """Give a command to a run, which may end by it at once. Returns why it is refused."""
        refused = runner.give(command)
        if runner.engine.outcome is not None:
            self._end(run, runner.engine.outcome)
        return refused

    def _run_of(self, id: str) -> ExecutedRun:
        going = [run for run in self.runs.values() if run.outcome is None]
        if not id:
            if len(going) != 1:
                shown = ", ".join(f"{run.id} ({run.skill})" for run in going)
                raise CommandRefused(
                    "no run is under way" if not going else "several runs are under way",
                    expected=f"`run`: one of {shown}" if going else "a run that was started",
                )
            return going[0]
        run = self.runs.get(id)
        if run is None:
            raise DefinitionError(f"unknown run {id!r}", expected=unknown("run", id, [r.id for r in going]))
        if run.outcome is not None:
            raise CommandRefused(f"run {id!r} has ended as {run.outcome.result}")
        return run

    def cancel(self, run: ExecutedRun, source: str) -> None:
        """Cancel a run; nothing happens if it has ended."""

        def cancel() -> str:
            if run.outcome is None:
                self._cancel(run, source)
            return ""

        self._at_once_or_soon(cancel)

    def _cancel(self, run: ExecutedRun, source: str) -> None:
        if run.runner is None:  # it has not begun
            self._never_began(run, Outcome.standard(CANCELLED, f"by {source}" if source else ""))
        else:
            self._give(run, run.runner, events.Cancel(source=source))

    def _cancel_all(self, source: str) -> str:
        return self._at_once_or_soon(lambda: self._all_cancelled(source))

    def _all_cancelled(self, source: str) -> str:
        going = [run for run in self.runs.values() if run.outcome is None]
        for run in reversed(going):  # what waits first, so that nothing begins
            self._cancel(run, source)
        self.note("cancel", source, ", ".join(run.id for run in going))
        return f"cancelled: {', '.join(run.id for run in going)}" if going else "no run is under way"

    def give_command(
        self, text: str, *, gesture: bool = False, source: str = ""
    ) -> tuple[str, ExecutedRun | None, str]:
        """Say a sentence, or show a gesture's label. Returns what it started, the run, and a remark.

        Raises:
            DefinitionError: it fits nothing, or several; with the nearest.
            RobotControlError: as `start`.
        """
        word = "gesture" if gesture else "sentence"
        if is_stop(text):  # it waits for nobody
            self._stop_words += 1
            return "", None, self._at_once_or_soon(lambda: self._stopped_by(word, text, source))
        stops = self._stops
        try:
            skills = self.library.snapshot().skills
            said = of_gesture(text, skills) if gesture else understand(text, skills)
            name = said.skill
            start = Start(skill=name, parameters=said.arguments, busy=said.busy, source=source or word)
            run = self.start(start, stops=stops)
        except RobotControlError as error:
            self.note(word, source, text, refused=str(error))
            raise
        self.note(word, source, text, started=run.id)
        return name, run, f"run {run.id} of {name!r}"

    def _stopped_by(self, word: str, text: str, source: str) -> str:
        """Cancel all runs, and have sensors start none. Returns a remark."""
        was_armed = self._armed.is_armed
        self._sensed = []
        remark = self._all_cancelled(f"{source or word}: {text.strip()[:_SHOWN]!r}")
        if was_armed:
            self._armed.disarm()
            remark += "; sensors start no runs any more"
        return remark

    def _after_protective_stop(self) -> None:
        """After it nothing begins that was asked for before: runs that wait end, and sensors start none."""
        for run in [run for run in self.runs.values() if run.runner is None and run.outcome is None]:
            self._never_began(run, Outcome.standard(CANCELLED, "a protective stop came while it waited"))
        self._sensed = []
        if self._armed.is_armed:
            self._armed.disarm()
            self.note("disarm", "protective stop", "")

    def _start_by_sensor(self, wanted: Sensed, stops: int) -> None:
        source = f"{wanted.word}: {wanted.content}"
        start = Start(skill=wanted.skill, parameters=wanted.parameters, busy=wanted.busy, source=source)
        try:
            if wanted.refused:
                raise DefinitionError(wanted.refused)
            run = self.start(start, stops=stops)
        except RobotControlError as error:
            self.note(wanted.word, source, wanted.content, refused=str(error))
        else:
            self.note(wanted.word, source, wanted.content, started=run.id)

    def note(self, what: str, source: str, content: str, **more: str) -> None:
        """Keep what was asked for beside runs, or refused: who, when, what."""
        try:
            note(self._logs, self._moment(), self._wall(), what, source, content, **more)
        except OSError as error:
            self._problem = f"{self._logs / COMMANDS_FILE} cannot be written: {error}"

    # --- looking --------------------------------------------------------------------------------

    def state(self) -> ExecutorState:
        """What it does now."""
        with self.lock:
            return self._state()

    def _state(self) -> ExecutorState:
        tick, time = self.robot.backend.present()
        problems = [run.runner.log_problem for run in self.runs.values() if run.is_under_way and run.runner]
        return ExecutorState(
            tick=tick,
            time=time,
            nodes=tuple(view for run in self.runs.values() for view in run.views(time)),
            protective_stop=self.robot.is_stopped,
            armed=self._armed.left(time),
            waiting=tuple(run.id for run in self.runs.values() if run.runner is None and run.outcome is None),
            problem=next(filter(None, [self.robot.problem, *problems, self._problem]), ""),
            skills_changed=self.library.changes,
        )

    @property
    def next_deadline(self) -> float | None:
        """[s] of the loop's time when `update` has to be called at the latest; None: when something happens."""
        found = [run.runner.engine.next_deadline for run in self.runs.values() if run.is_under_way and run.runner]
        return min((deadline for deadline in found if deadline is not None), default=None)

    def under_way(self) -> list[str]:
        """Ids of the runs that have begun and not ended."""
        with self.lock:
            return [run.id for run in self.runs.values() if run.is_under_way]


def same_but_time(one: ExecutorState, other: ExecutorState) -> bool:
    """Whether nothing has changed but the time."""
    armed = bool(one.armed) == bool(other.armed)
    return armed and replace(one, tick=0, time=0.0, armed=0.0) == replace(other, tick=0, time=0.0, armed=0.0)


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
