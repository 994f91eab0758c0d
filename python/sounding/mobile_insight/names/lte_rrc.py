"""0xB0C0, 0xB0C1, 0xB0C2, 0xB198, 0xB821; and NAS of LTE: 0xB0E2, 0xB0E3, 0xB0E5, 0xB0EC, 0xB0ED, 0xB0EE."""

from __future__ import annotations

from ..rules import UNKNOWN, Item, Record, Table, each, hexadecimal, made, same, text


def _time(item: Item) -> int:
    """The time as one word: two bits above the frame number, the frame number, the subframe."""
    return int(item["above_frame"] << 14 | item["frame"] << 4 | item["subframe"])


PLACE = (
    same("Radio Bearer ID", "radio_bearer"),
    same("Physical Cell ID", "pci"),
    same("Freq", "earfcn"),
    made("SysFrameNum/SubFrameNum", "frame", _time),
    same("PDU Number", "pdu"),
    same("SIB Mask in SI", "sib_mask"),
    same("Msg Length", "len_bytes"),
)
#: Here instead of `Msg`, which `packet` makes.
REST = ("message", "subframe", "above_frame", "segment", "unknown")
OTA = Table(
    same("Pkt Version", "version"),
    same("RRC Release Number", "release"),
    same("Major/minor", "release_version"),
    PLACE,
    unmapped=REST,
)
OTA_NR = Table(
    same("Pkt Version", "version"),
    same("RRC Release Number", "release"),
    hexadecimal("RRC Version Number", "release_version", 2),
    same("NR RRC Release Number", "nr_release"),
    hexadecimal("NR RRC Version Number", "nr_release_version", 2),
    PLACE,
    unmapped=REST,
)
NR_OTA = Table(
    same("Pkt Version", "version"),
    made("Unknown", "version", lambda item: 0),
    same("RRC Release Number", "release"),
    hexadecimal("RRC Version Number", "release_version", 2),
    same("Radio Bearer ID", "radio_bearer"),
    same("Physical Cell ID", "pci"),
    same("Freq", "nr_arfcn"),
    same("SysFrameNum/SubFrameNum", "time"),
    same("PDU Number", "pdu"),
    same("SIB Mask in SI", "sib_mask"),
    same("Msg Length", "len_bytes"),
    unmapped=REST,
)


def _megahertz(theirs: str, ours: str) -> tuple[str, str, dict[int, str]]:
    return theirs, ours, {0: "0 MHz", 6: "1.4 MHz", 15: "3 MHz", 25: "5 MHz", 50: "10 MHz", 75: "15 MHz", 100: "20 MHz"}


MIB = Table(
    same("Version", "version"),
    same("Physical Cell ID", "pci"),
    same("Freq", "earfcn"),
    same("SFN", "frame"),
    same("Number of Antenna", "tx_antennas"),
    text(*_megahertz("DL BW", "dl_bandwidth_prb")),
)
SERVING = Table(
    same("Version", "version"),
    same("Cell ID", "pci"),
    same("Downlink frequency", "dl_earfcn"),
    same("Uplink frequency", "ul_earfcn"),
    text(*_megahertz("Downlink bandwidth", "dl_bandwidth_prb")),
    text(*_megahertz("Uplink bandwidth", "ul_bandwidth_prb")),
    same("Cell Identity", "cell_identity"),
    same("TAC", "tac"),
    same("Band Indicator", "band"),
    same("MCC", "mcc"),
    same("MNC Digit", "mnc_digits"),
    same("MNC", "mnc"),
    same("Allowed Access", "allowed_access"),
)
EVENTS = {
    0: "ON_DURATION_TIMER_START",
    1: "ON_DURATION_TIMER_END",
    2: "SHORT_CYCLE_START",
    3: "SHORT_CYCLE_END",
    4: "LONG_CYCLE_START",
    5: "LONG_CYCLE_END",
    6: "UL_RETX_TIMER_START",
    7: "UL_RETX_TIMER_END",
    8: "INACTIVITY_TIMER_START",
    9: "INACTIVITY_TIMER_END",
    10: "DL_DRX_RETX_TIMER_START",
    11: "DL_DRX_RETX_TIMER_END",
    12: "CDRX_ON_2_OFF",
    13: "CDRX_OFF_2_ON",
    22: "WAKEUP_MISSED_CYCLE_TIMER_START",
    23: "WAKEUP_MISSED_CYCLE_TIMER_END",
}
#: By the bit.
MASK = {
    0: "CYCLE_START",
    2: "ON_DURATION_TIMER",
    3: "INACTIVITY_TIMER",
    4: "DRX_RETX_TIMER",
    5: "MISSING_CYCLE_TIMER",
    6: "PENDING_SR",
    7: "PENDING_UL_RETX",
    8: "RACH",
    11: "T310",
    15: "WAKEUP_MISSED_CYCLE_TIMER",
    16: "CATM1_UL_RETX_TIMER",
}


def _mask(item: Item) -> str:
    mask = item["internal_mask"]
    words = [word for bit, word in MASK.items() if mask >> bit & 1]
    if mask & ~sum(1 << bit for bit in MASK):
        words.append(UNKNOWN)
    return "|" + "".join(f"{word}|" for word in words)


DRX = Table(
    same("Version", "version"),
    same("Num Records", "count"),
    each(
        "Records",
        "records",
        Table(
            same("SFN", "frame"),
            same("Sub-FN", "subframe"),
            text("CDRX Event", "event", EVENTS),
            made("Internal Field Mask", "internal_mask", _mask),
        ),
    ),
)

NAS = Table(
    same("Pkt Version", "version"),
    same("RRC Release Number", "release"),
    same("Major Version", "release_major"),
    same("Minor Version", "release_minor"),
    unmapped=("message",),
)
BEARER = Table(
    same("Version", "version"),
    same("EPS bearer type", "bearer_kind"),
    same("EPS bearer ID", "bearer"),
    same("EPS bearer state", "bearer_state"),
    same("Len", "qos_len_bytes"),
    same("QCI", "qci"),
    same("UL MBR", "max_rate_up_raw"),
    same("DL MBR", "max_rate_down_raw"),
    same("UL GBR", "guaranteed_rate_up_raw"),
    same("DL GBR", "guaranteed_rate_down_raw"),
    same("UL MBR ext", "max_rate_up_ext_raw"),
    same("DL MBR ext", "max_rate_down_ext_raw"),
    same("UL GBR ext", "guaranteed_rate_up_ext_raw"),
    same("DL GBR ext", "guaranteed_rate_down_ext_raw"),
    unmapped=("unknown",),
)
EMM = {
    0: "EMM_NULL",
    1: "EMM_DEREGISTERED",
    2: "EMM_REGISTERED_INITIATED",
    3: "EMM_REGISTERED",
    4: "EMM_TRACKING_AREA_UPDATING_INITIATED",
    5: "EMM_SERVICE_REQUEST_INITIATED",
    6: "EMM_DEREGISTERED_INITIATED",
}
REGISTERED = {
    0: "EMM_REGISTERED_NORMAL_SERVICE",
    1: "EMM_REGISTERED_UPDATE_NEEDED",
    2: "EMM_REGISTERED_ATTEMPTING_TO_UPDATE",
    3: "EMM_REGISTERED_NO_CELL_AVAILABLE",
    4: "EMM_REGISTERED_PLMN_SEARCH",
    5: "EMM_REGISTERED_LIMITED_SERVICE",
}
#: By the state.
SUBSTATES = {
    1: {
        0: "EMM_DEREGISTERED_NO_IMSI",
        1: "EMM_DEREGISTERED_PLMN_SEARCH",
        2: "EMM_DEREGISTERED_ATTACH_NEEDED",
        3: "EMM_DEREGISTERED_NO_CELL_AVAILABLE",
        4: "EMM_DEREGISTERED_ATTEMPTING_TO_ATTACH",
        5: "EMM_DEREGISTERED_NORMAL_SERVICE",
        6: "EMM_DEREGISTERED_LIMITED_SERVICE",
        7: "EMM sub-state = 7",
    },
    2: {0: "EMM_WAITING_FOR_NW_RESPONSE", 1: "EMM_WAITING_FOR_ESM_RESPONSE"},
    3: REGISTERED,
    4: REGISTERED,
    5: REGISTERED,
}


def _substate(item: Item) -> str:
    if item["emm_state"] not in SUBSTATES:
        return "Undefined"
    return SUBSTATES[item["emm_state"]].get(item["emm_substate"], UNKNOWN)


STATE = Table(
    same("Version", "version"),
    text("EMM State", "emm_state", EMM),
    made("EMM Substate", "emm_substate", _substate),
    same("PLMN", "plmn"),
    same("GUTI Valid", "guti_valid"),
    same("GUTI UE Id", "guti_kind"),
    same("GUTI PLMN", "guti_plmn"),
    hexadecimal("GUTI MME Group ID", "guti_mme_group"),
    hexadecimal("GUTI MME Code", "guti_mme_code", 2),
    hexadecimal("GUTI M-TMSI", "guti_m_tmsi"),
)

RECORDS = (
    Record(0xB0C0, {None: OTA_NR, **{version: OTA for version in range(25)}}),
    Record(0xB0C1, {None: MIB}),
    Record(0xB0C2, {None: SERVING}),
    Record(0xB198, {None: DRX}),
    Record(0xB821, {None: NR_OTA}),
    Record(0xB0E2, {None: NAS}),
    Record(0xB0E3, {None: NAS}),
    Record(0xB0E5, {None: BEARER}),
    Record(0xB0EC, {None: NAS}),
    Record(0xB0ED, {None: NAS}),
    Record(0xB0EE, {None: STATE}),
)
