"""0xB244, 0xB245, 0xB246, 0xB24B, 0xB24C."""

from __future__ import annotations

from typing import Any

from .words import ACK, PASS, TRUE
from ..rules import Item, Record, Rule, Table, each, same, text


def _layers(value: list[Item], item: Item, strange: set[str]) -> dict[str, Any]:
    """The last cell of each layer, and the last carrier: MobileInsight writes each over the one before."""
    cells = [layer["cells"][-1] for layer in value if layer["cells"]]
    return {
        "Frequency": value[-1]["earfcn"] if value else 0,
        "layers": [
            {"Ignored": {"PCI": cell["pci"], "RANK": cell["rank"], "Tresel Value": cell["t_reselection"]}} for cell in cells
        ],
    }


DCI = Table(
    same("Version", "version"),
    same("Num of Records", "count"),
    each("Records", "records", Table(
        same("NPDCCH Timing HSFN", "hyperframe"),
        same("NPDCCH Timing SFN", "frame"),
        same("NPDCCH Timing Sub FN", "subframe"),
        same("RNTI Type Data", "rnti_data"),
        text("RNTI Type", "rnti", {0: "C-RNTI", 2: "TC-RNTI"}),
        text("UL Grant Present", "ul_grant", TRUE),
        text("DL Grant Present", "dl_grant", TRUE),
        text("PDCCH Order Present", "pdcch_order", TRUE),
        same("NDI", "ndi"),
        same("SC Index", "subcarrier"),
        same("Redundancy Version", "rv"),
        same("Resource Assignment", "resources"),
        same("Scheduling Delay", "delay"),
        same("MCS", "mcs"),
        same("Repetition Number", "repetition"),
        same("DCI Repetition Number", "dci_repetition"),
        same("HARQ Resource", "harq_resource"),
    )),
)
TRANSMISSIONS = Table(
    same("Version", "version"),
    text("Subcarrier Space", "subcarrier_spacing", {4: "15 kHz"}),
    same("Num of Records", "count"),
    each("Records", "records", Table(
        same("NPDCCH Timing HSFN", "hyperframe"),
        same("NPDCCH Timing SFN", "frame"),
        same("NPDCCH Timing Sub FN", "subframe"),
        text("NPUSCH Format", "npusch_format", {0: "Format 1", 1: "Format 2"}),
        text("Is MSG3", "msg3", TRUE),
        same("ITBS", "tbs_index"),
        same("Repetition Number", "repetitions"),
        same("Num RU", "resource_units"),
        same("RV Index", "rv"),
        same("Num Tone", "tones"),
        same("Start Tone", "start_tone"),
        same("TX Power", "power_dbm"),
        text("NPUSCH format 1 TX Type", "tx_type", {0: "", 1: "New Transmission"}),
        text("ACK NACK", "answer", ACK),
        same("RFLM", "rflm"),
        same("PRACH Collision Valid", "prach_collision"),
        same("PRACH Collision 7680ms", "prach_collision_7680_ms"),
        same("Scrambling Mask", "scrambling_mask"),
    )),
)
PDSCH = Table(
    same("Version", "version"),
    same("Num of Records", "count"),
    each("Records", "records", Table(
        same("SFN", "frame"),
        same("Sub FN", "subframe"),
        text("RNTI Type", "rnti", {1: "C-RNTI", 3: "RA-RNTI", 4: "TC-RNTI"}),
        text("CRC", "crc", PASS),
        same("TB Size", "tb_bits"),
        same("Hyper SFN Data", "hyperframe"),
        same("MCS", "mcs"),
        same("Isf", "subframes"),
        text("Auto ACK", "auto_ack", TRUE),
        same("NDI", "ndi"),
    )),
)
SYSTEM = Table(
    same("Version", "version"),
    text("OP Mode", "operation_mode", {2: "GUARDBAND"}),
    text("Meas BW", "measured_bandwidth", {0: "mbw6 RBs"}),
    same("Cell Id", "pci"),
    same("Frequency", "earfcn"),
    same("Inst Meas RSRP", "rsrp_dbm"),
    same("Srxlev", "srxlev_db"),
)
RESELECTION = Table(
    same("Version", "version"),
    same("Num Layers", "layer_count"),
    same("Num Cells", "layer_count"),
    Rule(None, "layers", _layers),
)

RECORDS = (
    Record(0xB244, {None: DCI}),
    Record(0xB245, {None: TRANSMISSIONS}),
    Record(0xB246, {None: PDSCH}),
    Record(0xB24B, {None: SYSTEM}),
    Record(0xB24C, {None: RESELECTION}),
)
