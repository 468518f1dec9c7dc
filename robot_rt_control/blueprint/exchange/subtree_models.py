"""Models of trees (BehaviorTree.CPP 4.4): the ports that a call of a tree has, and what they are when left out."""

from __future__ import annotations

from dataclasses import dataclass

from robot_rt_control.blueprint.exchange.elements import WITHOUT_MEANING, attribute, flag
from robot_rt_control.blueprint.exchange.ports import entry_of
from robot_rt_control.blueprint.exchange.xml_reader import Element
from robot_rt_control.vocabulary.errors import DefinitionError

_TAGS = ("input_port", "output_port", "inout_port")


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port of a tree.

    Args:
        entry: of the calling tree, that it is when left out; empty: none.
        value: what it is when left out, as it is written; empty: none.
        element: where it is declared.
    """

    entry: str = ""
    value: str = ""
    element: Element


Models = dict[str, dict[str, Port]]
"""ID of a tree → its ports."""


def read_models(root: Element) -> Models:
    """The models of trees of a file.

    Raises:
        DefinitionError: a port or a default is not valid, or declared twice; with its line.
    """
    found: Models = {}
    for models in root.children:
        if models.tag != "TreeNodesModel":
            continue
        for model in models.children:
            if model.tag != "SubTree":
                continue
            ports = found.setdefault(attribute(model, "ID"), {})
            for element in model.children:
                if element.tag in _TAGS:
                    name = attribute(element, "name")
                    if name in ports:
                        raise element.mistake(f"a second port {name!r}")
                    ports[name] = _port(element, name)
    return found


def _port(element: Element, name: str) -> Port:
    text = element.attributes.get("default", "")
    try:
        entry = name if text == "{=}" else entry_of(text)
    except DefinitionError as error:
        raise element.located(error) from None
    if element.tag == "output_port" and text and not entry:
        raise element.mistake(f"port {name!r} is an output", expected="an entry such as {found}", got=repr(text))
    return Port(entry=entry, value="" if entry else text, element=element)


def given_ports(call: Element, ports: dict[str, Port], known: list[str]) -> dict[str, str]:
    """What a call of a tree says of its ports. A value that the model gives is the tree's own default, and not among
    them.

    Args:
        ports: of the tree's model; empty: it has none.
        known: entries of the tree that `_autoremap` hands over.

    Raises:
        DefinitionError: a port without a default is left out.
    """
    given = {
        name: f"{{{name}}}" if text == "{=}" else text
        for name, text in call.attributes.items()
        if name != "ID" and name not in WITHOUT_MEANING
    }
    if flag(call, given.pop("_autoremap", "false")):
        return {**{name: f"{{{name}}}" for name in known}, **given}
    for name, port in ports.items():
        if name in given:
            continue
        if port.entry:
            given[name] = f"{{{port.entry}}}"
        elif not port.value:
            id = call.attributes["ID"]
            expected = f"the port {name}, which has no default in the model of the tree (line {port.element.line})"
            raise call.mistake(f'<SubTree ID="{id}">', expected=expected, got="none")
    return given
