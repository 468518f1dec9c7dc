"""What a node of a blueprint can do without a skill: the one table of it. The reader, the diagrams, behavior trees and
the editor's page take names, forms and words from here; `schema.py` has the keys, `activities.py` what they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of a kind's form.

    Args:
        form: `seconds`; `condition`; `text`, in which values are filled in; `line`, a short text; `words`, with commas
            between them; `values` of the graph; `branches`, which are calls.
        key: below the kind's own key; empty: its value itself.
        default: of words: what they are when left out.
        gives_results: its words, or the names of its branches, are results of the node.
    """

    form: Literal["seconds", "condition", "text", "line", "words", "values", "branches"]
    label: str
    key: str = ""
    hint: str = ""
    default: tuple[str, ...] = ()
    gives_results: bool = False


@dataclass(frozen=True, kw_only=True)
class NodeKind:
    """What is built in.

    Args:
        name: its key in a blueprint.
        doc: what it does, in one line.
        first: what a new node of it begins with.
        shown: how a diagram says it; {} is its first field.
        port: its port as a leaf of a behavior tree; empty: it is none.
        fails: whether it can fail.
    """

    name: str
    doc: str
    first: Any
    fields: tuple[Field, ...]
    shown: str
    port: str = ""
    fails: bool = False

    @property
    def has_branches(self) -> bool:
        return any(each.form == "branches" for each in self.fields)

    def as_json(self) -> dict[str, Any]:
        """What the editor's page needs of it."""
        return {
            "name": self.name,
            "doc": self.doc,
            "first": self.first,
            "fails": self.fails,
            "fields": [{**asdict(each), "default": list(each.default)} for each in self.fields],
        }


NODE_KINDS = (
    NodeKind(
        name="wait", doc="Wait some seconds", first=1, shown="wait {} s",
        fields=(Field(form="seconds", label="Seconds"),),
    ),
    NodeKind(
        name="wait_until", doc="Wait until a condition holds", first="true", shown="wait until {}", port="condition",
        fields=(Field(form="condition", label="Condition"),),
    ),
    NodeKind(
        name="say", doc="Say a text", first="hello", shown="say “{}”", port="text",
        fields=(Field(form="text", label="Text"),),
    ),
    NodeKind(
        name="ask", doc="Ask a person; the answers are results", shown="ask “{}”",
        first={"text": "Go on?", "answers": ["yes", "no"]},
        fields=(
            Field(form="line", label="Question", key="text"),
            Field(
                form="words", label="Answers", key="answers", default=("yes", "no"), gives_results=True,
                hint="Words with commas between them; each is a result.",
            ),
        ),
    ),
    NodeKind(
        name="log", doc="Write a text to the log", first="here", shown="log {}", port="text",
        fields=(Field(form="text", label="Text"),),
    ),
    NodeKind(
        name="set", doc="Set values of this blueprint", first={}, shown="{}",
        fields=(Field(form="values", label="Values to set"),),
    ),
    NodeKind(
        name="all_of", doc="Several side by side, until all are done", shown="all of", fails=True,
        first={"one": {"wait": 1}, "two": {"wait": 1}},
        fields=(
            Field(form="branches", label="Branches, side by side", hint="It is done when all are."),
        ),
    ),
    NodeKind(
        name="first_of", doc="Several side by side, until the first one ends", shown="first of", fails=True,
        first={"one": {"wait": 1}, "two": {"wait": 2}},
        fields=(
            Field(
                form="branches", label="Branches, side by side", gives_results=True,
                hint="The first one that ends decides; its name is the result. The others are cancelled.",
            ),
        ),
    ),
)  # fmt: skip
"""In the order of the page's shelf."""


def kinds_in(call: Any) -> Iterator[tuple[NodeKind, Any]]:
    """The kinds whose keys a call (`schema.CallKeys`) has, with what is written under them."""
    for kind in NODE_KINDS:
        written = getattr(call, kind.name)
        if written is not None:
            yield kind, written


def branches_in(call: Any) -> Iterator[tuple[NodeKind, Mapping[str, Any]]]:
    """Those of them that have branches."""
    return ((kind, written) for kind, written in kinds_in(call) if kind.has_branches)
