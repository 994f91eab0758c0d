//! 0x106E, 0x1071.

use super::{record, same, text};
use crate::agree::Rule;

pub(super) fn attempt() -> Vec<Rule> {
    record(vec![
        same("transaction", "Transaction Id"),
        same("message_sequence", "Message Sequence"),
        text("outcome", "Conn Attempt Outcome", &[(12, "Reserved"), (15, "Success")]),
        same("assignment", "Stat of TCA/RTCACK Msgs"),
        same("duration", "Duration"),
        same("successes", "Success count"),
        same("failures", "Failure count"),
        same("attempts", "Attempts count"),
        same("pilot", "PN"),
        same("sector_low", "Sector ID (lower 16 bits)"),
        same("sector_high", "Sector ID (upper 8 bits)"),
        same("color_code", "Color Code"),
        same("active_set_changes", "Active Set Pilot Changed Count"),
    ])
}

pub(super) fn release() -> Vec<Rule> {
    record(vec![text("reason", "Reason", &[(0, "AN Connection Close")])])
}
