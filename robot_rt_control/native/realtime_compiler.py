"""Compiles each `@realtime` function once, and optimizes only at the entry points.

Numba turns every function that compiled code calls into a complete program: it links everything that the
function calls, optimizes it, emits machine code, and adds an entry for Python and one for C. The tick
consists of a hundred functions over five levels, so nearly all of that work is wasted. Here a function
that is called by compiled code stays as Numba's front end emits it. Only functions that are called from outside
(by Python, by address, by a thread) are linked, optimized as a whole, emitted and cached.

In addition, arguments of such calls are widened to the general type: Numba would compile `f(x, 3)` and `f(x, 4)`
separately, and once more for a narrow integer.

This depends on Numba's internals; pyproject.toml pins the exact version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numba
from llvmlite.binding import Linkage
from numba.core import compiler
from numba.core import dispatcher as numba_dispatcher
from numba.core import types as numba_types
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import CPUDispatcher

from robot_rt_control.native.code_cache import CodeCache
from robot_rt_control.native.compiled_forms import OPTIONS, compiler_is_loaded

types: Any = numba_types  # Numba lists only some of its types where checkers look
_FunctionCompiler: Any = numba_dispatcher._FunctionCompiler  # type: ignore[attr-defined]  # likewise



def _texts_once(kind: Any) -> None:
    """Make the text of each type of this kind once: Numba asks for those of the world and its parts 20 000 times.

    A type does not change, and equal types are one object.
    """
    make = kind.__repr__
    made: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # not in the type: that is kept with what is compiled

    def text(one: Any) -> str:
        if one not in made:
            made[one] = make(one)
        return made[one]

    kind.__repr__ = text


_texts_once(types.Record)
_texts_once(types.NestedArray)

compiler_is_loaded()


class _PartLibrary(JITCodeLibrary):
    """Code that only becomes part of other code: neither optimized nor emitted, and linked where it is used alone.

    Numba links everything that a function calls into its library, and so the innermost functions a hundred times.
    """

    def _optimize_functions(self, _module: Any) -> None:
        pass

    def finalize(self) -> None:
        """Called when nothing is added any more."""
        self._raise_if_finalized()
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._final_module.verify()
        self._finalize_dynamic_globals()
        self._finalized = True

    def linked(self) -> Any:
        """A new module of this code and all that it calls, directly or not."""
        parts: dict[Any, None] = {}
        others: dict[Any, None] = {}
        waiting: list[Any] = [self]
        while waiting:
            part = waiting.pop()
            if part in parts:
                continue
            parts[part] = None
            for library in part._linking_libraries:
                if isinstance(library, _PartLibrary):
                    waiting.append(library)
                else:
                    others[library] = None
        module = self._final_module.clone()
        for part in list(parts)[1:]:
            # Weak: two parts may have the same code, and unlike what Numba links, it is taken whoever calls it.
            module.link_in(_relinked(part._final_module.clone(), "weak_odr"))
        # Last: of these, LLVM takes only what something linked before has called.
        for library in others:
            module.link_in(library._get_module_for_linking(), preserve=True)
        return module

    def _get_module_for_linking(self) -> Any:
        """What Numba links into a library that calls this code."""
        return _relinked(self.linked(), "linkonce_odr")


def _relinked(module: Any, linkage: str) -> Any:
    """The module, whose visible functions have this linkage from now on."""
    for function in module.functions:
        if not function.is_declaration and function.linkage in (Linkage.external, Linkage.weak_odr):
            function.linkage = linkage
    return module


class _PartCompiler(_FunctionCompiler):
    """Compiles without entries for Python and C, into a `_PartLibrary`."""

    def _customize_flags(self, flags: Any) -> Any:
        flags.no_cpython_wrapper = True
        flags.no_cfunc_wrapper = True
        flags.no_compile = True
        return flags

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        flags = compiler.Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        context = self.targetdescr.target_context
        return compiler.compile_extra(
            self.targetdescr.typing_context,
            context,
            self.py_func,
            args=args,
            return_type=return_type,
            flags=self._customize_flags(flags),
            locals=self.locals,
            library=_PartLibrary(context.codegen(), self.py_func.__qualname__),
            pipeline_class=self.pipeline_class,
        )


def _general(argument: Any) -> Any:
    """The general type to which an argument of this type is widened."""
    argument = types.unliteral(argument)
    narrow = isinstance(argument, types.Integer) and argument.signed and argument.bitwidth < 64
    return types.int64 if narrow else argument


class RealtimeFunction(CPUDispatcher):
    """A compiled function. Compiled callers include its code; Python calls an ordinary compiled function.

    `overloads` and `signatures` are for compiled callers; `for_python` is Numba's dispatcher for Python.
    """

    def __init__(
        self,
        py_func: Callable[..., Any],
        locals: dict[str, Any] | None = None,
        targetoptions: dict[str, Any] | None = None,
        pipeline_class: type = compiler.Compiler,
    ) -> None:
        super().__init__(py_func, locals, OPTIONS if targetoptions is None else targetoptions, pipeline_class)
        self._compiler = _PartCompiler(py_func, self.targetdescr, self.targetoptions, self.locals, pipeline_class)
        self._for_python: Any = None

    @property
    def for_python(self) -> Any:
        """The same function compiled for Python callers, with its own cache entry.

        User functions are not cached here: another process may be unable to find their module by name.
        """
        if self._for_python is None:
            ours = self.py_func.__module__.partition(".")[0] == __name__.partition(".")[0]
            options = {name: value for name, value in self.targetoptions.items() if name != "forceinline"}
            self._for_python = numba.jit(**options)(self.py_func)
            if ours:
                self._for_python._cache = CodeCache(self.py_func, options)
        return self._for_python

    def __call__(self, *arguments: Any) -> Any:
        return self.for_python(*arguments)

    def add_overload(self, result: Any) -> None:
        """Numba registers functions by their entry for Python; this one has none."""
        result.library.finalize()
        self.overloads[tuple(result.signature.args)] = result
        self.targetctx.insert_user_function(result.library, result.fndesc, [result.library])

    def get_overload(self, signature: Any) -> Any:
        """What `add_overload` registered."""
        return self.overloads[tuple(signature)].library

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Typing of a call from compiled code: by the version for exactly these types.

        Numba asks all versions, and warns of those for records with fewer fields, although it takes none of them.
        """
        _, args = self._compiler.fold_argument_types(args, kws)
        args = tuple(_general(a) for a in args)
        template, signature, args, kws = super().get_call_template(args, {})
        if args in self.overloads:
            template.cases = [self.overloads[args].signature]
        return template, signature, args, kws
