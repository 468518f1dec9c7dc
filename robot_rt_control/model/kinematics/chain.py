"""Builds the chain table of the kinematics kernel from a URDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.memory.layout import PRISMATIC, REVOLUTE, chain_dtype
from robot_rt_control.model.robot.urdf import MOVABLE, Inertial, Urdf, UrdfJoint
from robot_rt_control.model.robot.urdf_reader import read_urdf
from robot_rt_control.model.rotation_formulas import rotations_about
from robot_rt_control.vocabulary.capacities import MAX_JOINTS
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

Array = NDArray[np.float64]

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""[m/s^2] in the world frame, z up; the value that simulators use."""


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A serial chain of a URDF, from base_link to tip_link."""

    urdf: Urdf
    base_link: str
    tip_link: str
    joints: tuple[UrdfJoint, ...]
    """The movable joints, from base to tip: names, types and limits."""
    record: np.record
    """`layout.chain_dtype`; base and tool are the identity, gravity is STANDARD_GRAVITY."""
    X_RB: Array
    """(4, 4) base_link in the URDF's root link, with any movable joints between them at zero."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.joints)


def rest_position(joint: UrdfJoint) -> float:
    """The assumed position of a joint outside the chain: 0, or the limit nearest to it."""
    return min(max(0.0, joint.lower), joint.upper)


def motion(joint: UrdfJoint, q: float) -> Array:
    """(4, 4) transform of a joint's own motion by q [rad or m]; the identity for a fixed joint."""
    X = np.eye(4)
    if joint.type == "prismatic":
        X[:3, 3] = q * joint.axis
    elif joint.type in ("revolute", "continuous"):
        X[:3, :3] = rotations_about(joint.axis, np.asarray(q))
    return X


def joined(bodies: list[Inertial]) -> Inertial:
    """Combine several bodies in one frame into one (parallel axis theorem)."""
    mass = sum(body.mass for body in bodies)
    center = np.zeros(3)
    if mass > 0.0:
        center = sum((body.mass * body.center_of_mass for body in bodies), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for body in bodies:
        d = body.center_of_mass - center
        inertia += body.inertia + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertial(mass=mass, center_of_mass=center, inertia=inertia)


def _bodies_behind(urdf: Urdf, link: str, X: Array, stop: set[str]) -> list[Inertial]:
    """All bodies that move with a link, expressed in the frame from which X leads; `stop`: the chain's next joints."""
    bodies: list[Inertial] = []
    todo = [(link, X)]
    while todo:
        name, X_link = todo.pop()
        inertial = urdf.links[name]
        if inertial is not None:
            bodies.append(inertial.moved(X_link))
        for joint in urdf.child_joints[name]:
            if joint.name not in stop:
                todo.append((joint.child, X_link @ joint.X_PJ @ motion(joint, rest_position(joint))))
    return bodies


def _check(urdf: Urdf, joints: list[UrdfJoint], base_link: str, tip_link: str) -> list[UrdfJoint]:
    movable = []
    for joint in joints:
        item = f"{urdf.source}:{joint.line}: joint {joint.name!r} in the chain from {base_link!r} to {tip_link!r}"
        if joint.type in ("floating", "planar"):
            raise DefinitionError(
                item,
                expected="revolute, continuous, prismatic or fixed",
                got=joint.type,
                hint="Choose a base_link after this joint",
            )
        if joint.mimic is not None:
            raise DefinitionError(
                item,
                expected="a joint that moves on its own",
                got=f"one that mimics {joint.mimic.joint!r}",
                hint="Mechanically coupled joints in a chain are not supported",
            )
        if joint.type in MOVABLE:
            movable.append(joint)
    if not movable:
        raise DefinitionError(
            f"{urdf.source}: chain from {base_link!r} to {tip_link!r}",
            expected="at least one movable joint",
            got="none",
        )
    if len(movable) > MAX_JOINTS:
        raise CapacityError(
            f"{urdf.source}: chain from {base_link!r} to {tip_link!r}",
            expected=f"at most MAX_JOINTS = {MAX_JOINTS} movable joints",
            got=str(len(movable)),
            hint="Split the chain into several parts",
        )
    return movable


def chain_of(urdf: Urdf, base_link: str, tip_link: str) -> Chain:
    """The chain between two links of a URDF. See `load_chain`."""
    path = urdf.path_to(base_link, tip_link)
    movable = _check(urdf, path, base_link, tip_link)
    stop = {joint.name for joint in movable}
    record = empty_chain()
    record.n_joints = len(movable)
    X = np.eye(4)  # from the last moving joint's frame to the present link
    j = -1
    for joint in path:
        X = X @ joint.X_PJ
        if joint.type not in MOVABLE:
            continue
        j += 1
        record.joint_type[j] = PRISMATIC if joint.type == "prismatic" else REVOLUTE
        record.origin[j] = X[:3]
        record.axis[j] = joint.axis
        body = joined(_bodies_behind(urdf, joint.child, np.eye(4), stop))
        record.mass[j] = body.mass
        record.center_of_mass[j] = body.center_of_mass
        record.inertia[j] = body.inertia
        X = np.eye(4)
    record.tool[:] = X[:3]
    X_RB = np.eye(4)
    for joint in urdf.path_to(urdf.root, base_link):
        X_RB = X_RB @ joint.X_PJ @ motion(joint, rest_position(joint))
    return Chain(urdf=urdf, base_link=base_link, tip_link=tip_link, joints=tuple(movable), record=record, X_RB=X_RB)


def tool_pose(chain: Chain, q: Sequence[float] | Array) -> Array:
    """X_WT (4, 4) at joint positions q [rad or m], as `forward` computes it in the loop, without the compiler."""
    record = chain.record
    X = whole(record["base"])
    for joint, origin, position in zip(chain.joints, record.origin, q, strict=False):  # records have room for more
        X = X @ whole(origin) @ motion(joint, position)
    return X @ whole(record.tool)


def whole(rows: Array) -> Array:
    """A (4, 4) transform, of its first three rows."""
    return np.vstack([rows, (0.0, 0.0, 0.0, 1.0)])


def empty_chain() -> np.record:
    """A chain without joints whose frames are identities, for parts without kinematics."""
    record: np.record = np.zeros(1, chain_dtype)[0]
    record["base"][:] = np.eye(4)[:3]
    record.tool[:] = np.eye(4)[:3]
    record.origin[:] = np.eye(4)[:3]
    record.gravity[:] = STANDARD_GRAVITY
    return record


def load_chain(urdf_path: Path | str, base_link: str, tip_link: str) -> Chain:
    """Read the chain between two links from a URDF file.

    Fixed joints are merged. All bodies attached to a link of the chain count in the mass properties of the
    joint before it. Branches with their own joints (fingers) are treated as rigid, at zero or at the limit nearest
    to zero. `record.tool` leads to the tip_link.

    Raises:
        DefinitionError: the file, a link or a joint of the chain is not suitable (floating, planar, mimic).
        CapacityError: more than MAX_JOINTS movable joints.
    """
    return chain_of(read_urdf(Path(urdf_path)), base_link, tip_link)
