"""0xB0A0, 0xB0A2, 0xB0A3, 0xB0A5, 0xB0B0, 0xB0B1, 0xB0B3, 0xB0B5."""

from __future__ import annotations

from .words import YES
from ..rules import Item, Record, Table, counted, each, made, same, text

REASON = {1: "Configuration", 2: "Handover", 4: "RB Release", 8: "Radio Link Failure"}
CIPHER = {2: "Snow3G", 3: "AES", 7: "None"}
LTE_CIPHER = {2: "LTE SNOW-3G", 3: "LTE AES", 7: "None"}
INTEGRITY = {2: "AES", 7: "None"}
ACTION = {1: "Add", 2: "Modify", 4: "Resume"}
SN_LENGTH = {0: "5 bit", 1: "7 bit", 2: "12 bit"}
RELEASED = Table(same("Released RB Cfg Index", "rb_config"))


def _mask(item: Item) -> str:
    return "0x" + int(item["rohc_profiles"]).to_bytes(4, "little").hex()


def _sn(item: Item) -> int:
    return int.from_bytes(item["first_bytes"][:2], "big")


def _size(item: Item) -> int:
    """The bytes of the last PDU, the only one that is said."""
    return int(item["sub_packets"][-1]["pdus"][-1]["pdu_bytes"])


DOWN_CONFIG = Table(
    same("Version", "version"),
    same("Num Subpkt", "sub_packet_count"),
    each("Subpackets", "sub_packets", Table(
        same("Subpacket ID", "id"),
        same("Subpacket Version", "version"),
        same("Subpacket Size", "len_bytes"),
        text("Reason", "reason", REASON),
        text("SRB Cipher Algorithm", "srb_cipher", CIPHER),
        same("SRB Cipher Key Idx", "srb_cipher_key"),
        text("SRB Integrity Algorithm", "srb_integrity", INTEGRITY),
        same("SRB Integrity Key Idx", "srb_integrity_key"),
        text("DRB Cipher Algorithm", "drb_cipher", CIPHER),
        same("DRB Cipher Key Idx", "drb_cipher_key"),
        same("Array size", "room"),
        counted("Number of Released RBs", "released"),
        each("Released RBs", "released", RELEASED),
        counted("Number of Added/Modified RBs", "changed"),
        each("Added/Modified RBs", "changed", Table(
            same("Added/Modified RB Cfg Index", "rb_config"),
            text("Action", "action", ACTION),
        )),
        same("Number of active RBs", "active_count"),
        each("Active RBs", "active", Table(
            same("RB ID", "bearer"),
            same("RB-Cfg Idx", "rb_config"),
            same("EPS ID", "eps_bearer"),
            text("RB mode", "mode", {1: "AM"}),
            text("RB type", "kind", {1: "SRB", 2: "DRB"}),
            same("SN length", "sn_bits"),
            text("Status report", "status_report", {0: "NO", 1: "YES"}),
            same("RoHC Max CID", "rohc_max_cid"),
            made("RoHC Enabled", "rohc", lambda item: "true" if item["rohc"] else "false"),
            made("RoHC Mask", "rohc_profiles", _mask),
            same("Compression Type", "compression"),
            unmapped=("kind", "rohc"),
        )),
    )),
)
DOWN_CONTROL = Table(
    same("Version", "version"),
    same("Num Subpkt", "sub_packet_count"),
    each("Subpackets", "sub_packets", Table(
        same("Subpacket ID", "id"),
        same("Subpacket Version", "version"),
        same("Subpacket Size", "len_bytes"),
        same("RB Cfg Idx", "rb_config"),
        text("Mode", "mode", {1: "AM"}),
        same("SN Length (bit)", "sn_bits"),
        same("Num PDUs", "pdu_count"),
        each("PDCP DL Ctrl PDU", "pdus", Table(
            same("PDU Size", "pdu_bytes"),
            same("Logged Bytes", "logged_bytes"),
            same("sys fn", "frame"),
            same("sub fn", "subframe"),
            text("PDU Type", "control_type", {0: "STATUS"}),
            made("fms", "first_bytes", lambda item: _sn(item) & 0xFFF),
            made("DC", "first_bytes", lambda item: _sn(item) >> 15),
            text("type", "control_type", {0: "STATUS REPORT"}),
        )),
    )),
)
DOWN_CIPHERED = Table(
    same("Version", "version"),
    same("Num Subpkts", "sub_packet_count"),
    each("Subpackets", "sub_packets", Table(
        same("Subpacket ID", "id"),
        same("Subpacket Version", "version"),
        same("Subpacket Size", "len_bytes"),
        text("SRB Cipher Algorithm", "srb_cipher", LTE_CIPHER),
        text("DRB Cipher Algorithm", "drb_cipher", LTE_CIPHER),
        same("Num PDUs", "pdu_count"),
        each("PDCPDL CIPH DATA", "pdus", Table(
            same("Cfg Idx", "rb_config"),
            text("Mode", "mode", {0: "AM"}),
            text("SN Length", "sn_bits", SN_LENGTH),
            same("Bearer ID", "bearer"),
            text("Valid PDU", "valid", YES),
            same("PDU Size", "pdu_bytes"),
            same("Logged Bytes", "logged_bytes"),
            same("Sub FN", "subframe"),
            same("Sys FN", "frame"),
            same("SN", "sn"),
            unmapped=("first_bytes",),
        )),
    )),
)
DOWN_SRB = Table(
    same("Version", "version"),
    same("Num SubPkt", "sub_packet_count"),
    made("PDU Size", "sub_packets", _size),
)
UP_CONFIG = Table(
    same("Version", "version"),
    same("Num Subpkt", "sub_packet_count"),
    each("Subpackets", "sub_packets", Table(
        same("Subpacket ID", "id"),
        same("Subpacket Version", "version"),
        same("Subpacket Size", "len_bytes"),
        text("Reason", "reason", REASON),
        text("SRB Cipher Algorithm", "srb_cipher", CIPHER),
        same("SRB Cipher Key Idx", "srb_cipher_key"),
        text("SRB Integrity Algorithm", "srb_integrity", INTEGRITY),
        same("SRB Integrity Key Idx", "srb_integrity_key"),
        text("DRB Cipher Algorithm", "drb_cipher", CIPHER),
        same("DRB Cipher Key Idx", "drb_cipher_key"),
        same("Array size", "room"),
        counted("Number of Released RBs", "released"),
        each("Released RBs", "released", RELEASED),
        counted("Number of Added/Modified RBs", "changed"),
        each("Added/Modified RBs", "changed", Table(
            same("Added/Modified RB Cfg Index", "rb_config"),
            text("Action", "action", ACTION),
        )),
        same("Number of active RBs", "active_count"),
        each("Active RBs", "active", Table(
            same("RB ID", "bearer"),
            same("RB-Cfg Idx", "rb_config"),
            same("EPS ID", "eps_bearer"),
            text("RB mode", "mode", {1: "AM"}),
            text("RB type", "kind", {1: "SRB", 2: "DRB"}),
            same("SN length", "sn_bits"),
            same("Discard timer", "discard_timer_ms"),
            same("RoHC Max CID", "rohc_max_cid"),
            made("RoHC Enabled", "rohc", lambda item: "true" if item["rohc"] else "false"),
            made("RoHC Mask", "rohc_profiles", _mask),
            same("Compression Type", "compression"),
            same("UDC Cfg Action", "udc_action"),
            same("UDC Context ID", "udc_context"),
            same("UDC Algo Ver", "udc_algorithm"),
            same("UDC Header Length", "udc_header_bytes"),
            unmapped=("kind", "rohc"),
        )),
    )),
)
UP_DATA = Table(
    same("Version", "version"),
    same("Num Subpkt", "sub_packet_count"),
    each("Subpackets", "sub_packets", Table(
        same("Subpacket ID", "id"),
        same("Subpacket Version", "version"),
        same("Subpacket Size", "len_bytes"),
        same("RB Cfg Index", "rb_config"),
        text("Mode", "mode", {1: "AM"}),
        same("SN Length (bit)", "sn_bits"),
        same("Num PDUs", "pdu_count"),
        each("PDCP UL Data PDU", "pdus", Table(
            same("PDU Size", "pdu_bytes"),
            same("Logged Bytes", "logged_bytes"),
            same("System Frame Number", "frame"),
            same("Subframe Number", "subframe"),
            made("SN", "first_bytes", lambda item: item["first_bytes"][0]),
        )),
    )),
)
UP_CIPHERED = Table(
    same("Version", "version"),
    same("Num Subpkts", "sub_packet_count"),
    each("Subpackets", "sub_packets", Table(
        same("Subpacket ID", "id"),
        same("Subpacket Version", "version"),
        same("Subpacket Size", "len_bytes"),
        text("SRB Cipher Algorithm", "srb_cipher", LTE_CIPHER),
        text("DRB Cipher Algorithm", "drb_cipher", LTE_CIPHER),
        same("Num PDUs", "pdu_count"),
        each("PDCPUL CIPH DATA", "pdus", Table(
            same("Cfg Idx", "rb_config"),
            text("Mode", "mode", {0: "AM"}),
            text("SN Length", "sn_bits", SN_LENGTH),
            same("Bearer ID", "bearer"),
            text("Valid PDU", "valid", YES),
            same("PDU Size", "pdu_bytes"),
            same("Logged Bytes", "logged_bytes"),
            same("Sub FN", "subframe"),
            same("Sys FN", "frame"),
            same("SN", "sn"),
            unmapped=("first_bytes",),
        )),
    )),
)
UP_SRB = Table(
    same("Version", "version"),
    same("Num SubPkt", "sub_packet_count"),
    made("PDU Size", "sub_packets", _size),
)

RECORDS = (
    Record(0xB0A0, {None: DOWN_CONFIG}),
    Record(0xB0A2, {None: DOWN_CONTROL}),
    Record(0xB0A3, {None: DOWN_CIPHERED}),
    Record(0xB0A5, {None: DOWN_SRB}),
    Record(0xB0B0, {None: UP_CONFIG}),
    Record(0xB0B1, {None: UP_DATA}),
    Record(0xB0B3, {None: UP_CIPHERED}),
    Record(0xB0B5, {None: UP_SRB}),
)
