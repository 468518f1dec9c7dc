"""Pictures of the simulated world, drawn by PyBullet's software renderer: no screen needed."""

from __future__ import annotations

import numpy as np
import pybullet

from robot_rt_control.hardware.pybullet.world import PyBulletWorld
from robot_rt_control.hardware.world.parameters import CameraParameters

_FIELD_OF_VIEW_DEG = 50.0
_NEAR_M, _FAR_M = 0.05, 20.0


def picture(world: PyBulletWorld, camera: CameraParameters) -> np.ndarray:
    """What the camera sees now: uint8 of shape (height, width, 3), red green blue, first row on top."""
    return picture_and_bodies(world, camera)[0]


def picture_and_bodies(world: PyBulletWorld, camera: CameraParameters) -> tuple[np.ndarray, np.ndarray]:
    """`picture`, and int64 (height, width) which link is seen where: as of `PyBulletWorld.seen_as`, or -1."""
    view = pybullet.computeViewMatrix(camera.eye, camera.target, (0.0, 0.0, 1.0))
    projection = pybullet.computeProjectionMatrixFOV(_FIELD_OF_VIEW_DEG, camera.width / camera.height, _NEAR_M, _FAR_M)
    _, _, pixels, _, seen = pybullet.getCameraImage(
        camera.width,
        camera.height,
        view,
        projection,
        shadow=1,
        lightDirection=(1.0, 1.0, 2.0),
        renderer=pybullet.ER_TINY_RENDERER,
        flags=pybullet.ER_SEGMENTATION_MASK_OBJECT_AND_LINKINDEX,
        physicsClientId=world.client,
    )
    shape = (camera.height, camera.width)
    image = np.asarray(pixels, np.uint8).reshape(*shape, 4)[:, :, :3].copy()
    return image, np.array(seen, np.int64).reshape(shape)
