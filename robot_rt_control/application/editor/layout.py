"""Places for the nodes of a picture, by the layered layout that drawings use as well."""

from __future__ import annotations

from typing import Any

from robot_rt_control.application.layered_layout import Box, Link, lay_out
from robot_rt_control.vocabulary.capacities import MAX_NODES
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

_STRETCH = 1.6
"""A browser's picture needs more room between layers than a drawing: links are taken hold of."""


def graph_layout(graph: Any) -> dict[str, Any]:
    """The places of the boxes' top left corners: {"places": {id: [x, y]}}.

    Args:
        graph: {"boxes": [[id, width, height]], "links": [[id, id]]}, in reading order.

    Raises:
        DefinitionError: not such a graph.
        CapacityError: too many boxes.
    """
    try:
        boxes = [Box(key=str(id), width=float(width), height=float(height)) for id, width, height in graph["boxes"]]
        pairs = [(str(a), str(b)) for a, b in graph["links"]]
    except (KeyError, TypeError, ValueError):
        raise DefinitionError("layout", expected='{"boxes": [[id, width, height]], "links": [[id, id]]}') from None
    if len(boxes) > MAX_NODES or len(pairs) > 20 * MAX_NODES:
        raise CapacityError("too many nodes", expected=f"at most {MAX_NODES}", got=str(len(boxes)))
    known = {box.key: box for box in boxes}
    links = [
        Link(source=a, target=b, width=30.0, height=14.0)
        for a, b in dict.fromkeys(pairs)
        if a in known and b in known and a != b
    ]
    found = lay_out(list(known.values()), links)
    return {
        "places": {
            str(key): [round(x - known[key].width / 2), round(_STRETCH * (y - known[key].height / 2))]
            for key, (x, y) in found.centers.items()
        }
    }
