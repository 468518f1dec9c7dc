"""Whether a scene from an MJCF fits what the workcell file says beside it."""

from __future__ import annotations

import mujoco
import numpy as np

from robot_rt_control.hardware.info import HardwareInfo
from robot_rt_control.hardware.mujoco.parameters import MujocoParameters
from robot_rt_control.hardware.mujoco.scene import Scene
from robot_rt_control.vocabulary.errors import HardwareError, unknown


def check_beside(scene: Scene, info: HardwareInfo, given: MujocoParameters) -> None:
    """Check the description of the world, and the names of a keyframe and a camera.

    Raises:
        HardwareError: the world describes what the scene has or cannot have, or there is no such name in it.
    """
    world, model = given.world, scene.model
    if "gravity" in world.model_fields_set and not np.allclose(world.gravity, model.opt.gravity):
        expected = f"that of {scene.path}, {model.opt.gravity.tolist()}, or none"
        raise _error(info, ("world", "gravity"), expected, repr(list(world.gravity)))
    if world.tools:
        expected = "none: tools are bodies of the MJCF"
        raise _error(info, ("world", "tools"), expected, repr(world.tools[0].name))
    if world.surfaces and model.opt.cone != mujoco.mjtCone.mjCONE_ELLIPTIC:
        expected = f'<option cone="elliptic"/> in {scene.path}'
        raise _error(info, ("world", "surfaces"), expected, "pyramidal cones")
    for thing in world.objects:
        if thing.name in scene.bodies:
            raise _error(info, ("world", "objects"), f"a name that no body of {scene.path} has", repr(thing.name))
    for key, kind, n in (
        ("keyframe", mujoco.mjtObj.mjOBJ_KEY, model.nkey),
        ("camera", mujoco.mjtObj.mjOBJ_CAMERA, model.ncam),
    ):
        name, known = getattr(given, key), scene.names(kind, n)
        if name is not None and name not in known:
            expected = f"{unknown(key, name, filter(None, known))}, in {scene.path}"
            raise _error(info, ("mujoco", key), expected, repr(name))


def _error(info: HardwareInfo, path: tuple[str, str], expected: str, got: str) -> HardwareError:
    what = f"{info.where('devices', info.name, *path)}hardware {info.name!r}: {'.'.join(path)}"
    return HardwareError(what, expected=expected, got=got)
