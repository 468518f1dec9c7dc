"""What the engine asks for. The records that come with an order are written before it is carried out (N30)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from robot_rt_control.blueprint.graph.plan import Path
from robot_rt_control.blueprint.graph.results import Outcome
from robot_rt_control.definitions.parameter_value import ParameterValue

Record = Mapping[str, Any]
"""A line of the log: JSON values only. `what` says which; `tick` and `time` when."""


@dataclass(frozen=True, kw_only=True)
class StartSkill:
    """Start a skill; `events.Ended` reports its end."""

    activity: int
    path: Path
    skill: str
    arguments: tuple[ParameterValue, ...]
    parts: Mapping[str, str]
    """Role → part."""
    until: str = ""
    """The condition that ends it, of `wait_until` and an action type."""


@dataclass(frozen=True, kw_only=True)
class CancelSkill:
    """End a skill that was started, and report it once its parts are at rest."""

    activity: int


@dataclass(frozen=True, kw_only=True)
class Question:
    """Show a question to the operator."""

    activity: int
    path: Path
    text: str
    answers: tuple[str, ...]
    titles: Mapping[str, str] = field(default_factory=dict)
    """Answer → how people see it, if otherwise."""

    def meant(self, answer: str) -> str:
        """The answer that a person gave, by its own name or as people see it; empty: it is none of them."""
        if answer in self.answers:
            return answer
        return next((each for each in self.answers if self.titles.get(each) == answer), "")


@dataclass(frozen=True, kw_only=True)
class Withdraw:
    """Nobody waits for an answer any more."""

    activity: int


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The answer to the question of a skill that runs (`events.Asked`)."""

    activity: int
    answer: str


@dataclass(frozen=True, kw_only=True)
class Watch:
    """Judge these conditions in every tick; `events.Fired` reports each that becomes true."""

    watch: int
    path: Path
    """Path of the call whose reactions they are."""
    conditions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Unwatch:
    watch: int


@dataclass(frozen=True, kw_only=True)
class EndRun:
    """Everything is at rest; nothing follows."""

    outcome: Outcome


Order = StartSkill | CancelSkill | Question | Withdraw | Answered | Watch | Unwatch | EndRun


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What came of one event."""

    orders: tuple[Order, ...] = ()
    records: tuple[Record, ...] = ()
    refused: str = ""
    """Why a command was refused; nothing changed then."""
