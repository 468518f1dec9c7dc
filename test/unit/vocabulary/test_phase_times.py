"""The duration of each phase of a start is printed if it is asked for."""

import re
import subprocess
import sys

import pytest

from robot_rt_control.vocabulary import phase_times

PROGRAM = "from robot_rt_control.vocabulary.phase_times import ends; ends('imports'); ends('the rest')"
LINE = r"timing: {} \d+\.\d\d s, processor time \d+\.\d\d s\n"


@pytest.mark.parametrize("asked", [True, False])
def test_phases_are_printed_if_asked_for(asked, monkeypatch):
    monkeypatch.setenv(phase_times.VARIABLE, "1" if asked else "0")
    said = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    assert re.fullmatch((LINE.format("imports") + LINE.format("the rest")) if asked else "", said)


def test_a_phase_begins_with_the_end_of_the_one_before(monkeypatch, capsys):
    monkeypatch.setenv(phase_times.VARIABLE, "1")
    monkeypatch.setattr(phase_times, "_last", (0.0, 0.0))
    for now in (2.5, 4.0):
        monkeypatch.setattr(phase_times.time, "clock_gettime", lambda _clock, now=now: now)
        monkeypatch.setattr(phase_times.time, "process_time", lambda now=now: now / 2)
        phase_times.ends("work")
    assert capsys.readouterr().out == (
        "timing: work 2.50 s, processor time 1.25 s\ntiming: work 1.50 s, processor time 0.75 s\n"
    )
