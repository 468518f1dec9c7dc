"""Meshes of a URDF that are not on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree

from robot_rt_control.model.paths import FILE_SCHEME, PACKAGE_SCHEME, mesh_uri, package_folder, package_hint
from robot_rt_control.model.robot.urdf import Urdf


class MissingMesh(NamedTuple):
    """A mesh that a link names, and what an error says about it."""

    link: str
    name: str
    """As the URDF has it."""
    expected: str
    got: str
    hint: str


def missing_meshes(urdf: Urdf, tag: str = "collision") -> tuple[MissingMesh, ...]:
    """The meshes whose files are not there; one that several links name is found once.

    Args:
        tag: of the elements that have them: collision or visual.
    """
    found: dict[str, MissingMesh] = {}
    for link in ElementTree.fromstring(urdf.content).findall("link"):
        for mesh in link.findall(f"{tag}/geometry/mesh"):
            name = mesh.get("filename", "")
            if name not in found and (error := _missing(name, urdf.path.parent)) is not None:
                found[name] = MissingMesh(link.get("name", ""), name, *error)
    return tuple(found.values())


def _missing(name: str, folder: Path) -> tuple[str, str, str] | None:
    """What was expected, what is there, and what to do; None: the file is there."""
    uri = mesh_uri(name, folder)
    if uri.startswith(FILE_SCHEME):
        file = Path(unquote(uri.removeprefix(FILE_SCHEME)))
        return None if file.is_file() else ("a file", f"nothing at {file}", "")
    if not name.startswith(PACKAGE_SCHEME):
        return "a path, or one with file:// or package://", repr(name), ""
    package, _, rest = name.removeprefix(PACKAGE_SCHEME).partition("/")
    share = package_folder(package)
    if share is not None:
        return "a file", f"nothing at {share / rest}", ""
    return f"share/{package} in one of the folders of AMENT_PREFIX_PATH", "no such folder", package_hint(package)
