"""What a simulator needs of a URDF beyond links, joints and inertias: collision shapes, friction, damping."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np

from robot_rt_control.model.paths import FILE_SCHEME, mesh_uri
from robot_rt_control.model.urdf import Array, Urdf
from robot_rt_control.model.urdf_reader import rotation_of_rpy

DEFAULT_FRICTION = 0.5
"""PyBullet's lateral friction of a link or object that names none."""


@dataclass(frozen=True, kw_only=True)
class CollisionShape:
    """One <collision> of a link."""

    kind: Literal["box", "sphere", "cylinder", "mesh"]
    size: tuple[float, ...]
    """[m] box: edges x, y, z; sphere: radius; cylinder: radius, length along z; mesh: scale x, y, z."""
    X_LS: Array
    """(4, 4) pose of the shape in the link's frame."""
    file: Path | None = None
    """Of a mesh."""


def collision_shapes(urdf: Urdf, link: str) -> tuple[CollisionShape, ...]:
    """The collision shapes of a link, in the order of the file."""
    return tuple(_shapes(_link(urdf, link), urdf.path.parent))


def lateral_friction(urdf: Urdf, link: str) -> float:
    """The friction coefficient of a link, as PyBullet reads it."""
    element = _link(urdf, link).find("contact/lateral_friction")
    return DEFAULT_FRICTION if element is None else float(element.get("value", DEFAULT_FRICTION))


def joint_dynamics(urdf: Urdf) -> dict[str, tuple[float, float]]:
    """Joint → damping [Nms/rad or Ns/m] and friction [Nm or N]; joints without <dynamics> are left out."""
    found = {}
    for joint in ElementTree.fromstring(urdf.content).findall("joint"):
        element = joint.find("dynamics")
        if element is not None:
            found[str(joint.get("name"))] = float(element.get("damping", 0)), float(element.get("friction", 0))
    return found


def _link(urdf: Urdf, name: str) -> ElementTree.Element:
    root = ElementTree.fromstring(urdf.content)
    return next(link for link in root.findall("link") if link.get("name") == name)


def _shapes(link: ElementTree.Element, folder: Path) -> Iterator[CollisionShape]:
    for collision in link.findall("collision"):
        X = np.eye(4)
        origin = collision.find("origin")
        if origin is not None:
            X[:3, :3] = rotation_of_rpy(*_numbers(origin.get("rpy", "0 0 0")))
            X[:3, 3] = _numbers(origin.get("xyz", "0 0 0"))
        geometry = collision.find("geometry")
        for shape in () if geometry is None else geometry:
            if shape.tag == "box":
                yield CollisionShape(kind="box", size=_numbers(str(shape.get("size"))), X_LS=X)
            elif shape.tag == "sphere":
                yield CollisionShape(kind="sphere", size=_numbers(str(shape.get("radius"))), X_LS=X)
            elif shape.tag == "cylinder":
                size = _numbers(f"{shape.get('radius')} {shape.get('length')}")
                yield CollisionShape(kind="cylinder", size=size, X_LS=X)
            elif shape.tag == "mesh":
                uri = mesh_uri(str(shape.get("filename")), folder)
                file = Path(unquote(uri.removeprefix(FILE_SCHEME)))
                scale = _numbers(shape.get("scale", "1 1 1"))
                yield CollisionShape(kind="mesh", size=scale, X_LS=X, file=file)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in text.split())
