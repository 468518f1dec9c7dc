"""Controllers that only remember what was asked of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from robot_rt_control.controllers.controller import Controller
from robot_rt_control.controllers.manager import ControllerManager
from robot_rt_control.model.workcell.controllers import BROADCASTER, TRAJECTORY, ControllerDescription
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError


class FakeController(Controller):
    """Commands the interfaces of the option `interfaces`. What is named in `fails` raises its value."""

    type = TRAJECTORY

    def __init__(self, name: str, part: Any, client: Any, options: Mapping[str, Any]) -> None:
        super().__init__(name, part, client, options)
        if "wrong" in options:
            raise DefinitionError("option 'wrong'", expected="interfaces", got="wrong")
        self.calls: list[str] = []
        self.fails: dict[str, Exception] = {}
        self.block: threading.Event | None = None
        """`activate` waits for it."""

    @property
    def command_interfaces(self) -> tuple[str, ...]:
        return tuple(self.options["interfaces"])

    @property
    def state_interfaces(self) -> tuple[str, ...]:
        return ()

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if name in self.fails:
            raise self.fails[name]

    def configure(self) -> None:
        self._call("configure")

    def activate(self) -> None:
        if self.block is not None:
            assert self.block.wait(60.0)
        self._call("activate")

    def deactivate(self) -> None:
        self._call("deactivate")

    def cleanup(self) -> None:
        self._call("cleanup")


class Bench:
    """A manager with fake controllers `a` and `b` on the same interface, `c` on another, and the broadcaster.

    Args:
        loaded: whether they are loaded and configured.
    """

    def __init__(self, *, loaded: bool = True) -> None:
        self.made: dict[str, FakeController] = {}
        self.changes: list[dict[str, str]] = []
        described = [
            ControllerDescription(name=name, type=TRAJECTORY, options={"interfaces": [interface]}, place="cell.yaml:1")
            for name, interface in (("a", "j1/position"), ("b", "j1/position"), ("c", "j2/position"))
        ]
        broadcaster = ControllerDescription(name="states", type=BROADCASTER, options={"interfaces": []}, place="")
        self.manager = ControllerManager([broadcaster, *described], self._make, self._note)
        if loaded:
            for name in ("states", "a", "b", "c"):
                self.manager.load(name)
                self.manager.configure(name)

    def _note(self) -> None:
        self.changes.append(self.states)

    def _make(self, description: ControllerDescription) -> Controller:
        made = FakeController(description.name, None, None, description.options)
        self.made[description.name] = made
        return made

    @property
    def states(self) -> dict[str, str]:
        return {controller.name: str(controller.state) for controller in self.manager.loaded}

    @property
    def active(self) -> str:
        """The active controllers, apart from the broadcaster."""
        return " ".join(name for name, state in self.states.items() if state == "active" and name != "states")

    def calls(self) -> list[str]:
        """All calls since the last time, as controller.method."""
        found = [f"{name}.{call}" for name, made in self.made.items() for call in made.calls]
        for made in self.made.values():
            made.calls.clear()
        return found


def broken(what: str = "the sky fell") -> RobotControlError:
    return RobotControlError(what)
