"""0x106E, 0x1071."""

from __future__ import annotations

from ..rules import Record, Table, hexadecimal, same, text

ATTEMPT = Table(
    same("Transaction Id", "transaction"),
    hexadecimal("Message Sequence", "message_sequence", 2),
    text("Conn Attempt Outcome", "outcome", {15: "Success"}),
    same("Stat of TCA/RTCACK Msgs", "assignment"),
    same("Duration", "duration"),
    same("Success count", "successes"),
    same("Failure count", "failures"),
    same("Attempts count", "attempts"),
    same("PN", "pilot"),
    hexadecimal("Sector ID (lower 16 bits)", "sector_low"),
    hexadecimal("Sector ID (upper 8 bits)", "sector_high"),
    same("Color Code", "color_code"),
    same("Active Set Pilot Changed Count", "active_set_changes"),
)
RELEASE = Table(
    text("Reason", "reason", {0: "AN Connection Close"}),
)

RECORDS = (
    Record(0x106E, {None: ATTEMPT}),
    Record(0x1071, {None: RELEASE}),
)
