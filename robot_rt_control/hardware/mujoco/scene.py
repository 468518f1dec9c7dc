"""A scene from an MJCF file: read, checked by itself, and put into the world's specification."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.mujoco.robot import UNNAMED
from robot_rt_control.vocabulary.errors import HardwareError

_log = logging.getLogger(__name__)

_ATTACHED = "Attaching a spec with an empty prefix"
"""Begins a warning of MuJoCo: the names of a scene stay as they are in its file."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What an MJCF file describes."""

    path: Path
    spec: mujoco.MjSpec
    model: mujoco.MjModel
    """The scene alone. Bodies, joints, actuators and sensors have the same numbers in the whole world."""
    timestep: float | None
    """[s]; None: the file gives none."""

    @property
    def name(self) -> str:
        """For errors."""
        return self.path.name

    def names(self, kind: mujoco.mjtObj, n: int) -> list[str]:
        """Names of the first n items of a kind; empty: it has none."""
        return [mujoco.mj_id2name(self.model, kind, i) or "" for i in range(n)]

    @property
    def joints(self) -> list[str]:
        return self.names(mujoco.mjtObj.mjOBJ_JOINT, self.model.njnt)

    @property
    def bodies(self) -> list[str]:
        return self.names(mujoco.mjtObj.mjOBJ_BODY, self.model.nbody)

    @property
    def actuators(self) -> list[str]:
        return self.names(mujoco.mjtObj.mjOBJ_ACTUATOR, self.model.nu)

    @property
    def sensors(self) -> list[str]:
        return self.names(mujoco.mjtObj.mjOBJ_SENSOR, self.model.nsensor)

    @property
    def collides(self) -> NDArray[np.bool_]:
        """(ngeom,) whether each geometry may touch others."""
        model = self.model
        found = (model.geom_contype | model.geom_conaffinity) != 0
        found[model.pair_geom1] = found[model.pair_geom2] = True
        return np.asarray(found)


def read_scene(path: Path, item: str) -> Scene:
    """The scene of a file.

    Args:
        item: for errors: what names the file.

    Raises:
        HardwareError: it is no MJCF, MuJoCo refuses it, or it has an option with which this plugin cannot simulate.
    """
    if _root(path) == "robot":
        raise HardwareError(
            f"{item}: {path}",
            expected="an MJCF file, with the root element <mujoco>",
            got="a URDF",
            hint="Give a URDF as the `urdf` of its part; then no `mjcf` is needed",
        )
    try:
        with quiet():
            spec = mujoco.MjSpec.from_file(str(path))
            for kind, elements in (("body", spec.bodies), ("geom", spec.geoms)):
                for i, element in enumerate(elements):
                    element.name = element.name or f"{UNNAMED}{kind} {i}"
            model = spec.compile()
    except ValueError as error:
        raise HardwareError(f"{item}: MuJoCo refuses {path}", got=" ".join(str(error).split())) from error
    _check_options(model, f"{item}: {path}")
    return Scene(path=path, spec=spec, model=model, timestep=_timestep(path))


def attach(scene: Scene, spec: mujoco.MjSpec) -> None:
    """Put a scene with its options into an empty specification."""
    for name in dir(scene.spec.option):
        if not name.startswith("_"):
            setattr(spec.option, name, getattr(scene.spec.option, name))
    spec.memory = scene.spec.memory
    with quiet():
        spec.attach(scene.spec, prefix="", frame=spec.worldbody.add_frame())


@contextmanager
def quiet() -> Iterator[None]:
    """MuJoCo's warnings go to the log, once: it gives them twice."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mujoco.set_mju_user_warning(texts.append)
        try:
            yield
        finally:
            mujoco.set_mju_user_warning(_log.warning)
    for text in dict.fromkeys([*texts, *(str(each.message) for each in caught)]):
        if not text.startswith(_ATTACHED):
            _log.warning("MuJoCo: %s", text)


def _root(path: Path) -> str:
    """Tag of a file's root element; empty: it is not XML, which MuJoCo reports with the line."""
    try:
        for _, element in ElementTree.iterparse(path, events=("start",)):
            return element.tag
    except ElementTree.ParseError:
        pass
    return ""


def _timestep(path: Path) -> float | None:
    """[s] That the file, or one that it includes, gives. MuJoCo does not tell its default from a given one."""
    found, files = None, [path]
    for file in files:  # it grows
        for element in ElementTree.parse(file).getroot().iter():
            if element.tag == "include":
                files += [file for file in [path.parent / element.get("file", "")] if file.is_file()]
            elif element.tag == "option" and element.get("timestep") is not None:
                found = float(element.get("timestep", ""))
    return found


_NEEDED = {
    mujoco.mjtDisableBit.mjDSBL_CONSTRAINT: "constraint",
    mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS: "frictionloss",
}
"""What drives and contacts are made of."""


def _check_options(model: mujoco.MjModel, item: str) -> None:
    if model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
        raise HardwareError(
            f'{item}: <option integrator="RK4">',
            expected="Euler, implicit or implicitfast",
            got="RK4",
            hint="Drives act between the two halves of a step, and RK4 has none",
        )
    for bit, name in _NEEDED.items():
        if model.opt.disableflags & int(bit):
            raise HardwareError(f'{item}: <flag {name}="disable">', expected="enable: drives are made of it")
