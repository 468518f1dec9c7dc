"""One call of a graph, under way: visits nodes, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from robot_rt_control.blueprint.engine.activities import Activity, Parent
from robot_rt_control.blueprint.graph import orders
from robot_rt_control.blueprint.graph.plan import ONLY, Call, Graph, GraphReaction, Path, shown_path
from robot_rt_control.blueprint.graph.results import CANCELLED, DONE, FAILED, TIMEOUT, Outcome
from robot_rt_control.blueprint.graph.scope import Scope
from robot_rt_control.vocabulary.errors import DefinitionError

if TYPE_CHECKING:
    from robot_rt_control.blueprint.engine.engine import Engine


class Cut(Enum):
    """Why the present node is being cancelled."""

    END = "end"
    """This call is to end."""
    TIMEOUT = "timeout"
    REACTION = "reaction"
    JUMP = "jump"
    STAND = "stand"
    SKIP = "skip"


@dataclass(frozen=True, kw_only=True)
class Way:
    """Where a graph goes on: at a node, or at its end."""

    frame: Frame
    node: str = ""
    end: Outcome | None = None


class Frame(Activity):
    """One call of a graph.

    Args:
        main: it is not inside a parallel branch.

    Attributes:
        node: id of the present node, or of the last one; empty: none yet.
        child: what runs; None: between two nodes.
        cut: why the child is being cancelled.
    """

    def __init__(self, engine: Engine, parent: Parent, call: Call, path: Path, *, main: bool) -> None:
        super().__init__(engine, parent, call, path)
        self.main = main
        self.graph: Graph = engine.plan.graphs[call.skill]
        self._is_one = bool(path) and self.graph.start == ONLY
        """Its only node is the caller's node to readers of the log."""
        self.node = ""
        self.child: Activity | None = None
        self.cut: Cut | None = None
        self.chosen: Outcome | None = None
        """Chosen result of a node that is skipped."""
        self.attempt = self._tries = self._rounds = self._timer = self._watch = 0
        self._fired: dict[int, bool] = {}
        """Reactions to be followed once the node has ended → whether only if their conditions hold then."""

    # --- the call -------------------------------------------------------------------------------

    def begin(self, scope: Scope, inner: Path) -> None:
        parts = {role: scope.part(part) for role, part in self.call.parts.items()}
        arguments = scope.arguments(self.call)
        self.scope = Scope(self.graph, arguments, parts, lambda: self.engine.moment)
        self.engine.record(
            "call",
            path=shown_path(self.path),
            skill=self.call.skill,
            arguments={a.name: a.value for a in arguments},
            parts=parts,
        )
        self.open(inner)

    def open(self, inner: Path) -> None:
        """Begin with the node `inner`, or with the graph's start."""
        self.watch()
        first, rest = (inner[0], inner[1:]) if inner else (self.graph.start, ())
        self.engine.soon(lambda: self.arrive(first, rest))

    def cancel(self) -> None:
        if self.over or self.cut == Cut.END:
            return
        self.cut = Cut.END
        self.unwatch()
        if self.child is not None:
            self.child.cancel()
        else:
            self.engine.soon(lambda: self.finish(Outcome.standard(CANCELLED)))

    def finish(self, outcome: Outcome) -> None:
        """The call ends; nothing of it runs."""
        if self.over:
            return
        self.unwatch()
        self.engine.control.forget(self)
        self.end(replace(outcome, outputs=self.scope.outputs()))

    def drop(self) -> None:
        """Forget the call and what it calls: nothing of it runs."""
        super().drop()
        self.unwatch()
        self.drop_child()
        self.engine.control.forget(self)

    def drop_child(self) -> None:
        """Forget the present node, of which nothing runs."""
        self.engine.timers.drop(self._timer)
        if self.child is not None:
            self.child.drop()
            self.child = None

    def inner(self) -> Iterator[Activity]:
        return iter(() if self.child is None else (self.child,))

    # --- reactions ------------------------------------------------------------------------------

    def watch(self) -> None:
        """Have the graph's reactions watched."""
        if self.graph.reactions and not self._watch:
            try:
                conditions = tuple(self.scope.condition(r.when) for r in self.graph.reactions)
            except DefinitionError as error:  # an output in a reaction, refused by the check
                self.engine.record("error", path=shown_path(self.path), reason=str(error))
                return
            self._watch = self.engine.register(self)
            self.engine.order(orders.Watch(watch=self._watch, path=self.path, conditions=conditions))

    def unwatch(self) -> None:
        """Have them watched no more; one that waits for the node's end is forgotten."""
        self._fired.clear()
        if self._watch:
            self.engine.unregister(self._watch)
            self.engine.order(orders.Unwatch(watch=self._watch))
            self._watch = 0

    def fired(self, index: int) -> None:
        """A reaction's condition became true."""
        if self.over or self.cut == Cut.END:
            return
        reaction = self.graph.reactions[index]
        answered = reaction.go == self.node  # what it leads to is done already, and must come to its end (N49)
        self._fired[index] = self._fired.get(index, True) and answered
        self.engine.record(
            "reaction", path=shown_path(self.path), when=reaction.when, go=reaction.go, once=reaction.once
        )
        if reaction.once and self.child is not None and not answered:
            before, self.cut, self.chosen = self.cut, Cut.REACTION, None
            if before is None:
                self.child.cancel()

    def _reaction(self) -> GraphReaction | None:
        """The reaction to be followed, now that the node has ended; None: there is none."""
        fired = sorted(self._fired.items())
        self._fired.clear()
        for index, answered in fired:
            reaction = self.graph.reactions[index]
            if answered and self.scope.holds(reaction.when, self.engine.moment)[0] is not True:
                continue  # its node has helped
            return reaction if self.engine.follows((*self.path, reaction.go), reaction.when) else None
        return None

    # --- one node -------------------------------------------------------------------------------

    def arrive(self, node: str, inner: Path = (), *, gate: bool = True) -> None:
        """Visit a node, unless the run is to stand before it.

        Args:
            inner: the node of the graph that it calls to begin with.
            gate: False: it has stood there.
        """
        control = self.engine.control
        if self.over or self.cut is not None:
            return
        if gate and self.main and control.stands_before(self, node):
            control.stand(self, "before", node, lambda: self.arrive(node, inner, gate=False))
            return
        control.leaves(self, node)
        self.node = node
        self.scope.counts[node] += 1
        self.attempt = 0
        self._tries, self._rounds = self.graph.nodes[node].retry, self.graph.nodes[node].repeat
        self._begin_attempt(inner)

    def _begin_attempt(self, inner: Path) -> None:
        if not self.engine.count_change():
            return
        node = self.graph.nodes[self.node]
        path = (*self.path, node.id)
        self.attempt += 1
        visit = self.scope.counts[node.id]
        if not self._is_one or visit > 1:
            shown = {"title": node.title} if node.title else {}
            self.engine.record("node", path=shown_path(path), visit=visit, attempt=self.attempt, **shown)
        child = self.child = self.engine.make(self, node.call, path, main=self.main)
        try:
            if node.timeout is not None:
                seconds = self.scope.number("timeout", node.timeout)
                self._timer = self.engine.timers.start(seconds, self._timed_out)
            child.begin(self.scope, inner)
        except DefinitionError as error:
            child.end(Outcome.standard(FAILED, str(error)))

    def _timed_out(self) -> None:
        if self.cut is None and self.child is not None:
            self.cut = Cut.TIMEOUT
            self.child.cancel()

    def child_ended(self, child: Activity, outcome: Outcome) -> None:
        """The present attempt has ended, and its parts are at rest."""
        if self.over or child is not self.child:
            return
        control = self.engine.control
        self.child = None
        self.engine.timers.drop(self._timer)
        cut, self.cut = self.cut, None
        if cut == Cut.TIMEOUT:
            outcome = replace(Outcome.standard(TIMEOUT, "it took longer than its timeout"), outputs=outcome.outputs)
        elif cut == Cut.SKIP and self.chosen is not None:
            outcome = self.choose(self.chosen)
        if not self._is_one or cut not in (None, Cut.END):
            self.engine.record_end((*self.path, self.node), outcome, "" if cut is None else cut.value)
        if cut == Cut.END:
            self.finish(Outcome.standard(CANCELLED))
        elif cut == Cut.REACTION:
            self.engine.soon(lambda: self.go_on(outcome))
        elif cut == Cut.JUMP:
            control.leap(self, Way(frame=self, node=self.node))
        elif cut == Cut.STAND:
            control.stand(self, "cut", self.node, lambda: self.next_after_cut())
        else:
            self.conclude(outcome)

    def conclude(self, outcome: Outcome) -> None:
        """The attempt has a result."""
        self.scope.keep(self.node, outcome.outputs)
        call = self.graph.nodes[self.node].call
        if not outcome.failure and (call.kind.takes_time or call.branches):
            self.engine.reactions.succeeded((*self.path, self.node))
        if self.main and self.engine.control.stands_after(self):
            self.engine.control.stand(self, "after", self.node, lambda: self.go_on(outcome), outcome)
        else:
            self.engine.soon(lambda: self.go_on(outcome))

    def choose(self, outcome: Outcome) -> Outcome:
        """The result that a person chose for the present node is not tried again."""
        self._tries = self._rounds = 0
        self.chosen = None
        return outcome

    def next_after_cut(self) -> None:
        """Go on after a node that was cut, as if it had been done."""
        outcome = self.choose(Outcome.standard(DONE))
        self.scope.keep(self.node, {})
        self.go_on(outcome)

    # --- what follows ---------------------------------------------------------------------------

    def go_on(self, outcome: Outcome) -> None:
        """After an attempt: reaction, jump, another attempt, candidates, in this order."""
        if self.over or self.cut is not None:
            return
        control = self.engine.control
        reaction = self._reaction()
        if self.engine.is_ending:
            return
        if reaction is not None:
            self.arrive(reaction.go)
        elif control.jumps_from(self):
            control.leap(self, self.way(outcome) if control.comes_back else None)
        elif outcome.failure and self._tries:
            self._tries -= 1
            self._begin_attempt(())
        elif not outcome.failure and self._rounds:
            self._rounds -= 1
            self._begin_attempt(())
        else:
            way = self.way(outcome)
            way.frame.follow(way)

    def way(self, outcome: Outcome) -> Way:
        """Where to go after the present node: back from a jump, or to a candidate."""
        back = self.engine.control.way_back(self)
        return back if back is not None else self._decided(outcome)

    def follow(self, way: Way) -> None:
        """Go there; what this graph calls has stopped running."""
        self.drop_child()
        if way.end is not None:
            self.finish(way.end)
        else:
            self.arrive(way.node)

    def _decided(self, outcome: Outcome) -> Way:
        node = self.graph.nodes[self.node]
        judged: list[dict[str, Any]] = []
        way = None
        for index, candidate in enumerate(node.then):
            if not candidate.takes(outcome.result, outcome.failure):
                continue
            held, values = self.scope.holds(candidate.when, self.engine.moment) if candidate.when else (True, {})
            judged.append({"candidate": index, "held": held, "values": values})
            if held:
                way = self._way_of(candidate.go, candidate.end, outcome)
                break
        if way is None:
            way = Way(frame=self, end=self._untaken(outcome, has_candidates=bool(node.then)))
        to = way.node or (way.end.result if way.end else "")
        if not self._is_one:
            self.engine.record(
                "decided", path=shown_path((*self.path, node.id)), judged=judged, **{"go" if way.node else "end": to}
            )
        return way

    def _way_of(self, go: str, end: str, outcome: Outcome) -> Way:
        if go:
            return Way(frame=self, node=go)
        failure = self.graph.results[end]
        return Way(frame=self, end=Outcome(result=end, failure=failure, reason=outcome.reason if failure else ""))

    def _untaken(self, outcome: Outcome, *, has_candidates: bool) -> Outcome:
        """The end that no candidate leads to."""
        if outcome.failure:
            return Outcome.standard(FAILED, f"node {self.node!r} ended as {outcome.shown}")
        if has_candidates:
            return Outcome.standard(FAILED, f"node {self.node!r} ended as {outcome.shown}, and no candidate holds")
        return Outcome.standard(DONE)
