"""Memory and processor time of processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from bench.process_usage import processor_seconds, pss_bytes, with_descendants

_USE = "data = bytearray(b'x') * 30_000_000\nprint(flush=True)\nfor _ in range(10**7): pass\nprint(flush=True)\ninput()"
_PARENT = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {_USE!r}])"


def test_a_grandchild_is_found_and_measured() -> None:
    command = [sys.executable, "-c", _PARENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        parent, child = with_descendants(process.pid)
        assert parent == process.pid
        assert {parent, child} < set(with_descendants(os.getpid()))
        before = processor_seconds(child)
        process.stdout.readline()
        time.sleep(0.02)
        assert processor_seconds(child) > before + 0.02
        assert 30e6 < pss_bytes(child) < 60e6
        process.stdin.write("\n")
        process.stdin.flush()
    assert with_descendants(process.pid) == []
    with pytest.raises(OSError, match="No such"):
        pss_bytes(child)
