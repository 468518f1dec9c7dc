"""What the rules Q do not say of the manager (test/lockstep/rules/test_controllers.py)."""

from __future__ import annotations

import pytest
from fake_controllers import Bench, broken

from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError


def test_an_unexpected_exception_is_a_refusal(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    bench.made["a"].fails["activate"] = ZeroDivisionError("1/0")
    with pytest.raises(RobotControlError) as caught:
        bench.manager.switch(["a"], [])
    assert str(caught.value) == (
        "controller 'a': activate failed: internal error in controller 'a': ZeroDivisionError: 1/0. "
        "The log has the details"
    )
    assert "controller 'a' failed unexpectedly" in caplog.text and "ZeroDivisionError" in caplog.text
    assert bench.manager.switch(["c"], []) == "activated: c"
    bench.manager.close(print)


def test_what_cannot_be_configured_is_unconfigured() -> None:
    bench = Bench()
    bench.made["a"].fails["configure"] = broken()
    with pytest.raises(RobotControlError, match="^controller 'a': configure failed: the sky fell$"):
        bench.manager.configure("a")
    assert bench.states["a"] == "unconfigured"
    bench.manager.close(print)


def test_an_unknown_strictness_is_refused() -> None:
    bench = Bench()
    with pytest.raises(DefinitionError) as caught:
        bench.manager.switch(["a"], [], 5)
    assert str(caught.value) == (
        "strictness; expected 1 (BEST_EFFORT), 2 (STRICT), 3 (AUTO), 4 (FORCE_AUTO); got 5"
    )
    bench.manager.close(print)


def test_unloading_all_needs_force_if_one_is_active() -> None:
    bench = Bench()
    bench.manager.switch(["a"], [])
    with pytest.raises(RobotControlError, match="^controllers cannot be unloaded; expected none active; got a$"):
        bench.manager.unload_all(force=False)
    assert len(bench.states) == 4
    bench.manager.unload_all(force=True)
    assert bench.states == {"states": "active"} and bench.made["a"].calls[-2:] == ["deactivate", "cleanup"]
    bench.manager.close(print)


def test_closing_brings_all_down_and_takes_no_more() -> None:
    bench = Bench()
    bench.manager.switch(["a"], [])
    bench.made["a"].fails["deactivate"] = broken()
    complaints: list[RobotControlError] = []
    bench.manager.close(complaints.append)
    assert [str(error) for error in complaints] == ["controller 'a': deactivate failed: the sky fell"]
    assert bench.states == {"states": "unconfigured", "a": "active", "b": "unconfigured", "c": "unconfigured"}
    with pytest.raises(RobotControlError, match="^the controllers are closed$"):
        bench.manager.load("a")
