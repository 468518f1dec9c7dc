"""move_gripper: open or close a gripper by a fraction of its range."""

from typing import ClassVar

from robot_rt_control.actions.move_joint import MoveJoint
from robot_rt_control.definitions.action_type import Parameter, Slot, StateVariable
from robot_rt_control.vocabulary.enums import PartKind


class MoveGripper(MoveJoint):
    """Move all fingers to the same fraction of their range. To grasp an object, use `grasp`."""

    name = "move_gripper"
    slots: ClassVar[tuple[Slot, ...]] = (Slot(name="gripper", kinds=(PartKind.GRIPPER,)),)
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(name="opening", minimum=0.0, maximum=1.0, description="0: closed, 1: open."),
        *(p for p in MoveJoint.parameters if p.name not in ("position", "tool_position", "tool_orientation", "tool")),
    )
    example = {"opening": 0.5}

    state_variables: ClassVar[tuple[StateVariable, ...]] = tuple(
        v for v in MoveJoint.state_variables if v.name != "tool_distance_to_goal"
    )
    State = {**MoveJoint.State, "tool_distance_to_goal": float}  # a gripper has no tool: it stays unknown

    def prepare_parameters(self, values, params):
        gripper = self.parts["gripper"]
        limits = gripper.record
        low, high = limits.position_lower[: gripper.dof], limits.position_upper[: gripper.dof]
        params.position[: gripper.dof] = low + values["opening"] * (high - low)
        for name in ("velocity_scale", "acceleration_scale", "tolerance"):
            params[name] = values[name]
        params.goal_tool_position[:] = float("nan")  # a gripper has no tool
        params.tool_number = float("nan")
