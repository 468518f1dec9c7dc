"""The protective stop: all actions end, the loop itself brakes and holds every part, and nothing starts meanwhile.

Stops are latched by source. The loop keeps the list of them, whoever asks, so there is one list and one order.
"""

from collections.abc import Callable
from typing import Any

from robot_rt_control.memory.atomics import address_of, fence_release, record_at, store_release
from robot_rt_control.memory.layout import channel_dtype, offset_of, stop_dtype, stop_request_dtype, world_dtype
from robot_rt_control.memory.plain_access import copy_bytes
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.activation import end_activation
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.recorder import request_log
from robot_rt_control.realtime.tick.suspension import suspend_all
from robot_rt_control.vocabulary.capacities import MAX_STOPS, STOP_REASON_BYTES, STOP_SOURCE_BYTES, STOP_WHO_BYTES
from robot_rt_control.vocabulary.enums import Authority, EventKind, Refusal, StopCause

_STOPPED = int(EventKind.PROTECTIVE_STOP)
_RELEASED = int(EventKind.PROTECTIVE_STOP_RELEASED)
_CAUSE = int(StopCause.PROTECTIVE_STOP)
_OPERATOR = int(Authority.OPERATOR)
_NO_AUTHORITY, _NO_SUCH_STOP = int(Refusal.NO_AUTHORITY), int(Refusal.NO_SUCH_STOP)
_SEVERAL, _NEEDS_SECRET = int(Refusal.SEVERAL_STOPS), int(Refusal.STOP_NEEDS_SECRET)
_STOPPED_NOW = int(Refusal.STOPPED_NOW)

_LAST = MAX_STOPS - 1
_WORDS, _DIGEST = STOP_SOURCE_BYTES // 8, 4
_TEXTS = STOP_SOURCE_BYTES + STOP_REASON_BYTES + STOP_WHO_BYTES
_STOPS, _STOP_SIZE = offset_of(world_dtype, "stops"), stop_dtype.itemsize
_REASON = offset_of(stop_request_dtype, "reason")
_RELEASE_REASON = offset_of(stop_dtype, "release_reason")
_COPY, _SEQUENCE = offset_of(channel_dtype, "stops"), offset_of(channel_dtype, "stops_sequence")

_request_at: Callable[[int], Any] = record_at(stop_request_dtype)


@realtime
def _report(w, ch, kind, stop, transaction, log):
    k = begin_event(w, ch, kind, 0)
    if k >= 0:
        ch.events.entries[k].transaction = transaction
        ch.events.entries[k].status = w.stops[stop].number
        ch.events.entries[k].log = log
        publish_event(ch)


@realtime
def _publish(w, ch):
    """Copy the list to where the other processes see it."""
    base = address_of(ch)
    store_release(base + _SEQUENCE, ch.stops_sequence + 1)
    fence_release()
    copy_bytes(base + _COPY, address_of(w) + _STOPS, MAX_STOPS * _STOP_SIZE)
    store_release(base + _SEQUENCE, ch.stops_sequence + 1)


@realtime
def _is_source(s, request):
    for k in range(_WORDS):
        if s.source[k] != request.source[k]:
            return False
    return True


@realtime
def _same_digest(s, request):
    """Compared as a whole, so that the time it takes says nothing about the secret."""
    difference = 0
    for k in range(_DIGEST):
        difference |= s.digest[k] ^ request.digest[k]
    return difference == 0


@realtime
def _place(w, request):
    """The latched stop of this source with this secret, else the place that is free for longest, else the last one."""
    found = _LAST
    if request.further == 1:
        return found
    for i in range(_LAST):
        s = w.stops[i]
        if s.latched == 1:
            if s.needs_secret == request.needs_secret and _is_source(s, request) and _same_digest(s, request):
                return i
        elif found == _LAST or s.number < w.stops[found].number:
            found = i
    return found


@realtime
def stop_protectively(w, ch, transaction, address):
    """Latch a stop. The first one ends all actions, default and safety actions among them. Sessions live on.

    A source that is latched already changes nothing. If there is no place for it, the last place stands for it, so
    that no stop is ever refused.

    Args:
        address: of its `stop_request_dtype`.
    """
    request = _request_at(address)
    i = _place(w, request)
    s = w.stops[i]
    s.asked_tick = w.tick
    if i == _LAST:
        s.merged += 1
        s.needs_secret |= request.needs_secret  # no digest fits it: the operator's secret alone releases it
    if s.latched == 1:
        _publish(w, ch)
        return
    copy_bytes(address_of(w) + _STOPS + i * _STOP_SIZE, address, _TEXTS)
    w.stop_count += 1
    s.number = w.stop_count
    s.latched = 1
    s.tick = w.tick
    s.time_ns = w.now_ns
    if i != _LAST:
        s.needs_secret = request.needs_secret
        for k in range(_DIGEST):
            s.digest[k] = request.digest[k]
    _publish(w, ch)
    first = w.protective_stop == 0.0
    w.protective_stop = 1.0
    _report(w, ch, _STOPPED, i, transaction, request_log(w, _STOPPED, 0, -1, -1, 0, -1))
    if first:
        for _ in range(w.n_active):
            end_activation(w, ch, w.active[w.n_active - 1], _CAUSE)
        suspend_all(w)


@realtime
def _refusal(w, i, request):
    """Why this latched stop may not be released now; 0: it may."""
    s = w.stops[i]
    if s.asked_tick == w.tick:
        return _STOPPED_NOW
    if s.needs_secret == 0:
        return 0 if request.authority != 0 else _NO_AUTHORITY
    if i == _LAST:
        return 0 if request.authority == _OPERATOR else _NEEDS_SECRET
    return 0 if request.everything == 0 and _same_digest(s, request) else _NEEDS_SECRET


@realtime
def _release(w, ch, transaction, i, address):
    s = w.stops[i]
    s.latched = 0
    s.merged = 0
    stop = address_of(w) + _STOPS + i * _STOP_SIZE
    copy_bytes(stop + _RELEASE_REASON, address + _REASON, STOP_REASON_BYTES + STOP_WHO_BYTES)
    left = 0
    for k in range(MAX_STOPS):
        left += w.stops[k].latched
    if left == 0:
        w.protective_stop = 0.0
    _publish(w, ch)
    _report(w, ch, _RELEASED, i, transaction, 0)
    s.needs_secret = 0


@realtime
def release_protective_stop(w, ch, transaction, address):
    """Release what is asked for. After the last one starts are allowed again; nothing starts by it.

    Args:
        address: of its `stop_request_dtype`.

    Returns:
        0, or why nothing was released.
    """
    request = _request_at(address)
    unnamed = request.source[0] == 0 and request.further == 0
    latched = 0
    for i in range(MAX_STOPS):
        latched += w.stops[i].latched
    if latched == 0 and (unnamed or request.everything == 1):
        return 0
    if latched > 1 and unnamed and request.everything == 0:
        return _SEVERAL
    refusal, released = _NO_SUCH_STOP, 0
    for i in range(MAX_STOPS):
        s = w.stops[i]
        if s.latched == 0:
            continue
        named = request.further == 1 if i == _LAST else request.further == 0 and _is_source(s, request)
        if request.everything == 1 or unnamed or named:
            why = _refusal(w, i, request)
            if why == 0:
                _release(w, ch, transaction, i, address)
                released += 1
            else:
                refusal = why
    return 0 if released > 0 else refusal
