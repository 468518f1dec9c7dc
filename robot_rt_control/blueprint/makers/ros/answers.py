"""What a skill made of ROS sends, and what its answer means; checked before a run against the installed types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.results import CANCELLED, DONE, FAILED, with_standard
from robot_rt_control.blueprint.makers.ros.fields import Numbers, check_path, filled, output_of, type_of
from robot_rt_control.blueprint.makers.ros.starts import Found, mistakes_of
from robot_rt_control.blueprint.text.schema import RosKeys, StartTopicKeys
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.conditions.evaluation import evaluate_ast
from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import variables
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.program.declarations import samples_of
from robot_rt_control.program.expression import KnownParameter
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.vocabulary.errors import DefinitionError

KINDS = {"ros_action": "action", "ros_service": "srv", "publish": "msg", "topic": "msg"}
_SENT = {"ros_action": "Goal", "ros_service": "Request"}
_ANSWERED = {"ros_action": "Result", "ros_service": "Response"}
_REASONS = ("message", "error_msg", "error_string", "error_message", "status_message", "reason")
"""Fields in which answers say why."""


def sent_type(key: str, kind: Any) -> Any:
    """The class of what is sent."""
    return getattr(kind, _SENT[key]) if key in _SENT else kind


def answered_type(key: str, kind: Any) -> Any:
    """The class of the answer."""
    return getattr(kind, _ANSWERED[key]) if key in _ANSWERED else kind


class InstalledTypes:
    """The message types of this installation, as a catalogue's `Interfaces`."""

    def check(self, kind: str, keys: RosKeys, template: SkillTemplate) -> None:
        """Raises DefinitionError: the type is not installed, or has no such fields."""
        type = type_of(KINDS[kind], keys.type)
        roles = {role.name: role.name for role in template.roles}
        substitution = Substitution(samples_of(template.parameters), roles)
        fill(sent_type(kind, type), getattr(keys, "fields", {}), substitution)
        answer = answered_type(kind, type)
        for path in getattr(keys, "outputs", {}).values():
            check_path(answer, path)
        ends = getattr(keys, "results", ())
        for condition in (getattr(keys, "when", ""), *(end.when for end in ends)):
            if condition:
                tree = parse_condition(substitution.condition(condition, "when"), computed=True)
                for variable in variables(tree):
                    check_path(answer, variable.name)
        for end in ends:
            if end.on and kind != "ros_action":
                raise DefinitionError("results: on", expected="only with a ros_action", got=", ".join(end.on))

    def mistakes_of_start(self, keys: StartTopicKeys, parameters: Sequence[Parameter]) -> Found:
        """As a catalogue's `Interfaces` has it."""
        return mistakes_of(keys, parameters)


def fill(kind: Any, fields: Mapping[str, Any], substitution: Substitution) -> Any:
    """The message to send. Raises DefinitionError."""
    return filled(kind, fields, lambda text: substitution.value(text, "fields").value)


def values_of_order(order: orders.StartSkill) -> Substitution:
    """The present values of a skill's parameters and roles."""
    known = {p.name: KnownParameter(value=p.value, unit=p.unit) for p in order.arguments}
    return Substitution(known, order.parts)


def holds(condition: str, message: Any, substitution: Substitution) -> bool:
    """Whether a condition over the fields of a message is true; empty: yes."""
    if not condition:
        return True
    tree = parse_condition(substitution.condition(condition, "when"), computed=True)
    return evaluate_ast(tree, Numbers(message)) is True


def ending(
    order: orders.StartSkill, keys: Any, template: SkillTemplate, substitution: Substitution, status: str, message: Any
) -> events.Ended:
    """How a skill ends by an answer.

    Args:
        status: one of STATUSES; of services and topics "succeeded".
        message: the answer; None: there is none.
    """
    results = with_standard(template.results)
    found = {"succeeded": DONE, "canceled": CANCELLED}.get(status, FAILED)
    if found == DONE and output_of(message, "success") is False:
        found = FAILED
    for end in keys.results:
        if (not end.on or status in end.on) and holds(end.when, message, substitution):
            found = end.end
            break
    said = next((text for name in _REASONS if isinstance(text := output_of(message, name), str) and text), "")
    reason = f"{keys.name}: {said or status}" if results[found] else ""
    outputs = {name: output_of(message, path) for name, path in keys.outputs.items()}
    return events.Ended(
        activity=order.activity,
        result=found,
        reason=reason,
        outputs={name: value for name, value in outputs.items() if value is not None},
    )
