"""`client.Client` without ROS, threads and other processes: an application's program runs in simulated time.

with LockstepClient("config/iiwa.yaml") as client:
    main(client)  # the same function that runs against a workcell in real time

Whatever waits lets the workcell tick: `session.wait_for`, `client.sleep`, and a command until the loop has answered it.
Nothing else takes time, so two runs of the same program give the same ticks and the same numbers, bit by bit, however
busy the machine is.
"""

from __future__ import annotations

from pathlib import Path

from robot_rt_control.client.client import Client
from robot_rt_control.model.workcell import Workcell, load_workcell
from robot_rt_control.testing.cell_backend import CellBackend
from robot_rt_control.testing.lockstep_cell import LockstepCell


class LockstepClient(Client):
    """A client for programs with one thread: callbacks are called between two ticks, in the thread that waits.

    Args:
        workcell: a workcell file, or what `load_workcell` gave. It runs in this process, simulators included.
        hardware: the plugin to run all of a file's devices on; empty: what the file says.

    Attributes:
        cell: the workcell: to drive its sensors, and to look into it.

    Raises:
        as LockstepCell.
    """

    def __init__(self, workcell: Workcell | Path | str, *, hardware: str = "") -> None:
        if not isinstance(workcell, Workcell):
            workcell = load_workcell(workcell, hardware or None)
        self.cell = LockstepCell(workcell, gated=False)
        super().__init__(backend=CellBackend(self.cell, keeps_leases=True))
