"""A control server and an executor with mock hardware in one process and one thread, for tests of programs.

Ticks run on request, so a test is deterministic and does not wait.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from robot_rt_control.definitions.stream_sample import OutputSample
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions, native_loader
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.core.attachment import Attachment
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.link.executor_link import ExecutorLink
from robot_rt_control.server.programs.program_store import ProgramStore
from robot_rt_control.server.runs.recovery import Recoveries
from robot_rt_control.server.tables.definition_store import DefinitionStore
from robot_rt_control.server.types.action_types import ActionTypes
from robot_rt_control.server.views.snapshot_view import SnapshotView
from robot_rt_control.testing.interpreted_types import InterpretedTypes
from robot_rt_control.testing.shared_builder import shared_builder


class ServerBench:
    """Executor, server and their events. Use it in a `with` statement, or call `close`.

    Args:
        workcell: on mock hardware, or on a plugin that runs in this process.
        types: the action types, built.
        interpreted: the types that are plain Python; None: all are native code.
        gated: commands wait for the next `step`, as in lockstep by steps; otherwise a command that waits for its answer
            lets the loop tick.
        record: the file to record all ticks to; None: none is written.
    """

    def __init__(
        self,
        workcell: Workcell,
        types: ActionTypes,
        *,
        interpreted: InterpretedTypes | None = None,
        gated: bool = False,
        record: Path | None = None,
    ) -> None:
        self._now = 1000.0
        self.events: list[ServerEvent] = []
        self.listeners: list[Callable[[ServerEvent], None]] = []
        self.sample_listeners: list[Callable[[OutputSample], None]] = []
        """Called with the events and samples of the attached server."""
        self.types, self.interpreted = types, interpreted
        self._folder = tempfile.TemporaryDirectory(prefix="cell_")
        with ExitStack() as undo:  # what cannot be made leaves nothing behind
            undo.callback(self._folder.cleanup)
            self.executor = Executor(
                workcell,
                ExecutorOptions(clock="lockstep", real_time_factor=-1.0, fault_folder=Path(self._folder.name)),
                channel_name=None,
                image_name=lambda device: device,
                load=native_loader.load if interpreted is None else interpreted.load,
            )
            self.executor.configure(lambda _: None)
            undo.callback(self.executor.cleanup)
            if record is not None:
                self.executor.record(True, record)  # from the first tick on; a test wants to know if it cannot
            self.executor.activate()
            undo.pop_all()
        self.executor.channel.memory.gated = gated
        self.server = self.new_server()

    @property
    def now(self) -> float:
        """[s] The server's clock for leases and deadlines; only the test advances it."""
        return self._now

    @now.setter
    def now(self, value: float) -> None:
        self._now = value

    def new_server(self) -> ControlServer:
        """A server attached to the executor."""
        server = ControlServer(
            self.executor.workcell,
            self.types,
            clock=lambda: self.now,
            builder=shared_builder(),
            programs=ProgramStore(Path(self._folder.name) / "programs"),
        )
        server.add_listener(self._take)
        server.add_sample_listener(self._take_sample)
        self.recoveries = Recoveries(server, self.executor.workcell.recoveries, clock=lambda: self.now)
        server.attach(self.executor.channel, while_waiting=self.while_waiting)
        return server

    def _take(self, event: ServerEvent) -> None:
        self.events.append(event)
        for listener in self.listeners:
            listener(event)

    def _take_sample(self, sample: OutputSample) -> None:
        for listener in self.sample_listeners:
            listener(sample)

    def close(self) -> None:
        """End everything. Nothing happens if it has ended."""
        if not Path(self._folder.name).exists():
            return
        self.server.detach("the test ends")
        self.executor.deactivate()
        self.executor.cleanup()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def while_waiting(self) -> None:
        """Let the executor do its part of an answer."""
        if self.executor.channel.memory.gated:
            self.executor.serve_installations()
        else:
            self.executor.step(1)

    def step(self, ticks: int = 1) -> int:
        """Let the loop tick, and the server publish the events. Returns the last tick's number."""
        tick = self.executor.step(ticks)
        self.server.poll()
        return tick

    def kinds(self, *wanted: str, **fields: object) -> list[ServerEvent]:
        """The events of these kinds whose fields have these values."""
        return [e for e in self.events if e.kind in wanted and all(getattr(e, k) == v for k, v in fields.items())]

    def fired(self, event: str) -> list[ServerEvent]:
        """The firings that emitted an event of this name."""
        return [e for e in self.events if e.kind == "reaction_fired" and e.event == event]

    @property
    def view(self) -> SnapshotView:
        """The last tick."""
        view = self.server.snapshot()
        assert view is not None, "there was no tick yet"
        return view

    @property
    def store(self) -> DefinitionStore:
        """The installed tables."""
        return self._attachment.store

    @property
    def link(self) -> ExecutorLink:
        """Sends single transactions, also those that the server would refuse."""
        return self._attachment.link

    @property
    def _attachment(self) -> Attachment:
        return self.server.core.connection.at()

    def active(self, part: str) -> str:
        """What commands a part: an action's id, "default", "safety" or "none"."""
        identity = self.view.active_action(self.server.parts[part].index)
        action = self.store.directory.actions.get(identity)
        if action is None:
            return "none"
        return action.id if action.entry.session else action.id.removeprefix(f"{part}_").removesuffix("_action")

    def value(self, session: str, name: str) -> float:
        """A state variable of an action, as the last snapshot shows it."""
        action, _, variable = name.partition(".")
        return self.view.action_value(self.server.contents(self.server.session(session)).actions[action], variable)
