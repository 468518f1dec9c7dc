"""Where everything of a program stands in its text, so that whoever finds a mistake later can name the line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import yaml

from robot_rt_control.text.yaml_reader import locate
from robot_rt_control.validation.edges import Found, Path
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError, raise_all


class Places:
    """Lines of the items of one text.

    Args:
        source: begins every message.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._lines: dict[Path, int] = {}
        self._texts: dict[Path, str] = {}

    def add(self, path: Path, node: yaml.Node, line: int) -> None:
        """Remember where an item stands, and a text as it is written."""
        self._lines[path] = line
        if isinstance(node, yaml.ScalarNode):
            self._texts[path] = node.value

    def line(self, *path: str | int) -> int:
        """The line of an item, or of the nearest one around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self._lines:
                return self._lines[path[:length]]
        return 1

    def keys(self, key: str) -> list[str]:
        """What stands directly under a key of the top."""
        return [str(path[1]) for path in self._lines if len(path) == 2 and path[0] == key]

    def text(self, *path: str | int) -> str:
        """A text as it is written, with its references; empty: there is none."""
        return self._texts.get(path, "")

    def locate(self, error: DefinitionError, *path: str | int) -> DefinitionError:
        """The error with the line of an item, unless it has a line."""
        return locate(error, self.source, self.line(*path))

    def located(self, found: Found) -> Iterator[DefinitionError]:
        """Mistakes with the lines of their places."""
        return (self.locate(error, *path) for error, path in found)


class Mistakes:
    """Collects what is wrong, so that all of it is told at once."""

    def __init__(self, errors: Iterable[DefinitionError] = ()) -> None:
        self.errors = list(errors)

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Keep an error that comes from inside, and go on behind the `with` statement."""
        try:
            yield
        except ProgramError as error:
            self.errors += error.mistakes
        except DefinitionError as error:
            self.errors.append(error)

    def raise_all(self) -> None:
        """Raise what was collected, by line; nothing where there was nothing.

        Raises:
            DefinitionError: the only one.
            ProgramError: several.
        """
        raise_all(self.errors)
