use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_cc::sharing::{Claim, Member, Part};
use sounding_cc::{Controller, Start};
use sounding_link::{DelayUpdate, LinkEstimate};
use sounding_units::{Bytes, HostInstant, Rate};

use super::flow::{Flow, FlowId, Tcp, Transport};
use super::receiver::Receiver;
use super::report::Report;
use super::segment::{Acknowledgement, Data, Kind, Segment};
use super::sender::{Counts, Sender};
use super::traffic::{Source, Traffic};
use super::{Event, Observer};
use crate::soonest::soonest;
use crate::{Carried, Lost, Port};

/// IP and TCP with timestamps, without data; a SYN has more options.
const HEADERS: Bytes = Bytes::new(52);
const SYN: Bytes = Bytes::new(60);
const UDP_HEADERS: Bytes = Bytes::new(28);
/// Size of a request for a response.
const REQUEST: Bytes = Bytes::new(200);
/// A handshake or a request that is not answered is repeated after this, and after twice as long
/// again (RFC 6298 §2.1).
const REPEAT: Duration = Duration::from_secs(1);

/// Packets a flow has to send, in order.
pub(super) type Outbox = VecDeque<(FlowEnd, Bytes, Kind)>;

/// Which end of a flow a packet goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowEnd {
    /// With the data.
    Receiver,
    /// With the acknowledgements.
    Sender,
}

/// Both ends of a flow.
#[derive(Debug)]
pub(super) struct Host {
    id: FlowId,
    /// In whose name events are shown.
    shown: FlowId,
    port: Port,
    began: HostInstant,
    /// When it stops to send new data.
    ends: HostInstant,
    seed: u64,
    application: u32,
    weight: u32,
    state: State,
    report: Report,
    /// The sender's counts when the measurement began.
    before: Counts,
    /// The estimate that acknowledgements carry, and since when.
    reported: Option<(HostInstant, LinkEstimate)>,
}

#[derive(Debug, Default)]
enum State {
    /// Only while it changes to another.
    #[default]
    Changing,
    Waiting(Transport),
    Connecting {
        tcp: Tcp,
        sent_at: HostInstant,
        tries: u32,
    },
    Connected(Box<Connection>),
    Datagrams {
        rate: Rate,
        size: Bytes,
        sent: u64,
    },
}

#[derive(Debug)]
struct Connection {
    sender: Sender,
    receiver: Receiver,
    reader: Reader,
}

/// The application at the receiving end.
#[derive(Debug)]
struct Reader {
    traffic: Traffic,
    received: Bytes,
    /// No more requests from this time on.
    ends: HostInstant,
    /// The current request: its number, when it was first made, and when it is made or repeated
    /// next.
    request: Option<Request>,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    number: u64,
    began: Option<HostInstant>,
    at: HostInstant,
    tries: u32,
}

impl Host {
    pub(super) fn new(id: FlowId, flow: Flow, now: HostInstant, seed: u64) -> Self {
        let Flow { port, begins, ends, transport, application, weight, of } = flow;
        let began = begins.max(now);
        Self {
            id,
            shown: of.unwrap_or(id),
            port,
            began,
            ends: ends.unwrap_or(HostInstant::from_nanos(u64::MAX)),
            seed,
            application,
            weight,
            state: State::Waiting(transport),
            report: Report::since(now),
            before: Counts::default(),
            reported: None,
        }
    }

    pub(super) fn id(&self) -> FlowId {
        self.id
    }

    pub(super) fn shown(&self) -> FlowId {
        self.shown
    }

    pub(super) fn port(&self) -> Port {
        self.port
    }

    pub(super) fn report(&self) -> &Report {
        &self.report
    }

    pub(super) fn report_mut(&mut self) -> &mut Report {
        self.count();
        &mut self.report
    }

    pub(super) fn measure_afresh(&mut self, now: HostInstant) {
        if let State::Connected(connection) = &self.state {
            self.before = connection.sender.counts();
        }
        self.report = Report::since(now);
    }

    fn count(&mut self) {
        let State::Connected(connection) = &self.state else { return };
        let (now, before) = (connection.sender.counts(), self.before);
        self.report.lost = now.lost - before.lost;
        self.report.retransmitted = now.repairs - before.repairs;
        self.report.timeouts = now.timeouts - before.timeouts;
        self.report.spurious_timeouts = now.spurious - before.spurious;
    }

    /// Whether it counts among the flows of its link: it has sent data within `span`.
    pub(super) fn is_active(&self, now: HostInstant, span: Duration) -> bool {
        match &self.state {
            State::Changing | State::Waiting(_) => false,
            State::Connecting { .. } => true,
            State::Datagrams { .. } => now < self.ends,
            State::Connected(connection) => now - connection.sender.last_sent() <= span,
        }
    }

    /// Its claim on its link.
    pub(super) fn member(&self, now: HostInstant) -> Member {
        let claim = match &self.state {
            State::Changing | State::Waiting(_) => Claim::Idle,
            State::Connecting { .. } => Claim::Hungry,
            State::Datagrams { .. } if now >= self.ends => Claim::Idle,
            // A flow without a controller has no limit to apply.
            State::Datagrams { rate, .. } => Claim::Limited(*rate),
            State::Connected(connection) => connection.sender.claim(now),
        };
        // A simulated device has one user.
        Member { user: 0, application: self.application, weight: self.weight, claim }
    }

    /// Applies the flow's share to its controller.
    pub(super) fn handle_part(&mut self, now: HostInstant, part: Part) {
        if let State::Connected(connection) = &mut self.state {
            connection.sender.handle_part(now, part);
        }
    }

    pub(super) fn handle_segment<O: Observer>(
        &mut self,
        now: HostInstant,
        kind: Kind,
        out: &Carried<Segment>,
        outbox: &mut Outbox,
        observer: &mut O,
    ) {
        match kind {
            Kind::Syn => {
                let report = aged(self.reported, now);
                outbox.push_back((FlowEnd::Sender, SYN, Kind::SynAck(report)));
            }
            Kind::SynAck(report) => self.connect(now, report, outbox, observer),
            Kind::Data(data) => self.handle_data(now, data, out, outbox, observer),
            Kind::Ack(said) => {
                let State::Connected(connection) = &mut self.state else { return };
                if let Some(report) = said.report {
                    connection.handle_report(now, self.shown, report, observer);
                }
                if let Some(ack) = connection.sender.handle_ack(now, &said) {
                    self.report.handle_ack(&ack);
                    let controller = connection.sender.controller();
                    let event = Event::Acked { flow: self.shown, ack: &ack, controller };
                    observer.handle_event(now, &event);
                }
                self.send(now, outbox);
            }
            Kind::Request(number) => {
                if let State::Connected(connection) = &mut self.state {
                    connection.sender.handle_request(number);
                }
                self.send(now, outbox);
            }
            Kind::Datagram => {
                self.report.handle_arrival(out, out.size - UDP_HEADERS);
                let packet = out.map(|_| ());
                observer.handle_event(now, &Event::Arrived { flow: self.shown, packet });
            }
        }
    }

    fn handle_data<O: Observer>(
        &mut self,
        now: HostInstant,
        data: Data,
        out: &Carried<Segment>,
        outbox: &mut Outbox,
        observer: &mut O,
    ) {
        let State::Connected(connection) = &mut self.state else { return };
        let Connection { receiver, reader, .. } = connection.as_mut();
        let arrival = receiver.handle_data(now, data);
        let new = if arrival.is_new { Bytes::new(data.size.into()) } else { Bytes::ZERO };
        self.report.handle_arrival(out, new);
        if let Some(took) = reader.handle_bytes(now, new, self.began) {
            self.report.completion.record(took);
        }
        if let Some(said) = arrival.acknowledgement {
            acknowledge(now, said, self.reported, outbox);
        }
        let packet = out.map(|_| ());
        observer.handle_event(now, &Event::Arrived { flow: self.shown, packet });
    }

    pub(super) fn handle_drop<O: Observer>(
        &mut self,
        now: HostInstant,
        kind: Kind,
        out: &Lost<Segment>,
        observer: &mut O,
    ) {
        if matches!(kind, Kind::Data(_) | Kind::Datagram) {
            self.report.dropped += 1;
            let packet = out.map(|_| ());
            observer.handle_event(now, &Event::Dropped { flow: self.shown, packet });
        }
    }

    /// Sets the device's report of its link from now on.
    pub(super) fn set_report(&mut self, now: HostInstant, estimate: LinkEstimate) {
        self.reported = Some((now, estimate));
    }

    /// The flow's RTprop, if it is known; otherwise 100 ms.
    pub(super) fn rtprop(&self) -> Duration {
        let State::Connected(connection) = &self.state else { return Duration::from_millis(100) };
        connection.sender.rtt_least().unwrap_or(Duration::from_millis(100))
    }

    pub(super) fn handle_estimate<O: Observer>(
        &mut self,
        now: HostInstant,
        estimate: &LinkEstimate,
        flows: u32,
        outbox: &mut Outbox,
        observer: &mut O,
    ) {
        let State::Connected(connection) = &mut self.state else { return };
        connection.sender.handle_estimate(now, estimate, flows.max(1));
        observer.handle_event(now, &Event::Told { flow: self.shown, estimate });
        self.send(now, outbox);
    }

    pub(super) fn handle_delays(
        &mut self,
        now: HostInstant,
        delays: &DelayUpdate,
        outbox: &mut Outbox,
    ) {
        let data = self.port.direction;
        let State::Connected(connection) = &mut self.state else { return };
        connection.sender.handle_delays(now, data, delays);
        self.send(now, outbox);
    }

    pub(super) fn handle_time(&mut self, now: HostInstant, outbox: &mut Outbox) {
        match &mut self.state {
            State::Changing => {}
            State::Waiting(_) => self.begin(now, outbox),
            State::Connecting { sent_at, tries, .. } => {
                (*sent_at, *tries) = (now, *tries + 1);
                outbox.push_back((FlowEnd::Receiver, SYN, Kind::Syn));
            }
            State::Connected(connection) => {
                let Connection { sender, receiver, reader } = connection.as_mut();
                sender.handle_time(now);
                if let Some(said) = receiver.handle_time(now) {
                    acknowledge(now, said, self.reported, outbox);
                }
                if let Some(number) = reader.poll_request(now) {
                    outbox.push_back((FlowEnd::Sender, REQUEST, Kind::Request(number)));
                }
                self.send(now, outbox);
            }
            State::Datagrams { sent, size, .. } => {
                *sent += 1;
                self.report.handle_sent(*size);
                outbox.push_back((FlowEnd::Receiver, *size, Kind::Datagram));
            }
        }
    }

    fn begin(&mut self, now: HostInstant, outbox: &mut Outbox) {
        self.state = match core::mem::take(&mut self.state) {
            State::Waiting(Transport::Tcp(tcp)) => {
                outbox.push_back((FlowEnd::Receiver, SYN, Kind::Syn));
                State::Connecting { tcp, sent_at: now, tries: 0 }
            }
            State::Waiting(Transport::Datagrams { rate, size }) => {
                State::Datagrams { rate, size, sent: 0 }
            }
            state => state,
        };
    }

    fn connect<O: Observer>(
        &mut self,
        now: HostInstant,
        report: Option<LinkEstimate>,
        outbox: &mut Outbox,
        observer: &mut O,
    ) {
        let state = core::mem::take(&mut self.state);
        let State::Connecting { tcp, sent_at, tries } = state else {
            // An answer to a SYN that was repeated needlessly.
            self.state = state;
            return;
        };
        // Which of several SYNs is answered is not known (RFC 6298 §3).
        let rtt = (tries == 0).then(|| now - sent_at);
        let start = Start::tcp(now, rtt, self.seed);
        let controller: Box<dyn Controller> = (tcp.controller)(&start);
        let source = Source::new(tcp.traffic, now, self.ends, start.mss);
        let mut connection = Box::new(Connection {
            sender: Sender::new(&start, controller, source, tcp.buffer),
            receiver: Receiver::new(tcp.receipt, self.seed),
            reader: Reader::new(tcp.traffic, now, self.ends),
        });
        // The report is known before the first segment leaves.
        if let Some(report) = report {
            connection.handle_report(now, self.shown, report, observer);
        }
        self.state = State::Connected(connection);
        self.send(now, outbox);
    }

    fn send(&mut self, now: HostInstant, outbox: &mut Outbox) {
        let State::Connected(connection) = &mut self.state else { return };
        while let Some(data) = connection.sender.poll_data(now) {
            let size = HEADERS + Bytes::new(data.size.into());
            self.report.handle_sent(size);
            outbox.push_back((FlowEnd::Receiver, size, Kind::Data(data)));
        }
    }

    pub(super) fn wakeup(&self, now: HostInstant) -> Option<HostInstant> {
        match &self.state {
            State::Changing => None,
            State::Waiting(_) => Some(self.began),
            State::Connecting { sent_at, tries, .. } => {
                Some(*sent_at + REPEAT * (1 << (*tries).min(6)))
            }
            State::Connected(connection) => {
                let Connection { sender, receiver, reader } = connection.as_ref();
                soonest([sender.wakeup(now), receiver.wakeup(), reader.wakeup()])
            }
            State::Datagrams { rate, size, sent } => {
                let due = Bytes::new((sent + 1) * size.count()).time_at(*rate)?;
                Some(self.began + due).filter(|&at| at < self.ends)
            }
        }
    }
}

/// The device's report as it leaves the device.
fn aged(reported: Option<(HostInstant, LinkEstimate)>, now: HostInstant) -> Option<LinkEstimate> {
    reported.map(|(at, estimate)| {
        let age = estimate.age.saturating_add(now - at);
        estimate.with_age(age)
    })
}

fn acknowledge(
    now: HostInstant,
    mut said: Acknowledgement,
    reported: Option<(HostInstant, LinkEstimate)>,
    outbox: &mut Outbox,
) {
    said.report = aged(reported, now);
    outbox.push_back((FlowEnd::Sender, said.size(), Kind::Ack(said)));
}

impl Connection {
    /// The device's report reaches the sender, which assumes that it left half an RTT ago.
    fn handle_report<O: Observer>(
        &mut self,
        now: HostInstant,
        shown: FlowId,
        report: LinkEstimate,
        observer: &mut O,
    ) {
        let way = self.sender.rtt_least().unwrap_or_default() / 2;
        let estimate = report.with_age(report.age.saturating_add(way));
        self.sender.handle_estimate(now, &estimate, 1);
        observer.handle_event(now, &Event::Told { flow: shown, estimate: &estimate });
    }
}

impl Reader {
    fn new(traffic: Traffic, now: HostInstant, ends: HostInstant) -> Self {
        let asks = matches!(traffic, Traffic::Responses { .. });
        let request = asks.then_some(Request { number: 0, began: None, at: now, tries: 0 });
        Self { traffic, received: Bytes::ZERO, ends, request }
    }

    /// Takes bytes; how long a response or a finite flow took, if these were the last of it.
    fn handle_bytes(
        &mut self,
        now: HostInstant,
        new: Bytes,
        began: HostInstant,
    ) -> Option<Duration> {
        let before = self.received;
        self.received += new;
        match self.traffic {
            Traffic::Finite(size) => (before < size && self.received >= size).then(|| now - began),
            Traffic::Responses { size, think } => {
                let request = self.request?;
                let wanted = size.count().saturating_mul(request.number + 1);
                if self.received.count() < wanted {
                    return None;
                }
                let (number, at) = (request.number + 1, now + think);
                let next = Request { number, began: None, at, tries: 0 };
                self.request = (at < self.ends).then_some(next);
                Some(now - request.began?)
            }
            _ => None,
        }
    }

    fn poll_request(&mut self, now: HostInstant) -> Option<u64> {
        let request = self.request.as_mut().filter(|request| request.at <= now)?;
        request.began.get_or_insert(now);
        request.at = now + REPEAT * (1 << request.tries.min(6));
        request.tries += 1;
        Some(request.number)
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.request.map(|request| request.at)
    }
}
