mod lag;

use core::time::Duration;

use sounding_kpi::{Direction, Grant, Kpi, Layer};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant, ModemInstant, Rate};

use crate::model::{Model, Modelled};
use crate::shapes::Shapes;
use crate::window::Window;
use crate::{Bound, Cause, CellView, Config, LinkEstimate, Method, State};
use lag::ReportLag;

/// Turns KPIs into a [`LinkEstimate`].
///
/// Call [`handle_record`](Self::handle_record) for every record of the modem, known or not, then
/// [`handle_kpi`](Self::handle_kpi) for each KPI read from it; ask [`estimate`](Self::estimate) at any time.
#[derive(Clone, Debug)]
pub struct Estimator {
    config: Config,
    mac: Window,
    phy: Window,
    /// Blocks that PHY records announce without saying whether they repeat others, or arrived.
    announced: Window,
    report_lag: ReportLag,
    modem_now: ModemInstant,
    newest_record: Option<HostInstant>,
    newest_grant_record: Option<HostInstant>,
    backlog: Option<(ModemInstant, Bytes)>,
    shapes: Shapes,
    model: Option<Model>,
}

/// A jump of the modem's clock beyond this is a reboot or the first contact with a network, not a late record.
const CLOCK_JUMP: Duration = Duration::from_secs(10);

/// No grant for this long is an idle or a silent link. Two of the longest usual reporting intervals; chosen, pinned
/// by the tests below.
const IDLE_AFTER: Duration = Duration::from_millis(200);

/// A count of waiting bytes says nothing about now once it is older than this: modems write one every 40 ms.
const BACKLOG_VALID: Duration = Duration::from_millis(200);

impl Estimator {
    /// An estimator that has seen nothing.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            mac: Window::new(config.window),
            phy: Window::new(config.window),
            announced: Window::new(config.window),
            report_lag: ReportLag::default(),
            modem_now: ModemInstant::default(),
            newest_record: None,
            newest_grant_record: None,
            backlog: None,
            shapes: Shapes::default(),
            model: Model::of(&config),
        }
    }

    /// Any record of the modem: it is alive, and its clock stands at `at`.
    pub fn handle_record(&mut self, now: HostInstant, at: ModemInstant) {
        let jumped_back = self.modem_now - at > CLOCK_JUMP;
        let jumped_ahead = self.newest_record.is_some() && at - self.modem_now > CLOCK_JUMP;
        if jumped_back || jumped_ahead {
            *self = Self::new(self.config);
        }
        self.newest_record = Some(now);
        self.modem_now = self.modem_now.max(at);
    }

    /// One KPI of the record that was handed in last.
    pub fn handle_kpi(&mut self, now: HostInstant, kpi: &Kpi) {
        if let Some(model) = &mut self.model {
            model.handle_kpi(self.modem_now, kpi);
        }
        match kpi {
            Kpi::Grant(grant) if grant.direction == self.config.direction => {
                self.handle_grant(now, grant);
            }
            Kpi::Backlog(backlog) if self.config.direction == Direction::Uplink => {
                self.backlog = Some((backlog.at, backlog.waiting));
            }
            _ => {}
        }
    }

    /// What a sniffer heard of a cell that serves this device; such cells count as its carriers do, from 0. Only
    /// [`Method::Cell`] listens.
    pub fn handle_heard(&mut self, now: HostInstant, heard: &Heard) {
        if let Some(model) = &mut self.model {
            model.handle_heard(now, heard);
        }
    }

    fn handle_grant(&mut self, now: HostInstant, grant: &Grant) {
        // A block that repeats another, or that was lost and will be repeated, adds no bytes of its own.
        let carries_new_data = match grant.decoded {
            Some(decoded) => decoded,
            None => !grant.retransmission,
        };
        let size = match (self.config.method, grant.layer) {
            (Method::Formula, Layer::Mac) => return,
            (Method::Formula, Layer::Phy) => self.shapes.size(grant),
            (_, _) => Some(grant.size),
        };
        let Some(size) = size.filter(|_| carries_new_data) else { return };
        if self.newest_grant_record != Some(now) {
            if let Some(newest) = self.newest_grant() {
                self.report_lag.handle_gap(self.modem_now - newest);
            }
            self.newest_grant_record = Some(now);
        }
        let tells_repeats = grant.direction == Direction::Uplink || grant.decoded.is_some();
        let window = match grant.layer {
            Layer::Mac => &mut self.mac,
            Layer::Phy if tells_repeats => &mut self.phy,
            Layer::Phy => &mut self.announced,
        };
        window.push(grant.at, size, grant.padding.unwrap_or(Bytes::ZERO));
    }

    fn newest_grant(&self) -> Option<ModemInstant> {
        self.mac.newest().max(self.phy.newest()).max(self.announced.newest())
    }

    /// The window that counts: the first in order of trust that still gets records. A block is in several of them,
    /// once for each layer that the modem logs.
    fn window(&self) -> &Window {
        const GONE_AFTER: Duration = Duration::from_secs(1);
        let newest = self.newest_grant();
        [&self.phy, &self.mac]
            .into_iter()
            .find(|window| window.newest().zip(newest).is_some_and(|(w, n)| n - w < GONE_AFTER))
            .unwrap_or(&self.announced)
    }

    /// What the link carries, as far as the records so far say.
    pub fn estimate(&self, now: HostInstant) -> LinkEstimate {
        let age = self.newest_record.map_or(Duration::MAX, |at| now - at);
        let window = self.window();
        let (rate, bound, state, cause) = match window.newest() {
            None => (Rate::ZERO, Bound::Served, State::Idle, Cause::None),
            Some(newest) => {
                let end = self.settled(newest);
                let granted = window.granted(end);
                let ip = granted.size.count() * u64::from(self.config.ip_share_permille) / 1000;
                let state = self.link_state(newest);
                let bound = self.config.assume.unwrap_or_else(|| match state {
                    State::Silent => Bound::Capacity,
                    _ => self.bound(granted.size),
                });
                let counted = Bytes::new(ip).per(self.config.window);
                let cause = Cause::from(self.config.method);
                match self.model.as_ref().map(|model| model.modelled(now, end)) {
                    None => (counted, bound, state, cause),
                    Some(Some(Modelled { rate, bound: known })) => {
                        (rate, self.config.assume.or(known).unwrap_or(bound), state, cause)
                    }
                    Some(None) => (Rate::ZERO, Bound::Served, state, Cause::None),
                }
            }
        };
        LinkEstimate {
            direction: self.config.direction,
            rate,
            bound,
            age,
            valid_for: self.config.valid_for,
            backlog: self.fresh_backlog(),
            state: if age > self.config.valid_for { State::Stale } else { state },
            cause,
        }
    }

    /// A grant is reported a little after it was used. What is missing within the usual lag has not been reported yet;
    /// what is missing beyond it was not granted.
    fn settled(&self, newest: ModemInstant) -> ModemInstant {
        newest.max(self.modem_now.saturating_before(self.report_lag.usual()))
    }

    /// What is known of the cells that serve the device, with [`Method::Cell`].
    pub fn cell(&self, now: HostInstant) -> Option<CellView> {
        self.model.as_ref()?.cell(now, self.settled(self.window().newest()?))
    }

    fn link_state(&self, newest: ModemInstant) -> State {
        if self.modem_now - newest <= IDLE_AFTER {
            State::Active
        } else if self.fresh_backlog().is_some_and(|waiting| waiting > Bytes::ZERO) {
            State::Silent
        } else {
            State::Idle
        }
    }

    fn fresh_backlog(&self) -> Option<Bytes> {
        let (at, waiting) = self.backlog?;
        (self.modem_now - at <= BACKLOG_VALID).then_some(waiting)
    }

    /// A device with more to send than it is granted fills its blocks; padding means that it had nothing left.
    fn bound(&self, size: Bytes) -> Bound {
        /// Blocks padded by less than 1/20 belong to a backlogged device. Chosen: one short last block in 100 ms of
        /// a backlogged upload stays below it.
        const PADDED: u64 = 20;
        let reported = self.mac.newest().map(|newest| self.mac.granted(newest));
        let full = reported.is_some_and(|mac| mac.padding.count() * PADDED < mac.size.count());
        let waits = self.fresh_backlog().is_some_and(|waiting| waiting > Bytes::ZERO);
        if (full || waits) && size > Bytes::ZERO { Bound::Capacity } else { Bound::Served }
    }
}

#[cfg(test)]
mod tests;
