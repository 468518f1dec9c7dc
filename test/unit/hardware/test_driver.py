"""The driver process: whole life, silence of the executor, signals, refusals."""

import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.hardware.driver import Driver, main
from robot_rt_control.hardware.image import read_state, write_command
from robot_rt_control.hardware.plugin import HardwareInfo, HardwareReturn
from robot_rt_control.hardware.process_image import ProcessImage
from robot_rt_control.memory.layout import device_dtype
from robot_rt_control.memory.shared_memory import segment_path
from robot_rt_control.testing.devices import arm
from robot_rt_control.testing.fan_plugin import FanPlugin
from robot_rt_control.vocabulary.enums import CommandMode, DriverMode, ImageError
from robot_rt_control.vocabulary.errors import ChannelError, HardwareError

WORKCELL = Path(__file__).resolve().parents[3] / "config" / "arm7.yaml"
DT = 0.001


@pytest.fixture(autouse=True)
def ordinary_priority(monkeypatch):
    """The command line is called in this process, which must not go before all others from then on."""
    monkeypatch.setattr("robot_rt_control.hardware.driver.raise_urgency", lambda: "")


@pytest.fixture
def name():
    chosen = f"rrc_test_{uuid.uuid4().hex[:12]}"
    yield chosen
    segment_path(chosen).unlink(missing_ok=True)


class Executor:
    """The executor's side of an image, by hand."""

    def __init__(self, name):
        self.image = ProcessImage.attach(name)
        self.device = np.zeros(1, device_dtype)[0]
        self.image.connect_device(self.device)

    def state(self, interface, timeout_s=60.0):
        """The next state that is published."""
        deadline = time.monotonic() + timeout_s
        while read_state(self.image.address, self.device) == 0:
            assert time.monotonic() < deadline, "the driver publishes nothing"
            time.sleep(DT / 4)
        return float(self.device.state[self.image.manifest.state.index(interface)])

    def wait_for(self, mode, timeout_s=60.0):
        deadline = time.monotonic() + timeout_s
        while int(self.image.record.driver_mode) != mode:
            assert time.monotonic() < deadline, f"the driver does not become {mode.name}"
            time.sleep(DT)

    def write(self):
        write_command(self.image.address, self.device)


def until(happened):
    """Wait until something has happened."""
    deadline = time.monotonic() + 60.0
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(DT)


@pytest.fixture
def start(name):
    """Start a driver process on the mock device and wait for its image."""
    processes = []

    def launch(*arguments):
        command = [sys.executable, "-m", "robot_rt_control.hardware.driver", str(WORKCELL), "sim", "--image", name]
        process = subprocess.Popen([*command, "--hardware", "mock", *arguments], stderr=subprocess.PIPE, text=True)
        processes.append(process)
        return process

    def wait(process, timeout_s=60.0):
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise AssertionError(process.stderr.read())
            try:
                executor = Executor(name)
                executor.state("arm/joint_1/position")
                break
            except ChannelError:
                time.sleep(0.02)
        else:
            raise AssertionError("the driver did not come up")
        executor.write()  # as each executor begins: nothing is enabled
        until(lambda: executor.image.record.state_error == 0)
        return executor

    yield lambda *arguments: (lambda process: (process, wait(process)))(launch(*arguments))
    for process in processes:
        process.kill()
        process.communicate()


def test_a_driver_process_brakes_when_commands_stop_and_ends_on_sigterm(name, start):
    process, executor = start("--silence", "1000")
    joint = executor.image.manifest.command.index("arm/joint_1/velocity")
    executor.device.enabled, executor.device.mode[0] = 1, CommandMode.VELOCITY
    executor.device.command[joint] = 0.5
    until(lambda: executor.write() or executor.state("arm/joint_1/velocity") == 0.5)
    # ... and now the executor says nothing more.
    executor.wait_for(DriverMode.HOLDING)
    until(lambda: executor.state("arm/joint_1/velocity") == 0.0)
    stopped_at = executor.state("arm/joint_1/position")
    assert executor.image.record.state_error == ImageError.EXECUTOR_SILENT
    executor.write()
    for _ in range(20):
        assert executor.state("arm/joint_1/position") == stopped_at
    executor.device.enabled = 0
    executor.write()
    until(lambda: executor.image.record.state_error == 0)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "no command for 1001 periods: bringing the device to rest" in errors
    assert "at rest" in errors
    assert not segment_path(name).exists()
    assert not executor.image.driver_alive()


class StallingPlugin(FanPlugin):
    """Its cycle number 3 takes twelve periods and a half."""

    calls = 0
    over_at = 0.0

    def write(self, time_s, period_s):
        self.calls += 1
        if self.calls == 3:
            time.sleep(12.5 * period_s)
            self.over_at = time.monotonic()
        return super().write(time_s, period_s)


def test_I19_cycles_that_were_lost_are_left_out(name):
    plugin = StallingPlugin()
    driver = Driver(plugin, HardwareInfo(name="fan", period_s=0.002, parts=(arm("fan", 1),)), image_name=name)
    driver.start()
    begin = time.monotonic()
    deadline = begin
    for _ in range(3):
        deadline = driver._cycle_at(deadline)
    assert deadline >= plugin.over_at, "the next cycle comes after the stall, not at once"
    assert (deadline - begin) / 0.002 == pytest.approx(round((deadline - begin) / 0.002)), "in step with those before"
    assert driver.overruns >= 1 and driver.cycles == 3
    driver.close()


def test_on_sigterm_it_brakes_first(name, start):
    process, executor = start("--silence", "100000")
    joint = executor.image.manifest.command.index("arm/joint_1/velocity")
    executor.device.enabled, executor.device.mode[0] = 1, CommandMode.VELOCITY
    executor.device.command[joint] = 0.5
    executor.write()
    executor.wait_for(DriverMode.FOLLOWING)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert executor.image.record.driver_mode == DriverMode.HOLDING
    assert executor.image.record.state_error == ImageError.DRIVER_ENDING
    assert executor.image.record.state[executor.image.manifest.state.index("arm/joint_1/velocity")] == 0.0


def test_a_killed_driver_leaves_an_image_that_its_successor_replaces(name, start):
    first, executor = start()
    first.kill()
    first.wait()
    assert segment_path(name).exists()
    assert not executor.image.driver_alive()
    _, successor = start()
    assert successor.image.record.epoch > executor.image.record.epoch


def test_a_bounded_run(name, capfd):
    assert main([str(WORKCELL), "sim", "--image", name, "--hardware", "mock", "--cycles", "50"]) == 0
    assert not segment_path(name).exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([str(WORKCELL), "simm"], "error: workcell 'arm7_cell': device 'simm'; expected .*did you mean 'sim'"),
        ([str(WORKCELL), "sim", "--hardware", "no.such:Plugin"], "error: .*expected a configuration for the hardware"),
        (["/no/such/workcell.yaml", "sim"], "error: .*workcell.yaml"),
    ],
)
def test_what_is_refused_is_said_on_stderr(name, capfd, arguments, text):
    assert main([*arguments, "--image", name, "--cycles", "1"]) == 1
    assert re.search(text, capfd.readouterr().err)
    assert not segment_path(name).exists()


def test_help_says_what_it_is(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert "--image NAME" in text
    assert "default: 50" in text


def test_a_second_driver_is_refused(name):
    info = HardwareInfo(name="bench", parts=(arm(),))
    first = Driver("mock", info, image_name=name)
    with pytest.raises(ChannelError, match="is owned by a running process"):
        Driver("mock", info, image_name=name)
    first.close()
    Driver("mock", info, image_name=name).close()


def test_a_failing_device_ends_the_run_and_is_published_first(name):
    class Failing(FanPlugin):
        def write(self, time_s, period_s):
            if time_s > 0.01:
                self.reason = "fuse blown"
                return HardwareReturn.ERROR
            return super().write(time_s, period_s)

    driver = Driver(Failing(), HardwareInfo(name="fan", parts=(arm("fan", 1),)), image_name=name)
    executor = Executor(name)
    driver.start()
    with pytest.raises(HardwareError, match="write returned ERROR: fuse blown"):
        driver.run(1000)
    assert read_state(executor.image.address, executor.device) == -1
    assert executor.image.record.state_error == ImageError.DEVICE
    assert driver.cycles == 12
    executor.image.close()
    driver.close()


def test_the_period_is_kept_on_the_average(name):
    driver = Driver("mock", HardwareInfo(name="bench", period_s=0.005, parts=(arm(),)), image_name=name)
    driver.start()
    started = time.monotonic()
    driver.run(100)
    # Never faster than the clock; slower only by what a busy machine costs.
    assert time.monotonic() - started >= 100 * 0.005 - 0.006
    assert driver.cycles >= 100
    driver.close()


@pytest.fixture
def cycling(name):
    """A driver that cycles in a thread of its own."""
    driver = Driver("mock", HardwareInfo(name="sim", period_s=DT, parameters={}, parts=(arm("arm"),)), image_name=name)
    driver.start()
    thread = threading.Thread(target=driver.run)
    thread.start()
    yield driver, thread
    driver.stop()
    thread.join()
    driver.close()


def test_calls_are_made_by_the_thread_that_cycles(cycling):
    driver, thread = cycling
    assert driver.call(threading.get_ident) == thread.ident
    before = driver.cycles
    assert driver.call(lambda: driver.cycles) >= before


def test_a_call_that_fails_fails_for_its_caller_alone(cycling):
    driver, _ = cycling
    with pytest.raises(ZeroDivisionError):
        driver.call(lambda: 1 // 0)
    assert driver.call(lambda: "still there") == "still there"


def test_a_slow_call_is_waited_for(cycling):
    driver, _ = cycling

    def slow():
        time.sleep(0.2)
        return "done"

    assert driver.call(slow, timeout_s=0.1) == "done"


def test_a_driver_that_does_not_cycle_takes_no_call(name):
    driver = Driver("mock", HardwareInfo(name="sim", period_s=DT, parameters={}, parts=(arm("arm"),)), image_name=name)
    try:
        with pytest.raises(HardwareError) as caught:
            driver.call(lambda: None, timeout_s=0.05)
        assert str(caught.value) == "hardware 'sim' took no call for 0.05 s. Is its driver running?"
    finally:
        driver.close()
