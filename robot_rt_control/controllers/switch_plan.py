"""Which controllers a request to switch concerns, and why others cannot be switched. No ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum

from robot_rt_control.controllers.controller import Controller, ControllerState
from robot_rt_control.vocabulary.errors import RobotControlError

UNCONFIGURED, INACTIVE, ACTIVE = ControllerState.UNCONFIGURED, ControllerState.INACTIVE, ControllerState.ACTIVE


class Strictness(IntEnum):
    """The constants of controller_manager_msgs/SwitchController."""

    BEST_EFFORT = 1
    """What cannot be switched is left out. The switch fails if that is a whole list."""
    STRICT = 2
    """All or nothing."""
    AUTO = 3
    """As BEST_EFFORT: there are no chains of controllers to resolve."""
    FORCE_AUTO = 4
    """As BEST_EFFORT; active controllers that command the same interfaces are deactivated."""


class SwitchPlan:
    """What a switch has to do.

    Args:
        loaded: name → controller.
        unusable: why a controller cannot be brought to a state, whatever its own state is; None: it can be.
        activate, deactivate: names, as requested.

    Attributes:
        down: to deactivate, in this order, before the others.
        up: to activate.
        refused: why others cannot be switched.
        fails: whether nothing may be switched.
    """

    def __init__(
        self,
        loaded: Mapping[str, Controller],
        unusable: Callable[[str, ControllerState], RobotControlError | None],
        activate: Sequence[str],
        deactivate: Sequence[str],
        strictness: Strictness,
    ) -> None:
        self._loaded, self._unusable = loaded, unusable
        strict, force = strictness == Strictness.STRICT, strictness == Strictness.FORCE_AUTO
        not_down, not_up = dict[str, RobotControlError](), dict[str, RobotControlError]()
        self.down: list[Controller] = []
        self.down += self._wanted(deactivate, INACTIVE, not_down, strict)
        wanted = self._wanted(activate, ACTIVE, not_up, strict)
        staying = () if force else [c for c in loaded.values() if c not in self.down]
        self.up = _without_conflicts(wanted, claims(staying), not_up)
        if force:
            taken = {interface for controller in self.up for interface in controller.command_interfaces}
            active = [c for c in loaded.values() if c.state == ACTIVE and c not in self.down]
            self.down += [c for c in active if taken.intersection(c.command_interfaces)]
        self.refused = [*not_down.values(), *not_up.values()]
        lists = ((deactivate, not_down), (activate, not_up))
        self.fails = (strict and bool(self.refused)) or any(names and set(names) == out.keys() for names, out in lists)

    def _wanted(
        self, names: Sequence[str], target: ControllerState, refused: dict[str, RobotControlError], strict: bool
    ) -> list[Controller]:
        """The controllers of a list that have to be switched; `refused` gets why others cannot be."""
        found = []
        verb = "be activated" if target == ACTIVE else "be deactivated"
        for name in dict.fromkeys(names):
            if error := self._unusable(name, target):
                refused[name] = error
                continue
            controller = self._loaded[name]
            if controller.state == UNCONFIGURED:
                refused[name] = wrong_state(controller, verb, "inactive", "Configure it first")
            elif controller.state != target or controller in self.down:
                found.append(controller)
            elif strict:
                refused[name] = wrong_state(controller, verb, INACTIVE if target == ACTIVE else ACTIVE)
        return found


def claims(controllers: Iterable[Controller]) -> dict[str, str]:
    """Interface → the active controller that commands it."""
    return {i: c.name for c in controllers if c.state == ACTIVE for i in c.command_interfaces}


def _without_conflicts(
    wanted: Sequence[Controller], taken: dict[str, str], refused: dict[str, RobotControlError]
) -> list[Controller]:
    """The controllers of a list that command no interface that is taken, or that an earlier one commands."""
    found = []
    for controller in wanted:
        if error := conflict(controller, taken):
            refused[controller.name] = error
            continue
        found.append(controller)
        taken |= dict.fromkeys(controller.command_interfaces, controller.name)
    return found


def wrong_state(controller: Controller, verb: str, expected: str, hint: str = "") -> RobotControlError:
    what = f"controller {controller.name!r} cannot {verb}"
    return RobotControlError(what, expected=f"state {expected}", got=controller.state, hint=hint)


def conflict(controller: Controller, claims: dict[str, str]) -> RobotControlError | None:
    for interface in controller.command_interfaces:
        if interface in claims:
            return RobotControlError(
                f"controller {controller.name!r} cannot be activated",
                expected=f"interface {interface!r} to be free",
                got=f"controller {claims[interface]!r}, which commands it",
                hint="Deactivate that one in the same switch, or use FORCE_AUTO",
            )
    return None
