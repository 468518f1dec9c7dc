from pathlib import Path

from robot_rt_control.vocabulary.enums import DETACHED_ENDED, EventKind
from robot_rt_control.vocabulary.event_kinds import Kind


def test_the_loops_kinds_have_their_names():
    assert [Kind[kind.name].value for kind in EventKind] == [kind.name.lower() for kind in EventKind]
    assert list(Kind)[: len(EventKind)] == [Kind[kind.name] for kind in EventKind]


def test_the_message_names_all_kinds():
    text = (Path(__file__).parents[3] / "msg" / "Event.msg").read_text()
    missing = [kind for kind in Kind if kind not in text]
    assert not missing


def test_the_kind_for_the_server_alone_is_none_of_them():
    assert DETACHED_ENDED not in set(EventKind)


def test_a_kind_is_its_text():
    assert Kind.SESSION_ENDED == "session_ended" and f"{Kind.SESSION_ENDED}" == "session_ended"
