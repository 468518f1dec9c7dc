"""Blueprints that the robot starts by itself: `when` over state variables and messages of a `topic`, for a time only
after a person armed it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from robot_rt_control.blueprint.runs.appearance import Appearance
from robot_rt_control.blueprint.runs.robot import Robot, Watched
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.schema import CommandKeys, StartTopicKeys
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.definitions.parameter_value import ParameterValue, Value
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.vocabulary.capacities import MAX_TEXT_LENGTH
from robot_rt_control.vocabulary.errors import DefinitionError, shortened

LONGEST_S = 24 * 3600.0

Take = Callable[[bool, Mapping[str, Value | None]], None]
"""Gets whether a message is one that starts, and if it is, the values for parameters; None: there is none in it."""


class Topics(Protocol):
    """Messages of other nodes."""

    def follow(self, keys: StartTopicKeys, take: Take) -> Callable[[], None]:
        """Have each message judged. Returns what ends that.

        Args:
            take: called for each message as it arrives, in their order, in one thread; it does not wait.

        Raises:
            DefinitionError: the type is not installed, it has no such field, or it is no name of a topic.
        """


@dataclass(frozen=True, kw_only=True)
class Sensed:
    """What a sensor or a recogniser asks for.

    Args:
        skill: the blueprint.
        word: `sensor` or `topic`, for the log.
        content: the condition, or the topic.
        refused: why it cannot be started; empty: it can.
    """

    skill: str
    word: str
    content: str
    busy: str
    parameters: tuple[ParameterValue, ...] = ()
    refused: str = ""


@dataclass(eq=False)
class _Condition:
    """A condition over state variables, judged by the loop."""

    watched: Watched
    name: str
    command: CommandKeys

    def close(self) -> None:
        self.watched.close()

    def look(self) -> Sensed | None:
        if not self.watched.fired:
            return None
        self.watched.fired.clear()
        return Sensed(skill=self.name, word="sensor", content=self.command.when, busy=self.command.busy)


@dataclass(eq=False)
class _Topic:
    """Messages of a topic."""

    name: str
    command: CommandKeys
    keys: StartTopicKeys
    robot: Robot
    close: Callable[[], None] = lambda: None
    _counted: deque[Sensed] = field(default_factory=lambda: deque(maxlen=1))
    """What the next look finds: the last appearance that counted."""

    def __post_init__(self) -> None:
        self._appearance = Appearance(self.keys.hold, self.keys.gap)

    def take(self, fits: bool, values: Mapping[str, Value | None]) -> None:
        """In the thread that takes messages. Judged now: the next look comes only after a start that takes long."""
        if self._appearance.saw(fits, self.robot.backend.present()[1]):
            self._counted.append(self._sensed(values))
            self.robot.on_change()

    def look(self) -> Sensed | None:
        try:
            return self._counted.pop()
        except IndexError:
            return None

    def _sensed(self, values: Mapping[str, Value | None]) -> Sensed:
        given, refused = list[ParameterValue](), ""
        for name, value in values.items():
            if value is None:
                refused = f"parameter {name!r}: the message has no value in {self.keys.parameters[name]!r}"
            elif isinstance(value, str) and len(value) > MAX_TEXT_LENGTH:
                got = shortened(value, 40)
                refused = f"parameter {name!r}: expected at most {MAX_TEXT_LENGTH} characters; got {got!r}"
            else:
                given.append(ParameterValue(name=name, value=value))
        return Sensed(
            skill=self.name, word="topic", content=self.keys.name, busy=self.command.busy,
            parameters=tuple(given), refused=refused,
        )  # fmt: skip


class Armed:
    """The conditions and topics that may start runs. One thread.

    Args:
        start: called with what is to be started.
        topics: None: there are none, and what needs them cannot be armed.
    """

    def __init__(self, robot: Robot, start: Callable[[Sensed], object], topics: Topics | None = None) -> None:
        self._robot, self._start, self._topics = robot, start, topics
        self._watches: list[tuple[_Condition | _Topic, str]] = []
        """With what the cooldown goes by."""
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
        """Let sensors and messages start runs for a time, instead of what was armed.

        Args:
            time: now [s of the loop].

        Raises:
            DefinitionError: not a time, or a condition or topic cannot be watched; then nothing is armed.
        """
        self.disarm()
        if not 0.0 < seconds <= LONGEST_S:
            raise DefinitionError("arm: seconds", expected=f"0 to {LONGEST_S:g}", got=f"{seconds:g}")
        try:
            for name, command in _by_itself(catalogue.skills):
                self._watch(name, command, catalogue.skills[name])
        except BaseException:
            self.disarm()
            raise
        if not self._watches:
            raise DefinitionError(
                "no blueprint has a `when` or a `topic` among its commands", expected="commands: [{when: …}]"
            )
        self._until = time + seconds

    def _watch(self, name: str, command: CommandKeys, template: SkillTemplate) -> None:
        if command.when:
            when = _with_parts(template, command.when)
            watched = self._robot.watch(f"armed: {name}", [when])
            self._watches.append((_Condition(watched, name, command), command.when))
        if command.topic is not None:
            if self._topics is None:
                raise DefinitionError(f"blueprint {name!r}: topics are followed by the node `blueprints` alone")
            topic = _Topic(name, command, command.topic, self._robot)
            topic.close = self._topics.follow(command.topic, topic.take)
            self._watches.append((topic, repr(command.topic)))

    def disarm(self) -> None:
        """Neither sensors nor messages start anything any more."""
        self._until = -math.inf
        for watch, _ in self._watches:
            watch.close()
        self._watches = []

    def update(self, time: float) -> None:
        """Start what sensors and messages ask for.

        Args:
            time: now [s of the loop].
        """
        if not self.is_armed:
            return
        if time >= self._until:
            self.disarm()
            return
        self._robot.sort_fired()
        for watch, key in list(self._watches):
            sensed = watch.look()
            if sensed and time - self._last.get((watch.name, key), -math.inf) >= watch.command.cooldown:
                self._last[watch.name, key] = time
                self._start(sensed)


def _by_itself(skills: Mapping[str, SkillTemplate]) -> Iterator[tuple[str, CommandKeys]]:
    for name, template in skills.items():
        for command in template.content.commands:
            if (command.when or command.topic is not None) and "@" not in name:
                yield name, command


def _with_parts(template: SkillTemplate, condition: str) -> str:
    """The condition with the default parts of the blueprint's roles: a run that starts by itself has those."""
    roles = {role.name: role.default for role in template.roles if role.default}
    return Substitution({}, roles).condition(condition, "when")
