"""The planner's settings: one set of defaults for all tasks. Without MuJoCo and PIQP."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from robot_rt_control.planning.cost import Weights
from robot_rt_control.planning.penalty_loop import PenaltySettings
from robot_rt_control.planning.scvx import TrustRegion


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The same for all tasks."""

    weights: Weights = field(default_factory=Weights)
    region: TrustRegion = field(default_factory=TrustRegion)
    penalty: PenaltySettings = field(default_factory=PenaltySettings)
    draw_per_penalty: float = 10.0
    """κ per ω in the penalty loop,"""
    least_draw: float = 30.0
    """and at least."""
    final_draw: float = 100.0
    """κ of the first solution with k = 0."""
    hill_climbing: bool = False
    """Whether an accepted iterate is processed by hill_climb.py: in trials it changed little, see the design page."""
    accept_position: float = 0.02
    """Per distance of the task."""
    accept_orientation: float = 0.05
    """[rad]"""
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
