mod ahead;
mod attachment;
mod demand;
mod foresight;
mod hearing;
mod lag;
mod period;

use core::time::Duration;

use sounding_kpi::{Direction, Grant, Kpi, Layer};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant, ModemInstant, Rate};

use crate::blocks::Blocks;
use crate::model::{Model, Pending};
use crate::shapes::Shapes;
use crate::window::Window;
use crate::{
    Bound, CellRates, CellView, ChannelView, Config, LinkEstimate, Method, Radio, Source, State,
};
use attachment::{Attachment, Primary};
use demand::{Demand, FILLED_FOR};
use foresight::Foresight;
use hearing::Hearing;
use lag::ReportLag;
use period::Period;

/// Turns KPIs into a [`LinkEstimate`].
///
/// Call [`handle_record`](Self::handle_record) for every record of the modem, known or not, then
/// [`handle_kpi`](Self::handle_kpi) for each KPI read from it. [`estimate`](Self::estimate) can be
/// called at any time.
#[derive(Clone, Debug)]
pub struct Estimator {
    config: Config,
    mac: Window,
    phy: Window,
    /// Blocks from PHY records that do not show whether they are repetitions, or whether they
    /// arrived.
    announced: Window,
    foresight: Foresight,
    report_lag: ReportLag,
    period: Period,
    /// The same for records that have the padding.
    demand_lag: ReportLag,
    demand: Demand,
    hearing: Hearing,
    attachment: Attachment,
    primary: Primary,
    /// Grants before this time belong to another cell.
    began: Option<ModemInstant>,
    modem_now: ModemInstant,
    /// When the record was stamped whose KPIs come now.
    stamped: ModemInstant,
    newest_record: Option<HostInstant>,
    newest_grant_record: Option<HostInstant>,
    newest_demand_record: Option<HostInstant>,
    /// The newest grants of LTE and of NR.
    granted_by: [Option<ModemInstant>; 2],
    backlog: Option<(ModemInstant, Bytes)>,
    shapes: Shapes,
    blocks: Blocks,
    model: Option<Model>,
}

/// A jump of the modem's clock ahead beyond this is a reboot or the first contact with a network,
/// not a pause.
const CLOCK_JUMP: Duration = Duration::from_secs(10);

/// A record that is older than the newest by more than this was written by a clock that has been
/// set back. In public captures records are late by up to 0.49 s. Chosen.
const CLOCK_BACK: Duration = Duration::from_secs(1);

/// No grant for this long is an idle or a silent link. Two of the longest usual reporting
/// intervals; chosen, pinned by the tests below.
const IDLE_AFTER: Duration = Duration::from_millis(200);

/// Data that has waited so long for a grant waits for a connection: a radio link fails after T310,
/// of 1 s mostly (TS 36.331 §5.3.11, TS 38.331 §5.3.10).
const LOST_AFTER: Duration = Duration::from_secs(2);

/// NR is taken for alone once LTE has granted nothing for this long. Chosen.
const LTE_GONE_AFTER: Duration = Duration::from_secs(1);

/// A backlog report older than this is outdated: modems write one every 40 ms.
const BACKLOG_VALID: Duration = Duration::from_millis(200);

impl Estimator {
    /// An estimator without data.
    pub fn new(config: Config) -> Self {
        let window = Window::new(Foresight::history(config.window));
        Self {
            config,
            mac: window.clone(),
            phy: window.clone(),
            announced: window,
            foresight: Foresight::default(),
            report_lag: ReportLag::default(),
            period: Period::default(),
            demand_lag: ReportLag::default(),
            demand: Demand::new(config.direction),
            hearing: Hearing::default(),
            attachment: Attachment::default(),
            primary: Primary::default(),
            began: None,
            modem_now: ModemInstant::default(),
            stamped: ModemInstant::default(),
            newest_record: None,
            newest_grant_record: None,
            newest_demand_record: None,
            granted_by: [None; 2],
            backlog: None,
            shapes: Shapes::default(),
            blocks: Blocks::new(config.direction),
            model: Model::of(&config),
        }
    }

    /// Resets all state. The configuration stays, and so do the rates that are [kept by
    /// cell](Self::keep_rates).
    pub fn reset(&mut self) {
        let model = self.model.take().and_then(|model| model.emptied(&self.config));
        *self = Self { model, ..Self::new(self.config) };
    }

    /// With [`Method::Cqi`] keeps what is learnt of each cell's rates from now on, and begins with
    /// these (CQIC §3.2).
    pub fn keep_rates(&mut self, rates: impl IntoIterator<Item = CellRates>) {
        if let Some(model) = &mut self.model {
            model.keep_rates(rates);
        }
    }

    /// With [`Method::Cqi`], the known rates of cells: those that are kept, and the serving ones.
    pub fn rates(&self) -> impl Iterator<Item = CellRates> {
        self.model.iter().flat_map(Model::kept_rates)
    }

    /// With [`Method::Cqi`], the carriers whose channel the device reports.
    pub fn channels(&self) -> impl Iterator<Item = ChannelView> {
        self.model.iter().flat_map(|model| model.channels(self.modem_now))
    }

    /// Its direction.
    pub const fn direction(&self) -> Direction {
        self.config.direction
    }

    /// Any record of the modem: the modem is alive, and its clock is at `at`.
    pub fn handle_record(&mut self, now: HostInstant, at: ModemInstant) {
        let jumped_back = self.modem_now - at > CLOCK_BACK;
        let jumped_ahead = self.newest_record.is_some() && at - self.modem_now > CLOCK_JUMP;
        if jumped_back || jumped_ahead {
            self.reset();
        } else if self.newest_record.is_some() && at - self.modem_now > self.valid_for() {
            // Records are missing. Earlier grants do not describe the present, and a gap without
            // known grants does not mean that none were made.
            self.forget_until(self.modem_now);
        }
        self.newest_record = self.newest_record.max(Some(now));
        self.modem_now = self.modem_now.max(at);
        self.stamped = at;
    }

    /// One KPI of the record that was handed in last.
    pub fn handle_kpi(&mut self, now: HostInstant, kpi: &Kpi) {
        if let Some(model) = &mut self.model {
            model.handle_kpi(self.modem_now, kpi);
        }
        match kpi {
            Kpi::Grant(grant) if grant.direction == self.config.direction => {
                self.blocks.handle_grant(grant);
                self.handle_demand(now, grant);
                self.handle_grant(now, grant);
            }
            Kpi::Backlog(backlog) if self.config.direction == Direction::Uplink => {
                self.backlog = Some((backlog.at, backlog.waiting));
            }
            Kpi::Channel(channel) => self.hearing.handle_report(channel),
            Kpi::Connection(told) => {
                self.primary.handle_change(told);
                if self.attachment.handle_change(told) {
                    self.leave_cell(told.at);
                }
            }
            Kpi::Signal(signal) if self.primary.handle_signal(signal) => {
                self.attachment = Attachment::Moving { since: signal.at };
                self.leave_cell(signal.at);
            }
            _ => {}
        }
        if self.model.as_ref().is_some_and(Model::wants_pending) {
            let pending = self.pending();
            if let (Some(model), Some(pending)) = (&mut self.model, pending) {
                model.handle_pending(pending);
            }
        }
    }

    /// What waits for the device, as far as all blocks are known.
    fn pending(&self) -> Option<Pending> {
        let granted = self.settled(self.window().newest()?);
        let Some(shown) = self.bound_speaks_of() else {
            return Some(Pending { until: granted, is_known: false, waited: None });
        };
        let until = granted.min(shown);
        let waited = self.demand.waited(shown).map(|(since, newest)| (since, newest.min(until)));
        Some(Pending { until, is_known: true, waited })
    }

    /// Applies a sniffer's log of a cell that serves this device; cells are numbered like its
    /// carriers, from 0. Only [`Method::Cell`] uses it.
    pub fn handle_heard(&mut self, now: HostInstant, heard: &Heard) {
        if let Some(model) = &mut self.model {
            model.handle_heard(now, heard);
        }
    }

    fn needs_no_grant(&self, now: HostInstant) -> bool {
        self.model.as_ref().is_some_and(|model| model.needs_no_grant(now, self.modem_now))
    }

    /// Grants in one cell do not predict those in the next.
    fn leave_cell(&mut self, at: ModemInstant) {
        self.forget_until(at);
        if let Some(model) = &mut self.model {
            model.handle_handover();
        }
        self.began = Some(at);
    }

    fn forget_until(&mut self, at: ModemInstant) {
        for window in [&mut self.mac, &mut self.phy, &mut self.announced] {
            window.forget_until(at);
        }
        self.demand.forget(self.config.direction);
        self.blocks = Blocks::new(self.config.direction);
        self.foresight = Foresight::default();
        self.backlog = None;
    }

    /// The age up to which an estimate may be used: until the next record is overdue, if records
    /// are rare.
    fn valid_for(&self) -> Duration {
        self.config.valid_for.max(self.period.overdue())
    }

    /// The time between two of the records behind the rate, if it is longer than usual; otherwise
    /// zero.
    pub fn period(&self) -> Duration {
        self.period.get()
    }

    fn handle_grant(&mut self, now: HostInstant, grant: &Grant) {
        // A repeat adds no bytes, and neither does a lost block that will be repeated.
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
        if self.attachment.since().or(self.began).is_some_and(|began| grant.at <= began) {
            return;
        }
        self.attachment.handle_grant(grant.at);
        self.granted_by[usize::from(grant.code.is_nr())] = Some(grant.at);
        self.period.handle_block(self.stamped, grant.at);
        if self.newest_grant_record != Some(now) {
            if let Some(newest) = self.newest_grant() {
                self.report_lag.handle_gap(self.modem_now - newest);
                let span = self.config.window;
                self.foresight = self.foresight.judged(self.window(), span, newest);
            }
            self.newest_grant_record = Some(now);
        }
        let tells_repeats = grant.direction == Direction::Uplink || grant.decoded.is_some();
        let window = match grant.layer {
            Layer::Mac => &mut self.mac,
            Layer::Phy if tells_repeats => &mut self.phy,
            Layer::Phy => &mut self.announced,
        };
        window.reach_back(self.period.get());
        window.push(grant.at, size);
    }

    /// Applies a block's sign of demand, however its bytes are counted.
    fn handle_demand(&mut self, now: HostInstant, grant: &Grant) {
        if grant.padding.is_none() || self.began.is_some_and(|began| grant.at <= began) {
            return;
        }
        if self.newest_demand_record != Some(now) {
            if let Some(newest) = self.demand.newest() {
                self.demand_lag.handle_gap(self.modem_now - newest);
            }
            self.newest_demand_record = Some(now);
        }
        self.demand.handle_block(grant);
    }

    fn newest_grant(&self) -> Option<ModemInstant> {
        self.mac.newest().max(self.phy.newest()).max(self.announced.newest())
    }

    /// The window that counts: the first in order of trust that still gets records. A block is in
    /// several of them, once for each layer that the modem logs.
    fn window(&self) -> &Window {
        const GONE_AFTER: Duration = Duration::from_secs(1);
        let newest = self.newest_grant();
        [&self.phy, &self.mac]
            .into_iter()
            .find(|window| window.newest().zip(newest).is_some_and(|(w, n)| n - w < GONE_AFTER))
            .unwrap_or(&self.announced)
    }

    /// The link's estimate from the records so far.
    pub fn estimate(&self, now: HostInstant) -> LinkEstimate {
        self.estimate_over(now, self.config.window)
    }

    /// The same with a rate over `span`, if the method is [`Method::Cell`]: each flow needs a rate
    /// over its own RTprop.
    pub fn estimate_over(&self, now: HostInstant, span: Duration) -> LinkEstimate {
        let age = self.newest_record.map_or(Duration::MAX, |at| now - at);
        let state = if age > self.valid_for() { State::Stale } else { self.link_state() };
        let newest = self.window().newest();
        let newest = newest.or_else(|| self.needs_no_grant(now).then_some(self.modem_now));
        let (mut fair, mut cell) = (None, None);
        let (rate, bound, source) = match newest {
            None => (Rate::ZERO, Bound::Floor, Source::None),
            Some(newest) => {
                let bound = self.config.assume.unwrap_or_else(|| self.bound(state));
                let source = Source::from(self.config.method);
                let model = self.model.as_ref();
                match model.map(|model| model.modelled(now, self.settled(newest), span)) {
                    None => (self.rate(newest, bound), bound, source),
                    Some(Some(modelled)) => {
                        (fair, cell) = (modelled.fair, modelled.cell);
                        (
                            modelled.rate,
                            self.config.assume.or(modelled.bound).unwrap_or(bound),
                            source,
                        )
                    }
                    Some(None) => (Rate::ZERO, Bound::Floor, Source::None),
                }
            }
        };
        LinkEstimate::new(self.config.direction, rate, bound)
            .with_age(age)
            .with_valid_for(self.valid_for())
            .with_backlog(self.fresh_backlog())
            .with_state(state)
            .with_source(source)
            .with_fair(fair)
            .with_cell(cell)
            .with_own_blocks(
                newest.filter(|_| bound == Bound::Capacity).and_then(|at| self.part(at)),
            )
            .with_radio(self.radio())
    }

    fn radio(&self) -> Option<Radio> {
        let [lte, nr] = self.granted_by;
        let Some(nr) = nr else { return lte.map(|_| Radio::Lte) };
        let is_beside = lte.is_some_and(|lte| nr.saturating_before(LTE_GONE_AFTER) <= lte);
        Some(if is_beside { Radio::Lte } else { Radio::Nr })
    }

    /// The device's part of the most resource blocks that it had, while data waited for them.
    fn part(&self, newest: ModemInstant) -> Option<u16> {
        let end = self.settled(newest);
        let waited = self.backlogged_since().map_or(Blocks::LONGEST, |since| end - since);
        self.blocks.part(end, waited.clamp(FILLED_FOR, Blocks::LONGEST))
    }

    /// A grant is reported a little after it was used. Within the usual lag a missing grant may not
    /// have been reported yet. Before that, a missing grant means that there was none.
    fn settled(&self, newest: ModemInstant) -> ModemInstant {
        match self.period.reported_until(self.modem_now) {
            Some(until) => newest.max(until),
            None => newest.max(self.modem_now.saturating_before(self.report_lag.usual())),
        }
    }

    /// State of the cells that serve the device, with [`Method::Cell`].
    pub fn cell(&self, now: HostInstant) -> Option<CellView> {
        let newest = self.window().newest();
        let newest = newest.or_else(|| self.needs_no_grant(now).then_some(self.modem_now))?;
        self.model.as_ref()?.cell(now, self.settled(newest), self.config.window)
    }

    /// The time, on the modem's clock, that [`Bound`] refers to; `None` before the first record
    /// with padding.
    ///
    /// It is that of the newest block whose padding is known. It advances when a later block would
    /// usually have been reported, because data that a block left behind waits until the next
    /// block. There is one exception: in the uplink, after a block that took all data, new data
    /// waits unseen for its first grant.
    pub fn bound_speaks_of(&self) -> Option<ModemInstant> {
        let newest = self.demand.newest()?;
        let uplink = self.config.direction == Direction::Uplink;
        if uplink && !self.demand.is_left() {
            return Some(newest);
        }
        Some(newest.max(self.modem_now.saturating_before(self.demand_lag.usual())))
    }

    fn rate(&self, newest: ModemInstant, bound: Bound) -> Rate {
        let end = self.settled(newest);
        // A rate that is the radio's whole capacity covers only the time in which demand exceeded
        // it. If that is assumed, it covers all time. If records are rare, it covers a
        // whole period, because the rate has to hold for that long.
        let full = match (self.config.assume, bound) {
            (None, Bound::Capacity) if self.period.get() == Duration::ZERO => {
                self.backlogged_since()
            }
            _ => None,
        };
        let longest = self.foresight.span(self.config.window).max(self.period.get());
        let since = full.max(self.began);
        let span = since.map_or(longest, |since| (end - since).max(FILLED_FOR).min(longest));
        let granted = self.window().granted(end, span);
        let ip = granted.count() * u64::from(self.config.ip_share_permille) / 1000;
        Bytes::new(ip).per(span)
    }

    fn backlogged_since(&self) -> Option<ModemInstant> {
        self.demand.backlogged_since(self.bound_speaks_of()?)
    }

    fn link_state(&self) -> State {
        if self.attachment.is_moving(self.modem_now) || self.is_new_here() {
            return State::Handover;
        }
        let newest = self.newest_grant().filter(|_| !self.attachment.is_released());
        match newest {
            None => State::Idle,
            Some(newest) if self.modem_now - newest <= self.idle_after() => State::Active,
            Some(newest) if self.waits(newest) => State::Silent,
            Some(_) => State::Idle,
        }
    }

    fn idle_after(&self) -> Duration {
        IDLE_AFTER.max(self.period.overdue())
    }

    /// Whether a new cell has made too few grants for an estimate.
    fn is_new_here(&self) -> bool {
        let Some(began) = self.began.filter(|began| self.modem_now - *began <= LOST_AFTER) else {
            return false;
        };
        let known = match self.demand.newest() {
            Some(_) => self.demand.known_for(),
            None => self.newest_grant().map_or(Duration::ZERO, |newest| newest - began),
        };
        !self.attachment.is_released() && known < FILLED_FOR
    }

    /// Whether data waits although nothing was granted after `newest`.
    fn waits(&self, newest: ModemInstant) -> bool {
        let is_recent = self.modem_now - newest <= LOST_AFTER;
        match (self.config.direction, self.fresh_backlog()) {
            (Direction::Uplink, Some(waiting)) => waiting > Bytes::ZERO,
            // The backlog that the last blocks left still waits: no later grant could have served
            // it.
            (Direction::Uplink, None) => is_recent && self.backlogged_since().is_some(),
            // A base station sends its data unless the device cannot receive it.
            (Direction::Downlink, _) => {
                let deaf = self.hearing.is_deaf(self.modem_now);
                is_recent && deaf && self.demand.is_queue_left()
            }
        }
    }

    fn fresh_backlog(&self) -> Option<Bytes> {
        let (at, waiting) = self.backlog?;
        (self.modem_now - at <= BACKLOG_VALID).then_some(waiting)
    }

    fn bound(&self, state: State) -> Bound {
        let backlogged = match self.demand.newest() {
            Some(newest) => {
                let period = self.period.get();
                let throughout = |since| period == Duration::ZERO || newest - since >= period;
                self.backlogged_since().is_some_and(throughout)
            }
            // Without padding only the modem's count of waiting bytes is known.
            None => self.fresh_backlog().is_some_and(|waiting| waiting > Bytes::ZERO),
        };
        if backlogged || state == State::Silent { Bound::Capacity } else { Bound::Floor }
    }
}

#[cfg(test)]
mod tests;
