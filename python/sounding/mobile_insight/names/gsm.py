"""0x512F."""

from __future__ import annotations

from ..rules import Record, Table, same, text

CHANNELS = {0: "DCCH", 1: "BCCH", 3: "CCCH", 4: "SACCH"}
DIRECTIONS = {0: "Uplink", 1: "Downlink"}
#: TS 44.018 §10.4. MobileInsight has no other names.
KINDS = {
    0: "System Information Type 13",
    7: "System Information Type 2quater",
    13: "Channel Release",
    21: "Measurement Report",
    22: "Classmark Change",
    25: "System Information Type 1",
    26: "System Information Type 2",
    27: "System Information Type 3",
    28: "System Information Type 4",
    29: "System Information Type 5",
    63: "Immediate Assignment",
}
SIGNALLING = Table(
    text("Channel Type", "channel", CHANNELS),
    text("Direction", "direction", DIRECTIONS),
    text("Message Type", "message_kind", KINDS),
    same("Message Length in bytes", "len_bytes"),
    unmapped=("message",),
)

RECORDS = (Record(0x512F, {None: SIGNALLING}),)
