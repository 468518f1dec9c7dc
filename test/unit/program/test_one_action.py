"""A program of one action."""

from __future__ import annotations

from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.one_action import DONE, program_of_action


def test_its_text_is_a_program_with_the_same_values() -> None:
    values = (
        ParameterValue(name="offset", value=(0.1, 0.0, -0.2)),
        ParameterValue(name="speed", value=0.05, unit="m/s"),
        ParameterValue(name="label", value="costs $5"),
        ParameterValue(name="on", value=True),
    )
    text = program_of_action("vendor.move_linear", {"arm": "left"}, values, until="is_settled", taken=("move_linear",))
    (action,) = ProgramTemplate(text).sample().definition.actions
    assert (action.id, action.type, dict(action.parts)) == (  # type: ignore[arg-type]
        "move_linear_action", "vendor.move_linear", {"arm": "left"}
    )  # fmt: skip
    assert action.parameters == values
    (reaction,) = action.reactions
    assert (reaction.condition, reaction.event, reaction.stop, reaction.fire_once) == ("is_settled", DONE, False, True)


def test_without_a_condition_it_is_done_when_the_action_is() -> None:
    (action,) = ProgramTemplate(program_of_action("grasp", {"gripper": "g"}, ())).sample().definition.actions
    assert action.reactions[0].condition == "is_done" and not action.parameters
