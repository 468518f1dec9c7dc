"""Moves a gripper to positions, one goal after the other: the half of the controller that knows no ROS."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass

from robot_rt_control.client import Action, Client, Followed, Reaction, Session
from robot_rt_control.hardware.parameters import Positive
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.text.schema import Model
from robot_rt_control.vocabulary.defaults import CONTROLLER_LEASE_S
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, SessionError, unknown

_REACHED, _NEAR, _HELD = "reached", "near", "held"
"""Ends: the motion has come there; the grasp, whose effort stays, has found something there, or before."""
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
    """The wanted position of the gripper."""

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
    """Actions: `move_…` and, if the effort is bounded, `grasp_…` before it."""
    followed: Followed
    done: Callable[[GripperOutcome], None]
    moved_at: float
    """[s] when the fingers were last seen to move."""
    position: float
    """[m or rad] their wanted positions."""
    is_decided: bool = False

    @property
    def grasps(self) -> bool:
        """Whether a bounded effort closes the fingers."""
        return self.ids[-1] in self.followed.active[:1] and len(self.ids) > 1


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
        """Numbers goals and cancels in the order in which they come; and what the newest one means for earlier ones."""
        self._session: Session | None = None
        self._run: _Run | None = None
        self._count = 0
        self._is_closed = False

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
            actions, until = self._actions(goal, closes)
            try:
                followed = session.follow(actions[-1], add=actions, until=until, on_change=self._on_event)
            except RobotControlError:
                if self._run is None:
                    self._release()
                raise
            before = self._run
            ids = tuple(action.id for action in actions)
            now = self._client.backend.now()
            self._run = _Run(ids=ids, followed=followed, done=done, position=goal.position, moved_at=now)
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

    def _actions(self, goal: GripperGoal, closes: bool) -> tuple[list[Action], dict[str, str]]:
        """A motion there; before it, if the effort is bounded, a grasp that closes up to there. And their ends."""
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
                opening=opening,
                velocity_scale=scale or 1.0,
                tolerance=tolerance,
            )
        ]
        until = {_REACHED: f"{move}.is_settled"}
        if closes:
            near = f"abs({at} - {goal.position!r}) <= {tolerance!r}" if goal.position else f"abs({at}) <= {tolerance!r}"
            until |= {
                _NEAR: f"{grasp}.is_grasped and {near}",
                _HELD: f"{grasp}.is_grasped and not ({near})",
            }
            actions.append(
                Action(
                    grasp,
                    "grasp",
                    parts=self._part.name,
                    reactions=[Reaction("is_missed", start=move)],  # nothing was in the way
                    effort=min(max(goal.max_effort, 0.01), self._effort),
                    min_opening=opening,
                    velocity_scale=scale or _GRASPING_SCALE,
                )
            )
        return actions, until

    def _open(self) -> Session:
        if self._session is not None and self._session.ended is not None:
            self._end(f"the motion was ended: {self._session.ended}")
        if self._session is None:
            try:
                self._session = self._client.session(self._part.name, name=self._name, lease_s=CONTROLLER_LEASE_S)
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
            self._end(why)

    def sample(self) -> GripperSample:
        """What the joint does now."""
        names = [f"{self._part.name}.{quantity}[{self._j}]" for quantity in ("position", "velocity", "effort")]
        values = {v.name: float(v.value) for v in self._client.backend.list_state_variables(names, "")}
        position, velocity, effort = (values[name] for name in names)
        return GripperSample(position=position, velocity=velocity, effort=effort)

    # --- outcomes -------------------------------------------------------------------------------

    def process(self) -> None:
        """Look how the motion ended, and whether the fingers stand: outcomes are reported from here."""
        with self._lock:
            run = self._run
            if run is None:
                return
            ending = run.followed.poll()
            if ending is not None and run.is_decided:
                if not run.followed.active:
                    self._release()  # what held an object has ended
            elif ending is not None and not ending.reached:
                self._end(f"the motion was ended: {ending.reason}")
            elif ending is not None and ending.name == _HELD:
                self._stalled(run, holds=True)
            elif ending is not None:
                if ending.name == _REACHED:
                    self._release()  # first: who gets the outcome may use the gripper at once
                self._decide(run, "", is_success=True, reached_goal=True)
            elif not run.is_decided:
                now, sample = self._client.backend.now(), self.sample()
                if not abs(sample.velocity) <= self._options.stall_velocity_threshold:
                    run.moved_at = now
                elif now - run.moved_at > self._options.stall_timeout:
                    if run.grasps and abs(sample.position - run.position) <= self._options.goal_tolerance:
                        self._decide(run, "", is_success=True, reached_goal=True)
                    else:
                        self._stalled(run, holds=run.grasps)

    def _stalled(self, run: _Run, *, holds: bool) -> None:
        if not holds:
            self._release()  # nothing is held by a bounded effort
        text = "" if self._options.allow_stalling else "the fingers stalled before the goal; the option allow_stalling"
        text += " makes this a success" if text else ""
        self._decide(run, text, is_success=self._options.allow_stalling, stalled=True)

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
