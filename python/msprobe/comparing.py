"""Dumps and comparisons as plain objects. What is said about precision comes from the C++ core.

`step` and `rank` are None where the given directory has no step<N>, rank<N> to tell them apart.
"""

from __future__ import annotations

import importlib
import json
import operator
import os
import warnings
from dataclasses import dataclass, field, fields
from html import escape
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, Sequence

if TYPE_CHECKING:
    from msprobe import _compare

_SHOWN_ROWS = 50
_QUERY_SECONDS = 600.0
_MOST_THREADS = 4096  # as -j of the command


@dataclass(frozen=True)
class Diverged:
    """A node whose values differ: a culprit, or one that carries an error on.

    `error_in` and `error_out` are relative to the size of the tensors: 0 none, 1 as large or more.
    Both are 0 where none was measured: without a partner, or where another argument is to blame.
    """

    name: str
    step: Optional[int]
    rank: Optional[int]
    role: str
    reason: str
    error_in: Optional[float]
    error_out: Optional[float]
    culprit: Optional[str] = None
    culprit_rank: Optional[int] = None
    consequence: bool = False
    source: str = ""
    stack: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class FirstDifference:
    """Where values differ first, in a step before the first that has a culprit."""

    name: str
    step: Optional[int]
    rank: Optional[int]
    index: Optional[float]
    status: str
    role: str
    reason: str
    source: str


@dataclass(frozen=True)
class NotCompared:
    """A node, or a value of one, that could not be compared."""

    name: str
    side: str
    step: Optional[int]
    rank: Optional[int]
    kind: str
    reason: str


@dataclass(frozen=True)
class Tensor:
    """A recorded tensor or scalar argument, of which `value` is the text: "True", "[0, 1]"."""

    name: str
    section: str
    type: str
    dtype: Optional[str]
    shape: Optional[tuple[int, ...]]
    value: Optional[str]
    max: Optional[float]
    min: Optional[float]
    mean: Optional[float]
    norm: Optional[float]
    requires_grad: Optional[bool]
    data_name: Optional[str]
    md5: Optional[str]


@dataclass(frozen=True)
class Entry:
    """What one call recorded."""

    name: str
    step: Optional[int]
    rank: Optional[int]
    kind: str
    direction: str
    parent: Optional[str]
    tensors: list[Tensor] = field(default_factory=list)


class Table:
    """Columns with names, and rows of plain values: the answer to a query."""

    def __init__(self, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]):
        self.columns = list(columns)
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row)) for row in self.rows)

    def __repr__(self) -> str:
        return f"Table({len(self.rows)} rows: {', '.join(self.columns)})"

    def column(self, name: str) -> list[Any]:
        """The values of one column. ValueError: there is none of that name."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def to_dict(self) -> dict[str, list[Any]]:
        return {name: [row[i] for row in self.rows] for i, name in enumerate(self.columns)}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. ImportError: pandas is not installed."""
        return _library("pandas").DataFrame(self.rows, columns=self.columns)

    def to_polars(self) -> Any:
        """A polars.DataFrame. ImportError: polars is not installed."""
        schema = {name: _plain_column(values) for name, values in self.to_dict().items()}
        return _library("polars").DataFrame(schema, strict=False)

    def to_arrow(self) -> Any:
        """A pyarrow.Table. ImportError: pyarrow is not installed."""
        columns = {name: _plain_column(values) for name, values in self.to_dict().items()}
        return _library("pyarrow").table(columns)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>"
            for row in self.rows[:_SHOWN_ROWS])
        left = len(self.rows) - _SHOWN_ROWS
        more = f"<p>and {left} more rows</p>" if left > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


class _Asked:
    """Something over tables that take SQL."""

    _table = ""

    def __init__(self, tables: _compare.Tables):
        self._tables = tables

    def query(self, sql: str, *, limit: int = 0, seconds: float = _QUERY_SECONDS) -> Table:
        """One SELECT over the tables of ``msprobe query``.

        `limit`: of rows, 0 takes all. `seconds`: how long it may take, 600 if not given.
        ValueError: it is not one SELECT, SQLite does not take it, or it takes too long.
        """
        return Table(*self._tables.query(sql, limit=limit, seconds=seconds))

    @property
    def table(self) -> Table:
        """One row a tensor, in execution order."""
        return self.query(f"select * from {self._table}")

    def to_pandas(self) -> Any:
        """`table` as a pandas.DataFrame. ImportError: pandas is not installed."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """`table` as a polars.DataFrame. ImportError: polars is not installed."""
        return self.table.to_polars()

    def to_arrow(self) -> Any:
        """`table` as a pyarrow.Table. ImportError: pyarrow is not installed."""
        return self.table.to_arrow()


class Comparison(_Asked):
    """What ``msprobe compare`` finds."""

    _table = "rows"

    def __init__(self, tables: _compare.Tables):
        super().__init__(tables)
        report = json.loads(tables.report())
        self.verdict: str = report["verdict"]
        self.culprits = [Diverged(**node) for node in report["culprits"]]
        first = report.get("first_difference")
        self.first_difference = FirstDifference(**first) if first else None
        self.victims = [Diverged(**node) for node in report["victims"]["nodes"]]
        self.not_compared = [NotCompared(**node) for node in report["not_compared"]]
        self.counts: dict[str, Any] = report["counts"]

    def __repr__(self) -> str:
        first = f", culprit {self.culprits[0].name}" if self.culprits else ""
        if self.first_difference is not None:
            first = f", first difference {self.first_difference.name}"
        return f"Comparison({self.verdict}{first})"

    def _repr_html_(self) -> str:
        parts = [f"<p>verdict: <b>{escape(self.verdict)}</b></p>"]
        if self.first_difference is not None:
            parts.append(f"<p>first difference: {escape(self.first_difference.name)}: "
                         f"{escape(self.first_difference.reason)}</p>")
        if self.culprits:
            names = ("name", "step", "rank", "error_in", "error_out", "reason", "source")
            rows = [tuple(getattr(node, name) for name in names) for node in self.culprits]
            parts.append(Table(names, rows)._repr_html_())
        if self.not_compared:
            parts.append(f"<p>not compared: {len(self.not_compared)}</p>")
        differing = self.query("select target_name, golden_name, result, reason from rows "
                               "where result <> 'pass'", limit=_SHOWN_ROWS)
        if differing.rows:
            parts.append(differing._repr_html_())
        return "".join(parts)


class Dump(_Asked):
    """What a run recorded: a sequence of entries, in the order of dump.json."""

    _table = "tensors"

    def __init__(self, tables: _compare.Tables):
        super().__init__(tables)
        self.entries = list(_entries(self))
        self._by_name = {(entry.name, entry.step, entry.rank): entry for entry in self.entries}

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __repr__(self) -> str:
        return f"Dump({len(self.entries)} entries)"

    def entry(self, name: str, *, step: Optional[int] = None, rank: Optional[int] = None) -> Entry:
        """The entry of that name. KeyError: there is none, or `step` or `rank` is left out where
        the entries have one.
        """
        return self._by_name[(name, step, rank)]

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def compare(target: str | os.PathLike[str], golden: str | os.PathLike[str], *,
            match: str = "strict", fuzzy_match: bool = False,
            layer_mapping: str | os.PathLike[str] | None = None, threads: int = 0) -> Comparison:
    """Compares two dumps as ``msprobe compare`` does.

    `match`: "strict", "loose" (type or shape may differ) or "auto" (pairs whatever the names; not
    with `fuzzy_match` or `layer_mapping`). `threads`: 0 takes all cores.
    Errors: FileNotFoundError (a dump or the mapping is not there), ValueError (an argument is
    wrong, or a rank cannot be read). Damaged tensors and records are none: `not_compared` has them.
    """
    return Comparison(_open(target, golden, match, fuzzy_match, layer_mapping, threads))


def load_dump(directory: str | os.PathLike[str]) -> Dump:
    """Reads a dump: a rank, or a directory of ranks or steps.

    What of it is damaged, as a dump.json that was cut off when its program was killed, is missing in
    the Dump and told by a warning.
    Errors: FileNotFoundError (it is not there), ValueError (a rank cannot be read).
    """
    tables = _open(directory, "", "strict", False, None, 0)
    for text in tables.damage():
        warnings.warn(text, stacklevel=2)
    return Dump(tables)


def _open(target: str | os.PathLike[str], golden: str | os.PathLike[str], match: str,
          fuzzy_match: bool, layer_mapping: str | os.PathLike[str] | None,
          threads: int) -> _compare.Tables:
    core = importlib.import_module("msprobe._compare")
    return core.Tables(os.fspath(target), os.fspath(golden), match=match, fuzzy_match=fuzzy_match,
                       layer_mapping=os.fspath(layer_mapping) if layer_mapping else "",
                       threads=_thread_count(threads))


def _thread_count(threads: Any) -> int:
    try:
        count = operator.index(threads)
    except TypeError:
        count = -1
    if not 0 <= count <= _MOST_THREADS:
        raise ValueError(f"threads is {threads!r}; give a number of threads from 1 to "
                         f"{_MOST_THREADS}, or 0 for all cores")
    return count


def _entries(dump: Dump) -> Iterator[Entry]:
    tensors: dict[tuple[Any, ...], list[Tensor]] = {}
    names = [item.name for item in fields(Tensor)]
    rows = dump.query(f"select step, rank, entry, {', '.join(names)} from tensors").rows
    for step, rank, entry, *values in rows:
        record = dict(zip(names, values))
        shape = record["shape"]
        record["shape"] = tuple(json.loads(shape)) if shape else None
        if record["requires_grad"] is not None:
            record["requires_grad"] = bool(record["requires_grad"])
        tensors.setdefault((step, rank, entry), []).append(Tensor(**record))
    columns = "step, rank, entry, name, kind, direction, parent"
    for step, rank, entry, *rest in dump.query(f"select {columns} from entries").rows:
        name, kind, direction, parent = rest
        yield Entry(name, step, rank, kind, direction, parent,
                    tensors.get((step, rank, entry), []))


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{name} is not installed: pip install {name}") from error


def _plain_column(values: list[Any]) -> list[Any]:
    """Values of one type: numbers beside texts become texts."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or len(kinds) <= 1:
        convert: Callable[[Any], Any] = float if kinds == {int, float} else lambda value: value
        return [None if value is None else convert(value) for value in values]
    return [None if value is None else str(value) for value in values]


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
