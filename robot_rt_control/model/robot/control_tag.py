"""Reads a <ros2_control> tag of a URDF. What the workcell makes of it: tagged_devices.py, docs/ros2_control_tag.md."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from robot_rt_control.model.robot.urdf import Urdf, Xml
from robot_rt_control.model.robot.urdf_prefix import CONTROL_TAG
from robot_rt_control.text.document import Document
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.capacities import MAX_WORKCELL_BYTES
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

TYPES = ("system", "actuator", "sensor")

OWN_PREFIX = "robot_rt_control/"
"""Before the name of a plugin of this package."""
MOCKS = ("mock_components/GenericSystem", "fake_components/GenericSystem")


def is_foreign(plugin: str) -> bool:
    """Whether a tag's plugin is a class in C++, which ros2_control_driver hosts."""
    if plugin in MOCKS or plugin.startswith(OWN_PREFIX):
        return False
    return "::" in plugin or ("/" in plugin and ":" not in plugin)


_INTERFACE = ("name", "data_type", "size")
_KNOWN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    CONTROL_TAG: (("name", "type"), ("hardware", "joint", "sensor", "gpio")),
    "hardware": ((), ("plugin", "group", "param")),
    "plugin": ((), ()),
    "group": ((), ()),
    "param": (("name",), ()),
    "joint": (("name", "mimic"), ("command_interface", "state_interface", "param", "limits")),
    "sensor": (("name",), ("state_interface",)),
    "gpio": (("name",), ("command_interface", "state_interface")),
    "command_interface": (_INTERFACE, ("param", "limits")),
    "state_interface": (_INTERFACE, ("param",)),
    "limits": (("enable",), ()),
}
"""Element → its attributes, and the elements in it."""
_REQUIRED = ("name", "type")
_HINTS = {
    "rw_rate": "Every device is read and written once in each period of the workcell",
    "is_async": "Every Python plugin runs beside the loop, in a process of its own",
    "thread_priority": "Every Python plugin runs beside the loop, in a process of its own",
    "properties": "Every Python plugin runs beside the loop, in a process of its own",
    "transmission": "Commands and states are those of the joints; a drive's gear is configured with the drive",
}


@dataclass(frozen=True, kw_only=True)
class TagInterface:
    """A state or command interface."""

    name: str
    line: int
    minimum: float | None = None  # in the unit of the interface
    maximum: float | None = None
    initial: float | None = None


@dataclass(frozen=True, kw_only=True)
class TagComponent:
    """A joint, a sensor or a gpio."""

    kind: str
    name: str
    line: int
    states: dict[str, TagInterface]
    commands: dict[str, TagInterface]
    mimic: bool | None = None
    """The attribute of a joint; None: not given."""
    follows: dict[str, str]
    """The parameters mimic, multiplier and offset of a joint, as written."""


@dataclass(frozen=True, kw_only=True)
class ControlTag:
    """A <ros2_control> tag."""

    source: str
    line: int
    name: str
    type: str
    plugin: str
    plugin_line: int
    group: str
    parameters: dict[str, Any]
    """Those of <hardware>; each text is read as YAML, but those of a plugin in C++."""
    joints: dict[str, TagComponent]
    others: dict[str, TagComponent]
    """Sensors and gpios."""

    @property
    def is_foreign(self) -> bool:
        """See the function of this name."""
        return is_foreign(self.plugin)

    def wrong(self, line: int, what: str, *, expected: str, got: str = "", hint: str = "") -> DefinitionError:
        """An error with the line."""
        return _wrong(self.source, self.name, line, what, expected, got, hint)


def _wrong(
    source: str, tag: str, line: int, what: str, expected: str, got: str = "", hint: str = ""
) -> DefinitionError:
    text = f"{source}:{line}: <{CONTROL_TAG}> {tag!r}" + (f", {what}" if what else "")
    error = DefinitionError(text, expected=expected, got=got, hint=hint)
    error.line = line
    return error


def read_control_tag(urdf: Urdf, element: Xml) -> ControlTag:
    """Read and check one tag by itself.

    If its plugin is in C++, what is not used here may be anything: the plugin reads it as well.

    Raises:
        DefinitionError: something in it is unknown or wrong; with the line.
        ProgramError: several such mistakes.
    """
    return _Reader(urdf.source, element).read()


class _Reader:
    def __init__(self, source: str, root: Xml) -> None:
        self.source, self.root, self.mistakes = source, root, Mistakes()
        plugins = (x.text for child in root.children if child.tag == "hardware" for x in child.children)
        self.foreign = any(is_foreign(text) for text in plugins)
        self.name = root.attributes.get("name", "")

    def wrong(self, xml: Xml, what: str, expected: str, got: str = "", hint: str = "") -> None:
        with self.mistakes.collect():
            raise _wrong(self.source, self.name, xml.line, what, expected, got, hint)

    def read(self) -> ControlTag:
        self.check(self.root, "")
        root, (joints, others) = self.root, self.components()
        if root.attributes.get("type", "system") not in TYPES:
            self.wrong(root, "type", "one of " + ", ".join(TYPES), repr(root.attributes["type"]))
        hardware = [child for child in root.children if child.tag == "hardware"]
        plugins = [child for part in hardware for child in part.children if child.tag == "plugin" and child.text]
        if len(hardware) != 1 or len(plugins) != 1:
            self.wrong(root, "", "one <hardware> with one <plugin>", f"{len(hardware)} with {len(plugins)}")
        parameters = self.parameters(hardware[0]) if hardware else {}
        values: dict[str, Any] = {}
        for name, parameter in parameters.items():
            if self.foreign:
                values[name] = parameter.text
                continue
            with self.mistakes.collect():
                where = f"{self.source}:{parameter.line}: <param name={name!r}>"
                values[name] = Document(parameter.text, where, max_bytes=MAX_WORKCELL_BYTES).data
        self.mistakes.raise_all()
        groups = [child.text for child in hardware[0].children if child.tag == "group"]
        return ControlTag(
            source=self.source,
            line=root.line,
            name=self.name,
            type=root.attributes["type"],
            plugin=plugins[0].text,
            plugin_line=plugins[0].line,
            group=groups[0] if groups else "",
            parameters=values,
            joints=joints,
            others=others,
        )

    def check(self, xml: Xml, item: str) -> None:
        """Collect what is unknown or missing in an element, at any depth."""
        attributes, children = _KNOWN[xml.tag]
        if xml is not self.root:
            name = xml.attributes.get("name")
            item = f"{item}, <{xml.tag}>".lstrip(", ") + (f" {name!r}" if name else "")
        for name in xml.attributes:
            if name not in attributes and not self.foreign:
                what, hint = f"{item}, attribute {name!r}".lstrip(", "), _HINTS.get(name, "")
                self.wrong(xml, what, unknown("attribute", name, attributes) if attributes else "none", hint=hint)
        for name in attributes:
            if name in _REQUIRED and not xml.attributes.get(name):
                self.wrong(xml, item, f"an attribute {name!r}", "none")
        for child in xml.children:
            if child.tag in children:
                self.check(child, item)
            elif not self.foreign:
                what, hint = f"{item}, <{child.tag}>".lstrip(", "), _HINTS.get(child.tag, "")
                expected = ", ".join(f"<{known}>" for known in children) or "no elements"
                self.wrong(child, what, expected, hint=hint)

    def components(self) -> tuple[dict[str, TagComponent], dict[str, TagComponent]]:
        """Joints, and sensors with gpios, by name."""
        joints: dict[str, TagComponent] = {}
        others: dict[str, TagComponent] = {}
        for xml in self.root.children:
            if xml.tag not in ("joint", "sensor", "gpio"):
                continue
            item = f"{xml.tag} {xml.attributes.get('name')!r}"
            found = joints if xml.tag == "joint" else others
            if xml.attributes.get("name", "") in found:
                self.wrong(xml, item, "names that occur once", "a second one of that name")
            component = TagComponent(
                kind=xml.tag,
                name=xml.attributes.get("name", ""),
                line=xml.line,
                states=self.interfaces(xml, "state_interface", item),
                commands=self.interfaces(xml, "command_interface", item),
                mimic=self.truth(xml, "mimic", item),
                follows=self.follows(xml, item),
            )
            self.limits_enabled(xml, item)
            found[component.name] = component
        return joints, others

    def follows(self, xml: Xml, item: str) -> dict[str, str]:
        known = ("mimic", "multiplier", "offset")
        if xml.tag != "joint":
            return {}
        parameters = self.parameters(xml, None if self.foreign else known, item)
        return {n: p.text for n, p in parameters.items() if n in known}

    def interfaces(self, parent: Xml, tag: str, item: str) -> dict[str, TagInterface]:
        found: dict[str, TagInterface] = {}
        for xml in parent.children:
            if xml.tag != tag:
                continue
            name = xml.attributes.get("name", "")
            what = f"{item}, {tag} {name!r}"
            if name in found:
                self.wrong(xml, what, "names that occur once", "a second one of that name")
            types = ("double", "bool") if parent.tag == "gpio" else ("double",)
            if xml.attributes.get("data_type", "double") not in types and not self.foreign:
                self.wrong(xml, f"{what}, data_type", " or ".join(types), repr(xml.attributes["data_type"]))
            if xml.attributes.get("size", "1") != "1" and not self.foreign:
                self.wrong(xml, f"{what}, size", "1: each interface is one number", repr(xml.attributes["size"]))
            self.limits_enabled(xml, what)
            known = ("min", "max") if tag == "command_interface" else ("initial_value",)
            parameters = self.parameters(xml, None if self.foreign else known, what)
            given = {n: self.number(p, f"{what}, {n}") for n, p in parameters.items() if n in known}
            found[name] = TagInterface(
                name=name,
                line=xml.line,
                minimum=given.get("min"),
                maximum=given.get("max"),
                initial=given.get("initial_value"),
            )
        return found

    def limits_enabled(self, xml: Xml, item: str) -> None:
        for child in xml.children:
            if child.tag == "limits" and not self.foreign and self.truth(child, "enable", item) is not True:
                self.wrong(child, f"{item}, <limits>", 'enable="true": the loop always enforces limits')

    def parameters(self, xml: Xml, known: Iterable[str] | None = None, item: str = "") -> dict[str, Xml]:
        """The <param> in an element; `known`: their names, None: any."""
        found: dict[str, Xml] = {}
        for child in xml.children:
            if child.tag != "param" or not child.attributes.get("name"):
                continue
            name = child.attributes["name"]
            if known is not None and name not in known:
                self.wrong(child, f"{item}, <param> {name!r}", unknown("parameter", name, known))
            elif name in found:
                self.wrong(child, f"{item}, <param> {name!r}".lstrip(", "), "names that occur once", "a second one")
            found[name] = child
        return found

    def number(self, xml: Xml, what: str) -> float | None:
        try:
            value = float(xml.text)
        except ValueError:
            value = math.nan
        if math.isfinite(value):
            return value
        if not self.foreign:
            self.wrong(xml, what, "a finite number", repr(xml.text))
        return None

    def truth(self, xml: Xml, attribute: str, item: str) -> bool | None:
        text = xml.attributes.get(attribute)
        if text is None:
            return None
        if text.lower() not in ("true", "false"):
            self.wrong(xml, f"{item}, {attribute}", "true or false", repr(text))
        return text.lower() == "true"
