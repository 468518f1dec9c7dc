"""What an MJCF's scene has beside robots, as solids: the geometries of its objects and of the world itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.drawing.shape import Point, ShapeKind
from robot_rt_control.hardware.mujoco.shapes import DRAWN_GROUPS
from robot_rt_control.hardware.mujoco.world import MujocoWorld
from robot_rt_control.hardware.world.drawn_objects import Solid, solid_shape

_MOST_TRIANGLES = 3000
"""Of a mesh: each message has its corners."""
_BOX, _SPHERE = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_SPHERE
_CYLINDER, _CAPSULE = mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_CAPSULE
_MESH = mujoco.mjtGeom.mjGEOM_MESH


def scene_solids(device: str, world: MujocoWorld) -> list[Solid]:
    """The solids of the scene's objects, and of its world's own geometries. Planes, ellipsoids, height fields and large
    meshes are left out."""
    scene = world.built.scene
    if scene is None:
        return []
    found = [solid for geom in _geoms(world, 0) for solid in _solids(device, world, geom, "", None)]
    for name, thing in scene.objects.items():
        for link in thing.links:
            for geom in _geoms(world, world.body(name, name, link)):
                found += _solids(device, world, geom, name, link)
    return found


def _geoms(world: MujocoWorld, body: int) -> list[int]:
    """Those of a body that pictures show."""
    model = world.model
    drawn = (DRAWN_GROUPS[model.geom_group] != 0) & (model.geom_rgba[:, 3] > 0.01) & (model.geom_bodyid == body)
    return [int(geom) for geom in np.flatnonzero(drawn)]


def _solids(device: str, world: MujocoWorld, geom: int, name: str, link: str | None) -> Iterator[Solid]:
    model = world.model
    X = np.eye(4)
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    X[:3, :3], X[:3, 3] = rotation.reshape(3, 3), model.geom_pos[geom]
    kind, (a, b, c) = mujoco.mjtGeom(int(model.geom_type[geom])), model.geom_size[geom].tolist()
    red, green, blue, opacity = model.geom_rgba[geom].tolist()

    def solid(
        kind: ShapeKind, X: NDArray[np.float64] = X, *, size: float = 0.0, edges: Point = (0.0, 0.0, 0.0)
    ) -> Solid:
        shape = solid_shape(device, name, kind, (red, green, blue, opacity))
        return Solid(name=name, link=link, X_LS=X, shape=replace(shape, size=size, edges=edges))

    if kind == _BOX:
        yield solid(ShapeKind.BOX, edges=(2 * a, 2 * b, 2 * c))
    elif kind == _SPHERE:
        yield solid(ShapeKind.SPHERE, size=2 * a)
    elif kind in (_CYLINDER, _CAPSULE):
        yield solid(ShapeKind.CYLINDER, edges=(2 * a, 2 * a, 2 * b))
        for end in (-b, b) if kind == _CAPSULE else ():
            cap = X.copy()
            cap[:3, 3] += end * X[:3, 2]
            yield solid(ShapeKind.SPHERE, cap, size=2 * a)
    elif kind == _MESH:
        mesh = int(model.geom_dataid[geom])
        first, n = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        if n <= _MOST_TRIANGLES:
            corners = model.mesh_vert[model.mesh_vertadr[mesh] + model.mesh_face[first : first + n].ravel()]
            yield replace(solid(ShapeKind.TRIANGLES), triangles=corners.astype(np.float64))
