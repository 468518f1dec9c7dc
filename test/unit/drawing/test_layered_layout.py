"""Boxes in layers, and links between them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.drawing.layered_layout import Box, Layout, Link, is_drawn, lay_out, ranks

KEYS = "abcdefgh"


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Box], list[Link]]:
    keys = KEYS[: draw(st.integers(1, len(KEYS)))]
    sizes = st.floats(10.0, 120.0)
    boxes = [Box(key=k, width=draw(sizes), height=draw(sizes), beside=draw(st.sampled_from([0.0, 40.0]))) for k in keys]
    pairs = draw(st.lists(st.tuples(st.sampled_from(keys), st.sampled_from(keys)), max_size=14, unique=True))
    links = [
        Link(
            source=s,
            target=t,
            width=draw(st.sampled_from([0.0, 30.0, 90.0])),
            height=draw(st.sampled_from([12.0, 40.0])),
        )
        for s, t in pairs
    ]
    return boxes, links


Rectangle = tuple[float, float, float, float]


def rectangles(layout: Layout, boxes: list[Box], links: list[Link]) -> list[Rectangle]:
    """Left, top, right, bottom of all boxes with what is beside them, and of all labels."""
    found = []
    for box in boxes:
        x, y = layout.centers[box.key]
        found.append((x - box.width / 2, y - box.height / 2, x + box.width / 2 + box.beside, y + box.height / 2))
    for link, route in zip(links, layout.routes, strict=True):
        if route is not None and link.width:
            x, y = route.label
            found.append((x, y, x + link.width, y + link.height))
    return found


def apart(a: Rectangle, b: Rectangle) -> bool:
    slack = 1e-6
    return (
        a[2] <= b[0] + slack or b[2] <= a[0] + slack or a[3] <= b[1] + slack or b[3] <= a[1] + slack
    )  # fmt: skip


@settings(deadline=None)
@given(graphs())
def test_nothing_lies_on_anything_else(graph: tuple[list[Box], list[Link]]) -> None:
    boxes, links = graph
    layout = lay_out(boxes, links)
    found = rectangles(layout, boxes, links)
    assert all(apart(a, b) for a, b in itertools.combinations(found, 2))
    assert all(r[0] >= -1e-6 and r[1] >= -1e-6 for r in found)
    assert all(r[2] <= layout.width + 1e-6 and r[3] <= layout.height + 1e-6 for r in found)


@settings(deadline=None)
@given(graphs())
def test_links_begin_and_end_at_their_boxes_and_never_run_through_one(graph: tuple[list[Box], list[Link]]) -> None:
    boxes, links = graph
    layout = lay_out(boxes, links)
    rank = ranks([b.key for b in boxes], [(k.source, k.target) for k in links])
    by_key = {b.key: b for b in boxes}
    for link, route in zip(links, layout.routes, strict=True):
        assert (route is not None) == is_drawn(rank, link.source, link.target)
        if route is None:
            continue
        for key, (x, y) in ((link.source, route.points[0]), (link.target, route.points[-1])):
            cx, cy = layout.centers[key]
            assert abs(x - cx) <= by_key[key].width / 2
            assert abs(abs(y - cy) - by_key[key].height / 2) < 1e-6
        down = rank[link.target] > rank[link.source]
        ys = [y for _, y in route.points]
        assert ys == sorted(ys, reverse=not down)
        for (ax, ay), (bx, by) in zip(route.points[1:-1], route.points[2:-1], strict=False):
            if ax == bx:  # straight through a layer: no box may be there
                for box in boxes:
                    x, y = layout.centers[box.key]
                    beside_it = not x - box.width / 2 < ax < x + box.width / 2 + box.beside
                    assert beside_it or max(ay, by) <= y - box.height / 2 or min(ay, by) >= y + box.height / 2


def test_layers_are_longest_paths_and_loops_are_broken() -> None:
    links = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "a"), ("c", "c"), ("d", "c")]
    assert ranks("abcd", links) == {"a": 0, "b": 1, "c": 2, "d": 0}
    chain = list(itertools.pairwise(range(3000)))
    assert ranks(range(3000), [*chain, (2999, 0)])[2999] == 2999, "however long, without recursion"


def test_a_row_of_boxes_is_straight_and_a_fork_is_balanced() -> None:
    boxes = [Box(key=k, width=50.0, height=20.0) for k in "abc"]
    layout = lay_out(boxes, [Link(source="a", target="b"), Link(source="b", target="c")])
    assert len({layout.centers[k][0] for k in "abc"}) == 1
    layout = lay_out(boxes, [Link(source="a", target="b"), Link(source="a", target="c")])
    middle = (layout.centers["b"][0] + layout.centers["c"][0]) / 2
    assert layout.centers["a"][0] == pytest.approx(middle, abs=0.5)


def test_crossings_are_resolved() -> None:
    boxes = [Box(key=k, width=40.0, height=20.0) for k in ("t", *"abcdef")]
    pairs = ["ta", "tb", "tc", "af", "be", "cd"]
    layout = lay_out(boxes, [Link(source=p[0], target=p[1]) for p in pairs])
    order = sorted("abc", key=lambda k: layout.centers[k][0])
    below = {"a": "f", "b": "e", "c": "d"}
    assert [below[k] for k in order] == sorted("def", key=lambda k: layout.centers[k][0])
