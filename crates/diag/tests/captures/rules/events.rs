//! 0xB18A, 0xB198.

use super::{Texts, list, ours, record, same, text, theirs};
use crate::agree::Rule;

pub(super) fn link_monitoring() -> Vec<Rule> {
    let rules = vec![
        same("frame", "System Frame Number"),
        same("subframe", "Sub-frame Number"),
        same("out_of_sync_bler_percent", "Out of Sync BLER (%)"),
        same("in_sync_bler_percent", "In Sync BLER (%)"),
        same("out_of_sync_count", "Out of Sync Count"),
        same("in_sync_count", "In Sync Count"),
        same("t310", "T310 Timer Status"),
    ];
    record(vec![same("count", "Number of Records"), list("records", "Records", rules)])
}

const EVENT: Texts = &[
    (0, "ON_DURATION_TIMER_START"),
    (1, "ON_DURATION_TIMER_END"),
    (2, "SHORT_CYCLE_START"),
    (3, "SHORT_CYCLE_END"),
    (4, "LONG_CYCLE_START"),
    (5, "LONG_CYCLE_END"),
    (6, "UL_RETX_TIMER_START"),
    (7, "UL_RETX_TIMER_END"),
    (8, "INACTIVITY_TIMER_START"),
    (9, "INACTIVITY_TIMER_END"),
    (10, "DL_DRX_RETX_TIMER_START"),
    (11, "DL_DRX_RETX_TIMER_END"),
    (12, "CDRX_ON_2_OFF"),
    (13, "CDRX_OFF_2_ON"),
    (22, "WAKEUP_MISSED_CYCLE_TIMER_START"),
    (23, "WAKEUP_MISSED_CYCLE_TIMER_END"),
    (24, "CATM1_UL_RETX_TIMER_START"),
    (25, "CATM1_UL_RETX_TIMER_END"),
];

pub(super) fn drx() -> Vec<Rule> {
    let rules = vec![
        same("frame", "SFN"),
        same("subframe", "Sub-FN"),
        text("event", "CDRX Event", EVENT),
        ours("internal_mask"),
        theirs("Internal Field Mask"),
    ];
    record(vec![same("count", "Num Records"), list("records", "Records", rules)])
}
