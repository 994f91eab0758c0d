"""Records of captures, of bytes in memory, and of a live port."""

from __future__ import annotations

import datetime
import gzip
import os
import socket
import threading
from pathlib import Path

import pytest

import sounding


def hdlc(payload: bytes) -> bytes:
    """A frame: payload, CRC-16/X-25, escapes, end."""
    check = 0xFFFF
    for byte in payload:
        check ^= byte
        for _ in range(8):
            check = check >> 1 ^ (0x8408 if check & 1 else 0)
    check ^= 0xFFFF
    body = payload + check.to_bytes(2, "little")
    escaped = body.replace(b"\x7d", b"\x7d\x5d").replace(b"\x7e", b"\x7d\x5e")
    return escaped + b"\x7e"


def log(code: int, body: bytes, stamp: int = 0) -> bytes:
    """A frame with a log record."""
    inner = (12 + len(body)).to_bytes(2, "little")
    head = bytes([0x10, 0]) + inner + inner + code.to_bytes(2, "little")
    return hdlc(head + stamp.to_bytes(8, "little") + body)


#: 0xB067 with one sub-packet of version 2: 100 samples, 275 bytes granted, 253 used.
STATISTICS = bytes.fromhex("01010000 0b021400 01 64 03 06 01 00 13010000 fd000000 0000")


def test_a_record_says_what_it_is() -> None:
    stamp = (54_000_000_000 << 16) + 24576
    capture = hdlc(b"\x1c") + log(0xB067, STATISTICS, stamp)
    (record,) = sounding.open(capture)
    assert (record.code, record.version, record.radio) == (0xB067, 1, None)
    assert record.name == sounding.name_of(0xB067)
    assert record.offset == len(hdlc(b"\x1c"))
    assert record.stamp == stamp
    assert record.raw == STATISTICS
    # Half a unit of 1.25 ms after the units since 1980-01-06.
    gps_epoch = datetime.datetime(1980, 1, 6, tzinfo=datetime.timezone.utc)
    since = datetime.timedelta(seconds=67_500_000, microseconds=625)
    assert record.modem_time == gps_epoch + since
    assert record.modem_time_ns == (315_964_800 + 67_500_000) * 10**9 + 625_000


def test_a_stamp_of_zero_is_no_time() -> None:
    capture = log(0xB067, STATISTICS)
    (record,) = sounding.open(capture)
    assert (record.stamp, record.modem_time, record.modem_time_ns) == (0, None, None)
    table = sounding.columns(capture, 0xB067, ["version"])
    assert list(table["modem_time_ns"]) == [-(2**63)]


def test_fields_are_named_and_nested() -> None:
    (record,) = sounding.open(log(0xB067, STATISTICS))
    fields = record.fields
    assert fields is not None
    assert (fields["version"], fields["sub_packet_count"]) == (1, 1)
    (packet,) = fields["sub_packets"]
    assert packet["id"] == "uplink_statistics"
    assert (packet["granted_bytes"], packet["used_bytes"]) == (275, 253)
    numbered = record.decode(numbers=True)
    assert numbered["sub_packets"][0]["id"] == 11


def test_what_cannot_be_read_is_counted_and_says_why() -> None:
    capture = (
        log(0x1234, b"\x05 is undescribed")
        + log(0xB173, b"\xfa\x00\x00\x00")
        + log(0xB173, b"\x24\x01\x00\x00")
        + log(0xB067, STATISTICS)
        + log(0xB067, STATISTICS + b"\x00")
    )
    reader = sounding.open(capture)
    undescribed, unsupported, corrupt, decoded, longer = reader
    assert undescribed.fields is None and "not described" in (undescribed.unread or "")
    assert unsupported.fields is None and "v250" in (unsupported.unread or "")
    assert corrupt.fields is None and "needs" in (corrupt.unread or "")
    assert decoded.unread is None
    counts = reader.counts
    assert (counts.undescribed, counts.unsupported, counts.corrupt, counts.decoded) == (1, 1, 1, 2)
    assert (counts.partly, counts.longer) == (0, 1) and longer.fields == decoded.fields
    assert counts.records == 5
    with pytest.raises(sounding.UnreadError) as raised:
        corrupt.decode()
    assert raised.value.offset == corrupt.offset
    assert raised.value.code == 0xB173


def test_corrupt_frames_are_counted_or_raised() -> None:
    good = log(0xB067, STATISTICS)
    broken = bytearray(good)
    broken[20] ^= 1
    capture = good + bytes(broken) + good
    reader = sounding.open(capture)
    assert len(list(reader)) == 2
    assert (reader.counts.frames, reader.counts.corrupt_frames) == (2, 1)
    assert (reader.counts.first_damage, reader.counts.cut_at) == (len(good), None)
    strict = sounding.open(capture, strict=True)
    next(strict)
    with pytest.raises(sounding.CorruptError) as raised:
        next(strict)
    assert raised.value.offset == len(good)
    # Later records are not lost.
    assert next(strict).offset == 2 * len(good)


def test_only_the_codes_asked_for_are_handed_over() -> None:
    capture = log(0x1234, b"\x01") + log(0xB067, STATISTICS)
    reader = sounding.open(capture, codes=[0xB067])
    assert [record.code for record in reader] == [0xB067]
    assert (reader.counts.records, reader.counts.decoded, reader.counts.undescribed) == (2, 1, 0)


def test_a_record_is_written_as_it_was_read() -> None:
    frame = log(0xB067, STATISTICS, 77)
    (record,) = sounding.open(frame)
    assert record.to_frame() == frame


def test_what_is_no_capture_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no frames in here\n" * 100)
    with pytest.raises(sounding.CaptureError, match=r"notes\.txt.*text"):
        sounding.open(text)
    with pytest.raises(FileNotFoundError) as missing:
        sounding.open(tmp_path / "missing.qmdl")
    assert str(missing.value.filename).endswith("missing.qmdl")
    with pytest.raises(sounding.CaptureError, match="empty"):
        sounding.open(b"")


def test_a_packed_capture_is_unpacked(tmp_path: Path) -> None:
    capture = log(0xB067, STATISTICS) * 5
    packed = tmp_path / "packed.mi2log.gz"
    packed.write_bytes(gzip.compress(capture))
    assert [r.offset for r in sounding.open(packed)] == [r.offset for r in sounding.open(capture)]


def test_a_closed_reader_gives_what_it_has_and_ends() -> None:
    with sounding.open(log(0xB067, STATISTICS)) as reader:
        pass
    assert list(reader) == []


def test_two_threads_can_share_a_reader(lte: Path) -> None:
    expected = sum(1 for _ in sounding.open(lte))
    reader = sounding.open(lte)
    seen: list[int] = []
    threads = [threading.Thread(target=lambda: seen.append(sum(1 for _ in reader))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(seen) == expected


def test_a_capture_has_the_records_its_index_says(lte: Path) -> None:
    reader = sounding.open(lte)
    assert sum(record.fields is not None for record in reader) == reader.counts.decoded
    assert reader.counts.decoded >= 9645
    assert (reader.counts.records, reader.counts.corrupt_frames) == (11867, 0)


def serve(capture: bytes) -> tuple[int, str, threading.Thread]:
    """A tty whose other end writes a capture and hangs up; the modem's end, its path, and the writing thread."""
    import tty

    modem, host = os.openpty()
    tty.setraw(host)
    path = os.ttyname(host)

    def write() -> None:
        sent = 0
        while sent < len(capture):
            sent += os.write(modem, capture[sent : sent + 4096])

    writer = threading.Thread(target=write)
    # The host's end stays open here until the reader has it, or the modem would have no reader to
    # write to.
    threading.Timer(0.5, os.close, [host]).start()
    return modem, path, writer


def test_a_live_port_gives_what_the_file_has(lte: Path) -> None:
    capture = lte.read_bytes()[:400_000]
    expected = [(r.offset, r.code, r.stamp, r.raw) for r in sounding.open(capture)]
    modem, path, writer = serve(capture)
    reader = sounding.open(path, timeout=2)
    writer.start()
    live = [(r.offset, r.code, r.stamp, r.raw) for r in reader]
    writer.join()
    os.close(modem)
    assert live == expected
    assert len(live) > 1000


def frames(stream: bytes) -> list[bytes]:
    """The payloads in a stream of whole frames."""
    escaped = stream.split(b"\x7e")[:-1]
    return [e.replace(b"\x7d\x5e", b"\x7e").replace(b"\x7d\x5d", b"\x7d")[:-2] for e in escaped]


def numbers(payload: bytes, count: int) -> list[int]:
    return [int.from_bytes(payload[4 + 4 * n : 8 + 4 * n], "little") for n in range(count)]


def test_a_live_modem_is_asked_for_the_codes_and_no_others() -> None:
    import tty

    modem, host = os.openpty()
    tty.setraw(host)
    masks: dict[int, list[bytes]] = {}
    held = bytes([0x81]) + bytes(63)

    def answer() -> None:
        """Tells and takes masks, and refuses all other commands; then logs one record."""
        stream = b""
        while True:
            try:
                stream += os.read(modem, 4096)
            except OSError:
                return
            whole, end, stream = stream.rpartition(b"\x7e")
            for request in frames(whole + end):
                done = (0).to_bytes(4, "little")
                if request[0] == 0x73 and numbers(request, 1) == [4]:
                    items = (8 * len(held)).to_bytes(4, "little")
                    os.write(modem, hdlc(request[:8] + done + request[8:12] + items + held))
                    continue
                if request[0] != 0x73 or numbers(request, 1) != [3]:
                    os.write(modem, hdlc(b"\x13" + request))
                    continue
                _, equipment, items = numbers(request, 3)
                masks.setdefault(equipment, []).append(request[16:])
                os.write(modem, hdlc(request[:8] + done + request[8:]))
                if len(masks) == 2 and all(len(sent) == 1 for sent in masks.values()):
                    os.write(modem, log(0xB067, STATISTICS))

    threading.Thread(target=answer, daemon=True).start()
    with sounding.open(os.ttyname(host), codes=[0xB067, 0x4127], timeout=5) as reader:
        assert next(reader).code == 0xB067
    # One more bit in the mask of each equipment while it lasts, and after it what the modem had.
    assert sorted(masks) == [4, 11]
    for equipment, item in ((4, 0x127), (11, 0x067)):
        asked, left = masks[equipment]
        assert [n for n in range(8 * len(asked)) if asked[n // 8] >> n % 8 & 1] == [item]
        assert left == held[: len(left)] and len(left) > 1
    os.close(host)
    os.close(modem)


def test_a_bridge_is_a_port() -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def bridge() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(log(0xB067, STATISTICS) * 3)

    thread = threading.Thread(target=bridge)
    thread.start()
    reader = sounding.open(f"tcp:127.0.0.1:{listener.getsockname()[1]}")
    assert [record.raw for record in reader] == [STATISTICS] * 3
    thread.join()
    listener.close()


def test_what_has_no_end_has_no_columns() -> None:
    modem, host = os.openpty()
    with pytest.raises(ValueError, match="live port"):
        sounding.link(os.ttyname(host))
    os.close(host)
    os.close(modem)


def test_a_port_that_is_no_serial_device_says_so() -> None:
    with pytest.raises(OSError, match="not a serial device"):
        sounding.open("/dev/null")
