"""All skills by name: action types as capabilities, programs as meta skills, and the skills that users made (N3)."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, cast

from robot_rt_control.blueprint.graph.results import DONE, FAILED, STANDARD, Results, with_standard
from robot_rt_control.blueprint.text.levels import CAPABILITY, META_SKILL
from robot_rt_control.blueprint.text.skill_file import Output, SkillTemplate
from robot_rt_control.definitions.action_type import Parameter, Slot
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.program.declarations import Role
from robot_rt_control.program.exits import exits_of
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.filled_program import FilledProgram
from robot_rt_control.validation.catalogue import Catalogue, KnownPart, moved_parts
from robot_rt_control.validation.scope import Scope, Variables, variables_of_type
from robot_rt_control.vocabulary.capacities import MAX_CALL_DEPTH
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

if TYPE_CHECKING:
    from robot_rt_control.blueprint.text.schema import RosKeys, StartTopicKeys


_USE = re.compile(r"""\buse["']?\s*:""")
"""The key by which a program uses another one; the word within a description is none."""


class Interfaces(Protocol):
    """The message types that are installed."""

    def check(self, kind: str, keys: RosKeys, template: SkillTemplate) -> None:
        """Check what a skill made of ROS sends and takes.

        Args:
            kind: the key: ros_action, ros_service, publish, topic.

        Raises:
            DefinitionError: its type is not installed, or has no such fields.
        """

    def mistakes_of_start(
        self, keys: StartTopicKeys, parameters: Sequence[Parameter]
    ) -> Iterable[tuple[DefinitionError, tuple[str | int, ...]]]:
        """What is wrong with messages that start a blueprint, each with the keys that it concerns.

        Args:
            parameters: of the blueprint.
        """


@dataclass(frozen=True, kw_only=True)
class Skill:
    """What callers know of a skill.

    Args:
        results: all of them.
        outputs: those that it can give.
        given: result → the outputs that surely come with it; a result that is missing: none.
        moves: roles, or parts, that it moves itself; of a graph: see the skills that it calls.
        template: a user's skill, a program, or an action type.
        problem: why it cannot be used; empty: it can.
    """

    name: str
    level: str
    category: str = ""
    description: str = ""
    scenarios: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    results: Results = field(default_factory=lambda: STANDARD)
    outputs: Mapping[str, Output] = field(default_factory=dict)
    given: Mapping[str, frozenset[str]] = field(default_factory=dict)
    moves: frozenset[str] = frozenset()
    template: SkillTemplate | ProgramTemplate | DeclaredType
    problem: str = ""


class SkillCatalogue:
    """The skills of one moment; later changes of a store do not show (P14).

    Args:
        workcell: action types, parts and state variables.
        programs: kept and shipped programs by name, or by name and version.
        skills: likewise.
        made: of Python functions, by name.
        interfaces: None: skills made of ROS are checked where they run.
    """

    def __init__(
        self,
        workcell: Catalogue,
        programs: Mapping[str, ProgramTemplate],
        skills: Mapping[str, SkillTemplate],
        *,
        made: Mapping[str, SkillTemplate] | None = None,
        interfaces: Interfaces | None = None,
    ) -> None:
        self.workcell, self.programs, self.skills = workcell, programs, skills
        self.made, self.interfaces = made or {}, interfaces
        self._types = {name: t for name, t in (workcell.types or {}).items() if _is_callable(t)}
        self._found: dict[str, Skill] = {}
        """Users' skills."""
        self._existing: dict[str, Skill] = {}
        """Programs and action types: reading a program takes milliseconds, so copies of the catalogue share them."""

    def with_skill(self, template: SkillTemplate) -> SkillCatalogue:
        """This catalogue with one more skill, or another version of one."""
        own = cast("dict[str, SkillTemplate]", self.skills)  # it may be lazy
        return self.with_skills(ChainMap({template.name: template}, own))

    def with_skills(self, skills: Mapping[str, SkillTemplate]) -> SkillCatalogue:
        """This catalogue with other skills, beside the same programs and action types."""
        found = SkillCatalogue(self.workcell, self.programs, skills, made=self.made, interfaces=self.interfaces)
        found._existing = self._existing
        return found

    def names_for(self, roles: Iterable[Role]) -> Scope:
        """The state variables that a skill with these roles can name; of an action type under `type NAME`."""
        known = {
            role.name: KnownPart(kinds=role.kinds, candidates=self.workcell.candidates(role.kinds)) for role in roles
        }
        return Scope(replace(self.workcell, roles=known), self._type_variables)

    @cached_property
    def _type_variables(self) -> Mapping[str, Variables]:
        return {f"type {name}": variables_of_type(t) for name, t in (self.workcell.types or {}).items()}

    def keep_programs(self, earlier: SkillCatalogue, unchanged: Collection[str]) -> None:
        """Share what an earlier catalogue of the same workcell has read.

        Args:
            unchanged: programs whose newest version is the same. Those that use others are read again.
        """
        for name, skill in list(earlier._existing.items()):
            template = skill.template
            if not isinstance(template, ProgramTemplate) or (name in unchanged and not _USE.search(template.text)):
                self._existing[name] = skill

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all skills, without versions."""
        return tuple(sorted(n for n in {*self._types, *self.programs, *self.skills, *self.made} if "@" not in n))

    def all(self) -> Iterable[Skill]:
        """All skills, by name."""
        return map(self.find, self.names)

    def find(self, reference: str) -> Skill:
        """A skill by its name, or by name and version. Several threads may look at a time.

        Raises:
            DefinitionError: there is none.
        """
        return self._find(reference, ())

    def _find(self, reference: str, callers: tuple[str, ...]) -> Skill:
        if reference in self._found:
            return self._found[reference]
        for templates in (self.skills, self.made):
            if reference in templates:
                self._found[reference] = self._of_file(reference, templates[reference], callers)
                return self._found[reference]
        if reference not in self._existing:
            if reference in self.programs:
                self._existing[reference] = self.of_program(reference, self.programs[reference])
            elif reference in self._types:
                self._existing[reference] = _of_type(self._types[reference])
            else:
                raise DefinitionError(
                    f"unknown skill {reference!r}", expected=unknown("skill", reference, self.names)
                )
        return self._existing[reference]

    def _of_file(self, name: str, template: SkillTemplate, callers: tuple[str, ...]) -> Skill:
        content, results, outputs = template.content, template.results, template.outputs
        found = {key: Output(type=o.type, unit=o.unit) for key, o in outputs.items()}
        given: Mapping[str, frozenset[str]] = {
            result: frozenset(found) for result, failure in with_standard(results).items() if not failure
        }
        all_results = with_standard(results)
        if content.is_ is not None and content.is_.skill and not outputs:
            called = self._called((*callers, name), content.is_.skill)  # it ends as its call does
            if called is not None:
                found, given = dict(called.outputs), called.given
                all_results = called.results if not results else all_results
        return Skill(
            name=name,
            level=template.level,
            category=content.category,
            description=template.description,
            scenarios=content.scenarios,
            roles=template.roles,
            parameters=template.parameters,
            results=all_results,
            outputs=found,
            given=given,
            moves=frozenset(r.name for r in template.roles if content.is_ is not None and content.is_.made),
            template=template,
            problem="\n".join(map(str, template.mistakes)),
        )

    def _called(self, callers: tuple[str, ...], reference: str) -> Skill | None:
        """The skill that another one is; None: it is not known, or leads back, which is reported by the check."""
        if reference in callers or len(callers) > MAX_CALL_DEPTH:
            return None
        try:
            return self._find(reference, callers)
        except DefinitionError:
            return None

    def of_program(self, name: str, template: ProgramTemplate) -> Skill:
        """A program as a meta skill."""
        try:
            filled: FilledProgram | None = template.sample()
            assert filled is not None
            exits, problem = exits_of(filled.draft), "\n".join(map(str, filled.mistakes))
        except DefinitionError as error:
            exits, problem, filled = {}, str(error), None
        results = {exit: template.exits.get(exit, exit == FAILED) for exit in exits}
        types = self.workcell.types or {}
        moves: set[str] = set()
        for action in filled.draft.actions if filled is not None else ():
            parts = action.parts.values() if isinstance(action.parts, Mapping) else action.parts
            moves |= {*(moved_parts(types[action.type], action.parts) if action.type in types else parts)}
        known = {role.name: KnownPart(kinds=role.kinds, candidates=self.workcell.candidates(role.kinds))
                 for role in template.roles}  # fmt: skip
        scope = Scope(replace(self.workcell, roles=known), _action_variables(types, filled))
        names = {captured for each in exits.values() for captured in each}
        return Skill(
            name=name,
            level=META_SKILL,
            description=template.description,
            roles=template.roles,
            parameters=template.parameters,
            results=with_standard(results),
            outputs={captured: _output(scope, captured) for captured in sorted(names)},
            # Who runs a program can also report the standard results, without values.
            given={exit: frozenset(found) for exit, found in exits.items() if exit not in STANDARD},
            moves=frozenset(moves),
            template=template,
            problem=problem,
        )


def _action_variables(
    types: Mapping[str, DeclaredType], filled: FilledProgram | None
) -> dict[str, Variables | None]:
    actions = filled.draft.actions if filled is not None else ()
    return {a.id: variables_of_type(types[a.type]) if a.type in types else None for a in actions}


def _output(scope: Scope, captured: str) -> Output:
    try:
        ref = scope.resolve(captured, "")
    except KeyError:
        ref = None
    return Output() if ref is None else Output(type=ref.type, unit=ref.unit)


def _is_callable(declared: DeclaredType) -> bool:
    """Neither a law of a strategy, nor a motion group, whose commands are no parameters."""
    return declared.name != "motion_group" and set(declared.slots[0].kinds) != {PartKind.AXIS}


def _kinds(slot: Slot) -> tuple[str, ...]:
    """Kinds of parts; a type that can also be a law has another one beside them."""
    return tuple(kind.name.lower() for kind in slot.kinds if kind != PartKind.AXIS)


def _of_type(declared: DeclaredType) -> Skill:
    """An action type as a capability. Units and lengths that depend on the part are not checked before it starts."""
    parameters = tuple(
        replace(
            p,
            length="any" if p.length == "dof" else p.length,
            unit="" if p.unit in ("joint", "joint/s", "effort") else p.unit,
        )
        for p in declared.parameters
    )
    moving = [slot.name for slot in declared.slots if slot.moves]
    return Skill(
        name=declared.name,
        level=CAPABILITY,
        category="part_control" if moving else "sensing",
        description=declared.description.partition("\n")[0],
        roles=tuple(Role(name=s.name, kinds=_kinds(s)) for s in declared.slots),
        parameters=parameters,
        results=with_standard({DONE: False}),
        moves=frozenset(moving),
        template=declared,
    )
