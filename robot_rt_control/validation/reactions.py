"""Checks one reaction: its condition, its targets, its signal, its captures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from robot_rt_control.conditions.compiler import check_condition
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.text.document import Path
from robot_rt_control.validation.edges import Edge, Found
from robot_rt_control.validation.scope import Scope
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


def find_in_reaction(edge: Edge, types: Mapping[str, DeclaredType | None], scope: Scope) -> Found:
    """Find the mistakes in a reaction.

    Args:
        types: types of all existing and new actions; None: not known.
        scope: the variables that it can name.
    """
    reaction = edge.reaction
    try:
        check_condition(
            reaction.condition,
            lambda name: scope.resolve(name, edge.owner),
            known=lambda: scope.known(edge.owner),
            of=edge.condition_label,
        )
    except DefinitionError as mistake:
        yield mistake, (*edge.path, "when")
    yield from find_in_captures(edge.label, edge.owner, reaction.capture, scope, (*edge.path, "capture"))
    target = reaction.signal.rpartition(".")[0]
    named = (*(("start", "starts", name) for name in reaction.start), ("signal", "signals", target))
    for key, verb, name in named:
        if name and name not in types:
            error = DefinitionError(
                f"{edge.label} {verb} an action that is not defined",
                expected=unknown("action", name, types),
                got=repr(name),
            )
            yield error, (*edge.path, key)
    yield from _find_in_signal(edge, types)


def find_in_captures(label: str, owner: str, capture: Iterable[str], scope: Scope, path: Path) -> Found:
    """Find captured state variables that do not exist, or are no numbers.

    Args:
        label: what captures them, for messages.
        owner: id of its action; empty: none.
    """
    for name in capture:
        try:
            ref = scope.resolve(name, owner)
        except KeyError:
            error = DefinitionError(
                f"{label} captures an unknown state variable",
                expected=unknown("state variable", name, scope.known(owner)),
                got=repr(name),
            )
            yield error, path
        else:
            if ref is not None and ref.length > 1:
                error = DefinitionError(
                    f"{label} captures a vector of {ref.length} elements",
                    expected="state variables that are numbers, such as its elements",
                    got=repr(name),
                )
                yield error, path


def _find_in_signal(edge: Edge, types: Mapping[str, DeclaredType | None]) -> Found:
    action, _, signal = edge.reaction.signal.rpartition(".")
    action_type = types.get(action or edge.owner)
    if signal and action_type is not None and signal not in action_type.signals:
        error = DefinitionError(
            f"{edge.label} raises a signal that action {action or edge.owner!r} (type {action_type.name!r}) does not "
            "have",
            expected=unknown("signal", signal, action_type.signals),
            got=repr(signal),
        )
        yield error, (*edge.path, "signal")
