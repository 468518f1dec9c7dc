"""Runs blueprints on a `LockstepClient`: programs and actions in one session, in simulated time, bit-identical.

with LockstepClient("config/bench.yaml") as client:
    outcome = LockstepBlueprint(client, catalogue, "sort_and_wipe").run()
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import Command
from robot_rt_control.blueprint.graph.results import Outcome
from robot_rt_control.blueprint.runs.performer import Makers, RobotPerformer
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.blueprint.runs.run_log import Log
from robot_rt_control.blueprint.runs.runner import Runner
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.client.actions import parameter_values
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError


class LockstepBlueprint:
    """One run of a graph.

    Args:
        client: whose cell is to tick.
        name: of the graph in the catalogue, which has been checked.
        parts: for its roles; left out: their defaults.
        log: gets the records; None: only `records` has them.
        begin: as of `events.Begin`: at, paused, outputs, source.
        makers: of skills made of Python functions.
        parameters: of the graph.

    Attributes:
        records: of the log.
        said: texts.

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
        makers: Makers | None = None,
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
        self.said: list[str] = []
        self._robot = Robot(client.backend, say=self.said.append)
        plan = calls.plan(name)
        self.performer = RobotPerformer(self._robot, catalogue, plan, f"blueprint {name}", moved, makers=makers)
        self.runner = Runner(plan, self.performer, self)
        values = parameter_values(parameters)
        start = {"source": "test", **(begin or {})}
        refused = self.give(events.Begin(arguments=tuple(values), parts=roles, **start))
        if refused:
            self._close()
            raise DefinitionError(f"blueprint {name!r} cannot begin: {refused}")

    def _close(self) -> None:
        self.performer.close()
        self._robot.close()

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
                    self._close()
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
