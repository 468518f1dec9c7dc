"""Devices that a <ros2_control> tag of a URDF selects and configures: `ros2_control: NAME` in the workcell file.

The tag chooses the plugin and its parameters. It tightens the joints' limits, gives their command modes and start, and
must name exactly what the device's parts have: docs/ros2_control_tag.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from robot_rt_control.model.robot.control_tag import MOCKS, OWN_PREFIX, ControlTag, TagComponent, read_control_tag
from robot_rt_control.model.robot.urdf import Urdf, UrdfJoint
from robot_rt_control.model.workcell import workcell_schema as schema
from robot_rt_control.model.workcell.canopen import CANOPEN
from robot_rt_control.model.workcell.control_tag_fit import check_channels, check_component, check_type
from robot_rt_control.model.workcell.drives import DRIVES
from robot_rt_control.model.workcell.external import EXTERNAL
from robot_rt_control.model.workcell.limits import LimitedJoint
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.simulators import SIMULATORS
from robot_rt_control.text.document import Place
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.errors import DefinitionError, unknown
from robot_rt_control.vocabulary.part_kinds import JOINT_INTERFACES

MOCK = "mock"
"""The plugin on which every device can run without configuration."""
OWN_PLUGINS = (CANOPEN, DRIVES, "dynamixel", EXTERNAL, "franka", "franka_hand", MOCK, *SIMULATORS, "topic")
"""In a tag: robot_rt_control/<name>."""
_NEUTRAL = {
    "calculate_dynamics": True,
    "disable_commands": False,
    "mock_gpio_commands": False,
    "mock_sensor_commands": False,
    "position_state_following_offset": 0.0,
}
"""Parameters of GenericSystem, with the value that our mock has without a parameter."""

Moving = TypeVar("Moving", bound=schema.MovingPart)


class TaggedDevices:
    """The devices of one workcell that are configured by tags.

    Args:
        devices: of the workcell file.
        place: of `devices` in it.
        mistakes: gets all mistakes in tags.
    """

    def __init__(self, devices: Mapping[str, schema.Device], place: Place, mistakes: Mistakes) -> None:
        self._devices, self._place, self._mistakes = devices, place, mistakes
        self._tags: dict[str, ControlTag | None] = {}
        """Device → its tag; None: it is wrong."""

    def moving(
        self, part: Moving, joints: Sequence[LimitedJoint], urdf: Urdf | None
    ) -> tuple[Moving, tuple[LimitedJoint, ...]]:
        """A part and its joints as the tag of their device configures them."""
        tag = self._tag(part.device, [urdf] if urdf is not None else [])
        if tag is None:
            return part, tuple(joints)
        update: dict[str, Any] = {}
        start: list[float | None] = []
        modes: set[tuple[str, ...]] = set()
        found: list[LimitedJoint] = []
        for joint in joints:
            component = tag.joints.get(joint.name)
            if component is None:
                expected = f"a <joint> {joint.name!r}, which the workcell has on the device {part.device!r}"
                self._wrong(tag, tag.line, "", expected=expected, got=", ".join(tag.joints) or "none")
                found.append(joint)
                start.append(None)
                continue
            found.append(self._limited(tag, component, joint))
            modes.add(self._modes(tag, component, joint))
            measured = component.states.get("position")
            start.append(None if measured is None else measured.initial)
        if len(modes) > 1:
            self._wrong(tag, tag.line, "", expected=f"the same command interfaces for all joints of one part: {modes}")
        elif modes:
            offered = next(iter(modes))
            if part.command_modes is None:
                update["command_modes"] = offered
            elif not set(part.command_modes) <= set(offered):
                expected = "the command interfaces " + ", ".join(part.command_modes) + ", which are command_modes"
                self._wrong(tag, tag.line, "", expected=expected, got=", ".join(offered))
        if any(value is not None for value in start):
            position = tuple(value or 0.0 for value in start)
            if part.start_position is not None and tuple(part.start_position) != position:
                expected = f"the start_position of the workcell file {list(part.start_position)}"
                self._wrong(tag, tag.line, "initial_value", expected=expected, got=str(list(position)))
            update["start_position"] = position
        return part.model_copy(update=update), tuple(found)

    def finish(self, parts: Sequence[PartDescription], urdfs: Iterable[Urdf]) -> dict[str, schema.Device]:
        """All devices, those with tags configured by them.

        Args:
            parts: all that are valid.
            urdfs: of the workcell.
        """
        distinct = _distinct(urdfs)
        groups: dict[str, str] = {}
        found = dict(self._devices)
        for name in self._devices:
            tag = self._tag(name, distinct)
            if tag is None:
                continue
            own = [part for part in parts if part.device == name]
            # What a plugin in C++ offers beside the parts is left alone.
            for component in () if tag.is_foreign else (*tag.joints.values(), *tag.others.values()):
                with self._mistakes.collect():
                    check_component(tag, component, own)
            for part in own:
                with self._mistakes.collect():
                    check_channels(tag, part)
            with self._mistakes.collect():
                check_type(tag)
            if tag.group and groups.setdefault(tag.group, name) != name:
                expected = "a <group> of one device: put the parts that fail together on one device"
                got = f"{tag.group!r}, also of {groups[tag.group]!r}"
                self._wrong(tag, tag.line, "<group>", expected=expected, got=got)
            with self._mistakes.collect():
                found[name] = self._configured(name, tag)
        return found

    def unused(self, urdfs: Iterable[Urdf]) -> tuple[str, ...]:
        """A warning for each tag that no device uses."""
        used = {device.ros2_control for device in self._devices.values()}
        return tuple(
            f"{urdf.source}:{tag.line}: <ros2_control> {name!r} is not used. `ros2_control: {name}` in a device of the "
            "workcell file would use it"
            for urdf in _distinct(urdfs)
            for tag in urdf.controls
            if (name := tag.attributes.get("name", "")) not in used
        )

    def _wrong(self, tag: ControlTag, line: int, what: str, **parts: str) -> None:
        with self._mistakes.collect():
            raise tag.wrong(line, what, **parts)

    def _tag(self, device: str, urdfs: Sequence[Urdf]) -> ControlTag | None:
        """The tag of a device; None: it has none, or a wrong one."""
        wanted = self._devices[device].ros2_control if device in self._devices else None
        if wanted is None:
            return None
        if device not in self._tags:
            self._tags[device] = None
            found = [(u, x) for u in urdfs for x in u.controls if x.attributes.get("name") == wanted]
            with self._mistakes.collect():
                if len(found) != 1:
                    names = [x.attributes.get("name", "") for u in urdfs for x in u.controls]
                    raise DefinitionError(
                        str(self._place / device / "ros2_control"),
                        expected=unknown("<ros2_control> tag in the URDF of its parts", wanted, names),
                        got=f"{len(found)} of the name {wanted!r}",
                    )
                self._tags[device] = read_control_tag(*found[0])
        return self._tags[device]

    def _modes(self, tag: ControlTag, component: TagComponent, joint: LimitedJoint) -> tuple[str, ...]:
        """The command modes of a joint; what is wrong with its interfaces is collected."""
        item = f"joint {joint.name!r}"
        for kind, interfaces in (("state", component.states), ("command", component.commands)):
            for interface in interfaces.values():
                if tag.is_foreign:
                    continue
                if interface.name not in JOINT_INTERFACES:
                    what = f"{item}, {kind}_interface {interface.name!r}"
                    self._wrong(tag, interface.line, what, expected="one of " + ", ".join(JOINT_INTERFACES))
                elif interface.name != "position" and interface.initial:
                    what = f"{item}, state_interface {interface.name!r}, initial_value"
                    self._wrong(tag, interface.line, what, expected="0: every part starts at rest")
        if "position" not in component.states or not component.commands:
            expected = "a command_interface, and the state_interface 'position'"
            self._wrong(tag, component.line, item, expected=expected)
        mimic = joint.mimic if isinstance(joint, UrdfJoint) else None
        if component.mimic or (mimic is not None and component.mimic is None):
            expected = 'mimic="false", as the joint belongs to a part and moves on its own'
            self._wrong(tag, component.line, item, expected=expected)
        return tuple(name for name in JOINT_INTERFACES if name in component.commands)

    def _limited(self, tag: ControlTag, component: TagComponent, joint: LimitedJoint) -> LimitedJoint:
        """A joint with the tighter ones of its own limits and those of the tag."""
        if not isinstance(joint, UrdfJoint):
            return joint
        limits: dict[str, Any] = {}
        for interface in component.commands.values():
            low, high = interface.minimum, interface.maximum
            if interface.name == "position":
                lower = joint.lower if low is None else max(joint.lower, low)
                upper = joint.upper if high is None else min(joint.upper, high)
                limits |= {"lower": lower, "upper": upper}
                wrong = not lower < upper
            else:
                own = getattr(joint, interface.name, None)
                bounds = [b for b in (own, None if low is None else -low, high) if b is not None]
                if not bounds or interface.name not in JOINT_INTERFACES:
                    continue
                limits[interface.name] = min(bounds)  # symmetric: the tighter one
                wrong = not min(bounds) > 0.0
            if wrong:
                what = f"joint {joint.name!r}, command_interface {interface.name!r}"
                expected = "min below max, and 0 between them for velocity and effort; the URDF's <limit> applies, too"
                self._wrong(tag, interface.line, what, expected=expected, got=f"min {low}, max {high}")
                return joint
        return replace(joint, **limits)

    def _configured(self, name: str, tag: ControlTag) -> schema.Device:
        """The device with the tag's plugin, its parameters, and initial values of sensors for the mock."""
        device = self._devices[name]
        plugins = {key: dict(value) for key, value in device.plugins.items()}
        plugin = device.plugin  # the workcell file replaces the tag's <hardware>
        if plugin is None:
            plugin = _plugin(tag)
            parameters = {} if plugin == EXTERNAL else dict(tag.parameters)  # a foreign driver reads the tag itself
            if tag.plugin in MOCKS:
                for key, neutral in _NEUTRAL.items():
                    if key in parameters and parameters.pop(key) != neutral:
                        expected = f"{str(neutral).lower()}: the mock has no other behaviour"
                        raise tag.wrong(tag.plugin_line, f"<param> {key!r}", expected=expected)
            if plugin in (CANOPEN, DRIVES) and (parameters or plugin not in plugins):
                expected = f"no <param>, as the device's `{plugin}` in the workcell file configures it"
                raise tag.wrong(tag.plugin_line, f"<plugin> {tag.plugin!r}", expected=expected)
            _merge(plugins.setdefault(plugin, {}), parameters, tag, plugin)
        initial: dict[str, dict[str, dict[str, float]]] = {}
        for component in tag.others.values():
            values = {s.name: s.initial for s in component.states.values() if s.initial is not None}
            if values:
                key = "inputs" if component.kind == "gpio" else "values"
                initial.setdefault(key, {})[component.name] = values
        if initial:
            _merge(plugins.setdefault(MOCK, {}), initial, tag, MOCK)
        return device.model_copy(update={"plugin": plugin, "plugins": plugins})


def _merge(config: dict[str, Any], more: Mapping[str, Any], tag: ControlTag, plugin: str) -> None:
    for key, value in more.items():
        if key in config:
            got = f"one in the workcell file's `{plugin}` as well"
            raise tag.wrong(tag.plugin_line, f"parameter {key!r}", expected="one value", got=got)
        config[key] = value


def _plugin(tag: ControlTag) -> str:
    """Our plugin for the one that a tag names."""
    name = tag.plugin.removeprefix(OWN_PREFIX)
    if tag.plugin in MOCKS:
        return MOCK
    if tag.is_foreign:
        return EXTERNAL
    if (name in OWN_PLUGINS and name != tag.plugin) or ":" in tag.plugin:
        return name
    raise tag.wrong(
        tag.plugin_line,
        "<plugin>",
        expected=f"{MOCKS[0]}, {OWN_PREFIX} and one of {', '.join(OWN_PLUGINS)}, package.module:Class, "
        "or package/Class for a plugin in C++",
        got=repr(tag.plugin),
        hint="`plugin:` in the workcell file's device replaces <hardware>",
    )


def _distinct(urdfs: Iterable[Urdf]) -> list[Urdf]:
    """Parts that are mounted on each other share one."""
    return list({id(urdf): urdf for urdf in urdfs}.values())
