"""Motions that take over from each other at any tick, on many parts at once, and the jerk of what is commanded.

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

from robot_rt_control.client.actions import Action
from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell import load_workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell

DT = 1e-3
PARTS = 60
SPARE = 4
"""More parts, outside of the session."""
JERK = np.array([500.0, 1000.0])
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


def many_parts() -> LockstepCell:
    """A cell with PARTS + SPARE parts of two joints each, whose ranges no motion of this file leaves."""
    joints = [
        {"name": "x", "type": "prismatic", "position_lower": -50.0, "position_upper": 50.0, "velocity": 1.6},
        {"name": "turn", "type": "revolute", "position_lower": -50.0, "position_upper": 50.0, "velocity": 3.2},
    ]
    part = {
        "kind": "base",
        "device": "sim",
        "joints": [{**joint, "effort": 100} for joint in joints],
        "limits": {"velocity": [1.0, 2.0], "acceleration": [10.0, 20.0], "jerk": JERK.tolist()},
        # "gently" has less jerk to end an acceleration with: near full speed it passes the limit of velocity by 0.3.
        "system_limits": {"velocity": [1.6, 3.2]},
    }
    content = {
        "name": "hand_over",
        "period": DT,
        "default_hardware": "mock",
        "parts": {f"p{i}": part for i in range(PARTS + SPARE)},
        "devices": {"sim": {"mock": {}}},
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "workcell.yaml"
        file.write_text(yaml.safe_dump(content, sort_keys=False))
        return LockstepCell(load_workcell(file))


class HandOver:
    """A cell of many parts that records the position commands, the override and the starts of each tick."""

    def __init__(self) -> None:
        self.cell = many_parts()
        self.world = self.cell.executor.world.memory
        self.session: Session = self.cell.session(*(f"p{i}" for i in range(PARTS)))
        self.session.add(
            *(Action(f"{m}{i}", kind, parts=f"p{i}", **p) for i in range(PARTS) for m, (kind, p) in MOTIONS.items())
        )
        self.cell.step(5)
        self._rows: list[np.ndarray] = []
        self._speeds: list[float] = []

    def start(self, *actions: str) -> None:
        for first in range(0, len(actions), AT_ONCE):
            self.session.start(*actions[first : first + AT_ONCE])

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
        """Let random motions take over on random parts. Returns how often."""
        switches = 0
        for _ in range(ticks):
            chosen = random.sample(range(PARTS), random.choice((0, 1, 1, 3)))
            self.start(*(f"{random.choice(tuple(MOTIONS))}{i}" for i in chosen))
            switches += len(chosen)
            self.step()
        return switches


def jerk_of(q: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Jerk (ticks - 3, …) of position commands that are h apart [s]: six times the third divided difference."""
    wide = h.reshape(-1, *(1,) * (q.ndim - 1))
    v = np.diff(q, axis=0) / wide[1:]
    a = 2.0 * np.diff(v, axis=0) / (wide[1:-1] + wide[2:])
    return 3.0 * np.diff(a, axis=0) / (wide[1:-2] + wide[2:-1] + wide[3:])


def excess(q: np.ndarray, h: np.ndarray) -> float:
    """Largest jerk of the commands as fraction of the limit, less what rounding may add."""
    h_cubed = np.minimum.reduce([h[1:-2], h[2:-1], h[3:]]) ** 3
    scale = np.maximum(np.abs(q).max(), 1.0)
    return float(((np.abs(jerk_of(q, h)) - ROUNDING * scale / h_cubed[:, None, None]) / JERK).max())
