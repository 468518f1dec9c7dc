"""Friction that gives way: objects that yield sideways before anything slides on them."""

from __future__ import annotations

import math
from typing import Any

import pybullet

from robot_rt_control.hardware.pybullet.parameters import ObjectParameters
from robot_rt_control.hardware.pybullet.world import BASE_LINK, PyBulletWorld

_SETTLING = 0.002
"""[s] Damping by stiffness: a sideways deformation that nothing holds decays with this time constant."""
_NOTHING = (0.0, 0.0, 0.0)

_Vector = tuple[float, float, float]


def _dot(a: _Vector, b: _Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _add(a: _Vector, b: _Vector, factor: float = 1.0) -> _Vector:
    """a + factor b."""
    return (a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2])


def _cross(a: _Vector, b: _Vector) -> _Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def slide(
    deformation: _Vector, velocity: _Vector, normal: _Vector, stiffness: float, most: float, step: float
) -> tuple[_Vector, _Vector]:
    """One step of a friction contact that is a spring with a damper until it slides (a bristle).

    Args:
        deformation: [m] of the last step.
        velocity: [m/s] of the body that slides, relative to the other one.
        normal: unit vector.
        stiffness: [N/m] sideways.
        most: [N] friction coefficient times normal force.
        step: [s]

    Returns:
        the deformation, and the force on the body that slides [N].
    """
    velocity = _add(velocity, normal, -_dot(velocity, normal))
    deformation = _add(deformation, velocity, step)
    deformation = _add(deformation, normal, -_dot(deformation, normal))
    longest = most / stiffness
    length = math.sqrt(_dot(deformation, deformation))
    if length > longest:
        deformation = _add(_NOTHING, deformation, longest / length)
    force = _add(_add(_NOTHING, deformation, -stiffness), velocity, -stiffness * _SETTLING)
    size = math.sqrt(_dot(force, force))
    return deformation, force if size <= most else _add(_NOTHING, force, most / size)


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
        self._deformations: dict[tuple[int, int, int], _Vector] = {}

    def apply(self) -> None:
        """Push what touches them, for the next step of the simulation."""
        deformations: dict[tuple[int, int, int], _Vector] = {}
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
    ) -> _Vector:
        """Push a link at the center of its contact points. Returns the deformation."""
        _, body, link = contact
        pressed, place, normal = 0.0, _NOTHING, _NOTHING
        for point in points:
            pressed += point[9]
            place = _add(place, point[6], point[9])
            normal = _add(normal, point[7], point[9])
        place = _add(_NOTHING, place, 1.0 / pressed)
        normal = _add(_NOTHING, normal, 1.0 / math.sqrt(_dot(normal, normal)))
        most = friction * pybullet.getDynamicsInfo(body, link, physicsClientId=self._client)[1] * pressed
        deformation, force = slide(
            self._deformations.get(contact, _NOTHING),
            self._velocity(body, link, place),
            normal,
            stiffness,
            most,
            self._step,
        )
        pybullet.applyExternalForce(
            body, link, force, place, pybullet.WORLD_FRAME, physicsClientId=self._client
        )
        return deformation

    def _velocity(self, body: int, link: int, place: _Vector) -> _Vector:
        """[m/s] Of a point of a link."""
        if link == BASE_LINK:
            center, _ = pybullet.getBasePositionAndOrientation(body, physicsClientId=self._client)
            linear, angular = pybullet.getBaseVelocity(body, physicsClientId=self._client)
        else:
            state = pybullet.getLinkState(body, link, computeLinkVelocity=1, physicsClientId=self._client)
            center, linear, angular = state[0], state[6], state[7]
        return _add(linear, _cross(angular, _add(place, center, -1.0)))
