//! Methods whose rate is not a sum of granted bytes: all except BISCAY's.
//!
//! They read the same [`Slots`]. The estimator adds bound, age and state in the same way for all.

mod cell;
mod cqi;
mod goodput;
mod identity;
mod raw;
mod slots;
mod sniffed;

use alloc::boxed::Box;
use core::time::Duration;

use sounding_kpi::Kpi;
use sounding_trace::dci::Heard;
use sounding_units::{HostInstant, ModemInstant, Rate};

use crate::{Bound, CellUse, Config, FairShare, Method};
use cell::CellMonitor;
use cqi::CqiTables;
use raw::Regression;
use slots::Slots;

pub use cell::{CellView, HEARD_VALID};
pub(crate) use cqi::Pending;
pub use cqi::{CellRates, ChannelView, NoRates};

/// A method's state in addition to the granted blocks.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    slots: Slots,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Cqi(Box<CqiTables>),
    Cell(Box<CellMonitor>),
    Raw(Regression),
}

/// A model's result for the span that ends at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Modelled {
    /// Rate of IP packets.
    pub(crate) rate: Rate,
    /// How it relates to the radio's capacity, if the model itself knows.
    pub(crate) bound: Option<Bound>,
    /// The fair share, if the model knows the other users.
    pub(crate) fair: Option<FairShare>,
    /// Who has the cells' blocks, if the model knows all of them.
    pub(crate) cell: Option<CellUse>,
}

impl Model {
    /// The model of a method; methods that count granted bytes have none.
    pub(crate) fn of(config: &Config) -> Option<Self> {
        // A rate needs a span of more than zero.
        let window = config.window.max(Duration::from_millis(1));
        let config = &Config { window, ..*config };
        let kind = match config.method {
            Method::Grants | Method::Formula => return None,
            Method::Cqi => Kind::Cqi(Box::new(CqiTables::new(config))),
            Method::Cell => Kind::Cell(Box::new(CellMonitor::new(config))),
            Method::Prb => Kind::Raw(Regression::new(config, raw::Raw::Prb)),
            Method::Mcs => Kind::Raw(Regression::new(config, raw::Raw::Mcs)),
            Method::Rsrp => Kind::Raw(Regression::new(config, raw::Raw::Rsrp)),
        };
        Some(Self { slots: Slots::new(config), kind })
    }

    /// A KPI, of either direction.
    pub(crate) fn handle_kpi(&mut self, modem_now: ModemInstant, kpi: &Kpi) {
        self.slots.handle_kpi(kpi);
        match &mut self.kind {
            Kind::Cqi(tables) => tables.handle_kpi(modem_now, &self.slots, kpi),
            Kind::Cell(monitor) => monitor.handle_kpi(kpi),
            Kind::Raw(regression) => regression.handle_kpi(modem_now, &self.slots, kpi),
        }
    }

    /// What waits for the device.
    pub(crate) fn handle_pending(&mut self, pending: Pending) {
        if let Kind::Cqi(tables) = &mut self.kind {
            tables.handle_pending(&self.slots, pending);
        }
    }

    /// Whether it needs to know what waits.
    pub(crate) const fn wants_pending(&self) -> bool {
        matches!(self.kind, Kind::Cqi(_))
    }

    /// The same without what it knows of the present: the modem closed, or its clock was set.
    pub(crate) fn emptied(mut self, config: &Config) -> Option<Self> {
        let mut afresh = Self::of(config)?;
        if let (Kind::Cqi(tables), Kind::Cqi(new)) = (&mut self.kind, &mut afresh.kind) {
            **new = tables.emptied(config);
        }
        Some(afresh)
    }

    /// Keeps rates by CQI by cell from now on, and begins with these.
    pub(crate) fn keep_rates(&mut self, rates: impl IntoIterator<Item = CellRates>) {
        if let Kind::Cqi(tables) = &mut self.kind {
            tables.keep_rates(rates);
        }
    }

    /// The rates by CQI of all cells that it knows.
    pub(crate) fn kept_rates(&self) -> impl Iterator<Item = CellRates> {
        let tables = match &self.kind {
            Kind::Cqi(tables) => Some(tables.kept_rates()),
            Kind::Cell(_) | Kind::Raw(_) => None,
        };
        tables.into_iter().flatten()
    }

    /// The carriers whose channel is reported.
    pub(crate) fn channels(&self, now: ModemInstant) -> impl Iterator<Item = ChannelView> {
        let tables = match &self.kind {
            Kind::Cqi(tables) => Some(tables.views(now)),
            Kind::Cell(_) | Kind::Raw(_) => None,
        };
        tables.into_iter().flatten()
    }

    /// A line of a sniffer's log.
    pub(crate) fn handle_heard(&mut self, now: HostInstant, heard: &Heard) {
        if let Kind::Cell(monitor) = &mut self.kind {
            monitor.handle_heard(now, heard);
        }
    }

    /// The device is in another cell.
    pub(crate) fn handle_handover(&mut self) {
        if let Kind::Cell(monitor) = &mut self.kind {
            monitor.handle_handover();
        }
    }

    /// Whether it has a rate before the first grant, from a sniffer or from reports of the channel.
    pub(crate) fn needs_no_grant(&self, now: HostInstant, modem_now: ModemInstant) -> bool {
        match &self.kind {
            Kind::Cell(monitor) => monitor.is_sniffed(now),
            Kind::Cqi(tables) => tables.is_reported(modem_now),
            Kind::Raw(_) => false,
        }
    }

    /// Its result for the `span` that ends at `end`; `None` without data. Only [`Method::Cell`] has
    /// rates over another span than the configured one.
    pub(crate) fn modelled(
        &self,
        now: HostInstant,
        end: ModemInstant,
        span: Duration,
    ) -> Option<Modelled> {
        let rate = match &self.kind {
            Kind::Cqi(tables) => tables.rate()?,
            Kind::Raw(regression) => regression.rate(&self.slots, end)?,
            Kind::Cell(_) => {
                let CellView { rate, fair_share, users, carriers, use_of: cell, .. } =
                    self.cell(now, end, span)?;
                let fair = fair_share.zip(users);
                let fair = fair.map(|(rate, users)| FairShare::new(rate, users, carriers));
                let bound = fair.map(|_| Bound::Capacity);
                return Some(Modelled { rate, bound, fair, cell });
            }
        };
        Some(Modelled { rate, bound: None, fair: None, cell: None })
    }

    /// The state of the cells, if the method monitors them.
    pub(crate) fn cell(
        &self,
        now: HostInstant,
        end: ModemInstant,
        span: Duration,
    ) -> Option<CellView> {
        match &self.kind {
            Kind::Cell(monitor) => monitor.view(now, &self.slots, end, span),
            Kind::Cqi(_) | Kind::Raw(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
