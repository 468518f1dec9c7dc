"""Starts skills that are neither programs nor action types, and abandons those that do not end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.results import CANCELLED
from robot_rt_control.blueprint.makers.capability_files import Capabilities
from robot_rt_control.blueprint.makers.handle import Handle, Turns, View
from robot_rt_control.blueprint.makers.python_skill import PythonWork
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.blueprint.text.catalogue import Skill, SkillCatalogue
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.client.session import Session
from robot_rt_control.definitions.parameter_value import Value
from robot_rt_control.vocabulary.errors import DefinitionError

ABANDONED_S = 2.0
"""[s] of the loop's time after which a cancelled skill is left alone."""
PATIENCE_S = 10.0
"""[s] of the machine's time for which a lockstep loop waits for a Python function."""


class Made(Protocol):
    """A skill under way, as a maker gives it."""

    def poll(self) -> events.EngineEvent | None:
        """What happened: Told, Asked, or Ended as the last."""

    def cancel(self) -> None:
        """Ask for its end."""

    def answer(self, text: str) -> None:
        """The answer to its question."""

    def abandon(self) -> str:
        """It moves nothing any more, and is not asked again. Returns what is left alone, and where it hangs."""

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing moves that it started."""


RosMaker = Callable[[orders.StartSkill, SkillTemplate, Robot], Made]


class Makers:
    """The performers' way to other kinds of skills.

    Args:
        capabilities: Python functions.
        ros: None: there is no ROS here, as in lockstep.
        patience_s: as of Turns.
        workcell: its file, for skills that read it.
    """

    def __init__(
        self,
        capabilities: Capabilities | None = None,
        ros: RosMaker | None = None,
        *,
        patience_s: float = PATIENCE_S,
        workcell: Path | None = None,
    ) -> None:
        self._workcell = workcell
        self.capabilities, self._ros, self._patience_s = capabilities or Capabilities(), ros, patience_s

    def __call__(
        self, order: orders.StartSkill, skill: Skill, catalogue: SkillCatalogue, robot: Robot, session: Session | None
    ) -> Abandonable:
        """Start a skill. Raises RobotControlError: it cannot be started."""
        template = skill.template
        assert isinstance(template, SkillTemplate) and template.content.is_ is not None
        if template.content.is_.python is not None:
            return Abandonable(self._python(order, skill, catalogue, robot, session), order.activity, robot)
        if self._ros is None:
            raise DefinitionError(f"skill {skill.name!r} needs ROS", hint="It can only run in the node `blueprints`")
        return Abandonable(self._ros(order, template, robot), order.activity, robot)

    def _python(
        self, order: orders.StartSkill, skill: Skill, catalogue: SkillCatalogue, robot: Robot, session: Session | None
    ) -> PythonWork:
        function = self.capabilities.functions.get(skill.name)
        if function is None:
            raise DefinitionError(f"no file of the workcell's `capabilities` has a function for {skill.name!r}")
        handle = Handle(order.activity, robot, None if robot.backend.threaded else Turns(self._patience_s))
        view = View(handle, robot, catalogue, session, order.parts, self._workcell)
        arguments: Mapping[str, Value] = {p.name: p.value for p in order.arguments}
        return PythonWork(order.activity, function, arguments, handle, view, robot, skill.results, skill.outputs)


class Abandonable:
    """A skill under way that is left alone ABANDONED_S after a cancel."""

    def __init__(self, made: Made, activity: int, robot: Robot) -> None:
        self._made, self._activity, self._robot = made, activity, robot
        self._cancelled_at: float | None = None
        self._reason = ""

    def poll(self) -> events.EngineEvent | None:
        """What happened; Ended comes once, as the last."""
        if self._reason:
            if not self._made.is_at_rest:
                return None
            return events.Ended(activity=self._activity, result=CANCELLED, reason=self._reason)
        event = self._made.poll()
        if self._cancelled_at is None:
            return event
        if isinstance(event, events.Ended):
            return events.Ended(activity=self._activity, result=CANCELLED)
        if event is None and self._robot.backend.present()[1] - self._cancelled_at >= ABANDONED_S:
            self._reason = self._made.abandon()
            return events.Told(activity=self._activity, what="abandoned", content={"text": self._reason})
        return event if isinstance(event, events.Told) else None

    def cancel(self) -> None:
        """Ask for its end."""
        if self._cancelled_at is None:
            self._cancelled_at = self._robot.backend.present()[1]
            self._made.cancel()

    def answer(self, text: str) -> None:
        """The answer to its question."""
        self._made.answer(text)
