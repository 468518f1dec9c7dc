"""Building as a whole: keys, the cache, and what becomes of files that cannot be loaded."""

import json
import os
import re
import subprocess
import sys
import textwrap

import pytest

from robot_rt_control.definitions import native_code
from robot_rt_control.definitions.class_place import spec_of
from robot_rt_control.server.builder.build import build
from robot_rt_control.server.builder.syntax_check import check_syntax
from robot_rt_control.server.code.source import load_action_type
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError

COUNT = "state.level += params.gain"


def test_the_second_build_finds_the_code_in_the_cache(action_file):
    spec = action_file.write(COUNT)
    said: list[str] = []
    first = build(spec, said.append)
    assert said == ["compiling custom: control", "measuring custom"]
    assert not first.cached
    said.clear()
    second = build(spec, said.append)
    assert second.cached and second.key == first.key
    assert said == []
    assert (first.declared.name, first.methods) == ("custom", ("control",))


def test_the_cache_serves_another_process_without_compiling(action_file):
    spec = action_file.write(COUNT)
    key = build(spec).key
    program = textwrap.dedent(
        """
        import sys
        import numba.core.dispatcher
        def refuse(*arguments):
            raise SystemExit("it compiled")
        numba.core.dispatcher.Dispatcher.compile = refuse
        from robot_rt_control.server.builder.build import build
        built = build(sys.argv[1])
        print(built.key, built.cached)
        """
    )
    done = subprocess.run([sys.executable, "-c", program, spec], capture_output=True, text=True, cwd=os.getcwd())
    assert done.stdout.split() == [key, "True"], done.stderr


CHANGES = {
    "code": lambda text: text.replace("params.gain\n", "2.0 * params.gain\n"),
    "a constant": lambda text: text.replace("GAINS = (1.0, 2.0)", "GAINS = (1.0, 3.0)"),
    "a state field": lambda text: text.replace('"count": int', '"count": float'),
    "a parameter": lambda text: text.replace('name="index", type="int"', 'name="index"'),
}


@pytest.mark.parametrize("what", CHANGES)
def test_every_change_has_a_key_of_its_own(what, action_file):
    spec = action_file.write("state.level += GAINS[1] * params.gain\n")
    first = build(spec)
    action_file.path.write_text(CHANGES[what](action_file.path.read_text()))
    second = build(spec)
    assert not second.cached and second.key != first.key
    assert re.fullmatch("[0-9a-f]{64}", second.key)


def test_comments_and_docstrings_change_no_key(action_file):
    spec = action_file.write("state.level += GAINS[1] * params.gain  # a comment\n")
    first = build(spec)
    text = action_file.path.read_text()
    action_file.path.write_text(f'"""A new docstring."""\n\n\n{text.replace("# a comment", "# another one")}')
    second = build(spec)
    assert second.cached and second.key == first.key


def test_a_value_from_outside_of_the_file_is_part_of_the_key(action_file, monkeypatch):
    top = 'FACTOR = float(os.environ.get("TEST_FACTOR", "1"))'
    spec = action_file.write("state.level = FACTOR", top=top)
    first = build(spec)
    monkeypatch.setenv("TEST_FACTOR", "2")
    assert build(spec).key != first.key


def test_a_neighbouring_file_is_part_of_the_key(action_file, monkeypatch):
    neighbour = action_file.folder / "neighbour_of_custom.py"
    text = "from robot_rt_control.native.realtime_code import realtime\n@realtime\ndef f(x):\n    return x + 1.0\n"
    neighbour.write_text(text)
    spec = action_file.write("state.level = f(1.0)", top="from neighbour_of_custom import f")
    first = build(spec)
    neighbour.write_text(text.replace("1.0", "20.0"))
    monkeypatch.delitem(sys.modules, "neighbour_of_custom")
    second = build(spec)
    assert second.key != first.key and not second.cached
    monkeypatch.delitem(sys.modules, "neighbour_of_custom")


def test_a_damaged_cache_is_built_anew(action_file):
    spec = action_file.write(COUNT)
    key = build(spec).key
    (native_code.folder_of(key) / native_code.OBJECT_FILE).write_bytes(b"damaged")
    again = build(spec)
    assert again.key == key and not again.cached
    native_code.read(key)


def test_nothing_half_written_is_left(action_file, cache):
    key = build(action_file.write(COUNT)).key
    assert [p.name for p in (cache / "actions").iterdir()] == [key]
    metadata = json.loads((cache / "actions" / key / native_code.METADATA_FILE).read_text())
    assert metadata["source_file"] == str(action_file.path)
    assert metadata["type_name"] == "custom"
    assert metadata["created_by"].startswith("numba ")


def test_a_key_must_be_one():
    with pytest.raises(DefinitionError, match=r"key of native code; expected 64 hexadecimal digits; got '\.\./secret'"):
        native_code.folder_of("../secret")


FILES = {
    "no file": ("missing.py:Custom", None, r"missing\.py: no such file"),
    "no colon": ("custom_action.py", "", r"expected file\.py:Class or module:Class; got 'custom_action\.py'"),
    "no class": ("custom_action.py:Custm", None, r"no class 'Custm'; .* did you mean 'Custom'"),
    "not a type": ("custom_action.py:GAINS", None, r"expected a class derived from .*ActionType; got \(1\.0, 2\.0\)"),
    "syntax": ("custom_action.py:Custom", "x = = 1", r"action\.py:1: invalid syntax\. Python cannot read the file"),
    "import": (
        "custom_action.py:Custom",
        "x = 1\ny = 1 / 0",
        r"custom_action\.py:2: importing failed with ZeroDivisionError: division by zero",
    ),
    "no module": ("no_such_module_x:Custom", None, r"no_such_module_x: importing failed with ModuleNotFoundError"),
    "no name": (
        "custom_action.py:A",
        "from robot_rt_control.definitions.action_type import ActionType\nclass A(ActionType):\n    slots = ()",
        r"action type A: the class attribute 'name' is missing",
    ),
    "bad field": (
        "custom_action.py:A",
        "from robot_rt_control.definitions.action_type import ActionType\n"
        "class A(ActionType):\n    name, slots = 'a', ()\n    State = {'x': str}\n"
        "    @staticmethod\n    def control(state, params):\n        pass\n",
        r"A\.State, field 'x'; expected float, int, bool, \(float, n\) or a record type; got <class 'str'>",
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_what_cannot_be_loaded_is_told(what, action_file, monkeypatch):
    spec, text, message = FILES[what]
    action_file.write()
    if text is not None:
        action_file.path.write_text(text)
    monkeypatch.chdir(action_file.folder)
    with pytest.raises(CompileError, match=message):
        build(spec)


def test_a_class_names_itself(action_file):
    from robot_rt_control.actions.sine_wave import SineWave

    assert spec_of(SineWave) == "robot_rt_control.actions.sine_wave:SineWave"
    custom = load_action_type(action_file.write()).action_type
    assert spec_of(custom) == f"{action_file.path}:Custom"

    class Inner(SineWave):
        pass

    with pytest.raises(CompileError, match="is defined inside of a function. Move it to the top level of its file"):
        spec_of(Inner)


def test_code_that_is_not_its_source_is_refused(action_file):
    source = load_action_type(action_file.write(COUNT))
    action_file.write("state.level -= params.gain")
    with pytest.raises(CompileError, match="'control' is not as it was imported. Its file has changed in the meantime"):
        check_syntax(source)
    action_file.path.unlink()
    with pytest.raises(CompileError, match="the source of 'control' is not there. Real-time functions are"):
        check_syntax(source)
