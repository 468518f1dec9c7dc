"""Shapes of the workcell's world, as MuJoCo takes them; collisions are by explicit pairs alone."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.pybullet.parameters import ObjectParameters, Profile
from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.contact_model import Face, box_faces, cylinder_faces
from robot_rt_control.planning.urdf_shapes import CollisionShape
from robot_rt_control.vocabulary.errors import DefinitionError

Array = NDArray[np.float64]


def add_shape(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, shape: CollisionShape, mass: float = 0.0
) -> None:
    """A geometry of a body; mass [kg]."""
    geom = _geom(body, name, shape.X_LS, mass)
    if shape.kind == "box":
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [edge / 2 for edge in shape.size]
    elif shape.kind == "sphere":
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, [shape.size[0], 0, 0]
    elif shape.kind == "cylinder":
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [shape.size[0], shape.size[1] / 2, 0]
    else:
        mesh = spec.add_mesh(name=name, file=str(shape.file), scale=shape.size)
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX  # it has a convex hull then, and may be open
        geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, mesh.name


def is_readable(shape: CollisionShape) -> bool:
    """Whether MuJoCo takes the shape: some formats of meshes it does not."""
    if shape.kind != "mesh":
        return True
    spec = mujoco.MjSpec()
    spec.compiler.autolimits, spec.compiler.degree = False, False
    add_shape(spec, spec.worldbody, "shape", shape)
    try:
        spec.compile()
    except ValueError:
        return False
    return True


def add_object(spec: mujoco.MjSpec, body: mujoco.MjsBody, thing: ObjectParameters, X: Array) -> list[str]:
    """The geometries of an object, X its pose in the body; returns their names.

    Raises:
        DefinitionError: its shape cannot be simulated here.
    """
    if thing.plane:
        geom = _geom(body, thing.name, X, 0.0)
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_PLANE, [15, 15, 1]
        return [thing.name]
    if thing.profile is not None:
        return _add_profile(spec, body, thing.name, thing.profile, X)
    if thing.box is not None:
        shape = CollisionShape(kind="box", size=thing.box.size, X_LS=X)
    elif thing.sphere is not None:
        shape = CollisionShape(kind="sphere", size=(thing.sphere.radius,), X_LS=X)
    elif thing.cylinder is not None:
        shape = CollisionShape(kind="cylinder", size=(thing.cylinder.radius, thing.cylinder.height), X_LS=X)
    else:
        what = f"object {thing.name!r}"
        raise DefinitionError(what, expected="a box, sphere, cylinder, profile or plane", got="a URDF")
    add_shape(spec, body, thing.name, shape, thing.mass or 1.0)
    return [thing.name]


def faces_of(thing: ObjectParameters) -> dict[str, Face]:
    """The faces of an object by name; empty if its shape has none with names."""
    if thing.box is not None:
        return box_faces(thing.box.size)
    return {} if thing.cylinder is None else cylinder_faces(thing.cylinder.radius, thing.cylinder.height)


def _geom(body: mujoco.MjsBody, name: str, X: Array, mass: float) -> mujoco.MjsGeom:
    geom = body.add_geom(name=name, contype=0, conaffinity=0, mass=mass)
    geom.pos, geom.quat = X[:3, 3], quaternion(X)
    return geom


def _add_profile(spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, given: Profile, X: Array) -> list[str]:
    """One convex piece for each straight line of its top."""
    names = []
    for i, ((x0, z0), (x1, z1)) in enumerate(zip(given.points, given.points[1:], strict=False)):
        corners = [(x0, given.bottom), (x0, z0), (x1, given.bottom), (x1, z1)]
        vertices = [(x, y, z) for y in (-given.width / 2, given.width / 2) for x, z in corners]
        piece = f"{name}/{i}"
        mesh = spec.add_mesh(name=piece, uservert=np.array(vertices).ravel())
        geom = _geom(body, piece, X, 0.0)
        geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, mesh.name
        names.append(piece)
    return names


def wxyz(pose: Pose) -> Sequence[float]:
    """MuJoCo's order."""
    x, y, z, w = pose.orientation
    return w, x, y, z


def quaternion(X: Array) -> Sequence[float]:
    """w x y z of a (4, 4) pose."""
    return wxyz(Pose.of_matrix(X))
