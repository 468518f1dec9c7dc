"""The catalogue for checking programs without a running workcell: built-in action types, and a workcell file.

`python -m robot_rt_control.server.offline_catalogue` declares action types to a process that does not load them, see
`processes/call.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

from robot_rt_control.actions import BUILTIN
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.model.workcell.catalogue import workcell_catalogue
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.processes.call import answer
from robot_rt_control.server.builder.syntax_check import check_syntax
from robot_rt_control.server.code.source import ActionSource, find_action_types, load_action_type
from robot_rt_control.server.types.action_sources import resolve
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.enums import PartKind


def offline_catalogue(workcell: Workcell | Path | str | None = None) -> Catalogue:
    """The catalogue. Nothing is compiled, and no hardware is touched.

    Args:
        workcell: it, its file or its name; None: no workcell is known, and parts may have any name.

    Raises:
        DefinitionError: the workcell file, or what an action type declares, is not valid.
        CompileError: an action type that it names cannot be loaded, or the code of a law is refused.
    """
    loaded = load_workcell(workcell) if isinstance(workcell, Path | str) else workcell
    own = loaded.action_types if loaded is not None else ()
    return workcell_catalogue(loaded, _declared(source.text for source in own))


def _declared(own: Iterable[str]) -> Iterator[DeclaredType]:
    """The built-in types, and those of a workcell's own sources."""
    yield from map(_builtin, BUILTIN)
    yield from (_type(spec) for text in own for spec in _specs(text))


@functools.cache
def _builtin(spec: str) -> DeclaredType:
    """Nobody edits them while this process runs. To read the code of all laws takes a second."""
    return _type(spec)


def _type(spec: str) -> DeclaredType:
    source = load_action_type(spec)
    is_law = PartKind.AXIS in source.action_type.slots[0].kinds  # of others nobody asks for the modes
    return DeclaredType.of(source.action_type, _modes(source) if is_law else ())


def _specs(text: str) -> list[str]:
    found = resolve(text)
    return [f"{found.place}:{found.class_name}"] if found.class_name else find_action_types(found.place)


def _modes(source: ActionSource) -> tuple[str, ...]:
    return () if source.action_type.realtime_source else check_syntax(source).command_modes


if __name__ == "__main__":
    answer(lambda own: [declared.to_json() for declared in _declared(own)])
