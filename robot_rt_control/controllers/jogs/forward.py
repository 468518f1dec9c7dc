"""Passes positions, velocities or efforts of all joints of a part on to the loop, as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from robot_rt_control.client import Action, Client
from robot_rt_control.controllers.jogs.jogger import Jogger, finite
from robot_rt_control.hardware.parameters import Positive
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.text.schema import Model
from robot_rt_control.vocabulary.errors import DefinitionError

Interface = Literal["position", "velocity", "effort"]

_ACTION = "forward"
_TYPES = {
    "position": "follow_joint_stream",
    "velocity": "follow_joint_velocity_stream",
    "effort": "follow_joint_effort_stream",
}
_ON_THE_WAY_S = 600.0
"""[s] A position is gone to at most this long after it came, without another one."""


class ForwardOptions(Model):
    """All of them."""

    joints: tuple[str, ...] = ()
    """Order of the values; default: the part's."""
    interface_name: Interface | None = None
    """What the values are; the types of a name of their own have it."""
    command_timeout: Positive = 0.5
    """[s] without a command after which the part comes to rest, but for positions; a command that waited longer is
    dropped."""
    idle_time: Positive = 2.0
    """[s] without a command, or with velocities or efforts of zero, after which a part at rest is released."""


class ForwardJogger(Jogger):
    """Takes the values of all joints; they may come from any thread.

    Args:
        interface: what the values are.
        rest: as of `Jogger`.

    Raises:
        DefinitionError: the options do not fit the part.
    """

    def __init__(
        self,
        name: str,
        part: PartDescription,
        client: Client,
        options: ForwardOptions,
        interface: Interface,
        on_event: Callable[[], None],
    ) -> None:
        self._interface = interface
        self._order = order_of(name, part, options)
        limits = PartFacts(part).limits
        if interface == "position":
            self._range = limits("position_lower"), limits("position_upper")
        else:
            most = limits("velocity_limit" if interface == "velocity" else "effort_limit")
            self._range = -most, most
        timeout = _ON_THE_WAY_S if interface == "position" else options.command_timeout
        common: dict[str, Any] = {"parts": part.name, "goal_timeout": timeout}
        if interface != "effort":
            common["report_interval"] = 0.0
        super().__init__(
            name, part, client, actions=[Action(_ACTION, _TYPES[interface], **common)],
            timeout=options.command_timeout, idle_time=options.idle_time, on_event=on_event,
        )  # fmt: skip

    def forward(self, values: Sequence[float]) -> None:
        """Take one value for each joint.

        Raises:
            RobotControlError: they are refused.
        """
        joints = self._part.joint_names
        if len(values) != len(joints):
            raise DefinitionError(
                f"commands: {self._interface} values", expected=f"{len(joints)}, one for each joint",
                got=str(len(values)),
            )  # fmt: skip
        given = np.zeros(len(joints))
        given[self._order] = finite("commands", values)
        low, high = self._range
        for j in np.flatnonzero(~((given >= low) & (given <= high)))[:1]:
            raise DefinitionError(
                f"{self._interface} of joint {joints[j]!r} is outside its limits",
                expected=f"{low[j]:.4f} to {high[j]:.4f}",
                got=f"{given[j]:.4f}",
            )
        self.take(_ACTION, given, 0.0, moves=True if self._interface == "position" else None)


def order_of(name: str, part: PartDescription, options: ForwardOptions) -> list[int]:
    """Index of the part's joint for each value. Raises DefinitionError: they are not all joints of the part."""
    joints = options.joints or part.joint_names
    if sorted(joints) != sorted(part.joint_names):
        raise DefinitionError(
            f"controller {name!r}: joints", expected=f"all of part {part.name!r}: {', '.join(part.joint_names)}",
            got=", ".join(joints),
        )  # fmt: skip
    return [part.joint_names.index(joint) for joint in joints]
