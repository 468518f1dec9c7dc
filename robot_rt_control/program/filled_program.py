"""A program with values and parts, and what is known of the text that it is made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Protocol

from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.definitions import ProgramDefinition
from robot_rt_control.program.declarations import Role
from robot_rt_control.program.schema import View
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.program.text_store import Template
from robot_rt_control.text.document import Document
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.validation.definitions import SessionFacts, Subject
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all


@dataclass(frozen=True, kw_only=True)
class Use:
    """A program that is used as a state."""

    state: str
    """Id of the state in the flat program: "corner", or "outer__corner"."""
    program: str
    """As written: its name, with or without a version."""
    roles: tuple[Role, ...]
    parts: Mapping[str, str]
    """Role → part, or role of the outermost program."""


class Fillable(Template, Protocol):
    """What a filled program and the programs that use it know of its text; `ProgramTemplate` describes all of it."""

    view: View
    exits: dict[str, bool]
    roles: tuple[Role, ...]
    parameters: tuple[Parameter, ...]

    def sample(self) -> FilledProgram: ...

    def filled(
        self, substitution: Substitution, defined: Iterable[str] = (), *, is_sample: bool, chain: tuple[str, ...] = ()
    ) -> FilledProgram: ...


Find = Callable[[str], Fillable]
"""Finds a program by its name, or by name and version. Raises DefinitionError: there is none."""


@dataclass(frozen=True, kw_only=True)
class FilledProgram:
    """A program with values for its parameters and parts for its roles; may contain mistakes."""

    draft: ProgramDefinition
    """The readable part of the text."""
    mistakes: tuple[DefinitionError, ...]
    """The unreadable items, each with its line."""
    incomplete: bool
    """Whether an action or reaction is missing because it could not be read."""
    places: Document
    """Finds the lines of its items."""
    template: Fillable
    sampled: frozenset[tuple[str, str]]
    """(action, parameter) whose values could not be read, or are samples."""
    roles: Mapping[str, str]
    """Role → part; in a sample role → role."""
    is_sample: bool
    """The program has no parts and values yet."""
    unused: tuple[str, ...]
    """Parameters and roles that nothing refers to."""
    uses: tuple[Use, ...]
    """The programs that it uses, also through others."""
    unread: tuple[str, ...]
    """Ids of states that could not be read, also of used programs."""
    defined: tuple[str, ...] = ()
    """Ids of the session's existing actions."""

    def facts(self) -> SessionFacts:
        """The session that the text assumes, including actions that could not be read."""
        return SessionFacts(actions={id: (None, frozenset()) for id in (*self.defined, *self.unread)})

    @cached_property
    def definition(self) -> ProgramDefinition:
        """The program, if its text is valid.

        Raises:
            DefinitionError: the only mistake, with its line.
            ProgramError: several, by line.
        """
        subject = Subject(self.draft, Catalogue(), self.facts())
        raise_all(chain(self.mistakes, self.places.located(subject.find_mistakes())))
        return self.draft
