"""The catalogue against which definitions are checked: action types, parts and state variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


@dataclass(frozen=True, kw_only=True)
class KnownPart:
    """The known properties of a part, or of a role without a part.

    Args:
        kinds: one kind; for a role, all suitable kinds.
        dof: None: not known.
        joint_unit: "rad", "m" or "rad or m"; None: not known.
        joints: name → unit of position, in their order; None: not known.
        command_modes: in which its joints take commands: "position", "velocity", "effort"; None: not known.
        candidates: for a role, the parts that can take it. None: this is a part.
    """

    kinds: tuple[str, ...]
    dof: int | None = None
    joint_unit: str | None = None
    joints: Mapping[str, str] | None = None
    command_modes: tuple[str, ...] | None = None
    candidates: tuple[str, ...] | None = None

    @property
    def is_role(self) -> bool:
        return self.candidates is not None


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """The known types, parts and variables. Without arguments only the definitions themselves are checked.

    Args:
        types: action types by name; None: not known, and any name may be one.
        parts: by name; None: the workcell is not known, and any name may be a part.
        variables: state variables of the system and of the parts, by full name; None: not known.
        roles: roles without a part; their names are used in place of parts.
    """

    types: Mapping[str, DeclaredType] | None = None
    parts: Mapping[str, KnownPart] | None = None
    variables: Mapping[str, VariableRef] | None = None
    roles: Mapping[str, KnownPart] = field(default_factory=dict)

    def part(self, name: str) -> KnownPart | None:
        """A part, or a role in its place; None: there is none with this name, or the workcell is not known."""
        return self.roles.get(name) or (self.parts or {}).get(name)

    def candidates(self, kinds: Sequence[str]) -> tuple[str, ...]:
        """Names of the parts of these kinds; of all parts if there are none of these kinds."""
        return tuple(name for name, part in (self.parts or {}).items() if not kinds or part.kinds[0] in kinds)


def unknown_action_type(of: str, name: str, known: Iterable[str]) -> DefinitionError:
    """The error for an unknown action type.

    Args:
        of: the item that names the type: "action 'approach'".
    """
    return DefinitionError(f"{of}: unknown action type", expected=unknown("action type", name, known), got=repr(name))


def moved_parts(action_type: DeclaredType, parts: Sequence[str] | Mapping[str, str]) -> tuple[str, ...]:
    """The parts that an action of this type moves, in the order of its slots, as far as its slots are right."""
    slots = action_type.slots
    if action_type.each_part:
        return tuple(parts.values() if isinstance(parts, Mapping) else parts)
    given = parts if isinstance(parts, Mapping) else dict(zip((s.name for s in slots), parts, strict=False))
    return tuple(given[s.name] for s in slots if s.moves and s.name in given)
