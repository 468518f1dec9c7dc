"""Makes a graph from a skill's text: finds the skills that it calls, and checks each call (N6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from robot_rt_control.blueprint.graph.plan import ONLY, Call, Candidate, Given, Graph, GraphReaction, Kind, Node
from robot_rt_control.blueprint.graph.results import ANY, DONE, FAILURE, STANDARD, SUCCESS, Results, with_standard
from robot_rt_control.blueprint.text.catalogue import Skill, SkillCatalogue
from robot_rt_control.blueprint.text.levels import LEVELS, may_call
from robot_rt_control.blueprint.text.node_kinds import NODE_KINDS, branches_in
from robot_rt_control.blueprint.text.question_check import mistakes_of
from robot_rt_control.blueprint.text.schema import (
    MADE,
    CallKeys,
    CandidateKeys,
    IsKeys,
    NodeKeys,
    OutputDeclaration,
    RosKeys,
)
from robot_rt_control.blueprint.text.skill_file import Output, SkillTemplate
from robot_rt_control.blueprint.text.state_values import SAMPLES, StateValues, texts_in
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.program.declarations import samples_of, values_of
from robot_rt_control.program.expression import KnownParameter
from robot_rt_control.program.schema import ValueWithUnit
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

_TEXT = Parameter(name="text", type="text")
_TIME = Parameter(name="time", unit="s", minimum=0.0)
_DOING = ("skill", *(kind.name for kind in NODE_KINDS))
"""Keys of a call, of which it has exactly one."""

Path = tuple[str | int, ...]


class GraphReader:
    """One reading of one skill.

    Args:
        strict: a skill may call only the next lower level.
        reference: the skill's name in the catalogue, with its version; empty: its name.

    Attributes:
        mistakes: all that is wrong with single items, each with its line.
        called: skills by node and branch, where they are known: ("greet",), ("both", "left").
        state: the state variables whose values it uses.
    """

    def __init__(
        self, template: SkillTemplate, catalogue: SkillCatalogue, *, strict: bool = False, reference: str = ""
    ) -> None:
        self.template, self.catalogue, self.strict = template, catalogue, strict
        self._reference = reference or template.name
        self.mistakes = Mistakes()
        self.called: dict[tuple[str, ...], Skill] = {}
        self._outputs = dict(self._declared_outputs())
        samples = {**samples_of(template.parameters), **samples_of(template.values)}
        known = {
            **samples,
            **{
                name: KnownParameter(value=SAMPLES[output.type], unit=output.unit, sampled=True)
                for name, output in self._outputs.items()
            },
        }
        for name in known:
            known[name] = KnownParameter(value=known[name].value, unit=known[name].unit, sampled=True)
        self.state = StateValues(template, catalogue, known)
        self.substitution = Substitution(known, {})

    def _declared_outputs(self) -> Iterable[tuple[str, Output]]:
        """The outputs of all nodes, by "node.output" and "node.branch.output"."""
        for id, written in self.template.content.nodes.items():
            for branch, call in _calls(written):
                if call.skill:
                    try:
                        found = self.catalogue.find(call.skill).outputs
                    except DefinitionError:
                        continue  # reported with the call
                    yield from ((".".join((id, *branch, name)), output) for name, output in found.items())

    def graph(self) -> Graph:
        """The readable part of the graph; the rest is among the mistakes."""
        template, content = self.template, self.template.content
        if content.is_ is not None:
            nodes = {ONLY: self._only(content.is_)}
            start = ONLY
        else:
            nodes = {}
            for id, written in content.nodes.items():
                with self.mistakes.collect(template.places, "nodes", id):
                    _refuse_only(id, "node")
                    nodes[id] = self._node(id, written)
            start = content.start or next(iter(content.nodes), "")
            if start and start not in content.nodes:
                self._add(
                    DefinitionError("start", expected=unknown("node", start, content.nodes), got=repr(start)), "start"
                )
        reactions = []
        for index, reaction in enumerate(content.reactions):
            if self._is_node(reaction.go, f"reaction {index}", "reactions", index, "go"):
                reactions.append(GraphReaction(when=reaction.when, go=reaction.go, once=reaction.at == "once"))
        return Graph(
            name=template.name,
            title=template.title,
            start=start,
            nodes=nodes,
            parameters=template.parameters,
            values={p.name: Given(value=p.default, unit=p.unit) for p in template.values if p.default is not None},
            reactions=tuple(reactions),
            outputs={
                name: Given(value=value if output.type == "text" else self.state.number(value), unit=output.unit)
                for name, output in self._graph_outputs()
                if (value := output.value) is not None
            },
            state=self.state.samples,
            results=with_standard(self._results()),
        )

    def is_of_unknown_skill(self, reference: str) -> bool:
        """Whether it may be an output of a skill that is not known: node.output."""
        written = self.template.content.nodes.get(reference.partition(".")[0])
        if written is None or "." not in reference or reference in self._outputs:
            return False
        id = reference.partition(".")[0]
        return any(call.skill and (id, *branch) not in self.called for branch, call in _calls(written))

    def place(self, node: str) -> Path:
        """Where a node is written."""
        return ("is",) if self.template.content.is_ is not None else ("nodes", node)

    def _results(self) -> Results:
        """A skill that is one call ends as that call does."""
        if self.template.results or self.template.content.is_ is None:
            return self.template.results
        skill = self.called.get((ONLY,))
        return {} if skill is None else {n: bad for n, bad in skill.results.items() if n not in STANDARD}

    def _graph_outputs(self) -> Iterable[tuple[str, OutputDeclaration]]:
        skill, is_ = self.called.get((ONLY,)), self.template.content.is_
        if is_ is not None and is_.made:
            for name, declared in self.template.outputs.items():
                yield name, OutputDeclaration(type=declared.type, unit=declared.unit, value=f"${ONLY}.{name}")
        elif self.template.outputs or skill is None:
            yield from self.template.outputs.items()
        else:
            for name, output in skill.outputs.items():
                yield name, OutputDeclaration(unit=output.unit, value=f"${ONLY}.{name}")

    def _only(self, written: IsKeys) -> Node:
        call = Call(kind=Kind.LOG)
        with self.mistakes.collect(self.template.places, "is"):
            call = self._made(written) if written.made else self._call(written, (ONLY,), ("is",))
        named = [result for result in call.results if result not in STANDARD]
        results = self.template.results or dict.fromkeys(named)
        then = tuple(
            Candidate(on=(result,), end=result if result in results or result in STANDARD else DONE)
            for result in call.results
        )
        return Node(id=ONLY, call=call, then=then)

    def _made(self, written: IsKeys) -> Call:
        """The one call of a skill that ROS or Python makes: performed by a maker, under the skill's own name."""
        template, key = self.template, written.made
        doing = [name for name in (*_DOING, *MADE) if getattr(written, name) is not None]
        if len(doing) != 1 or not template.name:
            expected = "one of them" if len(doing) != 1 else "a `name` of the skill"
            raise DefinitionError("is: what it does", expected=expected, got=", ".join(doing))
        keys, results = getattr(written, key), with_standard(template.results)
        if isinstance(keys, RosKeys):
            for index, end in enumerate(getattr(keys, "results", ())):
                if end.end not in results:
                    self._add(
                        DefinitionError(
                            f"the skill has no result {end.end!r}", expected=unknown("result", end.end, results)
                        ),
                        "is", key, "results", index, "end",
                    )  # fmt: skip
            taken = getattr(keys, "outputs", {})
            for name in {*taken} ^ {*template.outputs}:
                where = f"is.{key}.outputs" if name in template.outputs else "outputs"
                self._add(
                    DefinitionError(f"output {name!r}", expected=f"the same name in {where}", got="none"),
                    *(("is", key, "outputs", name) if name in taken else ("outputs", name)),
                )
            if self.catalogue.interfaces is not None:
                with self.mistakes.collect(template.places, "is", key):
                    self.catalogue.interfaces.check(key, keys, template)
            for text in texts_in(getattr(keys, "fields", {})):
                with self.mistakes.collect(template.places, "is", key, "fields"):
                    self.substitution.value(text, "fields")
        own = {p.name: Given(value=f"${p.name}", unit=p.unit) for p in template.parameters}
        self.substitution.used.update(own if key == "python" else ())
        return Call(
            kind=Kind.LEAF,
            skill=self._reference,
            arguments=own,
            parts={role.name: role.name for role in template.roles},
            results=results,
            outputs=tuple(template.outputs),
        )

    def _node(self, id: str, written: NodeKeys) -> Node:
        path: Path = ("nodes", id)
        known = {*self.template.content.roles, *(self.catalogue.workcell.parts or ())}
        if id in known or id in self.template.content.parameters or id in self.template.content.values:
            raise DefinitionError(
                f"node {id!r} has the name of a part, role, parameter or value",
                expected="another id, to keep conditions and references unambiguous",
            )
        call = self._call(written, (id,), path)
        timeout = None
        if written.timeout is not None:
            with self.mistakes.collect(self.template.places, *path, "timeout"):
                timeout = self._given(f"node {id!r}: timeout", _TIME, written.timeout)
        then = []
        for index, candidate in enumerate(written.then):
            place = (*path, "then", index)
            with self.mistakes.collect(self.template.places, *place):
                then.append(self._candidate(f"node {id!r}", candidate, call, place))
        return Node(
            id=id,
            title=written.title or "",
            call=call,
            retry=written.retry,
            repeat=written.repeat,
            timeout=timeout,
            manual=written.manual,
            then=tuple(then),
        )

    def _candidate(self, of: str, written: CandidateKeys, call: Call, path: Path) -> Candidate:
        for name in written.on:
            if name not in (SUCCESS, FAILURE, ANY) and name not in call.results:
                known = [*call.results, SUCCESS, FAILURE, ANY]
                self._add(
                    DefinitionError(f"{of}: it has no result {name!r}", expected=unknown("result", name, known)),
                    *path, "on",
                )  # fmt: skip
        if bool(written.go) == bool(written.end):
            raise DefinitionError(
                f"{of}: candidate", expected="either `go` or `end`", got="both" if written.go else "neither"
            )
        if written.go:
            self._is_node(written.go, of, *path, "go")
        elif written.end not in with_standard(self.template.results):
            results = with_standard(self.template.results)
            self._add(
                DefinitionError(
                    f"{of}: the skill has no result {written.end!r}",
                    expected=unknown("result", written.end, results),
                    hint=f"Declare it at the top: results: {{{written.end}: {{}}}}",
                ),
                *path, "end",
            )  # fmt: skip
        return Candidate(on=written.on, when=written.when, go=written.go, end=written.end)

    # --- calls ----------------------------------------------------------------------------------

    def _call(self, written: CallKeys, key: tuple[str, ...], path: Path) -> Call:
        of = f"node {'/'.join(key)!r}" if key != (ONLY,) else "is"
        doing = [name for name in _DOING if getattr(written, name) is not None]
        if len(doing) != 1:
            raise DefinitionError(
                f"{of}: what it does", expected=f"one of: {', '.join(_DOING)}", got=", ".join(doing) or "none"
            )
        if written.skill is None and (written.with_ or written.parts or written.until):
            raise DefinitionError(f"{of}: with, parts and until", expected="a skill that they are for")
        if written.skill is not None:
            return self._skill(of, written, written.skill, key, path)
        for kind, branches in branches_in(written):
            return self._parallel(of, Kind(kind.name), branches, key, path)
        return self._built_in(of, written, path)

    def _built_in(self, of: str, written: CallKeys, path: Path) -> Call:
        if written.wait is not None:
            return Call(kind=Kind.WAIT, arguments={"time": self._given(f"{of}: wait", _TIME, written.wait)})
        if written.wait_until is not None:
            return Call(kind=Kind.WAIT_UNTIL, skill="wait_until", until=written.wait_until)
        if written.ask is not None:
            answers: Results = dict.fromkeys(written.ask.answers, False)
            for error, at in mistakes_of(written.ask, f"{of}: ask"):
                self._add(error, *path, "ask", *at)
            text = self._text(f"{of}: ask", written.ask.text)
            return Call(
                kind=Kind.ASK,
                arguments={"text": text},
                answers=written.ask.answers,
                titles=written.ask.titles,
                results=with_standard(answers),
            )
        if written.set is not None:
            declared = {p.name: p for p in self.template.values}
            found = {}
            for name, value in written.set.items():
                with self.mistakes.collect(self.template.places, *path, "set", name):
                    if name not in declared:
                        raise DefinitionError(
                            f"{of}: unknown value {name!r}", expected=unknown("value", name, declared)
                        )
                    found[name] = self._given(f"{of}: set", declared[name], value)
            return Call(kind=Kind.SET, arguments=found)
        if written.log is not None:
            self.state.refuse_unknown(written.log, f"{of}: log")
            self.substitution.parameter("text", written.log, "", f"{of}: log")  # any value
            return Call(kind=Kind.LOG, arguments={"text": Given(value=written.log)})
        return Call(kind=Kind.LEAF, skill="say", arguments={"text": self._text(f"{of}: say", written.say)})

    def _parallel(
        self, of: str, kind: Kind, branches: Mapping[str, CallKeys], key: tuple[str, ...], path: Path
    ) -> Call:
        found = {}
        for name, branch in branches.items():
            _refuse_only(name, f"{of}: branch")
            place = (*path, kind.value, name)
            with self.mistakes.collect(self.template.places, *place):
                if name in STANDARD:
                    raise DefinitionError(f"{of}: branch {name!r}", expected="a name that no result has")
                found[name] = self._call(branch, (*key, name), place)
        results: Results = dict.fromkeys(found, False) if kind == Kind.FIRST_OF else {}
        outputs = tuple(f"{name}.{output}" for name, call in found.items() for output in call.outputs)
        return Call(kind=kind, branches=found, results=with_standard(results), outputs=outputs)

    def _skill(self, of: str, written: CallKeys, reference: str, key: tuple[str, ...], path: Path) -> Call:
        try:
            skill = self.catalogue.find(reference)
        except DefinitionError as error:
            self._add(error, *path, "skill")
            return Call(kind=Kind.LEAF, skill=reference)
        if skill.problem:
            self._add(DefinitionError(f"{of}: skill {reference!r} has mistakes: {skill.problem}"), *path, "skill")
        self.called[key] = skill
        if not may_call(self.template.level, skill.level, strict=self.strict):
            lower = LEVELS[: LEVELS.index(self.template.level)]
            self._add(
                DefinitionError(
                    f"{of}: a {self.template.level} calls {reference!r}, a {skill.level}",
                    expected=f"a skill of level {lower[-1] if self.strict and lower else ', '.join(lower) or 'none'}",
                ),
                *path, "skill",
            )  # fmt: skip
        arguments = self._arguments(of, written, skill, path)
        parts = self._parts(of, written, skill, path)
        is_graph = isinstance(skill.template, SkillTemplate)
        is_type = isinstance(skill.template, DeclaredType)
        if written.until and not is_type:
            self._add(DefinitionError(f"{of}: until", expected="an action type", got=repr(reference)), *path, "until")
        if is_type and not written.until and not _has_done(skill):
            self._add(
                DefinitionError(f"{of}: {reference!r} never ends by itself", expected="`until`: a condition"), *path
            )
        return Call(
            kind=Kind.GRAPH if is_graph else Kind.LEAF,
            skill=reference,
            arguments=arguments,
            parts=parts,
            until=written.until,
            results=skill.results,
            outputs=tuple(skill.outputs),
        )

    def _arguments(self, of: str, written: CallKeys, skill: Skill, path: Path) -> dict[str, Given]:
        declared = {p.name: p for p in skill.parameters}
        found = {}
        for name, value in written.with_.items():
            with self.mistakes.collect(self.template.places, *path, "with", name):
                if name not in declared:
                    raise DefinitionError(
                        f"{of}: skill {skill.name!r} has no parameter {name!r}",
                        expected=unknown("parameter", name, declared),
                    )
                found[name] = self._given(of, declared[name], value)
        with self.mistakes.collect(self.template.places, *path, "with"):
            missing = [p for p in skill.parameters if p.name not in written.with_]
            values_of(missing, [], of=f"{of}: skill {skill.name!r}")
        return found

    def _parts(self, of: str, written: CallKeys, skill: Skill, path: Path) -> dict[str, str]:
        roles = {role.name: role for role in skill.roles}
        for name in written.parts:
            if name not in roles:
                error = DefinitionError(
                    f"{of}: skill {skill.name!r} has no role {name!r}", expected=unknown("role", name, roles)
                )
                self._add(error, *path, "parts", name)
        found = {}
        for name, role in roles.items():
            part = written.parts.get(name) or role.default
            if not part:
                self._add(
                    DefinitionError(
                        f"{of}: no part for role {name!r} of {skill.name!r}",
                        expected=f"parts: {{{name}: <{role.shown_kinds}>}}",
                    ),
                    *path,
                )
                continue
            found[name] = part
            if name in written.parts:
                self._check_part(f"{of}: part of role {name!r}", part, (*path, "parts", name))
            kinds = self._kinds(part)
            if kinds is not None and role.kinds and not set(kinds) & set(role.kinds):
                self._add(
                    DefinitionError(
                        f"{of}: part {part!r} does not fit role {name!r} of {skill.name!r}",
                        expected=f"a part of kind {role.shown_kinds}",
                        got=" or ".join(kinds),
                    ),
                    *path, "parts", name,
                )  # fmt: skip
            elif kinds is None and name not in written.parts:
                self._check_part(f"{of}: the default part of role {name!r} of {skill.name!r}", part, path)
        return found

    def _kinds(self, part: str) -> tuple[str, ...] | None:
        """The kinds of a part, or of a role of this skill; None: it is not known."""
        for role in self.template.roles:
            if role.name == part:
                return role.kinds or None
        found = self.catalogue.workcell.part(part)
        return found.kinds if found is not None else None

    def _check_part(self, what: str, part: str, path: Path) -> None:
        roles, parts = self.template.content.roles, self.catalogue.workcell.parts
        if part not in roles and parts is not None and part not in parts:
            self._add(DefinitionError(what, expected=unknown("part", part, {*roles, *parts}), got=repr(part)), *path)

    # --- values ---------------------------------------------------------------------------------

    def _text(self, of: str, value: Any) -> Given:
        return self._given(of, _TEXT, ValueWithUnit.model_construct(value=value, unit=""))

    def _given(self, of: str, declared: Parameter, written: ValueWithUnit) -> Given:
        """A value for a parameter, checked as far as it is known before a run.

        Raises:
            DefinitionError: unknown reference, or not as declared.
        """
        value = written.value if declared.type == "text" else self.state.number(written.value)
        self.state.refuse_unknown([*value] if isinstance(value, tuple) else value, of)
        found, sampled = self.substitution.parameter(declared.name, value, written.unit, of)
        if sampled:
            self.state.refuse_type(value, declared, of)
            if isinstance(found.value, str) != (declared.type == "text"):
                kind = "a text" if declared.type == "text" else "a number or boolean"
                raise DefinitionError(
                    f"{of}: parameter {declared.name!r}: wrong type", expected=kind, got=repr(written.value)
                )
            sample = samples_of([declared])[declared.name].value
            found = ParameterValue(name=declared.name, value=sample, unit=found.unit if declared.unit else "")
        values_of([declared], [found], of=of, only_given=True)
        return Given(value=value, unit=written.unit)

    def _is_node(self, id: str, of: str, *path: str | int) -> bool:
        nodes = self.template.content.nodes
        if id in nodes:
            return True
        unreadable = id in (self.template.places.data.get("nodes") or {})  # reported with the node
        if not unreadable:
            self._add(DefinitionError(f"{of}: unknown node", expected=unknown("node", id, nodes), got=repr(id)), *path)
        return False

    def _add(self, error: DefinitionError, *path: str | int) -> None:
        with self.mistakes.collect(self.template.places, *path):
            raise error


def _refuse_only(name: str, of: str) -> None:
    if name == ONLY:
        raise DefinitionError(f"{of} {name!r}", expected="another name: this one is that of an `is`")


def _calls(written: CallKeys) -> Iterable[tuple[tuple[str, ...], CallKeys]]:
    """A call and those of its branches, with their names."""
    yield (), written
    for _, branches in branches_in(written):
        for name, branch in branches.items():
            yield from (((name, *inner), call) for inner, call in _calls(branch))


def _has_done(skill: Skill) -> bool:
    assert isinstance(skill.template, DeclaredType)
    return any(v.name == "is_done" for v in skill.template.state_variables)
