"""Reads XML into elements with their lines. Document types and entities are refused: what is read comes from others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

MAX_ELEMENTS = 10_000
MAX_DEPTH = 100
"""Elements within each other."""


@dataclass(kw_only=True)
class Element:
    """One element. `source` and `line` begin messages about it."""

    tag: str
    attributes: dict[str, str]
    source: str
    line: int
    children: list[Element] = field(default_factory=list)

    def all(self) -> Iterator[Element]:
        """Itself and all within it, in the order of the text."""
        yield self
        for child in self.children:
            yield from child.all()

    def mistake(self, what: str, *, expected: str = "", got: str = "", hint: str = "") -> DefinitionError:
        """A mistake at its line."""
        return self.located(DefinitionError(what, expected=expected, got=got, hint=hint))

    def located(self, error: DefinitionError) -> DefinitionError:
        """The error with this line in its message."""
        error.args = (f"{self.source}:{self.line}: {error}",)
        error.what, error.line = f"{self.source}:{self.line}: {error.what}", self.line
        return error


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.open: list[Element] = []
        self.root: Element | None = None
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse
        self.parser.ExternalEntityRefHandler = self.refuse

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.count += 1
        if self.count > MAX_ELEMENTS or len(self.open) >= MAX_DEPTH:
            raise CapacityError(
                f"{self.source}:{line}: too much for one file",
                expected=f"at most {MAX_ELEMENTS} elements, {MAX_DEPTH} within each other",
                got="more",
            )
        element = Element(tag=tag, attributes=attributes, source=self.source, line=line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def refuse(self, *_: object) -> int:
        line = self.parser.CurrentLineNumber
        here = Element(tag="", attributes={}, source=self.source, line=line)
        raise here.mistake("a document type or an entity", expected="elements and attributes only")


def read_xml(text: str, source: str) -> Element:
    """The outermost element.

    Args:
        source: begins every message, with the line.

    Raises:
        DefinitionError: not XML, or with a document type or entities.
        CapacityError: larger than 1 MB, MAX_ELEMENTS or MAX_DEPTH.
    """
    data = text.encode("utf-8", errors="replace")
    if len(data) > MAX_PROGRAM_BYTES:
        raise CapacityError(f"{source} is too large", expected=f"at most {MAX_PROGRAM_BYTES} bytes", got=str(len(data)))
    reader = _Reader(source)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        here = Element(tag="", attributes={}, source=source, line=error.lineno)
        got = expat.ErrorString(error.code)
        raise here.mistake("not valid XML", expected="an XML document", got=got) from None
    assert reader.root is not None  # expat refuses a document without elements
    return reader.root
