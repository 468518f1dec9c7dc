import math
from collections.abc import Callable
from functools import partial

import pytest

from robot_rt_control.server.sessions import SessionRegistry
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, SessionError


class Clock:
    now = 10.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def registry(clock):
    return SessionRegistry(["arm", "gripper", "camera_arm"], clock=clock)


def refused(kind: type[Exception], call: Callable[[], object]) -> str:
    with pytest.raises(kind) as error:
        call()
    return str(error.value)


def test_S4_a_taken_part_is_refused_and_the_holder_named(registry):
    first = registry.open("by_hand", ["arm", "gripper"], 0.0, 1)
    text = refused(SessionError, lambda: registry.open("mine", ["camera_arm", "arm"], 0.0, 2))
    assert text == (
        "session 'mine' cannot be opened: part 'arm' is taken; expected a part that no session holds; "
        "got held by session 's1' (by_hand). Close that session first, or wait until its lease runs out"
    )
    assert registry.holder_of("camera_arm") is None, "all parts or none"
    assert registry.end(first, "closed")
    assert registry.open("mine", ["arm"], 0.0, 2).id == "s2"


def test_bad_parts_are_refused(registry):
    assert "did you mean 'arm'" in refused(DefinitionError, lambda: registry.open("", ["am"], 0, 1))
    assert "names no part" in refused(DefinitionError, lambda: registry.open("", [], 0, 1))
    assert "names part 'arm' twice" in refused(DefinitionError, lambda: registry.open("", ["arm", "arm"], 0, 1))
    assert "lease; expected a time" in refused(DefinitionError, lambda: registry.open("", ["arm"], math.nan, 1))
    assert "lease; expected a time" in refused(DefinitionError, lambda: registry.open("", ["arm"], math.inf, 1))
    assert registry.live() == []


def test_S5_the_lease_counts_from_the_last_renewal(registry, clock):
    session = registry.open("", ["arm"], 2.0, 1)
    forever = registry.open("", ["gripper"], 0.0, 2)
    default = registry.open("", ["camera_arm"], -1.0, 3)
    assert default.lease == 1.0
    clock.now = 11.5
    assert registry.overdue() == [(default, "its client did not renew it for its lease of 1 s")]
    registry.renew(session.id)
    clock.now = 13.4
    assert [s for s, _ in registry.overdue()] == [default]
    clock.now = 13.6
    assert [s for s, _ in registry.overdue()] == [session, default]
    clock.now = 1e9
    assert forever not in [s for s, _ in registry.overdue()]


def test_S11_a_deadline_comes_whether_renewed_or_not(registry, clock):
    session = registry.open("", ["arm"], 2.0, 1, deadline=3.0)
    forever = registry.open("", ["gripper"], 0.0, 2, deadline=5.0)
    assert (session.remaining(10.5, 10.5), forever.remaining(10.5, 10.5)) == (1.5, 4.5)
    clock.now = 11.5
    registry.renew(session.id)
    assert registry.overdue() == [] and session.remaining(11.5, 11.5) == 1.5
    clock.now = 13.0
    assert registry.overdue() == [(session, "its deadline of 3 s has come")]
    clock.now = 15.0
    assert (forever, "its deadline of 5 s has come") in registry.overdue()
    for wrong in (-1.0, math.nan, math.inf):
        assert "deadline; expected a time" in refused(
            DefinitionError, partial(registry.open, "", ["camera_arm"], 0, 3, deadline=wrong)
        )


def test_S10_a_read_only_session_holds_no_parts(registry):
    text = refused(DefinitionError, lambda: registry.open("look", ["arm"], 0.0, 1, read_only=True))
    assert text == (
        "session 'look' cannot be opened: it is read-only; expected no parts: it may look at all of them; got arm. "
        "Leave out the parts, or read_only"
    )
    holder = registry.open("", ["arm"], 0.0, 1)
    watcher = registry.open("look", [], 0.0, 2, read_only=True)
    assert registry.holder_of("arm") is holder and registry.live() == [holder, watcher]
    assert refused(SessionError, lambda: watcher.check_moves("start anything")) == (
        "session 's2' (look) is read-only and cannot start anything; expected free-standing reactions with events and "
        "captured values. Open a session on the parts to be moved"
    )
    holder.check_moves("start anything")


def test_a_late_call_learns_why_the_session_ended(registry):
    session = registry.open("weld", ["arm"], 1.0, 1)
    registry.end(session, "its lease of 1 s ran out")
    assert not registry.end(session, "closed"), "it ends once"
    assert refused(SessionError, lambda: registry.get("s1")) == (
        "session 's1' (weld) has ended: its lease of 1 s ran out. Open a new session and define its actions again"
    )
    text = refused(SessionError, lambda: registry.renew("s9"))
    assert text == "unknown session; expected a known session, but there is none; got 's9'"


def test_names_and_the_number_of_sessions_have_a_bound(registry):
    text = refused(CapacityError, lambda: registry.open("n" * 65, ["arm"], 0.0, 1))
    assert text == (
        f"name of a session is too long: '{'n' * 40}…'; expected at most 64 characters (MAX_NAME_LENGTH); got 65"
    )
    for i in range(capacities.MAX_SESSIONS - 1):
        registry.open("", [], 0.0, i, read_only=True)
    assert "too many sessions; expected at most 63 (MAX_SESSIONS)" in refused(
        CapacityError, lambda: registry.open("one_more", ["arm"], 0.0, 99)
    )


def test_S16_the_secret_is_compared_as_a_whole(registry):
    session = registry.open("", ["arm"], 0.0, 1)
    assert session.admits(session.secret) and not session.admits(session.secret[:-1]) and not session.admits("")
    assert registry.open("", ["gripper"], 0.0, 2, unprotected=True).admits("")
    others = session.stream_token("b", 1, "goal"), session.stream_token("a", 2, "goal")
    assert session.stream_token("a", 1, "goal") not in ("", session.secret, *others)
