"""What persons, sensors and faults may do to runs of blueprints at any moment, in any order."""

from __future__ import annotations

from pathlib import Path
from random import Random

from bench.attack.attack import REPOSITORY, Attack
from robot_rt_control.blueprint.runs.control_request import COMMANDS
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.testing.lockstep_client import LockstepClient

_ACTS = 60
_COMMANDS = tuple(command for command in COMMANDS if command != "breakpoints")


def _round(random: Random, folder: Path) -> int:
    from executor_attack import HOSTED, NODES, PARTS, SKILLS, WORDS, Attacked, code_in

    bench = REPOSITORY / "test" / "lockstep" / "mock_bench.yaml"
    file, mock = folder / "bench.yaml", "    mock: {time_constant: 0.0}"
    file.write_text(bench.read_text().replace(mock, f'    "{HOSTED}": {{}}\n{mock}'))
    with LockstepClient(file, hardware=HOSTED) as client:
        client.sleep(0.02)
        made = Attacked(client, offline_catalogue(bench), code_in(folder), folder)

        def start() -> None:
            how = {"busy": random.choice(("refuse", "wait", "replace")), "paused": random.random() < 0.2}
            made.start(random.choice((*SKILLS, "hold", "nobody")), rehearse=random.random() < 0.2, **how)

        def control() -> None:
            word = random.choice(WORDS)
            command, node = random.choice(_COMMANDS), random.choice(NODES)
            made.control(command, random.randint(-2, 9), node=node, value=word, how=word)

        def stop() -> None:
            made.stop()
            made.step(random.randint(0, 20))

        acts = (
            *((start,) * 3), *((control,) * 4), stop, made.release, made.fault, made.clear,
            lambda: made.say(random.choice(("swing", "Swing 0.005!", "open", "stop", "sing"))),
            lambda: made.close_session(random.randint(0, 3)),
            lambda: made.disable(random.choice(PARTS)),
            lambda: made.take(random.choice(PARTS)),
            lambda: made.save(random.choice(tuple(SKILLS))),
            lambda: made.fill_disk(random.randint(0, 3)),
        )  # fmt: skip
        try:
            for _ in range(_ACTS):
                random.choice(acts)()
                made.step(random.randint(1, 120), random.choice((1, 1, 5, 40)))
            made.calm()
            made.cancel()
            made.check()
        finally:
            made.executor.close()
    return _ACTS


ATTACK = Attack(
    name="blueprints",
    promise="every run ends and holds nothing, nothing starts between a stop and a person's word, and logs say all",
    round=_round,
    unit="acts",
)
