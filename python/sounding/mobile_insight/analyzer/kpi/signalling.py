"""Indicators of RRC and NAS: attempts, successes and their shares."""

from __future__ import annotations

from typing import Any

from ..analyzer import Event
from ..messages import find, message_of
from .kpi_analyzer import KpiAnalyzer

__all__ = [
    "AttachSrAnalyzer",
    "DedicatedBearerSrAnalyzer",
    "HoSrAnalyzer",
    "RrcSrAnalyzer",
    "ServiceReqSrAnalyzer",
    "TauSrAnalyzer",
]

RRC = "LTE_RRC_OTA_Packet"
INCOMING, OUTGOING = "LTE_NAS_EMM_OTA_Incoming_Packet", "LTE_NAS_EMM_OTA_Outgoing_Packet"
ESM_INCOMING, ESM_OUTGOING = "LTE_NAS_ESM_OTA_Incoming_Packet", "LTE_NAS_ESM_OTA_Outgoing_Packet"


def _kpis(kind: str, name: str, *counts: str) -> tuple[str, ...]:
    return tuple(f"KPI.{kind}.{name}_{count}" for count in counts)


class _Attempts(KpiAnalyzer):
    """Requests, and the successes of those that are open."""

    #: The names of the two counts.
    REQUESTS = SUCCESSES = ""

    def __init__(self) -> None:
        super().__init__()
        self._open = False

    def requested(self, event: Event) -> None:
        self._open = True
        self.count(self.REQUESTS, event.data.decode()["timestamp"])

    def succeeded(self, event: Event) -> None:
        if self._open:
            self._open = False
            self.count(self.SUCCESSES, event.data.decode()["timestamp"])


class RrcSrAnalyzer(_Attempts):
    """Connections of RRC."""

    REQUESTS, SUCCESSES = _kpis("Accessibility", "RRC", "REQ", "SUC")
    ABNORMAL = "KPI.Retainability.RRC_AB_REL"
    KPIS = (REQUESTS, SUCCESSES, ABNORMAL)
    RATES = {"KPI.Accessibility.RRC_SR": (SUCCESSES, REQUESTS)}
    TYPES = (RRC, "LTE_MAC_UL_Buffer_Status_Internal")

    def __init__(self) -> None:
        super().__init__()
        self._buffered: dict[int, int] = {}

    def on_record(self, event: Event) -> None:
        """A message of RRC; a connection that is released while the device has data is abnormal."""
        if event.type_id != RRC:
            for packet in event.data.decode().get("Subpackets", []):
                for state in (state for sample in packet.get("Samples", []) for state in sample["LCIDs"]):
                    if "Total Bytes" in state:
                        self._buffered[state["Ld Id"]] = state["Total Bytes"]
            return
        message = message_of(event)
        for _ in find(message, "establishmentCause"):
            self.requested(event)
        for _ in find(message, "rrcConnectionSetupComplete"):
            self.succeeded(event)
        for _ in find(message, "releaseCause"):
            if sum(self._buffered.values()):
                self.count(self.ABNORMAL, event.data.decode()["timestamp"])


class HoSrAnalyzer(KpiAnalyzer):
    """Handovers."""

    TOTAL, FAILURE = KPIS = _kpis("Mobility", "HO", "TOTAL", "FAILURE")
    RATES = {"KPI.Mobility.HO_SR": (FAILURE, TOTAL)}
    OF_FAILURES = frozenset(RATES)
    TYPES = (RRC,)

    def on_record(self, event: Event) -> None:
        """A message of RRC."""
        message = message_of(event)
        for _ in find(message, "mobilityControlInfo"):
            self.count(self.TOTAL, event.data.decode()["timestamp"])
        for cause in find(message, "reestablishmentCause"):
            if cause == "handoverFailure":
                self.count(self.FAILURE, event.data.decode()["timestamp"])


class _Nas(_Attempts):
    """Attempts whose request and acceptance are kinds of messages."""

    REQUEST = ACCEPT = ""
    TYPES = (INCOMING, OUTGOING)

    def on_record(self, event: Event) -> None:
        """A message of NAS."""
        kind = message_of(event).get("message-type")
        if event.type_id == OUTGOING and kind == self.REQUEST:
            self.requested(event)
        elif event.type_id == INCOMING and kind == self.ACCEPT:
            self.succeeded(event)


class AttachSrAnalyzer(_Nas):
    """Attaches."""

    REQUESTS, SUCCESSES = KPIS = _kpis("Accessibility", "ATTACH", "REQ", "SUC")
    RATES = {"KPI.Accessibility.ATTACH_SR": (SUCCESSES, REQUESTS)}
    REQUEST, ACCEPT = "attach-request", "attach-accept"


class TauSrAnalyzer(_Nas):
    """Updates of the tracking area."""

    REQUESTS, SUCCESSES = KPIS = _kpis("Mobility", "TAU", "REQ", "SUC")
    RATES = {"KPI.Mobility.TAU_SR": (SUCCESSES, REQUESTS)}
    REQUEST, ACCEPT = "tracking-area-update-request", "tracking-area-update-accept"


class ServiceReqSrAnalyzer(_Attempts):
    """Service requests: one succeeds when a bearer is active."""

    REQUESTS, SUCCESSES = KPIS = _kpis("Accessibility", "SR", "REQ", "SUC")
    RATES = {"KPI.Accessibility.SR_SR": (SUCCESSES, REQUESTS)}
    TYPES = (OUTGOING, "LTE_NAS_ESM_State")

    def on_record(self, event: Event) -> None:
        """A message of NAS, or the state of a bearer."""
        if event.type_id == OUTGOING:
            message = event.data.record.message
            # A service request has a security header of its own (TS 24.301 §9.3.1).
            if message is not None and message.raw[:1] and message.raw[0] >> 4 == 12:
                self.requested(event)
        elif event.data.decode().get("EPS bearer state") == 2:
            self.succeeded(event)


class DedicatedBearerSrAnalyzer(KpiAnalyzer):
    """Dedicated bearers of the classes 1 to 4."""

    KPIS = tuple(
        kpi
        for qci in range(1, 5)
        for kpi in _kpis("Accessibility", f"DEDICATED_BEARER_SR_QCI{qci}", "REQ", "SUC")
    )
    RATES = {f"{kpi.removesuffix('SUC')}SR": (kpi, f"{kpi.removesuffix('SUC')}REQ") for kpi in KPIS if kpi[-3:] == "SUC"}
    TYPES = (ESM_INCOMING, ESM_OUTGOING)

    def __init__(self) -> None:
        super().__init__()
        self._asked: str | None = None

    def on_record(self, event: Event) -> None:
        """A message of session management."""
        message: dict[str, Any] = message_of(event)
        kind, timestamp = message.get("message-type"), event.data.decode()["timestamp"]
        if event.type_id == ESM_INCOMING and kind == "activate-dedicated-eps-bearer-context-request":
            qci = message.get("eps-qos", {}).get("qci")
            if qci in range(1, 5):
                self._asked = f"KPI.Accessibility.DEDICATED_BEARER_SR_QCI{qci}_"
                self.count(f"{self._asked}REQ", timestamp)
        elif event.type_id == ESM_OUTGOING and self._asked is not None:
            if kind == "activate-dedicated-eps-bearer-context-accept":
                self.count(f"{self._asked}SUC", timestamp)
                self._asked = None
