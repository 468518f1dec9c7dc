"""Files of Python functions: what is read from them, and what a broken one says."""

from __future__ import annotations

from pathlib import Path

from robot_rt_control.blueprint.makers.capability_files import Capabilities, load_capabilities
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.server.offline_catalogue import offline_catalogue

BENCH = Path(__file__).parents[3] / "lockstep" / "mock_bench.yaml"

GOOD = '''
from typing import Annotated, Literal
from robot_rt_control.blueprint.makers import Handle, skill

@skill(level="meta_skill", results={"empty": {"failure": True}, "full": {}}, outputs={"x": "m", "n": {"type": "int"}},
       roles={"hand": "gripper"}, scenarios=["welcome"])
def count(handle: Handle, colour: Literal["red", "blue"], far: Annotated[float, "m", (0.0, 0.5)] = 0.1,
          way: list[float] = [1.0, 2.0], loud: bool = False, n: int = 3, text: str = "hi") -> object:
    """Count the parts.

    And more.
    """

@skill()
def blink(handle):
    pass

def helper(x):
    return x
'''


def loaded(folder: Path, **files: str) -> Capabilities:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return load_capabilities([folder / f"{name}.py" for name in files])


def test_a_function_says_what_it_is(tmp_path: Path) -> None:
    found = loaded(tmp_path, good=GOOD)
    assert list(found.templates) == list(found.functions) == ["count", "blink"]
    skill = SkillCatalogue(offline_catalogue(BENCH), {}, {}, made=found.templates).find("count")
    assert not skill.problem
    assert (skill.level, skill.scenarios, skill.moves) == ("meta_skill", ("welcome",), {"hand"})
    assert skill.description == "Count the parts. And more."
    assert {name: bad for name, bad in skill.results.items() if name in ("empty", "full")} == {
        "empty": True, "full": False
    }  # fmt: skip
    assert [(o.type, o.unit) for o in skill.outputs.values()] == [("float", "m"), ("int", "")]
    parameters = {p.name: p for p in skill.parameters}
    assert parameters["colour"].choices == ("red", "blue") and parameters["colour"].default is None
    far = parameters["far"]
    assert (far.unit, far.minimum, far.maximum, far.default) == ("m", 0.0, 0.5, 0.1)
    assert parameters["way"].length == "any" and parameters["way"].default == (1.0, 2.0)
    assert (parameters["loud"].type, parameters["n"].type, parameters["text"].type) == ("bool", "int", "text")


def test_a_broken_file_is_listed_with_file_line_and_reason(tmp_path: Path) -> None:
    head = "from robot_rt_control.blueprint.makers import skill\n"
    found = loaded(
        tmp_path,
        raises=f"{head}import missing_module\n@skill()\ndef look(handle): pass\n",
        syntax=f"{head}@skill(level='capability')\ndef smell(handle):\n    return )\n",
        leaves=f"{head}raise SystemExit(3)\n",
        vague=f"{head}@skill()\ndef hear(handle, loud): pass\n@skill(level='hearing')\ndef level(handle): pass\n",
        twice=f"{head}@skill()\ndef fine(handle): pass\n@skill(name='look')\ndef other(handle): pass\n",
    )
    problems = {n: "; ".join(map(str, t.mistakes)) for n, t in found.templates.items() if t.mistakes}
    assert "raises.py:2: the file cannot be imported: ModuleNotFoundError: No module named" in problems["look"]
    assert "twice.py: skill 'look' is in raises.py already" in problems["look"]
    assert "syntax.py:4: the file cannot be imported: SyntaxError" in problems["smell"]
    assert "leaves.py:2" in problems["leaves"] and "SystemExit" in problems["leaves"]
    assert "parameter 'loud' of hear(); expected an annotation" in problems["hear"] and "vague.py:2" in problems["hear"]
    assert "a level: capability, meta_skill" in problems["level"]
    assert list(found.functions) == ["fine"]
    missing = load_capabilities([tmp_path / "none.py"])
    assert "FileNotFoundError" in str(missing.templates["none"].mistakes[0])


def test_what_does_not_call_a_broken_skill_works(tmp_path: Path) -> None:
    bad = "import nothing_there\nfrom x import skill\n@skill()\ndef look(handle): pass"
    made = loaded(tmp_path, good=GOOD, bad=bad)
    catalogue = SkillCatalogue(offline_catalogue(BENCH), {}, {}, made=made.templates)
    assert check_skill(SkillTemplate("{name: a, nodes: {b: {skill: blink}}}"), catalogue) == []
    template = SkillTemplate("{name: a, nodes: {b: {skill: look}}}")
    try:
        check_skill(template, catalogue)
    except Exception as error:
        assert "skill 'look' has mistakes: bad.py:1: the file cannot be imported" in str(error)
    else:
        raise AssertionError("no mistake")
