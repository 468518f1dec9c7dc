"""Collects mistakes, to report them together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from robot_rt_control.text.document import Document, Step
from robot_rt_control.vocabulary.capacities import MAX_MISTAKES
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError, raise_all


class Mistakes:
    """The mistakes found so far.

    Attributes:
        errors: in the order in which they were found.
    """

    def __init__(self) -> None:
        self.errors: list[DefinitionError] = []
        self._raised = False

    @contextmanager
    def collect(self, document: Document | None = None, *path: Step) -> Iterator[None]:
        """Keep an error raised inside, and continue after the `with` statement.

        Args:
            document, path: an error without a line gets that of this item.

        Raises:
            ProgramError: MAX_MISTAKES are kept.
        """
        try:
            yield
        except DefinitionError as error:
            if self._raised:
                raise
            found = error.mistakes if isinstance(error, ProgramError) else [error]
            self.errors += [e if document is None else document.locate(e, *path) for e in found]
            if len(self.errors) >= MAX_MISTAKES:
                self._raised = True
                self.raise_all()

    def raise_all(self) -> None:
        """Raise the mistakes by line, if there are any. Raises as `raise_all` in errors.py."""
        raise_all(self.errors)
