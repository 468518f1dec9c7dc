"""Drives one run: gives the engine what happened, writes the log, and has orders carried out by a performer.

The performer is the one interface to the robot: over ROS, or over a lockstep cell (robot_rt_control.testing).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from robot_rt_control.blueprint.engine.engine import Engine
from robot_rt_control.blueprint.engine.foresight import Foreseen, foresee
from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import Command, EngineEvent, Moment
from robot_rt_control.blueprint.graph.plan import Plan
from robot_rt_control.blueprint.graph.results import FAILED, Outcome
from robot_rt_control.blueprint.runs.run_log import Log
from robot_rt_control.vocabulary.errors import RobotControlError


class Performer(Protocol):
    """Carries orders out. All methods are called from one thread."""

    def moment(self) -> Moment:
        """The present tick, with all state variables of that tick."""

    def happened(self) -> list[EngineEvent]:
        """What happened since the last call: protective stops first, then reactions, then ends of skills."""

    def start(self, order: orders.StartSkill) -> None:
        """Start a skill. Raises RobotControlError: it cannot be started; nothing of it runs."""

    def cancel(self, activity: int) -> None:
        """End a skill; `happened` reports its end once its parts are at rest."""

    def answer(self, activity: int, answer: str) -> None:
        """A skill that asked gets the answer."""

    def watch(self, order: orders.Watch) -> None:
        """Have the loop judge conditions. Raises RobotControlError."""

    def unwatch(self, watch: int) -> None:
        """Have them judged no more."""


@runtime_checkable
class Preparing(Protocol):
    """A performer that can have skills ready before they start."""

    prepares: int
    """How many skills at most it wants to know of; 0: none."""

    def foresee(self, skills: Sequence[Foreseen]) -> None:
        """These may start next, the likeliest first; what was foreseen before no longer counts."""


class Runner:
    """One run.

    Args:
        log: gets each record before what it says is done.

    Attributes:
        questions: those that wait for an answer, by activity.
        log_problem: why the log cannot be written; empty: it can. Then the run stands after the present node.
    """

    def __init__(self, plan: Plan, performer: Performer, log: Log) -> None:
        self.engine = Engine(plan)
        self.questions: dict[int, orders.Question] = {}
        self.log_problem = ""
        self._performer, self._log = performer, log
        self._preparing = performer if isinstance(performer, Preparing) else None
        self._waiting: list[EngineEvent] = []

    def give(self, command: Command) -> str:
        """Give a command. Returns why it is refused; empty: it is not."""
        refused = self._take(command)
        if isinstance(command, events.Answer) and not refused:
            self.questions.pop(command.activity, None)
        return refused

    def update(self) -> Outcome | None:
        """Take in what has happened. Returns how the run ended; None: it has not."""
        for event in [*self._waiting_events(), *self._performer.happened()]:
            self._take(event)
        deadline = self.engine.next_deadline
        if deadline is not None and deadline <= self._performer.moment().time:
            self._take(events.Elapsed())
        return self.engine.outcome

    def _waiting_events(self) -> list[EngineEvent]:
        found, self._waiting = self._waiting, []
        return found

    def _take(self, event: EngineEvent) -> str:
        taken = self.engine.take(event, self._performer.moment())
        for record in taken.records:
            self._write(record)
        for order in taken.orders:
            self._carry_out(order)
        preparing = self._preparing
        if preparing and preparing.prepares and any(isinstance(order, orders.StartSkill) for order in taken.orders):
            preparing.foresee(foresee(self.engine, preparing.prepares))
        return taken.refused

    def _write(self, record: orders.Record) -> None:
        try:
            self._log.write(record)
        except OSError as error:
            if not self.log_problem:
                self.log_problem = f"the log cannot be written: {error}"
                self._waiting.append(events.Pause(source=self.log_problem))

    def _carry_out(self, order: orders.Order) -> None:
        match order:
            case orders.StartSkill():
                try:
                    self._performer.start(order)
                except RobotControlError as error:
                    self._waiting.append(events.Ended(activity=order.activity, result=FAILED, reason=str(error)))
            case orders.CancelSkill():
                if all(not isinstance(e, events.Ended) or e.activity != order.activity for e in self._waiting):
                    self._performer.cancel(order.activity)
            case orders.Watch():
                try:
                    self._performer.watch(order)
                except RobotControlError as error:  # without its reactions it must not go on
                    self._waiting.append(events.Cancel(source=f"reactions cannot be watched: {error}"))
            case orders.Unwatch():
                self._performer.unwatch(order.watch)
            case orders.Question():
                self.questions[order.activity] = order
            case orders.Answered():
                self._performer.answer(order.activity, order.answer)
            case orders.Withdraw():
                self.questions.pop(order.activity, None)
