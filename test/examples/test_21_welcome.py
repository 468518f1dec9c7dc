"""Document 5: the welcome robot, with its three blueprints."""

from __future__ import annotations

import pytest

from robot_rt_control.testing.lockstep_blueprints import LockstepBlueprints
from robot_rt_control.testing.lockstep_client import LockstepClient


def test_it_knows_its_staff_and_keeps_its_distance(example, tmp_path):
    module = example("21_welcome")
    with (
        LockstepClient(module.WORKCELL) as client,
        LockstepBlueprints(client, tmp_path) as blueprints,
        client.session("visitor") as session,
    ):
        module.save_skills(blueprints)
        visitor, scene = module.Visitor(client, session), module.Scene(client, blueprints, tmp_path)
        blueprints.control("arm", seconds=60.0)
        visitor.comes(mia=True)
        mia = scene.watch()
        assert (mia.does, mia.result) == ("welcome", "done")
        assert mia.source == "sensor: door.distance < 1.5"
        assert blueprints.said == ["Good morning, mia."]

        visitor.comes(to=2.3)  # a guest, much too near: 4 cm
        client.sleep(1.0)
        blueprints.give_command("Welcome the guest!")
        paths = blueprints.wait_for_state(lambda s: any("/back/wait" in n.path for n in s.nodes), 5.0)
        assert client.value("person.distance") < 0.2 and paths.nodes[-1].does == "wait_until"
        assert blueprints.said[1:] == ["Please step back a little."]
        visitor.comes()
        blueprints.wait_for_state(lambda s: any(n.path == "entrance/shake_hands" for n in s.nodes), 10.0)
        blueprints.give_command("stop")
        assert scene.watch().result == "cancelled"
        assert client.value("arm.at_rest") == 1.0


@pytest.mark.long
def test_three_blueprints_by_sensor_gesture_and_sentence(example, colours, tmp_path, capsys):
    module = example("21_welcome")
    with LockstepClient(module.WORKCELL) as client:
        lifted = []
        client.cell.after_tick.append(lambda: lifted.append(client.cell.part("visitor").inputs[0]))
        ends = module.main(client, tmp_path)
        assert ends == dict.fromkeys(("mia", "welcome", "drink", "short_welcome"), "done")
        assert not client.cell.kinds("part_faulted", "action_failed", "command_refused")
        plugin = client.cell.executor.devices.hosts["sim"].plugin
        for cup, place in (("water", (0.5, 0.25)), ("tea", (0.5, 0.37))):
            assert plugin.object_pose(cup).position == pytest.approx((*place, 0.66), abs=5e-3), "on the desk, upright"
    assert 0.02 < max(lifted) < 0.08 and abs(lifted[-1]) < 0.005, "[m] the visitor's hand was shaken and let go"
    said = [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines() if line.startswith("robot said")]
    welcomed = ["Hello, welcome, dear guest!", "I am glad to hear that.", "This way, please.", "Please take a seat."]
    assert said == ["Good morning, mia.", *welcomed, "Here you are.", "Here you are.", "Hello, Ann!", *welcomed[1:]]
    for picture in ("recognised", "handshake", "this_way", "drink", "end"):
        assert (tmp_path / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
        assert colours(tmp_path / f"{picture}.png") > 5, picture
