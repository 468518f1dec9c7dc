"""The shapes of objects, as PyBullet takes them."""

from __future__ import annotations

from typing import Any

import pybullet

from robot_rt_control.hardware.pybullet.parameters import ObjectParameters, Profile

Point = tuple[float, float, float]


def shapes_of(thing: ObjectParameters) -> tuple[dict[str, Any], dict[str, Any]]:
    """What createCollisionShape and createVisualShape take for an object that is neither a URDF nor a plane."""
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


def profile_mesh(given: Profile) -> tuple[list[Point], list[int], list[Point]]:
    """Vertices, indices and normals of a body whose top follows a line.

    Each face has corners of its own, so that edges are drawn sharp; triangles turn counter-clockwise seen from outside.
    """
    vertices: list[Point] = []
    normals: list[Point] = []
    indices: list[int] = []

    def face(*corners: Point) -> None:
        """Four corners in one plane, counter-clockwise seen from outside."""
        a, b, c = corners[:3]
        u, v = [b[i] - a[i] for i in range(3)], [c[i] - a[i] for i in range(3)]
        normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        length = sum(n * n for n in normal) ** 0.5
        first = len(vertices)
        vertices.extend(corners)
        normals.extend([(normal[0] / length, normal[1] / length, normal[2] / length)] * 4)
        indices.extend(first + i for i in (0, 1, 2, 0, 2, 3))

    right, left, bottom = -given.width / 2, given.width / 2, given.bottom
    for (x0, z0), (x1, z1) in zip(given.points, given.points[1:], strict=False):
        face((x0, right, z0), (x1, right, z1), (x1, left, z1), (x0, left, z0))
        face((x0, left, bottom), (x1, left, bottom), (x1, right, bottom), (x0, right, bottom))
        face((x0, right, bottom), (x1, right, bottom), (x1, right, z1), (x0, right, z0))
        face((x1, left, bottom), (x0, left, bottom), (x0, left, z0), (x1, left, z1))
    (x0, z0), (x1, z1) = given.points[0], given.points[-1]
    face((x0, left, bottom), (x0, right, bottom), (x0, right, z0), (x0, left, z0))
    face((x1, right, bottom), (x1, left, bottom), (x1, left, z1), (x1, right, z1))
    return vertices, indices, normals
