"""All state variables as names and values, of a cell in lockstep."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from robot_rt_control.client.actions import Action
from robot_rt_control.model.workcell.catalogue import SYSTEM_VARIABLES
from robot_rt_control.server.core.introspection import LOOP_VARIABLES, Introspection, Look
from robot_rt_control.server.node.conversions import variable_messages
from robot_rt_control.testing.lockstep_cell import LockstepCell

ROOT = Path(__file__).parents[4]


@pytest.fixture
def cell() -> Iterator[LockstepCell]:
    with LockstepCell(ROOT / "config" / "arm7.yaml") as made:
        yield made


def look_of(introspection: Introspection) -> Look:
    found = introspection.look()
    assert found is not None and len(found.names) == len(found.values) == len(set(found.names))
    return found


def test_every_variable_of_loop_parts_and_active_actions_has_its_value(cell: LockstepCell) -> None:
    introspection = Introspection(cell.server.core)
    session = cell.session("arm")
    session.add(Action("move", "move_joint", position=[0.5] * 7), Action("later", "hold"))
    session.start("move")
    cell.set_sensor("rangefinder/distance", 0.25)
    cell.step(30)
    look = look_of(introspection)
    values = dict(zip(look.names, look.values, strict=True))
    assert look.names[: len(LOOP_VARIABLES)] == LOOP_VARIABLES
    assert look.tick == values["tick"] == cell.tick and look.time_ns == cell.tick * 1_000_000
    assert values["events_lost"] == values["deadline_misses"] == 0 and values["speed"] == 1.0
    assert values["rangefinder.distance"] == 0.25

    def comparable(numbers: dict[str, float]) -> dict[str, float]:
        return {name: -1.0 if np.isnan(number) else number for name, number in numbers.items()}

    told = comparable({v.name: v.value for v in variable_messages(cell.server, "", session.id)})
    shown = comparable({name.removeprefix(f"{session.id}/"): value for name, value in values.items()})
    assert shown["move.progress"] > 0.0 and not any(name.startswith("later.") for name in shown)
    own = {name for name in shown if name in told}
    assert {name: shown[name] for name in own} == {name: told[name] for name in own}
    # What else is listed has another name here, or is of an action that is not active.
    words = {offset: v for v, offset in ((v.name, v.offset) for v in cell.server.variables.values() if v.length == 1)}
    assert len(own & set(cell.server.variables)) == len(words)
    assert {name for name in shown if name not in own} >= set(LOOP_VARIABLES)
    assert {v.name for v in SYSTEM_VARIABLES} <= own
    default = {name for name in shown if "_default_action." in name}
    assert set(shown) == own | set(LOOP_VARIABLES) | default


def test_names_and_their_version_change_together(cell: LockstepCell) -> None:
    introspection = Introspection(cell.server.core)
    cell.step()
    first = look_of(introspection)
    cell.step(5)
    second = look_of(introspection)
    assert (second.version, second.names) == (first.version, first.names) and second.tick == first.tick + 5
    session = cell.session("arm")
    session.add(Action("stay", "hold"))
    cell.step()
    assert look_of(introspection).version == first.version, "it is not active yet"
    session.start("stay")
    cell.step()
    started = look_of(introspection)
    own = [name for name in started.names if name.startswith(f"{session.id}/stay.")]
    assert own and started.version == first.version + 1
    session.replace(Action("stay", "sine_wave", amplitude=0.01, frequency=1.0), start="stay")
    cell.step()
    replaced = look_of(introspection)
    assert [name for name in replaced.names if name.startswith(f"{session.id}/stay.")] not in ([], own)
    assert replaced.version == first.version + 2
    session.close()
    cell.step(2)
    ended = look_of(introspection)
    assert not any(name.startswith(f"{session.id}/") for name in ended.names)
    assert ended.version == first.version + 3


def test_drives_are_shown_by_motor() -> None:
    file = ROOT / "test" / "lockstep" / "rules" / "drives_workcell.yaml"
    with LockstepCell(file) as cell:
        cell.step(3)
        names = look_of(Introspection(cell.server.core)).names
        states = [s.name for part in cell.workcell.parts for s in part.drive_states]
        assert states and sum(name.rpartition(".")[2].startswith("error[") for name in names) > 0


def test_nothing_is_shown_without_an_executor(cell: LockstepCell) -> None:
    introspection = Introspection(cell.server.core)
    cell.server.detach("a test")
    assert introspection.look() is None


TOPIC = "/control_server/introspection_data/"
CONFIG = ROOT / "config"


def test_the_layout_of_plotjuggler_names_what_there_is(cell: LockstepCell) -> None:
    cell.step()
    layout = ElementTree.parse(CONFIG / "plotjuggler.xml").getroot()
    curves = [str(curve.get("name")) for curve in layout.iter("curve")]
    assert len(curves) > 20
    assert {curve.removeprefix(f"{TOPIC}values/") for curve in curves} <= set(
        look_of(Introspection(cell.server.core)).names
    )
    topics = [topic.get("name") for topic in layout.iter("topic")]
    assert topics == [f"{TOPIC}names", f"{TOPIC}values"]


def test_the_layout_of_foxglove_names_what_there_is(cell: LockstepCell) -> None:
    cell.step()
    layout = json.loads((CONFIG / "foxglove.json").read_text())
    panels = layout["configById"]
    assert set(re.findall(r'"(\w+!\w+)"', json.dumps(layout["layout"]))) == set(panels)
    names = look_of(Introspection(cell.server.core)).names
    paths = [path for panel in panels.values() for path in panel.get("paths", ())]
    assert len(paths) > 10
    for path in paths:
        ((topic, field, index),) = re.findall(r"^([/\w]+)\.(\w+)\[(\d+)\]$", path["value"])
        if topic == "/joint_states":
            assert hasattr(JointState(), field) and int(index) < 7
        else:
            # Of any workcell: those of the loop and the system come first.
            assert (topic, field, names[int(index)]) == (f"{TOPIC}values", "values", path["label"])
    others = {panel.get("topicToRender") or panel.get("topicPath") for panel in panels.values()} - {None}
    assert others == {"/diagnostics", "/realtime_executor/status"}
