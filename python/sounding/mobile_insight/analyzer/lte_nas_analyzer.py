"""The registration and the bearers of LTE's NAS."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .analyzer import Analyzer, Event
from .messages import NAS, find, message_of

__all__ = ["EmmStatus", "EsmStatus", "LteNasAnalyzer"]

EMM_STATE, ESM_STATE = "LTE_NAS_EMM_State", "LTE_NAS_ESM_State"
#: The number in the record of a bearer that carries data.
CONNECTED = 2


@dataclass
class EmmStatus:
    """The registration."""

    state: str | None = None
    substate: str | None = None
    plmn: str | None = None
    #: By the record's names.
    guti: dict[str, str] = field(default_factory=dict)


@dataclass
class EsmStatus:
    """A bearer. The rates are codes of TS 24.008 §10.5.6.5."""

    eps_id: int
    type: int | None = None
    state: str | None = None
    qci: int | None = None
    rates: dict[str, int] = field(default_factory=dict)


class LteNasAnalyzer(Analyzer):
    """Follows the registration and the bearers; logs `EMM_STATE` and `ESM_STATE`, and passes the records on."""

    def __init__(self) -> None:
        super().__init__()
        self.add_source_callback(self._on_record)
        self.emm_status = EmmStatus()
        #: By the bearer's identity.
        self.esm_status: dict[int, EsmStatus] = {}
        #: How many messages of each kind there were.
        self.messages: Counter[str] = Counter()

    def set_source(self, source: Any) -> None:
        """Receives messages and states from `source`."""
        super().set_source(source)
        source.enable_log([*NAS, EMM_STATE, ESM_STATE])

    def get_qos(self) -> dict[int, int | None]:
        """The class of each bearer, by the bearer's identity."""
        return {number: status.qci for number, status in self.esm_status.items()}

    def _on_record(self, event: Event) -> None:
        if event.type_id == EMM_STATE:
            self._registration(event.data.decode())
        elif event.type_id == ESM_STATE:
            self._bearer(event.data.decode())
        elif event.type_id in NAS:
            self._message(message_of(event))
        else:
            return
        self.send(event)

    def _registration(self, decoded: dict[str, Any]) -> None:
        if "EMM State" not in decoded:
            return
        guti = {name: value for name, value in decoded.items() if name.startswith("GUTI ")}
        self.emm_status = EmmStatus(decoded["EMM State"], decoded["EMM Substate"], decoded["PLMN"], guti)
        state = {"conn state": self.emm_status.state, "conn substate": self.emm_status.substate}
        self.broadcast_info("EMM_STATE", state)

    def _bearer(self, decoded: dict[str, Any]) -> None:
        if "EPS bearer ID" not in decoded:
            return
        status = self._status(decoded["EPS bearer ID"])
        # Without a type a bearer is taken for a dedicated one.
        status.type = 1 if decoded["EPS bearer type"] == 255 else decoded["EPS bearer type"]
        status.state = "connected" if decoded["EPS bearer state"] == CONNECTED else "disconnected"
        status.qci = decoded["QCI"]
        status.rates = {name: value for name, value in decoded.items() if "BR" in name}
        self.broadcast_info("ESM_STATE", {"conn state": status.state, "timestamp": str(decoded["timestamp"])})

    def _message(self, message: dict[str, Any]) -> None:
        # A message of session management may be within another.
        for kind in find(message, "message-type"):
            self.messages[kind] += 1
        for bearer in [message, *find(message, "esm-message-container")]:
            qci = bearer.get("eps-qos", {}).get("qci") if isinstance(bearer, dict) else None
            if qci is not None and "eps-bearer-identity" in bearer:
                self._status(bearer["eps-bearer-identity"]).qci = qci

    def _status(self, bearer: int) -> EsmStatus:
        return self.esm_status.setdefault(bearer, EsmStatus(bearer))
