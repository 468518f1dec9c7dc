"""The TreeNodesModel of skills: what an editor for behavior trees has to know of its leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from robot_rt_control.blueprint.exchange.ports import BUILT_IN, PARTS, UNTIL, own_ports, port_name, written_value
from robot_rt_control.blueprint.exchange.reactive import CONDITION, HOLDS
from robot_rt_control.blueprint.graph.plan import Given
from robot_rt_control.blueprint.text.catalogue import Skill
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.vocabulary.errors import DefinitionError

_TYPES = {"float": "double", "int": "int", "bool": "bool", "text": "std::string"}


def node_models(skills: Sequence[Skill], built_in: Iterable[str], trees: Sequence[Skill] = ()) -> list[str]:
    """The lines of the element TreeNodesModel.

    Args:
        built_in: names; of those that are no built-in leaf nothing is written.
        trees: skills that are trees of the same file.
    """
    lines = [line for skill in skills for line in _model(skill)]
    for name in built_in:
        if name in BUILT_IN:
            port = f'  <input_port name="{BUILT_IN[name]}" type="std::string"/>'
            lines += [f'<Action ID="{name}">', port, "</Action>"]
        elif name == HOLDS:
            port = f'  <input_port name="{CONDITION}" type="std::string"/>'
            lines += [f'<Condition ID="{name}">', port, "</Condition>"]
    for tree in trees:
        ports = [f"  {line}" for line in _ports(tree, unread=f"{tree.name}__{{}}__unread")]
        if ports:
            lines += [f"<SubTree ID={quoteattr(tree.name)}>", *ports, "</SubTree>"]
    return ["<TreeNodesModel>", *(f"  {line}" for line in lines), "</TreeNodesModel>"]


def _model(skill: Skill) -> Iterator[str]:
    moving = bool(skill.moves) or skill.level != "capability"
    tag = "Action" if moving else "Condition"
    taken = own_ports(skill)
    if taken:
        yield f"<!-- {skill.name}: not usable in a tree, because {', '.join(taken)} cannot be a port -->"
        return
    yield f"<{tag} ID={quoteattr(skill.name)}>"
    yield from (f"  {line}" for line in _ports(skill))
    yield f"</{tag}>"


def _ports(skill: Skill, unread: str = "") -> Iterator[str]:
    """The ports. `unread`: of a tree, the entry of outputs that a call leaves out, since a port without default must be
    given."""
    if skill.description:
        yield f"<MetadataFields><Metadata description={quoteattr(skill.description)}/></MetadataFields>"
    for parameter in skill.parameters:
        default = default_text(parameter)
        yield _port("input_port", parameter.name, parameter.type, parameter.length != 1, parameter.unit,
                    parameter.description, default)  # fmt: skip
    if skill.roles:
        roles = "; ".join(
            f"{role.name}: {role.shown_kinds}" + (f" (default {role.default})" if role.default else "")
            for role in skill.roles
        )
        default = ";".join(f"{role.name}={role.default}" for role in skill.roles if role.default)
        yield _port("input_port", PARTS, "text", False, "", f"role=part;… {roles}", default)
    if isinstance(skill.template, DeclaredType):
        yield _port("input_port", UNTIL, "text", False, "", "the condition that ends it", "")
    for name, output in skill.outputs.items():
        default = f"{{{unread.format(port_name(name))}}}" if unread else ""
        yield _port("output_port", port_name(name), output.type, False, output.unit, "", default)


def _port(tag: str, name: str, type: str, is_list: bool, unit: str, about: str, default: str) -> str:
    shown = f"std::vector<{_TYPES[type]}>" if is_list else _TYPES[type]
    given = f" default={quoteattr(default)}" if default else ""
    text = " ".join(filter(None, (" ".join(about.split()), f"[{unit}]" if unit else "")))
    head = f"<{tag} name={quoteattr(name)} type={quoteattr(shown)}{given}"
    return f"{head}>{escape(text)}</{tag}>" if text else f"{head}/>"


def default_text(parameter: Parameter) -> str:
    """The default of a parameter as a port has it; empty: none, or one that cannot be written so."""
    if parameter.default is None:
        return ""
    try:
        return written_value(Given(value=parameter.default), parameter)
    except DefinitionError:  # a text in braces
        return ""
