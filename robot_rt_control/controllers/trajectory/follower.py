"""Follows goals with one part, one after the other: the half of the controller that knows no ROS."""

from __future__ import annotations

import contextlib
import logging
import math
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from robot_rt_control.client import Action, Client, End, Ending, Session
from robot_rt_control.client.event import Event
from robot_rt_control.controllers.trajectory.check import check_goal
from robot_rt_control.controllers.trajectory.goal import Code, Goal, GoalRefused, Outcome, Point
from robot_rt_control.controllers.trajectory.options import Options
from robot_rt_control.controllers.trajectory.readings import Readings, Sample
from robot_rt_control.controllers.trajectory.run import Run
from robot_rt_control.controllers.trajectory.splice import Motion, Present, splice
from robot_rt_control.controllers.trajectory.tolerances import Tolerances, tolerances_of
from robot_rt_control.controllers.trajectory.track import State
from robot_rt_control.controllers.trajectory.watching import FINISHED, REACHED, violation, watch
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.motion_group.limits import part_limits
from robot_rt_control.vocabulary.capacities import MAX_TRAJECTORY_POINTS
from robot_rt_control.vocabulary.defaults import CONTROLLER_LEASE_S
from robot_rt_control.vocabulary.errors import (
    CommandRefused,
    DefinitionError,
    RobotControlError,
    SessionEnded,
    SessionError,
)
from robot_rt_control.vocabulary.event_kinds import Kind

_log = logging.getLogger(__name__)

_AHEAD_S, _AHEAD_OF_POINT_S = 0.05, 2e-4
"""[s] of the workcell's time from now to the tick of a start that was chosen beforehand, unless the last goals took
less to prepare; and for each point of a long trajectory, which takes longer. What is followed goes on until then."""
_TO_LOOP_S = 0.005
"""[s] for a start to reach the loop."""
_ATTEMPTS = 3
"""At a start; if its tick has passed by then, the next one is chosen later."""
_LEAD_S, _GRAIN_S = 0.1, 0.02
"""[s] A start is sent at most this long before its tick, because it cannot be given up from then on, and longer at each
further attempt; how often it is looked whether it is given up."""
_REST_S = 10.0
"""[s] in which a part comes to rest, at the latest."""
_REST = 1e-3
"""[rad/s or m/s] A slower joint stands."""
_NEAR = 1e-3
"""[rad or m] A part that is remembered to stand must be as near, or it is asked where it is."""
_MAY_MOVE = (
    Kind.PART_FAULTED, Kind.PART_ENABLED, Kind.PART_DISABLED, Kind.PROTECTIVE_STOP, Kind.SERVER_LOST, Kind.TOOL_CHANGED,
    Kind.EVENTS_LOST,
)  # fmt: skip
"""Events after which a part may not stand any more where it stood, though nobody else has taken it."""
PREEMPTED = "preempted by a newer goal"
"""The outcome's text."""


class Follower:
    """Opens a session on the part for a goal, keeps it while goals replace each other, and closes it when the part
    stands.

    Its methods may be called from any thread; they wait for answers of the workcell. `follow` also waits until a part
    that stops stands, and until a long goal is prepared; most others wait for it. `cancel` and `stop` do not: they take
    effect at once, and the goal that is being prepared is refused. `process` must be called soon after events have
    come: `on_event` says so.

    Args:
        name: of the controller: that of its sessions.
        part: that it moves.
        client: of the workcell.
        options: of the controller.
        on_event: called in the thread that receives events; returns at once.
    """

    def __init__(
        self, name: str, part: PartDescription, client: Client, options: Options, on_event: Callable[[], None]
    ) -> None:
        self._name, self._part, self._client, self._options = name, part, client, options
        keeps_jerk = options.constraints.keep_jerk
        if keeps_jerk is None:
            keeps_jerk = bool(part.system_limits.jerk[: part.dof].any())
        slows = options.constraints.least_rate < 1.0
        self._limits = replace(part_limits(PartFacts(part)), keeps_jerk=keeps_jerk and slows)
        self._continuous = tuple(kind == "continuous" for kind in part.joint_types)
        self._period = float(part.record.dt)
        self._readings = Readings(part, client)
        self._changed = threading.Condition(threading.RLock())
        self._events: deque[Event] = deque()
        self._on_event = on_event
        self._session: Session | None = None
        self._run: Run | None = None
        self._count = 2
        self._ids = ["goal_1", "goal_2"]
        """Of the two actions that follow goals in turn. They stay defined, so that a goal brings only its points."""
        self._rest: np.ndarray | None = None
        """(dof,) Commanded position at which the part is known to stand while nothing is followed."""
        self._ahead = _AHEAD_S
        """[s] `_AHEAD_S`, or less if goals are prepared sooner."""
        self._gate = threading.Lock()
        """Held while a start is sent, and while a goal is given up. Its holder does not wait for `_changed`."""
        self._turns = threading.Lock()
        self._turn, self._overtaken = 0, ""
        """Numbers goals and stops in the order in which they come; and what the newest one means for earlier goals."""
        self._preparing = False
        """A thread in `follow` holds `_changed`, changes nothing of the run, and then looks at `_given_up`."""
        self._given_up = ""
        """Why the goal that is prepared is not to be started."""
        self._ending: Callable[[Run], None] | None = None
        """What has given it up does this with a run that has begun all the same."""
        self._sent: Run | None = None
        """Its start waits in the loop for its tick."""
        self._asking = 0
        """Threads that will end the motion as soon as they have `_changed`: no goal is prepared before."""
        self._closed = ""
        client.add_listener(self._receive)

    def _receive(self, event: Event) -> None:
        self._readings.take(event)
        if event.kind == Kind.PROTECTIVE_STOP and self._preparing:
            self._given_up = "a protective stop came before it began"
        if event.kind in _MAY_MOVE:
            self._rest = None
        self._events.append(event)
        self._on_event()

    # --- goals ----------------------------------------------------------------------------------

    def turn(self) -> int:
        """The turn of a goal that has just come, for `follow`. Goals that came before it and wait are not begun."""
        return self._overtake("preempted by a newer goal before it began")

    def _overtake(self, why: str) -> int:
        with self._turns:
            self._turn, self._overtaken = self._turn + 1, why
            return self._turn

    def prepare(self) -> None:
        """Do beforehand what the first goal needs: open the session, and define what follows goals.

        Raises:
            RobotControlError: the part is not free, or its position not known; the first goal tries it again.
        """
        with self._changed:
            if self._session is not None or self._closed:
                return
            session = self._open()
            q, is_at_rest = self._commanded(self._readings.present(None, session))
            stay = Goal(joints=tuple(self._limits.names), points=(Point(time=1.0, positions=tuple(q)),))
            tolerances = tolerances_of(stay, self._options.constraints, self._part.joint_names)
            motion = self._splice(stay, Present(state=(q, np.zeros_like(q), np.zeros_like(q))), 0.0)
            for id_ in self._ids:
                run = Run(id=id_, goal=stay, motion=motion, tolerances=tolerances, done=lambda _: None)
                session.replace(self._action(run, self._options.start_tolerance))
            self._rest = q if is_at_rest else None

    def follow(self, goal: Goal, done: Callable[[Outcome], None], now: float, turn: int = 0) -> None:
        """Begin to follow a goal. It replaces the one that is followed, whose outcome is then INVALID_GOAL.

        While another goal is prepared it waits for that, and is refused if a newer one comes, or a stop.

        Args:
            done: called once with the outcome, by the thread that calls `process` or another method.
            now: [s] on the ROS clock.
            turn: when it came; 0: now.

        Raises:
            GoalRefused: the goal is not valid, or another session holds the part; what is followed goes on.
            RobotControlError: the workcell does not answer.
        """
        check_goal(goal, self._limits, self._options, now)
        tolerances = tolerances_of(goal, self._options.constraints, self._part.joint_names)
        turn, ahead = turn or self.turn(), now - self._client.backend.now()
        late: Callable[[Run], None] | None = None
        with self._changed:
            self.process()
            try:
                self._wait(lambda: self._may_prepare(turn))
                session = self._open()
                if goal.start is not None:
                    self._readings.check_clock(ahead, session)
                try:
                    run = self._begin(session, goal, tolerances, done)
                except SessionEnded:  # another one took the part; has it ended, too?
                    session = self._open()
                    run = self._begin(session, goal, tolerances, done)
            finally:
                with self._gate:
                    late, self._ending = self._ending, None
                    self._preparing, self._given_up = False, ""
            before, self._run = self._run, run
            if before is not None:
                self._foresee(before)
                before.decide(Outcome(code=Code.INVALID_GOAL, text=PREEMPTED))
                if before.motion.is_long:
                    with contextlib.suppress(DefinitionError):  # its session has ended
                        session.remove(before.id)
            if late is not None:
                late(run)

    def cancel(self) -> None:
        """Stop on the path. Once the part stands, the outcome is a cancelled one; nothing happens if there is no
        goal. A goal that is being prepared is refused."""

        def end(run: Run) -> None:
            if not run.is_decided:
                run.is_cancelled = True
                self._stop(run)

        self._end("cancelled before it began", end)

    def stop(self, why: str) -> None:
        """Stop on the path. The outcome of what is followed is INVALID_GOAL, at once. A goal that is being prepared is
        refused.

        Args:
            why: the outcome's text.
        """

        def end(run: Run) -> None:
            run.decide(Outcome(code=Code.INVALID_GOAL, text=why))
            self._stop(run)

        self._end(why, end)

    def close(self, why: str) -> None:
        """As `stop`; returns when the session has ended. The follower is not used any more."""
        self._closed = why
        self.stop(why)
        with self._changed:
            try:
                self._wait(lambda: self._run is None)
            finally:
                session, self._session = self._session, None
                if session is not None:
                    session.close()
                self._client.remove_listener(self._receive)

    def sample(self) -> Sample:
        """What the part does now."""
        return self._readings.sample(self._run, self._session)

    @property
    def slowed(self) -> str:
        """Where and how much what is followed is slowed; empty: nowhere, or there is nothing."""
        run = self._run
        return "" if run is None else run.motion.slowed

    def progress(self, elapsed: float) -> tuple[int, float, float]:
        """Number of the goal's point that is to be reached next, the goal's time there [s], and by how much it was
        slowed until then [s]; 0 without a goal."""
        run = self._run
        return (0, 0.0, 0.0) if run is None else run.progress(elapsed)

    def state_at(self, time: float) -> State:
        """The state of the trajectory that is followed at a time, if the speed override stays as it is.

        Args:
            time: [s] on the ROS clock.

        Raises:
            RobotControlError: no trajectory is followed, or not at this time.
        """
        with self._changed:
            self.process()
            run, session = self._run, self._session
            if run is None or session is None:
                raise RobotControlError("no trajectory is followed")
            if run.is_stopping:
                raise RobotControlError("the trajectory is being stopped", expected="one that is followed to its end")
            return self._readings.state_at(time, run, session)

    # --- ending, also while a goal is prepared ---------------------------------------------------

    def _end(self, why: str, end: Callable[[Run], None]) -> None:
        """End what is followed. It does not wait for a goal that is being prepared, but gives it up; nor does a goal
        that came earlier and waits begin.

        Args:
            why: such goals are refused.
            end: ends a run.
        """
        with self._gate:
            self._overtake(why)
            if self._preparing:
                self._given_up, self._ending = why, end
                if self._run is not None:
                    self._foresee(self._run)
                    end(self._run)
                if self._sent is not None and self._session is not None:
                    with contextlib.suppress(DefinitionError, SessionError):  # its start has been refused
                        self._remove(self._session, self._sent.id)  # so that the loop refuses its start
                return
            self._asking += 1
        try:
            with self._changed:
                self.process()
                if self._run is not None:
                    end(self._run)
        finally:
            with self._gate:
                self._asking -= 1

    def _may_prepare(self, turn: int) -> bool:
        """Whether the part neither stops nor is to be stopped. If so, what ends the motion from now on gives up the
        goal that is prepared.

        Raises:
            GoalRefused: what came later has its turn.
        """
        with self._gate:
            if self._closed:
                raise GoalRefused(self._closed)
            if turn < self._turn:
                raise GoalRefused(self._overtaken)
            if not self._preparing:
                self._preparing = not self._asking and (self._run is None or not self._run.is_stopping)
            return self._preparing

    def _remove(self, session: Session, id_: str) -> None:
        """Remove an action, whose id is not used again."""
        if id_ in self._ids:
            self._count += 1
            self._ids[self._ids.index(id_)] = f"goal_{self._count}"
        session.remove(id_)

    def _start_at_once(self, session: Session, run: Run, start_tolerance: float) -> None:
        """Define and start a run in one request, unless it is given up before. What gives it up later stops it.

        Raises:
            GoalRefused: it was.
            RobotControlError: as `Session.replace`.
        """
        action = self._action(run, start_tolerance)
        with self._gate:
            if self._given_up:
                raise GoalRefused(self._given_up)
        followed = run.followed = session.follow(run.id, until=None, start=False, on_change=self._on_event)
        self._send_start(run, lambda: followed.define_and_start([action]))

    def _start(self, session: Session, run: Run, tick: int, *, ahead: float, lead: float) -> None:
        """Start a run, unless it is given up until shortly before.

        Args:
            ahead: [s] from when the tick was chosen to the tick.
            lead: [s] the start is sent this long before its tick, at most.

        Raises:
            GoalRefused: it was.
            RobotControlError: as `Session.start`.
        """
        if tick and ahead > lead:
            until = self._client.backend.now() + tick * self._period - session.values(["time"])["time"] - lead
            while not self._given_up and (left := until - self._client.backend.now()) > 0.0:
                self._client.sleep(min(left, _GRAIN_S))
        with self._gate:
            given_up = self._given_up
            self._sent = run if tick and not given_up else None
        if given_up:
            if run.motion.is_long:
                session.remove(run.id)
            raise GoalRefused(given_up)
        followed = run.followed
        try:
            self._send_start(run, lambda: followed.start(tick))  # it waits for the tick
        finally:
            with self._gate:
                self._sent = None

    def _send_start(self, run: Run, start: Callable[[], int]) -> None:
        """Start a run by a function that returns the tick.

        Raises:
            GoalRefused: it was given up meanwhile.
            RobotControlError: as the function.
        """
        try:
            run.tick = start()
        except RobotControlError:
            with self._gate:
                given_up = self._given_up
            if not given_up:
                raise
            raise GoalRefused(given_up) from None
        with self._gate:
            self._preparing = False  # from now on it is this run that is ended

    # --- the session ----------------------------------------------------------------------------

    def _open(self) -> Session:
        if self._session is None or self._session.ended is not None:
            self._rest = None
            try:
                self._session = self._client.session(
                    self._part.name, name=self._name, lease_s=CONTROLLER_LEASE_S, yielding=True
                )
            except SessionError as error:
                raise GoalRefused.by_workcell(error, f"part {self._part.name!r} is not free: {error.what}") from None
        elif self._session.suspended:
            try:
                self._session.resume()  # by a goal that came after the protective stop
            except CommandRefused as error:
                raise GoalRefused.by_workcell(error) from None
        return self._session

    def _release(self, run: Run, *, is_active: bool) -> None:
        """Nothing is followed any more: others may have the part. The session stays until one of them takes it."""
        session, self._run = self._session, None
        if session is None or session.ended is not None:
            return
        with contextlib.suppress(SessionError):
            if run.motion.is_long:
                session.remove(run.id)
            elif is_active:
                session.stop()

    def _stop(self, run: Run) -> None:
        """Let the motion slow down on its path; it ends as soon as it stands."""
        session = self._session
        if session is None or run.is_stopping:
            return
        run.is_stopping = True
        # It has just ended or was removed, and the event that says so comes.
        with contextlib.suppress(CommandRefused, DefinitionError, SessionError):
            if run.motion.is_long:
                session.stop(run.id)
            else:
                session.signal(run.id, "stop")

    def _wait(self, happened: Callable[[], bool]) -> None:
        """Wait for events until something has happened.

        Raises:
            RobotControlError: it does not.
        """

        def look() -> bool:
            self.process()
            return happened()

        end = self._client.backend.now() + _REST_S
        while not look():
            remaining = end - self._client.backend.now()
            if remaining <= 0.0:
                raise RobotControlError(f"part {self._part.name!r} did not come to rest within {_REST_S:g} s")
            self._client.backend.wait(self._changed, look, remaining)

    # --- the start ------------------------------------------------------------------------------

    def _begin(self, session: Session, goal: Goal, tolerances: Tolerances, done: Callable[[Outcome], None]) -> Run:
        """Start the motion of a goal.

        Raises:
            GoalRefused: it cannot be followed from the present state.
        """
        n = len(goal.points)
        ahead = _AHEAD_S + _AHEAD_OF_POINT_S * n if n > MAX_TRAJECTORY_POINTS else self._ahead
        for i in range(_ATTEMPTS):
            if self._given_up:
                raise GoalRefused(self._given_up)
            begun = self._client.backend.now()
            tick, present = self._present(session, ahead, at_once=goal.start is None)
            # The motion's time is 0 in the tick before that of the start, which commands the first step.
            start_in = 0.0 if goal.start is None else goal.start - self._readings.time_of(tick - 1)
            motion = self._splice(goal, present, start_in)
            run = Run(id=self._id(motion), goal=goal, motion=motion, tolerances=tolerances, done=done)
            tolerance = self._options.start_tolerance
            if present.is_remembered:
                tolerance = min(tolerance, _NEAR)
            try:
                if tick == 0 and not motion.is_long:
                    self._start_at_once(session, run, tolerance)
                else:
                    session.replace(self._action(run, tolerance))
                    run.followed = session.follow(run.id, until=None, start=False, on_change=self._on_event)
                    took = self._client.backend.now() - begun
                    self._ahead = min(1.5 * took + _TO_LOOP_S, _AHEAD_S)
                    self._start(session, run, tick, ahead=ahead, lead=_LEAD_S * 2**i)
            except SessionEnded:
                raise
            except CommandRefused as error:
                if motion.is_long:
                    session.remove(run.id)
                if present.is_remembered:
                    continue  # it does not stand there any more: ask
                if tick == 0 or i == _ATTEMPTS - 1:
                    raise GoalRefused.by_workcell(error) from None
                _log.info("%s: a start at tick %d was too late: %s", self._name, tick, error)
                self._ahead = _AHEAD_S
                ahead = max(5.0 * ahead if ahead >= _AHEAD_S else _AHEAD_S, 2.0 * (self._client.backend.now() - begun))
                continue
            except RobotControlError as error:
                raise GoalRefused(error.what, expected=error.expected, got=error.got, hint=error.hint) from None
            return run
        raise AssertionError("unreachable")

    def _splice(self, goal: Goal, present: Present, start_in: float) -> Motion:
        options = self._options
        return splice(
            goal,
            present,
            self._limits,
            self._continuous,
            start_in=start_in,
            start_tolerance=options.start_tolerance,
            least_rate=options.constraints.least_rate,
        )

    def _id(self, motion: Motion) -> str:
        """Of the action for a motion: one of the two that is not followed; a motion group gets one of its own."""
        if motion.is_long:
            self._count += 1
            return f"goal_{self._count}"
        return next(id_ for id_ in self._ids if self._run is None or id_ != self._run.id)

    def _action(self, run: Run, start_tolerance: float) -> Action:
        track = run.motion.track
        reactions = watch(
            run.id,
            self._part.name,
            run.motion,
            run.tolerances,
            goal_counts=run.goal.is_monitored,
            rest=5 * self._period,
        )
        return Action(
            run.id,
            "track_trajectory",
            parts=self._part.name,
            reactions=reactions,
            start_tolerance=start_tolerance,
            slowest=1.0,
            times=track.times,
            positions=track.q,
            velocities=track.v,
            accelerations=track.a,
        )

    def _present(self, session: Session, ahead: float, *, at_once: bool) -> tuple[int, Present]:
        """The tick of a start (0: the next one), and what the part does then."""
        run, rest, self._rest = self._run, self._rest, None
        if run is None and rest is not None and at_once:
            return 0, Present(state=(rest, np.zeros_like(rest), np.zeros_like(rest)), is_remembered=True)
        for _ in range(round(_REST_S / ahead) + 1):
            if self._given_up:
                raise GoalRefused(self._given_up)
            values = self._readings.present(run, session)
            tick = round(values["time"] / self._period)
            q, is_at_rest = self._commanded(values)
            later = math.ceil(ahead / self._period)
            if run is not None and values.get(f"{run.id}.is_done") == 0.0:
                # The motion of tick + later begins with what was commanded in the tick before.
                elapsed = values[f"{run.id}.elapsed"] + values["speed"] * (later - 1) * self._period
                state = run.motion.track.at(elapsed)
                return tick + later, Present(state=state, track=run.motion.track, elapsed=elapsed)
            if is_at_rest:
                return 0 if at_once else tick + later, Present(state=(q, np.zeros_like(q), np.zeros_like(q)))
            self._client.sleep(ahead)  # what moved it before comes to rest
        raise GoalRefused(
            f"part {self._part.name!r} moves by itself", expected="a part that stands, or follows a goal", got="motion"
        )

    def _commanded(self, values: Mapping[str, float]) -> tuple[np.ndarray, bool]:
        """Where the part is commanded to be (dof,), and whether it stands there."""
        q, v = (np.array([values[f"{self._part.name}.commanded_{x}[{j}]"] for j in range(self._part.dof)])
                for x in ("position", "velocity"))  # fmt: skip
        return q, bool(np.abs(v).max() <= _REST)

    # --- events ---------------------------------------------------------------------------------

    def process(self) -> None:
        """Take the events that have come: outcomes are reported from here."""
        with self._changed:
            before = self._run
            ending = before.followed.poll() if before is not None else None  # first: what led to it is in `_events`
            while self._events:
                self._take(self._events.popleft())
            if before is not None and before is self._run and ending is not None:
                self._ended(before, ending)

    def _take(self, event: Event) -> None:
        run, session = self._run, self._session
        if run is None or session is None:
            return
        if event.kind == Kind.EVENTS_LOST:  # what decides may be among them
            run.decide(Outcome(code=Code.INVALID_GOAL, text=event.reason, tick=event.tick))
            self._stop(run)
        if event.session == session.id and self._is_of(event, run):
            self._decide(run, event)
            if run.is_decided and run.is_finished and not run.is_stopping:
                self._release(run, is_active=True)
                self._rest = run.motion.track.q[-1]

    @staticmethod
    def _is_of(event: Event, run: Run) -> bool:
        """Whether it is of a reaction of the goal, and not of an earlier one with the same id."""
        return event.kind == Kind.REACTION_FIRED and event.previous_action == run.id and event.tick >= run.tick

    def _foresee(self, run: Run) -> None:
        """Let an event that has not been taken yet decide a run: it may have been reached before."""
        for event in list(self._events):
            if self._is_of(event, run):
                self._decide(run, event)

    def _decide(self, run: Run, event: Event) -> None:
        found = violation(event.name, event.values, self._part.joint_names, run.motion, run.tolerances)
        if found is not None:
            run.decide(Outcome(code=found[0], text=found[1], tick=event.tick))
            run.is_stopping = run.is_stopping or found[0] == Code.PATH_TOLERANCE_VIOLATED
        elif event.name == REACHED and not run.is_stopping:
            run.decide(Outcome(code=Code.SUCCESSFUL, text=run.motion.slowed, tick=event.tick))
        elif event.name == FINISHED:
            run.is_finished = True

    def _ended(self, run: Run, ending: Ending) -> None:
        self._release(run, is_active=False)  # first: who gets the outcome may use the part at once
        if run.is_cancelled and ending.end != End.SESSION_LOST:
            run.decide(Outcome(code=Code.SUCCESSFUL, text="cancelled", tick=ending.tick, is_cancelled=True))
        text = f"the motion was ended: {ending.reason}"
        run.decide(Outcome(code=Code.INVALID_GOAL, text=text, tick=ending.tick, is_interrupted=not run.is_stopping))
        session = self._session
        if session is not None:
            with contextlib.suppress(RobotControlError):
                q, is_at_rest = self._commanded(self._readings.present(None, session))
                self._rest = q if is_at_rest else None
