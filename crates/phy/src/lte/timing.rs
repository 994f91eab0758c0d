//! Fixed delays of frequency division duplex, and the values that timers can have.

use core::time::Duration;

pub use super::tables::{
    CQI_PERIOD_FDD, DISCARD, DSR_TRANS_MAX, LONG_DRX_CYCLE, MAX_HARQ_TX, MAX_RETX_THRESHOLD,
    ON_DURATION, PERIODIC_BSR, POLL_BYTE, POLL_PDU, RETX_BSR, SCELL_DEACTIVATION, SR_PERIOD,
    T_POLL_RETRANSMIT, T_REORDERING, T_STATUS_PROHIBIT, T304,
};

/// A subframe, the interval of scheduling (TS 36.211 §4.1).
pub const SUBFRAME: Duration = Duration::from_millis(1);
/// HARQ processes in each direction (TS 36.213 §7, §8).
pub const HARQ_PROCESSES: u8 = 8;
/// Subframes from a downlink block to its acknowledgement (TS 36.213 §10.1).
pub const FEEDBACK_DELAY: u8 = 4;
/// Subframes from a grant, or a NACK on PHICH, to the uplink block (TS 36.213 §8).
pub const GRANT_DELAY: u8 = 4;
/// Subframes from an uplink block to its acknowledgement on PHICH (TS 36.213 §9.1.2).
pub const PHICH_DELAY: u8 = 4;
/// Subframes from a block to its retransmission: the minimum in downlinks, always in uplinks (TS
/// 36.321 §7.7, §5.4.2).
pub const HARQ_ROUND_TRIP: u8 = 8;
/// Redundancy versions in the order in which they are sent (TS 36.321 §5.4.2.2).
pub const REDUNDANCY_VERSIONS: [u8; 4] = [0, 2, 3, 1];
/// The CQI reference resource is this many subframes or more before the report (TS 36.213 §7.2.3).
pub const CQI_REFERENCE_DELAY: u8 = 4;
/// Bits of an RLC AM sequence number, unless extended (TS 36.322 §6.2.2.3).
pub const RLC_AM_SN_BITS: u8 = 10;
/// Window of RLC AM, a number of PDUs (TS 36.322 §7.2).
pub const RLC_AM_WINDOW: u16 = 512;
/// Bits of a PDCP sequence number of a data bearer, unless extended (TS 36.323).
pub const PDCP_SN_BITS: u8 = 12;
/// Subframes from the command to use a known secondary cell until it is in use at the latest (TS
/// 36.133 §7.7.2).
pub const SCELL_ACTIVATION: u8 = 24;
/// The same for an unknown secondary cell.
pub const SCELL_ACTIVATION_UNKNOWN: u8 = 34;

/// Period of scheduling requests in ms and their offset in it, by sr-ConfigIndex; `None` above 157
/// (TS 36.213 Table 10.1.5-1).
pub const fn sr_period(config_index: u8) -> Option<(u8, u8)> {
    let (period, first) = match config_index {
        0..=4 => (5, 0),
        5..=14 => (10, 5),
        15..=34 => (20, 15),
        35..=74 => (40, 35),
        75..=154 => (80, 75),
        155..=156 => (2, 155),
        157 => (1, 157),
        _ => return None,
    };
    Some((period, config_index - first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_scheduling_requests_fill_their_period() {
        for index in 0..=157 {
            let (period, offset) = sr_period(index).expect("an index of the table");
            assert!(offset < period, "{index}");
            assert!(SR_PERIOD.contains(Some(period.into())), "{index}");
        }
        assert_eq!(sr_period(158), None);
        assert_eq!(sr_period(34), Some((20, 19)));
    }

    #[test]
    fn timers_have_the_values_of_their_lists() {
        assert!(T_REORDERING.contains(Some(35)) && !T_REORDERING.contains(Some(105)));
        assert!(!T_REORDERING.contains(None) && PERIODIC_BSR.contains(None));
        assert_eq!(T_STATUS_PROHIBIT.values.last(), Some(&500));
    }

    #[test]
    fn a_repeat_follows_feedback_and_grant() {
        assert_eq!(HARQ_ROUND_TRIP, PHICH_DELAY + GRANT_DELAY);
    }
}
