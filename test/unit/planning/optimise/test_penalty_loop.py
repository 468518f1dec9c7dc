"""The rules of the penalty, step by step, on scripted solutions."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.planning.optimise.cost import PoseError
from robot_rt_control.planning.optimise.penalty_loop import Penalty, PenaltySettings, run

GOOD, BAD = 0.1, 0.9


@dataclass
class Scripted:
    """A solution: its position error, and its greatest k at one of two steps."""

    error: float
    k: float
    name: str = ""


def script(*solutions, settings=None, process=lambda t: t, done=lambda _: False):
    """What the loop made of these solutions; also the ω and the start of each."""
    calls = []

    def solve(penalty, start):
        calls.append((penalty, start))
        return solutions[len(calls) - 1]

    outcome = run(
        solve,
        lambda t: PoseError(position=t.error, orientation=0.0, normalized=t.error),
        lambda t: np.array([[t.k], [0.0]]),
        Scripted(1.0, 0.0, "start"),
        settings or PenaltySettings(iterations=len(solutions)),
        process=process,
        done=done,
    )
    return outcome, calls


def test_the_penalty_rises_while_the_pose_holds_and_k_is_left():
    _, calls = script(Scripted(GOOD, 3), Scripted(GOOD, 2), Scripted(GOOD, 1))
    assert [penalty for penalty, _ in calls] == pytest.approx([0.1, 0.3, 0.9])


def test_additive_steps():
    settings = PenaltySettings(schedule="additive", iterations=3)
    _, calls = script(Scripted(GOOD, 3), Scripted(GOOD, 2), Scripted(GOOD, 1), settings=settings)
    assert [penalty for penalty, _ in calls] == pytest.approx([0.1, 1.6, 3.1])


def test_V8_where_the_pose_breaks_the_penalty_falls_by_half_of_the_last_change():
    _, calls = script(Scripted(GOOD, 3), Scripted(BAD, 2), Scripted(BAD, 2), Scripted(GOOD, 1))
    # Up by 0.2, down by 0.1, down by 0.05.
    assert [penalty for penalty, _ in calls] == pytest.approx([0.1, 0.3, 0.2, 0.15])


def test_the_first_fall_is_by_half_of_the_penalty():
    _, calls = script(Scripted(BAD, 3), Scripted(BAD, 3), Scripted(BAD, 3))
    assert [penalty for penalty, _ in calls] == pytest.approx([0.1, 0.05, 0.025])


def test_it_ends_when_k_is_gone():
    outcome, calls = script(Scripted(GOOD, 3), Scripted(GOOD, 0.05, "last"), Scripted(GOOD, 0.0))
    assert len(calls) == 2
    assert outcome.accepted is not None and outcome.accepted.name == "last"


def test_k_that_is_gone_does_not_end_it_where_the_pose_is_broken():
    _, calls = script(Scripted(BAD, 0.0), Scripted(GOOD, 0.0), Scripted(GOOD, 0.0))
    assert len(calls) == 2


def test_more_k_on_average_than_the_last_accepted_one_is_not_accepted():
    outcome, calls = script(Scripted(GOOD, 2, "first"), Scripted(GOOD, 3), Scripted(BAD, 1), Scripted(GOOD, 2.5))
    assert outcome.accepted is not None and outcome.accepted.name == "first"
    assert [start.name for _, start in calls] == ["start", "first", "first", "first"]
    assert [iterate.accepted for iterate in outcome.iterates] == [True, False, False, False]


def test_V9_processing_that_spoils_the_pose_does_not_count():
    outcome, _ = script(Scripted(GOOD, 2, "mine"), process=lambda t: Scripted(BAD, 0, "spoiled"))
    assert outcome.accepted is not None and outcome.accepted.name == "mine"
    outcome, _ = script(Scripted(GOOD, 2, "mine"), process=lambda t: Scripted(GOOD, 0, "better"))
    assert outcome.accepted is not None and outcome.accepted.name == "better"


def test_nothing_accepted():
    outcome, _ = script(Scripted(BAD, 1), Scripted(BAD, 1))
    assert outcome.accepted is None


def test_done_ends_it():
    _, calls = script(Scripted(GOOD, 3), Scripted(GOOD, 2), Scripted(GOOD, 1), done=lambda t: t.k < 3)
    assert len(calls) == 2


@given(st.lists(st.booleans(), max_size=30), st.sampled_from(["additive", "geometric"]))
def test_the_penalty_stays_positive_and_falls_after_a_rise_end_above_where_that_began(holds, schedule):
    penalty, before = Penalty(PenaltySettings(schedule=schedule)), 0.0
    for kept in holds:
        if kept:
            before = penalty.value
            penalty.rise()
            assert penalty.value > before
        else:
            penalty.fall()
            assert penalty.value > before
