"""Blueprints that the robot starts by itself: `when` over state variables, for a time only after a person armed it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from robot_rt_control.blueprint.runs.robot import Robot, Watched
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.schema import CommandKeys
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.vocabulary.errors import DefinitionError

LONGEST_S = 24 * 3600.0


class Armed:
    """The conditions that may start runs. One thread.

    Args:
        start: called with the name of a blueprint, its condition, and what happens while its parts are taken.
    """

    def __init__(self, robot: Robot, start: Callable[[str, str, str], None]) -> None:
        self._robot, self._start = robot, start
        self._watches: list[tuple[Watched, str, CommandKeys]] = []
        """With blueprint and command."""
        self._until = -math.inf
        self._last: dict[tuple[str, str], float] = {}

    @property
    def is_armed(self) -> bool:
        """Whether sensors may start runs."""
        return self._until > -math.inf

    def left(self, time: float) -> float:
        """[s] for which it is armed."""
        return max(self._until - time, 0.0) if self.is_armed else 0.0

    def arm(self, seconds: float, time: float, catalogue: SkillCatalogue) -> None:
        """Let sensors start runs for a time, instead of what was armed.

        Args:
            time: now [s of the loop].

        Raises:
            DefinitionError: not a time, or a condition cannot be watched; then nothing is armed.
        """
        self.disarm()
        if not 0.0 < seconds <= LONGEST_S:
            raise DefinitionError("arm: seconds", expected=f"0 to {LONGEST_S:g}", got=f"{seconds:g}")
        try:
            for name, command in _conditions(catalogue.skills):
                when = _with_parts(catalogue.skills[name], command.when)
                self._watches.append((self._robot.watch(f"armed: {name}", [when]), name, command))
        except BaseException:
            self.disarm()
            raise
        if not self._watches:
            raise DefinitionError("no blueprint has a `when` among its commands", expected="commands: [{when: …}]")
        self._until = time + seconds

    def disarm(self) -> None:
        """Sensors start nothing any more."""
        self._until = -math.inf
        for watched, *_ in self._watches:
            watched.close()
        self._watches = []

    def update(self, time: float) -> None:
        """Start what sensors ask for.

        Args:
            time: now [s of the loop].
        """
        if not self.is_armed:
            return
        if time >= self._until:
            self.disarm()
            return
        self._robot.sort_fired()
        for watched, name, command in list(self._watches):
            if watched.fired:
                watched.fired.clear()
                if time - self._last.get((name, command.when), -math.inf) >= command.cooldown:
                    self._last[name, command.when] = time
                    self._start(name, command.when, command.busy)


def _conditions(skills: Mapping[str, SkillTemplate]) -> Iterator[tuple[str, CommandKeys]]:
    for name, template in skills.items():
        for command in template.content.commands:
            if command.when and "@" not in name:
                yield name, command


def _with_parts(template: SkillTemplate, condition: str) -> str:
    """The condition with the default parts of the blueprint's roles: a run that starts by itself has those."""
    roles = {role.name: role.default for role in template.roles if role.default}
    return Substitution({}, roles).condition(condition, "when")
