"""The content of a program's state diagram: states, switches with labels, and reactions within a state."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.definitions import ActionDefinition, AxisDefinition
from robot_rt_control.drawing.diagram import ANY, END, HAND, START, Diagram, Key, Line, State, Switch, moved_places
from robot_rt_control.program.declarations import Role
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.filled_program import FilledProgram
from robot_rt_control.validation.edges import Edge, edges

Path = tuple[Key, ...]
"""Where a node is drawn: the used programs that contain it, outermost first, then itself."""

_WIDTH = 34
"""Characters in a line of a label."""
_LONG = 48
"""Characters of a strategy."""
_MOST_PARTS = 8
"""Parts of a motion group that are named."""


@dataclass(frozen=True, kw_only=True)
class Now:
    """What is active in a running program.

    Args:
        active: ids of actions.
        governing: (action, degree of freedom) → the governing strategy.
    """

    active: frozenset[str] = frozenset()
    governing: Mapping[tuple[str, str], str] = field(default_factory=dict)


def diagram_of(template: ProgramTemplate, now: Now | None = None) -> Diagram:
    """The diagram of a program, as it is written: with the names of its roles and parameters.

    Args:
        now: what is active in it is marked.

    Raises:
        DefinitionError: the program is not valid.
    """
    return _Builder(template.sample(), now or Now()).diagram()


class _Level:
    """The nodes and arrows of the program itself, or of one that it uses."""

    def __init__(self) -> None:
        self.states: dict[Key, State] = {}
        self.switches: dict[tuple[Key, Key], Switch] = {}

    def state(self, key: Key, lines: Sequence[Line] = ()) -> State:
        return self.states.setdefault(key, State(key=key, lines=list(lines)))


class _Builder:
    def __init__(self, program: FilledProgram, now: Now) -> None:
        self.program, self.definition, self.now = program, program.definition, now
        self.levels: dict[Path, _Level] = {}
        self.paths: dict[str, Path] = {
            a.id: (*(("use", state) for state in a.within), ("action", a.id)) for a in self.definition.actions
        }
        self.used = {use.state: use.program for use in program.uses}

    def diagram(self) -> Diagram:
        definition = self.definition
        top = self.level(())
        if definition.start:
            top.state(("", START))
        for action in definition.actions:
            if action.manual:
                self.level(self.paths[action.id][:-1]).state(("", HAND), [Line(text="started by hand", style="detail")])
        if definition.reactions:
            top.state(("", ANY), [Line(text="in any state", style="detail")])
        first = [a for a in definition.actions if a.id in definition.start]
        for action in [*first, *(a for a in definition.actions if a.id not in definition.start)]:
            self.level(self.paths[action.id][:-1]).states["action", action.id] = self.state(action)
        for name in definition.start:
            self.switch((("", START),), self.paths[name], [], free=True)
        for action in definition.actions:
            if action.manual:
                path = self.paths[action.id]
                self.switch((*path[:-1], ("", HAND)), path, [], free=True)
        for edge in edges(definition):
            self.reaction(edge)
        template = self.program.template
        header = header_of(template.description, template.roles, template.parameters)
        return self.drawn((), template.name or template.source, header)

    def level(self, path: Path) -> _Level:
        if path not in self.levels:
            self.levels[path] = _Level()
            if path:
                outer, (_, id) = self.level(path[:-1]), path[-1]
                title = _short(id, path[-2][1] if len(path) > 1 else "")
                outer.state(
                    path[-1], [Line(text=title, style="title"), Line(text=f"uses {self.used[id]}", style="detail")]
                )
        return self.levels[path]

    def drawn(self, path: Path, title: str = "", header: Sequence[Line] = ()) -> Diagram:
        level = self.levels[path]
        for key, state in level.states.items():
            if (*path, key) in self.levels:
                state.nested = self.drawn((*path, key))
        view = {} if path else self.program.template.view
        return Diagram(
            title=title,
            header=tuple(header),
            states=tuple(level.states.values()),
            switches=tuple(level.switches.values()),
            # A used program's box contains its states here, so it is larger than in the editor: it gives way.
            places=moved_places(view, level.states, "action"),
        )

    def state(self, action: ActionDefinition) -> State:
        given = action.parts
        names = [f"{slot}: {part}" for slot, part in given.items()] if isinstance(given, Mapping) else list(given)
        if len(names) > _MOST_PARTS:
            names[_MOST_PARTS - 1 :] = [f"{len(names) - _MOST_PARTS + 1} more"]
        parts = ", ".join(names)
        title = _short(action.id, action.within[-1] if action.within else "")
        lines = [Line(text=title, style="title"), *_wrapped(f"{action.type} · {parts}", "detail")]
        if action.commands:
            chosen = {parameter.name: parameter.value for parameter in action.parameters}
            lines.append(Line(text=f"finish {chosen.get('finish', 'own')}", style="detail"))
        if action.time_limit is not None:
            written = self.program.places.text("actions", action.id, "time_limit") or f"{action.time_limit:g}"
            lines.append(Line(text=f"at most {written} s", style="detail"))
        return State(
            key=("action", action.id),
            lines=lines,
            blocks={axis.axis: self.strategies(action, axis) for axis in action.strategies},
            final=action.final,
            active=action.id in self.now.active,
        )

    def strategies(self, action: ActionDefinition, axis: AxisDefinition) -> list[Line]:
        """Each strategy as "name (law): condition", shortened; the last one has no condition."""
        lines = []
        governing = self.now.governing.get((action.id, axis.axis))
        for i, strategy in enumerate(axis.strategies):
            place = ("actions", action.id, "strategies", axis.written, i, "when")
            when = " ".join((self.program.places.text(*place) or strategy.when).split())
            law = "" if strategy.law == strategy.name else f" ({strategy.law})"
            text = f"{strategy.name}{law}" + (f": {when}" if when else "")
            text = text if len(text) <= _LONG else f"{text[: _LONG - 1].rstrip()}…"
            lines.append(Line(text=text, style="governing" if strategy.name == governing else "condition"))
        return lines

    def switch(self, source: Path, target: Path, label: Sequence[Line], *, free: bool) -> None:
        """Add an arrow; at the border of a used program's box it goes on from, or to, the box."""
        depth = 0
        while depth < min(len(source), len(target)) - 1 and source[depth] == target[depth]:
            depth += 1
        if len(source) > depth + 1:
            label = [Line(text=f"{_short(source[-1][1], source[depth][1])}:", style="detail"), *label]
        self.arrow(source[:depth], source[depth], target[depth], label, free=free)
        for inner in range(depth + 1, len(target)):
            self.level(target[:inner]).state(("", START))
            self.arrow(target[:inner], ("", START), target[inner], [], free=True)

    def arrow(self, path: Path, source: Key, target: Key, label: Sequence[Line], *, free: bool) -> None:
        level = self.level(path)
        level.state(target)
        switch = level.switches.setdefault((source, target), Switch(source=source, target=target))
        switch.free = switch.free or free
        if switch.label[-len(label) :] != list(label):  # several first actions of a used program: one arrow to its box
            switch.label += label
        if source == ("", START):
            level.states[target].first = True

    def reaction(self, edge: Edge) -> None:
        reaction = edge.reaction
        source: Path = self.paths[edge.owner] if edge.owner else (("", ANY),)
        label = self.label(edge)
        targets = [self.paths[name] for name in reaction.start if name in self.paths]
        if reaction.stop:
            targets = [(*source[:-1], ("", END))]
        if not targets:
            for name in reaction.start:  # of the session, not of the program
                label.append(Line(text=f"→ {name}", style="response"))
            self.levels[source[:-1]].states[source[-1]].inside += label
        for target in targets:
            self.switch(source, target, label, free=not edge.owner)

    def label(self, edge: Edge) -> list[Line]:
        """The condition as written, and below it the other responses."""
        reaction = edge.reaction
        written = " ".join((self.program.places.text(*edge.path, "when") or reaction.condition).split())
        responses = [f"event {reaction.event}"] if reaction.event else []
        within = self.paths[edge.owner][-2][1] if edge.owner and len(self.paths[edge.owner]) > 1 else ""
        responses += [f"signal {_short(reaction.signal, within)}"] if reaction.signal else []
        responses += ["once"] if reaction.fire_once else []
        responses += ["beside it"] if reaction.keep_owner else []
        return [
            *_wrapped(written, "condition"),
            *(_wrapped("/ " + ", ".join(responses), "response") if responses else []),
        ]


def _short(id: str, within: str) -> str:
    """The id as the used program's text has it."""
    return id.removeprefix(f"{within}__") if within else id


def header_of(description: str, roles: Sequence[Role], parameters: Sequence[Parameter]) -> list[Line]:
    """Description, roles and parameters."""
    lines = [Line(text=text, style="detail") for text in textwrap.wrap(description, 90)]
    for role in roles:
        text = f"{role.name}: {role.shown_kinds}" + (f" (default {role.default})" if role.default else "")
        lines.append(Line(text=text + (f" – {role.description}" if role.description else ""), style="detail"))
    for parameter in parameters:
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
