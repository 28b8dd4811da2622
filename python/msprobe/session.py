"""One run of the collector: its steps, its filters, and what is said at the end."""

import atexit
import os
import shutil
from typing import Any, Callable, Dict, List, Optional

from msprobe import _core
from msprobe.config import absolute, check_is_writable, Config, engine_options, Switch
from msprobe.earlier_checksums import read_checksums
from msprobe.errors import MsprobeError
from msprobe.framework import Framework
from msprobe.notices import BANNER, did_you_mean, say, warn
from msprobe.process import at_end, set_up, wait_for
from msprobe.start_arguments import check_start, models_of
from msprobe.tally import Tally
from msprobe.utf8_text import writable
from msprobe.values import parts
from msprobe.wrapping import functions_of, label, watch_named


class Session:
    """Framework-free: asks the framework for patches, models and ranks."""

    def __init__(self, framework: Framework, config: Config, config_path: Optional[str]):
        set_up(framework)
        self.framework = framework
        self.config = config
        # The program may go to another directory while it runs.
        self.config_path = None if config_path is None else os.path.abspath(config_path)
        self._switch = Switch(str(self.config_path))
        self._tally = Tally(config, self._switch)
        self._dump_path = absolute("dump_path", config.dump_path)
        if not config.rank:  # else this process may be left out, and its machine have no such path
            check_is_writable("dump_path", self._dump_path)
        self._bench_path = None if config.bench_path is None else os.path.abspath(config.bench_path)
        self.current_step = 0
        self.writer: Any = None
        self._unfinished: List[Any] = []  # writers that are still writing
        self._api_patches: Any = None
        self._call_patches: Any = None  # modules, groups and handles: stay until the step ends
        self._custom_patches: Dict[Any, Any] = {}
        self._budget = None if config.max_bytes is None else _core.DiskBudget(config.max_bytes)
        self._prepared = self._bench_known = False
        self._rank_id: Optional[int] = None
        self._save_opened: Optional[int] = None  # the step at which save() called start()
        self._ended = False
        self._dumped_modules: List[Any] = []
        self._model_ids: List[int] = []  # of the step; the engine holds the models
        self._gradient_watches: List[Callable[[], None]] = []  # of saved values, in this step
        self._pid = os.getpid()
        _core.configure(engine_options(config))
        at_end(self.end)

    # What a user calls.

    def start(self, model: Any, token_range: Any, rank_id: Optional[int]) -> None:
        if not self._is_own():
            return
        check_start(self.framework, self.config.level, model, token_range, rank_id)
        if rank_id is not None:
            unit = "" if self.writer is None else os.path.basename(self.writer.directory)
            if unit.startswith("rank") and unit != f"rank{rank_id}":
                warn(f"start() got rank_id {rank_id}, it counts from the next step on", kind="rank_id")
            self._rank_id = rank_id
        if self.writer is None:
            self._tally.look_at_rank(self._rank())
            if self._selected():
                self._open_step(model, token_range)
        elif self._is_another(model):
            warn("start() got another model than the step began with, its modules are not recorded: "
                 "give start() a list of all models", kind="another model")
        if self.writer is not None:
            self._become_rank()
        if self.writer is None:
            return
        self._tally.start(self.current_step)
        self._install()
        _core.start()

    def stop(self) -> None:
        if os.getpid() != self._pid:
            return
        if self.writer is None:
            self._look(self.current_step, is_taken=False)
            return
        _core.stop()
        if not _core.may_go_on():
            self._remove_patches()
        if not _core.expects_more() and self.config.level != "debug":  # save() may still come
            self._look(self.current_step, is_taken=True)

    def step(self) -> None:
        if os.getpid() != self._pid:
            return
        step, is_taken = self.current_step, False
        try:
            if self.writer is not None:
                self._become_rank()
            is_taken = self.writer is not None
            if is_taken:
                self._close_step()
        finally:
            self.current_step += 1
            self._save_opened = None
        self._wait_for_writers()
        _core.raise_errors()  # those of the step's end, in strict mode
        if self.config.step and self.current_step > max(self.config.step) and not self._ended:
            self.end()
        else:
            self._look(step, is_taken)

    def save(self, variable: Any, name: str, save_backward: bool) -> None:
        if not self._takes_saved():
            return
        number = _core.save(name, variable)
        if save_backward:
            for place, value in parts(variable):
                entry = ".".join((f"{name}_grad", *map(writable, place), str(number)))
                save_gradient = self._gradient_saver(entry)
                self._gradient_watches += self.framework.watch_gradient(value, save_gradient)

    def _gradient_saver(self, entry: str) -> Callable[[Any], None]:
        step = self.current_step

        def save_gradient(gradient: Any) -> None:
            if self.writer is not None and self.current_step == step:
                _core.save(entry, gradient, has_number=True)

        return save_gradient

    def register_custom_api(self, module: Any, api: str, prefix: Optional[str]) -> None:
        if (id(module), api) in self._custom_patches:
            raise MsprobeError(f"{api} has been registered before")
        if not callable(getattr(module, api, None)):
            hint = did_you_mean(api, functions_of(module), 0.7)
            raise MsprobeError(f"{label(module)} has no function {api}{hint}")
        if prefix is None:
            prefix = label(module).rpartition(".")[2]
        patches = _core.CallPatches()
        if not watch_named(patches, module, api, f"{prefix}.{api}."):
            raise MsprobeError(f"{api} of {label(module)} cannot be watched, as nothing can stand in its "
                               "place: register a function of yours that calls it")
        self._custom_patches[id(module), api] = patches
        if _core.recording():
            patches.install()

    def restore_custom_api(self, module: Any, api: str) -> None:
        patches = self._custom_patches.pop((id(module), api), None)
        if patches is None:
            raise MsprobeError(f"{api} has not been registered")
        patches.remove()

    def module_dump(self, module: Any, name: str) -> None:
        """`module` and what lies below it, under a name of the user's, until module_dump_end()."""
        if not self._is_open("module_dump"):
            return
        prefix = f"{self.framework.module_word(module)}.{name}"
        parameters = self.framework.parameters(module)
        entries = [(module, f"{prefix}.{type(module).__name__}", parameters)]
        entries += self.framework.modules(module, prefix)
        _core.add_modules(entries)
        self._dumped_modules += [entry[0] for entry in entries]

    def module_dump_end(self) -> None:
        _core.remove_modules(list({id(m): m for m in self._dumped_modules}.values()))
        self._dumped_modules = []

    def end(self) -> None:
        """At the end of the last step, or of the process."""
        if self._ended or os.getpid() != self._pid:
            return
        self._ended = True
        if self.writer is not None:
            self._close_step()
        self._wait_for_writers()
        self._tally.report(self.current_step)
        if self._tally.recorded > 0:
            say(BANNER)

    def forget(self) -> None:
        """The session ends, and another one may follow."""
        self.end()
        for patches in self._custom_patches.values():
            patches.remove()
        atexit.unregister(self.end)

    # Steps.

    def _is_own(self) -> bool:
        """Whether this process collects. One that was forked does if its parent has not begun to."""
        if os.getpid() == self._pid:
            return True
        if self._tally.steps_taken > 0 or self.writer is not None:
            warn("start() records nothing in a process that was forked while another one collects: fork "
                 "before the first start(), or let multiprocessing spawn and make a PrecisionDebugger there",
                 kind="forked")
            return False
        self._pid = os.getpid()
        at_end(self.end)
        return True

    def _takes_saved(self) -> bool:
        """Whether a step is recorded. It begins with its first save(), unless with start()."""
        if os.getpid() != self._pid:  # of a data loader as well
            warn("save() records nothing in a process that was forked, unless start() was called there",
                 kind="save in a fork")
            return False
        if self.writer is None and self._save_opened != self.current_step:
            self._save_opened = self.current_step
            self.start(None, None, None)
        return self.writer is not None

    def _is_open(self, function: str) -> bool:
        """Whether a step is recorded; the user hears why not where it is no filter."""
        if os.getpid() != self._pid:
            return False
        if self.writer is None and not self._ended and self.current_step not in self._tally.steps:
            warn(f"{function}() came before start(), it records nothing", kind=function)
        return self.writer is not None

    def _is_another(self, model: Any) -> bool:
        """Whether it has modules that the step, which has begun, does not record."""
        return self.config.takes_modules and model is not None and list(map(id, models_of(model))) != self._model_ids

    def _rank(self) -> Optional[int]:
        return self._rank_id if self._rank_id is not None else self.framework.rank()

    def _selected(self) -> bool:
        if self._ended:
            return False
        if not self._tally.takes(self.current_step, self._rank()):
            return False
        return self.config.dump_enable is None or self._switch.is_on()

    def _open_step(self, model: Any, token_range: Any) -> None:
        config = self.config
        if not self._prepared:
            try:
                note = _core.prepare_dump_path(self._dump_path, self._rank(), config.overwrite)
            except ValueError as error:
                raise MsprobeError(str(error)) from None
            if note:
                warn(note)
            self._prepared = True
        self._load_bench()
        roots, entries = models_of(model), []
        for index, root in enumerate(roots if config.takes_modules else ()):
            prefix = self.framework.module_word(root)
            if isinstance(model, (list, tuple)):
                prefix += f".{index}"
            entries.extend(self.framework.modules(root, prefix))  # may raise: before the step is open
        try:
            self.writer = _core.DumpWriter.open(
                self._dump_path,
                step=self.current_step,
                rank=self._rank(),
                task=config.task,
                level=config.level,
                framework=self.framework.name,
                saves_tensors=bool(config.tensor_list),
                extra_info=config.extra_info,
                overwrite=config.overwrite,
                # Strict: an error is raised here.
                in_background=self._tally.steps_taken > 0 and os.environ.get("MSPROBE_STRICT") != "1",
                tensor_format=config.file_format or self.framework.tensor_format,
                budget=self._budget,
            )
        except ValueError as error:
            if self._tally.steps_taken == 0 or os.environ.get("MSPROBE_STRICT") == "1":
                raise MsprobeError(str(error)) from None
            warn(f"step {self.current_step} is not collected: {error}", kind="open")
            return
        self._tally.token_range = None if token_range is None else tuple(token_range)
        _core.set_token_range(self._tally.token_range)
        self._model_ids = list(map(id, roots))
        self.framework.watch_objects(roots, config)
        _core.set_modules(entries, roots)
        self._tally.begin_step(bool(entries))
        _core.begin_step(self.writer)
        self.framework.begin_gradients()

    def _close_step(self) -> None:
        self._unfinished.append(self.writer)  # first: another thread may end the program
        self._tally.look_at_model(self.current_step, self._ended)
        self._end_recording()
        self._tally.steps_taken += 1

    def _end_recording(self) -> None:
        self.writer = None
        self._tally.end_step()
        if _core.end_step() > 0:
            warn("the step ended while the model ran: calls that it cut are not recorded", kind="step_ended")
        self._remove_patches()
        self.framework.end_gradients()
        self._dumped_modules = []
        for remove in self._gradient_watches:
            remove()
        self._gradient_watches.clear()

    def _drop_step(self, rank: int) -> None:
        """What was recorded before the process had the rank, which the filter leaves out."""
        writer = self.writer
        self._end_recording()
        wait_for(writer)
        shutil.rmtree(writer.directory, ignore_errors=True)
        try:
            os.rmdir(os.path.dirname(writer.directory))
        except OSError:  # other ranks have theirs there
            pass
        warn(f"rank {self.config.rank} leaves this process out, which has become rank {rank} after start(): "
             f"what it has recorded of step {self.current_step} is removed")

    def _look(self, step: int, is_taken: bool) -> None:
        if is_taken:
            self._tally.look(step)
        elif not self._ended:
            self._tally.look_left_out(step, self._rank())

    def _wait_for_writers(self) -> None:
        """A program may read its dump at once. One that is interrupted here waits when it ends."""
        for writer in list(self._unfinished):
            wait_for(writer)
            try:
                self._unfinished.remove(writer)
            except ValueError:
                continue  # another thread has waited as well
            self._tally.recorded += writer.finish()
            name = "debug.json" if self.config.level == "debug" else "dump.json"
            if writer.has_files():  # else it has said why not
                say(f"{name} is at {os.path.dirname(writer.directory)}")

    def _become_rank(self) -> None:
        rank = self._rank()
        if rank is None or not os.path.basename(self.writer.directory).startswith("proc"):
            return
        if self.config.rank and rank not in self.config.rank:
            self._drop_step(rank)
            return
        try:
            self.writer.become_rank(rank)
        except ValueError as error:
            warn(str(error), kind="become_rank")

    # Patches.

    def _install(self) -> None:
        level = self.config.level
        if self._call_patches is None:
            self._call_patches = _core.CallPatches()
            self.framework.watch_module_calls(self._call_patches, self.config)
            self.framework.watch_handles(self._call_patches)
        if self._api_patches is None and level in ("L1", "mix"):
            self._api_patches = _core.CallPatches()
            missing = self.framework.watch_api_calls(self._api_patches, self.config)
            if missing:
                warn(f"{len(missing)} listed APIs do not exist here: {', '.join(missing)}", kind="missing APIs")
        self._call_patches.install()
        if self._api_patches is not None:
            self._api_patches.install()
        for patches in self._custom_patches.values():
            patches.install()

    def _remove_patches(self) -> None:
        for patches in self._custom_patches.values():
            patches.remove()
        if self._api_patches is not None:
            self._api_patches.remove()
        if self._call_patches is not None:
            self._call_patches.remove()

    # Filters.

    def _load_bench(self) -> None:
        """Checksums of the same step and rank of an earlier dump."""
        if self._bench_path is None:
            return
        try:
            checksums = read_checksums(
                self._bench_path, self.current_step, self._rank() or 0, self.config.takes)
        except MsprobeError as error:
            if self._tally.steps_taken == 0:
                raise
            warn(f"no tensors are saved: {error}", kind="bench")
            checksums = {}
        # How many may be saved is said once for the whole run.
        _core.set_bench(checksums, None if self._bench_known else self.config.diff_nums)
        self._bench_known = True
