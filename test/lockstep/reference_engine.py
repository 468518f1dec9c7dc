"""The rules N once more, in another way: each call is a generator that runs from its beginning to its end.

An event goes from the outermost call inwards until one takes it. To end a call, `Rest` is thrown into it; it then goes
on until everything in it is at rest. Arguments, conditions and outputs are only those that `random_plans` makes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from robot_rt_control.blueprint.engine import reactions_in_a_row as capacity
from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.graph.plan import Call, Graph, Kind, Path, Plan

Result = tuple[str, bool, dict[str, float]]
"""Result, whether it is a failure, outputs."""
Running = Generator[None, Any, Result]
CANCELLED: Result = ("cancelled", True, {})
DONE: Result = ("done", False, {})
FAILED: Result = ("failed", True, {})


class Rest(Exception):
    """End, and come to rest."""


@dataclass
class Visit:
    """Where a graph goes on."""

    node: str
    inner: Path = ()
    gate: bool = True


@dataclass
class Back:
    """Where a jump comes back to."""

    call: GraphCall
    way: Visit | Result
    target: Path


class Reference:
    """One run.

    Attributes:
        out: what it asked for during the present event: ("start", "a/b"), ("cancel", "a/b"), …
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.out: list[tuple[str, ...]] = []
        self.tick, self.time, self.lost = 0, 0.0, 0.0
        self.values: Mapping[str, float] = {}
        self.calls: list[GraphCall] = []  # those that are not in a branch, outermost first
        self.questions: dict[str, tuple[str, ...]] = {}
        self.standing: tuple[str, GraphCall, str] | None = None
        self.frozen = 0.0
        self.hold = ""
        self.explicit = self.stopped = self.pause = False
        self.step: tuple[bool, int] | None = None
        self.before: frozenset[Path] = frozenset()
        self.after: frozenset[Path] = frozenset()
        self.jump: tuple[GraphCall, Path, bool] | None = None
        self.back: Back | None = None
        self.ending = ""
        self.changes: Counter[int] = Counter()
        self.in_a_row: Counter[tuple[Path, str]] = Counter()  # node of a reaction, and its condition
        self.helpless = False
        self.result = ""
        self.main: Running

    @property
    def clock(self) -> float:
        """The time that passes for the run."""
        return (self.frozen if self.standing else self.time) - self.lost

    def begin(self, at: Path, paused: bool) -> None:
        if paused:
            self.hold = "pause"
        self.main = GraphCall(self, self.plan.graphs[self.plan.root], (), main=True).run(at)
        self._drive(lambda: next(self.main))

    def give(self, event: Any) -> bool:
        """Take an event. Returns whether a command is refused."""
        self.out = []
        if isinstance(event, events.Command) and self._refused(event):
            return True
        if self.result:
            return False
        match event:
            case events.Cancel():
                if not self.ending:
                    self.ending = "cancelled"
                    self._unstand(watch=False)
                    self._drive(lambda: self.main.throw(Rest()))
            case events.SetBreakpoints():
                self.before, self.after = event.before, event.after
            case events.Released():
                self.stopped = False
            case events.Stopped():
                self.stopped = True
                if self.standing:
                    self.explicit = True
                elif not self.ending:
                    self._drive(lambda: self.main.send(("rest", "protective_stop")))
            case events.Pause(now=True):
                self._drive(lambda: self.main.send(("rest", "pause")))
            case events.Pause():
                self.pause = True
            case _:
                self._drive(lambda: self.main.send(event))
        return False

    def _drive(self, go: Any) -> None:
        try:
            go()
            if (self.changes[self.tick] > 100 or self.helpless) and not self.ending:
                self.ending = "failed"
                self._unstand(watch=False)
                self.main.throw(Rest())
        except StopIteration as end:
            self.result = self.ending or end.value[0]
            self.out.append(("end", self.result))

    # --- what a command may do ------------------------------------------------------------------

    def _refused(self, command: events.Command) -> bool:
        if self.result or (self.ending and not isinstance(command, events.Cancel)):
            return True
        standing = self.standing
        match command:
            case events.Pause():
                return standing is not None
            case events.Resume(how=how):
                return standing is None or self.stopped or (not how and self.explicit)
            case events.Step():
                return standing is None or self.stopped or self.explicit
            case events.SetBreakpoints(before=before, after=after):
                return any(not self._exists(path) for path in before | after)
            case events.Jump():
                return self.stopped or not self._exists(command.target) or self._misses(command)
            case events.Skip():
                return not self._can_skip(command)
        return False

    def _exists(self, path: Path) -> bool:
        graph: Graph | None = self.plan.graphs[self.plan.root]
        for id in path:
            if graph is None or id not in graph.nodes:
                return False
            call = graph.nodes[id].call
            graph = self.plan.graphs[call.skill] if call.kind == Kind.GRAPH else None
        return bool(path)

    def _alive(self) -> list[GraphCall]:
        """Without those inside a node that is being cancelled."""
        cut = next((i for i, call in enumerate(self.calls) if call.cut), len(self.calls))
        return self.calls[: cut + 1]

    def _misses(self, jump: events.Jump) -> bool:
        alive = self._alive()
        call = max((c for c in alive if jump.target[: len(c.path)] == c.path and len(c.path) < len(jump.target)),
                   key=lambda c: len(c.path))  # fmt: skip
        at_once = self.standing or any(c.cut == "jump" for c in alive) or (jump.now and not call.cut)
        coming = set()
        if call.node and not at_once:
            coming = {f"{call.node}.{name}" for name in call.graph.nodes[call.node].call.outputs}
        graph, known = call.graph, {*call.outputs, *coming}
        for id in jump.target[len(call.path) :]:
            node = graph.nodes[id]
            if not {str(g.value)[1:] for g in node.call.arguments.values() if "$" in str(g.value)} <= known:
                return True
            graph, known = self.plan.graphs.get(node.call.skill, graph), set()
        return False

    def _can_skip(self, skip: events.Skip) -> bool:
        calls, path = self._alive(), skip.node
        if self.standing:
            when, call, node = self.standing
            point = (*call.path, node)
            path = path or point
            there = {(*c.path, c.node) for c in calls if c is not call} | ({point} if when != "after" else set())
        else:
            there = {(*c.path, c.node) for c in calls}
            path = path or max(there, key=len)
        if path not in there:
            return False
        call = next(c for c in calls if c.path == path[:-1])
        return skip.result in call.graph.nodes[path[-1]].call.results and (bool(self.standing) or not call.cut)

    # --- standing -------------------------------------------------------------------------------

    def stand(self, when: str, call: GraphCall, node: str) -> None:
        self.explicit = self.stopped or self.hold == "protective_stop"
        self.hold, self.pause, self.step = "", False, None
        self.standing, self.frozen = (when, call, node), self.time
        for outer in self.calls:
            outer.unwatch()

    def _unstand(self, *, watch: bool) -> None:
        if self.standing:
            self.lost += self.time - self.frozen
            self.standing, self.explicit = None, False
            for call in self.calls if watch else ():
                call.watch()

    def go_on(self) -> None:
        """The run stands no more."""
        self._unstand(watch=True)

    # --- calls ----------------------------------------------------------------------------------

    def run(self, call: Call, path: Path, inner: Path, of: GraphCall, main: bool) -> Running:
        shown = "/".join(path)
        match call.kind:
            case Kind.GRAPH:
                return (yield from GraphCall(self, self.plan.graphs[call.skill], path, main=main).run(inner))
            case Kind.ALL_OF | Kind.FIRST_OF:
                return (yield from self._branches(call, path, of))
            case Kind.SET | Kind.LOG:
                return DONE
            case Kind.WAIT:
                until = self.clock + float(call.arguments["time"].value)  # type: ignore[arg-type]
                try:
                    while True:
                        event = yield
                        if isinstance(event, events.Elapsed) and self.clock >= until - 1e-9:
                            return DONE
                except Rest:
                    return CANCELLED
            case Kind.ASK:
                self.out.append(("ask", shown))
                self.questions[shown] = call.answers
                try:
                    while True:
                        event = yield
                        if isinstance(event, tuple) and event[:2] == ("answer", shown):
                            return event[2], False, {}
                except Rest:
                    self.out.append(("withdraw", shown))
                    return CANCELLED
                finally:
                    del self.questions[shown]
            case _:
                return (yield from self._skill(call, shown, of))

    def _skill(self, call: Call, shown: str, of: GraphCall) -> Running:
        arguments = [str(given.value) for given in call.arguments.values()]
        if any(a.startswith("$") and a[1:] not in of.outputs for a in arguments):
            return FAILED
        values = [str(of.outputs[a[1:]]) if a.startswith("$") else a for a in arguments]
        self.out.append(("start", shown, *values))
        cancelled = False
        while True:
            try:
                event = yield
            except Rest:
                if not cancelled:
                    self.out.append(("cancel", shown))
                cancelled = True
                continue
            if isinstance(event, tuple) and event[:2] == ("ended", shown):
                result, outputs = event[2], event[3]
                if result not in call.results:
                    return "failed", True, outputs
                return result, call.results[result], outputs

    def _branches(self, call: Call, path: Path, of: GraphCall) -> Running:
        branches = {n: self.run(c, (*path, n), (), of, False) for n, c in call.branches.items()}
        ended: list[tuple[str, Result]] = []
        running: dict[str, Running] = {}
        for name, branch in branches.items():
            running[name] = branch
            _advance(name, branch, None, ended)
        verdict: Result | None = None
        outputs: dict[str, float] = {}
        resting = False
        while True:
            while ended:
                name, (result, failure, given) = ended.pop(0)
                del running[name]
                if resting or verdict is not None:
                    continue
                outputs |= {f"{name}.{key}": value for key, value in given.items()}
                if failure:
                    verdict = FAILED
                elif call.kind == Kind.FIRST_OF:
                    verdict = (name, False, {})
                if verdict is not None:
                    for other, branch in list(running.items()):
                        if all(other != n for n, _ in ended):
                            _advance(other, branch, Rest(), ended)
            if not running:
                found = CANCELLED if resting else verdict or DONE
                return found[0], found[1], outputs
            try:
                event = yield
            except Rest:
                resting = True
                event = Rest()
            for name, branch in list(running.items()):
                _advance(name, branch, event, ended)


def _advance(name: str, branch: Running, event: Any, ended: list[tuple[str, Result]]) -> None:
    try:
        branch.throw(event) if isinstance(event, Rest) else branch.send(event)
    except StopIteration as end:
        ended.append((name, end.value))


class GraphCall:
    """One call of a graph."""

    def __init__(self, run: Reference, graph: Graph, path: Path, *, main: bool) -> None:
        self.ref, self.graph, self.path, self.main = run, graph, path, main
        self.node = ""
        self.cut = ""
        self.outputs: dict[str, float] = {}
        self.counts: Counter[str] = Counter()
        self.pending: dict[int, bool] = {}  # whether it fired in its own node alone
        self.watched = False
        self.chosen: Result = DONE

    def watch(self) -> None:
        if self.graph.reactions and not self.watched:
            self.watched = True
            self.ref.out.append(("watch", "/".join(self.path)))

    def unwatch(self) -> None:
        self.pending = {}
        if self.watched:
            self.watched = False
            self.ref.out.append(("unwatch", "/".join(self.path)))

    def run(self, at: Path) -> Running:
        ref = self.ref
        if self.main:
            ref.calls.append(self)
        self.watch()
        try:
            way: Any = Visit(at[0], at[1:]) if at else Visit(self.graph.start)
            while isinstance(way, Visit):
                way = yield from self._visit(way)
                if isinstance(way, _ComeBack):
                    raise way
            return way[0], way[1], {}
        except Rest:
            return CANCELLED
        finally:
            self.unwatch()
            if self.main:
                ref.calls.remove(self)
            if ref.back and ref.back.call is self:
                ref.back = None
            if ref.jump and ref.jump[0] is self:
                ref.jump = None

    # --- one visit ------------------------------------------------------------------------------

    def _visit(self, visit: Visit) -> Generator[None, Any, Any]:
        ref, node = self.ref, self.graph.nodes[visit.node]
        while ref.helpless:
            yield  # until the run is ended
        path = (*self.path, node.id)
        into = ref.step is not None and ref.step[0] and len(self.path) > ref.step[1]
        if self.main and visit.gate and (ref.hold or into or path in ref.before):
            ref.stand("before", self, node.id)
            return (yield from self._stand(Visit(visit.node, visit.inner, gate=False)))
        if ref.back and ref.back.call is self and ref.back.target[len(self.path)] != node.id:
            ref.back = None
        self.node = node.id
        self.counts[node.id] += 1
        tries, rounds, inner = node.retry, node.repeat, visit.inner
        while True:
            cut, result = yield from self._attempt(node.call, path, inner, node.timeout)
            inner = ()
            if cut == "end":
                raise Rest
            if cut == "way":
                return self.leap
            if cut == "reaction":
                return self._reaction_or_on(result, tries, rounds)[1]
            if cut == "jump":
                return self._jump(Visit(node.id, gate=True))
            if cut == "stand":
                ref.stand("cut", self, node.id)
                return (yield from self._stand(None))
            if cut == "timeout":
                result = ("timeout", True, result[2])
            if cut == "skip":
                result, tries, rounds = self.chosen, 0, 0
            self._keep(result)
            if not result[1] and (node.call.kind.takes_time or node.call.branches):
                for key in [key for key in ref.in_a_row if key[0] != path[: len(key[0])]]:
                    del ref.in_a_row[key]
            stepped = ref.step is not None and (ref.step[0] or len(self.path) <= ref.step[1])
            if self.main and (ref.hold or ref.pause or stepped or path in ref.after):
                ref.stand("after", self, node.id)
                self.result, self.left = result, (tries, rounds)
                way = yield from self._stand(None)
            else:
                _, way = self._reaction_or_on(result, tries, rounds)
            if way != "attempt":
                return way
            tries, rounds = (tries - 1, rounds) if result[1] else (tries, rounds - 1)

    def _keep(self, result: Result) -> None:
        self.outputs = {n: v for n, v in self.outputs.items() if not n.startswith(f"{self.node}.")}
        self.outputs |= {f"{self.node}.{name}": value for name, value in result[2].items()}

    def _reaction_or_on(self, result: Result, tries: int, rounds: int) -> tuple[str, Any]:
        """What follows an attempt: reaction, jump, another attempt, back, candidates."""
        ref = self.ref
        reactions = {i: self.graph.reactions[i] for i, own in self.pending.items()
                     if not own or self._holds(self.graph.reactions[i].when)}  # fmt: skip
        self.pending = {}
        if reactions:
            first = reactions[min(reactions)]
            key = (*self.path, first.go), first.when
            ref.in_a_row[key] += 1
            ref.helpless = ref.helpless or ref.in_a_row[key] > capacity.MAX_REACTIONS_IN_A_ROW
            return "reaction", Visit(first.go)
        if ref.jump and ref.jump[0] is self:
            return "jump", self._jump(self._way(result) if ref.jump[2] else None)
        if tries if result[1] else rounds:
            return "attempt", "attempt"
        way = self._way(result)
        return "way", way

    def _way(self, result: Result) -> Any:
        ref, path = self.ref, (*self.path, self.node)
        if ref.back and (path == ref.back.target or (ref.back.call is self and path == ref.back.target[: len(path)])):
            back, ref.back = ref.back, None
            return back.way if back.call is self else _ComeBack(back)
        node = self.graph.nodes[self.node]
        for c in node.then:
            wanted = {"any", result[0], "failure" if result[1] else "success"}
            if wanted & set(c.on) and (not c.when or self._holds(c.when)):
                return Visit(c.go) if c.go else (c.end, self.graph.results[c.end], {})
        return FAILED if result[1] or node.then else DONE

    def _holds(self, when: str) -> bool:
        name, operator, number = when.split(" ")
        if name.startswith("$"):
            value = self.outputs.get(name[1:], math.nan)
        elif name.endswith(".count"):
            value = self.counts[name.removesuffix(".count")]
        else:
            value = self.ref.values.get(name, math.nan)
        return value < float(number) if operator == "<" else value > float(number)

    def _jump(self, way: Any) -> Visit:
        """Carry out the jump that waits; `way`: where it comes back to, if it does."""
        assert self.ref.jump is not None
        _, target, come_back = self.ref.jump
        self.ref.jump = None
        self.ref.back = Back(self, way, target) if come_back and way is not None else None
        rest = target[len(self.path) :]
        return Visit(rest[0], rest[1:])

    # --- an attempt -----------------------------------------------------------------------------

    def _attempt(self, call: Call, path: Path, inner: Path, timeout: Any) -> Generator[None, Any, tuple[str, Result]]:
        ref = self.ref
        ref.changes[ref.tick] += 1
        self.cut = ""
        if ref.changes[ref.tick] > 100:
            while True:
                yield  # until the run is ended
        until = math.inf if timeout is None else ref.clock + float(timeout.value)
        child = ref.run(call, path, inner, self, self.main)
        event: Any = None
        while True:
            try:
                child.throw(event) if isinstance(event, Rest) else child.send(event)
            except StopIteration as end:
                cut, self.cut = self.cut, ""
                return cut, end.value
            except _ComeBack as back:
                if back.args[0].call is not self:
                    raise
                self.leap = back.args[0].way
                return "way", DONE
            while True:
                try:
                    event = yield
                except Rest:
                    if self.cut == "end":
                        continue
                    event, was, self.cut = Rest(), self.cut, "end"
                    self.unwatch()
                    if was:
                        continue
                    break
                event = self._taken(event, call, path, until)
                if isinstance(event, str):  # a jump or a skip of this graph, while something inside it stands
                    child.close()
                    if event == "skip":
                        self._keep(self.chosen)
                        ref.standing = ("after", self, self.node)
                        self.result, self.left = self.chosen, (0, 0)
                        way = yield from self._stand(None)
                        self.leap = way
                    return "way", DONE
                if event is not None:
                    break

    def _taken(self, event: Any, call: Call, path: Path, until: float) -> Any:
        """What becomes of an event for the child: passed on, Rest, None (nothing), or "way", "skip"."""
        ref = self.ref
        passes = call.kind == Kind.GRAPH and not self.cut
        match event:
            case events.Elapsed() if ref.clock >= until - 1e-9 and not self.cut and not ref.standing:
                self.cut = "timeout"
                return Rest()
            case ("fired", of, index) if of == "/".join(self.path):
                if not self.watched or self.cut == "end":
                    return None
                reaction = self.graph.reactions[index]
                own = reaction.go == self.node
                self.pending[index] = self.pending.get(index, True) and own
                if own or not reaction.once:
                    return None
                was, self.cut = self.cut, "reaction"
                return None if was else Rest()
            case ("rest", why) if self.main:
                ref.hold = why if ref.hold != "protective_stop" else ref.hold
                self.unwatch()
                if self.cut:
                    self.cut = "stand" if self.cut == "reaction" else self.cut
                    return None
                if call.kind == Kind.GRAPH:
                    return event
                self.cut = "stand"
                return Rest()
            case events.Jump(target=target) if self.main:
                if passes and target[: len(path)] == path and len(target) > len(path):
                    return event
                leaping = any(c.cut == "jump" for c in ref._alive())
                if ref.standing:
                    way = Visit(self.node) if event.come_back else None
                    ref.go_on()
                    ref.jump = (self, target, event.come_back)
                    self.leap = self._jump(way)
                    return "way"
                ref.jump = (self, target, event.come_back)
                if (leaping or event.now) and not self.cut:
                    self.cut = "jump"
                    return Rest()
                return None
            case events.Skip(node=node) if self.main:
                if passes and (not node or len(node) > len(path)):
                    return event
                self.chosen = (event.result, call.results[event.result], {})
                if ref.standing:
                    return "skip"
                self.cut = "skip"
                return Rest()
        return event

    def _stand(self, before: Visit | None) -> Generator[None, Any, Any]:
        """Wait until somebody says how to go on.

        Args:
            before: the visit before which the run stands.
        """
        ref = self.ref
        while True:
            event = yield
            assert ref.standing is not None
            when, _, node = ref.standing
            match event:
                case events.Skip():
                    call = self.graph.nodes[node].call
                    self.node = node
                    self.result, self.left = (event.result, call.results[event.result], {}), (0, 0)
                    self._keep(self.result)
                    ref.standing = ("after", self, node)
                case events.Jump(target=target):
                    ref.jump = None  # a later one replaces it
                    way: Any = None
                    if event.come_back:
                        way = self._way(self.result) if when == "after" else Visit(node)
                    ref.go_on()
                    ref.jump = (self, target, event.come_back)
                    return self._jump(way)
                case events.Resume() | events.Step():
                    how = event.how if isinstance(event, events.Resume) else ""
                    ref.go_on()
                    if isinstance(event, events.Step):
                        ref.step = event.into, len(self.path)
                    how = how or ("again" if when == "cut" else "next")
                    if how == "again" and when != "before":
                        return Visit(node, gate=False)
                    if when == "before":
                        assert before is not None
                        return before
                    if when == "cut":
                        self.result, self.left = DONE, (0, 0)
                        self._keep(DONE)
                    return self._reaction_or_on(self.result, *self.left)[1]


class _ComeBack(Exception):
    """To the graph that a jump left, through those that it entered."""
