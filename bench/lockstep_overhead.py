"""What a step in lockstep costs beside that of the simulator alone, which does the same again: PyBullet and MuJoCo.

Both run in turns of a few milliseconds in one process, and the processor time of their thread counts: so what else the
machine does meets both alike.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bench.bare_simulators import bare, recorded
from bench.cells import action, builtin_types, in_file
from bench.report import Goal, Options, Report
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.model.workcell.simulators import SIMULATORS
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.testing.server_bench import ServerBench

_REPOSITORY = Path(__file__).resolve().parents[1]
_ARM = """
name: bench
period: 0.001
default_hardware: simulator
parts:
  arm:
    kind: arm
    device: sim
    urdf: package://robot_rt_control/config/robots/iiwa.urdf
    base_link: lbr_iiwa_link_0
    tip_link: lbr_iiwa_link_7
    start_position: [0.0, 0.2948, 0.0, -1.6094, 0.0, 1.2374, 0.0]
devices:
  sim:
    world: {gravity: [0, 0, -9.81], objects: [{name: floor, plane: true}]}
"""
_CELLS: dict[str, Callable[[str], Workcell]] = {
    "an iiwa": lambda engine: in_file(_ARM, engine),
    "a Panda with gripper, four sensors, six objects": lambda engine: load_workcell(
        _REPOSITORY / "config" / "bench.yaml", "simulator", simulator=engine
    ),
}
_AT_ONCE = 20
"""[ticks] What a loop without a factor runs between two looks at its callers."""
_TURN = 5 * _AT_ONCE
_WARM_UP = 500


@contextmanager
def _moving(workcell: Workcell) -> Iterator[ServerBench]:
    """The cell, whose arm follows a sine wave."""
    with ServerBench(workcell, builtin_types()) as bench:
        session = bench.server.open_session("bench", ["arm"], 0.0)
        values = {"amplitude": 0.1, "frequency": 0.3}
        bench.server.define(session.id, [action("sine", "sine_wave", "arm", values)])
        bench.server.start(session.id, ["sine"])
        bench.executor.step(_WARM_UP)
        yield bench
        if int(bench.executor.world.memory.n_active) < 1:
            raise RuntimeError(f"the action ended while it was measured: {bench.events[-3:]}")


def _times(cell: Callable[[str], Workcell], engine: str, turns: int) -> np.ndarray:
    """[s] (turns, 2, 3) processor time and wall-clock time of a step: in lockstep, by the simulator alone with
    commands, and without."""
    workcell = cell(engine)
    with recorded(engine) as run, _moving(workcell) as bench:
        run.start = len(run.calls)
        bench.executor.step(turns * _TURN)
    with _moving(workcell) as bench:
        plugin: Any = next(iter(bench.executor.devices.hosts.values())).plugin
        alone = bare(engine, hardware_info(workcell, workcell.devices[0]), plugin, run)
        assert bench.executor.lockstep is not None
        step = bench.executor.lockstep.step

        def lockstep(steps: int) -> None:
            for _ in range(steps // _AT_ONCE):
                step(_AT_ONCE)

        runs = (lockstep, alone.run, alone.step)
        seconds = np.empty((turns, 2, len(runs)))
        for i in range(turns):
            for k in np.roll(range(len(runs)), i):
                wall, processor = time.perf_counter(), time.thread_time()
                runs[k](_TURN)
                seconds[i, :, k] = time.thread_time() - processor, time.perf_counter() - wall
        if not alone.is_where(plugin):
            raise RuntimeError(f"{engine} alone did not do the same")
        alone.close()
    return seconds / _TURN


def measure(options: Options) -> Report:
    rows, goals, data = [], [], {}
    turns = options.amount(300)
    for engine in SIMULATORS:
        if importlib.util.find_spec(engine) is None:
            continue
        for name, cell in _CELLS.items():
            processor, wall = _times(cell, engine, turns).transpose(1, 2, 0)
            lockstep, alone, step = np.median(processor, axis=1)
            ratio, of_wall, of_step = (
                float(np.median(a / b))
                for a, b in (
                    (processor[0], processor[1]),
                    (wall[0], wall[1]),
                    (processor[0], processor[2]),
                )
            )
            shortest = float(processor[0].min() / processor[1].min())
            rows.append(
                [
                    f"{engine}, {name}",
                    *[f"{1e6 * x:.1f}" for x in (step, alone, lockstep)],
                    *[f"{x:.2f}" for x in (ratio, shortest, of_step)],
                ]
            )
            goals.append(
                Goal(
                    figure=f"step in lockstep, {engine}, {name}",
                    aim="1.10 x",
                    measured=f"{ratio:.2f} x",
                    met=ratio <= 1.1,
                    beside=f"{engine} alone, {1e6 * alone:.1f} µs",
                )
            )
            data[f"{engine}, {name}"] = {
                "ratio": ratio,
                "ratio_shortest": shortest,
                "ratio_wall": of_wall,
                "lockstep_s": float(lockstep),
                "alone_s": float(alone),
                "step_s": float(step),
            }
    return Report(
        title="A step of 1 ms in lockstep, and by the simulator alone",
        columns=["simulator, cell", "step [µs]", "alone [µs]", "lockstep [µs]", "ratio", "shortest", "to step"],
        rows=rows,
        goals=goals,
        notes=[
            f"Medians of {turns} turns of {_TURN} steps, in one process; the arm follows a sine wave. "
            "Processor time; the ratio is that of turns after each other, and that of the shortest turns, "
            "which other load disturbs least.",
            "alone: the same commands, recorded, with the fewest calls, and the joints read; "
            "all ends with the same bits. step: without commands.",
        ],
        data=data,
    )
