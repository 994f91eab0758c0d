"""The compiled half of the package."""

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, final

from typing_extensions import Self, disjoint_base

__all__ = [
    "Ack",
    "CaptureError",
    "CorruptError",
    "Counts",
    "DatasetError",
    "DelayUpdate",
    "Delivered",
    "Departure",
    "Estimate",
    "Fleet",
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
    "UnreadError",
    "columns",
    "delays",
    "described_codes",
    "known_kpis",
    "kpis",
    "link",
    "make_block",
    "name_of",
    "open",
    "open_fleet",
    "simulate",
]

class SoundingError(Exception):
    """What sounding cannot do."""

class CaptureError(SoundingError):
    """The file is no Diag capture."""

class PlanError(SoundingError):
    """The plan cannot be run; says where in it."""

class DatasetError(SoundingError):
    """Captures cannot become one dataset."""

class CorruptError(SoundingError):
    """Bytes of a stream are no frame, or a frame is no packet."""

    offset: int

class UnreadError(SoundingError):
    """A record that cannot be read."""

    offset: int
    code: int

@final
class Record:
    """A log record as the modem sent it. Its fields are decoded on access."""

    @property
    def code(self) -> int:
        """What it logs, as in 0xB173."""
    @property
    def name(self) -> str | None:
        """What the vendor calls its code, if it is a common one."""
    @property
    def version(self) -> int | None:
        """The version at the beginning of its body: a byte, or NR's word of a major and a minor half."""
    @property
    def radio(self) -> int | None:
        """The subscription it belongs to, counted from 1, where the modem says so."""
    @property
    def stamp(self) -> int:
        """The time stamp on the wire: a number in the modem's own units."""
    @property
    def modem_time_ns(self) -> int | None:
        """When, by the modem's clock, in nanoseconds since 1970; None if the modem stamped no time.

        A modem without a network counts from 1980.
        """
    @property
    def modem_time(self) -> datetime | None:
        """When, by the modem's clock, to the microsecond and in UTC; None if the modem stamped no time."""
    @property
    def offset(self) -> int:
        """Where in the stream its frame is."""
    @property
    def raw(self) -> bytes:
        """Everything after the time stamp."""
    @property
    def fields(self) -> dict[str, Any] | None:
        """Its fields by name, lists as lists of dicts; None if it cannot be read."""
    @property
    def unread(self) -> str | None:
        """Why it cannot be read; None if it can."""
    def decode(self, *, numbers: bool = False) -> dict[str, Any]:
        """Its fields by name, as `fields`; an `UnreadError` if it cannot be read.

        With `numbers`, choices are given by the number on the wire instead of their name, and flags too.
        """

    @property
    def message(self) -> Message | None:
        """The RRC or NAS message in it; None if it has none, a part of one, or one of an unknown kind."""

    def to_frame(self) -> bytes:
        """The frame that carries it on a Diag port and in a capture."""

@final
class Message:
    """An RRC or NAS message, as it was sent."""

    uplink: bool
    """The device sent it."""

    @property
    def channel(self) -> str:
        """Its channel, as in `lte_dl_dcch`; `nas_eps` and `nas_5gs` are NAS of LTE and NR."""
    @property
    def raw(self) -> bytes:
        """The message as it was sent."""
    def decode(self) -> dict[str, Any]:
        """Its members by the specification's names; an `UnreadError` if it cannot be decoded.

        A choice is a dict of one member. Bits are text of 0 and 1; bytes of NAS are text in hex.
        """

    def tree(self) -> tuple[Any, ...] | None:
        """The values of an RRC message as tuples of name, kind, value, number and list of values within; None for NAS.

        `number` is that of a choice or enumeration in the encoding.
        """

@final
class Counts:
    """What a reader has met so far."""

    bytes: int
    """Bytes of the stream."""
    frames: int
    """Frames whose check is right."""
    corrupt_frames: int
    """Stretches of bytes that are no frame, or whose check is wrong."""
    corrupt_packets: int
    """Frames that are no packets."""
    first_damage: int | None
    """The byte of the stream where the first of these begins."""
    cut_at: int | None
    """Where the frame begins that the end of the stream cut off; one of the corrupt frames."""
    cut_bytes: int
    """How many bytes of that frame there are; 0 if there is none."""
    padding_bytes: int
    """Bytes of padding that stood before frames."""
    others: int
    """Packets that are not log records."""
    records: int
    """Log records, of all codes."""
    decoded: int
    """Records handed over that can be read, all or some of their parts."""
    partly: int
    """Of these, records with a sub-packet that is not described."""
    longer: int
    """Records among these that are longer than their layout and its padding."""
    undescribed: int
    """Records returned with an undescribed code."""
    unsupported: int
    """Records returned with an undescribed version."""
    corrupt: int
    """Records returned whose bytes do not fit their description."""

@final
class Kpi:
    """A number that has a name."""

    @property
    def name(self) -> str:
        """Its name: technology, channel or layer, quantity."""
    @property
    def unit(self) -> str:
        """What it is counted in."""
    @property
    def least(self) -> float:
        """The smallest value it can have, in its unit."""
    @property
    def most(self) -> float:
        """The largest, in its unit."""
    @property
    def what(self) -> str:
        """What it is."""
    @property
    def origin(self) -> str:
        """The section that defines it."""
    @property
    def code(self) -> int:
        """The log code of the record that has it."""

@final
class Reader:
    """The records of a capture or a port, one after the other."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> Record: ...
    @property
    def counts(self) -> Counts:
        """What has been met so far. Records are read some way ahead of the iteration."""
    def close(self) -> None:
        """Lets go of the file or port; the iteration ends with what was read already."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

def open(
    source: str | os.PathLike[str] | bytes,
    *,
    codes: Sequence[int] | None = None,
    strict: bool = False,
    timeout: float | None = None,
) -> Reader:
    """Opens a capture file, a capture in memory, or a live port: a device, `tcp:HOST:PORT`, `router`.

    With `codes`, only records of these codes are returned, and a live modem logs these and no others until
    the reader is closed, which puts its log mask back. Without, its records are read and its mask left alone. With
    `strict`, corrupt frames raise `CorruptError` where they are met, instead of being counted and passed over. A live
    port that is silent for `timeout` seconds is at its end.
    """

def columns(source: str | os.PathLike[str] | bytes, code: int, paths: list[str]) -> dict[str, Any]: ...
def delays(source: str | os.PathLike[str] | bytes, direction: str | None) -> dict[str, Any]: ...
def known_kpis() -> list[Kpi]:
    """Every KPI there is."""

def kpis(source: str | os.PathLike[str] | bytes, names: list[str]) -> dict[str, Any]: ...
def link(
    source: str | os.PathLike[str] | bytes,
    direction: str,
    method: str,
    window: float,
    bin: float,
) -> dict[str, Any]: ...
def name_of(code: int) -> str | None:
    """What the vendor calls a log code, if it is a common one."""

def described_codes() -> list[int]:
    """The log codes with at least one described version."""

@final
class Start:
    """What is known of a flow when its controller is made: after the handshake."""

    now_ns: int
    """When."""
    mss_bytes: int
    """Payload of a full segment."""
    headers_bytes: int
    """What IP and the transport add to each."""
    rtt_ns: int | None
    """The handshake's RTT, if it measured one."""
    seed: int
    """For controllers that draw lots."""
    paced: bool
    """Whether the stack sends at the controller's pacing rate. If not, its window alone limits it."""
    initial_cwnd_bytes: int
    """Ten segments (RFC 6928)."""

@final
class Departure:
    """The flow as it was when a packet left."""

    at_ns: int
    """When it left."""
    delivered_bytes: int
    """What had been delivered by then, since the flow began."""
    delivered_at_ns: int
    """When the newest of that was."""
    first_sent_at_ns: int
    """When the delivered packet left."""
    lost_bytes: int
    """What had been lost by then."""
    in_flight_bytes: int
    """What was in flight, this packet included."""
    app_limited: bool
    """The application, not the window, decided how much was sent."""

@final
class Delivered:
    """A packet that was delivered."""

    now_ns: int
    """When the acknowledgement arrived."""
    size_bytes: int
    """Its payload."""
    sent: Departure
    """The packet; if it was sent more than once, as it left last."""

@final
class Stamp:
    """A receiver's time stamp: its clock when it sent the acknowledgement."""

    value: int
    """In ticks from an unknown beginning; it wraps at 2^32."""
    tick_ns: int
    """The length of a tick."""

@final
class Ack:
    """An acknowledgement and what follows from it."""

    now_ns: int
    """When it arrived."""
    acked_bytes: int
    """What it delivers that nothing before did."""
    newly_lost_bytes: int
    """What it shows to be lost."""
    rtt_ns: int | None
    """RTT of the newest packet it delivers; None where nothing tells which sending arrived."""
    one_way_ns: int | None
    """The same packet's way to the receiver on two clocks: only its changes mean anything."""
    stamp: Stamp | None
    """The receiver's time stamp; None if the transport has none."""
    rate_bits_per_sec: int | None
    """How fast the path delivered over about the last round."""
    delivered_bytes: int
    """Delivered since the flow began, this included."""
    lost_bytes: int
    """Lost since the flow began, this included."""
    prior_in_flight_bytes: int
    """In flight before it."""
    in_flight_bytes: int
    """In flight after it."""
    ce_bytes: int
    """The part of it with a congestion mark."""
    cwnd_limited: bool
    """The window is what kept the sender from sending more."""
    recovery: str | None
    """Whether earlier losses are still being repaired: `fast`, `timeout`, or None."""
    sent: Departure
    """The newest packet it delivers."""

@final
class Loss:
    """A packet that is taken for lost."""

    now_ns: int
    """When that was found."""
    size_bytes: int
    """Its payload."""
    in_flight_bytes: int
    """In flight without it."""
    sent: Departure
    """The packet."""
    begins_recovery: bool
    """It is the first since the last recovery ended: what a window is cut for once."""

@final
class Estimate:
    """What the radio link carries, and how far that can be trusted."""

    direction: str
    """`uplink` or `downlink`."""
    rate_bits_per_sec: int
    """The rate of IP packets that this device could send, in bits per second."""
    bound: str
    """Whether that is all the radio had (`capacity`) or only what was asked for (`floor`)."""
    age_ns: int
    """Since the newest record behind it."""
    valid_for_ns: int
    """The age up to which it may be used."""
    backlog_bytes: int | None
    """What the modem still holds, if it said."""
    state: str
    """What the link is doing."""
    source: str
    """The method behind the rate."""
    is_usable: bool
    """True if a controller may act on it."""
    fair_share_bits_per_sec: int | None
    """What an equal division of the cells would give this device, if the method knows the other users."""
    users: int | None
    """Users with data of the primary carrier, this device included."""
    carriers: int | None
    """Carriers that are active for this device."""
    own_blocks: int | None
    """The device's resource blocks, in thousandths of the most that it ever had; None unless data waited for them."""
    cell_bits_per_sec: int | None
    """What all blocks of its cells would carry for this device, if the method knows every user's blocks."""
    cell_own_blocks: int | None
    """The device's blocks, in thousandths of all."""
    cell_idle_blocks: int | None
    """The blocks of no user, in thousandths of all."""
    radio: str | None
    """The radio of the grants: `lte`, alone or beside NR, or `nr`; None before the first grant."""

@final
class Part:
    """A flow's part of its device's link."""

    def of(self, link_bits_per_sec: int) -> int:
        """The part of a link of this rate, in bits per second."""
    @property
    def fraction(self) -> int:
        """Its weight among all members with a claim; 1024 is a whole link."""

@final
class RanDelay:
    """A delay that the radio itself made, and no queue."""

    direction: str
    """`uplink` or `downlink`."""
    from_ns: int
    """When it began, on the clock of the device's host."""
    to_ns: int
    """When it ended, on the same clock."""
    amount_ns: int
    """The part of that time that no queue made."""
    kind: str
    """What made it: `harq`, `scheduling` or `rlc`."""
    age_ns: int
    """From its end until the record came that shows it."""
    confidence: str
    """How it is known: `decoded` or `inferred`."""

@final
class DelayUpdate:
    """What a modem newly shows of the delays that its radio made."""

    events: list[RanDelay]
    """New events in any order. One of the same direction, kind and begin replaces an earlier one."""
    up_until_ns: int | None
    """All events of the uplink up to this time are known."""
    down_until_ns: int | None
    """All events of the downlink up to this time are known."""
    heard_at_ns: int
    """When the host that has the update heard of the modem's newest record."""
    report_interval_ns: int | None
    """Between two periodic reports of the buffer's status; None while it is not known."""

@disjoint_base
class Revision:
    """A correction of delays that a controller has seen: a `Sample` or a `Rebase`."""

    @final
    class Sample(Revision):
        """The RTT of the acknowledgement that arrived at `seen_at_ns` was not `before_ns` but `after_ns`."""

        now_ns: int
        """When this became known."""
        seen_at_ns: int
        """When the acknowledgement arrived."""
        before_ns: int
        """The RTT that the controller received with it."""
        after_ns: int
        """The RTT without what the radio added."""
        __match_args__ = ("now_ns", "seen_at_ns", "before_ns", "after_ns")
        def __new__(cls, now_ns: int, seen_at_ns: int, before_ns: int, after_ns: int) -> Self: ...

    @final
    class Rebase(Revision):
        """From now on RTTs include the radio's delay, or no longer include it."""

        now_ns: int
        """When."""
        least_ns: int
        """The smallest RTT of the last ten seconds, on the new scale."""
        __match_args__ = ("now_ns", "least_ns")
        def __new__(cls, now_ns: int, least_ns: int) -> Self: ...

def simulate(
    plan: str | os.PathLike[str],
    base: type[object],
    controllers: Sequence[tuple[str, type[object]]],
    sets: Sequence[str],
    out: str | os.PathLike[str] | None,
    series: float | None,
    keep: Sequence[str],
    jobs: int,
) -> str: ...

@final
class Fleet:
    """A dataset at work."""

    root: Path
    """The folder of all captures."""
    def missing(self) -> list[int]:
        """The blocks that are not made yet."""
    def make(self, jobs: int, told: Callable[[str, int, int], None] | None) -> None:
        """Makes them on threads."""
    def finish(self) -> str:
        """Writes what all parts have in common; the counts as JSON."""

def open_fleet(
    pattern: str,
    out: str | os.PathLike[str],
    redact: bool,
    codes: Sequence[int],
    jobs: int,
    told: Callable[[str, int, int], None] | None,
) -> Fleet: ...
def make_block(root: str | os.PathLike[str], out: str | os.PathLike[str], block: int) -> None: ...
