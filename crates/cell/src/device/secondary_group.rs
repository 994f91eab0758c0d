//! Dual connectivity of LTE and NR (EN-DC, TS 37.340 §4.1.2, §7, §10): an LTE cell is the master,
//! and a secondary group of NR is added while its first cell is good enough. The bearer is split:
//! its packets go over both, and come out in order.

use sounding_units::HostInstant;

use crate::config::DualConfig;

/// The secondary group.
///
/// ```text
///     event B1:          for time-to-            command      heard again
/// Off ──good enough──▶ Better ──trigger──▶ Prepared ──────▶ On ◀─────────── Failing
///  ▲                    │                                    └──not heard────▶ │
///  ├─── not any more ───┘                                                      │
///  └────────── T310: the device says so, the group is released ────────────────┘
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SecondaryGroup {
    #[default]
    Off,
    /// Good enough since then.
    Better {
        since: HostInstant,
    },
    /// It is added then.
    Prepared {
        at: HostInstant,
    },
    On,
    /// The device has not received it since then.
    Failing {
        since: HostInstant,
    },
}

/// The decision about the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add,
    Fail,
}

impl SecondaryGroup {
    /// Whether its carriers are in use.
    pub(crate) fn is_on(self) -> bool {
        matches!(self, Self::On | Self::Failing { .. })
    }

    /// Its first cell was measured.
    pub(crate) fn handle_measurement(
        &mut self,
        now: HostInstant,
        (rsrp_dbm, sinr_db): (f32, f32),
        config: &DualConfig,
    ) -> Option<Change> {
        let good = rsrp_dbm >= config.b1_dbm && sinr_db >= config.lost_db;
        let heard = sinr_db >= config.lost_db;
        let (next, change) = match *self {
            Self::Off if good => (Self::Better { since: now }, None),
            Self::Better { .. } | Self::Off if !good => (Self::Off, None),
            Self::Better { since } if now - since >= config.time_to_trigger => {
                (Self::Prepared { at: now + config.preparation }, None)
            }
            Self::Prepared { at } if at <= now => (Self::On, Some(Change::Add)),
            Self::On if !heard => (Self::Failing { since: now }, None),
            Self::Failing { .. } if heard => (Self::On, None),
            Self::Failing { since } if now - since >= config.t310 => {
                (Self::Off, Some(Change::Fail))
            }
            same => (same, None),
        };
        *self = next;
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_group_is_added_after_its_time_and_released_after_t310() {
        let config = DualConfig::default();
        let mut group = SecondaryGroup::default();
        let (good, deaf) = ((-100.0, 10.0), (-100.0, -12.0));
        let mut changes = std::vec::Vec::new();
        for ms in (0..4_000).step_by(40) {
            let measured = if (1_000..2_500).contains(&ms) { deaf } else { good };
            let change = group.handle_measurement(at(ms), measured, &config);
            changes.extend(change.map(|change| (ms, change)));
        }
        // 160 ms to trigger, 80 to prepare, measured every 40; then a second of silence from 1000
        // on.
        assert_eq!(changes, [(240, Change::Add), (2_000, Change::Fail), (2_760, Change::Add)]);
    }

    #[test]
    fn a_weak_cell_is_not_added_and_a_short_silence_is_forgiven() {
        let config = DualConfig::default();
        let mut group = SecondaryGroup::default();
        assert_eq!(group.handle_measurement(at(0), (-115.0, 20.0), &config), None);
        assert_eq!(group, SecondaryGroup::Off);
        group = SecondaryGroup::On;
        group.handle_measurement(at(0), (-100.0, -20.0), &config);
        group.handle_measurement(at(900), (-100.0, 0.0), &config);
        assert_eq!(group, SecondaryGroup::On);
    }
}
