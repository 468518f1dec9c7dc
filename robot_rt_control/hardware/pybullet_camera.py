"""Pictures of the simulated world, drawn by PyBullet's software renderer: no screen needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pybullet

from robot_rt_control.hardware.pybullet_parameters import CameraParameters
from robot_rt_control.hardware.pybullet_world import PyBulletWorld

_FIELD_OF_VIEW_DEG = 50.0
_NEAR_M, _FAR_M = 0.05, 20.0


def picture(world: PyBulletWorld, camera: CameraParameters) -> np.ndarray:
    """What the camera sees now: uint8 of shape (height, width, 3), red green blue, first row on top."""
    view = pybullet.computeViewMatrix(camera.eye, camera.target, (0.0, 0.0, 1.0))
    projection = pybullet.computeProjectionMatrixFOV(
        _FIELD_OF_VIEW_DEG, camera.width / camera.height, _NEAR_M, _FAR_M
    )
    _, _, pixels, _, _ = pybullet.getCameraImage(
        camera.width,
        camera.height,
        view,
        projection,
        shadow=1,
        lightDirection=(1.0, 1.0, 2.0),
        renderer=pybullet.ER_TINY_RENDERER,
        physicsClientId=world.client,
    )
    return np.asarray(pixels, np.uint8).reshape(camera.height, camera.width, 4)[:, :, :3].copy()


def write_png(pixels: np.ndarray, path: str | Path) -> None:
    """Write a picture of shape (height, width, 3) as PNG."""
    from matplotlib import image  # not at the top: a driver that takes no pictures must not wait for it

    image.imsave(str(path), pixels)
