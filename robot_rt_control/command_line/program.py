"""Programs at the command line: check, draw, save, run and watch them.

check and draw need only files; list, show, save, copy, delete, run and watch ask a running control server.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.syntax import Syntax
from rich.table import Table

from robot_rt_control.command_line.main import parsed
from robot_rt_control.command_line.output import Output
from robot_rt_control.command_line.start import run_until_end
from robot_rt_control.command_line.values import assignment
from robot_rt_control.program.check import check_program
from robot_rt_control.program.file import ProgramTemplate, library_template
from robot_rt_control.program.filled_program import Find, Use
from robot_rt_control.program.library import library_programs
from robot_rt_control.program.schema import SCHEMA_FILE
from robot_rt_control.vocabulary.errors import DefinitionError, Overtaken, RobotControlError, unknown

_EXAMPLES = """\
examples:
  %(prog)s check my_program.yaml --workcell config/arm7.yaml
  %(prog)s draw my_program.yaml -o my_program.svg
  %(prog)s save my_program.yaml
  %(prog)s list --search edge
  %(prog)s copy trace_edge my_edge
  %(prog)s watch my_program -o live.html
  %(prog)s run my_program --parts robot=arm eye=rangefinder --set speed=0.05 'direction=[0, 0, -1]'

In an editor with a YAML language server, begin a program with this line, for completion and checks while you type:
  # yaml-language-server: $schema=<the path that '%(prog)s schema' prints>
"""


def find_template(program: str, find: Find | None = None) -> ProgramTemplate:
    """A program from a file, or of the library.

    Args:
        find: finds the programs that it uses; None: beside it, and in the library.

    Raises:
        DefinitionError: neither.
    """
    path = Path(program)
    library = library_programs()
    if not path.exists() and program in library:
        path = library[program]
    if not path.exists() and path.suffix not in (".yaml", ".yml"):
        raise DefinitionError(
            f"{program!r} is neither a file nor a program of the library",
            expected=unknown("program of the library", program, library),
            hint="For a program that the control server keeps, 'show' prints its text",
        )
    return ProgramTemplate.load(path, find=find or partial(_beside, path.parent))


def _beside(folder: Path, program: str) -> ProgramTemplate:
    """A used program: one of the library, as in the server (P13), or the file of this name beside the program."""
    path = folder / f"{program}.yaml"
    if program.removesuffix("@1") in library_programs() or not path.exists():
        return library_template(program)
    return ProgramTemplate.load(path, find=partial(_beside, folder))


# --- without a running workcell -------------------------------------------------------------------------


def _check(given: argparse.Namespace, output: Output) -> int:
    failed = False
    catalogue = None
    if not given.server:
        # slow: they load the compiler
        from robot_rt_control.command_line.offline_catalogue import offline_catalogue

        catalogue = offline_catalogue(given.workcell)
    for program in given.programs:
        try:
            template = find_template(program, partial(_kept, given) if given.server else None)
            if catalogue is not None:
                warnings = check_program(template.sample(), catalogue)
            else:
                warnings = _with_client(given, partial(_checked_by, text=template.text))
        except RobotControlError as error:
            output.error(error)
            failed = True
            continue
        for warning in warnings:
            output.warning(warning)
        sample = template.sample()
        definition = sample.definition
        n = len(definition.reactions) + sum(len(a.reactions) for a in definition.actions)
        output.good(f"{template.source}: valid; {len(definition.actions)} actions, {n} reactions")
        _show_uses(sample.uses, output)
        failed = failed or (given.strict and bool(warnings))
    return int(failed)


def _show_uses(uses: Iterable[Use], output: Output) -> None:
    """From which programs the states of a flattened one come."""
    for use in uses:
        output.note(f"{use.state}__…: {use.program}")


def _checked_by(client: Any, text: str) -> list[str]:
    return list(client.programs.check(text))


def _draw(given: argparse.Namespace, output: Output) -> int:
    from robot_rt_control.drawing.pictures import require_pictures

    require_pictures()
    from robot_rt_control.drawing.diagram_picture import draw
    from robot_rt_control.drawing.state_diagram import diagram_of

    template = find_template(given.program)
    diagram = diagram_of(template)
    for file in given.output or [Path(f"{Path(given.program).stem}.svg")]:
        output.good(f"{draw(diagram, file)}")
    return 0


def _schema(given: argparse.Namespace, output: Output) -> int:
    output.out.print(str(SCHEMA_FILE), soft_wrap=True)
    return 0


# --- with one -------------------------------------------------------------------------------------------


def _kept(given: argparse.Namespace, program: str) -> ProgramTemplate:
    """A program that the control server keeps."""
    text = _with_client(given, lambda client: client.programs.text(program))
    return ProgramTemplate(text, source=program, find=partial(_kept, given))


def _with_client(given: argparse.Namespace, do: Callable[[Any], Any]) -> Any:
    from robot_rt_control.client import Client

    times = {"timeout_s": given.timeout, "startup_s": given.timeout}
    with Client("program_command", namespace=given.namespace, **times, arguments=[]) as client:
        return do(client)


def _list(given: argparse.Namespace, output: Output) -> int:
    programs = _with_client(given, lambda client: client.programs.list(given.name, search=given.search, tags=given.tag))
    table = Table(box=None, header_style="bold", padding=(0, 2, 1, 0))
    for column in ("program", "version", "from", "needs", "takes", "ends with", "what it does"):
        table.add_column(column, overflow="fold")
    for p in programs:
        versions = ", ".join(f"[bold]{v}[/]" if v == p.version else str(v) for v in p.versions)
        table.add_row(
            f"[cyan]{p.name}[/]",
            versions,
            p.origin,
            ", ".join(p.parts),
            "\n".join(map(_parameter, p.parameters)),
            ", ".join(p.events),
            p.description + (f"\n[dim]{', '.join(p.tags)}[/]" if p.tags else ""),
        )
    output.out.print(table if programs else "no programs")
    return 0


def _parameter(info: Any) -> str:
    shown = info.name + (f" = {info.default_value}" if not info.required else "")
    return f"{shown} {info.unit}".strip().replace("[", "\\[")


def _show(given: argparse.Namespace, output: Output) -> int:
    text = _with_client(given, lambda client: client.programs.text(given.name))
    if sys.stdout.isatty():
        output.out.print(Syntax(text, "yaml", background_color="default"))
    else:
        sys.stdout.write(text)
    try:
        _show_uses(ProgramTemplate(text, source=given.name, find=partial(_kept, given)).sample().uses, output)
    except RobotControlError as error:  # a text that is no program (any more) can be read all the same
        output.warning(str(error))
    return 0


def _save(given: argparse.Namespace, output: Output) -> int:
    based_on = given.based_on
    try:
        version, warnings = _with_client(given, lambda client: client.programs.save(given.file, based_on=based_on))
    except Overtaken as error:
        output.error(error)
        output.note(f"the version that has come between:\n{error.text}")
        return 1
    for warning in warnings:
        output.warning(warning)
    output.good(f"saved as version {version}")
    return 0


def _copy(given: argparse.Namespace, output: Output) -> int:
    version = _with_client(given, lambda client: client.programs.copy(given.program, given.name))
    output.good(f"saved as {given.name}, version {version}")
    return 0


def _delete(given: argparse.Namespace, output: Output) -> int:
    output.good(_with_client(given, lambda client: client.programs.delete(given.name)))
    return 0


def _run(given: argparse.Namespace, output: Output) -> int:
    def run(client: Any) -> int:
        return run_until_end(
            client,
            output,
            given.program,
            given.parts,
            dict(given.values),
            is_action=False,
            until=given.until,
            limit_s=given.limit,
            detached_s=given.detached,
        )

    return int(_with_client(given, run))


def _watch(given: argparse.Namespace, output: Output) -> int:
    from robot_rt_control.drawing.pictures import require_pictures

    require_pictures()
    from robot_rt_control.command_line.live_diagram import follow

    stopped = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: stopped.set())
    try:
        path = Path(given.program)
        template = find_template(given.program) if path.exists() else _kept(given, given.program)
        output.note(f"{given.output} shows {template.name} until Ctrl-C")
        _with_client(
            given,
            lambda client: follow(
                lambda: client.program_states,
                template,
                given.output,
                session=given.session,
                until_end=given.until_end,
                stopping=stopped.is_set,
                on_change=output.good,
            ),
        )
    finally:
        signal.signal(signal.SIGINT, before)
    return 0


# --- the command line -----------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """The command line's parser."""
    made = argparse.ArgumentParser(
        prog="robot-rt-control-program",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    connection = argparse.ArgumentParser(add_help=False)
    connection.add_argument("--namespace", default="", help="of the workcell's nodes")
    connection.add_argument("--timeout", type=float, default=10.0, help="for the server [s] (%(default)s)")

    def command(name: str, do: Callable[[argparse.Namespace, Output], int], text: str, *, server: bool = True) -> Any:
        sub = commands.add_parser(name, help=text, description=text, parents=[connection] if server else [])
        sub.set_defaults(do=do)
        return sub

    check = command("check", _check, "report all mistakes in programs, each with its line")
    check.add_argument("programs", nargs="+", metavar="FILE", help="program file, or name of a program of the library")
    check.add_argument(
        "--workcell", metavar="FILE", help="also check parts and state variables against it; or its name, such as iiwa"
    )
    check.add_argument("--server", action="store_true", help="let the running control server check it instead")
    check.add_argument("--strict", action="store_true", help="also fail on warnings")
    draw = command("draw", _draw, "draw the state diagram of a program", server=False)
    draw.add_argument("program", metavar="FILE", help="program file, or name of a program of the library")
    draw.add_argument(
        "-o", "--output", type=Path, action="append", metavar="FILE", help="picture, .svg or .png; may be repeated"
    )
    command("schema", _schema, "print the path of the JSON Schema of program files", server=False)
    listing = command("list", _list, "list the programs of a running control server")
    listing.add_argument("name", nargs="?", default="", help="only this one")
    listing.add_argument("--search", default="", metavar="WORDS", help="only those that are described by these words")
    listing.add_argument("--tag", action="append", default=[], help="only those with this tag; may be repeated")
    show = command("show", _show, "print the text of a program")
    show.add_argument("name", help="name, or name@version")
    save = command("save", _save, "check a program, and store it as the next version of its name")
    save.add_argument("file", type=Path, help="program file")
    save.add_argument(
        "--based-on", type=int, default=0, metavar="VERSION",
        help="the version that it was made from: refused if another one has come between (default: do not look)",
    )  # fmt: skip
    copy = command("copy", _copy, "store a program, such as one of the library, under another name")
    copy.add_argument("program", help="name, or name@version")
    copy.add_argument("name", help="of the copy")
    delete = command("delete", _delete, "delete all versions of a program, or one")
    delete.add_argument("name", help="name, or name@version")
    run = command("run", _run, "run a program in a session of its own, until it ends; Ctrl-C cancels it")
    run.add_argument("program", help="name, name@version, or a program file")
    run.add_argument("--parts", nargs="+", default=[], metavar="ROLE=PART", help="parts for its roles")
    run.add_argument(
        "--set", nargs="+", default=[], type=assignment, dest="values", metavar="NAME=VALUE", help="its parameters"
    )
    run.add_argument("--until", default="", metavar="EVENT", help="end at this event (default: when all is done)")
    run.add_argument("--limit", type=float, default=0.0, metavar="SECONDS", help="longest time to run (default: none)")
    run.add_argument(
        "--detached",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="go on for at most this time if the control server is lost (default: stop then)",
    )
    watch = command("watch", _watch, "draw the diagram of a program that runs, again at each change, until Ctrl-C")
    watch.add_argument("program", help="name, name@version, or a program file")
    watch.add_argument(
        "-o", "--output", type=Path, default=Path("live.html"), metavar="FILE",
        help="page for a browser, .html, or picture, .svg or .png (%(default)s)",
    )  # fmt: skip
    watch.add_argument("--session", default="", metavar="ID", help="follow this one (default: the last that runs it)")
    watch.add_argument("--until-end", action="store_true", help="end with the session that was followed")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    given = parsed(parser(), argv)
    output = Output()
    try:
        return int(given.do(given, output))
    except RobotControlError as error:
        output.error(error)
        return 1


if __name__ == "__main__":
    sys.exit(main())
