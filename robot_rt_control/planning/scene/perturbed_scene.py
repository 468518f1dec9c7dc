"""A scene whose values differ from what the workcell says."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from robot_rt_control.planning.scene.scene import Scene


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """How a world differs from what the workcell says: factors, and what is added to the body's start."""

    name: str
    friction: float = 1.0
    """Factor of the friction of all contacts."""
    mass: float = 1.0
    """Factor of the body's mass, with its inertia."""
    stiffness: float = 1.0
    """Factor of the stiffness of all contacts."""
    shift: tuple[float, float] = (0.0, 0.0)
    """[m] of the body's start, along x and y of the world."""
    turn: float = 0.0
    """[rad] of the body's start, about z of the world."""
    speed: float = 1.0
    """Override with which a plan is played; no property of a scene."""

    @property
    def of_start(self) -> bool:
        """Whether the body starts elsewhere: only free objects do."""
        return self.shift != (0.0, 0.0) or self.turn != 0.0


def perturbed(scene: Scene, how: Perturbation) -> Scene:
    """The same scene with other values."""
    model, qpos = copy.copy(scene.model), scene.qpos.copy()
    model.pair_friction[:, :2] *= how.friction
    model.body_mass[scene.body] *= how.mass
    model.body_inertia[scene.body] *= how.mass
    # Stiffness goes with the inverse square of the time constant, which MuJoCo keeps above two time steps.
    model.pair_solref[:, 0] /= np.sqrt(how.stiffness)
    if how.stiffness > 1.0:
        model.opt.timestep /= np.ceil(np.sqrt(how.stiffness))
    if how.of_start:
        b = scene.body_q
        qpos[b : b + 2] += how.shift
        turned, turn = np.zeros(4), np.array([np.cos(how.turn / 2), 0.0, 0.0, np.sin(how.turn / 2)])
        mujoco.mju_mulQuat(turned, turn, qpos[b + 3 : b + 7])
        qpos[b + 3 : b + 7] = turned
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return replace(scene, model=model, qpos=qpos)
