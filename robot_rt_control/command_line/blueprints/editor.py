"""The verb that starts the editor."""

from __future__ import annotations

import argparse


class Editor:
    """Serve the editor to browsers on this machine, and print the links to open."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        from robot_rt_control.editor.main import add_arguments

        add_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.editor.main import serve

        return serve(arguments)
