"""The shapes of objects, as PyBullet takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pybullet

from robot_rt_control.hardware.world.parameters import ObjectParameters
from robot_rt_control.hardware.world.profile_mesh import profile_mesh

PLANE_COLORS = np.array([[[255, 255, 255], [160, 184, 224]]], np.uint8)
"""Picture of a plane's texture: its fields have the one or the other color."""
_PLANE_M = 30
"""Edge of what is seen of a plane, in fields of 1 m."""
_PLANE_SIZE_M = (200.0, 200.0, 10.0)
"""What touches a plane touches a box, whose contacts with other shapes are those of two bodies."""


def shapes_of(thing: ObjectParameters) -> tuple[dict[str, Any], dict[str, Any]]:
    """What createCollisionShape and createVisualShape take for an object that is no URDF."""
    if thing.plane:
        return _plane()
    if thing.profile is not None:
        vertices, indices, normals = profile_mesh(thing.profile)
        mesh = {"shapeType": pybullet.GEOM_MESH, "vertices": vertices, "indices": indices}
        return mesh, mesh | {"normals": normals}
    if thing.box is not None:
        box = {"shapeType": pybullet.GEOM_BOX, "halfExtents": [edge / 2 for edge in thing.box.size]}
        return box, box
    if thing.sphere is not None:
        sphere = {"shapeType": pybullet.GEOM_SPHERE, "radius": thing.sphere.radius}
        return sphere, sphere
    assert thing.cylinder is not None
    cylinder = {"shapeType": pybullet.GEOM_CYLINDER, "radius": thing.cylinder.radius}
    return cylinder | {"height": thing.cylinder.height}, cylinder | {"length": thing.cylinder.height}


def _plane() -> tuple[dict[str, Any], dict[str, Any]]:
    half = [edge / 2 for edge in _PLANE_SIZE_M]
    box = {"shapeType": pybullet.GEOM_BOX, "halfExtents": half, "collisionFramePosition": [0, 0, -half[2]]}
    corners: list[tuple[int, int, int]] = []
    texture: list[tuple[float, float]] = []
    indices: list[int] = []
    for x in range(-_PLANE_M // 2, _PLANE_M // 2):
        for y in range(-_PLANE_M // 2, _PLANE_M // 2):
            indices += [len(corners) + i for i in (0, 1, 2, 0, 2, 3)]
            corners += [(x, y, 0), (x + 1, y, 0), (x + 1, y + 1, 0), (x, y + 1, 0)]
            texture += [(0.25 + 0.5 * ((x + y) % 2), 0.5)] * 4
    seen: dict[str, Any] = {"shapeType": pybullet.GEOM_MESH, "rgbaColor": [1, 1, 1, 1]}
    mesh = {"vertices": corners, "indices": indices, "uvs": texture, "normals": [(0, 0, 1)] * len(corners)}
    return box, seen | mesh
