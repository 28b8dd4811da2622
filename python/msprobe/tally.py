"""What a run has met, and what is said where one of its filters, or all of it, comes to nothing."""

import json
from typing import Callable, Iterator, Optional, Set, Tuple

from msprobe import _core
from msprobe.config import Config, Switch
from msprobe.notices import say, span, warn


class Tally:
    def __init__(self, config: Config, switch: Switch):
        self.ranks: Set[int] = set()
        self.steps: Set[int] = set()  # that have begun, whether or not the filters take them
        self.steps_taken = self.recorded = self.starts = 0
        self.token_range: Optional[Tuple[int, int]] = None
        self._most_root_calls = -1  # of a step with a token range
        self._has_modules = False  # in the model of the step
        self._recorded_before = 0  # when the step began, by this process
        self._before_rank: Optional[int] = None  # the step that was left out while there was no rank
        self._said: Set[str] = set()
        self._config = config
        self._switch = switch

    def takes(self, step: int, rank: Optional[int]) -> bool:
        """Whether the filters do. A process without a rank counts as rank 0."""
        config = self._config
        self.ranks.add(rank or 0)
        self.steps.add(step)
        if config.step and step not in config.step:
            return False
        if not config.rank or (rank or 0) in config.rank:
            return True
        if rank is None:
            self._before_rank = step
        return False

    def start(self, step: int) -> None:
        """start() begins, or goes on with, the recording of a step."""
        self.starts += 1
        if _core.recording():
            text = "start() came again without stop(), what both began lies in one step"
            _core.note(text)
            self._once(text, f"step {step}: {text}: call stop() and step() first, also after an exception, as "
                       "collect() does")

    def begin_step(self, has_modules: bool) -> None:
        self._has_modules = has_modules
        self._recorded_before = _core.recorded()

    def look_at_model(self, step: int, is_last: bool) -> None:
        """Where the step ends: why no module is recorded, filters aside."""
        if not self._config.takes_modules:
            return
        if is_last and _core.recording():  # the program has ended before the model had its turn
            return
        if not _core.model_called():
            text = ("no call of the model given to start(), nor of a module in it, was seen: give start() the model "
                    "that runs, not a copy of it, and run it uncompiled")
        elif not self._has_modules:
            text = ("only modules inside the model given to start() are recorded as modules, and it has none: give "
                    "start() the model that it is part of")
        else:
            return
        _core.note(text)
        self._once(text, f"step {step}: {text}")

    def end_step(self) -> None:
        """Before the engine ends it."""
        if self.token_range is not None:
            self._most_root_calls = max(self._most_root_calls, _core.root_calls())

    def _once(self, kind: str, text: str, tell: Callable[[str], None] = warn) -> None:
        if kind not in self._said:
            self._said.add(kind)
            tell(text)

    def look(self, step: int) -> None:
        """Where no more of the step is expected: a job that is killed never comes to its end."""
        unmatched = list(self._unmatched())
        for name, text in unmatched:
            self._once(name, f"{text} matched nothing until now (step {step})")
        if not unmatched and _core.recorded() == self._recorded_before:
            self._once("recorded", f"nothing was recorded in step {step} until now")

    def look_left_out(self, step: int, rank: Optional[int]) -> None:
        """Of a step that is not collected. That others are may be what the user wants: no warning."""
        config = self._config
        if step not in self.steps:
            return
        self.look_at_rank(rank)
        if config.step and not self.steps & set(config.step):
            self._once("step", f"step {config.step} matched nothing until now, this is step {step}", say)
        elif config.rank and not self.ranks & set(config.rank):
            which = "has no rank, which counts as rank 0" if rank is None else f"is rank {rank}"
            self._once("rank", f"rank {config.rank} matched nothing until now, this process {which}", say)

    def look_at_rank(self, rank: Optional[int]) -> None:
        """It may have become known only after start() had asked for it."""
        if self._before_rank is None or rank is None:
            return
        if rank in self._config.rank:
            self._once("late rank", f"rank {self._config.rank} matched nothing in step {self._before_rank} "
                       f"before this process had become rank {rank}: call start() after that")
        self._before_rank = None

    def _unmatched(self) -> Iterator[Tuple[str, str]]:
        for name, items in _core.matched_filters().items():
            missed = [text for text, matched in items if not matched]
            if missed:
                yield name, f"{name} {json.dumps(missed, ensure_ascii=False)}"

    def report(self, current_step: int) -> None:
        """At the end: what keeps the run from being a success, if nothing was recorded."""
        late = _core.late_gradients()
        if late:
            warn(f"{late} calls got gradients after step(), call step() after backward")
        if self.steps_taken == 0:
            warn(self._why_nothing())
            return
        for _, text in self._unmatched():
            warn(f"{text} matched nothing")
        if self.token_range is not None and self._most_root_calls <= self.token_range[0]:
            warn(f"token_range {list(self.token_range)} matched nothing, the model was called "
                 f"{self._most_root_calls} times in a step")
        if self.starts > 1 and current_step == 0:
            warn(f"step() was never called: what {self.starts} start() began lies in one step")
        if self.recorded == 0:
            warn("nothing was recorded, ledger.json says what was left out and why")

    def _why_nothing(self) -> str:
        """No step was collected."""
        config = self._config
        if config.step and not self.steps & set(config.step):
            return f"step {config.step} matched nothing, steps {span(self.steps)} were run"
        if config.rank and not self.ranks & set(config.rank):
            return f"rank {config.rank} matched nothing, this process is rank {span(self.ranks)}"
        if not self.steps:
            first = "save()" if config.level == "debug" else "start()"
            return f"nothing was collected in this process, {first} was never called"
        if self._switch.was:
            return f"nothing was collected, dump_enable was {' or '.join(self._switch.was)} whenever a step began"
        return "nothing was collected"
