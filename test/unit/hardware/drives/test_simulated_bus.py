"""The simulated drives: what they decode, and that they keep what they are asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.hardware.drives.configure import configure_drives
from robot_rt_control.hardware.drives.exchange import ALL_ENABLED, ENABLE, FOLLOW, NOT_ENABLED, exchange, take_reports
from robot_rt_control.hardware.drives.network import open_network
from robot_rt_control.hardware.drives.simulated_bus import QUIET_EXCHANGES
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.memory.layout import device_dtype
from robot_rt_control.model.workcell.drives import Drives
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.enums import CommandMode, MotorStatus
from robot_rt_control.vocabulary.motor_errors import NO_COMMANDS

FILE = Path(__file__).parents[4] / "config" / "drives.yaml"
DT = 1e-3
Bench = tuple[np.record, np.record]


@pytest.fixture(scope="module")
def bench() -> Callable[..., Bench]:
    """A device on the drives of the shipped workcell with another network, and all motors enabled."""
    workcell = load_workcell(FILE)
    [device] = workcell.devices
    info = hardware_info(workcell, device)

    def make(every: int = 1, **network: float) -> Bench:
        assert device.drives is not None
        content = device.drives.model_dump() | {"every": every}
        content["network"] |= {"loss": 0.0, "time_constant": 0.0, **network}
        drives = Drives.model_validate(content)
        record: np.record = np.zeros(1, device_dtype)[0]
        own = configure_drives(record, info, drives)
        open_network(own, info, drives)
        record.max_age = drives.max_age_ticks
        own.on[0] = ENABLE
        for _ in range(5 * every):
            exchange(own, record, DT)
        assert (own.bus.motors["state"][:7] == MotorStatus.ENABLED).all()
        own.on[0] = FOLLOW
        return own, record

    return make


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-2.9, 2.9), min_size=7, max_size=7))
def test_D2_a_set_point_differs_from_the_command_by_at_most_half_a_count(
    bench: Callable[..., Bench], q: list[float]
) -> None:
    own, device = bench()
    device.mode[0] = pack_modes([CommandMode.POSITION] * 7)
    device.command[0:21:3] = q
    exchange(own, device, DT)
    half = 0.5 / np.abs(own.motors["counts"][:7])
    assert (np.abs(own.bus.motors["target"][:7, 0] - q) <= half * (1 + 1e-6)).all()
    for _ in range(2):
        exchange(own, device, DT)
    assert (np.abs(device.state[0:21:3] - q) <= half * (1 + 1e-6)).all(), "and comes back so"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-30.0, 30.0), min_size=7, max_size=7))
def test_D2_efforts_pass_as_milliamperes(bench: Callable[..., Bench], efforts: list[float]) -> None:
    own, device = bench()
    device.mode[0] = pack_modes([CommandMode.EFFORT] * 7)
    device.command[2:21:3] = efforts
    for _ in range(3):
        exchange(own, device, DT)
    for motor, sent, back in zip(own.motors[:7], efforts, device.state[2:21:3], strict=True):
        assert back == pytest.approx(sent, abs=1.01 / abs(motor.milliamperes))
    turns = own.motors[1]  # joint_2: ratio 100, 0.12 Nm/A, direction -1
    assert turns.milliamperes == pytest.approx(-1000 / 12)


def test_velocities_are_followed_through_more_counts_than_32_bits_have(bench: Callable[..., Bench]) -> None:
    own, device = bench()
    device.mode[0] = pack_modes([CommandMode.VELOCITY] * 7)
    device.command[1:21:3] = 2000.0
    for _ in range(4000):
        exchange(own, device, DT)
    assert abs(own.motors[0].count) > 2**32
    assert device.state[0] == pytest.approx(own.bus.joints.state[0], abs=2000 * DT * 1.1)


def test_a_drive_without_packets_gives_up_and_needs_a_reset(bench: Callable[..., Bench]) -> None:
    own, device = bench()
    own.bus.drives[1].silent = 1
    for _ in range(QUIET_EXCHANGES + 1):
        exchange(own, device, DT)
    own.bus.drives[1].silent = 0
    exchange(own, device, DT)
    assert own.motors["error"][:7].tolist() == [0, 0, 0, NO_COMMANDS, NO_COMMANDS, NO_COMMANDS, 0]
    own.clear[0], own.on[0] = 10, ENABLE
    for _ in range(6):
        exchange(own, device, DT)
    assert own.motors["error"][:7].tolist() == [0] * 7
    assert (own.bus.motors["state"][:7] == MotorStatus.ENABLED).all()


def test_D4_a_motor_that_is_not_enabled_follows_nothing(bench: Callable[..., Bench]) -> None:
    own, device = bench()
    own.bus.motors[2].state = MotorStatus.SWITCH_ON_DISABLED
    device.mode[0] = pack_modes([CommandMode.POSITION] * 7)
    start = device.state[6]
    device.command[0:21:3] = 0.5
    for _ in range(50):
        exchange(own, device, DT)
    assert device.state[6] == start and device.state[0] == pytest.approx(0.5, abs=1e-5)
    assert own.bus.motors[2].state == MotorStatus.READY_TO_SWITCH_ON


def test_D11_a_drive_interpolates_until_the_next_packet(bench: Callable[..., Bench]) -> None:
    own, device = bench(every=4)
    device.mode[0] = pack_modes([CommandMode.POSITION] * 7)
    device.command[0:21:3] = device.state[0:21:3] + 0.004
    start = float(device.state[0])
    for _ in range(2):
        exchange(own, device, DT)
        while own.ticks != 0:
            exchange(own, device, DT)
    assert device.state[1] == pytest.approx(1.0, rel=0.01), "0.004 rad in 4 ms, without a step"
    assert device.state[0] == pytest.approx(start + 0.004, abs=1e-5)


@pytest.mark.parametrize(
    ("status", "error"), [(math.nan, 0.0), (math.inf, 0.0), (-1.0, 0.0), (4.0, math.nan), (4.0, 1e30)]
)
def test_a_report_that_cannot_be_one_counts_as_unknown(
    bench: Callable[..., Bench], status: float, error: float
) -> None:
    own, device = bench()
    take_reports(own, device)
    assert (own.part_state[0], own.silent_joint[0]) == (ALL_ENABLED, -1)
    report = own.motors[5].report
    device.state[report], device.state[report + 1] = error, status
    take_reports(own, device)
    assert (own.part_state[0], own.silent_joint[0], own.age[0]) == (NOT_ENABLED, 5, device.max_age + 1)
