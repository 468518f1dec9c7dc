"""Rules K24 to K27: real-time methods in C and C++, built, refused, and compared with the same code in Python."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from same_law import InC, InCxx, InPython

from robot_rt_control.definitions import native_code
from robot_rt_control.definitions.action_type import ActionType, parameter_dtype, state_dtype
from robot_rt_control.memory.layout import COMMAND_FIELDS, part_dtype
from robot_rt_control.realtime.executor.native_loader import load
from robot_rt_control.realtime.tick.native_call import call_entry
from robot_rt_control.server.builder.build import build, build_c
from robot_rt_control.server.builder.c_header import action_header, write_headers
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.testing.interpreted_tick import interpreted
from robot_rt_control.vocabulary.enums import Status
from robot_rt_control.vocabulary.errors import CapacityError, CompileError

PYTHON = '''\
"""A user's file."""
from robot_rt_control.actions.authoring import ActionType, Parameter, PartKind, Slot, StateVariable

class Custom(ActionType):
    name = "custom"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)), Slot(name="seen", kinds=(PartKind.ARM,), moves=False))
    parameters = (Parameter(name="index", type="int", default=1),)
    state_variables = (StateVariable(name="level"),)
    State = {{"class": float, "values": (float, 4)}}
    realtime_source = "{source}"
{more}
'''
C = '#include "code_records.h"\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n'
CXX = "#include <array>\n#include <cmath>\n#include <numeric>\n#include <vector>\n"
CONTROL = "int control(State *state, const Params *params, Part *arm, const Part *seen)"


class CFile:
    """An action type whose real-time methods are in a C or C++ file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "custom_action.py"
        self.source = folder / "code.c"

    def write(self, code: str, *, suffix: str = ".c", more: str = "") -> str:
        """The spec of the type with this code, in which `CONTROL` stands for the head of its function."""
        self.source = self.folder / f"code{suffix}"
        self.source.write_text((C if suffix == ".c" else CXX) + code.replace("CONTROL", CONTROL) + "\n")
        self.python.write_text(PYTHON.format(source=self.source.name, more=more))
        return f"{self.python}:Custom"

    @property
    def here(self) -> str:
        """`file:line` of the line that is marked with `HERE`."""
        (line,) = [i for i, text in enumerate(self.source.read_text().splitlines(), 1) if "HERE" in text]
        return f"{self.source}:{line}"


@pytest.fixture
def c_file(tmp_path: Path) -> CFile:
    return CFile(tmp_path)


COUNT = "CONTROL { state->level += params->index; return 0; }"


def run(key: str, method: str, action_type: object, *memory: np.ndarray) -> int:
    """Call a native method on records, whose memory is given in the order of its parameters."""
    return call_entry(getattr(load(key), method), *(m.ctypes.data for m in memory))


# --- K24: the same ------------------------------------------------------------------------------


def _fill(chance: random.Random, memory: np.ndarray) -> None:
    """Fill a record with random numbers of every size, whole ones where its fields are whole."""
    for name in memory.dtype.names or ():
        field = memory[name]
        if field.dtype.names is not None:
            _fill(chance, field.reshape(-1).view(field.dtype) if field.shape else field)
        elif field.dtype.kind == "f":
            field[...] = np.array(
                [chance.choice((chance.uniform(-3, 3), chance.gauss(0, 1) * 10.0 ** chance.randint(-12, 12), 0.0))
                 for _ in range(field.size)]
            ).reshape(field.shape)
        else:
            field[...] = np.array([chance.randint(-1000, 1000) for _ in range(field.size)]).reshape(field.shape)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two records are equal in each bit, but for those of NaN."""
    x, y = a.view("f8"), b.view("f8")
    return bool(np.all((a.view("i8") == b.view("i8")) | (np.isnan(x) & np.isnan(y))))


@pytest.mark.parametrize("other", [InC, InCxx])
def test_K24_the_same_law_gives_the_same_bits_in_each_language(other: type[ActionType]) -> None:
    chance = random.Random(11)
    keys = build(InPython).key, build_c(other)
    types = (state_dtype(InPython), parameter_dtype(InPython), part_dtype, part_dtype)
    assert (state_dtype(other), parameter_dtype(other)) == types[:2]
    changed = 0
    for _ in range(400):
        records = [np.zeros(1, dtype) for dtype in types]
        for record in records:
            _fill(chance, record)
        for part in records[2:]:
            part["dof"] = chance.randint(0, 7)
        records[1]["n"] = chance.choice((1, 3, 8, 9, -1))
        copies = [[r.copy() for r in records] for _ in keys]
        for method in ("on_enter", "sense", "set_parameters", "control"):
            statuses = [
                run(key, method, cls, *mine) for key, cls, mine in zip(keys, (InPython, other), copies, strict=True)
            ]
            assert statuses[0] == statuses[1], method
            if statuses[0] == Status.BOUNDS:
                break
            for ours, theirs in zip(*copies, strict=True):
                assert _same(ours, theirs), method
        changed += not _same(copies[0][0], records[0])
        for before, after in zip(records[1:], copies[1][1:], strict=True):
            for name in before.dtype.names:
                assert name in COMMAND_FIELDS or before[name].tobytes() == after[name].tobytes(), name
    assert changed > 300


def test_K24_an_index_or_a_divisor_is_checked_as_in_python(c_file: CFile) -> None:
    key = build_c(_load(c_file.write("CONTROL { state->level = 1; state->values[params->index] = 2;\n"
                                     "state->level = 7 / (params->index - 2); return 0; }")))  # fmt: skip
    for index, status, level in ((0, 0, -3.0), (3, 0, 7.0), (4, Status.BOUNDS, 1.0), (-1, Status.BOUNDS, 1.0),
                                 (2, Status.BOUNDS, 1.0)):  # fmt: skip
        state, params, arm, seen = _records(key)
        params["index"] = index
        assert run(key, "control", ActionType, state, params, arm, seen) == status
        assert state["level"] == level


def test_K24_the_interpreted_tick_calls_it_too(c_file: CFile) -> None:
    key = build_c(_load(c_file.write("CONTROL { state->values[params->index] = 2; return 3; }")))
    twin = interpreted("robot_rt_control.realtime.tick.native_call")
    for index, status in ((1, 3), (9, Status.BOUNDS)):
        records = _records(key)
        records[1]["index"] = index
        addresses = [r.ctypes.data for r in records]
        assert twin.call_action(load(key).control, *addresses, 0, 0) == status
        assert records[0]["values"].sum() == (2.0 if status == 3 else 0.0)


def test_K24_streams_and_degrees_of_freedom_are_records_too(c_file: CFile) -> None:
    more = (
        "    from robot_rt_control.definitions.action_type import Degree\n"
        "    from robot_rt_control.definitions.streams import StreamInput, StreamOutput\n"
        "    streams = (StreamInput(name='goal', length=2), StreamOutput(name='seen', length=3))\n"
        "    degrees_of_freedom = (Degree(name='s'), Degree(name='t'))\n"
    )
    code = "{ state->degrees[1].position = state->goal.value[1]; state->seen.value[2] = params->goal_delay; return 0; }"
    for suffix in (".c", ".cpp"):
        cls = _load(c_file.write(f"CONTROL {code}", suffix=suffix, more=more))
        key = build_c(cls)
        state, params = np.zeros(1, state_dtype(cls)), np.zeros(1, parameter_dtype(cls))
        state["goal"]["value"][0, 1], params["goal_delay"] = 0.5, 0.25
        parts = np.zeros(2, part_dtype)
        assert run(key, "control", cls, state, params, parts[:1], parts[1:]) == 0
        assert state["degrees"]["position"].tolist() == [[0.0, 0.5]]
        assert state["seen"]["value"].tolist() == [[0.0, 0.0, 0.25]]


def _load(spec: str) -> type[ActionType]:
    from robot_rt_control.server.code.source import load_action_type

    return load_action_type(spec).action_type


def _records(key: str) -> tuple[np.ndarray, ...]:
    metadata = native_code.find(key)
    assert metadata is not None
    state = np.zeros(1, [("level", "f8"), ("class", "f8"), ("values", "f8", (4,))])
    params = np.zeros(1, [("index", "i8")])
    assert (state.itemsize, params.itemsize) == (metadata.state_size, metadata.parameter_size)
    return state, params, np.zeros(1, part_dtype), np.zeros(1, part_dtype)


def test_K24_what_is_built_says_what_is_not_proven(c_file: CFile) -> None:
    said: list[str] = []
    built = build(c_file.write("static double unused;\n" + COUNT), said.append)
    assert re.match(r"compiling custom: code\.c with .*\d", said[0])
    assert said[1].startswith(f"{c_file.source}:6: warning: 'unused' defined but not used")
    assert said[2] == f"{c_file.source}: what its loops, pointers and recursion do is not proven"
    assert said[3] == "measuring custom"
    assert built.unproven == str(c_file.source) and built.methods == ("control",) and not built.cached
    assert 0.0 < built.compute_time < 1e-3 and math.isnan(built.worst_time)
    assert build(f"{c_file.python}:Custom").cached
    state, params, arm, seen = _records(built.key)
    params["index"] = 5
    assert run(built.key, "control", ActionType, state, params, arm, seen) == 0 and state["level"] == 5.0


def test_K24_python_beside_it_is_refused(c_file: CFile) -> None:
    method = "    @staticmethod\n    def {}(state, params, arm, seen):\n        pass\n"
    spec = c_file.write(COUNT, more=method.format("sense") + method.format("control"))
    with pytest.raises(CompileError) as error:
        build(spec)
    lines = str(error.value).splitlines()
    assert [line.partition(";")[0] for line in lines] == [
        f"{c_file.python}:{line}: {name} is Python, and realtime_source names code.c"
        for line, name in ((12, "sense"), (15, "control"))
    ]
    assert all(line.endswith("are Python, or all are functions of one C or C++ file") for line in lines)
    inherits = "class Child(Custom):\n    name = 'child'\n    sense = staticmethod(print)\n"
    c_file.write(COUNT, more=inherits)
    with pytest.raises(CompileError, match=rf"{c_file.python}:10: sense is Python"):
        build(f"{c_file.python}:Child")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("nowhere.c", r"realtime_source names \S+/nowhere\.c, which is not there; It is looked for from the folder"),
        ("code.rs", r"realtime_source is 'code\.rs', no file of C or C\+\+; Name a file .* \.c, \.cpp, \.cc, \.cxx"),
    ],
)
def test_K24_a_file_that_cannot_be(source: str, text: str, c_file: CFile) -> None:
    spec = c_file.write(COUNT)
    c_file.python.write_text(PYTHON.format(source=source, more=""))
    with pytest.raises(CompileError, match=rf"{c_file.python}:10: {text}"):
        build(spec)


# --- K25: trusted -------------------------------------------------------------------------------


def test_K25_the_file_and_its_headers_must_be_trusted(c_file: CFile, tmp_path: Path) -> None:
    spec = c_file.write(f'#include "{tmp_path}/elsewhere/more.h"\n' + COUNT)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "more.h").write_text("static const int more = 1;\n")
    with pytest.raises(CompileError) as error:
        build(spec, trusted=[tmp_path / "elsewhere"])
    assert str(error.value) == (
        f"{c_file.source}:1: C and C++ code of {tmp_path} is not trusted: what its loops, pointers and recursion do is "
        f"not proven; The owner of the workcell may allow it: `trusted_native_code: [{tmp_path}]` in the workcell file "
        "lets the C and C++ files in it run in the loop"
    )
    (tmp_path / "own").mkdir()
    moved = CFile(tmp_path / "own")
    spec = moved.write(f'#include "{tmp_path}/elsewhere/more.h"\n' + COUNT)
    with pytest.raises(CompileError, match=rf"{tmp_path}/elsewhere/more\.h:1: C and C\+\+ code .* is not trusted"):
        build(spec, trusted=[tmp_path / "own"])
    (tmp_path / "own" / "link.c").symlink_to(c_file.source)
    moved.python.write_text(PYTHON.format(source="link.c", more=""))
    with pytest.raises(CompileError, match=rf"{c_file.source}:1: .* is not trusted"):
        build(spec, trusted=[tmp_path / "own"])
    moved.write(f'#include "{tmp_path}/elsewhere/more.h"\n' + COUNT)
    assert build(spec, trusted=[tmp_path / "own", tmp_path / "elsewhere"]).methods == ("control",)


# --- K26: refused -------------------------------------------------------------------------------

REFUSED_C = {
    "allocation": ("CONTROL { double *p = malloc(8); /* HERE */ *p = 1; state->level = *p + (long)p; return 0; }",
                   "allocates memory .*: malloc"),
    "output": ('CONTROL { printf("%f", state->level); return 0; } /* HERE */', "calls the system: printf"),
    "another function": ("extern double law(double);\nCONTROL { return law(1) > 0; }", None),
    "a static variable": ("static int counter; /* HERE */\nCONTROL { state->level = ++counter; return 0; }",
                          "keeps the variable counter between calls; What an action remembers lives in its state"),
    "a variable of a function": ("CONTROL { static int n = 3; /* HERE */ state->level = ++n; return 0; }",
                                 "keeps the variable n between calls"),
    "an array of unknown size": ("CONTROL { double a[params->index]; /* HERE */ memset(a, 0, sizeof a); return a[0]; }",
                                 "variable length array .*; Use arrays of fixed size"),
    "alloca": ("CONTROL { return *(int *)memset(__builtin_alloca(params->index), 0, 4); } /* HERE */", "'alloca'"),
    "a large frame": ("static double f(double *a) { return a[3]; }\nCONTROL { double a[9000]; "
                      "for (int i = 0; i < 9000; ++i) a[i] = sin(i * state->level); "
                      "return f(a + params->index); } /* HERE */",
                      "frame size|larger than"),
    "measured fields": ("CONTROL { arm->position[0] = 1; /* HERE */ return 0; }",
                        r"read-only .*; Of a part, the command fields alone may be written"),
    "a part that is read": ("CONTROL { seen->position_command[0] = 1; /* HERE */ return 0; }", "read-only"),
    "parameters": ("CONTROL { params->index = 1; /* HERE */ return 0; }", "read-only"),
    "a pointer to what is measured": ("static void put(double *p) { *p = 1; }\n"
                                      "CONTROL { put(arm->position); /* HERE */ return 0; }", "discards 'const'"),
    "other parameters": ("int control(State *s) { return 0; } /* HERE */", "conflicting types for 'control'.*robot-rt"),
    "an unknown function": ("CONTROL { return law(1); } /* HERE */", "implicit declaration of function 'law'"),
    "a mistyped name": ("int contrl(void) { return 0; } /* HERE */\n" + COUNT,
                        "no previous declaration for 'contrl' .*; Real-time functions are called on_enter, sense, set"),
    "a constant index": ("CONTROL { state->values[4] = 1; /* HERE */ return 0; }", "above array bounds.*Stay inside"),
    "no status": ("CONTROL { state->level = 1; } /* HERE */", "control reaches end of non-void function"),
    "syntax": ("CONTROL { return 0 } /* HERE */", "expected ';' before"),
    "a missing header": ('#include "nowhere.h" /* HERE */\n' + COUNT, "nowhere.h: No such file"),
}  # fmt: skip
REFUSED_CXX = {
    "a container": ("CONTROL { std::vector<double> v(params->index); return v.size() > 3; }", None),
    "new": ("CONTROL { auto *p = new double[params->index]; /* HERE */ state->level = p[0]; delete[] p; return 0; }",
            r"allocates memory: a container.* new and delete of C\+\+: _Zn"),
    "exceptions": ("CONTROL { throw 3; /* HERE */ }", "exception handling disabled"),
    "types at run time": ("struct A { virtual ~A() = default; }; struct B : A {};\n"
                          "CONTROL { A *a = (A *)seen; return dynamic_cast<B *>(a) != nullptr; } /* HERE */", "rtti"),
    "an object that is made on loading": ("struct A { A() { x = std::sin(volatile_one); } static volatile double "
                                          "volatile_one; double x; };\nstatic A a; /* HERE */\n"
                                          "CONTROL { state->level = a.x; return 0; }", "keeps the variable a between"),
    "a variable of a thread": ("thread_local int count; /* HERE */\nCONTROL { return ++count; }",
                               "keeps the variable count between calls"),
    "other parameters": ("int control(State *, Params *, Part *, const Part *) { return 0; } /* HERE */",
                         "no previous declaration for 'int control"),
    "measured fields": ("CONTROL { arm->position[0] = 1; /* HERE */ return 0; }", "read-only location"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED_C)
def test_K26_refused_in_c(what: str, c_file: CFile) -> None:
    _refused(c_file, *REFUSED_C[what], ".c")


@pytest.mark.parametrize("what", REFUSED_CXX)
def test_K26_refused_in_cxx(what: str, c_file: CFile) -> None:
    _refused(c_file, *REFUSED_CXX[what], ".cpp")


def _refused(c_file: CFile, code: str, text: str | None, suffix: str) -> None:
    """Refused with this text at the marked line; None: with a call that is not allowed, at the first line it has."""
    with pytest.raises(CompileError) as error:
        build(c_file.write(code, suffix=suffix))
    place = c_file.here if text is not None else f"{c_file.source}:"
    reasons = text if text is not None else "calls a function from outside of mathematics: law|allocates memory: a cont"
    assert re.search(rf"^{re.escape(place)}.*({reasons})", str(error.value), re.MULTILINE), str(error.value)


def test_K26_no_real_time_function(c_file: CFile) -> None:
    spec = c_file.write("static int f(void) { return 1; }")
    with pytest.raises(CompileError, match=rf"{c_file.source}:1: it defines no real-time function; Define at"):
        build(spec)


def test_K26_without_a_compiler(c_file: CFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(CompileError, match=r"no C compiler; expected one of \$CC = no-such-compiler\. Install one"):
        build(c_file.write(COUNT))


def test_K26_records_that_c_does_not_have(c_file: CFile) -> None:
    spec = c_file.write(COUNT, more="    State = {'größe': float}\n")
    with pytest.raises(CompileError, match="'custom' in C or C.*: State, field 'größe': name; expected letters"):
        build(spec)
    many = ", ".join(f"Slot(name='s{i}', kinds=(PartKind.ARM,))" for i in range(5))
    with pytest.raises(CapacityError, match=r"'custom': slots; expected at most 4 \(MAX_ACTION_SLOTS\); got 5"):
        build(c_file.write(COUNT, more=f"    slots = ({many})\n"))


def test_K26_what_crashes_or_does_not_end_refuses_its_request_alone(c_file: CFile) -> None:
    crashes = "CONTROL { *(volatile double *)params->index = 1; return 0; }"
    endless = "CONTROL { while (params->index) state->level += 1e-9; return 0; }"
    with Builder() as builder:
        with pytest.raises(CompileError, match=r"crashed on sample parts \(SIGSEGV\)\. SIGSEGV or SIGBUS: a pointer"):
            builder.build(c_file.write(crashes))
        first = builder.pid
        with pytest.raises(CompileError, match="did not end within 5 s"):
            builder.build(c_file.write(endless))
        assert builder.build(c_file.write(COUNT)).methods == ("control",)
        assert builder.pid == first


# --- K27: other code ----------------------------------------------------------------------------


def test_K27_what_decides_about_the_code_is_in_its_key(c_file: CFile, monkeypatch: pytest.MonkeyPatch) -> None:
    helper = c_file.folder / "helper.h"
    helper.write_text("#define GAIN 2.0\n")
    code = '#include "helper.h"\nCONTROL { state->level += GAIN * params->index; return 0; }'
    keys = [build(c_file.write(code)).key]

    def again() -> str:
        keys.append(build(f"{c_file.python}:Custom").key)
        return keys[-1]

    c_file.source.write_text(c_file.source.read_text().replace("GAIN *", "GAIN * /* a comment */") + "\n\n// more\n")
    assert again() == keys[0], "comments and empty lines are no code"
    helper.write_text("#define GAIN 3.0\n")
    assert again() != keys[0], "a header beside it"
    c_file.source.write_text(c_file.source.read_text().replace("+=", "-="))
    assert len({*keys, again()}) == 3, "the file"
    c_file.python.write_text(c_file.python.read_text().replace('"class": float', '"class": int'))
    changed = again()
    assert len(set(keys)) == 4, "a record of another layout"
    symbols = [native_code.read(key)[0].symbols["control"] for key in (keys[0], changed)]
    assert symbols[0] != symbols[1] and all(key[:24] in s for key, s in zip((keys[0], changed), symbols, strict=True))
    monkeypatch.setenv("CC", "cc -DUNUSED_HERE=1")
    again()
    assert len(set(keys)) == 5, "how the compiler is called"
    state, params, arm, seen = _records(keys[0])
    params["index"] = 1
    assert run(keys[0], "control", ActionType, state, params, arm, seen) == 0
    assert state["level"] == 2.0, "the first code is what it was"


def test_K27_an_old_header_beside_the_file_does_no_harm(c_file: CFile) -> None:
    spec = c_file.write(COUNT)
    (old,) = write_headers(spec)
    assert old == c_file.folder / "code_records.h" and "int64_t index;" in old.read_text()
    c_file.python.write_text(c_file.python.read_text().replace('"index", type="int"', '"index"'))
    key = build(spec).key
    state, params, arm, seen = _records(key)
    params.view("f8")[0] = 0.25
    assert run(key, "control", ActionType, state, params, arm, seen) == 0 and state["level"] == 0.25
    assert "int64_t index;" in old.read_text(), "only its author writes there"


def test_the_header_of_a_type(c_file: CFile) -> None:
    text = action_header(_load(c_file.write(COUNT)))
    for line in (
        "int control(State *state, const Params *params, Part *arm, const Part *seen);",
        "    double class_;",
        "    const double position[16];",
        "    double position_command[16];",
        "#ifndef ROBOT_RT_CONTROL_CODE_RECORDS_H",
    ):
        assert f"\n{line}\n" in text
    with pytest.raises(CompileError, match="action type 'in_python' has no real-time code in C or C"):
        action_header(InPython)


def test_types_that_share_a_file_need_the_same_records_for_one_header(c_file: CFile) -> None:
    other = "class Other(Custom):\n    name = 'other'\n    State = {}\n"
    c_file.write(COUNT, more=other)
    with pytest.raises(CompileError, match=r"code_records\.h: 2 action types have this header, with different records"):
        write_headers(str(c_file.python))
    assert not (c_file.folder / "code_records.h").exists()
    folder = c_file.folder / "headers"
    assert write_headers(f"{c_file.python}:Other", folder) == [folder / "code_records.h"]


