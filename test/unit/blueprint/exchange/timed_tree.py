"""What behavior trees do tick by tick, as BehaviorTree.CPP has it, and what the engine does with blueprints of them."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.graph.results import Results
from robot_rt_control.blueprint.runs.rehearsal import Ending, Rehearsal
from robot_rt_control.blueprint.runs.runner import Runner
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.conditions.evaluation import evaluate_ast
from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import variables

AT_MOST = 60
"""Ticks, of one second each."""
Step = tuple[int, str, float | None]
"""Tick, leaf, and its speed, if it was given one."""
Blackboard = dict[str, str]


@dataclass
class World:
    """Leaves take some ticks and answer from a script; state variables change from tick to tick, NaN is unknown."""

    answers: dict[str, list[bool]]
    ticks: dict[str, int]
    variables: dict[str, list[float]]
    counts: Counter[str] = field(default_factory=Counter)

    def answer(self, leaf: str) -> bool:
        self.counts[leaf] += 1
        answers = self.answers[leaf]
        return answers[(self.counts[leaf] - 1) % len(answers)]

    def values(self, tick: int) -> dict[str, float]:
        return {name: values[min(tick, len(values) - 1)] for name, values in self.variables.items()}

    def holds(self, condition: str, tick: int) -> bool:
        tree = parse_condition(condition)
        values = self.values(tick)
        return evaluate_ast(tree, {v.name: values.get(v.name, math.nan) for v in variables(tree)}) is True


class TimedTree:
    def __init__(self, text: str, world: World) -> None:
        self.root, self.world = ET.fromstring(text), world
        self.trees = {tree.attrib["ID"]: tree[0] for tree in self.root.iter("BehaviorTree")}
        self.models = {model.attrib["ID"]: model for model in self.root.iterfind("TreeNodesModel/SubTree")}
        self.trace: list[Step] = []
        self.tick = 0

    def run(self) -> tuple[bool | None, list[Step]]:
        main = self.root.attrib.get("main_tree_to_execute") or next(iter(self.trees))
        running = self.node(self.trees[main], {})
        for self.tick in range(AT_MOST):
            try:
                next(running)
            except StopIteration as end:
                return end.value, self.trace
        return None, self.trace

    def node(self, node: ET.Element, board: Blackboard) -> Generator[None, None, bool]:
        match node.tag:
            case "Sequence" | "Fallback":
                for child in node:
                    if (yield from self.node(child, board)) == (node.tag == "Fallback"):
                        return node.tag == "Fallback"
                return node.tag == "Sequence"
            case "IfThenElse":
                if (yield from self.node(node[0], board)):
                    return (yield from self.node(node[1], board))
                return len(node) == 3 and (yield from self.node(node[2], board))
            case "Inverter":
                return not (yield from self.node(node[0], board))
            case "ForceSuccess" | "ForceFailure":
                yield from self.node(node[0], board)
                return node.tag == "ForceSuccess"
            case "Repeat" | "RetryUntilSuccessful":
                again = node.tag == "Repeat"
                for _ in range(int(node.attrib["num_cycles" if again else "num_attempts"])):
                    if (yield from self.node(node[0], board)) != again:
                        return not again
                return again
            case "Sleep":
                yield from self.wait(node.attrib["msec"])
                return True
            case "Delay":
                yield from self.wait(node.attrib["delay_msec"])
                return (yield from self.node(node[0], board))
            case "SetBlackboard":
                board[node.attrib["output_key"]] = self.value(node.attrib["value"], board)
                return True
            case "ReactiveSequence" | "ReactiveFallback":
                return (yield from self.reactive([*node], node.tag == "ReactiveFallback", board))
            case "SubTree":
                return (yield from self.subtree(node, board))
        id = node.attrib.get("ID", node.tag)
        if id == "holds":
            return self.world.holds(node.attrib["condition"], self.tick)
        speed = node.attrib.get("speed")
        self.trace.append((self.tick, id, None if speed is None else float(self.value(speed, board))))
        for _ in range(self.world.ticks[id]):
            yield
        return self.world.answer(id)

    def wait(self, milliseconds: str) -> Iterator[None]:
        for _ in range(int(milliseconds) // 1000):
            yield

    def value(self, text: str, board: Blackboard) -> str:
        return board[text[1:-1]] if text.startswith("{") else text

    def reactive(self, children: Sequence[ET.Element], any_of: bool, board: Blackboard) -> Generator[None, None, bool]:
        *conditions, last = children
        running = self.node(last, board)
        while True:
            for condition in conditions:
                if self.now(condition) == any_of:
                    running.close()
                    return any_of
            try:
                next(running)
            except StopIteration as end:
                return end.value
            yield

    def now(self, node: ET.Element) -> bool:
        """A condition, which takes no time."""
        try:
            next(self.node(node, {}))
        except StopIteration as end:
            return end.value
        raise AssertionError(f"{node.tag} takes time")

    def subtree(self, node: ET.Element, board: Blackboard) -> Generator[None, None, bool]:
        ports = {name: text for name, text in node.attrib.items() if name not in ("ID", "name", "_autoremap")}
        if node.attrib.get("_autoremap") == "true":
            return (yield from self.node(self.trees[node.attrib["ID"]], board))
        for port in self.models.get(node.attrib["ID"], ()):
            if "default" in port.attrib:
                ports.setdefault(port.attrib["name"], port.attrib["default"])
        inner = {name: text for name, text in ports.items() if not text.startswith("{")}
        shared = {name: text[1:-1] for name, text in ports.items() if text.startswith("{")}
        inner |= {name: board[outer] for name, outer in shared.items() if outer in board}
        running = self.node(self.trees[node.attrib["ID"]], inner)
        while True:
            try:
                next(running)
            except StopIteration as end:
                board |= {outer: inner[name] for name, outer in shared.items() if name in inner}
                return end.value
            yield


class _Timed(Rehearsal):
    """Leaves take the world's ticks, `wait_until` until its condition holds."""

    def __init__(self, catalogue: SkillCatalogue, world: World) -> None:
        super().__init__(catalogue, lambda: self.present, choose=self.choose)
        self.world, self.trace = world, list[Step]()
        self.began: dict[int, int] = {}
        self.present = Moment(tick=0, time=0.0, values=world.values(0))

    def start(self, order: orders.StartSkill) -> None:
        super().start(order)
        self.began[order.activity] = self.present.tick
        if order.skill != "wait_until":
            speeds = [float(a.value) for a in order.arguments if a.name == "speed"]  # type: ignore[arg-type]
            self.trace.append((self.present.tick, order.skill, speeds[0] if speeds else None))

    def choose(self, order: orders.StartSkill, results: Results) -> Ending | None:
        if order.skill == "wait_until":
            return Ending(result="done") if self.world.holds(order.until, self.present.tick) else None
        if self.present.tick - self.began[order.activity] < self.world.ticks[order.skill]:
            return None
        return Ending(result="good" if self.world.answer(order.skill) else "bad")


class _Silent:
    def write(self, record: orders.Record) -> None:
        pass


def of_engine(catalogue: SkillCatalogue, name: str, world: World) -> tuple[bool | None, list[Step]]:
    performer = _Timed(catalogue, world)
    runner = Runner(Calls(catalogue).plan(name), performer, _Silent())
    assert runner.give(events.Begin()) == ""
    for tick in range(AT_MOST):
        performer.present = Moment(tick=tick, time=float(tick), values=world.values(tick))
        for _ in range(30):  # a cancelled leaf is at rest at once
            outcome = runner.update()
            if outcome is not None:
                return not outcome.failure, performer.trace
    return None, performer.trace
