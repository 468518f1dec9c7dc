"""Where URDF files are: paths, `package://…` and `pybullet_data://…`."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from robot_rt_control.program.errors import HardwareError


def _package_folder(package: str) -> Path | None:
    """Share folder of a ROS package; of this one also in a source checkout."""
    checkout = Path(__file__).resolve().parents[2]
    if package == "robot_rt_control" and (checkout / "config").is_dir():
        return checkout
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        share = Path(prefix) / "share" / package
        if prefix and share.is_dir():
            return share
    return None


def resolve_urdf(text: str, item: str) -> Path:
    """The existing file that a URDF entry names.

    Args:
        text: a path, `package://<package>/…` or `pybullet_data://…`.
        item: what it belongs to, for the error.

    Raises:
        HardwareError: the package is not there, the scheme is unknown, or there is no such file.
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        path = Path(text)
    elif scheme == "pybullet_data":
        found = importlib.util.find_spec("pybullet_data")
        if found is None or not found.submodule_search_locations:
            raise HardwareError(f"{item}: {text!r}", expected="pybullet_data to be installed")
        path = Path(next(iter(found.submodule_search_locations))) / rest
    elif scheme == "package":
        package, _, inside = rest.partition("/")
        folder = _package_folder(package)
        if folder is None:
            hint = "Source the workspace that holds it"
            raise HardwareError(f"{item}: {text!r}", expected=f"an installed ROS package {package!r}", hint=hint)
        path = folder / inside
    else:
        expected = "a path, package://… or pybullet_data://…"
        raise HardwareError(f"{item}: {text!r}", expected=expected, got=f"the scheme {scheme!r}")
    if not path.is_file():
        raise HardwareError(f"{item}: {text!r}", expected="an existing file", got=f"nothing at {path}")
    return path
