"""The networks on which drives may be, outside of the loop: how they are set up, and what is there.

A further network needs its model in `model/workcell/drives.py`, its exchange in `bus_exchange.py`, and here a
class like `TestBusNetwork`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from robot_rt_control.hardware.drives.bus_exchange import TEST_BUS
from robot_rt_control.hardware.drives.simulated_bus_setup import fill_test_bus
from robot_rt_control.hardware.info import HardwareInfo
from robot_rt_control.model.workcell.drives import Drives
from robot_rt_control.vocabulary.errors import HardwareError


class Network(Protocol):
    """A network, outside of the loop."""

    def scan(self) -> Mapping[int, str]:
        """Node → kind of each drive that answers. Called once, before the first exchange; may take seconds."""
        ...

    def close(self) -> None:
        """Release it, after the last exchange."""
        ...


class TestBusNetwork:
    """The simulated network."""

    __test__ = False  # for pytest

    def __init__(self, drives: Drives) -> None:
        self._drives = drives

    def scan(self) -> Mapping[int, str]:
        there = self._drives.network.answers
        return {d.node: d.kind for d in (self._drives.drives if there is None else there)}

    def close(self) -> None:
        pass


def open_network(record: np.record, info: HardwareInfo, drives: Drives) -> Network:
    """Open the network of a device, whose record `configure_drives` has filled. Raises HardwareError."""
    record.network = TEST_BUS
    fill_test_bus(record, info, drives)
    return TestBusNetwork(drives)


def check_topology(device: str, drives: Drives, answers: Mapping[int, str]) -> None:
    """Compare the drives that are configured with those that answer.

    Raises:
        HardwareError: a drive is missing, of another kind, or not configured; it names all of these.
    """
    found = []
    for drive in drives.drives:
        what, kind = f"device {device!r}, drive {drive.name!r} (node {drive.node})", answers.get(drive.node)
        if kind is None:
            expected, hint = f"a drive of kind {drive.kind!r}", "Check its power, its cable and its node"
            found.append(HardwareError(what, expected=expected, got="no answer", hint=hint))
        elif kind != drive.kind:
            expected, hint = f"the kind {drive.kind!r}", "Connect the right drive, or correct the workcell file"
            found.append(HardwareError(what, expected=expected, got=f"the kind {kind!r}", hint=hint))
    nodes = [drive.node for drive in drives.drives]
    for node, kind in answers.items():
        if node not in nodes:
            expected, hint = f"{len(nodes)} drives, on other nodes", "Add it to the workcell file, or disconnect it"
            what = f"device {device!r}, a drive on node {node}"
            found.append(HardwareError(what, expected=expected, got=f"one more, of kind {kind!r}", hint=hint))
    if found:
        raise HardwareError("\n".join(str(error) for error in found))
