"""0x4127, 0x412F, 0x7130, 0x7131, 0x7135, 0x713A."""

from __future__ import annotations

from typing import Any

from ..rules import Item, Record, Rule, Table, made, same, text

GMM_STATE = {
    0: "GMM_NULL",
    1: "GMM_DEREGISTERED",
    2: "GMM_REGISTERED_INITIATED",
    3: "GMM_REGISTERED",
    4: "GMM_DEREGISTERED_INITIATED",
    5: "GMM_ROUTING_AREA_UPDATING_INITIATED",
    6: "GMM_SERVICE_REQUEST_INITIATED",
}
GMM_SUBSTATE = {
    0: "GMM_NORMAL_SERVICE",
    1: "GMM_LIMITED_SERVICE",
    2: "GMM_ATTACH_NEEDED",
    3: "GMM_ATTEMPTING_TO_ATTACH",
    4: "GMM_NO_IMSI",
    5: "GMM_NO_CELL_AVAILABLE",
    6: "GMM_PLMN_SEARCH",
    7: "GMM_SUSPENDED",
    8: "GMM_UPDATE_NEEDED",
    9: "GMM_ATTEMPTING_TO_UPDATE",
    10: "GMM_ATTEMPTING_TO_UPDATE_MM",
    11: "GMM_IMSI_DETACH_INITIATED",
    12: "GMM Substate = 12",
}
GMM_UPDATE = {
    0: "GMM_GU1_UPDATED",
    1: "GMM_GU2_NOT_UPDATED",
    2: "GMM_GU3_PLMN_NOT_ALLOWED",
    3: "GMM_GU3_ROUTING_AREA_NOT_ALLOWED",
}
MM_STATE = {
    0: "MM_NULL",
    3: "MM_LOCATION_UPDATE_INITIATED",
    5: "MM_WAIT_FOR_OUTGOING_MM_CONNECTION",
    6: "MM_CONNECTION_ACTIVE",
    7: "MM_IMSI_DETACH_INITIATED",
    9: "MM_WAIT_FOR_NETWORK_COMMAND",
    10: "MM_LOCATION_UPDATE_REJECTED",
    13: "MM_WAIT_FOR_RR_CONNECTION_UL",
    14: "MM_WAIT_FOR_RR_CONNECTION_MM",
    15: "MM_WAIT_FOR_RR_CONNECTION_IMSI_DETACH",
    17: "MM_REESTABLISHMENT_INITIATED",
    18: "MM_WAIT_FOR_RR_ACTIVE",
    19: "MM_IDLE",
    20: "MM_WAIT_FOR_ADDITIONAL_OUTGOING_MM_CONNECTION",
    21: "MM_WAIT_FOR_RR_CONNECTION_REESTABLISHMENT",
    22: "MM_WAIT_FOR_REESTABLISH_DECISION",
}
MM_SUBSTATE = {
    0: "MM_NULL_SUBSTATE",
    1: "MM_NO_IMSI",
    2: "MM_PLMN_SEARCH",
    3: "MM_LIMITED_SERVICE",
    4: "MM_ATTEMPTING_TO_UPDATE",
    5: "MM_LOCATION_UPDATE_NEEDED",
    6: "MM_NO_CELL_AVAILABLE",
    7: "MM_PLMN_SEARCH_NORMAL_SERVICE",
    8: "MM_NORMAL_SERVICE",
}


def _sib(value: int, item: Item, strange: set[str]) -> dict[str, Any]:
    """The kind of a block, under the name that its channel has."""
    return {"Extra SIB Type" if item["channel"] == 254 else "Extension SIB Type": value}


SERVING = Table(
    same("Uplink RF channel number", "ul_uarfcn"),
    same("Download RF channel number", "dl_uarfcn"),
    same("Cell ID", "cell_identity"),
    same("UTRA registration area (overlapping URAs)", "registration_area"),
    same("Allowed call access", "allowed_access"),
    made("PSC", "psc", lambda item: item["psc"] << 4),
    same("PLMN", "plmn"),
    same("LAC", "lac"),
    same("RAC", "rac"),
)
RRC = Table(
    same("Channel Type", "channel"),
    same("Radio Bearer ID", "radio_bearer"),
    same("Message Length", "len_bytes"),
    Rule(None, "sib", _sib),
    unmapped=("message", "uarfcn", "scrambling_code"),
)
GMM = Table(
    text("GMM State", "gmm_state", GMM_STATE),
    text("GMM Substate", "gmm_substate", GMM_SUBSTATE),
    text("GMM Update Status", "gmm_update_status", GMM_UPDATE),
)
MM = Table(
    text("MM State", "mm_state", MM_STATE),
    text("MM Substate", "mm_substate", MM_SUBSTATE),
    text("MM Update Status", "mm_update_status", {0: "UPDATED", 1: "NOT_UPDATED", 2: "ROAMING_NOT_ALLOWED"}),
)
REGISTRATION = Table(
    same("Network operation mode", "network_operation_mode"),
    same("CS/PS service type", "service_kind"),
    same("PLMN", "plmn"),
    same("LAC", "lac"),
    same("RAC", "rac"),
    same("Available PLMN count", "available_plmns"),
    same("CSG", "csg"),
)
NAS = Table(
    text("Message Direction", "direction", {0: "TO_UE", 1: "FROM_UE"}),
    same("Message Length", "len_bytes"),
    unmapped=("message",),
)

RECORDS = (
    Record(0x4127, {None: SERVING}),
    Record(0x412F, {None: RRC}),
    Record(0x7130, {None: GMM}),
    Record(0x7131, {None: MM}),
    Record(0x7135, {None: REGISTRATION}),
    Record(0x713A, {None: NAS}),
)
