"""The topics program_state and state_markers: latched, by one publisher each, at every change."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robot_rt_control import msg
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.node.program_messages import state_message
from robot_rt_control.server.node.state_markers import StateMarkers
from robot_rt_control.server.programs.program_states import HISTORY, ProgramStates, SessionState
from robot_rt_control.vocabulary.errors import RobotControlError

_TOGETHER_S = 0.001
"""Changes within this time [s] are published as one: a program that switches in every tick does not flood the topic."""


class ProgramStateTopic:
    """Publishes `~/program_state` and `~/state_markers` of a node, in a thread of its own, until `close`.

    Args:
        server: whose events it follows.
        stamp: a tick's start [ns] → the message's time.
    """

    def __init__(self, node: Node, server: ControlServer, stamp: Callable[[int], Any]) -> None:
        self._node, self._server, self._stamp = node, server, stamp
        profile = QoSProfile(
            depth=HISTORY, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        self._publisher = node.create_publisher(msg.ProgramState, "~/program_state", profile)
        self._markers = StateMarkers(node, server.workcell.frame_names(), self._parts_of)
        self._states = ProgramStates(self._program_of, self._publish)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="program_state", daemon=True)
        self._thread.start()
        server.add_listener(self._states.take)

    def close(self) -> None:
        """Tell what has happened so far, and end."""
        self._server.remove_listener(self._states.take)
        self._closing.set()
        self._states.changed.set()
        self._thread.join(2.0)
        self._markers.close()
        self._node.destroy_publisher(self._publisher)

    def _run(self) -> None:
        while not self._closing.is_set():
            self._states.changed.wait()
            time.sleep(_TOGETHER_S)
            self._states.flush()
        self._states.flush()

    def _program_of(self, session: str) -> str:
        try:
            return self._server.session(session).program
        except RobotControlError:
            return ""

    def _parts_of(self, session: str) -> tuple[str, ...]:
        try:
            return self._server.session(session).parts
        except RobotControlError:
            return ()

    def _publish(self, state: SessionState) -> None:
        self._publisher.publish(state_message(state, self._stamp(state.time_ns)))
        self._markers.publish(state)
