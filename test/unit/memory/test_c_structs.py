"""C structs of record types, as both languages' compilers read them."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.memory.c_structs import INCLUDES, CStructs, c_name
from robot_rt_control.memory.layout import channel_dtype, part_dtype
from robot_rt_control.native.c_compiler import Language, find_compiler
from robot_rt_control.vocabulary.errors import DefinitionError

NUMBERS = ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")
DIALECTS = ((Language.C, "c", "c11"), (Language.CXX, "c++", "c++17"))


def compiles(text: str, folder: Path) -> None:
    """Both compilers accept it, in their strictest mode: its static assertions hold."""
    for language, name, standard in DIALECTS:
        file = folder / f"structs.{name[0]}"
        file.write_text(INCLUDES + text + "\n")
        options = ["-x", name, f"-std={standard}", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        command = [*find_compiler(language).command, *options, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def some_record(chance: random.Random, depth: int = 0) -> np.dtype:
    """A random record type, aligned as NumPy aligns it."""
    fields: list[tuple] = []
    for i in range(chance.randint(1, 6)):
        deeper = depth < 2 and chance.random() < 0.2
        kind = some_record(chance, depth + 1) if deeper else chance.choice(NUMBERS)
        shape = tuple(chance.randint(0, 3) for _ in range(chance.choice((0, 0, 1, 2))))
        fields.append((f"field_{i}", kind, shape) if shape else (f"field_{i}", kind))
    return np.dtype([*fields, ("last", "f4")], align=True)


def test_random_records_have_the_layout_of_numpy(tmp_path: Path) -> None:
    chance = random.Random(5)
    text = ""
    for i in range(60):
        structs = CStructs()
        structs.add(f"Random_{i}", some_record(chance))
        text += structs.text
    assert text.count("static_assert(sizeof") >= 60
    compiles(text, tmp_path)


def test_gaps_names_of_c_and_constant_fields(tmp_path: Path) -> None:
    inner = np.dtype([("class", "i4"), ("x", "f8", (2, 3))], align=True)
    gap = np.dtype(
        {
            "names": ["int", "errno", "twice", "same"],
            "formats": ["i2", "f8", inner, (inner, (2,))],
            "offsets": [0, 24, 40, 104],
            "itemsize": 224,
        },
        align=True,
    )
    structs = CStructs()
    structs.add("Gaps", gap, writable=("errno",), notes={"errno": "[m] ends */ here"})
    assert structs.text.count("typedef struct") == 2, "one type for both fields"
    for line in (
        "    const int16_t int_;\n    char reserved_2_[22];\n    double errno_;  /* [m] ends * / here */\n",
        "    const Gaps_twice twice;\n",
        "    const Gaps_twice same[2];\n",
        'static_assert(offsetof(Gaps, errno_) == 24, "Gaps.errno_");\n',
        "    int32_t class_;\n    double x[2][3];\n",
    ):
        assert line in structs.text
    compiles(structs.text, tmp_path)


def test_the_records_of_the_loop_have_structs(tmp_path: Path) -> None:
    structs = CStructs()
    structs.add("Part", part_dtype)
    compiles(structs.text, tmp_path)
    channel = CStructs()
    channel.add("Channel", channel_dtype)
    assert "    char detached_session[64];\n" in channel.text
    compiles(channel.text, tmp_path)


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (np.dtype([("a", "i1"), ("b", "f8")]), "R, field 'b': offset; expected a multiple of 8 bytes, from 8 on"),
        (np.dtype([("a", ">f8")]), "R, field 'a': type; expected a number of the processor's own byte order"),
        (np.dtype([("a", "c16")]), "field 'a': type; expected a number"),
        (np.dtype([("a b", "f8")], align=True), "R, field 'a b': name; expected letters, digits"),
        (np.dtype([("größe", "f8")], align=True), "name; expected letters, digits .*; got 'größe'"),
        (
            np.dtype({"names": ["a", "b"], "formats": ["f8", "i8"], "offsets": [0, 0]}),
            "R, field 'b': offset; expected a multiple of 8 bytes, from 8 on, .*; got 0",
        ),
    ],
)
def test_what_c_does_not_have_is_refused(dtype: np.dtype, text: str) -> None:
    with pytest.raises(DefinitionError, match=text):
        CStructs().add("R", dtype)


def test_words_of_both_languages_are_no_names() -> None:
    named = [c_name(n, "") for n in ("template", "restrict", "value", "Class")]
    assert named == ["template_", "restrict_", "value", "Class"]
    with pytest.raises(DefinitionError, match="single underscores"):
        c_name("a__b", "slot 'a__b'")
