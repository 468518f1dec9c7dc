"""Reads YAML as data with the line of every item.

All YAML of this software is read here. The text is read event by event. Size, depth and the number of items are limited
before anything is built; an item that an alias repeats counts each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import yaml

from robot_rt_control.text.scalar import parse_scalar
from robot_rt_control.vocabulary.capacities import MAX_YAML_DEPTH, MAX_YAML_ITEMS
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, shortened

Step = str | int
Path = tuple[Step, ...]
"""Keys and indices from the top: ("actions", "down", "reactions", 0, "when")."""
Mistake = tuple[DefinitionError, Path]
"""A mistake and its item."""

LOADER: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
"""The parser. The compiled one is ten times as fast."""

_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")


@dataclass(slots=True)
class _Item:
    """A mapping, a list or a scalar. An alias repeats the same object."""

    data: Any
    written: str | None = None
    """A scalar as written; None: it is not a scalar."""
    children: dict[Step, tuple[int, _Item, tuple[int, int]]] = field(default_factory=dict)
    """Key or index → line, item, and where the item begins and ends in the text; a list or mapping: its first sign."""
    size: int = 1
    """Number of items in it, including itself."""
    height: int = 0
    """Number of levels below it."""


def read_text(path: FilePath, max_bytes: int) -> str:
    """The text of a file of limited size.

    Raises:
        DefinitionError: it cannot be read.
        CapacityError: it is too large.
    """
    try:
        with path.open("rb") as file:
            content = file.read(max_bytes + 1)
        if len(content) > max_bytes:
            raise _too_large(str(path), max_bytes)
        return content.decode("utf-8")
    except (OSError, ValueError) as error:  # not UTF-8; or the path has the character NUL
        raise DefinitionError(
            f"file {str(path)!r} cannot be read", expected="a readable UTF-8 text file", got=str(error)
        ) from None


class Document:
    """The content of one YAML text, as dicts, lists and scalars.

    Args:
        source: begins every message: "program.yaml:12: …".
        max_bytes: largest size of the text.
        aliases: whether an item may be repeated by an alias.

    Attributes:
        data: of the whole document.

    Raises:
        CapacityError: too large, too deep, or too many items; with the line.
        DefinitionError: not YAML, or a key twice in one mapping; with the line.
    """

    def __init__(self, text: str, source: str, *, max_bytes: int, aliases: bool = True) -> None:
        self.source = source
        self._line = 1
        self.aliases = aliases
        try:
            size = len(text.encode())
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            raise self.error(line, "not valid YAML", expected="a UTF-8 text", got=error.reason) from None
        if size > max_bytes:
            raise _too_large(f"{source}:1", max_bytes, size)
        self._root = _Composer(self, text).root()
        self.data = self._root.data

    @classmethod
    def load(cls, path: FilePath, *, max_bytes: int) -> Document:
        """Read a file. Raises DefinitionError and CapacityError as `read_text` and the constructor."""
        return cls(read_text(path, max_bytes), str(path), max_bytes=max_bytes)

    def part(self, *path: Step) -> Document:
        """An item of this document as a separate document with the same lines."""
        part = Document.__new__(Document)
        part.source, part._root = self.source, self._root
        for step in path:
            part._line, part._root, _ = part._root.children[step]
        part.data = part._root.data
        return part

    @property
    def root(self) -> Place:
        return Place(self, ())

    def line(self, *path: Step) -> int:
        """The line (from 1) of an item's key; of the nearest item around it, if it does not exist."""
        line, item = self._line, self._root
        for step in path:
            if step not in item.children:
                break
            line, item, _ = item.children[step]
        return line

    def where(self, *path: Step) -> str:
        """File and line of an item: "program.yaml:12"."""
        return f"{self.source}:{self.line(*path)}"

    def text(self, *path: Step) -> str:
        """A scalar as written; empty: there is none."""
        item = self._root
        for step in path:
            if step not in item.children:
                return ""
            item = item.children[step][1]
        return item.written or ""

    def span(self, *path: Step) -> tuple[int, int]:
        """Where a scalar, or the alias that repeats one, begins and ends in the text, in characters: with its quotes,
        and with its anchor or tag. It must exist."""
        item = self.part(*path[:-1])._root
        return item.children[path[-1]][2]

    def locate(self, error: DefinitionError, *path: Step) -> DefinitionError:
        """The error with the line of an item, or of `error.item` in it, in its message, unless it has a line."""
        return error if error.line else self.prefix(error, self.line(*path, *error.item))

    def prefix(self, error: DefinitionError, line: int, what: str = "") -> DefinitionError:
        """The error with a line of this document, and a text, before its message."""
        prefix = f"{self.source}:{line}: {what}"
        error.what = f"{prefix}{error.what}"
        error.args = (f"{prefix}{error.args[0]}",)
        error.line = line
        return error

    def located(self, mistakes: Iterable[Mistake]) -> Iterator[DefinitionError]:
        """Mistakes with the lines of their items."""
        return (self.locate(error, *path) for error, path in mistakes)

    def error(
        self, line: int, what: str, kind: type[DefinitionError] = DefinitionError, **parts: str
    ) -> DefinitionError:
        """An error with a line. `parts`: expected, got, hint."""
        error = kind(f"{self.source}:{line}: {what}", **parts)
        error.line = line
        return error


class Place:
    """An item of a document; as text: file, line and path, as in errors."""

    def __init__(self, document: Document, path: Path) -> None:
        self.document, self.path = document, path

    def __truediv__(self, step: Step) -> Place:
        return Place(self.document, (*self.path, step))

    @property
    def line(self) -> int:
        return self.document.line(*self.path)

    def __str__(self) -> str:
        where = f"{self.document.source}:{self.line}"
        return f"{where}: {dotted(self.path)}" if self.path else where


def dotted(path: Path) -> str:
    """The path of an item: "joints[0].velocity"."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def _too_large(what: str, max_bytes: int, size: int | None = None) -> CapacityError:
    got = "more" if size is None else f"{size} bytes"
    error = CapacityError(f"{what}: the text is too large", expected=f"at most {max_bytes} bytes", got=got)
    error.line = 1
    return error


class _Composer:
    """Builds the items from the parser's events."""

    def __init__(self, document: Document, text: str) -> None:
        self.document = document
        self.text = text
        self.events = self.parsed()
        self.anchors: dict[Any, _Item | None] = {}
        """None: the item is not complete yet."""
        self.count = 0

    def root(self) -> _Item:
        next(self.events)  # the stream's start
        first = next(self.events)
        if isinstance(first, yaml.StreamEndEvent):
            raise self.document.error(1, "the document is empty", expected="a mapping", got="nothing")
        item = self.item(next(self.events), ())
        next(self.events)  # the document's end
        second = next(self.events)
        if not isinstance(second, yaml.StreamEndEvent):
            raise self.error(second, "not valid YAML", "a single document", "another one")
        return item

    def parsed(self) -> Iterator[Any]:
        try:
            yield from yaml.parse(self.text, Loader=LOADER)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            last = max(len(self.text.splitlines()), 1)  # the end of the text counts as a line after it
            line = min(mark.line + 1, last) if mark else 1
            got = " ".join(part for part in (error.context, error.problem) if part)
            if "maximum nesting depth" in got:  # newer parsers look ahead, and give up before an event shows the depth
                raise self.too_deep(line) from None
        except yaml.YAMLError as error:  # a character that YAML does not allow
            character = chr(getattr(error, "character", 0))
            line = self.text.count("\n", 0, max(self.text.find(character), 0)) + 1
            got = f"the character {character!r}"
        else:
            return
        raise self.document.error(line, "not valid YAML", expected="a YAML document", got=got)

    def too_deep(self, line: int) -> DefinitionError:
        limit = f"at most {MAX_YAML_DEPTH} (MAX_YAML_DEPTH)"
        return self.document.error(line, "nested too deeply", CapacityError, expected=limit, got="more")

    def error(
        self, event: Any, what: str, expected: str, got: str, kind: type[DefinitionError] = DefinitionError
    ) -> DefinitionError:
        return self.document.error(event.start_mark.line + 1, what, kind, expected=expected, got=got)

    def item(self, event: Any, path: Path) -> _Item:
        """The item that begins with an event."""
        if isinstance(event, yaml.AliasEvent):
            if not self.document.aliases:
                raise self.error(event, f"alias *{event.anchor}", "the item itself", "an alias")
            item = self.anchors.get(event.anchor)
            if item is None:
                known = event.anchor in self.anchors
                got = "one that contains itself" if known else "an undefined one"
                raise self.error(event, f"alias *{event.anchor}", "the name of an item above it", got)
            self.check_limits(event, len(path) + item.height, item.size)
            return item
        self.check_limits(event, len(path), 1)
        anchor = event.anchor
        if anchor is not None:
            self.anchors[anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            item = self.scalar(event)
        else:
            if event.tag is not None:
                raise self.error(event, f"tag {event.tag}", "no tag", "one")
            item = self.mapping(path) if isinstance(event, yaml.MappingStartEvent) else self.sequence(path)
            for step, (_, child, _) in item.children.items():
                item.size += child.size + isinstance(step, str)  # a key counts as well
                item.height = max(item.height, child.height + 1)
        if anchor is not None:
            self.anchors[anchor] = item
        return item

    def check_limits(self, event: Any, depth: int, items: int) -> None:
        self.count += items
        if depth > MAX_YAML_DEPTH:
            raise self.too_deep(event.start_mark.line + 1)
        if self.count > MAX_YAML_ITEMS:
            limit = f"at most {MAX_YAML_ITEMS} (MAX_YAML_ITEMS)"
            raise self.error(
                event, "too many items, those included that aliases repeat", limit, "more", CapacityError
            )

    def scalar(self, event: Any) -> _Item:
        if "\0" in event.value:  # an escape; no name, path or text has a use for it
            raise self.error(event, "a text", "no character NUL", f"one in {shortened(repr(event.value))}")
        if event.tag in _TEXT_TAGS or (event.style and event.tag is None):
            return _Item(event.value, event.value)
        if event.tag is not None:
            raise self.error(event, f"tag {event.tag}", "no tag, or !!str", "another one")
        return _Item(parse_scalar(event.value), event.value)

    def mapping(self, path: Path) -> _Item:
        item = _Item({})
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            where = f"{dotted(path)}: " if path else ""
            if isinstance(event, yaml.CollectionStartEvent):
                raise self.error(event, f"{where}key", "a text", "a list or a mapping")
            key = self.item(event, path)
            name = key.written
            if name is None or key.data is None:
                raise self.error(
                    event, f"{where}key", "a text", "nothing" if name is not None else "a list or a mapping"
                )
            if name in item.data:
                raise self.error(event, f"{where}key {shortened(repr(name))} is given twice", "each once", "two")
            value = next(self.events)
            child = self.item(value, (*path, name))
            item.data[name] = child.data
            item.children[name] = (event.start_mark.line + 1, child, _span(value))
        return item

    def sequence(self, path: Path) -> _Item:
        item = _Item([])
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            child = self.item(event, (*path, len(item.data)))
            item.children[len(item.data)] = (event.start_mark.line + 1, child, _span(event))
            item.data.append(child.data)
        return item


def _span(event: Any) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index
