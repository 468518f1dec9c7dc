"""Recordings in a real browser: the robot where it was in each tick, and what is said of files that are damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from browser import watch_over
from pages import serious, until
from served_editor import served_by
from written_recording import write_recording

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.editor.past.recorded import opened
from robot_rt_control.editor.past.server import PastServer
from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.testing.recorded_test import written_test

VIEW = "document.querySelector('.robot-scene')?.view"
PANEL = "document.querySelector('.timeline-panel')"
TICKS, FAULT = 5000, 3210
RULES = Path(__file__).parents[1] / "lockstep" / "rules"


def wave(tick: int, joint: int) -> float:
    """[rad] of a joint in a tick."""
    return float(1.2 * np.sin(0.0013 * tick * (joint + 1)))


def arm_recording(path: Path, name: str = "iiwa", **options: Any) -> Path:
    """Of a workcell's robots that wave."""
    workcell = load_workcell(find_workcell(name))
    names = workcell.joint_state_names()
    parts = {part.name: list(names.get(part.name, ())) for part in workcell.parts}
    return write_recording(path, TICKS, urdf=workcell.robot_description(), parts=parts, **{"q": wave, **options})


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    events = [(100, "action_started", {"part": "arm", "session": "s1", "current_action": "go"}),
              (2500, "reaction_fired", {"part": "arm", "session": "s1", "previous_action": "go"})]  # fmt: skip
    path = tmp_path_factory.mktemp("past") / "waving.mcap"
    return arm_recording(path, fault=("arm", FAULT), events=events, distance=lambda tick: 0.001 * tick)


@pytest.fixture
def look(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens recordings: `look(path, fragment="&tick=7", drawn=True)`."""
    complaints: list[str] = []
    with ExitStack() as stack:

        def looking(*paths: Path, fragment: str = "", drawn: bool = True, allow: str = "") -> Any:
            recordings = opened(paths)
            for each in recordings:
                stack.callback(each.close)
            served = stack.enter_context(served_by(lambda port: PastServer(recordings, port=port)))
            context = chromium.new_context(viewport={"width": 1280, "height": 800})
            stack.callback(context.close)
            page = context.new_page()
            watch_over(page, served.origin, complaints, allow=allow)
            page.goto(f"{served.origin}/past.html#token={served.server.keys.watch}{fragment}")
            page.get_by_label("Moment").wait_for()
            if drawn:
                page.wait_for_function(f"() => {VIEW}?.shown && {VIEW}.robots.loading === 0")
            return page

        yield looking
    assert complaints == []


def at(page: Any, tick: int, q: Callable[[int, int], float] = wave) -> None:
    """Wait until the joints of a tick are drawn."""
    n = page.evaluate(f"() => {VIEW}.positions.length")
    wanted = [q(tick, joint) for joint in range(n)]
    page.wait_for_function(f"q => {VIEW}.positions.every((value, i) => Math.abs(value - q[i]) < 1e-5)", arg=wanted)
    assert page.get_by_role("textbox", name="Tick").input_value() == str(tick)


def go(page: Any, tick: int) -> None:
    page.get_by_label("Moment").fill(str(tick))


def poses(page: Any, model: Any, q: Sequence[float]) -> float:
    """[m] The largest distance of a link from where forward kinematics has it."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array(q))
    links = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
    assert len(links) > 5
    found = []
    for frame in links:
        X = np.reshape(page.evaluate(f"link => {VIEW}.pose(link)", frame.name), (4, 4)).T
        wanted = data.oMf[model.getFrameId(frame.name)].homogeneous
        assert np.abs(X[:3, :3] - wanted[:3, :3]).max() < 1e-4
        found.append(np.linalg.norm(X[:3, 3] - wanted[:3, 3]))
    return float(max(found))


def test_H12_each_tick_of_the_slider_shows_the_links_where_forward_kinematics_has_them(
    look: Callable[..., Any], recording: Path, picture: Any
) -> None:
    page = look(recording)
    model = pin.buildModelFromXML(load_workcell(find_workcell("iiwa")).robot_description())
    for tick in (1, 777, TICKS, 1999, 2000, 4321):
        go(page, tick)
        at(page, tick)
        assert poses(page, model, [wave(tick, joint) for joint in range(model.nq)]) < 1e-4
    picture(page, "past_iiwa")
    assert serious(page) == []


def test_H12_why_it_stopped_leads_to_the_first_tick_of_the_fault(
    look: Callable[..., Any], recording: Path, picture: Any
) -> None:
    page = look(recording)
    go(page, FAULT - 1)
    at(page, FAULT - 1)
    assert page.get_by_text("is faulted").count() == 0
    red = f"() => {VIEW}.colorOf('lbr_iiwa_link_3')"
    healthy = page.evaluate(red)
    page.get_by_role("button", name="Why did it stop?").click()
    at(page, FAULT)
    page.get_by_text("is faulted: the measured position left its range").wait_for()
    assert page.evaluate(red) != healthy and page.evaluate(red)[0] > 0.4
    slider = page.get_by_label("Moment")
    assert (slider.get_attribute("min"), slider.get_attribute("max")) == (str(FAULT - 2000), str(FAULT)), "2 s"
    events = page.get_by_role("region", name="Events").get_by_role("button")
    assert [text.split(maxsplit=1)[1] for text in events.all_inner_texts()] == [
        "reaction fired arm go → – (s1)",
        "part faulted arm position limit",
    ]
    picture(page, "past_fault")
    page.get_by_role("button", name="Show the whole recording").click()
    assert slider.get_attribute("max") == str(TICKS)
    events.filter(has_text="action started").click()
    at(page, 100)
    assert page.evaluate(red) == healthy


def test_H12_keys_and_play_move_through_the_recording(look: Callable[..., Any], recording: Path) -> None:
    page = look(recording)
    tick = page.get_by_role("textbox", name="Tick")
    page.locator(".robot-view").focus()
    page.keyboard.press("End")
    at(page, TICKS)
    page.keyboard.press("ArrowLeft")
    at(page, TICKS - 1)
    page.keyboard.press("Shift+ArrowLeft")
    at(page, TICKS - 101)
    page.keyboard.press("Home")
    at(page, 1)
    page.keyboard.press("ArrowRight")
    at(page, 2)
    page.get_by_label("Speed").select_option("10")
    page.locator(".robot-view").focus()
    page.keyboard.press("Space")
    until(page, lambda: int(tick.input_value()) > 1000)
    page.keyboard.press("Space")
    page.locator("[aria-label='Play'][aria-pressed=false]").wait_for()  # until then it goes on
    at(page, int(tick.input_value()))
    page.keyboard.press("Shift+Space")
    until(page, lambda: int(tick.input_value()) == 1)
    page.get_by_label("Speed").select_option("1")
    page.get_by_role("button", name="Play", exact=True).click()
    until(page, lambda: int(tick.input_value()) > 20)
    page.get_by_role("button", name="A tick on").click()
    page.locator("[aria-label='Play'][aria-pressed=false]").wait_for()
    at(page, int(tick.input_value()))


def test_H12_a_link_with_a_tick_opens_that_moment(look: Callable[..., Any], recording: Path) -> None:
    page = look(recording, fragment="&tick=4242")
    at(page, 4242)
    go(page, 17)
    at(page, 17)
    page.wait_for_function("() => location.hash === '#tick=17'")
    page.reload()
    page.wait_for_function(f"() => {VIEW}?.shown")
    at(page, 17)
    page.evaluate("() => { location.hash = '#tick=4000'; }")
    at(page, 4000)
    page.evaluate("() => { location.hash = '#tick=99999999'; }")
    at(page, TICKS)


def test_H12_a_picture_that_changes_has_fewer_pixels_where_the_processor_draws_it(
    look: Callable[..., Any], recording: Path
) -> None:
    page = look(recording)
    wide = page.evaluate(f"() => {VIEW}.canvas.clientWidth")
    rests = f"wide => {VIEW}.canvas.width === 2 * wide"
    page.wait_for_function(rests, arg=wide)
    page.evaluate(f"""() => {{
        const {{ renderer }} = {VIEW};
        const render = renderer.render.bind(renderer);
        window.widths = [];
        renderer.render = (...all) => {{ window.widths.push(renderer.domElement.width); render(...all); }};
    }}""")
    for tick in (500, 1500, 2500):
        go(page, tick)
        at(page, tick)
    page.wait_for_function("wide => window.widths.includes(Math.floor(wide / 2))", arg=wide)
    page.wait_for_function(rests, arg=wide)
    drawn = page.evaluate("() => window.widths.length")
    go(page, 2500)  # it is there already
    page.evaluate("() => new Promise((done) => setTimeout(done, 1000))")
    assert page.evaluate("() => window.widths.length") == drawn, "nothing has changed, so nothing is drawn"


def test_H13_a_file_that_was_cut_off_is_said_and_the_rest_is_shown(
    look: Callable[..., Any], recording: Path, tmp_path: Path, picture: Any
) -> None:
    cut = tmp_path / "cut.mcap"
    data = recording.read_bytes()
    cut.write_bytes(data[: len(data) // 2])
    page = look(cut)
    page.get_by_text("The file has no end").wait_for()
    last = int(page.get_by_label("Moment").get_attribute("max"))
    assert 1000 < last < TICKS
    go(page, last)
    at(page, last)
    picture(page, "past_cut")


def test_H13_a_damaged_chunk_is_said_and_its_ticks_are_missing(
    look: Callable[..., Any], recording: Path, tmp_path: Path
) -> None:
    data, path = bytearray(recording.read_bytes()), tmp_path / "damaged.mcap"
    places = [place for place in range(len(data) // 2, len(data)) if data[place : place + 4] == b"\x28\xb5\x2f\xfd"]
    data[places[0] + 300] ^= 0xFF
    path.write_bytes(data)
    page = look(path, fragment="&tick=1")
    at(page, 1)
    missing = page.get_by_text("this tick is missing")
    found = [tick for tick in range(1, TICKS, 150) if _is_missing(page, tick, missing)]
    assert 0 < len(found) < 20
    page.get_by_role("button", name="To the first tick").click()
    at(page, 1)


def _is_missing(page: Any, tick: int, missing: Any) -> bool:
    go(page, tick)
    until(page, lambda: "…" not in page.locator(".past-now").inner_text())
    return bool(missing.count())


def test_H13_missing_meshes_and_64_parts(look: Callable[..., Any], tmp_path: Path, picture: Any) -> None:
    names = [f"arm{i}" for i in range(64)]
    links = "".join(
        f'<link name="{n}"><visual><geometry><box size="0.1 0.1 0.4"/></geometry></visual></link>'
        f'<joint name="{n}_j" type="continuous"><parent link="world"/><child link="{n}"/>'
        f'<origin xyz="{i % 8} {i // 8} 0"/><axis xyz="1 0 0"/></joint>'
        for i, n in enumerate(names)
    )
    mesh = '<link name="world"><visual><geometry><mesh filename="file:///no.stl"/></geometry></visual></link>'
    urdf = f'<robot name="many">{mesh}{links}</robot>'
    path = write_recording(tmp_path / "many.mcap", 500, urdf=urdf, parts={n: [f"{n}_j"] for n in names}, q=wave)
    page = look(path, fragment="&tick=321")
    at(page, 321)
    page.get_by_text("1 thing is not drawn as described").click()
    page.get_by_text("nothing at /no.stl").wait_for()
    assert page.locator(".past-parts tbody tr").count() == 64
    picture(page, "past_many")


def test_H14_the_page_gives_a_test_or_says_why_there_is_none(
    look: Callable[..., Any], recording: Path, tmp_path: Path
) -> None:
    page = look(recording)
    page.get_by_role("button", name="Make a test of this").click()
    page.get_by_text("waving.mcap; expected layout").wait_for()
    path = tmp_path / "session.mcap"
    with LockstepCell(RULES / "workcell.yaml", record=path) as cell:
        cell.set_sensor("rangefinder/distance", 0.5)
        session = cell.session("left")
        near = Reaction("rangefinder.distance < 0.3", start="b")
        session.add(Action("a", "probe", speed=0.6, reactions=[near]), Action("b", "probe", speed=-0.3))
        session.start("a")
        cell.step(40)
        cell.set_sensor("rangefinder/distance", 0.2)
        cell.step(20)
    page = look(path, fragment="&tick=30")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Make a test of this").click()
    assert downloading.value.suggested_filename == "test_session_30.py"
    assert Path(downloading.value.path()).read_text() == written_test(path, 30)


def test_H15_two_recordings_move_together_and_their_first_difference_is_marked(
    look: Callable[..., Any], recording: Path, tmp_path: Path, picture: Any
) -> None:
    def other(tick: int, joint: int) -> float:
        """The same until tick 2000, 900 ticks later."""
        before = wave(tick - 900, joint)
        return before + 0.5 if joint == 1 and tick - 900 >= 2000 else before

    second = write_again(tmp_path / "second.mcap", 901, other)
    page = look(recording, second)
    page.get_by_role("button", name="tick 2000").click()
    at(page, 2000)
    page.get_by_text("arm.position[1] is").wait_for()
    page.get_by_text("second.mcap, tick 2900").wait_for()
    assert page.locator(".past-marks .differs").count() == 1
    model = pin.buildModelFromXML(load_workcell(find_workcell("iiwa")).robot_description())
    for tick in (1999, 2000, 3333):
        go(page, tick)
        at(page, tick)
        wanted = [other(tick + 900, joint) for joint in range(model.nq)]
        data = model.createData()
        pin.framesForwardKinematics(model, data, np.array(wanted))
        tip = data.oMf[model.getFrameId("lbr_iiwa_link_7")].translation
        ghost = f"{VIEW}.ghost?.link('lbr_iiwa_link_7')?.matrixWorld.toArray().slice(12, 15)"
        page.wait_for_function(f"p => Math.hypot(...({ghost} ?? [9]).map((x, i) => x - p[i])) < 1e-4", arg=tip.tolist())
        assert poses(page, model, [wave(tick, joint) for joint in range(model.nq)]) < 1e-4
    page.wait_for_function(f"() => {VIEW}.ghost.loading === 0")
    picture(page, "past_two")


def test_H12_plots_show_what_is_recorded_and_move_with_the_slider(
    look: Callable[..., Any], tmp_path: Path, picture: Any
) -> None:
    lost = range(2600, 2700)
    events = [(1, "action_started", {"part": "arm", "session": "s1", "current_action": "go"})]
    path = arm_recording(tmp_path / "waving.mcap", fault=("arm", FAULT), events=events, without=lost)
    page = look(path)
    loaded = "() => performance.getEntriesByType('resource').some(each => each.name.includes('timeline'))"
    assert not page.evaluate(loaded), "it is loaded when it is opened"
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.get_by_role("combobox", name="Plot a variable").fill("arm.position[2]")
    page.keyboard.press("Enter")
    page.get_by_role("list", name="Plotted variables").get_by_text("arm.position[2]", exact=True).wait_for()
    assert page.get_by_text("Reactions").count() == 0
    recorded = TickFile(path).arrays()
    wanted = recorded["arm.position"][:, 2].tolist()
    samples = f"() => {PANEL}.source.samples('arm.position[2]', {{first: 1, last: {TICKS}}})"
    gaps = f"{PANEL}.source.gaps({{first: 0, last: 1e6}})"
    page.wait_for_function(f"n => ({samples})().ticks.length === n && {gaps}.length > 0", arg=len(wanted))
    found = page.evaluate(f"() => {{ const it = ({samples})(); return [[...it.ticks], [...it.values]]; }}")
    assert found == [recorded["tick"].tolist(), wanted], "to the bit"
    source = f"{PANEL}.source"
    everywhere = "({first: 0, last: 1e6})"
    assert page.evaluate(f"() => {source}.gaps{everywhere}") == [{"first": lost[0], "last": lost[-1]}]
    bars = page.evaluate(f"() => {source}.bars{everywhere}")
    assert [(bar["part"], bar["action"], bar["session"], bar["first"], bar["last"]) for bar in bars] == [
        ("arm", "go", "s1", 1, lost[0] - 1), ("arm", "go", "", lost[-1] + 1, TICKS),
    ]  # fmt: skip
    marks = page.evaluate(f"() => {source}.marks{everywhere}.map(mark => [mark.tick, mark.kind])")
    assert marks == [[1, "action_started"], [FAULT, "part_faulted"]]
    # A click.
    canvas = page.locator(".timeline-canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x = page.evaluate(f"() => {PANEL}.panel.plot.xAt(1234, {PANEL}.panel.scope)")
    canvas.click(position={"x": x, "y": 20})
    clicked = page.evaluate(f"() => {PANEL}.panel.scope.at")
    assert abs(clicked - 1234) < 10
    at(page, clicked)
    assert page.get_by_label("Moment").input_value() == str(clicked)
    # Dragging measures, and takes the slider along.
    page.mouse.move(box["x"] + x, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + x + 150, box["y"] + 20, steps=5)
    page.mouse.up()
    dragged = page.evaluate(f"() => {PANEL}.panel.scope.measured.last")
    assert dragged > clicked + 100
    at(page, dragged)
    # And the slider moves the cursor.
    go(page, 3999)
    at(page, 3999)
    page.wait_for_function(f"() => {PANEL}.panel.scope.at === 3999 && !{PANEL}.panel.scope.measured")
    value = page.get_by_role("list", name="Plotted variables")
    value.get_by_text(f"{wave(3999, 2):.5g} rad").wait_for()
    go(page, lost[10])
    value.get_by_text("missing").wait_for()
    canvas.scroll_into_view_if_needed()
    picture(page, "past_timeline")
    assert serious(page) == []
    canvas.click(position={"x": box["width"] - 5, "y": 20})  # beyond the last tick
    at(page, TICKS)
    # A moment outside what is shown around a stop shows the whole again.
    page.get_by_role("button", name="Why did it stop?").click()
    at(page, FAULT)
    canvas.click(position={"x": x, "y": 20})
    at(page, page.evaluate(f"() => {PANEL}.panel.scope.at"))


def write_again(path: Path, begin: int, q: Callable[[int, int], float]) -> Path:
    """A recording like the first one, that begins with another tick."""
    away = begin - 1
    return arm_recording(
        path, first=begin, q=q, fault=("arm", FAULT + away), distance=lambda tick: 0.001 * (tick - away)
    )
