"""Builds the wheel: what CMake installs, laid out as the ROS wheels from PyPI do it.

With ROBOT_RT_CONTROL_INTERFACES=1 it also has the messages of other packages that PyPI lacks: interfaces/README.md.

A wheel belongs to one ROS distribution. If one is sourced, it is that, and pip installs no ROS package. Otherwise
ROS_DISTRO names it (default: kilted), and the wheel requires that distribution's packages from PyPI.

The generated and our own Python modules go to site-packages; shared libraries, the ament index and the
rest go to the environment's `lib` and `share`, where rclpy's wheels have theirs and look for ours.
All other settings are in pyproject.toml.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build import build
from setuptools.command.editable_wheel import editable_wheel

HERE = Path(__file__).resolve().parent
LEFT_OUT = (
    # A second description of the same distribution.
    "lib*/**/*.egg-info",
    # These serve building against the package, and name folders of the machine that built the wheel.
    "include",
    "lib*/**/*-packages/*/**/*.c",
    "share/ament_index/resource_index/parent_prefix_path",
    "share/*/cmake",
    "share/*/environment",
    "share/*/local_setup.*",
    "share/*/package.dsv",
)
"""What CMake installs and the wheel does not contain."""


def dependencies() -> tuple[list[str], list[str]]:
    """What the package needs to run, and what it needs of ROS to be built, beside pyproject.toml's build-system."""
    groups = tomllib.loads((HERE / "pyproject.toml").read_text())["dependency-groups"]
    ros = os.environ.get("ROS_DISTRO") or "kilted"
    sourced = any((Path(p) / "share/rclpy").is_dir() for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    if f"{ros}-build" not in groups:
        if sourced:
            return groups["run"], []
        raise SystemExit(
            f"expected ROS_DISTRO to be kilted or jazzy, got {ros!r}, and no ROS installation is sourced. "
            "Source one, or set ROS_DISTRO."
        )
    return groups["run"] + ([] if sourced else groups[ros]), groups[f"{ros}-build"]


def ros_environment() -> dict[str, str]:
    """The environment in which CMake finds ROS: a sourced installation, or the wheels next to ament_package."""
    environment = dict(os.environ)
    spec = find_spec("ament_package")
    if spec is None or spec.origin is None:
        raise SystemExit(
            "The ROS build tools are missing. Build with isolation (plain `pip install .`), or source a ROS 2 "
            "installation first and type `pip install --no-build-isolation .`"
        )
    prefix = Path(spec.origin).parents[4]  # <prefix>/lib/pythonX.Y/site-packages/ament_package/__init__.py
    if (prefix / "share" / "ament_cmake").is_dir():
        for name, folder in [
            ("AMENT_PREFIX_PATH", prefix),
            ("CMAKE_PREFIX_PATH", prefix),
            ("LD_LIBRARY_PATH", prefix / "lib"),
            ("PATH", prefix / "bin"),
        ]:
            environment[name] = os.pathsep.join([str(folder), *filter(None, [environment.get(name)])])
    return environment


def build_with_cmake(folder: Path) -> Path:
    """Configure, build and install the project in `folder`; returns the prefix that it was installed to."""
    prefix, environment, sources = folder / "prefix", ros_environment(), [HERE]
    if os.environ.get("ROBOT_RT_CONTROL_INTERFACES") == "1":
        sources += sorted(file.parent for file in (HERE / "interfaces").glob("*/package.xml"))
    for source in sources:
        build = folder / "build" / source.name
        configure = [
            "cmake",
            *("-G", "Ninja", "-S", str(source), "-B", str(build)),
            "-DBUILD_TESTING=OFF",
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_INSTALL_PREFIX={prefix}",
            f"-DPython3_EXECUTABLE={sys.executable}",
        ]
        for command in (configure, ["cmake", "--build", build], ["cmake", "--install", build]):
            subprocess.run(command, check=True, env=environment)
    for pattern in LEFT_OUT:
        for path in list(prefix.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    return prefix


class BuildWithCMake(build):
    """Fill setuptools' build folder and list of data files from CMake's installation."""

    def run(self) -> None:
        super().run()
        with tempfile.TemporaryDirectory() as temporary:
            installed = build_with_cmake(Path(temporary))
            [site] = {package.parent for package in installed.glob("lib*/**/*-packages/robot_rt_control")}
            library, rest = Path(self.build_lib).resolve(), Path(self.build_temp).resolve() / "data"
            for folder in (library, rest):
                shutil.rmtree(folder, ignore_errors=True)  # no module of an earlier build may stay
            shutil.copytree(site, library, ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copytree(installed, rest, ignore=shutil.ignore_patterns("*-packages"))
        files = defaultdict(list)
        for file in sorted(rest.rglob("*")):
            if file.is_file():
                files[str(file.parent.relative_to(rest))].append(os.path.relpath(file, HERE))
        self.distribution.data_files = list(files.items())


class NotEditable(editable_wheel):
    """Says how to work in the source tree instead."""

    def run(self) -> None:
        raise SystemExit(
            "An editable installation is not supported: the interfaces have to be generated. "
            "`./run shell` gives an environment that uses this source tree."
        )


class BinaryDistribution(Distribution):
    """A distribution with compiled code in it, so that its wheel is for one Python and platform."""

    def has_ext_modules(self) -> bool:
        return True


RUN, BUILD = dependencies()
setup(
    install_requires=RUN,
    setup_requires=BUILD, # pip installs them into the environment that it builds in
    distclass=BinaryDistribution,
    cmdclass={"build": BuildWithCMake, "editable_wheel": NotEditable},
)
