"""The base class of services: external systems move robots by motion groups (document 3: ServiceManager, figure 2)."""

from __future__ import annotations

import contextlib
import logging
import math
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any

from robot_rt_control.application.services.requests import (
    Cancel,
    Move,
    Request,
    Status,
    mistakes_of,
)
from robot_rt_control.client import Client, End, Ending, Followed, MotionGroup, Session
from robot_rt_control.vocabulary.errors import (
    CapacityError,
    DefinitionError,
    InternalError,
    RobotControlError,
    SessionError,
    raise_all,
    unknown,
)

_log = logging.getLogger(__name__)

MAX_GROUPS = 64
"""Groups that are being prepared or run at a time."""
MAX_WAITING = 256
"""Requests that wait for the thread of `run`; cancels are taken up to four times this number."""
PROGRESS_S = 0.1
"""[s] of the workcell's time between two reports of progress."""
STOP_S = 10.0
"""[s] of the workcell's time for the groups to stop on their paths when the service ends."""
_WAIT_S = 0.05
_PREPARERS = 4
_SETTLED, _FAILED = "settled", "failed"

Caller = Hashable
"""Whatever stands for a client of the service; None: nobody."""
Answer = dict[str, Any]


@dataclass(eq=False)
class _Group:
    """A group from its acceptance to its end."""

    id: int
    move: Move
    caller: Caller
    followed: Followed | None = None
    """None: it is being prepared."""
    stop_reason: str = ""
    """Why this service stops it; empty: it does not."""
    progress: float = 0.0

    @property
    def started(self) -> bool:
        return self.followed is not None

    @property
    def action(self) -> str:
        return f"request_{self.id}"


class ServiceManager(ABC):
    """Moves robots for external systems: one session on the parts, and one motion group for each request.

    An integrator specializes it for a system such as a PLC or a REST interface: `open` begins to take requests, and for
    each one `accept_command` is called; `answer` sends what becomes of it; `close` ends the connection. A request is
    accepted, prepared outside the loop (a wrong one is refused, and nothing moves), started, and reported until it is
    done, stopped, refused or failed: docs/services.md lists the answers.

    Threads: `run` blocks; the thread that calls it uses the client, and calls `open`, `close` and `answer`. Groups are
    prepared in threads of their own, so that preparing one delays neither the start nor the stop of another; in
    simulated time `run` does that, too. `accept_command`, `disconnected` and `stop` may be called from any thread; they
    return at once.

    Args:
        client: the workcell. Nobody else should use it while `run` works.
        parts: that the service may move. It holds them until it ends.
        cancel_on_disconnect: stop a caller's groups on their paths when it disconnects, unless the caller wishes
            otherwise. By default they go on, and are reported to nobody.
    """

    def __init__(self, client: Client, parts: Iterable[str], *, cancel_on_disconnect: bool = False) -> None:
        self.client, self.parts = client, tuple(parts)
        self._cancel_on_disconnect = cancel_on_disconnect
        self._wishes: dict[Caller, bool] = {}
        """Caller → whether its groups stop when it disconnects."""
        self._changed = threading.Condition()
        self._inbox: deque[Callable[[], None]] = deque()
        """What the thread of `run` does next."""
        self._n_waiting = 0
        self._ids = count(1)
        self._groups: dict[int, _Group] = {}
        self._session: Session | None = None
        self._preparers: ThreadPoolExecutor | None = None
        self._stopping = threading.Event()

    # --- what an integrator writes --------------------------------------------------------------

    @abstractmethod
    def open(self) -> None:
        """Begin to take requests. Called once by `run`, when the session is open. An exception ends the service."""

    @abstractmethod
    def answer(self, caller: Caller, answer: Answer) -> None:
        """Send an answer to a caller; it must not block or raise. Called in the thread of `run`."""

    @abstractmethod
    def close(self) -> None:
        """End all connections, after the last answer. Called once by `run`, also if `open` has failed."""

    # --- what it calls --------------------------------------------------------------------------

    def accept_command(self, request: Request, caller: Caller) -> None:
        """Take a request; all answers to it go to the caller. Any thread; never blocks.

        Raises:
            CapacityError: too many requests wait.
        """
        limit = MAX_WAITING if not isinstance(request, Cancel) else 4 * MAX_WAITING
        with self._changed:
            if self._n_waiting >= limit:
                raise CapacityError("too many requests wait", expected=f"at most {limit}", got=str(self._n_waiting + 1))
            self._n_waiting += 1
            self._inbox.append(lambda: self._take(request, caller))
            self._changed.notify_all()

    def disconnected(self, caller: Caller) -> None:
        """A caller has gone, and gets no answers any more. Any thread."""
        self._later(lambda: self._forget(caller))

    def stop(self) -> None:
        """Stop all groups on their paths, then end `run`. Any thread, and signal handlers."""
        self._stopping.set()

    def _later(self, do: Callable[[], None]) -> None:
        with self._changed:
            self._inbox.append(do)
            self._changed.notify_all()

    # --- life -----------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until `stop`. Parts take their safety action at the end, as with every session.

        Raises:
            DefinitionError, SessionError: a part is unknown, or held by another session.
        """
        try:
            self._open_session()
            if self.client.backend.threaded:
                self._preparers = ThreadPoolExecutor(_PREPARERS, thread_name_prefix="prepare")
            self.open()
            self._serve(self._stopping.is_set)
            self._stop(list(self._groups.values()), "the service ends")
            end = self.client.backend.now() + STOP_S
            self._serve(lambda: not self._groups or self.client.backend.now() > end)
        finally:
            if self._preparers is not None:
                self._preparers.shutdown(wait=False, cancel_futures=True)
            if self._session is not None:
                self._session.close()
            for group in list(self._groups.values()):
                self._end(group, "failed", "the service ended before the group came to rest")
            self.close()

    def _open_session(self) -> Session:
        """The session; a new one if the last one has ended, such as by a failure or with the control server."""
        if self._session is None or self._session.ended is not None:
            if self._session is not None:
                self._session.close()
            self._session = self.client.session(self.parts, name="service")
        return self._session

    def _serve(self, is_over: Callable[[], bool]) -> None:
        backend = self.client.backend
        report = backend.now() + PROGRESS_S
        while not is_over():
            backend.wait(self._changed, lambda: bool(self._inbox), _WAIT_S)
            while self._inbox:
                self._inbox.popleft()()
            self._look()
            if backend.now() >= report:
                report = backend.now() + PROGRESS_S
                self._report()

    # --- requests, in the thread of `run` -------------------------------------------------------

    def _take(self, request: Request, caller: Caller) -> None:
        with self._changed:
            self._n_waiting -= 1
        try:
            if isinstance(request, Move):
                self._accept(request, caller)
            elif isinstance(request, Cancel):
                self._cancel(request, caller)
            elif isinstance(request, Status):
                self._tell(caller, self._status(), request.tag)
            else:
                self._wishes[caller] = request.cancel
                self._tell(caller, {"state": "set", "cancel_on_disconnect": request.cancel}, request.tag)
        except RobotControlError as error:
            self._tell(caller, refused(error), request.tag)

    def _accept(self, move: Move, caller: Caller) -> None:
        raise_all(
            DefinitionError(f"robot {part!r}", expected=unknown("robot", part, self.parts), got=repr(part))
            for part in move.parts
            if part not in self.parts
        )
        if self._stopping.is_set():
            raise SessionError("the service ends", hint="Send the request to the next one")
        if len(self._groups) >= MAX_GROUPS:
            raise CapacityError("too many groups", expected=f"at most {MAX_GROUPS} at a time", got=str(MAX_GROUPS + 1))
        for other in self._groups.values():
            if (shared := _shared(other, move)) and not move.replace:
                raise DefinitionError(
                    f"robot {shared!r} still belongs to request {other.id}",
                    expected="a robot whose group has ended",
                    hint='Wait for its end, cancel it, or send "replace": true',
                )
        session = self._open_session()
        if session.suspended:  # what was asked for before the protective stop does not start after it
            for other in self._groups.values():
                if not other.started:
                    other.stop_reason = other.stop_reason or "a protective stop"
            session.resume()
        group = _Group(next(self._ids), move, caller)
        self._groups[group.id] = group
        self._tell_of(group, "accepted")
        if self._preparers is None:
            self._prepare(session, group)
        else:
            self._preparers.submit(self._prepare, session, group)

    def _prepare(self, session: Session, group: _Group) -> None:
        """Define the group: outside the loop, without time limit. Starting it is left to the thread of `run`."""
        action = group.action
        try:
            followed = session.follow(
                action,
                add=[MotionGroup(action, *group.move.commands, **group.move.options)],
                until={
                    _SETTLED: f"{action}.is_settled and not {action}.has_failed",
                    _FAILED: f"{action}.is_settled and {action}.has_failed",
                },
                start=False,
                on_change=lambda: self._later(self._look),
            )
        except RobotControlError as error:
            refusal = error  # the name of an exception is deleted after its block
            self._later(lambda: self._refuse(group, refusal))
        except Exception as error:
            _log.exception("request %d", group.id)
            internal = InternalError.of(f"request {group.id}", error)
            self._later(lambda: self._refuse(group, internal))
        else:
            self._later(lambda: self._start(session, group, followed))

    def _refuse(self, group: _Group, error: RobotControlError) -> None:
        if self._groups.pop(group.id, None) is not None:
            self._tell(group.caller, {"id": group.id, **refused(error)}, group.move.tag)

    def _start(self, session: Session, group: _Group, followed: Followed) -> None:
        if group.stop_reason or self._stopping.is_set():
            self._end(group, "stopped", group.stop_reason or "the service ends")
            self._remove(session, group)
            return
        older = [other for other in self._groups.values() if other.id < group.id and _shared(other, group.move)]
        try:
            tick = followed.start()
        except RobotControlError as error:
            self._refuse(group, error)
            self._remove(session, group)
            return
        group.followed = followed
        for other in older:
            other.stop_reason = f"replaced by request {group.id}"
        self._tell_of(group, "started", tick=tick)

    def _cancel(self, request: Cancel, caller: Caller) -> None:
        if request.id is not None and request.id not in self._groups:
            raise DefinitionError(
                f"request {request.id}", expected="one that has not ended", got=f"one of {sorted(self._groups)}"
            )
        groups = [group for group in self._groups.values() if request.id in (None, group.id)]
        self._tell(caller, {"state": "cancelling", "ids": [group.id for group in groups]}, request.tag)
        self._stop(groups, "cancelled")

    def _stop(self, groups: Iterable[_Group], reason: str) -> None:
        """Stop groups on their paths; those that are still being prepared do not start."""
        for group in groups:
            if not group.stop_reason:
                group.stop_reason = reason
        actions = [group.action for group in groups if group.started]
        if actions and self._session is not None:
            try:
                self._session.stop(*actions)
            except RobotControlError as error:  # over at this moment, or nothing answers: the session's end follows
                _log.warning("stopping %s: %s", ", ".join(actions), error)

    def _forget(self, caller: Caller) -> None:
        groups = [group for group in self._groups.values() if group.caller == caller]
        for group in groups:
            group.caller = None
        if self._wishes.pop(caller, self._cancel_on_disconnect):
            self._stop(groups, "its client has disconnected")

    # --- events and reports ---------------------------------------------------------------------

    def _look(self) -> None:
        """Report the groups that have ended."""
        for group in list(self._groups.values()):
            ending = group.followed.poll() if group.followed is not None else None
            if ending is None or group.followed is None:
                continue
            self._end(group, *_state_of(group, group.followed, ending))
            if self._session is not None and self._session.ended is None:
                self._remove(self._session, group)

    def _remove(self, session: Session, group: _Group) -> None:
        """Remove a group from its session, so that capacities do not run out."""
        with contextlib.suppress(SessionError):  # then nothing is left of it
            try:
                session.remove(group.action)
            except DefinitionError as error:
                _log.warning("removing %s: %s", group.action, error)

    def _report(self) -> None:
        """Report the progress of all groups that run."""
        running = [group for group in self._groups.values() if group.started]
        if not running or self._session is None:
            return
        try:
            values = self._session.values([f"{group.action}." for group in running])
        except RobotControlError as error:
            _log.warning("progress is not known: %s", error)
            return
        for group in running:
            progress = _known(values.get(f"{group.action}.progress", math.nan))
            if progress is not None:
                group.progress = progress
                self._tell_of(
                    group,
                    "progress",
                    progress=progress,
                    remaining_time=_known(values[f"{group.action}.remaining_time"]),
                    starved=values[f"{group.action}.starved"] == 1.0,
                )

    def _status(self) -> Answer:
        parts = {part.name: part for part in self.client.parts() if part.name in self.parts}
        values = self._open_session().values([f"{part}.position[" for part in self.parts])
        robots = {
            name: {
                "state": part.operational_state,
                "fault": part.fault,
                "position": [_known(values[f"{name}.position[{j}]"]) for j in range(len(part.joint_names))],
            }
            for name, part in parts.items()
        }
        groups = [
            {
                "id": group.id,
                "state": "stopping" if group.stop_reason else "started" if group.started else "accepted",
                "robots": list(group.move.parts),
                "progress": group.progress,
            }
            for group in self._groups.values()
        ]
        return {"state": "status", "robots": robots, "groups": groups}

    def _end(self, group: _Group, state: str, reason: str = "") -> None:
        if self._groups.pop(group.id, None) is not None:
            self._tell_of(group, state, **({"reason": reason} if reason else {}))

    def _tell_of(self, group: _Group, state: str, **further: Any) -> None:
        self._tell(group.caller, {"id": group.id, "state": state, **further}, group.move.tag)

    def _tell(self, caller: Caller, answer: Mapping[str, Any], tag: str) -> None:
        if caller is not None:
            self.answer(caller, {**answer, **({"tag": tag} if tag else {})})


def _state_of(group: _Group, followed: Followed, ending: Ending) -> tuple[str, str]:
    """The last answer to a group, and its reason."""
    if ending.name == _SETTLED and not followed.faults:
        return "done", ""
    if ending.reached:
        return "failed", f"{followed.faults or 'a part of the group failed'}; the others have arrived"
    wanted = group.stop_reason and ending.end in (End.CANCELLED, End.PREEMPTED) and not followed.faults
    if wanted:  # whatever else ends it was not asked for
        return "stopped", group.stop_reason
    lost = "the session has ended: " if ending.end == End.SESSION_LOST else ""
    return "failed", lost + ending.reason


def _shared(group: _Group, move: Move) -> str:
    """A part of both; empty: none."""
    return next((part for part in group.move.parts if part in move.parts), "")


def _known(value: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return None if math.isnan(value) else round(value, 6)


def refused(error: RobotControlError) -> Answer:
    """The answer to a request that is refused."""
    return {"state": "refused", "errors": mistakes_of(error)}
