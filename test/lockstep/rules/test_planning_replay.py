"""V14 to V19: plans as actions, through the real tick loop on PyBullet; exported programs."""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from robot_rt_control.client import Reaction
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.plan.program_export import export_program
from robot_rt_control.planning.solve.again import plan_again
from robot_rt_control.planning.solve.planner import Settings
from robot_rt_control.planning.solve.planner import plan as solve
from robot_rt_control.planning.solve.playing import Player
from robot_rt_control.planning.solve.verify import verify
from robot_rt_control.planning.task import PairGroup, Task
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.testing.plan_replay import _frames, main, replay, simulation
from robot_rt_control.vocabulary.errors import DefinitionError

pytestmark = pytest.mark.timeout(600)  # with an empty cache, the loop is compiled first
CONFIG = Path(__file__).parents[3] / "config"
PUSHER, PUSH, HUMANOID = CONFIG / "pusher.yaml", CONFIG / "push.yaml", CONFIG / "humanoid.yaml"


def solved(**task: Any) -> Plan:
    result = solve(Task(**task), Settings(threads=1))
    assert result.success and result.plan is not None, result.message
    return result.plan


def confirmed(plan: Plan, **verification: Any) -> Plan:
    """As if another engine had played it, so that it may be played."""
    row = {"speed": 1.0, "rests": True, "error_to_target": 0.0, "orientation_error": 0.0}
    return plan.with_verification({"replays": [row], "perturbed": [], "speeds": [1.0], **verification})


SLIDE: dict[str, Any] = {
    "workcell": PUSHER,
    "body": "slider",
    "target": Pose(position=(0.33, 0.0, 0.05)),
    "pairs": (PairGroup(robot="pusher.tip", faces=("back",)),),
    "time": 1.0,
    "steps": 20,
}
"""A slider, 20 cm in 1 s."""


@pytest.fixture(scope="module")
def slide() -> Plan:
    return solved(**SLIDE)


@pytest.fixture(scope="module")
def push() -> Plan:
    """A box, 5 cm in 1 s."""
    return solved(
        workcell=PUSH,
        body="box",
        target=Pose(position=(0.65, 0.0, 0.04)),
        pairs=(PairGroup(robot="arm.peg", faces=("back", "front", "left", "right")),),
        time=1.0,
        steps=20,
    )


def test_V14_a_plan_is_read_without_the_planner(slide: Plan, tmp_path: Path) -> None:
    slide.save(tmp_path / "a.plan")
    code = "import sys; sys.modules['mujoco'] = sys.modules['piqp'] = sys.modules['numba'] = None\n"
    code += "from robot_rt_control.planning.plan.plan import Plan\n"
    code += "plan = Plan.load(sys.argv[1]); print(plan.actions('push')[0].id, plan.parts)"
    command = [sys.executable, "-c", code, str(tmp_path / "a.plan")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "push ('pusher',)"


def test_V16_a_slider_arrives_by_an_ordinary_action(slide: Plan) -> None:
    found = replay(slide, PUSHER)
    assert found.rests and found.normalized_error < 0.02 and found.orientation_error < 0.01
    assert found.position == pytest.approx((0.33, 0.0, 0.05), abs=0.004)
    assert found.error_to_plan < 0.004
    assert found.impulse == pytest.approx(0.3 * 9.81 * 0.8, rel=0.3), "friction, while it slid"
    assert found.path[0] == pytest.approx([0.13, 0, 0.05, 0, 0, 0, 1], abs=1e-3)
    assert found.path[-1, :3] == pytest.approx(found.position, abs=1e-4)
    assert (np.diff(found.times) > 0.0).all()


def test_V16_efforts_with_feedback_carry_farther_than_efforts_alone() -> None:
    plan = solved(**SLIDE, controls={"pusher": "effort"})
    assert [p.value for p in plan.actions()[0].parameters if p.name == "mode"] == ["effort"]
    found, alone = replay(plan, PUSHER), replay(plan, PUSHER, feedback=False)
    assert found.rests and found.orientation_error < 0.05
    # A light ball gives the slider a blow: how far it then slides depends on the engine's contact.
    assert found.position[0] > 0.23 and found.error_to_plan < alone.error_to_plan


def test_V16_a_box_arrives_and_a_second_replay_gives_the_same_bits(push: Plan) -> None:
    first, second = replay(push, PUSH), replay(push, PUSH)
    assert first.rests and first.normalized_error < 0.07 and first.orientation_error < 0.05
    assert first.summary() == second.summary()
    assert (first.path == second.path).all()


def test_V16_all_limits_are_kept_and_nothing_faults(push: Plan) -> None:
    with LockstepClient(PUSH) as client, client.session("arm") as session:
        session.add(*push.actions("push"))
        session.add(reactions=[Reaction("push.is_done", event="done")])
        part, seen = client.cell.part("arm"), []
        client.cell.after_tick.append(lambda: seen.append(part["commanded_velocity"][:7].copy()))
        session.start(*push.first("push"))
        session.wait_for("done", timeout_s=5.0)
        assert not client.cell.kinds("part_faulted", "action_failed", "limit_reached", "command_limited")
        assert (np.abs(seen) <= part["velocity_limit"][:7] + 1e-9).all()
        assert np.abs(np.array(seen)).max() > 0.05


def test_V16_efforts_alone_are_those_of_plans_by_efforts(slide: Plan) -> None:
    with pytest.raises(DefinitionError, match="expected a plan by efforts; got one by velocities"):
        replay(slide, PUSHER, feedback=False)


def test_V15_a_plan_for_another_workcell_does_not_move(push: Plan) -> None:
    with pytest.raises(DefinitionError, match="expected that of the plan, digest .*; got another one, digest"):
        replay(push, PUSHER)


def test_V15_a_first_point_elsewhere_is_approached(slide: Plan) -> None:
    near = changed(slide, position=slide.position + 0.02)
    assert replay(near, PUSHER).error_to_plan > 0.015, "it pushes 2 cm farther"


def test_V19_a_replay_tells_at_which_speeds_it_held(slide: Plan, tmp_path: Path) -> None:
    file = tmp_path / "a.plan"
    said: list[str] = []
    wide = {"tolerance": {"position": 0.01, "orientation": 0.05, "speed": 0.02}}
    changed(slide, header={**slide.header, **wide}).save(file)
    assert main([str(file), "--workcell", str(PUSHER), "--speed", "1", "0.5", "--save", "--json"], said.append) == 0
    rows = json.loads("".join(said))
    assert [row["speed"] for row in rows] == [1.0, 0.5] and len(rows[0]["path"]) == len(rows[0]["times"])
    verified = Plan.load(file)
    assert verified.speeds == (0.5, 1.0)
    kept = verified.header["verification"]["replays"][0]
    assert kept["normalized_error"] == rows[0]["normalized_error"] and "path" not in kept
    strict = {"tolerance": {"position": 0.0, "orientation": 0.0, "speed": 0.0}}
    changed(slide, header={**slide.header, **strict}).save(file)
    assert main([str(file), "--workcell", str(PUSHER), "--json"], said.append) == 1, "it misses"
    assert json.loads(said[-1])[0]["speed"] == 1.0
    assert main([str(file), "--workcell", str(PUSH), "--json"], said.append) == 1
    assert "expected that of the plan" in json.loads(said[-1])["error"]


def test_V19_what_both_engines_found_stands_in_the_plan(slide: Plan, tmp_path: Path) -> None:
    task = Task(**SLIDE)
    with Player() as player:
        rows = player.play(slide, PUSHER)
        with pytest.raises(DefinitionError, match="expected that of the plan, digest"):
            player.play(slide, PUSH)
    slide.with_verification(verify(slide, task)).with_replays(rows).save(tmp_path / "a.plan")
    found = Plan.load(tmp_path / "a.plan").header["verification"]
    same = json.loads(json.dumps(replay(slide, PUSHER).summary()))
    assert rows == [same], "the same bits as in this process"
    assert found["mujoco"]["repeated"], "the same bits as the plan says"
    assert found["mujoco"]["position_error"] == pytest.approx(slide.header["position_error"], abs=1e-9)
    assert found["mujoco"]["normalized_error"] == pytest.approx(slide.header["normalized_error"], abs=1e-9)
    assert found["at_rest"]["normalized_error"] < 0.02 and rows[0]["peak"] > 0.0 < rows[0]["impulse"]
    assert len(found["perturbed"]) >= 13 and 0.0 < found["spread"] < 0.1
    assert [row["speed"] for row in found["replays"]] == [1.0]


def test_a_film_strip_shows_the_target_until_the_body_hides_it(slide: Plan, tmp_path: Path) -> None:
    file, film = tmp_path / "a.plan", tmp_path / "a.png"
    slide.save(file)
    main([str(file), "--workcell", str(PUSHER), "--film", str(film)], lambda text: None)
    red, green, blue = np.moveaxis(np.array(Image.open(film).convert("RGB"), dtype=int), 2, 0)
    greenish = (green > red + 20) & (green > blue + 20)
    height, width = greenish.shape[0] // 2, greenish.shape[1] // 4
    first, last = greenish[:height, :width].sum(), greenish[-height:, -width:].sum()
    assert first > 2 * last > 0, "at the end only its outline is left"


def test_a_film_strip_shows_the_target_of_a_link(tmp_path: Path) -> None:
    """The torso stays where it is, 15 cm below its target: a green rectangle above it, in each picture."""
    zeros = {name: np.zeros((10, 1)) for name in ("stiffness", "virtual_force")}
    zeros |= {name: np.zeros((11, 1)) for name in ("distance", "virtual_distance")}
    workcell = load_workcell(HUMANOID, "simulator")
    parts = [part for part in workcell.parts if part.dof]
    joints = [f"{part.name}.{joint}" for part in parts for joint in part.joint_names]
    plan = Plan(
        header={
            "workcell": workcell.digest,
            "body": f"{parts[0].name}.torso",
            "joints": joints,
            "velocity_driven": [True] * len(joints),
            "pairs": ["none"],
            "steps": 10,
            "time": 0.1,
            "at_rest": False,
            "target": [[0.0, 0.0, 0.15], [0.0, 0.0, 0.0, 1.0]],
        },
        position=np.tile(np.concatenate([part.start_position[: part.dof] for part in parts]), (11, 1)),
        velocity=np.zeros((11, len(joints))),
        inputs=np.zeros((10, len(joints))),
        body_position=np.zeros((11, 3)),
        body_rotation=np.tile(np.eye(3), (11, 1, 1)),
        feedback=None,
        **zeros,
    )
    for image in replay(plan, workcell, frames=2).images:
        red, green, blue = np.moveaxis(image.astype(int), 2, 0)
        rows, columns = np.nonzero((green > red + 20) & (green > blue + 20))
        assert len(rows) > 500 and abs(np.mean(columns) - 320) < 20 and np.mean(rows) < 150


def test_an_animation_has_more_pictures_than_a_film_strip_at_most_57(slide: Plan) -> None:
    def count(speed: float, gif: str | None, film: str | None = "a.png") -> int:
        return _frames(slide, argparse.Namespace(gif=gif, film=film, speed=[speed, 3.0]))

    assert [count(1.0, None, None), count(1.0, None), count(1.0, "a.gif"), count(0.1, "a.gif")] == [0, 8, 22, 57]


def test_V16_actions_that_are_chained_join_without_a_step() -> None:
    """A sine of 1200 points on the pusher, in three actions: the command is that of the whole curve."""
    times = np.linspace(0.0, 6.0, 1201)
    q, v = 0.02 * (1.0 - np.cos(np.pi * times / 3.0)), 0.02 * np.pi / 3.0 * np.sin(np.pi * times / 3.0)
    zeros = {name: np.zeros((1200, 1)) for name in ("inputs", "stiffness", "virtual_force")}
    zeros |= {name: np.zeros((1201, 1)) for name in ("distance", "virtual_distance")}
    plan = Plan(
        header={"joints": ["pusher.slide"], "pairs": ["none"], "steps": 1200, "time": 6.0},
        position=q[:, None],
        velocity=v[:, None],
        body_position=np.zeros((1201, 3)),
        body_rotation=np.tile(np.eye(3), (1201, 1, 1)),
        feedback=None,
        **zeros,
    )
    assert len(plan.actions("wave")) == 3
    with LockstepClient(PUSHER, hardware="mock") as client, client.session("pusher") as session:
        session.add(*plan.actions("wave"))
        session.add(reactions=[Reaction("wave_3.is_done", event="done")])
        part, seen = client.cell.part("pusher"), []
        client.cell.after_tick.append(lambda: seen.append(float(part["commanded_position"][0])))
        session.start(*plan.first("wave"))
        session.wait_for("done", timeout_s=10.0)
    moved = np.array(seen)
    expected = 0.02 * (1.0 - np.cos(np.pi * 0.001 * np.arange(1, 6001) / 3.0))
    first = int(np.argmax(moved > 0.0))
    assert np.abs(moved[first : first + 6000] - expected).max() < 1e-6


Change = Callable[[LockstepClient], object]


def run(plan: Plan, *, before: Change | None = None, during: Change | None = None, hardware: str = "") -> str:
    """Run its exported program, and return the exit.

    Args:
        before: called before it starts.
        during: called in the middle of the push.
        hardware: the plugin.
    """
    text = export_program(plan, name="push_box", sensor="camera", unverified=True)
    with LockstepClient(PUSH, hardware=hardware) as client:
        assert client.programs.check(text) == ()
        if before is not None:
            before(client)
        if during is None:
            outcome = client.programs.run(text, timeout_s=100.0)
            assert outcome.success, outcome.message
            return outcome.last_event
        with client.session("arm") as session:
            session.upload(text)
            session.start("approach")
            client.sleep(0.3)
            assert session.active == ("push",)
            during(client)
            client.sleep(3.0)
            return " ".join(event.name for event in session.events if event.name)


def place(y: float) -> Change:
    return lambda client: simulation(client).move_object("box", Pose(position=(0.6, y, 0.04)))


def test_V18_the_exported_program_ends_with_done(push: Plan) -> None:
    assert run(push) == "done"


def test_V18_a_box_that_is_elsewhere_is_not_pushed(push: Plan) -> None:
    assert run(push, before=place(0.02)) == "object_moved"


def test_V18_a_box_that_is_taken_away_is_missed(push: Plan) -> None:
    assert run(push, during=place(0.4)) == "missed"


def test_V18_a_push_is_not_slower_than_its_replay_held(push: Plan) -> None:
    def halve(client: LockstepClient) -> None:
        client.set_speed(0.5)

    assert run(push, before=halve) == "slowed"
    assert run(push, during=halve) == "slowed"
    assert run(confirmed(push, speeds=[0.5, 1.0]), before=halve) == "done"


def test_V18_an_unknown_pose_is_a_failure(push: Plan) -> None:
    def lose(client: LockstepClient) -> None:
        client.cell.set_sensor("camera/x", math.nan)

    assert run(push, before=lose, hardware="mock") == "failed"


def test_V16_the_parts_of_a_plan_start_in_one_tick_and_V18_their_program_has_the_same_exits() -> None:
    """Two arms that swing a little, without a body's pose."""
    start = np.array([0.0, -0.785398, 0.0, -2.356194, 0.0, 1.570796, 0.785398])
    times = np.linspace(0.0, 1.0, 21)[:, None]
    q = np.tile(start, 2) + 0.05 * (1.0 - np.cos(np.pi * times)) * np.ones(14)
    v = 0.05 * np.pi * np.sin(np.pi * times) * np.ones(14)
    zeros = {name: np.zeros((20, 1)) for name in ("inputs", "stiffness", "virtual_force")}
    zeros |= {name: np.zeros((21, 1)) for name in ("distance", "virtual_distance")}
    plan = Plan(
        header={"success": True, "way": 1.0, "target": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]} | {
            "joints": [f"{arm}.j{i}" for arm in ("arm_a", "arm_b") for i in range(7)], "steps": 20, "time": 1.0},
        position=q,
        velocity=v,
        body_position=np.zeros((21, 3)),
        body_rotation=np.tile(np.eye(3), (21, 1, 1)),
        feedback=None,
        **zeros,
    )
    text = export_program(confirmed(plan), name="swing")
    with LockstepClient(CONFIG / "two_arms.yaml", hardware="mock") as client:
        assert client.programs.check(text) == ()
        client.cell.events.clear()
        outcome = client.programs.run(text, timeout_s=100.0)
        assert outcome.success and outcome.last_event == "done", outcome.message
        started = {e.current_action: e.tick for e in client.cell.kinds("action_started")}
        client.cell.events.clear()
        client.set_speed(0.5)
        assert client.programs.run(text, timeout_s=100.0).last_event == "slowed"
    for state in ("approach", "push", "judge", "done"):
        assert started[f"{state}_arm_a"] == started[f"{state}_arm_b"]
    assert started["approach_arm_a"] <= started["push_arm_a"] < started["judge_arm_a"] < started["done_arm_a"]


def test_V20_stopped_on_its_way_the_rest_is_planned_again_from_what_is_measured(slide: Plan) -> None:
    task = Task(**SLIDE)
    with LockstepClient(PUSHER) as client, client.session("pusher") as session:
        session.add(*slide.actions("push"))
        session.start(*slide.first("push"))
        client.sleep(0.5)
        session.stop()
        client.sleep(0.5)
        joints, body = [client.value("pusher.position[0]")], simulation(client).object_pose("slider")
        assert 0.15 < body.position[0] < 0.31, "on its way"
        found = plan_again(task, slide, joints={"pusher": joints}, body=body, elapsed=0.5, settings=Settings(threads=1))
        assert found.success and found.plan is not None, found.message
        assert "previous plan" in found.starts
        assert found.plan.header["steps"] == 10 and found.plan.header["time"] == pytest.approx(0.5)
        found.plan.check_start(workcell=client.cell.workcell.digest, joints={"pusher": joints}, body=body, speed=1.0)
        session.add(*found.plan.actions("again"))
        session.start(*found.plan.first("again"))
        client.sleep(1.0)
        end = simulation(client).object_pose("slider")
    # In half a second more it is pushed hard, and slides: engines differ by centimetres.
    assert end.position == pytest.approx((0.33, 0.0, 0.05), abs=0.04)
    assert end.position[0] > body.position[0] + 0.01


def test_V20_a_correction_is_as_accurate_as_the_first_plan_and_not_stricter(slide: Plan) -> None:
    """1 cm is left of 20: 2 % of 20 cm are enough."""
    body = Pose(position=(0.32, 0.0, 0.05))
    found = plan_again(Task(**SLIDE), slide, joints={"pusher": [0.0]}, body=body, settings=Settings(threads=1))
    assert found.success and found.plan is not None and found.error is not None, found.message
    assert found.error.position < 0.004
    assert found.plan.start_pose.position == pytest.approx((0.32, 0.0, 0.05), abs=1e-3)
