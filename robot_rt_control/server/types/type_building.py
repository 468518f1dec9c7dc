"""From sources to action types whose native code is in the cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.definitions.class_place import spec_of
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.native.toolchain import sources_digest
from robot_rt_control.server.builder.built_type import UNPROVEN, BuiltType
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.code.source import is_package_file, load_action_type
from robot_rt_control.server.preparer.process import UserClass
from robot_rt_control.server.types.action_sources import Source, resolve
from robot_rt_control.server.types.known_builds import keep, read_known
from robot_rt_control.vocabulary.errors import CompileError

BUILT_IN = "built in"
_PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class LoadedType:
    """What an action type declares, the key of its native code, and where its other code runs."""

    declared: DeclaredType
    key: str
    code: type[ActionType] | UserClass
    """The class itself, in this process: of this package, or of an interpreted cell; else, the user's."""
    origin: str = ""
    """Where it comes from: "built in", a file, a module, or an entry point."""
    compute_time: float = math.nan
    """The time of its longest tick [s]; NaN: not measured."""
    worst_time: float = 0.0
    worst_loop: str = ""
    """See `BuiltType`."""


def build_types(
    sources: Sequence[str | type[ActionType]],
    builder: Builder,
    progress: Callable[[str], None],
    trusted: Sequence[Path] = (),
) -> list[LoadedType]:
    """Build all action types of some sources, or find them in the cache. User code never runs in this process.

    Args:
        sources: see action_sources.py; or the classes themselves.
        progress: called with what is being done.
        trusted: folders whose C and C++ code may run in the loop.

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
    if not all(_is_own(spec.rpartition(":")[0]) for spec, _ in wanted if isinstance(spec, str)):
        builder.preparers.control()  # it starts while they are built
    results = _results([spec for spec, _ in wanted], builder, progress, trusted)
    errors += [r for r in results if isinstance(r, CompileError)]
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise CompileError("\n".join(map(str, errors)))
    built = [r for r in results if not isinstance(r, CompileError)]
    return [_load(spec, origin, b, builder) for (spec, origin), b in zip(wanted, built, strict=True)]


def _results(
    specs: Sequence[str | type[ActionType]],
    builder: Builder,
    progress: Callable[[str], None],
    trusted: Sequence[Path],
) -> list[BuiltType | CompileError]:
    """What the builder answers for each spec. It is not asked for types of this package that are known from before."""
    own = [spec for spec in specs if isinstance(spec, str) and _is_own(spec.rpartition(":")[0])]
    digest = sources_digest() if own else ""
    known: dict[str, BuiltType] = read_known(digest) if own else {}
    asked = [spec for spec in specs if spec not in known]
    if not asked:
        return [known[spec] for spec in specs if isinstance(spec, str)]
    answers = dict(zip(asked, builder.build_many(asked, progress, trusted), strict=True))
    built = {spec: answers[spec] for spec in own if spec in answers}
    if built:
        keep(digest, known | {spec: one for spec, one in built.items() if isinstance(one, BuiltType)})
    return [answers[spec] if spec in answers else known[spec] for spec in specs]  # type: ignore[index]  # known: texts


def _classes(source: str | type[ActionType], builder: Builder) -> list[tuple[str | type[ActionType], str]]:
    """The specs of a source's classes, each with its origin."""
    if not isinstance(source, str):
        return [(source, spec_of(source).rpartition(":")[0])]
    found: Source = resolve(source)
    if found.class_name:
        return [(f"{found.place}:{found.class_name}", found.origin)]
    return [(spec, found.origin) for spec in builder.find(found.place)]


def _load(spec: str | type[ActionType], origin: str, built: BuiltType, builder: Builder) -> LoadedType:
    """The type that was built; a user's class never comes into this process."""
    place, _, name = (spec if isinstance(spec, str) else spec_of(spec)).rpartition(":")
    times = built.compute_time, built.worst_time, built.worst_loop
    if _is_own(place):
        origin, code = BUILT_IN, load_action_type(spec).action_type
        return LoadedType(built.declared, built.key, code, origin, *times)
    place = str(Path(place).absolute()) if place.endswith(".py") else place
    file = builder.preparers.load(f"{place}:{name}", built.files)
    if built.unproven:
        origin = f"{origin}, real-time code in {built.unproven}: {UNPROVEN}"
    return LoadedType(built.declared, built.key, UserClass(file, name), origin, *times)


def _is_own(place: str) -> bool:
    """Whether a file or module belongs to this package."""
    return is_package_file(place) if place.endswith(".py") else place.partition(".")[0] == _PACKAGE
