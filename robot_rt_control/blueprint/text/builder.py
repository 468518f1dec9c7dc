"""Blueprints by code instead of drawing: gives the same text.

blueprint = Builder("tour", parameters={"speed": {"unit": "m/s", "default": 0.05}})
blueprint.node("touch", skill="move_until_contact", values={"speed": "$speed"}, then=[go("lift", on="contact")])
blueprint.node("lift", skill="move_linear", parts={"arm": "arm"}, values={"offset": [0, 0, 0.02]}, until="is_settled")
store.save(blueprint.text())
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.text.dump import dump

Candidate = Mapping[str, Any]


def go(node: str, *, on: str | Sequence[str] = (), when: str = "") -> Candidate:
    """A candidate that leads to a node. `on`: results; left out: every success."""
    return _candidate("go", node, on, when)


def end(result: str, *, on: str | Sequence[str] = (), when: str = "") -> Candidate:
    """A candidate that ends the graph with a result."""
    return _candidate("end", result, on, when)


def _candidate(key: str, value: str, on: str | Sequence[str], when: str) -> Candidate:
    given = {"on": on if isinstance(on, str) else list(on), "when": when, key: value}
    return {name: item for name, item in given.items() if item}


class Builder:
    """One skill in the making.

    Args:
        name: of the skill.
        keys: of the file, as in YAML: level, roles, parameters, results, outputs, values, commands …
    """

    def __init__(self, name: str, **keys: Any) -> None:
        self._data: dict[str, Any] = {"name": name, **keys}
        self._nodes: dict[str, Any] = {}
        self._reactions: list[Any] = []

    def node(
        self,
        id: str,
        *,
        values: Mapping[str, Any] | None = None,
        then: str | Candidate | Sequence[str | Candidate] = (),
        **keys: Any,
    ) -> Builder:
        """Add a node; the first one begins, unless the key `start` says otherwise.

        Args:
            values: of the skill's parameters; the key `with`.
            then: the node that follows, or candidates.
            keys: as in YAML: skill, parts, until, wait, ask, all_of, retry, timeout …

        Raises:
            ValueError: there is a node with this id.
        """
        if id in self._nodes:
            raise ValueError(f"node {id!r} is there already")
        node = dict(keys)
        if values:
            node["with"] = dict(values)
        if then:
            node["then"] = then if isinstance(then, str | Mapping) else list(then)
        self._nodes[id] = node
        return self

    def reaction(self, when: str, go: str, *, at: str = "once") -> Builder:
        """Add a condition that leads to a node from every node."""
        self._reactions.append({"when": when, "go": go, "at": at})
        return self

    def text(self) -> str:
        """The YAML text."""
        data = dict(self._data)
        if self._nodes:
            data.setdefault("start", next(iter(self._nodes)))
            data["nodes"] = self._nodes
        if self._reactions:
            data["reactions"] = self._reactions
        return dump(_plain(data))

    def template(self) -> SkillTemplate:
        """What a catalogue and `check_skill` take. Raises DefinitionError as SkillTemplate."""
        return SkillTemplate(self.text(), source=str(self._data["name"]))


def _plain(value: Any) -> Any:
    """Only what YAML has."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
