"""Checks one action: its type, the parts in its slots, its parameters, its streams."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from robot_rt_control.definitions.action_type import Parameter, Slot
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.definitions.streams import n_values
from robot_rt_control.text.document import Path
from robot_rt_control.validation.catalogue import Catalogue, KnownPart, unknown_action_type
from robot_rt_control.validation.edges import Found
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, unknown
from robot_rt_control.vocabulary.part_kinds import unit_for

COMMANDS = "commands"
"""Stands for a group's motion commands in `sampled`, if some could not be read."""


@dataclass(frozen=True, kw_only=True)
class Use:
    """An action type in use: of an action, or as the law of a strategy.

    Args:
        of: how messages name it.
        key: its name in `sampled`.
    """

    of: str
    key: str
    path: Path
    type: str
    parts: tuple[str, ...] | Mapping[str, str]
    parameters: Sequence[ParameterValue]


def find_in_action(action: ActionDefinition, catalogue: Catalogue, sampled: Collection[tuple[str, str]]) -> Found:
    """Find the mistakes in an action, apart from its reactions and strategies.

    Args:
        sampled: (action, parameter) whose values are not known, or only show their type.
    """
    use = Use(
        of=f"action {action.id!r}",
        key=action.id,
        path=("actions", action.id),
        type=action.type,
        parts=action.parts,
        parameters=action.parameters,
    )
    if catalogue.types is None:
        return
    action_type = catalogue.types.get(action.type)
    if action_type is None:
        yield unknown_action_type(use.of, action.type, catalogue.types), (*use.path, "type")
        return
    yield from find_in_use(use, action_type, catalogue, sampled)
    if (action.id, COMMANDS) not in sampled:
        yield from _find_in_commands(use, action_type, action)
    if action.time_limit is not None and not action_type.can_time_out:
        error = DefinitionError(
            f"{use.of}: time_limit",
            expected=f"none, as type {action_type.name!r} has a state variable 'timed_out' of its own",
            got=f"{action.time_limit:g} s",
        )
        yield error, (*use.path, "time_limit")


def _find_in_commands(use: Use, action_type: DeclaredType, action: ActionDefinition) -> Found:
    """A motion group has commands, for exactly its parts; other types have none."""
    path = (*use.path, COMMANDS)
    parts = slot_parts(use.of, action_type, action.parts) if action_type.each_part else []
    for i, command in enumerate(action.commands):
        if command.part not in parts:
            only = "none: only motion groups have them"
            expected = unknown("part of the group", command.part, parts) if parts else only
            error = DefinitionError(f"{use.of}: motion command {i + 1}", expected=expected, got=repr(command.part))
            yield error, (*path, i)
    for part in parts:
        if all(command.part != part for command in action.commands):
            what = f"{use.of}: motion command of part {part!r}"
            yield DefinitionError(what, expected="at least one", got="none"), path
    if action_type.each_part and action.strategies:
        what = f"{use.of}: strategies"
        error = DefinitionError(what, expected="none in a motion group", got=str(len(action.strategies)))
        yield error, (*use.path, "strategies")


def find_in_use(
    use: Use, action_type: DeclaredType, catalogue: Catalogue, sampled: Collection[tuple[str, str]]
) -> Found:
    """Find the mistakes in the use of an action type: slots, streams, parameters."""
    of, path, given = use.of, use.path, use.parts
    in_slots: list[str] = []
    try:
        in_slots = slot_parts(of, action_type, given)
    except DefinitionError as mistake:
        yield mistake, (*path, "parts")
    slots = action_type.slots * len(in_slots) if action_type.each_part else action_type.slots
    for slot, name in zip(slots, in_slots, strict=False):
        yield from _find_in_slot(of, action_type, slot, name, catalogue, (*path, "parts"))
    first = catalogue.part(in_slots[0]) if in_slots else None
    if first is not None and not set(first.kinds) <= {kind.name.lower() for kind in action_type.slots[0].kinds}:
        first = None  # reported above; checks that depend on its joints are not possible
    if first is not None and first.dof is not None:
        yield from _find_in_streams(of, action_type, first.dof, (*path, "parts"))
    yield from _find_in_parameters(use, action_type, first, sampled)


def slot_parts(of: str, action_type: DeclaredType, given: tuple[str, ...] | Mapping[str, str]) -> list[str]:
    """The name of the part in each slot, in the order of the slots.

    Args:
        of: the action, for messages.

    Raises:
        DefinitionError: a slot is unknown, or the number of parts differs from the number of slots.
    """
    slots = action_type.slots
    if action_type.each_part:
        return list(given.values() if isinstance(given, Mapping) else given)
    names = [s.name for s in slots]
    shown = ", ".join(f"{s.name} ({' or '.join(_kinds(s))})" for s in slots)
    if not isinstance(given, Mapping):
        if len(given) != len(slots):
            raise DefinitionError(
                f"{of}: wrong number of parts",
                expected=f"{len(slots)}, in the order of the slots of {action_type.name!r}: {shown}",
                got=f"{len(given)} ({', '.join(given)})",
            )
        return list(given)
    for name in given:
        if name not in names:
            raise DefinitionError(
                f"{of}: type {action_type.name!r} has no slot {name!r}",
                expected=unknown("slot", name, names),
                got=repr(name),
            )
    for name in names:
        if name not in given:
            raise DefinitionError(
                f"{of}: a part is missing", expected=f"a part in each slot: {shown}", got=f"none for {name!r}"
            )
    return [given[name] for name in names]


def _kinds(slot: Slot) -> list[str]:
    """Names of the kinds; a degree of freedom is named only where nothing else fits: else it is for strategies."""
    return [kind.name.lower() for kind in slot.kinds if kind != PartKind.AXIS] or ["axis"]


def _find_in_slot(
    of: str, action_type: DeclaredType, slot: Slot, name: str, catalogue: Catalogue, path: Path
) -> Found:
    part = catalogue.part(name)
    if part is None and catalogue.parts is not None:
        known = {*catalogue.parts, *catalogue.roles}
        yield DefinitionError(f"{of}: unknown part", expected=unknown("part", name, known), got=repr(name)), path
    elif part is not None and not set(part.kinds) <= {kind.name.lower() for kind in slot.kinds}:
        is_law = slot.kinds == (PartKind.AXIS,)
        error = DefinitionError(
            f"{of}: {'role' if part.is_role else 'part'} {name!r} does not fit slot {slot.name!r} of type "
            f"{action_type.name!r}",
            expected=f"a part of kind {' or '.join(_kinds(slot))}",
            got=" or ".join(part.kinds),
            hint=f"Type {action_type.name!r} is a law: use it in `strategies`" if is_law else "",
        )
        yield error, path


def _find_in_streams(of: str, action_type: DeclaredType, dof: int, path: Path) -> Found:
    for stream in action_type.streams:
        if n_values(stream, dof) == 0:
            error = DefinitionError(
                f"{of}: stream {stream.name!r} has one value for each joint",
                expected="a part with joints",
                got="a part without",
            )
            yield error, path


def _find_in_parameters(
    use: Use,
    action_type: DeclaredType,
    first: KnownPart | None,
    sampled: Collection[tuple[str, str]],
) -> Found:
    declared = {p.name: p for p in action_type.parameters}
    dof = first.dof if first is not None else None
    unit = first.joint_unit if first is not None else None
    for given in use.parameters:
        parameter = declared.get(given.name)
        if parameter is not None and (use.key, given.name) in sampled:
            continue
        size = len(given.value) if isinstance(given.value, tuple) else 1
        try:
            check_parameters(
                use.key,
                action_type.parameters,
                [given],
                dof=size if dof is None else dof,
                joint_unit=unit or _joint_unit_of(given, parameter),
                only_given=True,
                of=use.of,
            )
        except DefinitionError as error:
            yield error, (*use.path, "parameters", given.name)
    names = {p.name for p in use.parameters} | {name for key, name in sampled if key == use.key}
    for parameter in action_type.parameters:
        if parameter.default is None and not parameter.optional and parameter.name not in names:
            if dof is None and parameter.length == "dof":
                parameter = replace(parameter, length="any")
            try:
                check_parameters(use.key, [parameter], [], dof=dof or 1, joint_unit=unit or "rad or m", of=use.of)
            except DefinitionError as error:
                yield error, use.path


def _joint_unit_of(given: ParameterValue, parameter: Parameter | None) -> str:
    """The unit of joints whose part is not known yet: the unit of the value, if joints can have it."""
    if parameter is not None:
        for unit in ("rad", "m"):
            if given.unit == unit_for(parameter.unit, unit):
                return unit
    return "rad or m"
