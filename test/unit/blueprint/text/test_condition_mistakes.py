"""Mistakes of conditions say where they are, also while other things are wrong: a person sees them at their field."""

from __future__ import annotations

import pytest

from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.vocabulary.errors import DefinitionError


def mistakes(text: str, catalogue: SkillCatalogue) -> list[str]:
    with pytest.raises(DefinitionError) as error:
        check_skill(SkillTemplate(text), catalogue)
    found = [line.removeprefix("skill:") for line in str(error.value).splitlines() if line.startswith("skill:")]
    return [line.partition(", column")[0].partition(";")[0].partition(" is not valid")[0] for line in found]


def test_N6_each_condition_is_named_by_its_candidate_and_branch(bench: SkillCatalogue) -> None:
    text = """name: mine
nodes:
  a: {wait: 1, then: [{when: nope > 1, go: b}, {when: 'arm.tool.x >', go: b}, {go: b}]}
  b: {wait: 1, then: [{when: nope > 1, go: c}]}
  c:
    all_of:
      one: {wait_until: nope > 1}
      two: {first_of: {three: {wait: 1}, four: {wait_until: 'x y'}}}
      five: {skill: hold, parts: {part: arm}, until: nope > 1}
"""
    assert mistakes(text, bench) == [
        "3: node 'a': then[0].when",
        "3: node 'a': then[1].when",
        "4: node 'b': when",
        "7: node 'c/one': wait_until",
        "8: node 'c/two/four': wait_until",
        "9: node 'c/five': until",
    ]


def test_N6_conditions_are_judged_although_nodes_have_mistakes(bench: SkillCatalogue) -> None:
    text = """name: mine
nodes:
  a: {skill: nothing, then: [{when: $a.b > 1, go: b}, {when: b.count > 1, go: b}, {when: nope > 1, go: b}]}
  b: {wait: -1, then: [{when: a.count > $far, go: a}]}
  c: {all_of: {one: {skill: nothing}}, then: [{when: $c.one.x > $a.y and $far > 1, go: a}]}
reactions: [{when: nope > 1, go: gone}, {when: c.count > 1, go: c}]
"""
    assert mistakes(text, bench) == [
        "3: unknown skill 'nothing'",
        "3: node 'a': then[2].when",  # what an unknown skill gives is not judged
        "4: node 'b': wait: parameter 'time': out of range",
        "4: node 'b': when: unknown parameter $far",
        "5: unknown skill 'nothing'",
        "6: reaction 0: unknown node",
        "6: reaction 0: when",
    ]
