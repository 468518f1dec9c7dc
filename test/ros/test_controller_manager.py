"""The controller manager as ros2_control's tools use it: these tests speak ROS alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import rclpy
from controller_manager_msgs import srv
from controller_manager_msgs.msg import ControllerManagerActivity
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import ListParameters, SetParameters
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_rt_control.msg import ExecutorStatus, PartStatus
from robot_rt_control.srv import SetMotion

from robot_rt_control.controllers.node import ControllerManagerNode
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.model.workcell.controllers import BROADCASTER, CONTROLLER_TYPES, TRAJECTORY
from robot_rt_control.model.workcell.simulators import default_simulator
from robot_rt_control.ros.listening_node import ListeningNode
from robot_rt_control.ros.spinning import Spinner

CONFIG = Path(__file__).parents[2] / "config"
ENCLAVE = "/robot_rt_control/controller_manager"
TIMEOUT_S = 60.0
BEST_EFFORT, STRICT = srv.SwitchController.Request.BEST_EFFORT, srv.SwitchController.Request.STRICT


def eventually(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Tools:
    """Some nodes of a test, and calls to a controller manager."""

    def __init__(self, manager: str) -> None:
        self._manager = manager
        self.context = Context()
        self.context.init(args=["--ros-args", "--enclave", ENCLAVE])
        self.node = rclpy.create_node("tools", context=self.context)
        self.executor = MultiThreadedExecutor(num_threads=8, context=self.context)
        self.executor.add_node(self.node)
        self._spinner = Spinner(self.executor, print)
        self._spinner.start()
        self.activity: list[ControllerManagerActivity] = []
        profile = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_subscription(ControllerManagerActivity, f"{manager}/activity", self.activity.append, profile)

    def ask(self, kind: Any, service: str, /, **fields: Any) -> Any:
        group = ReentrantCallbackGroup()
        client: Any = self.node.create_client(kind, f"{self._manager}/{service}", callback_group=group)
        assert client.wait_for_service(TIMEOUT_S), service
        done = threading.Event()
        future = client.call_async(kind.Request(**fields))
        future.add_done_callback(lambda _: done.set())
        assert done.wait(TIMEOUT_S), service
        self.node.destroy_client(client)
        return future.result()

    def call(self, service: str, /, **fields: Any) -> Any:
        return self.ask(getattr(srv, "".join(word.title() for word in service.split("_"))), service, **fields)

    def states(self) -> dict[str, str]:
        return {controller.name: controller.state for controller in self.call("list_controllers").controller}

    def component(self) -> Any:
        (found,) = self.call("list_hardware_components").component
        return found

    def set_component(self, **state: Any) -> Any:
        return self.call("set_hardware_component_state", name="sim", target_state=State(**state))

    def close(self, *nodes: Node) -> None:
        assert self._spinner.stop(TIMEOUT_S)
        for node in (*nodes, self.node):
            node.destroy_node()
        self.context.try_shutdown()


# --- beside a workcell --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tools(workcell: DemoWorkcell) -> Iterator[Tools]:
    made = Tools("/controller_manager")
    yield made
    made.close()


def test_the_tools_find_controllers_and_devices(tools: Tools) -> None:
    found = {controller.name: controller for controller in tools.call("list_controllers").controller}
    broadcaster = found["joint_state_broadcaster"]
    assert (broadcaster.type, broadcaster.state, broadcaster.update_rate) == (BROADCASTER, "active", 1000)
    assert {TRAJECTORY, BROADCASTER} <= set(tools.call("list_controller_types").types)
    sim = tools.component()
    assert (sim.name, sim.type, sim.plugin_name, sim.rw_rate) == ("sim", "system", default_simulator(), 1000)
    assert (sim.state.id, sim.state.label) == (State.PRIMARY_STATE_ACTIVE, "active")
    joints = [f"lbr_iiwa_joint_{i}/{quantity}" for i in range(1, 8) for quantity in ("position", "velocity", "effort")]
    assert [interface.name for interface in sim.command_interfaces] == joints
    assert all(i.is_available and i.data_type == "double" for i in (*sim.command_interfaces, *sim.state_interfaces))
    interfaces = tools.call("list_hardware_interfaces")
    assert interfaces.command_interfaces == sim.command_interfaces
    assert interfaces.state_interfaces == sim.state_interfaces
    assert {"lbr_iiwa_joint_7/velocity", "rangefinder/distance", "wrist/force.z"} < {
        interface.name for interface in interfaces.state_interfaces
    }


def test_a_device_is_disabled_and_enabled(tools: Tools) -> None:
    try:
        answer = tools.set_component(id=State.PRIMARY_STATE_INACTIVE)
        assert answer.ok and (answer.state.id, answer.state.label) == (State.PRIMARY_STATE_INACTIVE, "inactive")
        assert not any(interface.is_available for interface in tools.component().command_interfaces)
    finally:
        answer = tools.set_component(label="active")
    assert answer.ok and answer.state.id == State.PRIMARY_STATE_ACTIVE
    answer = tools.set_component(id=State.PRIMARY_STATE_UNCONFIGURED)
    assert not answer.ok and answer.state.label == "active"


# --- beside an executor and a control server of few words -------------------------------------------


class FewWords:
    """Reports the parts of arm7 as an executor does, and sets them as a control server does."""

    def __init__(self, context: Context) -> None:
        self.executor = ListeningNode("realtime_executor", context=context, namespace="/q")
        # As the real one, it answers again a client that the middleware does not know yet.
        self.server = ListeningNode("control_server", context=context, namespace="/q")
        self._states = dict.fromkeys(("arm", "gripper", "rangefinder", "wrist", "io"), "enabled")
        self._status = self.executor.create_publisher(ExecutorStatus, "~/status", 10)
        self._service: Any = None
        self.attached = False
        self.asked: list[str] = []
        self.executor.create_timer(0.05, self._publish)

    def _publish(self) -> None:
        parts = [PartStatus(name=name, operational_state=state) for name, state in self._states.items()]
        self._status.publish(ExecutorStatus(parts=parts, server_attached=self.attached, period=0.001))

    def attach(self) -> None:
        self._service = self.server.create_service(SetMotion, "~/set_motion", self._set_motion)
        self.attached = True

    def end_server(self) -> None:
        self.server.destroy_service(self._service)

    def _set_motion(self, request: Any, response: Any) -> Any:
        self.asked.append(request.command)
        self._states |= dict.fromkeys(request.parts, {"enable": "enabled", "disable": "disabled"}[request.command])
        response.success = True
        return response


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Tools, FewWords]]:
    described = replace(CONTROLLER_TYPES[TRAJECTORY], code="fake_controllers:FakeController")
    monkeypatch.setitem(CONTROLLER_TYPES, TRAJECTORY, described)
    text = (CONFIG / "arm7.yaml").read_text().replace("robots/", f"{CONFIG}/robots/") + "\ncontrollers:\n"
    for name, state, interface in (("a", "active", 1), ("b", "inactive", 1), ("c", "inactive", 2)):
        options = f"{{interfaces: [joint_{interface}/position]}}"
        text += f"  {name}: {{type: {TRAJECTORY}, part: arm, state: {state}, options: {options}}}\n"
    (tmp_path / "cell.yaml").write_text(text)
    tools = Tools("/q/controller_manager")
    words = FewWords(tools.context)
    node = ControllerManagerNode(
        context=tools.context,
        namespace="/q",
        cli_args=["--ros-args", "-p", f"workcell:={tmp_path / 'cell.yaml'}"],
        use_global_arguments=False,
    )
    for added in (words.executor, words.server, node):
        tools.executor.add_node(added)
    assert node.start()
    yield tools, words
    node.close()
    tools.close(node, words.server, words.executor)


STATES = {"joint_state_broadcaster": "active", "a": "active", "b": "inactive", "c": "inactive"}


def test_controllers_are_brought_up_and_switched(fake: tuple[Tools, FewWords]) -> None:
    tools, words = fake
    eventually(lambda: tools.component().state.label == "active")
    assert tools.states() == {}  # no control server yet
    words.attach()
    eventually(lambda: tools.states() == STATES)
    (claimed,) = [i.name for i in tools.component().command_interfaces if i.is_claimed]
    assert claimed == "joint_1/position"
    answer = tools.call("switch_controller", activate_controllers=["b"], strictness=STRICT)
    assert not answer.ok and answer.message.startswith("controller 'b' cannot be activated; expected interface")
    answer = tools.call("switch_controller", activate_controllers=["b", "c"], deactivate_controllers=["a"])
    assert answer.ok and answer.message == "deactivated: a; activated: b, c"
    by_name = {controller.name: controller for controller in tools.call("list_controllers").controller}
    assert by_name["c"].claimed_interfaces == by_name["c"].required_command_interfaces == ["joint_2/position"]
    assert by_name["a"].claimed_interfaces == [] and by_name["a"].required_command_interfaces == ["joint_1/position"]
    eventually(
        lambda: tools.activity
        and {c.name: c.state.label for c in tools.activity[-1].controllers}
        == {"joint_state_broadcaster": "active", "a": "inactive", "b": "active", "c": "active"}
    )
    assert [(h.name, h.state.id) for h in tools.activity[-1].hardware_components] == [("sim", 3)]
    answer = tools.call("switch_controller", deactivate_controllers=["joint_state_broadcaster"], strictness=BEST_EFFORT)
    assert not answer.ok and "is always active" in answer.message


def test_its_client_is_in_its_enclave(fake: tuple[Tools, FewWords]) -> None:
    tools, _ = fake

    def enclaves() -> dict[str, str]:
        found = tools.node.get_node_names_and_namespaces_with_enclaves()
        return {name: enclave for name, space, enclave in found if space == "/q"}

    eventually(lambda: "controller_manager_client" in enclaves())
    assert enclaves()["controller_manager_client"] == ENCLAVE


def test_controllers_are_loaded_as_spawners_do_it(fake: tuple[Tools, FewWords]) -> None:
    tools, words = fake
    words.attach()
    eventually(lambda: tools.states() == STATES)
    assert not tools.call("unload_controller", name="a").ok and not tools.call("configure_controller", name="a").ok
    assert not tools.call("load_controller", name="a").ok and not tools.call("load_controller", name="d").ok
    assert tools.call("cleanup_controller", name="c").ok and tools.states()["c"] == "unconfigured"
    assert tools.call("unload_controller", name="c").ok and "c" not in tools.states()
    assert "c.type" in tools.ask(ListParameters, "list_parameters").result.names
    for given, successful in ((TRAJECTORY, True), ("other/Controller", False)):
        parameter = Parameter("c.type", value=given).to_parameter_msg()
        (result,) = tools.ask(SetParameters, "set_parameters", parameters=[parameter]).results
        assert result.successful == successful
    assert result.reason == (
        f"parameter 'c.type'; expected '{TRAJECTORY}', as in the workcell file; got 'other/Controller'"
    )
    assert tools.call("load_controller", name="c").ok and tools.call("configure_controller", name="c").ok
    assert tools.states() == STATES
    assert not tools.call("reload_controller_libraries", force_kill=False).ok and tools.states() == STATES
    assert tools.call("reload_controller_libraries", force_kill=True).ok
    assert tools.states() == {"joint_state_broadcaster": "active"}


def test_it_survives_the_control_server(fake: tuple[Tools, FewWords]) -> None:
    tools, words = fake
    words.attach()
    eventually(lambda: tools.states() == STATES)
    assert tools.set_component(label="inactive").ok and words.asked == ["disable"]
    words.attached = False
    eventually(lambda: not tools.set_component(label="inactive").ok)
    words.end_server()
    assert not tools.set_component(label="active").ok and "enable" not in words.asked
    assert tools.states() == STATES and tools.call("switch_controller", deactivate_controllers=["a"]).ok
    words.attach()
    eventually(lambda: tools.set_component(label="active").ok)
    assert words.asked[-1] == "enable" and tools.component().state.label == "active"


def test_its_life_cycle_brings_the_controllers_down_and_up(fake: tuple[Tools, FewWords]) -> None:
    tools, words = fake
    words.attach()
    eventually(lambda: tools.states() == STATES)
    tools.call("switch_controller", activate_controllers=["b"], deactivate_controllers=["a"])
    for transition in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE):
        answer = tools.ask(ChangeState, "change_state", transition=Transition(id=transition))
        assert answer.success
    eventually(lambda: tools.states() == STATES)
