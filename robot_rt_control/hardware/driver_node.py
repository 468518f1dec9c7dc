"""The driver node of one device: runs its Python plugin in its own process, beside the executor."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup

from robot_rt_control import srv
from robot_rt_control.drawing.shape import Shape
from robot_rt_control.hardware.drawable import Drawable, drawn_objects
from robot_rt_control.hardware.driver import Driver
from robot_rt_control.hardware.driver_health import Cycles, driver_health
from robot_rt_control.hardware.from_workcell import hardware_info, python_device, with_window
from robot_rt_control.hardware.picture import PictureFolder, PictureInCopy, camera_of
from robot_rt_control.hardware.urgency import raise_urgency
from robot_rt_control.memory.segment_names import image_name
from robot_rt_control.model.workcell.workcell import NOT_PYTHON, DeviceDescription, Workcell, load_workcell
from robot_rt_control.ros.diagnostics import DIAGNOSTICS, diagnostic_array
from robot_rt_control.ros.lifecycle_node import COMMON_PARAMETERS, NodeParameter, WorkcellNode
from robot_rt_control.ros.node_help import NodeHelp
from robot_rt_control.ros.node_process import run_node
from robot_rt_control.ros.refusals import answer_to
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError, RobotControlError
from robot_rt_control.vocabulary.waiting import Waiting

if TYPE_CHECKING:
    from robot_rt_control.ros.object_markers import ObjectMarkers

_PARAMETERS = (
    NodeParameter(
        name="device", default="", description="Which device of the workcell; empty: the only one with a Python plugin."
    ),
    NodeParameter(name="gui", default=False, description="Show the simulation in a window."),
)

_POLL_S = 0.2
_PICTURE_S = 30.0
_DIAGNOSTICS_S = 1.0


ABOUT = NodeHelp(
    executable="hardware_driver",
    summary="The driver of one hardware device: runs its Python plugin beside the executor, in a process of its own. "
    "When the executor stops, it brings the device to rest. In simulated time the executor hosts the plugins instead.",
    parameters=(*COMMON_PARAMETERS, *_PARAMETERS),
    examples=(
        "--ros-args -p workcell:=iiwa.yaml -p hardware:=pybullet",
        "--ros-args -p workcell:=cell.yaml -p device:=arm",
    ),
)


class HardwareDriverNode(WorkcellNode):
    """The node `hardware_driver`. While it is active, its device is open and follows the executor."""

    def __init__(self, **options: Any) -> None:
        super().__init__("hardware_driver", _PARAMETERS, **options)
        self._workcell: Workcell | None = None
        self._device: DeviceDescription | None = None
        self._pictures: PictureFolder | None = None
        self.driver: Driver | None = None
        self._thread: threading.Thread | None = None
        self._opened = threading.Event()
        self._leaving = threading.Event()
        self._error: RobotControlError | None = None
        self._made: list[Any] = []
        self._objects: ObjectMarkers | None = None

    # --- life cycle -----------------------------------------------------------------------------

    def configure(self) -> None:
        workcell = load_workcell(self.workcell_file(), self.value("hardware") or None)
        self._workcell = with_window(workcell) if self.value("gui") else workcell
        self._pictures = PictureFolder(workcell.name)
        self._device = self._find_device(self._workcell)

    def _find_device(self, workcell: Workcell) -> DeviceDescription:
        name = self.value("device")
        if name:
            return python_device(workcell.device(name))
        candidates = [device for device in workcell.devices if device.plugin not in NOT_PYTHON]
        if len(candidates) != 1:
            raise DefinitionError(
                "parameter 'device'",
                expected="the name of a device" if candidates else "a workcell with a device that needs a driver",
                got=f"none, and there are {len(candidates)} ({', '.join(d.name for d in candidates)})"
                if candidates
                else f"hardware {workcell.hardware!r}, which the executor has built in",
            )
        return candidates[0]

    def activate(self) -> None:
        # All slow steps come before the device's first state: from then on the executor counts its age.
        group = MutuallyExclusiveCallbackGroup()
        self._diagnostics = self.create_publisher(DiagnosticArray, DIAGNOSTICS, 10)
        self._counted = Cycles(cycles=0, overruns=0)
        self._made = [
            self._diagnostics,
            self.create_timer(_DIAGNOSTICS_S, self._publish_diagnostics, callback_group=group),
            self.create_service(
                srv.TakePicture, "~/take_picture", self._take_picture, callback_group=MutuallyExclusiveCallbackGroup()
            ),
        ]
        try:
            self._open()
            if self.driver is not None and isinstance(self.driver.host.plugin, Drawable):
                from robot_rt_control.ros.object_markers import ObjectMarkers  # few have objects

                self._objects = ObjectMarkers(self, self._simulated_objects)
        except HardwareError:
            self._withdraw()
            self._leaving.set()
            raise

    def _open(self) -> None:
        self._opened.clear()
        self._leaving.clear()
        self._error = None
        self._thread = threading.Thread(target=self._run, name="driver", daemon=True)
        self._thread.start()
        waiting = Waiting(self.get_logger().info)
        while not self._opened.wait(_POLL_S):
            if not waiting.goes_on("the device to open"):
                raise HardwareError(f"the device did not open within {defaults.STARTUP_S:g} s")
        if self._error is not None:
            raise self._error

    def _withdraw(self) -> None:
        if self._objects is not None:
            self._objects.close()
            self._objects = None
        self.remove(*self._made)
        self._made = []

    def deactivate(self) -> None:
        """Bring the device to rest and close it."""
        self._withdraw()
        self._leaving.set()  # a device that is still opening is closed once it is open
        driver = self.driver
        if driver is not None:
            driver.stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def cleanup(self) -> None:
        self._workcell = self._device = None

    # --- the plugin's thread ------------------------------------------------------------------------

    def _run(self) -> None:
        """All calls of the plugin, from the first to the last."""
        workcell, device = self._workcell, self._device
        assert workcell is not None and device is not None
        domain = os.environ.get("ROS_DOMAIN_ID", "0")
        driver: Driver | None = None
        try:
            driver = Driver(
                device.plugin,
                hardware_info(workcell, device),
                image_name=image_name(self.get_namespace(), domain, device.name),
            )
            driver.start()
            self.driver = driver
            if self._leaving.is_set():
                driver.stop()
            self._opened.set()
            self.get_logger().info(
                f"device {device.name!r} runs on {device.plugin!r} every {workcell.period * 1e3:g} ms"
            )
            driver.run()
        except RobotControlError as error:
            self._failed(error)
        except Exception as error:  # a plugin may raise anything: the node reports it and ends the driver
            self._failed(HardwareError(f"device {device.name!r}", got=f"{type(error).__name__}: {error}"))
        finally:
            self.driver = None
            if driver is not None:
                self._close(driver)

    def _failed(self, error: RobotControlError) -> None:
        if not self._opened.is_set():
            self._error = error
            self._opened.set()
            return
        self.get_logger().error(str(error))
        self.end(1)

    def _close(self, driver: Driver) -> None:
        try:
            driver.close()
        except HardwareError as error:
            self.get_logger().error(str(error))
        self.get_logger().info(f"device closed after {driver.cycles} cycles, {driver.overruns} of them late")

    # --- what people and tools see ------------------------------------------------------------------

    def _publish_diagnostics(self) -> None:
        driver, device = self.driver, self._device
        if driver is None or device is None:
            return
        counted = Cycles(
            cycles=driver.cycles,
            overruns=driver.overruns,
            late_commands=driver.host.late_commands if driver.host.plugin.paces else None,
            starts_ns=tuple(driver.starts.copy()),
        )
        health = driver_health(device.name, driver.host.mode, counted, self._counted)
        self._counted = counted
        stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(diagnostic_array(self.get_fully_qualified_name(), [health], stamp))

    def _simulated_objects(self) -> list[Shape]:
        """Looked at between two cycles."""
        driver = self.driver
        return [] if driver is None else driver.call(lambda: drawn_objects([driver.host.plugin]))

    def _take_picture(self, request: Any, response: Any) -> Any:
        def do() -> None:
            response.path = str(self._picture(request))

        return answer_to("take_picture", do, response, self.get_logger().error)

    def _picture(self, request: Any) -> Path:
        driver = self.driver
        if driver is None:
            raise HardwareError("the device is not open", hint="Activate the driver node")
        camera = camera_of(driver.host.plugin)
        assert self._pictures is not None  # as there is a driver
        width, height = int(request.width), int(request.height)
        with self._pictures.new(request.name) as path:
            if camera.has_window:
                # The scene cannot be copied, so the simulation pauses.
                driver.call(lambda: camera.take_picture(path, width, height), _PICTURE_S)
            else:
                driver.call(lambda: PictureInCopy(camera, path, width, height)).wait(_PICTURE_S)
        return path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a stop is requested. Return the exit code."""
    warning = raise_urgency()

    def make() -> HardwareDriverNode:
        node = HardwareDriverNode()
        if warning:
            node.get_logger().warning(warning)
        return node

    return run_node(make, argv, about=ABOUT)


if __name__ == "__main__":
    sys.exit(main())
