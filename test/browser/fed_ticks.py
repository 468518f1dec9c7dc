"""Ticks of a loop as a test feeds them to the editor: joints that wave, two actions, a fault."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from memory_robot import MemoryRobot

from robot_rt_control.editor.robot import TimelineNews
from robot_rt_control.ros.tick_batches import TickBatch, TickNames

ACTIONS = {1: "arm_default_action", 2: "approach", 3: "retreat"}
SWITCH, FAULT, LAST = 3000, 5000, 9000


def wave(tick: int, joint: int) -> float:
    """[rad] of a joint in a tick."""
    return float(np.sin(0.0011 * tick * (joint + 1)))


def event(tick: int, kind: str, **more: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("session", "reaction", "event", "previous_action", "current_action", "part", "reason"), "")
    return {**empty, "kind": kind, "tick": tick, "values": {}, **more}


EVENTS = (
    event(SWITCH, "reaction_fired", session="s1", reaction="near", event="too_close", previous_action="approach",
          current_action="retreat", part="arm", values={"rangefinder.distance": 0.1999}),
    event(FAULT, "part_faulted", session="s1", part="arm", reason="joint 3: following error"),
)  # fmt: skip


class Cell:
    """A robot whose loop's ticks come as a test feeds them.

    Args:
        joints: of its part `arm`, by their names in joint_states.
    """

    def __init__(self, robot: MemoryRobot, joints: Sequence[str]) -> None:
        self.robot, self.joints = robot, joints
        n = len(self.joints)
        variables = {f"arm.position[{i}]": 1 + i for i in range(n)} | {"arm.operational_state": n + 2}
        self.names = TickNames(
            version=7, period=0.001, columns=n + 4, variables=variables, actions={"arm": n + 1},
            integers=frozenset({0, n + 1, n + 2, n + 3}), joints={name: 1 + i for i, name in enumerate(self.joints)},
            faults={"arm": n + 3},
        )  # fmt: skip
        robot.news = TimelineNews(names=self.names)

    def rows(self, ticks: np.ndarray) -> np.ndarray:
        n = len(self.joints)
        rows = np.zeros((len(ticks), n + 4), np.int64)
        rows[:, 0] = ticks
        q = [[wave(tick, joint) for joint in range(n)] for tick in ticks.tolist()]
        rows.view(np.float64)[:, 1 : n + 1] = q
        rows[:, n + 1] = np.where(ticks < SWITCH, 2, 3)
        is_faulted = (ticks >= FAULT) & (ticks < FAULT + 2000)
        rows[:, n + 2], rows[:, n + 3] = np.where(is_faulted, 2, 1), np.where(is_faulted, 3, 0)
        return rows

    def feed(self, first: int, last: int, events: Sequence[dict[str, Any]] = EVENTS, step: int = 500) -> None:
        """Ticks of the loop, as fast as they are taken; the robot is where the last one has it."""
        for begin in range(first, last + 1, step):
            deadline = time.monotonic() + 120
            while self.robot.news.batches and time.monotonic() < deadline:
                time.sleep(0.005)
            ticks = np.arange(begin, min(begin + step - 1, last) + 1)
            batch = TickBatch(version=7, rows=self.rows(ticks), action_names=ACTIONS)
            happened = [each for each in events if begin <= each["tick"] <= ticks[-1]]
            self.robot.news = TimelineNews(names=self.names, batches=[batch], events=happened)
        self.robot.positions |= {name: wave(last, i) for i, name in enumerate(self.joints)}
