"""What inputs see and outputs do in PyBullet, for hardware/world/io.py."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pybullet

from robot_rt_control.hardware.world.io import ON
from robot_rt_control.hardware.world.io_parameters import GripOutput

BASE_LINK = -1
"""PyBullet's index of a body's root link."""


class ContactQuery:
    """[N] Sum of the normal forces of a contact in the last step; None: nothing touches.

    Args:
        query: what getContactPoints takes.
    """

    def __init__(self, client: int, query: dict[str, int]) -> None:
        self._client, self._query = client, query

    def __call__(self) -> float | None:
        contacts = pybullet.getContactPoints(physicsClientId=self._client, **self._query)
        # Points with a positive distance are near, not touching.
        forces = [contact[9] for contact in contacts if contact[8] <= 0.0]
        return float(sum(forces)) if forces else None


class BodyJoint:
    """A joint of a body."""

    def __init__(self, client: int, body: int, joint: int) -> None:
        self._client, self._body, self._joint = client, body, joint

    def position(self) -> float:
        """[rad or m]"""
        return float(pybullet.getJointState(self._body, self._joint, physicsClientId=self._client)[0])

    def drive(self, goal: float, force: float, speed: float | None = None) -> None:
        """A position drive; without force the joint is free."""
        limits = {} if speed is None else {"maxVelocity": speed}
        mode = pybullet.POSITION_CONTROL if force > 0.0 else pybullet.VELOCITY_CONTROL
        pybullet.setJointMotorControl2(
            self._body, self._joint, mode, targetPosition=goal, force=force, physicsClientId=self._client, **limits
        )

    def place(self, position: float) -> None:
        """Put it there, at rest."""
        pybullet.resetJointState(self._body, self._joint, position, 0.0, physicsClientId=self._client)


class BodyGrip:
    """Holds the nearest object within reach while it is on, with at most its force; what slips by its reach is lost.

    Args:
        body, link: that hold.
        objects: bodies that it may hold.
    """

    def __init__(self, client: int, body: int, link: int, objects: Sequence[int], given: GripOutput) -> None:
        self._client, self._given = client, given
        self._body, self._link, self._objects = body, link, objects
        self._constraint = self._held = -1
        self._place: Sequence[float] = ()

    @property
    def holds(self) -> bool:
        return self._constraint >= 0

    def apply(self, value: float) -> None:
        if self.holds and (value < ON or self._slipped() > self._given.reach):
            pybullet.removeConstraint(self._constraint, physicsClientId=self._client)
            self._constraint = self._held = -1
        elif value >= ON and not self.holds:
            nearest = self._nearest()
            if nearest is not None:
                self._take(nearest)

    def _slipped(self) -> float:
        """[m] from where it was taken."""
        return math.dist(self._seen(self._held)[0], self._place)

    def _seen(self, body: int) -> tuple[Sequence[float], Sequence[float]]:
        """Position and quaternion of an object, seen from what holds."""
        if self._link == BASE_LINK:
            holder = pybullet.getBasePositionAndOrientation(self._body, physicsClientId=self._client)
        else:
            holder = pybullet.getLinkState(self._body, self._link, physicsClientId=self._client)[:2]
        held = pybullet.getBasePositionAndOrientation(body, physicsClientId=self._client)
        position, orientation = pybullet.multiplyTransforms(*pybullet.invertTransform(*holder), *held)
        return position, orientation

    def _nearest(self) -> int | None:
        found: list[tuple[float, int]] = []
        for body in self._objects:
            points = pybullet.getClosestPoints(
                self._body, body, self._given.reach, linkIndexA=self._link, physicsClientId=self._client
            )
            found += [(point[8], body) for point in points]
        return min(found)[1] if found else None

    def _take(self, body: int) -> None:
        position, orientation = self._seen(body)
        self._held, self._place = body, position
        self._constraint = pybullet.createConstraint(
            self._body,
            self._link,
            body,
            BASE_LINK,
            pybullet.JOINT_FIXED,
            (0.0, 0.0, 0.0),
            position,
            (0.0, 0.0, 0.0),
            orientation,
            physicsClientId=self._client,
        )
        pybullet.changeConstraint(self._constraint, maxForce=self._given.force, physicsClientId=self._client)
