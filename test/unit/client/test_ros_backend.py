"""Runs over ROS whose answers come late, or not at all."""

from __future__ import annotations

import math
import re
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from rclpy.task import Future

from robot_rt_control import msg
from robot_rt_control.client import ros_backend, sent_goal
from robot_rt_control.client.backend import ActionRequest
from robot_rt_control.client.ros_backend import RosBackend
from robot_rt_control.client.workcell_clock import WorkcellClock
from robot_rt_control.vocabulary.errors import NoAnswer


class Runner:
    """A client of the ROS action."""

    def __init__(self) -> None:
        self.sent: Any = Future()
        self.ready = True

    def wait_for_server(self, timeout_s: float) -> bool:
        return True

    def server_is_ready(self) -> bool:
        return self.ready

    def send_goal_async(self, goal: Any, *, feedback_callback: Any) -> Any:
        return self.sent


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Runner:
    made = Runner()
    monkeypatch.setattr(ros_backend, "GoalClient", lambda node, kind, name: made)
    return made


@pytest.fixture
def backend() -> Any:
    made: Any = object.__new__(RosBackend)  # without a node
    made.node, made._lock, made._runners, made._timeout_s = None, threading.Lock(), {}, 0.01
    made._services = SimpleNamespace(find=lambda wait, server: None)
    return made


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"period": 0.0}, "period; expected 1e-09 to 1 s; got 0"),
        ({"period": math.nan}, "period; .* got nan"),
        ({"period": 5e-324}, "period; "),
        ({"period": 0.001, "real_time_factor": 1e300}, "real_time_factor; expected 0 to 1e.06, or NaN; got 1e.300"),
        ({"period": 0.001, "real_time_factor": -1.0}, "real_time_factor; "),
    ],
)
def test_S31_forged_messages_are_ignored_with_a_warning(backend: Any, fields: dict[str, float], said: str) -> None:
    warnings: list[str] = []
    logger = SimpleNamespace(warning=lambda text, **_: warnings.append(text))
    backend.node = SimpleNamespace(get_logger=lambda: logger)
    backend._clock, backend._reported, backend._tick = WorkcellClock(lambda: 10.0), (5, 0.001, 10.0), 0
    backend._judged("status", backend._on_status)(msg.ExecutorStatus(tick=2**64 - 1, clock="lockstep", **fields))
    assert len(warnings) == 1 and re.search(said, warnings[0])
    assert backend._reported == (5, 0.001, 10.0) and backend.now() == 10.0 and backend.present() == (5, 0.005)


REQUEST = ActionRequest(
    type="move_joint", parts=("arm",), parameters=(), until="", timeout_s=0.0, on_progress=None, cancelled=None
)


def test_a_run_that_is_accepted_after_its_client_has_given_up_is_cancelled(backend: Any, runner: Runner) -> None:
    with pytest.raises(NoAnswer, match=r"within 0\.01 s whether it accepts the run.*accepted later, it is cancelled"):
        backend.run_action(REQUEST)
    cancelled: list[bool] = []
    # As after a cut network is whole again: the request was on its way all the time.
    runner.sent.set_result(SimpleNamespace(accepted=True, cancel_goal_async=lambda: cancelled.append(True)))
    assert cancelled == [True]


def test_a_run_whose_server_has_gone_is_not_waited_for(
    backend: Any, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_goal, "GONE_S", 0.02)
    runner.sent.set_result(SimpleNamespace(accepted=True, get_result_async=Future))
    runner.ready = False
    with pytest.raises(NoAnswer, match="has gone during the run.*If the network.* is cut, the run goes on"):
        backend.run_action(REQUEST)
