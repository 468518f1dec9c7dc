"""Waiting with a word on what is awaited."""

from __future__ import annotations

from robot_rt_control.vocabulary.waiting import Waiting


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
