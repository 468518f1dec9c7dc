"""What differs from the model in the world: a scene with another friction, mass, contact stiffness or start."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace

import numpy as np

from robot_rt_control.planning.scene import Scene

_FREE_JOINT = 0
"""MuJoCo's mjJNT_FREE."""


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """Factors of the scene's own values, and what is added to the body's start."""

    name: str
    friction: float = 1.0
    """Of all contacts."""
    contact_stiffness: float = 1.0
    """Of all contacts."""
    mass: float = 1.0
    """Of the body, with its inertia."""
    shift: tuple[float, float] = (0.0, 0.0)
    """[m] along x and y of the world."""
    turn: float = 0.0
    """[rad] about z of the world."""
    speed: float = 1.0
    """Override; of velocity-driven plans only."""

    @property
    def of_start(self) -> bool:
        return self.shift != (0.0, 0.0) or self.turn != 0.0


PERTURBATIONS = (
    Perturbation(name="friction -30 %", friction=0.7),
    Perturbation(name="friction +30 %", friction=1.3),
    Perturbation(name="contact stiffness x 1/2", contact_stiffness=0.5),
    Perturbation(name="contact stiffness x 2", contact_stiffness=2.0),
    Perturbation(name="mass -20 %", mass=0.8),
    Perturbation(name="mass +20 %", mass=1.2),
    Perturbation(name="start x -5 mm", shift=(-0.005, 0.0)),
    Perturbation(name="start x +5 mm", shift=(0.005, 0.0)),
    Perturbation(name="start y -5 mm", shift=(0.0, -0.005)),
    Perturbation(name="start y +5 mm", shift=(0.0, 0.005)),
    Perturbation(name="start turned -2 deg", turn=-math.radians(2.0)),
    Perturbation(name="start turned +2 deg", turn=math.radians(2.0)),
    Perturbation(name="speed 0.5", speed=0.5),
)


def is_free(scene: Scene) -> bool:
    """Whether the body's start can be moved: it is no link of the robot."""
    joint = int(scene.model.body_jntadr[scene.body])
    return joint >= 0 and int(scene.model.jnt_type[joint]) == _FREE_JOINT


def perturbed(scene: Scene, by: Perturbation) -> Scene:
    """A copy of a scene that differs from it; the scene itself stays as it is. The speed is left out."""
    model, qpos = copy.deepcopy(scene.model), scene.qpos.copy()
    model.pair_friction[:, :2] *= by.friction
    # A contact's time constant is that of a spring-damper: its stiffness goes with the inverse square.
    model.pair_solref[:, 0] /= math.sqrt(by.contact_stiffness)
    if by.contact_stiffness > 1.0:  # a constant below two time steps would be raised to that
        model.opt.timestep /= math.ceil(math.sqrt(by.contact_stiffness))
    model.body_mass[scene.body] *= by.mass
    model.body_inertia[scene.body] *= by.mass
    if by.of_start:
        b = scene.body_q
        qpos[b : b + 2] += by.shift
        w, x, y, z = qpos[b + 3 : b + 7]
        cosine, sine = math.cos(by.turn / 2.0), math.sin(by.turn / 2.0)
        qpos[b + 3 : b + 7] = np.array(
            [cosine * w - sine * z, cosine * x - sine * y, cosine * y + sine * x, cosine * z + sine * w]
        )
    return replace(scene, model=model, qpos=qpos)
