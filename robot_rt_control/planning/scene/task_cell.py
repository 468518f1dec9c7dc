"""What a task may name in its workcell: bodies, faces, links, parts. Read without the simulators."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.world.of_workcell import world_of
from robot_rt_control.hardware.world.parameters import ObjectParameters
from robot_rt_control.hardware.world.urdf_shapes import collision_shapes
from robot_rt_control.model.kinematics.chain import motion
from robot_rt_control.model.paths import package_folder
from robot_rt_control.model.robot.urdf import Urdf
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.robot_description import body_of
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.planning.scene.contact_model import box_faces
from robot_rt_control.planning.task import Control
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, refuse_nul, unknown

Array = NDArray[np.float64]

POSE_VALUES = 7
"""Number of values of a sensor that measures a pose."""
_MODES: Mapping[Control, tuple[CommandMode, ...]] = {
    "velocity": (CommandMode.POSITION, CommandMode.VELOCITY),
    "effort": (CommandMode.EFFORT,),
}
"""One of them is needed."""


def find_shipped(name: Path | str, folder: Path, below: str = "") -> Path:
    """A file of the package's configuration, by path or by name.

    Args:
        name: a path, absolute or relative to `folder`; or a name in config/, with or without its ending.
        below: folder in config/.

    Raises:
        DefinitionError: there is none.
    """
    refuse_nul(str(name), "file")
    path = folder / Path(name).expanduser()
    if path.is_file():
        return path
    share = package_folder("robot_rt_control")
    shipped = {} if share is None else {file.stem: file for file in (share / "config" / below).glob("*.yaml")}
    found = shipped.get(str(name).removesuffix(".yaml"))
    if found is None:
        kind = "task" if below else "workcell"
        expected = f"a file, or {unknown(f'{kind} of the package', str(name).removesuffix('.yaml'), shipped)}"
        raise DefinitionError(f"{kind} {str(name)!r}", expected=expected, got=f"no file {path.resolve()}")
    return found


class TaskCell:
    """A workcell, as far as tasks refer to it.

    Args:
        file: of the workcell.

    Attributes:
        robots: part → its URDF; parts of one body share it, and each may name all links.
        links: `<part>.<link>` → whether it has a collision shape; with the tools of the simulated world.
        objects: by name, in the order of the file.

    Raises:
        DefinitionError: the workcell is not valid, or has no simulated world; several mistakes as a ProgramError.
    """

    def __init__(self, file: Path) -> None:
        self.workcell: Workcell = load_workcell(file)
        self._world = world_of(self.workcell)
        self.objects: dict[str, ObjectParameters] = {thing.name: thing for thing in self._world.objects}
        self.parts: dict[str, PartDescription] = {part.name: part for part in self.workcell.parts}
        self.robots: dict[str, Urdf] = {part.name: part.urdf for part in self.workcell.parts if part.urdf is not None}
        self.links: dict[str, bool] = {}
        for name, urdf in self.robots.items():
            self.links |= {f"{name}.{link}": bool(collision_shapes(urdf, link)) for link in urdf.links}
        self.links |= {f"{tool.part_of}.{tool.name}": True for tool in self._world.tools}

    # --- checks ---------------------------------------------------------------------------------

    def check_body(self, name: str) -> None:
        """Refuse what cannot be moved.

        Raises:
            DefinitionError: it is unknown, fixed, or massless.
        """
        what = f"body {name!r}"
        if name in self.objects:
            if not self.is_free(name):
                free = [other for other in self.objects if self.is_free(other)]
                expected = f"a free body: {', '.join(free) or 'none here'}"
                raise DefinitionError(what, expected=expected, got="a fixed one")
            if not self.face_names(name):
                raise DefinitionError(what, expected="a box or a cylinder, whose faces have names", got="another shape")
        elif name in self.links:
            part, _, link = name.partition(".")
            inertial = self.robots[part].links.get(link)
            if inertial is None or inertial.mass <= 0.0:
                raise DefinitionError(what, expected="a link with a mass", got="a massless one")
            if not self._floats(part, link):
                got = "one that no joint of no part can move"
                raise DefinitionError(what, expected="a link that floats: its joints belong to no part", got=got)
        else:
            known = [*filter(self.is_free, self.objects), *self._floating()]
            raise DefinitionError(what, expected=unknown("body", name, known), got=repr(name))

    def check_link(self, name: str) -> None:
        """Refuse a robot geometry that cannot touch anything.

        Raises:
            DefinitionError: there is no such link, or it has no collision shape.
        """
        what = f"robot geometry {name!r}"
        part, dot, _ = name.partition(".")
        if not dot or part not in {*self.robots}:
            expected = f"<part>.<link>, the part {unknown('part', part, self.robots)}"
            raise DefinitionError(what, expected=expected, got=repr(name))
        solid = [link for link, has_shape in self.links.items() if has_shape and link.startswith(f"{part}.")]
        if name not in self.links:
            raise DefinitionError(what, expected=unknown("geometry", name, solid), got=repr(name))
        if not self.links[name]:
            raise DefinitionError(what, expected=f"a link with a collision shape: {', '.join(solid)}", got="none")

    def check_face(self, face: str, body: str, patches: Collection[str] = ()) -> str:
        """A face as the planner names it: that of the body without the body's name before it.

        Args:
            patches: names of rectangles on the body, which are faces as well.

        Raises:
            DefinitionError: there is no such face, or it does not belong to the free body.
        """
        owner, dot, name = face.rpartition(".")
        if body in self.objects:
            what = f"face {face!r} of body {body!r}"
            if dot and owner != body:
                got = f"a face of {owner!r}"
                raise DefinitionError(what, expected="a face of the free body: a pair has one", got=got)
            faces = (*self.face_names(body), *patches)
            if name not in faces:
                raise DefinitionError(what, expected=unknown("face", name, faces), got=repr(name))
            return name
        if face in patches:
            return face
        what = f"face {face!r}"
        fixed = [thing for thing, found in self.objects.items() if found.fixed]
        named = [f"{thing}.{side}" for thing in fixed for side in self.face_names(thing)]
        if face not in named:
            expected = "<fixed object>.<face>, as the body is a link of the robot: " + unknown("face", face, named)
            raise DefinitionError(what, expected=expected, got=repr(face))
        return face

    def check_control(self, part: str, control: Control) -> None:
        """Refuse what a part does not offer.

        Raises:
            DefinitionError: there is no such part, or it cannot be driven so.
        """
        what = f"part {part!r}"
        moving = [p.name for p in self.parts.values() if p.dof and p.urdf is not None]
        if part not in moving:
            raise DefinitionError(what, expected=unknown("part with joints", part, moving), got=repr(part))
        modes = self.parts[part].command_modes
        if not set(_MODES[control]) & set(modes):
            offered = [name for name, needed in _MODES.items() if set(needed) & set(modes)]
            hint = "Effort limits of all its joints make `effort` possible" if control == "effort" else ""
            raise DefinitionError(
                f"{what}: control", expected=f"what it offers: {', '.join(offered)}", got=control, hint=hint
            )

    def check_joints(self, part: str, position: Sequence[float]) -> None:
        """Refuse a start outside limits.

        Raises:
            DefinitionError: no such part, another number of joints, or a joint outside its limits.
        """
        self.check_control(part, "velocity")
        found = self.parts[part]
        if len(position) != found.dof:
            expected = f"{found.dof} numbers, one for each joint"
            raise DefinitionError(f"start of part {part!r}", expected=expected, got=f"{len(position)}")
        lower, upper = found.record.position_lower, found.record.position_upper
        for i, (name, unit, q) in enumerate(zip(found.joint_names, found.units, position, strict=True)):
            if not lower[i] <= q <= upper[i]:
                what = f"start of part {part!r}: joint {name!r} is outside its limits"
                raise DefinitionError(what, expected=f"{lower[i]:g} to {upper[i]:g} {unit}", got=f"{q:g} {unit}")

    def check_pose_sensor(self, name: str) -> None:
        """Refuse a part that cannot measure a pose.

        Raises:
            DefinitionError: it is unknown, no sensor, or has not seven values.
        """
        sensors = {part.name: part for part in self.workcell.parts if part.kind == PartKind.SENSOR}
        what = f"part {name!r}, which measures where the body is"
        if name not in sensors:
            raise DefinitionError(what, expected=unknown("part of kind sensor", name, sensors), got=repr(name))
        if len(sensors[name].inputs) != POSE_VALUES:
            expected = f"{POSE_VALUES} values: position x y z, quaternion x y z w"
            raise DefinitionError(what, expected=expected, got=str(len(sensors[name].inputs)))

    # --- facts ----------------------------------------------------------------------------------

    def is_free(self, thing: str) -> bool:
        """Whether an object can be moved."""
        found = self.objects[thing]
        return not (found.fixed or found.plane or found.profile is not None)

    def face_names(self, thing: str) -> tuple[str, ...]:
        """Names of an object's faces; empty: they have none."""
        found = self.objects[thing]
        if found.box is None and found.cylinder is None:
            return ()
        return tuple(box_faces((1.0, 1.0, 1.0)))  # those of a cylinder have the same names

    def start_of(self, body: str) -> Array:
        """(4, 4) X_WB of a body at the workcell's start. The body must be valid."""
        if body in self.objects:
            return self.objects[body].pose.matrix
        part, _, link = body.partition(".")
        urdf = self.robots[part]
        X: Array = self.parts[part].root.matrix
        start = {
            name: float(q)
            for other in self.parts.values()
            if self._robot_of(other) == self._robot_of(self.parts[part])
            for name, q in zip(other.joint_names, other.start_position, strict=True)
        }
        for joint in urdf.path_to(urdf.root, link):
            X = X @ joint.X_PJ @ motion(joint, start.get(joint.name, 0.0))
        return X

    def _floats(self, part: str, link: str) -> bool:
        urdf = self.robots[part]
        joints = {joint.name: joint.type for joint in urdf.path_to(urdf.root, link)}
        robot = self._robot_of(self.parts[part])
        owned = {name for other in self.parts.values() for name in other.joint_names if self._robot_of(other) == robot}
        moving = {name for name, kind in joints.items() if kind != "fixed"}
        return bool(moving) and not moving & owned

    def _robot_of(self, part: PartDescription) -> str:
        return body_of(part, self.workcell.parts).name

    def _floating(self) -> list[str]:
        own = [part for part in self.robots if self.parts[part].mounted_on is None]
        named = ((part, link) for part in own for link in self.robots[part].links)
        return [f"{part}.{link}" for part, link in named if self._floats(part, link)]
