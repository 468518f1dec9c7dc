"""What the executor adds to a simulation in lockstep, compared with the bare PyBullet calls."""

from __future__ import annotations

import math
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.cells import action, builtin_types
from bench.report import Goal, Options, Report
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.model.workcell import Workcell, load_workcell
from robot_rt_control.testing.server_bench import ServerBench

_CELL = """
name: bench
period: 0.001
default_hardware: pybullet
parts:
  arm:
    kind: arm
    device: sim
    urdf: pybullet_data://kuka_iiwa/model.urdf
    base_link: lbr_iiwa_link_0
    tip_link: lbr_iiwa_link_7
    start_position: [0.0, 0.2948, 0.0, -1.6094, 0.0, 1.2374, 0.0]
devices:
  sim:
    pybullet:
      world: {gravity: [0, 0, -9.81], objects: [{name: floor, plane: true}]}
"""
_STEPS = 250
_AMPLITUDE, _FREQUENCY = 0.1, 0.3


def iiwa_cell() -> Workcell:
    """A KUKA iiwa on the ground, in PyBullet."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.yaml"
        path.write_text(_CELL)
        return load_workcell(path)


def bare_loop(workcell: Workcell) -> Callable[[int], None]:
    """The same simulation and the same motion by hand, with the plugin's calls of PyBullet: read the joints,
    set the drives (with speeds, so that the arm does not lag), step."""
    import pybullet

    from robot_rt_control.hardware.pybullet.parameters import PyBulletParameters
    from robot_rt_control.hardware.pybullet.world import PyBulletWorld

    info = hardware_info(workcell, workcell.devices[0])
    parameters = PyBulletParameters.model_validate(info.parameters)
    world = PyBulletWorld(info, parameters)
    part = info.parts[0]
    robot = world.robot("arm", "bench")
    joints = [robot.joint(name, "bench") for name in part.joint_names]
    start, forces, client, body = list(part.initial_position), list(part.limits.effort), world.client, robot.body
    for joint, position in zip(joints, start, strict=True):
        pybullet.resetJointState(body, joint, position, 0.0, physicsClientId=client)
    gains = parameters.gains
    measured: deque[list[float]] = deque(maxlen=1)
    n, tick = len(joints), 0

    def run(steps: int) -> None:
        nonlocal tick
        for _ in range(steps):
            states = pybullet.getJointStates(body, joints, physicsClientId=client)
            measured.append([state[0] for state in states])
            tick += 1
            phase = 2.0 * math.pi * _FREQUENCY * tick * info.period_s
            speed = (1.0 - gains.position) * 2.0 * math.pi * _FREQUENCY * _AMPLITUDE * math.cos(phase)
            offset = _AMPLITUDE * math.sin(phase)
            pybullet.setJointMotorControlArray(
                body,
                joints,
                pybullet.POSITION_CONTROL,
                targetPositions=[q + offset for q in start],
                targetVelocities=[speed] * n,
                forces=forces,
                positionGains=[gains.position] * n,
                velocityGains=[gains.velocity] * n,
                physicsClientId=client,
            )
            pybullet.stepSimulation(physicsClientId=client)

    return run


def measure(options: Options) -> Report:
    workcell = iiwa_cell()
    bare = bare_loop(workcell)
    blocks = options.amount(200)
    with ServerBench(workcell, builtin_types()) as bench:
        session = bench.server.open_session("bench", ["arm"], 0.0)
        values = {"amplitude": _AMPLITUDE, "frequency": _FREQUENCY}
        bench.server.define(session.id, [action("sine", "sine_wave", "arm", values)])
        bench.server.start(session.id, ["sine"])
        step = bench.executor.step
        for run in (bare, step):
            run(1000)
        seconds = np.empty((blocks, 2))
        for i in range(blocks):
            order = ((0, bare), (1, step)) if i % 2 else ((1, step), (0, bare))
            for column, run in order:
                begin = time.perf_counter()
                run(_STEPS)
                seconds[i, column] = (time.perf_counter() - begin) / _STEPS
        if int(bench.executor.world.memory.n_active) != 1:
            raise RuntimeError(f"the action ended while it was measured: {bench.events[-3:]}")
    medians = np.median(seconds, axis=0)
    ratio = float(np.median(seconds[:, 1] / seconds[:, 0]))
    rows = [
        [name, *[f"{1e6 * x:.1f}" for x in (medians[i], *np.percentile(seconds[:, i], [10, 90]))]]
        for i, name in enumerate(("bare PyBullet: states, drives, step", "the same under the executor in lockstep"))
    ]
    return Report(
        title="A step of 1 ms of a KUKA iiwa in PyBullet",
        columns=["loop", "median [µs]", "p10", "p90"],
        rows=rows,
        goals=[
            Goal(
                figure="step in lockstep, median of paired blocks",
                aim="< 10 % more",
                measured=f"{100 * (ratio - 1):.1f} % more",
                met=ratio < 1.1,
                beside=f"bare PyBullet, {1e6 * medians[0]:.1f} µs",
            )
        ],
        notes=[f"{blocks} alternating blocks of {_STEPS} steps each, in one process; the arm follows a sine wave."],
        data={"ratio": ratio, "bare_s": float(medians[0]), "executor_s": float(medians[1])},
    )
