"""A run under way, as a tree for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text
from rich.tree import Tree

from robot_rt_control.blueprint.graph.plan import ONLY

_STYLES = {"runs": "green", "ends": "yellow", "asks": "bold magenta", "before": "cyan", "after": "cyan", "cut": "cyan"}
_STANDS = {"before": "stands before it", "after": "stands after it", "cut": "was cut, and stands"}


def shown_tree(nodes: Sequence[Any], title: str = "") -> Tree:
    """The tree of a run.

    Args:
        nodes: msg/BlueprintNode of the run and its nodes, outermost first; or objects with the same fields.
        title: for a run without a report yet.
    """
    run = next((node for node in nodes if not node.path), None)
    root = Tree(Text(title, style="dim") if run is None else _run_line(run))
    found = {"": root}
    for node in nodes:
        if node.path:
            parent = node.path
            while parent and parent not in found:
                parent = parent.rpartition("/")[0]
            found[node.path] = found[parent].add(_line(node, node.path.removeprefix(parent).strip("/")))
    return root


def _run_line(run: Any) -> Text:
    line = Text.assemble((run.does, "bold"), f"  {run.run}", ("  rehearsed" if run.rehearsed else "", "cyan"))
    for text in (
        "will pause after the present node" if run.will_pause else "",
        "say again, next, jump or cancel" if run.has_to_be_said else "",
        f"jump to {run.jump} waits" if run.jump else "",
        f"parts {', '.join(run.parts)}" if run.parts else "",
    ):
        line.append(f"  {text}" if text else "", style="dim")
    if run.result:
        line.append(f"  {run.result}" + (f": {run.reason}" if run.reason else ""), style="bold")
    return line


def _line(node: Any, name: str) -> Text:
    name = node.does if name == ONLY else name
    does = f" {node.does}" if node.does != name else ""
    line = Text.assemble((name, f"bold {_STYLES.get(node.state, '')}".strip()), (does, "dim"))
    numbers = [f"visit {node.visit}"] if node.visit > 1 else []
    numbers += [f"attempt {node.attempt}"] if node.attempt > 1 else []
    line.append(f"  {', '.join(numbers)}" if numbers else "", style="dim")
    line.append(f"  {_STANDS[node.state]}" if node.state in _STANDS else "", style="cyan")
    line.append("  is being cancelled" if node.state == "ends" else "", style="yellow")
    line.append(f"  {node.reason}" if node.reason else "", style="dim")
    if node.question:
        line.append(f"  {node.question} ", style="bold magenta")
        line.append(f"({' / '.join(node.answers)}: `answer` it)", style="magenta")
    return line


def line_of_tree(nodes: Sequence[Any]) -> str:
    """The same in one line, where there is no terminal: the innermost nodes with their states."""
    paths = [node.path for node in nodes if node.path]
    inner = [n for n in nodes if n.path and not any(p.startswith(f"{n.path}/") for p in paths)]
    skill = next((node.does for node in nodes if not node.path), ONLY)
    names = [skill if n.path == ONLY else n.path for n in inner]
    shown = [
        f"{name} ({n.does}, {_STANDS.get(n.state, n.state)}{', ' if n.reason else ''}{n.reason})"
        for name, n in zip(names, inner, strict=True)
    ]
    return ", ".join(shown) + "".join(f": {n.question} ({' / '.join(n.answers)})" for n in inner if n.question)
