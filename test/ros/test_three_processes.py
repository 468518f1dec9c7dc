"""Table 3 in simulated time: two processes, the program in a third, seen through the topics by a fourth."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rcl_interfaces.srv import GetParameters
from rclpy._rclpy_pybind11 import InvalidHandle

from robot_rt_control.client import Action, Client, Reaction
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, SessionError

REPOSITORY = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.timeout(900)


def test_I13_the_arm_goes_up_and_down_in_simulated_time_and_everybody_can_see_it(workcell, python):
    with subprocess.Popen(
        [sys.executable, "test/ros/observer.py"],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as observer:
        assert observer.stdout is not None and observer.stdout.readline() == "watching\n"
        program = python("examples/03_up_and_down.py", "10", timeout=500)  # seconds of simulated time
        assert program.returncode == 0, program.stdout + program.stderr
        output, _ = observer.communicate(timeout=120)
    seen = json.loads(output)
    fired = [e for e in seen["events"] if e[0] == "reaction_fired"]
    started = {(e[1], e[3]) for e in seen["events"] if e[0] == "action_started"}
    assert len(fired) >= 3, program.stdout
    for _, tick, previous, current, values in fired:
        assert (tick, current) in started, "the switch was not in the tick of its condition"
        assert values[0] < 0.35 if (previous, current) == ("move_down", "move_up") else values[0] > 0.50
    distances, frames = zip(*seen["ranges"], strict=True)
    assert min(distances) < 0.36 and max(distances) > 0.49
    assert set(frames) == {"rangefinder_frame"}
    assert len({tuple(q) for q in seen["joints"]}) > 100
    actions = {action for status in seen["status"] for name, action, _ in status["parts"] if name == "arm"}
    assert {"move_down", "move_up"} <= actions
    switches = int(program.stdout.split()[-2])  # the last one may come too late for the program, which ends
    assert len(fired) - 1 <= switches <= len(fired), program.stdout
    # Simulated time: a clock that only goes forward, no lateness, and the factor with its target.
    assert len(seen["clock"]) > 100 and sorted(seen["clock"]) == seen["clock"]
    assert {(s["clock"], s["target"], s["misses"]) for s in seen["status"]} == {("lockstep", 1.0, 0)}
    assert 0.0 < seen["status"][-1]["factor"] < 1.2


def test_I13_all_nodes_live_in_simulated_time(client: Client):
    for node in ("control_server", "realtime_executor"):
        getting: Any = client.node.create_client(GetParameters, f"/{node}/get_parameters")
        assert getting.wait_for_service(120.0)
        future = getting.call_async(GetParameters.Request(names=["use_sim_time"]))
        deadline = time.monotonic() + 120.0
        while not future.done():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert future.result().values[0].bool_value, node


def test_I17_in_simulated_time_a_lease_lasts_at_least_ten_seconds(client: Client):
    with client.session("arm", lease_s=0.5) as session:
        assert session.lease_s == defaults.SIMULATED_LEASE_S == 10.0


@pytest.mark.parametrize(
    ("example", "text"),
    [
        ("01_single_action.py", "settled; the tool is"),
        ("02_chained_actions.py", "the sequence was complete"),
        ("04_custom_action.py", "joint 3 has swung up to 0.200 rad"),
        ("25_c_action.py --ros", "sway: reached in tick"),
        ("05_callback.py", "Almost there! tick"),
    ],
)
def test_each_numbered_example_does_what_it_says(workcell, python, example, text):
    file, *arguments = example.split()
    done = python(f"examples/{file}", *arguments, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert text in done.stdout


def test_bad_input_names_the_item_and_the_session_lives_on(client: Client):
    with client.session("arm") as session:
        for action, text in (
            (Action("a", "mov_joint"), "did you mean 'move_joint'"),
            (Action("a", "move_joint", position=[0.0] * 6), "position"),
            (Action("a", "velocity_move", linear=([0, 0, 1], "m")), "m/s"),
            (Action("a", "hold", reactions=[Reaction("rangefinder.distanse < 1", stop=True)]), "rangefinder.distance"),
            (Action("a", "hold", reactions=[Reaction("is_holding", start="b")]), "'b'"),
        ):
            with pytest.raises(DefinitionError, match=text):
                session.add(action)
        with pytest.raises(SessionError, match="arm"):
            client.session("arm")
        session.add(Action("a", "hold"))
        session.start("a")
    with pytest.raises(SessionError, match="has ended"):
        session.start("a")


def test_a_client_outlives_what_its_node_raises(client: Client, monkeypatch: pytest.MonkeyPatch):
    executor: Any = client.backend._executor  # type: ignore[attr-defined]
    spin_once, left = executor.spin_once, [InvalidHandle("removed meanwhile"), ValueError("of a callback")]

    def spin(**options: Any) -> None:
        if left:
            raise left.pop()
        spin_once(**options)

    monkeypatch.setattr(executor, "spin_once", spin)
    deadline = time.monotonic() + 60.0
    while left:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert [part.name for part in client.parts()] == ["arm", "rangefinder", "wrist"]


def test_who_asks_for_an_unknown_part_hears_which_there_are(client: Client):
    with pytest.raises(RobotControlError, match="one of: arm, rangefinder, wrist|did you mean 'arm'"):
        client.session("arn")


def test_a_client_that_was_never_closed_is_closed_at_the_end_of_its_process(client: Client, python):
    program = "from robot_rt_control.client import Client; print(Client('forgetful').session('arm').id)"
    done = python("-c", program, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and "terminate" not in done.stderr
    assert done.stdout.strip() not in [session.id for session in client.sessions()]
