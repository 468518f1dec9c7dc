"""From the executor's data to ROS messages."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from robot_rt_control import msg
from robot_rt_control.blueprint.runs.executor import ExecutorState
from robot_rt_control.blueprint.runs.run import ExecutedRun, NodeView, Start
from robot_rt_control.blueprint.runs.run_history import RunSummary, Statistics
from robot_rt_control.blueprint.skills.skill_library import Entry
from robot_rt_control.blueprint.text.skill_file import Output, SkillTemplate
from robot_rt_control.client.conversions import parameter_messages
from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.program.declarations import Role
from robot_rt_control.ros.conversions import parameter_message, parameter_values, time_message
from robot_rt_control.vocabulary.errors import DefinitionError


def node_message(view: NodeView) -> Any:
    """msg/BlueprintNode."""
    fields = vars(view)
    return msg.BlueprintNode(**{k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()})


def state_message(state: ExecutorState) -> Any:
    """msg/BlueprintState."""
    return msg.BlueprintState(
        tick=state.tick,
        time=state.time,
        nodes=[node_message(view) for view in state.nodes],
        protective_stop=state.protective_stop,
        armed=state.armed,
        waiting=list(state.waiting),
        problem=state.problem,
        skills_changed=state.skills_changed,
    )


def start_of(goal: Any) -> Start:
    """From the goal of action/RunBlueprint.

    Raises:
        DefinitionError: a part is not given as "role=part", or `busy` is no such word.
    """
    parts = {}
    for text in goal.parts:
        role, equals, part = text.partition("=")
        if not equals or not role.strip() or not part.strip():
            raise DefinitionError("parts", expected="role=part", got=repr(text))
        parts[role.strip()] = part.strip()
    return Start(
        skill=goal.skill,
        parameters=parameter_values(goal.parameters),
        parts=parts,
        start_at=goal.start_at,
        outputs_of=goal.outputs_of,
        paused=goal.paused,
        breakpoints=tuple(goal.breakpoints),
        rehearse=goal.rehearse,
        **({"busy": goal.busy} if goal.busy else {}),
        source=goal.source,
    )


def fill_result(result: Any, run: ExecutedRun) -> Any:
    """Fill the result of action/RunBlueprint with how a run ended. Returns it."""
    outcome = run.outcome
    assert outcome is not None  # it has ended
    result.run, result.result = run.id, outcome.result
    result.success, result.message = not outcome.failure, outcome.reason
    values = [ParameterValue(name=name, value=value) for name, value in outcome.outputs.items()]
    result.outputs = parameter_messages(values)
    return result


def skill_message(entry: Entry, statistics: Mapping[str, Statistics], *, with_text: bool) -> Any:
    """msg/SkillInfo."""
    found = statistics.get(entry.name, Statistics())
    info = msg.SkillInfo(
        name=entry.name,
        version=entry.version,
        versions=list(entry.versions),
        origin=entry.origin,
        calls=list(entry.calls),
        moves=list(entry.moves),
        runs=found.runs,
        succeeded=found.succeeded,
        duration=found.duration,
        problem=entry.problem,
        saved=time_message(entry.saved_ns),
        text=entry.text if with_text else "",
    )
    skill = entry.skill
    if skill is None:
        return info
    info.level, info.category, info.description = skill.level, skill.category, skill.description
    info.scenarios = list(skill.scenarios)
    info.parts = [_role(role) for role in skill.roles]
    info.parameters = [parameter_message(p) for p in skill.parameters]
    info.results = [name for name, failure in skill.results.items() if not failure]
    info.failures = [name for name, failure in skill.results.items() if failure]
    info.outputs = [_output(name, output) for name, output in skill.outputs.items()]
    if isinstance(skill.template, SkillTemplate):
        info.tags = list(skill.template.tags)
        commands = skill.template.content.commands
        info.phrases = [phrase for command in commands for phrase in command.say]
        info.gestures = [gesture for command in commands for gesture in command.gesture]
    return info


def _role(role: Role) -> str:
    kinds = ", ".join(str(kind) for kind in role.kinds)
    return f"{role.name}: {kinds}" + (f" ({role.default})" if role.default else "")


def _output(name: str, output: Output) -> Any:
    return msg.ParameterInfo(
        name=name, type=output.type, unit=output.unit, length="1", minimum=-math.inf, maximum=math.inf
    )


def run_line(summary: RunSummary) -> str:
    """A run of a list, as JSON."""
    return json.dumps(asdict(summary))


def record_lines(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Records of a run, as JSON."""
    return [json.dumps(record) for record in records]
