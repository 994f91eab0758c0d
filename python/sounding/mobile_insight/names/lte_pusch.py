"""0xB139."""

from __future__ import annotations

from ..rules import Item, Record, Rule, Table, each, hexadecimal, made, same, text
from .words import CARRIER, ENABLED, EXISTS, ON, ORDINAL

MODULATION = {0: "BPSK", 1: "QPSK", 2: "16-QAM", 3: "64-QAM"}


def _ack_payload(value: int | bytes, item: Item, strange: set[str]) -> str:
    """Twenty bits, byte by byte; newer versions have room for more."""
    return "0x" + (value if isinstance(value, bytes) else value.to_bytes(3, "little")).hex()


def _report(carrier: str, code_rate: str) -> Table:
    transmission = Table(
        same("Current SFN SF", "tti"),
        text(carrier, "carrier", CARRIER),
        text("ACK", "has_ack", EXISTS),
        text("CQI", "has_cqi", EXISTS),
        text("RI", "has_ri", EXISTS),
        text("Frequency Hopping", "hopping", ENABLED),
        text("Re-tx Index", "retx", ORDINAL),
        same("Redund Ver", "rv"),
        same("Mirror Hopping", "mirror_hopping"),
        same("Resource Allocation Type", "allocation_type"),
        same("Start RB Slot 0", "start_rb_slot_0"),
        same("Start RB Slot 1", "start_rb_slot_1"),
        same("Num of RB", "rbs"),
        text("DL Carrier Index", "dl_carrier", CARRIER),
        same("Enable UL DMRS OCC", "ul_dmrs_occ"),
        same("PUSCH TB Size", "tb_bytes"),
        same(code_rate, "code_rate"),
        same("Rate Matched ACK Bits", "rate_matched_ack_bits"),
        hexadecimal("RI Payload", "ri_payload", 2),
        same("Rate Matched RI Bits", "rate_matched_ri_bits"),
        text("UE SRS", "ue_srs", ON),
        text("SRS Occasion", "srs_occasion", ON),
        Rule("ACK Payload", "ack_payload", _ack_payload),
        same("ACK/NAK Inp Length 0", "ack_len_0"),
        same("ACK/NAK Inp Length 1", "ack_len_1"),
        same("Num RI Bits NRI (bits)", "ri_bits"),
        text("PUSCH Mod Order", "modulation", MODULATION),
        same("PUSCH Digital Gain (dB)", "digital_gain"),
        same("Start RB Cluster1", "start_rb_cluster_1"),
        same("Num RB Cluster1", "rbs_cluster_1"),
        same("PUSCH Tx Power (dBm)", "power_dbm"),
        same("Num CQI Bits", "cqi_bits"),
        same("Rate Matched CQI Bits", "rate_matched_cqi_bits"),
        same("Num DL Carriers", "dl_carriers"),
        same("Ack Nack Index", "ack_index"),
        same("Ack Nack Late", "ack_late"),
        same("CSF Late", "csf_late"),
        same("Drop PUSCH", "dropped"),
        hexadecimal("CQI Payload", "cqi_payload"),
        same("Tx Resampler", "resampler"),
        same("Cyclic Shift of DMRS Symbols Slot 0 (Samples)", "dmrs_cyclic_shift_slot_0"),
        same("Cyclic Shift of DMRS Symbols Slot 1 (Samples)", "dmrs_cyclic_shift_slot_1"),
        same("DMRS Root Slot 0", "dmrs_root_slot_0"),
        same("DMRS Root Slot 1", "dmrs_root_slot_1"),
    )
    return Table(
        same("Version", "version"),
        same("Serving Cell ID", "pci"),
        same("Number of Records", "count"),
        same("Dispatch SFN SF", "dispatch_tti"),
        each("Records", "transmissions", transmission),
    )


RECORDS = (
    Record(
        0xB139,
        {
            43: _report("UL Carrier Index", "Coding Rate Data"),
            102: _report("Carrier Index", "Coding Rate"),
            None: _report("UL Carrier Index", "Coding Rate"),
        },
    ),
)
