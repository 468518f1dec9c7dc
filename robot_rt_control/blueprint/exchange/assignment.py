"""Entries of the blackboard that SetBlackboard writes: whether each is set before it is read, on every way.

In a behavior tree, to read an entry that nobody has set yet is an error; a blueprint's value always has a first value.
So what may be read too early is refused, with the line of what reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from robot_rt_control.blueprint.exchange.expressions import Changed, Expression, If, Serial, Unit

Entries = frozenset[str]
_Ends = tuple[Entries | None, Entries | None]
"""What is surely set after success, and after failure; None: it does not end so."""


class Assignment:
    """Looks at one skill.

    Args:
        entries: those that SetBlackboard writes in it.
        before: those that are set before anything of it runs.

    Attributes:
        early: units that may read an entry before it is set → that entry.
        success, failure: what is surely set at these ends; None: there is no such end.
    """

    def __init__(self, expression: Expression, entries: Set[str], before: Entries) -> None:
        self._entries = entries
        self.early: list[tuple[Unit, str]] = []
        self.success, self.failure = self._look(expression, before)

    def surely(self, entry: str) -> bool:
        """Whether an entry is set however the skill ends."""
        return all(end is None or entry in end for end in (self.success, self.failure))

    def _look(self, expression: Expression, before: Entries) -> _Ends:
        match expression:
            case Serial(children=children, fallback=fallback):
                left: list[Entries | None] = []
                on: Entries | None = before
                for child in children:
                    if on is None:
                        break  # it can never run
                    success, failure = self._look(child, on)
                    on, other = (failure, success) if fallback else (success, failure)
                    left.append(other)
                return (_common(left), on) if fallback else (on, _common(left))
            case If(condition=condition, then=then, otherwise=otherwise):
                yes, no = self._look(condition, before)
                ends = [self._look(then, yes)] if yes is not None else []
                if no is not None:
                    ends.append((None, no) if otherwise is None else self._look(otherwise, no))
                return _common([end[0] for end in ends]), _common([end[1] for end in ends])
            case Changed(child=child, how=how):
                success, failure = self._look(child, before)
                if how == "Inverter":
                    return failure, success
                both = _common([success, failure])
                return (both, None) if how == "ForceSuccess" else (None, both)
            case Unit():
                self.early += [(expression, entry) for entry in self._read(expression) if entry not in before]
                if expression.sets:
                    return before | {expression.sets}, None
                return (None if expression.again == "success" else before,
                        None if expression.again == "failure" else before)  # fmt: skip

    def _read(self, unit: Unit) -> Iterator[str]:
        for each in (unit, *unit.branch_of.values()):
            yield from (entry for entry, _ in each.reads.values() if entry in self._entries)


def _common(ends: list[Entries | None]) -> Entries | None:
    known = [end for end in ends if end is not None]
    return frozenset.intersection(*known) if known else None
