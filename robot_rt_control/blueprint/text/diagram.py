"""What the picture of a skill made of nodes shows: its nodes with the skills that they call, candidates, reactions.

`view:` of the text has the places of nodes that a person moved: node → [x, y] of its top left corner [pt], y downwards,
from that of the picture without its header. What a person folded there (E14) is drawn unfolded.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from contextlib import suppress

from robot_rt_control.blueprint.graph.plan import ONLY, Candidate
from robot_rt_control.blueprint.graph.results import ANY as ANY_RESULT
from robot_rt_control.blueprint.graph.results import DONE, FAILURE, STANDARD, SUCCESS, Results, with_standard
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.node_kinds import branches_in, kinds_in
from robot_rt_control.blueprint.text.phrases import phrases_of
from robot_rt_control.blueprint.text.schema import CallKeys, CandidateKeys, NodeKeys
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.drawing.diagram import ANY, HAND, START, Diagram, Key, Line, State, Switch, moved_places
from robot_rt_control.drawing.state_diagram import header_of
from robot_rt_control.program.schema import ValueWithUnit
from robot_rt_control.vocabulary.errors import DefinitionError

_WIDTH = 34
"""Characters in a line."""


def blueprint_diagram(
    template: SkillTemplate, catalogue: SkillCatalogue | None = None, active: frozenset[str] = frozenset()
) -> Diagram:
    """The diagram of a skill, as it is written; mistakes in it do not matter.

    Args:
        catalogue: says the levels of the skills that it calls.
        active: ids of nodes that run; they are marked.
    """
    return _Builder(template, catalogue, active).diagram()


class _Builder:
    def __init__(self, template: SkillTemplate, catalogue: SkillCatalogue | None, active: frozenset[str]) -> None:
        self.template, self.catalogue, self.active = template, catalogue, active
        self.states: dict[Key, State] = {}
        self.switches: dict[tuple[Key, Key], Switch] = {}
        self.results = with_standard(template.results)

    def diagram(self) -> Diagram:
        template, content = self.template, self.template.content
        only = content.is_
        nodes: Mapping[str, CallKeys] = content.nodes if only is None else {template.name or ONLY: only}
        start = content.start or next(iter(nodes), "")
        self.states["", START] = State(key=("", START))
        if any(isinstance(node, NodeKeys) and node.manual for node in nodes.values()):
            self.states["", HAND] = State(key=("", HAND), lines=[Line(text="a person jumps to", style="detail")])
        if content.reactions:
            self.states["", ANY] = State(key=("", ANY), lines=[Line(text="in any node", style="detail")])
        for id in [start, *nodes]:
            if id in nodes and ("node", id) not in self.states:
                self.states["node", id] = self.state(id, nodes[id])
        self.switch(("", START), ("node", start), [])
        for id, node in nodes.items():
            then = node.then if isinstance(node, NodeKeys) else []
            if isinstance(node, NodeKeys) and node.manual:
                self.switch(("", HAND), ("node", id), [])
            if not then:
                self.switch(("node", id), self.end(DONE), [])
            titles = node.ask.titles if node.ask is not None else {}
            for candidate, label in zip(then, _labels(then, self.results_of(node), titles), strict=True):
                target = ("node", candidate.go) if candidate.go else self.end(candidate.end)
                self.switch(("node", id), target, label)
        for reaction in content.reactions:
            label = _wrapped(reaction.when, "condition")
            if reaction.at == "end":
                label.append(Line(text="at its end", style="response"))
            self.switch(("", ANY), ("node", reaction.go), label)
        return Diagram(
            title=template.title or template.name or template.source,
            header=(*self.header(), *header_of(template.description, template.roles, template.parameters)),
            states=tuple(self.states.values()),
            switches=tuple(self.switches.values()),
            places=moved_places(content.view, self.states, "node"),
        )

    def header(self) -> Iterator[Line]:
        content = self.template.content
        scenarios = f", value skill for {', '.join(content.scenarios)}" if content.scenarios else ""
        yield Line(text=f"{_words(self.template.level)}{scenarios}", style="detail")
        phrases = [f"“{phrase}”" for phrase, _ in phrases_of(self.template)]
        starts = [
            *phrases,
            *(f"gesture {g}" for c in content.commands for g in c.gesture),
            *(c.when for c in content.commands if c.when),
        ]
        for line in textwrap.wrap(f"starts at {', '.join(starts)}", 90) if starts else ():
            yield Line(text=line, style="detail")

    def end(self, result: str) -> Key:
        key = ("end", result)
        if key not in self.states:
            kind = "failure" if self.results.get(result, True) else "success"
            self.states[key] = State(key=key, lines=[Line(text=result, style="title")], kind=kind)
        return key

    def switch(self, source: Key, target: Key, label: list[Line]) -> None:
        if target not in self.states:
            unknown = [Line(text=target[1] or "no node", style="title"), Line(text="unknown", style="detail")]
            self.states[target] = State(key=target, lines=unknown, kind="failure")
        found = self.switches.setdefault((source, target), Switch(source=source, target=target))
        found.free = source[0] == ""
        found.label += label

    # --- nodes ----------------------------------------------------------------------------------

    def state(self, id: str, node: CallKeys) -> State:
        lines = [Line(text=getattr(node, "title", None) or id, style="title")]
        kind, branches = next(branches_in(node), (None, None))
        if kind is None:
            lines += self.does(node)
        else:
            lines.append(Line(text=kind.shown, style="detail"))
        if isinstance(node, NodeKeys):
            bounds = [f"retry {node.retry}"] if node.retry else []
            bounds += [f"repeat {node.repeat}"] if node.repeat else []
            bounds += [f"at most {_shown(node.timeout)} s"] if node.timeout is not None else []
            lines += [Line(text=", ".join(bounds), style="response")] if bounds else []
        return State(
            key=("node", id),
            lines=lines,
            blocks={name: list(self.branch(call)) for name, call in (branches or {}).items()},
            kind=self.level(node) if branches is None else "built_in",
            active=id in self.active,
        )

    def branch(self, call: CallKeys) -> Iterator[Line]:
        """What a branch does, its own branches included."""
        kind, inner = next(branches_in(call), (None, None))
        if kind is None or inner is None:
            yield from self.does(call)
            return
        yield Line(text=kind.shown, style="detail")
        for name, each in inner.items():
            for line in self.branch(each):
                yield Line(text=f"  {name}: {line.text}", style=line.style)

    def level(self, call: CallKeys) -> str:
        if call.skill is None:
            return "built_in"
        try:
            return "" if self.catalogue is None else self.catalogue.find(call.skill).level
        except DefinitionError:
            return "failure"

    def results_of(self, node: CallKeys) -> Results:
        """All results of a node, as far as they are known."""
        named = {name for candidate in getattr(node, "then", ()) for name in candidate.on}
        if node.skill is not None and self.catalogue is not None:
            with suppress(DefinitionError):
                return self.catalogue.find(node.skill).results
        return with_standard(dict.fromkeys(sorted(named - {SUCCESS, FAILURE, ANY_RESULT, *STANDARD}), False))

    def does(self, call: CallKeys) -> list[Line]:
        if call.skill is None:
            return [line for text in _built_in(call) for line in _wrapped(text, "condition")]
        level = self.level(call)
        word = "unknown" if level == "failure" else _words(level)
        lines = [Line(text=call.skill, style="detail")]
        if len(call.skill) + len(word) < _WIDTH:
            lines = [Line(text=f"{call.skill} · {word}" if word else call.skill, style="detail")]
        elif word:
            lines.append(Line(text=word, style="detail"))
        lines += _each(", ".join(f"{role}: {part}" for role, part in call.parts.items()), "detail")
        for name, value in call.with_.items():
            lines += _wrapped(f"{name} = {_shown(value)}", "condition")[:2]
        return lines + _each(f"until {call.until}" if call.until else "", "condition")


def _built_in(call: CallKeys) -> Iterator[str]:
    for kind, written in kinds_in(call):
        for field in kind.fields:
            value = getattr(written, field.key) if field.key else written
            if field.form == "values":
                yield from (f"{name} := {_shown(given)}" for name, given in value.items())
            elif field.form == "words":
                titles = getattr(written, "titles", {})
                yield " / ".join(titles.get(word, word) for word in value)
            else:
                yield kind.shown.format(_shown(value) if isinstance(value, ValueWithUnit) else value)


def _labels(then: list[CandidateKeys], results: Results, titles: Mapping[str, str]) -> Iterator[list[Line]]:
    """What each candidate's arrow says; where two take the same result, also which one is judged first.

    Args:
        titles: result → how people see it, if otherwise.
    """
    taken = [{r for r, bad in results.items() if Candidate(on=c.on).takes(r, bad)} for c in then]
    for index, candidate in enumerate(then):
        shared = any(taken[index] & other for i, other in enumerate(taken) if i != index)
        on = "" if candidate.on == (SUCCESS,) else ", ".join(titles.get(result, result) for result in candidate.on)
        conditions = _texts(" ".join(candidate.when.split()))
        if shared and not on and not conditions:
            on = "otherwise" if index else "success"
        texts = [(on, "axis")] if on else []
        texts += [(text, "condition") for text in conditions]
        if shared:
            texts[0] = (f"{index + 1}. {texts[0][0]}", texts[0][1])
        yield [Line(text=text, style=style) for text, style in texts]


def _shown(given: ValueWithUnit | None) -> str:
    if given is None:
        return ""
    value = given.value
    text = f"[{', '.join(map(_scalar, value))}]" if isinstance(value, tuple | list) else _scalar(value)
    return f"{text} {given.unit}" if given.unit else text


def _scalar(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _words(level: str) -> str:
    return level.replace("_", " ")


def _texts(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, break_on_hyphens=False)


def _wrapped(text: str, style: str) -> list[Line]:
    return [Line(text=line, style=style) for line in _texts(" ".join(text.split()))]


def _each(text: str, style: str) -> list[Line]:
    return _wrapped(text, style) if text else []
