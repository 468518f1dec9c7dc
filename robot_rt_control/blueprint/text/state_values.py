"""Values of state variables in a skill's text: `${below.distance}` in texts, `below.distance` for a number (N55)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from robot_rt_control.blueprint.graph.plan import ONLY
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.parameter_value import Value
from robot_rt_control.program.expression import KnownParameter, references
from robot_rt_control.validation.scope import Scope
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

SAMPLES: Mapping[str, Any] = {"float": 1.5, "int": 1, "bool": True, "text": "text"}
"""A value for each type of output and state variable, so that what uses it can be computed before a run."""
_IN_BRACES = re.compile(r"\$\{([^{}]*)\}")
_ALONE = re.compile(r"\$([A-Za-z_][\w.]*)(\[\d+\])?")
_BARE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\[\d+\])?")
"""The name of a part's state variable, or of an element of a vector: below.distance, arm.position[2]."""


class StateValues:
    """The state variables of parts and roles whose values one skill uses.

    Args:
        known: what can be computed with; each state variable that is found is added, with a sample.

    Attributes:
        samples: those that were found → a value of their type, float, int or bool, and length.
    """

    def __init__(self, template: SkillTemplate, catalogue: SkillCatalogue, known: dict[str, KnownParameter]) -> None:
        self._template, self._catalogue, self._known = template, catalogue, known
        self.samples: dict[str, Value] = {}
        is_ = template.content.is_
        self._others = template.content.nodes if is_ is None else (ONLY,)
        """Nodes: `$seat.wish` is an output."""
        if is_ is None or not is_.made:  # code and other nodes get parameters alone
            for text in texts_in(template.places.data):
                for name in references(text):
                    self.has(name)

    @cached_property
    def names(self) -> Scope:
        """All state variables, with those of the skill's roles."""
        return self._catalogue.names_for(self._template.roles)

    def has(self, name: str) -> bool:
        """Whether a reference is the value of a state variable; then it can be computed with."""
        if name in self._known or "." not in name or name.split(".")[0] in self._others:
            return name in self.samples
        try:
            ref = self.names.resolve(name, "")
        except KeyError:
            return False
        sample: Any = SAMPLES["float" if ref is None else ref.type]
        self.samples[name] = value = (sample,) * ref.length if ref is not None and ref.length > 1 else sample
        self._known[name] = KnownParameter(value=value, unit="" if ref is None else ref.unit, sampled=True)
        return True

    def refuse_unknown(self, texts: Any, of: str) -> None:
        """Raises DefinitionError: a part or role has no such state variable."""
        parts = {*self._template.content.roles, *(self._catalogue.workcell.parts or ())}
        for name in sorted({name for text in texts_in(texts) for name in references(text)}):
            head, dot, _ = name.partition(".")
            if dot and head in parts and not self.has(name):
                known = list(self.names.known(""))
                raise DefinitionError(f"{of}: unknown ${name}", expected=unknown("state variable", name, known))

    def refuse_type(self, value: Any, declared: Parameter, of: str) -> None:
        """Raises DefinitionError: a state variable alone is not of the type or length of what it is given to."""
        found = _ALONE.fullmatch(value.strip()) if isinstance(value, str) else None
        if found is None or found[1] not in self.samples:
            return
        sample = self.samples[found[1]]
        kind = type(sample[0] if isinstance(sample, tuple) else sample).__name__
        length = len(sample) if isinstance(sample, tuple) and found[2] is None else 1
        fits = {"float": ("float", "int"), "int": ("int",), "bool": ("bool",)}.get(declared.type, (kind,))
        if kind not in fits or (declared.length != "any" and length != declared.length):
            shown = f"{length} of type {kind}" if length > 1 else f"a {kind}"
            wanted = declared.type if declared.length == 1 else f"{declared.length} of type {declared.type}"
            raise DefinitionError(f"{of}: {declared.name!r}", expected=wanted, got=f"${found[1]}, {shown}")

    def number(self, written: Any) -> Any:
        """A number as it is computed: a state variable may be written by its bare name, and as in a text."""
        if isinstance(written, tuple):
            return tuple(map(self.number, written))
        if not isinstance(written, str):
            return written
        bare = _IN_BRACES.fullmatch(written.strip())
        name = bare[1] if bare else written.strip()
        if bare or (_BARE.fullmatch(name) and self.has(name.partition("[")[0])):
            return f"${name}"
        return written


def texts_in(value: Any) -> Iterable[str]:
    """All texts in a value of YAML."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(item)
