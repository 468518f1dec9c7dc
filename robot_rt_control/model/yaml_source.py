"""YAML with line numbers, and what YAML 1.1 gets wrong put right.

`1e-3` is a number (YAML 1.1: a text), `on` and `yes` are texts (YAML 1.1: booleans), a key that occurs twice
is an error (PyYAML: the last one wins).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from robot_rt_control.program.errors import DefinitionError

Step = str | int


class _Loader(yaml.SafeLoader):
    pass


# the resolvers of the base class without those for bool and float, which follow YAML 1.2's core schema instead
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:float")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^(?:[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"),
    list("-+0123456789."),
)


class Document:
    """The content of one YAML file, and the line of each item in it."""

    def __init__(self, path: Path, data: Any, root: yaml.Node | None) -> None:
        self.path = path
        self.data = data
        self._root = root

    def line(self, steps: tuple[Step, ...]) -> int | None:
        """The line (from 1) of an item. Steps that the file does not have (an item that is missing) are passed over."""
        node = self._root
        if node is None:
            return None
        line = node.start_mark.line + 1
        for step in steps:
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    if key.value == str(step):
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
    """An item of a document; as text: file, line and the way to it, as errors show it."""

    def __init__(self, document: Document, steps: tuple[Step, ...]) -> None:
        self.document = document
        self.steps = steps

    def __truediv__(self, step: Step) -> Place:
        return Place(self.document, (*self.steps, step))

    def __str__(self) -> str:
        text = ""
        for step in self.steps:
            text += f"[{step}]" if isinstance(step, int) else f".{step}"
        line = self.document.line(self.steps)
        where = str(self.document.path) if line is None else f"{self.document.path}, line {line}"
        return f"{where}: {text.lstrip('.')}" if text else where


def _check_keys(path: Path, root: yaml.Node) -> None:
    todo = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, yaml.SequenceNode):
            todo.extend(node.value)
        elif isinstance(node, yaml.MappingNode):
            seen: dict[str, int] = {}
            for key, value in node.value:
                line = key.start_mark.line + 1
                if key.value in seen:
                    raise DefinitionError(
                        f"{path}, line {line}: {key.value!r}",
                        expected="keys that occur once",
                        got=f"the same key as in line {seen[key.value]}",
                    )
                seen[key.value] = line
                todo.append(value)


def read_yaml(path: Path) -> Document:
    """Read a YAML file.

    Raises:
        DefinitionError: the file is missing, is not YAML, or has a key twice in one mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"{path}", expected="a readable UTF-8 file", got=str(error)) from error
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return Document(path, None, None)
        _check_keys(path, root)
        return Document(path, loader.construct_document(root), root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{path}, line {mark.line + 1}" if mark is not None else str(path)
        raise DefinitionError(where, expected="valid YAML", got=error.problem or str(error)) from error
    except yaml.YAMLError as error:
        raise DefinitionError(str(path), expected="valid YAML", got=str(error)) from error
    finally:
        loader.dispose()
