"""The node `planner`: plans through contact for a workcell, as the action plan_contact."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from visualization_msgs.msg import MarkerArray

from robot_rt_control.client import Client
from robot_rt_control.drawing.shape import Shape
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.planner.child import lower_priority
from robot_rt_control.planner.execution import run_plan
from robot_rt_control.planner.plan_contact import Cell, PlanContactAction
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.solve.engines import require_engines
from robot_rt_control.ros.lifecycle_node import COMMON_PARAMETERS, NodeParameter, WorkcellNode
from robot_rt_control.ros.marker_messages import markers_message
from robot_rt_control.ros.node_help import NodeHelp, asks_for_help
from robot_rt_control.ros.node_process import run_node

_PARAMETERS = (
    NodeParameter(
        name="plans",
        default="",
        description="Folder in which plans are kept; empty: robot_rt_control/plans in XDG_DATA_HOME.",
    ),
    NodeParameter(
        name="plans_kept",
        default=200,
        minimum=0,
        maximum=1_000_000,
        description="How many plans of the node are kept: after each goal, older ones are deleted; 0: none is.",
    ),
    NodeParameter(
        name="threads",
        default=0,
        minimum=0,
        maximum=1024,
        description="To compute with; 0: one for each processor but one. The plan is the same with any number.",
    ),
)
_CONNECT_S = 10.0
"""[s] Time-out for a workcell to be there."""
_MOTION_S = 10.0
"""[s] Time-out for a motion's session to be closed."""

ABOUT = NodeHelp(
    executable="planner",
    summary="Plans motions through contact as the action plan_contact, and runs them on the workcell of the same "
    "namespace if asked for. It computes at low priority, in a process beside it, and needs the packages mujoco and "
    "piqp. A workcell starts it with planner:=true.",
    parameters=(*COMMON_PARAMETERS, *_PARAMETERS),
    examples=(
        "--ros-args -p workcell:=push.yaml",
        "--ros-args -r __ns:=/cell -p workcell:=push.yaml -p plans:=/tmp/plans",
    ),
)


def default_folder() -> Path:
    """Where plans are kept unless somebody says otherwise: `robot_rt_control/plans` in XDG's data home."""
    home = os.environ.get("XDG_DATA_HOME", "")
    base = Path(home) if home.startswith("/") else Path.home() / ".local" / "share"
    return base / "robot_rt_control" / "plans"


class PlannerNode(WorkcellNode):
    """The node `planner`. It connects to the workcell when a goal asks for measured values or for a motion."""

    def __init__(self, **options: Any) -> None:
        super().__init__("planner", _PARAMETERS, **options)
        self._workcell: Workcell | None = None
        self._action: PlanContactAction | None = None
        self._markers: Any = None
        self._client: Client | None = None
        self._connecting = threading.Lock()

    # --- life cycle -----------------------------------------------------------------------------

    def configure(self) -> None:
        require_engines()
        self._workcell = load_workcell(self.workcell_file(), self.value("hardware") or None)

    def activate(self) -> None:
        workcell = self._workcell
        assert workcell is not None  # made by `configure`
        profile = QoSProfile(
            depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        self._markers = self.create_publisher(MarkerArray, "~/markers", profile)
        names = workcell.joint_state_names()
        cell = Cell(
            workcell=workcell.path,
            joint_names={
                f"{part.name}.{joint}": name
                for part in workcell.parts
                for joint, name in zip(part.joint_names, names.get(part.name, ()), strict=False)
            },
            measure=self._measure,
            run=self._run,
        )
        self._action = PlanContactAction(
            self,
            cell,
            folder=Path(self.value("plans") or default_folder()).expanduser(),
            keep=self.value("plans_kept"),
            draw=self._draw,
            threads=self.value("threads") or max((os.cpu_count() or 1) - 1, 1),
        )

    def deactivate(self) -> None:
        offered, self._action = self._action, None
        if offered is not None:
            offered.close()
        # In a thread, because a control server that is gone answers no longer.
        closer = threading.Thread(target=self._disconnect, name="disconnect", daemon=True)
        closer.start()
        closer.join(_MOTION_S)
        self._draw(())
        self.remove(self._markers)

    def cleanup(self) -> None:
        self._workcell = None

    # --- the workcell ---------------------------------------------------------------------------

    def _connected(self) -> Client:
        """The client of the running workcell; made when it is needed first."""
        with self._connecting:
            if self._client is None:
                # Without this process's command line, which would give the client's node the name of this one.
                simulated = str(self.get_parameter("use_sim_time").value).lower()
                arguments = ["--ros-args", "-p", f"use_sim_time:={simulated}", "--enclave", self.enclave()]
                name, space = f"{self.get_name()}_client", self.get_namespace()
                self._client = Client(name, namespace=space, arguments=arguments, startup_s=_CONNECT_S)
            return self._client

    def _disconnect(self) -> None:
        with self._connecting:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _measure(self, prefixes: Sequence[str]) -> Mapping[str, float]:
        return self._connected().backend.state_values(prefixes, "")

    def _run(self, plan: Plan, pose: str, cancelled: Callable[[], bool], phase: Callable[[str], None]) -> None:
        assert self._workcell is not None  # made by `configure`
        found = run_plan(self._connected(), plan, self._workcell, pose=pose, cancelled=cancelled, phase=phase)
        found.check_arrived(plan)

    def _draw(self, shapes: Sequence[Shape]) -> None:
        self._markers.publish(markers_message(shapes))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until it is asked to stop. Returns the exit code."""
    if not asks_for_help(sys.argv[1:] if argv is None else argv):
        lower_priority()  # before any other thread begins
    return run_node(PlannerNode, argv, about=ABOUT)


if __name__ == "__main__":
    sys.exit(main())
