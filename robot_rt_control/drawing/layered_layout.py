"""Places the boxes of a directed graph in layers, top to bottom, and routes its links between them.

After Sugiyama, Tagawa, Toda: Methods for visual understanding of hierarchical system structures (1981): break cycles,
rank by the longest path, order each layer by barycentres, then move everything towards its neighbours; this last step
is solved exactly in each layer (pool adjacent violators). Labels are nodes of layers between those of the boxes, so
that no label lies on a box, on another label or on a foreign link. Lengths are in points, y points downwards.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]
_GAP_X, _GAP_Y, _SLOPE = 20.0, 17.0, 0.06
_LINE = 5.0
"""From a link to its label."""
_PORT = 16.0
"""Between links that end on the same side of a box."""
_SWEEPS, _PLACINGS = 12, 60
_LONGEST = 8
"""A link over more layers of boxes is not drawn: it would hide others."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """A node. `beside` is kept free on its right."""

    key: Hashable
    width: float
    height: float
    beside: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Link:
    """From one box to another, with a label's size; 0: none."""

    source: Hashable
    target: Hashable
    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Route:
    """The route of a link: curves with vertical tangents through `points`. The label's top left corner is `label`."""

    points: tuple[Point, ...]
    label: Point


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The result.

    Args:
        centers: of the boxes, without the space beside them.
        routes: one for each link; None: it is too long to be drawn.
        width, height: of everything; it begins at 0, 0.
    """

    centers: dict[Hashable, Point]
    routes: list[Route | None]
    width: float
    height: float


@dataclass(eq=False)
class _Node:
    """A box, a label, or a bend of a link, in a layer."""

    rank: int
    width: float = 0.0
    height: float = 0.0
    port: float = 0.0
    """Where links meet it, from its middle."""
    weight: float = 8.0
    """Weight of straight links."""
    x: float = 0.0
    above: list[_Node] = field(default_factory=list)
    below: list[_Node] = field(default_factory=list)

    @property
    def port_x(self) -> float:
        return self.x + self.port


def ranks(keys: Sequence[Hashable], links: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, int]:
    """The layer of each box, from 0: the longest path that leads to it, without links that lead back.

    Args:
        keys: in reading order.
    """
    followers: dict[Hashable, list[Hashable]] = {key: [] for key in keys}
    for source, target in links:
        if source != target:
            followers[source].append(target)
    finished: list[Hashable] = []
    state: dict[Hashable, int] = {}  # 1: on the present path, 2: done
    back: set[tuple[Hashable, Hashable]] = set()
    for root in keys:
        if root in state:
            continue
        state[root] = 1
        path = [(root, iter(followers[root]))]
        while path:
            key, rest = path[-1]
            for follower in rest:
                if state.get(follower) == 1:
                    back.add((key, follower))
                elif follower not in state:
                    state[follower] = 1
                    path.append((follower, iter(followers[follower])))
                    break
            else:
                state[key] = 2
                finished.append(key)
                path.pop()
    rank = dict.fromkeys(keys, 0)
    for key in reversed(finished):
        for follower in followers[key]:
            if (key, follower) not in back:
                rank[follower] = max(rank[follower], rank[key] + 1)
    return rank


def is_drawn(rank: dict[Hashable, int], source: Hashable, target: Hashable) -> bool:
    """Whether a link is short enough to be drawn."""
    return source != target and 0 < abs(rank[target] - rank[source]) <= _LONGEST


def lay_out(boxes: Sequence[Box], links: Sequence[Link], rank: dict[Hashable, int] | None = None) -> Layout:
    """Place boxes and route links.

    Args:
        boxes: in reading order.
        links: at most one from one box to another; links of a box to itself are not routed.
        rank: the layers, from `ranks`; default: computed.
    """
    rank = rank or ranks([b.key for b in boxes], [(k.source, k.target) for k in links])
    nodes = {
        b.key: _Node(2 * rank[b.key], width=b.width + b.beside, height=b.height, port=-b.beside / 2, weight=1.0)
        for b in boxes
    }
    layers: list[list[_Node]] = [[] for _ in range(2 * max(rank.values(), default=0) + 1)]
    for node in nodes.values():
        layers[node.rank].append(node)
    chains = [_chain(link, nodes, layers) if is_drawn(rank, link.source, link.target) else None for link in links]
    _order(layers)
    _place(layers)
    _straighten(layers, chains)
    tops, heights = _rows(layers)
    left = min((n.x - n.width / 2 for layer in layers for n in layer), default=0.0)
    for layer in layers:
        for node in layer:
            node.x -= left
    ports = _ports(chains, {id(nodes[b.key]): b.width for b in boxes})
    return Layout(
        centers={b.key: (nodes[b.key].port_x, tops[nodes[b.key].rank] + heights[nodes[b.key].rank] / 2) for b in boxes},
        routes=[
            None if chain is None else _route(chain, link, i, ports, tops, heights)
            for i, (link, chain) in enumerate(zip(links, chains, strict=True))
        ],
        width=max((n.x + n.width / 2 for layer in layers for n in layer), default=0.0),
        height=tops[-1] + heights[-1] if layers else 0.0,
    )


def _chain(link: Link, nodes: dict[Hashable, _Node], layers: list[list[_Node]]) -> list[_Node]:
    """The nodes that a link passes, its boxes included, from source to target. The label is next to the source."""
    source, target = nodes[link.source], nodes[link.target]
    step = 1 if target.rank > source.rank else -1
    chain = [source]
    for rank in range(source.rank + step, target.rank, step):
        node = _Node(rank)
        if len(chain) == 1 and link.width:
            node = _Node(rank, width=link.width + 2 * _LINE, height=link.height)
            node.port = _LINE - node.width / 2
        layers[rank].append(node)
        chain.append(node)
    chain.append(target)
    for a, b in zip(chain, chain[1:], strict=False):
        upper, lower = (a, b) if step == 1 else (b, a)
        upper.below.append(lower)
        lower.above.append(upper)
    return chain


# --- order ------------------------------------------------------------------------------------------


def _order(layers: list[list[_Node]]) -> None:
    """Order each layer so that few links cross: sweeps down and up by barycentres; the best of all is kept."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers)
    place = {id(node): i for layer in layers for i, node in enumerate(layer)}
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        for layer in layers if down else layers[::-1]:
            wanted = {}
            for i, node in enumerate(layer):
                near = node.above if down else node.below
                wanted[id(node)] = sum(place[id(n)] for n in near) / len(near) if near else float(i)
            layer.sort(key=lambda node: wanted[id(node)])
            place.update((id(node), i) for i, node in enumerate(layer))
        crossings = _crossings(layers)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    for layer, order in zip(layers, best, strict=True):
        layer[:] = order


def _crossings(layers: list[list[_Node]]) -> int:
    """Number of pairs of links that cross."""
    total = 0
    for upper, lower in zip(layers, layers[1:], strict=False):
        place = {id(node): i for i, node in enumerate(lower)}
        passed: list[int] = []
        for node in upper:
            ends = sorted(place[id(n)] for n in node.below)
            total += sum(len(passed) - bisect_right(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


# --- places -----------------------------------------------------------------------------------------


def _place(layers: list[list[_Node]]) -> None:
    """Give every node its x: near its neighbours, with the least distances within its layer."""
    for layer in layers:
        x = 0.0
        for node in layer:
            node.x = x + node.width / 2
            x += node.width + _GAP_X
    for sweep in range(_PLACINGS):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            # First down, then up, finally both ways: towards a balance.
            sides = (True, True) if sweep > _PLACINGS // 3 else ((True, False) if sweep % 2 == 0 else (False, True))
            wanted = []
            for node in layer:
                near = [*(node.above if sides[0] else ()), *(node.below if sides[1] else ())]
                weights = [node.weight * n.weight for n in near]
                to = sum(w * n.port_x for w, n in zip(weights, near, strict=True)) / sum(weights) if near else 0.0
                wanted.append((to - node.port, sum(weights)) if near else (node.x, 0.01))
            _move(layer, wanted)


def _move(layer: list[_Node], wanted: list[tuple[float, float]]) -> None:
    """Move a layer's nodes towards their wishes [x, weight], as far as their widths allow, by least squares.

    Without the least distances, the nodes must only keep their order: isotonic regression.
    """
    offsets, offset = [], 0.0
    for i, node in enumerate(layer):
        if i:
            offset += (layer[i - 1].width + node.width) / 2 + _GAP_X
        offsets.append(offset)
    blocks: list[list[float]] = []  # weighted sum, weight, number of nodes
    for (x, weight), o in zip(wanted, offsets, strict=True):
        blocks.append([(x - o) * weight, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    values = [total / weight for total, weight, n in blocks for _ in range(int(n))]
    for node, value, o in zip(layer, values, offsets, strict=True):
        node.x = value + o


def _straighten(layers: list[list[_Node]], chains: Sequence[list[_Node] | None]) -> None:
    """Put the bends of a link on one vertical line, if there is room between their neighbours."""
    near = {id(node): (layer, i) for layer in layers for i, node in enumerate(layer)}

    def room(node: _Node) -> tuple[float, float]:
        layer, i = near[id(node)]
        low, high = -float("inf"), float("inf")
        if i > 0:
            low = layer[i - 1].x + (layer[i - 1].width + node.width) / 2 + _GAP_X
        if i + 1 < len(layer):
            high = layer[i + 1].x - (layer[i + 1].width + node.width) / 2 - _GAP_X
        return low + node.port, high + node.port

    for chain in chains:
        run: list[_Node] = []
        low, high = -float("inf"), float("inf")
        for node in [*(chain or ())[1:-1], None]:
            node_low, node_high = room(node) if node is not None else (1.0, 0.0)
            if run and max(low, node_low) > min(high, node_high):
                x = min(max(sum(n.port_x for n in run) / len(run), low), high)
                for bend in run:
                    bend.x = x - bend.port
                run, low, high = [], -float("inf"), float("inf")
            if node is not None:
                run.append(node)
                low, high = max(low, node_low), min(high, node_high)


def _rows(layers: list[list[_Node]]) -> tuple[list[float], list[float]]:
    """Top and height of each layer, with more room for links that go far to a side."""
    heights = [max((n.height for n in layer), default=0.0) for layer in layers]
    tops, y = [], 0.0
    for layer, height in zip(layers, heights, strict=True):
        tops.append(y)
        aside = max((abs(n.port_x - below.port_x) for n in layer for below in n.below), default=0.0)
        y += height + min(_GAP_Y + _SLOPE * aside, 3 * _GAP_Y)
    return tops, heights


# --- links ------------------------------------------------------------------------------------------

_End = tuple[int, bool]
"""An end of a link: its number, whether it is the source's."""


def _ports(chains: Sequence[list[_Node] | None], widths: dict[int, float]) -> dict[_End, float]:
    """Where links begin and end on the sides of their boxes: side by side, in the order of their directions."""
    sides: dict[tuple[int, bool], list[tuple[float, _End, _Node]]] = {}
    for i, chain in enumerate(chains):
        if chain is None:
            continue
        for is_source, box, near in ((True, chain[0], chain[1]), (False, chain[-1], chain[-2])):
            sides.setdefault((id(box), near.rank > box.rank), []).append((near.port_x, (i, is_source), box))
    found = {}
    for (key, _), ends in sides.items():
        between = min(_PORT, widths[key] / (len(ends) + 1))
        for n, (_, end, box) in enumerate(sorted(ends, key=lambda e: e[0])):
            found[end] = box.port_x + (n - (len(ends) - 1) / 2) * between
    return found


def _route(
    chain: list[_Node], link: Link, number: int, ports: dict[_End, float], tops: list[float], heights: list[float]
) -> Route:
    down = chain[-1].rank > chain[0].rank

    def edge(node: _Node, at_end: bool) -> float:
        """The side of a node's layer or box at which the link enters or leaves."""
        is_box = node is chain[0] or node is chain[-1]
        top, height = tops[node.rank], heights[node.rank]
        middle, half = top + height / 2, (node.height if is_box else height) / 2
        return middle + half if at_end == down else middle - half

    points = [(ports[number, True], edge(chain[0], True))]
    for node in chain[1:-1]:
        points += [(node.port_x, edge(node, False)), (node.port_x, edge(node, True))]
    points.append((ports[number, False], edge(chain[-1], False)))
    first = chain[1]
    y = tops[first.rank] + (heights[first.rank] - link.height) / 2
    return Route(points=tuple(points), label=(first.port_x + _LINE, y))
