use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_diag::capture::{self, Framing, Located, Reader};
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, RecordCounts, RecordError};
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::{Extractor, Kpi, RlcPdu};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant, ModemInstant};

use crate::record_clock::{RecordClock, Turn};
use crate::{
    CellRates, CellView, ChannelView, Config, DelayUpdate, Delays, Estimator, LinkEstimate,
    RanDelay,
};

/// The whole chain from a modem's bytes to the rate of its link: frames, records, KPIs, estimates.
#[derive(Clone, Debug)]
pub struct Sounder {
    reader: Reader,
    extractor: Extractor,
    clock: RecordClock,
    /// The first is the one that most questions are about.
    first: Estimator,
    others: Vec<Estimator>,
    counts: Counts,
    /// Delays of the radio, if they are wanted.
    delays: Option<Delays>,
    /// The part of a sniffer's log that is not applied yet.
    log: VecDeque<(HostInstant, Heard)>,
}

/// Who sees each record. One type for all of them: the code that calls it is long.
type Watch<'a> = dyn FnMut(&Sounder, Seen<'_>) + 'a;

/// When bytes arrived at the host.
#[derive(Clone, Copy, Debug)]
pub enum Arrival {
    /// At this moment: bytes of a live port.
    At(HostInstant),
    /// Each record when the modem stamped it: bytes of a file.
    AsStamped,
    /// Each record when the modem stamped it, although they arrived at this moment: bytes of a live
    /// port, for rows on the modem's clock.
    Stamped(HostInstant),
}

impl Arrival {
    /// When bytes came by the host's clock, if that is known.
    const fn came(self) -> Option<HostInstant> {
        match self {
            Self::At(now) | Self::Stamped(now) => Some(now),
            Self::AsStamped => None,
        }
    }

    /// The moment for estimates of a record that came then.
    fn moment(self, record: &LogRecord<'_>) -> HostInstant {
        match self {
            Self::At(now) => now,
            Self::AsStamped | Self::Stamped(_) => HostInstant::from_nanos(record.at.as_nanos()),
        }
    }
}

/// Counts of a [`Sounder`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes, frames and packets, good and bad.
    pub stream: capture::Counts,
    /// Log records of a kind that holds a KPI, by how much of them is read.
    pub records: RecordCounts,
    /// KPIs found.
    pub kpis: u64,
    /// Records of the log without a time; no estimate uses them.
    pub untimed: u64,
    /// Records of the log for estimates whose time is far from that of the records around them; no
    /// estimate uses them.
    pub misdated: u64,
}

impl Sounder {
    /// A sounder without data.
    pub fn new(config: Config) -> Self {
        Self {
            reader: Reader::new(),
            extractor: Extractor::default(),
            clock: RecordClock::default(),
            first: Estimator::new(config),
            others: Vec::new(),
            counts: Counts::default(),
            delays: None,
            log: VecDeque::new(),
        }
    }

    /// A sounder that reads a capture of that kind from its beginning.
    #[must_use]
    pub fn reading(mut self, kind: capture::Kind) -> Self {
        self.read(kind);
        self
    }

    /// The next bytes are the beginning of a capture of that kind.
    pub fn read(&mut self, kind: capture::Kind) {
        self.reader = Reader::of(kind);
    }

    /// A sounder that makes another estimate from the same records.
    #[must_use]
    pub fn beside(mut self, config: Config) -> Self {
        self.add_estimate(config);
        self
    }

    /// From now on makes this estimate too. It begins without a history.
    pub fn add_estimate(&mut self, config: Config) {
        self.others.push(Estimator::new(config));
    }

    /// A sounder that also makes events of the radio's own delays, for
    /// [`poll_delay`](Self::poll_delay) or [`poll_delays`](Self::poll_delays).
    #[must_use]
    pub fn with_delays(mut self) -> Self {
        self.add_delays();
        self
    }

    /// From now on makes these events too, if it does not yet.
    pub fn add_delays(&mut self) {
        self.delays.get_or_insert_default();
    }

    /// See [`Delays::handle_entered`].
    pub fn handle_entered(&mut self, now: HostInstant, size: Bytes) {
        if let Some(delays) = &mut self.delays {
            delays.handle_entered(now, size);
        }
    }

    /// The next delay of the radio; see [`Delays::poll`].
    pub fn poll_delay(&mut self) -> Option<RanDelay> {
        self.delays.as_mut()?.poll()
    }

    /// All new delays of the radio, if records came since the last update; see
    /// [`Delays::poll_update`].
    pub fn poll_delays(&mut self) -> Option<DelayUpdate> {
        self.delays.as_mut()?.poll_update()
    }

    /// The same whether records came or not, if delays are wanted; see [`Delays::take_update`].
    pub fn take_delays(&mut self) -> Option<DelayUpdate> {
        self.delays.as_mut().map(Delays::take_update)
    }

    /// The delays' own state, if they are wanted.
    pub fn delays(&self) -> Option<&Delays> {
        self.delays.as_ref()
    }

    /// Adds a sniffer's log, in order of time. Each line is applied with the first record that
    /// arrives at its time or later.
    #[must_use]
    pub fn hearing(mut self, log: impl IntoIterator<Item = (HostInstant, Heard)>) -> Self {
        self.log = log.into_iter().collect();
        self
    }

    /// Processes bytes in chunks of any size. `watch` sees each record before it is applied, then
    /// each of its KPIs, and then the record again when all are applied. A record whose time is
    /// doubtful is applied after the ones that support it, or never.
    pub fn handle_bytes(
        &mut self,
        arrival: Arrival,
        bytes: &[u8],
        watch: impl FnMut(&Self, Seen<'_>),
    ) {
        self.handle_read(Framing::Hdlc, arrival, bytes, watch);
    }

    /// Processes the bytes of one read of a port, as [`handle_bytes`](Self::handle_bytes).
    pub fn handle_read(
        &mut self,
        framing: Framing,
        arrival: Arrival,
        bytes: &[u8],
        mut watch: impl FnMut(&Self, Seen<'_>),
    ) {
        // Taken out, because the records borrow from it while the rest of `self` takes them in.
        let mut reader = core::mem::take(&mut self.reader);
        reader.handle_read(framing, bytes, |packet| {
            if let Ok(Located { packet, .. }) = packet {
                self.handle_packet(arrival, &packet, &mut watch);
            }
        });
        self.reader = reader;
    }

    fn handle_packet(&mut self, arrival: Arrival, packet: &Packet<'_>, watch: &mut Watch<'_>) {
        match packet {
            Packet::Log(record) => self.handle_log(arrival, record, watch),
            Packet::Other { .. } => watch(self, Seen::Other(packet)),
        }
    }

    /// The end of a capture: records that waited for what might follow them are read.
    pub fn handle_end(&mut self, arrival: Arrival, mut watch: impl FnMut(&Self, Seen<'_>)) {
        let mut reader = core::mem::take(&mut self.reader);
        while let Some(packet) = reader.poll_end() {
            if let Ok(Located { packet, .. }) = packet {
                self.handle_packet(arrival, &packet, &mut watch);
            }
        }
        self.reader = reader;
        let turn = self.clock.handle_end();
        self.handle_turn(arrival, turn, &mut watch);
    }

    /// The port closed: the last output is no estimate any more, and the next output does not
    /// continue it.
    pub fn handle_disconnect(&mut self) {
        while self.reader.poll_end().is_some() {}
        self.extractor = Extractor::default();
        self.clock = RecordClock::default();
        for estimator in self.estimators_mut() {
            estimator.reset();
        }
        if let Some(delays) = &mut self.delays {
            delays.reset();
        }
    }

    fn estimators_mut(&mut self) -> impl Iterator<Item = &mut Estimator> {
        core::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// The estimators, in the order in which they were added.
    pub fn estimators(&self) -> impl Iterator<Item = &Estimator> {
        core::iter::once(&self.first).chain(&self.others)
    }

    fn handle_log(&mut self, arrival: Arrival, record: &LogRecord<'_>, watch: &mut Watch<'_>) {
        let came = arrival.came();
        let turn = match record.time() {
            None => {
                self.counts.untimed += 1;
                Turn::default()
            }
            Some(at) if self.reads(record.code) => self.clock.handle_read(at, came, record),
            Some(at) => self.clock.handle_other(at, came, record),
        };
        let is_now = turn.is_now;
        self.handle_turn(arrival, turn, watch);
        if is_now {
            self.apply(arrival, record, watch);
        }
        watch(self, Seen::Record(record));
    }

    /// Whether an estimate or a delay may come from records of this code.
    fn reads(&self, code: LogCode) -> bool {
        // Also where no delay is asked for: the clock is then the same for all questions.
        sounding_kpi::is_read(code) || Extractor::holds_pdus(code)
    }

    /// Records that waited for the ones after them.
    fn handle_turn(&mut self, arrival: Arrival, turn: Turn, watch: &mut Watch<'_>) {
        self.counts.misdated += turn.misdated;
        for waited in turn.believed {
            let arrival = match (arrival, waited.came) {
                (Arrival::At(_), Some(came)) => Arrival::At(came),
                _ => arrival,
            };
            self.apply(arrival, &waited.record(), watch);
        }
    }

    /// A record whose time is believed.
    fn apply(&mut self, arrival: Arrival, record: &LogRecord<'_>, watch: &mut Watch<'_>) {
        let now = arrival.moment(record);
        self.clock.advance(record.at);
        watch(self, Seen::Next(record));
        for estimator in self.estimators_mut() {
            estimator.handle_record(now, record.at);
        }
        if let Some(delays) = &mut self.delays {
            delays.handle_record(now, record.at);
        }
        while self.log.front().is_some_and(|(at, _)| *at <= now)
            && let Some((_, heard)) = self.log.pop_front()
        {
            self.handle_heard(now, &heard);
        }
        let mut extractor = self.extractor;
        let take: &mut dyn FnMut(Kpi) = &mut |kpi| {
            self.counts.kpis += 1;
            for estimator in self.estimators_mut() {
                estimator.handle_kpi(now, &kpi);
            }
            if let Some(delays) = &mut self.delays {
                delays.handle_kpi(&kpi);
            }
            watch(self, Seen::Kpi(&kpi));
        };
        let outcome = extractor.extract(record, take);
        self.extractor = extractor;
        let holds_pdus = match &mut self.delays {
            Some(delays) => {
                let take: &mut dyn FnMut(RlcPdu) = &mut |pdu| delays.handle_pdu(&pdu);
                self.extractor.pdus(record, take)
            }
            None => Ok(false),
        };
        let outcome = match (outcome, holds_pdus) {
            (Ok(kpis), Ok(pdus)) => Ok(kpis || pdus),
            (Err(error), _) | (Ok(_), Err(error)) => Err(error),
        };
        match outcome {
            Ok(true) => self.counts.records.handle(record::check(record).as_ref().copied()),
            Ok(false) | Err(RecordError::Undescribed { .. }) => {}
            Err(error) => self.counts.records.handle(Err(&error)),
        }
    }

    /// The modem's clock: the newest time that is believed.
    pub fn clock(&self) -> Option<ModemInstant> {
        self.clock.newest()
    }

    /// The link's estimate from the bytes so far.
    pub fn estimate(&self, now: HostInstant) -> LinkEstimate {
        self.first.estimate(now)
    }

    /// The same over another span: see [`Estimator::estimate_over`].
    pub fn estimate_over(&self, now: HostInstant, span: Duration) -> LinkEstimate {
        self.first.estimate_over(now, span)
    }

    /// A message that a sniffer received in a cell that serves this device: see
    /// [`Estimator::handle_heard`].
    pub fn handle_heard(&mut self, now: HostInstant, heard: &Heard) {
        for estimator in self.estimators_mut() {
            estimator.handle_heard(now, heard);
        }
    }

    /// State of the cells that serve the device, with [`Method::Cell`](crate::Method::Cell).
    pub fn cell(&self, now: HostInstant) -> Option<CellView> {
        self.first.cell(now)
    }

    /// See [`Estimator::keep_rates`].
    pub fn keep_rates(&mut self, rates: impl IntoIterator<Item = CellRates> + Clone) {
        for estimator in self.estimators_mut() {
            estimator.keep_rates(rates.clone());
        }
    }

    /// See [`Estimator::rates`].
    pub fn rates(&self) -> impl Iterator<Item = CellRates> {
        self.estimators().flat_map(Estimator::rates)
    }

    /// See [`Estimator::channels`].
    pub fn channels(&self) -> impl Iterator<Item = ChannelView> {
        self.first.channels()
    }

    /// See [`Estimator::bound_speaks_of`].
    pub fn bound_speaks_of(&self) -> Option<ModemInstant> {
        self.first.bound_speaks_of()
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        Counts { stream: self.reader.counts(), ..self.counts }
    }
}

/// An event that a watcher of a [`Sounder`] receives.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// A log record whose time is believed, before it is applied: the estimator still has the state
    /// before it, and [`Sounder::clock`] is the new one.
    Next(&'a LogRecord<'a>),
    /// A KPI of that record.
    Kpi(&'a Kpi),
    /// A log record, after the KPIs that it has at once. Each record is one of these, when it
    /// comes: also one without a time, and one that waits for the records after it.
    Record(&'a LogRecord<'a>),
    /// A packet that is no log record: an answer to a request, an event, a message.
    Other(&'a Packet<'a>),
}

impl<'a> Seen<'a> {
    /// The packet, where this is one: each packet is one exactly once, when it comes.
    pub fn packet(&self) -> Option<Packet<'a>> {
        match *self {
            Self::Record(record) => Some(Packet::Log(*record)),
            Self::Other(packet) => Some(*packet),
            Self::Next(_) | Self::Kpi(_) => None,
        }
    }
}
