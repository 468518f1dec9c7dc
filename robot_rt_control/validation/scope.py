"""The state variables that conditions and captures can name (docs/semantics/conditions.md, C4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.names import SESSION

STRATEGY_VARIABLES = {
    "strategy": "number of the governing strategy in its list, from 0",
    "ticks": "ticks since that strategy took over",
}
"""State variables of each degree of freedom with strategies: the first fields of `layout.governed_dtype`."""

Variables = Mapping[str, VariableRef]
"""State variables of an action, by bare name."""


def variables_of_type(
    action_type: DeclaredType, first: int = 0, of_every_action: Mapping[str, int] = MappingProxyType({})
) -> Variables:
    """The state variables of an action, vectors included. Their offsets are not known before the action has a slot.

    Args:
        first: offset of the first one that the type declares.
        of_every_action: name → offset of those that every action has.
    """
    found = {v.name: VariableRef(first + 8 * i, v.type, v.unit) for i, v in enumerate(action_type.state_variables)}
    for v in action_type.vectors:
        found[v.name] = VariableRef(found[v.elements[0].name].offset, v.type, v.unit, v.length)
    for v in action_type.action_variables:
        found[v.name] = VariableRef(of_every_action.get(v.name, 0), v.type, v.unit)
    return found


def variables_of_axes(axes: Iterable[str]) -> Variables:
    """Those that each degree of freedom with strategies adds to its action; offsets as in `variables_of_type`."""
    return {f"{axis}.{name}": VariableRef(0, "int") for axis in axes for name in STRATEGY_VARIABLES}


class Scope:
    """The variables that a session's reactions can name: the owner's, other actions', parts' and the system's.

    Args:
        catalogue: parts, roles and their variables.
        actions: all actions of the session, by id, and under `session` its own variables; None: the action's type, or
            what the session has, is not known.
    """

    def __init__(self, catalogue: Catalogue, actions: Mapping[str, Variables | None]) -> None:
        self._catalogue, self._actions = catalogue, actions

    def resolve(self, name: str, owner: str) -> VariableRef | None:
        """The state variable; None: it is not known here whether it exists.

        Args:
            owner: id of the action whose reaction names it; empty: free-standing.

        Raises:
            KeyError: there is no variable with this name.
        """
        own = self._actions.get(owner)
        if own is not None and name in own:
            return own[name]
        head, dot, rest = name.partition(".")
        if dot and head in self._actions:
            variables = self._actions[head]
            return None if variables is None else variables[rest]
        known = self._catalogue.variables
        if known is None or (owner in self._actions and own is None and not dot):
            return None
        return known[name] if name in known else self._of_role(head, name)

    def _of_role(self, head: str, name: str) -> VariableRef | None:
        head = head.partition("[")[0]
        role = self._catalogue.roles.get(head)
        if role is not None:
            for part in role.candidates or ():
                if found := (self._catalogue.variables or {}).get(part + name[len(head) :]):
                    return found
            if not role.candidates:
                return None
        elif self._catalogue.parts is None and "." in name:
            return None  # of a part of a workcell that is not known
        raise KeyError(name)

    def known(self, owner: str) -> Iterator[str]:
        """All names, for near matches."""
        yield from self._actions.get(owner) or ()
        for action, variables in self._actions.items():
            yield from (f"{action}.{name}" for name in variables or ())
        of_workcell = self._catalogue.variables or {}
        for name, role in self._catalogue.roles.items():
            for part in role.candidates or ():
                yield from (name + n[len(part) :] for n in of_workcell if n.startswith(f"{part}."))
        yield from of_workcell

    def action_of(self, name: str, owner: str) -> str:
        """The id of the other action whose variable this is; empty: it is the owner's, a part's or the system's."""
        if name in (self._actions.get(owner) or ()):
            return ""
        head, dot, _ = name.partition(".")
        return head if dot and head in self._actions and head not in (owner, SESSION) else ""
