"""From what somebody wants to run to a checked run: its plan, its parts, and the versions of all that it calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from robot_rt_control.blueprint.engine.engine import Engine
from robot_rt_control.blueprint.graph.plan import read_path
from robot_rt_control.blueprint.runs.run import ExecutedRun, Start, read_breakpoints
from robot_rt_control.blueprint.runs.run_history import RunHistory
from robot_rt_control.blueprint.runs.run_log import outputs_of
from robot_rt_control.blueprint.skills.skill_library import SkillLibrary
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import Skill, SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.text.dump import dump
from robot_rt_control.vocabulary.errors import DefinitionError, unknown
from robot_rt_control.vocabulary.names import REFERENCE_PATTERN

_REFERENCE = re.compile(REFERENCE_PATTERN)


def planned_run(start: Start, library: SkillLibrary, history: RunHistory, now: float) -> ExecutedRun:
    """A run, checked but not begun.

    Args:
        history: for the outputs of an earlier run.
        now: [s] of the loop's time.

    Raises:
        DefinitionError, ProgramError: what is wrong with the skill, its values or parts; each with its line.
        RobotControlError: the control server does not tell its programs.
    """
    catalogue, name, start = _found(start, library)
    calls, skill = Calls(catalogue), catalogue.find(name)
    template = skill.template
    assert isinstance(template, SkillTemplate)
    check_skill(template, catalogue)
    plan = calls.plan(name)
    for called in plan.graphs:
        inner = catalogue.find(called).template
        if called != name and isinstance(inner, SkillTemplate):
            check_skill(inner, catalogue)
    roles = {role.name: role.default for role in skill.roles if role.default} | dict(start.parts)
    for role in skill.roles:
        if role.name not in roles:
            raise DefinitionError(f"skill {name!r}: no part for role {role.name!r}", expected=role.shown_kinds)
    for given in roles:
        if given not in {role.name for role in skill.roles}:
            known = unknown("role", given, [role.name for role in skill.roles])
            raise DefinitionError(f"skill {name!r} has no role {given!r}", expected=known)
    _check_parts(name, skill, roles, catalogue)
    read_breakpoints(start.breakpoints, plan)
    if start.start_at:
        plan.find(read_path(start.start_at))
    called_names = dict.fromkeys([*plan.graphs, *(c.skill for g in plan.graphs.values()
                                  for n in g.nodes.values() for c in n.call.inner() if c.skill)])  # fmt: skip
    run = ExecutedRun(
        start=start,
        skill=template.name or name,
        plan=plan,
        catalogue=catalogue,
        roles=roles,
        parts=tuple(sorted({roles.get(part, part) for part in calls.moved_parts(name)})),
        versions={**library.versions(catalogue, called_names), **_pinned(name)},
        outputs=outputs_of(history.records(start.outputs_of)) if start.outputs_of else {},
        asked=now,
    )
    refused = Engine(plan).refuses(run.beginning)  # before a session is opened and a log begun
    if refused:
        raise DefinitionError(f"blueprint {run.skill!r} cannot begin: {refused}")
    return run


def _pinned(reference: str) -> dict[str, int]:
    """The version that a start names: "tour@2"."""
    name, _, version = reference.partition("@")
    return {name: int(version)} if version else {}


def _check_parts(name: str, skill: Skill, roles: Mapping[str, str], catalogue: SkillCatalogue) -> None:
    """Raises DefinitionError: there is no such part, or it is none of the role's kinds."""
    parts = catalogue.workcell.parts
    if parts is None:
        return
    for role in skill.roles:
        part = roles[role.name]
        if part not in parts:
            raise DefinitionError(f"unknown part {part!r}", expected=unknown("part", part, parts))
        kind = parts[part].kinds[0]
        if role.kinds and kind not in role.kinds:
            raise DefinitionError(
                f"skill {name!r}: part for role {role.name!r}", expected=role.shown_kinds, got=f"{part!r}, a {kind}"
            )


def _found(start: Start, library: SkillLibrary) -> tuple[SkillCatalogue, str, Start]:
    """The catalogue for a run, the name of the graph in it, and what is left to be given to that."""
    catalogue, text = library.snapshot(), start.skill
    if _REFERENCE.fullmatch(text.strip()):
        name = text.strip()
        skill = catalogue.find(name)
        if isinstance(skill.template, SkillTemplate):
            return catalogue, name, start
        text = _wrapped(name, start.parameters, start.parts, [role.name for role in skill.roles])
        start = replace(start, parameters=(), parts={})
    template = SkillTemplate(text)
    if not template.name:
        raise DefinitionError("the skill has no name", expected="name: … at its top", got="none")
    return catalogue.with_skill(template), template.name, start


def _wrapped(name: str, parameters: Iterable[ParameterValue], parts: Mapping[str, str], roles: Iterable[str]) -> str:
    """A text that calls one program or action type."""
    values = {
        p.name: {"value": _written(p.value), "unit": p.unit} if p.unit else _written(p.value) for p in parameters
    }
    call = {"skill": name, "with": values, "parts": {role: parts[role] for role in roles if role in parts}}
    return dump({"name": f"run_{name.partition('@')[0].replace('.', '_')}", "is": {k: v for k, v in call.items() if v}})


def _written(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_written(v) for v in value] if len(value) != 1 else _written(value[0])
    return value.replace("$", "$$") if isinstance(value, str) else value
