"""Sessions: who holds which parts, and until when.

A session lives until it is closed, its lease or its deadline runs out, one of its actions fails, or executor or
server are lost.
Afterwards it is remembered for a while, so that a late call learns why it ended.
"""

from __future__ import annotations

import hmac
import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.defaults import DETACHED_LIMIT_S, LEASE_S
from robot_rt_control.vocabulary.errors import (
    CapacityError,
    DefinitionError,
    SessionEnded,
    SessionError,
    session_label,
    unknown,
)

SECRET_BYTES = 16

_REMEMBERED = 256
"""So many ended sessions are remembered, for the messages of late calls."""


@dataclass(eq=False)
class Session:
    """The exclusive right to move some parts; a read-only one holds none, and watches."""

    id: str
    name: str
    secret: str = field(repr=False)
    """What its commands need, 128 bits in hexadecimal digits; empty: it is unprotected."""
    identity: int
    parts: tuple[str, ...]
    lease: float
    """[s]; 0: until closed."""
    lease_end: float
    """When the lease runs out, on the registry's clock of leases."""
    lease_latest: float = math.inf
    """When it has run out whatever that clock says, on the registry's clock."""
    deadline: float = math.inf
    """When it ends whatever happens, on the registry's clock of deadlines."""
    deadline_s: float = 0.0
    """[s] from its opening to its deadline; 0: it has none."""
    detached: float = 0.0
    """[s] for which it may go on without client or server; 0: it ends with them."""
    counting: bool = False
    """The loop counts this time: its client or the server was lost."""
    read_only: bool = False
    yielding: bool = False
    """It holds its parts only while an action of it is active or starts."""
    starting: int = 0
    """Requests under way that start something of it."""
    last_start: int = 0
    """Tick of the last of its starts that was asked for."""
    suspended: bool = False
    """A protective stop: nothing of it starts until it is resumed."""
    end_reason: str = ""
    """Why it ended; empty: it lives."""
    closed_by_client: bool = False
    """Its client has asked for its end."""
    end_file: str = ""
    """Log of the last ticks before it ended by a failure; empty: there is none."""
    setting: threading.Lock = field(default_factory=threading.Lock, repr=False)
    """Held while parameters change, so that none of two changes undoes the other's values."""
    installed: dict[str, Any] = field(default_factory=dict, repr=False)
    """Prefix → plan of what runs have installed in it (`server.runs.shared`), the longest unused first."""
    running: set[str] = field(default_factory=set, repr=False)
    """Prefixes of the runs under way in it."""
    installing: threading.RLock = field(default_factory=threading.RLock, repr=False)
    """Held while `installed` and `running` change, and definitions with them."""
    program: str = ""
    """Name of the last program that was added to it; empty: none, or one without a name."""

    @property
    def label(self) -> str:
        """How messages call it."""
        return session_label(self.id, self.name)

    def admits(self, secret: str) -> bool:
        """Whether somebody who gives this secret may command it."""
        return not self.secret or hmac.compare_digest(self.secret.encode(), secret.encode(errors="replace"))

    def check_secret(self, secret: str, what: str) -> None:
        """Refuse commands of strangers.

        Args:
            secret: what came; empty: nothing.
            what: it is to do, for the message.

        Raises:
            SessionError: it is not the session's secret.
        """
        if not self.admits(secret):
            raise SessionError(
                f"{what} was refused: {self.label} belongs to somebody else",
                expected="the secret that open_session answered",
                got="another one" if secret else "none",
                hint="Give it as `secret`. A session that is opened with `unprotected: true` needs none. "
                "Everybody may stop: stop_actions, protective_stop",
            )

    def stream_token(self, action: str, identity: int, stream: str) -> str:
        """What each sample of a stream must carry: derived from the secret, which it does not tell; empty: nothing.

        Args:
            identity: of the action in the tables: a definition that replaces it has another one.
        """
        if not self.secret:
            return ""
        what = f"{self.id}/{action}/{identity}/{stream}"
        return hmac.digest(self.secret.encode(), what.encode(), "sha256").hex()[:32]

    def check_token(self, action: str, identity: int, stream: str, token: str) -> None:
        """Refuse samples of strangers, and for a definition that was replaced.

        Raises:
            SessionError: it is not the stream's token.
        """
        if self.secret and not hmac.compare_digest(
            self.stream_token(action, identity, stream).encode(), token.encode()
        ):
            raise SessionError(
                f"a sample for stream {stream!r} of action {action!r} was refused: "
                f"{self.label} belongs to somebody else, or the action was replaced",
                expected="the token that open_stream answered",
                got="another one" if token else "none",
                hint="Open the stream (again) with the session's secret, and give its `token` with each sample",
            )

    def remaining(self, now: float, time: float) -> float:
        """[s] until it ends unless it is renewed; inf: until it is closed.

        Args:
            now: on the clock of leases.
            time: on that of deadlines.
        """
        lease = self.lease_end - now + self.detached if self.lease > 0 else math.inf
        return max(min(lease, self.deadline - time), 0.0)

    def check_moves(self, what: str) -> None:
        """Refuse what a read-only session may not do.

        Args:
            what: it is to do, for the message.

        Raises:
            SessionError: it is read-only.
        """
        if self.read_only:
            raise SessionError(
                f"{self.label} is read-only and cannot {what}",
                expected="free-standing reactions with events and captured values",
                hint="Open a session on the parts to be moved",
            )


def check_detached(what: str, bound: float) -> None:
    """Raises DefinitionError: a detached session cannot have this bound [s].

    Args:
        what: it is asked for, for the message.
    """
    if not 0.0 <= bound <= DETACHED_LIMIT_S:
        raise DefinitionError(
            f"{what}: detached",
            expected=f"a time in seconds, at most {DETACHED_LIMIT_S:g}; 0: it ends with its client and the server",
            got=f"{bound:g}",
        )


class SessionRegistry:
    """All sessions. Its methods may be called from any thread.

    Args:
        parts: names of all parts of the workcell.
        clock: monotonic time [s]; also of leases and deadlines, unless `lease_clock` and `deadline_clock` are set.
    """

    def __init__(self, parts: Iterable[str], *, clock: Callable[[], float]) -> None:
        self._parts, self._clock = tuple(parts), clock
        self._count = 0
        self._lock = threading.Lock()
        self._live: dict[str, Session] = {}
        self._ended: OrderedDict[str, Session] = OrderedDict()
        self.prefix = ""
        """What ids begin with; different for each server that attaches to the same executor. Empty: s."""
        self.lease_clock = clock
        """A LeaseClock, where clients and server are processes of their own."""
        self.longest_stall = math.inf
        """[s] How far `lease_clock` may fall behind `clock` within a lease."""
        self.deadline_clock = clock
        """Simulated time where the workcell lives in it."""
        self.is_active: Callable[[Session], bool] = lambda _: False
        """Whether an action of a session is active or will start; not needed of those that hold their parts anyway."""
        self.shortest_lease = 0.0
        """[s] Shorter leases are this long, but for 0; see S5."""

    def open(
        self,
        name: str,
        parts: Sequence[str],
        lease: float,
        identity: int,
        *,
        read_only: bool = False,
        deadline: float = 0.0,
        unprotected: bool = False,
        detached: float = 0.0,
        yielding: bool = False,
    ) -> Session:
        """Take parts for a new session: all of them or none.

        Args:
            lease: [s]; 0: until closed; negative: the default.
            identity: of the session in the tables.
            read_only: it takes no parts, and moves nothing.
            deadline: [s] after which it ends, renewed or not; 0: none.
            unprotected: it gets no secret.
            detached: [s] for which it may go on without client or server; 0: not at all.
            yielding: it holds the parts only while an action of it is active or starts. Sessions like that which name
                the parts, and do not hold them, must have ended before.

        Raises:
            CapacityError: the name is too long, or there are too many sessions.
            DefinitionError: no part, an unknown or repeated one, parts of a read-only session, or a time is not a
                number.
            SessionError: a part is taken; names the holder.
        """
        if len(name) > capacities.MAX_NAME_LENGTH:
            raise CapacityError(
                f"name of a session is too long: {name[:40] + '…'!r}",
                expected=f"at most {capacities.MAX_NAME_LENGTH} characters (MAX_NAME_LENGTH)",
                got=str(len(name)),
            )
        what = f"session {name!r} cannot be opened" if name else "the session cannot be opened"
        if read_only and parts:
            raise DefinitionError(
                f"{what}: it is read-only",
                expected="no parts: it may look at all of them",
                got=", ".join(parts),
                hint="Leave out the parts, or read_only",
            )
        if not parts and not read_only:
            raise DefinitionError(f"{what}: it names no part", expected="at least one part of the workcell")
        for part in parts:
            if part not in self._parts:
                raise DefinitionError(
                    f"{what}: unknown part", expected=unknown("part", part, self._parts), got=repr(part)
                )
        if len(set(parts)) < len(parts):
            twice = next(p for p in parts if list(parts).count(p) > 1)
            raise DefinitionError(f"{what}: it names part {twice!r} twice", expected="each part once")
        if not lease < float("inf"):
            raise DefinitionError(f"{what}: lease", expected="a time in seconds, 0: until closed", got=str(lease))
        if not 0.0 <= deadline < float("inf"):
            raise DefinitionError(f"{what}: deadline", expected="a time in seconds, 0: none", got=str(deadline))
        check_detached(what, detached)
        if detached and read_only:
            raise DefinitionError(f"{what}: it is read-only", expected="detached: 0", got=f"{detached:g}")
        lease = LEASE_S if lease < 0 else lease
        lease = max(lease, self.shortest_lease) if lease > 0 else lease
        with self._lock:
            for part in parts:
                holder = self._holder(part)
                if holder is not None:
                    raise SessionError(
                        f"{what}: part {part!r} is taken",
                        expected="a part that no session holds",
                        got=f"held by {holder.label}",
                        hint="Close that session first, or wait until its lease runs out",
                    )
            if len(self._live) >= capacities.MAX_SESSIONS - 1:  # the system has one as well
                raise CapacityError(
                    f"{what}: too many sessions",
                    expected=f"at most {capacities.MAX_SESSIONS - 1} (MAX_SESSIONS)",
                    hint="Close some; list_sessions shows them",
                )
            self._count += 1
            session = Session(
                id=f"{self.prefix or 's'}{self._count}",
                name=name,
                secret="" if unprotected else secrets.token_hex(SECRET_BYTES),
                identity=identity,
                parts=tuple(parts),
                lease=lease,
                lease_end=math.inf,
                deadline=self.deadline_clock() + deadline if deadline > 0 else math.inf,
                deadline_s=deadline,
                read_only=read_only,
                detached=detached,
                yielding=yielding,
            )
            self._renew(session)
            self._live[session.id] = session
        return session

    def _holder(self, part: str) -> Session | None:
        return next((s for s in self._live.values() if part in s.parts), None)

    def holder_of(self, part: str) -> Session | None:
        """The session that holds a part."""
        with self._lock:
            holder = self._holder(part)
        return holder if holder is not None and self.holds(holder) else None

    def session_of_part(self, part: str) -> str:
        """Id of the session that holds a part; empty: none."""
        holder = self.holder_of(part)
        return holder.id if holder is not None else ""

    def holds(self, session: Session) -> bool:
        """Whether a session holds its parts at present."""
        return not session.yielding or session.starting > 0 or self.is_active(session)

    def giving_way(self, parts: Iterable[str]) -> list[Session]:
        """The sessions that name some of these parts, and do not hold them."""
        wanted = set(parts)
        return [s for s in self.live() if s.yielding and not wanted.isdisjoint(s.parts) and not self.holds(s)]

    def guarded(self) -> list[Session]:
        """Those with a secret that hold parts."""
        return [session for session in self.live() if session.secret and session.parts and self.holds(session)]

    def live(self) -> list[Session]:
        """All sessions that live, the oldest first."""
        with self._lock:
            return list(self._live.values())

    def get(self, session_id: str) -> Session:
        """The living session of this id.

        Raises:
            SessionError: there is none; if it has ended, the message says why.
        """
        with self._lock:
            session = self._live.get(session_id)
            if session is not None:
                return session
            ended = self._ended.get(session_id)
            known = list(self._live)
        if ended is not None:
            raise SessionEnded.of(ended.id, ended.name, ended.end_reason, ended.end_file)
        raise SessionError("unknown session", expected=unknown("session", session_id, known), got=repr(session_id))

    def renew(self, session_id: str) -> None:
        """Count a session's lease from now.

        Raises:
            SessionError: there is no such session.
        """
        self._renew(self.get(session_id))

    def _renew(self, session: Session) -> None:
        session.lease_end = self.lease_clock() + session.lease
        session.lease_latest = self._clock() + session.lease + self.longest_stall

    def remaining(self, session: Session) -> float:
        """[s] until a session ends unless it is renewed; inf: until it is closed."""
        return session.remaining(self.lease_clock(), self.deadline_clock())

    def overdue(self) -> list[tuple[Session, str]]:
        """Sessions whose deadline has come, or whose lease has run out, and why they end."""
        time = self.deadline_clock()
        found = []
        for session in self.live():
            if time >= session.deadline:
                found.append((session, f"its deadline of {session.deadline_s:g} s has come"))
            elif not session.detached and self._unrenewed(session):
                found.append((session, f"its client did not renew it for its lease of {session.lease:g} s"))
        return found

    def _unrenewed(self, session: Session) -> bool:
        """Whether a session's lease has run out."""
        if session.lease <= 0:
            return False
        return self.lease_clock() > session.lease_end or self._clock() > session.lease_latest

    def to_detach(self) -> list[tuple[Session, bool]]:
        """Detached sessions whose client has been lost, or is there again, since the loop was told last."""
        lost = [(s, self._unrenewed(s)) for s in self.live() if s.detached]
        return [(session, gone) for session, gone in lost if gone != session.counting]

    def end(self, session: Session, reason: str) -> bool:
        """End a session and set its parts free; False where it had ended already."""
        with self._lock:
            if self._live.pop(session.id, None) is None:
                return False
            session.end_reason = reason
            session.installed = {}  # it is remembered for its name and reason alone
            self._ended[session.id] = session
            while len(self._ended) > _REMEMBERED:
                self._ended.popitem(last=False)
        return True
