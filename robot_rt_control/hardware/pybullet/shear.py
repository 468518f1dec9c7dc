"""Friction that gives way: objects that yield sideways before anything slides on them."""

from __future__ import annotations

import math
from typing import Any

import pybullet

from robot_rt_control.hardware.pybullet.world import BASE_LINK, PyBulletWorld
from robot_rt_control.hardware.world.bristle import NOTHING, Vector3, add, cross, dot, slide
from robot_rt_control.hardware.world.parameters import ObjectParameters


class Shear:
    """The friction of all objects that have `shear`; the simulator's own friction, which is rigid, is 0 there.

    Args:
        world: with the objects.
        objects: all objects.
        step: [s] one step of the simulation.
    """

    def __init__(self, world: PyBulletWorld, objects: tuple[ObjectParameters, ...], step: float) -> None:
        self._client, self._step = world.client, step
        self._objects: list[tuple[int, float, float]] = []
        for thing in objects:
            if thing.shear is not None:
                body = world.objects[thing.name]
                friction = pybullet.getDynamicsInfo(body, BASE_LINK, physicsClientId=self._client)[1]
                pybullet.changeDynamics(body, BASE_LINK, lateralFriction=0.0, physicsClientId=self._client)
                self._objects.append((body, friction, thing.shear))
        self._deformations: dict[tuple[int, int, int], Vector3] = {}

    @property
    def exists(self) -> bool:
        """Whether any object has shear."""
        return bool(self._objects)

    def apply(self) -> None:
        """Push what touches them, for the next step of the simulation."""
        deformations: dict[tuple[int, int, int], Vector3] = {}
        for body, friction, stiffness in self._objects:
            points: dict[tuple[int, int, int], list[tuple[Any, ...]]] = {}
            for point in pybullet.getContactPoints(bodyA=body, physicsClientId=self._client):
                if point[9] > 0.0:
                    points.setdefault((body, point[2], point[4]), []).append(point)
            for contact, found in points.items():
                deformations[contact] = self._push(contact, found, friction, stiffness)
        self._deformations = deformations

    def _push(
        self, contact: tuple[int, int, int], points: list[tuple[Any, ...]], friction: float, stiffness: float
    ) -> Vector3:
        """Push a link at the center of its contact points. Returns the deformation."""
        _, body, link = contact
        pressed, place, normal = 0.0, NOTHING, NOTHING
        for point in points:
            pressed += point[9]
            place = add(place, point[6], point[9])
            normal = add(normal, point[7], point[9])
        place = add(NOTHING, place, 1.0 / pressed)
        normal = add(NOTHING, normal, 1.0 / math.sqrt(dot(normal, normal)))
        most = friction * pybullet.getDynamicsInfo(body, link, physicsClientId=self._client)[1] * pressed
        deformation, force = slide(
            self._deformations.get(contact, NOTHING),
            self._velocity(body, link, place),
            normal,
            stiffness,
            most,
            self._step,
        )
        pybullet.applyExternalForce(body, link, force, place, pybullet.WORLD_FRAME, physicsClientId=self._client)
        return deformation

    def _velocity(self, body: int, link: int, place: Vector3) -> Vector3:
        """[m/s] Of a point of a link."""
        if link == BASE_LINK:
            center, _ = pybullet.getBasePositionAndOrientation(body, physicsClientId=self._client)
            linear, angular = pybullet.getBaseVelocity(body, physicsClientId=self._client)
        else:
            state = pybullet.getLinkState(body, link, computeLinkVelocity=1, physicsClientId=self._client)
            center, linear, angular = state[0], state[6], state[7]
        return add(linear, cross(angular, add(place, center, -1.0)))
