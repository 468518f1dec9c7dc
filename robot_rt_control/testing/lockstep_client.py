"""`client.Client` without ROS, threads and other processes: an application's program runs in simulated time.

with LockstepClient("config/iiwa.yaml") as client:
    main(client)  # the function that also runs with a workcell in real time

Every wait lets the workcell tick: `session.wait_for`, `client.sleep`, and a command until the loop has answered it.
Nothing else takes time: two runs of a program give the same ticks and bit-identical numbers on any machine.
"""

from __future__ import annotations

from pathlib import Path

from robot_rt_control.client.client import Client
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.testing.cell_backend import CellBackend
from robot_rt_control.testing.lockstep_cell import LockstepCell


class LockstepClient(Client):
    """A client for programs with one thread; the waiting thread calls callbacks between two ticks.

    Args:
        workcell: a workcell file, or the result of `load_workcell`. It runs in this process, simulators included.
        hardware: the plugin to run all of a file's devices on; empty: those of the file.
        simulator: as of `load_workcell`.
        record: the file to record all ticks to.

    Attributes:
        cell: the workcell, for setting sensors and reading states.

    Raises:
        as LockstepCell.
    """

    def __init__(
        self, workcell: Workcell | Path | str, *, hardware: str = "", simulator: str = "", record: Path | None = None
    ) -> None:
        if not isinstance(workcell, Workcell):
            workcell = load_workcell(workcell, hardware or None, simulator=simulator)
        self.cell = LockstepCell(workcell, gated=False, record=record)
        super().__init__(backend=CellBackend(self.cell, keeps_leases=True))
