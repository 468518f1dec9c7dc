"""A user's file of action types, whose code does what a test asks for."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from robot_rt_control.definitions.action_type import ActionType, Degree, Parameter, Slot
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

IMPORTED_IN = os.getpid()


class Subject(ActionType):
    """Do what `do` says."""

    name = "subject"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    parameters = (Parameter(name="do", type="text"), Parameter(name="level", default=0.0))
    Params = {"level": float, "imported_in": int, "pid": int, "position": float, "fills": int, "alive": int}
    alive = 0

    def __init__(self, parts):
        super().__init__(parts)
        self.fills = 0
        Subject.alive += 1

    def __del__(self):
        Subject.alive -= 1

    def prepare_parameters(self, values, params):
        getattr(self, values["do"])(values)
        params.level, params.imported_in, params.pid = values["level"], IMPORTED_IN, os.getpid()
        params.position, params.fills, params.alive = self.parts["arm"].position[0], self.fills, Subject.alive

    def work(self, values):
        fills = self.fills
        time.sleep(0.01)
        self.fills = fills + 1

    def speak(self, values):
        print("a word of the author's")

    def fail(self, values):
        raise ValueError("no")

    def leave(self, values):
        sys.exit(3)

    def interrupt(self, values):
        raise KeyboardInterrupt

    def refuse(self, values):
        raise DefinitionError("too far", expected="near", got="far", hint="Come closer")

    def exceed(self, values):
        raise CapacityError("too many")

    def vanish(self, values):
        os._exit(3)

    def signal_itself(self, values):
        signal.raise_signal(40)  # a real-time signal has no name

    def crash(self, values):
        ctypes.string_at(0)

    def hang(self, values):
        Path(os.environ["SUBJECT_FOLDER"], "hangs").touch()
        while True:
            pass

    def ignore(self, values):
        signal.signal(signal.SIGABRT, signal.SIG_IGN)
        self.hang(values)

    def leave_behind(self, values):
        file = os.path.join(os.environ["SUBJECT_FOLDER"], "left")
        code = f"import os, time; print(os.getpid(), file=open({file!r}, 'a')); time.sleep(1000)"
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execv(sys.executable, [sys.executable, "-c", code])
            os._exit(0)

    def meet(self, values):
        mine, other = ("a", "b") if values["level"] else ("b", "a")
        Path(os.environ["SUBJECT_FOLDER"], mine).touch()
        while not Path(os.environ["SUBJECT_FOLDER"], other).exists():
            time.sleep(0.01)


class Gone(Subject):
    """Its creation ends its process."""

    name = "gone"

    @classmethod
    def create(cls, parts):
        os._exit(4)


class Large(Subject):
    """A record larger than a socket's buffer."""

    name = "large"
    Params = {"table": (float, 100_000)}

    def prepare_parameters(self, values, params):
        params.table[:] = values["level"]


class OwnLaw(Subject):
    """A law."""

    name = "own_law"
    slots = (Slot(name="axis", kinds=(PartKind.AXIS,)),)
    Params = {"position": float, "velocity_limit": float, "n_parts": int}

    def prepare_parameters(self, values, params):
        do, axis = values["do"], self.parts["axis"]
        getattr(self, do)(values)
        params.position, params.velocity_limit = axis.position[0], axis.limits("velocity_limit")[0]
        params.n_parts = len(axis.workcell)


class OwnDegrees(Subject):
    """Declares degrees of freedom; preparing them does what the parameter said."""

    name = "own_degrees"
    degrees_of_freedom = (Degree(name="s"), Degree(name="turn", unit="rad"))

    def prepare_parameters(self, values, params):
        self.do = values["do"]
        params.level = values["level"]

    def prepare_degrees(self, params, degrees):
        getattr(self, self.do)({})
        degrees[1].velocity_limit = params.level
