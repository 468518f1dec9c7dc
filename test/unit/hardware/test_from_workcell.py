"""Devices of a workcell as their plugins see them."""

from __future__ import annotations

from robot_rt_control.hardware.from_workcell import hardware_info, with_window
from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.workcell.workcell import load_workcell


def test_a_window_is_a_parameter_of_the_simulator() -> None:
    workcell = load_workcell(find_workcell("iiwa"))
    shown = with_window(workcell)
    assert hardware_info(shown, shown.devices[0]).parameters == {
        **hardware_info(workcell, workcell.devices[0]).parameters,
        "gui": True,
    }
    assert "gui" not in workcell.devices[0].config
    assert shown.digest == workcell.digest


def test_the_mock_has_no_window() -> None:
    workcell = load_workcell(find_workcell("iiwa"), "mock")
    assert with_window(workcell) == workcell
