"""What inputs see and outputs do in MuJoCo, for hardware/world/io.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.world.io import ON
from robot_rt_control.hardware.world.io_parameters import GripOutput

_GAIN = 0.1
"""Part of the position error that one step takes away, as PyBullet's position drives do."""


class SteppedWorld(Protocol):
    """What inputs and outputs need of the world: see `MujocoWorld`."""

    model: mujoco.MjModel
    data: mujoco.MjData
    step_s: float
    steered: dict[int, BodyJoint]
    motor_velocity: NDArray[np.float64]

    def set_motors(self, dofs: Iterable[int], most: Iterable[float]) -> None: ...

    def changed(self) -> None: ...

    def refresh(self) -> None: ...

    def geoms(self, name: str, item: str) -> NDArray[np.intp]: ...

    def set_weld(self, weld: int, most: float) -> None: ...


class BodyJoint:
    """A joint that no part drives."""

    def __init__(self, world: SteppedWorld, places: tuple[int, int]) -> None:
        self._world, (self._q, self._v) = world, places
        self._goal, self._speed = 0.0, np.inf

    def position(self) -> float:
        """[rad or m]"""
        return float(self._world.data.qpos[self._q])

    def drive(self, goal: float, force: float, speed: float | None = None) -> None:
        """A position drive; without force the joint is free."""
        self._goal, self._speed = goal, np.inf if speed is None else speed
        self._world.set_motors([self._v], [force])
        self._world.steered[self._v] = self

    def place(self, position: float) -> None:
        """Put it there, at rest."""
        self._world.data.qpos[self._q], self._world.data.qvel[self._v] = position, 0.0
        self._world.changed()

    def steer(self) -> None:
        """Before each step of the simulation: the speed that its motor reaches."""
        speed = _GAIN / self._world.step_s * (self._goal - self._world.data.qpos[self._q])
        self._world.motor_velocity[self._v] = min(max(speed, -self._speed), self._speed)


class BodyGrip:
    """Holds the nearest object within reach while it is on, with at most its force; what slips by its reach is lost.

    Args:
        body: that holds.
        geoms: of it.
        welds: object → number of the weld by which it can be held.
    """

    def __init__(
        self, world: SteppedWorld, body: int, geoms: np.ndarray, welds: Mapping[str, int], given: GripOutput
    ) -> None:
        self._world, self._body, self._given = world, body, given
        self._geoms, self._welds = geoms, welds
        self._others = {name: world.geoms(name, name) for name in welds}
        self._held = -1

    @property
    def holds(self) -> bool:
        """Whether it holds something."""
        return self._held >= 0

    def apply(self, value: float) -> None:
        """Before each period, with the output's value."""
        if self.holds and (value < ON or self._slipped() > self._given.reach):
            self._world.set_weld(self._held, 0.0)
            self._held = -1
        elif value >= ON and not self.holds:
            nearest = self._nearest()
            if nearest is not None:
                self._take(nearest)

    def _slipped(self) -> float:
        """[m] from where it was taken."""
        self._world.refresh()
        position, _ = self._seen()
        return float(np.linalg.norm(position - self._world.model.eq_data[self._held, 3:6]))

    def _seen(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Position and quaternion w x y z of the object of the weld, seen from the body."""
        model, data = self._world.model, self._world.data
        first, second = int(model.eq_obj1id[self._held]), int(model.eq_obj2id[self._held])
        inverse, position, turn = np.zeros(4), np.zeros(3), np.zeros(4)
        mujoco.mju_negQuat(inverse, data.xquat[first])
        mujoco.mju_rotVecQuat(position, data.xpos[second] - data.xpos[first], inverse)
        mujoco.mju_mulQuat(turn, inverse, data.xquat[second])
        return position, turn

    def _nearest(self) -> str | None:
        """The nearest object within reach."""
        self._world.refresh()
        model, data, reach = self._world.model, self._world.data, self._given.reach
        found: list[tuple[float, str]] = []
        for name, geoms in self._others.items():
            for mine in self._geoms:
                for other in geoms:
                    distance = float(mujoco.mj_geomDistance(model, data, int(mine), int(other), reach, None))
                    if distance < reach:
                        found.append((distance, name))
        return min(found)[1] if found else None

    def _take(self, name: str) -> None:
        """Hold an object where it is, seen from the body."""
        model = self._world.model
        weld = self._held = self._welds[name]
        position, turn = self._seen()
        model.eq_data[weld, 0:3] = 0.0  # the anchor in the object
        model.eq_data[weld, 3:6], model.eq_data[weld, 6:10] = position, turn
        model.eq_data[weld, 10] = 1.0  # torque to force
        self._world.set_weld(weld, self._given.force)
