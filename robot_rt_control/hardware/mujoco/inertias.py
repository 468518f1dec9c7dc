"""Masses and inertias of a robot's links: the URDF's, or with the inertia of the box around a link's shapes."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.mujoco.shapes import VISUAL_GROUP
from robot_rt_control.model.robot.urdf import Inertial
from robot_rt_control.vocabulary.errors import HardwareError

_GYRATION_M = 1e-3
"""Radius of gyration of a mass whose inertia the URDF gives as 0."""
_ROUNDING = 1e-9
"""Fraction of a moment, by which a balanced one is more than needed."""
_LEAST = 1e-14
"""[kg m^2] MuJoCo's least moment of inertia about any axis."""


def add_mass(
    body: mujoco.MjsBody, inertial: Inertial | None, item: str, *, shaped: bool, balanced: bool = False
) -> None:
    """Give a link its mass; a link without one gets none.

    Args:
        item: the link, for errors.
        shaped: its inertia will be that of its shapes: see `take_from_shapes`.
        balanced: an inertia that no body has is changed to one, see `balance`.

    Raises:
        HardwareError: no body can have such an inertia.
    """
    if inertial is None or inertial.mass <= 0.0:
        return
    tensor = inertial.mass * np.eye(3) if shaped else inertial.inertia
    if not tensor.any():  # some files give frames a mass and no inertia: a point, which MuJoCo takes if it has a size
        tensor = inertial.mass * _GYRATION_M**2 * np.eye(3)
    if balanced:
        tensor = balance(tensor)
    refuse_impossible(tensor, item)
    body.explicitinertial = True
    body.mass, body.ipos = inertial.mass, inertial.center_of_mass
    body.fullinertia = [*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]


def refuse_impossible(tensor: NDArray[np.float64], item: str) -> None:
    """Refuse a tensor (3, 3) [kg m^2] that no distribution of mass has, and which MuJoCo does not take.

    Raises:
        HardwareError: with its principal moments.
    """
    least, middle, greatest = (float(moment) for moment in np.linalg.eigvalsh(tensor))
    got = f"principal moments {least:.6g}, {middle:.6g} and {greatest:.6g} kg m^2"
    if least < _LEAST:
        raise HardwareError(
            f"{item}: <inertia>",
            expected=f"principal moments of at least {_LEAST:g} kg m^2",
            got=got,
            hint="Correct <inertia>: a solid box of mass m has m/12 (y^2 + z^2) about x, and likewise about y and z. "
            "Or let world.inertia be `shapes`, if the link has a <collision>, or `balanced`",
        )
    if least + middle < greatest:
        raise HardwareError(
            f"{item}: <inertia>",
            expected="each principal moment at most the sum of the others (triangle inequality)",
            got=f"{got}: {greatest:.6g} > {least:.6g} + {middle:.6g} = {least + middle:.6g}",
            hint=f"Correct <inertia>: {greatest - least - middle:.2g} kg m^2 are missing, perhaps by rounding. Or let "
            "world.inertia be `balanced`, which raises the smaller moments",
        )


def balance(tensor: NDArray[np.float64]) -> NDArray[np.float64]:
    """The tensor (3, 3) [kg m^2] with its two smaller principal moments raised by as much, until a body can have it."""
    moments, axes = np.linalg.eigh(tensor)
    moments = np.maximum(moments, _LEAST * (1.0 + _ROUNDING))
    missing = moments[2] * (1.0 + _ROUNDING) - moments[0] - moments[1]
    if missing > 0.0:
        moments[:2] += 0.5 * missing
    return np.asarray(axes @ np.diag(moments) @ axes.T)


def take_from_shapes(bodies: Iterable[mujoco.MjsBody], model: mujoco.MjModel) -> None:
    """Give each link the inertia of the box around its shapes, with its mass, as PyBullet does.

    Args:
        bodies: of links.
        model: compiled of them; it is to be compiled again.
    """
    for body in bodies:
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body.name)
        geoms = np.flatnonzero((model.geom_bodyid == number) & (model.geom_group != VISUAL_GROUP))
        if not body.explicitinertial or not len(geoms):
            continue
        corners = np.concatenate([_corners(model, int(geom)) for geom in geoms])
        x, y, z = (corners.max(axis=0) - corners.min(axis=0)) ** 2
        mass = float(body.mass) / 12.0
        body.fullinertia = [mass * (y + z), mass * (x + z), mass * (x + y), 0.0, 0.0, 0.0]


def _corners(model: mujoco.MjModel, geom: int) -> NDArray[np.float64]:
    """(8, 3) corners of the box around a geometry, in its body's axes."""
    center, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, 8).T
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, model.geom_quat[geom])
    return model.geom_pos[geom] + (center + signs * half) @ R.reshape(3, 3).T
