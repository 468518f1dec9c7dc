from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_controllers
import pytest

from robot_rt_control.controllers.catalogue import make_controller, reload_code, with_public_names
from robot_rt_control.model.workcell.controllers import BROADCASTER, CONTROLLER_TYPES, TRAJECTORY, ControllerDescription
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

CONFIG = Path(__file__).parents[3] / "config"
NO_CLIENT: Any = None


@pytest.fixture(scope="module")
def two_arms() -> Workcell:
    return load_workcell(CONFIG / "two_arms.yaml", "mock")


def use(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setitem(CONTROLLER_TYPES, TRAJECTORY, replace(CONTROLLER_TYPES[TRAJECTORY], code=code))


def description(**options: Any) -> ControllerDescription:
    return ControllerDescription(
        name="follow", type=TRAJECTORY, part="arm_b", options=options, place="cell.yaml:7: controllers.follow"
    )


def test_a_controller_knows_joints_by_their_public_names(monkeypatch: pytest.MonkeyPatch, two_arms: Workcell) -> None:
    use(monkeypatch, "fake_controllers:FakeController")
    made = make_controller(description(interfaces=[]), two_arms, NO_CLIENT)
    assert made.part.name == "arm_b" and made.part.joint_names == two_arms.joint_state_names()["arm_b"]
    assert made.part.joint_names[0] == "arm_b_panda_joint1" != two_arms.part("arm_b").joint_names[0]


def test_a_controller_knows_links_by_their_public_names(two_arms: Workcell) -> None:
    part, own = with_public_names(two_arms.part("arm_b"), two_arms), two_arms.part("arm_b")
    assert (part.base_link, part.tip_link) == (f"arm_b_{own.base_link}", f"arm_b_{own.tip_link}")
    assert part.urdf is not None and part.tip_link is not None
    path = part.urdf.path_to(part.urdf.root, part.tip_link)
    assert [joint.name for joint in path if joint.name in part.joint_names] == list(part.joint_names)


def test_wrong_options_are_reported_with_their_place(monkeypatch: pytest.MonkeyPatch, two_arms: Workcell) -> None:
    use(monkeypatch, "fake_controllers:FakeController")
    with pytest.raises(DefinitionError) as caught:
        make_controller(description(wrong=1), two_arms, NO_CLIENT)
    assert str(caught.value) == "cell.yaml:7: controllers.follow: option 'wrong'; expected interfaces; got wrong"


def test_code_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch, two_arms: Workcell) -> None:
    use(monkeypatch, "no_such_module:Class")
    with pytest.raises(RobotControlError) as caught:
        make_controller(description(), two_arms, NO_CLIENT)
    assert str(caught.value) == (
        f"controller 'follow': the code of {TRAJECTORY} cannot be imported; got No module named 'no_such_module'"
    )


def test_the_broadcaster_commands_nothing_and_takes_no_options(two_arms: Workcell) -> None:
    given = ControllerDescription(name="states", type=BROADCASTER, options={}, place="cell.yaml:7")
    made = make_controller(given, two_arms, NO_CLIENT)
    assert made.type == BROADCASTER and not made.command_interfaces
    with pytest.raises(DefinitionError, match="^cell.yaml:7: options; expected none; got rate$"):
        make_controller(replace(given, options={"rate": 5}), two_arms, NO_CLIENT)


def test_code_is_imported_again(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "fake_controllers:FakeController")
    before = fake_controllers.FakeController
    monkeypatch.setitem(sys.modules, "fake_controllers", fake_controllers)
    reload_code()
    try:
        assert fake_controllers.FakeController is not before
    finally:
        fake_controllers.FakeController = before  # type: ignore[misc]


def test_parts_without_joints_stay_as_they_are() -> None:
    cell = load_workcell(CONFIG / "arm7.yaml")
    assert with_public_names(cell.part("io"), cell).joint_names == ()
