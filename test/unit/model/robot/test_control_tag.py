"""A <ros2_control> tag by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.model.robot.control_tag import ControlTag, read_control_tag
from robot_rt_control.model.robot.urdf_reader import parse_urdf
from robot_rt_control.vocabulary.errors import DefinitionError

TAG = """<robot name="r"><link name="l"/>
<ros2_control name="RRBot" type="system">
  <hardware>
    <plugin>mock_components/GenericSystem</plugin>
    <group>g</group>
    <param name="time_constant">0.1</param>
    <param name="values">{arm: {force: 2}}</param>
  </hardware>
  <joint name="j1" mimic="false">
    <command_interface name="position">
      <param name="min">-1</param>
      <param name="max"> 1.5 </param>
      <limits enable="true"/>
    </command_interface>
    <state_interface name="position"><param name="initial_value">0.5</param></state_interface>
    <param name="mimic">j0</param>
  </joint>
  <sensor name="s"><state_interface name="force.x"/></sensor>
  <gpio name="g"><command_interface name="on" data_type="bool" size="1"/></gpio>
</ros2_control>
</robot>"""


def read(text: str) -> ControlTag:
    urdf = parse_urdf(text.encode(), Path("r.urdf"))
    return read_control_tag(urdf, urdf.controls[0])


def test_all_that_a_tag_says() -> None:
    tag = read(TAG)
    assert (tag.name, tag.type, tag.plugin, tag.group) == ("RRBot", "system", "mock_components/GenericSystem", "g")
    assert (tag.line, tag.plugin_line) == (2, 4)
    assert tag.parameters == {"time_constant": 0.1, "values": {"arm": {"force": 2}}}
    joint = tag.joints["j1"]
    assert (joint.line, joint.mimic, joint.follows) == (9, False, {"mimic": "j0"})
    command = joint.commands["position"]
    assert (command.line, command.minimum, command.maximum, command.initial) == (10, -1.0, 1.5, None)
    assert joint.states["position"].initial == 0.5
    assert list(tag.others) == ["s", "g"] and list(tag.others["g"].commands) == ["on"]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('type="system"', 'type="robot"', "2: <ros2_control> 'RRBot', type; expected one of system, actuator, sensor"),
        (' type="system"', "", "2: <ros2_control> 'RRBot'; expected an attribute 'type'; got none"),
        ('type="system"', 'type="system" is_async="true"', "attribute 'is_async'; expected .* in a process of its own"),
        ("<group>g</group>", "<grup>g</grup>", "5: .*<hardware>, <grup>; expected <plugin>, <group>, <param>"),
        (
            "<plugin>mock_components/GenericSystem</plugin>",
            "",
            "expected one <hardware> with one <plugin>; got 1 with 0",
        ),
        (
            "<sensor ",
            '<transmission name="t"/><sensor ',
            "<transmission>; expected .*a drive's gear is configured with",
        ),
        ('mimic="false"', 'mimic="no"', "9: .*joint 'j1', mimic; expected true or false; got 'no'"),
        (" 1.5 ", "1,5", "12: .*command_interface 'position', max; expected a finite number; got '1,5'"),
        ('"max"', '"maximum"', "12: .*<param> 'maximum'; expected one of .* did you mean 'max"),
        ('enable="true"', 'enable="false"', 'limits>; expected enable="true": the loop always enforces limits'),
        ('size="1"', 'size="3"', "command_interface 'on', size; expected 1: each interface is one number; got '3'"),
        ('"bool"', '"int"', "data_type; expected double or bool; got 'int'"),
        ('<gpio name="g"', '<gpio name="s"', "19: .*gpio 's'; expected names that occur once; got a second one"),
        ('name="force.x"/>', 'name="force.x"/><param name="p">1</param>', "<sensor> 's', <param>; expected <state_int"),
        ("{arm: {force: 2}}", "{arm: {", "7: <param name='values'>:1: not valid YAML"),
    ],
)
def test_everything_unknown_or_wrong_is_an_error_with_its_line(old: str, new: str, text: str) -> None:
    assert TAG.count(old) == 1
    with pytest.raises(DefinitionError, match=text) as caught:
        read(TAG.replace(old, new))
    assert str(caught.value).startswith("r.urdf:")


def test_all_mistakes_are_reported_at_once() -> None:
    wrong = TAG.replace('"max"', '"mx"').replace("<group>g</group>", "<a/>").replace('enable="true"', 'enable="0"')
    with pytest.raises(DefinitionError) as caught:
        read(wrong)
    assert [line.split(":")[1] for line in str(caught.value).splitlines()] == ["5", "12", "13", "13"]
