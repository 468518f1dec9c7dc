"""Protective stops outside the loop: what a stop or release brings, and the list of those that are latched."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.memory.layout import stop_request_dtype
from robot_rt_control.vocabulary.capacities import MAX_STOPS, STOP_SOURCE_BYTES
from robot_rt_control.vocabulary.enums import Authority, Refusal
from robot_rt_control.vocabulary.errors import CommandRefused

UNNAMED = "stop"
"""Source of a stop that names neither source nor reason."""
FURTHER = "further sources"
"""Source of the last place, which stands for all stops that find no other one."""

AUTHORITY_HINT = (
    "Give the secret of a session that holds parts, or the operator's: `robot-rt` finds it on the executor's machine, "
    "as the executor's user; in Python: Client(operator=True)"
)


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A protective stop that is, or was, latched."""

    source: str
    reason: str
    who: str
    number: int
    """Counts stops since the executor's start."""
    tick: int
    """In which it was latched."""
    time_ns: int
    """Start of that tick: CLOCK_MONOTONIC, or simulated time."""
    needs_secret: bool
    latched: bool = True
    merged: int = 0
    """Stops of further sources that it stands for; 0: it is that of one source."""
    release_reason: str = ""
    release_who: str = ""

    @property
    def words(self) -> str:
        """Source, reason and who, for people."""
        return _words(self.source, self.reason, self.who)

    @property
    def release_words(self) -> str:
        """Words of its release: source, reason and who, for people."""
        return _words(self.source, self.release_reason, self.release_who)


def _words(source: str, reason: str, who: str) -> str:
    said = f"{source}: {reason}" if reason and reason != source else source
    return f"{said} ({who})" if who else said


def source_of(source: str, reason: str) -> str:
    """The source of a stop: its name, else its reason, else "stop". What is too long ends in a digest of the whole."""
    name = " ".join((source or reason).encode(errors="replace").decode().replace("\0", " ").split()) or UNNAMED
    if len(name.encode()) <= STOP_SOURCE_BYTES:
        return name
    end = f"… {hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return _cut(name, STOP_SOURCE_BYTES - len(end.encode())).decode() + end


def _cut(text: str, size: int) -> bytes:
    """UTF-8, at most `size` bytes of whole characters."""
    return text.encode(errors="replace")[:size].decode(errors="ignore").encode()


def secret_digest(secret: str) -> np.ndarray:
    """What is kept of a secret: int64, shape (4,); zeros: there is none."""
    if not secret:
        return np.zeros(4, np.int64)
    return np.frombuffer(hashlib.sha256(secret.encode(errors="replace")).digest(), np.int64)


def stop_request(
    *,
    source: str,
    reason: str = "",
    who: str = "",
    secret: str = "",
    everything: bool = False,
    authority: Authority = Authority.NONE,
) -> np.record:
    """What lies beside PROTECTIVE_STOP or its release: a record of `layout.stop_request_dtype`.

    Args:
        source: as `source_of` gives it; of a release also empty: the only one.
        secret: stop: that its release needs; release: that it brings.
    """
    request: np.record = np.zeros(1, stop_request_dtype)[0]
    for field, text in (("source", source), ("reason", reason), ("who", who)):
        room = request[field].nbytes
        request[field] = np.frombuffer(_cut(text.replace("\0", " "), room).ljust(room, b"\0"), np.int64)
    request.digest = secret_digest(secret)
    request.needs_secret = bool(secret)
    request.further = source == FURTHER
    request.everything, request.authority = everything, int(authority)
    return request


def _text(words: np.ndarray) -> str:
    return words.tobytes().rstrip(b"\0").decode(errors="replace")


def _stop(row: np.record, place: int) -> Stop:
    return Stop(
        source=FURTHER if place == MAX_STOPS - 1 else _text(row["source"]) or UNNAMED,
        reason=_text(row["reason"]),
        who=_text(row["who"]),
        number=int(row["number"]),
        tick=int(row["tick"]),
        time_ns=int(row["time_ns"]),
        needs_secret=bool(row["needs_secret"]),
        latched=bool(row["latched"]),
        merged=int(row["merged"]),
        release_reason=_text(row["release_reason"]),
        release_who=_text(row["release_who"]),
    )


def known_stops(rows: np.ndarray) -> list[Stop]:
    """Those of `layout.stop_dtype` whose places were not used again since, latched or not; the oldest first."""
    found = [_stop(row, place) for place, row in enumerate(rows) if row["number"]]
    return sorted(found, key=lambda stop: stop.number)


def latched_stops(rows: np.ndarray) -> list[Stop]:
    """Those that are latched, the oldest first."""
    return [stop for stop in known_stops(rows) if stop.latched]


def stop_of_number(rows: np.ndarray, number: int) -> Stop | None:
    """The stop of this number; None: its place has been used again since."""
    return next((stop for stop in known_stops(rows) if stop.number == number), None)


def listed(stops: Sequence[Stop]) -> str:
    """Stops in words, for messages."""
    return "; ".join(s.words + (" [needs its secret]" if s.needs_secret else "") for s in stops) or "none"


def foreseen_refusal(rows: np.ndarray, request: np.record) -> Refusal:
    """What the loop answers to a release if its next tick finds these stops; NONE: it releases something.

    For a loop that ticks on request only: there a caller cannot wait for the loop's own answer. The rules are those of
    `release_protective_stop` in `realtime/tick/protective_stop.py`.

    Args:
        rows: of `layout.stop_dtype`, as the channel has them.
        request: as `stop_request` makes it.
    """
    latched = [(row, place == MAX_STOPS - 1) for place, row in enumerate(rows) if row["latched"]]
    unnamed = not request["source"][0] and not request["further"]
    if not latched and (unnamed or request["everything"]):
        return Refusal.NONE
    if len(latched) > 1 and unnamed and not request["everything"]:
        return Refusal.SEVERAL_STOPS
    refusal = Refusal.NO_SUCH_STOP
    for row, is_last in latched:
        same = bool(is_last) if request["further"] else not is_last and bool((row["source"] == request["source"]).all())
        if not (same or unnamed or request["everything"]):
            continue
        if not row["needs_secret"]:
            allowed, refusal = request["authority"] != Authority.NONE, Refusal.NO_AUTHORITY
        else:
            known = hmac.compare_digest(row["digest"].tobytes(), request["digest"].tobytes())
            allowed = request["authority"] == Authority.OPERATOR if is_last else known and not request["everything"]
            refusal = Refusal.STOP_NEEDS_SECRET
        if allowed:
            return Refusal.NONE
    return refusal


def release_refused(refusal: Refusal, source: str, stops: Sequence[Stop]) -> CommandRefused:
    """The error for a refused release.

    Args:
        source: that it named; empty: none.
        stops: those that are latched.
    """
    what = f"the release of {f'protective stop {source!r}' if source else 'the protective stop'} was refused"
    if refusal == Refusal.NO_AUTHORITY:
        return CommandRefused(what, expected="authority", got="no secret, or one that gives none", hint=AUTHORITY_HINT)
    if refusal == Refusal.SEVERAL_STOPS:
        return CommandRefused(
            what,
            expected="the source of one, as several are latched",
            got=f"none; latched: {listed(stops)}",
            hint="Name the source; `robot-rt release --all` releases all that need no secret of their own",
        )
    if refusal == Refusal.NO_SUCH_STOP:
        return CommandRefused(what, expected="the source of one that is latched", got=f"latched: {listed(stops)}")
    if refusal == Refusal.STOP_NEEDS_SECRET:
        return CommandRefused(
            what,
            expected="the secret that the stop was made with",
            got=f"none, or another one; latched: {listed(stops)}",
            hint="The person who stopped with it can release it. A restart of the executor ends all stops",
        )
    if refusal == Refusal.STOPPED_NOW:
        return CommandRefused(what, expected="no stop of that source", got="one in the same tick", hint="Release again")
    return CommandRefused(f"{what}: {refusal.name.lower()}")
