"""Rules I1 to I12, and I20, of docs/semantics/io.md: inputs, outputs and sensors."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import rclpy
from driven_executor import PERIOD_S, DrivenExecutor
from rclpy.context import Context
from rclpy.node import Node
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Float64

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.hardware.topics.plugin import TopicPlugin
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode, ImageError, OperationalState
from robot_rt_control.vocabulary.errors import DefinitionError

FILE = Path(__file__).parent / "io_workcell.yaml"
PLUGIN = "robot_rt_control.hardware.mock_plugin:MockPlugin"
IO, VALVES = 1, 2


@pytest.fixture
def cell() -> Iterator[LockstepCell]:
    with LockstepCell(FILE) as made:
        yield made


@pytest.fixture
def hosted_cell() -> Iterator[LockstepCell]:
    """Its devices are beside the loop, with process images."""
    with LockstepCell(FILE, hardware=PLUGIN) as made:
        yield made


def outputs(cell: LockstepCell, part: str = "io") -> list[float]:
    """As read back."""
    return [float(v) for v in cell.part(part).outputs[: cell.part(part).n_outputs]]


def test_L5_outputs_are_enabled_once_their_device_has_delivered_states_for_a_while(tmp_path: Path) -> None:
    # as joints are: a driver's first cycles are slow, and data that is too old would fault the part at once
    plugin = "robot_rt_control.hardware.mock_plugin:MockPlugin"
    file = tmp_path / "valves.yaml"
    parts = "  valves: {kind: io, device: bench, outputs: 2}"
    file.write_text(f"name: valves\nparts:\n{parts}\ndevices:\n  bench: {{'{plugin}': {{}}}}\n")
    with LockstepCell(file, hardware=plugin) as cell:
        assert cell.tick > 20 and cell.part("valves").operational_state == OperationalState.ENABLED


def test_I1_channels_are_state_variables_by_name_and_by_number(cell: LockstepCell) -> None:
    session = cell.session("io")
    session.add(
        Action("on", "set_output", outputs="clamp", values=1),
        reactions=[
            Reaction("io.door and io.input[0]", event="door", capture=["io.pressure", "io.input[2]", "io.dose"]),
            Reaction("io.clamp == true and io.output[0] == true", event="clamp"),
            Reaction("io.clamped", event="clamped"),
            Reaction("io.pressure < 5", event="low"),
        ],
    )
    cell.set_sensor("io/door", 1.0)
    tick = cell.step()
    assert [(e.tick, e.values) for e in cell.fired("door")] == [(tick, (6.0, 6.0, 1.0))]
    session.start("on")
    tick = cell.step()
    assert not cell.fired("clamp"), "commanded, but not yet read back"
    cell.step()
    assert [e.tick for e in cell.fired("clamp") + cell.fired("clamped")] == [tick + 1] * 2
    cell.set_sensor("io/pressure", 4.9)
    assert [e.tick for e in cell.fired("low")] == []
    tick = cell.step()
    assert [e.tick for e in cell.fired("low")] == [tick]


def test_I1_a_digital_channel_is_no_number(cell: LockstepCell) -> None:
    with pytest.raises(DefinitionError, match="io.door"):
        cell.session("io").add(reactions=[Reaction("io.door < 1", event="never")])


def test_I2_outputs_keep_their_value_when_the_action_ends(cell: LockstepCell) -> None:
    session = cell.session("io")
    session.add(
        Action("on", "set_output", outputs="clamp, dose", values=[1, 2.5]),
        Action("off", "set_output", outputs="clamp", values=0),
        Action("wait", "wait_for_input", input="door", value=1),
    )
    session.start("on")
    cell.step(3)
    assert outputs(cell) == [1.0, 0.0, 2.5]
    session.stop("on")
    cell.step(5)
    assert cell.active("io") == "none"
    assert outputs(cell) == [1.0, 0.0, 2.5], "nobody commands the part any more"
    session.start("wait")
    cell.step(5)
    assert outputs(cell) == [1.0, 0.0, 2.5], "an action that writes nothing changes nothing"
    session.start("off")
    cell.step(3)
    assert outputs(cell) == [0.0, 0.0, 2.5], "an action that writes one output leaves the others"


@pytest.mark.parametrize(
    ("value", "left"),
    [(0.49, [0, 0, 0.5]), (0.5, [1, 1, 0.5]), (2.0, [1, 1, 2.0]), (9.0, [1, 1, 4.0]), (-3.0, [0, 0, 0.5])],
)
def test_I3_what_leaves_is_within_the_range(cell: LockstepCell, value: float, left: list[float]) -> None:
    session = cell.session("io")
    session.add(Action("write", "levels", value=value))
    session.start("write")
    cell.step()
    assert list(cell.written("io").values()) == left
    cell.step()
    assert outputs(cell) == left


@pytest.mark.parametrize("kind", [1, 2])
def test_I3_a_command_that_is_not_finite_faults_the_part(cell: LockstepCell, kind: int) -> None:
    session = cell.session("io", "valves", "axis")
    session.add(
        Action("before", "set_output", parts="io", outputs="lamp dose", values=[1, 3]),
        Action("bad", "levels", parts="io", kind=kind),
        Action("move", "move_joint", parts="axis", position=[0.5]),
    )
    session.start("before", "move")
    cell.step(3)
    session.start("bad")
    tick = cell.step()
    assert [(e.part, e.tick, e.reason) for e in cell.kinds("part_faulted")] == [
        ("io", tick, "the action wrote a command that is not finite")
    ]
    assert cell.written("io") == {"io/clamp": 0.0, "io/lamp": 1.0, "io/dose": 0.5}, "the last ones, and the safe ones"
    cell.step(3)
    assert outputs(cell) == [0.0, 1.0, 0.5]
    assert cell.active("axis") == "move"


def all_on(cell: LockstepCell) -> tuple:
    session = cell.session("io", "valves")
    session.add(
        Action("on", "set_output", parts="io", outputs="clamp lamp dose", values=[1, 1, 3]),
        Action("open", "set_output", parts="valves", outputs="output_0", values=1),
        Action("fail", "levels", parts="valves", value=1, fail_after=2),
    )
    session.start("on", "open")
    cell.step(3)
    assert outputs(cell) == [1.0, 1.0, 3.0] and outputs(cell, "valves") == [1.0, 0.0]
    return session, cell.server


SAFE = {"io/clamp": 0.0, "io/lamp": 1.0, "io/dose": 0.5}


def test_I4_disabling_writes_the_safe_values_and_then_nothing(cell: LockstepCell) -> None:
    all_on(cell)
    cell.server.set_motion(["io"], "disable")
    cell.step()
    assert cell.written("io") == SAFE, "in this tick"
    cell.step()
    assert outputs(cell) == [0.0, 1.0, 0.5] and cell.written("io") == {}, "read back: nothing leaves any more"
    cell.step(20)
    assert outputs(cell) == [0.0, 1.0, 0.5]
    cell.server.set_motion(["io"], "enable")
    cell.step(5)
    assert outputs(cell) == [0.0, 1.0, 0.5]


@pytest.mark.parametrize("how", ["close", "failure", "lost"])
def test_I4_the_end_of_the_session_writes_the_safe_values(cell: LockstepCell, how: str) -> None:
    session, server = all_on(cell)
    session.stop("on")  # on no action: what it set is the session's all the same
    cell.step(3)
    if how == "close":
        session.close()
    elif how == "failure":
        session.start("fail")
        cell.step()
    else:
        cell.executor.world.memory.server_lost = 1
    cell.step()
    assert cell.written("io") == SAFE
    assert cell.written("valves")["valves/output_1"] == 1.0, "the safety action goes on from there"
    cell.step(2)
    assert outputs(cell) == [0.0, 1.0, 0.5]
    assert outputs(cell, "valves") == [1.0, 1.0], "without a safe value, an output keeps its own"
    assert cell.executor.world.memory.parts_runtime[IO].state == 1, "it stays enabled"


def test_I4_one_session_does_not_touch_what_another_one_commands(cell: LockstepCell) -> None:
    first, second = cell.session("io"), cell.session("valves")
    first.add(Action("on", "set_output", outputs="clamp", values=1))
    second.add(Action("open", "set_output", outputs="output_0", values=1))
    first.start("on")
    second.start("open")
    cell.step(3)
    second.close()
    cell.step(3)
    assert outputs(cell)[0] == 1.0
    first.close()
    third = cell.session("io")
    third.add(Action("on", "set_output", outputs="clamp", values=1))
    third.start("on")
    cell.step(3)
    assert outputs(cell)[0] == 1.0


def test_I4_a_fault_of_the_device_writes_them_as_soon_as_it_listens_again(hosted_cell: LockstepCell) -> None:
    cell = hosted_cell
    all_on(cell)
    cell.silence("bench")
    cell.step(10)
    assert {e.part for e in cell.kinds("part_faulted")} == {"axis", "io", "valves"}
    assert cell.written("io") == SAFE
    cell.silence("bench", False)
    cell.step(3)
    assert outputs(cell) == [0.0, 1.0, 0.5]


def test_I4_the_driver_writes_them_where_the_executor_is_silent(hosted_cell: LockstepCell) -> None:
    cell = hosted_cell
    all_on(cell)
    host = cell.executor.devices.hosts["bench"]
    host._silence_periods = 5
    for _ in range(8):
        host.cycle_read(0.0, 0.001)
        host.cycle_write(0.0, 0.001)
    host.cycle_read(0.0, 0.001)
    assert host.image.record.state_error == ImageError.EXECUTOR_SILENT
    names = list(host.image.manifest.state)
    values = dict(zip(names, host.image.record.state[: len(names)].tolist(), strict=True))
    assert {name: values[name] for name in SAFE} == SAFE
    assert values["valves/output_0"] == 1.0


def test_I5_enabling_changes_no_output(cell: LockstepCell) -> None:
    assert cell.written("io") == {"io/clamp": 0.0, "io/lamp": 0.0, "io/dose": 1.0}, "initial"
    all_on(cell)
    cell.server.set_motion(["io"], "disable")
    cell.step(3)
    # as a restarted executor, which knows nothing of what the one before it has commanded
    cell.part("io").commanded_outputs[:3] = (1.0, 0.0, 4.0)
    cell.server.set_motion(["io"], "enable")
    cell.step()
    assert cell.written("io") == {"io/clamp": 0.0, "io/lamp": 1.0, "io/dose": 0.5}, "as read back"
    cell.step(5)
    assert outputs(cell) == [0.0, 1.0, 0.5]


def test_I6_set_output_is_done_when_it_is_read_back(cell: LockstepCell) -> None:
    session = cell.session("io")
    session.add(
        Action("on", "set_output", outputs="clamp", values=1, reactions=[Reaction("is_done", event="on")]),
        Action(
            "pulse",
            "set_output",
            outputs="lamp dose",
            values=[1, 4],
            duration=0.01,
            reactions=[Reaction("is_on", event="lit"), Reaction("is_done", event="over")],
        ),
    )
    session.start("on")
    tick = cell.step()
    assert cell.fired("on") == []
    cell.step()
    assert [e.tick for e in cell.fired("on")] == [tick + 1]
    session.start("on")
    tick = cell.step()
    assert len(cell.fired("on")) == 1, "on from before: not this action's doing yet"
    cell.step()
    assert [e.tick for e in cell.fired("on")][1:] == [tick + 1]
    session.start("pulse")
    tick = cell.step()
    seen = []
    for _ in range(14):
        seen.append((outputs(cell)[1:], cell.value(session.id, "pulse.is_done")))
        cell.step()
    lit = [k for k, (levels, _) in enumerate(seen) if levels == [1.0, 4.0]]
    assert lit == list(range(1, 11)), "ten periods of a millisecond"
    assert [k for k, (_, done) in enumerate(seen) if done][0] == 11
    assert [e.tick for e in cell.fired("lit")] == [tick + 1]
    assert [e.tick for e in cell.fired("over")] == [tick + 11]


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"outputs": "clmp", "values": 1}, "output 'clmp'; expected .*'clamp'"),
        ({"outputs": "clamp, lamp", "values": [1, 1, 0]}, "values; expected one, or one for each of 2 outputs; got 3"),
        ({"outputs": "dose", "values": 9}, "value of output 'dose'; expected 0.5 to 4; got 9"),
        ({"outputs": "clamp clamp", "values": 1}, "'clamp' is given twice"),
        ({"outputs": " ", "values": 1}, "expected one name at least"),
    ],
)
def test_I6_wrong_parameters_are_refused(cell: LockstepCell, parameters: dict, text: str) -> None:
    with pytest.raises(DefinitionError, match=text):
        cell.session("io").add(Action("on", "set_output", **parameters))


def test_I7_wait_for_input_holds_and_times_out(cell: LockstepCell) -> None:
    session = cell.session("io", "person")
    session.add(
        Action("door", "wait_for_input", parts="io", input="door", value=1, hold=0.005, timeout=0.05),
        Action("near", "wait_for_input", parts="person", input="distance", below=1.0, timeout=0.02),
    )
    session.start("door", "near")
    cell.step(10)
    cell.set_sensor("io/door", 1.0)
    cell.step(3)
    cell.set_sensor("io/door", 0.0)  # it bounces
    cell.step(2)
    cell.set_sensor("io/door", 1.0)
    start = cell.tick
    cell.step_until(lambda: cell.value(session.id, "door.is_done") == 1.0, at_most=50)
    assert cell.tick - start == 6, "the first tick sees it, the fifth millisecond later it is done"
    cell.step(100)
    assert cell.value(session.id, "door.is_done") == 1.0 and cell.value(session.id, "door.timed_out") == 0.0
    # an unknown distance is not below anything
    assert math.isnan(cell.value(session.id, "near.value"))
    assert cell.value(session.id, "near.timed_out") == 1.0 and cell.value(session.id, "near.is_done") == 0.0
    cell.set_sensor("person/distance", 0.5)
    cell.step(5)
    assert cell.value(session.id, "near.is_done") == 0.0, "too late"
    session.start("near")
    cell.step(2)
    assert cell.value(session.id, "near.is_done") == 1.0 and cell.value(session.id, "near.timed_out") == 0.0


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"input": "dor", "value": 1}, "input 'dor'; expected .*'door'"),
        ({"input": "door"}, "condition; expected value, or above and below, or one of these; got none of them"),
        ({"input": "door", "value": 1, "above": 0}, "got value, above"),
        ({"input": "pressure", "above": 5, "below": 4}, "expected above < below; got 5 and 4"),
    ],
)
def test_I7_wrong_parameters_are_refused(cell: LockstepCell, parameters: dict, text: str) -> None:
    with pytest.raises(DefinitionError, match=text):
        cell.session("io").add(Action("wait", "wait_for_input", parts="io", **parameters))


def test_I8_values_of_a_sensor_are_state_variables_with_an_age(cell: LockstepCell) -> None:
    session = cell.session("axis")
    session.add(
        Action("go", "move_joint", position=[0.9], reactions=[Reaction("person.distance < 1.0", start="rest")]),
        Action("rest", "stop"),
        reactions=[Reaction("is_unknown(person.distance)", event="unknown", capture=["person.distance_age"])],
    )
    session.start("go")
    cell.step(20)
    assert np.isnan(cell.fired("unknown")[0].values[0]) and cell.active("axis") == "go"
    cell.set_sensor("person/distance", 2.0)
    cell.step(20)
    assert cell.active("axis") == "go" and cell.part("person").input_age[0] == 0.0
    cell.set_sensor("person/distance", 0.9)
    cell.step()
    assert cell.active("axis") == "rest"
    cell.set_sensor("person/distance", math.nan)
    cell.step()
    assert len(cell.fired("unknown")) == 2 and math.isnan(cell.part("person").input_age[0])


def test_I9_a_silent_sensor_is_unknown_and_faults_nothing(hosted_cell: LockstepCell) -> None:
    cell = hosted_cell
    session = cell.session("axis")
    session.add(
        Action("go", "move_joint", position=[0.9]),
        reactions=[
            Reaction("is_unknown(person.distance)", event="unknown"),
            Reaction("person.distance < 3", event="near"),
        ],
    )
    cell.set_sensor("person/distance", 2.0)
    cell.step(2)
    session.start("go")
    cell.step(10)
    cell.silence("watch")
    last = cell.tick
    cell.step(50)
    # before the first value, and again once it is too old
    assert [e.tick - last for e in cell.fired("unknown")][-1] == 4
    assert cell.kinds("part_faulted") == [] and cell.active("axis") == "go"
    near = len(cell.fired("near"))
    cell.silence("watch", False)
    cell.step(2)
    assert cell.part("person").inputs[0] == 2.0
    assert len(cell.fired("near")) == near, "known again, but true as before: no edge"


@pytest.fixture
def topic_cell() -> Iterator[LockstepCell]:
    """A sensor part and a rangefinder whose values come from ROS topics."""
    with LockstepCell(FILE.with_name("topic_workcell.yaml")) as made:
        yield made


def test_I8_a_value_that_is_older_than_its_max_age_is_unknown(topic_cell: LockstepCell) -> None:
    cell = topic_cell
    session = cell.session("axis")
    session.add(
        Action("go", "move_joint", position=[0.9]),
        reactions=[Reaction("is_unknown(person.distance)", event="unknown", capture=["person.distance_age"])],
    )
    session.start("go")
    cell.publish("/people", LaserScan(ranges=[3.0, 2.0]))
    first = cell.step()
    person = cell.part("person")
    assert (person.inputs[0], person.input_age[0]) == (2.0, 0.0)
    cell.step(50)
    assert (person.inputs[0], person.input_age[0]) == (2.0, pytest.approx(0.05))
    cell.step()
    assert math.isnan(person.inputs[0]) and person.input_age[0] == pytest.approx(0.051)
    assert [e.tick for e in cell.fired("unknown")] == [first + 51]
    cell.step(100)
    cell.publish("/people", LaserScan(ranges=[1.5]))
    cell.step()
    assert (person.inputs[0], person.input_age[0]) == (1.5, 0.0)
    assert cell.kinds("part_faulted") == [] and cell.active("axis") == "go"


def test_I10_a_person_near_the_robot_stops_it_in_the_tick_of_the_message(topic_cell: LockstepCell) -> None:
    cell = topic_cell
    session = cell.session("axis")
    far = Reaction("person.distance > 1.2", start="go", event="far")
    session.add(
        Action(
            "go", "move_joint", position=[0.9], reactions=[Reaction("person.distance < 1", start="wait", event="near")]
        ),
        Action("wait", "stop", reactions=[far]),
    )
    cell.publish("/people", LaserScan())
    cell.step()
    assert cell.part("person").inputs[:2].tolist() == [math.inf, 0.0], "nobody there"
    session.start("go")
    cell.step(20)
    cell.publish("/people", LaserScan(ranges=[4.0, 0.8]))
    tick = cell.step()
    assert [e.tick for e in cell.fired("near")] == [tick] and cell.active("axis") == "wait"
    assert cell.part("person").inputs[:2].tolist() == [pytest.approx(0.8), 1.0]
    cell.publish("/people", LaserScan(ranges=[4.0]))
    tick = cell.step()
    assert [e.tick for e in cell.fired("far")] == [tick] and cell.active("axis") == "go"


def test_I10_what_a_publisher_sends_is_seen_once_it_has_come(topic_cell: LockstepCell) -> None:
    cell = topic_cell
    context = Context()
    rclpy.init(args=[], context=context)
    try:
        node = Node("publisher", context=context)
        publisher = node.create_publisher(Float64, "/range", 10)
        plugin = cell.executor.devices.hosts["watch"].plugin
        assert isinstance(plugin, TopicPlugin)
        deadline = time.monotonic() + 20.0
        while not publisher.get_subscription_count() and time.monotonic() < deadline:
            time.sleep(0.01)
        publisher.publish(Float64(data=250.0))
        while not plugin.received("range") and time.monotonic() < deadline:
            cell.step()
            time.sleep(0.001)
        assert cell.part("rangefinder").distance == pytest.approx(0.25)
        cell.step(11)
        assert math.isnan(cell.part("rangefinder").distance)
        node.destroy_node()
    finally:
        rclpy.shutdown(context=context)


def test_I11_each_cycle_of_the_driver_is_one_tick_that_reads_its_state(tmp_path: Path) -> None:
    with DrivenExecutor(tmp_path) as driven:
        driven.wait_for_tick(driven.tick + 1)  # waiting for the driver has ended, and the loop ticks by itself
        driven.cycle()
        time.sleep(PERIOD_S / 2)
        first = driven.tick
        for n in range(1, 11):
            position = 0.01 * n
            assert isinstance(driven.host.plugin, MockPlugin)
            driven.host.plugin.set_states({"axis/x/position": position})
            driven.cycle()
            driven.wait_for_tick(first + n)
            time.sleep(PERIOD_S / 2)
            assert driven.tick == first + n, "one tick, and no other before the next cycle"
            part = driven.executor.channel.snapshot().parts[0].measured
            assert (part.position[0], part.age) == (position, 0.0)


def test_I12_a_silent_driver_faults_its_parts_while_the_loop_goes_on(tmp_path: Path) -> None:
    with DrivenExecutor(tmp_path) as driven:
        driven.cycle()
        time.sleep(PERIOD_S / 2)
        last = driven.tick
        begin = time.monotonic()
        part = driven.executor.part_status()[0]
        assert part.operational_state == "enabled"
        driven.wait_for_tick(last + 3)  # one for each period beyond max_age_ticks
        assert time.monotonic() - begin > 5 * PERIOD_S - PERIOD_S / 2, "at first it is waited for"
        snapshot = driven.executor.channel.snapshot()
        assert snapshot.parts[0].measured.age == snapshot.tick - last
        assert driven.executor.part_status()[0].operational_state == "faulted"
        assert driven.executor.part_status()[0].fault != ""
        driven.wait_for_tick(last + 8)
        driven.cycle()
        time.sleep(PERIOD_S / 2)
        driven.cycle()
        time.sleep(PERIOD_S / 2)
        again = driven.tick
        for n in range(1, 4):
            driven.cycle()
            time.sleep(PERIOD_S / 2)
            assert driven.tick == again + n, "it drives the loop again"
        assert driven.executor.channel.snapshot().parts[0].measured.age == 0.0
        assert driven.executor.part_status()[0].operational_state == "faulted", "until somebody clears it"


@pytest.fixture(params=["mock", PLUGIN], ids=["compiled", "hosted"])
def own(request: pytest.FixtureRequest) -> Iterator[LockstepCell]:
    with LockstepCell(FILE, hardware=request.param) as made:
        yield made


def test_I20_own_states_and_commands_of_a_part_with_joints(own: LockstepCell) -> None:
    axis = own.part("axis")
    session = own.session("axis")
    session.add(
        Action("stiff", "stiffen", value=300.0, speed=0.1),
        Action("too_stiff", "stiffen", value=5000.0),
        Action("named", "set_output", outputs="stiffness", values=700.0, reactions=[Reaction("is_done", event="set")]),
        reactions=[
            Reaction("axis.temperature > 60 and not axis.ready", event="hot", capture=["axis.temperature"]),
            Reaction("axis.stiffness > 299", event="stiff", capture=["axis.stiffness", "axis.velocity[0]"]),
        ],
    )
    assert outputs(own, "axis") == [100.0], "its initial value"
    own.step(5)
    assert not own.fired("hot"), "unknown until it is measured"
    own.set_sensor("axis/ready", 0.0)
    own.set_sensor("axis/temperature", 61.5)
    own.step(3)
    assert [e.values for e in own.fired("hot")] == [(61.5,)]

    session.start("stiff")
    own.step(400)
    assert outputs(own, "axis") == [300.0] and axis.velocity[0] == pytest.approx(0.1), "beside the joint's command"
    assert [e.values[0] for e in own.fired("stiff")] == [300.0]
    session.start("too_stiff")
    own.step(400)
    assert outputs(own, "axis") == [1000.0], "cut to its range"
    session.start("named")
    own.step(5)
    assert own.fired("set") and outputs(own, "axis") == [700.0]
    session.stop("named")
    own.step(5)
    assert outputs(own, "axis") == [700.0], "it keeps its value, as outputs do"
    session.close()
    own.step(5)
    assert outputs(own, "axis") == [50.0] and axis.velocity[0] == 0.0, "the safe value"


def test_I20_outputs_on_their_way_to_safe_values_take_no_unknown_position_along(own: LockstepCell) -> None:
    """As when a position becomes unknown in the tick in which motion would have been enabled."""
    own.server.set_motion(["axis"], "disable")
    own.step(10)
    world, axis, p = own.executor.world.memory, own.part("axis"), own.workcell.part("axis").index
    assert world.left[p].modes == 0 and axis.n_outputs == 1
    (joint,) = own.workcell.part("axis").joint_names
    own.set_sensor(f"axis/{joint}/position", math.nan)
    own.set_sensor("axis/stiffness", 70.0)  # the safe value is not read back
    axis.commanded_position[0] = math.nan
    world.parts_runtime[p].last_modes, world.parts_runtime[p].outputs_settling = CommandMode.POSITION, 1
    own.step()
    device = world.devices[world.parts_runtime[p].device]
    assert device.enabled == 1, "the outputs leave"
    assert device.mode[p] == CommandMode.NONE


def test_I20_of_a_command_that_is_not_finite_nothing_leaves(own: LockstepCell) -> None:
    session = own.session("axis")
    session.add(Action("bad", "stiffen", value=-1.0, speed=0.5))
    session.start("bad")
    own.step(5)
    axis = own.part("axis")
    assert axis.operational_state == OperationalState.FAULTED
    assert ["finite" in e.reason for e in own.kinds("part_faulted")] == [True]
    assert axis.velocity[0] == 0.0 and axis.position[0] == 0.0 and outputs(own, "axis") == [50.0]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("states: {position: {}}", r"axis\.states\.position; expected a name that no other state variable"),
        ("states: {x: {}}", r"axis\.states\.x; expected a name that no other state variable of the part has"),
        ("states: {k: {}}\n    commands: {k: {}}", r"axis\.commands\.k; expected a name that no other state variable"),
        ("commands: {age: {}}", r"axis\.commands\.age; expected a name other than age, at_rest"),
        ("commands: {k: {range: [1, 2], safe: 3}}", r"axis\.commands\.k\.safe; expected a value from 1 to 2; got 3"),
        ("states: {k: {range: [1, 2]}}", r"axis\.states\.k"),
    ],
)
def test_I20_bad_names_and_ranges_are_refused(given: str, text: str, tmp_path: Path) -> None:
    joints = "joints: [{name: x, type: prismatic, position_lower: -1, position_upper: 1, velocity: 1, effort: 9}]"
    file = tmp_path / "own.yaml"
    part = f"  axis:\n    kind: base\n    device: d\n    {joints}\n    {given}\n"
    file.write_text(f"name: own\nparts:\n{part}devices: {{d: {{mock: {{}}}}}}\n")
    with pytest.raises(DefinitionError, match=text):
        load_workcell(file)
