"""0xB130, 0xB16B."""

from __future__ import annotations

from ..rules import Item, Record, Rule, Table, each, hexadecimal, made, same, text
from .words import ACK, AGGREGATION, CARRIER, RNTI, SEARCH_SPACE, TRUE, YES

STRUCTURE = {0: "FDD", 1: "TDD"}
ANTENNAS = {0: "1 or 2", 1: "2 antennas", 2: "4 antennas"}
NORMAL = {0: "Normal"}
MATCH = {0: "Mismatch", 1: "Match"}
LOWER = {0: "false", 1: "true"}
FORMATS = {
    0: "Format 0",
    1: "Format 1",
    2: "Format 1A",
    3: "Format 1B",
    4: "Format 1C",
    5: "Format 1D",
    6: "Format 2",
    7: "Format 2A",
    8: "Format 3",
    9: "Format 3A",
    12: "Format 60A",
    13: "Format 61A",
    14: "Format 62",
    15: "Reserved",
}
PRUNE = {
    1: "SUCCESS_DCI0",
    3: "SUCCESS_DCI1A",
    4: "SUCCESS_DCI1C",
    6: "SUCCESS_DCI2_2A_2B",
    8: "TAIL_MISMATCH",
    9: "FAIL_SURVIVOR_SELECT",
    10: "PADDING_ERROR",
    13: "RB_ALLOC_SET_NUM_ERROR_TYPE1",
    17: "DUPLICATE_HARQ_ID_ERROR",
    19: "UNEXPECTED_PAYLOAD_SIZE",
    24: "BAD_RIV_DCI0",
    25: "RB_ALLOC_ERROR_DCI0",
    26: "INVALID_RB_NUM_DCI0",
    32: "BAD_RIV_DCI1A",
    33: "RB_ALLOC_ERROR_DCI1A",
    34: "INVALID_RB_NUM_DCI1A",
    36: "RETURN_DL_DATA_ARRIVAL_DCI1A",
    44: "RB_ALLOC_ERROR_DCI1C",
    48: "PMI_ERROR_DCI2_2A",
    50: "NUM_LAYERS_ERROR_DCI2_2A_TB1",
    64: "FAIL_SER_ENGYMTRC_CHECK",
    70: "NUM_LAYERS_EXCEED_NUM_RX",
    200: "PDCCH_DEBUG_SUCCESS_DCI60A",
    201: "PDCCH_DEBUG_SUCCESS_DCI61A",
    202: "PDCCH_DEBUG_SUCCESS_DCI62",
    216: "PDCCH_DEBUG_SUCCESS_DCI62_EARLY_TERMINATION",
}

CONFIGURED = (
    text("CIF Configured", "cif", TRUE),
    text("Two bits CSI Configured", "two_bit_csi", TRUE),
    text("Aperiodic SRS Configured", "aperiodic_srs", TRUE),
)
HYPOTHESIS = Table(
    hexadecimal("Payload", "payload"),
    text("Aggregation Level", "aggregation", AGGREGATION),
    same("Candidate", "candidate"),
    text("Search Space Type", "search_space", SEARCH_SPACE),
    text("DCI Format", "format", FORMATS),
    text("Decode States", "rnti", RNTI),
    same("Payload Size", "payload_bits"),
    text("Tail Match", "tail_match", MATCH),
    same("Non Zero Symbol Mismatch Count", "mismatched_symbols"),
    same("Start CCE", "start_cce"),
    same("Alt TBS Enabled", "alternative_tbs"),
    same("Non Zero Llr Count", "nonzero_llrs"),
    same("Normal", "normal"),
    text("Prune Status", "prune_status", PRUNE),
    same("Energy Metric", "energy"),
    same("Norm Energy Metric", "norm_energy"),
    same("Symbol Error Rate", "symbol_error_rate"),
)
DECODING = Table(
    same("Version", "version"),
    same("Num Records", "group_count"),
    same("Subframe Number", "subframe"),
    same("System Frame Number", "frame"),
    made("Band Width (MHz)", "bandwidth_mhz", lambda item: int(item["bandwidth_mhz"])),
    CONFIGURED,
    text("Frame Structure", "structure", STRUCTURE),
    text("Num eNB Antennas", "antennas", ANTENNAS),
    text("DL CP", "dl_cyclic_prefix", NORMAL),
    same("SSC", "special_subframe"),
    same("CA FDD TDD", "ca_fdd_tdd"),
    made("__pad", "ca_fdd_tdd", lambda item: 0),
    same("Demback Mode Select", "demback_mode"),
    text("Carrier Index", "carrier", CARRIER),
    same("Number of Hypothesis", "count"),
    each("Hypothesis", "hypotheses", HYPOTHESIS),
    each(
        "SF",
        "groups",
        Table(
            same("Subframe Offset", "subframe_offset"),
            CONFIGURED,
            same("Number of Hypothesis", "count"),
            each("Hypothesis", "hypotheses", HYPOTHESIS),
        ),
    ),
)


def _answer(theirs: str, present: str, ours: str) -> Rule:
    """An answer, or a number in place of one that is not there."""

    def make(item: Item) -> str | int:
        return ACK[item[ours]] if item[present] else item[ours]

    return made(theirs, ours, make)


def _phich(value: object, item: Item, strange: set[str]) -> dict[str, object]:
    """The newer versions have a list of answers, the older ones two answers in the subframe itself."""
    if isinstance(value, list):
        return {"PHICH": [ANSWER.apply(found, strange) for found in value]}
    return OWN_ANSWER.apply({name: item[name] for name in OWN_ANSWER.known if name in item}, strange)


ANSWER = Table(
    same("Cell Index", "cell"),
    text("PHICH Included", "present", YES),
    text("PHICH 1 Included", "second_present", YES),
    text("PHICH Value", "answer", ACK),
    text("PHICH 1 Value", "second_answer", ACK),
)
OWN_ANSWER = Table(
    text("PHICH Included", "phich_present", YES),
    text("PHICH 1 Included", "phich_1_present", YES),
    same("PHICH Timing SFN", "phich_frame"),
    same("PHICH Timing Sub-FN", "phich_subframe"),
    _answer("PHICH Value", "phich_present", "phich"),
    _answer("PHICH 1 Value", "phich_1_present", "phich_1"),
)


def _subframe(truth: dict[int, str]) -> Table:
    message = Table(
        same("Serv Cell Idx", "cell"),
        text("RNTI Type", "rnti", RNTI),
        same("Payload Size", "payload_bits"),
        text("Aggregation Level", "aggregation", AGGREGATION),
        text("Search Space", "search_space", SEARCH_SPACE),
        same("SPS Grant Type", "sps_grant"),
        text("New DL Tx", "new_downlink", truth),
        same("Num DL Trblks", "downlink_blocks"),
    )
    return Table(
        same("Num PDCCH Results", "pdcch_count"),
        same("Num PHICH Results", "phich_count"),
        same("PDCCH Timing SFN", "frame"),
        same("PDCCH Timing Sub-FN", "subframe"),
        Rule(None, "phich", _phich),
        each("PDCCH Info", "pdcch", message),
        unmapped=tuple(OWN_ANSWER.known),
    )


def _indication(truth: dict[int, str]) -> Table:
    return Table(
        same("Version", "version"),
        same("Duplex Mode", "duplex_mode"),
        same("Number of Records", "count"),
        each("Records", "subframes", _subframe(truth)),
    )


RECORDS = (
    Record(0xB130, {None: DECODING}),
    Record(0xB16B, {5: _indication(LOWER), None: _indication(TRUE)}),
)
