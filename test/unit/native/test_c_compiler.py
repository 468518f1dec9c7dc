"""Finding the machine's C and C++ compilers, and reading what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.native.c_compiler import (
    Compiler,
    Language,
    command_of,
    find_compiler,
    run_compiler,
    user_files,
    without_markers,
)
from robot_rt_control.vocabulary.errors import CompileError


def test_the_variable_decides_else_the_first_that_is_installed() -> None:
    installed = {"gcc": "/usr/bin/gcc", "clang": "/usr/bin/clang", "mine": "/opt/mine"}
    assert command_of(Language.C, {}, installed.get) == ("/usr/bin/gcc",)
    assert command_of(Language.C, {"CC": "mine -m64 '-DA=b c'"}, installed.get) == ("/opt/mine", "-m64", "-DA=b c")
    assert command_of(Language.C, {"CC": "other"}, installed.get) == (), "what is named and missing is not replaced"
    assert command_of(Language.CXX, {"CC": "mine", "CXX": " "}, installed.get) == ()


def test_without_a_compiler_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(CompileError) as error:
        find_compiler(Language.CXX)
    for text in ("no C++ compiler", "expected one of $CXX = no-such-compiler", "build-essential", "robot-rt doctor"):
        assert text in str(error.value)
    monkeypatch.setenv("CXX", "false")
    with pytest.raises(CompileError, match=r"the C\+\+ compiler does not run; got \S*false --version|got /.*false: "):
        find_compiler(Language.CXX)


def test_what_a_compiler_says_has_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int f(void) { int unused; return 1 }\n\nint g(void) { return h; }\n")
    compiler = find_compiler(Language.C)
    assert compiler.name and compiler.language == Language.C
    _, said = run_compiler(compiler, ["-fsyntax-only", "-Wall"], file)
    assert {(d.file, d.line) for d in said if d.is_error} == {(str(file), 1), (str(file), 3)}
    assert any("unused" in d.text and d.line == 1 for d in said if not d.is_error)
    with pytest.raises(CompileError, match=r"a\.c: .* failed; got .*-fno-such-option"):
        run_compiler(compiler, ["-fno-such-option"], file)
    silent = Compiler(Language.C, ("false",), "nothing")
    with pytest.raises(CompileError, match=r"nothing failed; got exit 1"):
        run_compiler(silent, [], file)


def test_files_and_text_of_preprocessed_code(tmp_path: Path) -> None:
    (tmp_path / "own here.h").write_text("int own;\n")
    file = tmp_path / "a.c"
    file.write_text('#include <stdint.h>\n#include "own here.h"\nint32_t x;\n')
    text, _ = run_compiler(find_compiler(Language.C), ["-E"], file)
    assert user_files(text) == sorted([file.resolve(), (tmp_path / "own here.h").resolve()])
    bare = without_markers(text)
    assert str(tmp_path) not in bare and bare.endswith("int own;\nint32_t x;")
    file.write_text('\n#include <stdint.h>\n\n\n#include "own here.h" /* a comment */\nint32_t x;\n')
    again, _ = run_compiler(find_compiler(Language.C), ["-E"], file)
    assert again != text and without_markers(again).split() == bare.split()
