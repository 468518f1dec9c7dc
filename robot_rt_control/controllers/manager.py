"""The controllers that are loaded, and their states, with ros2_control's semantics (docs/ros2_control.md). No ROS."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from robot_rt_control.controllers.controller import Controller, ControllerState
from robot_rt_control.controllers.switch_plan import (
    ACTIVE,
    INACTIVE,
    UNCONFIGURED,
    Strictness,
    SwitchPlan,
    claims,
    conflict,
    wrong_state,
)
from robot_rt_control.model.workcell.controllers import ControllerDescription
from robot_rt_control.vocabulary.errors import DefinitionError, InternalError, RobotControlError, unknown

_log = logging.getLogger(__name__)

T = TypeVar("T")


_TOO_LATE = RobotControlError("the time for the switch has passed")


class ControllerManager:
    """Loads, configures and switches controllers.

    Methods may be called from any thread except the manager's own, in which changes are made one after the other.

    Args:
        described: the workcell's controllers; no others can be loaded.
        make: makes one of them.
        on_change: called after each change, in the manager's thread.
    """

    def __init__(
        self,
        described: Iterable[ControllerDescription],
        make: Callable[[ControllerDescription], Controller],
        on_change: Callable[[], object] = lambda: None,
    ) -> None:
        self._described = {description.name: description for description in described}
        self._make, self._on_change = make, on_change
        self._loaded: dict[str, Controller] = {}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="controllers")

    @property
    def loaded(self) -> tuple[Controller, ...]:
        """All loaded controllers, in the order in which they were loaded."""
        return tuple(self._loaded.values())

    def claims(self) -> dict[str, str]:
        """Interface → the active controller that commands it."""
        return claims(self.loaded)

    def load(self, name: str) -> None:
        """Load a controller of the workcell; it is then unconfigured.

        Raises:
            RobotControlError: it is not one of the workcell, is already loaded, or its options are not valid.
        """
        self._do(self._load, name)

    def configure(self, name: str) -> None:
        """Configure a controller that is unconfigured or inactive; it is then inactive.

        Raises:
            RobotControlError: it is not loaded, is active, or cannot be configured; then it is unconfigured.
        """
        self._do(self._configure, name)

    def cleanup(self, name: str) -> None:
        """Undo `configure`. Raises RobotControlError: it is not loaded, or is active."""
        self._do(self._cleanup, name)

    def unload(self, name: str) -> None:
        """Undo `load`. Raises RobotControlError: it is not loaded, or is active."""
        self._do(self._unload, name)

    def switch(
        self,
        activate: Sequence[str],
        deactivate: Sequence[str],
        strictness: int = Strictness.STRICT,
        timeout_s: float = 0.0,
    ) -> str:
        """Deactivate controllers, then activate others. Names in both lists are restarted.

        Args:
            timeout_s: when it has passed, no further controller is switched; what a STRICT switch has done is undone
                as soon as the controller that is being switched allows it. 0: no limit.

        Returns:
            What was done and what was left out, for people.

        Raises:
            RobotControlError: the switch failed, see Strictness; or the time has passed.
        """
        if strictness not in list(Strictness):
            raise DefinitionError(
                "strictness",
                expected=", ".join(f"{s.value} ({s.name})" for s in Strictness),
                got=str(strictness),
            )
        decided = threading.Lock()
        future = self._submit(self._switch, activate, deactivate, Strictness(strictness), decided)
        try:
            return future.result(timeout_s or None)
        except TimeoutError:
            if not decided.acquire(blocking=False):  # it is done in this moment
                return future.result()
            future.cancel()
            names = ", ".join([*deactivate, *activate])
            raise RobotControlError(
                f"switching {names} did not end within {timeout_s:g} s", hint="Look at the controllers' states"
            ) from None

    def start(self, complain: Callable[[RobotControlError], object]) -> None:
        """Bring all controllers to the state that the workcell file gives; one that is loaded is left as it is.

        Args:
            complain: called with the reason if one cannot be brought there; the others follow all the same.
        """
        for name, description in self._described.items():
            if name in self._loaded:
                continue  # by a spawner that was earlier
            try:
                self.load(name)
                self.configure(name)
                if description.is_active:
                    self.switch([name], [])
            except RobotControlError as error:
                complain(error)

    def unload_all(self, *, force: bool) -> None:
        """Unload all controllers that are not always active.

        Args:
            force: deactivate them first.

        Raises:
            RobotControlError: one is active and there is no force, or it cannot be deactivated; nothing is unloaded.
        """
        names = [c.name for c in self.loaded if not self._described[c.name].permanent]
        active = [name for name in names if self._loaded[name].state == ACTIVE]
        if active and not force:
            raise RobotControlError("controllers cannot be unloaded", expected="none active", got=", ".join(active))
        if active:
            self.switch([], active)
        for name in names:
            self.unload(name)

    def close(self, complain: Callable[[RobotControlError], object]) -> None:
        """Deactivate and clean up all controllers. Nothing can be changed any more.

        Args:
            complain: called with the reason if one cannot be.
        """
        for controller in reversed(self.loaded):
            try:
                if controller.state == ACTIVE:
                    self._do(self._step, controller, controller.deactivate, INACTIVE)
                if controller.state == INACTIVE:
                    self._do(self._step, controller, controller.cleanup, UNCONFIGURED)
            except RobotControlError as error:
                complain(error)
        self._worker.shutdown()

    # --- in the manager's thread ------------------------------------------------------------------

    def _do(self, change: Callable[..., object], *arguments: Any) -> None:
        self._submit(change, *arguments).result()

    def _submit(self, change: Callable[..., T], *arguments: Any) -> Future[T]:
        try:
            return self._worker.submit(change, *arguments)
        except RuntimeError:
            raise RobotControlError("the controllers are closed") from None

    def _load(self, name: str) -> None:
        if name not in self._described:
            raise DefinitionError(
                f"controller {name!r}",
                expected=unknown("controller", name, self._described),
                hint="The section `controllers` of the workcell file describes them",
            )
        if name in self._loaded:
            raise RobotControlError(f"controller {name!r} is already loaded")
        self._loaded[name] = self._make(self._described[name])
        self._on_change()

    def _configure(self, name: str) -> None:
        controller = self._find(name)
        if controller.state == ACTIVE:
            if self._described[name].permanent:
                return  # as it is
            raise wrong_state(controller, "be configured", "unconfigured or inactive", "Deactivate it first")
        self._cleanup(name)
        self._step(controller, controller.configure, INACTIVE)
        if self._described[name].permanent:
            self._step(controller, controller.activate, ACTIVE)

    def _cleanup(self, name: str) -> None:
        controller = self._find(name)
        if controller.state == ACTIVE:
            raise self._kept(name) or wrong_state(controller, "be cleaned up", "inactive", "Deactivate it first")
        if controller.state == INACTIVE:
            self._step(controller, controller.cleanup, UNCONFIGURED)

    def _unload(self, name: str) -> None:
        controller = self._find(name)
        if controller.state == ACTIVE:
            raise self._kept(name) or wrong_state(controller, "be unloaded", "inactive", "Deactivate it first")
        self._cleanup(name)
        del self._loaded[name]
        self._on_change()

    def _switch(
        self, activate: Sequence[str], deactivate: Sequence[str], strictness: Strictness, decided: threading.Lock
    ) -> str:
        """Switch, unless the time has passed: the first to take `decided`, this or the caller, reports how it ends."""
        up = [name for name in activate if name not in self._loaded or not self._kept(name)]  # these are active
        plan = SwitchPlan(self._loaded, self._unusable, up, deactivate, strictness)
        strict, refused = strictness == Strictness.STRICT, plan.refused
        if plan.fails:
            raise _together(refused)
        steps = [*((c, INACTIVE) for c in plan.down), *((c, ACTIVE) for c in plan.up)]
        done: list[tuple[Controller, ControllerState]] = []
        for controller, state in steps:
            error = _TOO_LATE if decided.locked() else self._set(controller, state)
            if error is None:
                done.append((controller, state))
                continue
            refused.append(error)
            if strict:
                raise _together([error, *self._undo(done)])
        if not decided.acquire(blocking=False) and strict:
            raise _together([_TOO_LATE, *self._undo(done)])
        if steps and not done:
            raise _together(refused)
        return _report(done, refused)

    def _set(self, controller: Controller, state: ControllerState) -> RobotControlError | None:
        """Activate or deactivate; returns why not."""
        try:
            # A controller that should have been deactivated before may still be active.
            if state == ACTIVE and (error := conflict(controller, self.claims())):
                return error
            self._step(controller, controller.activate if state == ACTIVE else controller.deactivate, state)
        except RobotControlError as error:
            return error
        return None

    def _undo(self, done: Sequence[tuple[Controller, ControllerState]]) -> list[RobotControlError]:
        """Switch back; returns what failed."""
        errors = [self._set(c, INACTIVE if state == ACTIVE else ACTIVE) for c, state in reversed(done)]
        return [error for error in errors if error is not None]

    def _step(self, controller: Controller, step: Callable[[], None], state: ControllerState) -> None:
        """A step of a controller's life, and the state that it leads to."""
        try:
            step()
        except Exception as error:  # its code may raise anything; the other controllers must be usable all the same
            if not isinstance(error, RobotControlError):
                _log.exception("controller %r failed unexpectedly", controller.name)
                error = InternalError.of(f"controller {controller.name!r}", error)
            raise RobotControlError(f"controller {controller.name!r}: {step.__name__} failed: {error}") from error
        controller.state = state
        self._on_change()

    def _find(self, name: str) -> Controller:
        if name not in self._loaded:
            raise self._not_loaded(name)
        return self._loaded[name]

    def _not_loaded(self, name: str) -> RobotControlError:
        hint = f"Load it first: ros2 control load_controller {name}" if name in self._described else ""
        loaded = unknown("controller", name, self._loaded)
        return DefinitionError(f"controller {name!r} is not loaded", expected=loaded, hint=hint)

    def _unusable(self, name: str, target: ControllerState) -> RobotControlError | None:
        """Why a controller cannot be brought to a state, whatever its own state is."""
        if name not in self._loaded:
            return self._not_loaded(name)
        return self._kept(name) if target == INACTIVE else None

    def _kept(self, name: str) -> RobotControlError | None:
        reason = self._described[name].permanent
        return RobotControlError(f"controller {name!r} is always active: {reason}") if reason else None


def _together(errors: Iterable[RobotControlError]) -> RobotControlError:
    return RobotControlError("\n".join(str(error) for error in errors))


def _report(done: Sequence[tuple[Controller, ControllerState]], refused: Iterable[RobotControlError]) -> str:
    words = [
        f"{verb}: {', '.join(names)}"
        for verb, state in (("deactivated", INACTIVE), ("activated", ACTIVE))
        if (names := [controller.name for controller, reached in done if reached == state])
    ]
    return "; ".join([*(words or ["nothing had to be switched"]), *(f"left out: {error}" for error in refused)])
