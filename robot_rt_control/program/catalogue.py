"""What a program is checked against: action types, parts and state variables, of a workcell or of any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.program.declarations import KINDS, Role


@dataclass(frozen=True, kw_only=True)
class KnownPart:
    """What is known of a part, or of a role that nobody plays yet.

    Args:
        kinds: one; of a role all that fit.
        dof: None: not known.
        joint_unit: "rad" or "m"; None: not known.
        role: the part stands for a role.
    """

    kinds: tuple[str, ...]
    dof: int | None = None
    joint_unit: str | None = None
    role: bool = False


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """What there is.

    Args:
        types: action types by name.
        parts: by name; None: the workcell is not known, and any name may be a part.
        variables: state variables of parts and system, by full name.
    """

    types: Mapping[str, type[ActionType]]
    parts: Mapping[str, KnownPart] | None = None
    variables: Mapping[str, VariableRef] = field(default_factory=dict)

    def part(self, name: str, roles: Mapping[str, Role]) -> KnownPart | None:
        """A part, or a role in the place of one; None: there is none of this name, or the workcell is not known."""
        if name in roles:
            return KnownPart(kinds=roles[name].kinds or KINDS, role=True)
        return None if self.parts is None else self.parts.get(name)

    def candidates(self, role: Role) -> list[str]:
        """Names of the workcell's parts that can play a role."""
        return [name for name, p in (self.parts or {}).items() if not role.kinds or p.kinds[0] in role.kinds]


class ProgramScope:
    """What the conditions of a program can name, as `VariableScope` of the server: owner's, actions', parts'.

    Args:
        actions: types of all actions of the program and of its session; None: not known.
        roles: those that nobody plays yet.
    """

    def __init__(
        self, catalogue: Catalogue, actions: Mapping[str, type[ActionType] | None], roles: Mapping[str, Role]
    ) -> None:
        self._catalogue, self._actions, self._roles = catalogue, actions, roles
        self._candidates = {name: catalogue.candidates(role) for name, role in roles.items()}
        self._of_type: dict[str, dict[str, VariableRef]] = {}

    def _variables(self, action_type: type[ActionType]) -> dict[str, VariableRef]:
        if action_type.name not in self._of_type:
            self._of_type[action_type.name] = {
                v.name: VariableRef(0, v.type, v.unit) for v in action_type.state_variables
            }
        return self._of_type[action_type.name]

    def resolve(self, name: str, owner: str) -> VariableRef | None:
        """Type and unit of a state variable; None: it cannot be known here whether there is one.

        Args:
            owner: id of the action whose reaction names it; empty: free-standing.

        Raises:
            KeyError: there is none of this name.
        """
        own = self._actions.get(owner)
        if owner and own is not None and name in self._variables(own):
            return self._variables(own)[name]
        head, dot, rest = name.partition(".")
        if dot and head in self._actions:
            action_type = self._actions[head]
            return None if action_type is None else self._variables(action_type)[rest]
        if name in self._catalogue.variables:
            return self._catalogue.variables[name]
        if owner and own is None and not dot:
            return None
        return self._of_role(head, name)

    def _of_role(self, head: str, name: str) -> VariableRef | None:
        head = head.partition("[")[0]
        if head in self._candidates:
            candidates = self._candidates[head]
            for part in candidates:
                if part + name[len(head) :] in self._catalogue.variables:
                    return self._catalogue.variables[part + name[len(head) :]]
            if not candidates:
                return None
        elif self._catalogue.parts is None and "." in name:
            return None  # of a part of a workcell that is not known
        raise KeyError(name)

    def known(self, owner: str) -> Iterator[str]:
        """All names, for near matches."""
        own = self._actions.get(owner)
        if own is not None:
            yield from self._variables(own)
        for action, action_type in self._actions.items():
            if action_type is not None:
                yield from (f"{action}.{name}" for name in self._variables(action_type))
        for role, candidates in self._candidates.items():
            for part in candidates:
                yield from (role + n[len(part) :] for n in self._catalogue.variables if n.startswith(f"{part}."))
        yield from self._catalogue.variables

    def action_of(self, name: str, owner: str) -> str:
        """The id of the other action whose variable this is; empty: it is the owner's, a part's or the system's."""
        own = self._actions.get(owner)
        if own is not None and name in self._variables(own):
            return ""
        head, dot, _ = name.partition(".")
        return head if dot and head in self._actions and head != owner else ""


def moved_slots(action_type: type[ActionType], parts: Sequence[str] | Mapping[str, str]) -> frozenset[str]:
    """The parts that an action moves, as far as its slots are right."""
    slots = action_type.slots
    pairs = parts.items() if isinstance(parts, Mapping) else zip((s.name for s in slots), parts, strict=False)
    moving = {s.name for s in slots if s.moves}
    return frozenset(part for slot, part in pairs if slot in moving)
