"""Real-time methods in C or C++: found, preprocessed, compiled, and what the compiler alone does not refuse.

What is compiled is the preprocessed text, which the key of the native code contains: a header that changes in the
meantime changes neither. The object has the same entries as Numba's (see realtime/tick/native_call.py), so
that the loader and the loop do not tell one from the other.

Proven are: no call but of mathematics and memory, no memory of its own besides the stack and the records, no writing
into the records but where Python may. What loops, pointers and recursion do cannot be proven. An index of an array
whose length the compiler knows is checked as it is used, and so is the divisor of a whole number: a wrong one ends the
call as an index out of range ends one of Numba's.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from robot_rt_control.definitions.action_type import REALTIME_METHODS, ActionType, realtime_method_names
from robot_rt_control.native.c_compiler import (
    SUFFIXES,
    Compiler,
    Diagnostic,
    Language,
    find_compiler,
    run_compiler,
    user_files,
    without_markers,
)
from robot_rt_control.native.cache_folder import cache_root, own_folder
from robot_rt_control.native.object_file import ObjectSymbols, object_symbols
from robot_rt_control.server.builder.allowed_symbols import is_allowed, why_refused
from robot_rt_control.server.builder.built_type import UNPROVEN
from robot_rt_control.server.builder.c_header import action_header, header_name, realtime_file
from robot_rt_control.server.builder.native import MachineCode
from robot_rt_control.server.builder.realtime_methods import check_sizes, python_function, source_of
from robot_rt_control.server.builder.violation import Violation, refuse
from robot_rt_control.server.code.source import ActionSource
from robot_rt_control.vocabulary.capacities import MAX_ACTION_SLOTS

_STANDARD = {Language.C: "c11", Language.CXX: "c++17"}
_SPELLED = {Language.C: "c", Language.CXX: "c++"}
_PREPROCESS = ("-E", "-D_DEFAULT_SOURCE", "-U_FORTIFY_SOURCE")
_OPTIONS = (
    *("-O2", "-fPIC", "-fvisibility=hidden", "-fno-common", "-fno-stack-protector"),
    *("-fno-exceptions", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"),
    # Numbers as Numba computes them: no rearranging, no fused operations, integers wrap around; no errno.
    *("-fno-fast-math", "-ffp-contract=off", "-fno-math-errno", "-fwrapv", "-fno-strict-aliasing"),
    *("-fno-sanitize-recover=all", "-fdiagnostics-color=never"),
    *("-Wall", "-Wextra", "-Wno-unused-parameter"),
    *("-Werror=return-type", "-Werror=missing-declarations", "-Werror=array-bounds", "-Werror=uninitialized"),
    *("-Werror=vla", "-Werror=alloca", "-Werror=frame-larger-than=32768"),
)
_OPTIONS_OF = {
    Language.C: (
        *("-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types", "-Werror=int-conversion"),
    ),
    Language.CXX: ("-fno-rtti", "-fno-threadsafe-statics"),
}
_CHECKS_OF_CLANG = (
    *("-fsanitize=array-bounds,integer-divide-by-zero", "-fstrict-flex-arrays=3", "-Werror=missing-prototypes"),
)
_OPTIONS_OF_CLANG = {
    Language.C: (*_CHECKS_OF_CLANG, "-Werror=incompatible-pointer-types-discards-qualifiers"),
    Language.CXX: _CHECKS_OF_CLANG,
}
_OPTIONS_OF_GCC = {
    Language.C: ("-fsanitize=bounds-strict,integer-divide-by-zero", "-Werror=discarded-qualifiers"),
    Language.CXX: ("-fsanitize=bounds-strict,integer-divide-by-zero",),
}

_MOST_SHOWN = 20
_HINTS = (
    (
        r"no previous (prototype|declaration)",
        f"Real-time functions are called {', '.join(REALTIME_METHODS)}; make all others static",
    ),
    (
        r"conflicting (types|declaration)|ambiguating new declaration",
        "Declare it as the header does; `robot-rt header` writes it",
    ),
    (
        r"read-only|const-qualified|discard.*qualifier|assignment of member",
        "Of a part, the command fields alone may be written; of parameters, none",
    ),
    (r"No such file or directory|file not found", "Headers are looked for beside the file, and among the system's"),
    (r"variable.length|alloca|frame size", "Use arrays of fixed size, and keep large ones in the state record"),
    (r"array subscript|array.bounds", "Stay inside of the array"),
    (r"may be used uninitialized|is used uninitialized|is uninitialized", "Give the variable a value first"),
)
_OTHER_HINT = "Correct the code; `robot-rt header` writes the header with the records"
_STATIC_HINT = "What an action remembers lives in its state record; make constants const, also what pointers point to"
_PLACE = "robot_rt_control_place"
_FAULTS = {
    "__ubsan_handle_out_of_bounds_abort": "void *place, void *index",
    "__ubsan_handle_divrem_overflow_abort": "void *place, void *left, void *right",
}
"""What compilers call instead of using a wrong index or divisor → its parameters. It must not return."""
_FAULT_HANDLERS = f"static void *{_PLACE}[5];  /* of the call that goes on: a loop has one thread */\n" + "".join(
    f"""
__attribute__((noreturn, noinline)) void {fault}({arguments});
void {fault}({arguments}) {{ __builtin_longjmp({_PLACE}, 1); }}
"""
    for fault, arguments in _FAULTS.items()
)
_FAULT_DATA = ".data"
"""Begin of the name of sections in which compilers describe, without a symbol, the places of wrong indices."""
_THREADS_OWN = "__tls_get_addr"
"""What code calls to find a variable of its thread, which is refused by its name."""

@dataclass(frozen=True)
class CCode:
    """A file of real-time code in C or C++, with all that it includes."""

    file: Path
    compiler: Compiler
    text: str
    """Preprocessed, with line markers."""

    @property
    def decisive(self) -> tuple[str, ...]:
        """All that decides about its machine code, besides this package."""
        return (self.compiler.version, *self.compiler.command, *_options(self.compiler), without_markers(self.text))

    def compiled(self, entries: str = "") -> tuple[bytes, list[Diagnostic]]:
        """The object file of the text and of further functions, and the compiler's warnings.

        Raises:
            CompileError: the compiler refuses it: one line for each error.
        """
        with tempfile.TemporaryDirectory() as folder:
            unit, result = Path(folder) / "unit", Path(folder) / "unit.o"
            unit.write_text(f'{self.text}\n# 1 "<entries>"\n{entries}' if entries else self.text)
            options = [*_options(self.compiler), "-c", "-o", str(result)]
            _, said = run_compiler(self.compiler, options, unit)
            _refuse_errors(said)
            return result.read_bytes(), said

    def line_of(self, word: str) -> tuple[str, int]:
        """File and line where a word stands first, outside of the system's headers; else the file's first line."""
        file, line, own = str(self.file), 0, True
        for text in self.text.splitlines():
            if marker := re.match(r'# (\d+) "([^"]*)"([ \d]*)$', text):
                file, line = marker[2], int(marker[1])
                own = (
                    "3" not in marker[3].split()
                    and not file.startswith("<")
                    and header_name(str(self.file)) not in file
                )
                continue
            if own and re.search(rf"(?<![\w.]){re.escape(word)}\b", text):
                return file, line
            line += 1
        return str(self.file), 1


def _options(compiler: Compiler) -> list[str]:
    """How files of its language are read and compiled. The preprocessor needs them as well: headers ask for them."""
    language = compiler.language
    special = _OPTIONS_OF_CLANG if compiler.is_clang else _OPTIONS_OF_GCC
    dialect = f"-std={_STANDARD[language]}", "-x", _SPELLED[language]
    return [*_OPTIONS, *_OPTIONS_OF[language], *special[language], *dialect]


def c_code_of(source: ActionSource, trusted: Sequence[Path] | None) -> CCode | None:
    """The real-time code of an action type that is written in C or C++, preprocessed; None: it is Python.

    Args:
        source: the action type.
        trusted: folders whose C and C++ code may run in the loop; None: all.

    Raises:
        CompileError: there are real-time methods in both languages, the file is not there or not trusted, there is no
            compiler, or it cannot be preprocessed: `file:line: operation; hint`.
        CapacityError: as `check_sizes`.
    """
    action_type = source.action_type
    if not action_type.realtime_source:
        return None
    owner = next(c for c in action_type.__mro__ if "realtime_source" in vars(c))
    declared = _declaration(owner)
    _refuse_python(action_type, owner)
    named = action_type.realtime_source
    language = SUFFIXES.get(Path(named).suffix) if isinstance(named, str) else None
    if language is None:
        hint = f"Name a file beside this one, that ends in {', '.join(SUFFIXES)}"
        raise refuse([Violation(*declared, f"realtime_source is {named!r}, no file of C or C++", hint)])
    file = realtime_file(action_type)
    if not file.is_file():
        hint = "It is looked for from the folder of this file; a text that a client has sent comes without it"
        raise refuse([Violation(*declared, f"realtime_source names {file}, which is not there", hint)])
    _check_trusted([file], trusted)
    check_sizes(action_type)
    compiler = find_compiler(language)
    header = _write_header(action_type)
    options = [*_PREPROCESS, *_options(compiler), "-I", str(header.parent), "-include", str(header)]
    text, said = run_compiler(compiler, options, file)
    _refuse_errors(said)
    _check_trusted([used for used in user_files(text) if used != header.resolve()], trusted)
    return CCode(file, compiler, text)


def compile_c(code: CCode, action_type: type[ActionType], key: str, progress: Callable[[str], None]) -> MachineCode:
    """Compile real-time methods in C or C++.

    Args:
        code: of the type.
        key: of its native code; the symbols carry it.
        progress: called with each warning of the compiler.

    Raises:
        CompileError: one line for each violation: `file:line: operation; hint`.
    """
    alone, said = code.compiled()
    for one in said[:_MOST_SHOWN]:
        progress(f"{one.file}:{one.line}: warning: {one.text}")
    found = object_symbols(alone)
    _check_object(code, found)
    methods = [m for m in REALTIME_METHODS if m in found.functions]
    if not methods:
        operation = "it defines no real-time function"
        raise refuse([Violation(str(code.file), 1, operation, f"Define at least one of {', '.join(REALTIME_METHODS)}")])
    symbols = {name: f"robot_rt_control_{key[:24]}_{name}" for name in methods}
    n_slots = len(action_type.slots)
    entries = "".join(_entry(name, symbol, n_slots) for name, symbol in symbols.items())
    is_c = code.compiler.language == Language.C
    entries = _FAULT_HANDLERS + entries
    linked, _ = code.compiled(entries if is_c else f'extern "C" {{\n{entries}}}\n')
    final = object_symbols(linked)
    _check_object(code, final)
    return MachineCode(linked, symbols, tuple(sorted(final.needed)))


def _entry(name: str, symbol: str, n_slots: int) -> str:
    """The entry of uniform signature that calls a function of the user."""
    parts = [f"Part *part_{i}" for i in range(MAX_ACTION_SLOTS)]
    taken = f"(int64_t *result, void **, State *state, Params *params, {', '.join(parts)})"
    taken = taken.replace("void **,", "void **exception,")
    passed = ", ".join(["state", "params", *[f"part_{i}" for i in range(n_slots)]])
    return (
        f'__attribute__((visibility("default"))) int32_t {symbol}{taken};\n'
        f"int32_t {symbol}{taken}\n{{\n    if (__builtin_setjmp({_PLACE})) return 1;\n"
        f"    *result = {name}({passed});\n    return 0;\n}}\n"
    )


def _declaration(owner: type) -> tuple[str, int]:
    """File and line of a class's `realtime_source`."""
    file = Path(inspect.getfile(owner)).resolve()
    tree = ast.parse(file.read_bytes(), str(file))
    name = owner.__qualname__.rpartition(".")[2]
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            for statement in node.body:
                targets = (
                    statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
                )
                if any(isinstance(t, ast.Name) and t.id == "realtime_source" for t in targets):
                    return str(file), statement.lineno
            return str(file), node.lineno
    return str(file), 1


def _refuse_python(action_type: type[ActionType], owner: type) -> None:
    """Refuse real-time methods in Python beside those in C or C++."""
    violations = []
    for name in realtime_method_names(action_type):
        attribute = inspect.getattr_static(action_type, name, None)
        function = python_function(getattr(attribute, "__func__", attribute))
        if function is not None:
            where = source_of(function)
            file, line = where.file, where.node.lineno
        elif attribute is not None:
            file, line = _declaration(owner)
        else:
            continue
        operation = f"{name} is Python, and realtime_source names {action_type.realtime_source}"
        hint = "All real-time methods of an action type are Python, or all are functions of one C or C++ file"
        violations.append(Violation(file, line, operation, hint))
    if violations:
        raise refuse(violations)


def _check_trusted(files: Iterable[Path], trusted: Sequence[Path] | None) -> None:
    if trusted is None:
        return
    violations = [
        Violation(
            str(file),
            1,
            f"C and C++ code of {file.parent} is not trusted: {UNPROVEN}",
            f"The owner of the workcell may allow it: `trusted_native_code: [{file.parent}]` in the workcell file lets "
            "the C and C++ files in it run in the loop",
        )
        for file in files
        if not any(file.is_relative_to(folder) for folder in trusted)
    ]
    if violations:
        raise refuse(violations)


def _write_header(action_type: type[ActionType]) -> Path:
    """The header of the type's records, in the cache, in a folder that is named after its content."""
    data = action_header(action_type).encode()
    folder = own_folder(cache_root() / "headers", make=True) / hashlib.sha256(data).hexdigest()[:32]
    own_folder(folder, make=True)
    file = folder / header_name(action_type.realtime_source)
    if not file.is_file() or file.read_bytes() != data:
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
            part.write(data)
        os.replace(part.name, file)
    return file


def _refuse_errors(said: Iterable[Diagnostic]) -> None:
    errors = [d for d in said if d.is_error][:_MOST_SHOWN]
    if errors:
        raise refuse([Violation(d.file, d.line, d.text, _hint(d.text)) for d in errors])


def _hint(text: str) -> str:
    return next((hint for pattern, hint in _HINTS if re.search(pattern, text)), _OTHER_HINT)


def _check_object(code: CCode, found: ObjectSymbols) -> None:
    """Refuse what only the machine code shows: calls, variables that outlive a call, code that runs on loading."""
    violations = []
    strange = {s for s in found.needed if not is_allowed(s)} - set(_FAULTS)
    written = {s for s in found.writable if _word(s) != _PLACE and not s.startswith(_FAULT_DATA)}
    for symbol in sorted(strange - {_THREADS_OWN} if written else strange):
        ((operation, hint),) = why_refused([symbol])
        violations.append(Violation(*code.line_of(_word(symbol)), operation, hint))
    for symbol in sorted(written):
        operation = f"keeps the variable {_word(symbol)} between calls"
        violations.append(Violation(*code.line_of(_word(symbol)), operation, _STATIC_HINT))
    if found.at_start and not violations:
        violations.append(Violation(str(code.file), 1, "runs code as it is loaded", _STATIC_HINT))
    if violations:
        raise refuse(violations)


def _word(symbol: str) -> str:
    """What stands in the source for a symbol: C++'s names are encoded with their lengths (Itanium C++ ABI, 5.1)."""
    if re.match(r"_Zn[wa]", symbol):
        return "new"
    if re.match(r"_Zd[la]", symbol):
        return "delete"
    if not symbol.startswith("_Z"):
        return symbol.partition(".")[0] or symbol
    word, position = "", 2
    while found := re.compile(r"\d+").search(symbol, position):
        position = found.end() + int(found[0])
        if position > len(symbol):
            break
        word = symbol[found.end() : position]
    return word or symbol
