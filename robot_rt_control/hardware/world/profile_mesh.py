"""The surface of a profile as triangles."""

from __future__ import annotations

from robot_rt_control.hardware.world.parameters import Profile

Point = tuple[float, float, float]


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
