"""Rules H1, H4 to H7, H11 of docs/semantics/recordings.md: recordings and their replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from arms_cell import arms_file, go
from mcap.reader import make_reader
from mcap.writer import Writer
from mcap_ros2.decoder import DecoderFactory
from trajectory_bench import HERE, TrajectoryBench, goal, many_points, point

from robot_rt_control.client import MotionCommand, MotionGroup
from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.frames.link_frames import LinkFrames
from robot_rt_control.memory.command_places import command_places
from robot_rt_control.memory.layout import command_dtype
from robot_rt_control.model.robot.urdf_reader import parse_urdf
from robot_rt_control.realtime.executor.replay import DIFFERS, REFUSED, SAME, main
from robot_rt_control.recording.fault_log import load_fault_log
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import RobotControlError

FOLDER = Path(__file__).parent
IIWA = FOLDER.parents[2] / "config" / "iiwa.yaml"


def with_sensors(path: Path) -> None:
    """Reactions on a sensor, a fault that is cleared, a change of definitions, a protective stop, an overrun."""
    with LockstepCell(FOLDER / "workcell.yaml", record=path) as cell:
        cell.set_sensor("rangefinder/distance", 0.5)
        session = cell.session("left")
        near = Reaction("rangefinder.distance < 0.3", start="b")
        session.add(Action("a", "probe", speed=0.6, reactions=[near]), Action("b", "probe", speed=-0.3))
        session.start("a")
        cell.step(120)
        cell.set_sensor("rangefinder/distance", 0.2)
        cell.step(30)
        session.add(Action("bad", "writer", kind=1))
        session.start("bad")
        cell.step(20)
        cell.server.set_motion(["left"], "clear_faults")
        cell.server.set_motion(["left"], "enable")
        cell.executor.miss_deadlines(2)
        cell.step(20)
        cell.executor.protective_stop(True)
        cell.step(20)


def with_streams(path: Path) -> None:
    with LockstepCell(FOLDER / "streams.yaml", record=path) as cell:
        session = cell.session("left")
        session.add(Action("a", "listener", parts="left"))
        session.start("a")
        cell.step()
        stream = session.stream("a", "goal")
        for i in range(20):
            stream.write([0.1 * i, 0.0])
            cell.step(7)


def with_groups(path: Path) -> None:
    with LockstepCell(arms_file(path.parent, 2), record=path) as cell:
        session = cell.session("arm0", "arm1")
        session.add(go(2, profile="async"))
        for _ in range(2):
            session.start("go")
            cell.step(900)


def with_simulator(path: Path) -> None:
    with LockstepCell(IIWA, hardware="simulator", record=path) as cell:
        session = cell.session("arm")
        session.add(Action("up", "velocity_move", linear=[0, 0, 0.1]))
        session.start("up")
        cell.step(150)


def with_trajectories(path: Path) -> None:
    """Goals of a controller: each is one command, which takes several places of the ring for its points."""
    bench = TrajectoryBench(path.parent, record=path)
    with bench.client:
        for given in (goal(point(1.0, HERE)), many_points(), goal(point(1.0, HERE)), many_points(200)):
            assert bench.until(bench.follow(given)).is_success
            bench.run(0.1)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "session.mcap"
    with_sensors(path)
    return path


def test_H1_each_tick_is_in_the_file_bit_for_bit(tmp_path: Path) -> None:
    path, seen = tmp_path / "a.mcap", []
    with LockstepCell(FOLDER / "workcell.yaml", record=path) as cell:
        session = cell.session("left")
        session.add(Action("a", "probe", speed=0.6))
        session.start("a")
        for _ in range(120):
            tick = cell.step()
            seen.append((tick, *cell.part("left").position[:2], *cell.part("left").commanded_velocity[:2]))
        fired = [(e.tick, e.kind) for e in cell.events if e.tick]
    file = TickFile(path)
    arrays, rows = file.arrays(), np.array(seen)
    assert (np.diff(arrays["tick"]) == 1).all() and arrays["tick"][0] == 1 and file.end()["lost_ticks"] == 0
    at = np.searchsorted(arrays["tick"], rows[:, 0])
    assert (arrays["left.position"][at, :2] == rows[:, 1:3]).all()
    assert (arrays["left.commanded_velocity"][at, :2] == rows[:, 3:]).all()
    assert (arrays["time_ns"] == arrays["tick"] * 1_000_000).all()
    with path.open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        found = [(c.topic, m.log_time, d) for _, c, m, d in reader.iter_decoded_messages()]
    first = seen[50]
    (states,) = [d for topic, time, d in found if topic == "/joint_states" and time == first[0] * 1_000_000]
    (commands,) = [d for topic, time, d in found if topic == "/joint_commands" and time == first[0] * 1_000_000]
    (ticks,) = [d for topic, _, d in found if topic == "/ticks" and d.tick == first[0]]
    assert list(states.name) == [n for names in cell.workcell.joint_state_names().values() for n in names]
    assert tuple(states.position[:2]) == first[1:3] and tuple(commands.velocity[:2]) == first[3:]
    assert tuple(ticks.left_position[:2]) == first[1:3] and ticks.speed == 1.0
    assert states.header.stamp.sec == 0 and states.header.stamp.nanosec == first[0] * 1_000_000
    events = [(d.tick, d.kind) for topic, _, d in found if topic == "/events"]
    assert set(events) >= {e for e in fired if e[1] in ("action_started", "command_done")} != set()
    assert {"a", "default action"} <= {d.current_action for t, _, d in found if t == "/events"}
    assert file.about["workcell_file"] == str(FOLDER / "workcell.yaml")


def test_H11_tools_show_the_robot(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with LockstepCell(IIWA, record=path) as cell:
        session = cell.session("arm")
        session.add(Action("up", "velocity_move", linear=[0, 0, 0.1]))
        session.start("up")
        cell.step(150)
        description = cell.workcell.robot_description()
        log = cell.executor.save_last_ticks().rename(tmp_path / "log.mcap")
    for file in (path, log):
        with file.open("rb") as stream:
            reader = make_reader(stream, decoder_factories=[DecoderFactory()])
            found: dict[str, list[tuple[int, Any]]] = {}
            qos = {}
            for schema, channel, message, decoded in reader.iter_decoded_messages():
                found.setdefault(channel.topic, []).append((message.log_time, decoded))
                (qos[channel.topic],) = yaml.safe_load(channel.metadata["offered_qos_profiles"])
                if channel.topic.startswith("/tf"):
                    assert schema is not None and schema.name == "tf2_msgs/msg/TFMessage"
        times = [time for time, _ in found["/joint_states"]]
        assert [(time, decoded.data) for time, decoded in found["/robot_description"]] == [(times[0], description)]
        assert {t for t, q in qos.items() if q["durability"] == 1} == {"/robot_description", "/tf_static"}
        assert all(q["reliability"] == q["history"] == 1 for q in qos.values()) and len(qos) == len(found)
        frames = LinkFrames(parse_urdf(description.encode(), Path("robot_description")))
        links = {t.child_frame_id for topic in ("/tf", "/tf_static") for t in found[topic][0][1].transforms}
        assert links == {child for _, child in frames.fixed.links} | {f"lbr_iiwa_link_{i}" for i in range(1, 8)}
        at = [time for time, _ in found["/tf"]]
        assert at[0] == times[0] and {*np.diff(at).tolist()} == {20_000_000} and at[-1] > times[-1] - 20_000_000
        states = dict(found["/joint_states"])
        for time, message in found["/tf"]:
            expected = frames.at(list(states[time].name), list(states[time].position))
            for transform, link, p, q in zip(
                message.transforms, expected.links, expected.positions, expected.orientations, strict=True
            ):
                shown, stamp = transform.transform, transform.header.stamp
                assert (transform.header.frame_id, transform.child_frame_id) == link
                assert (stamp.sec, stamp.nanosec) == divmod(time, 10**9)
                assert (shown.translation.x, shown.translation.y, shown.translation.z) == tuple(p)
                assert (shown.rotation.x, shown.rotation.y, shown.rotation.z, shown.rotation.w) == tuple(q)
        assert found["/tf"][0][1].transforms[0].transform != found["/tf"][-1][1].transforms[0].transform


@pytest.mark.parametrize(
    "record, kinds",
    [
        (with_sensors, {"tables", "command", "internal", "state", "misses", "server_lost"}),
        (with_streams, {"tables", "command", "internal", "sample", "server_lost"}),
        (with_groups, {"tables", "command", "internal", "points", "server_lost"}),
        (with_simulator, {"tables", "command", "internal", "server_lost"}),
        (with_trajectories, {"tables", "command", "internal", "server_lost"}),
    ],
)
def test_H5_a_replay_is_the_same(
    record: Callable[[Path], None], kinds: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "a.mcap")
    assert main([str(tmp_path / "a.mcap")]) == SAME, capsys.readouterr().out
    file = TickFile(tmp_path / "a.mcap")
    assert len(file.arrays()["tick"]) > 130 and {given.kind for given in file.inputs()} == kinds
    sizes = [len(given.data) - command_dtype.itemsize for given in file.inputs() if given.kind == "command"]
    assert (max(command_places(size) for size in sizes) > 1) == (record is with_trajectories)


@pytest.mark.long
@pytest.mark.parametrize("what", ["writes on", "ends"])
def test_H5_what_a_profiler_does_while_ticks_run_takes_effect_in_the_same_tick_again(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a process of its own: it may write set points, or be lost, between two ticks of a batch."""
    with LockstepCell(arms_file(tmp_path, 1), record=tmp_path / "a.mcap") as cell:
        session = cell.session("arm0")
        slowly = MotionCommand(part="arm0", position=(2.5, -1.0, 0.5), duration=12.0)
        session.add(MotionGroup("go", slowly, profile="async"))
        session.start("go")
        profilers, lockstep = cell.server.core.connection.at().profilers, cell.executor.lockstep
        feed = cell.executor.channel.feed
        assert lockstep is not None and feed is not None
        cell.step(500)
        profilers.paused.add(0)
        cell.step(4000)  # it runs short of set points
        run = lockstep._run_ticks

        def meanwhile(ticks: int, silent: int) -> int:
            monkeypatch.undo()
            new = run(ticks // 2, silent)
            if what == "writes on":
                profilers.paused.clear()
                feed()
            else:
                cell.executor.channel.memory.motion_queues[0]["failed"] = 1
            return new | run(ticks - ticks // 2, silent)

        monkeypatch.setattr(lockstep, "_run_ticks", meanwhile)
        cell.step(50)
        assert lockstep._run_ticks == run
        cell.step(500)
    assert main([str(tmp_path / "a.mcap")]) == SAME, capsys.readouterr().out


def changed(source: Path, target: Path, topic: str, change: Callable[[int, bytearray], None], **values: str) -> None:
    """The file with changed messages of a topic; `change` gets the number of each. `values`: of its metadata."""
    with source.open("rb") as stream, target.open("wb") as output:
        reader, writer, channels, n = make_reader(stream), Writer(output), {}, 0
        writer.start()
        for metadata in reader.iter_metadata():
            writer.add_metadata(metadata.name, metadata.metadata | values)
        for schema, channel, message in reader.iter_messages(log_time_order=False):
            assert schema is not None
            if channel.id not in channels:
                number = writer.register_schema(schema.name, schema.encoding, schema.data)
                channels[channel.id] = writer.register_channel(channel.topic, channel.message_encoding, number)
            data = bytearray(message.data)
            if channel.topic == topic:
                change(n, data)
                n += 1
            writer.add_message(channels[channel.id], message.log_time, bytes(data), message.publish_time)
        writer.finish()


def test_H6_a_changed_number_is_the_first_difference(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [(c.name, i) for c in TickFile(recorded).columns for i in range(c.width)]
    place = 12 + 8 * names.index(("left.commanded_velocity", 1))

    def change(n: int, data: bytearray) -> None:
        if n >= 149:
            data[place] ^= 1  # the last bit of the mantissa

    changed(recorded, tmp_path / "a.mcap", "/ticks", change)
    assert main([str(tmp_path / "a.mcap")]) == DIFFERS
    assert "the first difference is in tick 150: left.commanded_velocity[1]: recorded " in capsys.readouterr().out


def test_H6_a_changed_command_is_seen_in_its_tick(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [i for i in TickFile(recorded).inputs()]
    number, start = next((n, i) for n, i in enumerate(given) if i.kind == "command")

    def change(n: int, data: bytearray) -> None:
        if n == number:
            data[-len(start.data)] = 99  # no command

    changed(recorded, tmp_path / "a.mcap", "/inputs", change)
    assert main([str(tmp_path / "a.mcap")]) == DIFFERS
    out = capsys.readouterr().out
    assert f"the first difference is in tick {start.tick}: " in out


def test_H6_what_cannot_be_run_again_is_refused(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with LockstepCell(FOLDER / "workcell.yaml") as cell:
        cell.executor.record(True, tmp_path / "later.mcap")
        cell.step(10)
        cell.executor.record(False)
        log = cell.executor.save_last_ticks()
        assert main([str(tmp_path / "later.mcap")]) == REFUSED
        assert "expected the session from tick 1 on; got from tick 4 on" in capsys.readouterr().err
        assert main([str(log)]) == REFUSED
        assert "expected a recorded session; got a log of the last ticks" in capsys.readouterr().err
    other = tmp_path / "workcell.yaml"
    other.write_text((FOLDER / "workcell.yaml").read_text() + "\n# changed\n")
    assert main([str(recorded), "--workcell", str(IIWA)]) == REFUSED
    assert "expected digest" in capsys.readouterr().err
    for file, got in ((tmp_path / "none.mcap", "no such file"), (other, "a file of another kind")):
        assert main([str(file)]) == REFUSED
        assert f"expected a file of recorded ticks (.mcap); got {got}" in capsys.readouterr().err


def test_H6_what_lacks_inputs_is_refused_and_if_it_lacks_events_the_ticks_are_compared(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def leave(_: int, data: bytearray) -> None:
        pass

    def spoil(_: int, data: bytearray) -> None:
        data[16] ^= 1

    changed(recorded, tmp_path / "a.mcap", "/events", leave, lost_commands="2", lost_samples="1")
    assert main([str(tmp_path / "a.mcap")]) == REFUSED
    assert "expected all that came from outside; got 2 commands lost, 1 samples lost" in capsys.readouterr().err
    changed(recorded, tmp_path / "b.mcap", "/events", spoil, lost_events="3")
    assert main([str(tmp_path / "b.mcap")]) == SAME
    assert "bit for bit; events were not compared: 3 were lost" in capsys.readouterr().out
    changed(recorded, tmp_path / "c.mcap", "/events", spoil)
    assert main([str(tmp_path / "c.mcap")]) == DIFFERS


def test_H6_code_in_plain_python_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with LockstepCell(FOLDER / "workcell.yaml", record=tmp_path / "a.mcap", interpreted=True) as cell:
        cell.step(5)
    assert main([str(tmp_path / "a.mcap")]) == REFUSED
    assert "They name native code" in capsys.readouterr().err


def test_H4_a_session_whose_end_is_missing_is_replayed_as_far_as_it_goes(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, found = recorded.read_bytes(), []
    for part in np.linspace(0.3, 0.98, 8):
        (tmp_path / "a.mcap").write_bytes(data[: int(len(data) * part)])
        n = len(TickFile(tmp_path / "a.mcap").arrays()["tick"])
        assert main([str(tmp_path / "a.mcap")]) == (SAME if n else REFUSED), capsys.readouterr().out
        out, err = capsys.readouterr()
        assert f"all {n} ticks are the same" in out if n else "expected ticks; got none" in err
        found.append(n)
    assert len(set(found)) > 2 and found[0] == 0 and found == sorted(found), found


def test_H7_the_last_ticks_and_a_recording_on_demand(tmp_path: Path) -> None:
    with LockstepCell(FOLDER / "workcell.yaml") as cell:
        cell.step(30)
        log = load_fault_log(cell.executor.save_last_ticks())
        assert log.title() == f"saved on demand in tick {cell.tick}"
        assert log.ticks.tolist() == list(range(1, cell.tick + 1))
        first = cell.tick + 1
        path = cell.executor.record(True, tmp_path)
        assert path is not None and path.parent == tmp_path and cell.executor.session_recorder.path == path
        with pytest.raises(RobotControlError, match=f"got a recording to {path}. Stop that one first"):
            cell.executor.record(True, tmp_path / "b.mcap")
        cell.step(40)
        assert cell.executor.record(False) == path and cell.executor.record(False) is None
        cell.step(10)
        file = TickFile(path)
        assert file.arrays()["tick"].tolist() == list(range(first, first + 40))
        assert file.end()["reason"] == "stopped"
