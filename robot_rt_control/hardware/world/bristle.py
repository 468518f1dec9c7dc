"""Friction that gives way before anything slides: a spring with a damper in the plane of contact."""

from __future__ import annotations

import math

_SETTLING = 0.002
"""[s] Damping by stiffness: a sideways deformation that nothing holds decays with this time constant."""
NOTHING = (0.0, 0.0, 0.0)

Vector3 = tuple[float, float, float]


def dot(a: Vector3, b: Vector3) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def add(a: Vector3, b: Vector3, factor: float = 1.0) -> Vector3:
    """a + factor b."""
    return (a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2])


def cross(a: Vector3, b: Vector3) -> Vector3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def slide(
    deformation: Vector3, velocity: Vector3, normal: Vector3, stiffness: float, most: float, step: float
) -> tuple[Vector3, Vector3]:
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
    velocity = add(velocity, normal, -dot(velocity, normal))
    deformation = add(deformation, velocity, step)
    deformation = add(deformation, normal, -dot(deformation, normal))
    longest = most / stiffness
    length = math.sqrt(dot(deformation, deformation))
    if length > longest:
        deformation = add(NOTHING, deformation, longest / length)
    force = add(add(NOTHING, deformation, -stiffness), velocity, -stiffness * _SETTLING)
    size = math.sqrt(dot(force, force))
    return deformation, force if size <= most else add(NOTHING, force, most / size)
