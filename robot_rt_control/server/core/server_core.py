"""The core of the control server: it attaches to an executor, and wires what lives on the attachment."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import MappingProxyType

from robot_rt_control.memory.channel import Channel
from robot_rt_control.model.workcell.catalogue import workcell_catalogue, workcell_variables
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.core.attachment import Attachment
from robot_rt_control.server.core.authorities import Authorities
from robot_rt_control.server.core.connection import Connection
from robot_rt_control.server.core.loop_events import LoopEvents
from robot_rt_control.server.core.session_life import SessionLife
from robot_rt_control.server.core.upkeep import Upkeep
from robot_rt_control.server.events.event_hub import EventHub
from robot_rt_control.server.lease_clock import LeaseClock
from robot_rt_control.server.link import heartbeat
from robot_rt_control.server.link.transactions import Answer
from robot_rt_control.server.preparer.part_view import PartView
from robot_rt_control.server.programs.program_store import ProgramStore
from robot_rt_control.server.sessions import Session, SessionRegistry
from robot_rt_control.server.tables.entities import DefinedAction
from robot_rt_control.server.types.action_types import ActionTypes
from robot_rt_control.server.views.refusals import explain
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import Command, Refusal
from robot_rt_control.vocabulary.event_kinds import Kind


class ServerCore:
    """Attaches, detaches and polls. All methods may be called from any thread; arguments: see ControlServer.

    Attributes:
        connection: the present attachment.
        registry: the sessions; `sessions` opens and ends them.
        authorities: who may command.
        hub: tells events.
        loop_events: takes those of the loop.
    """

    def __init__(
        self,
        workcell: Workcell,
        types: ActionTypes,
        *,
        clock: Callable[[], float] = time.monotonic,
        programs: ProgramStore | None = None,
    ) -> None:
        self.workcell, self.types = workcell, types
        connection = self.connection = Connection(workcell)
        self.parts = {p.name: PartView(p, connection.measured) for p in workcell.parts}
        for view in self.parts.values():
            view.workcell = MappingProxyType(self.parts)
        for part in workcell.parts:
            for name in (part.default_action, part.safety_action):
                if name is not None:
                    types.get(name, f"part {part.name!r} of the workcell")
        self.variables = workcell_variables(workcell)
        self._catalogue = workcell_catalogue(workcell, ())
        self.programs = programs or ProgramStore()
        self._clock = clock
        self.changing = threading.RLock()
        """Held while definitions and sessions change: for moments only, never while code of users runs."""
        self.on_poll: list[Callable[[], None]] = []
        """Called at each `poll`, without any lock."""
        registry = self.registry = SessionRegistry(self.parts, clock=clock)
        hub = self.hub = EventHub(connection.stamp)
        self.authorities = Authorities(connection, registry)
        self._upkeep = Upkeep(connection, workcell, self.parts, lambda: self.catalogue)
        self.sessions = SessionLife(
            connection, registry, hub, changing=self.changing, tidy=self._upkeep.tidy, period=workcell.period
        )
        self.loop_events = LoopEvents(connection, registry, self.sessions, hub)
        heartbeat.prepare()

    @property
    def catalogue(self) -> Catalogue:
        """What definitions are checked against."""
        return replace(self._catalogue, types={t.name: t.declared for t in self.types.all()})

    def attach(self, channel: Channel, *, while_waiting: Callable[[], None] | None = None) -> None:
        """Take the place of the control server at an executor, and install default and safety actions.

        Args:
            channel: from `Channel.attach`, or a private one.
            while_waiting: if executor and server share one thread: lets the executor do its part. Then there are
                no threads, no heartbeats, and `poll` hands out the events.

        Raises:
            ChannelError: the executor does not answer; the server is not attached.
        """
        with self.changing:
            self.detach("the control server attached again")
            if not channel.server_attached:
                channel.claim_server()
            epoch = int(channel.memory.server_epoch)
            patient = bool(channel.memory.simulated) and while_waiting is None
            self.registry.prefix = self.registry.prefix or ("s" if epoch == 1 else f"s{epoch}_")
            self.registry.shortest_lease = defaults.SIMULATED_LEASE_S if patient else 0.0
            attachment = Attachment(
                channel,
                self.types,
                self.parts,
                self._catalogue.variables or {},
                on_event=self.loop_events.take,
                on_lost=self.loop_events.take_loss,
                while_waiting=while_waiting,
                period=self.workcell.period,
                after_dispatch=self.loop_events.after_dispatch,
                on_refused_sample=self.loop_events.take_refused_sample,
                clock=self._clock,
            )
            self.loop_events.begin(attachment, self.workcell)
            self.connection.put(attachment)
            self._set_clocks(attachment, simulated=patient)
            try:
                attachment.start()
                self._upkeep.begin(first=epoch == 1)
            except BaseException:
                self.detach("the executor did not take the system's actions")
                raise

    def _set_clocks(self, attachment: Attachment, *, simulated: bool) -> None:
        """What leases and deadlines count."""
        sessions = self.registry
        if attachment.without_threads:  # nobody else runs: nobody stands still
            sessions.lease_clock = sessions.deadline_clock = self._clock
            return

        def simulated_time() -> float:
            return attachment.now()[1] * 1e-9

        sessions.lease_clock = LeaseClock(self._clock, simulated_time if simulated else None)
        sessions.longest_stall = math.inf if simulated else defaults.LEASE_STALL_S
        sessions.deadline_clock = simulated_time if simulated else self._clock

    @property
    def is_changing(self) -> bool:
        """Whether another thread holds `changing` at this moment."""
        if self.changing.acquire(blocking=False):
            self.changing.release()
            return False
        return True

    def detach(self, reason: str) -> None:
        """Leave the executor; all sessions end with the reason, and the loop brings their parts to safety."""
        with self.changing:
            attachment = self.connection.take()
            if attachment is not None:
                attachment.close()
            self.sessions.end_all(reason)

    def poll(self) -> None:
        """Call it about every 50 ms: it ends sessions whose lease has run out, and tidies up the tables."""
        attachment = self.connection.living
        if attachment is None:
            return
        if attachment.without_threads:
            attachment.link.dispatch()
        attachment.streams.poll()
        with self.changing:
            self.sessions.poll()
            self._upkeep.tidy()
        lost = attachment.new_losses()
        if lost:
            reason = f"the loop could not report {lost} events: the control server did not take them in time"
            self.hub.announce(Kind.EVENTS_LOST, reason=reason)
        for call in self.on_poll:
            call()

    def raise_refusal(
        self,
        command: Command,
        session: Session,
        actions: Sequence[DefinedAction],
        answer: Answer,
        target_tick: int = 0,
    ) -> None:
        """Raise what a refusal of the loop means, if it is one."""
        if answer.refusal == Refusal.NONE:
            return
        if session.end_reason:
            self.sessions.get(session.id)  # raises, with the reason
        view = self.connection.snapshot_after(answer.tick)
        raise explain(command, answer, actions, target_tick, view, self.connection.fault_file)
