"""Messages in CDR, as the decoder of other tools reads them."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from mcap.records import Schema
from mcap_ros2.decoder import DecoderFactory

from robot_rt_control.recording.cdr import Cdr

SCHEMA = """\
string name
int64 count
float64[] values
string[] words
uint8[] data
int32 last
"""
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9)


@given(
    TEXT,
    st.integers(-(2**63), 2**63 - 1),
    st.lists(st.floats(), max_size=4),
    st.lists(TEXT, max_size=3),
    st.binary(max_size=9),
)
def test_any_message_is_read_back(name: str, count: int, values: list[float], words: list[str], data: bytes) -> None:
    message = Cdr().text(name).number("q", count).floats(values).texts(words).data(data).number("i", -5).finish()
    schema = Schema(id=1, data=SCHEMA.encode(), encoding="ros2msg", name="a/msg/B")
    decoder = DecoderFactory().decoder_for("cdr", schema)
    assert decoder is not None
    found = decoder(message)
    assert (found.name, found.count, list(found.words), bytes(found.data), found.last) == (name, count, words, data, -5)
    assert all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(found.values, values, strict=True))
