"""A start guess made of geometry: hold the body between faces that oppose each other, and carry it to its target.

Virtual forces act along normals: nothing in them closes fingers on a body that friction is to carry, nor puts a limb
where it will have to brake a body that floats. Both are the same: geometries of the robot touch faces that push in
opposite directions along one axis; squeeze, as much as friction needs; then the body goes the straight way, rest to
rest, and the geometries keep their places on the faces. For a body that is a link the faces stand, and it is the robot
that goes. Across the axis friction must carry; where it cannot, the body goes along the axis alone.

The optimizer gets the joints' inputs as its first guess, as from guide.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.model.rotation_formulas import rotation_of_vector, vector_of_rotation

Array = NDArray[np.float64]

_OPPOSED = 0.95
"""Cosine between the pushes of faces on one axis."""
_MARGIN = 2.0
"""Normal force, per what friction needs."""
_CLOSED = 0.1
"""At least, per force that accelerates the body: no contact opens."""
_NO_FRICTION = 0.05
"""Coefficient; below, a contact carries nothing across the axis."""
_ALONG = 0.5
"""Least fraction of the way along the axis, if the body goes along it alone."""
_SETTLING = 0.06
"""[m] added to each length when the horizon is shared out: motion begins and ends at rest."""
_CARRYING = 1.5
"""Time per length with the body, of that of free motion."""
_PEAK = 5.78
"""Greatest acceleration of a way of 1 m from rest to rest in 1 s."""
_ROUNDS, _DAMPING, _TURN = 12, 1e-6, 0.01
"""For the inverse kinematics; [m/rad] orientations count little beside places."""


@dataclass(frozen=True, kw_only=True)
class Contact:
    """A geometry that may touch a face, at the start."""

    pair: int
    geom: int
    push: Array
    """(3,) unit vector: of the force on the body;"""
    inward: Array
    """(3,) into the face: the same if it is the body's."""
    center: Array
    """(3,) [m] of the geometry at the start;"""
    touching: Array
    """(3,) [m] there it touches the face, at its nearest point."""
    friction: float
    """Coefficient."""


@dataclass(frozen=True, kw_only=True)
class Grip:
    """Contacts that oppose each other."""

    contacts: tuple[Contact, ...]
    axis: Array  # (3,)
    way: Array
    """(3,) [m] that the body goes."""
    friction: float
    """Least one of the contacts."""

    def sides(self) -> Array:
        """(contacts,) +1 for those that push along the axis, -1 for the others."""
        return np.array([np.sign(contact.push @ self.axis) for contact in self.contacts])


def grips(contacts: Sequence[Contact], way: Array, pull: Array) -> list[Grip]:
    """The ways to hold a body, one for each axis; each geometry takes the face of it that is nearest.

    Args:
        way: (3,) [m] from the start to the target.
        pull: (3,) [m/s^2] gravity, or how the ground brakes the body.
    """
    found: list[Grip] = []
    length = float(np.linalg.norm(way))
    for first in contacts:
        axis = first.push
        if any(abs(float(grip.axis @ axis)) > _OPPOSED for grip in found):
            continue
        nearest: dict[int, tuple[float, Contact]] = {}
        for contact in contacts:
            gap = float(np.linalg.norm(contact.center - contact.touching))
            in_front = float((contact.touching - contact.center) @ contact.inward) > -1e-3
            known = nearest.get(contact.geom, (np.inf, contact))
            if abs(float(contact.push @ axis)) > _OPPOSED and in_front and gap < known[0]:
                nearest[contact.geom] = gap, contact
        chosen = tuple(nearest[geom][1] for geom in sorted(nearest))
        sides = {float(np.sign(contact.push @ axis)) for contact in chosen}
        if len(sides) < 2:
            continue
        friction = min(contact.friction for contact in chosen)
        along = axis * float(axis @ way)
        if friction >= _NO_FRICTION:
            found.append(Grip(contacts=chosen, axis=axis, way=way, friction=friction))
        elif float(np.linalg.norm(along)) >= _ALONG * length and np.linalg.norm(pull) == 0.0:
            found.append(Grip(contacts=chosen, axis=axis, way=along, friction=friction))
    return found


@dataclass(frozen=True, kw_only=True)
class Carrying:
    """The planned motion at the N + 1 ends of the control steps."""

    position: Array
    """(N + 1, 3) [m] of the body."""
    rotation: Array
    """(N + 1, 3, 3) of it."""
    centers: Array
    """(N + 1, contacts, 3) [m] of the geometries."""
    forces: Array
    """(N + 1, contacts) [N] with which they press."""


def carrying(
    grip: Grip,
    start: tuple[Array, Array],
    turn: Array,
    *,
    mass: float,
    pull: Array,
    dragged: bool,
    on_body: bool,
    time: float,
    steps: int,
    share: float,
) -> Carrying:
    """The motion, at rest after `share` of the horizon.

    Args:
        start: p_WB (3,) [m] and R_WB (3, 3) of the body.
        turn: (3,) [rad] rotation vector in the body's frame, to its target.
        mass: [kg]
        pull: (3,) [m/s^2] gravity that acts on the body, or how the ground brakes it:
        dragged: then only while it moves.
        on_body: whether the faces are the body's; else they stand.
        time: [s] horizon.
    """
    p0, R0 = start
    reach = max(float(np.linalg.norm(c.touching - c.center)) for c in grip.contacts)
    lengths = np.array([reach + _SETTLING, _SETTLING, _CARRYING * (float(np.linalg.norm(grip.way)) + _SETTLING)])
    closed, squeezed, done = share * np.cumsum(lengths) / np.sum(lengths)
    t = np.arange(steps + 1) / steps
    close, _ = _eased(t / closed)
    squeeze, _ = _eased((t - closed) / (squeezed - closed))
    carry, rate = _eased((t - squeezed) / (done - squeezed))
    seconds = time * (done - squeezed)
    acceleration = grip.way * (rate / seconds**2)[:, None]
    most = np.linalg.norm(grip.way) * _PEAK / seconds**2
    across = pull - grip.axis * float(grip.axis @ pull)
    sideways = grip.way - grip.axis * float(grip.axis @ grip.way)
    tangential = float(np.linalg.norm(across)) + most * float(np.linalg.norm(sideways)) / max(
        float(np.linalg.norm(grip.way)), 1e-9
    )
    sides = grip.sides()
    counts = np.array([np.sum(sides == side) for side in sides])
    needed = tangential / (2.0 * grip.friction) if grip.friction >= _NO_FRICTION else 0.0
    preload = mass * max(_MARGIN * needed, _CLOSED * most)
    moving = (carry > 0.0) & (carry < 1.0)
    along = mass * (acceleration - pull * (moving | (not dragged))[:, None]) @ grip.axis
    forces = squeeze[:, None] * (preload + np.maximum(along[:, None] * sides, 0.0)) / counts
    position = p0 + carry[:, None] * grip.way
    turns = np.array([rotation_of_vector(s * turn) for s in carry])
    R = R0 @ turns
    begin = np.array([c.center for c in grip.contacts])
    touching = np.array([c.touching for c in grip.contacts])
    centers = begin + close[:, None, None] * (touching - begin)
    if on_body:
        local = (touching - p0) @ R0
        held = position[:, None] + np.einsum("tij,cj->tci", R, local)
        centers = np.where((carry > 0.0)[:, None, None], held, centers)
    return Carrying(position=position, rotation=R, centers=centers, forces=forces)


def _eased(s: Array) -> tuple[Array, Array]:
    """From 0 to 1, at rest at both ends, and its second derivative."""
    s = np.clip(s, 0.0, 1.0)
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s), s * (60.0 - 180.0 * s + 120.0 * s * s)


@dataclass(frozen=True, kw_only=True)
class Tips:
    """Several geometries of the robot at some positions of the joints, the body as at the start."""

    centers: Array  # (m, 3)
    rotations: Array  # (m, 3, 3)
    linear: Array  # (m, 3, n)
    angular: Array  # (m, 3, n)


def joint_path(
    plan: Carrying,
    grip: Grip,
    place: Callable[[Array], Tips],
    start: Array,
    *,
    lower: Array,
    upper: Array,
    compliance: Array,
    on_body: bool,
) -> Array:
    """(N + 1, n) commanded joint positions that put the geometries there, and press as planned.

    Args:
        place: the geometries at joint positions (n,).
        compliance: (n,) [rad or m per Nm or N] of the servos: a command leads by what the force takes back.
    """
    q, joints = start.copy(), np.zeros((len(plan.centers), len(start)))
    upright = place(start).rotations
    p0, R0 = plan.position[0], plan.rotation[0]
    inward = np.array([contact.inward for contact in grip.contacts])
    for i, goals in enumerate(plan.centers):
        back = R0 @ plan.rotation[i].T  # what the body has turned, back to the start
        if on_body:
            press, straight = inward @ back, np.swapaxes(back, 0, 1) @ upright
        else:  # the body moves under its limbs: the world goes back instead
            goals, press, straight = p0 + (goals - plan.position[i]) @ back.T, inward @ back.T, upright
        for _ in range(_ROUNDS):
            found = place(q)
            turns = np.array([vector_of_rotation(a @ b.T) for a, b in zip(straight, found.rotations, strict=True)])
            error = np.concatenate([(goals - found.centers).ravel(), _TURN * turns.ravel()])
            n = len(q)
            J = np.concatenate([found.linear.reshape(-1, n), _TURN * found.angular.reshape(-1, n)])
            q = np.clip(q + J.T @ np.linalg.solve(J @ J.T + _DAMPING * np.eye(len(J)), error), lower, upper)
        torques = np.einsum("cin,ci->n", place(q).linear, plan.forces[i][:, None] * press)
        joints[i] = np.clip(q + compliance * torques, lower, upper)
    return joints
