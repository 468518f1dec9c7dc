"""Draws a diagram as SVG or PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, PathPatch
from matplotlib.path import Path as Curve
from matplotlib.textpath import TextToPath

from robot_rt_control.drawing.diagram import ANY, END, HAND, START, Diagram, Key, Line, State, Switch
from robot_rt_control.drawing.layered_layout import Box, Layout, Link, Route, is_drawn, lay_out, ranks
from robot_rt_control.drawing.moved_boxes import with_places
from robot_rt_control.vocabulary.errors import RobotControlError

FORMATS = (".svg", ".png")
_DPI = 160
_MARGIN = 16.0
_PAD_X, _PAD_Y = 10.0, 7.0
_LOOP = 20.0
"""[pt] Width of the loop of a reaction that re-enters its state."""
_INK, _QUIET = "#1c2733", "#5b6b7b"
_FILL = {"first": "#e3f1e4", "plain": "#eaf0f8", "final": "#f6ecd9", "pseudo": "#ffffff"}
_FILL |= {"used": "#f8fafd", "active": "#ffe8cc"}
_FILL |= {"capability": "#e7edf3", "meta_skill": "#ddeefa", "motion_skill": "#fdf3cf", "behavior_skill": "#fde3d3"}
_FILL |= {"blueprint": "#ebe2f7", "built_in": "#ffffff", "success": "#e3f1e4", "failure": "#fbdedc"}
_EDGE = {"first": "#3d8b45", "plain": "#4a6c98", "final": "#a87a26", "pseudo": "#8d99a6"}
_EDGE |= {"used": "#4a6c98", "active": "#d9480f"}
_EDGE |= {"capability": "#6b7f93", "meta_skill": "#2b78ad", "motion_skill": "#a8861a", "behavior_skill": "#bf5b22"}
_EDGE |= {"blueprint": "#7446b0", "built_in": "#6b7f93", "success": "#3d8b45", "failure": "#b3352c"}
_STYLES: dict[str, tuple[float, str, bool, str]] = {
    # size, weight, whether slanted, colour
    "header": (13.0, "bold", False, _INK),
    "title": (10.0, "bold", False, _INK),
    "detail": (8.0, "normal", False, _QUIET),
    "axis": (8.0, "bold", False, _INK),
    "condition": (8.0, "normal", False, _INK),
    "governing": (8.0, "bold", False, "#d9480f"),
    "response": (8.0, "normal", True, "#9a3412"),
}
_LEADING = 1.32
_to_path = TextToPath()


def draw(diagram: Diagram, file: Path | str) -> Path:
    """Draw a diagram into a file, SVG or PNG by its ending. Returns its path.

    Raises:
        RobotControlError: another ending, or the file cannot be written.
    """
    path = Path(file)
    if path.suffix.lower() not in FORMATS:
        raise RobotControlError(
            f"picture {str(path)!r}", expected=f"a name that ends with {' or '.join(FORMATS)}", got=repr(path.suffix)
        )
    try:
        # The same program gives a byte-identical file.
        with matplotlib.rc_context({"svg.hashsalt": "robot_rt_control", "svg.fonttype": "path"}):
            figure = _Picture(diagram).figure()
            figure.savefig(path, format=path.suffix[1:].lower(), metadata=_metadata(diagram, path))
    except OSError as error:
        raise RobotControlError(f"picture {str(path)!r} cannot be written", got=str(error)) from None
    return path


def _metadata(diagram: Diagram, path: Path) -> dict[str, str | None]:
    return {"Title": diagram.title} | ({"Date": None} if path.suffix.lower() == ".svg" else {})


def _font(style: str) -> FontProperties:
    size, weight, slanted, _ = _STYLES[style]
    return FontProperties(family="DejaVu Sans", size=size, weight=weight, style="italic" if slanted else "normal")


def _size(lines: Sequence[Line]) -> tuple[float, float]:
    """Width and height of a block of text [pt]."""
    width = max((_to_path.get_text_width_height_descent(x.text, _font(x.style), False)[0] for x in lines), default=0.0)
    return width, sum(_STYLES[line.style][0] * _LEADING for line in lines)


def _blocks(state: State) -> list[tuple[float, list[Line], list[Line]]]:
    """What a state's box shows below its title: indent [pt], name and lines of each block."""
    names = {axis: [Line(text=axis, style="axis")] for axis in state.blocks}
    indent = max((_size(name)[0] for name in names.values()), default=0.0) + _PAD_X
    blocks = [(indent, names[axis], lines) for axis, lines in state.blocks.items()]
    return [*blocks, (0.0, [], state.inside)] if state.inside else blocks


class _Picture:
    """A diagram, or the part of one that a used program's box contains.

    Args:
        depth: of the box; each level is drawn over the one around it.
    """

    def __init__(self, diagram: Diagram, depth: int = 0) -> None:
        self.diagram, self.level = diagram, 10 * depth
        rank = ranks([s.key for s in diagram.states], [(s.source, s.target) for s in diagram.switches])
        self.drawn = [s for s in diagram.switches if is_drawn(rank, s.source, s.target)]
        self.loops = {s.source: s for s in diagram.switches if s.source == s.target}
        far = [s for s in diagram.switches if s.source != s.target and s not in self.drawn]
        names = {s.key: s.lines[0].text if s.lines else s.key[1] for s in diagram.states}
        self.states = [_with_far(state, [s for s in far if s.source == state.key], names) for state in diagram.states]
        self.nested = {s.key: _Picture(s.nested, depth + 1) for s in diagram.states if s.nested is not None}
        self.boxes = {state.key: self.box(state) for state in self.states}
        links = [Link(source=s.source, target=s.target, **_label_size(s)) for s in self.drawn]
        boxes = list(self.boxes.values())
        places = {
            key: (x + self.boxes[key].width / 2, y + self.boxes[key].height / 2)
            for key, (x, y) in diagram.places.items()
            if key in self.boxes
        }
        self.layout: Layout = with_places(lay_out(boxes, links, rank), boxes, links, places)

    def box(self, state: State) -> Box:
        if state.key in (("", START), ("", END)):
            return Box(key=state.key, width=14.0, height=14.0)
        width, height = _size(state.lines)
        for indent, _, lines in _blocks(state):
            inner_width, inner_height = _size(lines)
            width, height = max(width, indent + inner_width), height + inner_height + _PAD_Y
        if state.key in self.nested:
            inner = self.nested[state.key].layout
            width, height = max(width, inner.width), height + inner.height + 2 * _PAD_Y
        beside = 0.0
        if state.key in self.loops:
            label_width, label_height = _size(self.loops[state.key].label)
            beside, height = _LOOP + 8.0 + label_width, max(height, label_height - 2 * _PAD_Y)
        return Box(key=state.key, width=width + 2 * _PAD_X, height=height + 2 * _PAD_Y, beside=beside)

    def figure(self) -> Figure:
        header = [Line(text=self.diagram.title, style="header"), *self.diagram.header]
        header_width, header_height = _size(header)
        width = max(self.layout.width, header_width) + 2 * _MARGIN
        top = _MARGIN + header_height + 14.0
        height = top + self.layout.height + _MARGIN
        figure = Figure(figsize=(width / 72, height / 72), dpi=_DPI)
        FigureCanvasAgg(figure)
        figure.patch.set_facecolor("white")
        axes = self.axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        axes.set_axis_off()
        self.text(header, _MARGIN, _MARGIN)
        self.draw(axes, _MARGIN + (width - 2 * _MARGIN - self.layout.width) / 2, top)
        return figure

    def draw(self, axes: Axes, x: float, y: float) -> None:
        """Draw it with its top left corner there."""
        self.axes, self.dx, self.dy = axes, x, y
        for switch, route in zip(self.drawn, self.layout.routes, strict=True):
            if route is not None:
                self.route(switch, route)
        for state in self.states:
            self.state(state)

    def text(self, lines: Sequence[Line], x: float, y: float, *, middle: bool = False) -> float:
        """Write lines below each other; returns the y below them."""
        for line in lines:
            size, _, _, colour = _STYLES[line.style]
            self.axes.text(
                x,
                y + size * _LEADING / 2,
                line.text,
                fontproperties=_font(line.style),
                color=colour,
                ha="center" if middle else "left",
                va="center_baseline",
                parse_math=False,
                zorder=self.level + 4,
            )
            y += size * _LEADING
        return y

    # --- states ---------------------------------------------------------------------------------

    def state(self, state: State) -> None:
        x, y = self.layout.centers[state.key]
        x, y = x + self.dx, y + self.dy
        if state.key == ("", START):
            self.axes.add_patch(Circle((x, y), 6.0, facecolor=_INK, edgecolor=_INK, zorder=self.level + 3))
            return
        if state.key == ("", END):
            self.axes.add_patch(
                Circle((x, y), 7.0, facecolor="white", edgecolor=_INK, linewidth=1.2, zorder=self.level + 3)
            )
            self.axes.add_patch(Circle((x, y), 4.0, facecolor=_INK, edgecolor=_INK, zorder=self.level + 3))
            return
        box = self.boxes[state.key]
        nested = self.nested.get(state.key)
        kind = _kind(state)
        left, top = x - box.width / 2, y - box.height / 2
        self.rounded(left, top, box.width, box.height, kind, dashed=kind in ("pseudo", "built_in"))
        if state.final:
            self.rounded(left + 2.5, top + 2.5, box.width - 5, box.height - 5, kind)
        _, text_height = _size(state.lines)
        blocks = _blocks(state)
        below = self.text(state.lines, x, top + _PAD_Y if blocks or nested else y - text_height / 2, middle=True)
        inset = 2.5 if state.final else 0.0
        for indent, name, lines in blocks:
            ends, middle = [left + inset, left + box.width - inset], below + _PAD_Y / 2
            self.axes.plot(ends, [middle, middle], color=_EDGE[kind], linewidth=0.7, zorder=self.level + 4)
            self.text(name, left + _PAD_X, below + _PAD_Y)
            below = self.text(lines, left + _PAD_X + indent, below + _PAD_Y)
        if nested is not None:
            nested.draw(self.axes, x - nested.layout.width / 2, below + _PAD_Y)
        if state.key in self.loops:
            self.loop(self.loops[state.key], x + box.width / 2, y, box.height)

    def rounded(self, x: float, y: float, width: float, height: float, kind: str, *, dashed: bool = False) -> None:
        self.axes.add_patch(
            FancyBboxPatch(
                (x, y),
                width,
                height,
                boxstyle="round,pad=0,rounding_size=5",
                facecolor=_FILL[kind],
                edgecolor=_EDGE[kind],
                linewidth=2.2 if kind == "active" else 1.1,
                linestyle="--" if dashed else "-",
                zorder=self.level + 3,
            )
        )

    # --- switches -------------------------------------------------------------------------------

    def route(self, switch: Switch, route: Route) -> None:
        points = [(x + self.dx, y + self.dy) for x, y in route.points]
        vertices, codes = [points[0]], [int(Curve.MOVETO)]
        for (ax, ay), (bx, by) in zip(points, points[1:], strict=False):
            middle = (ay + by) / 2
            vertices += [(ax, middle), (bx, middle), (bx, by)]
            codes += [int(Curve.CURVE4)] * 3
        self.arrow(vertices, codes, switch)
        label_x, label_y = route.label
        self.text(switch.label, label_x + self.dx, label_y + self.dy)

    def loop(self, switch: Switch, x: float, y: float, height: float) -> None:
        rise = min(height / 2 - 4.0, 12.0)
        vertices = [(x, y - rise), (x + 1.3 * _LOOP, y - 1.3 * rise), (x + 1.3 * _LOOP, y + 1.3 * rise), (x, y + rise)]
        self.arrow(vertices, [int(Curve.MOVETO), *[int(Curve.CURVE4)] * 3], switch)
        self.text(switch.label, x + _LOOP + 5.0, y - _size(switch.label)[1] / 2)

    def arrow(self, vertices: list[tuple[float, float]], codes: list[int], switch: Switch) -> None:
        colour = "#7a8794" if switch.free else "#33475b"
        dashed = switch.free and switch.source != ("", START)
        curve = Curve(vertices, codes)
        self.axes.add_patch(
            PathPatch(
                curve,
                facecolor="none",
                edgecolor=colour,
                linewidth=1.1,
                linestyle="--" if dashed else "-",
                zorder=self.level + 2,
            )
        )
        (ax, ay), (bx, by) = vertices[-2], vertices[-1]
        length = max(((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5, 1e-9)
        behind = (bx - (bx - ax) / length * 6.0, by - (by - ay) / length * 6.0)
        self.axes.add_patch(
            FancyArrowPatch(
                behind,
                (bx, by),
                arrowstyle="-|>,head_length=5,head_width=2.6",
                shrinkA=0,
                shrinkB=0,
                mutation_scale=1.0,
                color=colour,
                linewidth=0.8,
                zorder=self.level + 3,
            )
        )


def _kind(state: State) -> str:
    """Which colours it has."""
    if state.key in (("", ANY), ("", HAND)):
        return "pseudo"
    if state.active:
        return "active"
    if state.kind:
        return state.kind
    if state.nested is not None:
        return "used"
    return "final" if state.final else "first" if state.first else "plain"


def _label_size(switch: Switch) -> dict[str, float]:
    width, height = _size(switch.label)
    return {"width": width, "height": height}


def _with_far(state: State, far: Sequence[Switch], names: Mapping[Key, str]) -> State:
    """The state with switches that are too long to be drawn written into it."""
    inside = list(state.inside)
    for switch in far:
        inside += [*switch.label, Line(text=f"→ {names[switch.target]}", style="response")]
    return replace(state, inside=inside)
