"""The node `blueprints`: executes blueprints on the workcell of its namespace."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from robot_rt_control import msg
from robot_rt_control.blueprint.makers.capability_files import Capabilities, capabilities_of
from robot_rt_control.blueprint.makers.makers import Makers
from robot_rt_control.blueprint.makers.ros.answers import InstalledTypes
from robot_rt_control.blueprint.makers.ros.connections import Connections
from robot_rt_control.blueprint.makers.ros.maker import RosMaker
from robot_rt_control.blueprint.makers.ros.starts import RosTopics
from robot_rt_control.blueprint.node.declared_types import declared_types
from robot_rt_control.blueprint.node.driver import Driver
from robot_rt_control.blueprint.node.messages import state_message
from robot_rt_control.blueprint.node.run_action import RunAction
from robot_rt_control.blueprint.node.services import Services, executor_of
from robot_rt_control.blueprint.runs.executor import Executor, ExecutorState
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.blueprint.runs.run_history import RunHistory
from robot_rt_control.blueprint.skills.skill_library import SkillLibrary
from robot_rt_control.blueprint.skills.store import SkillStore, default_folder
from robot_rt_control.blueprint.text.phrases import is_stop
from robot_rt_control.client import Client
from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.workcell.catalogue import workcell_catalogue
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.program.text_store import data_folder
from robot_rt_control.ros.lifecycle_node import COMMON_PARAMETERS, NodeParameter, WorkcellNode
from robot_rt_control.ros.node_help import NodeHelp
from robot_rt_control.ros.node_process import run_node
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.capacities import MAX_TEXT_LENGTH
from robot_rt_control.vocabulary.errors import DefinitionError, NoAnswer, RobotControlError

_PARAMETERS = (
    NodeParameter(
        name="skills",
        default="",
        description="Folder in which skills and blueprints are kept; empty: robot_rt_control/skills in XDG_DATA_HOME.",
    ),
    NodeParameter(
        name="logs",
        default="",
        description="Folder for the logs of runs, the last 200; empty: robot_rt_control/runs in XDG_DATA_HOME.",
    ),
)
_CLOSE_S = 10.0
"""[s] Time-out for the runs' sessions to be closed."""
BEAT_S = 0.2
"""[s] after which the state is published again, changed or not: who shows it hears that the node lives."""
_ANSWER_S = 5.0
"""[s] for an answer of the workcell; while it is awaited, commands to runs wait."""

ABOUT = NodeHelp(
    executable="blueprints",
    summary="Executes blueprints on the workcell of the same namespace: the action run, services to keep skills and to "
    "control runs, and a topic with the state of it all. A workcell starts it with blueprints:=true.",
    parameters=(*COMMON_PARAMETERS, *_PARAMETERS),
    examples=(
        "--ros-args -p workcell:=bench.yaml",
        "--ros-args -r __ns:=/cell -p workcell:=bench.yaml -p skills:=/srv/skills -p logs:=/srv/runs",
    ),
)


class BlueprintsNode(WorkcellNode):
    """The node `blueprints`."""

    def __init__(self, **options: Any) -> None:
        super().__init__("blueprints", _PARAMETERS, **options)
        self._workcell: Catalogue | None = None
        self._capabilities = Capabilities()
        self._client: Client | None = None
        self._connections: Connections | None = None
        self._driver: Driver | None = None
        self._offered: list[Services | RunAction] = []
        self._entities: list[Any] = []

    # --- life cycle -----------------------------------------------------------------------------

    def configure(self) -> None:
        workcell = load_workcell(self.workcell_file())
        self._workcell = workcell_catalogue(workcell, declared_types(workcell))
        self._capabilities = capabilities_of(workcell)
        for name, template in self._capabilities.templates.items():
            for mistake in template.mistakes:
                self.get_logger().warning(f"skill {name!r} cannot be used: {mistake}")

    def activate(self) -> None:
        group = ReentrantCallbackGroup()
        profile = QoSProfile(
            depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        state = self.create_publisher(msg.BlueprintState, "~/state", profile)
        say = self.create_publisher(String, "~/say", 10)
        last: list[Any] = []
        publishing = threading.Lock()

        def publish(found: ExecutorState) -> None:
            with publishing:
                last[:] = [state_message(found)]
                state.publish(last[0])

        def say_again() -> None:
            with publishing:
                if last:
                    state.publish(last[0])

        self._driver = Driver(
            lambda wake: self._connect(wake, lambda text: say.publish(String(data=text))),
            publish,
            self.get_logger().warning,
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # simulated time may stand still
        beat = self.create_timer(BEAT_S, say_again, callback_group=group, clock=steady)
        self._entities = [state, say, beat] + [
            self.create_subscription(String, topic, partial(self._heard, gesture), 10, callback_group=group)
            for topic, gesture in (("~/commands", False), ("~/gestures", True))
        ]
        self._offered = [Services(self, self._driver), RunAction(self, self._driver)]
        self.awaited = "the workcell's control server"
        self._driver.start()

    def deactivate(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            driver.close(_CLOSE_S)
        offered, self._offered = self._offered, []
        for one in offered:
            one.close()
        self._disconnect()
        connections, self._connections = self._connections, None
        if connections is not None:
            connections.close()
        entities, self._entities = self._entities, []
        self.remove(*entities)

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            # In a thread, because a control server that is gone answers no longer.
            closer = threading.Thread(target=client.close, name="disconnect", daemon=True)
            closer.start()
            closer.join(_CLOSE_S)

    def cleanup(self) -> None:
        self._workcell, self._capabilities = None, Capabilities()

    # --- the workcell ---------------------------------------------------------------------------

    def _connect(self, wake: Callable[[], None], say: Callable[[str], None]) -> Executor:
        """In the driver's thread. Raises RobotControlError: the workcell does not answer yet."""
        if self._client is None:
            # Without this process's command line, which would give the client's node the name of this one.
            simulated = str(self.get_parameter("use_sim_time").value).lower()
            arguments = ["--ros-args", "-p", f"use_sim_time:={simulated}", "--enclave", self.enclave()]
            name, space = f"{self.get_name()}_client", self.get_namespace()
            self._client = Client(
                name, namespace=space, arguments=arguments, timeout_s=_ANSWER_S, startup_s=_ANSWER_S
            )
        backend = self._client.backend
        backend.present()
        assert self._workcell is not None  # made by `configure`
        folder = Path(self.value("skills") or default_folder()).expanduser()
        store = SkillStore(folder)
        store.clean_bin()
        library = SkillLibrary(
            store, self._workcell, backend, made=self._capabilities.templates, interfaces=InstalledTypes()
        )
        try:
            backend.list_parts()
            library.snapshot()
        except NoAnswer as error:
            # After many processes were killed, a new one was seen to be matched with a part of the server's services
            # only, for good (docs/blueprints_design.md, Open).
            self.get_logger().warning(f"the workcell answers in part only: connecting anew; {error}")
            self._disconnect()
            raise
        threading.Thread(target=library.read_ahead, name="skills", daemon=True).start()
        logs = Path(self.value("logs") or data_folder("runs")).expanduser()
        robot = Robot(backend, on_change=wake, say=say)
        if self._connections is None:
            self._connections = Connections(self)
        makers = Makers(self._capabilities, RosMaker(self._connections), workcell=find_workcell(self.workcell_file()))
        executor = Executor(
            robot, library, logs,
            wall=lambda: time.strftime("%Y%m%d-%H%M%S"), makers=makers, topics=RosTopics(self._connections),
        )  # fmt: skip
        interrupted = executor.history.interrupted()
        if interrupted:
            self.get_logger().warning(f"runs without an end, whose process died: {', '.join(interrupted[:10])}")
            self._connections.cancel_goals(
                [record for run in interrupted for record in executor.history.records(run)],
                partial(self._care_for, executor.history, interrupted),
            )
        self.awaited = ""
        return executor

    def _care_for(self, history: RunHistory, interrupted: Sequence[str]) -> None:
        """In a thread: the goals of these runs are cancelled, once and for all."""
        for run in interrupted:
            try:
                history.care_for(run)
            except (OSError, DefinitionError) as error:  # it is looked at again at the next start
                self.get_logger().warning(f"the log of run {run} cannot be written: {error}")

    def _heard(self, gesture: bool, message: String) -> None:
        # In a thread: it waits for the workcell, and the node's own threads are few.
        threading.Thread(target=self._obey, args=(message.data, gesture), name="command", daemon=True).start()

    def _obey(self, text: str, gesture: bool) -> None:
        """A command from a topic; nobody waits for an answer."""
        driver = self._driver
        if driver is None or (len(text) > MAX_TEXT_LENGTH and not is_stop(text)):
            return
        try:
            source = "topic gestures" if gesture else "topic commands"
            executor_of(driver).give_command(text, gesture=gesture, source=source)
            driver.publish_now()
        except RobotControlError as error:
            self.get_logger().warning(f"a command was refused: {error}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until it is asked to stop. Returns the exit code."""
    return run_node(BlueprintsNode, argv, about=ABOUT)


if __name__ == "__main__":
    sys.exit(main())
