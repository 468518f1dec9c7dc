"""Processes of a workcell, killed or stopped (SIGKILL, SIGSTOP) at random moments while its arm moves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

from bench.attack.attack import REPOSITORY, Attack


def _round(random: Random, folder: Path) -> int:
    from bench.kill_attack import VICTIMS

    seed, kills = random.randrange(10**9), len(VICTIMS)
    command = [sys.executable, str(REPOSITORY / "bench" / "kill_attack.py"), "--kills", str(kills), "--seed", str(seed)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    said = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
    assert done.returncode == 0, f"python bench/kill_attack.py --kills {kills} --seed {seed}:\n{said}"
    return kills


ATTACK = Attack(
    name="kills",
    promise="whatever process dies or is stopped, the arm is at rest within the documented bound; then all comes back",
    round=_round,
    unit="processes",
    share=4.0,
    processes=True,
)
