"""What an application writes a stream with."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robot_rt_control.client.stream import Stream
from robot_rt_control.definitions.stream_sample import InputSample
from robot_rt_control.vocabulary.errors import DefinitionError, SessionError


@pytest.fixture
def sent() -> list[InputSample]:
    return []


@pytest.fixture
def stream(sent: list[InputSample]) -> Stream:
    return Stream("follow", "goal", length=3, rates=True, period=0.001, send=sent.append, clock=lambda: 7.5)


def test_samples_are_numbered_and_stamped(stream, sent):
    stream.write([1, 2, 3])
    stream.write(np.array([4.0, 5.0, 6.0]), [0.1, 0.2, 0.3], time=8.0)
    assert [(s.sequence, s.source_time, s.values, s.valid) for s in sent] == [
        (1, 7.5, [1.0, 2.0, 3.0], []),
        (2, 8.0, [4.0, 5.0, 6.0, 0.1, 0.2, 0.3], []),
    ]
    assert stream.time == 7.5


def test_values_that_are_not_valid_may_be_anything(stream, sent):
    stream.write([1.0, math.nan, 3.0], valid=[True, False, True])
    stream.write([1.0, math.nan, 3.0], [0.0, math.inf, 0.0], valid=[True, False, True], tick=12)
    assert sent[0].values == [1.0, 0.0, 3.0] and sent[0].valid == [True, False, True]
    assert sent[1].valid == [True, False, True] * 2 and sent[1].tick == 12


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (dict(values=[1.0, 2.0]), "stream 'goal' of action 'follow': a sample has the wrong number of values; "
         "expected 3; got 2"),
        (dict(values=[1.0, 2.0, math.nan]), r"values\[2\] of a sample is not finite; expected finite numbers; got nan"),
        (dict(values=[1, 2, 3], rates=[1, 2]), "wrong number of rates; expected 3; got 2"),
        (dict(values=[1, 2, 3], rates=[1, math.inf, 2]), r"rates\[1\] of a sample is not finite"),
        (dict(values=[1, 2, 3], valid=[True]), "`valid`; expected 3 booleans; got 1"),
        (dict(values="abc"), "expected numbers; got 'abc'"),
        (dict(values=[1, 2, 3], time=math.nan), "time of a sample; expected a finite number"),
    ],
)  # fmt: skip
def test_what_is_not_valid_is_refused_and_nothing_leaves(stream, sent, arguments, text):
    with pytest.raises(DefinitionError, match=text):
        stream.write(**arguments)
    assert not sent
    stream.write([1, 2, 3])
    assert sent[0].sequence == 1, "a refused sample has no number"


def test_a_stream_that_takes_no_rates_says_so(sent):
    stream = Stream("a", "s", length=1, rates=False, period=0.001, send=sent.append, clock=lambda: 0.0)
    stream.write(1.5)
    assert sent[0].values == [1.5]
    with pytest.raises(DefinitionError, match="takes no rates"):
        stream.write(1.5, 0.1)


def test_after_its_context_it_writes_no_more(stream):
    with stream as same:
        assert same is stream
        stream.write([1, 2, 3])
    with pytest.raises(SessionError, match="stream 'goal' of action 'follow' is closed"):
        stream.write([1, 2, 3])
