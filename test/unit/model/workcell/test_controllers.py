"""The section `controllers` of a workcell file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from robot_rt_control.model.workcell.controllers import BROADCASTER, GRIPPER, JOG, PARALLEL_GRIPPER, TRAJECTORY
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

CONFIG = Path(__file__).parents[4] / "config"


@pytest.fixture
def cell(tmp_path: Path):
    """Loads arm7 with a section `controllers`."""
    text = (CONFIG / "arm7.yaml").read_text().replace("robots/", f"{CONFIG}/robots/")
    file = tmp_path / "cell.yaml"

    def load(section: str):
        file.write_text(f"{text}\ncontrollers:\n{section}")
        return load_workcell(file)

    load.first_line = text.count("\n") + 3  # type: ignore[attr-defined]
    return load


def test_the_section_says_which_controllers_there_are(cell) -> None:
    options = "{allow_partial_joints_goal: true}"
    given = f"  follow: {{type: {TRAJECTORY}, part: arm, state: inactive, options: {options}}}\n"
    broadcaster, follow = cell(given).controllers
    assert broadcaster.name == "joint_state_broadcaster" and broadcaster.type == BROADCASTER and broadcaster.permanent
    assert (follow.name, follow.part, follow.is_active) == ("follow", "arm", False)
    assert follow.options == {"allow_partial_joints_goal": True} and not follow.permanent
    assert follow.place.endswith(f"cell.yaml:{cell.first_line}: controllers.follow")


def test_a_controller_that_jogs_is_inactive_unless_the_file_says_otherwise(cell) -> None:
    given = "".join(
        f"  {name}: {{type: {JOG}, part: arm{state}}}\n" for name, state in (("one", ""), ("two", ", state: active"))
    )
    _, one, two = cell(given).controllers
    assert not one.is_active and two.is_active


@pytest.mark.parametrize("kind", [GRIPPER, PARALLEL_GRIPPER])
def test_grippers_have_controllers_of_their_own(cell, kind: str) -> None:
    _, found = cell(f"  hand: {{type: {kind}, part: gripper}}\n").controllers
    assert (found.type, found.part, found.is_active) == (kind, "gripper", True)
    with pytest.raises(DefinitionError, match=f"expected a part that {kind} commands: gripper; got 'arm'"):
        cell(f"  hand: {{type: {kind}, part: arm}}\n")


def test_all_mistakes_are_reported_with_their_lines(cell) -> None:
    section = f"""  one: {{type: joint_trajectory_controller/JointTrajectoryControler, part: arm}}
  two: {{type: {TRAJECTORY}, part: gripper}}
  three: {{type: {TRAJECTORY}}}
  four: {{type: {BROADCASTER}, part: arm}}
  five: {{type: {BROADCASTER}, state: inactive}}
"""
    with pytest.raises(DefinitionError) as caught:
        cell(section)
    lines = [line.partition("cell.yaml:")[2] for line in str(caught.value).splitlines()]
    first = cell.first_line
    commands = f"expected a part that {TRAJECTORY} commands: arm; got"
    assert lines[0].startswith(
        f"{first}: controllers.one.type; expected one of the known names; did you mean '{TRAJECTORY}' or"
    )
    assert lines[0].endswith("got 'joint_trajectory_controller/JointTrajectoryControler'")
    assert lines[1:] == [
        f"{first + 1}: controllers.two.part; {commands} 'gripper'",
        f"{first + 2}: controllers.three; {commands} nothing".replace("three;", "three.part;"),
        f"{first + 3}: controllers.four.part; expected nothing: this type commands no part; got 'arm'",
        f"{first + 4}: controllers.five.state; expected active: the executor publishes joint_states, with or without "
        "controllers; got inactive",
    ]


def test_an_unknown_key_is_refused(cell) -> None:
    with pytest.raises(DefinitionError, match=rf"cell.yaml:{cell.first_line}: controllers.one.prt: unknown key"):
        cell(f"  one: {{type: {TRAJECTORY}, prt: arm}}\n")


def test_the_section_in_the_documents_is_valid(cell) -> None:
    page = (CONFIG.parent / "docs" / "ros2_control.md").read_text()
    (section,) = re.findall(r"```yaml\ncontrollers:\n(.*?)```", page, re.DOTALL)
    _, arm = cell(section).controllers
    assert (arm.name, arm.type, arm.part, arm.is_active) == ("arm_controller", TRAJECTORY, "arm", False)
