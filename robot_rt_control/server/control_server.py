"""The control server: one object that does all that the ROS node offers, without ROS."""

from __future__ import annotations

import time
from collections.abc import Callable

from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.core.commands import Commands
from robot_rt_control.server.core.definitions import Definitions
from robot_rt_control.server.core.motion import Motion
from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.core.stream_access import StreamAccess
from robot_rt_control.server.programs.program_store import ProgramStore
from robot_rt_control.server.types.action_types import ActionTypes
from robot_rt_control.server.types.type_keeper import TypeKeeper


class ControlServer:
    """Sessions, definitions and commands over the channel to one executor.

    Its methods are those of the objects that it is made of; each is described there. All may be called from several
    threads. Code of this process is trusted: `authorize` checks the secret of a caller outside of it.

    Args:
        workcell: the same that the executor has read.
        types: the action types, built.
        clock: monotonic time [s], for leases.
        builder: to load action types later; None: none can be loaded.
        programs: those that can be used by name; left out: the library only.

    Raises:
        DefinitionError: the workcell asks for an action type that does not exist.
    """

    def __init__(
        self,
        workcell: Workcell,
        types: ActionTypes,
        *,
        clock: Callable[[], float] = time.monotonic,
        builder: Builder | None = None,
        programs: ProgramStore | None = None,
    ) -> None:
        core = self.core = ServerCore(workcell, types, clock=clock, programs=programs)
        self.workcell, self.types, self.programs = workcell, types, core.programs
        self.parts, self.variables = core.parts, core.variables

        self.attach, self.detach, self.poll, self.on_poll = core.attach, core.detach, core.poll, core.on_poll
        self.add_listener, self.remove_listener, self.announce = core.hub.add, core.hub.remove, core.hub.announce
        self.add_sample_listener = core.loop_events.add_sample_listener

        connection, sessions, registry = core.connection, core.sessions, core.registry
        self.take_events, self.contents, self.stops = connection.take_events, connection.contents, connection.stops
        self.snapshot, self.snapshot_after = connection.snapshot, connection.snapshot_after
        self.fault_file = connection.fault_file

        self.open_session, self.close_session, self.renew_session = sessions.open, sessions.close, sessions.renew
        self.session, self.sessions, self.remaining = sessions.get, registry.live, registry.remaining
        self.session_of_part = registry.session_of_part
        self.authorize, self.authority = core.authorities.authorize, core.authorities.authority

        keeper = TypeKeeper(types, workcell, builder, core.changing, connection.used_types)
        self.load_action_types, self.unload_action_types = keeper.load, keeper.unload

        definitions = Definitions(core)
        self.define, self.remove, self.clear = definitions.define, definitions.remove, definitions.clear
        self.replace = definitions.replace
        self.upload_program, self.install_program = definitions.upload_program, definitions.install_program
        self.set_parameters = definitions.set_parameters

        commands = Commands(core)
        self.start, self.stop, self.signal = commands.start, commands.stop, commands.signal
        self.set_speed, self.protective_stop = commands.set_speed, commands.protective_stop
        self.resume, self.set_motion = commands.resume, Motion(core).set_motion
        self.change_tool = commands.change_tool

        streams = StreamAccess(connection, sessions)
        self.open_stream, self.write_stream = streams.open_stream, streams.write_stream

    @property
    def attached(self) -> bool:
        """Whether there is an executor."""
        return self.core.connection.living is not None

    @property
    def lost(self) -> str:
        """Why the executor is gone; empty: attached, or never attached. `detach` and `attach` again."""
        return self.core.connection.lost

    @property
    def gated(self) -> bool:
        """Whether the loop ticks on request only: then commands are not awaited."""
        return self.core.connection.gated
