"""Moves a gripper to positions, one goal after the other: the half of the controller that knows no ROS."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from robot_rt_control.client import Action, Client, Reaction, Session
from robot_rt_control.client.event import Event
from robot_rt_control.hardware.parameters import Positive
from robot_rt_control.model.part_description import PartDescription
from robot_rt_control.text.schema import Model
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, SessionError, unknown
from robot_rt_control.vocabulary.event_kinds import Kind

_REACHED, _HELD = "reached", "held"
_GRASPING_SCALE = 0.2
"""Fraction of the velocity limit for closing with a bounded effort, if the goal gives no velocity."""


class HandOptions(Model):
    """All of them, named as the parameters of ros2_control's gripper controllers."""

    joint: str = ""
    """Whose position the goals give; default: the part's first one. The other fingers open as far, in proportion."""
    goal_tolerance: Positive = 0.002
    """[m or rad] of this joint."""
    allow_stalling: bool = False
    """Whether a goal succeeds if the fingers stall before its position, as they do on an object."""
    stall_velocity_threshold: Positive = 0.001
    """[m/s or rad/s] Slower fingers stand."""
    stall_timeout: Positive = 1.0
    """[s] Fingers that stand for so long have stalled."""
    action_monitor_rate: Positive = 20.0
    """[Hz] of feedback, and of looking whether the fingers stand."""


@dataclass(frozen=True, kw_only=True)
class GripperGoal:
    """Where the gripper shall be."""

    position: float
    """[m or rad] of the joint."""
    max_effort: float = 0.0
    """[N or Nm] of each finger while they close; 0: that of the drives."""
    velocity: float = 0.0
    """[m/s or rad/s] at most; 0: not given."""


@dataclass(frozen=True, kw_only=True)
class GripperSample:
    """What the joint does; NaN: unknown."""

    position: float
    velocity: float
    effort: float
    """[N or Nm] negative if it closes the gripper."""


@dataclass(frozen=True, kw_only=True)
class GripperOutcome:
    """How an accepted goal ended."""

    sample: GripperSample
    text: str = ""
    is_success: bool = False
    is_cancelled: bool = False
    stalled: bool = False
    reached_goal: bool = False


@dataclass(eq=False, kw_only=True)
class _Run:
    """A goal that is followed."""

    ids: tuple[str, ...]
    """Actions: `grasp_…` if the effort is bounded, and `move_…`."""
    done: Callable[[GripperOutcome], None]
    moved_at: float
    """[s] when the fingers were last seen to move."""
    has_closed: bool = False
    """Whether the grasp has ended, because nothing was in the way."""
    is_decided: bool = False

    @property
    def awaited(self) -> tuple[str, ...]:
        """Actions of which one is active."""
        return self.ids[:1] if self.has_closed else self.ids


class Hand:
    """Opens a session on the gripper for a goal. After a motion it is closed; after closing with a bounded effort it
    is kept, so that this effort holds the object, until the next goal has ended.

    Methods may be called from any thread; they wait for answers of the workcell. `process` must be called soon after
    `on_event`, and with the monitor rate.

    Args:
        name: of the controller: that of its sessions.
        part: that it moves.
        client: of the workcell.
        options: of the controller.
        on_event: called in the thread that receives events; returns at once.

    Raises:
        DefinitionError: the option `joint` names none of the part's.
    """

    def __init__(
        self, name: str, part: PartDescription, client: Client, options: HandOptions, on_event: Callable[[], None]
    ) -> None:
        self._name, self._part, self._client, self._options, self._on_event = name, part, client, options, on_event
        self.joint = options.joint or part.joint_names[0]
        self._j = joint_number(name, part, options)
        limits = part.system_limits
        self._low, self._high = float(limits.position_lower[self._j]), float(limits.position_upper[self._j])
        self._velocity = float(limits.velocity[self._j])
        self._effort = float(limits.effort[: part.dof].min())
        self._lock = threading.RLock()
        self._turns, self._turn, self._overtaken = threading.Lock(), 0, ""
        """Of goals and cancels, in the order in which they come; and what the newest one means for those before."""
        self._events: deque[Event] = deque()
        self._session: Session | None = None
        self._run: _Run | None = None
        self._count = 0
        self._is_closed = False
        client.add_listener(self._receive)

    def _receive(self, event: Event) -> None:
        self._events.append(event)
        self._on_event()

    def follow(self, goal: GripperGoal, done: Callable[[GripperOutcome], None]) -> None:
        """Begin to follow a goal; it replaces the one that is followed, which then is aborted. A goal that waits while
        another one is begun is refused if a newer one, or a cancel, comes.

        Args:
            done: called once with the outcome, by the thread that calls `process` or another method.

        Raises:
            RobotControlError: the goal is not valid, or another session holds the part; what is followed goes on.
        """
        self._check(goal)
        turn = self._overtake("preempted by a newer goal before it began")
        with self._lock:
            if self._is_closed:
                raise RobotControlError("the controller was deactivated")
            if turn < self._turn:
                raise RobotControlError(self._overtaken)
            self.process()
            sample = self.sample()
            closes = goal.position < sample.position and goal.max_effort > 0.0
            if closes and math.isnan(sample.effort):
                expected = f"0: the effort of joint {self.joint!r} is not measured"
                raise DefinitionError("max_effort", expected=expected, got=f"{goal.max_effort:g}")
            session = self._open()
            actions = self._actions(goal, closes)
            try:
                session.add(*actions)
                session.start(actions[-1])
            except RobotControlError:
                if self._run is None:
                    self._release()
                raise
            before = self._run
            ids = tuple(action.id for action in actions)
            self._run = _Run(ids=ids, done=done, moved_at=self._client.backend.now())
            if before is not None:
                self._decide(before, "preempted by a newer goal")
                session.remove(*before.ids)

    def _overtake(self, why: str) -> int:
        """The turn of what comes now; what waits is not begun."""
        with self._turns:
            self._turn, self._overtaken = self._turn + 1, why
            return self._turn

    def _check(self, goal: GripperGoal) -> None:
        low, high = self._low, self._high
        if not low <= goal.position <= high:
            raise DefinitionError(
                f"position of joint {self.joint!r}", expected=f"{low:g} to {high:g}", got=f"{goal.position:g}"
            )
        for name, value in (("max_effort", goal.max_effort), ("velocity", goal.velocity)):
            if not (math.isfinite(value) and value >= 0.0):
                raise DefinitionError(name, expected="a finite number, at least 0", got=f"{value:g}")

    def _actions(self, goal: GripperGoal, closes: bool) -> list[Action]:
        """A motion there; before it, if the effort is bounded, a grasp that closes up to there."""
        self._count += 1
        move, grasp = f"move_{self._count}", f"grasp_{self._count}"
        opening = (goal.position - self._low) / (self._high - self._low)
        scale = min(max(goal.velocity / self._velocity, 0.001), 1.0) if goal.velocity else None
        tolerance, at = self._options.goal_tolerance, f"{self._part.name}.position[{self._j}]"
        actions = [
            Action(
                move,
                "move_gripper",
                parts=self._part.name,
                reactions=[Reaction("is_settled", event=_REACHED, fire_once=True)],
                opening=opening,
                velocity_scale=scale or 1.0,
                tolerance=tolerance,
            )
        ]
        if closes:
            near = f"abs({at} - {goal.position!r}) <= {tolerance!r}" if goal.position else f"abs({at}) <= {tolerance!r}"
            actions.append(
                Action(
                    grasp,
                    "grasp",
                    parts=self._part.name,
                    reactions=[
                        Reaction(near, event=_REACHED, fire_once=True),
                        Reaction(f"is_grasped and not ({near})", event=_HELD, fire_once=True),
                        Reaction("is_missed", start=move),  # nothing was in the way
                    ],
                    effort=min(max(goal.max_effort, 0.01), self._effort),
                    min_opening=opening,
                    velocity_scale=scale or _GRASPING_SCALE,
                )
            )
        return actions

    def _open(self) -> Session:
        if self._session is not None and self._session.ended is not None:
            self._end(f"the motion was ended: {self._session.ended}")
        if self._session is None:
            try:
                self._session = self._client.session(self._part.name, name=self._name)
            except SessionError as error:
                raise RobotControlError(f"part {self._part.name!r} is not free: {error}") from None
        elif self._session.suspended:
            self._session.resume()  # by a goal that came after the protective stop
        return self._session

    def _release(self) -> None:
        session, self._session, self._run = self._session, None, None
        if session is not None:
            session.close()

    def _end(self, why: str) -> None:
        run = self._run
        self._release()
        if run is not None:
            self._decide(run, why)

    def cancel(self) -> None:
        """Stop the fingers where they are, and release the gripper."""
        self._overtake("cancelled before it began")
        with self._lock:
            self.process()
            run = self._run
            if run is not None and not run.is_decided:
                self._release()
                self._decide(run, "cancelled", is_cancelled=True)

    def close(self, why: str) -> None:
        """As `cancel`; what is followed is aborted. A held object is left to the part's safety action. The hand is
        not used any more."""
        with self._lock:
            self._is_closed = True
            self._client.remove_listener(self._receive)
            self._end(why)

    def sample(self) -> GripperSample:
        """What the joint does now."""
        names = [f"{self._part.name}.{quantity}[{self._j}]" for quantity in ("position", "velocity", "effort")]
        values = {v.name: float(v.value) for v in self._client.backend.list_state_variables(names, "")}
        position, velocity, effort = (values[name] for name in names)
        return GripperSample(position=position, velocity=velocity, effort=effort)

    # --- outcomes -------------------------------------------------------------------------------

    def process(self) -> None:
        """Take the events that have come, and look whether the fingers stand: outcomes are reported from here."""
        with self._lock:
            while self._events:
                self._take(self._events.popleft())
            run = self._run
            if run is None or run.is_decided:
                return
            now = self._client.backend.now()
            if not abs(self.sample().velocity) <= self._options.stall_velocity_threshold:
                run.moved_at = now
            elif now - run.moved_at > self._options.stall_timeout:
                self._stalled(run)

    def _take(self, event: Event) -> None:
        run, session = self._run, self._session
        if run is None or session is None or event.session != session.id:
            return
        if event.kind == Kind.SESSION_ENDED or (
            event.kind in (Kind.ACTION_FAILED, Kind.ACTION_STOPPED) and event.previous_action in run.awaited
        ):
            self._end(f"the motion was ended: {event.reason}")
        elif event.kind == Kind.REACTION_FIRED and event.previous_action in run.awaited:
            if event.previous_action != run.ids[0] == event.current_action:
                run.has_closed = True  # the event of the grasp's end comes next, and says nothing
            elif event.name == _REACHED:
                self._decide(run, "", is_success=True, reached_goal=True)
            elif event.name == _HELD:
                self._stalled(run)
            if event.name == _REACHED and event.previous_action == run.ids[0]:
                self._release()

    def _stalled(self, run: _Run) -> None:
        text = "" if self._options.allow_stalling else "the fingers stalled before the goal; the option allow_stalling"
        text += " makes this a success" if text else ""
        self._decide(run, text, is_success=self._options.allow_stalling, stalled=True)
        if len(run.awaited) == 1:
            self._release()  # nothing is held by a bounded effort

    def _decide(
        self,
        run: _Run,
        text: str,
        *,
        is_success: bool = False,
        is_cancelled: bool = False,
        stalled: bool = False,
        reached_goal: bool = False,
    ) -> None:
        if run.is_decided:
            return
        run.is_decided = True
        run.done(
            GripperOutcome(
                sample=self.sample(),
                text=text,
                is_success=is_success,
                is_cancelled=is_cancelled,
                stalled=stalled,
                reached_goal=reached_goal,
            )
        )


def joint_number(of: str, part: PartDescription, options: HandOptions) -> int:
    """Number of the joint whose position goals give."""
    if not options.joint:
        return 0
    if options.joint not in part.joint_names:
        raise DefinitionError(
            f"controller {of!r}: joint",
            expected=unknown("joint", options.joint, part.joint_names),
            got=repr(options.joint),
        )
    return part.joint_names.index(options.joint)
