"""The welcome robot (document 5): three blueprints, started by a door sensor, a gesture and a sentence.

    ./run shell python examples/21_welcome.py --lockstep        alone, in simulated time
    ./run shell workcell --workcell welcome --blueprints        or: a workcell in real time, and beside it
    ./run shell python examples/21_welcome.py

The skills are the files in examples/welcome: capabilities in Python, all others drawn or written as graphs. The robot
knows its staff by their portraits (staff.yaml); a person who matches none of them is a guest.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from robot_rt_control.blueprint.text.levels import LEVELS
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.client import Action, Client, Session
from robot_rt_control.testing.program_main import run_program

WORKCELL = Path(__file__).parent.parent / "config" / "welcome.yaml"
SKILLS = Path(__file__).parent / "welcome"
AT_DESK = 1.95  # [m] of the visitor's way
PATIENCE = 60.0  # [s] more than enough
ANSWERS = {"How was your journey?": "good", "Water, tea, or nothing?": "water"}
PICTURES = {"shake": ("handshake", 0.3), "stay": ("this_way", 0.0), "carry": ("drink", 10.0)}
"""A node's id → picture taken while it runs, and how long [s] after its beginning."""
WIDTH = 960
"""[pixels] More than the robot's own camera has, so that the pictures show the seat to which it points."""


def blueprints_of(client: Client, folder: Path) -> AbstractContextManager[Any]:
    """The node `blueprints` of a running workcell, or the same in lockstep."""
    from robot_rt_control.testing.lockstep_client import LockstepClient

    if isinstance(client, LockstepClient):
        from robot_rt_control.testing.lockstep_blueprints import LockstepBlueprints

        return LockstepBlueprints(client, folder)
    from robot_rt_control.blueprint.remote import Blueprints

    return Blueprints(client)


def save_skills(blueprints: Any) -> None:
    """Lower levels first: a skill is checked with those that it calls."""
    texts = [file.read_text() for file in sorted(SKILLS.glob("*.yaml")) if file.name != "staff.yaml"]
    for text in sorted(texts, key=lambda text: LEVELS.index(SkillTemplate(text).level)):
        blueprints.save_skill(text)


class Visitor:
    """Walks in and out, and shows a portrait."""

    def __init__(self, client: Client, session: Session) -> None:
        self._client, self._session, self._steps = client, session, 0

    def comes(self, *, mia: bool = False, to: float = AT_DESK) -> None:
        self._steps += 1
        id = f"step_{self._steps}"
        self._session.add(Action(id, "set_output", outputs="walk, portrait", values=[to, float(mia)]))
        self._session.start(id)

    def leaves(self, *, mia: bool = False) -> None:
        self.comes(mia=mia, to=0.0)
        self._client.sleep(4.0)


class Scene:
    """Watches runs to their ends, answers their questions, and takes pictures."""

    def __init__(self, client: Client, blueprints: Any, output: Path) -> None:
        self._client, self._blueprints, self._output = client, blueprints, output
        self._seen = {node.run for node in (blueprints.state.nodes if blueprints.state else ())}
        self._taken: set[str] = set()

    def watch(self, answers: dict[str, str] = ANSWERS) -> Any:
        """Until the next run has ended; returns its node: `does`, `result`, `reason`."""
        while True:
            state = self._blueprints.wait_for_state(lambda state: any(map(self._matters, state.nodes)), PATIENCE)
            node = next(filter(self._matters, state.nodes))
            if not node.path:
                self._seen.add(node.run)
                print(f"{node.does}: {node.result} {node.reason}")
                return node
            if node.question:
                print(f"robot asks: {node.question} {answers[node.question]}")
                self._blueprints.control("answer", run=node.run, node=node.path, value=answers[node.question])
                self._blueprints.wait_for_state(lambda state, asked=node: asked not in state.nodes, PATIENCE)
            else:
                picture, later = PICTURES[node.path.rpartition("/")[2]]
                self._taken.add(picture)
                self._client.sleep(later)
                self._client.take_picture(copy_to=self._output / f"{picture}.png", width=WIDTH)

    def _matters(self, node: Any) -> bool:
        if node.run in self._seen:
            return False
        picture, _ = PICTURES.get(node.path.rpartition("/")[2], ("", 0.0)) if node.state == "runs" else ("", 0.0)
        ended = not node.path and node.state == "ended"
        return ended or bool(node.question) or bool(picture and picture not in self._taken)


def main(client: Client, output: Path | str = "output/21_welcome") -> dict[str, str]:
    """Returns how each run ended."""
    output, ends = Path(output).resolve(), dict[str, str]()
    with blueprints_of(client, output) as blueprints, client.session("visitor") as session:
        save_skills(blueprints)
        scene, visitor = Scene(client, blueprints, output), Visitor(client, session)
        visitor.leaves()
        blueprints.control("arm", seconds=300.0, source="example")
        visitor.comes(mia=True)
        ends["mia"] = scene.watch().result
        client.take_picture(copy_to=output / "recognised.png", width=WIDTH)
        visitor.leaves(mia=True)
        client.sleep(6.0)
        visitor.comes()
        ends["welcome"] = scene.watch().result
        blueprints.give_command("thirsty", gesture=True, source="example")
        ends["drink"] = scene.watch(ANSWERS | {"Water, tea, or nothing?": "tea"}).result
        blueprints.give_command("Greet Ann!", source="example")
        ends["short_welcome"] = scene.watch().result
        client.take_picture(copy_to=output / "end.png", width=WIDTH)
        for text in getattr(blueprints, "said", ()):
            print(f"robot said: {text}")
    return ends


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/21_welcome"), description=__doc__))
