"""Starts the processes of a workcell, watches them, and brings them down in order: ros2 launch without ROS's launch."""

from __future__ import annotations

import math
import os
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from robot_rt_control.bringup.child_process import ChildProcess
from robot_rt_control.bringup.console import Console
from robot_rt_control.bringup.supervised_process import Patience, SupervisedProcess
from robot_rt_control.ros.readiness import report_ready
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.phase_times import ends
from robot_rt_control.vocabulary.waiting import Waiting

RESTARTS = ("never", "on-failure")

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Post:
    """A process's place; it stays when the process is restarted."""

    def __init__(self, process: SupervisedProcess) -> None:
        self.process = process
        self.child: ChildProcess | None = None
        self.failed = False
        """Its last child ended with an error."""
        self.restarts: list[float] = []
        self.restart_at: float | None = None


class Supervisor:
    """Runs processes until a required one ends, or until `stop`.

    Everything happens in the thread that calls `run`; only `stop` may be called from others. In the main thread,
    Ctrl-C, SIGTERM and SIGHUP bring all down in order; the second time faster, the third time at once.

    Args:
        processes: in the order to start them; they are ended in the reverse order, one after the other.
        console: for their output and the supervisor's lines; default: the standard output.
        restart: "never", or "on-failure": restart failed processes.
        patience: time-outs.
        environment: of the processes; default: this process's.
        on_ready: called once, when all processes that report it are up.
    """

    def __init__(
        self,
        processes: Sequence[SupervisedProcess],
        *,
        console: Console | None = None,
        restart: str = "never",
        patience: Patience | None = None,
        environment: Mapping[str, str] | None = None,
        on_ready: Callable[[], object] = report_ready,
    ) -> None:
        if restart not in RESTARTS:
            raise RobotControlError("restart", expected="one of: " + ", ".join(RESTARTS), got=repr(restart))
        self._console = console or Console(sys.stdout, [p.name for p in processes])
        self._restart, self._on_ready = restart, on_ready
        self._patience = patience or Patience()
        self._environment = {**(os.environ if environment is None else environment), "PYTHONUNBUFFERED": "1"}
        if self._console.coloured:
            self._environment.setdefault("RCUTILS_COLORIZED_OUTPUT", "1")
        self._posts = [_Post(process) for process in processes]
        self._selector = selectors.DefaultSelector()
        self._bell, self._bell_button = socket.socketpair()
        self._bell.setblocking(False)
        self._bell_button.setblocking(False)
        self._selector.register(self._bell, selectors.EVENT_READ, self._take_bell)
        self._begin = time.monotonic()
        self._told_ready = False
        self._waiting = Waiting(self._console.say, math.inf, every_s=self._patience.report_s)
        self._asked_to_stop = 0
        self._ending: _Post | None = None
        self._is_ending = False
        self._next_signal: signal.Signals = signal.SIGINT
        self._deadline: float | None = None
        self.exit_code = 0

    def stop(self) -> None:
        """Bring all down in order; the second call faster, the third at once. May be called from any thread."""
        self._bell_button.send(bytes([signal.SIGINT]))

    def run(self) -> int:
        """Start all, and return when all have ended.

        Returns:
            0: stopped on request, or a required process has ended with 0; else its exit code, or 1 if it was killed by
            a signal, could not be started, or did not end by itself.
        """
        self._begin = time.monotonic()
        with self._signals():
            try:
                for post in self._posts:
                    if not self._is_ending:
                        self._start(post)
                ends("starting the processes")
                while self._busy():
                    self._step()
            finally:
                for child in self._living():  # after a mistake in here: end all processes
                    child.kill()
                    child.reap()
                self._selector.close()
                self._bell.close()
        return self.exit_code

    # --- the loop -------------------------------------------------------------------------------

    @contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # The handlers do nothing: Python's C code writes the signal's number to the pipe, which wakes the loop.
        before = {number: signal.signal(number, lambda *_: None) for number in _ENDING_SIGNALS}
        descriptor = signal.set_wakeup_fd(self._bell_button.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(descriptor)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _living(self) -> list[ChildProcess]:
        return [post.child for post in self._posts if post.child is not None]

    def _busy(self) -> bool:
        waiting = not self._is_ending and any(post.restart_at is not None for post in self._posts)
        return waiting or bool(self._living())

    def _step(self) -> None:
        due = [post.restart_at for post in self._posts if post.restart_at is not None and not self._is_ending]
        due += [self._deadline] if self._deadline is not None else []
        timeout = None if not due else max(0.0, min(due) - time.monotonic())
        awaited = self._awaited()
        if awaited:
            timeout = min(self._patience.report_s, math.inf if timeout is None else timeout)
        for key, _ in self._selector.select(timeout):
            key.data()
        if awaited and (awaited := self._awaited()):
            self._waiting.goes_on(", ".join(awaited))
        now = time.monotonic()
        if self._deadline is not None and now >= self._deadline:
            self._press_harder()
        for post in self._posts:
            if post.restart_at is not None and now >= post.restart_at and not self._is_ending:
                post.restart_at = None
                self._start(post)
        if self._console.broken and not self._is_ending:
            self._bring_down(1)

    def _take_bell(self) -> None:
        for number in self._bell.recv(4096):
            if number not in _ENDING_SIGNALS:
                continue
            self._asked_to_stop += 1
            if self._asked_to_stop == 1 and not self._is_ending:
                self._console.say(f"{signal.Signals(number).name}: bringing all down; once more: faster")
                self._bring_down(0)
            elif self._asked_to_stop <= 2:
                self._asked_to_stop = 2
                self._hurry()
            else:
                self._kill(None)

    # --- starting and watching --------------------------------------------------------------------

    def _start(self, post: _Post) -> None:
        process = post.process
        try:
            post.child = child = ChildProcess(process.name, process.command, self._environment)
        except OSError as error:
            self._console.alarm(f"{process.name} cannot be started: {error}")
            if process.required:
                self._bring_down(1)
            return
        self._console.say(f"started {process.name} (process {child.pid})")
        output, readiness, death = child.descriptors
        self._selector.register(output, selectors.EVENT_READ, lambda: self._take_output(child))
        self._selector.register(readiness, selectors.EVENT_READ, lambda: self._take_readiness(child))
        self._selector.register(death, selectors.EVENT_READ, lambda: self._take_death(post, child))

    def _take_output(self, child: ChildProcess) -> None:
        if child.exit_code is not None:
            return  # its death came in the same round, and with it its last lines
        lines = child.read_lines()
        if lines is None:
            self._selector.unregister(child.descriptors[0])
        elif lines:
            self._console.lines(child.name, lines)

    def _take_readiness(self, child: ChildProcess) -> None:
        was_ready = child.ready
        if child.exit_code is not None or not child.read_readiness():
            return
        if child.ready and not was_ready:
            self._console.say(f"{child.name} is up after {child.age_s:.1f} s")
            self._tell_ready()
        elif self._told_ready and not self._is_ending:
            self._tell_status(child)

    def _awaited(self) -> list[str]:
        """Processes that are not up yet."""
        if self._told_ready or self._is_ending:
            return []
        reporting = [post for post in self._posts if post.process.reports_ready and not self._is_given_up(post)]
        return [post.process.name for post in reporting if post.child is None or not post.child.ready]

    def _is_given_up(self, post: _Post) -> bool:
        """Whether the process has ended, and the others go on without it."""
        return post.child is None and post.restart_at is None and not post.process.required

    def _tell_ready(self) -> None:
        if self._told_ready or self._awaited():
            return
        self._told_ready = True
        ends("waiting for all")
        seconds = time.monotonic() - self._begin
        troubled = [child for child in self._living() if child.status]
        if troubled or any(post.failed for post in self._posts if self._is_given_up(post)):
            self._console.alarm(f"the processes are up after {seconds:.1f} s, but not all is well; Ctrl-C ends them")
        else:
            self._console.say(f"all is up after {seconds:.1f} s; Ctrl-C brings it down")
        for child in troubled:
            self._tell_status(child)
        self._on_ready()

    def _tell_status(self, child: ChildProcess) -> None:
        if child.status:
            self._console.alarm(f"{child.name}: {child.status}")
        else:
            self._console.say(f"{child.name}: all is well again")

    def _take_death(self, post: _Post, child: ChildProcess) -> None:
        for descriptor in child.descriptors:
            if descriptor in self._selector.get_map():
                self._selector.unregister(descriptor)
        self._console.lines(child.name, child.reap())
        code = child.exit_code or 0
        post.child, post.failed = None, code != 0
        if self._is_ending:
            self._console.say(f"{child.name} {child.how_it_ended()}")
            if post is self._ending:
                self._end_next()
            return
        self._report_death(post, child)
        if code and self._restart == "on-failure" and self._may_restart(post):
            post.restart_at = time.monotonic() + self._patience.restart_delay_s
            self._console.say(f"{child.name} is restarted in {self._patience.restart_delay_s:g} s")
        elif post.process.required:
            self._bring_down(1 if code < 0 else code)
        elif not self._busy():
            self.exit_code = self.exit_code or (1 if code < 0 else code)
        else:
            self._tell_ready()

    def _report_death(self, post: _Post, child: ChildProcess) -> None:
        text = f"{child.name} (process {child.pid}) {child.how_it_ended()} after {child.age_s:.1f} s"
        if child.exit_code == 0:
            self._console.say(text)
            return
        if post.process.consequence:
            text += f"; {post.process.consequence}"
        # Links with a key open nothing any more, and were printed before.
        last = [f"    {line}" for line in child.lines if "#token=" not in line]
        self._console.alarm("\n".join([text + (". Its last lines:" if last else ", and had written nothing"), *last]))

    def _may_restart(self, post: _Post) -> bool:
        now = time.monotonic()
        post.restarts = [t for t in post.restarts if now - t < self._patience.restart_window_s]
        if len(post.restarts) >= self._patience.restarts:
            self._console.alarm(
                f"{post.process.name} failed {len(post.restarts) + 1} times within "
                f"{self._patience.restart_window_s:g} s: it is not restarted"
            )
            return False
        post.restarts.append(now)
        return True

    # --- bringing down ----------------------------------------------------------------------------

    def _bring_down(self, exit_code: int) -> None:
        """End all in order, one after the other."""
        if self._is_ending:
            return
        self.exit_code = self.exit_code or exit_code
        self._is_ending = True
        if self._living():
            names = ", ".join(child.name for child in reversed(self._living()))
            self._console.say(f"ending, in this order: {names}")
        self._end_next()

    def _end_next(self) -> None:
        living = [post for post in self._posts if post.child is not None]
        self._ending, self._deadline = (living[-1], self._deadline) if living else (None, None)
        if self._asked_to_stop >= 2 or self._ending is None:
            return  # all have received their signal already
        self._next_signal = signal.SIGINT
        self._press_harder()

    def _press_harder(self) -> None:
        """Send the next signal: SIGINT, SIGTERM, SIGKILL."""
        child = self._ending.child if self._ending is not None else None
        if child is None:
            self._deadline = None
            return
        now, patience = time.monotonic(), self._patience
        if self._asked_to_stop >= 2 or self._next_signal == signal.SIGKILL:
            self._kill(child if self._asked_to_stop < 2 else None)
        elif self._next_signal == signal.SIGINT:
            child.send(signal.SIGINT)
            self._next_signal, self._deadline = signal.SIGTERM, now + patience.interrupt_s
        else:
            self._console.alarm(f"{child.name} did not end within {patience.interrupt_s:g} s of SIGINT: SIGTERM")
            child.send(signal.SIGTERM)
            self._next_signal, self._deadline = signal.SIGKILL, now + patience.terminate_s

    def _hurry(self) -> None:
        """After the second Ctrl-C: end all at once, in no order."""
        self._console.alarm(f"faster: SIGTERM to all, SIGKILL in {self._patience.hurried_s:g} s; once more: at once")
        self._is_ending = True
        living = [post for post in self._posts if post.child is not None]
        for child in self._living():
            child.send(signal.SIGTERM)
        self._ending = living[-1] if living else None
        self._deadline = time.monotonic() + self._patience.hurried_s

    def _kill(self, child: ChildProcess | None) -> None:
        """Kill one process, or all that live."""
        for one in [child] if child is not None else self._living():
            self._console.alarm(f"{one.name} did not end: SIGKILL")
            one.kill()
        self.exit_code = self.exit_code or 1
        self._deadline = None
