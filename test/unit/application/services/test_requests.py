"""Requests of external systems: what is taken, and what is refused with which text."""

from __future__ import annotations

import json

import pytest

from robot_rt_control.application.services.requests import Cancel, Move, OnDisconnect, Status, mistakes_of, parse
from robot_rt_control.vocabulary.errors import DefinitionError


def refusal(line: str | bytes) -> str:
    with pytest.raises(DefinitionError) as caught:
        parse(line if isinstance(line, bytes) else line.encode())
    return str(caught.value)


def test_one_motion_becomes_a_group() -> None:
    request = parse(b'{"robot": "left", "to": [0.1, 2], "speed": 0.5, "jerk_percent": 30, "tag": "a", "replace": true}')
    assert isinstance(request, Move)
    (command,) = request.commands
    assert (command.part, command.position, command.speed, command.jerk_percent) == ("left", (0.1, 2.0), 0.5, 30.0)
    assert request.parts == ("left",) and request.replace and request.tag == "a" and request.options == {}


def test_a_group_in_one_line() -> None:
    motions = [{"robot": "left", "to": [0.1]}, {"robot": "right", "velocity": [0.2], "time": 1}]
    request = parse(json.dumps({"group": motions, "finish": "together", "profile": "realtime"}).encode())
    assert isinstance(request, Move)
    assert request.parts == ("left", "right") and request.commands[1].time == 1.0
    assert request.options == {"finish": "together", "profile": "realtime"} and not request.replace


def test_the_other_requests() -> None:
    assert parse(b'{"cancel": 3, "tag": "x"}') == Cancel(id=3, tag="x")
    assert parse(b'{"cancel": "all"}') == Cancel(id=None)
    assert parse(b'{"status": true}') == Status()
    assert parse(b'{"cancel_on_disconnect": true}') == OnDisconnect(cancel=True)


@pytest.mark.parametrize(
    "line, text",
    [
        ("{", "the request, column 2: not valid JSON; expected an object in one line; got Expecting property name"),
        (b"\xff", "the request; expected text in UTF-8; got 'utf-8' codec can't decode"),
        ("[" * 60_000, "the request; expected JSON of a few levels; got too many levels"),
        ("[]", "the request; expected a JSON object; got []"),
        ('{"robt": "left"}', "one of the keys robot, group, cancel, status, cancel_on_disconnect; got the keys"),
        ('{"robot": "a", "cancel": 1}', "got robot and cancel"),
        ('{"robot": "a", "to": [NaN]}', "a number of the request; expected a finite number; got NaN"),
        ('{"robot": "a", "to": [1e999]}', "a number of the request; expected a finite number; got 1e999"),
        ('{"robot": "a", "to": [%s]}' % ("9" * 5000), "a number of the request; expected a finite number; got 999"),
        ('{"robot": "a", "to": [1], "to": [2]}', "key 'to' is given twice; expected each once"),
        ('{"robot": "a", "to": "far"}', "motion command of 'a': position; expected a list of numbers; got 'far'"),
        ('{"robot": "a", "to": [true]}', "motion command of 'a': position; expected a number; got True"),
        ('{"robot": "a", "via": 5}', "motion 1: via; expected a list of points; got 5"),
        ('{"robot": 5, "to": [1]}', "part of a motion command is not a text"),
        ('{"robot": "a", "sped": 1}', "key 'sped'; expected one of the known names; did you mean 'speed'; got 'sped'"),
        ('{"group": [{"robot": "a"}], "to": [1]}', "the request: key 'to'; expected one of"),
        ('{"group": []}', "group; expected a list of motions; got []"),
        ('{"group": [{"to": [1]}]}', "motion 1: robot; expected the name of a robot; got none"),
        ('{"group": [5]}', "motion 1; expected a JSON object; got 5"),
        ('{"robot": "a", "replace": 1}', "replace; expected true or false; got 1"),
        ('{"cancel": true}', "cancel; expected the id of a request, or 'all'; got True"),
        ('{"cancel": 1, "stop": 2}', "the request: key 'stop'"),
        ('{"status": 1}', "status; expected true; got 1"),
        ('{"status": true, "tag": 5}', "tag; expected a text of at most 64 characters; got 5"),
    ],
)
def test_a_bad_line_is_refused_with_the_reason(line: str | bytes, text: str) -> None:
    assert text in refusal(line)


def test_all_mistakes_of_a_group_are_reported_at_once() -> None:
    with pytest.raises(DefinitionError) as caught:
        parse(b'{"group": [{"robot": "a", "to": "x"}, {"robot": "b", "jerk": 3, "sped": 1}]}')
    mistakes = mistakes_of(caught.value)
    assert mistakes[0] == {
        "what": "motion command of 'a': position",
        "expected": "a list of numbers",
        "got": "'x'",
    }
    assert "motion 2: key 'jerk'" in mistakes[1]["what"] and "motion 2: key 'sped'" in mistakes[1]["what"]
