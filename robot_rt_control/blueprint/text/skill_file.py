"""Skills and blueprints as YAML.

    name: welcome
    level: blueprint                 # capability, meta_skill, motion_skill, behavior_skill, blueprint
    roles: {hand: {kinds: [arm]}}    # as in programs
    parameters: {guest: {type: text, default: dear guest}}
    results: {staff: {}}             # beside done, failed, timeout, cancelled
    start: look
    nodes:
      look:  {skill: recognise_face, then: [{on: guest, go: greet}, {on: staff, end: staff}]}
      greet: {skill: greet_by_handshake, with: {phrase: $guest}, retry: 1, timeout: 30}
    reactions: [{when: person.distance < 0.5, go: look, at: once}]

schema.py has all keys. Rules: docs/semantics/blueprints.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from robot_rt_control.blueprint.graph.results import STANDARD
from robot_rt_control.blueprint.text.schema import OutputDeclaration, SkillFile
from robot_rt_control.program.reader import declared_parameters, declared_roles
from robot_rt_control.text.document import Document, read_text
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.text.schema import read
from robot_rt_control.vocabulary.capacities import MAX_NODES, MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError


@dataclass(frozen=True, kw_only=True)
class Output:
    """A declared output of a skill.

    Args:
        unit: empty: none, or not known.
    """

    type: str = "float"
    unit: str = ""


class SkillTemplate:
    """A skill's text, read but not yet connected with the skills that it calls.

    Args:
        source: begins every message, with the line.

    Attributes:
        content: all that can be read.
        results: the declared ones → whether it is a failure.
        values: that `set` changes, with their first values as defaults.
        mistakes: of single items, each with its line.

    Raises:
        DefinitionError: not YAML, or not a skill; with the line.
        ProgramError: several such mistakes.
    """

    def __init__(self, text: str, *, source: str = "skill") -> None:
        self.text, self.source = text, source
        self.places = Document(text, source, max_bytes=MAX_PROGRAM_BYTES, aliases=False)
        content, found = read(SkillFile, self.places)
        mistakes = Mistakes()
        mistakes.errors += [error for error, _ in found]
        if content is None:
            mistakes.raise_all()
            raise AssertionError("unreadable without a mistake")
        self.content = content
        self.name, self.level, self.tags = content.name, content.level, content.tags
        self.title = content.title or ""
        self.description = " ".join(content.description.split())
        self.roles = declared_roles(content, self.places, mistakes)
        self.parameters = declared_parameters(content.parameters, self.places, mistakes, content.roles)
        self.values = declared_parameters(content.values, self.places, mistakes, content.roles, "values")
        self.results = {name: given is not None and given.failure for name, given in content.results.items()}
        self.outputs = {name: given or OutputDeclaration() for name, given in content.outputs.items()}
        for error, path in self._contradictions():
            mistakes.errors.append(self.places.locate(error, *path))
        self.mistakes = tuple(mistakes.errors)

    @classmethod
    def load(cls, path: Path | str) -> SkillTemplate:
        """Read a file. Raises as the constructor, or DefinitionError: it cannot be read."""
        path = Path(path)
        return cls(read_text(path, MAX_PROGRAM_BYTES), source=path.name)

    def node_at(self, line: int) -> str:
        """The node in whose text a line is, for showing a mistake there; empty: in none."""
        lines = [(self.places.line("nodes", id), id) for id in self.places.data.get("nodes") or {}]
        keys = [self.places.line(key) for key in self.places.data]
        after = min((n for n in keys if n > self.places.line("nodes")), default=line + 1)
        if line >= after:
            return ""
        return max(((start, id) for start, id in lines if start <= line), default=(0, ""))[1]

    def _contradictions(self) -> list[tuple[DefinitionError, tuple[str, ...]]]:
        content, found = self.content, list[tuple[DefinitionError, tuple[str, ...]]]()
        for name in content.results:
            if name in STANDARD:
                error = DefinitionError(
                    f"result {name!r}", expected="a name that not every skill has already", got=repr(name)
                )
                found.append((error, ("results", name)))
        if content.is_ is not None and content.nodes:
            error = DefinitionError("nodes", expected="either `is` or `nodes`", got="both")
            found.append((error, ("nodes",)))
        if content.is_ is None and not self.places.data.get("nodes"):
            error = DefinitionError("the skill does nothing", expected="`nodes`, or `is`", got="neither")
            found.append((error, ()))
        if len(content.nodes) > MAX_NODES:
            error = CapacityError(
                "too many nodes", expected=f"at most {MAX_NODES} (MAX_NODES)", got=str(len(content.nodes))
            )
            found.append((error, ("nodes",)))
        if content.category and content.level != "capability":
            error = DefinitionError("category", expected="none, except of a capability", got=content.category)
            found.append((error, ("category",)))
        for parameter in self.values:
            if parameter.default is None:
                error = DefinitionError(f"value {parameter.name!r} has no first value", expected="a `default`")
                found.append((error, ("values", parameter.name)))
            if parameter.name in content.parameters:
                error = DefinitionError(f"value {parameter.name!r} has the name of a parameter")
                found.append((error, ("values", parameter.name)))
        return found
