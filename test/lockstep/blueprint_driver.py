"""Drives an engine by hand: skills end when the test says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_rt_control.blueprint.engine.engine import Engine
from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.graph.orders import Record, Taken
from robot_rt_control.blueprint.graph.plan import Call, Candidate, Given, Graph, Kind, Node, Plan, read_path, shown_path
from robot_rt_control.blueprint.graph.results import Results, with_standard


def leaf(*outputs: str, results: Results | None = None, **arguments: Any) -> Call:
    given = {name: Given(value=value) for name, value in arguments.items()}
    return Call(
        kind=Kind.LEAF, skill="skill", arguments=given, outputs=outputs, results=with_standard(results or {})
    )


def calls(graph: str, results: Results | None = None, **arguments: Any) -> Call:
    given = {name: Given(value=value) for name, value in arguments.items()}
    return Call(kind=Kind.GRAPH, skill=graph, arguments=given, results=with_standard(results or {}))


def node(id: str, then: Any = (), call: Call | None = None, **keys: Any) -> Node:
    """A node; `then`: id of the next one, or candidates."""
    candidates = (Candidate(go=then),) if isinstance(then, str) else tuple(then)
    return Node(id=id, call=call or leaf(), then=candidates, **keys)


def sequence(*ids: str, call: Call | None = None) -> list[Node]:
    return [node(id, ids[i + 1] if i + 1 < len(ids) else (), call) for i, id in enumerate(ids)]


def graph(name: str, *nodes: Node, **keys: Any) -> Graph:
    return Graph(name=name, start=nodes[0].id, nodes={n.id: n for n in nodes}, **keys)


def plan(*graphs: Graph) -> Plan:
    return Plan(root=graphs[0].name, graphs={g.name: g for g in graphs})


class Driver:
    """Runs a plan. One tick passes with each event, 0.1 s each, unless a test says otherwise.

    Attributes:
        started: paths of the skills in the order of their starts: "a", "b/c".
        running: path → activity.
        log: all records.
    """

    def __init__(self, *graphs: Graph, values: Mapping[str, Any] | None = None, **begin: Any) -> None:
        self.engine = Engine(plan(*graphs))
        self.tick = 0
        self.values: Mapping[str, Any] = values or {}
        self.started: list[str] = []
        self.cancelled: list[str] = []
        self.running: dict[str, int] = {}
        self.arguments: dict[str, dict[str, Any]] = {}
        self.conditions: dict[str, str] = {}
        self.watched: dict[str, orders.Watch] = {}
        self.questions: dict[str, orders.Question] = {}
        self.log: list[Record] = []
        self.give(events.Begin(**begin))

    def give(self, event: events.EngineEvent, *, ticks: int = 1) -> Taken:
        self.tick += ticks
        taken = self.engine.take(event, Moment(tick=self.tick, time=round(self.tick * 0.1, 6), values=self.values))
        self.log += taken.records
        for order in taken.orders:
            self._carry_out(order)
        return taken

    def _carry_out(self, order: orders.Order) -> None:
        match order:
            case orders.StartSkill():
                path = shown_path(order.path)
                assert path not in self.running, "a node twice at once"
                self.started.append(path)
                self.running[path] = order.activity
                self.conditions[path] = order.until
                self.arguments[path] = {a.name: a.value for a in order.arguments}
            case orders.CancelSkill():
                (path,) = (p for p, id in self.running.items() if id == order.activity)
                assert path not in self.cancelled or self.started.count(path) > self.cancelled.count(path)
                self.cancelled.append(path)
            case orders.Question():
                self.questions[shown_path(order.path)] = order
            case orders.Withdraw():
                self.questions = {p: q for p, q in self.questions.items() if q.activity != order.activity}
            case orders.Watch():
                self.watched[shown_path(order.path)] = order
            case orders.Unwatch():
                self.watched = {p: w for p, w in self.watched.items() if w.watch != order.watch}
            case orders.EndRun():
                assert not self.running and not self.watched and not self.questions, "something is left"

    def end(self, path: str, result: str = "done", reason: str = "", /, **outputs: Any) -> Taken:
        """A skill ends."""
        return self.give(
            events.Ended(activity=self.running.pop(path), result=result, reason=reason, outputs=outputs)
        )

    def ends(self, *paths: str) -> None:
        for path in paths:
            self.end(path)

    def jump(self, target: str, **keys: Any) -> str:
        return self.give(events.Jump(target=read_path(target), **keys)).refused

    def fire(self, path: str = "", reaction: int = 0) -> None:
        self.give(events.Fired(watch=self.watched[path].watch, reaction=reaction))

    @property
    def standing(self) -> str:
        """ "before a", "after a", "cut a"; empty: it does not stand."""
        standing = self.engine.control.standing
        return f"{standing.when} {shown_path(standing.path)}" if standing else ""

    @property
    def result(self) -> str:
        return self.engine.outcome.result if self.engine.outcome else ""

    @property
    def reason(self) -> str:
        return self.engine.outcome.reason if self.engine.outcome else ""

    def records(self, what: str) -> list[Record]:
        return [record for record in self.log if record["what"] == what]
