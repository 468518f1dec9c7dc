"""A robot's links and joints, from its URDF, as bodies of a MuJoCo specification."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.mujoco.inertias import add_mass
from robot_rt_control.hardware.mujoco.shapes import HIDDEN_GROUP, add_shape, add_visual, quaternion, unreadable
from robot_rt_control.hardware.world.urdf_shapes import (
    collision_shapes,
    joint_dynamics,
    lateral_friction,
    require_meshes,
    visual_shapes,
)
from robot_rt_control.model.robot.urdf import MOVABLE, Urdf, UrdfJoint
from robot_rt_control.vocabulary.errors import HardwareError

Array = NDArray[np.float64]

HARD = [0.95, 0.99, 0.001, 0.5, 2.0]
"""MuJoCo's `solimp` of contacts and stops that are as hard as can be."""


class RobotBodies:
    """A robot in a specification. Names in MuJoCo are `<name>.<link>` and `<name>.<joint>`.

    Args:
        spec: to add to.
        name: of the robot.
        urdf: of the robot, with its tools.
        root: (4, 4) X_WR, the root link's frame in the world.
        item: what it belongs to, for errors.
        free: whether the root moves freely. Otherwise it is where it is put.
        drawn: with shapes that are only drawn.
        shaped: its links' inertias will be those of their shapes: see inertias.py.
        balanced: inertias that no body has are changed to such that one has.

    Attributes:
        bodies: link → its body in the specification.
        geoms: (link, name of a geometry, friction of the link) of all shapes that may touch others.
        moving: links that a joint moves.
        unreadable: link → a mesh that MuJoCo cannot read, and why: that shape is left out.

    Raises:
        HardwareError: a joint or a link cannot be simulated.
    """

    def __init__(
        self, spec: mujoco.MjSpec, name: str, urdf: Urdf, root: Array, item: str, *,
        free: bool = False, drawn: bool = True, shaped: bool = False, balanced: bool = False,
    ) -> None:  # fmt: skip
        self._spec, self._name, self._urdf, self._item = spec, name, urdf, item
        require_meshes(urdf, item)
        self._dynamics = joint_dynamics(urdf)
        self.bodies: dict[str, mujoco.MjsBody] = {}
        self.geoms: list[tuple[str, str, float]] = []
        self.moving: set[str] = set()
        self.unreadable: dict[str, tuple[str, str]] = {}
        self.free, self._drawn, self._shaped, self._balanced = free, drawn, shaped, balanced
        self._add(spec.worldbody, urdf.root, root, None)

    def _add(self, parent: mujoco.MjsBody, link: str, X: Array, joint: UrdfJoint | None) -> None:
        body = parent.add_body(name=f"{self._name}.{link}", pos=X[:3, 3], quat=quaternion(X))
        self.bodies[link] = body
        if joint is None:
            if self.free:
                body.add_freejoint(name=f"{self._name}.{link}")
            else:
                body.mocap = True  # it can be put elsewhere
        elif joint.type != "fixed":
            self._add_joint(body, joint)
        if self.free or (joint is not None and (joint.type != "fixed" or joint.parent in self.moving)):
            self.moving.add(link)
        shapes = self._add_shapes(body, link)
        inertial, item = self._urdf.links[link], f"{self._item}: link {link!r}"
        add_mass(body, inertial, item, shaped=self._shaped and shapes > 0, balanced=self._balanced)
        for child in self._urdf.child_joints[link]:
            self._add(body, child.child, child.X_PJ, child)

    def _add_joint(self, body: mujoco.MjsBody, joint: UrdfJoint) -> None:
        if joint.type not in MOVABLE:
            what = f"{self._item}: joint {joint.name!r}"
            raise HardwareError(what, expected=" or ".join((*MOVABLE, "fixed")), got=joint.type)
        slides = joint.type == "prismatic"
        added = body.add_joint(
            name=f"{self._name}.{joint.name}",
            type=mujoco.mjtJoint.mjJNT_SLIDE if slides else mujoco.mjtJoint.mjJNT_HINGE,
            axis=joint.axis,
        )
        added.damping[0], added.frictionloss = self._dynamics.get(joint.name, (0.0, 0.0))
        if joint.type != "continuous" and np.isfinite(joint.lower) and np.isfinite(joint.upper):
            added.limited, added.range = True, [joint.lower, joint.upper]
            # A stop as hard as contacts are: by itself MuJoCo takes 20 ms to brake at it.
            added.solref_limit = [2.0 * self._spec.option.timestep, 1.0]
            added.solimp_limit = HARD

    def _add_shapes(self, body: mujoco.MjsBody, link: str) -> int:
        """Returns how many may touch others."""
        visuals = visual_shapes(self._urdf, link) if self._drawn else ()
        drawn = bool(visuals) and not any(unreadable(shape, only_drawn=True) for shape in visuals)
        for i, shape in enumerate(visuals if drawn else ()):
            add_visual(self._spec, body, f"{self._name}.{link}/visual{i}", shape)
        friction, before = lateral_friction(self._urdf, link), len(self.geoms)
        for i, shape in enumerate(collision_shapes(self._urdf, link)):
            if reason := unreadable(shape):
                self.unreadable[link] = f"mesh {shape.file}", reason
                continue
            name = f"{self._name}.{link}/{i}"
            geom = add_shape(self._spec, body, name, shape)
            if drawn:
                geom.group = HIDDEN_GROUP
            self.geoms.append((link, name, friction))
        return len(self.geoms) - before

    def refuse_unreadable(self, links: Iterable[str]) -> None:
        """Refuse links with a shape that MuJoCo cannot read. Raises: HardwareError."""
        for link in links:
            if link in self.unreadable:
                mesh, reason = self.unreadable[link]
                raise HardwareError(
                    f"{self._item}: link {link!r}, {mesh}",
                    expected="a mesh that MuJoCo takes: STL, OBJ, DAE or MSH",
                    got=reason,
                    hint="Convert it, or give the link a box, sphere or cylinder as its <collision>",
                )
