"""RRC and NAS messages, and their XML, beside the names that MobileInsight's Wireshark gives to each message."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from test_agreement import captures, zstandard
from test_reader import log

import sounding
from sounding.mobile_insight import DMLogPacket

#: How many different messages of a channel are compared, unless all of them are.
ENOUGH = 1000
CODES = [0xB0C0, 0xB0E2, 0xB0E3, 0xB0EC, 0xB0ED, 0xB821]
#: TS 36.331 §6.2.2: a device requests a connection, with cause mo-Data.
REQUEST = bytes.fromhex("400000000008")
#: TS 24.301 §8.2.9: a network accepts an attach to EPS, and activates a bearer with class 9.
ACCEPT = bytes.fromhex("07420141060062f2240001000a5201c10109076578616d706c650501c0000201")


def ota(pdu: int, message: bytes) -> bytes:
    """A record 0xB0C0 of version 30."""
    body = bytearray(24)
    body[0], body[1], body[14], body[19] = 30, 15, pdu, len(message)
    return log(0xB0C0, bytes(body) + message)


def read(path: Path, *frames: bytes) -> sounding.Record:
    path.write_bytes(b"".join(frames))
    (record,) = sounding.open(path)
    return record


def shown(xml: str) -> dict[str, str]:
    """What each named field of a message shows."""
    fields = ElementTree.fromstring(xml).iter("field")
    return {field.get("name", ""): field.get("show", "") for field in fields}


def test_an_rrc_message_is_decoded(tmp_path: Path) -> None:
    message = read(tmp_path / "a.qmdl", ota(10, REQUEST)).message
    assert message is not None and message.channel == "lte_ul_ccch" and message.uplink
    assert message.raw == REQUEST
    request = message.decode()["message"]["c1"]["rrcConnectionRequest"]
    assert request["criticalExtensions"]["rrcConnectionRequest-r8"]["establishmentCause"] == "mo-Data"


def test_an_rrc_message_is_xml_with_wiresharks_names(tmp_path: Path) -> None:
    decoded = DMLogPacket(read(tmp_path / "a.qmdl", ota(10, REQUEST))).decode()
    fields = shown(decoded["Msg"])
    assert fields["lte-rrc.rrcConnectionRequest_element"] == ""
    assert fields["lte-rrc.c1"] == "1"
    assert fields["lte-rrc.establishmentCause"] == "4"


def test_a_nas_message_is_xml_with_wiresharks_names(tmp_path: Path) -> None:
    record = read(tmp_path / "a.qmdl", log(0xB0EC, b"\x01\x09\x05\x00" + ACCEPT))
    assert record.message is not None
    assert record.message.decode()["message-type"] == "attach-accept"
    root = ElementTree.fromstring(DMLogPacket(record).decode()["Msg"])
    assert [proto.get("name") for proto in root.iter("proto")] == ["nas-eps", "nas-eps"]
    values = {field.get("name"): field.get("value") for field in root.iter("field")}
    assert values["nas_eps.nas_msg_emm_type"] == "42"
    assert values["nas_eps.nas_msg_esm_type"] == "c1"
    assert values["nas_eps.emm.qci"] == "09"


def test_a_damaged_message_has_no_xml_and_says_why(tmp_path: Path) -> None:
    record = read(tmp_path / "a.qmdl", ota(10, b"\x40"))
    assert record.message is not None
    with pytest.raises(sounding.UnreadError, match="lte_ul_ccch: message ends too early"):
        record.message.decode()
    assert "Msg" not in DMLogPacket(record).decode()


def test_a_record_without_a_message_has_none(tmp_path: Path) -> None:
    assert read(tmp_path / "a.qmdl", log(0xB0C8, b"\x01")).message is None


@pytest.mark.parametrize("length", range(len(ACCEPT)))
def test_a_cut_nas_message_is_no_panic(tmp_path: Path, length: int) -> None:
    record = read(tmp_path / "a.qmdl", log(0xB0EC, b"\x01\x09\x05\x00" + ACCEPT[:length]))
    assert DMLogPacket(record).decode()["Pkt Version"] == 1


def test_containers_in_containers_are_no_error(tmp_path: Path) -> None:
    """A container holds a message of session management, which has none."""
    message = b""
    for _ in range(6000):
        message = b"\x07\x43" + len(message).to_bytes(2, "big") + message
    record = read(tmp_path / "a.qmdl", log(0xB0EC, b"\x01\x09\x05\x00" + message))
    fields = ElementTree.fromstring(DMLogPacket(record).decode()["Msg"]).iter("field")
    assert [field.get("name") for field in fields].count("nas_eps.nas_msg_emm_type") == 1


def test_items_of_one_list_are_named_by_the_member_around_it(data: Path) -> None:
    """As tshark 4.0 names them in the same message."""
    capture = data / "captures/mobile-insight__mobileinsight-core/20201116_123302_Xiaomi-Mi10_46000.mi2log"
    records = (DMLogPacket(record).decode() for record in sounding.open(capture, codes=[0xB821]))
    found = set().union(*(shown(decoded["Msg"]) for decoded in records if "Msg" in decoded))
    items = {f"nr-rrc.{item}_TimeDomainResourceAllocation_element" for item in ("PDSCH", "PUSCH")}
    assert items | {"nr-rrc.CSI_AperiodicTriggerState_element", "nr-rrc.FreqBandIndicatorNR"} <= found
    assert not found & {"nr-rrc.BT_Name_r16_element", "nr-rrc.NR_MultiBandInfo"}


def names(xml: str) -> list[str]:
    """The elements of RRC and the kinds of NAS messages, in order."""
    found = []
    for field in ElementTree.fromstring(xml).iter("field"):
        name = field.get("name", "")
        if name.endswith("_element"):
            found.append(name.removesuffix("_element"))
        elif name in ("nas_eps.nas_msg_emm_type", "nas_eps.nas_msg_esm_type"):
            found.append(f"(0x{field.get('value')})")
    return found


def expected(theirs: list[str]) -> list[str]:
    return [name if " " not in name else name[name.rindex("(") :] for name in theirs]


def readings(data: Path) -> Iterator[tuple[sounding.Record, dict[str, object]]]:
    for capture, packed in captures(data):
        rows = {}
        with packed.open("rb") as file:
            for line in zstandard.ZstdDecompressor().stream_reader(file).read().decode().splitlines():
                if '"ws": ["' in line and '"code": "0xB' in line:
                    row = json.loads(line)
                    rows[row["off"]] = row
        for record in sounding.open(capture, codes=CODES) if rows else ():
            if record.offset in rows:
                yield record, rows[record.offset]["mi"]["Msg"]


def test_every_message_has_the_names_that_wireshark_gives_it(data: Path, request: pytest.FixtureRequest) -> None:
    """The first twelve elements of each. Wireshark found one message malformed that is not."""
    every = bool(request.config.getoption("--every-record"))
    seen: set[tuple[str, bytes]] = set()
    compared: Counter[str] = Counter()
    unlike = []
    for record, theirs in readings(data):
        message = record.message
        assert message is not None
        ours, theirs_hex = message.raw.hex(), str(theirs["hex"])
        # MobileInsight reads one byte of the length in version 7, and wraps one kind of message.
        assert (
            ours == theirs_hex
            or (record.version == 7 and ours.startswith(theirs_hex))
            or message.channel == "nr_reconfiguration_complete"
        )
        key = (message.channel, message.raw)
        if key in seen or (compared[message.channel] >= ENOUGH and not every):
            continue
        seen.add(key)
        compared[message.channel] += 1
        wanted = expected(theirs["ws"])  # type: ignore[arg-type]
        found = names(DMLogPacket(record).decode()["Msg"])
        if set(wanted) - set(found) - {"MALFORMED", "nr-rrc.UL_DCCH_Message"}:
            unlike.append((record, wanted, found))
    print(compared)
    assert not unlike, unlike[:3]
    assert compared.keys() >= {"lte_dl_dcch", "lte_bcch_dl_sch", "nb_dl_dcch", "nr_ul_dcch", "nr_reconfiguration", "nas_eps"}
    assert sum(compared.values()) > 5000
