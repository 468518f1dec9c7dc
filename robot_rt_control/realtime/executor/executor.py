"""The real-time executor without ROS: world, channel, hardware, installations and the loop, with a life cycle."""

from __future__ import annotations

import contextlib
import hmac
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from robot_rt_control.hardware.clocks import HARDWARE, LOCKSTEP, REALTIME
from robot_rt_control.memory.atomics import load_acquire, store_release
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import offset_of, stop_request_dtype, world_dtype
from robot_rt_control.memory.operator_secret import new_secret, write_operator_secret
from robot_rt_control.memory.stops import (
    Stop,
    foreseen_refusal,
    known_stops,
    latched_stops,
    release_refused,
    secret_digest,
    source_of,
    stop_request,
)
from robot_rt_control.model.workcell.drives import drive_counters
from robot_rt_control.model.workcell.monitors import BLOCKED_BY_DESIGN
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.realtime.executor import native_loader
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.devices import Devices
from robot_rt_control.realtime.executor.fault_recorder import FaultRecorder
from robot_rt_control.realtime.executor.installer import Installer
from robot_rt_control.realtime.executor.lockstep import Lockstep
from robot_rt_control.realtime.executor.loop_guard import LoopGuard
from robot_rt_control.realtime.executor.loops import loops
from robot_rt_control.realtime.executor.native_loader import NativeType
from robot_rt_control.realtime.executor.patient_watch import PatientWatch
from robot_rt_control.realtime.executor.realtime_thread import RealtimeThread
from robot_rt_control.realtime.executor.schedule import Schedule
from robot_rt_control.realtime.executor.server_patience import ServerPatience
from robot_rt_control.realtime.executor.session_recorder import SessionRecorder, wall_clock_epoch_ns
from robot_rt_control.realtime.executor.tick_ring import TickRing
from robot_rt_control.realtime.tick.server_watch import ServerWatch
from robot_rt_control.recording.folders import file_stem, file_word, state_folder
from robot_rt_control.recording.inputs import InputKind, pack_tables
from robot_rt_control.recording.kept_files import RECORDING, KeptFiles, free_path
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import (
    Authority,
    Command,
    FaultReason,
    OperationalState,
    OverrunPolicy,
    Refusal,
)
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.fault_reasons import FAULTS, fault_in_words
from robot_rt_control.vocabulary.phase_times import ends
from robot_rt_control.vocabulary.waiting import Waiting, told

_log = logging.getLogger(__name__)

_INTERNAL = offset_of(world_dtype, "pending_internal")
_INTERNAL_S = 2.0
"""How long the loop may take for a command of the executor's own; in simulated time SIMULATED_PATIENCE times that."""
_LOG_S = 0.02
"""How often the executor looks whether a log of the last ticks is asked for."""
_CYCLES_BEFORE_ENABLING = 20


@dataclass(frozen=True, kw_only=True)
class ExecutorOptions:
    """How an executor runs."""

    clock: str = REALTIME
    """realtime: absolute deadlines on the wall clock; lockstep: simulated time, in step with the simulator;
    hardware: the cycle of the workcell's driving device."""
    real_time_factor: float = 1.0
    """Lockstep: simulated seconds in a second; 0: as fast as possible; negative: only by `step`."""
    priority: int = 80
    """Priority of the real-time thread under SCHED_FIFO; 0: an ordinary thread."""
    cpu: int = -1
    """Processor of the real-time thread; -1: any."""
    lock_memory: bool = True
    native_silence_s: float = defaults.SERVER_NATIVE_SILENCE_S
    python_silence_s: float = defaults.SERVER_PYTHON_SILENCE_S
    starved_silence_s: float = defaults.SERVER_STARVED_SILENCE_S
    """Silence of either heartbeat while the machine gives the server no processor time; lockstep waits for ever."""
    simulated_silence_s: float = defaults.SIMULATED_SERVER_SILENCE_S
    """Lockstep: silence of either heartbeat."""
    device_timeout_s: float = defaults.STARTUP_S
    """How long the driver processes, and then the first states of all devices, are waited for."""
    overrun_policy: str = ""
    """count, warn or fault: what missed deadlines lead to; empty: as the workcell says."""
    fault_folder: Path | None = None
    """Where logs of the last ticks go; None: as the workcell says."""
    record: Path | None = None
    """Record all ticks to this file, or to one in this folder; None: nothing is recorded before `record`."""

    @property
    def gated(self) -> bool:
        """Whether ticks come by `step` alone."""
        return self.clock == LOCKSTEP and self.real_time_factor < 0


@dataclass(frozen=True, kw_only=True)
class PartStatus:
    """What a part is doing, in words; empty: none."""

    name: str
    operational_state: str
    fault: str
    fault_file: str
    active_action: str
    session: str
    tool: str = ""
    """The tool that is on; empty: the part lists none."""
    unmonitored: tuple[str, ...] = ()
    """Monitors of its measured motion that are off, with the reason."""
    drives: Mapping[str, str] = field(default_factory=dict)
    """Each drive of the part, with its counters."""


class Executor:
    """One workcell's executor. configure → activate → deactivate → cleanup, by one thread at a time.

    Args:
        channel_name: of the shared-memory channel; None: a private channel, for a server in this process.
        image_name: device name → name of the driver's shared-memory image.
        load: gives the code of an action type's key.
    """

    def __init__(
        self,
        workcell: Workcell,
        options: ExecutorOptions,
        *,
        channel_name: str | None,
        image_name: Callable[[str], str],
        load: Callable[[str], NativeType] = native_loader.load,
    ) -> None:
        self.workcell, self.options = workcell, options
        self._driving_device = workcell.driving_device().index if options.clock == HARDWARE else None
        period_ns = round(workcell.period * 1e9)
        self.world = World(workcell)
        self.world.memory.watching = options.clock != LOCKSTEP
        if channel_name is None:
            self.channel = Channel.private()
        else:
            self.channel = Channel.create(channel_name, workcell=workcell.digest, period_ns=period_ns)
        self.channel.memory.gated = options.gated
        self.channel.memory.simulated = options.clock == LOCKSTEP
        self.operator_secret = new_secret()
        """Gives authority over the whole workcell: to speed up, and to release protective stops."""
        self.channel.memory.operator = secret_digest(self.operator_secret)
        self._channel_name = channel_name
        self._operator_file: Path | None = None
        self.devices = Devices(self.world, in_process=options.clock == LOCKSTEP, image_name=image_name)
        self._period_ns = period_ns
        self._set_overruns()
        log = workcell.fault_log
        folder = options.fault_folder or (Path(log.folder).expanduser() if log.folder else state_folder("faults"))
        # Room for what the loop does while a log waits to be copied, and is being copied.
        rows = log.ticks + log.after + log.ticks // 4 + 500
        self.ring = TickRing(self.world, self.channel, rows=rows, after=log.after)
        epoch_ns = 0 if options.clock == LOCKSTEP else wall_clock_epoch_ns()
        self.recorder = FaultRecorder(
            self.world,
            self.channel,
            self.ring,
            ticks=log.ticks,
            after=log.after,
            files=log.files,
            folder=folder,
            epoch_ns=epoch_ns,
        )
        self.session_recorder = SessionRecorder(
            self.world,
            self.channel,
            self.ring,
            lockstep=options.clock == LOCKSTEP,
            epoch_ns=epoch_ns,
            about=lambda: {"clock": options.clock},
        )
        self._recording = threading.Lock()
        self._commanding = threading.Lock()
        self._installer = Installer(
            self.world.memory,
            self.world.address,
            self.channel,
            load,
            ticking=options.clock != LOCKSTEP,
            taken=self._note_tables,
        )
        self._thread: RealtimeThread | None = None
        self.lockstep: Lockstep | None = None
        self._guard = self._new_guard()
        self._server_watch = ServerWatch(self.channel)
        simulated = options.clock == LOCKSTEP
        self.server_patience = ServerPatience(
            self.channel,
            native_s=options.simulated_silence_s if simulated else options.native_silence_s,
            python_s=options.simulated_silence_s if simulated else options.python_silence_s,
            starved_s=0.0 if simulated else options.starved_silence_s,
        )
        self._patient_watch = PatientWatch(self.channel, options.simulated_silence_s, self.server_patience)
        self._lost_epoch = 0
        self._stop = threading.Event()
        self._workers: list[threading.Thread] = []

    def _note_tables(self, staging: np.record) -> None:
        self.session_recorder.name_reactions(staging)
        self.session_recorder.note(InputKind.TABLES, lambda: pack_tables(staging))

    def _new_guard(self) -> LoopGuard:
        """A watch that goes before the loop, if that has a real-time priority."""
        realtime = self.options.clock != LOCKSTEP and self.options.priority > 0
        return LoopGuard(self.world, priority=self.options.priority + 1 if realtime else 0)

    def _set_overruns(self) -> None:
        given, overrun = self.workcell.overruns, self.world.memory.overrun
        self.overrun_policy = self.options.overrun_policy or given.policy
        overrun.policy = OverrunPolicy[self.overrun_policy.upper()]
        overrun.limit = given.limit
        overrun.window = max(1, round(given.window / self.workcell.period))
        overrun.report_ticks = max(1, round(defaults.OVERRUN_REPORT_S / self.workcell.period))

    # --- life cycle -----------------------------------------------------------------------------

    def configure(self, progress: Callable[[str], object] = _log.info) -> None:
        """Attach the hardware and compile the loop.

        Raises:
            RobotControlError: a device did not come up.
        """
        self.devices.open(self.options.device_timeout_s, progress)
        ends("opening the devices")
        begin = time.monotonic()
        progress("loading the tick loop; the first time after a change it is compiled")
        with told(progress, f"compiling the tick loop for the clock {self.options.clock!r}"):
            self._load_loop()
        with told(progress, "compiling the watch over the loop"):
            self._guard.compile()
        ends("the tick loop")
        progress(f"the tick loop is ready after {time.monotonic() - begin:.1f} s")

    def _load_loop(self) -> None:
        """Compile the loop, or load it from the cache."""
        if self.options.clock != LOCKSTEP:
            loops()
            return
        self.lockstep = Lockstep(
            self.world,
            self.channel,
            self.devices,
            period_ns=self._period_ns,
            factor=self.options.real_time_factor,
            before_tick=self._before_lockstep_tick,
            recorder=self.session_recorder,
        )

    def activate(self, progress: Callable[[str], object] = _log.info) -> None:
        """Start ticking, and enable the motion of all parts that have no fault.

        Args:
            progress: takes lines that say what is awaited, and what is recorded.
        """
        self._write_operator_secret()
        self._guard = self._new_guard()
        self._guard.start()
        for part in self.workcell.parts:
            if off := [monitor for monitor in part.unmonitored if not monitor.endswith(BLOCKED_BY_DESIGN)]:
                _log.warning("part %r: the workcell switches monitors off: %s", part.name, "; ".join(off))
        if self.options.record is not None:
            try:
                progress(f"recording to {self.record(True, self.options.record)}")
            except RobotControlError as error:  # a robot is not to stand still for it
                _log.error("nothing is recorded: %s", error)
        if self.options.clock != LOCKSTEP:
            self._thread = RealtimeThread(
                self.world.memory,
                self.channel,
                period_ns=self._period_ns,
                priority=self.options.priority,
                cpu=self.options.cpu,
                lock=self.options.lock_memory,
                native_silence_s=self.options.native_silence_s,
                python_silence_s=self.options.python_silence_s,
                starved_silence_s=self.options.starved_silence_s,
                driving_device=self._driving_device,
                device_timeout_s=defaults.DRIVING_DEVICE_TIMEOUT_TICKS * self.workcell.period,
            )
            self._thread.start()
            for warning in self._thread.scheduling.warnings:
                _log.warning(warning)
        self._stop.clear()
        self._workers = [
            threading.Thread(target=self._serve_installations, name="installer", daemon=True),
            threading.Thread(target=self._watch, name="watch", daemon=True),
            threading.Thread(target=self._write_logs, name="fault logs", daemon=True),
        ]
        for worker in self._workers:
            worker.start()
        self._enable_all(progress)
        if self.lockstep is not None:
            self.lockstep.start()

    @property
    def schedule(self) -> Schedule | None:
        """When its ticks are due; None: it has not begun, or the wall clock does not drive it."""
        return self._thread.schedule if self._thread is not None else None

    def _enable_all(self, progress: Callable[[str], object]) -> None:
        """Enable every part as soon as its device delivers states; a fault stays for somebody to clear."""
        waiting = Waiting(progress, self.options.device_timeout_s)
        while True:
            awaited = self._awaited()
            going_on = waiting.goes_on("the first states of " + ", ".join(awaited or self._disabled()))
            if not awaited or not going_on:
                self._internal_command(Command.ENABLE)
                wrong = self._wrong_tools()
                if not set(self._disabled()) - set(wrong):
                    for why in wrong.values():
                        _log.error("not enabled: %s", why)
                    return
            if not going_on:
                names = ", ".join(self._disabled())
                _log.error("not enabled, as their position is not known: %s; enable them later", names)
                return
            if self.lockstep is not None:
                self.lockstep.step(1)
            else:
                time.sleep(0.005)

    def _wrong_tools(self) -> dict[str, str]:
        """Part → that and why its tool keeps it from being enabled."""
        found = {}
        for part in self.workcell.parts:
            record = self.world.memory.parts[part.index]
            if part.tools and record.tool_confirmed != 1.0:
                tool = part.tools[int(record.tool_number)]
                found[part.name] = (
                    f"part {part.name!r}: the tool {tool.name!r} should be on, but "
                    f"{'sensors say otherwise' if record.tool_confirmed == 0.0 else 'a sensor is unknown'}"
                    f"{f' ({tool.sensor})' if tool.sensor else ''}; put on the right one, or call change_tool with it, "
                    "then enable"
                )
        return found

    def _disabled(self) -> list[str]:
        runtimes = self.world.memory.parts_runtime
        return [p.name for p in self.workcell.parts if runtimes[p.index].state == OperationalState.DISABLED]

    def deactivate(self, margin_s: float = 2.0) -> bool:
        """Bring all parts to rest, disable their motion and stop ticking. Returns whether they came to rest in time.

        Args:
            margin_s: [s] beyond the time that the slowest part's limits need, for its motors and a busy machine.
        """
        self._internal_command(Command.DISABLE)
        # A heavy base brakes for seconds: a fixed time would stop the loop while it moves.
        braking = max((part.braking_time for part in self.workcell.parts), default=0.0)
        deadline = time.monotonic() + margin_s + braking
        while not (rest := self._at_rest() and not self.devices.motors_enabled()) and time.monotonic() < deadline:
            if self.lockstep is not None:
                self.lockstep.step(10)
            else:
                time.sleep(0.005)
        self._stop.set()
        self.channel.ring_install()  # the installer sleeps on it
        for worker in self._workers:
            worker.join(2.0)
        self.channel.memory.executor_beat = 0
        if self.lockstep is not None:
            self.lockstep.stop()
        if self._thread is not None:
            self._thread.stop()
            self._thread = None
        self._guard.stop()
        self.write_logs(finish=True)
        self.session_recorder.stop("the executor was deactivated")
        self._remove_operator_secret()
        return rest

    def _write_operator_secret(self) -> None:
        if self._channel_name is None or self._operator_file is not None:
            return
        try:
            self._operator_file = write_operator_secret(self._channel_name, self.operator_secret)
        except OSError as error:  # a robot is not to stand still for it: a session's secret gives authority too
            _log.error("the operator's secret could not be written: %s", error)

    def _remove_operator_secret(self) -> None:
        path, self._operator_file = self._operator_file, None
        if path is not None:
            with contextlib.suppress(OSError):
                path.unlink()

    def cleanup(self) -> None:
        """Give hardware and channel back."""
        self._remove_operator_secret()
        self.devices.close()
        self.recorder.close()
        self.channel.close()

    # --- while it runs ----------------------------------------------------------------------------

    def real_time_factor(self) -> tuple[float, float, str]:
        """Simulated time per wall-clock time over the last second, its target, and a warning if it falls behind.

        NaN, NaN and none on another clock than lockstep.
        """
        if self.lockstep is None or self.options.gated:
            return math.nan, math.nan, ""
        meter = self.lockstep.meter
        factor = meter.factor(self.lockstep.time_ns * 1e-9)
        return factor, meter.target, meter.shortfall(factor)

    @property
    def scheduling(self) -> str:
        """What the operating system granted the real-time thread, in words."""
        return "lockstep" if self._thread is None else self._thread.scheduling.description

    def step(self, ticks: int) -> int:
        """Lockstep: run `ticks` ticks. Returns the last tick's number.

        Raises:
            RobotControlError: the clock is another one, or the executor is not configured.
        """
        if self.lockstep is None:
            raise RobotControlError(
                "step", expected="clock:=lockstep", got=self.options.clock, hint="Restart the executor in lockstep"
            )
        tick = self.lockstep.step(ticks)
        self.write_logs()
        return tick

    def write_logs(self, *, finish: bool = False) -> None:
        """Write the logs of the last ticks that the loop has asked for. Any thread; the loop does not wait."""
        with self._recording:
            self.recorder.serve(finish=finish)

    def save_last_ticks(self) -> Path:
        """Write the last ticks to a file, without a fault. Raises RobotControlError: they cannot be written."""
        try:
            with self._recording:
                return self.recorder.save()
        except OSError as error:
            raise RobotControlError("the last ticks could not be written", got=str(error)) from error

    def record(self, on: bool, path: Path | None = None) -> Path | None:
        """Begin, or end, to record all ticks.

        Args:
            path: of the file, with the ending .mcap, or of its folder; None: the folder of recordings. In a folder
                older recordings of this workcell give way, as its file says.

        Returns:
            The file; None: nothing was recorded.

        Raises:
            RobotControlError: something is recorded already, or the file cannot be written.
        """
        if not on:
            stopped: list[Path | None] = []
            self._between_ticks(lambda: stopped.append(self.session_recorder.stop()))
            return stopped[0]
        path, kept = state_folder("recordings") if path is None else path, None
        if path.suffix != ".mcap":
            bounds = self.workcell.recordings
            kept = KeptFiles(
                folder=path,
                name=file_word(self.workcell.name),
                kind=RECORDING,
                files=bounds.files,
                size=round(bounds.gigabytes * 1e9),
            )
            try:
                path = free_path(path, file_stem(self.workcell.name))
            except OSError as error:
                raise RobotControlError(f"recording to {path}", got=str(error)) from error
        self._between_ticks(lambda: self.session_recorder.start(path, kept))
        return path

    def _between_ticks(self, function: Callable[[], object]) -> None:
        """Call a function; in lockstep while no tick runs."""
        if self.lockstep is None:
            function()
        else:
            self.lockstep.serve(function)

    def miss_deadlines(self, count: int) -> None:
        """Lockstep: let the next tick find some missed deadlines, as if the machine had been busy."""
        self.session_recorder.note(InputKind.MISSES, lambda: count.to_bytes(8, "little"))
        self.world.memory.overrun.missed += count
        self.channel.memory.timing.deadline_misses += count

    def protective_stop(
        self,
        stop: bool,
        reason: str = "",
        *,
        source: str = "",
        who: str = "",
        secret: str | None = None,
        everything: bool = False,
    ) -> int:
        """End all actions, brake and hold all parts until each source is released; or release. Needs no control server.

        Args: as those of `ControlServer.protective_stop`. A session's secret is not known here.

        Returns:
            The tick that did it, or will.

        Raises:
            CommandRefused: nothing was released.
            RobotControlError: the loop did not take it in time.
        """
        name = source_of(source, reason if stop else "") if stop or source else ""
        authority = Authority.GIVEN if stop or secret is None else self._authority(secret)
        request = stop_request(
            source=name,
            reason=reason,
            who=who,
            secret=secret or "",
            everything=everything,
            authority=authority,
        )
        command = Command.PROTECTIVE_STOP if stop else Command.RELEASE_PROTECTIVE_STOP
        with self._commanding:
            patience = 1.0 if self.lockstep is None else defaults.SIMULATED_PATIENCE
            deadline = time.monotonic() + _INTERNAL_S * patience
            self._await_internal(deadline)
            foreseen = self.options.gated and not stop
            refusal = foreseen_refusal(self.channel.stops(), request) if foreseen else Refusal.NONE
            if refusal == Refusal.NONE:
                self._between_ticks(lambda: self.put_internal(command, request.tobytes()))
                if self.options.gated:
                    return int(self.world.memory.tick) + 1
                self._await_internal(deadline)
                refusal = Refusal(int(self.world.memory.internal_refusal))
        if refusal != Refusal.NONE:
            raise release_refused(refusal, name, self.stops())
        return int(self.world.memory.tick)

    def _authority(self, secret: str) -> Authority:
        """What a caller of the executor's own service may do. Sessions are known to the control server alone."""
        if hmac.compare_digest(self.operator_secret.encode(), secret.encode(errors="replace")):
            return Authority.OPERATOR
        guarded = self.channel.server_attached and int(self.channel.memory.guarded_sessions) > 0
        return Authority.NONE if guarded else Authority.GIVEN

    def stops(self) -> list[Stop]:
        """The protective stops that are latched, the oldest first."""
        return latched_stops(self.channel.stops())

    def known_stops(self) -> list[Stop]:
        """Likewise, with those that were released lately."""
        return known_stops(self.channel.stops())

    def _await_internal(self, deadline: float) -> None:
        """Until the loop has done the command of the executor's own that is waiting."""
        while load_acquire(self.world.address + _INTERNAL):
            if time.monotonic() > deadline:
                raise RobotControlError("the loop did not take the command", hint="Is the executor active?")
            time.sleep(0.0005)

    def serve_installations(self) -> None:
        """Lockstep: answer an installation that was requested, in the calling thread; others need not wait for it."""
        if self.lockstep is not None:
            self.lockstep.serve(self._installer.serve)

    def put_internal(self, command: Command, beside: bytes = b"") -> None:
        """Let the next tick do a command of the executor's own, for all parts. In lockstep while no tick runs.

        Args:
            beside: of a protective stop and its release: a `stop_request_dtype`.
        """
        internal = self.world.memory.internal
        internal.command, internal.part, internal.record_size = command, -1, len(beside)
        if beside:
            self.world.memory.internal_stop = np.frombuffer(beside, stop_request_dtype, 1)[0]
        self.session_recorder.note(InputKind.INTERNAL, lambda: bytes([command]) + beside)
        store_release(self.world.address + _INTERNAL, 1)

    def _awaited(self) -> list[str]:
        """Parts with joints or outputs whose device does not deliver states without an error, or that of the sensors of
        their tools.

        A driver's first cycles are slow, and one that has missed its executor takes commands again when it has seen
        their enable withdrawn.
        """
        w = self.world.memory
        found = []
        for part in self.workcell.parts:
            if not (part.dof or part.outputs):
                continue
            device = w.devices[w.parts_runtime[part.index].device]
            if part.tools and math.isnan(w.parts[part.index].tool_confirmed):
                found.append(part.name)  # a device of its sensors does not deliver yet
                continue
            starting = bool(device.image) and (device.last_cycle < _CYCLES_BEFORE_ENABLING or bool(device.faulted))
            if starting or not np.isfinite(w.parts[part.index].position[: part.dof]).all():
                found.append(part.name)
        return found

    def _at_rest(self) -> bool:
        w = self.world.memory
        return not any(
            w.parts_runtime[p.index].written and w.parts[p.index].commanded_velocity[: p.dof].any()
            for p in self.workcell.parts
        )

    def _internal_command(self, command: Command) -> None:
        """Have the loop do a command of the executor's own; the server's ring is not touched.

        One that still waits comes first, and is never replaced: it may be a stop.
        """
        deadline = time.monotonic() + self.options.device_timeout_s
        pending = self.world.address + _INTERNAL

        def is_done() -> bool:
            if self.lockstep is not None and load_acquire(pending):
                self.lockstep.step(1)
            while load_acquire(pending) and time.monotonic() < deadline:
                time.sleep(0.001)
            return not load_acquire(pending)

        with self._commanding:
            if is_done():
                self._between_ticks(lambda: self.put_internal(command))
                is_done()

    def _serve_installations(self) -> None:
        while not self._stop.is_set():
            if not self.channel.wait_for_install(0.1):
                continue
            if self.lockstep is None:
                self._installer.serve()
            else:
                self.serve_installations()

    def _before_lockstep_tick(self) -> None:
        self._installer.serve()
        epoch = int(self.channel.memory.server_epoch)
        if epoch == self._lost_epoch:
            return
        # Gated, simulated time stands still for as long as anybody likes: then heartbeats tell nothing.
        if not self.channel.server_attached or (not self.options.gated and self._patient_watch.lost()):
            self._lost_epoch = epoch
            self.session_recorder.note(InputKind.SERVER_LOST)
            self.world.memory.server_lost = 1

    def _write_logs(self) -> None:
        while not self._stop.wait(_LOG_S):
            self.write_logs()

    def _watch(self) -> None:
        """See at once when the server or a driver dies, and why a server is silent; keep the Python heartbeat going."""
        while not self._stop.wait(0.0):
            self.channel.memory.executor_beat += 1
            if self._server_watch.died(0.02):
                self.channel.end_server(self._server_watch.epoch)
            patience, thread = self.server_patience, self._thread
            patience.look()
            if thread is not None:
                thread.tell_server(
                    patience.looked_s,
                    native_starved=patience.native_starved,
                    python_starved=patience.python_starved,
                )
            self.devices.reattach()

    def part_status(self) -> list[PartStatus]:
        """What each part is doing, in words."""
        w = self.world.memory
        tables = w.tables[int(w.active_tables)]
        found = []
        for part in self.workcell.parts:
            runtime = w.parts_runtime[part.index]
            slot, fault = int(runtime.active_action), FaultReason(int(runtime.fault))
            action = tables.actions[slot] if slot >= 0 else None
            joint = part.motor_names[int(runtime.fault_joint)] if part.motor_names and runtime.fault_joint >= 0 else ""
            found.append(
                PartStatus(
                    name=part.name,
                    operational_state=OperationalState(int(runtime.state)).name.lower(),
                    fault=fault_in_words(FAULTS[fault].text, joint, int(runtime.fault_code)),
                    fault_file=self.recorder.path(int(runtime.fault_log)),
                    active_action="" if action is None else bytes(action["name"]).decode(errors="replace"),
                    tool=part.tool_name(float(w.parts[part.index].tool_number)),
                    unmonitored=part.unmonitored,
                    drives=drive_counters(part, w.parts[part.index].drive_states),
                    session="" if action is None else bytes(tables.sessions[int(action.session)]["name"]).decode(),
                )
            )
        return found
