"""From sources to action types whose native code is in the cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from robot_rt_control.definitions import native_code
from robot_rt_control.definitions.action_type import ActionType, parameter_dtype, state_dtype
from robot_rt_control.definitions.class_place import spec_of
from robot_rt_control.memory.layout import layout_digest
from robot_rt_control.server.builder.build import BuiltType
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.builder.source import is_package_file, load_action_type
from robot_rt_control.server.types.action_sources import Source, resolve
from robot_rt_control.vocabulary.errors import CompileError

BUILT_IN = "built in"


@dataclass(frozen=True)
class LoadedType:
    """A class of a user in this process, and the key of its native code."""

    action_type: type[ActionType]
    key: str
    origin: str = ""
    """Where it comes from: "built in", a file, a module, or an entry point."""
    compute_time: float = math.nan
    """Of its longest tick [s]; NaN: not measured."""


def build_types(
    sources: Sequence[str | type[ActionType]], builder: Builder, progress: Callable[[str], None]
) -> list[LoadedType]:
    """Build all action types of some sources, or find them in the cache. User code runs here only once it was built.

    Args:
        sources: see action_sources.py; or the classes themselves.
        progress: is told what is being done.

    Raises:
        CompileError: names every source and action type that was refused, and why.
    """
    errors: list[CompileError] = []
    wanted: list[tuple[str | type[ActionType], str]] = []
    for source in sources:
        try:
            wanted += _classes(source, builder)
        except CompileError as error:
            errors.append(error)
    results = builder.build_many([spec for spec, _ in wanted], progress)
    errors += [r for r in results if isinstance(r, CompileError)]
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise CompileError("\n".join(map(str, errors)))
    built = [r for r in results if not isinstance(r, CompileError)]
    return [_load(spec, origin, b) for (spec, origin), b in zip(wanted, built, strict=True)]


def _classes(source: str | type[ActionType], builder: Builder) -> list[tuple[str | type[ActionType], str]]:
    """The specs of a source's classes, each with its origin."""
    if not isinstance(source, str):
        return [(source, spec_of(source).rpartition(":")[0])]
    found: Source = resolve(source)
    if found.class_name:
        return [(f"{found.place}:{found.class_name}", found.origin)]
    return [(spec, found.origin) for spec in builder.find(found.place)]


def _load(spec: str | type[ActionType], origin: str, built: BuiltType) -> LoadedType:
    """The class that was built, in this process."""
    action_type = load_action_type(spec).action_type
    metadata = native_code.find(built.key)
    layouts = layout_digest(state_dtype(action_type)), layout_digest(parameter_dtype(action_type))
    if metadata is None or layouts != (metadata.state_layout, metadata.parameter_layout):
        raise CompileError(
            f"action type {action_type.name!r} is not what was built",
            hint="Its file, or one that it imports, has changed in the meantime: build it again. A package that is "
            "installed is read once: restart the control server after it was changed",
        )
    if is_package_file(Path(built.source_file)):
        origin = BUILT_IN
    return LoadedType(action_type, built.key, origin, built.compute_time)
