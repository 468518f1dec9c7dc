"""What definitions are checked against: action types, parts and state variables, of a workcell or of any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


@dataclass(frozen=True, kw_only=True)
class KnownPart:
    """What is known of a part, or of a role that no part plays yet.

    Args:
        kinds: one; of a role all that fit.
        dof: None: not known.
        joint_unit: "rad", "m" or "rad or m"; None: not known.
        candidates: of a role, the parts that can play it. None: this is a part.
    """

    kinds: tuple[str, ...]
    dof: int | None = None
    joint_unit: str | None = None
    candidates: tuple[str, ...] | None = None

    @property
    def is_role(self) -> bool:
        return self.candidates is not None


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """What there is. Without arguments nothing is known, and only what definitions say by themselves is judged.

    Args:
        types: action types by name; None: not known, and any name may be one.
        parts: by name; None: the workcell is not known, and any name may be a part.
        variables: state variables of the system and of the parts, by full name; None: not known.
        roles: roles that no part plays yet; their names stand in the place of parts.
    """

    types: Mapping[str, type[ActionType]] | None = None
    parts: Mapping[str, KnownPart] | None = None
    variables: Mapping[str, VariableRef] | None = None
    roles: Mapping[str, KnownPart] = field(default_factory=dict)

    def part(self, name: str) -> KnownPart | None:
        """A part, or a role in the place of one; None: there is none of this name, or the workcell is not known."""
        return self.roles.get(name) or (self.parts or {}).get(name)

    def candidates(self, kinds: Sequence[str]) -> tuple[str, ...]:
        """Names of the parts of these kinds; of all, if there are none."""
        return tuple(name for name, part in (self.parts or {}).items() if not kinds or part.kinds[0] in kinds)


def unknown_action_type(of: str, name: str, known: Iterable[str]) -> DefinitionError:
    """The error for a name that no action type has.

    Args:
        of: what asks for it: "action 'approach'".
    """
    return DefinitionError(f"{of}: unknown action type", expected=unknown("action type", name, known), got=repr(name))


def moved_parts(action_type: type[ActionType], parts: Sequence[str] | Mapping[str, str]) -> tuple[str, ...]:
    """The parts that an action of this type moves, in the order of its slots, as far as its slots are right."""
    slots = action_type.slots
    given = parts if isinstance(parts, Mapping) else dict(zip((s.name for s in slots), parts, strict=False))
    return tuple(given[s.name] for s in slots if s.moves and s.name in given)
