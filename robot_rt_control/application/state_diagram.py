"""The content of a program's state diagram: states, switches with labels, and reactions within a state."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.definitions import ActionDefinition, AxisDefinition
from robot_rt_control.program.file import FilledProgram, ProgramTemplate
from robot_rt_control.validation.edges import Edge, edges

START, END, ANY, HAND = "start", "end", "any state", "by hand"
"""Nodes of the diagram that are not actions; their keys are ("", START) and so on."""

Key = tuple[str, str]
"""("action", id), or ("", START) and similar."""

_WIDTH = 34
"""Characters in a line of a label."""
_LONG = 48
"""Characters of a strategy."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of text and its role: title, detail, axis, condition, response."""

    text: str
    style: str


@dataclass(kw_only=True)
class State:
    """A node of the diagram."""

    key: Key
    lines: list[Line] = field(default_factory=list)
    strategies: dict[str, list[Line]] = field(default_factory=dict)
    """Degree of freedom → its strategies in order of priority, a line for each."""
    inside: list[Line] = field(default_factory=list)
    """Reactions that do not lead out of it."""
    final: bool = False
    first: bool = False
    """The program starts here."""


@dataclass(kw_only=True)
class Switch:
    """An arrow of the diagram: all reactions that lead from one state to another."""

    source: Key
    target: Key
    label: list[Line] = field(default_factory=list)
    free: bool = False
    """Not from one state: from the start, by hand, or free-standing."""


@dataclass(frozen=True, kw_only=True)
class Diagram:
    """Everything that is drawn."""

    title: str
    header: tuple[Line, ...]
    states: tuple[State, ...]
    switches: tuple[Switch, ...]


def diagram_of(template: ProgramTemplate) -> Diagram:
    """The diagram of a program, as it is written: with the names of its roles and parameters.

    Raises:
        DefinitionError: the program is not valid.
    """
    return _Builder(template.sample()).diagram()


class _Builder:
    def __init__(self, program: FilledProgram) -> None:
        self.program, self.definition = program, program.definition
        self.states: dict[Key, State] = {}
        self.switches: dict[tuple[Key, Key], Switch] = {}

    def diagram(self) -> Diagram:
        definition = self.definition
        if definition.start:
            self.states["", START] = State(key=("", START))
        if any(action.manual for action in definition.actions):
            self.states["", HAND] = State(key=("", HAND), lines=[Line(text="started by hand", style="detail")])
        if definition.reactions:
            self.states["", ANY] = State(key=("", ANY), lines=[Line(text="in any state", style="detail")])
        first = [a for a in definition.actions if a.id in definition.start]
        for action in [*first, *(a for a in definition.actions if a.id not in definition.start)]:
            self.states["action", action.id] = self.state(action)
        for name in definition.start:
            self.switch(("", START), ("action", name)).free = True
        for action in definition.actions:
            if action.manual:
                self.switch(("", HAND), ("action", action.id)).free = True
        for edge in edges(definition):
            self.reaction(edge)
        template = self.program.template
        return Diagram(
            title=template.name or template.source,
            header=tuple(_header(template)),
            states=tuple(self.states.values()),
            switches=tuple(self.switches.values()),
        )

    def state(self, action: ActionDefinition) -> State:
        given = action.parts
        parts = (
            ", ".join(f"{slot}: {part}" for slot, part in given.items())
            if isinstance(given, Mapping)
            else ", ".join(given)
        )
        lines = [Line(text=action.id, style="title"), *_wrapped(f"{action.type} · {parts}", "detail")]
        return State(
            key=("action", action.id),
            lines=lines,
            strategies={axis.axis: self.strategies(action, axis) for axis in action.strategies},
            final=action.final,
            first=action.id in self.definition.start,
        )

    def strategies(self, action: ActionDefinition, axis: AxisDefinition) -> list[Line]:
        """Each strategy as "name (law): condition", shortened; the last one has no condition."""
        lines = []
        for i, strategy in enumerate(axis.strategies):
            place = ("actions", action.id, "strategies", axis.written, i, "when")
            when = " ".join((self.program.places.text(*place) or strategy.when).split())
            law = "" if strategy.law == strategy.name else f" ({strategy.law})"
            text = f"{strategy.name}{law}" + (f": {when}" if when else "")
            lines.append(Line(text=text if len(text) <= _LONG else f"{text[:_LONG - 1].rstrip()}…", style="condition"))
        return lines

    def switch(self, source: Key, target: Key) -> Switch:
        if target not in self.states:
            self.states[target] = State(key=target)
        return self.switches.setdefault((source, target), Switch(source=source, target=target))

    def reaction(self, edge: Edge) -> None:
        reaction = edge.reaction
        source: Key = ("action", edge.owner) if edge.owner else ("", ANY)
        label = self.label(edge)
        targets: list[Key] = [("action", name) for name in reaction.start if ("action", name) in self.states]
        if reaction.stop:
            targets = [("", END)]
        if not targets:
            for name in reaction.start:  # of the session, not of the program
                label.append(Line(text=f"→ {name}", style="response"))
            self.states[source].inside += label
        for target in targets:
            switch = self.switch(source, target)
            switch.free = switch.free or not edge.owner
            switch.label += label

    def label(self, edge: Edge) -> list[Line]:
        """The condition as written, and below it the other responses."""
        reaction = edge.reaction
        written = " ".join((self.program.places.text(*edge.path, "when") or reaction.condition).split())
        responses = [f"event {reaction.event}"] if reaction.event else []
        responses += [f"signal {reaction.signal}"] if reaction.signal else []
        responses += ["once"] if reaction.fire_once else []
        responses += ["beside it"] if reaction.keep_owner else []
        return [
            *_wrapped(written, "condition"),
            *(_wrapped("/ " + ", ".join(responses), "response") if responses else []),
        ]


def _header(template: ProgramTemplate) -> list[Line]:
    lines = [Line(text=text, style="detail") for text in textwrap.wrap(template.description, 90)]
    for role in template.roles:
        text = f"{role.name}: {role.shown_kinds}" + (f" (default {role.default})" if role.default else "")
        lines.append(Line(text=text + (f" – {role.description}" if role.description else ""), style="detail"))
    for parameter in template.parameters:
        lines.append(Line(text=f"${parameter.name}{described(parameter)}", style="condition"))
    return lines


def described(parameter: Parameter) -> str:
    """A parameter's default, range and unit: " = 0.1 m/s, 0.01 to 0.25"."""
    default = parameter.default
    shown = ""
    if default is not None:
        value = f"[{', '.join(map(_number, default))}]" if isinstance(default, tuple) else _number(default)
        shown = f" = {value}"
    shown += f" {parameter.unit}" if parameter.unit else ""
    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None:
        shown += f", {low:g} to {high:g}"
    elif low is not None or high is not None:
        shown += f", at least {low:g}" if low is not None else f", at most {high:g}"
    return shown + (f", one of {', '.join(parameter.choices)}" if parameter.choices else "")


def _number(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _wrapped(text: str, style: str) -> list[Line]:
    return [Line(text=line, style=style) for line in textwrap.wrap(text, _WIDTH, break_on_hyphens=False)]
