"""Pictures of the simulated world, drawn by MuJoCo with OpenGL: no screen needed.

Nothing of OpenGL outlives a picture, since hardware/picture.py takes pictures in copies of the process: threads of a
driver that draws by software, as Mesa's does, are not there in a copy, which would wait for them forever.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from robot_rt_control.hardware.mujoco.shapes import DRAWN_GROUPS
from robot_rt_control.hardware.world.parameters import CameraParameters
from robot_rt_control.vocabulary.errors import HardwareError

if TYPE_CHECKING:
    from robot_rt_control.hardware.mujoco.world import MujocoWorld

_drawing = threading.Lock()
"""EGL's display belongs to the process."""


def picture_and_bodies(
    world: MujocoWorld, camera: CameraParameters, of_scene: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """What the camera sees now: uint8 (height, width, 3), red green blue, first row on top; and int64 (height, width)
    which geometry is seen where: as of `MujocoWorld.seen_as`, or -1.

    Args:
        of_scene: name of a camera of the MJCF, from which it looks instead.

    Raises:
        HardwareError: OpenGL is missing.
    """
    world.refresh()
    model = world.model
    width, height = camera.width, camera.height
    model.vis.global_.offwidth, model.vis.global_.offheight = width, height
    with _drawing, _opengl(width, height):
        context = mujoco.MjrContext(model, int(mujoco.mjtFontScale.mjFONTSCALE_50))
        try:
            mujoco.mjr_setBuffer(int(mujoco.mjtFramebuffer.mjFB_OFFSCREEN), context)
            scene = _scene(world, view_of(camera) if of_scene is None else _fixed(world, of_scene))
            pixels = _draw(scene, context, width, height)
            scene.flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = True
            scene.flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = True
            colors = _draw(scene, context, width, height)
        finally:
            context.free()
    return pixels, _geoms(scene, colors)


def view_of(camera: CameraParameters) -> mujoco.MjvCamera:
    """MuJoCo's camera; its field of view is the model's."""
    x, y, z = (b - a for a, b in zip(camera.eye, camera.target, strict=True))
    view = mujoco.MjvCamera()
    view.type = mujoco.mjtCamera.mjCAMERA_FREE
    view.lookat, view.distance = camera.target, math.hypot(x, y, z)
    view.azimuth, view.elevation = math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z, math.hypot(x, y)))
    return view


def _fixed(world: MujocoWorld, name: str) -> mujoco.MjvCamera:
    view = mujoco.MjvCamera()
    view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, world.model.camera(name).id
    return view


def _scene(world: MujocoWorld, view: mujoco.MjvCamera) -> mujoco.MjvScene:
    scene = mujoco.MjvScene(world.model, maxgeom=world.model.ngeom + 100)
    option = mujoco.MjvOption()
    option.geomgroup[:] = DRAWN_GROUPS
    everything = int(mujoco.mjtCatBit.mjCAT_ALL)
    mujoco.mjv_updateScene(world.model, world.data, option, None, view, everything, scene)
    return scene


def _draw(scene: mujoco.MjvScene, context: mujoco.MjrContext, width: int, height: int) -> np.ndarray:
    frame, pixels = mujoco.MjrRect(0, 0, width, height), np.empty((height, width, 3), np.uint8)
    mujoco.mjr_render(frame, scene, context)
    mujoco.mjr_readPixels(pixels, None, frame, context)
    return pixels[::-1].copy()


def _geoms(scene: mujoco.MjvScene, colors: np.ndarray) -> np.ndarray:
    """Numbers of geometries, from colours that are 1 + the place in the scene."""
    places = colors.astype(np.int64) @ (1, 1 << 8, 1 << 16)
    numbers = np.full(scene.maxgeom + 1, -1, np.int64)
    for thing in scene.geoms[: scene.ngeom]:
        if thing.segid >= 0 and thing.objtype == mujoco.mjtObj.mjOBJ_GEOM:
            numbers[thing.segid + 1] = thing.objid
    return numbers[places]


@contextmanager
def _opengl(width: int, height: int) -> Iterator[None]:
    """OpenGL for the block: by EGL, unless MUJOCO_GL names something else.

    Raises:
        HardwareError: it is missing.
    """
    egl = os.environ.get("MUJOCO_GL", "").strip().lower() in ("", "egl")
    try:
        if egl:
            from mujoco.egl import GLContext
        else:
            from mujoco import GLContext  # as MuJoCo chose it when it was imported
        context = GLContext(width, height)
        context.make_current()
    except Exception as error:  # what is missing shows in many ways: ImportError, AttributeError, errors of OpenGL
        raise HardwareError(
            "a picture cannot be drawn: OpenGL is missing",
            expected="EGL" if egl else f"what MUJOCO_GL={os.environ['MUJOCO_GL']} names",
            got=f"{type(error).__name__}: {error}",
            hint="Debian, Ubuntu: apt install libegl1 libgl1-mesa-dri; or libosmesa6, with MUJOCO_GL=osmesa",
        ) from error
    try:
        yield
    finally:
        context.free()
        if egl:
            _close_display()


def _close_display() -> None:
    """Ends the driver's threads."""
    from mujoco import egl

    if egl.EGL_DISPLAY is not None:
        egl.EGL.eglReleaseThread()
        egl.EGL.eglTerminate(egl.EGL_DISPLAY)
        egl.EGL_DISPLAY = None
