"""Columns of numbers, and the ways out of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

# Type codes of the buffer protocol: eight bytes each.
_TYPES = {"d": "float64", "q": "int64"}


class Column:
    """A column of numbers; `memoryview(column.data)`, and so NumPy, reads it without a copy."""

    __slots__ = ("_bytes", "data", "unit", "words")

    def __init__(
        self, kind: Literal["d", "q"], data: bytes, words: dict[int, str] | None = None, unit: str | None = None
    ) -> None:
        self._bytes = data
        #: The numbers.
        self.data: memoryview[Any] = memoryview(data).cast("d" if kind == "d" else "q")
        #: The meaning of the numbers, if the column is an enumeration.
        self.words = words
        #: Unit, if they have one.
        self.unit = unit

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[float | int | str | None]:
        if self.words is None:
            return iter(self.data)
        return (self.words.get(int(n), str(int(n))) if n == n else None for n in self.data)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray:
        import numpy

        return numpy.array(self.data, dtype=dtype, copy=copy)

    def to_numpy(self) -> numpy.ndarray:
        """The numbers, without a copy and so read-only."""
        import numpy

        return numpy.frombuffer(self.data, dtype=_TYPES[self.data.format])

    def to_arrow(self) -> pyarrow.Array:
        """The numbers without a copy, or the words of choices as a dictionary array. NaN is null."""
        import pyarrow

        if self.words is None:
            kind = getattr(pyarrow, _TYPES[self.data.format])()
            buffers = [None, pyarrow.py_buffer(self._bytes)]
            array = pyarrow.Array.from_buffers(kind, len(self), buffers)
            return _null_for_nan(array)
        return pyarrow.array(list(self), pyarrow.string()).dictionary_encode()

    def __repr__(self) -> str:
        shown = ", ".join(str(value) for value, _ in zip(self, range(5)))
        return f"<Column of {len(self)}: {shown}{', …' if len(self) > 5 else ''}>"


def _null_for_nan(array: pyarrow.Array) -> pyarrow.Array:
    import pyarrow.compute as compute

    if array.type != "double" or not compute.any(compute.is_nan(array)).as_py():
        return array
    return compute.if_else(compute.is_nan(array), None, array)


class Table(Mapping[str, Column]):
    """Columns of equal length, by name."""

    def __init__(self, columns: dict[str, Column]) -> None:
        self._columns = columns
        #: What became of the capture behind it: of its records, and of bytes that are none (`corrupt_frames`; `first_damage`
        #: is where the first of them begins, `cut_at` where a frame begins that the end cut off, None where there is none, and
        #: `cut_bytes` how many bytes of it there are; `padding_bytes` stood before frames).
        self.counts: dict[str, int | None] = {}

    @classmethod
    def _of(cls, raw: dict[str, Any]) -> Table:
        """From the compiled half: by name, type and bytes of the numbers, words if they are choices, the unit; and counts."""
        columns = {}
        for name, ((kind, data), words, unit) in raw["columns"].items():
            if isinstance(words, list):
                words = dict(enumerate(words))
            columns[name] = Column(kind, data, words, unit)
        table = cls(columns)
        table.counts = raw["counts"]
        return table

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return next((len(column) for column in self._columns.values()), 0)

    def to_numpy(self) -> dict[str, numpy.ndarray]:
        """The columns as arrays, without a copy and so read-only; choices as numbers."""
        return {name: column.to_numpy() for name, column in self.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame whose index is the modem's time; choices as categories."""
        import pandas

        frame = {}
        for name, column in self.items():
            if name == "modem_time_ns":
                continue
            values: Any = column.to_numpy()
            if column.words is not None:
                values = pandas.Categorical(list(column))
            frame[name] = values
        times = pandas.to_datetime(self["modem_time_ns"].to_numpy(), unit="ns", utc=True)
        return pandas.DataFrame(frame, index=pandas.DatetimeIndex(times, name="modem_time"))

    def to_polars(self) -> polars.DataFrame:
        """A data frame with `modem_time` as its first column; choices as categories, unknown values as null."""
        import polars

        frame = []
        for name, column in self.items():
            if column.words is not None:
                series = polars.Series(name, list(column), polars.Categorical)
            else:
                series = polars.Series(name, column.to_numpy())
            if name == "modem_time_ns":
                # No time is the least number there is.
                known = series.set(series == -(1 << 63), None)
                series = known.cast(polars.Datetime("ns", "UTC")).alias("modem_time")
            elif series.dtype == polars.Float64:
                series = series.fill_nan(None)
            frame.append(series)
        return polars.DataFrame(frame)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table; choices as dictionaries."""
        import pyarrow

        return pyarrow.table({name: column.to_arrow() for name, column in self.items()})

    def __repr__(self) -> str:
        return f"<Table of {self.rows} rows: {', '.join(self)}>"
