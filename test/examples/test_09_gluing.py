"""Figure 3: who freezes when, how far the nozzle still goes, and what glue there is in the end."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robot_rt_control.model.kinematics.kinematics import forward
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm, FakePart
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.enums import PartKind, Status
from robot_rt_control.vocabulary.errors import DefinitionError

pytestmark = pytest.mark.timeout(600)  # with an empty cache, the action types are compiled first


@pytest.mark.long
def test_glue_a_person_and_an_open_clamp(example, tmp_path, capsys):
    module = example("09_gluing")
    with (
        LockstepClient(module.WORKCELL, hardware=module.SIMULATED) as client,
        client.session("person") as watcher,
        watcher.record("person.distance", "valve.flow", "arm.tool.y") as recording,
    ):
        first = module.main(client, tmp_path)
        assert not client.cell.kinds("part_faulted", "action_failed", "switch_dropped")
        (person,) = client.cell.fired("person")
    ticks = np.round(recording.time / 0.001).astype(int)
    near = ticks[recording["person.distance"] < module.NEAR]
    assert person.tick == near[0], "in the tick in which the detector says so"
    flow, y = recording["valve.flow"], recording["arm.tool.y"]
    frozen = (ticks > person.tick) & (ticks <= near[-1])
    assert flow[ticks == person.tick] > 1.0 and (flow[frozen] == 0.0).all(), "read back one cycle later"
    rest = person.tick + first["visitor"]["ticks_to_rest"]
    assert np.ptp(y[(ticks > rest + 50) & (ticks <= near[-1])]) < 1e-6, "there it stays [m]"

    assert first["nobody"]["thickness"] == pytest.approx(0.002, rel=1e-3)
    assert first["nobody"]["glued_length"] == pytest.approx(0.6, rel=1e-3), "to and fro"
    assert first["visitor"]["ticks_to_freeze"] == 0 and first["visitor"]["ticks_to_valve"] == 1
    assert first["visitor"]["ticks_to_rest"] < 200 and first["visitor"]["travelled"] < 0.025
    assert 0.75 < first["visitor"]["distance"] < 0.8
    assert first["visitor"]["ticks_at_rest"] > 1500
    assert first["visitor"]["thickness_then"] < 0.0015
    assert first["visitor"]["thickness"] == pytest.approx(0.002, rel=1e-3), "it went on where it was"
    assert first["clamp"]["ticks_to_leave"] == 0 and first["clamp"]["thickness"] < 0.001
    assert "frozen 0 ticks later" in capsys.readouterr().out
    for name in ("gluing.png", "frozen.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_a_silent_detector_freezes_too(example):
    module = example("09_gluing")
    with (
        LockstepClient(module.WORKCELL, hardware=module.SIMULATED) as client,
        client.session(["arm", "valve", "clamp"]) as session,
    ):
        module.define(session)
        client.cell.set_sensor("person/distance", 5.0)
        session.start("approach", "close_clamp")
        session.wait_until("glue.elapsed > 0.5", 20)
        client.cell.set_sensor("person/distance", math.nan)
        tick = client.step()
        assert [e.tick for e in client.cell.fired("person")] == [tick]
        assert client.cell.active("arm") == "freeze" and client.cell.active("valve") == "default"


@pytest.fixture
def glue(example):
    """Makes the action on a fake arm whose tool is at the beginning of a seam of 0.1 m."""
    action_type = example("09_gluing").ApplyGlue

    def make(away=0.0, **parameters):
        arm, p, q = FakeArm(), np.zeros(3), np.zeros(4)
        forward(arm.live.chain, arm.live.commanded_position, p, q)
        seam = {"begin": [p[0] + away, p[1], p[2]], "end": [p[0] + away, p[1] + 0.1, p[2]]}
        valve = FakePart(name="valve", kind=PartKind.IO, outputs=["flow"])  # gives up to 1 ml/s
        given = {**seam, "speed": 0.1, **parameters}
        return ActionHarness(action_type, parts={"arm": arm, "valve": valve}, parameters=given)

    return make


def test_the_glue_follows_the_speed_and_the_nozzle_turns_round_at_both_ends(glue):
    harness = glue()
    begin = np.array(harness.params.begin)
    harness.start()
    flows, places, volume = [], [], 0.0
    for _ in range(2600):
        harness.step()
        assert harness.state.speed <= 0.1 + 1e-12
        flow = float(harness.part("valve").commanded_outputs[0])
        assert flow == pytest.approx(0.001 * 0.006 * harness.state.speed * 1e6, abs=1e-12)
        flows.append(flow)
        places.append(float(harness.state.place))
        volume += flow * 0.001
    assert max(places) == pytest.approx(0.1, abs=1e-5) and min(places[1500:]) == pytest.approx(0.0, abs=1e-5)
    assert harness.state.glued_length > 0.2 and max(flows) == pytest.approx(0.6)
    harness.step()
    # millilitres over the seam's area: what flowed is what is there, up to the last steps before the turns
    assert harness.state.thickness == pytest.approx(volume * 1e-6 / (0.1 * 0.006), rel=1e-3)
    offset = np.array(harness.state.tool.tool_position) - begin
    assert abs(offset[0]) < 1e-4 and abs(offset[2]) < 1e-4, "on its line [m]"


def test_it_goes_on_at_a_place_and_comes_there_without_glue(glue):
    harness = glue(place=0.06, direction=-1.0, applied=0.0015)
    harness.start()
    harness.step_until(lambda: harness.state.is_dry == 0.0)
    assert harness.state.place == pytest.approx(0.06, abs=2e-5)
    assert harness.state.thickness == 0.0015 and harness.state.glued_length == 0.0
    assert harness.part("valve").commanded_outputs[0] == 0.0
    harness.step(100)
    assert harness.state.place < 0.06 and harness.state.thickness > 0.0015


def test_it_does_not_start_beside_the_seam(glue):
    harness = glue(away=0.02)
    harness.start()
    assert harness.step() == Status.START_TOO_FAR


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"speed": 0.2}, "layer x width x speed; expected at most 1 ml/s, what 'valve' can give; got 1.2 ml/s"),
        ({"place": 0.2}, "place; expected at most 0.1 m; got 0.2 m"),
        ({"begin": [0, 0, 0], "end": [0, 0, 0.001]}, "a length of at least 10 mm; got 1 mm"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_moves(glue, parameters, text):
    with pytest.raises(DefinitionError, match=text):
        glue(**parameters)
