"""Places for the nodes of a picture, by the layered layout that drawings use as well."""

from __future__ import annotations

from typing import Any

from robot_rt_control.drawing.layered_layout import Box, Link, lay_out
from robot_rt_control.vocabulary.capacities import MAX_NODES
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

_LARGEST = 1e5
"""[pixels]"""
_STRETCH = 1.35
"""A browser's picture needs more room between layers than a drawing: links are taken hold of."""


def graph_layout(graph: Any) -> dict[str, Any]:
    """The places of the boxes' top left corners, and the points that links pass.

    That is {"places": {id: [x, y]}, "bends": {"id>id": [[x, y]]}}.

    Args:
        graph: {"boxes": [[id, width, height]], "links": [[id, id, width of its label]]}, in reading order.

    Raises:
        DefinitionError: not such a graph.
        CapacityError: too many boxes.
    """
    try:
        boxes = [Box(key=str(id), width=float(width), height=float(height)) for id, width, height in graph["boxes"]]
        widths: dict[tuple[str, str], float] = {}
        for a, b, width in graph["links"]:
            widths[str(a), str(b)] = max(widths.get((str(a), str(b)), 0.0), float(width))
    except (KeyError, TypeError, ValueError, OverflowError):
        expected = '{"boxes": [[id, width, height]], "links": [[id, id, width]]}'
        raise DefinitionError("layout", expected=expected) from None
    if len(boxes) > MAX_NODES or len(widths) > 20 * MAX_NODES:
        raise CapacityError("too many nodes", expected=f"at most {MAX_NODES}", got=str(len(boxes)))
    if not all(0.0 <= size <= _LARGEST for box in boxes for size in (box.width, box.height)) or not all(
        0.0 <= width <= _LARGEST for width in widths.values()
    ):
        raise DefinitionError("layout: a size", expected=f"0 to {_LARGEST:g} pixels")
    known = {box.key: box for box in boxes}
    links = [
        Link(source=a, target=b, width=width, height=18.0 if width else 0.0)
        for (a, b), width in widths.items()
        if a in known and b in known and a != b
    ]
    found = lay_out(list(known.values()), links)
    return {
        "places": {
            str(key): [round(x - known[key].width / 2), round(_STRETCH * (y - known[key].height / 2))]
            for key, (x, y) in found.centers.items()
        },
        "bends": {
            f"{link.source}>{link.target}": [[round(x), round(_STRETCH * y)] for x, y in route.points[1:-1]]
            for link, route in zip(links, found.routes, strict=True)
            if route is not None
        },
    }
