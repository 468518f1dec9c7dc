"""The keys of a task file's settings, taken from the fields of `Settings`: a new field is a new key.

A field that is a dataclass is a section with its name, or that of `_SECTIONS`. Of the others, those that begin with
`accept_` are the section `accept`, choices and switches, such as `search: single`, are keys without a section, and the
rest is `post_processing`. The docstring after a field, or after those that follow it, is the key's comment. A section
that may be None is off as `null`, and on as soon as it, or one of its keys, is given.
"""

from __future__ import annotations

import ast
import inspect
import math
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic_core import PydanticCustomError

from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.text.schema import finite, refuse
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

_SECTIONS = {"region": "trust_region", "post": "post_processing"}
_ACCEPT = "accept_"
_OTHERS = "post_processing"
_SWITCHES_OF_OTHERS = ("draw", "hill_climbing")
"""Switches that belong to `_OTHERS`."""
_OF_THE_MACHINE = ("threads",)
"""No part of a task: its plan does not depend on them."""
_MOST = 1e9
_RANGES: Mapping[tuple[str, ...], tuple[float, float]] = {
    ("trust_region", "radius"): (1e-6, 100.0),
    ("trust_region", "largest"): (1e-6, 100.0),
    ("trust_region", "smallest"): (1e-12, 1.0),
    ("trust_region", "iterations"): (1, 1000),
    ("trust_region", "tolerance"): (0.0, 1.0),
    ("penalty", "first"): (1e-6, 1e6),
    ("penalty", "factor"): (1.0, 100.0),
    ("penalty", "iterations"): (1, 100),
    ("penalty", "position"): (0.0, 10.0),
    ("penalty", "orientation"): (0.0, 3.2),
    ("accept", "position"): (0.0, 1.0),
    ("accept", "orientation"): (0.0, 3.2),
}
"""Least and greatest value; a field may have its own, in its metadata as `range`. Others: 0 to 1e9."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One key."""

    path: tuple[str, ...]
    """In the file."""
    attribute: tuple[str, ...]
    """In `Settings`."""
    type: Any
    default: Any
    comment: str
    optional: bool = False
    """Whether it is in a section that is off by default."""
    least: float
    most: float

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def range(self) -> str:
        """The valid values, for people: "0 to 1", "additive, geometric"."""
        words = _words(_inner(self.type))
        if words:
            return ", ".join(map(str, words))
        if _inner(self.type) is bool:
            return "true, false"
        return f"{self.least:g} to {self.most:g}" if self.most < _MOST else f"at least {self.least:g}"

    def check(self, value: Any) -> Any:
        """The value as its type.

        Raises:
            PydanticCustomError: `refuse` with what is expected.
        """
        kind = self.type
        if value is None and NoneType in get_args(kind):
            return None
        kind = _inner(kind)
        if get_origin(kind) is tuple:
            return self._list(value, get_args(kind))
        return self._one(value, kind)

    def _list(self, value: Any, kinds: tuple[Any, ...]) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise refuse("a list")
        if kinds[-1] is Ellipsis:
            return tuple(self._one(element, kinds[0]) for element in value)
        if len(value) != len(kinds):
            raise refuse(f"a list of {len(kinds)}")
        return tuple(self._one(element, kind) for element, kind in zip(value, kinds, strict=True))

    def _one(self, value: Any, kind: Any) -> Any:
        if words := _words(kind):
            if value not in words:
                raise refuse(unknown("word", str(value), [str(word) for word in words]))
            return value
        if kind is bool:
            if not isinstance(value, bool):
                raise refuse("true or false")
            return value
        if kind is str:
            if not isinstance(value, str):
                raise refuse("a text")
            return value
        if value == math.inf and self.default == math.inf:
            return value
        number = finite(value)
        if number is None:
            raise refuse("a whole number" if kind is int else "a finite number")
        if kind is int and number != int(number):
            raise refuse("a whole number")
        if not self.least <= number <= self.most:
            raise refuse(self.range)
        return kind(number)

    @property
    def is_computed(self) -> bool:
        """Whether it may be an expression of the task's parameters."""
        return _inner(self.type) in (int, float)

    def json_schema(self) -> dict[str, Any]:
        """JSON Schema of its values, for editors."""
        kind = _inner(self.type)
        if words := _words(kind):
            return {"enum": list(words)}
        if kind is bool:
            return {"type": "boolean"}
        if kind in (int, float):
            number = {"type": "integer" if kind is int else "number", "minimum": self.least}
            if self.most < _MOST:
                number["maximum"] = self.most
            return {"anyOf": [number, {"type": "string", "pattern": "\\$"}]}
        return {"type": "array"} if get_origin(kind) is tuple else {}


@dataclass(frozen=True, kw_only=True)
class OptionalSection:
    """A section that may be None."""

    path: tuple[str, ...]
    attribute: tuple[str, ...]
    type: Any
    on: bool
    """By default."""

    @property
    def name(self) -> str:
        return ".".join(self.path)


@cache
def optional_sections() -> tuple[OptionalSection, ...]:
    """All sections that may be None."""
    return tuple(_optional(Settings, (), ()))


@cache
def task_settings() -> tuple[Setting, ...]:
    """All keys, in the order of `Settings`; those of a section together."""
    found = list(_of_settings())
    first: dict[tuple[str, ...], int] = {}
    for i, setting in enumerate(found):
        for depth in range(len(setting.path)):
            first.setdefault(setting.path[: depth + 1], i)
    return tuple(sorted(found, key=lambda s: [first[s.path[: depth + 1]] for depth in range(len(s.path))]))


def settings_table() -> list[str]:
    """Lines of a table in Markdown, for docs/planning.md."""
    rows = [(s.name, shown(s.default), s.range, s.comment) for s in task_settings()]
    head = ["| setting | default | valid | what |", "|---|---|---|---|"]
    return head + ["| `{}` | {} | {} | {} |".format(*(cell.replace("|", "\\|") for cell in row)) for row in rows]


def shown(value: Any) -> str:
    """A default as YAML has it."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(shown, value))}]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if value == math.inf:
        return ".inf"
    return f"{value:g}" if isinstance(value, float) else str(value)


def changed(settings: Settings, values: Mapping[tuple[str, ...], Any]) -> Settings:
    """The settings with checked values, by their paths in the file; of an optional section: whether it is on.

    Raises:
        DefinitionError: values that contradict each other.
    """
    known = {setting.path: setting for setting in task_settings()}
    for section in optional_sections():
        if section.path in values:
            is_on = _at(settings, section.attribute) is not None
            if is_on != bool(values[section.path]):
                settings = _with(settings, section.attribute, section.type() if values[section.path] else None)
    for path, value in values.items():
        if path not in known:
            continue
        settings = _with(settings, known[path].attribute, value)
    return settings


def changed_by_names(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The settings with values that come from outside a file, by names such as "penalty.schedule".

    Raises:
        DefinitionError: an unknown name, or a value that is not valid.
    """
    known = {setting.name: setting for setting in task_settings()}
    sections = {section.name: section for section in optional_sections()}
    checked: dict[tuple[str, ...], Any] = {}
    for name, value in values.items():
        if name in sections:
            if value not in (True, False, None, "null"):
                raise DefinitionError(f"setting {name!r}", expected="true or false", got=repr(value))
            checked[sections[name].path] = value is True
            continue
        if name not in known:
            raise DefinitionError(f"setting {name!r}", expected=unknown("setting", name, known))
        try:
            checked[known[name].path] = known[name].check(value)
        except PydanticCustomError as error:
            expected = str((error.context or {}).get("expected"))
            raise DefinitionError(f"setting {name!r}", expected=expected, got=repr(value)) from None
    return changed(settings, checked)


def _with(value: Any, attribute: tuple[str, ...], new: Any) -> Any:
    first, *rest = attribute
    if not rest:
        return replace(value, **{first: new})
    inner = getattr(value, first)
    if inner is None:  # the section was off
        inner = _inner(get_type_hints(type(value))[first])()
    return replace(value, **{first: _with(inner, tuple(rest), new)})


def _at(value: Any, attribute: tuple[str, ...]) -> Any:
    for name in attribute:
        value = getattr(value, name)
    return value


def _optional(section: Any, path: tuple[str, ...], attribute: tuple[str, ...]) -> Iterator[OptionalSection]:
    hints = get_type_hints(section)
    for field in fields(section):
        hint, name = hints[field.name], field.name if path else _SECTIONS.get(field.name, field.name)
        if is_dataclass(_inner(hint)):
            place, its = (*path, name), (*attribute, field.name)
            if NoneType in get_args(hint):
                yield OptionalSection(path=place, attribute=its, type=_inner(hint), on=field.default is not None)
            yield from _optional(_inner(hint), place, its)


def _of_settings() -> Iterator[Setting]:
    hints, comments = get_type_hints(Settings), _docstrings(Settings)
    for field in fields(Settings):
        name, hint = field.name, hints[field.name]
        if name in _OF_THE_MACHINE:
            continue
        if is_dataclass(_inner(hint)):
            yield from _of_section(_inner(hint), (_SECTIONS.get(name, name),), (name,), optional=field.default is None)
        elif name.startswith(_ACCEPT):
            yield _setting(field, ("accept", name.removeprefix(_ACCEPT)), (name,), hint, comments)
        elif (_words(hint) or hint is bool) and name not in _SWITCHES_OF_OTHERS:
            yield _setting(field, (name,), (name,), hint, comments)
        else:
            yield _setting(field, (_OTHERS, name), (name,), hint, comments)


def _of_section(
    section: Any, path: tuple[str, ...], attribute: tuple[str, ...], *, optional: bool = False
) -> Iterator[Setting]:
    hints, comments = get_type_hints(section), _docstrings(section)
    for field in fields(section):
        hint, place, its = hints[field.name], (*path, field.name), (*attribute, field.name)
        if is_dataclass(_inner(hint)):
            off = optional or (field.default is None)
            yield from _of_section(_inner(hint), place, its, optional=off)
        else:
            yield _setting(field, place, its, hint, comments, optional=optional)


def _setting(
    field: Field[Any],
    path: tuple[str, ...],
    attribute: tuple[str, ...],
    hint: Any,
    comments: Mapping[str, str],
    *,
    optional: bool = False,
) -> Setting:
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    least, most = field.metadata.get("range") or _RANGES.get(path, (0.0, _MOST))
    return Setting(
        path=path, attribute=attribute, type=hint, default=default, comment=comments.get(field.name, ""),
        least=least, most=most, optional=optional,
    )  # fmt: skip


def _inner(hint: Any) -> Any:
    """The type of values that are not None."""
    if get_origin(hint) in (Union, UnionType):
        return next(kind for kind in get_args(hint) if kind is not NoneType)
    return hint


def _words(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) is Literal else ()


def _docstrings(section: Any) -> dict[str, str]:
    """Field → the docstring after it, on one line."""
    try:
        [made] = ast.parse(textwrap.dedent(inspect.getsource(section))).body
    except OSError:  # installed without sources
        return {}
    assert isinstance(made, ast.ClassDef)
    found: dict[str, str] = {}
    names: list[str] = []
    for node in made.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found |= dict.fromkeys(names, " ".join(str(node.value.value).split()))
            names = []
    return found


def write_table(page: Path) -> None:
    """Put the table in place of the one in docs/planning.md: `python -m …settings_keys docs/planning.md`."""
    head, text = settings_table()[0], page.read_text(encoding="utf-8")
    before, _, rest = text.partition(head)
    _, _, after = rest.partition("\n\n")
    page.write_text(before + "\n".join(settings_table()) + "\n\n" + after, encoding="utf-8")


if __name__ == "__main__":
    write_table(Path(sys.argv[1]))
