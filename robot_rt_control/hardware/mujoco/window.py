"""MuJoCo's own window, which shows the simulated world while it runs."""

from __future__ import annotations

import os
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any

from robot_rt_control.hardware.mujoco.camera import view_of
from robot_rt_control.hardware.mujoco.shapes import DRAWN_GROUPS
from robot_rt_control.hardware.world.parameters import CameraParameters
from robot_rt_control.vocabulary.errors import HardwareError

if TYPE_CHECKING:
    from robot_rt_control.hardware.mujoco.world import MujocoWorld

_PERIOD_S = 0.02
"""Between two changes of what the window shows."""
_END_S = 10.0
"""Longest wait for the end of the threads that draw."""


class Window:
    """A window that looks at the world from where pictures are taken. Who closes it does not end the simulation.

    Args:
        camera: where it looks from at first.
        item: whose window it is, for errors.

    Raises:
        HardwareError: no window can be opened.
    """

    def __init__(self, world: MujocoWorld, camera: CameraParameters, item: str) -> None:
        self._world, self._last = world, 0.0
        viewer = _viewer(item)
        others = set(threading.enumerate())
        self._handle = viewer.launch_passive(world.model, world.data, show_left_ui=False, show_right_ui=False)
        self._threads = [thread for thread in threading.enumerate() if thread not in others]
        world.changed()  # it computed what follows from the state in its own way
        view = view_of(camera)
        with self._handle.lock():
            self._handle.cam.lookat[:] = view.lookat
            self._handle.cam.distance, self._handle.cam.azimuth = view.distance, view.azimuth
            self._handle.cam.elevation = view.elevation
            self._handle.opt.geomgroup[:] = DRAWN_GROUPS

    def show(self) -> None:
        """After each period: what the window shows, if that is due."""
        now = time.monotonic()
        if now - self._last >= _PERIOD_S and self._handle.is_running():
            self._last = now
            self._handle.sync()
            self._world.changed()  # one may pull at bodies in the window

    def close(self) -> None:
        """May be repeated."""
        self._handle.close()
        for thread in self._threads:
            thread.join(_END_S)


def _viewer(item: str) -> Any:
    """MuJoCo's module of windows. That one can be opened is tried before: without a display it would wait forever.

    Raises:
        HardwareError: there is no display, or no OpenGL for it.
    """
    what = f"{item}: gui: no window can be opened"
    try:
        from mujoco import viewer
    except Exception as error:  # also what the package glfw raises without its library
        raise HardwareError(what, expected="the package glfw", got=f"{type(error).__name__}: {error}") from error
    glfw = viewer.glfw
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", glfw.GLFWError)  # they are told below
        trial = None
        if glfw.init():
            glfw.window_hint(glfw.VISIBLE, glfw.FALSE)
            trial = glfw.create_window(16, 16, "robot_rt_control", None, None)
            glfw.default_window_hints()
        if not trial:
            _, got = glfw.get_error()
            raise HardwareError(
                what,
                expected="a display with OpenGL",
                got=os.fsdecode(got) if got else "no reason from GLFW",
                hint="Say `gui: false`; pictures need no display",
            )
        glfw.destroy_window(trial)
    return viewer
