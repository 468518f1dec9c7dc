"""What a simulator needs of a URDF beyond links, joints and inertias: shapes, friction, damping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np

from robot_rt_control.model.paths import FILE_SCHEME, mesh_uri
from robot_rt_control.model.robot.meshes import missing_meshes
from robot_rt_control.model.robot.urdf import Array, Urdf
from robot_rt_control.model.robot.urdf_reader import rotation_of_rpy
from robot_rt_control.vocabulary.errors import HardwareError

DEFAULT_FRICTION = 0.5
"""PyBullet's lateral friction of a link or object that names none."""
PLANE_FRICTION = 1.0
"""That of an object that is a plane, if it names none."""


Color = tuple[float, float, float, float]
"""Red, green, blue and opacity, 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class LinkShape:
    """One <collision> or <visual> of a link."""

    kind: Literal["box", "sphere", "cylinder", "mesh"]
    size: tuple[float, ...]
    """[m] box: edges x, y, z; sphere: radius; cylinder: radius, length along z; mesh: scale x, y, z."""
    X_LS: Array
    """(4, 4) pose of the shape in the link's frame."""
    file: Path | None = None
    """File of a mesh."""
    color: Color | None = None
    """Of a <visual> whose <material> has one."""


def collision_shapes(urdf: Urdf, link: str) -> tuple[LinkShape, ...]:
    """The collision shapes of a link, in the order of the file."""
    return tuple(shape for shape, _ in _shapes(_link(urdf, link), "collision", urdf.path.parent))


def visual_shapes(urdf: Urdf, link: str) -> tuple[LinkShape, ...]:
    """The shapes by which a link is drawn, in the order of the file. Files of meshes may be missing."""
    root = ElementTree.fromstring(urdf.content)
    return drawn_shapes(_link_of(root, link), "visual", urdf.path.parent, material_colors(root))


def material_colors(root: ElementTree.Element) -> dict[str | None, Color]:
    """Name → color of a URDF's materials; also one inside another link's <visual> may be meant by its name."""
    found: dict[str | None, Color] = {}
    for material in root.iter("material"):
        color = material.find("color")
        if color is not None:
            found.setdefault(material.get("name"), _color(color))
    return found


def drawn_shapes(
    link: ElementTree.Element, tag: str, folder: Path, colors: Mapping[str | None, Color]
) -> tuple[LinkShape, ...]:
    """The shapes of a link's elements `tag`, with colors.

    Args:
        folder: base of relative names of files.
        colors: of the materials that are named.

    Raises:
        ValueError: something else than numbers.
    """
    found = []
    for shape, element in _shapes(link, tag, folder):
        named, own = element.find("material"), element.find("material/color")
        if own is not None:
            shape = replace(shape, color=_color(own))
        elif named is not None:
            shape = replace(shape, color=colors.get(named.get("name")))
        found.append(shape)
    return tuple(found)


def require_meshes(urdf: Urdf, item: str) -> None:
    """Nothing, if the meshes of all collision shapes are there.

    Args:
        item: what has the URDF, for the error.

    Raises:
        HardwareError: one is not.
    """
    for missing in missing_meshes(urdf):
        what = f"{item}: link {missing.link!r}, <collision>, mesh {missing.name!r}"
        raise HardwareError(what, expected=missing.expected, got=missing.got, hint=missing.hint)


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
    return _link_of(ElementTree.fromstring(urdf.content), name)


def _link_of(root: ElementTree.Element, name: str) -> ElementTree.Element:
    return next(link for link in root.findall("link") if link.get("name") == name)


def _shapes(
    link: ElementTree.Element, tag: str, folder: Path
) -> Iterator[tuple[LinkShape, ElementTree.Element]]:
    """Each shape, and the element `tag` that has it."""
    for element in link.findall(tag):
        X = np.eye(4)
        origin = element.find("origin")
        if origin is not None:
            X[:3, :3] = rotation_of_rpy(*_numbers(origin.get("rpy", "0 0 0")))
            X[:3, 3] = _numbers(origin.get("xyz", "0 0 0"))
        geometry = element.find("geometry")
        for shape in () if geometry is None else geometry:
            if shape.tag == "box":
                yield LinkShape(kind="box", size=_numbers(str(shape.get("size"))), X_LS=X), element
            elif shape.tag == "sphere":
                yield LinkShape(kind="sphere", size=_numbers(str(shape.get("radius"))), X_LS=X), element
            elif shape.tag == "cylinder":
                size = _numbers(f"{shape.get('radius')} {shape.get('length')}")
                yield LinkShape(kind="cylinder", size=size, X_LS=X), element
            elif shape.tag == "mesh":
                uri = mesh_uri(str(shape.get("filename")), folder)
                file = Path(unquote(uri.removeprefix(FILE_SCHEME)))
                scale = _numbers(shape.get("scale", "1 1 1"))
                yield LinkShape(kind="mesh", size=scale, X_LS=X, file=file), element


def _color(element: ElementTree.Element) -> Color:
    red, green, blue, opacity = (*_numbers(element.get("rgba", "")), 1.0, 1.0, 1.0, 1.0)[:4]
    return red, green, blue, opacity


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in text.split())
