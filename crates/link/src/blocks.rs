//! The resource blocks that a device has, beside the most that it had.

use core::time::Duration;

use sounding_kpi::{Direction, Grant};
use sounding_units::ModemInstant;

use crate::recent::Recent;

/// Carriers that are tracked separately: no device aggregates more than five of LTE and a few of
/// NR.
const CARRIERS: usize = 8;

/// The most is counted in spans of this.
const SPAN_OF_MOST: Duration = Duration::from_millis(100);

/// A secondary carrier without a grant for so long has been switched off by its timer: networks set
/// sCellDeactivationTimer to 320 ms mostly (TS 36.331 §6.3.2, TS 36.321 §5.13), and PBE-CC's Fig. 2
/// shows some 300 ms.
pub(crate) const ACTIVE: Duration = Duration::from_millis(320);

/// Resource blocks that one carrier granted, by spans of 100 ms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Most {
    span: u64,
    sum: u64,
    most: u64,
    last: ModemInstant,
}

impl Most {
    pub(crate) fn add(&mut self, at: ModemInstant, prb: u32) {
        // Two blocks in one subframe share their resource blocks.
        if core::mem::replace(&mut self.last, at) == at {
            return;
        }
        let span = at.as_nanos() / SPAN_OF_MOST.as_nanos() as u64;
        // A late block belongs to an earlier span and is missing there.
        if span > self.span {
            *self = Self { span, sum: 0, ..*self };
        }
        if span == self.span {
            self.sum = self.sum.saturating_add(prb.into());
            self.most = self.most.max(self.sum);
        }
    }

    pub(crate) fn per_sec(&self) -> f64 {
        self.most as f64 / SPAN_OF_MOST.as_secs_f64()
    }
}

/// What a device had of each carrier lately, and the most that it ever had.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    direction: Direction,
    recent: Recent<Had>,
    most: [Most; CARRIERS],
}

#[derive(Clone, Copy, Debug)]
struct Had {
    carrier: u8,
    prb: u32,
}

impl Blocks {
    /// A part covers no longer time than this, so a new rival shows in it soon.
    pub(crate) const LONGEST: Duration = SPAN_OF_MOST;

    pub(crate) const fn new(direction: Direction) -> Self {
        let most = Most { span: 0, sum: 0, most: 0, last: ModemInstant::from_nanos(0) };
        Self { direction, recent: Recent::new(ACTIVE), most: [most; CARRIERS] }
    }

    /// A grant of either direction; one without resource blocks says nothing.
    pub(crate) fn handle_grant(&mut self, grant: &Grant) {
        let carrier = usize::from(grant.carrier);
        let Some(allocation) = grant.allocation.filter(|_| carrier < CARRIERS) else { return };
        if grant.direction != self.direction {
            return;
        }
        let had = Had { carrier: grant.carrier, prb: allocation.prb.count().into() };
        self.most[carrier].add(grant.at, had.prb);
        // Two blocks in one subframe share their resource blocks.
        if self.recent.at_mut(grant.at).all(|other| other.carrier != had.carrier) {
            self.recent.push(grant.at, had);
        }
    }

    /// What it had in the span that ends at `end`, in thousandths of the most that the same
    /// carriers ever gave it in 100 ms; 1000 at most. `None` if it had none lately.
    pub(crate) fn part(&self, end: ModemInstant, span: Duration) -> Option<u16> {
        let sum: u64 = self.recent.within(end, span).map(|had| u64::from(had.prb)).sum();
        let mut is_active = [false; CARRIERS];
        self.recent.within(end, ACTIVE).for_each(|had| is_active[usize::from(had.carrier)] = true);
        let carriers = self.most.iter().zip(is_active).filter(|(_, is_active)| *is_active);
        let most: f64 = carriers.map(|(most, _)| most.per_sec()).sum();
        let had = sum as f64 / span.as_secs_f64();
        (most > 0.0).then(|| (had / most * 1000.0).min(1000.0) as u16)
    }
}

#[cfg(test)]
mod tests {
    use sounding_diag::LogCode;
    use sounding_kpi::{Allocation, Coding, Layer};
    use sounding_phy::lte;
    use sounding_units::{Bytes, Prb};

    use super::*;

    fn ms(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos((1_000 + ms) * 1_000_000)
    }

    fn grant(at: u64, carrier: u8, prb: u16) -> Grant {
        let coding = Coding::Lte(lte::TbsIndex::new(9).expect("a row"));
        Grant {
            at: ms(at),
            direction: Direction::Uplink,
            carrier,
            harq: None,
            ndi: None,
            layer: Layer::Phy,
            code: LogCode::new(0xB139),
            size: Bytes::new(100),
            padding: None,
            retransmission: false,
            decoded: None,
            allocation: Some(Allocation { prb: Prb::new(prb), coding, layers: Some(1) }),
            report: None,
        }
    }

    /// 100 resource blocks in every `step`th millisecond.
    fn handle(blocks: &mut Blocks, from: u64, to: u64, step: usize) {
        (from..to).step_by(step).for_each(|at| blocks.handle_grant(&grant(at, 0, 100)));
    }

    #[test]
    fn a_part_relates_to_the_most_in_100_ms() {
        let mut blocks = Blocks::new(Direction::Uplink);
        let part = |blocks: &Blocks, at| blocks.part(ms(at), Blocks::LONGEST);
        assert_eq!(part(&blocks, 100), None, "no grant");
        handle(&mut blocks, 0, 200, 1);
        assert_eq!(part(&blocks, 199), Some(1000));
        // A rival has every other subframe.
        handle(&mut blocks, 200, 300, 2);
        assert_eq!(part(&blocks, 299), Some(500));
        assert_eq!(blocks.part(ms(249), Duration::from_millis(50)), Some(500));
        assert_eq!(part(&blocks, 249), Some(750), "half of the span was without it");
        assert_eq!(part(&blocks, 1_000), None, "no grant lately");
    }

    #[test]
    fn a_carrier_that_was_switched_off_is_no_part_of_the_most() {
        let mut blocks = Blocks::new(Direction::Uplink);
        handle(&mut blocks, 0, 100, 1);
        (0..100).for_each(|at| blocks.handle_grant(&grant(at, 1, 100)));
        handle(&mut blocks, 100, 200, 1);
        assert_eq!(blocks.part(ms(199), Blocks::LONGEST), Some(500));
        handle(&mut blocks, 200, 600, 1);
        assert_eq!(blocks.part(ms(599), Blocks::LONGEST), Some(1000));
    }

    #[test]
    fn two_blocks_of_a_subframe_share_their_resource_blocks() {
        let mut blocks = Blocks::new(Direction::Uplink);
        handle(&mut blocks, 0, 100, 1);
        for at in 100..200 {
            blocks.handle_grant(&grant(at, 0, 50));
            blocks.handle_grant(&grant(at, 0, 50));
        }
        assert_eq!(blocks.part(ms(199), Blocks::LONGEST), Some(500));
    }

    #[test]
    fn what_is_not_this_link_s_uplink_does_not_count() {
        let mut blocks = Blocks::new(Direction::Uplink);
        blocks.handle_grant(&Grant { direction: Direction::Downlink, ..grant(1, 0, 100) });
        blocks.handle_grant(&Grant { allocation: None, ..grant(2, 0, 100) });
        blocks.handle_grant(&grant(3, 8, 100));
        assert_eq!(blocks.part(ms(3), Blocks::LONGEST), None);
    }
}
