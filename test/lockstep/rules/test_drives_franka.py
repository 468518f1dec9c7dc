"""D24 to D29: an FR3 over a scripted stand-in for its library, hosted as in its driver process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import fake_franka
import numpy as np
import pytest
from fake_franka import GRAVITY, START, Errors, Robot, RobotMode

from robot_rt_control.hardware.device_host import DeviceHost
from robot_rt_control.hardware.franka import plugin as franka
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.image import read_state, write_command
from robot_rt_control.hardware.info import HardwareInfo
from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.memory.layout import device_dtype
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.enums import CommandMode, DriverMode, ImageError
from robot_rt_control.vocabulary.errors import HardwareError
from robot_rt_control.vocabulary.franka_errors import CODES
from robot_rt_control.vocabulary.motor_errors import motor_error_remedy, motor_error_text

FILE = Path(__file__).resolve().parents[3] / "config" / "fr3.yaml"
POSITION, VELOCITY, EFFORT = CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT


class Cell:
    """The driver's host of an FR3, and what the loop does beside it."""

    def __init__(self, info: HardwareInfo) -> None:
        self.host = DeviceHost("franka", info)
        self.device = np.zeros(1, device_dtype)[0]
        self.host.image.connect_device(self.device)
        self.host.activate()
        self.answers = True
        """Whether the loop answers each state at once."""
        self.mode = CommandMode.NONE
        self.q = np.array(START)
        """What the loop commands [rad, rad/s or Nm]."""
        self.host.image.record.is_clock = 1

    @property
    def robot(self) -> Robot:
        return Robot.made[-1]

    @property
    def plugin(self) -> Any:
        return self.host.plugin

    @property
    def error(self) -> tuple[ImageError, int]:
        word = int(self.host.image.record.state_error)
        return ImageError(word & 0xFF), word >> 8

    def tick(self) -> None:
        """The loop's tick: read the state, write the command for it."""
        read_state(self.device.image, self.device)
        place = {POSITION: 0, VELOCITY: 1, EFFORT: 2}.get(self.mode)
        self.device.enabled = place is not None
        self.device.mode[0] = 0 if place is None else pack_modes((self.mode,) * 7)
        self.device.command[:21] = 0.0
        if place is not None:
            self.device.command[place:21:3] = self.q
        write_command(self.device.image, self.device)

    def cycle(self, n: int = 1) -> None:
        for _ in range(n):
            self.host.cycle_read(0.0, 1e-3)
            if self.answers:
                self.tick()
            self.host.cycle_write(0.0, 1e-3)


@pytest.fixture
def info(monkeypatch: pytest.MonkeyPatch) -> HardwareInfo:
    module = ModuleType("pylibfranka")
    module.__dict__.update(vars(fake_franka))
    monkeypatch.setitem(sys.modules, "pylibfranka", module)
    monkeypatch.setattr(franka, "require_robot", lambda address, realtime: None)
    Robot.made, Robot.refuses, Robot.flange = [], {}, fake_franka.FLANGE
    workcell = load_workcell(FILE)
    return hardware_info(workcell, workcell.devices[0])


@pytest.fixture
def cell(info: HardwareInfo) -> Iterator[Cell]:
    one = Cell(info)
    yield one
    one.host.shutdown()


def following(cell: Cell, mode: CommandMode = POSITION) -> Cell:
    cell.mode = mode
    cell.q = np.array(START) if mode == POSITION else np.zeros(7)
    cell.cycle(5)
    assert cell.host.mode == DriverMode.FOLLOWING
    return cell


# --- D24: the command of its state -------------------------------------------------------------------


def test_D24_the_command_that_leaves_is_that_of_the_state_just_published(cell: Cell) -> None:
    following(cell)
    for i in range(50):
        cell.q[4] = 1e-6 * i * i
        cell.cycle()
        assert cell.robot.sent[-1][4] == cell.q[4], "in the same cycle"
    assert cell.host.late_commands == 0


def test_D24_the_driver_waits_for_it_and_is_woken(info: HardwareInfo) -> None:
    cell = following(Cell(info))
    cell.plugin.reply_s = 20.0
    cell.answers = False
    for i in range(20):
        cell.q[4] = 1e-6 * i * i
        published = threading.Event()
        publish = cell.host._publish
        cell.host._publish = lambda *a, publish=publish, published=published: (publish(*a), published.set())
        cell.host.cycle_read(0.0, 1e-3)
        cell.host._publish = publish
        # The loop is another process, and needs no interpreter.
        cell.tick()
        cell.host.cycle_write(0.0, 1e-3)
        assert cell.robot.sent[-1][4] == cell.q[4]
    assert cell.host.late_commands == 0
    cell.host.shutdown()


def test_D24_late_commands_are_counted_and_the_motion_goes_on_then_brakes(cell: Cell) -> None:
    following(cell)
    cell.plugin.reply_s = 0.0
    for i in range(300):
        cell.q[4] = 0.1 * (1e-3 * i) ** 2 / 2 * 4
        cell.cycle()
    speed = cell.robot.dq[4]
    cell.answers = False
    cell.cycle(10)
    assert cell.host.late_commands == 10
    assert cell.robot.dq[4] == pytest.approx(speed, rel=0.02), "as before"
    cell.cycle(30)
    assert cell.robot.dq[4] < 0.7 * speed, "then it brakes, before the executor counts as dead"
    cell.answers = True
    cell.q[4] = cell.robot.q[4]
    cell.cycle(300)
    assert cell.host.mode == DriverMode.FOLLOWING and abs(cell.robot.dq).max() < 1e-6


def test_D24_states_that_were_not_read_are_counted(cell: Cell) -> None:
    following(cell)
    cell.robot.periods = 4
    cell.cycle()
    assert cell.plugin.missed == 3
    index = [i.name for i in cell.host.lifecycle.state_interfaces].index("robot_state/missed_states")
    assert cell.host.lifecycle.state[index] == 3.0


def test_D24_states_that_are_missed_while_a_motion_ends_are_counted_too(cell: Cell) -> None:
    following(cell, VELOCITY)
    cell.q[2] = 0.3
    cell.cycle(300)
    cell.robot.periods = 4
    cell.host.lifecycle.switch_modes({"arm": CommandMode.NONE})
    assert cell.plugin.missed == 3


def test_D24_beside_another_clock_nothing_is_awaited(cell: Cell) -> None:
    following(cell)
    cell.host.image.record.is_clock = 0
    cell.plugin.reply_s, cell.answers = 60.0, False
    cell.cycle(3)
    assert cell.host.late_commands == 0


# --- D26: modes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "started"), [(POSITION, "position JointImpedance"), (EFFORT, "effort"),
                                               (VELOCITY, "velocity JointImpedance")])  # fmt: skip
def test_D26_a_mode_begins_a_control_and_its_end_finishes_it(cell: Cell, mode: CommandMode, started: str) -> None:
    following(cell, mode)
    assert cell.robot.calls[-1] == started
    cell.mode = CommandMode.NONE
    cell.cycle(50)
    assert cell.robot.calls[-1] == "finished" and cell.robot.control is None
    assert cell.host.mode == DriverMode.HOLDING and cell.error == (ImageError.NONE, 0)


def test_D26_a_change_at_rest_ends_the_old_control_and_begins_the_new_one(cell: Cell) -> None:
    following(cell)
    cell.mode, cell.q = EFFORT, np.zeros(7)
    cell.cycle(3)
    assert cell.robot.calls[-3:] == ["position JointImpedance", "finished", "effort"]


def test_D26_a_change_in_motion_is_refused_with_the_reason(cell: Cell, caplog: pytest.LogCaptureFixture) -> None:
    following(cell, VELOCITY)
    cell.q[2] = 0.5
    cell.cycle(300)
    cell.mode, cell.q = EFFORT, np.zeros(7)
    cell.cycle()
    cell.cycle()
    assert cell.error[0] == ImageError.MODE_REFUSED
    assert "the robot changes its command mode at rest only, and a joint moves at 0.5" in caplog.text
    cell.mode = CommandMode.NONE
    cell.cycle(600)
    assert abs(cell.robot.dq).max() < 1e-6 and cell.host.mode == DriverMode.HOLDING


def test_D26_from_efforts_the_robot_is_brought_to_rest_first(cell: Cell) -> None:
    following(cell, EFFORT)
    cell.q[3] = 2.0
    cell.cycle(100)
    assert cell.robot.dq[3] > 0.1
    cell.mode, cell.q = POSITION, cell.robot.q.copy()
    cell.cycle()
    assert cell.robot.calls[-2:] == ["finished", "position JointImpedance"]
    sent = np.array([s for s in cell.robot.sent])
    assert np.abs(np.diff(sent[: len(sent) - 2], axis=0)).max() <= 0.9 + 1e-9, (
        "the efforts that brake have their rate, too"
    )


@pytest.mark.parametrize("mode", [POSITION, VELOCITY])
def test_D26_a_robot_that_efforts_have_braked_does_not_spring_to_the_loops_command(
    cell: Cell, mode: CommandMode
) -> None:
    following(cell, EFFORT)
    cell.q[3] = 2.0
    cell.cycle(300)
    speed = float(cell.robot.dq[3])
    assert speed > 0.4
    at = cell.robot.q.copy()
    cell.mode = mode
    fastest = 0.0
    for i in range(1500):  # the loop brakes from where it was
        t = 1e-3 * i
        slower = max(speed - 3.0 * t, 0.0)
        way = np.zeros(7)
        way[3] = (speed**2 - slower**2) / 6.0 if mode == POSITION else slower
        cell.q = at + way if mode == POSITION else way
        cell.cycle()
        fastest = max(fastest, float(np.abs(cell.robot.dq).max()))
    assert fastest <= 0.1 + 1e-6
    if mode == POSITION:
        assert np.abs(cell.robot.q - cell.q).max() < 1e-4, "it comes to it"


@pytest.mark.parametrize("mode", [POSITION, VELOCITY])
def test_D26_a_robot_that_lags_behind_a_loop_at_rest_changes_its_mode_nevertheless(
    cell: Cell, mode: CommandMode
) -> None:
    following(cell, mode)
    cell.q[2] += 0.0 if mode == POSITION else 0.5
    for _ in range(300):
        cell.q[2] += 0.0005 if mode == POSITION else 0.0
        cell.cycle()
    if mode == VELOCITY:
        cell.q[2] = 0.0
    cell.cycle(2)
    assert cell.robot.dq[2] > 0.4
    cell.mode = VELOCITY if mode == POSITION else POSITION
    at = cell.robot.q.copy()
    cell.q = np.zeros(7) if mode == POSITION else at
    cell.cycle()
    assert cell.error == (ImageError.NONE, 0) and abs(cell.robot.dq).max() < 0.01
    cell.cycle(1500)
    assert cell.host.mode == DriverMode.FOLLOWING
    assert mode == POSITION or np.abs(cell.robot.q - at).max() < 1e-4, "it comes to where the loop holds"


def test_D26_what_is_enabled_while_the_robot_brakes_begins_at_rest_and_comes_slowly(cell: Cell) -> None:
    """The loop is at rest, and what it has measured is old: the robot lags."""
    following(cell, VELOCITY)
    cell.q[2] = 0.5
    cell.cycle(300)
    at = cell.robot.q.copy()
    cell.mode = CommandMode.NONE
    cell.cycle(5)
    assert cell.robot.dq[2] > 0.4, "it brakes"
    cell.mode, cell.q = POSITION, at
    fastest = 0.0
    farthest = 0.0
    for _ in range(2000):
        cell.cycle()
        farthest, fastest = max(farthest, float(cell.robot.q[2] - at[2])), min(fastest, float(cell.robot.dq[2]))
    assert farthest > 0.01, "it has come to rest by its ramp"
    assert cell.error == (ImageError.NONE, 0) and cell.host.mode == DriverMode.FOLLOWING
    assert fastest >= -0.1 - 1e-6 and np.abs(cell.robot.q - at).max() < 1e-4


def test_D26_joints_in_different_modes_are_refused(cell: Cell) -> None:
    modes = (POSITION,) * 6 + (EFFORT,)
    assert cell.plugin.prepare_command_mode_switch({"arm": modes}) != 0
    assert "one command mode for all joints" in cell.plugin.reason


# --- D27: it stops by itself ---------------------------------------------------------------------------


def stopped(cell: Cell) -> tuple[str, ImageError]:
    error, code = cell.error
    return next((name for name, c in CODES.items() if c == code), ""), error


@pytest.mark.parametrize("mode", [POSITION, VELOCITY, EFFORT])
def test_D27_a_reflex_faults_with_the_robots_own_name_and_comes_back_by_clear_and_enable(
    cell: Cell, mode: CommandMode
) -> None:
    following(cell, mode)
    robot = cell.robot
    robot.raises = fake_franka.ControlException('libfranka: Move command aborted: ["joint_reflex"]')
    robot.mode, robot.errors = RobotMode.Reflex, Errors("joint_reflex")
    cell.cycle()
    cell.cycle()
    assert cell.host.failure is None, "the driver goes on"
    assert stopped(cell) == ("joint_reflex", ImageError.STOPPED)
    code = cell.error[1]
    assert "joint_reflex" in motor_error_text(code) and "collision" in motor_error_remedy(code)
    cell.mode = CommandMode.NONE  # the executor has faulted the part
    cell.cycle(3)
    assert cell.error == (ImageError.NONE, 0), "so that the fault can be cleared"
    assert "recovery" not in robot.calls, "nobody has cleared it"
    cell.device.clears += 1
    cell.cycle()
    assert robot.calls[-1] == "recovery" and cell.plugin.stopped == 0
    following(cell)
    assert robot.calls[-1] == "position JointImpedance"


@pytest.mark.parametrize(("mode", "name"), [(RobotMode.UserStopped, "user_stopped"), (RobotMode.Guiding, "guiding"),
                                            (RobotMode.Other, "not_ready")])  # fmt: skip
def test_D27_a_mode_without_motion_faults_and_is_not_enabled_before_it_is_over(
    cell: Cell, mode: RobotMode, name: str
) -> None:
    following(cell)
    robot = cell.robot
    robot.raises, robot.mode = fake_franka.ControlException("libfranka: motion aborted by user"), mode
    cell.cycle(3)
    assert stopped(cell) == (name, ImageError.STOPPED)
    cell.mode = CommandMode.NONE
    cell.cycle(3)
    Robot.refuses["recovery"] = fake_franka.CommandException("libfranka: command rejected: user stop pressed")
    cell.device.clears += 1
    cell.cycle(2)
    assert stopped(cell) == (name, ImageError.STOPPED), "again: it has not been released"
    Robot.refuses.clear()
    robot.mode = RobotMode.Idle
    cell.cycle(3)
    cell.device.clears += 1
    cell.cycle(2)
    following(cell)


def test_D27_a_lost_network_is_a_fault_and_unknown_states_until_it_is_connected_anew(cell: Cell) -> None:
    following(cell)
    cell.robot.raises = fake_franka.NetworkException("libfranka: UDP receive: Timeout")
    cell.cycle(2)
    assert stopped(cell) == ("network_lost", ImageError.STOPPED)
    assert np.isnan(cell.host.lifecycle.state[:21]).all()
    cell.mode = CommandMode.NONE
    Robot.refuses["connect"] = fake_franka.NetworkException("libfranka: Connection timeout")
    cell.cycle(2)
    cell.device.clears += 1
    cell.cycle(3)
    assert len(Robot.made) == 1 and np.isnan(cell.host.lifecycle.state[:21]).all()
    Robot.refuses.clear()
    cell.device.clears += 1
    cell.cycle(3)
    assert len(Robot.made) == 2 and np.isfinite(cell.host.lifecycle.state[:21]).all()
    following(cell)


def test_D27_a_robot_that_refuses_a_motion_faults_the_part(cell: Cell) -> None:
    Robot.refuses["start"] = fake_franka.CommandException(
        "libfranka: Move command rejected: command not possible in the current mode!"
    )
    cell.mode = POSITION
    cell.cycle(4)
    assert stopped(cell) == ("not_ready", ImageError.STOPPED)


# --- D28: refused at the start ---------------------------------------------------------------------------


def test_D28_what_the_file_gives_is_set(info: HardwareInfo) -> None:
    parameters = {
        **info.parameters,
        "joint_impedance": [3000.0] * 7,
        "cartesian_impedance": [1000.0] * 3 + [100.0] * 3,
        "load": {"mass": 0.5, "center": [0.0, 0.0, 0.1], "inertia": [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]},
        "end_effector": {"position": [0.1, 0.2, 0.3]},
        "stiffness_frame": {"position": [0.0, 0.0, 0.05]},
    }
    cell = Cell(replace(info, parameters=parameters))
    found = cell.robot.settings
    assert found["load"] == (0.5, [0.0, 0.0, 0.1], [1.0, 0.1, 0.2, 0.1, 2.0, 0.3, 0.2, 0.3, 3.0])
    assert found["joint_impedance"] == ([3000.0] * 7,)
    assert found["cartesian_impedance"] == ([1000.0] * 3 + [100.0] * 3,)
    assert found["end_effector"][0][12:15] == [0.1, 0.2, 0.3], "column by column"
    assert found["collision"][1] == [40.0, 40.0, 36.0, 36.0, 32.0, 28.0, 24.0]
    cell.host.shutdown()


@pytest.mark.parametrize("mode", [RobotMode.UserStopped, RobotMode.Guiding, RobotMode.Reflex, RobotMode.Move])
def test_D28_what_the_file_gives_is_set_before_the_robot_moves_in_whatever_mode_it_is_found(
    info: HardwareInfo, monkeypatch: pytest.MonkeyPatch, mode: RobotMode
) -> None:
    monkeypatch.setattr(Robot, "first_mode", mode)
    cell = Cell(info)
    cell.cycle(3)
    assert not cell.robot.settings
    if mode != RobotMode.Reflex:  # whose end is the automatic error recovery's
        cell.robot.mode = RobotMode.Idle
    cell.device.clears += 1
    cell.cycle(3)
    following(cell)
    assert set(cell.robot.settings) == {"collision", "load"}
    cell.host.shutdown()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"joint_impedance": [3000.0] * 6}, "joint_impedance"),
        ({"joint_impedance": [20000.0] * 7}, "less than or equal to 14250|at most 14250|14250"),
        ({"cartesian_impedance": [5.0] * 6}, "10"),
        ({"collision": {"lower_torque": [50.0] * 7}}, "upper thresholds that are at least the lower ones"),
        ({"reply": 0.002, "realtime": "enforce"}, "at most 0.0009 s with realtime: enforce"),
        ({"speed": 1.0}, "speed"),
    ],
)
def test_D28_wrong_parameters_are_refused(info: HardwareInfo, change: dict[str, Any], text: str) -> None:
    with pytest.raises(HardwareError, match=text):
        Cell(replace(info, parameters={**info.parameters, **change}))
    assert not Robot.made


def test_D28_limits_beyond_the_robots_are_refused_with_the_joint(info: HardwareInfo) -> None:
    arm = info.parts[0]
    fast = replace(arm, limits=replace(arm.limits, acceleration=(4.7, 9.0, *arm.limits.acceleration[2:])))
    text = "joint 'fr3_joint2': system limit acceleration; expected at most 2.0680, which an FR3 permits at all"
    with pytest.raises(HardwareError, match=text):
        Cell(replace(info, parts=(fast, *info.parts[1:])))


def test_D28_a_urdf_with_other_joints_is_refused(info: HardwareInfo) -> None:
    moved = list(fake_franka.FLANGE)
    moved[12] += 0.05
    Robot.flange = tuple(moved)
    with pytest.raises(HardwareError, match="URDF of part 'arm'; expected the robot's own joints: its flange is at"):
        Cell(info)
    assert not Robot.made[-1].settings, "nothing was set"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("libfranka: Connection to FCI refused. Please install FCI feature or enable FCI mode in Desk.",
         "expected an active FCI.*Activate FCI"),
        ("libfranka: Incompatible library version (server version: 5, library version: 10).",
         "expected an FR3 with the system version.*A Panda .* cannot be used"),
        ("libfranka: Connection error: No route to host", "a robot that answers.*Check address and cable"),
        ("libfranka: Running kernel does not have realtime capabilities.", "PREEMPT_RT"),
    ],
)  # fmt: skip
def test_D28_a_robot_that_lets_nobody_in_says_what_to_do(info: HardwareInfo, error: str, text: str) -> None:
    Robot.refuses["connect"] = fake_franka.NetworkException(error)
    with pytest.raises(HardwareError, match=f"Franka at '127.0.0.1'; .*{text}"):
        Cell(info)


def test_D28_a_setting_that_the_robot_refuses_is_named(info: HardwareInfo) -> None:
    Robot.refuses["collision"] = fake_franka.CommandException("libfranka: Set Collision Behavior command rejected")
    with pytest.raises(HardwareError, match="parameter 'collision'; expected one that it takes; got libfranka: Set"):
        Cell(info)


def test_D28_another_period_and_other_parts_are_refused(info: HardwareInfo) -> None:
    with pytest.raises(HardwareError, match="period; expected 0.001 s; got 0.002 s"):
        Cell(replace(info, period_s=0.002))
    with pytest.raises(HardwareError, match="parts; expected one arm with 7 joints"):
        Cell(replace(info, parts=info.parts[1:]))


def test_D28_without_the_library_it_is_named(info: HardwareInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pylibfranka", None)
    with pytest.raises(HardwareError, match="hardware plugin 'franka'; expected the package pylibfranka"):
        Cell(info)
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    with pytest.raises(HardwareError, match="wheels for Python up to 3.12"):
        Cell(info)


# --- D29: efforts without gravity ---------------------------------------------------------------------------


def test_D29_efforts_are_without_gravity_on_both_sides(cell: Cell) -> None:
    cell.cycle()
    np.testing.assert_allclose(cell.host.lifecycle.state[2:21:3], np.ones(7), atol=1e-12)
    assert not np.allclose(GRAVITY, 0.0)
    following(cell, EFFORT)
    cell.q = np.full(7, 0.5)
    cell.cycle(3)
    np.testing.assert_allclose(cell.robot.sent[-1], 0.5)


def test_D29_the_wrench_is_what_the_environment_exerts(cell: Cell) -> None:
    cell.cycle()
    names = [interface.name for interface in cell.host.lifecycle.state_interfaces]
    at = names.index("wrench/force.x")
    np.testing.assert_allclose(cell.host.lifecycle.state[at : at + 6], [-1, -2, -3, -4, -5, -6])
