"""What behavior trees do, by recursion over their XML: for comparing with the engine. Leaves answer from a script."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable

Script = Callable[[str, int], bool]
"""Name of a leaf, and how often it ran before → whether it succeeds."""


class TooLong(Exception):
    """More leaves than a test waits for."""


class TreeInterpreter:
    def __init__(self, text: str, script: Script, at_most: int) -> None:
        self.root = ET.fromstring(text)
        self.trees = {tree.attrib["ID"]: tree[0] for tree in self.root.iter("BehaviorTree")}
        self.script, self.at_most = script, at_most
        self.counts: Counter[str] = Counter()
        self.trace: list[str] = []
        self.slept = 0

    def run(self) -> bool:
        main = self.root.attrib.get("main_tree_to_execute") or next(iter(self.trees))
        return self.tick(self.trees[main])

    def leaf(self, name: str) -> bool:
        if len(self.trace) >= self.at_most:
            raise TooLong
        self.trace.append(name)
        self.counts[name] += 1
        return self.script(name, self.counts[name] - 1)

    def tick(self, node: ET.Element) -> bool:
        match node.tag:
            case "Sequence":
                return all(map(self.tick, node))
            case "Fallback":
                return any(map(self.tick, node))
            case "IfThenElse":
                return self.tick(node[1]) if self.tick(node[0]) else len(node) == 3 and self.tick(node[2])
            case "Inverter":
                return not self.tick(node[0])
            case "ForceSuccess" | "ForceFailure":
                self.tick(node[0])
                return node.tag == "ForceSuccess"
            case "Repeat":
                times = int(node.attrib["num_cycles"])
                while times and self.tick(node[0]):
                    times -= 1
                return not times
            case "RetryUntilSuccessful":
                times = int(node.attrib["num_attempts"])
                while times and not self.tick(node[0]):
                    times -= 1
                return times != 0
            case "ParallelAll":
                failures = sum([not self.tick(child) for child in node])
                most = int(node.attrib.get("max_failures", 1))
                return failures < (len(node) if most == -1 else most)
            case "Timeout":
                return self.tick(node[0])
            case "Sleep":
                self.slept += 1
                if self.slept > 10 * self.at_most:
                    raise TooLong
                return True
            case "SubTree":
                return self.tick(self.trees[node.attrib["ID"]])
            case "Action" | "Condition":
                return self.leaf(node.attrib["ID"])
            case name:
                return self.leaf(name)
