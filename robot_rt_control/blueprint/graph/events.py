"""What the engine takes: what happened, and what a person or another program asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robot_rt_control.blueprint.graph.plan import Path
from robot_rt_control.definitions.parameter_value import ParameterValue, Value


@dataclass(frozen=True, kw_only=True)
class Moment:
    """When something happened, and what was true then."""

    tick: int
    time: float
    """[s] of the loop."""
    values: Mapping[str, float | Sequence[float]] = field(default_factory=dict)
    """State variables of this tick, and vectors; one that is missing or NaN is unknown."""
    pretended: bool = False
    """There is no robot: a node that needs the value of a state variable gets a sample."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A skill that was started has ended, and its parts are at rest or do what it left them to do."""

    activity: int
    result: str
    reason: str = ""
    outputs: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Told:
    """A skill that runs says something for the log.

    Args:
        what: kind of the record: progress, goal, abandoned.
    """

    activity: int
    what: str
    content: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A skill that runs asks the operator; `orders.Answered` brings the answer."""

    activity: int
    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Fired:
    """A watched condition became true."""

    watch: int
    reaction: int
    """Index in the order's conditions."""


@dataclass(frozen=True, kw_only=True)
class Elapsed:
    """The time of `Engine.next_deadline` has come."""


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """A protective stop. It comes before the ends of the skills that it stopped."""


@dataclass(frozen=True, kw_only=True)
class Released:
    """The protective stop is over."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """Base of what somebody asks for; it can be refused."""

    source: str = ""
    """Who: "editor: Ann", "topic"; for the log."""


@dataclass(frozen=True, kw_only=True)
class Begin(Command):
    """Start the run.

    Args:
        arguments: values of the outermost graph's parameters.
        parts: role → part.
        at: the node to begin with; empty: the graph's start.
        outputs: of earlier nodes of the outermost graph, by "node.output", for a run that begins further on.
        paused: stand before the first node.
    """

    arguments: tuple[ParameterValue, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    at: Path = ()
    outputs: Mapping[str, Value] = field(default_factory=dict)
    paused: bool = False


@dataclass(frozen=True, kw_only=True)
class Pause(Command):
    """Stand after the present node; `now`: cancel it."""

    now: bool = False


@dataclass(frozen=True, kw_only=True)
class Resume(Command):
    """Go on: `how` is "again", "next", or empty for the usual one."""

    how: str = ""


@dataclass(frozen=True, kw_only=True)
class Step(Command):
    """Go on to the end of the next node; `into`: also into what it calls."""

    into: bool = False


@dataclass(frozen=True, kw_only=True)
class Jump(Command):
    """The document's node control command."""

    target: Path
    now: bool = False
    come_back: bool = False


@dataclass(frozen=True, kw_only=True)
class Skip(Command):
    """Give a node of the present chain of calls a result; empty path: the innermost."""

    result: str
    node: Path = ()


@dataclass(frozen=True, kw_only=True)
class Cancel(Command):
    """End the run."""


@dataclass(frozen=True, kw_only=True)
class SetBreakpoints(Command):
    """All breakpoints of the run, instead of those that it had."""

    before: frozenset[Path] = frozenset()
    after: frozenset[Path] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Answer(Command):
    """The answer to a question."""

    activity: int
    answer: str


EngineEvent = Ended | Told | Asked | Fired | Elapsed | Stopped | Released | Command
