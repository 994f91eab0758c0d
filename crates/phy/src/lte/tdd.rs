//! Time division duplex (TS 36.211 §4.2) and its timing of HARQ (TS 36.213 §7.3, §8, §9.1.2,
//! §10.1.3).

use sounding_units::Prb;

use super::tables;

/// The use of a subframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubframeKind {
    /// Downlink.
    Downlink,
    /// Downlink, guard period and uplink pilots: see [`SpecialSubframe`].
    Special,
    /// Uplink.
    Uplink,
}

/// Uplink-downlink configuration. Range 0..=6 (TS 36.211 Table 4.2-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TddConfig(u8);

impl TddConfig {
    /// The configuration with this index, if it exists.
    pub const fn new(number: u8) -> Option<Self> {
        if number < 7 { Some(Self(number)) } else { None }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The kind of a subframe; frames repeat, so any count of subframes is accepted.
    pub const fn subframe(self, subframe: u32) -> SubframeKind {
        match tables::TDD[self.0 as usize].as_bytes()[(subframe % 10) as usize] {
            b'D' => SubframeKind::Downlink,
            b'S' => SubframeKind::Special,
            _ => SubframeKind::Uplink,
        }
    }

    /// The first uplink subframe that is not before this one.
    pub const fn next_uplink(self, subframe: u32) -> u32 {
        // Every frame has some.
        let mut later = 0;
        while !matches!(self.subframe(subframe % 10 + later), SubframeKind::Uplink) {
            later += 1;
        }
        subframe.saturating_add(later)
    }

    /// Subframes from a downlink block to its acknowledgement; `None` for uplink subframes (TS
    /// 36.213 Table 10.1.3.1-1).
    pub const fn feedback_delay(self, downlink: u32) -> Option<u8> {
        some_if_not_zero(tables::FEEDBACK_DELAY[self.0 as usize][(downlink % 10) as usize])
    }

    /// Subframes from a grant, or a NACK on PHICH, to the uplink block; `None` where neither can be
    /// (TS 36.213 Table 8-2). In configuration 0 a grant can also refer to the subframe seven
    /// later, or both (§8).
    pub const fn grant_delay(self, downlink: u32) -> Option<u8> {
        some_if_not_zero(tables::GRANT_DELAY[self.0 as usize][(downlink % 10) as usize])
    }

    /// Subframes from an uplink block to its acknowledgement on PHICH; `None` for downlink
    /// subframes (TS 36.213 Table 9.1.2-1).
    pub const fn phich_delay(self, uplink: u32) -> Option<u8> {
        some_if_not_zero(tables::PHICH_DELAY[self.0 as usize][(uplink % 10) as usize])
    }

    /// HARQ RTT timer of a downlink block: its feedback and four subframes more, after which it may
    /// be repeated (TS 36.321 §7.7).
    pub fn downlink_round_trip(self, downlink: u32) -> Option<u8> {
        Some(self.feedback_delay(downlink)? + 4)
    }

    /// Downlink HARQ processes at most (TS 36.213 Table 7-1).
    pub const fn downlink_processes(self) -> u8 {
        [4, 7, 10, 9, 12, 15, 6][self.0 as usize]
    }

    /// Uplink HARQ processes (TS 36.213 Table 8-1).
    pub const fn uplink_processes(self) -> u8 {
        [7, 4, 2, 3, 2, 1, 6][self.0 as usize]
    }
}

const fn some_if_not_zero(delay: u8) -> Option<u8> {
    if delay == 0 { None } else { Some(delay) }
}

/// The division of a special subframe's symbols, with normal cyclic prefixes. Configuration 0..=9
/// (TS 36.211 Table 4.2-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpecialSubframe(u8);

impl SpecialSubframe {
    /// The configuration with this index, if it exists.
    pub const fn new(number: u8) -> Option<Self> {
        if number < 10 { Some(Self(number)) } else { None }
    }

    /// Downlink symbols, DwPTS. Range 3..=12.
    pub const fn downlink_symbols(self) -> u8 {
        tables::SPECIAL_SUBFRAME[self.0 as usize].0
    }

    /// Symbols without a transmission in either direction.
    pub const fn guard_symbols(self) -> u8 {
        tables::SPECIAL_SUBFRAME[self.0 as usize].1
    }

    /// Uplink symbols, UpPTS. Range 1..=2.
    pub const fn uplink_symbols(self) -> u8 {
        tables::SPECIAL_SUBFRAME[self.0 as usize].2
    }

    /// The column of the size table for blocks assigned in DwPTS: three quarters of them, three
    /// eighths in configuration 9, at least one (TS 36.213 §7.1.7). `None` where DwPTS is too
    /// short to hold data.
    pub fn tbs_column(self, assigned: Prb) -> Option<Prb> {
        let blocks = u32::from(assigned.count());
        let column = match self.0 {
            0 | 5 => return None,
            9 => blocks * 3 / 8,
            _ => blocks * 3 / 4,
        };
        Some(Prb::new(column.max(1) as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = TddConfig> {
        (0..=6).map(|number| TddConfig::new(number).expect("a configuration"))
    }

    #[test]
    fn every_downlink_block_is_acknowledged_in_an_uplink_subframe_four_or_more_later() {
        for config in all() {
            for subframe in 0..10 {
                let delay = config.feedback_delay(subframe);
                if config.subframe(subframe) == SubframeKind::Uplink {
                    assert_eq!(delay, None, "{config:?} subframe {subframe}");
                    continue;
                }
                let delay = delay.expect("it is acknowledged");
                assert!(delay >= 4, "{config:?} subframe {subframe}");
                let at = subframe + u32::from(delay);
                assert_eq!(config.subframe(at), SubframeKind::Uplink, "{config:?} {subframe}");
            }
        }
    }

    #[test]
    fn grants_reach_different_uplink_subframes_four_or_more_later() {
        for config in all() {
            let mut granted = [false; 10];
            for subframe in 0..10 {
                let Some(delay) = config.grant_delay(subframe) else { continue };
                assert_ne!(config.subframe(subframe), SubframeKind::Uplink, "{config:?}");
                assert!(delay >= 4);
                let at = subframe + u32::from(delay);
                assert_eq!(config.subframe(at), SubframeKind::Uplink, "{config:?} {subframe}");
                assert!(!core::mem::replace(&mut granted[at as usize % 10], true), "{config:?}");
            }
            let uplinks = (0..10).filter(|s| config.subframe(*s) == SubframeKind::Uplink).count();
            let reached = granted.iter().filter(|granted| **granted).count();
            // Configuration 0 has more uplink than downlink subframes: two of them need the second
            // meaning of a grant.
            assert_eq!(reached, if config.number() == 0 { 4 } else { uplinks }, "{config:?}");
        }
    }

    #[test]
    fn every_uplink_block_is_acknowledged_where_its_repeat_can_be_granted() {
        for config in all() {
            for subframe in 0..10 {
                let delay = config.phich_delay(subframe);
                let uplink = config.subframe(subframe) == SubframeKind::Uplink;
                assert_eq!(delay.is_some(), uplink, "{config:?} subframe {subframe}");
                let Some(delay) = delay else { continue };
                let at = subframe + u32::from(delay);
                assert!(config.grant_delay(at).is_some(), "{config:?} subframe {subframe}");
            }
        }
    }

    #[test]
    fn an_uplink_block_is_repeated_after_10_subframes_or_11_and_13() {
        for config in all().filter(|config| config.number() != 0) {
            for uplink in (0..10).filter(|s| config.subframe(*s) == SubframeKind::Uplink) {
                let phich = u32::from(config.phich_delay(uplink).expect("an uplink subframe"));
                let grant = config.grant_delay(uplink + phich).expect("a grant");
                let trip = phich + u32::from(grant);
                let allowed: &[u32] = if config.number() == 6 { &[11, 13, 14] } else { &[10] };
                assert!(allowed.contains(&trip), "{config:?} subframe {uplink}: {trip}");
            }
        }
    }

    #[test]
    fn as_many_processes_run_as_blocks_start_before_the_first_can_be_repeated() {
        for config in all() {
            let most = (0..10)
                .filter_map(|first| {
                    let trip = u32::from(config.downlink_round_trip(first)?);
                    let downlink = |s: &u32| config.subframe(*s) != SubframeKind::Uplink;
                    Some((first..first + trip).filter(downlink).count())
                })
                .max();
            assert_eq!(most, Some(usize::from(config.downlink_processes())), "{config:?}");
        }
    }

    #[test]
    fn the_next_uplink_subframe_is_found_across_frames() {
        let config = TddConfig::new(2).expect("a configuration");
        assert_eq!(config.next_uplink(0), 2);
        assert_eq!(config.next_uplink(2), 2);
        assert_eq!(config.next_uplink(3), 7);
        assert_eq!(config.next_uplink(8), 12);
        assert_eq!(TddConfig::new(7), None);
    }

    #[test]
    fn special_subframes_have_fourteen_symbols_and_smaller_blocks() {
        for number in 0..=9 {
            let special = SpecialSubframe::new(number).expect("a configuration");
            let symbols =
                special.downlink_symbols() + special.guard_symbols() + special.uplink_symbols();
            assert_eq!(symbols, 14);
            let data = special.downlink_symbols() > 3;
            assert_eq!(special.tbs_column(Prb::new(1)), data.then_some(Prb::new(1)));
        }
        let column = |number, blocks| {
            SpecialSubframe::new(number).and_then(|special| special.tbs_column(Prb::new(blocks)))
        };
        assert_eq!(column(7, 50), Some(Prb::new(37)));
        assert_eq!(column(9, 50), Some(Prb::new(18)));
        assert_eq!(SpecialSubframe::new(10), None);
    }
}
