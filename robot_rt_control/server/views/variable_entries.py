"""State variables by name, each with a way to read its present value from a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from robot_rt_control.model.workcell.catalogue import VariableInfo
from robot_rt_control.server.tables.entities import DefinedAction, SessionContents
from robot_rt_control.server.views.snapshot_view import SnapshotView
from robot_rt_control.validation.scope import STRATEGY_VARIABLES
from robot_rt_control.vocabulary.names import SESSION


@dataclass(frozen=True)
class VariableEntry:
    """A number that conditions can read."""

    name: str
    type: str
    unit: str
    description: str
    read: Callable[[SnapshotView], float]
    """Its value; NaN: unknown."""


def variable_entries(
    wanted: tuple[str, ...], workcell: Iterable[VariableInfo], contents: SessionContents | None
) -> list[VariableEntry]:
    """All state variables whose name begins with a wanted word, by name.

    Args:
        wanted: words; none: all variables.
        workcell: variables of the system and the parts.
        contents: of the session whose variables are listed too; None: of none.
    """
    found = [
        VariableEntry(v.name, v.type, v.unit, v.description, partial(_of_workcell, v.offset))
        for v in workcell
        if v.name.startswith(wanted or "") and v.length == 1
    ]
    if contents is not None:
        found += [entry for entry in _of_session(contents) if entry.name.startswith(wanted or "")]
    return sorted(found, key=lambda entry: entry.name)


def _of_session(contents: SessionContents) -> Iterator[VariableEntry]:
    written = contents.variables
    for name, ref in written.refs.items():
        if ref.length == 1:
            read = partial(_of_application, written.value(name, contents.index))
            yield VariableEntry(f"{SESSION}.{name}", ref.type, ref.unit, "written by the session's application", read)
    for action in contents.actions.values():
        declared = (*action.type.declared.state_variables, *action.type.declared.action_variables)
        descriptions = {v.name: v.description for v in declared}
        for bare, ref in action.variables.items():
            if ref.length == 1:  # the elements of vectors have names of their own
                text = descriptions.get(bare, STRATEGY_VARIABLES.get(bare.rpartition(".")[2], ""))
                read = partial(_of_action, action, bare)
                yield VariableEntry(f"{action.id}.{bare}", ref.type, ref.unit, text, read)


def _of_workcell(offset: int, view: SnapshotView) -> float:
    return view.value(offset)


def _of_application(written: float, _view: SnapshotView) -> float:
    return written


def _of_action(action: DefinedAction, name: str, view: SnapshotView) -> float:
    return view.action_value(action, name)
