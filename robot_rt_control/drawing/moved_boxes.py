"""Boxes that a person moved stay where they were put, and all others give way to them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from robot_rt_control.drawing.layered_layout import Box, Layout, Link, Point, Route

_GAP = 16.0
_LINE = 5.0
"""From a link to its label."""
Rectangle = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def with_places(
    layout: Layout, boxes: Sequence[Box], links: Sequence[Link], places: Mapping[Any, Point]
) -> Layout:
    """A layout in which some boxes are where a person put them.

    A box that lies under a moved one is shifted downwards. Links of boxes that are not where the layout had them lead
    straight from one to the other.

    Args:
        layout: of all these boxes and links.
        places: middles of boxes, in the layout's coordinates; those of unknown boxes are ignored.
    """
    moved = {box.key: places[box.key] for box in boxes if box.key in places}
    if not moved:
        return layout
    sizes = {box.key: box for box in boxes}
    centers = dict(moved)
    taken = [_around(sizes[key], center) for key, center in moved.items()]
    for key in sorted(layout.centers.keys() - moved.keys(), key=lambda k: (layout.centers[k][::-1], str(k))):
        centers[key] = _free(sizes[key], layout.centers[key], taken)
        taken.append(_around(sizes[key], centers[key]))
    shifted = {key for key, center in centers.items() if center != layout.centers[key]}
    routes = [
        route
        if route is None or not {link.source, link.target} & shifted
        else _straight(sizes[link.source], centers[link.source], sizes[link.target], centers[link.target])
        for link, route in zip(links, layout.routes, strict=True)
    ]
    return _from_zero(centers, routes, [*taken, *_labels(links, routes)])


def _around(box: Box, center: Point) -> Rectangle:
    x, y = center
    return x - box.width / 2, y - box.height / 2, x + box.width / 2 + box.beside, y + box.height / 2


def _free(box: Box, center: Point, taken: Iterable[Rectangle]) -> Point:
    """The place nearest below where the box lies on none of the others."""
    x, y = center
    left, top, right, bottom = _around(box, center)
    for a, b, c, d in sorted(taken, key=lambda r: r[1]):
        if a < right and left < c and b < bottom and top < d:
            by = d + _GAP - top
            y, top, bottom = y + by, top + by, bottom + by
    return x, y


def _straight(source: Box, a: Point, target: Box, b: Point) -> Route:
    """From the side of a box that faces the other one."""
    (ax, ay), (bx, by) = a, b
    apart = abs(by - ay) - (source.height + target.height) / 2
    if apart > 0.0:
        down = 1.0 if by > ay else -1.0
        start, end = (ax, ay + down * source.height / 2), (bx, by - down * target.height / 2)
    else:
        right = 1.0 if bx > ax else -1.0
        start, end = (ax + right * source.width / 2, ay), (bx - right * target.width / 2, by)
    return Route(points=(start, end), label=((start[0] + end[0]) / 2 + _LINE, (start[1] + end[1]) / 2 + _LINE))


def _labels(links: Sequence[Link], routes: Sequence[Route | None]) -> list[Rectangle]:
    return [
        (x, y, x + link.width, y + link.height)
        for link, route in zip(links, routes, strict=True)
        if route is not None
        for x, y in [route.label, *route.points]
    ]


def _from_zero(centers: dict[Hashable, Point], routes: list[Route | None], all_of: list[Rectangle]) -> Layout:
    """Everything moved so that it begins at 0, 0."""
    dx, dy = -min(r[0] for r in all_of), -min(r[1] for r in all_of)

    def shift(point: Point) -> Point:
        return point[0] + dx, point[1] + dy

    return Layout(
        centers={key: shift(center) for key, center in centers.items()},
        routes=[r and replace(r, points=tuple(map(shift, r.points)), label=shift(r.label)) for r in routes],
        width=max(r[2] for r in all_of) + dx,
        height=max(r[3] for r in all_of) + dy,
    )
