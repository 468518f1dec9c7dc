"""Pictures of the simulated world, drawn by PyBullet's software renderer: no screen needed."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pybullet

from robot_rt_control.hardware.pybullet.parameters import CameraParameters
from robot_rt_control.hardware.pybullet.world import PyBulletWorld

_FIELD_OF_VIEW_DEG = 50.0
_NEAR_M, _FAR_M = 0.05, 20.0
_LINK_BITS = 24
"""Below, the number of the body; above, that of the link and 1."""


def picture(world: PyBulletWorld, camera: CameraParameters) -> np.ndarray:
    """What the camera sees now: uint8 of shape (height, width, 3), red green blue, first row on top."""
    return picture_and_bodies(world, camera)[0]


def picture_and_bodies(world: PyBulletWorld, camera: CameraParameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`picture`, and (height, width) which body is seen where, and which link: PyBullet's numbers of them, or -1."""
    view = pybullet.computeViewMatrix(camera.eye, camera.target, (0.0, 0.0, 1.0))
    projection = pybullet.computeProjectionMatrixFOV(
        _FIELD_OF_VIEW_DEG, camera.width / camera.height, _NEAR_M, _FAR_M
    )
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
    numbers = np.array(seen, np.int64).reshape(shape)
    bodies = np.where(numbers < 0, -1, numbers & (1 << _LINK_BITS) - 1)
    return image, bodies, np.where(numbers < 0, -1, (numbers >> _LINK_BITS) - 1)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(pixels: np.ndarray, path: str | Path) -> None:
    """Write a picture of shape (height, width, 3), uint8, as PNG (ISO/IEC 15948).

    By hand, because importing a library for it holds the driver's cycles up for longer than its device may be silent.
    """
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter: 0, none
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits each of red, green, blue
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows.tobytes())) + _chunk(b"IEND", b"")
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunks)
