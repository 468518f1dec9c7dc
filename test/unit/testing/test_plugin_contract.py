"""The contract tests find what is wrong with a plugin: each mistake here is found by the test that is named."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.hardware.plugin import CallbackReturn, HardwarePlugin, HardwareReturn, InterfaceDescription
from robot_rt_control.testing.devices import bench
from robot_rt_control.testing.plugin_contract import ContractDevice, PluginContract
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

Modes = Mapping[str, tuple[CommandMode, ...]]


class Degrees(MockPlugin):
    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        result = super().read(time_s, period_s)
        self.state[0] = np.degrees(self.state[0])
        return result


class SlowVelocity(MockPlugin):
    """Measured in revolutions a second."""

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        result = super().read(time_s, period_s)
        self.state[1] /= 2 * np.pi
        return result


class Swapped(MockPlugin):
    """The two joints' commands."""

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        self._device.command[: len(self.command)] = self.command
        self._device.command[:6] = self.command[[3, 4, 5, 0, 1, 2]]
        kept = self.command.copy()
        self.command[:] = self._device.command[: len(self.command)]
        result = super().write(time_s, period_s)
        self.command[:] = kept
        return result


class Reversed(MockPlugin):
    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        result = super().read(time_s, period_s)
        self.state[3] = -self.state[3]
        return result


class Backwards(MockPlugin):
    """It takes velocities with the wrong sign."""

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        self.command[1:6:3] *= -1.0
        result = super().write(time_s, period_s)
        self.command[1:6:3] *= -1.0
        return result


class Rebinds(MockPlugin):
    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        result = super().read(time_s, period_s)
        self.state = self.state.copy()
        return result


class WrongShape(MockPlugin):
    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        self.state[:] = np.zeros(3)
        return HardwareReturn.OK


class ScribblesCommands(MockPlugin):
    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        self.command[0] += 1.0
        return HardwareReturn.OK


class SaysFalse(MockPlugin):
    def on_activate(self) -> Any:
        super().on_activate()
        return False


class KeepsModes(MockPlugin):
    """Its joints follow at once after a further activation."""

    def on_activate(self) -> CallbackReturn:
        self._device.enabled = 1
        return CallbackReturn.SUCCESS


class MovesWithoutMode(MockPlugin):
    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        if np.isfinite(self.command[0]) and self.command[0] != 0.0:
            self._device.state[0] = self.command[0]
        return super().write(time_s, period_s)


class TakesNoParameters(MockPlugin):
    def on_init(self, info: Any) -> CallbackReturn:
        return super().on_init(bench())


class OtherOrder(MockPlugin):
    def export_state_interfaces(self) -> list[InterfaceDescription]:
        return super().export_state_interfaces()[::-1]


class AnyMode(MockPlugin):
    def prepare_command_mode_switch(self, modes: Modes) -> HardwareReturn:
        return HardwareReturn.OK


class RefusesInSilence(MockPlugin):
    def prepare_command_mode_switch(self, modes: Modes) -> HardwareReturn:
        mixed = any(len(set(each)) > 1 for each in modes.values())
        return HardwareReturn.ERROR if mixed else super().prepare_command_mode_switch(modes)


class IgnoresMixed(MockPlugin):
    def perform_command_mode_switch(self, modes: Modes) -> HardwareReturn:
        taken = {name: each if len(set(each)) == 1 else (CommandMode.NONE,) * len(each) for name, each in modes.items()}
        return super().perform_command_mode_switch(taken)


class KeepsItOpen(MockPlugin):
    opened: list[int] = []

    def on_configure(self) -> CallbackReturn:
        self.opened.append(os.open("/dev/null", os.O_RDONLY))
        return super().on_configure()


class OneClient:
    """A device that only one plugin may open."""

    taken = False


class LeaksAfterErrors(MockPlugin):
    """It releases its device in `on_cleanup` and `on_shutdown` alone."""

    def on_configure(self) -> CallbackReturn:
        if OneClient.taken:
            self.reason = "the device is taken"
            return CallbackReturn.FAILURE
        OneClient.taken = True
        return super().on_configure()

    def on_cleanup(self) -> CallbackReturn:
        OneClient.taken = False
        return CallbackReturn.SUCCESS

    def on_shutdown(self) -> CallbackReturn:
        OneClient.taken = False
        return CallbackReturn.SUCCESS


class ConfiguresOnce(MockPlugin):
    def on_configure(self) -> CallbackReturn:
        if hasattr(self, "done"):
            return CallbackReturn.ERROR
        self.done = True
        return super().on_configure()


class ClosesOnce(MockPlugin):
    def close(self) -> None:
        del self._device


class LosesOutputs(MockPlugin):
    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        result = super().read(time_s, period_s)
        self.state[-1] = 0.0
        return result


class Infinite(MockPlugin):
    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        result = super().read(time_s, period_s)
        self.state[2] = np.inf
        return result


class CountsCycles(MockPlugin):
    """Two reads in a row are too many for it."""

    reads = 0

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        self.reads += 1
        return super().read(time_s, period_s) if self.reads < 3 else HardwareReturn.ERROR

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        self.reads = 0
        return super().write(time_s, period_s)


class Drifts(MockPlugin):
    """It moves on after the host has given it up."""

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        moving = self._device.mode.any()
        self._seen = getattr(self, "_seen", False) or bool(moving)
        result = super().write(time_s, period_s)
        if self._seen and not moving:
            self._device.state[0] += 0.001
        return result


class Real(MockPlugin):
    """As if for a device that may fall silent."""

    simulated = False
    silent = False
    stale = False
    wait_s = 0.0

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        cls = type(self)
        if cls.silent:
            time.sleep(cls.wait_s)
            if not cls.stale:
                self.state[:] = np.nan
            return HardwareReturn.OK
        return super().read(time_s, period_s)


class Stale(Real):
    stale = True


class Waits(Real):
    wait_s = 0.02


class PretendsADevice(Real):
    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        return MockPlugin.read(self, time_s, period_s)


def contract(plugin: type[HardwarePlugin]) -> PluginContract:
    class Contract(PluginContract):
        @contextmanager
        def device(self) -> Iterator[ContractDevice]:
            def silence(silent: bool) -> Callable[[], None]:
                return lambda: setattr(plugin, "silent", silent)

            real = issubclass(plugin, Real) and "silent" in dir(plugin)
            hooks: dict[str, Any] = {"silence": silence(True), "restore": silence(False)} if real else {}
            yield ContractDevice(plugin=plugin, info=bench(), lockstep=True, silence_s=0.1, **hooks)

    return Contract()


@pytest.mark.parametrize(
    ("plugin", "test", "text"),
    [
        (Degrees, "positions_are_reached_joint_by_joint", "arm.joint_1 at 0.0500: not reached|moved"),
        (Degrees, "velocities_move_as_far_as_they_say", "arm.joint_1: moved by .* that should give"),
        (Backwards, "velocities_move_as_far_as_they_say", "arm.joint_1: moved by -.* that should give"),
        (SlowVelocity, "positions_are_reached_joint_by_joint", "arm.joint_1: measured velocities say"),
        (Swapped, "positions_are_reached_joint_by_joint", "arm.joint_1 at 0.0500: not reached"),
        (Reversed, "positions_are_reached_joint_by_joint", "arm.joint_2 at 0.0500: not reached"),
        (Rebinds, "states_are_written_in_place", "it replaced `self.state`, which must be written in place"),
        (WrongShape, "states_are_written_in_place", "could not broadcast"),
        (ScribblesCommands, "states_are_written_in_place", "read or write changed `command`"),
        (SaysFalse, "each_callback_returns_its_own_type", "on_activate returned False"),
        (KeepsModes, "activation_begins_without_modes", "it had a command mode before it was deactivated"),
        (MovesWithoutMode, "without_a_mode_nothing_moves", r"arm moved by .* without a command mode"),
        (TakesNoParameters, "unknown_parameters_are_refused_by_name", "expected a HardwareError, got none"),
        (OtherOrder, "interfaces_have_the_names_units_and_order_of_the_parts", "first, got"),
        (AnyMode, "unsupported_modes_are_refused_and_change_nothing", "expected a HardwareError, got none"),
        (RefusesInSilence, "mixed_modes_are_taken_or_refused_with_a_reason", "refused without a reason"),
        (IgnoresMixed, "mixed_modes_are_taken_or_refused_with_a_reason", "arm.joint_2 at 0.0500: not reached"),
        (KeepsItOpen, "nothing_is_left_open", "threads, files: .* after one life, .* after four"),
        (LeaksAfterErrors, "an_exception_in_any_method_leaves_nothing_open", "the device is taken"),
        (ConfiguresOnce, "it_can_be_configured_again", "on_configure returned ERROR"),
        (ClosesOnce, "close_may_be_repeated", "_device"),
        (LosesOutputs, "outputs_are_read_back", "io/output_0: not reached"),
        (Infinite, "states_are_known_and_plausible", r"infinite states: \['arm/joint_1/effort'\]"),
        (CountsCycles, "late_cycles_harm_nothing", "read returned ERROR"),
        (Drifts, "its_host_brings_it_to_rest_when_commands_end", "arm still moves"),
        (Stale, "a_silent_device_is_noticed", "after 0.1 s of silence all values are still known"),
        (Waits, "reads_do_not_wait_for_a_silent_device", "each read of a silent device took 0.02"),
        (
            PretendsADevice,
            "without_a_device_it_says_so_and_can_try_again",
            "values are known although no device is there",
        ),
    ],
)
def test_each_mistake_is_found(
    plugin: type[HardwarePlugin], test: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robot_rt_control.testing.plugin_contract._SETTLED_S", 0.5)
    monkeypatch.setattr(OneClient, "taken", False)
    if issubclass(plugin, Real):
        monkeypatch.setattr(plugin, "silent", False)
    with pytest.raises((AssertionError, HardwareError, AttributeError), match=text):
        getattr(contract(plugin), f"test_{test}")()


def test_a_real_device_must_say_how_it_falls_silent() -> None:
    class Forgot(MockPlugin):
        simulated = False

    with pytest.raises(AssertionError, match="Forgot does not simulate: give ContractDevice `silence` and `restore`"):
        contract(Forgot).test_a_silent_device_is_noticed()


def test_a_right_plugin_passes_all_of_them() -> None:
    one = contract(Real)
    tests = [name for name in dir(one) if name.startswith("test_")]
    assert len(tests) >= 20
    for name in tests:
        getattr(one, name)()
