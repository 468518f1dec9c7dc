"""A URDF as a file, for simulators that read files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from robot_rt_control.model.paths import FILE_SCHEME, PACKAGE_SCHEME, mesh_uri
from robot_rt_control.model.robot.urdf import Urdf
from robot_rt_control.native.cache_folder import cache_root, own_folder
from robot_rt_control.vocabulary.private_files import foreign_hand, private


def absolute_meshes(robot: ElementTree.Element, folder: Path) -> None:
    """Name the files of meshes and textures by file:// URIs. folder: base of relative names."""
    for tag in ("mesh", "texture"):
        for element in robot.iter(tag):
            filename = element.get("filename")
            if filename:
                element.set("filename", mesh_uri(filename, folder))


def urdf_file(urdf: Urdf) -> Path:
    """A file with the URDF's content: its own or one in the cache, if it was expanded, got a prefix, or names packages.

    PyBullet looks for packages beside the URDF alone; the file in the cache names all meshes by their paths. It is
    named after its content, so that no process writes what another one reads.
    """
    if urdf.path.read_bytes() == urdf.content and PACKAGE_SCHEME.encode() not in urdf.content:
        return urdf.path
    robot = ElementTree.fromstring(urdf.content)
    absolute_meshes(robot, urdf.path.parent)
    for element in robot.iter():
        filename = element.get("filename", "")
        if filename.startswith(FILE_SCHEME):
            element.set("filename", unquote(filename.removeprefix(FILE_SCHEME)))
    content = ElementTree.tostring(robot)
    folder = own_folder(cache_root() / "urdf", make=True)
    file = folder / f"{hashlib.sha256(content).hexdigest()[:24]}.urdf"
    if not file.is_file() or foreign_hand(file):
        part = file.with_suffix(f".{os.getpid()}")
        with open(part, "wb", opener=private) as written:
            written.write(content)
        part.replace(file)
    return file
