"""Messages of any topic that start blueprints: checked against the installed types, and judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import Point, PolygonStamped, Pose, PoseArray
from std_msgs.msg import Bool, String

from robot_rt_control.blueprint.makers.ros.answers import InstalledTypes
from robot_rt_control.blueprint.makers.ros.starts import RosTopics, judge_of
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.schema import StartTopicKeys
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.vocabulary.errors import DefinitionError

BENCH = Path(__file__).parents[3] / "lockstep" / "mock_bench.yaml"
DOOR = """
name: welcome
parameters: {guest: {type: text, default: you}, near: {default: 1.0}}
commands:
  - say: welcome
  - topic:
      name: /door/face
      type: std_msgs/msg/String
      texts: {data: [anna, ben]}
      parameters: {guest: data}
    busy: wait
    cooldown: 5
nodes: {greet: {say: 'Hello ${guest}'}}
"""


def check(text: str) -> list[str]:
    catalogue = SkillCatalogue(offline_catalogue(BENCH), {}, {}, interfaces=InstalledTypes())
    return check_skill(SkillTemplate(text), catalogue)


def test_N54_a_start_by_messages_is_checked_against_the_installed_types() -> None:
    assert check(DOOR.replace("'Hello ${guest}'", "'Hello ${guest} ${near}'")) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "mistake"),
    [
        ("msg/String", "msg/Sting", 8, "'std_msgs/msg/Sting' is not installed"),
        ("std_msgs/msg", "face_msgs/msg", 8, "package 'face_msgs'"),
        ("std_msgs/msg/String", "String", 8, "type; expected such as std_msgs/msg/String"),
        ("{data: [anna, ben]}", "{dat: [anna, ben]}", 9, "field 'dat'; expected .*did you mean 'data'"),
        ("{data: [anna, ben]}", "{data: []}", 9, "at least one text"),
        ("[anna, ben]", "[anna, please stop]", 9, "it has the stop word 'stop'"),
        ("texts: {data: [anna, ben]}", "when: data > 3", 9, "a path to a number; got a string"),
        ("texts: {data: [anna, ben]}", "when: count > 3", 9, "field 'count'; expected"),
        ("texts: {data: [anna, ben]}", "when: data > $near", 9, "no \\$values before a start"),
        ("{guest: data}", "{guest: dat}", 10, "field 'dat'"),
        ("{guest: data}", "{near: data}", 10, "a path to a number; got a string"),
        ("{guest: data}", "{gast: data}", 10, "unknown parameter 'gast'.*did you mean 'guest'"),
        ("parameters: {guest: data}", "hold: 1\n      gap: 0", 11, "no gap; expected more than 0 s"),
        ("parameters: {guest: data}", "hold: -1", 10, "hold"),
        ("      name: /door/face\n", "", 6, "name"),
    ],
)
def test_N54_mistakes_of_such_a_start_have_their_lines(old: str, new: str, line: int, mistake: str) -> None:
    assert old in DOOR
    with pytest.raises(DefinitionError, match=mistake) as caught:
        check(DOOR.replace(old, new))
    assert f":{line}" in str(caught.value), caught.value


def keys(type: str, **fields: Any) -> StartTopicKeys:
    return StartTopicKeys(name="/t", type=type, **fields)


def test_N54_a_message_is_judged_by_its_texts_and_its_numbers() -> None:
    anna = judge_of(keys("std_msgs/msg/String", texts={"data": ("Anna", "ben")}), String)
    assert [anna(String(data=text)) for text in ("anna", " BEN ", "carl", "")] == [True, True, False, False]
    seen = judge_of(keys("std_msgs/msg/Bool", when="data == true"), Bool)
    assert seen(Bool(data=True)) and not seen(Bool())
    when = "poses[0].position.z < 0.5 and poses[0].position.x > 0"
    near = judge_of(keys("geometry_msgs/msg/PoseArray", when=when), PoseArray)
    assert near(PoseArray(poses=[Pose(position=Point(x=1.0, z=0.1))]))
    assert not near(PoseArray(poses=[Pose(position=Point(x=1.0, z=0.7))]))
    assert not near(PoseArray()), "what is not there is unknown, which does not start"
    assert not near(PoseArray(poses=[Pose(position=Point(x=float("nan"), z=0.1))]))
    everything = judge_of(keys("std_msgs/msg/String"), String)
    assert everything(String())
    framed = judge_of(keys("geometry_msgs/msg/PolygonStamped", texts={"header.frame_id": ("door",)}), PolygonStamped)
    both = PolygonStamped()
    both.header.frame_id = "door"
    assert framed(both) and not framed(PolygonStamped())


def test_N54_any_element_of_a_list_may_have_the_text() -> None:
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

    judge = judge_of(keys("diagnostic_msgs/msg/DiagnosticArray", texts={"status[*].name": ("face",)}), DiagnosticArray)
    found = [DiagnosticStatus(name=name) for name in ("hand", "face")]
    assert judge(DiagnosticArray(status=found)) and not judge(DiagnosticArray(status=found[:1]))
    assert not judge(DiagnosticArray())


class Connections:
    """Of a node that is not there."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}
        self.ended: list[str] = []

    def subscribe(self, type: Any, name: str, take: Any, **quality: bool) -> str:
        self.asked = {"type": type, "name": name, "take": take, **quality}
        return name

    def unsubscribe(self, subscription: str) -> None:
        self.ended.append(subscription)


def test_N54_a_topic_is_followed_until_it_is_let_go() -> None:
    connections, took = Connections(), list[Any]()
    topics = RosTopics(connections)  # type: ignore[arg-type]
    wanted = keys("std_msgs/msg/String", texts={"data": ("anna",)}, parameters={"guest": "data"}, latched=True)
    end = topics.follow(wanted, lambda fits, values: took.append((fits, dict(values))))
    assert connections.asked["latched"] and not connections.asked["reliable"]
    for text in ("ben", "anna"):
        connections.asked["take"](String(data=text))
    assert took == [(False, {}), (True, {"guest": "anna"})]
    end()
    assert connections.ended == ["/t"]
    with pytest.raises(DefinitionError, match="field 'dat'"):
        topics.follow(keys("std_msgs/msg/String", texts={"dat": ("anna",)}), lambda *_: None)
