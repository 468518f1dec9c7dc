"""A picture shows the world, and lands in a file."""

import numpy as np
import pytest
from matplotlib import image

from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.hardware.plugin import HardwareInfo, Pose
from robot_rt_control.hardware.pybullet.plugin import PyBulletPlugin
from robot_rt_control.testing.simulated_devices import iiwa
from robot_rt_control.vocabulary.errors import HardwareError


def green(pixels):
    return (pixels[:, :, 1] > 2 * pixels[:, :, 0]) & (pixels[:, :, 1] > 2 * pixels[:, :, 2])


def test_a_picture_of_a_green_ball_in_front_of_the_arm(tmp_path):
    ball = {"name": "ball", "sphere": {"radius": 0.1}, "pose": {"position": [0.6, 0.6, 0.72]}, "color": [0, 1, 0]}
    world = {"objects": [{"name": "floor", "plane": True}, ball], "camera": {"width": 160, "height": 120}}
    info = HardwareInfo(name="sim", parts=(iiwa(),), parameters={"world": world})
    plugin = PyBulletPlugin()
    lifecycle = HardwareLifecycle(plugin, info)
    with pytest.raises(HardwareError, match="there is no world. Configure the plugin first"):
        plugin.take_picture(tmp_path / "none.png")
    lifecycle.configure()
    pixels = plugin.take_picture(tmp_path / "picture.png").astype(int)
    assert pixels.shape == (120, 160, 3)
    rows, columns = np.nonzero(green(pixels))
    assert len(rows) > 200
    # Eye, ball and target are in one line.
    assert (rows.mean(), columns.mean()) == pytest.approx((60, 80), abs=5)
    plugin.move_object("ball", Pose(position=(50.0, 0.0, 0.0)))
    gone = plugin.take_picture(tmp_path / "gone.png").astype(int)
    assert not green(gone).any()
    written = image.imread(tmp_path / "picture.png")
    assert (np.round(written[:, :, :3] * 255) == pixels).all()
    lifecycle.shutdown()
