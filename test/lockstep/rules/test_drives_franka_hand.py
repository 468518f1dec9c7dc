"""The plugin `franka_hand` in its life cycle, against a hand without processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_hand import FakeHand
from fr3_with_hand import fr3_with_hand

from robot_rt_control.hardware.franka_hand import plugin as plugin_module
from robot_rt_control.hardware.franka_hand.plugin import FrankaHandPlugin
from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.testing.plugin_contract import info_of
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError
from robot_rt_control.vocabulary.franka_errors import CODES, NETWORK_LOST


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("hand") / "cell.yaml"
    found.write_text(fr3_with_hand())
    return found


class Cell:
    def __init__(self, file: Path, **parameters: Any) -> None:
        self.hands = list[FakeHand]()
        self.plugin = FrankaHandPlugin()
        self.driver = HardwareLifecycle(self.plugin, info_of(file, "hand", **parameters))
        self.places = {i.name: k for k, i in enumerate(self.driver.state_interfaces)}

    def start(self) -> Cell:
        self.driver.configure()
        self.driver.activate()
        return self

    @property
    def hand(self) -> FakeHand:
        return self.hands[-1]

    def enable(self, finger: float) -> None:
        self.driver.command[:] = finger
        self.driver.switch_modes({"gripper": CommandMode.POSITION})

    def cycle(self, n: int = 1) -> None:
        for _ in range(n):
            self.driver.read(0.0, 1e-3)
            self.driver.write(0.0, 1e-3)

    def go(self, finger: float) -> None:
        """As the loop does: a motion of some cycles, then rest."""
        start = self.driver.command[0]
        for share in np.linspace(0.0, 1.0, 7):
            self.driver.command[:] = start + share * (finger - start)
            self.cycle()

    def value(self, name: str) -> float:
        return float(self.driver.state[self.places[name]])


@pytest.fixture
def make(file: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Cell]:
    def made(**parameters: Any) -> Cell:
        cell = Cell(file, **parameters)

        def hand(address: str) -> FakeHand:
            cell.hands.append(FakeHand(address))
            return cell.hands[-1]

        monkeypatch.setattr(plugin_module, "Hand", hand)
        return cell

    return made


def test_D30_a_motion_begins_when_the_command_is_at_rest_and_the_fingers_have_half_of_the_width(make: Any) -> None:
    cell = make(force=None).start()
    assert cell.value("gripper/fr3_finger_joint1/position") == cell.value("gripper/fr3_finger_joint2/position") == 0.02
    cell.enable(0.0195)
    cell.cycle(5)
    assert cell.hand.asked == [], "enabling moves nothing, wherever the loop believes the fingers to be"
    cell.go(0.035)
    assert cell.hand.asked == [], "the command still moved in the last cycle"
    cell.cycle()
    assert cell.hand.asked == ["move 0.0700 0.1"] and cell.value("hand_state/is_moving") == 0.0
    cell.cycle(3)
    assert cell.value("hand_state/is_moving") == 1.0
    assert cell.value("gripper/fr3_finger_joint1/position") == 0.02, "nothing is known of it while it moves"
    fastest = 0.0
    for _ in range(60):
        cell.cycle()
        fastest = max(fastest, cell.value("gripper/fr3_finger_joint1/velocity"))
    assert 0.03 < fastest < 0.06, "its mean, once it is known"
    assert cell.value("gripper/fr3_finger_joint2/position") == pytest.approx(0.035)
    assert cell.value("gripper/fr3_finger_joint2/velocity") == 0.0 == cell.value("hand_state/has_failed")
    assert cell.hand.asked == ["move 0.0700 0.1"], "once"


def test_D30_a_newer_command_waits_for_the_motions_end(make: Any) -> None:
    cell = make(force=None).start()
    cell.enable(0.02)
    cell.cycle(2)
    cell.go(0.0)
    cell.cycle(3)
    cell.go(0.03)
    cell.go(0.04)
    cell.cycle(5)
    assert cell.hand.asked == ["move 0.0000 0.1"] and cell.hand.is_busy
    cell.cycle(160)
    assert cell.hand.asked == ["move 0.0000 0.1", "move 0.0800 0.1"], "the newest alone"
    assert cell.value("gripper/fr3_finger_joint1/position") == pytest.approx(0.04)


def test_D30_closing_with_a_force_grasps_and_opening_does_not(make: Any) -> None:
    cell = make(force=15.0).start()
    cell.hand.blocked = 0.025
    cell.enable(0.02)
    cell.cycle(2)
    cell.go(0.01)
    cell.cycle(60)
    assert cell.hand.asked == ["grasp 0.0200 0.1 15"]
    assert cell.value("hand_state/is_grasped") == 1.0 and cell.value("hand_state/has_failed") == 0.0
    cell.go(0.04)
    cell.cycle(60)
    assert cell.hand.asked[1:] == ["move 0.0800 0.1"] and cell.value("hand_state/is_grasped") == 0.0


def test_D30_a_motion_that_does_not_get_there_is_reported_and_not_repeated(
    make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    cell = make(force=None).start()
    cell.hand.blocked = 0.03
    cell.enable(0.02)
    cell.cycle(2)
    cell.go(0.0)
    cell.cycle(60)
    assert cell.value("hand_state/has_failed") == 1.0 and cell.hand.asked == ["move 0.0000 0.1"]
    assert [record.message for record in caplog.records] == [
        "hardware 'hand': a motion to a width of 0.0000 m ended at 0.0300 m: it did not get there"
    ]
    assert cell.plugin.stopped == 0


def test_D30_disabled_it_begins_no_motion_and_enabled_again_only_when_asked(make: Any) -> None:
    cell = make(force=None).start()
    cell.enable(0.02)
    cell.cycle(2)
    cell.go(0.0)
    cell.cycle(3)
    cell.driver.command[:] = 0.03
    cell.cycle(3)
    cell.driver.switch_modes({"gripper": CommandMode.NONE})
    with pytest.raises(HardwareError, match="the hand still moves"):
        cell.enable(0.02)
    cell.cycle()
    assert np.isnan(cell.value("gripper/fr3_finger_joint1/position")), "so that the loop refuses to enable it"
    cell.cycle(100)
    assert cell.value("gripper/fr3_finger_joint1/position") == pytest.approx(0.0)
    assert cell.hand.asked == ["move 0.0000 0.1"]
    cell.enable(0.0)
    cell.cycle(20)
    cell.go(0.01)
    cell.driver.deactivate()
    assert cell.hand.asked == ["move 0.0000 0.1"] and not cell.hand.is_busy


def test_D30_leaving_the_active_state_waits_for_the_end_of_a_motion(make: Any) -> None:
    cell = make(force=None).start()
    cell.enable(0.02)
    cell.cycle(2)
    cell.go(0.0)
    cell.cycle(3)
    assert cell.hand.is_busy
    cell.driver.deactivate()
    assert not cell.hand.is_busy


@pytest.mark.parametrize("how", ["lost", "silent", "moving"])
def test_D31_a_lost_hand_faults_its_part_and_clearing_the_fault_connects_anew(make: Any, how: str) -> None:
    cell = make(silence=0.5, force=None).start()
    if how == "lost":
        cell.hand.lost = text = "libfranka: UDP receive: Timeout"
    elif how == "silent":
        cell.hand.is_silent, text = True, "the hand was not heard of for 0.5"
        cell.cycle(45)
        assert cell.plugin.stopped == 0
        cell.cycle(9)
    else:
        cell.enable(0.02)
        cell.cycle(2)
        cell.go(0.0)
        cell.cycle(2)
        cell.hand.is_silent, text = True, "the hand was not heard of for 5.0"
        cell.cycle(490)
        assert cell.plugin.stopped == 0 and cell.hand.is_busy
        cell.cycle(19)
    cell.cycle()
    assert cell.plugin.stopped == CODES[NETWORK_LOST] and cell.plugin.reason.startswith(f"network_lost: {text}")
    assert np.isnan(cell.driver.state).all() and cell.hand.is_closed
    cell.plugin.recover()
    assert len(cell.hands) == 2 and cell.plugin.stopped == 0
    cell.cycle()
    assert np.isfinite(cell.driver.state).all()


def test_D31_a_hand_that_knows_no_range_or_a_smaller_one_is_refused(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeHand, "max_width", 0.0)
    cell = make()
    with pytest.raises(HardwareError, match=r"expected at least 0\.08 m, .*'gripper'; got 0 m\. .*homing"):
        cell.driver.configure()
    assert cell.hand.is_closed
    monkeypatch.setattr(FakeHand, "max_width", 0.06)
    with pytest.raises(HardwareError, match=r"got 0\.06 m\. Correct position_upper"):
        make().driver.configure()


def test_commands_that_are_no_width_do_not_leave(make: Any) -> None:
    cell = make(force=None).start()
    cell.enable(0.02)
    cell.cycle(2)
    for wrong in (np.nan, np.inf):
        cell.driver.command[:] = wrong
        cell.cycle(5)
    assert cell.hand.asked == []
    cell.driver.command[:] = 0.05
    cell.cycle(3)
    assert cell.hand.asked == ["move 0.0800 0.1"], "at most the hand's own range"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("kind: gripper", "kind: base", r"gripper \(base, 2 joints\), hand_state \(sensor, 0 joints\)\. The arm is"),
        ("command_modes: [position]", "command_modes: [position, velocity]", "command_modes; expected .position."),
        ("      temperature:", "      weight:", "value 'weight'; expected is_grasped, is_moving"),
    ],
)
def test_other_parts_are_refused(tmp_path: Path, file: Path, make: Any, old: str, new: str, expected: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1
    changed = tmp_path / "cell.yaml"
    changed.write_text(text.replace(old, new))
    info = info_of(changed, "hand")
    make()  # its hand stands for the real one
    with pytest.raises(HardwareError, match=expected):
        HardwareLifecycle(FrankaHandPlugin(), info).configure()
