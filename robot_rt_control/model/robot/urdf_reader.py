"""Reads a URDF, from a file or, expanded, from a xacro file. Meshes and all other visual elements are ignored.

This package has its own reader because it needs few elements, exact errors, and no scene graph libraries at start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from robot_rt_control.model.robot import xacro_file
from robot_rt_control.model.robot.urdf import JOINT_TYPES, MOVABLE, Array, Inertial, Mimic, Urdf, UrdfJoint, Xml
from robot_rt_control.model.robot.urdf_prefix import CONTROL_TAG, add_prefix
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


def rotation_of_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """(3, 3) rotation of URDF's fixed-axis angles [rad]: first about x, then y, then z."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_of_rotation(R: Array) -> tuple[float, float, float]:
    """Fixed-axis angles x, y, z of a rotation matrix; at the poles with yaw 0."""
    pitch = float(np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-9:
        return float(np.arctan2(-R[1, 2], R[1, 1])), pitch, 0.0
    return float(np.arctan2(R[2, 1], R[2, 2])), pitch, float(np.arctan2(R[1, 0], R[0, 0]))


class _Reader:
    """Takes elements apart; every error names the file, the line and the link or joint."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines: dict[ElementTree.Element, int] = {}

    def fail(
        self, at: ElementTree.Element | int | None, item: str, expected: str, got: str, hint: str = ""
    ) -> DefinitionError:
        """`at`: an element, or a line."""
        line = at if isinstance(at, int) else self.lines.get(at, 1) if at is not None else 1
        error = DefinitionError(f"{self.source}:{line}: {item}", expected=expected, got=got, hint=hint)
        error.line = line
        return error

    def parse(self, content: bytes) -> ElementTree.Element:
        """The root element. ElementTree's own parser does not record the lines of elements."""
        parser, builder = expat.ParserCreate(), ElementTree.TreeBuilder()

        def start(tag: str, attributes: dict[str, str]) -> None:
            self.lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

        parser.StartElementHandler, parser.EndElementHandler = start, builder.end
        parser.CharacterDataHandler, parser.buffer_text = builder.data, True
        try:
            parser.Parse(content, True)
        except expat.ExpatError as error:
            text = expat.ErrorString(error.code)
            raise self.fail(error.lineno, "URDF", "well-formed XML", f"{text} in column {error.offset + 1}") from None
        return builder.close()

    def xml(self, element: ElementTree.Element) -> Xml:
        return Xml(
            tag=element.tag,
            line=self.lines[element],
            attributes=dict(element.attrib),
            text=(element.text or "").strip(),
            children=tuple(self.xml(child) for child in element),
        )

    def number(self, element: ElementTree.Element, attribute: str, item: str) -> float | None:
        text = element.get(attribute)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.fail(element, f"{item}, <{element.tag} {attribute}>", "a finite number", repr(text))
        return value

    def required(self, element: ElementTree.Element, attribute: str, item: str) -> str:
        text = element.get(attribute)
        if not text:
            raise self.fail(element, item, f"an attribute {attribute!r} in <{element.tag}>", "none")
        return text

    def child(self, element: ElementTree.Element, tag: str, item: str) -> ElementTree.Element:
        found = element.find(tag)
        if found is None:
            raise self.fail(element, item, f"an element <{tag}>", "none")
        return found

    def triple(self, element: ElementTree.Element, attribute: str, item: str) -> Array:
        text = element.get(attribute, "0 0 0")
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            values = np.array([])
        if values.shape != (3,) or not np.all(np.isfinite(values)):
            raise self.fail(element, f"{item}, <{element.tag} {attribute}>", "three finite numbers", repr(text))
        return values

    def origin(self, element: ElementTree.Element, item: str) -> Array:
        X = np.eye(4)
        found = element.find("origin")
        if found is not None:
            X[:3, :3] = rotation_of_rpy(*self.triple(found, "rpy", item))
            X[:3, 3] = self.triple(found, "xyz", item)
        return X

    def inertial(self, link: ElementTree.Element, item: str) -> Inertial | None:
        found = link.find("inertial")
        if found is None:
            return None
        X = self.origin(found, item)
        mass_element = self.child(found, "mass", item)
        mass = self.number(mass_element, "value", item)
        if mass is None or mass < 0.0:
            raise self.fail(mass_element, f"{item}, <mass value>", "a mass [kg] of at least 0", str(mass))
        tensor = np.zeros((3, 3))
        element = self.child(found, "inertia", item)
        for row, column, attribute in (
            (0, 0, "ixx"), (0, 1, "ixy"), (0, 2, "ixz"), (1, 1, "iyy"), (1, 2, "iyz"), (2, 2, "izz"),
        ):  # fmt: skip
            tensor[row, column] = tensor[column, row] = self.number(element, attribute, item) or 0.0
        R = X[:3, :3]
        return Inertial(mass=mass, center_of_mass=X[:3, 3].copy(), inertia=R @ tensor @ R.T)

    def joint(self, element: ElementTree.Element, name: str) -> UrdfJoint:
        item = f"joint {name!r}"
        kind = self.required(element, "type", item)
        if kind not in JOINT_TYPES:
            raise self.fail(element, f"{item}, type", "one of " + ", ".join(JOINT_TYPES), repr(kind))
        axis = np.array([1.0, 0.0, 0.0])
        axis_element = element.find("axis")
        if axis_element is not None:
            axis = self.triple(axis_element, "xyz", item)
        length = float(np.linalg.norm(axis))
        if kind in MOVABLE:
            if length < 1e-9:
                raise self.fail(axis_element, f"{item}, <axis xyz>", "a direction", str(axis.tolist()))
            axis = axis / length
        lower, upper = -math.inf, math.inf
        limit = element.find("limit")
        velocity = effort = None
        if limit is not None:
            velocity = self.number(limit, "velocity", item) or None
            effort = self.number(limit, "effort", item) or None
            for what, value in (("velocity", velocity), ("effort", effort)):
                if value is not None and value < 0.0:
                    raise self.fail(limit, f"{item}, <limit {what}>", "at least 0", f"{value:g}")
        if kind in ("revolute", "prismatic"):
            if limit is None:
                raise self.fail(element, item, f"an element <limit>, as the joint is {kind}", "none")
            lower = self.number(limit, "lower", item) or 0.0
            upper = self.number(limit, "upper", item) or 0.0
            if not lower < upper:
                raise self.fail(limit, f"{item}, <limit>", "lower < upper", f"lower {lower:g}, upper {upper:g}")
        mimic = None
        follows = element.find("mimic")
        if follows is not None:
            multiplier = self.number(follows, "multiplier", item)
            mimic = Mimic(
                name=name,
                joint=self.required(follows, "joint", item),
                multiplier=1.0 if multiplier is None else multiplier,
                offset=self.number(follows, "offset", item) or 0.0,
            )
        return UrdfJoint(
            name=name,
            line=self.lines[element],
            type=kind,
            parent=self.required(self.child(element, "parent", item), "link", item),
            child=self.required(self.child(element, "child", item), "link", item),
            X_PJ=self.origin(element, item),
            axis=axis,
            lower=lower,
            upper=upper,
            velocity=velocity,
            effort=effort,
            mimic=mimic,
        )

    def check_tree(self, links: Mapping[str, ElementTree.Element], joints: dict[str, UrdfJoint]) -> None:
        children: dict[str, str] = {}
        for joint in joints.values():
            for role, link in (("parent", joint.parent), ("child", joint.child)):
                if link not in links:
                    item = f"joint {joint.name!r}, {role} {link!r}"
                    raise self.fail(joint.line, item, unknown("link", link, links), repr(link))
            if joint.child in children:
                raise self.fail(
                    joint.line,
                    f"link {joint.child!r}",
                    "one joint above it",
                    f"the joints {children[joint.child]!r} and {joint.name!r}",
                )
            children[joint.child] = joint.name
        roots = [name for name in links if name not in children]
        if len(roots) != 1:
            at = links[roots[1]] if roots else None
            raise self.fail(at, "tree of links", "exactly one root link", ", ".join(roots) or "none")
        reached, above = {roots[0]}, [roots[0]]
        while above:
            link = above.pop()
            below = [j.child for j in joints.values() if j.parent == link]
            reached.update(below)
            above.extend(below)
        lost = sorted(set(links) - reached)
        if lost:
            got = "a loop through " + ", ".join(lost)
            raise self.fail(links[lost[0]], "tree of links", f"every link below {roots[0]!r}", got)


def read_urdf(path: Path, *, xacro_arguments: Mapping[str, str] | None = None, prefix: str = "") -> Urdf:
    """Read and check a URDF file, or expand a xacro file first.

    Args:
        path: of the file; one whose name ends with .xacro is expanded.
        xacro_arguments: name → value, for the latter.
        prefix: before the names of all links and joints.

    Raises:
        DefinitionError: the file is missing, cannot be expanded, is not XML, or does not describe a tree of links.
    """
    if not path.is_file():
        raise DefinitionError(f"URDF {path}", expected="a file", got="nothing there")
    if path.suffix == xacro_file.SUFFIX:
        content = xacro_file.expand(path, xacro_arguments or {})
        return parse_urdf(content, path, source=f"{path}, expanded", prefix=prefix)
    if xacro_arguments:
        raise DefinitionError(
            f"{path}: xacro arguments", expected=f"none, or a file whose name ends with {xacro_file.SUFFIX}"
        )
    return parse_urdf(path.read_bytes(), path, prefix=prefix)


def parse_urdf(content: bytes, path: Path, *, source: str = "", prefix: str = "") -> Urdf:
    """Read and check the text of a URDF.

    Args:
        content: the text.
        path: of its file; what it names relative to itself is there.
        source: what errors name before the line; empty: the path.
        prefix: before the names of all links and joints.

    Raises:
        DefinitionError: it is not XML, or does not describe a tree of links.
    """
    source = source or str(path)
    reader = _Reader(source)
    robot = reader.parse(content)
    if robot.tag != "robot":
        raise reader.fail(robot, "URDF", "the root element <robot>", f"<{robot.tag}>")
    macro = next((element for element in robot if element.tag.startswith("xacro:")), None)
    if macro is not None:
        raise reader.fail(macro, "URDF", "no macros", f"<{macro.tag}>", f"Name the file …{xacro_file.SUFFIX}")
    if prefix:
        add_prefix(robot, prefix)
        content = ElementTree.tostring(robot)
    links: dict[str, Inertial | None] = {}
    joints: dict[str, UrdfJoint] = {}
    elements: dict[str, ElementTree.Element] = {}
    for element in robot.findall("link"):
        name = reader.required(element, "name", "a link")
        if name in links:
            raise reader.fail(element, f"link {name!r}", "names that occur once", "a second link of that name")
        elements[name] = element
        links[name] = reader.inertial(element, f"link {name!r}")
    for element in robot.findall("joint"):
        name = reader.required(element, "name", "a joint")
        if name in joints:
            raise reader.fail(element, f"joint {name!r}", "names that occur once", "a second joint of that name")
        joints[name] = reader.joint(element, name)
    reader.check_tree(elements, joints)
    return Urdf(
        path=path,
        source=source,
        name=robot.get("name", ""),
        content=content,
        links=links,
        joints=joints,
        controls=tuple(reader.xml(element) for element in robot.findall(CONTROL_TAG)),
    )
