"""The prefix of all names in a URDF."""

from __future__ import annotations

from pathlib import Path

from robot_rt_control.model.robot.urdf import Mimic
from robot_rt_control.model.robot.urdf_reader import parse_urdf

HAND = """<robot name="hand">
  <material name="red"/>
  <link name="palm"><visual><geometry><mesh filename="palm.stl"/></geometry><material name="red"/></visual></link>
  <link name="thumb"/>
  <link name="finger"/>
  <joint name="thumb_joint" type="continuous"><parent link="palm"/><child link="thumb"/></joint>
  <joint name="finger_joint" type="continuous"><parent link="palm"/><child link="finger"/>
    <mimic joint="thumb_joint" multiplier="2"/></joint>
  <gazebo reference="palm"/>
  <gazebo><plugin name="x"/></gazebo>
  <ros2_control name="hand" type="system">
    <hardware><plugin>p</plugin><param name="port">a</param></hardware>
    <joint name="thumb_joint"/>
    <joint name="finger_joint"><param name="mimic">thumb_joint</param></joint>
    <sensor name="touch"><state_interface name="force"/></sensor>
    <gpio name="lamp"><command_interface name="on"/></gpio>
  </ros2_control>
</robot>
"""


def test_names_and_what_refers_to_them_get_the_prefix() -> None:
    urdf = parse_urdf(HAND.encode(), Path("hand.urdf"), prefix="left_")
    assert list(urdf.links) == ["left_palm", "left_thumb", "left_finger"] and urdf.root == "left_palm"
    assert urdf.joints["left_finger_joint"].mimic == Mimic(
        name="left_finger_joint", joint="left_thumb_joint", multiplier=2.0, offset=0.0
    )
    (tag,) = urdf.controls
    assert [tag.attributes["name"], *(child.attributes.get("name") for child in tag.children)] == [
        "left_hand", None, "left_thumb_joint", "left_finger_joint", "left_touch", "left_lamp",
    ]  # fmt: skip
    assert tag.children[2].children[0].text == "left_thumb_joint"
    assert tag.children[0].children[1].text == "a" and tag.children[3].children[0].attributes["name"] == "force"
    text = urdf.content.decode()
    assert '<gazebo reference="left_palm"' in text and '<plugin name="x"' in text and text.count('"left_red"') == 2
    assert "palm.stl" in text and urdf.name == "hand"


def test_lines_stay_those_of_the_file() -> None:
    urdf = parse_urdf(HAND.encode(), Path("hand.urdf"), prefix="left_")
    assert urdf.joints["left_finger_joint"].line == 7 and urdf.controls[0].line == 11


def test_read_again_the_content_has_the_same_names() -> None:
    urdf = parse_urdf(HAND.encode(), Path("hand.urdf"), prefix="left_")
    again = parse_urdf(urdf.content, Path("hand.urdf"))
    assert again.links.keys() == urdf.links.keys() and again.joints.keys() == urdf.joints.keys()
