"""Attacks the editor's server of a running workcell, and compares the executor's answers before and meanwhile.

    python bench/attacked_editor.py [--requests 10000] [--seed N]

Nothing may move, nothing may die, and the answers of the executor of blueprints may take twice as long at most.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random, SystemRandom

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "test" / "lockstep"), str(REPOSITORY)]

from editor_attack import EditorAttack  # noqa: E402  (needs the path)

from robot_rt_control.testing.ros_domain import claim_domain  # noqa: E402

_PORT = 8427
_ASKED = 100


def enter(token: str) -> str:
    """The cookie for a token."""
    connection = http.client.HTTPConnection("127.0.0.1", _PORT, timeout=20)
    headers = {"Origin": f"http://127.0.0.1:{_PORT}", "Content-Type": "application/json"}
    connection.request("POST", "/api/enter", json.dumps({"token": token}), headers)
    return str(connection.getresponse().getheader("Set-Cookie")).partition(";")[0].partition("=")[2]


def run(requests: int, seed: int) -> bool:
    os.environ |= {"ROS_DOMAIN_ID": str(claim_domain("editor_attack")), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    from robot_rt_control.blueprint.remote import Blueprints
    from robot_rt_control.client import Client
    from robot_rt_control.demo.demo_workcell import DemoWorkcell

    arguments = ["--workcell", "arm7", "--hardware", "mock", "--controllers", "false", "--no-frames", "--blueprints"]
    with tempfile.TemporaryDirectory(prefix="editor_attack-") as folder:
        log, editor_log = Path(folder) / "workcell.log", Path(folder) / "editor.log"
        with (
            DemoWorkcell(arguments, log, environment={"XDG_DATA_HOME": folder}) as workcell,
            Client("editor_attack", timeout_s=30.0) as client,
            Blueprints(client, timeout_s=30.0) as blueprints,
            editor_log.open("wb") as output,
        ):
            workcell.wait_until_ready(client, lambda _: None, 900.0)
            blueprints.wait_for_state(lambda state: not state.problem, 60.0)
            module = "robot_rt_control.editor.main"
            command = [sys.executable, "-m", module, "--port", str(_PORT)]
            editor = subprocess.Popen(command, stdout=output, stderr=output)
            try:
                deadline = time.monotonic() + 60
                while len(tokens := re.findall(r"#token=(\S+)", editor_log.read_text())) < 2:
                    assert time.monotonic() < deadline, editor_log.read_text()
                    time.sleep(0.1)
                time.sleep(2.0)
                attack = EditorAttack(_PORT, operate=enter(tokens[0]), watch=enter(tokens[1]))

                def answers() -> np.ndarray:
                    found = np.empty(_ASKED)
                    for i in range(_ASKED):
                        begin = time.monotonic()
                        blueprints.list_skills("move_joint")
                        found[i] = time.monotonic() - begin
                        time.sleep(0.05)
                    return found

                before, begin = answers(), time.monotonic()
                found: Counter[tuple[str, int]] = Counter()
                sockets: list[tuple[int, int]] = []

                def strike() -> None:
                    found.update(attack.requests(requests, Random(seed)))
                    attack.messages(requests // 20, Random(seed))
                    with attack.deaf(10):
                        sockets.append(attack.sockets(200))

                thread = threading.Thread(target=strike, daemon=True)
                thread.start()
                meanwhile = [answers()]
                while thread.is_alive():
                    meanwhile.append(answers())
                took, during = time.monotonic() - begin, np.concatenate(meanwhile)
                alive = editor.poll() is None
                moved = [n for n in blueprints.state.nodes if not n.path]
            finally:
                editor.kill()
                editor.wait()
        said = editor_log.read_text()
        errors = said.count("Traceback")
    shown = [f"{1e3 * np.median(x):.1f} ms, p99 {1e3 * np.percentile(x, 99):.1f}" for x in (before, during)]
    if not alive or errors:
        print(re.sub(r"#token=\S+", "", said[-3000:]))
    print(f"{requests} requests in {took:.0f} s; statuses: {dict(Counter(s for _, s in found.elements()))}")
    print(f"200 sockets: open and refused {sockets}; the server lives: {alive}, tracebacks in its log: {errors}")
    print(f"the executor's answers: before median {shown[0]}; meanwhile median {shown[1]}; runs started: {len(moved)}")
    return alive and not moved and not errors and bool(np.median(during) <= 2 * np.median(before))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**9), help="default: a new one")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    return 0 if run(given.requests, given.seed) else 1


if __name__ == "__main__":
    sys.exit(main())
