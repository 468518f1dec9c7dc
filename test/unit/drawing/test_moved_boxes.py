"""Boxes that a person moved."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.drawing.layered_layout import Box, Layout, Link, lay_out
from robot_rt_control.drawing.moved_boxes import with_places

KEYS = "abcdefghijkl"


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Box], list[Link], dict[str, tuple[float, float]]]:
    keys = KEYS[: draw(st.integers(1, len(KEYS)))]
    sizes = st.sampled_from([10.0, 60.0, 140.0])
    boxes = [Box(key=k, width=draw(sizes), height=draw(sizes), beside=draw(st.sampled_from([0.0, 40.0]))) for k in keys]
    pairs = draw(st.lists(st.tuples(st.sampled_from(keys), st.sampled_from(keys)), max_size=20, unique=True))
    links = [Link(source=s, target=t, width=30.0, height=12.0) for s, t in pairs]
    place = st.tuples(st.floats(-300.0, 900.0), st.floats(-300.0, 900.0))
    return boxes, links, draw(st.dictionaries(st.sampled_from(keys), place, max_size=4))


def overlapping(layout: Layout, boxes: list[Box]) -> list[set[object]]:
    found = []
    for a, b in itertools.combinations(boxes, 2):
        (ax, ay), (bx, by) = layout.centers[a.key], layout.centers[b.key]
        right_of_a, right_of_b = ax + a.width / 2 + a.beside, bx + b.width / 2 + b.beside
        apart_x = max(bx - b.width / 2 - right_of_a, ax - a.width / 2 - right_of_b)
        if apart_x < -1e-6 and abs(ay - by) < (a.height + b.height) / 2 - 1e-6:
            found.append({a.key, b.key})
    return found


@settings(deadline=None)
@given(cases())
def test_others_give_way_to_moved_boxes(
    case: tuple[list[Box], list[Link], dict[str, tuple[float, float]]],
) -> None:
    boxes, links, places = case
    layout = with_places(lay_out(boxes, links), boxes, links, places)
    assert all(pair <= places.keys() for pair in overlapping(layout, boxes)), "only those that a person put so"
    for box in boxes:
        x, y = layout.centers[box.key]
        assert box.width / 2 <= x + 1e-6 and x + box.width / 2 + box.beside <= layout.width + 1e-6
        assert box.height / 2 <= y + 1e-6 and y + box.height / 2 <= layout.height + 1e-6
    first, *others = places or [""]
    for key in others:  # relative to each other, they are where they were put
        for axis in (0, 1):
            distance = layout.centers[key][axis] - layout.centers[first][axis]
            assert abs(distance - (places[key][axis] - places[first][axis])) < 1e-6


def test_nothing_changes_without_a_moved_box() -> None:
    boxes = [Box(key=k, width=40.0, height=20.0) for k in "ab"]
    links = [Link(source="a", target="b")]
    layout = lay_out(boxes, links)
    assert with_places(layout, boxes, links, {"unknown": (1.0, 2.0)}) is layout


def test_links_of_moved_boxes_lead_straight() -> None:
    boxes = [Box(key=k, width=40.0, height=20.0) for k in "abc"]
    links = [Link(source="a", target="b"), Link(source="b", target="c")]
    layout = with_places(lay_out(boxes, links), boxes, links, {"b": (200.0, 10.0)})
    route = layout.routes[0]
    assert route is not None
    assert route.points == ((40.0, 10.0), (180.0, 10.0)), "from side to side"
    assert layout.centers["a"] == (20.0, 10.0)
