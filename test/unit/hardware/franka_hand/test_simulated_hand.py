"""The plugin `franka_hand` against franky-sim over loopback: opens, closes, is lost and comes back.

What the simulator says of a grasp means nothing: only widths are looked at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from robot_rt_control.hardware.franka_hand import hand as hand_module
from robot_rt_control.hardware.franka_hand.hand import Hand
from robot_rt_control.testing.franka_simulator import NOT_RUN, FrankaSimulator
from robot_rt_control.testing.ros_domain import claim_domain
from robot_rt_control.vocabulary.errors import HardwareError

pytestmark = pytest.mark.skipif(bool(NOT_RUN), reason=NOT_RUN)
PATIENCE_S = 120.0


@pytest.fixture
def simulator() -> Iterator[FrankaSimulator]:
    with FrankaSimulator(claim_domain("franka's hand")) as simulated:
        yield simulated


def until(hand: Hand, happened: Callable[[], object]) -> None:
    given_up = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < given_up, (hand.state, hand.is_busy, hand.failure, hand.lost)
        time.sleep(0.005)
        hand.poll()


def test_D30_it_moves_and_a_lost_one_is_found_again(simulator: FrankaSimulator) -> None:
    hand = Hand(simulator.address)
    try:
        assert hand.state.max_width == pytest.approx(0.08)
        for width in (0.0, 0.08, 0.03):
            hand.move(width, 0.1)
            assert hand.is_busy
            until(hand, lambda: not hand.is_busy)
            until(hand, lambda width=width: abs(hand.state.width - width) < 0.004)  # type: ignore[misc]
        assert hand.failure == hand.lost == ""
        hand.grasp(0.0, 0.1, 20.0)
        until(hand, lambda: not hand.is_busy)
        simulator.kill()
        until(hand, lambda: hand.lost)
    finally:
        hand.close()
    simulator.start()
    again = Hand(simulator.address)
    again.close()


def test_D31_where_no_hand_is_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hand_module, "_CONNECT_S", 3.0)
    text = "hand of the Franka at '127.37.14.2'; expected an active FCI; got .*refused"
    with pytest.raises(HardwareError, match=text):
        Hand("127.37.14.2")
