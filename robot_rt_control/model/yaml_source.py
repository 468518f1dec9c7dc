"""The data of a YAML file, with the line of each item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from robot_rt_control.text.yaml_reader import YamlReader, parse_scalar
from robot_rt_control.vocabulary.errors import DefinitionError

Step = str | int

_MAX_DEPTH = 50
"""Deeper nesting is an alias that contains itself."""


class Document:
    """The content of one YAML file, as dicts, lists and scalars."""

    def __init__(self, path: Path, text: str) -> None:
        """Raises DefinitionError: the text is not YAML, or a mapping has a key twice."""
        self.path = path
        self._reader = YamlReader(text, str(path))
        self.data = self._data(self._reader.root, (), 0)

    def _data(self, node: yaml.Node, steps: tuple[Step, ...], depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise self._reader.fault(node, "nested too deeply", expected=f"at most {_MAX_DEPTH} levels", got="more")
        if isinstance(node, yaml.MappingNode):
            children = self._reader.mapping(node, _dotted(steps) or "the document")
            return {key: self._data(child, (*steps, key), depth + 1) for key, child in children.items()}
        if isinstance(node, yaml.SequenceNode):
            return [self._data(child, (*steps, i), depth + 1) for i, child in enumerate(node.value)]
        plain = isinstance(node, yaml.ScalarNode) and node.style is None
        return parse_scalar(node.value) if plain else node.value

    def line(self, steps: tuple[Step, ...]) -> int:
        """The line (from 1) of an item. Steps that the file does not have (a missing item) are skipped."""
        node = self._reader.root
        line = node.start_mark.line + 1
        for step in steps:
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    if key.value == step:
                        line, node = key.start_mark.line + 1, value
                        break
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line + 1
        return line

    @property
    def root(self) -> Place:
        return Place(self, ())


class Place:
    """An item of a document; as text: file, line and path of the item, as errors show it."""

    def __init__(self, document: Document, steps: tuple[Step, ...]) -> None:
        self.document = document
        self.steps = steps

    def __truediv__(self, step: Step) -> Place:
        return Place(self.document, (*self.steps, step))

    def __str__(self) -> str:
        where = f"{self.document.path}:{self.document.line(self.steps)}"
        return f"{where}: {_dotted(self.steps)}" if self.steps else where


def _dotted(steps: tuple[Step, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")


def read_yaml(path: Path) -> Document:
    """Read a YAML file.

    Raises:
        DefinitionError: the file is missing, is not YAML, or has a key twice in one mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"{path}", expected="a readable UTF-8 file", got=str(error)) from error
    return Document(path, text)
