"""What people do at any moment: start, enable, disable, clear, recover, stop, release and slow down moving arms."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.attack.attack import Attack
from robot_rt_control.testing.lockstep_cell import LockstepCell

HOSTED = "robot_rt_control.hardware.mock_plugin:MockPlugin"
_ROUNDS = 400


def _round(random: Random, folder: Path) -> int:
    from random_moments import HOME, commands_at_random
    from rules.changed_workcell import changed_workcell

    changes: dict[str, Any] = {"parts/left/recovery": {"program": HOME}}
    if random.random() < 0.5:
        changes["parts/left/system_limits"] = {"jerk": [random.uniform(40.0, 400.0), random.uniform(80.0, 800.0)]}
    if random.random() < 0.3:
        changes["parts/right/command_modes"] = ["velocity"]
        changes["parts/right/default_action"] = changes["parts/right/safety_action"] = "idle"
    hardware = random.choice((None, HOSTED))
    with LockstepCell(changed_workcell(folder, changes, hardware), gated=random.random() < 0.7) as cell:
        commands_at_random(cell, np.random.default_rng(random.randrange(2**32)), _ROUNDS, ("left", "right"))
        cell.server.protective_stop(True)
        cell.step(1000)
        for part in ("left", "right"):
            moving = cell.part(part).commanded_velocity[:2]
            assert not moving.any(), f"a second after a protective stop {part!r} still moves: {moving}"
    return _ROUNDS


ATTACK = Attack(
    name="moments",
    promise="no command beyond a limit leaves, and a protective stop brings all to rest, whatever was asked for before",
    round=_round,
    unit="requests",
    share=2.0,
)
