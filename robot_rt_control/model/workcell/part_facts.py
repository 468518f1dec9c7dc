"""Queries of action types about a part outside the loop: joints, limits, kinematics, state, other parts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_rt_control.definitions.action_type import Part
from robot_rt_control.model.kinematics.calls import forward_kinematics
from robot_rt_control.model.kinematics.inverse_kinematics import inverse_kinematics
from robot_rt_control.model.kinematics.worn_tool import wear_tool
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.state_variables import part_state_variables
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

Array = NDArray[np.float64]


class PartFacts:
    """Implements the `Part` protocol of action_type.py; a subclass provides the part's present state.

    Args:
        description: the part's description.
    """

    def __init__(self, description: PartDescription) -> None:
        self.description = description
        self.workcell: Mapping[str, Part] = MappingProxyType({description.name: self})
        """All parts of the workcell, by name: this one, sensors, other arms."""

    @property
    def record(self) -> np.record:
        """A copy of the part's record: limits, chain, and the last known state."""
        return self.description.record

    # --- what it is -----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.description.name

    @property
    def kind(self) -> PartKind:
        return self.description.kind

    @property
    def dof(self) -> int:
        return self.description.dof

    @property
    def joint_names(self) -> tuple[str, ...]:
        return self.description.joint_names

    @property
    def joint_units(self) -> tuple[str, ...]:
        """Unit of each joint's position: rad or m."""
        return self.description.units

    @property
    def period(self) -> float:
        """[s] from one tick of the loop to the next."""
        return float(self.description.initial_record.dt)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of an io part's inputs, a sensor's values, an arm's own states, in the order of `record.inputs`."""
        return self.description.input_names

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of an io part's outputs, or an arm's own commands, in the order of `record.outputs`."""
        return self.description.output_names

    @property
    def command_modes(self) -> tuple[CommandMode, ...]:
        """The modes in which its hardware takes commands."""
        return self.description.command_modes

    @property
    def state_variables(self) -> dict[str, str]:
        """The state variables that are numbers: full name ("arm.position[0]") → unit."""
        return {v.name: v.unit for v in part_state_variables(self.description) if v.length == 1}

    def limits(self, name: str) -> Array:
        """A limit that an action may plan with, (dof,): "position_lower", "position_upper", "velocity_limit",
        "acceleration_limit", "jerk_limit", "effort_limit" or "effort_rate_limit".

        Raises:
            DefinitionError: there is no such limit.
        """
        if name not in LIMITS:
            raise DefinitionError(f"part {self.name!r}: limit", expected=", ".join(LIMITS), got=repr(name))
        return np.array(self.record[name][: self.dof])

    # --- tools ----------------------------------------------------------------------------------

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that can be put on, in the order of their numbers; none: the tool is never changed."""
        return self.description.tool_names

    @property
    def tool(self) -> str:
        """The tool that is on; empty: the part lists none."""
        return self.description.tool_name(float(self.record.tool_number))

    def with_tool(self, name: str) -> PartFacts:
        """The part as it is when a tool is on: its record, limits and kinematics are those with this tool.

        Raises:
            DefinitionError: the part has no such tool.
        """
        return _WithTool(self, self.description.tool_index(name))

    # --- position ---------------------------------------------------------------------------

    @property
    def position(self) -> Array:
        """(dof,) measured [rad or m]; NaN: unknown."""
        return np.array(self.record.position[: self.dof])

    @property
    def commanded_position(self) -> Array:
        """(dof,) joint positions of the last command [rad or m]."""
        return np.array(self.record.commanded_position[: self.dof])

    # --- kinematics -----------------------------------------------------------------------------

    @property
    def has_kinematics(self) -> bool:
        """Whether the part is a chain with a tool."""
        return int(self.record.chain.n_joints) > 0

    def forward(self, position: ArrayLike | None = None) -> tuple[Array, Array]:
        """The tool's pose in the world.

        Args:
            position: (dof,) joint positions [rad or m]; None: those of the last command.

        Returns:
            p_WT (3,) [m] and q_WT (4,), x y z w.

        Raises:
            DefinitionError: the part has no kinematics, or `position` has another length.
        """
        q = self.commanded_position if position is None else np.array(position, float).reshape(-1)
        if len(q) != self.dof:
            raise DefinitionError(f"part {self.name!r}: position", expected=f"{self.dof} values", got=str(len(q)))
        return forward_kinematics(self._chain("forward kinematics"), q)

    def inverse_kinematics(self, p_WT: ArrayLike, q_WT: ArrayLike, *, seed: ArrayLike | None = None) -> Array:
        """Joint positions, within the limits, that bring the tool to a pose. Takes up to a second: not for the loop.

        Args:
            p_WT: (3,) in the world frame [m].
            q_WT: (4,) x y z w.
            seed: (dof,) start of the search: nearby goals get nearby solutions; None: the last command.

        Returns:
            (dof,) [rad or m].

        Raises:
            DefinitionError: the part has no kinematics, or no solution was found; the message gives the residual.
        """
        return inverse_kinematics(
            self._chain("inverse kinematics"),
            p_WT,
            q_WT,
            self.commanded_position if seed is None else seed,
            (self.limits("position_lower"), self.limits("position_upper")),
            item=f"part {self.name!r}: inverse kinematics",
        )

    def _chain(self, what: str) -> np.record:
        chain: np.record = self.record.chain
        if chain.n_joints == 0:
            raise DefinitionError(
                f"part {self.name!r}: {what}", expected="an arm", got=f"a {self.kind.name.lower()} without a chain"
            )
        return chain


LIMITS = (
    *("position_lower", "position_upper", "velocity_limit", "acceleration_limit", "jerk_limit"),
    *("effort_limit", "effort_rate_limit"),
)


def worn(record: np.record, description: PartDescription, number: float) -> np.record:
    """The record with a tool put on, by its number; NaN: the part lists none."""
    if description.tools and 0 <= number < len(description.tools):
        limits = description.system_limits.copy()  # outside of the loop nobody enforces them
        wear_tool(record, limits, description.tools[int(number)].record, int(number))
    return record


class _WithTool(PartFacts):
    def __init__(self, part: PartFacts, number: int) -> None:
        super().__init__(part.description)
        self._part, self._number, self.workcell = part, number, part.workcell

    @property
    def record(self) -> np.record:
        return worn(self._part.record, self.description, self._number)
