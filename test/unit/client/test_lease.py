from __future__ import annotations

import re
import threading
import time
from types import SimpleNamespace

from robot_rt_control.client.lease import LeaseKeeper, longest_silence
from robot_rt_control.vocabulary.errors import RobotControlError, SessionEnded


def test_it_renews_three_times_in_a_lease_until_it_is_stopped():
    renewed: list[float] = []
    enough = threading.Event()

    def renew(timeout_s: float) -> None:
        renewed.append(time.monotonic())
        if len(renewed) == 6:
            enough.set()

    keeper = LeaseKeeper(renew, lambda reason: None, lease_s=0.15, name="test")
    assert enough.wait(60)
    keeper.stop()
    assert renewed[5] - renewed[0] >= 5 * 0.04
    time.sleep(0.12)
    assert len(renewed) <= 7


def test_a_refusal_ends_it_at_once_with_the_servers_words():
    lost: list[str] = []
    came = threading.Event()

    def renew(timeout_s: float) -> None:
        raise SessionEnded.of("s1", "weld", "closed by its client")

    def tell(reason: str) -> None:
        lost.append(reason)
        came.set()

    LeaseKeeper(renew, tell, lease_s=0.03, name="test")
    assert came.wait(60) and lost == ["closed by its client"], "the reason alone: whoever tells it names the session"


def test_S30_a_try_that_was_not_answered_leaves_time_for_another_one_within_the_lease():
    timeouts: list[float] = []
    came = threading.Event()

    def renew(timeout_s: float) -> None:
        timeouts.append(timeout_s)
        if len(timeouts) == 1:
            raise RobotControlError("no answer")
        came.set()

    begin = time.monotonic()
    keeper = LeaseKeeper(renew, lambda reason: None, lease_s=6.0, name="test")
    assert came.wait(60)
    keeper.stop()
    assert timeouts[:2] == [3.0, 3.0] and time.monotonic() - begin >= 2.0


def test_S30_while_the_client_itself_stands_still_the_server_is_not_silent(monkeypatch):
    """On a clock that jumps by a minute during each of the first tries."""
    now = [0.0]
    monkeypatch.setattr("robot_rt_control.client.lease.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("robot_rt_control.client.lease._AGAIN_S", 0.0)
    lost: list[str] = []
    tries: list[float] = []
    came = threading.Event()

    def renew(timeout_s: float) -> None:
        tries.append(timeout_s)
        now[0] += 60.0
        if len(tries) < 3:
            raise RobotControlError("no answer")
        came.set()

    keeper = LeaseKeeper(renew, lost.append, lease_s=0.03, name="test")
    assert came.wait(60)
    keeper.stop()
    assert not lost


def test_silence_ends_it_when_the_bound_has_passed_and_not_before(monkeypatch, caplog):
    monkeypatch.setattr("robot_rt_control.client.lease.SERVER_STARVED_SILENCE_S", 0.2)
    monkeypatch.setattr("robot_rt_control.client.lease._MARGIN_S", 0.1)
    assert longest_silence(0.0) == longest_silence(0.03) == 0.2 + 0.1
    lost: list[tuple[float, str]] = []
    tries: list[float] = []
    came = threading.Event()
    begin = time.monotonic()

    def renew(timeout_s: float) -> None:
        assert timeout_s <= 0.3, "no try outlasts the bound"
        tries.append(timeout_s)
        raise RobotControlError(f"service 'renew_session' is not there, try {len(tries)}", hint="Is its node alive?")

    def tell(reason: str) -> None:
        lost.append((time.monotonic() - begin, reason))
        came.set()

    LeaseKeeper(renew, tell, lease_s=0.03, name="test")
    assert came.wait(60)
    ((after, reason),) = lost
    assert after >= 0.3
    expected = r"the control server has not answered for \d\.\d s: service 'renew_session' is not there, try 1; its "
    assert re.match(expected, reason), "the first try's words: later ones have shorter time-outs"
    assert reason.endswith("or the network to its machine is cut")
    assert caplog.text.count("was not renewed") == 1, "one warning, not one for each try"
