"""Programs that are used as states of other programs: found, filled in, and checked against the state that uses them.

Rules: docs/semantics/composing.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.program.declarations import parts_of, samples_of, values_of
from robot_rt_control.program.exits import Exits
from robot_rt_control.program.filled_program import FilledProgram, Find, Use
from robot_rt_control.program.schema import UseState
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.text.document import Document, Path
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.capacities import MAX_USE_DEPTH
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, ProgramError, raise_all, unknown


@dataclass(frozen=True, kw_only=True)
class UsedProgram:
    """A used program with its values and parts, not yet connected with the other states."""

    state: str
    written: UseState
    filled: FilledProgram
    exits: Exits

    def inner(self, id: str) -> str:
        """The id in the flat program of one of its states."""
        return f"{self.state}__{id}"

    @property
    def start(self) -> tuple[str, ...]:
        return tuple(map(self.inner, self.filled.draft.start))

    @property
    def label(self) -> str:
        """How messages name it."""
        return _uses(self.written)

    @property
    def uses(self) -> Iterator[Use]:
        """This use, and those within it."""
        filled = self.filled
        yield Use(state=self.state, program=self.written.use, roles=filled.template.roles, parts=filled.roles)
        for use in filled.uses:
            yield replace(use, state=self.inner(use.state))

    @property
    def origins(self) -> dict[str, tuple[UsedProgram, str]]:
        """Id in the flat program → id in the used one; of all its states, those of programs that it uses included."""
        ids = [*(a.id for a in self.filled.draft.actions), *(use.state for use in self.filled.uses)]
        return {self.inner(id): (self, id) for id in ids}


class FlatPlaces(Document):
    """A program's text with those of the programs that it uses: finds the places of the flat program's items."""

    def __init__(self, document: Document, used: Iterable[UsedProgram]) -> None:
        self.source, self.data = document.source, document.data
        self._root, self._line = document._root, document._line
        self._origins = {id: origin for program in used for id, origin in program.origins.items()}

    def _origin(self, path: Path) -> tuple[UsedProgram, Path] | None:
        if len(path) < 2 or path[0] != "actions" or path[1] not in self._origins:
            return None
        used, id = self._origins[str(path[1])]
        return used, ("actions", id, *path[2:])

    def line(self, *path: str | int) -> int:
        found = self._origin(path)
        return super().line(*path) if found is None else super().line("actions", found[0].state, "use")

    def text(self, *path: str | int) -> str:
        found = self._origin(path)
        return super().text(*path) if found is None else found[0].filled.places.text(*found[1])

    def where(self, *path: str | int) -> str:
        found = self._origin(path)
        if found is None:
            return super().where(*path)
        used, inner = found
        return f"{self.source}:{self.line(*path)}: {_uses(used.written)}: {used.filled.places.where(*inner)}"

    def locate(self, error: DefinitionError, *path: str | int) -> DefinitionError:
        found = self._origin(path)
        if found is None or error.line:
            return super().locate(error, *path)
        used, inner = found
        return _inside(self, used.filled.places.locate(error, *inner), used.written)


def _uses(written: UseState) -> str:
    return f"state {str(written.path[-1])!r} uses {written.use!r}"


def _inside(places: Document, error: DefinitionError, written: UseState) -> DefinitionError:
    """A mistake in the text of a used program, with the line of its use."""
    return places.prefix(error, Document.line(places, *written.path, "use"), f"{_uses(written)}: ")


class ProgramUser:
    """Reads the programs that one program uses.

    Args:
        find: finds them.
        chain: names of the programs, from the outermost one to the one that uses them.
    """

    def __init__(self, find: Find, chain: tuple[str, ...], *, is_sample: bool) -> None:
        self._find, self._chain, self._is_sample = find, chain, is_sample

    def use(
        self,
        written: UseState,
        values: Sequence[ParameterValue],
        sampled: Collection[str],
        parts: Mapping[str, str],
        places: Document,
        mistakes: Mistakes,
    ) -> UsedProgram:
        """A used program with these values and parts; what is wrong beside that is added to the mistakes.

        Args:
            sampled: names of those values that are samples.

        Raises:
            DefinitionError: it cannot be used; several mistakes as a ProgramError.
        """
        name, path = written.use.partition("@")[0], written.path
        if name in self._chain:
            loop = [*self._chain[self._chain.index(name) :], name]
            raise places.locate(
                DefinitionError(
                    f"program {name!r} uses itself: {' → '.join(loop)}",
                    expected="programs that do not use each other in a loop",
                    got=f"use: {written.use}",
                    hint="Write a loop as reactions, or lead an exit back to an earlier state",
                ),
                *path,
                "use",
            )
        if len(self._chain) > MAX_USE_DEPTH:
            raise places.locate(
                CapacityError(
                    "used programs are nested too deeply",
                    expected=f"at most {MAX_USE_DEPTH} within one another (MAX_USE_DEPTH)",
                    got=" → ".join([*filter(None, self._chain), name]),
                ),
                *path,
                "use",
            )
        try:
            template = self._find(written.use)
        except DefinitionError as error:
            found = error.mistakes if isinstance(error, ProgramError) else (error,)
            raise_all(_inside(places, e, written) if e.line else places.locate(e, *path, "use") for e in found)
            raise
        of = f"state {str(path[-1])!r}: program {written.use!r}"
        own = Mistakes()
        known, roles = {}, {}
        samples = samples_of(template.parameters)
        for value in values:
            with own.collect(places, *path, "parameters", value.name):
                if value.name in sampled and value.name in samples:
                    value = replace(value, value=samples[value.name].value)
                for found_name, found_value in values_of(template.parameters, [value], of=of, only_given=True).items():
                    known[found_name] = replace(found_value, sampled=found_name in sampled)
        given = {*known, *(value.name for value in values), *sampled}
        with own.collect(places, *path):
            known |= values_of([p for p in template.parameters if p.name not in given], [], of=of)
        with own.collect(places, *path, "parts"):
            roles = parts_of(template.roles, parts, of=of)
        own.raise_all()
        filled = template.filled(Substitution(known, roles), is_sample=self._is_sample, chain=(*self._chain, name))
        used = UsedProgram(state=str(path[-1]), written=written, filled=filled, exits=Exits(filled.draft))
        with mistakes.collect():
            raise_all(_inside(places, error, written) for error in (*filled.mistakes, *_unsuitable(used)))
        with mistakes.collect():
            raise_all(places.located(_find_in_exits(used)))
        return used


def _unsuitable(used: UsedProgram) -> Iterator[DefinitionError]:
    """What keeps a program from being used, located in its own text."""
    program, places, name = used.filled.draft, used.filled.places, used.written.use
    if not program.start:
        error = DefinitionError(f"program {name!r} starts no action", expected="start: [id, …] at its top", got="none")
        yield places.locate(error, "actions")
    for id in program.start:
        if id in used.exits.entered:
            error = DefinitionError(
                f"program {name!r} starts in its exit {id!r}", expected="another action in `start`", got=repr(id)
            )
            yield places.locate(error, "start")
    if program.reactions:
        error = DefinitionError(
            f"program {name!r} has free-standing reactions",
            expected="reactions of its actions only, as it is used as a state",
            got=str(len(program.reactions)),
            hint="Give them to an action that is active all the time, like `watch` in the programs of the library",
        )
        yield places.locate(error, "reactions")


def _find_in_exits(used: UsedProgram) -> Iterator[tuple[DefinitionError, Path]]:
    """Exits that do not exist, and those that lead nowhere."""
    given, names = used.written.exits, used.exits.names
    path, of = (*used.written.path, "exits"), _uses(used.written)
    if used.filled.incomplete:  # what could not be read may be an exit
        return
    for name in given:
        if name not in names:
            yield (
                DefinitionError(
                    f"{of}: it has no exit {name!r}", expected=unknown("exit", name, names), got=repr(name)
                ),
                (*path, name),
            )
    for name in names:
        if not given.get(name):
            yield (
                DefinitionError(
                    f"{of}: exit {name!r} leads nowhere",
                    expected=f"exits: {{{name}: <the state that follows>}}",
                    got=f"exits: {{{', '.join(given)}}}" if given else "no exits",
                ),
                path,
            )
