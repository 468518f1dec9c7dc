"""Who may come in: tokens of one start, the cookies given for them, and where requests may come from."""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass, field

_EDITORS_GOALS, _WATCHERS_GOALS = (25.0, 25.0), (2.0, 10.0)
"""[1/s] and at once: goals of a person who may edit, and of one who only watches."""
_MAX_PEOPLE = 1000
"""Cookies given; the oldest one of those who are not here is forgotten."""


@dataclass
class Bucket:
    """So many a second, and as many at once.

    Args:
        rate: [1/s].
        burst: at once.
    """

    rate: float
    burst: float
    _level: float = 0.0
    _at: float = field(default_factory=time.monotonic)

    def take(self) -> bool:
        """Whether one more is allowed now."""
        now = time.monotonic()
        self._level = max(self._level - (now - self._at) * self.rate, 0.0)
        self._at = now
        if self._level + 1 > self.burst:
            return False
        self._level += 1
        return True


@dataclass(eq=False)
class Person:
    """A browser that came in."""

    id: str
    name: str
    may_operate: bool
    requests: Bucket = field(default_factory=lambda: Bucket(rate=100, burst=200))
    stops: Bucket = field(default_factory=lambda: Bucket(rate=20, burst=40))
    """Protective stops: a person with too many other requests may still stop."""
    goals: Bucket = field(init=False)
    """Goals that are computed for the ghost (E31)."""
    under_way: int = 0
    """Requests that wait for the robot."""
    sockets: int = 0
    visits: int = 0
    """How many pages have come."""

    def __post_init__(self) -> None:
        rate, burst = _EDITORS_GOALS if self.may_operate else _WATCHERS_GOALS
        self.goals = Bucket(rate=rate, burst=burst)

    def rename(self, name: str) -> None:
        """Take another name, if there is one in the text."""
        self.name = " ".join(name.split())[:40] or self.name


class Keys:
    """The two tokens of this start, and who came in with them. For one thread.

    Attributes:
        operate: 256 bits: edits, starts, controls.
        watch: 256 bits: watches, and stops.
    """

    def __init__(self) -> None:
        self.operate, self.watch = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._people: dict[str, Person] = {}
        self._count = 0

    def enter(self, token: object, name: object, before: str = "") -> tuple[str, Person] | None:
        """A cookie for a token; None: it is not one of this start's.

        Args:
            before: the cookie that the browser has. If it allows the same, it stays: who opens the link again is the
                same person, and all pages of a browser belong to one.
        """
        given = token.encode(errors="replace") if isinstance(token, str) else b""
        operates = hmac.compare_digest(given, self.operate.encode())
        watches = hmac.compare_digest(given, self.watch.encode())
        if not operates and not watches:
            return None
        known = self._people.get(before)
        if known is not None and known.may_operate == operates:
            return before, known
        self._count += 1
        person = Person(id=str(self._count), name=f"guest {self._count}", may_operate=operates)
        if isinstance(name, str):
            person.rename(name)
        cookie = secrets.token_urlsafe(32)
        self._people[cookie] = person
        if len(self._people) > _MAX_PEOPLE:
            del self._people[next((c for c, p in self._people.items() if not p.sockets), next(iter(self._people)))]
        return cookie, person

    def person(self, cookie: str) -> Person | None:
        """Who has this cookie."""
        return self._people.get(cookie)


def cookie_name(port: int) -> str:
    """Name of the cookie of an editor at this port: a browser sends cookies to all ports of a host. With one name for
    several editors, the one opened last would replace the others' cookies."""
    return f"robot_rt_control_editor_{port}"


def allowed_hosts(address: str, port: int) -> frozenset[str]:
    """What a request may name as its host: a page of another origin that resolves to this address names another."""
    names = {address if ":" not in address else f"[{address}]"}
    if address in ("127.0.0.1", "localhost", "::1"):
        names |= {"127.0.0.1", "localhost", "[::1]"}
    return frozenset(f"{name}:{port}" for name in names)
