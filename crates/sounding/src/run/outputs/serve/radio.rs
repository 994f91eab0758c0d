//! What a modem's radio does, from its records: signal, resource blocks, retransmissions.

use std::time::Duration;

use miette::Result;
use sounding_diag::layout::Item;
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::Subscription;
use sounding_serve::{Feeder, News, Radio, RadioSide};
use sounding_units::HostInstant;

use crate::run::events::Events;
use crate::run::output::Output;

/// The server gets what is new this often.
const EVERY: Duration = Duration::from_millis(200);

/// A measurement counts for so long. Idle devices measure a few times a second.
const FRESH: Duration = Duration::from_secs(5);

/// What a KPI stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Of the serving cell, in the first item of a record.
    Rsrp,
    Rsrq,
    Sinr,
    Cqi,
    /// Resource blocks of a direction.
    Prb(usize),
    /// A transport block of a direction, sent again if this is not zero.
    Again(usize),
    /// A transport block of a direction, failed if this is zero.
    Passed(usize),
    /// Which cell an item is about, and which one serves.
    Cell,
    Serving,
}

/// The most important records come first: a budget takes from the end.
const KPIS: &[(&str, Meaning)] = &[
    ("lte.pusch.prb", Meaning::Prb(0)),
    ("lte.pusch.retx", Meaning::Again(0)),
    ("lte.pdsch.subframe_prb", Meaning::Prb(1)),
    ("lte.pdsch.crc", Meaning::Passed(1)),
    ("nr.pusch.prb", Meaning::Prb(0)),
    ("nr.pusch.rv", Meaning::Again(0)),
    ("nr.pdsch.prb", Meaning::Prb(1)),
    ("nr.pdsch.crc", Meaning::Passed(1)),
    ("lte.cell.rsrp", Meaning::Rsrp),
    ("lte.cell.rsrq", Meaning::Rsrq),
    ("lte.cell.sinr_rx0", Meaning::Sinr),
    ("lte.csf.cqi", Meaning::Cqi),
    ("lte.csf.aperiodic.cqi", Meaning::Cqi),
    ("nr.cell.serving_pci", Meaning::Serving),
    ("nr.cell.pci", Meaning::Cell),
    ("nr.cell.rsrp", Meaning::Rsrp),
    ("nr.cell.rsrq", Meaning::Rsrq),
    ("nr.csf.cqi", Meaning::Cqi),
];

fn subscription() -> Option<Subscription> {
    Subscription::new(KPIS.iter().map(|(name, _)| *name)).ok()
}

/// The records that have them.
pub(super) fn codes() -> Vec<LogCode> {
    subscription().map(|all| all.codes().collect()).unwrap_or_default()
}

/// The part in the thread of a modem.
pub(super) struct RadioPart {
    feeder: Feeder,
    subscription: Option<Subscription>,
    radio: Radio,
    /// When each measurement came: RSRP, RSRQ, SINR, CQI.
    measured: [Option<HostInstant>; 4],
    told: Option<HostInstant>,
    /// Values of one record.
    found: Vec<(Meaning, Item, f64)>,
}

impl RadioPart {
    pub(super) fn new(place: usize, feeder: Feeder) -> Self {
        let radio = Radio { place, ..Radio::default() };
        let (measured, told, found) = ([None; 4], None, Vec::new());
        Self { feeder, subscription: subscription(), radio, measured, told, found }
    }

    /// The values of one record, which are in `found`.
    fn take(&mut self, now: HostInstant) {
        let found = std::mem::take(&mut self.found);
        let mut sides = [self.radio.uplink, self.radio.downlink];
        for (meaning, _, value) in &found {
            match *meaning {
                Meaning::Prb(way) => {
                    sides[way].get_or_insert_default().resource_blocks += *value as u64;
                }
                Meaning::Again(way) => count(&mut sides[way], *value != 0.0),
                Meaning::Passed(way) => count(&mut sides[way], *value == 0.0),
                _ => {}
            }
        }
        [self.radio.uplink, self.radio.downlink] = sides;
        let own = own_item(&found);
        for (at, wanted) in
            [Meaning::Rsrp, Meaning::Rsrq, Meaning::Sinr, Meaning::Cqi].into_iter().enumerate()
        {
            let is_own = |(meaning, item, _): &&(Meaning, Item, f64)| {
                *meaning == wanted && own.is_some_and(|own| own.is_none_or(|own| own == *item))
            };
            let Some((_, _, value)) = found.iter().find(is_own) else { continue };
            self.measured[at] = Some(now);
            *self.gauge(at) = Some(*value);
        }
        self.found = found;
        self.found.clear();
    }

    const fn gauge(&mut self, at: usize) -> &mut Option<f64> {
        match at {
            0 => &mut self.radio.rsrp_dbm,
            1 => &mut self.radio.rsrq_db,
            2 => &mut self.radio.sinr_db,
            _ => &mut self.radio.cqi,
        }
    }

    /// Withdraws measurements that are old.
    fn withdraw(&mut self, now: HostInstant) {
        for at in 0..self.measured.len() {
            if self.measured[at].is_some_and(|measured| now - measured > FRESH) {
                self.measured[at] = None;
                *self.gauge(at) = None;
            }
        }
    }
}

fn count(side: &mut Option<RadioSide>, again: bool) {
    let side = side.get_or_insert_default();
    side.blocks += 1;
    side.retransmitted += u64::from(again);
}

/// The item of the serving cell, in a record that says which one serves; `None` if it has no such
/// item. A record that does not say so begins with the serving cell: then it is `Some(None)`.
fn own_item(found: &[(Meaning, Item, f64)]) -> Option<Option<Item>> {
    let says = found.iter().find(|(meaning, ..)| *meaning == Meaning::Serving);
    let Some((_, _, serving)) = says else { return Some(None) };
    let is_it =
        |(meaning, _, cell): &&(Meaning, Item, f64)| *meaning == Meaning::Cell && cell == serving;
    found.iter().find(is_it).map(|(_, item, _)| Some(*item))
}

impl Output for RadioPart {
    fn handle_record(&mut self, now: HostInstant, record: &LogRecord<'_>) {
        self.radio.records += 1;
        let Self { subscription: Some(subscription), found, .. } = self else { return };
        // A record that cannot be read is counted elsewhere.
        let _ = subscription.handle(record, |reading| {
            if let Some((_, meaning)) = KPIS.get(reading.slot) {
                found.push((*meaning, reading.item, reading.value));
            }
        });
        if !self.found.is_empty() {
            self.take(now);
        }
    }

    fn attend(&mut self, now: HostInstant, _events: &mut Events) -> Result<()> {
        if self.told.is_none_or(|told| now - told >= EVERY) {
            self.told = Some(now);
            self.withdraw(now);
            self.feeder.give(News::Radio(self.radio.clone()));
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.measured = [None; 4];
        (0..4).for_each(|at| *self.gauge(at) = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kpi_of_the_page_is_one_and_stands_once() {
        let all = subscription().expect("each is a KPI");
        let names: Vec<&str> = all.kpis().iter().map(|kpi| kpi.name).collect();
        assert_eq!(names, KPIS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
