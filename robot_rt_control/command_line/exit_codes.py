"""Exit codes of all verbs; docs/command_line.md has the same table."""

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    """It was refused, it failed, or what was examined is not in order."""
    USAGE = 2
    """The command line is not valid (argparse uses the same number)."""
    NO_WORKCELL = 3
    """No node of a workcell answered within --timeout."""
    INTERRUPTED = 130
    """Ctrl-C ended it before it was done."""
