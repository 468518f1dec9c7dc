"""Motions and laws of 56 parts take over from each other in any tick, at any speed override."""

from __future__ import annotations

from pathlib import Path
from random import Random

from bench.attack.attack import Attack

_TICKS = 400


def _round(random: Random, folder: Path) -> int:
    from hand_over import DT, WITHIN, HandOver, excess

    made = HandOver()
    with made.cell:
        switches = 0
        for _ in range(3):
            switches += made.switch(random, _TICKS)
            made.rest()
            q, speeds = made.take()
            found = excess(q, speeds * DT)
            assert (found <= WITHIN).all(), f"velocity, acceleration, jerk are {found} of the application's limits"
    return switches


ATTACK = Attack(
    name="switches",
    promise="motions that are displaced in any tick keep the application's limits of velocity, acceleration and jerk",
    round=_round,
    unit="switches",
    share=2.0,
)
