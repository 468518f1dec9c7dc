"""Checks the strategies of an action: degrees of freedom, laws and their parameters, conditions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from robot_rt_control.conditions.compiler import check_condition
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.definitions.definitions import ActionDefinition, StrategyDefinition
from robot_rt_control.validation.actions import Use, find_in_use
from robot_rt_control.validation.catalogue import Catalogue, KnownPart, moved_parts
from robot_rt_control.validation.edges import Found
from robot_rt_control.validation.reactions import find_in_captures
from robot_rt_control.validation.scope import Scope
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, unknown
from robot_rt_control.vocabulary.names import hint_on
from robot_rt_control.vocabulary.part_kinds import unit_for

_COMMANDS = {"position": "positions", "velocity": "velocities", "effort": "efforts"}
_BY_INDEX = re.compile(r"joint\[([0-9]+)\]")


def is_law(action_type: DeclaredType) -> bool:
    """Whether a strategy can use an action type: it moves one degree of freedom, and has no streams."""
    slots = action_type.slots
    return PartKind.AXIS in slots[0].kinds and [s.moves for s in slots].count(True) == 1 and not action_type.streams


def find_axis(
    of: str, axis: str, joints: Mapping[str, Collection[str] | None], *, by_index: bool
) -> tuple[str, int | None]:
    """The part and the index of the joint that a degree of freedom means; None: its joints are not known.

    Args:
        of: the strategies, for messages.
        joints: names of the joints of each part that the action moves; None: not known. If the action's type declares
            degrees of freedom, their names under the first part.
        by_index: whether "joint[3]" names one.

    Raises:
        DefinitionError: there is no such joint, or it is not clear of which part.
    """
    part, dot, joint = axis.rpartition(".")
    if not dot and len(joints) != 1:
        raise DefinitionError(
            f"{of}: the action moves {len(joints)} parts",
            expected=f"the part before the joint: {' or '.join(f'{name}.{joint}' for name in joints)}",
            got=repr(axis),
        )
    part = part or next(iter(joints))
    if part not in joints:
        raise DefinitionError(
            f"{of}: unknown part", expected=unknown("part that the action moves", part, joints), got=repr(part)
        )
    if joints[part] is None:
        return part, None
    names = list(joints[part] or ())
    if by_index and (match := _BY_INDEX.fullmatch(joint)):
        if int(match[1]) < len(names):
            return part, int(match[1])
        raise DefinitionError(
            f"{of}: unknown degree of freedom", expected=f"joint[0] to joint[{len(names) - 1}]", got=repr(axis)
        )
    if joint not in names:
        kind = f"joint of {part!r}" if by_index else "degree of freedom of the action's type"
        raise DefinitionError(f"{of}: unknown degree of freedom", expected=unknown(kind, joint, names), got=repr(axis))
    return part, names.index(joint)


def find_in_strategies(
    action: ActionDefinition, catalogue: Catalogue, scope: Scope, sampled: Collection[tuple[str, str]]
) -> Found:
    """Find the mistakes in the strategies of an action.

    Args:
        sampled: (`strategy_key`, parameter) whose values are not known, or only show their type.
    """
    action_type = (catalogue.types or {}).get(action.type)
    if action_type is None:
        return
    joints = _axes_of(action_type, action, catalogue)
    seen: dict[tuple[str, int], str] = {}
    for given in action.strategies:
        of = f"action {action.id!r}: {given.label}"
        path = ("actions", action.id, "strategies", given.written or given.axis)
        unit = modes = None
        try:
            part, joint = find_axis(of, given.axis, joints, by_index=not action_type.degrees_of_freedom)
            units = joints[part]
            if joint is not None and units is not None:
                unit = list(units.values())[joint]
                modes = _modes_of(action_type, part, joint, catalogue)
                other = seen.setdefault((part, joint), given.axis)
                if other != given.axis:
                    raise DefinitionError(
                        f"{of}: {other!r} is the same joint",
                        expected="one list of strategies for each degree of freedom",
                        got=f"{other!r} and {given.axis!r}",
                        hint="Put all of them into one list, in order of priority",
                    )
        except DefinitionError as error:
            yield error, path
        axis = KnownPart(kinds=("axis",), dof=1, joint_unit=unit)
        known = None if catalogue.parts is None else {**catalogue.parts, given.axis: axis}
        with_axis = replace(catalogue, parts=known)
        for i, strategy in enumerate(given.strategies):
            use = Use(
                of=f"action {action.id!r}: strategy {strategy.name!r} of {given.axis!r}",
                key=strategy_key(action.id, given.axis, strategy),
                path=(*path, i),
                type=strategy.law,
                parts=(given.axis, *strategy.parts),
                parameters=strategy.parameters,
            )
            yield from _find_in_law(use, with_axis, sampled, modes, joints=not action_type.degrees_of_freedom)
            yield from _find_in_condition(use, action.id, strategy.when, scope)
            law = (catalogue.types or {}).get(use.type)
            yield from _find_in_inputs(use, action.id, strategy, scope, law, unit)
            yield from find_in_captures(use.of, action.id, strategy.capture, scope, (*use.path, "capture"))


@dataclass(frozen=True, kw_only=True)
class KeptStrategy:
    """A strategy of an action that the session keeps, which reads an action that is replaced."""

    action: str
    axis: str
    definition: StrategyDefinition
    law: DeclaredType
    unit: str
    """Unit of the position that it governs."""


def find_in_kept(kept: KeptStrategy, scope: Scope) -> Found:
    """Find what the strategy reads and the new definition does not have."""
    strategy = kept.definition
    use = Use(
        of=f"action {kept.action!r}: strategy {strategy.name!r} of {kept.axis!r}",
        key="",
        path=("actions", kept.action),
        type=strategy.law,
        parts=(),
        parameters=(),
    )
    yield from _find_in_condition(use, kept.action, strategy.when, scope)
    yield from _find_in_inputs(use, kept.action, strategy, scope, kept.law, kept.unit)
    yield from find_in_captures(use.of, kept.action, strategy.capture, scope, use.path)


def _axes_of(
    action_type: DeclaredType, action: ActionDefinition, catalogue: Catalogue
) -> dict[str, Mapping[str, str] | None]:
    """What strategies of an action can govern: part → name → unit of the position; None: not known."""
    parts = moved_parts(action_type, action.parts)
    if action_type.degrees_of_freedom:
        return {parts[0]: {degree.name: degree.unit for degree in action_type.degrees_of_freedom}} if parts else {}
    known = {name: catalogue.part(name) for name in parts}
    return {name: None if part is None else part.joints for name, part in known.items()}


def _modes_of(action_type: DeclaredType, part: str, joint: int, catalogue: Catalogue) -> tuple[str, ...] | None:
    """The modes in which laws may command a degree of freedom; None: not known."""
    if action_type.degrees_of_freedom:
        return action_type.degrees_of_freedom[joint].command_modes
    known = catalogue.part(part)
    return None if known is None else known.command_modes


def strategy_key(action: str, axis: str, strategy: StrategyDefinition) -> str:
    """The name of a strategy among `sampled` parameters."""
    return f"{action}.{axis}.{strategy.name}"


def _find_in_law(
    use: Use,
    catalogue: Catalogue,
    sampled: Collection[tuple[str, str]],
    modes: tuple[str, ...] | None,
    *,
    joints: bool,
) -> Found:
    types = catalogue.types or {}
    # Action types of joints follow plans over time, which a degree of freedom that is slowed down cannot.
    laws = [name for name, t in types.items() if is_law(t) and (joints or t.slots[0].kinds == (PartKind.AXIS,))]
    if use.type in laws:
        yield from find_in_use(use, types[use.type], catalogue, sampled)
        yield from _find_in_modes(use, {name: types[name].command_modes for name in laws}, modes, joints=joints)
        return
    if use.type not in types:
        what = "unknown law"
    elif is_law(types[use.type]):
        what = f"law {use.type!r} is for joints"
    else:
        what = f"action type {use.type!r} is no law"
    error = DefinitionError(f"{use.of}: {what}", expected=unknown("law", use.type, laws), got=repr(use.type))
    yield error, (*use.path, "law")


def _find_in_modes(
    use: Use, laws: Mapping[str, tuple[str, ...]], modes: tuple[str, ...] | None, *, joints: bool
) -> Found:
    """Whether the degree of freedom can be commanded as the law does.

    Args:
        laws: name → modes in which it commands; empty: not known.
        modes: in which the degree of freedom takes commands; None: not known.
    """
    wanted = laws[use.type]
    if modes is None or not wanted or set(wanted) & set(modes):
        return
    fit = ", ".join(sorted(name for name, its in laws.items() if set(its) & set(modes)))
    yield (
        DefinitionError(
            f"{use.of}: law {use.type!r} commands {' or '.join(_COMMANDS[mode] for mode in wanted)}",
            expected=f"a mode of {'joint' if joints else 'degree of freedom'} {next(iter(use.parts))!r}: "
            f"{', '.join(modes)}",
            got=" or ".join(wanted),
            hint=f"Use one of the laws for this: {fit}",
        ),
        (*use.path, "law"),
    )


def _find_in_condition(use: Use, action: str, when: str, scope: Scope) -> Found:
    if not when:
        return
    try:
        check_condition(
            when,
            lambda name: scope.resolve(name, action),
            known=lambda: scope.known(action),
            of=f"condition of {use.of}",
        )
    except DefinitionError as mistake:
        yield mistake, (*use.path, "when")


def _find_in_inputs(
    use: Use, action: str, strategy: StrategyDefinition, scope: Scope, law: DeclaredType | None, joint_unit: str | None
) -> Found:
    if law is None:
        return
    declared = {given.name: given for given in law.inputs}
    for name, variable in strategy.inputs:
        path = (*use.path, "inputs", name)
        if name not in declared:
            expected = unknown("input", name, declared)
            yield DefinitionError(f"{use.of}: law {use.type!r} has no input {name!r}", expected=expected), path
            continue
        of = f"{use.of}: input {name!r}"
        try:
            ref = scope.resolve(variable, action)
        except KeyError:
            expected = unknown("state variable", variable, scope.known(action))
            what = f"{of}: there is no such state variable"
            yield DefinitionError(what, expected=expected, got=repr(variable), hint=hint_on(variable)), path
            continue
        unit = unit_for(declared[name].unit, joint_unit) if joint_unit else ""
        if ref is not None and ref.length > 1:
            error = DefinitionError(f"{of} cannot be {variable!r}", expected="a number", got=f"{ref.length} numbers")
            yield error, path
        elif ref is not None and (ref.type != "float" or (ref.unit and unit and ref.unit != unit)):
            yield (
                DefinitionError(
                    f"{of} cannot be {variable!r}",
                    expected=f"a number in {unit}" if unit else "a number",
                    got=f"one in {ref.unit}" if ref.type == "float" else f"type {ref.type}",
                ),
                path,
            )
    for given in law.inputs:
        if not given.optional and given.name not in dict(strategy.inputs):
            yield (
                DefinitionError(
                    f"{use.of}: input {given.name!r} of law {use.type!r} is not bound",
                    expected="the name of a state variable" + (f" in {given.unit}" if given.unit else ""),
                    got="none",
                    hint=f"For example: inputs: {{{given.name}: watch.push_x}}",
                ),
                use.path,
            )
