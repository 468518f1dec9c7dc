"""Messages filled from YAML and read by names; skills made of ROS, checked against the installed types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import PoseArray, PoseStamped
from robot_rt_control.action import RunBlueprint
from std_msgs.msg import Float64MultiArray, Header, String

from robot_rt_control.blueprint.makers.ros.answers import InstalledTypes
from robot_rt_control.blueprint.makers.ros.fields import Numbers, filled, output_of, short_text
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.vocabulary.errors import DefinitionError

BENCH = Path(__file__).parents[3] / "lockstep" / "mock_bench.yaml"

DOCK = """
name: dock
level: capability
parameters: {station: {type: text}, slow: {type: bool, default: false}}
results: {no_station: {failure: true}}
outputs: {run: {type: text}}
is:
  ros_action:
    name: dock
    type: robot_rt_control/action/RunBlueprint
    fields: {skill: $station, paused: $slow, breakpoints: [a, $station]}
    results: [{on: aborted, when: success == false, end: no_station}]
    outputs: {run: run}
"""


def given(text: str) -> Any:
    return {"$x": 2, "$w": (1.0, 2)}.get(text, text)


def test_messages_are_filled_and_read() -> None:
    pose = filled(PoseStamped, {"header": {"frame_id": "map"}, "pose": {"position": {"x": "$x", "y": 1}}}, given)
    assert (pose.header.frame_id, pose.pose.position.x, pose.pose.position.y) == ("map", 2.0, 1.0)
    assert output_of(pose, "pose.position.x") == 2.0 and output_of(pose, "header.frame_id") == "map"
    poses = filled(PoseArray, {"poses": [{"position": {"z": 3}}]}, given)
    assert output_of(poses, "poses[0].position.z") == 3.0 and output_of(poses, "poses[1].position.z") is None
    assert output_of(poses, "count(poses)") == 1.0 and output_of(poses, "poses[-1].position.z") == 3.0
    assert output_of(poses, "poses[*].position.z") == (3.0,) and output_of(poses, "min(poses[*].position.z)") == 3.0
    assert output_of(pose, "success") is None
    data = filled(Float64MultiArray, {"data": "$w"}, given)
    assert output_of(data, "data") == (1.0, 2.0) and Numbers(data)["data[1]"] == 2.0
    assert [str(Numbers(m)[path]) for m, path in ((pose, "header.frame_id"), (None, "x"))] == ["nan", "nan"]


def test_a_message_in_a_few_words() -> None:
    said = RunBlueprint.Result(success=True, message="two\nlines", run="r1")
    assert short_text(said) == "success true, message two lines, run r1"
    pose = PoseStamped(header=Header(frame_id="map"))
    assert short_text(pose) == "header.frame_id map", "not the numbers of messages in messages"
    assert short_text(PoseArray().header.stamp) == "sec 0, nanosec 0"
    assert short_text(String()) == short_text(PoseArray().poses) == ""


@pytest.mark.parametrize(
    ("fields", "mistake"),
    [
        ({"heder": {}}, "fields: no field 'heder'; .*did you mean 'header'"),
        ({"header": {"frame": ""}}, "fields.header: no field 'frame'"),
        ({"pose": {"position": {"x": "far"}}}, "fields.pose.position.x; expected a double; got 'far'"),
        ({"header": 1}, "fields.header; expected a std_msgs/Header"),
    ],
)
def test_fields_that_do_not_fit(fields: Any, mistake: str) -> None:
    with pytest.raises(DefinitionError, match=mistake):
        filled(PoseStamped, fields, given)


def check(text: str) -> list[str]:
    catalogue = SkillCatalogue(offline_catalogue(BENCH), {}, {}, interfaces=InstalledTypes())
    return check_skill(SkillTemplate(text), catalogue)


def test_N44_a_skill_of_ros_is_checked_against_the_installed_types() -> None:
    assert check(DOCK) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "mistake"),
    [
        ("action/RunBlueprint", "action/RunBluprint", 8, "'robot_rt_control/action/RunBluprint' is not installed"),
        ("robot_rt_control/action", "nav9_msgs/action", 8, "package 'nav9_msgs'"),
        ("RunBlueprint", "x/y", 8, "type; expected such as nav2_msgs/action/Spin"),
        ("skill: $station", "skil: $station", 8, "fields: no field 'skil'; .*did you mean 'skill'"),
        ("paused: $slow", "paused: $station", 8, "fields.paused; expected a boolean"),
        ("skill: $station", "skill: $place", 8, "place"),
        ("success == false", "succes == false", 8, "field 'succes'; expected .*did you mean 'success'"),
        ("run: run", "run: runn", 8, "field 'runn'; expected .*did you mean 'run'"),
        ("end: no_station", "end: nowhere", 12, "the skill has no result 'nowhere'"),
        ("on: aborted", "on: broken", 12, "a status: succeeded, aborted"),
        ("outputs: {run: {type: text}}", "outputs: {}", 13, "output 'run'; expected the same name in outputs"),
    ],
)
def test_mistakes_of_a_skill_of_ros_have_their_lines(old: str, new: str, line: int, mistake: str) -> None:
    with pytest.raises(DefinitionError, match=mistake) as caught:
        check(DOCK.replace(old, new))
    assert f":{line}" in str(caught.value), caught.value
