"""From the robot's packet to the command: the plugin `franka` beside a bare pylibfranka loop, over a simulated FR3.

The time runs from when the library has given a state to when it has taken the command for it. Both loops hold the robot
where it is. The simulator is on loopback: it shows what the programs cost, and nothing of a network or a real robot.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bench.report import Goal, Options, Report, load_average
from bench.soak import busy_loops
from robot_rt_control.hardware.franka import limits as fr3
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.franka_simulator import FrankaSimulator
from robot_rt_control.testing.ros_domain import claim_domain
from robot_rt_control.vocabulary.enums import CommandMode

_CYCLES = 60_000
_WARM_UP = 500
REPLY_S = 300e-6
"""[s] after its packet, by when an FR3 wants the command."""


def bare(address: str, cycles: int) -> tuple[np.ndarray, int]:
    """A loop as the library's examples have it. Returns each cycle's time [s], and the number of states missed."""
    import pylibfranka as library

    robot = library.Robot(address, library.RealtimeConfig.kIgnore)
    control = robot.start_joint_position_control(library.ControllerMode.JointImpedance)
    state, _ = control.readOnce()
    hold, times, missed = list(state.q_d), np.zeros(cycles), 0
    for i in range(-_WARM_UP, cycles):
        _, duration = control.readOnce()
        begin = time.monotonic()
        control.writeOnce(library.JointPositions(hold))
        if i >= 0:
            times[i] = time.monotonic() - begin
            missed += max(round(duration.to_sec() / fr3.PERIOD_S) - 1, 0)
    last = library.JointPositions(hold)
    last.motion_finished = True
    control.writeOnce(last)
    return times, missed


def plugin(address: str, cycles: int) -> tuple[np.ndarray, int]:
    """Likewise the plugin: from the packet through its conversion, checks and limits. The loop's tick is not in it."""
    workcell = load_workcell("fr3")
    info = hardware_info(workcell, workcell.devices[0])
    made: Any = load_plugin("franka")()
    driver = HardwareLifecycle(made, replace(info, parameters={**info.parameters, "address": address}))
    driver.configure()
    driver.activate()
    driver.command[0:21:3] = driver.state[0:21:3]
    driver.switch_modes({"arm": CommandMode.POSITION})
    arrived = [0.0]
    next_state = made._next_state  # where the library gives the state

    def stamped() -> object:
        state = next_state()
        arrived[0] = time.monotonic()
        return state

    made._next_state = stamped
    times, missed = np.zeros(cycles), 0
    try:
        for i in range(-_WARM_UP, cycles):
            if i == 0:
                missed = made.missed
            driver.read(0.0, fr3.PERIOD_S)
            driver.write(0.0, fr3.PERIOD_S)
            if i >= 0:
                times[i] = time.monotonic() - arrived[0]
            if made.stopped:
                raise RuntimeError(f"the robot has stopped: {made.reason}")
        return times, made.missed - missed
    finally:
        made._next_state = next_state
        driver.switch_modes({"arm": CommandMode.NONE})
        driver.shutdown()


def measure(options: Options) -> Report:
    cycles = options.amount(_CYCLES)
    loops: dict[str, Callable[[str, int], tuple[np.ndarray, int]]] = {"bare pylibfranka": bare, "plugin": plugin}
    found: dict[str, tuple[np.ndarray, int]] = {}
    before = load_average()
    with FrankaSimulator(claim_domain("bench franka")) as simulator:
        for loop, run in loops.items():
            found[loop] = run(simulator.address, cycles)
        with busy_loops(1):
            for loop, run in loops.items():
                found[f"{loop}, beside a busy loop"] = run(simulator.address, cycles)
    rows, quantiles = [], {}
    for name, (times, missed) in found.items():
        quantiles[name] = np.percentile(times, [50, 99, 99.9])
        base = quantiles[name.replace("plugin", "bare pylibfranka")]
        late = int((times > REPLY_S).sum())
        rows.append(
            [name, *(f"{1e6 * t:.0f}" for t in quantiles[name]), f"{quantiles[name][1] / base[1]:.1f}"]
            + [f"{quantiles[name][1] / REPLY_S:.2f}", str(late), str(missed)]
        )
    most = float(quantiles["plugin"][1])
    return Report(
        title="From the packet of an FR3 to the command, over a simulator on loopback",
        columns=["loop", "p50 [µs]", "p99", "p99.9", "p99 / bare", "p99 / 300 µs", "over 300 µs", "states missed"],
        rows=rows,
        goals=[
            Goal(
                figure="plugin franka: packet → command, p99",
                aim="< 300 µs, less the loop's tick",
                measured=f"{1e6 * most:.0f} µs",
                met=most < REPLY_S,
                beside=f"bare pylibfranka, {1e6 * quantiles['bare pylibfranka'][1]:.0f} µs",
            )
        ],
        notes=[
            f"{cycles} cycles of each loop; load average {before:.1f} before. The plugin alone: the exchange with the "
            "loop by shared memory and its tick come on top. States missed: the next one came before the loop asked.",
        ],
        data={name: {"seconds": times.tolist(), "missed": missed} for name, (times, missed) in found.items()},
    )
