"""The window shows the world each 20 ms until it is closed; without a display none opens."""

import contextlib
import types

import mujoco
import pytest

from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.hardware.mujoco import window
from robot_rt_control.hardware.mujoco.plugin import MujocoPlugin
from robot_rt_control.hardware.plugin import HardwareInfo
from robot_rt_control.testing.simulated_devices import iiwa
from robot_rt_control.vocabulary.errors import HardwareError

CAMERA = {"eye": [1.0, 0.0, 2.0], "target": [0.0, 0.0, 1.0]}
INFO = HardwareInfo(name="sim", parts=(iiwa(),), parameters={"gui": True, "world": {"camera": CAMERA}})


class Handle:
    """What MuJoCo's viewer gives."""

    def __init__(self, model, data, **sides):
        self.model, self.sides = model, sides
        self.cam, self.opt, self.lock = mujoco.MjvCamera(), mujoco.MjvOption(), contextlib.nullcontext
        self.synchronised, self.open = 0, True

    def is_running(self):
        return self.open

    def sync(self):
        self.synchronised += 1

    def close(self):
        self.open = False


def test_the_window_shows_what_a_picture_would_and_how_it_goes_on(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(window, "_viewer", lambda item: types.SimpleNamespace(launch_passive=Handle))
    monkeypatch.setattr(window, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    plugin = MujocoPlugin()
    lifecycle = HardwareLifecycle(plugin, INFO)
    lifecycle.configure()
    lifecycle.activate()
    opened = plugin._window
    assert opened is not None
    handle = opened._handle
    assert handle.model is plugin.world.model
    assert handle.cam.lookat.tolist() == [0.0, 0.0, 1.0]
    assert (handle.cam.distance, handle.cam.azimuth, handle.cam.elevation) == pytest.approx((2**0.5, 180.0, -45.0))
    assert handle.opt.geomgroup.tolist() == [1, 1, 1, 0, 0, 0]

    def run(periods):
        before = handle.synchronised
        for _ in range(periods):
            now[0] += 0.005
            lifecycle.write(0.0, 0.001)
        return handle.synchronised - before

    assert run(100) == pytest.approx(25, abs=6)  # each fourth or fifth
    handle.open = False  # somebody closes it
    assert run(100) == 0
    assert plugin.has_window
    lifecycle.shutdown()
    assert plugin._window is None


def test_without_a_display_a_window_is_refused(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    lifecycle = HardwareLifecycle(MujocoPlugin(), INFO)
    with pytest.raises(HardwareError, match=r"gui: no window can be opened; expected a display with OpenGL; got "):
        lifecycle.configure()
