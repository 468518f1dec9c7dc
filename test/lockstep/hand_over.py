"""Motions and laws that take over from each other at any tick, on many parts at once, and the limits of their commands.

Why commands have no more jerk than the motions: the cubic through the last four commands and the motion that continues
from its end are together one curve whose second derivative is continuous. The third difference of samples of such a
curve is a weighted mean of its jerk, with weights that are positive and sum to 1. The cubic's own jerk is the third
difference of the commands before. So sampling adds nothing: only rounding is left.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import yaml

from robot_rt_control.client.actions import Action, Strategy
from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell

DT = 1e-3
PARTS = 56
SPARE = 4
"""More parts, outside of the session."""
SELECTORS = 14
"""Values of each of the sensors that select laws: one value for each part, 0 to 1."""
VELOCITY, ACCELERATION = np.array([1.0, 2.0]), np.array([10.0, 20.0])
JERK = np.array([500.0, 1000.0])
WITHIN = np.array([1.01, 1.05, 1.000001])
"""Largest `excess`: velocity and acceleration by what a tick adds to them, between whose ends nothing is known."""
ROUNDING = 2e-15  # [m or rad] of a third difference; a position below 1 is rounded by 1e-16
AT_ONCE = 8  # actions that one command starts

MOTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "far": ("move_joint", {"position": [0.15, -0.3]}),
    "back": ("move_joint", {"position": [0.0, 0.0]}),
    "gently": ("move_joint", {"position": [-0.1, 0.4], "acceleration_scale": 0.3, "velocity_scale": 0.5}),
    "up": ("velocity_move", {"velocity": [0.5, -1.9]}),
    "down": ("velocity_move", {"velocity": [-0.9, 0.2]}),
    "stop": ("stop", {}),
    "together": ("stop", {"synchronized": True}),
    "hold": ("hold", {}),
}
LAWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("velocity", {"velocity": 0.9}),
    ("velocity", {"velocity": -0.4}),
    ("stop_at", {"direction": "forward"}),
    ("distance", {"distance": 0.1, "velocity": -0.8}),
    ("force", {"force": 30.0, "compliance": 0.02, "velocity": 0.7}),
    ("move_joint", {"position": 0.1, "acceleration_scale": 0.3}),
    ("stop", {}),
    ("velocity", {"velocity": -0.95}),
)
"""Of the joint x, in this order; of the joint turn, in reverse order."""


def many_parts() -> LockstepCell:
    """A cell with PARTS + SPARE parts of two joints each, whose ranges no motion of this file leaves, and sensors."""
    joints = [
        {"name": "x", "type": "prismatic", "position_lower": -50.0, "position_upper": 50.0, "velocity": 1.6},
        {"name": "turn", "type": "revolute", "position_lower": -50.0, "position_upper": 50.0, "velocity": 3.2},
    ]
    part = {
        "kind": "base",
        "device": "sim",
        "joints": [{**joint, "effort": 100} for joint in joints],
        "limits": {"velocity": VELOCITY.tolist(), "acceleration": ACCELERATION.tolist(), "jerk": JERK.tolist()},
    }
    sensor = {"kind": "sensor", "device": "sim", "values": {f"v{k}": {"unit": "m"} for k in range(SELECTORS)}}
    content = {
        "name": "hand_over",
        "period": DT,
        "default_hardware": "mock",
        "parts": {
            **{f"p{i}": part for i in range(PARTS + SPARE)},
            **{f"s{i}": sensor for i in range(PARTS // SELECTORS)},
        },
        "devices": {"sim": {"mock": {}}},
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "workcell.yaml"
        file.write_text(yaml.safe_dump(content, sort_keys=False))
        return LockstepCell(load_workcell(file))


def strategies(i: int, joint: int) -> list[Strategy]:
    """Of a joint of part i: its selector chooses one of LAWS."""
    selector, found = f"s{i // SELECTORS}.v{i % SELECTORS}", []
    # A distance has the joint's unit: that of `turn` is its own angle, so the law goes to a place.
    distance = f"p{i}.position[1]" if joint else selector
    inputs = {"distance": {"distance": distance}, "force": {"force": f"p{i}.effort[{joint}]"}}
    for k, (law, parameters) in enumerate(LAWS[:: -1 if joint else 1], start=1):
        when = f"{selector} < {k / len(LAWS)}" if k < len(LAWS) else ""
        found.append(Strategy(f"k{k}", law, when=when, inputs=inputs.get(law, {}), **parameters))
    return found


class HandOver:
    """A cell of many parts that records the position commands, the override and the starts of each tick."""

    def __init__(self) -> None:
        self.cell = many_parts()
        self.world = self.cell.executor.world.memory
        self.session: Session = self.cell.session(*(f"p{i}" for i in range(PARTS)))
        self.session.add(
            *(Action(f"{m}{i}", kind, parts=f"p{i}", **p) for i in range(PARTS) for m, (kind, p) in MOTIONS.items()),
            *(
                Action(
                    f"laws{i}", "hold", parts=f"p{i}", strategies={"x": strategies(i, 0), "turn": strategies(i, 1)}
                )
                for i in range(PARTS)
            ),
        )
        for i in range(PARTS):
            self.select(i, 0.5)
        self.cell.step(5)
        self._rows: list[np.ndarray] = []
        self._speeds: list[float] = []

    def start(self, *actions: str) -> None:
        for first in range(0, len(actions), AT_ONCE):
            self.session.start(*actions[first : first + AT_ONCE])

    def select(self, i: int, value: float) -> None:
        """Choose the laws of part i."""
        self.cell.set_sensor(f"s{i // SELECTORS}/v{i % SELECTORS}", value)

    def step(self, ticks: int = 1) -> None:
        for _ in range(ticks):
            self.cell.step()
            self._rows.append(self.world.parts["commanded_position"][: PARTS + SPARE, :2].copy())
            self._speeds.append(float(self.world.speed))

    def rest(self) -> None:
        """Lead all parts back to 0."""
        self.start(*(f"back{i}" for i in range(PARTS)))
        self.step(2)
        while self.world.parts["commanded_velocity"][: PARTS + SPARE, :2].any():
            self.step(20)
        assert not self.cell.kinds("part_faulted") and not self.cell.kinds("action_failed")

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Position commands (ticks, PARTS + SPARE, 2) and overrides (ticks,) since the last call."""
        found = np.array(self._rows), np.array(self._speeds)
        self._rows, self._speeds = [], []
        return found

    def switch(self, random: Random, ticks: int) -> int:
        """Let random motions and laws take over on random parts. Returns how often."""
        switches = 0
        self.cell.events.clear()
        for _ in range(ticks):
            chosen = random.sample(range(PARTS), random.choice((0, 1, 1, 3)))
            self.start(*(f"{random.choice((*MOTIONS, *['laws'] * len(MOTIONS)))}{i}" for i in chosen))
            for i in random.sample(range(PARTS), random.choice((0, 1, 4))):
                self.select(i, random.random())
            switches += len(chosen)
            self.step()
        return switches + sum("→" in event.reason for event in self.cell.kinds("strategy_changed"))


def excess(q: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Largest velocity, acceleration and jerk of position commands that are h apart [s], as fractions of the limits.

    Acceleration and jerk are two and six times a divided difference; of the jerk, what rounding may add is taken off.
    """
    wide = h[:, None, None]
    v = np.diff(q, axis=0) / wide[1:]
    a = 2.0 * np.diff(v, axis=0) / (wide[1:-1] + wide[2:])
    jerk = np.abs(3.0 * np.diff(a, axis=0) / (wide[1:-2] + wide[2:-1] + wide[3:]))
    jerk -= ROUNDING * np.maximum(np.abs(q).max(), 1.0) / np.minimum.reduce([wide[1:-2], wide[2:-1], wide[3:]]) ** 3
    return np.array([(np.abs(v) / VELOCITY).max(), (np.abs(a) / ACCELERATION).max(), (jerk / JERK).max()])
