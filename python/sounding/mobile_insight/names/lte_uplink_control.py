"""0xB13C, 0xB14D, 0xB14E, 0xB16E, 0xB16F."""

from __future__ import annotations

from .words import CARRIER, ON
from ..rules import Item, Record, Rule, Table, each, hexadecimal, made, same, text

TRANSMISSION = {
    0: "TM_Invalid",
    1: "TM_Single_Ant_Port_0",
    2: "TM_TD_Rank_1",
    3: "TM_OL_SM",
    4: "TM_CL_SM",
    5: "TM_MU_MIMO",
    6: "TM_CL_Rank_1_PC",
    7: "TM_Single_Ant_Port_5",
}
FORMATS = {
    0: "Format 0",
    1: "Format 1",
    2: "Format 1A",
    3: "Format 1B",
    4: "Format 1C",
    5: "Format 1D",
    6: "Format 2",
    7: "Format 2A",
    8: "Format 2B",
    9: "Format 2C",
    10: "Format 3",
    11: "Format 3A",
    12: "Format 4",
}
PUCCH_FORMATS = {0: "Format 1", 1: "Format 1A", 2: "Format 1B", 3: "Format 2", 4: "Format 2A", 5: "Format 2B"}
PUCCH_MODE = {2: "MODE_1_1"}
PUSCH_MODE = {
    0: "MODE_APERIODIC_RM12",
    1: "MODE_APERIODIC_RM20",
    2: "MODE_APERIODIC_RM22",
    3: "MODE_APERIODIC_RM30",
    4: "MODE_APERIODIC_RM31",
}
REPORT = {2: "Type 2, Wideband CQI, PMI Feedback", 3: "Type 3, RI Feedback"}
RANK = {0: "Rank 1"}


def _shifts(item: Item) -> list[dict[str, int]]:
    return [{"Cyclic Shift Seq per Symbol": shift} for shift in item["cyclic_shifts"]]


PUCCH = Table(
    same("Version", "version"),
    same("Serving Cell ID", "pci"),
    same("Number of Records", "count"),
    same("Dispatch SFN SF", "dispatch_tti"),
    each("Records", "transmissions", Table(
        same("Current SFN SF", "tti"),
        made("CQI Payload", "cqi_payload", lambda item: f"{item['cqi_payload']:016b}"),
        text("Carrier Index", "carrier", CARRIER),
        text("Format", "format", PUCCH_FORMATS),
        same("Start RB Slot 0", "start_rb_slot_0"),
        same("Start RB Slot 1", "start_rb_slot_1"),
        text("SRS Shorting for 2nd Slot", "second_slot_shortened", {0: "Normal", 1: "Shorten 2nd"}),
        text("UE SRS", "ue_srs", ON),
        same("DMRS Seq Slot 0", "dmrs_sequence_slot_0"),
        same("DMRS Seq Slot 1", "dmrs_sequence_slot_1"),
        made("Cyclic Shift Seq", "cyclic_shifts", _shifts),
        same("PUCCH Digital Gain (dB)", "digital_gain"),
        same("PUCCH Tx Power (dBm)", "power_dbm"),
        made("ACK Payload", "ack_payload", lambda item: f"{item['ack_payload']:020b}"),
        same("ACK Payload Length", "ack_len"),
        same("SR Bit FMT3", "scheduling_request"),
        same("Num DL Carriers", "dl_carriers"),
        text("DL Carrier Index", "dl_carrier", CARRIER),
        same("n_1_pucch", "n1_pucch"),
        hexadecimal("Ack Nak Index", "ack_index", 4),
        same("Ack Nak Late", "ack_late"),
        same("Csf Late", "csf_late"),
        same("Dropped Pucch", "dropped"),
        same("Tx Resampler", "resampler"),
    )),
)
PUCCH_CSF = Table(
    same("Version", "version"),
    same("Start System Sub-frame Number", "subframe"),
    same("Start System Frame Number", "frame"),
    text("PUCCH Reporting Mode", "mode", PUCCH_MODE),
    text("PUCCH Report Type", "report_type", REPORT),
    same("Number of Subbands", "subbands"),
    text("Rank Index", "rank", RANK),
    same("CQI CW0", "cqi_0"),
    same("CQI CW1", "cqi_1"),
    same("Wideband PMI", "wideband_pmi"),
    text("Carrier Index", "carrier", CARRIER),
    text("CSF Tx Mode", "transmission_mode", TRANSMISSION),
    same("Alt Cqi Table Data", "alternative_cqi_table"),
    same("Num Csirs Ports", "csi_rs_ports"),
    same("Csi Meas Set Index", "csi_set"),
    unmapped=("subband_label",),
)

def _pusch_csf(csi_set: Rule) -> Table:
    """The set of measurements has a word in one version."""
    return Table(
        same("Version", "version"),
        same("Start System Sub-frame Number", "subframe"),
        same("Start System Frame Number", "frame"),
        text("PUSCH Reporting Mode", "mode", PUSCH_MODE),
        csi_set,
        text("Rank Index", "rank", RANK),
        same("Number of Subbands", "subbands"),
        same("WideBand CQI CW0", "wideband_cqi_0"),
        same("WideBand CQI CW1", "wideband_cqi_1"),
        same("SubBand Size (k)", "subband_size"),
        same("Single WB PMI", "wideband_pmi"),
        same("Single MB PMI", "multiband_pmi"),
        text("CSF Tx Mode", "transmission_mode", TRANSMISSION),
        text("Carrier Index", "carrier", CARRIER),
        same("Num CSIrs Ports", "csi_rs_ports"),
        unmapped=("subband_feedback",),
    )


PUSCH_POWER = Table(
    same("Version", "version"),
    same("Number of Records", "count"),
    each("Records", "records", Table(
        same("SFN", "frame"),
        same("Cell Index", "cell"),
        same("Sub-FN", "subframe"),
        same("PUSCH Tx Power (dBm)", "power_dbm"),
        text("DCI Format", "dci_format", FORMATS),
        text("Tx Type", "tx_type", {1: "Dynamic", 2: "RACH MSG3"}),
        same("TPC Frozen", "tpc_frozen"),
        same("Num RBs", "rbs"),
        same("Transport Block Size", "tb_bytes"),
        same("DL Path Loss", "path_loss_db"),
        same("F(i)", "f_i_db"),
        made("TPC", "tpc_db", lambda item: {-1: "-1", 15: "N/A"}.get(item["tpc_db"], item["tpc_db"])),
        same("PUSCH Actual Tx Power", "actual_power_dbm"),
        same("Max Power", "max_power_dbm"),
    )),
)
PUCCH_POWER = Table(
    same("Version", "version"),
    same("Number of Records", "count"),
    each("Records", "records", Table(
        same("SFN", "frame"),
        same("Sub-FN", "subframe"),
        same("PUCCH Tx Power (dBm)", "power_dbm"),
        text("DCI Format", "dci_format", FORMATS | {12: "NO DCI", 13: "NO DCI"}),
        text("PUCCH Format", "format", PUCCH_FORMATS | {6: "Format 1bCS", 7: "Format 3"}),
        same("N_HARQ", "n_harq"),
        made("TPC Command", "tpc_db", lambda item: {-1: "-1", 31: "Not present"}.get(item["tpc_db"], item["tpc_db"])),
        same("N_CQI", "n_cqi"),
        same("DL Path Loss", "path_loss_db"),
        same("g(i)", "g_i_db"),
        same("PUCCH Actual Tx Power", "actual_power_dbm"),
    )),
)

RECORDS = (
    Record(0xB13C, {None: PUCCH}),
    Record(0xB14D, {None: PUCCH_CSF}),
    Record(
        0xB14E,
        {
            42: _pusch_csf(text("Csi Meas Set Index", "csi_set", {0: "CSI0"})),
            None: _pusch_csf(same("Csi Meas Set Index", "csi_set")),
        },
    ),
    Record(0xB16E, {None: PUSCH_POWER}),
    Record(0xB16F, {None: PUCCH_POWER}),
)
