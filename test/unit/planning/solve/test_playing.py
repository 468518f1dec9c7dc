"""The process beside the planner that plays plans. Replays themselves: test/lockstep/rules/test_planning_replay.py."""

from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.planning.plan.plan import FORMAT, Plan
from robot_rt_control.planning.solve.playing import Player
from robot_rt_control.vocabulary.errors import RobotControlError

PLAN = Plan(
    header={"format": FORMAT, "joints": ["a.j"], "pairs": [], "steps": 1, "time": 1.0},
    position=np.zeros((2, 1)),
    velocity=np.zeros((2, 1)),
    inputs=np.zeros((1, 1)),
    body_position=np.zeros((2, 3)),
    body_rotation=np.tile(np.eye(3), (2, 1, 1)),
    distance=np.zeros((2, 0)),
    stiffness=np.zeros((1, 0)),
    virtual_force=np.zeros((1, 0)),
    virtual_distance=np.zeros((2, 0)),
)


def test_what_cannot_be_played_is_said():
    with Player() as player, pytest.raises(RobotControlError, match="no_such"):
        player.play(PLAN, Path("/no_such.yaml"))


def test_a_replay_can_be_broken_off():
    def stop():
        raise KeyboardInterrupt

    with Player() as player, pytest.raises(KeyboardInterrupt):
        player.play(PLAN, Path("/no_such.yaml"), check=stop)


def test_a_process_that_dies_is_a_failure():
    with Player("robot_rt_control.no_such_module") as player, pytest.raises(RobotControlError, match="plays plans "):
        player.play(PLAN, Path("/no_such.yaml"))
