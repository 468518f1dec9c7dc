"""An executor whose clock is a device that the test cycles by hand, through a real process image."""

from __future__ import annotations

import threading
import time
import uuid
from pathlib import Path
from types import TracebackType
from typing import Self

from robot_rt_control.hardware.device_host import DeviceHost
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.memory.shared_memory import segment_path
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions

PERIOD_S = 0.1
"""Long, so that a busy machine is not taken for a silent device."""

CELL = f"""
name: driven
period: {PERIOD_S}
parts:
  axis:
    kind: base
    device: drive
    joints: [{{name: x, type: prismatic, position_lower: -1.0, position_upper: 1.0, velocity: 0.5, effort: 100}}]
devices:
  drive: {{max_age_ticks: 2, "robot_rt_control.hardware.mock_plugin:MockPlugin": {{}}}}
"""


class DrivenExecutor:
    """Use it in a `with` statement: on entry the loop ticks and the axis is enabled."""

    def __init__(self, folder: Path) -> None:
        (folder / "cell.yaml").write_text(CELL)
        self.workcell: Workcell = load_workcell(
            folder / "cell.yaml", "robot_rt_control.hardware.mock_plugin:MockPlugin"
        )
        self._image = f"rrc_test_{uuid.uuid4().hex[:12]}"
        device = self.workcell.driving_device()
        self.host = DeviceHost(device.plugin, hardware_info(self.workcell, device), image_name=self._image)
        self.host.activate()
        self.executor = Executor(
            self.workcell,
            ExecutorOptions(clock="hardware", priority=0, lock_memory=False),
            channel_name=None,
            image_name=lambda _: self._image,
        )
        self._by_itself = threading.Event()

    def __enter__(self) -> Self:
        self.executor.configure(lambda _: None)
        cycling = threading.Thread(target=self._cycle_by_itself)
        cycling.start()
        self.executor.activate()
        self._by_itself.set()
        cycling.join()
        return self

    def _cycle_by_itself(self) -> None:
        while not self._by_itself.is_set():
            self.cycle()
            time.sleep(PERIOD_S / 2)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.executor.deactivate()
        self.executor.cleanup()
        self.host.shutdown()
        segment_path(self._image).unlink(missing_ok=True)

    def cycle(self) -> None:
        """One cycle of the driver."""
        self.host.cycle_read(0.0, PERIOD_S)
        self.host.cycle_write(0.0, PERIOD_S)

    @property
    def tick(self) -> int:
        """The last tick that is complete."""
        return int(self.executor.channel.snapshot().tick)

    def wait_for_tick(self, tick: int, timeout_s: float = 5.0) -> None:
        """Wait until this number of ticks is complete. Raises TimeoutError."""
        deadline = time.monotonic() + timeout_s
        while self.tick < tick:
            if time.monotonic() > deadline:
                raise TimeoutError(f"no tick {tick} within {timeout_s} s, only {self.tick}")
            time.sleep(0.0005)
