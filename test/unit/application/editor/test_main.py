"""The editor's command line."""

from __future__ import annotations

import pytest

from robot_rt_control.application.editor.main import main


@pytest.mark.parametrize("address", ["0.0.0.0", "192.168.1.5", "::", "robot.example"])
def test_E3_another_address_needs_a_certificate(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--address", address]) == 1
    assert "can be reached from the network; expected 127.0.0.1, or a certificate" in capsys.readouterr().err
