"""Callbacks come in the right order; what they return is checked; errors say what, who and why."""

import math
import sys

import pytest

from robot_rt_control.hardware.lifecycle import HardwareLifecycle, LifecycleState, load_plugin
from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.hardware.plugin import CallbackReturn, HardwareInfo, HardwarePlugin, HardwareReturn
from robot_rt_control.testing.devices import ALL_MODES, arm, bench
from robot_rt_control.testing.fan_plugin import FanPlugin
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError


class Recorder(HardwarePlugin):
    """Notes the calls, and returns the given answers: callback name → return value or exception."""

    def __init__(self, answers=None):
        self.calls, self.answers = [], answers or {}

    def _answer(self, name, usual):
        self.calls.append(name)
        answer = self.answers.get(name, usual)
        if isinstance(answer, Exception):
            raise answer
        if answer != usual:
            self.reason = f"{name} did not want to"
        return answer

    def on_init(self, info):
        self.info = info
        return self._answer("on_init", CallbackReturn.SUCCESS)

    def on_configure(self):
        return self._answer("on_configure", CallbackReturn.SUCCESS)

    def on_activate(self):
        return self._answer("on_activate", CallbackReturn.SUCCESS)

    def on_deactivate(self):
        return self._answer("on_deactivate", CallbackReturn.SUCCESS)

    def on_cleanup(self):
        return self._answer("on_cleanup", CallbackReturn.SUCCESS)

    def on_shutdown(self):
        return self._answer("on_shutdown", CallbackReturn.SUCCESS)

    def on_error(self):
        return self._answer("on_error", CallbackReturn.FAILURE)

    def perform_command_mode_switch(self, modes):
        self.calls.append({part: [mode.name for mode in of_joints] for part, of_joints in modes.items()})
        return self.answers.get("switch", HardwareReturn.OK)

    def read(self, time_s, period_s):
        return self._answer("read", HardwareReturn.OK)

    def write(self, time_s, period_s):
        return self._answer("write", HardwareReturn.OK)


def active(plugin):
    lifecycle = HardwareLifecycle(plugin, bench())
    lifecycle.configure()
    lifecycle.activate()
    return lifecycle


def test_a_whole_life_in_order():
    plugin = Recorder()
    lifecycle = active(plugin)
    lifecycle.read(0.0, 0.001)
    lifecycle.write(0.0, 0.001)
    lifecycle.deactivate()
    lifecycle.cleanup()
    assert lifecycle.lifecycle_state == LifecycleState.UNCONFIGURED
    lifecycle.configure()
    lifecycle.activate()
    lifecycle.shutdown()
    lifecycle.shutdown()  # a second time does nothing
    assert plugin.calls == [
        *("on_init", "on_configure", "on_activate", "read", "write", "on_deactivate", "on_cleanup"),
        *("on_configure", "on_activate", "on_deactivate", "on_shutdown"),
    ]


def test_states_are_unknown_until_first_read():
    lifecycle = HardwareLifecycle(MockPlugin(), bench())
    assert all(math.isnan(value) for value in lifecycle.state)
    lifecycle.configure()
    lifecycle.read(0.0, 0.001)
    assert not any(math.isnan(value) for value in lifecycle.state)


def test_the_wrong_order_is_refused():
    lifecycle = HardwareLifecycle(Recorder(), bench())
    text = r"hardware 'bench' \(Recorder\): on_activate; expected state INACTIVE; got UNCONFIGURED"
    with pytest.raises(HardwareError, match=text):
        lifecycle.activate()
    lifecycle.configure()
    with pytest.raises(HardwareError, match="write; expected state ACTIVE; got INACTIVE"):
        lifecycle.write(0.0, 0.001)


def test_a_failure_keeps_the_state_and_gives_the_reason():
    plugin = Recorder({"on_activate": CallbackReturn.FAILURE})
    lifecycle = HardwareLifecycle(plugin, bench())
    lifecycle.configure()
    with pytest.raises(HardwareError, match="on_activate returned FAILURE: on_activate did not want to"):
        lifecycle.activate()
    assert lifecycle.lifecycle_state == LifecycleState.INACTIVE
    assert "on_error" not in plugin.calls


@pytest.mark.parametrize(
    ("answer", "state"),
    [(CallbackReturn.FAILURE, LifecycleState.FINALIZED), (CallbackReturn.SUCCESS, LifecycleState.UNCONFIGURED)],
)
def test_an_error_in_the_cycle_calls_on_error(answer, state):
    plugin = Recorder({"read": HardwareReturn.ERROR, "on_error": answer})
    lifecycle = active(plugin)
    with pytest.raises(HardwareError, match="read returned ERROR: read did not want to"):
        lifecycle.read(0.0, 0.001)
    assert plugin.calls[-2:] == ["read", "on_error"]
    assert lifecycle.lifecycle_state == state


def test_an_exception_is_an_error_with_its_text():
    lifecycle = active(Recorder({"write": ValueError("bus is gone")}))
    with pytest.raises(HardwareError, match="write returned ERROR: ValueError: bus is gone"):
        lifecycle.write(0.0, 0.001)
    assert lifecycle.lifecycle_state == LifecycleState.FINALIZED


def test_an_exception_while_modes_are_prepared_is_a_refusal():
    class Fails(Recorder):
        def prepare_command_mode_switch(self, modes):
            raise KeyError("wrist")

    plugin = Fails()
    lifecycle = active(plugin)
    with pytest.raises(HardwareError, match="prepare_command_mode_switch returned ERROR: KeyError: 'wrist'"):
        lifecycle.switch_modes({"arm": CommandMode.POSITION})
    assert lifecycle.can_write and lifecycle.modes["arm"] == (CommandMode.NONE,) * 2
    assert "on_error" not in plugin.calls


def test_an_exception_while_modes_are_switched_is_an_error():
    class Fails(Recorder):
        def perform_command_mode_switch(self, modes):
            raise OSError("bus is gone")

    plugin = Fails()
    lifecycle = active(plugin)
    with pytest.raises(HardwareError, match="perform_command_mode_switch returned ERROR: OSError: bus is gone"):
        lifecycle.switch_modes({"arm": CommandMode.POSITION})
    assert lifecycle.lifecycle_state == LifecycleState.FINALIZED
    assert plugin.calls[-1] == "on_error"


@pytest.mark.parametrize("answer", [False, True, 0, None])
@pytest.mark.parametrize("callback", ["on_configure", "read", "switch"])
def test_an_answer_that_is_none_of_the_names_is_an_error(callback, answer):
    """False and 0 equal SUCCESS and OK, and are surely not meant so."""
    plugin = Recorder()
    plugin.answers[callback] = answer
    lifecycle = HardwareLifecycle(plugin, bench())
    text = "perform_command_mode_switch" if callback == "switch" else callback
    with pytest.raises(HardwareError, match=f"{text} returned {answer}"):
        lifecycle.configure()
        lifecycle.activate()
        lifecycle.read(0.0, 0.001)
        lifecycle.switch_modes({"arm": CommandMode.POSITION})
    assert plugin.calls[-1] == "on_error"


def test_states_in_an_array_of_the_plugins_own_are_an_error():
    class Rebinds(Recorder):
        def read(self, time_s, period_s):
            self.state = self.state + 1.0
            return HardwareReturn.OK

    lifecycle = active(Rebinds())
    with pytest.raises(HardwareError, match="read returned ERROR: it replaced `self.state`, which must be written in"):
        lifecycle.read(0.0, 0.001)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (RuntimeError("no names"), "export_state_interfaces; got RuntimeError: no names"),
        (["arm/joint_1/position"], "export_state_interfaces; expected a list of InterfaceDescription; got"),
    ],
)
def test_interfaces_that_cannot_be_had_are_explained(answer, text):
    class Fails(Recorder):
        def export_state_interfaces(self):
            return self._answer("export", answer)

    with pytest.raises(HardwareError, match=text):
        HardwareLifecycle(Fails(), bench())


def test_on_init_that_fails_makes_no_device():
    two_joints = HardwareInfo(name="fan", parts=(arm("fan"),))
    with pytest.raises(HardwareError, match=r"hardware 'fan' \(FanPlugin\): on_init returned FAILURE: a fan is one"):
        HardwareLifecycle(FanPlugin(), two_joints)


def test_shutdown_goes_on_after_a_failed_deactivation():
    plugin = Recorder({"on_deactivate": CallbackReturn.FAILURE})
    lifecycle = active(plugin)
    with pytest.raises(HardwareError, match="on_deactivate returned FAILURE"):
        lifecycle.shutdown()
    assert plugin.calls[-2:] == ["on_deactivate", "on_shutdown"]
    assert lifecycle.lifecycle_state == LifecycleState.FINALIZED


def test_only_changed_modes_reach_the_plugin():
    plugin = Recorder()
    lifecycle = active(plugin)
    lifecycle.switch_modes({"arm": CommandMode.VELOCITY, "gripper": CommandMode.NONE})
    lifecycle.switch_modes({"arm": CommandMode.VELOCITY})
    lifecycle.switch_modes({"arm": [CommandMode.VELOCITY, CommandMode.EFFORT]})
    assert plugin.calls[3:] == [{"arm": ["VELOCITY", "VELOCITY"]}, {"arm": ["VELOCITY", "EFFORT"]}]
    assert lifecycle.modes["arm"] == (CommandMode.VELOCITY, CommandMode.EFFORT)


def test_an_unsupported_mode_changes_nothing():
    lifecycle = active(Recorder())
    text = "part 'gripper' does not support command mode EFFORT, only POSITION"
    with pytest.raises(HardwareError, match=text):
        lifecycle.switch_modes({"gripper": CommandMode.EFFORT, "arm": CommandMode.POSITION})
    assert lifecycle.modes["arm"] == (CommandMode.NONE,) * 2
    assert lifecycle.lifecycle_state == LifecycleState.ACTIVE


def test_an_interface_exported_twice_is_refused():
    class Twice(Recorder):
        def export_state_interfaces(self):
            return super().export_state_interfaces()[:1] * 2

    with pytest.raises(HardwareError, match="export_state_interfaces exports the interface 'arm/joint_1/position' twi"):
        HardwareLifecycle(Twice(), bench())


def test_plugins_are_found_by_name():
    assert load_plugin("mock") is MockPlugin
    assert load_plugin("robot_rt_control.testing.fan_plugin:FanPlugin") is FanPlugin


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "mok",
            "'mok'; expected 'canopen', 'dynamixel', 'franka', 'franka_hand', 'mock', 'mujoco', 'pybullet', 'topic', "
            "'package.module:Class' or 'file.py:Class'",
        ),
        ("/nowhere/driver.py:Driver", "plugin '/nowhere/driver.py:Driver'; expected a Python file; got nothing at"),
        ("no_such_module:Plugin", "cannot import 'no_such_module'; got No module named 'no_such_module'"),
        ("robot_rt_control.testing.fan_plugin:Fan", "module 'robot_rt_control.testing.fan_plugin' has no 'Fan'"),
        ("robot_rt_control.testing.fan_plugin:FanParameters", "expected a subclass of HardwarePlugin"),
    ],
)
def test_a_wrong_plugin_name_is_explained(name, text):
    with pytest.raises(HardwareError, match=text):
        load_plugin(name)


def test_the_example_plugin_runs():
    info = HardwareInfo(name="fan", parts=(arm("fan", 1, supported_modes=ALL_MODES),), parameters={"ohm": 4.0})
    lifecycle = HardwareLifecycle(FanPlugin(), info)
    assert lifecycle.state_interfaces[-1].name == "fan/current"
    lifecycle.configure()
    lifecycle.activate()
    lifecycle.switch_modes({"fan": CommandMode.EFFORT})
    lifecycle.command[2] = 8.0
    for k in range(10000):
        lifecycle.write(k * 0.001, 0.001)
    lifecycle.read(10.0, 0.001)
    assert lifecycle.state[1] == pytest.approx(8.0, rel=1e-3)
    assert lifecycle.state[3] == 2.0


def test_an_unknown_parameter_is_explained():
    info = HardwareInfo(name="fan", parts=(arm("fan", 1),), parameters={"ohms": 4.0})
    text = "hardware 'fan': ohms: unknown key; expected .*did you mean 'ohm'"
    with pytest.raises(HardwareError, match=text):
        HardwareLifecycle(FanPlugin(), info)


@pytest.mark.parametrize("name", ["mujoco", "pybullet"])
def test_an_engine_that_is_not_installed(monkeypatch, name):
    for module in [module for module in sys.modules if module.startswith(f"robot_rt_control.hardware.{name}")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)  # Python's own word for a module that cannot be imported
    text = f"hardware plugin '{name}': cannot import '{name}'; got .* Install it with `pip install {name}`"
    with pytest.raises(HardwareError, match=text):
        load_plugin(name)
