"""What sensors measure in MuJoCo, for hardware/world/sensors.py."""

from __future__ import annotations

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.mujoco.shapes import RAY_GROUPS

Array = NDArray[np.float64]

_BEHIND = 1e-9
"""[m] A ray that left a shape in which it began goes on this far behind its surface."""
_SHAPES = 8
"""In which a ray may begin, at most."""
_PLANE, _MESH = int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_MESH)
"""As numbers: to compare MuJoCo's own names takes two microseconds."""


class Ray:
    """[m] Distance along z of a frame to the next surface; inf: there is none within the length.

    A ray that starts inside a convex shape does not see that shape.

    Args:
        body: on which it is mounted; 0: the world.
        X_BS: (4, 4) pose in the body's frame.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, body: int, X_BS: Array, length: float) -> None:
        self._model, self._data, self._length = model, data, length
        self._position, self._direction = X_BS[:3, 3].copy(), X_BS[:3, 2].copy()
        # MuJoCo's own memory, which stays where it is
        self._R, self._origin = data.xmat[body].reshape(3, 3), data.xpos[body]
        self._kinds: list[int] = model.geom_type.tolist()
        self._places: dict[int, tuple[Array, Array, Array]] = {}
        self._geom, self._start, self._along, self._back = np.zeros(1, np.int32), *np.zeros((3, 3))

    def __call__(self) -> float:
        start, direction = self._start, self._along
        self._R.dot(self._position, out=start)
        np.add(self._origin, start, out=start)
        self._R.dot(self._direction, out=direction)
        passed, point = 0.0, start
        for _ in range(_SHAPES):
            found = mujoco.mj_ray(self._model, self._data, point, direction, RAY_GROUPS, True, -1, self._geom)
            if found < 0.0 or passed + found > self._length:
                return math.inf
            if not self._begins_in(int(self._geom[0]), point):
                return passed + found
            passed += found + _BEHIND
            point = start + passed * direction
        return math.inf

    def _begins_in(self, geom: int, point: Array) -> bool:
        """Whether a point whose ray meets a convex geometry is inside it: then the opposite ray also does."""
        model, data, kind = self._model, self._data, self._kinds[geom]
        if kind == _PLANE:
            return False
        back = np.negative(self._along, out=self._back)
        if kind == _MESH:
            return float(mujoco.mj_rayMesh(model, data, geom, point, back)) >= 0.0
        if (place := self._places.get(geom)) is None:
            place = self._places[geom] = data.geom_xpos[geom], data.geom_xmat[geom], model.geom_size[geom]
        return float(mujoco.mju_rayGeom(*place, point, back, kind)) >= 0.0


class SiteWrench:
    """Force [N] and torque [Nm] that the environment exerts on a site's body and what is behind it. MuJoCo gives what
    its parent exerts on it.

    Args:
        places: of the two sensors in `sensordata`.
    """

    def __init__(self, data: mujoco.MjData, places: tuple[int, int]) -> None:
        force, torque = places
        self._force, self._torque = data.sensordata[force : force + 3], data.sensordata[torque : torque + 3]

    def __call__(self, state: Array) -> None:
        np.negative(self._force, out=state[:3])
        np.negative(self._torque, out=state[3:6])
