import pytest

from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.events.session_ends import SessionEnds
from robot_rt_control.vocabulary.event_kinds import Kind


@pytest.fixture
def told():
    return []


@pytest.fixture
def ends(told):
    return SessionEnds(lambda event: told.append((event.session, event.tick, event.time_ns)))


def ended(session: str) -> ServerEvent:
    return ServerEvent(kind=Kind.SESSION_ENDED, session=session)


def test_an_end_waits_until_its_tick_was_told_to_the_end(ends, told):
    ends.add(1, ended("s1"), (7, 70))
    ends.flush((6, 60))
    assert told == []
    ends.flush((7, 70))
    ends.flush((8, 80))
    assert told == [("s1", 7, 70)]


@pytest.mark.parametrize("loop_first", [True, False])
def test_the_loop_and_the_server_may_end_it_in_either_order(ends, told, loop_first):
    if loop_first:
        ends.set_end(1, (7, 70))
    ends.add(1, ended("s1"), None)
    ends.add(2, ended("s2"), None)
    ends.flush((9, 90) if loop_first else (6, 60))
    if not loop_first:
        assert told == []
        ends.set_end(1, (7, 70))
    ends.flush((9, 90))
    assert told == [("s1", 7, 70)], "the loop has not ended the other one"


def test_without_an_executor_nothing_is_kept_back(ends, told):
    ends.add(1, ended("s1"), None)
    ends.add(2, ended("s2"), (9, 90))
    ends.flush()
    assert told == [("s1", 0, 0), ("s2", 9, 90)]
