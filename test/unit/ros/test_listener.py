"""What a listener hands on; over DDS: test/ros/test_listener.py."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from robot_rt_control.ros import listener


def test_a_callback_that_fails_takes_no_other_message_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "take_all", lambda subscription: [3, 0, 5])
    said, heard = list[str](), list[float]()
    it: Any = object.__new__(listener.Listener)
    it._on_error = said.append
    it._serve(SimpleNamespace(callback=lambda message: heard.append(15 / message)))
    assert heard == [5.0, 3.0]
    assert len(said) == 1 and "ZeroDivisionError" in said[0]
