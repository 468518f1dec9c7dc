"""Table 6: the goals that a program streams with jitter and loss, against the way that it computed them from."""

from __future__ import annotations

from robot_rt_control.testing.lockstep_client import LockstepClient


def test_the_streamed_way_is_followed(example, tmp_path, capsys):
    module = example("06_streaming")

    def run():
        with LockstepClient(module.WORKCELL) as client:
            done = module.main(client, tmp_path)
            assert not client.cell.kinds("part_faulted", "action_failed", "stream_refused")
            return done

    first = run()
    assert first["rms"] < 1e-3 and first["largest"] < 8e-3, "[rad]"
    assert 0.005 < first["behind"] < 0.02, "the jitter [s]"
    assert 200 < first["written"] < 260 and first["late"] < 6 and first["missed"] == 0
    assert 0.3 < first["speed"] <= 1.0 and first["acceleration"] <= 1.001, "shares of the limits"
    assert "mrad RMS" in capsys.readouterr().out
    assert (tmp_path / "streaming.png").read_bytes().startswith(b"\x89PNG")
    assert run() == first, "bit-identical"
