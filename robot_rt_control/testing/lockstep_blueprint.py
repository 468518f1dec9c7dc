"""Runs blueprints on a `LockstepClient`: programs and actions in one session, in simulated time, bit-identical.

with LockstepClient("config/bench.yaml") as client:
    outcome = LockstepBlueprint(client, catalogue, "sort_and_wipe").run()
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robot_rt_control.blueprint import events, orders
from robot_rt_control.blueprint.calls import Calls
from robot_rt_control.blueprint.catalogue import SkillCatalogue
from robot_rt_control.blueprint.events import Command, Event, Moment
from robot_rt_control.blueprint.results import CANCELLED, DONE, FAILED, Outcome
from robot_rt_control.blueprint.run_log import Log
from robot_rt_control.blueprint.runner import Runner
from robot_rt_control.client.actions import Reaction, parameter_values
from robot_rt_control.client.session import Session as ClientSession
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.server.runs.runs import Run, RunPlan, RunResult, plan_action, plan_program
from robot_rt_control.server.sessions import Session
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError


class LockstepBlueprint:
    """One run of a graph.

    Args:
        client: whose cell is to tick.
        name: of the graph in the catalogue, which has been checked.
        parts: for its roles; left out: their defaults.
        log: gets the records; None: only `records` has them.
        begin: as of `events.Begin`: at, paused, outputs.
        parameters: of the graph.

    Attributes:
        records: of the log.

    Raises:
        DefinitionError: unknown skill, role or parameter.
        SessionError: a part is taken; names the holder.
    """

    def __init__(
        self,
        client: LockstepClient,
        catalogue: SkillCatalogue,
        name: str,
        parts: Mapping[str, str] | None = None,
        *,
        log: Log | None = None,
        begin: Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> None:
        calls, skill = Calls(catalogue), catalogue.find(name)
        roles = {**{role.name: role.default for role in skill.roles if role.default}, **(parts or {})}
        for role in skill.roles:
            if role.name not in roles:
                raise DefinitionError(f"skill {name!r}: no part for role {role.name!r}", expected=role.shown_kinds)
        moved = sorted({roles.get(part, part) for part in calls.moved_parts(name)})
        self.records: list[orders.Record] = []
        self._log = log
        self._client = client
        self.performer = LockstepPerformer(client, catalogue, f"blueprint {name}", moved)
        self.runner = Runner(calls.plan(name), self.performer, self)
        values = parameter_values(parameters)
        refused = self.give(events.Begin(arguments=tuple(values), parts=roles, source="test", **(begin or {})))
        if refused:
            self.performer.close()
            raise DefinitionError(f"blueprint {name!r} cannot begin: {refused}")

    def write(self, record: orders.Record) -> None:
        """Keep a record; the runner calls it."""
        self.records.append(record)
        if self._log is not None:
            self._log.write(record)

    def give(self, command: Command) -> str:
        """Give a command. Returns why it is refused; empty: it is not."""
        return self.runner.give(command)

    def step(self, ticks: int = 1) -> Outcome | None:
        """Let the cell tick. Returns how the run ended; None: it has not."""
        for _ in range(ticks):
            if self.runner.engine.outcome is None:
                self._client.cell.step()
                if self.runner.update() is not None:
                    self.performer.close()
        return self.runner.engine.outcome

    def run(self, at_most: int = 60_000) -> Outcome:
        """Let the cell tick until the run has ended.

        Args:
            at_most: ticks.

        Raises:
            RobotControlError: it has not ended by then.
        """
        outcome = self.step(at_most)
        if outcome is None:
            raise RobotControlError(f"the blueprint has not ended after {at_most} ticks")
        return outcome


@dataclass
class _Started:
    """A program or action that runs."""

    run: Run
    plan: RunPlan
    results: frozenset[str]
    cancelled: bool = False


@dataclass
class _Watched:
    session: ClientSession
    count: int
    order: orders.Watch | None = None
    """None: the condition of a `wait_until`."""
    seen: int = 0


class LockstepPerformer:
    """Carries a run's orders out over the control server of a lockstep cell."""

    def __init__(self, client: LockstepClient, catalogue: SkillCatalogue, name: str, parts: Iterable[str]) -> None:
        self._client, self._catalogue, self._name, self._parts = client, catalogue, name, tuple(parts)
        self._server = client.cell.server
        self._session = self._open()
        self._started: dict[int, _Started] = {}
        self._watched: dict[int, _Watched] = {}
        self._installed: dict[Any, str] = {}
        """What was started → the prefix of its ids in the session."""
        self._soon: list[Event] = []
        self._stopped = False
        self.said: list[str] = []

    def _open(self) -> Session | None:
        """A session on all parts that the run moves; None: it moves none."""
        if not self._parts:
            return None
        session = self._server.open_session(self._name, self._parts, 0.0)
        session.lease_end = math.inf
        return session

    def close(self) -> None:
        """Close the sessions: parts take their safety action."""
        for started in self._started.values():
            started.run.leave()
        for watched in self._watched.values():
            watched.session.close()
        if self._session is not None and not self._session.end_reason:
            self._server.close_session(self._session.id)

    # --- as Performer ---------------------------------------------------------------------------

    def moment(self) -> Moment:
        cell = self._client.cell
        return Moment(tick=cell.tick, time=cell.tick * cell.workcell.period, values=_Values(self._client))

    def happened(self) -> list[Event]:
        stopped = _value(self._client, "protective_stop") == 1.0
        found: list[Event] = []
        if stopped != self._stopped:
            self._stopped = stopped
            found.append(events.Stopped() if stopped else events.Released())
        for id, watched in list(self._watched.items()):
            fired = [e.name for e in watched.session.events if e.name][watched.seen :]
            watched.seen += len(fired)
            if watched.order is not None:
                found += [events.Fired(watch=id, reaction=int(name.removeprefix("r"))) for name in fired]
            elif fired:
                found.append(self._end_wait(id, DONE))
        for id, started in list(self._started.items()):
            event = self._ended(id, started)
            if event is not None:
                found.append(event)
        found, self._soon = [*self._soon, *found], []
        return sorted(found, key=lambda event: isinstance(event, events.Ended))

    def start(self, order: orders.StartSkill) -> None:
        if order.skill == "say":
            self.said.append(str(order.arguments[0].value))
            self._soon.append(events.Ended(activity=order.activity, result=DONE))
        elif order.skill == "wait_until":
            self._watched[order.activity] = self._watching((order.until,), None)
        else:
            self._start(order)

    def _start(self, order: orders.StartSkill) -> None:
        skill = self._catalogue.find(order.skill)
        key = (order.skill, order.arguments, tuple(sorted(order.parts.items())), order.until)
        if self._session is not None and self._session.end_reason:  # a failed action ended it (A6)
            self._session = self._open()
            self._installed.clear()
        installed = key in self._installed
        prefix = self._installed.get(key, f"n{order.activity}")
        if isinstance(skill.template, ProgramTemplate):
            plan = plan_program(
                self._server,
                skill.template.text,
                until_event="",
                timeout=0.0,
                parameters=order.arguments,
                parts=order.parts,
                prefix=prefix,
            )
        else:
            assert isinstance(skill.template, DeclaredType)  # graphs are the engine's
            slots = [f"{slot}={part}" for slot, part in order.parts.items()]
            until = order.until
            plan = plan_action(
                self._server, order.skill, slots, order.arguments, until=until, timeout=0.0, prefix=prefix
            )
        run = Run(self._server, plan, session=self._session, installed=installed)
        self._installed[key] = prefix
        self._started[order.activity] = _Started(run, plan, frozenset(skill.results))

    def cancel(self, activity: int) -> None:
        if activity in self._started:
            started = self._started[activity]
            started.cancelled = True
            started.run.close()
        elif activity in self._watched:
            self._soon.append(self._end_wait(activity, CANCELLED))

    def watch(self, order: orders.Watch) -> None:
        self._watched[order.watch] = self._watching(order.conditions, order)

    def unwatch(self, watch: int) -> None:
        self._watched.pop(watch).session.close()

    # --- details --------------------------------------------------------------------------------

    def _watching(self, conditions: tuple[str, ...], order: orders.Watch | None) -> _Watched:
        """A read-only session with the conditions as free-standing reactions."""
        session = self._client.watch(name=f"{self._name}: reactions")
        try:
            session.add(reactions=[Reaction(when, event=f"r{i}") for i, when in enumerate(conditions)])
        except RobotControlError:
            session.close()
            raise
        return _Watched(session, len(conditions), order)

    def _end_wait(self, activity: int, result: str) -> events.Ended:
        self._watched.pop(activity).session.close()
        return events.Ended(activity=activity, result=result)

    def _ended(self, activity: int, started: _Started) -> events.Ended | None:
        """How a run ended, once what it leaves is at rest or goes on by itself."""
        if started.cancelled:
            if not self._at_rest(started.plan.parts):
                return None
            del self._started[activity]
            return events.Ended(activity=activity, result=CANCELLED)
        result = started.run.update()
        if result is None:
            return None
        started.run.leave()
        del self._started[activity]
        return _ended_as(activity, result, started.results)

    def _at_rest(self, parts: Iterable[str]) -> bool:
        names = [name for name in (f"{part}.at_rest" for part in parts) if name in self._server.variables]
        return all(_value(self._client, name) != 0.0 for name in names)


def _ended_as(activity: int, result: RunResult, results: frozenset[str]) -> events.Ended:
    name = result.last_event if result.last_event in results else DONE
    outputs = {key: value for key, value in result.values.items() if not math.isnan(value)}
    if not result.success:
        return events.Ended(activity=activity, result=FAILED, reason=result.message, outputs=outputs)
    return events.Ended(activity=activity, result=name, outputs=outputs)


def _value(client: LockstepClient, name: str) -> float | Sequence[float]:
    """The present value of a state variable of the workcell.

    Raises:
        KeyError: there is none of this name.
    """
    variable, view = client.cell.server.variables[name], client.cell.view
    values = [view.value(variable.offset + 8 * i) for i in range(variable.length)]
    return values[0] if variable.length == 1 else values


@dataclass(frozen=True)
class _Values(Mapping[str, float | Sequence[float]]):
    """The state variables of the present tick, read when they are asked for."""

    client: LockstepClient

    def __getitem__(self, name: str) -> float | Sequence[float]:
        return _value(self.client, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.client.cell.server.variables)

    def __len__(self) -> int:
        return len(self.client.cell.server.variables)
