"""The machine's C and C++ compilers: which they are, and what they say of a file.

Only Python's own library is imported: `robot-rt doctor` looks here.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from robot_rt_control.vocabulary.errors import CompileError

TIMEOUT_S = 100.0
"""[s] Less than the builder's patience with a process that only waits."""


class Language(StrEnum):
    """A language of real-time code beside Python."""

    C = "C"
    CXX = "C++"


_VARIABLES = {Language.C: "CC", Language.CXX: "CXX"}
_PROGRAMS = {Language.C: ("cc", "gcc", "clang"), Language.CXX: ("c++", "g++", "clang++")}
SUFFIXES = {".c": Language.C, ".cpp": Language.CXX, ".cc": Language.CXX, ".cxx": Language.CXX}
"""End of a file's name → its language."""

_DIAGNOSTIC = re.compile(r"(?P<file>[^\n:]+):(?P<line>\d+)(?::\d+)?: (?P<kind>fatal error|error|warning): (?P<text>.*)")
_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"([ \d]*)$', re.MULTILINE)
_SYSTEM = "3"
"""In a line marker of preprocessed text: what follows comes from a header of the system."""


@dataclass(frozen=True)
class Compiler:
    """A compiler of this machine."""

    language: Language
    command: tuple[str, ...]
    version: str
    """What it says of itself, and the machine that it compiles for."""

    @property
    def is_clang(self) -> bool:
        """Whether it is Clang, which has other names for some of GCC's options."""
        return "clang" in self.version

    @property
    def name(self) -> str:
        """For people: the first line of its version."""
        return self.version.partition("\n")[0]


@dataclass(frozen=True)
class Diagnostic:
    """What a compiler says of a line."""

    file: str
    line: int
    is_error: bool
    text: str


def command_of(
    language: Language,
    environment: Mapping[str, str] = os.environ,
    which: Callable[[str], str | None] = shutil.which,
) -> tuple[str, ...]:
    """How a language's compiler is called: as $CC or $CXX says, else the first of the usual ones that is installed.

    Args:
        which: finds a program.

    Returns:
        Path of the program, and arguments; empty: there is none.
    """
    given = environment.get(_VARIABLES[language], "").strip()
    words = shlex.split(given) if given else []
    for candidate in [words] if words else [[name] for name in _PROGRAMS[language]]:
        if found := which(candidate[0]):
            return (found, *candidate[1:])
    return ()


def wanted(language: Language, environment: Mapping[str, str] = os.environ) -> str:
    """What `command_of` looks for, for people."""
    given = environment.get(_VARIABLES[language], "").strip()
    return f"${_VARIABLES[language]} = {given}" if given else ", ".join(_PROGRAMS[language])


def find_compiler(language: Language) -> Compiler:
    """The machine's compiler of a language.

    Raises:
        CompileError: there is none, or it does not run.
    """
    command = command_of(language)
    if not command:
        raise CompileError(
            f"no {language} compiler",
            expected=f"one of {wanted(language)}",
            hint="Install one (Debian, Ubuntu: apt install build-essential), or name it in "
            f"${_VARIABLES[language]}; robot-rt doctor shows what is found",
        )
    said = [_run([*command, option]) for option in ("--version", "-dumpmachine")]
    for one in said:
        if one.returncode:
            raise CompileError(
                f"the {language} compiler does not run", got=f"{shlex.join(command)}: {one.stderr[:200]}"
            )
    return Compiler(language, command, "\n".join(one.stdout.strip() for one in said))


def run_compiler(compiler: Compiler, options: Sequence[str], file: Path) -> tuple[str, list[Diagnostic]]:
    """Run a compiler on a file.

    Returns:
        Its output, and what it says of lines of files. If that contains errors, the output means nothing.

    Raises:
        CompileError: it fails without naming a line, or takes too long.
    """
    done = _run([*compiler.command, *options, str(file)])
    found = [
        Diagnostic(d["file"], int(d["line"]), d["kind"] != "warning", d["text"])
        for d in _DIAGNOSTIC.finditer(done.stderr)
    ]
    if done.returncode and not any(d.is_error for d in found):
        lines = done.stderr.strip().splitlines()
        raise CompileError(f"{file}: {compiler.name} failed", got=" / ".join(lines[-3:]) or f"exit {done.returncode}")
    return done.stdout, found


def user_files(preprocessed: str) -> list[Path]:
    """The files, other than headers of the system, whose lines are in preprocessed text."""
    names = {name for _, name, flags in _MARKER.findall(preprocessed) if _SYSTEM not in flags.split()}
    spelled = [re.sub(r"\\(.)", r"\1", name) for name in sorted(names) if not name.startswith("<")]
    return [Path(name).resolve() for name in spelled if Path(name).is_file()]


def without_markers(preprocessed: str) -> str:
    """Preprocessed text without the names of files and numbers of lines: what is compiled."""
    return "\n".join(line for line in _MARKER.sub("", preprocessed).splitlines() if line.strip())


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired as error:
        raise CompileError(f"{command[0]} took more than {TIMEOUT_S:g} s") from error
    except OSError as error:
        raise CompileError(f"{command[0]} does not run", got=str(error)) from error
