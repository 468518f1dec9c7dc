"""Settings of the planner: the same for all tasks."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Literal

from robot_rt_control.planning.optimise.cost import Weights
from robot_rt_control.planning.optimise.penalty_loop import PenaltySettings
from robot_rt_control.planning.optimise.scvx import TrustRegion
from robot_rt_control.planning.optimise.shooting import ShootingSettings
from robot_rt_control.planning.optimise.traction import TractionSettings


@dataclass(frozen=True, kw_only=True)
class PostProcessing:
    """What happens to an accepted iterate of the penalty loop that has virtual stiffness left."""

    traction: TractionSettings | None = None
    """Forces that draw geometries with residual k to their faces, traction.py; None: no such forces."""
    hill_climbing: bool = False
    """Whether excessive k is taken away, hill_climb.py."""
    above: float = 0.0
    below: float = float("inf")
    """Both only if the average scaled k is between these: the document says above a threshold in one place and below
    it in another."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The same for all tasks."""

    search: Literal["single", "rounds"] = "rounds"
    """`single`: the document's algorithm alone; `rounds`: several starts, search.py."""
    weights: Weights = field(default_factory=Weights)
    region: TrustRegion = field(default_factory=TrustRegion)
    penalty: PenaltySettings = field(default_factory=PenaltySettings)
    post: PostProcessing = field(default_factory=PostProcessing)
    virtual_forces: bool = True
    """Whether starts with virtual forces are tried at all."""
    slow: bool = True
    """Whether slow straight pushes come first, and an open duration is such that friction holds the body; false: as
    fast as the horizon says."""
    guides: bool = True
    """Whether `rounds` begins with start guesses made of geometry, guide.py."""
    shooting: ShootingSettings | None = field(default_factory=ShootingSettings)
    """Whole rollouts beside SCVX, once virtual forces are gone, shooting.py; None: SCVX alone."""
    draw_per_penalty: float = 10.0
    """κ per ω in the penalty loop,"""
    least_draw: float = 30.0
    """and at least."""
    final_draw: float = 100.0
    """κ of the first solution with k = 0."""
    draw: bool = True
    """Whether residual k draws geometries near by a part of the cost."""
    robust: bool = True
    """Whether the least spread decides between several good results, perturbation.py; else their cost."""
    accept_position: float = 0.02
    """Per distance of the task."""
    accept_orientation: float = 0.05
    """[rad]"""
    accept_speed: float = 0.02
    """[m/s] of the body at the end, if it must be at rest."""
    accept_strike: float = 0.2
    """[m/s] by which the robot may change a pushed body's speed within 10 ms, unless `slow` is false."""
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
