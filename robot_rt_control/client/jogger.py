"""Moves a part by streams while commands come: what jogs of controllers and of the view share, without ROS."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.client.actions import Action
from robot_rt_control.client.client import Client
from robot_rt_control.client.followed import Followed
from robot_rt_control.client.session import Session
from robot_rt_control.client.stream import Stream
from robot_rt_control.vocabulary.defaults import CONTROLLER_LEASE_S
from robot_rt_control.vocabulary.errors import RobotControlError, SessionError


@dataclass(frozen=True, eq=False, kw_only=True)
class _Command:
    action: str
    values: np.ndarray
    """As the action's stream."""
    made: float
    """[s] on the clock of streams."""
    moves: bool


class Jogger:
    """Opens a session on a part at the first command that moves, and closes it when the part has been at rest for a
    while.

    If commands stop coming, the part comes to rest by the time-out of the action's stream, in the loop. A session that
    ended otherwise, or could not be opened, is opened again only after a pause in the commands, or one of zero: a stick
    that is still held when the part becomes free must not move it.

    Args:
        name: of its sessions.
        part: name of the part that it moves.
        client: of the workcell.
        actions: with a stream `goal` each.
        timeout: [s] without a command after which the part comes to rest, as the actions have it; a command that is
            older is dropped.
        idle_time: [s] without a command, or with commands of zero, after which a part at rest is released.
        on_event: called when `process` has something to do; returns at once.
    """

    def __init__(
        self,
        name: str,
        part: str,
        client: Client,
        *,
        actions: Sequence[Action],
        timeout: float,
        idle_time: float,
        on_event: Callable[[], None],
    ) -> None:
        self._name, self._part_name, self._client, self._on_event = name, part, client, on_event
        self._actions, self._timeout, self._idle_time = actions, timeout, idle_time
        self._lock = threading.RLock()
        self._newest: _Command | None = None
        self._session: Session | None = None
        self._streams: dict[str, Stream] = {}
        self._active = ""
        self._followed: Followed | None = None
        """The action that runs."""
        self._must_pause = False
        self._last = -math.inf
        self._last_moving = -math.inf
        """[s] when the newest command came, and the newest one that moves."""
        self._is_closed = False

    # --- commands; from any thread, at once --------------------------------------------------------

    def take(self, action: str, values: np.ndarray, age: float, *, moves: bool | None = None) -> None:
        """Take a command, which replaces the one before.

        Args:
            action: id of that which follows it.
            values: of its stream.
            age: [s] since it was made.
            moves: whether it moves the part; None: if a value is not 0.

        Raises:
            RobotControlError: it is too old.
        """
        if age > self._timeout:
            raise RobotControlError(
                "the command is too old",
                expected=f"a stamp of the last {self._timeout:g} s",
                got=f"{age:.3f} s",
                hint="Synchronize the clocks, or let the stamp be 0",
            )
        moves = bool(values.any()) if moves is None else moves
        now = self._now()
        command = _Command(action=action, values=values, made=now - max(age, 0.0), moves=moves)
        if not moves or now - self._last > self._timeout:
            self._must_pause = False
        self._last, self._newest = now, command
        if moves:
            self._last_moving = now
        self._on_event()

    def _now(self) -> float:
        return self._client.backend.source_time()

    @property
    def is_closed(self) -> bool:
        """Whether it is not used any more."""
        return self._is_closed

    @property
    def is_open(self) -> bool:
        """Whether it holds the part, or is about to."""
        return self._session is not None or self._newest is not None

    # --- what may wait for the workcell -----------------------------------------------------------

    def process(self) -> None:
        """Pass the newest command on; release a part that is idle. To be called after `on_event`, and now and then.

        Raises:
            RobotControlError: the part cannot be moved.
        """
        with self._lock:
            if self._is_closed:
                return
            ending = self._followed.poll() if self._followed is not None else None
            if self._session is not None and (ending is not None or self._session.ended is not None):
                why = self._session.ended or (ending.reason if ending is not None else "")
                self._release()
                self._must_pause = True
                raise RobotControlError(f"the motion was ended: {why}")
            command = self._due()
            if command is not None and not self._must_pause:
                self._open(command.moves)
                if self._session is not None:
                    command = self._due() or command  # opening takes time
                    self._pass_on(command)
            self._newest = None if self._newest is command else self._newest
            self._release_if_idle()

    def _due(self) -> _Command | None:
        """The newest command; None: there is none, or it is too old."""
        command = self._newest
        if command is None or self._now() - command.made > self._timeout:
            return None
        return command

    def _open(self, moves: bool) -> None:
        if self._session is not None or not moves:
            return
        part = self._part_name
        try:
            self._session = self._client.session(part, name=self._name, lease_s=CONTROLLER_LEASE_S)
            self._session.add(*self._actions)
        except RobotControlError as error:
            self._release()
            self._must_pause = True
            if isinstance(error, SessionError):
                raise RobotControlError(f"part {part!r} is not free: {error}") from None
            raise

    def _pass_on(self, command: _Command) -> None:
        session = self._session
        assert session is not None
        if self._now() - command.made > self._timeout:
            return
        if command.action not in self._streams:
            self._streams[command.action] = session.stream(command.action, "goal")
        self._streams[command.action].write(command.values)
        if self._active != command.action:
            try:
                self._followed = session.follow(command.action, until=None, on_change=self._on_event)
                self._active = command.action
            except RobotControlError:
                self._release()
                self._must_pause = True
                raise

    def _release_if_idle(self) -> None:
        session = self._session
        if session is None or self._now() - self._last_moving < self._idle_time:
            return
        if session.value(f"{self._part_name}.at_rest") == 1.0:
            self._release()

    def _release(self) -> None:
        session, self._session, self._streams = self._session, None, {}
        self._active, self._followed = "", None
        if session is not None:
            session.close()

    def close(self) -> None:
        """Stop the part and release it. The jogger is not used any more."""
        with self._lock:
            self._is_closed = True
            self._release()
