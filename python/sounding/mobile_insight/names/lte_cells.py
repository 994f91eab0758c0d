"""0xB179, 0xB18A, 0xB195."""

from __future__ import annotations

from .words import CELL
from ..rules import Record, Table, each, same, text

INTRA = Table(
    same("Version", "version"),
    text("Serving Cell Index", "cell", CELL),
    same("E-ARFCN", "earfcn"),
    same("Serving Physical Cell ID", "pci"),
    same("Sub-frame Number", "tti"),
    same("RSRP(dBm)", "rsrp_dbm"),
    same("RSRQ(dB)", "rsrq_db"),
    same("Number of Neighbor Cells", "neighbour_count"),
    same("Number of Detected Cells", "detected_count"),
    each("Neighbor Cells", "neighbours", Table(
        same("Physical Cell ID", "pci"),
        same("RSRP(dBm)", "rsrp_dbm"),
        same("RSRQ(dB)", "rsrq_db"),
    )),
    each("Detected Cells", "detected", Table(
        same("Physical Cell ID", "pci"),
        same("SSS Corr Value", "sss_correlation"),
        same("Reference Time", "reference_time"),
    )),
)
MONITORING = Table(
    same("Version", "version"),
    same("Number of Records", "count"),
    each("Records", "records", Table(
        same("System Frame Number", "frame"),
        same("Sub-frame Number", "subframe"),
        same("Out of Sync BLER (%)", "out_of_sync_bler_percent"),
        same("In Sync BLER (%)", "in_sync_bler_percent"),
        same("Out of Sync Count", "out_of_sync_count"),
        same("In Sync Count", "in_sync_count"),
        same("T310 Timer Status", "t310"),
    )),
)
NEIGHBOURS = Table(
    same("Version", "version"),
    same("Number of SubPackets", "sub_packet_count"),
    each("SubPackets", "sub_packets", Table(
        same("SubPacket ID", "id"),
        same("Version", "version"),
        same("SubPacket Size", "len_bytes"),
        same("E-ARFCN", "earfcn"),
        same("Num Cells", "cell_count"),
        text("Deplexing Mode", "duplex_mode", {0: "FDD", 1: "TDD"}),
        text("Serving Cell Index", "cell", CELL),
        each("Neighbor Cells", "cells", Table(
            same("Physical Cell ID", "pci"),
            same("FTL Cumulative Freq Offset", "frequency_offset"),
            same("Inst Measured RSRP", "rsrp_dbm"),
            same("Inst Measured RSRQ", "rsrq_db"),
            same("Inst Measured RSSI", "rssi_dbm"),
            unmapped=("rsrp_rx0_dbm", "rsrp_rx1_dbm", "rsrq_rx0_db", "rsrq_rx1_db", "rssi_rx0_dbm", "rssi_rx1_dbm"),
        )),
        unmapped=("unsupported",),
    )),
)

RECORDS = (
    Record(0xB179, {None: INTRA}),
    Record(0xB18A, {None: MONITORING}),
    Record(0xB195, {None: NEIGHBOURS}),
)
