"""Resolves the paths of a workcell's files: the schemes that a path in YAML or URDF may have."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from robot_rt_control.vocabulary.errors import DefinitionError, refuse_nul, unknown

PACKAGE_SCHEME = "package://"
PYBULLET_DATA_SCHEME = "pybullet_data://"
FILE_SCHEME = "file://"


def package_folder(package: str) -> Path | None:
    """The share folder of a ROS package; that of this package also in a source checkout. None: not found."""
    if package == "robot_rt_control":
        checkout = Path(__file__).resolve().parents[2]
        if (checkout / "config").is_dir():
            return checkout
    # A plain Python environment (pip install) has share/ at its root, and sets no AMENT_PREFIX_PATH.
    for prefix in (*os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep), sys.prefix):
        share = Path(prefix) / "share" / package
        if prefix and share.is_dir():
            return share
    return None


def find_executable(package: str, executable: str) -> Path | None:
    """The file of a ROS package's executable, in the folders of AMENT_PREFIX_PATH; None: not installed."""
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        path = Path(prefix) / "lib" / package / executable
        if prefix and path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def package_hint(package: str) -> str:
    """What to do if a package is not found."""
    return f"Source the workspace that contains it, or add to AMENT_PREFIX_PATH the folder that has share/{package}"


def shipped_workcells() -> dict[str, Path]:
    """Name → file of each workcell that comes with the package."""
    share = package_folder("robot_rt_control")
    return {} if share is None else {file.stem: file for file in sorted((share / "config").glob("*.yaml"))}


def find_workcell(workcell: Path | str) -> Path:
    """The file of a workcell.

    Args:
        workcell: a path, or the name of a workcell that comes with the package.

    Raises:
        DefinitionError: there is none.
    """
    refuse_nul(str(workcell), "workcell file")
    path = Path(workcell).expanduser()
    if path.is_file():
        return path
    shipped = shipped_workcells()
    try:
        return shipped[str(workcell)]
    except KeyError:
        raise DefinitionError(
            f"workcell {str(workcell)!r}",
            expected=f"a file, or {unknown('workcell', str(workcell), shipped)}",
            got=f"no file {path.resolve()}",
        ) from None


def pybullet_data_folder() -> Path | None:
    """The folder of pybullet_data, found without importing it. None: not installed."""
    found = importlib.util.find_spec("pybullet_data")
    if found is None or not found.submodule_search_locations:
        return None
    return Path(next(iter(found.submodule_search_locations)))


def resolve_path(text: str, relative_to: Path, item: str) -> Path:
    """The existing file that a path of a workcell names.

    Args:
        text: absolute, relative, file://…, package://<package>/…, or pybullet_data://….
        relative_to: base folder of relative paths.
        item: the item that contains the path, for the error.

    Raises:
        DefinitionError: the scheme is unknown, its package is not installed, or there is no such file; or no path can
            be so.
    """
    refuse_nul(text, item)
    if text.startswith(PYBULLET_DATA_SCHEME):
        data = pybullet_data_folder()
        if data is None:
            raise DefinitionError(
                f"{item}: {text!r}",
                expected="pybullet_data to be installed",
                got="no such Python package",
                hint="Install pybullet, or choose a robot that does not need it, such as config/arm7.yaml",
            )
        path = data / text.removeprefix(PYBULLET_DATA_SCHEME)
    elif text.startswith(PACKAGE_SCHEME):
        package, _, rest = text.removeprefix(PACKAGE_SCHEME).partition("/")
        folder = package_folder(package)
        if folder is None:
            raise DefinitionError(
                f"{item}: {text!r}",
                expected=f"share/{package} in one of the folders of AMENT_PREFIX_PATH",
                got="no such folder",
                hint=package_hint(package),
            )
        path = folder / rest
    elif text.startswith(FILE_SCHEME):
        path = Path(unquote(urlsplit(text).path))
    elif "://" in text:
        raise DefinitionError(
            f"{item}: {text!r}",
            expected="an absolute or relative path, or one with file://, package:// or pybullet_data://",
            got=f"the scheme {text.partition('://')[0]!r}",
        )
    else:
        path = relative_to / Path(text).expanduser()
    refuse_nul(str(path), item)
    path = path.resolve()
    if not path.is_file():
        raise DefinitionError(f"{item}: {text!r}", expected="a file", got=f"nothing at {path}")
    return path


def mesh_uri(text: str, urdf_folder: Path) -> str:
    """The absolute file:// URI of a mesh that a URDF names.

    A package that is not installed is looked for in the URDF's folder and those above: a URDF often lies in it. A
    package:// path stays unchanged if the file is nowhere: the viewer of the model may have the package.

    Raises:
        DefinitionError: no path can be so.
    """
    refuse_nul(unquote(text), "mesh")
    if text.startswith(FILE_SCHEME):
        return text
    if text.startswith(PACKAGE_SCHEME):
        package, _, rest = text.removeprefix(PACKAGE_SCHEME).partition("/")
        folder = package_folder(package)
        # some URDFs write package:// for paths relative to themselves, with and without a package's name
        candidates = [] if folder is None else [folder / rest]
        candidates += [urdf_folder / package / rest, urdf_folder / rest]
        candidates += [parent / package / rest for parent in urdf_folder.resolve().parents]
        for candidate in candidates:
            if candidate.is_file():
                return candidate.resolve().as_uri()
        return text
    if "://" in text:
        return text
    return (urdf_folder / text).resolve().as_uri()
