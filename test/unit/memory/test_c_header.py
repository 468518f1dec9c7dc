"""Record types as C structures: a C compiler sees the same memory as NumPy."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.memory.c_header import c_structs
from robot_rt_control.memory.layout import record

_INNER = record([("count", "i4"), ("ratio", "f8", (2, 3))])
_OUTER = record([("flag", "u8"), ("inner", _INNER, (2,)), ("name", "S5"), ("last", "i2")])

_PROGRAM = """
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
{structs}
int main(void) {{
    outer one;
    memset(&one, 0, sizeof one);
    one.flag = 3;
    strcpy(one.name, "four");
    one.inner[1].ratio[1][2] = 2.5;
    one.last = -7;
    fwrite(&one, sizeof one, 1, stdout);
    return 0;
}}
"""


@pytest.mark.parametrize(("compiler", "standard"), [("gcc", "c11"), ("g++", "c++17")])
def test_a_compiler_lays_them_out_as_numpy(tmp_path: Path, compiler: str, standard: str) -> None:
    text = _PROGRAM.format(structs=c_structs({"inner_record": _INNER, "outer": _OUTER}))
    source = tmp_path / ("a.c" if compiler == "gcc" else "a.cpp")
    source.write_text(text)
    command = [compiler, f"-std={standard}", "-Wall", "-Werror", str(source), "-o", str(tmp_path / "a")]
    subprocess.run(command, check=True)
    written = subprocess.run([tmp_path / "a"], check=True, capture_output=True).stdout
    one = np.frombuffer(written, _OUTER, 1)[0]
    assert (one.flag, bytes(one.name), one.inner[1].ratio[1, 2], one.last) == (3, b"four", 2.5, -7)


@pytest.mark.parametrize(
    ("records", "text"),
    [
        ({"outer": _OUTER}, "outer.inner: its record type is not among those before it"),
        ({"a": record([("x", "c16")])}, "a.x: expected one of f8, .*, got complex128"),
        ({"a": record([("x", ">f8")])}, "a.x: expected one of f8"),
        (
            {"in_": _INNER, "a": record([("x", "u1"), ("in_", _INNER)])},
            "a.in_: expected a multiple of 8 bytes before it, got 1",
        ),
        ({"a": np.dtype([("x", "i1"), ("y", "f8")])}, "a: expected an aligned record type"),
    ],
)
def test_what_c_lacks_is_refused(records: dict[str, np.dtype], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        c_structs(records)
