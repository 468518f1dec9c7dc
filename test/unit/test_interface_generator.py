"""ROS's interface generators generate the same without their repetitions."""

import subprocess
import sys
from pathlib import Path

import pytest

GENERATOR = Path(__file__).resolve().parents[2] / "interfaces" / "generator.py"

IDL = """
module some_package { module msg {
  typedef double double__3[3];
  module Point_Constants { const long FEW = 3; };
  @verbatim (language="comment", text="A point.")
  struct Point { @unit (value="m") double__3 place; string name; sequence<boolean> flags; };
}; };
"""

TEMPLATE = """@{first = content}@
@[for message in content.get_elements_of_type(Message)]@
@[  for member in message.structure.members]@
@[    if member.name == 'name']named @(message.structure.namespaced_type.name) @@@[end if]@
@(member.name): @(type(member.type).__name__), @(len(member.annotations))
@[  end for]@
@[end for]@
@[if package_name == 'first']
@{TEMPLATE('inner.em', text='within ' + package_name)}@
@[end if]@
that is @(package_name).
"""

PROGRAM = """
import sys
from pathlib import Path
import em
from rosidl_parser import parser
from rosidl_parser.definition import IdlLocator, Message
from rosidl_pycommon import expand_template
scans, parses = [0], [0]
one, ast = em.Scanner.one, parser.get_ast_from_idl_string
def counted(*arguments):
    scans[0] += 1
    return one(*arguments)
em.Scanner.one = counted
def counted_ast(text):
    parses[0] += 1
    return ast(text)
parser.get_ast_from_idl_string = counted_ast
folder = Path(sys.argv[1])
for name in ("first", "second", "first"):
    content = parser.parse_idl_file(IdlLocator(str(folder), "point.idl")).content
    data = {"package_name": name, "content": content, "Message": Message}
    expand_template("outer.em", data, str(folder / "out" / f"{name}{scans[0] > 0}.txt"), template_basepath=folder)
    print(name, scans[0], parses[0])
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "point.idl").write_text(IDL)
    (tmp_path / "outer.em").write_text(TEMPLATE)
    (tmp_path / "inner.em").write_text("(@(text), @(text))@\n")
    (tmp_path / "rosidl_generator_x").write_text(PROGRAM)
    return tmp_path


def run(folder: Path, *before: str) -> tuple[dict[str, str], list[list[str]]]:
    """What a generator wrote, and its counts of scans and parses after each expansion."""
    command = [*before, sys.executable, str(folder / "rosidl_generator_x"), str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    written = {file.name: file.read_text() for file in (folder / "out").iterdir()}
    return written, [line.split() for line in said.splitlines()]


def test_generators_write_the_same_and_parse_and_scan_once(folder):
    plain, counts = run(folder)
    assert "named Point @name:" in plain["firstFalse.txt"] and "(within first, within first)" in plain["firstTrue.txt"]
    assert [parses for _, _, parses in counts] == ["1", "2", "3"]
    launcher = sys.executable, str(GENERATOR), str(folder / "parsed")
    subprocess.run([*launcher, "--parse", str(folder / "point.idl")], check=True, timeout=120)
    quick, counts = run(folder, *launcher)
    assert quick == plain
    assert [parses for _, _, parses in counts] == ["0", "0", "0"]
    assert counts[0][1] == counts[1][1] == counts[2][1] != "0"


def test_a_changed_definition_is_parsed_again(folder):
    launcher = sys.executable, str(GENERATOR), str(folder / "parsed")
    run(folder, *launcher)
    (folder / "point.idl").write_text(IDL.replace("string name", "string label"))
    changed, counts = run(folder, *launcher)
    assert "label" in changed["secondTrue.txt"] and [parses for _, _, parses in counts] == ["1", "1", "1"]


def test_other_commands_are_executed_as_they_are(folder):
    said = subprocess.run(
        [sys.executable, str(GENERATOR), str(folder / "parsed"), "echo", "a b", "c"], capture_output=True, text=True
    )
    assert (said.returncode, said.stdout) == (0, "a b c\n")
