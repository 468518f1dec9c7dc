"""The text of a first blueprint: it is valid, and shows what else there is as comments."""

from __future__ import annotations

from collections.abc import Iterator

from robot_rt_control.blueprint.graph.results import STANDARD
from robot_rt_control.blueprint.text.catalogue import Skill, SkillCatalogue
from robot_rt_control.blueprint.text.levels import LEVELS
from robot_rt_control.blueprint.text.schema import SCHEMA_FILE
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.program.declarations import samples_of

_TEXT = """\
# What the robot does, and in which order. Before anything moves:
#   robot-rt-control-blueprint check {name}.yaml --workcell {workcell}
#   robot-rt-control-blueprint draw {name}.yaml
#   robot-rt-control-blueprint run {name}.yaml --rehearse --workcell {workcell}
# yaml-language-server: $schema={schema}
name: {name}
level: blueprint # a skill calls lower levels: capability, meta_skill, motion_skill, behavior_skill, blueprint
description: Says hello, works for some rounds, and says goodbye.
# scenarios: [welcome] # a behavior skill with scenarios is a value skill for them
commands: # what starts it
  - say: ['start {words}', 'do {words} with {{rounds}} rounds'] # a sentence; {{rounds}} fills the parameter
# - gesture: wave
# - {{when: {variable} < 0.5, cooldown: 60}} # by itself, for a time after a person has armed it
parameters:
  rounds: {{type: int, default: 2, minimum: 1, maximum: 100, description: how often it works}}
  pause: {{unit: s, default: 0.5, minimum: 0, description: between two rounds}}
# results: {{nothing_to_do: {{failure: true}}}} # beside done, failed, timeout and cancelled
start: hello
nodes:
  hello:
    say: Hello
    then: work # a single node: it follows a success; a failure that nobody takes ends the blueprint as failed
  work:
    wait: $pause # here a skill of this workcell belongs, such as those at the end of this file
    # retry: 1 # once more after a failure
    # timeout: 30 # [s], for each attempt
    then: # candidates, judged in this order
      - {{when: work.count < $rounds, go: work}}
      # - {{on: failure, go: goodbye}}
      - {{go: goodbye}}
  goodbye:
    say: Goodbye
# reactions: # in any node
#   - {{when: {variable} < 0.1, go: goodbye, at: once}} # at: end waits for the end of the node

# Also: wait_until: a condition; ask: {{text: Again?, answers: ["yes", "no"]}}; log: a text; set: values;
# all_of and first_of: branches side by side.
#
# Skills of this workcell. Those with `...` need values or conditions of yours:
{calls}
"""


def new_blueprint(name: str, workcell: str, catalogue: SkillCatalogue) -> str:
    """The text.

    Args:
        workcell: as the user named it.
        catalogue: the skills that there are.
    """
    variables = catalogue.workcell.variables or {}
    scalar = next((n for n in variables if n.endswith((".distance", ".force.z", ".position"))), "arm.tool.z")
    skills = sorted(catalogue.all(), key=lambda skill: (-LEVELS.index(skill.level), skill.name))
    return _TEXT.format(
        name=name,
        words=name.replace("_", " "),
        workcell=workcell,
        schema=SCHEMA_FILE,
        variable=scalar,
        calls="\n".join(f"#   {line}" for skill in skills for line in _call(skill, catalogue)),
    )


def _call(skill: Skill, catalogue: SkillCatalogue) -> Iterator[str]:
    """A node that calls a skill, if this workcell has parts for it."""
    parts = {}
    for role in skill.roles:
        fitting = catalogue.workcell.candidates(role.kinds)
        if not fitting and role.kinds:
            return
        if fitting and role.default not in fitting:
            parts[role.name] = fitting[0]
    values = {p.name: _sample(p) for p in skill.parameters if p.default is None and not p.optional}
    keys = [f"skill: {skill.name}"]
    keys += [f"parts: {{{', '.join(f'{role}: {part}' for role, part in parts.items())}}}"] if parts else []
    keys += [f"with: {{{', '.join(f'{name}: {value}' for name, value in values.items())}}}"] if values else []
    if isinstance(skill.template, DeclaredType) and all(v.name != "is_done" for v in skill.template.state_variables):
        keys.append("until: ...")
    results = [result for result in skill.results if result not in STANDARD]
    yield f"{skill.name}: {{{', '.join(keys)}}}" + (f"  # ends with {', '.join(results)}" if results else "")


def _sample(parameter: Parameter) -> str:
    value = samples_of([parameter])[parameter.name].value
    return "..." if isinstance(value, str | tuple) else f"{value:g}"
