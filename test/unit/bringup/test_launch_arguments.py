"""Mistyped arguments of the launch file."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.bringup.launch_arguments import check_arguments, doubtful_arguments, is_launched_itself
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError

FOLDER = Path(__file__).resolve().parents[3] / "launch"
KNOWN = ["workcell", "clock", "program_arguments"]


def test_an_unknown_argument_is_refused_with_the_nearest() -> None:
    text = r"launch argument 'wrokcell' is not known; expected .* did you mean 'workcell'\. ros2 launch .* --show-args"
    with pytest.raises(DefinitionError, match=text):
        check_arguments(["wrokcell", "clock"], KNOWN)
    with pytest.raises(ProgramError, match="(?s)'clok'.*'speed' is not known; expected one of: clock, prog"):
        check_arguments(["speed", "clok"], KNOWN)
    check_arguments([*KNOWN, "launch-prefix", "launch-prefix-filter"], KNOWN)


def test_an_included_file_only_warns_of_what_is_nearly_right() -> None:
    given = ["wrokcell", "robot_ip", "workcell"]
    assert doubtful_arguments(given, KNOWN) == ["launch argument 'wrokcell': did you mean 'workcell'?"]


@pytest.mark.parametrize(
    ("words", "itself"),
    [
        (["ros2", "launch", "robot_rt_control", "workcell.launch.py", "a:=b"], True),
        (["ros2", "launch", "--debug", "robot_rt_control", "workcell.launch.xml"], True),
        (["ros2", "launch", str(FOLDER / "workcell.launch.py")], True),
        (["ros2", "launch", "my_robot", "workcell.launch.py"], False),
        (["ros2", "launch", "my_robot", "bringup.launch.py"], False),
        (["pytest"], False),
    ],
)
def test_whose_arguments_they_are(words: list[str], itself: bool) -> None:
    assert is_launched_itself(words, FOLDER) == itself
