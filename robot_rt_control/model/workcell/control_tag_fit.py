"""Whether a <ros2_control> tag and the parts of its device fit each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from robot_rt_control.model.robot.control_tag import ControlTag, TagComponent
from robot_rt_control.model.robot.urdf import Mimic
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.errors import unknown


def check_type(tag: ControlTag) -> None:
    """Refuse commands that the tag's type excludes."""
    components = (*tag.joints.values(), *tag.others.values())
    commanded = [component.name for component in components if component.commands]
    if tag.type == "sensor" and commanded:
        expected = "no command interfaces, as its type is sensor"
        raise tag.wrong(tag.line, "", expected=expected, got="those of " + ", ".join(commanded))
    if tag.type == "actuator" and len([name for name in tag.joints if name in commanded]) != 1:
        raise tag.wrong(tag.line, "", expected="one joint with commands, as its type is actuator", got=str(commanded))


def check_component(tag: ControlTag, component: TagComponent, parts: Sequence[PartDescription]) -> None:
    """Refuse what no part of the device has, and joints that follow others in another way than in the URDF."""
    item = f"{component.kind} {component.name!r}"
    if component.kind != "joint":
        names = [part.name for part in parts if _channels(part) != (set(), set())]
        if component.name not in names:
            raise tag.wrong(component.line, item, expected=unknown("part of the device", component.name, names))
        return
    if any(component.name in part.joint_names for part in parts):
        return
    followers = {mimic.name: mimic for part in parts for mimic in part.followers}
    if component.name not in followers:
        names = [*followers, *(name for part in parts for name in part.joint_names)]
        raise tag.wrong(component.line, item, expected=unknown("joint of the device's parts", component.name, names))
    if component.commands or component.mimic is False:
        expected = f'no commands and no mimic="false", as it follows {followers[component.name].joint!r} in the URDF'
        raise tag.wrong(component.line, item, expected=expected)
    _check_mimic(tag, component, followers[component.name])


def _check_mimic(tag: ControlTag, component: TagComponent, mimic: Mimic) -> None:
    for key, value in (("mimic", mimic.joint), ("multiplier", mimic.multiplier), ("offset", mimic.offset)):
        given = component.follows.get(key, value)
        try:
            same = given == value if key == "mimic" else float(given) == value
        except ValueError:
            same = False
        if not same:
            what = f"joint {component.name!r}, <param> {key!r}"
            raise tag.wrong(component.line, what, expected=f"{value!r}, as in the URDF", got=repr(given))


def _channels(part: PartDescription) -> tuple[set[str], set[str]]:
    """Names of a part's state and command interfaces that do not belong to its joints."""
    states = {i.interface for i in part.state_interfaces if not i.item and i.field not in ("input_age", "drive_states")}
    return states, {i.interface for i in part.command_interfaces if not i.item}


def check_channels(tag: ControlTag, part: PartDescription) -> None:
    """Refuse another set of interfaces than the part has; the states of outputs may be left out.

    A plugin in C++ may offer more than the part has.
    """
    states, commands = _channels(part)
    component = tag.others.get(part.name)
    if not states and not commands:
        return
    if component is None:
        expected = f"a <sensor> or <gpio> {part.name!r}, which the workcell has on the device {part.device!r}"
        raise tag.wrong(tag.line, "", expected=expected, got=", ".join(tag.others) or "none")
    found = Mistakes()
    for kind, given, wanted, needed in (
        ("state", component.states, states, states - commands),
        ("command", component.commands, commands, commands),
    ):
        item = f"{component.kind} {part.name!r}"
        for interface in given.values():
            if interface.name not in wanted and not tag.is_foreign:
                with found.collect():
                    what = f"{item}, {kind}_interface {interface.name!r}"
                    raise tag.wrong(interface.line, what, expected=unknown("interface", interface.name, wanted))
        _missing(found, tag, component, f"{item}, {kind}_interface", needed - set(given))
    found.raise_all()


def _missing(found: Mistakes, tag: ControlTag, component: TagComponent, what: str, names: Collection[str]) -> None:
    if names:
        with found.collect():
            raise tag.wrong(component.line, what, expected="also " + ", ".join(sorted(names)), got="none of that name")
