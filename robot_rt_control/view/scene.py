"""The scene of a workcell: what a browser needs to draw its robots, from the URDF that the executor publishes.

`python -m robot_rt_control.view.scene` makes it in a process beside the editor's server, see `processes/call.py`: a
large mesh holds up neither its STOP nor its other answers.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robot_rt_control.hardware.world.urdf_shapes import LinkShape, drawn_shapes, material_colors
from robot_rt_control.model.robot.urdf import MOVABLE, Array, Urdf
from robot_rt_control.model.robot.urdf_reader import parse_urdf
from robot_rt_control.processes.call import answer
from robot_rt_control.view.mesh import mesh_bytes

Json = dict[str, Any]

MOST_BYTES = 40 << 20
"""Of all meshes of a scene, as they are sent."""
MOST_LINKS, MOST_SHAPES, MOST_PROBLEMS = 4096, 16384, 100
_FARTHEST = 1e6
"""[m] Greatest length or coordinate."""
_SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "mesh": 3}


@dataclass
class Scene:
    """What a browser draws.

    Attributes:
        links: from the root on, a parent before its children: `name`; `parent`, its number, -1 of the root; `X`, the
            joint's frame in the parent at 0; `motion`, "fixed", "turn" or "slide"; `axis` in the joint's frame;
            `joint`, a number in `joints`, -1 of a fixed one; `shapes`.
        joints: those whose positions move the scene: `name`; `follows` [number, factor, offset] of one that mimics
            another, or None.
        problems: what is not drawn as the URDF has it, in words.
        meshes: id → bytes, see `mesh.encoded`.
    """

    name: str = ""
    links: list[Json] = field(default_factory=list)
    joints: list[Json] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    meshes: dict[str, bytes] = field(default_factory=dict)

    def as_json(self) -> Json:
        """All but the meshes."""
        return {"name": self.name, "links": self.links, "joints": self.joints, "problems": self.problems}


def scene_of(description: str, *, with_meshes: bool = True) -> Scene:
    """The scene of a robot_description.

    Args:
        with_meshes: else no mesh's file is read.

    Raises:
        DefinitionError: it is no URDF.
    """
    urdf = parse_urdf(description.encode(), Path("robot_description"))
    return _Maker(urdf, with_meshes).scene


class _Maker:
    def __init__(self, urdf: Urdf, with_meshes: bool) -> None:
        self.scene = Scene(name=urdf.name)
        self._urdf, self._with_meshes = urdf, with_meshes
        self._root = ElementTree.fromstring(urdf.content)
        self._elements = {link.get("name"): link for link in self._root.findall("link")}
        self._unread: dict[Path, str] = {}
        """Files of meshes that are not taken, and why."""
        self._ids: dict[Path, str] = {}
        self._shapes = 0
        try:
            self._colors: Mapping[Any, Any] = material_colors(self._root)
        except ValueError as error:
            self._problem(f"materials: {error}")
            self._colors = {}
        self._add_joints()
        numbers: dict[str, int] = {}
        for name in self._in_order():
            if len(numbers) >= MOST_LINKS:
                self._problem(f"{len(urdf.links)} links; those beyond {MOST_LINKS} are not drawn")
                break
            numbers[name] = len(numbers)
            self.scene.links.append(self._link(name, numbers))

    def _in_order(self) -> Iterator[str]:
        """The links, each after its parent."""
        coming = [self._urdf.root]
        while coming:
            name = coming.pop(0)
            yield name
            coming += [joint.child for joint in self._urdf.child_joints[name]]

    def _add_joints(self) -> None:
        movable = [joint for joint in self._urdf.joints.values() if joint.type in MOVABLE]
        self._numbers = {joint.name: i for i, joint in enumerate(movable)}
        for joint in movable:
            mimic = joint.mimic
            follows = None
            if mimic is not None and mimic.joint in self._numbers:
                follows = [self._numbers[mimic.joint], mimic.multiplier, mimic.offset]
            self.scene.joints.append({"name": joint.name, "follows": follows})
        for joint in self._urdf.joints.values():
            if joint.type not in (*MOVABLE, "fixed"):
                self._problem(f"joint {joint.name!r} is {joint.type}: what is below it is drawn where it is at rest")

    def _link(self, name: str, numbers: Mapping[str, int]) -> Json:
        joint = self._urdf.parent_joint.get(name)
        turns = joint is not None and joint.type in ("revolute", "continuous")
        slides = joint is not None and joint.type == "prismatic"
        return {
            "name": name,
            "parent": -1 if joint is None else numbers[joint.parent],
            "X": _columns(np.eye(4) if joint is None else joint.X_PJ),
            "motion": "turn" if turns else "slide" if slides else "fixed",
            "axis": [0.0, 0.0, 1.0] if joint is None else joint.axis.tolist(),
            "joint": -1 if joint is None else self._numbers.get(joint.name, -1),
            "shapes": self._drawn(name),
        }

    # --- shapes ---------------------------------------------------------------------------------

    def _drawn(self, link: str) -> list[Json]:
        """Its visual shapes. If it has none, or not all meshes of them are there: its collision shapes."""
        shapes = self._read(link, "visual")
        if not shapes or not all(self._is_taken(link, shape) for shape in shapes):
            shapes = [each for each in self._read(link, "collision") if self._is_taken(link, each)] or [
                each for each in shapes if self._is_taken(link, each)
            ]
        self._shapes += len(shapes)
        if self._shapes > MOST_SHAPES:
            self._problem(f"more than {MOST_SHAPES} shapes; the others are not drawn")
            return []
        return [
            {
                "kind": shape.kind,
                "size": list(shape.size),
                "X": _columns(shape.X_LS),
                "color": None if shape.color is None else [min(max(c, 0.0), 1.0) for c in shape.color],
                "mesh": self._ids.get(shape.file, "") if shape.file is not None else "",
            }
            for shape in shapes
        ]

    def _read(self, link: str, tag: str) -> list[LinkShape]:
        try:
            # robot_description names all files absolutely
            found = drawn_shapes(self._elements[link], tag, Path("/"), self._colors)
            for shape in found:
                numbers = [*shape.size, *shape.X_LS.ravel(), *(shape.color or ())]
                if len(shape.size) != _SIZES[shape.kind] or not all(map(math.isfinite, numbers)):
                    raise ValueError(f"a {shape.kind} needs {_SIZES[shape.kind]} finite numbers")
                if max(map(abs, numbers)) > _FARTHEST:
                    raise ValueError(f"more than {_FARTHEST:g} m")
        except (ValueError, TypeError) as error:
            self._problem(f"link {link!r}, <{tag}>: {error}")
            return []
        return list(found)

    def _is_taken(self, link: str, shape: LinkShape) -> bool:
        """Whether it can be drawn; the mesh's triangles are kept then. Each mesh that is not is named once."""
        file = shape.file
        if file is None or file in self._ids:
            return True
        if file not in self._unread:
            try:
                if not self._with_meshes:
                    raise ValueError("the process that reads meshes has ended on one of them")
                content = mesh_bytes(file)
                if sum(map(len, self.scene.meshes.values())) + len(content) > MOST_BYTES:
                    raise ValueError(f"all meshes together have more than {MOST_BYTES >> 20} MB")
            except Exception as error:  # the file may be anything
                self._unread[file] = str(error) or type(error).__name__
                text = self._unread[file] if str(file) in str(error) else f"{file}: {self._unread[file]}"
                self._problem(f"link {link!r}: its mesh is not drawn: {text}")
            else:
                self._ids[file] = hashlib.sha256(content).hexdigest()[:24]
                self.scene.meshes[self._ids[file]] = content
                return True
        return False

    def _problem(self, text: str) -> None:
        if len(self.scene.problems) < MOST_PROBLEMS:
            self.scene.problems.append(text)


def _columns(X: Array) -> list[float]:
    """(4, 4), column by column, as WebGL takes it."""
    return [float(value) for value in X.T.ravel()]


def meshes_of(files: Sequence[str]) -> Json:
    """Meshes of files: `meshes`, file → its id and its bytes (`mesh.encoded`) in base64, of those that are taken; and
    `problems`, why others are not."""
    found: dict[str, tuple[str, str]] = {}
    problems = []
    total = 0
    for file in files:
        try:
            content = mesh_bytes(Path(file))
            total += len(content)
            if total > MOST_BYTES:
                raise ValueError(f"all meshes together have more than {MOST_BYTES >> 20} MB")
        except Exception as error:  # the file may be anything
            problems.append(f"{file}: {str(error) or type(error).__name__}")
        else:
            found[file] = hashlib.sha256(content).hexdigest()[:24], base64.b64encode(content).decode()
    return {"meshes": found, "problems": problems}


def _answer(question: Json) -> Json:
    if "files" in question:
        return meshes_of(question["files"])
    scene = scene_of(question["description"], with_meshes=question["with_meshes"])
    meshes = {id: base64.b64encode(content).decode() for id, content in scene.meshes.items()}
    return {**scene.as_json(), "meshes": meshes}


if __name__ == "__main__":
    answer(_answer)
