//! A modem that the daemon reads: each byte is deframed once and each record is read once, however
//! many outputs there are.

use std::time::Duration;

use miette::{IntoDiagnostic, Report, Result, WrapErr};
use sounding_diag::LogCode;
use sounding_diag::session::Wanted;
use sounding_link::{Arrival, Config as Link, Estimator, Method, Seen, Sounder};
use sounding_modem::beside::{ServeError, Server};
use sounding_modem::{Bytes, OpenError, Pump, Source, Transport, Turn};
use sounding_units::HostInstant;

use super::PUBLISH_EVERY;
use super::beside::Readers;
use super::config::ModemPlan;
use super::events::{Account, Events};
use super::output::{Estimates, Needs};
use super::outputs::Outputs;
use super::sleep::Sleep;
use super::sniffers::Sniffers;
use super::standing::Standing;
use crate::cqi_rates::Store;
use crate::doctor::refuse_held;

/// A modem, the sniffers of its cells, and what is known of both.
pub(super) struct Modem {
    pump: Pump,
    sounder: Sounder,
    /// How the sounder's estimates are made. Without one, the sounder's only estimate is unused.
    estimates: Vec<Link>,
    sniffers: Sniffers,
    /// What is learnt of cells' rates by CQI, if that is kept.
    rates: Option<Store>,
    /// When estimates were last published.
    published: HostInstant,
    sleep: Sleep,
    /// The records that are requested of it, if its log mask is set.
    wanted: Option<Wanted>,
    /// How the sounder's first estimate is made where no output needs one.
    base: Link,
    name: String,
    beside: Readers,
    standing: Standing,
}

/// What has to be opened before anything on this machine is changed.
pub(super) struct Opened {
    /// The port, or why it does not open.
    port: Result<Box<dyn Transport>>,
    /// The socket for readers beside this daemon, or why there is none.
    beside: Result<Server, ServeError>,
    sniffers: Sniffers,
    rates: Option<Store>,
    known: Vec<sounding_link::CellRates>,
}

impl Opened {
    /// Opens the files, the sniffers and then the port, which may be absent. The threads of
    /// sniffers would inherit a priority that comes later.
    pub(super) fn open(plan: &ModemPlan) -> Result<Self> {
        // A file that is not this user's is an error here.
        let rates = plan.cqi_rates.clone().map(Store::open).transpose()?;
        let (rates, known) =
            rates.map_or((None, Vec::new()), |(store, cells)| (Some(store), cells));
        let sniffers = Sniffers::start(&plan.sniffers, plan.sniffed).into_diagnostic()?;
        let port = open_port(&plan.source);
        // A daemon that does not get the port must not take the socket of the one that has it. A
        // stream on standard input is this daemon's alone.
        let is_shared = port.is_ok() && *plan.source.place() != Source::Stdin;
        let none = Err(ServeError::Absent);
        let beside = if is_shared { Server::start(&plan.source) } else { none };
        Ok(Self { port, beside, sniffers, rates, known })
    }

    /// Whether the port is open.
    pub(super) fn has_port(&self) -> bool {
        self.port.is_ok()
    }

    /// Why the port does not open, if it does not.
    pub(super) fn absence(self) -> Option<Report> {
        self.port.err()
    }
}

/// Opens the modem's port.
fn open_port(source: &Source) -> Result<Box<dyn Transport>> {
    match source.place() {
        // A capture would be over before the first flow began.
        Source::Path(path) if path.is_file() => Err(OpenError::File { path: path.clone() }),
        _ => {
            refuse_held(source)?;
            source.open()
        }
    }
    .into_diagnostic()
    .wrap_err("the modem's Diag port does not open")
}

impl Modem {
    /// Asks the modem for what the outputs need. Without such a need, estimates are made as `base`.
    /// A port that is absent is waited for, and `events` say so.
    pub(super) fn new(
        opened: Opened,
        plan: ModemPlan,
        base: Link,
        needs: &[Needs],
        events: &mut Events,
    ) -> Result<Self> {
        let estimates = estimates(needs);
        let mut made = estimates.iter().copied();
        let first = made.next().unwrap_or(base);
        let mut sounder = made.fold(Sounder::new(first), Sounder::beside);
        if needs.iter().any(|needs| needs.delays) {
            sounder = sounder.with_delays();
        }
        sounder.keep_rates(opened.known);
        let budget_bytes_per_sec = plan.budget.map(|rate| rate.bits_per_sec() / 8);
        let wanted = plan.mask.then(|| Wanted { codes: codes(needs), budget_bytes_per_sec });
        let pump = match opened.port {
            Ok(port) => Pump::over(plan.source, port, wanted.clone()),
            Err(why) => {
                events.absent(&plan.source, &said(&why));
                Pump::absent(plan.source, wanted.clone()).into_diagnostic()?
            }
        };
        Ok(Self {
            pump: pump.setting_untold(plan.sets_untold),
            sounder,
            estimates,
            sniffers: opened.sniffers,
            rates: opened.rates,
            published: HostInstant::default(),
            sleep: Sleep::default(),
            wanted,
            base,
            name: plan.name,
            beside: Readers::new(opened.beside, events),
            standing: Standing::default(),
        })
    }

    /// Its outputs need this from now on. The modem goes on meanwhile.
    pub(super) fn handle_needs(&mut self, needs: &[Needs]) {
        for made in estimates(needs) {
            if self.estimates.is_empty() {
                // The sounder makes one in any case.
                self.estimates.push(self.base);
            }
            if !self.estimates.contains(&made) {
                self.sounder.add_estimate(made);
                self.estimates.push(made);
            }
        }
        if needs.iter().any(|needs| needs.delays) {
            self.sounder.add_delays();
        }
        if let Some(wanted) = &mut self.wanted {
            let codes = codes(needs);
            if codes != wanted.codes {
                wanted.codes = codes;
                self.pump.handle_wanted(wanted.clone());
                self.beside.ask(&mut self.pump);
            }
        }
    }

    /// The port cannot be read: what is known is withdrawn, and it is tried again.
    pub(super) fn handle_failed(
        &mut self,
        failure: &Report,
        outputs: &mut Outputs,
        events: &mut Events,
    ) -> Result<()> {
        self.forget(outputs);
        self.beside.handle_closed();
        events.absent(self.pump.source(), &said(failure));
        self.pump.handle_failed().into_diagnostic()?;
        Ok(())
    }

    /// One wait for bytes, and what the outputs do with them.
    pub(super) fn read(
        &mut self,
        patience: Duration,
        outputs: &mut Outputs,
        events: &mut Events,
    ) -> Result<()> {
        let Self { pump, sounder, beside, .. } = self;
        match pump.turn(patience).into_diagnostic()? {
            Turn::Idle => {}
            Turn::Reopened => {
                beside.handle_reopened(pump.source(), events);
                events.reopened(pump.source());
            }
            Turn::Closed(wait) => {
                beside.handle_closed();
                self.forget(outputs);
                events.closed(self.pump.source(), wait.unwrap_or_default());
            }
            Turn::Bytes(Bytes { now, framing, bytes, mut session }) => {
                sounder.handle_read(framing, Arrival::At(now), bytes, |_, seen| {
                    if let Some(packet) = seen.packet() {
                        session.handle(&packet);
                        beside.handle_packet(now, &packet);
                    }
                    if let Seen::Record(record) = seen {
                        outputs.handle_record(now, record);
                    }
                });
                outputs.handle_read(sounder.poll_delays().as_ref());
                beside.handle_read(now);
            }
        }
        Ok(())
    }

    /// What is due whether bytes came or not.
    pub(super) fn attend(&mut self, now: HostInstant, outputs: &mut Outputs, events: &mut Events) {
        if let Some(slept) = self.sleep.look() {
            self.forget(outputs);
            events.slept(slept);
        }
        let Self { sniffers, sounder, .. } = self;
        sniffers.attend(now, events, |at, heard| sounder.handle_heard(at, heard));
        self.publish(now, outputs, events);
        while let Some(event) = self.pump.poll_event() {
            events.session(&event);
        }
        self.beside.attend(now, &mut self.pump, events);
        let Self { standing, sounder, estimates, .. } = self;
        // An estimate that no output asked for has no records behind it.
        let is_made = !estimates.is_empty();
        let estimate =
            || sounder.estimators().next().filter(|_| is_made).map(|by| by.estimate(now));
        standing.attend(now, estimate, || sounder.counts().stream.logs, events);
        if let Some(bytes) = self.pump.poll_mute() {
            events.mute(self.pump.source(), bytes);
        }
        if self.rates.as_mut().is_some_and(|rates| rates.is_due(now)) {
            self.keep_rates(events);
        }
    }

    /// Withdraws what is known of the link: it is outdated.
    fn forget(&mut self, outputs: &mut Outputs) {
        self.sounder.handle_disconnect();
        outputs.forget();
    }

    fn publish(&mut self, now: HostInstant, outputs: &mut Outputs, events: &mut Events) {
        if self.estimates.is_empty() || now - self.published < PUBLISH_EVERY {
            return;
        }
        self.published = now;
        let made = self.estimates.iter().zip(self.sounder.estimators());
        let made = made.map(|(made, by)| (*made, by.estimate(now)));
        let estimates = Estimates::new(made);
        outputs.publish(now, &estimates);
        for ((made, estimate), by) in estimates.iter().zip(self.sounder.estimators()) {
            events.estimate(now, made.window, estimate, || by.cell(now)?.heard);
        }
    }

    /// Keeps what is known of cells' rates by CQI, if that is wanted.
    pub(super) fn keep_rates(&mut self, events: &mut Events) {
        let Self { rates, sounder, estimates, .. } = self;
        let by_cqi = estimates.iter().position(|made| made.method == Method::Cqi);
        let estimator = sounder.estimators().skip(by_cqi.unwrap_or(0)).take(1);
        let kept = rates.as_mut().map(|rates| rates.keep(estimator.flat_map(Estimator::rates)));
        if let Some(Err(error)) = kept {
            events.rates_not_kept(&error);
        }
    }

    /// Begins to give the modem its log mask back; see [`is_over`](Self::is_over).
    pub(super) fn handle_end(&mut self) {
        self.pump.handle_end();
    }

    /// Whether the log mask is back, or cannot be given back.
    pub(super) fn is_over(&self) -> bool {
        self.pump.is_over()
    }

    /// What was read.
    pub(super) fn account(&self) -> Account {
        Account {
            modem: self.name.clone(),
            counts: self.sounder.counts(),
            switched_off: self.pump.switched_off().to_vec(),
            sniffed: self.sniffers.counts(),
        }
    }
}

/// How estimates are made for these needs.
fn estimates(needs: &[Needs]) -> Vec<Link> {
    let mut estimates: Vec<Link> = Vec::new();
    for made in needs.iter().flat_map(|needs| needs.estimates.iter().copied()) {
        if !estimates.contains(&made) {
            estimates.push(made);
        }
    }
    estimates
}

/// The records for these needs.
fn codes(needs: &[Needs]) -> Vec<LogCode> {
    let mut codes: Vec<LogCode> = Vec::new();
    for code in needs.iter().flat_map(|needs| &needs.codes) {
        if !codes.contains(code) {
            codes.push(*code);
        }
    }
    codes
}

/// An error with what lies behind it.
fn said(failure: &Report) -> String {
    failure.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
