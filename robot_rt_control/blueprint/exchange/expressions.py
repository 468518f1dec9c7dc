"""What a behavior tree means, between its elements and the nodes of a blueprint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from robot_rt_control.blueprint.exchange.xml_reader import Element
from robot_rt_control.blueprint.text.catalogue import Skill
from robot_rt_control.definitions.action_type import Parameter

FAILURES = "failures"
"""Output of a branch of ParallelAll: 1 if it failed, else 0."""


@dataclass(kw_only=True)
class Unit:
    """What becomes one node."""

    element: Element
    id: str
    call: dict[str, Any]
    reads: dict[str, tuple[str, Parameter]] = field(default_factory=dict)
    """Parameter of the call → entry of the blackboard, and how the parameter is declared."""
    writes: dict[str, str] = field(default_factory=dict)
    """Entry of the blackboard → output of the node."""
    branch_of: dict[str, Unit] = field(default_factory=dict)
    """Of ParallelAll: its branches."""
    bounds: dict[str, Any] = field(default_factory=dict)
    """timeout, retry, repeat."""
    again: str = ""
    """It is done again without end, after "success" or "failure"."""
    at_most: int = 0
    """Of ParallelAll: it fails with this number of failures."""
    skill: Skill | None = None
    """Skill of a leaf."""
    when: str = ""
    """Of `holds`: the condition on which it succeeds."""
    guard: str = ""
    """Of a reactive element: the branch that watches the conditions."""
    guard_succeeds: bool = False
    """Whether the node succeeds if the guard ends first; else it fails."""
    sets: str = ""
    """Of SetBlackboard: the entry."""
    text: str | None = None
    """Of SetBlackboard: the value as it is written; None if it is another entry's."""


@dataclass(frozen=True)
class Serial:
    """Sequence, or Fallback."""

    children: tuple[Expression, ...]
    fallback: bool


@dataclass(frozen=True)
class If:
    condition: Expression
    then: Expression
    otherwise: Expression | None


@dataclass(frozen=True)
class Changed:
    """Inverter, ForceSuccess, ForceFailure."""

    child: Expression
    how: str


Expression = Unit | Serial | If | Changed
