"""Where everything of a program is in its text, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from robot_rt_control.text.document import Document, Path
from robot_rt_control.vocabulary.capacities import MAX_MISTAKES
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError

__all__ = ["Mistakes", "Path", "Places"]

Places = Document
"""A program's text, for what looks up lines: `line`, `text`, `locate`."""


class Mistakes:
    """Collects what is wrong, so that it is reported together."""

    def __init__(self) -> None:
        self.errors: list[DefinitionError] = []
        self._raised = False

    @contextmanager
    def collect(self, places: Document | None = None, *path: str | int) -> Iterator[None]:
        """Keep an error that comes from inside, and go on after the `with` statement.

        Args:
            places, path: an error without a line gets that of this item.

        Raises:
            ProgramError: MAX_MISTAKES are kept.
        """
        try:
            yield
        except DefinitionError as error:
            if self._raised:
                raise
            found = error.mistakes if isinstance(error, ProgramError) else [error]
            self.errors += [e if places is None else places.locate(e, *path) for e in found]
            if len(self.errors) >= MAX_MISTAKES:
                self._raised = True
                self.raise_all()

    def raise_all(self) -> None:
        """Raise what was collected, by line; nothing if there is nothing.

        Raises:
            DefinitionError: the only one.
            ProgramError: several; at most MAX_MISTAKES.
        """
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            raise ProgramError(sorted(self.errors, key=lambda error: error.line)[:MAX_MISTAKES])
