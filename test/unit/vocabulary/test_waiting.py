"""Waiting with a word on what is awaited."""

from __future__ import annotations

import re
import time

from robot_rt_control.vocabulary.waiting import Waiting, told


def test_I18_what_is_awaited_is_said_every_now_and_then_until_the_time_is_up() -> None:
    now = [100.0]
    said: list[str] = []
    waiting = Waiting(said.append, 30.0, every_s=10.0, clock=lambda: now[0])
    going_on = {}
    for second in range(0, 33, 3):
        now[0] = 100.0 + second
        going_on[second] = waiting.goes_on("the gripper" if second < 20 else "the arm")
    assert said == [
        "still waiting for the gripper (12 s)",
        "still waiting for the arm (24 s)",
    ]
    assert [second for second, yes in going_on.items() if not yes] == [30]


def test_what_takes_long_is_told_with_how_long_so_far() -> None:
    said: list[str] = []
    with told(said.append, "compiling the loop", every_s=0.05):
        while len(said) < 3:
            time.sleep(0.01)
    assert all(re.fullmatch(r"still compiling the loop \(\d+ s\)", line) for line in said)
    known = len(said)
    time.sleep(0.2)
    assert len(said) == known
    with told(said.append, "nothing", every_s=100.0):
        pass
    assert len(said) == known
