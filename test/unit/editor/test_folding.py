"""What a person folded is view data: nobody else looks at it."""

from __future__ import annotations

from memory_robot import MemoryRobot
from served_editor import Served

from robot_rt_control.blueprint.text.diagram import blueprint_diagram
from robot_rt_control.blueprint.text.skill_file import SkillTemplate

TOUR = "name: tour\nnodes:\n  a: {wait: 0.1, then: b}\n  b: {wait: 0.1, then: c}\n  c: {say: done}\n"
FOLDED = f"{TOUR}view:\n  a: [10, 20]\n  rest: {{nodes: [b, c], at: [10, 300]}}\n"


def test_E14_check_drawing_and_run_do_not_look_at_what_is_folded(editor: Served, robot: MemoryRobot) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    views = ("rest: {nodes: [b, gone], open: 5}", "b: {nodes: [b]}", "rest: {nodes: 3}", "rest: {}")
    for text in (FOLDED, *(f"{TOUR}view:\n  {view}\n" for view in views)):
        answer = editor.post("save_skill", {"text": text, "check_only": True}, cookie=cookie)[1]
        assert answer["success"] and not answer["warnings"], text
        diagram, plain = blueprint_diagram(SkillTemplate(text)), blueprint_diagram(SkillTemplate(TOUR))
        assert diagram.states == plain.states and diagram.switches == plain.switches
    assert blueprint_diagram(SkillTemplate(FOLDED)).places == {("node", "a"): (10.0, 20.0)}
    assert editor.post("save_skill", {"text": FOLDED}, cookie=cookie)[1]["version"] == 1
    kept = editor.post("list_skills", {"name": "tour", "with_text": True}, cookie=cookie)[1]["skills"][0]
    assert kept["text"] == FOLDED
