"""Measures the rate of a radio link from the records of a Qualcomm modem.

    import sounding

    for record in sounding.open("drive.mi2log"):
        print(record.modem_time, record.name, record.fields)

    signal = sounding.kpis("drive.mi2log", ["lte.cell.rsrp"])
    blocks = sounding.columns("drive.mi2log", 0xB173, ["subframes.rbs", "subframes.blocks.mcs"])
    rate = sounding.link("drive.mi2log", direction="downlink").to_pandas()
    held = sounding.delays("drive.mi2log").to_pandas()
    sounding.captures("drives/**").to_parquet("dataset")
    for line in sounding.feed("modem"):
        print(line.modem, line.direction, line.advice_bits_per_sec)
    result = sounding.simulate("plan.toml", controllers={"mine": Mine})
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Literal

from . import _sounding
from ._captures import Captures
from ._feed import Feed, FeedError, FeedLine
from ._simulate import Controller, simulate
from ._sounding import (
    Ack,
    CaptureError,
    CorruptError,
    Counts,
    DatasetError,
    DelayUpdate,
    Delivered,
    Departure,
    Estimate,
    Kpi,
    Loss,
    Message,
    Part,
    PlanError,
    RanDelay,
    Reader,
    Record,
    Revision,
    SoundingError,
    Stamp,
    Start,
    UnreadError,
    described_codes,
    known_kpis,
    name_of,
    open,
)
from ._table import Column, Table

__all__ = [
    "Ack",
    "CaptureError",
    "Captures",
    "Column",
    "Controller",
    "CorruptError",
    "Counts",
    "DatasetError",
    "DelayUpdate",
    "Delivered",
    "Departure",
    "Estimate",
    "Feed",
    "FeedError",
    "FeedLine",
    "Kpi",
    "Loss",
    "Message",
    "Part",
    "PlanError",
    "RanDelay",
    "Reader",
    "Record",
    "Revision",
    "SoundingError",
    "Stamp",
    "Start",
    "Table",
    "UnreadError",
    "captures",
    "columns",
    "delays",
    "described_codes",
    "feed",
    "known_kpis",
    "kpis",
    "link",
    "name_of",
    "open",
    "simulate",
]

Source = str | os.PathLike[str] | bytes


def captures(pattern: str | os.PathLike[str]) -> Captures:
    """The captures of a folder, or of a pattern: `drives/**/*.qmdl`. `drives/**` is all that is in a folder.

    `to_parquet` makes them one dataset. The files are found then.
    """
    return Captures(pattern)


def columns(source: Source, code: int, fields: Iterable[str]) -> Table:
    """Fields of all records of a code, as columns beside `modem_time_ns`.

    The time of a record without one is -2^63, which pandas reads as `NaT`.

    A field is named by the lists that lead to it: `subframes.blocks.mcs`. There is a row for each item of the innermost
    list; fields further out repeat. Numbers are floats, with NaN where a version of the record lacks the field; choices
    are the number on the wire, with their names in `Column.words`. Names and units (`Column.unit`) are those of the tables
    that `sounding convert` writes.
    """
    return Table._of(_sounding.columns(source, code, list(fields)))


def kpis(source: Source, names: Iterable[str]) -> Table:
    """Some KPIs out of all records of a capture, as columns beside `modem_time_ns`; `known_kpis` lists their names.

    There is a row for each item of a record that has any of them; values further out repeat, and what the item or the
    version of the record lacks is NaN. Only the bytes of these KPIs are looked at. `Column.unit` is what a KPI is counted
    in, and `Table.counts` what became of the records.
    """
    return Table._of(_sounding.kpis(source, list(names)))


def link(
    source: Source,
    *,
    direction: Literal["uplink", "downlink"] = "downlink",
    method: Literal["grants", "formula", "cqi", "cell", "prb", "mcs", "rsrp"] = "grants",
    window: float = 0.1,
    bin: float = 0.1,
) -> Table:
    """The network's grants in every `bin` seconds of a capture, and the estimate at the end of each bin.

    Columns: `modem_time_ns`; `time_s` since the first record; `span_s`, the length of the row, which is longer than `bin` where
    no record came for ten seconds; `granted_bytes`, of the blocks that the records list in it; `rate_bits_per_sec` of IP packets;
    `bound`, whether that is all the radio had (`capacity`) or only what was asked for (`floor`); `state` of the link; `source`,
    the method behind the rate, `none` where it knows nothing; `age_s` of the newest record; `backlog_bytes` in the modem;
    `fair_share_bits_per_sec`, the device's part of an equal division of the cells among their `users` with data over its
    `carriers`, where the method knows the other users. An unknown value is NaN, or None among words.
    """
    return Table._of(_sounding.link(source, direction, method, window, bin))


def delays(source: Source, *, direction: Literal["uplink", "downlink"] | None = None) -> Table:
    """The delays that the radio itself made in a capture: a row for each event, of one `direction` or of both.

    Columns: `modem_time_ns`, the end of the event; `from_modem_time_ns`, its begin; `time_s`, its end since the first record;
    `direction`; `kind`: a block was sent again (`harq`), RLC sent data again that HARQ had given up (`rlc`), uplink data waited for
    a report and a grant (`scheduling`); `amount_s`, the part of the time between begin and end that no queue made; `age_s`, from the
    end until the record came that shows it; `confidence`, whether both ends are in records (`decoded`) or one follows from others
    (`inferred`). Rows are in the order in which records show them. A later row of the same direction, kind and begin replaces an
    earlier one.
    """
    return Table._of(_sounding.delays(source, direction))


def feed(name: str | os.PathLike[str]) -> Feed:
    """The lines of a daemon's rate feed, by its name or its socket's path: what a live sender should take now.

    It ends with a `FeedError` when the daemon ends or falls silent. A sender then goes on by its own rules, and opens it again.
    """
    return Feed(name)
