"""Friction that gives way in MuJoCo: see hardware/world/bristle.py."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from robot_rt_control.hardware.mujoco.world import MujocoWorld
from robot_rt_control.hardware.world.bristle import NOTHING, Vector3, add, dot, slide


class Shear:
    """The friction of all fixed objects that have `shear`; MuJoCo's own friction, which is stiff, is off there.

    Args:
        world: with the objects.
    """

    def __init__(self, world: MujocoWorld) -> None:
        self._world = world
        model = world.model
        self._stiffness = np.zeros(model.ngeom)
        self._friction = np.zeros(model.ngeom)
        for surface in world.built.surfaces:
            geom = world.geom(surface.geom)
            self._friction[geom], self._stiffness[geom] = surface.friction, surface.shear or 0.0
        self.exists = bool(self._stiffness.any())
        """Whether any object has shear."""
        self._sheared = set(np.flatnonzero(self._stiffness).tolist())
        self._deformations: dict[tuple[int, int], Vector3] = {}

    def apply(self) -> None:
        """Push what touches such objects, for the next step of the simulation."""
        if not self._world.contacts.has_sheared:
            self._deformations = {}
            return
        deformations: dict[tuple[int, int], Vector3] = {}
        model, world = self._world.model, self._world
        contacts: dict[tuple[int, int], list[tuple[float, np.ndarray, np.ndarray, float, float]]] = {}
        found = world.contacts
        for i, (first, second) in enumerate(found.touching.tolist()):
            if first not in self._sheared and second not in self._sheared:
                continue
            pressed, place, normal = found.normal_forces[i], found.places[i], found.normals[i]
            for still, moving, sign in ((first, second, 1.0), (second, first, -1.0)):
                if still in self._sheared and pressed > 0.0:
                    friction = self._friction[still] * self._friction[moving]
                    bodies = int(model.geom_bodyid[still]), int(model.geom_bodyid[moving])
                    contacts.setdefault(bodies, []).append(
                        (float(pressed), place, sign * normal, friction, self._stiffness[still])
                    )
        for bodies, points in contacts.items():
            deformations[bodies] = self._push(bodies, points)
        self._deformations = deformations

    def _push(
        self, bodies: tuple[int, int], points: list[tuple[float, np.ndarray, np.ndarray, float, float]]
    ) -> Vector3:
        """Push a body at the center of its contact points. Returns the deformation."""
        pressed = sum(point[0] for point in points)
        place = sum((point[0] * point[1] for point in points), np.zeros(3)) / pressed
        direction = _vector(sum((point[0] * point[2] for point in points), np.zeros(3)))
        normal = add(NOTHING, direction, 1.0 / math.sqrt(dot(direction, direction)))
        _, _, _, friction, stiffness = points[0]
        deformation, force = slide(
            self._deformations.get(bodies, NOTHING),
            _vector(self._velocity(bodies[1], place)),
            normal,
            stiffness,
            friction * pressed,
            self._world.step_s,
        )
        self._world.push_body(bodies[1], np.array(force), place)
        return deformation

    def _velocity(self, body: int, place: np.ndarray) -> np.ndarray:
        """(3,) [m/s] Of a point of a body."""
        model, data = self._world.model, self._world.data
        found = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, found, 0)
        return found[3:] + np.cross(found[:3], place - data.xipos[body])


def _vector(values: np.ndarray) -> Vector3:
    x, y, z = values.tolist()
    return x, y, z
