"""Blueprints by code."""

from __future__ import annotations

import pytest

from robot_rt_control.blueprint.text.builder import Builder, end, go
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill


def test_code_gives_a_valid_text(bench: SkillCatalogue) -> None:
    results = {"nothing": {"failure": True}}
    blueprint = Builder("tour", parameters={"force": {"unit": "N", "default": 5.0}}, results=results)
    blueprint.node(
        "touch",
        skill="move_until_contact",
        values={"force": "$force", "way": (0, 0, -0.1)},
        then=[go("wait", on="contact", when="touch.count < 3"), end("nothing", on=["not_found", "failed"])],
        retry=1,
    )
    blueprint.node("wait", wait={"value": 0.5, "unit": "s"}, then="touch").reaction("time > 10 s", "wait", at="end")
    template = blueprint.template()
    assert check_skill(template, bench) == []
    assert template.text == (
        "name: tour\n"
        "parameters:\n  force: {unit: N, default: 5.0}\n"
        "results:\n  nothing: {failure: true}\n"
        "start: touch\n"
        "nodes:\n"
        "  touch:\n"
        "    skill: move_until_contact\n"
        "    retry: 1\n"
        "    with:\n"
        "      force: $force\n"
        "      way: [0, 0, -0.1]\n"
        "    then:\n"
        "    - {on: contact, when: touch.count < 3, go: wait}\n"
        "    - on: [not_found, failed]\n"
        "      end: nothing\n"
        "  wait:\n"
        "    wait: {value: 0.5, unit: s}\n"
        "    then: touch\n"
        "reactions:\n- {when: time > 10 s, go: wait, at: end}\n"
    )
    with pytest.raises(ValueError, match="node 'wait' is there already"):
        blueprint.node("wait")
