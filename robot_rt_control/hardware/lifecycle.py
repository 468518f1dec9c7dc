"""Calls a hardware plugin's callbacks in the right order and checks what they return."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import numpy as np

from robot_rt_control.hardware.plugin import (
    CallbackReturn,
    HardwareInfo,
    HardwarePlugin,
    HardwareReturn,
    InterfaceDescription,
)
from robot_rt_control.model.workcell.simulators import SIMULATORS
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import CapacityError, HardwareError, RobotControlError

BUILT_IN_PLUGINS = {
    "canopen": "robot_rt_control.hardware.canopen.plugin:CanopenPlugin",
    "dynamixel": "robot_rt_control.hardware.dynamixel.plugin:DynamixelPlugin",
    "franka": "robot_rt_control.hardware.franka.plugin:FrankaPlugin",
    "franka_hand": "robot_rt_control.hardware.franka_hand.plugin:FrankaHandPlugin",
    "mock": "robot_rt_control.hardware.mock_plugin:MockPlugin",
    "mujoco": "robot_rt_control.hardware.mujoco.plugin:MujocoPlugin",
    "pybullet": "robot_rt_control.hardware.pybullet.plugin:PyBulletPlugin",
    "topic": "robot_rt_control.hardware.topics.plugin:TopicPlugin",
}


_EXTRAS = {name: name for name in (*SIMULATORS, "canopen")} | {"dynamixel": "dynamixel-sdk pyserial"}
"""Plugin → what it alone needs."""


class LifecycleState(IntEnum):
    UNCONFIGURED = 1
    INACTIVE = 2
    ACTIVE = 3
    FINALIZED = 4


# In Python 3.11 to look up an enum's member costs more than a call, and these are looked up in each cycle.
_OK = HardwareReturn.OK
_ACTIVE = LifecycleState.ACTIVE
_READABLE = (LifecycleState.INACTIVE, LifecycleState.ACTIVE)

_Return = TypeVar("_Return", CallbackReturn, HardwareReturn)


def load_plugin(name: str) -> type[HardwarePlugin]:
    """The plugin class of a name: one of BUILT_IN_PLUGINS, "package.module:Class" or "/path/to/file.py:Class".

    Raises:
        HardwareError: there is no such plugin, or the class is not a plugin.
    """
    what = f"hardware plugin {name!r}"
    path = BUILT_IN_PLUGINS.get(name, name)
    module_name, colon, class_name = path.rpartition(":")
    if not colon or not module_name or not class_name:
        raise HardwareError(
            what,
            expected=", ".join(map(repr, BUILT_IN_PLUGINS)) + ", 'package.module:Class' or 'file.py:Class'",
            hint="Check the workcell's `plugin` entry",
        )
    try:
        module = _file_module(what, module_name) if module_name.endswith(".py") else import_module(module_name)
    except ImportError as error:
        hint = "Check the spelling and PYTHONPATH"
        if name in _EXTRAS:  # libraries that nothing else needs
            hint = f"Install it with `pip install {_EXTRAS[name]}`"
        raise HardwareError(
            f"{what}: cannot import {error.name or module_name!r}", got=str(error), hint=hint
        ) from error
    found = getattr(module, class_name, None)
    if found is None:
        raise HardwareError(f"{what}: module {module_name!r} has no {class_name!r}")
    if not (isinstance(found, type) and issubclass(found, HardwarePlugin)):
        raise HardwareError(what, expected="a subclass of HardwarePlugin", got=repr(found))
    return found


def _file_module(what: str, path: str) -> ModuleType:
    """The module in a file, which need not be on Python's path; loaded once in a process."""
    name = "hardware_plugin_" + hashlib.sha256(path.encode()).hexdigest()[:16]
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise HardwareError(what, expected="a Python file", got=f"nothing at {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _text(error: Exception) -> str:
    return str(error) if isinstance(error, RobotControlError) else f"{type(error).__name__}: {error}"


def _check_interfaces(what: str, interfaces: list[InterfaceDescription], info: HardwareInfo) -> None:
    if len(interfaces) > capacities.MAX_DEVICE_INTERFACES:
        expected = f"at most {capacities.MAX_DEVICE_INTERFACES}"
        raise CapacityError(f"{what}: interfaces", expected=expected, got=str(len(interfaces)))
    parts = {part.name for part in info.parts}
    seen: set[str] = set()
    for interface in interfaces:
        if interface.name in seen:
            raise HardwareError(f"{what} exports the interface {interface.name!r} twice")
        seen.add(interface.name)
        if interface.part not in parts:
            expected = f"a part of this device ({', '.join(sorted(parts))})"
            raise HardwareError(f"{what} exports the interface {interface.name!r}", expected=expected)


class HardwareLifecycle:
    """One plugin from `on_init` to `on_shutdown`.

    Args:
        plugin: a fresh plugin object.
        info: the device.
        state: float64 memory for the states (at least as many as the plugin exports); default: new memory.
        command: the same for the commands.

    Raises:
        HardwareError: `on_init` did not succeed, or the exported interfaces are not valid.
    """

    def __init__(
        self,
        plugin: HardwarePlugin,
        info: HardwareInfo,
        *,
        state: np.ndarray | None = None,
        command: np.ndarray | None = None,
    ) -> None:
        self.plugin, self.info = plugin, info
        self._what = f"hardware {info.name!r} ({type(plugin).__name__})"
        self.lifecycle_state = LifecycleState.FINALIZED
        result, reason = self._call(lambda: plugin.on_init(info), CallbackReturn.ERROR)
        if result is not CallbackReturn.SUCCESS:
            raise self._failed("on_init", result, reason)
        self.state_interfaces = self._exported("export_state_interfaces")
        self.command_interfaces = self._exported("export_command_interfaces")
        n_state, n_command = len(self.state_interfaces), len(self.command_interfaces)
        self.state = np.zeros(n_state) if state is None else state[:n_state]
        self.command = np.zeros(n_command) if command is None else command[:n_command]
        self.state[:] = np.nan
        plugin.state, plugin.command = self.state, self.command
        self.modes = self._no_modes()
        self.lifecycle_state = LifecycleState.UNCONFIGURED

    def _exported(self, callback: str) -> list[InterfaceDescription]:
        what = f"{self._what}: {callback}"
        try:
            interfaces = getattr(self.plugin, callback)()
        except Exception as error:  # a plugin may raise anything
            raise HardwareError(what, got=_text(error)) from error
        if not isinstance(interfaces, list) or not all(isinstance(i, InterfaceDescription) for i in interfaces):
            raise HardwareError(what, expected="a list of InterfaceDescription", got=repr(interfaces))
        _check_interfaces(what, interfaces, self.info)
        return interfaces

    def _call(self, callback: Callable[[], _Return], error: _Return) -> tuple[_Return, str]:
        """What a callback returned, `error` if it raised; and the reason."""
        self.plugin.reason = ""
        try:
            return callback(), self.plugin.reason
        except Exception as raised:  # a plugin may raise anything: that is an ERROR of the device
            return error, _text(raised)

    def _failed(self, callback: str, result: object, reason: str) -> HardwareError:
        name = result.name if isinstance(result, IntEnum) else repr(result)
        return HardwareError(
            f"{self._what}: {callback} returned {name}" + (f": {reason}" if reason else ""),
            hint="" if reason else "The plugin gave no reason (attribute `reason`)",
        )

    def _transition(
        self,
        callback: str,
        call: Callable[[], CallbackReturn],
        start: tuple[LifecycleState, ...],
        goal: LifecycleState,
    ) -> None:
        if self.lifecycle_state not in start:
            expected = "state " + " or ".join(state.name for state in start)
            raise HardwareError(f"{self._what}: {callback}", expected=expected, got=self.lifecycle_state.name)
        result, reason = self._call(call, CallbackReturn.ERROR)
        if result is CallbackReturn.SUCCESS:
            self.lifecycle_state = goal
            return
        if result is not CallbackReturn.FAILURE:
            self._handle_error()
        raise self._failed(callback, result, reason)

    def _handle_error(self) -> None:
        result, _ = self._call(self.plugin.on_error, CallbackReturn.ERROR)
        recovered = result is CallbackReturn.SUCCESS
        self.lifecycle_state = LifecycleState.UNCONFIGURED if recovered else LifecycleState.FINALIZED
        self.modes = self._no_modes()

    def _no_modes(self) -> dict[str, tuple[CommandMode, ...]]:
        """For each part, the mode of each joint: none is commanded."""
        return {part.name: (CommandMode.NONE,) * len(part.joint_names) for part in self.info.parts}

    @property
    def can_write(self) -> bool:
        """Whether the device takes commands."""
        return self.lifecycle_state == _ACTIVE

    def configure(self) -> None:
        """Open the device. Raises: HardwareError."""
        plugin, state = self.plugin, LifecycleState
        self._transition("on_configure", plugin.on_configure, (state.UNCONFIGURED,), state.INACTIVE)

    def activate(self) -> None:
        """Allow motion; every part holds (mode NONE) until its mode is switched. Raises: HardwareError."""
        plugin, state = self.plugin, LifecycleState
        self._transition("on_activate", plugin.on_activate, (state.INACTIVE,), state.ACTIVE)
        self.modes = self._no_modes()

    def deactivate(self) -> None:
        """End motion. Raises: HardwareError."""
        plugin, state = self.plugin, LifecycleState
        self._transition("on_deactivate", plugin.on_deactivate, (state.ACTIVE,), state.INACTIVE)

    def cleanup(self) -> None:
        """Close the device. Raises: HardwareError."""
        plugin, state = self.plugin, LifecycleState
        self._transition("on_cleanup", plugin.on_cleanup, (state.INACTIVE,), state.UNCONFIGURED)

    def shutdown(self) -> None:
        """Release everything, from any state; does nothing when that is done. Raises: HardwareError."""
        if self.lifecycle_state == LifecycleState.FINALIZED:
            return
        state = LifecycleState
        try:
            if self.lifecycle_state == state.ACTIVE:
                self.deactivate()
        finally:
            if self.lifecycle_state != state.FINALIZED:  # a failed deactivation must not keep the device open
                start = (state.ACTIVE, state.INACTIVE, state.UNCONFIGURED)
                self._transition("on_shutdown", self.plugin.on_shutdown, start, state.FINALIZED)

    def read(self, time_s: float, period_s: float) -> None:
        """Fill the state. Raises: HardwareError, after `on_error` was called."""
        if self.lifecycle_state not in _READABLE:
            raise HardwareError(f"{self._what}: read", expected="state ACTIVE", got=self.lifecycle_state.name)
        try:
            result = self.plugin.read(time_s, period_s)
        except Exception as error:  # a plugin may raise anything: that is an ERROR of the device
            result, reason = HardwareReturn.ERROR, _text(error)
        else:
            if result is _OK and self.plugin.state is self.state:
                return
            reason = self.plugin.reason
            if self.plugin.state is not self.state:
                result, reason = HardwareReturn.ERROR, "it replaced `self.state`, which must be written in place"
        raise self._broken("read", result, reason)

    def write(self, time_s: float, period_s: float) -> None:
        """Send the command. Raises: HardwareError, after `on_error` was called."""
        if self.lifecycle_state != _ACTIVE:
            raise HardwareError(f"{self._what}: write", expected="state ACTIVE", got=self.lifecycle_state.name)
        try:
            result = self.plugin.write(time_s, period_s)
        except Exception as error:
            result, reason = HardwareReturn.ERROR, _text(error)
        else:
            if result is _OK:
                return
            reason = self.plugin.reason
        raise self._broken("write", result, reason)

    def _broken(self, callback: str, result: object, reason: str) -> HardwareError:
        """The error of a callback of a cycle, after `on_error` was called."""
        self._handle_error()
        return self._failed(callback, result, reason)

    def switch_modes(self, modes: Mapping[str, CommandMode | Sequence[CommandMode]]) -> None:
        """Switch joints to other command modes; the plugin is asked only for parts of which one changes.

        Args:
            modes: by part: of all its joints, or of each one.

        Raises:
            HardwareError: the plugin refused it (nothing has changed), or broke while it switched.
        """
        wanted = {
            part: (given,) * len(self.modes[part]) if isinstance(given, CommandMode) else tuple(given)
            for part, given in modes.items()
        }
        changed = {part: given for part, given in wanted.items() if self.modes[part] != given}
        if not changed:
            return
        plugin, broken = self.plugin, HardwareReturn.ERROR
        # An exception here is a refusal too: nothing has changed, so the device can still brake.
        result, reason = self._call(lambda: plugin.prepare_command_mode_switch(changed), broken)
        if result is not _OK:
            raise self._failed("prepare_command_mode_switch", result, reason)
        result, reason = self._call(lambda: plugin.perform_command_mode_switch(changed), broken)
        if result is not _OK:
            raise self._broken("perform_command_mode_switch", result, reason)
        self.modes.update(changed)
