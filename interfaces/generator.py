"""Runs ROS's interface generators without their repetitions.

    python generator.py PARSED COMMAND ARGUMENTS...    what CMake is told to put before each custom command
    python generator.py PARSED --parse FILE.idl...     parses definitions, on all processors

ROS starts a generator for each kind of code. Each of them parses every definition anew (Earley's algorithm, in Python),
and scans its templates anew for each message: that was most of the time for building the interfaces. Here a definition
is parsed once, and kept in the folder PARSED of the build; a template is scanned once by each generator. What they
generate is the same, byte by byte. Commands other than a generator's are executed as they are.
"""

import hashlib
import multiprocessing
import os
import pickle
import runpy
import sys
import tempfile
from pathlib import Path


def parse_once(folder):
    """Have each definition parsed once.

    Args:
        folder: for what was parsed. It belongs to one build, and so to one version of ROS's parser.
    """
    from rosidl_parser import parser

    parse = parser.parse_idl_string

    def parsed(text, png_file=None):
        file = Path(folder, hashlib.sha256(text.encode()).hexdigest())
        try:
            return pickle.loads(file.read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            content = parse(text, png_file)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
            pickle.dump(content, part)
        os.replace(part.name, file)
        return content

    parser.parse_idl_string = parsed


def scan_once():
    """Have the text of each template scanned once in this process; `em` scans it at each expansion."""
    import em

    scanned = {}

    def parse(interpreter, scanner, locals=None):
        text = scanner.rest()
        for token in scanned.get(text, ()):
            interpreter.run(token, locals)
        if text not in scanned:
            tokens = []
            while (token := scanner.one()) is not None:
                interpreter.run(token, locals)
                scanner.accumulate()
                tokens.append(token)
            scanned[text] = tokens
        return True

    em.Interpreter.parse = parse


def parse_file(file):
    """Parse one definition, in a process of the pool."""
    from rosidl_parser import parser

    parser.parse_idl_string(Path(file).read_text(encoding="utf-8"))


def main(folder, command):
    """See the top of this file."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if command[0] == "--parse":
        parse_once(folder)
        with multiprocessing.get_context("fork").Pool() as pool:
            pool.map(parse_file, command[1:], chunksize=1)
    elif Path(command[0]).name.startswith("python") and "/rosidl_" in command[1]:
        parse_once(folder)
        scan_once()
        sys.argv = command[1:]
        sys.path[0] = str(Path(command[1]).parent)
        runpy.run_path(command[1], run_name="__main__")
    else:
        os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
