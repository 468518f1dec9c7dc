"""Shapes of the simulated world, as MuJoCo takes them; collisions are by explicit pairs alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.world.dae_mesh import read_dae
from robot_rt_control.hardware.world.mesh_piece import MeshPiece
from robot_rt_control.hardware.world.obj_mesh import read_obj
from robot_rt_control.hardware.world.parameters import ObjectParameters, Profile
from robot_rt_control.hardware.world.urdf_shapes import LinkShape
from robot_rt_control.model.pose import Pose
from robot_rt_control.vocabulary.errors import DefinitionError

Array = NDArray[np.float64]

COLLISION_GROUP = 0
"""Group of geometries that may touch others and are drawn."""
VISUAL_GROUP = 1
"""Group of geometries that are only drawn: no contact, no mass, no ray sees them."""
HIDDEN_GROUP = 3
"""Group of geometries that may touch others and are not drawn: their links have visual ones. MuJoCo's window hides the
groups from 3 on, until one asks for them there."""
DRAWN_GROUPS = np.array([1, 1, 1, 0, 0, 0], np.uint8)
"""What pictures show, as `MjvOption.geomgroup`."""
RAY_GROUPS = np.array([1, 0, 1, 1, 1, 1], np.uint8)
"""What rays see, as `mj_ray` takes it: everything but VISUAL_GROUP."""
_OPEN = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
"""Of meshes that are only drawn: they may be open, and need no hull."""
_UNPAINTED = (0.7, 0.7, 0.7, 1.0)
"""Color of what names none."""
_READERS = {".obj": read_obj, ".dae": read_dae}
"""Of meshes that are drawn: MuJoCo reads neither materials nor COLLADA."""


def add_shape(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, shape: LinkShape, mass: float = 0.0
) -> mujoco.MjsGeom:
    """A geometry of a body; mass [kg].

    Raises:
        OSError, ValueError: the file of a mesh cannot be read here; that of others is read when it is compiled.
    """
    geom = _geom(body, name, shape.X_LS, mass)
    if shape.kind == "box":
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [edge / 2 for edge in shape.size]
    elif shape.kind == "sphere":
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, [shape.size[0], 0, 0]
    elif shape.kind == "cylinder":
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [shape.size[0], shape.size[1] / 2, 0]
    else:
        mesh = spec.add_mesh(name=name, scale=shape.size)
        if shape.file is not None and shape.file.suffix.lower() == ".dae":
            mesh.uservert = np.concatenate([piece.vertices for piece in read_dae(shape.file)]).ravel()
        else:
            mesh.file = str(shape.file)
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX  # it has a convex hull then, and may be open
        geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, mesh.name
    return geom


def add_visual(spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, shape: LinkShape) -> None:
    """Geometries of a body that are only drawn.

    Raises:
        OSError, ValueError: the file of a mesh cannot be read.
    """
    read = None if shape.file is None else _READERS.get(shape.file.suffix.lower())
    if shape.file is not None and read is not None:
        for i, piece in enumerate(read(shape.file)):
            _add_piece(spec, body, f"{name}/{i}", shape, piece)
        return
    geom = add_shape(spec, body, name, shape)
    geom.group, geom.rgba = VISUAL_GROUP, shape.color or _UNPAINTED
    if shape.kind == "mesh":
        spec.mesh(name).inertia = _OPEN


def _add_piece(spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, shape: LinkShape, piece: MeshPiece) -> None:
    mesh = spec.add_mesh(name=name, scale=shape.size, inertia=_OPEN)
    mesh.uservert, mesh.userface = piece.vertices.ravel(), piece.faces.ravel()
    if len(piece.normals):
        mesh.usernormal = piece.normals.ravel()
    geom = _geom(body, name, shape.X_LS, 0.0)
    geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, name
    geom.group, geom.rgba = VISUAL_GROUP, shape.color or (*(piece.color or _UNPAINTED[:3]), 1.0)
    if piece.texture is not None and len(piece.texcoords):
        # MuJoCo counts from the top.
        mesh.usertexcoord = (piece.texcoords * (1.0, -1.0) + (0.0, 1.0)).ravel()
        geom.material = _textured(spec, piece.texture)


def _textured(spec: mujoco.MjSpec, file: Path) -> str:
    """Name of a material with a picture."""
    name = str(file)
    if spec.material(name) is None:
        spec.add_texture(name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, file=name)
        spec.add_material(name=name).textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    return name


def unreadable(shape: LinkShape, *, only_drawn: bool = False) -> str:
    """Why MuJoCo does not take a shape: some meshes it does not. Empty: it does."""
    if shape.kind != "mesh":
        return ""
    spec = mujoco.MjSpec()
    spec.compiler.autolimits, spec.compiler.degree = False, False
    try:
        (add_visual if only_drawn else add_shape)(spec, spec.worldbody, "shape", shape)
        spec.compile()
    except (OSError, ValueError) as error:
        return " ".join(str(error).split())
    return ""


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
        shape = LinkShape(kind="box", size=thing.box.size, X_LS=X)
    elif thing.sphere is not None:
        shape = LinkShape(kind="sphere", size=(thing.sphere.radius,), X_LS=X)
    elif thing.cylinder is not None:
        shape = LinkShape(kind="cylinder", size=(thing.cylinder.radius, thing.cylinder.height), X_LS=X)
    else:
        what = f"object {thing.name!r}"
        raise DefinitionError(what, expected="a box, sphere, cylinder, profile or plane", got="a URDF")
    add_shape(spec, body, thing.name, shape, thing.mass or 1.0)
    return [thing.name]


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
