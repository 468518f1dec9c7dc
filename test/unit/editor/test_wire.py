"""What the editor's server sends as JSON has exactly the fields that the page declares (web/src/wire.ts)."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from memory_robot import MemoryRobot
from rclpy.serialization import serialize_message

from robot_rt_control import msg, srv
from robot_rt_control.blueprint.node.messages import run_line
from robot_rt_control.blueprint.runs.run_history import RunSummary
from robot_rt_control.blueprint.text.node_kinds import NODE_KINDS
from robot_rt_control.client.program_state import ProgramState, StrategyState
from robot_rt_control.drawing.shape import GREEN, RED, Shape, ShapeKind
from robot_rt_control.editor.keys import Person
from robot_rt_control.editor.motion_keys import motion_command_keys
from robot_rt_control.editor.reactions import reaction_shown
from robot_rt_control.editor.robot import Json, TimelineNews
from robot_rt_control.editor.ros_robot import as_json, marker_shapes, shown_status
from robot_rt_control.editor.scenes import Scenes
from robot_rt_control.editor.server import EditorServer, plain
from robot_rt_control.editor.starts import Started
from robot_rt_control.editor.timelines import TimelineReader, Timelines
from robot_rt_control.program.exits import Exits, exits_of
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.ros.marker_messages import markers_message
from robot_rt_control.ros.tick_batches import TickBatch, TickNames

REPOSITORY = Path(__file__).parents[3]
URDF = """<robot name="r"><link name="a"/><link name="b"><visual><geometry><sphere radius="1"/></geometry>
<material name="red"><color rgba="1 0 0 1"/></material></visual></link><link name="c"/><link name="d"/>
<joint name="turn" type="continuous"><parent link="a"/><child link="b"/></joint>
<joint name="along" type="continuous"><parent link="a"/><child link="c"/><mimic joint="turn"/></joint>
<joint name="free" type="floating"><parent link="a"/><child link="d"/></joint></robot>"""
PRIMITIVES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "unknown": lambda value: True,
}


class Wire:
    """The page's interfaces, and how a JSON value differs from one of them."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
        self.seen: set[tuple[str, str]] = set()
        self.interfaces: dict[str, dict[str, tuple[bool, Any]]] = {}
        for name, base, body in re.findall(
            r"^export interface (\w+)(?: extends (\w+))? (\{.*?^\})", text, re.DOTALL | re.MULTILINE
        ):
            self._tokens = re.findall(r"\w+|[^\w\s]", body)
            kind, fields = self._type()
            assert kind == "object" and not self._tokens
            self.interfaces[name] = {**self.interfaces.get(base, {}), **fields}

    def _type(self) -> tuple[str, Any]:
        choices = [self._array()]
        while self._tokens and self._tokens[0] == "|":
            self._tokens.pop(0)
            choices.append(self._array())
        return choices[0] if len(choices) == 1 else ("union", choices)

    def _array(self) -> tuple[str, Any]:
        found = self._one()
        while self._tokens[:2] == ["[", "]"]:
            del self._tokens[:2]
            found = ("array", found)
        return found

    def _one(self) -> tuple[str, Any]:
        token = self._tokens.pop(0)
        if token == "(":
            found = self._type()
            self._take(")")
            return found
        if token == "{":
            fields: dict[str, tuple[bool, Any]] = {}
            while self._tokens[0] != "}":
                name = self._tokens.pop(0)
                optional = self._tokens[0] == "?"
                del self._tokens[: 1 if optional else 0]
                self._take(":")
                fields[name] = (optional, self._type())
                if self._tokens[0] == ";":
                    self._tokens.pop(0)
            self._take("}")
            return "object", fields
        if token == "Record":
            for expected in ("<", "string", ","):
                self._take(expected)
            found = self._type()
            self._take(">")
            return "record", found
        return ("primitive", token) if token in PRIMITIVES else ("interface", token)

    def _take(self, expected: str) -> None:
        assert self._tokens.pop(0) == expected

    def differences(self, value: Any, name: str) -> list[str]:
        return list(self._differences(value, ("interface", name), name))

    def _differences(self, value: Any, kind: tuple[str, Any], at: str) -> Iterator[str]:
        match kind:
            case "primitive", name:
                if not PRIMITIVES[name](value):
                    yield f"{at}: {value!r} is no {name}"
            case "union", choices:
                if not any(not list(self._differences(value, choice, at)) for choice in choices):
                    yield f"{at}: {value!r} is none of the choices"
            case ("array", inner) if isinstance(value, list):
                for item in value:
                    yield from self._differences(item, inner, f"{at}[]")
            case ("record", inner) if isinstance(value, dict):
                for item in value.values():
                    yield from self._differences(item, inner, f"{at}[]")
            case "interface", name:
                self.seen.update((name, field) for field in value)
                yield from self._differences(value, ("object", self.interfaces[name]), name)
            case ("object", fields) if isinstance(value, dict):
                for field in sorted(value.keys() - fields.keys()):
                    yield f"{at}: the page does not know {field}"
                for field, (optional, inner) in fields.items():
                    if field in value:
                        yield from self._differences(value[field], inner, f"{at}.{field}")
                    elif not optional:
                        yield f"{at}: nobody sends {field}"
            case _:
                yield f"{at}: {value!r}"


def sample(kind: Any, **fields: Any) -> Any:
    """A message with one item in each list; numbers that its comments let be NaN or infinite are so."""
    made = kind()
    for name, type_ in kind.get_fields_and_field_types().items():
        is_list = type_.startswith("sequence<")
        inner = type_.removeprefix("sequence<").removesuffix(">")
        value: Any = getattr(made, name)
        if inner.startswith("robot_rt_control/"):
            value = sample(getattr(msg, inner.partition("/")[2]))
        elif inner == "double":
            value = math.nan if may_be_unknown(kind, name) else 1.5
        elif is_list:
            value = {"string": "text"}.get(inner, 1)
        setattr(made, name, [value] if is_list else value)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def may_be_unknown(kind: Any, field: str) -> bool:
    lines = (REPOSITORY / "msg" / f"{kind.__name__}.msg").read_text()
    return re.search(rf"^\S+ {field} .*#.*(\bNaN\b|\binf\b)", lines, re.MULTILINE) is not None


@pytest.fixture(scope="module")
def wire() -> Wire:
    return Wire((REPOSITORY / "web" / "src" / "wire.ts").read_text())


def sent(robot: MemoryRobot) -> Iterator[tuple[str, Any]]:
    """Interfaces, and all that the server sends as such."""
    for message, name in (
        (msg.SkillInfo, "SkillInfo"),
        (msg.ProgramInfo, "ProgramInfo"),
        (msg.ActionTypeInfo, "ActionType"),
        (msg.PartInfo, "PartInfo"),
        (msg.StateVariableInfo, "VariableInfo"),
        (srv.SaveSkill.Response, "SaveAnswer"),
        (srv.SaveProgram.Response, "SaveAnswer"),
        (srv.DeleteSkill.Response, "Answer"),
        (srv.ControlRun.Response, "Answer"),
    ):
        yield name, plain(as_json(sample(message)))
    for kind in NODE_KINDS:
        yield "NodeKind", kind.as_json()
    for key in motion_command_keys():
        yield "ParameterInfo", key
    ended = RunSummary(
        run="r", skill="tour", began="today", result="done", reason="", seconds=1.0, source="a person"
    )
    for summary in (ended, replace(ended, rehearsed=True)):
        yield "RunInfo", json.loads(run_line(summary))
    yield "Live", live(robot)
    yield "Scene", scene(robot)
    line = Shape(namespace="goal", frame="world", kind=ShapeKind.LINES, points=((0.0, 1.0, 2.0),), size=0.1, color=RED,
                 colors=(GREEN,))  # fmt: skip
    yield "DrawnShape", marker_shapes(serialize_message(markers_message([line])))[0]


def scene(robot: MemoryRobot) -> Json:
    """With a joint that mimics another, a shape with a color, and a part."""
    robot.description_text = URDF
    robot.positions = {"turn": 0.0}
    robot.parts = lambda: [{"name": "arm", "joint_names": ["turn"]}]  # type: ignore[method-assign]

    async def made() -> Json:
        scenes = Scenes(robot)
        await scenes.scene()
        scenes.frame()
        return await scenes.scene()

    found = asyncio.run(made())
    assert found["parts"] and found["problems"] and found["links"][1]["shapes"][0]["color"]
    return found


def live(robot: MemoryRobot) -> Mapping[str, Any]:
    """A state as a socket gets it: the server's own, with all that may be in it."""
    server = EditorServer(robot, port=1)
    ann = Person(id="1", name="Ann", may_operate=True)
    server.people.came(ann)
    assert server.people.may_operate(ann)
    strategy = StrategyState(action="go", degree_of_freedom="x", strategy="push", since=1)
    program = ProgramState(
        session="s", program="p", tick=1, active=("go",), strategies=(strategy,), last_reaction="", last_event="",
        ended=None,
    )  # fmt: skip
    status = sample(msg.ExecutorStatus)
    there = {"blueprints": True, "executor": False, "silent": {"executor": 0.8, "blueprints": 2.0}}
    server._status = plain({**there, **shown_status(status, [program])})
    server._values = {"arm.position[0]": 1.0, "lost": None}
    server._set_blueprints(as_json(sample(msg.BlueprintState)))
    server._operating.starts._all[1] = Started(1, "hold", ["part=arm"], "Ann")
    server._publish()
    server._logs._lines = {"r": ["{}"]}
    state = json.loads(server.watchers.text)
    return {**state, "log": json.loads(server._logs.after("r", 0))}


def test_the_page_declares_what_the_server_sends(wire: Wire, robot: MemoryRobot) -> None:
    found = [text for name, value in sent(robot) for text in wire.differences(value, name)]
    assert found == []
    declared = {(name, field) for name, fields in wire.interfaces.items() for field in fields}
    assert sorted(declared - wire.seen) == [], "nobody sends it"


def test_the_timeline_declares_what_the_server_sends() -> None:
    wire = Wire((REPOSITORY / "web" / "src" / "timeline" / "wire.ts").read_text())
    reaction = sample(msg.Reaction, condition="d < 1 and (norm(v) > 2 or lost)")
    values = {"d": 1.5, "v[0]": 3.0, "v[1]": math.nan, "lost": math.nan}
    sent = [("ReactionNow", plain(reaction_shown("go", as_json(reaction), values, then))) for then in (None, values)]
    names = TickNames(version=1, period=0.001, columns=3, variables={"d": 1}, actions={"arm": 2},
                      integers=frozenset({0, 2}))  # fmt: skip
    rows = np.array([[5, 0, 3], [6, 0, 3], [7, 0, 0]], np.int64)
    fired = as_json(sample(msg.Event)) | {"kind": "reaction_fired", "values": {"d": 1.5, "lost": math.nan}}
    news = TimelineNews(
        names=names, batches=[TickBatch(version=1, rows=rows[:n], action_names={3: "go"}) for n in (2, 3)],
        events=[fired], sampled=["go.progress"], samples=[(5, [0.5]), (6, [math.nan])],
    )  # fmt: skip
    robot: Any = SimpleNamespace(timeline=lambda: news)
    reader = TimelineReader(names=("go.progress",), rate=1.0)
    texts = [message for message in Timelines(robot).news(reader) if isinstance(message, str)]
    sent += [("WireNews", json.loads(text)["timeline"]) for text in texts]
    assert [text for name, value in sent for text in wire.differences(value, name)] == []
    declared = {(name, field) for name, fields in wire.interfaces.items() for field in fields}
    assert sorted(declared - wire.seen) == [], "nobody sends it"


def test_a_state_before_the_first_word_is_declared_too(wire: Wire, robot: MemoryRobot) -> None:
    server = EditorServer(robot, port=1)
    server._publish()
    assert wire.differences(json.loads(server.watchers.text), "Live") == []
    assert wire.differences(shown_status(None, []), "RobotStatus") == []


def test_the_tests_of_the_page_have_the_table_of_node_kinds_as_it_is_sent() -> None:
    kept = json.loads((REPOSITORY / "web" / "test" / "node_kinds.json").read_text())
    table = {kind.name: kind.as_json() for kind in NODE_KINDS}
    assert kept == [table[each["name"]] for each in kept] and len(kept) >= 8


def test_the_tests_of_the_page_have_exits_and_ends_of_programs_as_python_finds_them() -> None:
    for case in json.loads((REPOSITORY / "web" / "test" / "exits.json").read_text()):
        program = ProgramTemplate("\n".join(case["program"])).sample()
        assert program.mistakes == ()
        assert (sorted(Exits(program.draft).names), sorted(exits_of(program.draft))) == (case["exits"], case["ends"])


def test_a_field_of_one_side_alone_is_a_difference(wire: Wire) -> None:
    refusal = plain(as_json(sample(msg.Refusal)))
    assert wire.differences(refusal, "Refusal") == []
    assert wire.differences({**refusal, "new": 1}, "Refusal") == ["Refusal: the page does not know new"]
    less = {key: value for key, value in refusal.items() if key != "hint"}
    assert wire.differences(less, "Refusal") == ["Refusal: nobody sends hint"]
    assert wire.differences({**refusal, "line": "3"}, "Refusal") == ["Refusal.line: '3' is no number"]
    duration = plain({**as_json(sample(msg.SkillInfo)), "runs": math.nan})
    assert duration["duration"] is None and wire.differences(duration, "SkillInfo") == [
        "SkillInfo.runs: None is no number"
    ]
