"""PrecisionDebugger, the same for every framework."""

import contextlib
import os
from typing import Any, Callable, ClassVar, Dict, Iterator, List, Optional, Tuple, Type

from msprobe.config import as_path, boolean, changed_settings, is_number, load_config, read_settings
from msprobe.errors import MsprobeError
from msprobe.framework import Framework
from msprobe.notices import warn
from msprobe.session import Session


def _check_name(function: str, name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise MsprobeError(f"{function}() needs a name that is a text and not empty")
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise MsprobeError(f"{function}() needs a name that can be written as UTF-8, not {name!r}")


def _comparable(*arguments: Any) -> List[Any]:
    """Paths as texts, tuples as lists."""
    plain = [os.fspath(value) if isinstance(value, os.PathLike) else value for value in arguments]
    return [list(value) if isinstance(value, tuple) else value for value in plain]


class _OnInstanceOrClass:
    """A method that works as ``debugger.start()`` and as ``PrecisionDebugger.start()``."""

    def __init__(self, function: Any):
        self._function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None:
            instance = owner._instance
            if instance is None:
                raise MsprobeError(
                    f"PrecisionDebugger.{self.__name__}() needs a PrecisionDebugger, construct one first"
                )
        return self._function.__get__(instance, owner)


class BaseDebugger:
    """Collects what a model computes, step by step, as config.json says.

    A framework's package derives `PrecisionDebugger` and sets `framework`.
    """

    framework: ClassVar[Framework]
    _instance: ClassVar[Optional["BaseDebugger"]] = None

    def __new__(cls, *args: Any, **kwargs: Any) -> "BaseDebugger":
        if cls._instance is not None:
            return cls._instance
        return super().__new__(cls)

    def __init__(
        self,
        config_path: Optional[str] = None,
        task: Optional[str] = None,
        dump_path: Optional[str] = None,
        level: Optional[str] = None,
        step: Optional[list] = None,
    ):
        """Arguments go before what the file says; no file: defaults."""
        arguments = _comparable(config_path, task, dump_path, level, step)
        first = type(self)._instance
        if first is not None and first._arguments != arguments:
            raise MsprobeError("PrecisionDebugger was constructed before with other arguments; "
                               "use that one, its methods work on the class as well")
        if config_path is not None:
            config_path = as_path("config_path", config_path)
        settings = dict(zip(("task", "dump_path", "level", "step"), arguments[1:]))
        if first is not None:
            first._keep_to_the_first(config_path, settings)
            return
        config = load_config(config_path, **settings)
        if config.dump_enable is not None and config_path is None:
            raise MsprobeError("dump_enable needs a configuration file, it is what switches")
        self._arguments = arguments
        self._session = Session(self.framework, config, config_path)
        type(self)._instance = self

    def _keep_to_the_first(self, config_path: Optional[str], arguments: Dict[str, Any]) -> None:
        """At a second construction, when the file may say something else."""
        try:
            changed = changed_settings(self._session.config.given, read_settings(config_path, **arguments))
        except MsprobeError:  # nothing is taken from it
            return
        if changed:
            warn(f"a second PrecisionDebugger changes nothing, the settings of the first stand: {changed}; "
                 f"what the file says now is not used: {config_path}", kind="second debugger")

    @_OnInstanceOrClass
    def start(
        self, model: Any = None, token_range: Any = None, rank_id: Optional[int] = None
    ) -> None:
        """Begins to record calls. `model` is needed at L0 and mix; its descendants are recorded.

        token_range=(first, last): only while the calls of `model` that have these numbers run.
        """
        self._session.start(model, token_range, rank_id)

    @_OnInstanceOrClass
    def stop(self) -> None:
        """Ends the recording of new calls. Gradients of recorded ones still come, until step()."""
        self._session.stop()

    @_OnInstanceOrClass
    def step(self) -> None:
        """Ends the step: after backward. The next start() begins step<N+1>."""
        self._session.step()

    @_OnInstanceOrClass
    def save(self, variable: Any, name: str, save_backward: bool = True) -> None:
        """Records a value under a name of yours (level debug), and its gradient when it comes."""
        _check_name("save", name)
        boolean("save_backward", save_backward)
        if self._session.config.level != "debug":
            raise MsprobeError(f"save() needs level debug, the level is {self._session.config.level}")
        self._session.save(variable, name, save_backward)

    @_OnInstanceOrClass
    def set_init_step(self, step: int) -> None:
        """The number of the next step, where training goes on from a checkpoint."""
        if not is_number(step):
            raise MsprobeError(f"set_init_step() got {step!r}, allowed are whole numbers from 0 on")
        if self._session.writer is not None:
            raise MsprobeError("set_init_step() came inside a step, call it before start()")
        self._session.current_step = step

    @_OnInstanceOrClass
    def register_custom_api(self, module: Any, api: str, api_prefix: Optional[str] = None) -> None:
        """Records calls of `module.api` as `{api_prefix}.{api}`."""
        _check_name("register_custom_api", api)
        if api_prefix is not None:
            _check_name("register_custom_api", api_prefix)
        self._session.register_custom_api(module, api, api_prefix)

    @_OnInstanceOrClass
    def restore_custom_api(self, module: Any, api: str) -> None:
        """Ends what register_custom_api() began."""
        self._session.restore_custom_api(module, api)

    @_OnInstanceOrClass
    @contextlib.contextmanager
    def collect(
        self, model: Any = None, token_range: Any = None, rank_id: Optional[int] = None
    ) -> Iterator[None]:
        """One step: ``with debugger.collect(model): train(...)``."""
        self._session.start(model, token_range, rank_id)
        try:
            yield
        finally:
            try:
                self._session.stop()
            finally:
                self._session.step()

    @classmethod
    def _forget(cls) -> None:
        """Ends the run of this process, so that another can begin: for tests and notebooks."""
        instance, cls._instance = cls._instance, None
        if instance is not None:
            instance._session.forget()


def module_dump_functions(debugger: Type[BaseDebugger]) -> Tuple[Callable, Callable]:
    """module_dump and module_dump_end of the framework of `debugger`."""

    def session_for(function: str) -> Session:
        if debugger._instance is None:
            raise MsprobeError(f"{function}() needs a PrecisionDebugger, construct one first")
        return debugger._instance._session

    def module_dump(module: Any, dump_name: str) -> None:
        """Records `module` and the modules below it from here on, under the name `dump_name`.

        Needs a PrecisionDebugger that has been started; ends with module_dump_end() or the step.
        """
        if not debugger.framework.is_model(module):
            raise MsprobeError(
                f"module_dump() got a {type(module).__name__}, it needs a module of the framework"
            )
        _check_name("module_dump", dump_name)
        session_for("module_dump").module_dump(module, dump_name)

    def module_dump_end() -> None:
        """Ends what module_dump() began."""
        session_for("module_dump_end").module_dump_end()

    return module_dump, module_dump_end
