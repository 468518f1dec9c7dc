"""All nodes in one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from robot_rt_control.testing.ros_domain import claim_domain

PROGRAM = """
import sys
from pathlib import Path
from robot_rt_control.bringup import composed
from robot_rt_control.bringup.bringup import ProcessDescription
from robot_rt_control.ros.lifecycle_node import AUTOSTART, WorkcellNode

class Node(WorkcellNode):
    def __init__(self, **options):
        super().__init__("node", (), common=(AUTOSTART,), **options)
    def deactivate(self):
        print("deactivate", self.get_name(), flush=True)
        if self.get_name() == "above":
            raise ValueError("a handle is gone")

composed.NODES["node"] = "__main__:Node"
described = [ProcessDescription(name=name, executable="node", node_name=name) for name in ("below", "above")]
sys.exit(composed.run_composed(described, Path(".")))
"""


def test_a_node_whose_end_fails_keeps_no_other_from_ending() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ROS_DOMAIN_ID": str(claim_domain("nodes"))},
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("all nodes are up, in this process")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60.0)
    assert output.split("\n")[:2] == ["deactivate above", "deactivate below"]
    assert "ValueError: a handle is gone" in errors and process.returncode == 1
