"""Checks one action of a program against what its type declares."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from robot_rt_control.definitions.action_type import ActionType, Parameter
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.program.catalogue import Catalogue, KnownPart
from robot_rt_control.program.declarations import Role
from robot_rt_control.program.places import Path
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

Found = Iterator[tuple[DefinitionError, Path]]
"""Mistakes, each with its place in the program."""


def check_action(
    action: ActionDefinition, catalogue: Catalogue, roles: Mapping[str, Role], sampled: Collection[tuple[str, str]]
) -> Found:
    """What is wrong with an action.

    Args:
        roles: those that nobody plays yet; they stand in the place of parts.
        sampled: (action, parameter) whose values only show their type.
    """
    if action.id in (catalogue.parts or ()):
        error = DefinitionError(
            f"action {action.id!r} has the name of a part",
            expected="an id that is not the name of a part: conditions could not tell them apart",
            got=repr(action.id),
        )
        yield error, ("actions", action.id)
    action_type = catalogue.types.get(action.type)
    if action_type is None:
        error = DefinitionError(
            f"action {action.id!r}: unknown action type",
            expected=unknown("action type", action.type, catalogue.types),
            got=repr(action.type),
        )
        yield error, ("actions", action.id, "type")
        return
    first = None
    try:
        first = _parts_in_slots(action, action_type, catalogue, roles)[0]
    except DefinitionError as mistake:
        yield mistake, ("actions", action.id, "parts")
    yield from _check_parameters(action, action_type, first, sampled)


def _parts_in_slots(
    action: ActionDefinition, action_type: type[ActionType], catalogue: Catalogue, roles: Mapping[str, Role]
) -> list[KnownPart | None]:
    """The part in each slot, as far as it is known.

    Raises:
        DefinitionError: too few, too many, unknown ones, or one that does not fit.
    """
    of, slots = f"action {action.id!r}", action_type.slots
    shown = ", ".join(f"{s.name} ({_kinds(s.kinds)})" for s in slots)
    given = action.parts
    if isinstance(given, Mapping):
        names = [s.name for s in slots]
        for name in given:
            if name not in names:
                raise DefinitionError(
                    f"{of}: type {action.type!r} has no slot {name!r}",
                    expected=unknown("slot", name, names),
                    got=repr(name),
                )
        missing = [name for name in names if name not in given]
        if missing:
            raise DefinitionError(
                f"{of}: a part is missing", expected=f"a part in each slot: {shown}", got=f"none for {missing[0]!r}"
            )
        given = tuple(given[name] for name in names)
    elif len(given) != len(slots):
        raise DefinitionError(
            f"{of}: wrong number of parts",
            expected=f"{len(slots)}, in the order of the slots of {action.type!r}: {shown}",
            got=f"{len(given)} ({', '.join(given)})",
        )
    found = []
    for slot, name in zip(slots, given, strict=True):
        part = catalogue.part(name, roles)
        if part is None and catalogue.parts is not None:
            known = {*catalogue.parts, *roles}
            raise DefinitionError(f"{of}: unknown part", expected=unknown("part", name, known), got=repr(name))
        if part is not None and not set(part.kinds) <= {kind.name.lower() for kind in slot.kinds}:
            raise DefinitionError(
                f"{of}: {'role' if part.role else 'part'} {name!r} does not fit slot {slot.name!r} of type "
                f"{action.type!r}",
                expected=f"a part of kind {_kinds(slot.kinds)}",
                got=" or ".join(part.kinds),
            )
        found.append(part)
    return found


def _check_parameters(
    action: ActionDefinition,
    action_type: type[ActionType],
    first: KnownPart | None,
    sampled: Collection[tuple[str, str]],
) -> Found:
    declared = {p.name: p for p in action_type.parameters}
    dof = first.dof if first is not None else None
    unit = first.joint_unit if first is not None else None
    for given in action.parameters:
        parameter = declared.get(given.name)
        if parameter is not None and (action.id, given.name) in sampled:
            continue
        joint_unit = unit or _joint_unit_of(given, parameter)
        size = len(given.value) if isinstance(given.value, tuple) else 1
        try:
            check_parameters(
                action.id,
                action_type.parameters,
                [given],
                dof=size if dof is None else dof,
                joint_unit=joint_unit,
                only_given=True,
            )
        except DefinitionError as error:
            yield error, ("actions", action.id, "parameters", given.name)
    names = {p.name for p in action.parameters}
    for parameter in action_type.parameters:
        if _is_required(parameter) and parameter.name not in names:
            if dof is None and parameter.length == "dof":
                parameter = replace(parameter, length="any")
            try:
                check_parameters(action.id, [parameter], [], dof=dof or 1, joint_unit=unit or "rad or m")
            except DefinitionError as error:
                yield error, ("actions", action.id)


def _joint_unit_of(given: ParameterValue, parameter: Parameter | None) -> str:
    """The unit of joints whose part is not known yet: what the value has, if joints can have that."""
    if parameter is not None:
        for unit in ("rad", "m"):
            if given.unit == parameter.unit.replace("joint", unit):
                return unit
    return "rad or m"


def _is_required(parameter: Parameter) -> bool:
    return parameter.default is None and not parameter.optional


def _kinds(kinds: Collection[object]) -> str:
    return " or ".join(str(getattr(kind, "name", kind)).lower() for kind in kinds)
