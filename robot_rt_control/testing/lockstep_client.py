"""`client.Client` without ROS, threads and other processes: an application's program runs in simulated time.

with LockstepClient("config/iiwa.yaml") as client:
    main(client)  # the same function that runs against a workcell in real time

Whatever waits lets the workcell tick: `session.wait_for`, `session.wait_until`. Nothing else takes time, so two runs of
the same program give the same ticks and the same numbers, bit by bit, however busy the machine is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

from robot_rt_control.client.event import Event
from robot_rt_control.client.recording import Recording
from robot_rt_control.hardware.picture import camera_of, picture_path
from robot_rt_control.model.workcell import Workcell, load_workcell
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.testing.cell_session import event_of
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.testing.lockstep_session import LockstepSession, Reader
from robot_rt_control.vocabulary.errors import RobotControlError


class LockstepClient:
    """Has the methods of `client.Client` that a program with one thread needs. A context manager.

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
        self.cell = LockstepCell(workcell)
        self._listeners: list[Callable[[Event], None]] = []
        self._recordings: list[tuple[Recording, list[Reader]]] = []
        self._sessions: list[LockstepSession] = []
        self.cell.server.add_listener(self._on_event)

    # --- life -----------------------------------------------------------------------------------

    def __enter__(self) -> LockstepClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all sessions, and bring the workcell down."""
        for session in self._sessions:
            if session.ended is None:
                session.close()
        self.cell.close()

    # --- the workcell ---------------------------------------------------------------------------

    def session(
        self,
        parts: str | Iterable[str] = (),
        *,
        lease_s: float = 0.0,
        deadline_s: float = 0.0,
        read_only: bool = False,
        name: str = "python",
    ) -> LockstepSession:
        """Open a session on parts; without a lease, for in simulated time a client does not vanish.

        Args:
            deadline_s, read_only: as `Client.session`; the deadline is on the cell's clock `now`.

        Raises:
            SessionError: a part is unknown, or held by another session.
        """
        session = LockstepSession(
            self,
            (parts,) if isinstance(parts, str) else parts,
            lease_s=lease_s,
            name=name,
            deadline_s=deadline_s,
            read_only=read_only,
        )
        self._sessions.append(session)
        return session

    def watch(self, *, deadline_s: float = 0.0, name: str = "watch") -> LockstepSession:
        """Open a session that only watches, as `Client.watch`."""
        return self.session(read_only=True, deadline_s=deadline_s, name=name)

    def stop_all(self) -> int:
        """Stop all actions of all sessions in one tick. Returns the tick."""
        return self.cell.server.stop("")

    def value(self, name: str) -> float:
        """Value of a state variable of a part after the last tick; NaN: unknown.

        Raises:
            RobotControlError: there is none of this name.
        """
        variable = self.cell.server.variables.get(name)
        if variable is None:
            known = sorted(self.cell.server.variables)
            raise RobotControlError(f"state variable {name!r} is not known", expected="one of: " + ", ".join(known))
        return self.cell.view.value(variable.offset)

    def take_picture(self, file: Path | str, *, width: int = 0, height: int = 0) -> Path:
        """Have the simulator's camera write a PNG; 0: the size that the workcell says.

        Raises:
            RobotControlError: the hardware has no camera, or the file cannot be written.
        """
        for host in self.cell.executor.devices.hosts.values():
            if hasattr(host.plugin, "take_picture"):
                path = picture_path(str(Path(file).resolve()))
                camera_of(host.plugin).take_picture(path, width, height)
                return path
        raise RobotControlError("no device has a camera", hint="Only simulated hardware has one")

    def sleep(self, seconds: float) -> None:
        """Let simulated time pass: at least one tick."""
        self.step(max(round(seconds / self.cell.workcell.period), 1))

    def step(self, ticks: int = 1) -> int:
        """Run so many ticks. Returns the last tick's number."""
        if not self._recordings:
            return self.cell.step(ticks)
        for _ in range(ticks):
            self.cell.step()
            view = self.cell.view
            for recording, readers in self._recordings:
                recording.append(view.time, [read(view) for read in readers])
        return self.cell.tick

    # --- events ---------------------------------------------------------------------------------

    def add_listener(self, listener: Callable[[Event], None]) -> None:
        """Call `listener(event)` at every event of every session, right after its tick."""
        self._listeners.append(listener)

    def remove_listener(self, listener: Callable[[Event], None]) -> None:
        """Undo `add_listener`."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def _on_event(self, server_event: ServerEvent) -> None:
        event = event_of(server_event)
        for listener in list(self._listeners):
            listener(event)

    # --- recording ------------------------------------------------------------------------------

    def start_recording(self, recording: Recording, readers: list[Reader]) -> None:
        """Append to the recording after each tick, one value from each reader; for sessions."""
        self._recordings.append((recording, readers))

    def end_recording(self, recording: Recording) -> None:
        """Undo `start_recording`."""
        self._recordings = [entry for entry in self._recordings if entry[0] is not recording]
