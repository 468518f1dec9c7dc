"""Reads YAML with the line of everything at hand, so that each error names it.

Scalars follow the core schema of YAML 1.2 (`on` and `yes` are texts, `1e-3` is a number), and nodes are
read by what is expected there: a name stays the text that was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import yaml

from robot_rt_control.vocabulary.errors import DefinitionError, unknown

_Result = TypeVar("_Result")
Scalar = float | int | bool

_NULL = re.compile(r"~|null|Null|NULL|")
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_BASED_INT = re.compile(r"0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"([-+]?)\.(inf|Inf|INF|nan|NaN|NAN)")
_MAX_DIGITS = 400


def parse_scalar(text: str) -> Scalar | str | None:
    """The value of an unquoted scalar."""
    if _NULL.fullmatch(text):
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if len(text) <= _MAX_DIGITS:
        if _INT.fullmatch(text):
            return int(text)
        if _BASED_INT.fullmatch(text):
            return int(text, 0)
        if _FLOAT.fullmatch(text):
            return float(text)
    if match := _SPECIAL_FLOAT.fullmatch(text):
        return float(match[1] + match[2])
    return text


def _compose(text: str) -> yaml.Node | None:
    """The document's nodes. The compiled reader is ten times as fast; where it refuses, the other has clearer words."""
    if yaml.__with_libyaml__:
        try:
            return _with_plain_style(yaml.compose(text, Loader=yaml.CSafeLoader))
        except (yaml.YAMLError, RecursionError, UnicodeError):
            pass
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _with_plain_style(root: yaml.Node | None) -> yaml.Node | None:
    """The compiled reader gives unquoted scalars another style; all else agrees."""
    waiting, seen = [root] if root is not None else [], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.ScalarNode):
            node.style = node.style or None
        elif id(node) not in seen:  # a node may be there several times, or inside itself
            seen.add(id(node))
            waiting += [n for pair in node.value for n in pair] if isinstance(node, yaml.MappingNode) else node.value
    return root


def locate(error: DefinitionError, source: str, line: int) -> DefinitionError:
    """The error with a line in its message, unless it has one."""
    if not error.line:
        prefix = f"{source}:{line}"
        error.what = f"{prefix}: {error.what}"
        error.args = (f"{prefix}: {error.args[0]}",)
        error.line = line
    return error


class YamlReader:
    """One YAML text. `source` begins every message: "program.yaml:12: …".

    Raises:
        DefinitionError: from the constructor where the text is not YAML; from the other methods where
            a node is not what they read.
    """

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self._key_lines: dict[int, int] = {}
        try:
            root = _compose(text)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise DefinitionError(
                f"{self._at(mark.line + 1 if mark else 1)}: not valid YAML",
                expected="a YAML document",
                got=" ".join(part for part in (error.context, error.problem) if part),
            ) from None
        except yaml.YAMLError as error:
            raise DefinitionError(f"{self._at(1)}: not valid YAML", got=" ".join(str(error).split())) from None
        except RecursionError:
            raise DefinitionError(
                f"{self._at(1)}: nested too deeply", expected="a program, at most a few levels deep", got="hundreds"
            ) from None
        if root is None:
            raise DefinitionError(f"{self._at(1)}: the document is empty", expected="a mapping", got="nothing")
        self.root: yaml.Node = root

    def _at(self, line: int) -> str:
        return f"{self.source}:{line}"

    def fault(self, node: yaml.Node, what: str, *, expected: str, got: str, hint: str = "") -> DefinitionError:
        """An error with the line of the node."""
        line = node.start_mark.line + 1
        error = DefinitionError(f"{self._at(line)}: {what}", expected=expected, got=got, hint=hint)
        error.line = line
        return error

    @contextmanager
    def located(self, node: yaml.Node) -> Iterator[None]:
        """Errors that come from inside get the line of the node, unless they have one."""
        try:
            yield
        except DefinitionError as error:
            locate(error, self.source, node.start_mark.line + 1)
            raise

    def mapping(self, node: yaml.Node, what: str, keys: Iterable[str] | None = None) -> dict[str, yaml.Node]:
        """Key → node of the value. Each key once; with `keys`, only those."""
        if not isinstance(node, yaml.MappingNode):
            raise self.fault(node, what, expected="a mapping (key: value)", got=_described(node))
        found: dict[str, yaml.Node] = {}
        for key_node, value_node in node.value:
            key = self.text(key_node, f"{what}: key")
            if keys is not None and key not in keys:
                raise self.fault(key_node, f"{what}: unknown key", expected=unknown("key", key, keys), got=repr(key))
            if key in found:
                raise self.fault(key_node, f"{what}: key {key!r} is given twice", expected="each once", got="two")
            found[key] = value_node
            self._key_lines[id(value_node)] = key_node.start_mark.line + 1
        return found

    def line(self, node: yaml.Node) -> int:
        """The line where an item begins: that of its key, where `mapping` has read it."""
        return self._key_lines.get(id(node), node.start_mark.line + 1)

    def text(self, node: yaml.Node, what: str) -> str:
        """A scalar as it was written."""
        if not isinstance(node, yaml.ScalarNode) or (node.style is None and parse_scalar(node.value) is None):
            raise self.fault(node, what, expected="a text", got=_described(node))
        return str(node.value)

    def flag(self, node: yaml.Node, what: str) -> bool:
        value = self.scalar(node, what)
        if not isinstance(value, bool):
            raise self.fault(node, what, expected="true or false", got=_described(node))
        return value

    def scalar(self, node: yaml.Node, what: str) -> Scalar | str:
        """A number, true, false, or a text (always, when it is quoted)."""
        if isinstance(node, yaml.ScalarNode):
            value = parse_scalar(node.value) if node.style is None else str(node.value)
            if value is not None:
                return value
        raise self.fault(node, what, expected="a number, true, false or a text", got=_described(node))

    def number(self, node: yaml.Node, what: str) -> float | int:
        value = self.scalar(node, what)
        if isinstance(value, str | bool):
            raise self.fault(node, what, expected="a number", got=_described(node))
        return value

    def sequence(self, node: yaml.Node, what: str, read: Callable[[yaml.Node, str], _Result]) -> tuple[_Result, ...]:
        """Every element of a list, read by `read`."""
        if not isinstance(node, yaml.SequenceNode):
            raise self.fault(node, what, expected="a list", got=_described(node))
        return tuple(read(element, what) for element in node.value)

    def texts(self, node: yaml.Node, what: str) -> tuple[str, ...]:
        """A list of texts, or a text alone."""
        if isinstance(node, yaml.ScalarNode):
            return (self.text(node, what),)
        return self.sequence(node, what, self.text)


def _described(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return "nothing" if node.style is None and parse_scalar(node.value) is None else repr(node.value)
    return "a list" if isinstance(node, yaml.SequenceNode) else "a mapping"
