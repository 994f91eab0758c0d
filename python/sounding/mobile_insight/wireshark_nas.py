"""NAS messages of LTE as the XML that Wireshark makes of them: the fields that MobileInsight's analyzers read.

Names are those of Wireshark 3.4, which MobileInsight is built with. Elements without a table here have their name, or
their identifier, and their bytes (TS 24.301 §8 and §9, TS 24.008 §10.5).
"""

from __future__ import annotations

from typing import NamedTuple
from xml.etree import ElementTree

from .. import Message

#: A name and a number of bits.
Part = tuple[str, int]
QOS = "gsm_a.gm.sm.qos."

#: The parts of one element, in order. Where an element ends early the rest is absent.
PARTS: dict[str, tuple[Part, ...]] = {
    "EPS quality of service": (
        ("nas_eps.emm.qci", 8),
        ("nas_eps.emm.mbr_ul", 8),
        ("nas_eps.emm.mbr_dl", 8),
        ("nas_eps.emm.gbr_ul", 8),
        ("nas_eps.emm.gbr_dl", 8),
        ("nas_eps.emm.embr_ul", 8),
        ("nas_eps.emm.embr_dl", 8),
        ("nas_eps.emm.egbr_ul", 8),
        ("nas_eps.emm.egbr_dl", 8),
    ),
    "APN aggregate maximum bit rate": (
        ("nas_eps.emm.apn_ambr_dl", 8),
        ("nas_eps.emm.apn_ambr_ul", 8),
        ("nas_eps.emm.apn_ambr_dl_ext", 8),
        ("nas_eps.emm.apn_ambr_ul_ext", 8),
        ("nas_eps.emm.apn_ambr_dl_ext2", 8),
        ("nas_eps.emm.apn_ambr_ul_ext2", 8),
    ),
    "EMM cause": (("nas_eps.emm.cause", 8),),
    "ESM cause": (("nas_eps.esm.cause", 8),),
    "UE network capability": (
        *((f"nas_eps.emm.{name}", 1) for name in ("eea0", "128eea1", "128eea2", "eea3", "eea4", "eea5", "eea6", "eea7")),
        *((f"nas_eps.emm.{name}", 1) for name in ("eia0", "128eia1", "128eia2", "eia3", "eia4", "eia5", "eia6", "eia7")),
        *((f"nas_eps.emm.uea{number}", 1) for number in range(8)),
        ("nas_eps.emm.emm_ucs2_supp", 1),
        *((f"nas_eps.emm.uia{number}", 1) for number in range(1, 8)),
        ("nas_eps.emm.prose_dd_cap", 1),
        ("nas_eps.emm.prose_cap", 1),
        ("nas_eps.emm.h245_ash_cap", 1),
        ("nas_eps.emm.acc_csfb_cap", 1),
        ("nas_eps.emm.lpp_cap", 1),
        ("nas_eps.emm.lcs_cap", 1),
        ("nas_eps.emm.1xsrvcc_cap", 1),
        ("nas_eps.emm.nf_cap", 1),
    ),
    "Quality Of Service - Negotiated QoS": (
        ("gsm_a.spare_bits", 2),
        (QOS + "delay_cls", 3),
        (QOS + "reliability_cls", 3),
        (QOS + "peak_throughput", 4),
        ("gsm_a.spare_bits", 1),
        (QOS + "prec_class", 3),
        ("gsm_a.spare_bits", 3),
        (QOS + "mean_throughput", 5),
        (QOS + "traffic_cls", 3),
        (QOS + "del_order", 2),
        (QOS + "del_of_err_sdu", 3),
        (QOS + "max_sdu", 8),
        (QOS + "max_bitrate_upl", 8),
        (QOS + "max_bitrate_downl", 8),
        (QOS + "ber", 4),
        (QOS + "sdu_err_rat", 4),
        (QOS + "trans_delay", 6),
        (QOS + "traff_hdl_pri", 2),
        (QOS + "guar_bitrate_upl", 8),
        (QOS + "guar_bitrate_downl", 8),
        ("gsm_a.spare_bits", 3),
        (QOS + "signalling_ind", 1),
        (QOS + "source_stat_desc", 4),
        (QOS + "max_bitrate_downl_ext", 8),
        (QOS + "guar_bitrate_downl_ext", 8),
        (QOS + "max_bitrate_upl_ext", 8),
        (QOS + "guar_bitrate_upl_ext", 8),
    ),
}
PARTS["Quality Of Service - New QoS"] = PARTS["Quality Of Service - Negotiated QoS"]
KEY_AND_TYPE = (
    ("nas_eps.emm.tsc", 1),
    ("nas_eps.emm.nas_key_set_id", 3),
    ("nas_eps.spare_bits", 1),
    ("nas_eps.emm.eps_att_type", 3),
)
KEY_AND_UPDATE = (
    ("nas_eps.emm.tsc", 1),
    ("nas_eps.emm.nas_key_set_id", 3),
    ("nas_eps.emm.active_flg", 1),
    ("nas_eps.emm.update_type_value", 3),
)
KEY_AND_SERVICE = (
    ("nas_eps.emm.tsc", 1),
    ("nas_eps.emm.nas_key_set_id", 3),
    ("nas_eps.emm.service_type", 4),
)
LINKED = (("nas_eps.spare_bits", 4), ("nas_eps.esm.linked_bearer_id", 4))
GUTI, OLD_GUTI = "EPS mobile identity - GUTI", "EPS mobile identity"
CONTAINER = "ESM message container"
#: The protocol of session management (TS 24.007 §11.2.3.1.1).
ESM_DISCRIMINATOR = 2
RATES, QUALITY = "APN aggregate maximum bit rate", "EPS quality of service"
NEGOTIATED, NEW = "Quality Of Service - Negotiated QoS", "Quality Of Service - New QoS"


class Kind(NamedTuple):
    """The elements that a message begins with, and those that follow by identifier."""

    #: Names with the bytes that each takes; 0 for a length before it, -2 for one of two bytes. Parts take a byte.
    first: tuple[tuple[str, int] | tuple[Part, ...], ...] = ()
    rest: dict[int, str] = {}


LISTED = {0x50: GUTI, 0x53: "EMM cause", 0x78: CONTAINER}
EMM = {
    0x41: Kind((KEY_AND_TYPE, (OLD_GUTI, 0), ("UE network capability", 0), (CONTAINER, -2)), {0x50: "Additional GUTI"}),
    0x42: Kind((LINKED[:1] + (("nas_eps.emm.EPS_attach_result", 4),), ("GPRS Timer - T3412 value", 1), ("Tracking area identity list", 0), (CONTAINER, -2)), LISTED),
    0x43: Kind(((CONTAINER, -2),)),
    0x44: Kind((("EMM cause", 1),), LISTED),
    0x48: Kind((KEY_AND_UPDATE, (OLD_GUTI, 0)), {0x50: "Additional GUTI", 0x58: "UE network capability"}),
    0x49: Kind((LINKED[:1] + (("nas_eps.emm.eps_update_result_value", 4),),), LISTED),
    0x4B: Kind((("EMM cause", 1),), LISTED),
    0x4C: Kind((KEY_AND_SERVICE, ("Mobile identity - M-TMSI", 0))),
    0x4E: Kind((("EMM cause", 1),)),
    0x5C: Kind((("EMM cause", 1),)),
    0x5F: Kind((("EMM cause", 1),)),
    0x60: Kind((("EMM cause", 1),)),
}
ESM_REST = {0x30: NEGOTIATED, 0x58: "ESM cause", 0x5B: QUALITY, 0x5E: RATES, 0x28: "Access Point Name"}
CAUSE = Kind((("ESM cause", 1),))
ESM = {
    0xC1: Kind(((QUALITY, 0), ("Access Point Name", 0), ("PDN address", 0)), ESM_REST),
    0xC5: Kind((LINKED, (QUALITY, 0), ("Traffic flow template", 0)), ESM_REST),
    0xC9: Kind((), ESM_REST | {0x30: NEW}),
    **dict.fromkeys((0xC3, 0xC7, 0xCB, 0xCD, 0xD1, 0xD3, 0xD5, 0xD7, 0xE8), CAUSE),
}
#: Elements of the rest with a fixed number of bytes and no length, by identifier: those with a name and the others.
FIXED = {0x13: 5, 0x17: 1, 0x19: 3, 0x52: 5, 0x53: 1, 0x58: 1, 0x59: 1, 0x5A: 1, 0x5C: 2, 0x55: 4, 0x56: 4, 0x32: 1}


def add(packet: ElementTree.Element, message: Message) -> bool:
    """Adds the message's protocol; False if nothing is known of it."""
    if message.channel != "nas_eps" or len(message.raw) < 2:
        return False
    _message(packet, message.raw)
    return True


def _message(parent: ElementTree.Element, raw: bytes) -> None:
    proto = ElementTree.SubElement(
        parent, "proto", {"name": "nas-eps", "showname": "Non-Access-Stratum (NAS)PDU", "size": str(len(raw))}
    )
    discriminator = ("gsm_a.L3_protocol_discriminator", 4)
    if raw[0] & 15 == ESM_DISCRIMINATOR:
        _parts(proto, raw[:1], (("nas_eps.bearer_id", 4), discriminator))
        _parts(proto, raw[1:2], (("nas_eps.esm.proc_trans_id", 8),))
        _parts(proto, raw[2:3], (("nas_eps.nas_msg_esm_type", 8),))
        if len(raw) > 2:
            _elements(proto, raw[3:], ESM.get(raw[2], Kind((), ESM_REST)))
        return
    _parts(proto, raw[:1], (("nas_eps.security_header_type", 4), discriminator))
    if raw[0] >> 4 == 0:
        _parts(proto, raw[1:2], (("nas_eps.nas_msg_emm_type", 8),))
        if raw[1] in EMM:
            _elements(proto, raw[2:], EMM[raw[1]])
    elif raw[0] >> 4 < 5:
        _parts(proto, raw[1:5], (("nas_eps.msg_auth_code", 32),))
        _parts(proto, raw[5:6], (("nas_eps.seq_no", 8),))


def _elements(proto: ElementTree.Element, raw: bytes, kind: Kind) -> None:
    at = 0
    for first in kind.first:
        if not isinstance(first[0], str) or not isinstance(first[1], int):
            _parts(proto, raw[at : at + 1], first)
            at += 1
            continue
        name, size = first
        head = {0: 1, -2: 2}.get(size, 0)
        length = int.from_bytes(raw[at : at + head], "big") if head else size
        _element(proto, name, raw[at : at + head + length], head)
        at += head + length
    while at < len(raw):
        identifier = raw[at]
        if identifier >= 0x80:
            _element(proto, kind.rest.get(identifier & 0xF0, f"0x{identifier >> 4:x}-"), raw[at : at + 1], 0)
            at += 1
            continue
        length, head = FIXED.get(identifier, 0), 1
        if not (identifier in FIXED and not (identifier == 0x58 and kind.rest.get(0x58) == "UE network capability")):
            head = 3 if 0x78 <= identifier <= 0x7F else 2
            length = int.from_bytes(raw[at + 1 : at + head], "big")
        _element(proto, kind.rest.get(identifier, f"0x{identifier:02x}"), raw[at : at + head + length], head)
        at += head + length


def _element(proto: ElementTree.Element, name: str, raw: bytes, head: int) -> None:
    field = ElementTree.SubElement(proto, "field", {"name": "", "show": name, "value": raw.hex()})
    content = raw[head:]
    if head > 0 and len(raw) >= head:
        _field(field, "gsm_a.len", len(content), f"{len(content):02x}")
    if name in PARTS:
        _parts(field, content, PARTS[name])
    elif name in (GUTI, OLD_GUTI, "Additional GUTI") and len(content) >= 11 and content[0] & 7 == 6:
        _guti(field, content)
    elif name == CONTAINER and len(content) > 2 and content[0] & 15 == ESM_DISCRIMINATOR:
        # No message of session management has a container, so damaged bytes lead no deeper.
        _message(field, content)


def _guti(field: ElementTree.Element, content: bytes) -> None:
    """TS 24.301 §9.9.3.12. The digits of a network are swapped in each byte."""
    _parts(field, content[:1], (("", 4), ("nas_eps.emm.odd_even", 1), ("nas_eps.emm.type_of_id", 3)))
    digits = [nibble for byte in content[1:4] for nibble in (byte & 15, byte >> 4)]
    _field(field, "e212.mcc", "".join(map(str, digits[:3])), content[1:3].hex())
    last = [] if digits[3] == 15 else [digits[3]]
    _field(field, "e212.mnc", "".join(map(str, digits[4:] + last)), content[2:4].hex())
    _field(field, "nas_eps.emm.mme_grp_id", int.from_bytes(content[4:6], "big"), content[4:6].hex())
    _field(field, "nas_eps.emm.mme_code", content[6], content[6:7].hex())
    _field(field, "nas_eps.emm.m_tmsi", "0x" + content[7:11].hex(), content[7:11].hex())


def _parts(parent: ElementTree.Element, raw: bytes, parts: tuple[Part, ...]) -> None:
    at = 0
    number, size = int.from_bytes(raw, "big"), len(raw) * 8
    for name, bits in parts:
        at += bits
        if at > size:
            return
        value = number >> size - at & (1 << bits) - 1
        if name:
            _field(parent, name, value, f"{value:0{bits // 4}x}" if bits % 8 == 0 else f"{value:X}")


def _field(parent: ElementTree.Element, name: str, show: object, value: str) -> None:
    showname = f"{name.rpartition('.')[2]}: {show}"
    ElementTree.SubElement(
        parent, "field", {"name": name, "showname": showname, "show": str(show), "value": value}
    )
