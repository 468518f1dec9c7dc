"""From ways between nodes to elements within each other: the tree that does what a graph without loops does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from robot_rt_control.blueprint.exchange.written_xml import Xml, series
from robot_rt_control.vocabulary.errors import CapacityError

MAX_NODES_OF_A_TREE = 2000
"""Ways that join again are written once for each way into them."""


class Decomposition:
    """One graph.

    Args:
        name: of the skill.
        ways: node → what follows success, and failure; None: it does not end so.
        elements: what each node is.
    """

    def __init__(
        self, name: str, ways: Mapping[str, tuple[str | None, str | None]], elements: Mapping[str, Xml]
    ) -> None:
        self._name, self._next, self._elements = name, ways, elements
        self._count = 0

    def made(self, id: str, success: str, failure: str) -> Xml:
        """The element that begins with a node, and succeeds or fails where these ends are reached.

        If both are the same, it does not matter how it ends.
        """
        self._count += 1
        if self._count > MAX_NODES_OF_A_TREE:
            raise CapacityError(
                f"skill {self._name!r} is too much for a tree",
                expected=f"at most {MAX_NODES_OF_A_TREE} nodes (MAX_NODES_OF_A_TREE)",
                got="more: ways that join again are written once for each way into them",
            )
        yes, no = self._next[id]
        yes, no = (success if yes is None else yes), (failure if no is None else no)
        ends = {success, failure}
        if yes in ends and no in ends:
            return self._leaf(id, yes, no, success, failure)
        for join in self._order(id, ends):
            hit = self._hit(id, join, ends)
            if not hit:
                first = self.made(id, join, join)
                return series("Sequence", Xml("ForceSuccess", {}, [first]), self.made(join, success, failure))
            if hit == {failure}:
                first = self.made(id, join, failure)
                return series("Sequence", first, self.made(join, success, failure))
            if hit == {success}:
                first = self.made(id, success, join)
                return series("Fallback", first, self.made(join, success, failure))
        then, otherwise = self.made(yes, success, failure), self.made(no, success, failure)
        return Xml("IfThenElse", {}, [self._elements[id], then, otherwise])

    def _leaf(self, id: str, yes: str, no: str, success: str, failure: str) -> Xml:
        element = self._elements[id]
        if success == failure or (yes, no) == (success, failure):
            return element
        if yes != no:
            return Xml("Inverter", {}, [element])
        return Xml("ForceSuccess" if yes == success else "ForceFailure", {}, [element])

    def _order(self, id: str, ends: set[str]) -> Iterator[str]:
        """The nodes that follow one, before the ends: those that nothing else leads to first."""
        seen: dict[str, None] = {}

        path = [(id, iter(self._following(id, ends)))]
        while path:
            here, rest = path[-1]
            to = next(rest, None)
            if to is None:
                path.pop()
                seen.setdefault(here)
            elif to not in seen:
                path.append((to, iter(self._following(to, ends))))
        return (node for node in reversed(seen) if node != id)

    def _following(self, id: str, ends: set[str]) -> list[str]:
        return [to for to in self._next[id] if to is not None and to not in ends]

    def _hit(self, id: str, join: str, ends: set[str]) -> set[str]:
        """The ends that are reached without passing a node."""
        found, waiting, seen = set(), [id], {id}
        while waiting:
            for to in self._next[waiting.pop()]:
                if to in ends:
                    found.add(to)
                elif to is not None and to != join and to not in seen:
                    seen.add(to)
                    waiting.append(to)
        return found
