"""What an exchange with drives costs: 32 motors on four drives with eight each, on the simulated network."""

from __future__ import annotations

import numpy as np

from bench.cells import in_file
from bench.report import Goal, Options, Report, microseconds
from bench.tick_compute import in_realtime_thread
from bench.timed_ticks import BIN_NS, BINS, distribution
from robot_rt_control.hardware.drives.bus_exchange import do_tx_rx
from robot_rt_control.hardware.drives.exchange import (
    ENABLE,
    FOLLOW,
    analyze_packets,
    exchange,
    generate_packets,
    write_states,
)
from robot_rt_control.hardware.drives.network import open_network
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.memory.clock import now_ns
from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.vocabulary.enums import CommandMode

MOTORS, EACH = 32, 8
PERIOD = 0.0005
_AIM_NS = 10_000


def drives_cell() -> Workcell:
    """Four parts with eight joints each, each on a drive."""
    text = f"name: drives_bench\nperiod: {PERIOD}\ndefault_hardware: drives\nparts:\n"
    joint = "{{name: j{}, type: continuous, velocity: 2.0, effort: 100}}"
    motor = "{{joint: part_{}.j{}, gear_ratio: 100, counts: 65536, torque_constant: 0.1}}"
    drives = []
    for i in range(MOTORS // EACH):
        joints = ", ".join(joint.format(j) for j in range(EACH))
        text += f"  part_{i}: {{kind: base, device: cabinet, joints: [{joints}]}}\n"
        motors = ", ".join(motor.format(i, j) for j in range(EACH))
        drives.append(f"{{name: drive_{i}, kind: servo_8, node: {i + 1}, motors: [{motors}]}}")
    text += f"devices:\n  cabinet: {{drives: {{network: {{kind: test_bus}}, drives: [{', '.join(drives)}]}}}}\n"
    return in_file(text)


@realtime
def _run(drives, device, dt, n, whole, network, longest):
    """Histograms of the whole exchange, and of the simulated network in it."""
    for _ in range(n):
        start = now_ns()
        generate_packets(drives, device)
        sent = now_ns()
        do_tx_rx(drives, dt)
        arrived = now_ns()
        analyze_packets(drives, dt)
        write_states(drives, device)
        ended = now_ns()
        own = ended - start - (arrived - sent)
        whole[min(own // BIN_NS, BINS - 1)] += 1
        network[min((arrived - sent) // BIN_NS, BINS - 1)] += 1
        longest[0] = max(longest[0], own)
        longest[1] = max(longest[1], arrived - sent)


def measure(options: Options) -> Report:
    workcell = drives_cell()
    world = World(workcell)
    [device] = workcell.devices
    assert device.drives is not None
    record, drives = world.memory.devices[0], world.drives[device.name]
    open_network(drives, hardware_info(workcell, device), device.drives)
    drives.on[: MOTORS // EACH] = ENABLE
    for _ in range(10):
        exchange(drives, record, PERIOD)
    drives.on[: MOTORS // EACH] = FOLLOW
    record.mode[: MOTORS // EACH] = pack_modes([CommandMode.POSITION] * EACH)
    record.command[: 3 * MOTORS : 3] = np.linspace(-1, 1, MOTORS)
    own, network, longest = np.zeros(BINS, np.int64), np.zeros(BINS, np.int64), np.zeros(2, np.int64)
    _run(drives, record, PERIOD, 1, own, network, longest)  # compiles
    own[:], network[:], longest[:] = 0, 0, 0
    scheduling = in_realtime_thread(
        lambda: _run(drives, record, PERIOD, options.amount(200_000), own, network, longest)
    )
    if float(record.state[0]) == 0.0 or int(drives.drives[0].lost):
        raise RuntimeError("the motors did not move")
    found = {
        "packets, both ways": distribution(own, int(longest[0])),
        "simulated network": distribution(network, int(longest[1])),
    }
    rows = [[name, *map(microseconds, (d.median, d.p99, d.p999, d.max))] for name, d in found.items()]
    median = found["packets, both ways"].median
    return Report(
        title=f"Exchange with {MOTORS} motors on {MOTORS // EACH} drives",
        columns=["", "median", "p99", "p99.9", "max"],
        rows=rows,
        goals=[
            Goal(
                figure=f"cost of a drive exchange, {MOTORS} motors",
                aim="10 µs",
                measured=microseconds(median),
                met=median <= _AIM_NS,
                beside=f"the simulated network and drives: {microseconds(found['simulated network'].median)}",
            )
        ],
        notes=[f"thread: {scheduling}; a real network's own time is not in it"],
        data={name: vars(d) for name, d in found.items()},
    )
