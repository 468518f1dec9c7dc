"""Random plans, and random events for a run of one, given to the engine and to the reference alike."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from reference_engine import Reference

from robot_rt_control.blueprint.engine.engine import Engine
from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.graph.plan import (
    Call,
    Candidate,
    Given,
    Graph,
    GraphReaction,
    Kind,
    Node,
    Path,
    Plan,
    shown_path,
)
from robot_rt_control.blueprint.graph.results import with_standard

_LEAF = with_standard({"good": False, "bad": True})
_GRAPH = with_standard({"found": False, "lost": True})


def random_plan(random: Random) -> Plan:
    """Up to four graphs of up to five nodes; each calls only later ones."""
    names = [f"g{i}" for i in range(random.randint(1, 4))]
    return Plan(root=names[0], graphs={name: _graph(random, name, names[i + 1 :]) for i, name in enumerate(names)})


def _graph(random: Random, name: str, callees: list[str]) -> Graph:
    ids = [f"n{i}" for i in range(random.randint(1, 5))]
    with_output = [id for id in ids if random.random() < 0.4]
    nodes = {}
    for index, id in enumerate(ids):
        # The first node takes time: which of two branches ends first within one tick is no rule.
        call = _call(random, id, ids, with_output, callees, leaf=index == 0)
        nodes[id] = Node(
            id=id,
            call=call,
            retry=random.choice((0, 0, 0, 1, 2)),
            repeat=random.choice((0, 0, 0, 1)),
            timeout=Given(value=random.choice((0.0, 0.71, 1.93))) if random.random() < 0.2 else None,
            then=tuple(_candidate(random, call, ids, with_output) for _ in range(random.choice((0, 1, 2, 2, 3)))),
        )
    reactions = tuple(
        GraphReaction(when="x > 1", go=random.choice(ids), once=random.random() < 0.6)
        for _ in range(random.choice((0, 0, 1, 3)))
    )
    return Graph(name=name, start=ids[0], nodes=nodes, reactions=reactions, results=_GRAPH)


def _call(
    random: Random, id: str, ids: list[str], with_output: list[str], callees: list[str], *, leaf: bool
) -> Call:
    kinds = ["leaf"] * 4 + ["graph"] * 3 + ["wait", "ask", "log", "branches"]
    kind = "leaf" if leaf else random.choice(kinds)
    if kind == "graph" and callees:
        return Call(kind=Kind.GRAPH, skill=random.choice(callees), results=_GRAPH)
    if kind == "branches":
        kind_of = random.choice((Kind.ALL_OF, Kind.FIRST_OF))
        branches = {
            name: Call(kind=Kind.GRAPH, skill=random.choice(callees), results=_GRAPH)
            if callees and random.random() < 0.4
            else Call(kind=Kind.LEAF, skill="s", results=_LEAF)
            for name in ("p", "q", "r")[: random.randint(1, 3)]
        }
        named = dict.fromkeys(branches, False) if kind_of == Kind.FIRST_OF else {}
        return Call(kind=kind_of, branches=branches, results=with_standard(named))
    if kind == "wait":
        return Call(kind=Kind.WAIT, arguments={"time": Given(value=random.choice((0.37, 1.13, 2.59)))})
    if kind == "ask":
        answers = with_standard({"yes": False, "no": False})
        return Call(kind=Kind.ASK, arguments={"text": Given(value="?")}, answers=("yes", "no"), results=answers)
    if kind == "log":
        return Call(kind=Kind.LOG, arguments={"text": Given(value="here")})
    arguments = {"a": Given(value=f"${random.choice(with_output)}.o")} if with_output and random.random() < 0.3 else {}
    outputs = ("o",) if id in with_output else ()
    return Call(kind=Kind.LEAF, skill="s", arguments=arguments, outputs=outputs, results=_LEAF)


def _candidate(random: Random, call: Call, ids: list[str], with_output: list[str]) -> Candidate:
    on = random.choice([("success",), ("any",), ("any",), (random.choice(list(call.results)),)])
    conditions = ["x > 1", "x < 1", f"{random.choice(ids)}.count < {random.randint(1, 4)}"]
    conditions += [f"${name}.o > 3" for name in with_output]
    when = random.choice(conditions) if random.random() < 0.4 else ""
    if random.random() < 0.25:
        return Candidate(on=on, when=when, end=random.choice(("done", "found", "lost")))
    return Candidate(on=on, when=when, go=random.choice(ids))


class Comparison:
    """One run of a plan in both.

    Attributes:
        too_many: it has changed nodes too often in a tick. How far branches came until then is no rule: from then on
            only the result is compared.
    """

    def __init__(self, random: Random, plan: Plan) -> None:
        self.random, self.plan = random, plan
        self.engine, self.reference = Engine(plan), Reference(plan)
        self.tick, self.time = 0, 0.0
        self.running: dict[str, int] = {}
        self.results: dict[str, Any] = {}
        self.questions: dict[str, int] = {}
        self.watched: dict[str, orders.Watch] = {}
        self.stopped = self.too_many = False
        self.history: list[str] = []
        self.paths = [()] + [path for path in _paths(plan) if len(path) < 4]
        at = random.choice(self.paths) if random.random() < 0.2 else ()
        paused = random.random() < 0.2
        taken = self._take(events.Begin(at=at, paused=paused))
        if taken.refused:
            taken = self._take(events.Begin(paused=paused))
            at = ()
        self._at(self.reference)
        self.reference.begin(at, paused)
        self._compare(taken, None)

    def _at(self, reference: Reference) -> None:
        reference.tick, reference.time, reference.values = self.tick, self.time, {"x": float(self.tick % 3)}

    def _take(self, event: events.EngineEvent) -> orders.Taken:
        self.history.append(f"{self.time:.2f} {event}")
        return self.engine.take(event, Moment(tick=self.tick, time=self.time, values={"x": float(self.tick % 3)}))

    def step(self) -> None:
        """A random event at a random moment."""
        random = self.random
        if random.random() < 0.7:
            self.tick += 1
            self.time += random.choice((0.01, 0.13, 0.5))
        deadline = self.engine.next_deadline
        if deadline is not None and deadline <= self.time:
            self.time = max(deadline, self.time)
            return self.give(events.Elapsed(), events.Elapsed())
        choices = ["command"] * 3
        choices += ["end"] * 5 if self.running else []
        choices += ["fire"] * 2 if self.watched else []
        choices += ["answer"] * 4 if self.questions else []
        choices += ["elapse"] * 3 if deadline is not None else []
        choices += ["stop"] if not self.stopped and random.random() < 0.3 else []
        choices += ["release"] * 4 if self.stopped else []
        getattr(self, f"_{random.choice(choices)}")()

    def _end(self) -> None:
        path = self.random.choice(sorted(self.running))
        result = self.random.choice([*self.results[path], *["done"] * 6, "strange"])
        outputs = {"o": float(self.random.randint(0, 6))} if self.random.random() < 0.8 else {}
        event = events.Ended(activity=self.running.pop(path), result=result, outputs=outputs)
        self.give(event, ("ended", path, result, outputs))

    def _fire(self) -> None:
        path = self.random.choice(sorted(self.watched))
        watch = self.watched[path]
        index = self.random.randrange(len(watch.conditions))
        self.give(events.Fired(watch=watch.watch, reaction=index), ("fired", path, index))

    def _answer(self) -> None:
        path = self.random.choice(sorted(self.questions))
        answer = self.random.choice(("yes", "no"))
        self.give(events.Answer(activity=self.questions.pop(path), answer=answer), ("answer", path, answer))

    def _elapse(self) -> None:
        deadline = self.engine.next_deadline
        assert deadline is not None
        self.tick += 1
        self.time = max(deadline, self.time)
        self.give(events.Elapsed(), events.Elapsed())

    def _stop(self) -> None:
        self.stopped = True
        self.give(events.Stopped(), events.Stopped())

    def _release(self) -> None:
        self.stopped = False
        self.give(events.Released(), events.Released())

    def _command(self) -> None:
        random, path = self.random, self.random.choice(self.paths)
        command = random.choice(
            [
                events.Pause(now=random.random() < 0.5),
                *[events.Resume(how=random.choice(("", "again", "next")))] * 4,
                events.Step(into=random.random() < 0.5),
                events.Step(into=random.random() < 0.5),
                *[events.Jump(target=path, now=random.random() < 0.5, come_back=random.random() < 0.4)] * 3,
                events.Skip(result=random.choice(("done", "bad", "found")), node=random.choice(((), path))),
                events.SetBreakpoints(
                    before=frozenset({path} - {()}), after=frozenset({random.choice(self.paths)} - {()})
                ),
                *([events.Cancel()] if random.random() < 0.1 else []),
            ]
        )
        self.give(command, command)

    def give(self, event: events.EngineEvent, for_reference: Any) -> None:
        """Give an event to both, and compare what they do."""
        taken = self._take(event)
        self._at(self.reference)
        refused = self.reference.give(for_reference)
        self._compare(taken, refused)

    def _compare(self, taken: orders.Taken, refused: bool | None) -> None:
        found, story = self._noted(taken.orders), "\n".join(self.history[-30:])
        if refused is not None and not self.too_many:
            assert bool(taken.refused) == refused, f"refused: {taken.refused!r}\n{story}"
        if self.too_many or self.reference.changes[self.tick] > 100:
            self.too_many = True
            assert self.engine.is_ending and self.reference.ending, story
            return
        expected = sorted(self.reference.out)
        assert sorted(found) == expected, f"{sorted(found)}\n{expected}\n{story}"
        ours = self.engine.control.standing
        theirs = self.reference.standing
        shown = (ours.when, ours.path) if ours else None
        assert shown == ((theirs[0], (*theirs[1].path, theirs[2])) if theirs else None), f"{shown} {theirs}\n{story}"
        result = self.engine.outcome.result if self.engine.outcome else ""
        assert result == self.reference.result, f"{result!r} {self.reference.result!r}\n{story}"
        if result:
            assert not self.running and not self.watched and not self.questions, f"something is left\n{story}"

    def _noted(self, given: Sequence[orders.Order]) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = []
        for order in given:
            match order:
                case orders.StartSkill():
                    path = shown_path(order.path)
                    assert path not in self.running, "a node twice at once"
                    self.running[path] = order.activity
                    self.results[path] = _LEAF
                    found.append(("start", path, *(str(a.value) for a in order.arguments)))
                case orders.CancelSkill():
                    found.append(("cancel", *(p for p, id in self.running.items() if id == order.activity)))
                case orders.Question():
                    self.questions[shown_path(order.path)] = order.activity
                    found.append(("ask", shown_path(order.path)))
                case orders.Withdraw():
                    (path,) = (p for p, id in self.questions.items() if id == order.activity)
                    del self.questions[path]
                    found.append(("withdraw", path))
                case orders.Watch():
                    self.watched[shown_path(order.path)] = order
                    found.append(("watch", shown_path(order.path)))
                case orders.Unwatch():
                    (path,) = (p for p, w in self.watched.items() if w.watch == order.watch)
                    del self.watched[path]
                    found.append(("unwatch", path))
                case orders.EndRun():
                    found.append(("end", order.outcome.result))
        return found

    def finish(self) -> None:
        """Every run ends: it is cancelled, and what runs ends."""
        if not self.is_over:
            self.give(events.Cancel(), events.Cancel())
        while self.running:
            self.tick += 1
            self._end()
        assert self.engine.outcome is not None, "\n".join(self.history)
        assert self.engine.outcome.result == (self.reference.result or self.reference.ending)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be compared."""
        return bool(self.reference.result) or self.too_many


def _paths(plan: Plan) -> list[Path]:
    """All paths of nodes, some of branches, and one of a node that is not there."""
    found: list[Path] = [("nowhere",)]

    def add(graph: Graph, before: Path) -> None:
        for id, node in graph.nodes.items():
            found.append((*before, id))
            if node.call.kind == Kind.GRAPH:
                add(plan.graphs[node.call.skill], (*before, id))
            found.extend((*before, id, name, "n0") for name in node.call.branches)

    add(plan.graphs[plan.root], ())
    return found[:60]
