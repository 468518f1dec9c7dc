"""The table of what a node can do without a skill fits the keys of blueprints, what runs, and the documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.blueprint.graph.plan import Kind
from robot_rt_control.blueprint.text.node_kinds import NODE_KINDS, NodeKind, branches_in, kinds_in
from robot_rt_control.blueprint.text.schema import CallKeys

OF_SKILLS = {"skill", "with_", "parts", "until"}
REPOSITORY = Path(__file__).parents[4]


def test_the_table_has_each_kind_once() -> None:
    names = [kind.name for kind in NODE_KINDS]
    assert len(names) == len(set(names)) and set(names) == CallKeys.model_fields.keys() - OF_SKILLS
    assert {kind.value for kind in Kind} - {"leaf", "graph"} == set(names) - {"say"}  # which a performer says
    documented = (REPOSITORY / "docs" / "blueprints.md").read_text()
    assert [name for name in names if f"`{name}`" not in documented] == []


@pytest.mark.parametrize("kind", NODE_KINDS, ids=lambda kind: kind.name)
def test_what_a_new_node_begins_with_is_of_its_kind_and_has_its_fields(kind: NodeKind) -> None:
    call = CallKeys.model_validate({kind.name: kind.first})
    ((found, written),) = kinds_in(call)
    assert found is kind and len(list(branches_in(call))) == kind.has_branches
    for field in kind.fields:
        value = getattr(written, field.key) if field.key else written
        assert isinstance(value, dict) == (field.form in ("values", "branches"))
        if field.form == "words":
            without = getattr(CallKeys.model_validate({kind.name: {"text": ""}}), kind.name)
            assert getattr(without, field.key) == field.default
