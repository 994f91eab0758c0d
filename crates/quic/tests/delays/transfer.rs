use std::collections::BTreeMap;
use std::time::Duration;

use sounding_baselines::Maker;
use sounding_cc::Start;
use sounding_cell::config::{CarrierConfig, DeviceConfig, UplinkConfig};
use sounding_cell::modem::ModemConfig;
use sounding_cell::radio::{AdaptConfig, DelayProfile, FadingConfig, ModelConfig, ScriptConfig};
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, Sounder};
use sounding_quic::driver::Driver;
use sounding_quic::{Arrivals, EstimateHandle, Intake, PeerTimes, Reporter};
use sounding_sim::{Device, Network, Output, PathConfig, Port, Radio, Reading, Through, Wired};
use sounding_trace::Steps;
use sounding_units::{Bytes, HostInstant, Rate};

pub(crate) const MTU: u64 = 1200;
const HEADERS: u64 = 28;
/// Of a packet that only acknowledges, and of one with a datagram of ours beside the datagram.
const SHORT: u64 = 40;
const TICK: Duration = Duration::from_micros(250);
/// RFC 9000: a receiver acknowledges the second packet, or after so long.
const ACK_DELAY: Duration = Duration::from_millis(25);
const EVERY: Duration = Duration::from_millis(5);
/// Of the path without the radio, either way.
const WIRE: Duration = Duration::from_millis(15);
/// The device's clock is so far ahead of the server's.
const SKEW: Duration = Duration::from_secs(1234);
/// The begin is left out of what is measured.
const WARM_UP: Duration = Duration::from_secs(3);
/// Packets later than a lost one that show it (RFC 9002 §6.1.1).
const REORDERED: u64 = 3;

/// How a stack reports to its controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    /// By groups of packets, with a window alone.
    Quinn,
    /// Packet by packet, with a rate.
    Noq,
}

enum Payload {
    Data(u64),
    Ack(Vec<u64>),
    Datagram(Vec<u8>),
}

/// What arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) mbit_per_sec: f64,
    pub(crate) mean_ms: f64,
}

/// A transfer between a device in a cell and a server.
pub(crate) struct Transfer {
    network: Wired<Radio<Through<Payload>>, Payload>,
    port: Port,
    stack: Stack,
    pub(crate) driver: Driver,
    now: HostInstant,
    next: u64,
    in_flight: BTreeMap<u64, HostInstant>,
    credit: f64,
    srtt: Duration,
    received: Vec<u64>,
    received_at: HostInstant,
    arrivals: Arrivals,
    reporter: Reporter,
    intake: Intake,
    device: EstimateHandle,
    sounder: Sounder,
    pub(crate) modem_lives: bool,
    due: HostInstant,
    bytes: u64,
    packets: u64,
    delays: Duration,
    begun: HostInstant,
}

fn cell(seed: u64) -> Wired<Radio<Through<Payload>>, Payload> {
    let fading = FadingConfig { profile: DelayProfile::Epa, ..FadingConfig::default() };
    let channel = ModelConfig::Script(ScriptConfig { fading, ..ScriptConfig::constant(20.0) });
    // As papers/gandalf/table1.toml has them.
    let adapt = |target_error_rate| AdaptConfig { target_error_rate, ..AdaptConfig::default() };
    let device = DeviceConfig {
        channel,
        adapt_downlink: adapt(0.0554),
        adapt_uplink: adapt(0.08),
        scheduling: UplinkConfig {
            periodic_bsr: Duration::from_millis(5),
            answer: Some(Duration::from_millis(5)),
            double_grant: 0.1,
            ..UplinkConfig::default()
        },
        ..DeviceConfig::default()
    };
    let carrier = CarrierConfig { prb: 50, ..CarrierConfig::default() };
    let mut radio = Radio::new(vec![carrier], seed).unwrap();
    radio.add_listened(device, ModemConfig::default(), Reading::AT_ONCE).unwrap();
    let wide: Steps = "1Gbit".parse().unwrap();
    let wire = PathConfig { delay: WIRE, ..PathConfig::new(wide) };
    Wired::new(radio, &wire, &wire, HostInstant::default())
}

impl Transfer {
    pub(crate) fn new(direction: Direction, stack: Stack, make: &Maker, seed: u64) -> Self {
        let start = Start {
            now: HostInstant::default(),
            mss: Bytes::new(MTU),
            headers: Bytes::new(HEADERS),
            rtt: None,
            seed: 1,
            paced: true,
        };
        let (device, server) = (EstimateHandle::new(), EstimateHandle::new());
        let times = PeerTimes::new();
        let driver = match direction {
            Direction::Uplink => {
                device.want_entered();
                Driver::new(make, start, &device)
            }
            Direction::Downlink => Driver::new(make, start, &server).timed(times.clone()),
        };
        let driver = if stack == Stack::Quinn { driver.without_pacing_rates() } else { driver };
        Self {
            network: cell(seed),
            port: Port { device: Device(0), direction },
            stack,
            driver,
            now: HostInstant::default(),
            next: 0,
            in_flight: BTreeMap::new(),
            credit: 0.0,
            srtt: 2 * WIRE,
            received: Vec::new(),
            received_at: HostInstant::default(),
            arrivals: Arrivals::new(),
            reporter: Reporter::new(device.clone()),
            intake: Intake::new(server).timing(times),
            device,
            sounder: Sounder::new(Config::new(direction)).with_delays(),
            modem_lives: true,
            due: HostInstant::default(),
            bytes: 0,
            packets: 0,
            delays: Duration::ZERO,
            begun: HostInstant::default() + WARM_UP,
        }
    }

    /// What arrived since the beginning, or since the last call.
    pub(crate) fn measured(&mut self) -> Measured {
        let span = self.now - self.begun;
        let mbit_per_sec = (Bytes::new(self.bytes).per(span)).mbit_per_sec();
        let mean_ms = self.delays.as_secs_f64() * 1e3 / self.packets as f64;
        (self.bytes, self.packets, self.delays, self.begun) = (0, 0, Duration::ZERO, self.now);
        Measured { mbit_per_sec, mean_ms }
    }

    pub(crate) fn run(&mut self, length: Duration) {
        let until = self.now + length;
        while self.now < until {
            let now = self.now + TICK;
            while let Some(at) = self.network.wakeup().filter(|at| *at <= now) {
                self.network.handle_time(at);
                self.take_outputs();
            }
            self.network.handle_time(now);
            self.take_outputs();
            self.now = now;
            self.read_modem();
            self.receive();
            self.send();
        }
    }

    /// The device's clock.
    fn device_clock(&self, at: HostInstant) -> HostInstant {
        if self.port.direction == Direction::Downlink { at + SKEW } else { at }
    }

    fn take_outputs(&mut self) {
        while let Some((_, output)) = self.network.poll_output() {
            let Output::Carried(out) = output else { continue };
            let at = out.exits;
            match out.payload {
                Payload::Data(number) => {
                    self.arrivals.handle_packet(self.device_clock(at), number);
                    if self.received.is_empty() {
                        self.received_at = at;
                    }
                    self.received.push(number);
                    if at >= self.begun {
                        self.bytes += out.size.count();
                        self.packets += 1;
                        self.delays += at - out.entered;
                    }
                }
                Payload::Ack(numbers) => self.acknowledge(at, &numbers),
                Payload::Datagram(bytes) => {
                    self.intake.handle_datagram(at, self.srtt / 2, &bytes).unwrap();
                }
            }
        }
    }

    fn acknowledge(&mut self, now: HostInstant, numbers: &[u64]) {
        for number in numbers {
            let Some(left) = self.in_flight.remove(number) else { continue };
            self.srtt = (self.srtt * 7 + (now - left)) / 8;
            let known = (self.stack == Stack::Noq).then_some(*number);
            self.driver.handle_acked_number(now, left, Bytes::new(MTU), known);
        }
        let in_flight = Bytes::new(self.in_flight.len() as u64 * MTU);
        self.driver.handle_acks_end(now, in_flight, false);
        let Some(newest) = numbers.last() else { return };
        let lost = self.in_flight.range(..newest.saturating_sub(REORDERED));
        let lost: Vec<(u64, HostInstant)> = lost.map(|(number, left)| (*number, *left)).collect();
        for (number, left) in lost {
            self.in_flight.remove(&number);
            match self.stack {
                Stack::Quinn => self.driver.handle_lost_together(now, left, Bytes::new(MTU)),
                Stack::Noq => self.driver.handle_lost(now, number, Bytes::new(MTU)),
            }
        }
    }

    /// The device reads its modem, as `ModemFeed` does.
    fn read_modem(&mut self) {
        let entered: Vec<_> = self.device.take_entered().collect();
        while let Some(diag) = self.network.poll_diag() {
            if !self.modem_lives {
                continue;
            }
            entered.iter().for_each(|&(at, size)| self.sounder.handle_entered(at, size));
            let at = self.device_clock(diag.at);
            self.sounder.handle_bytes(Arrival::At(at), &diag.bytes, |_, _| {});
        }
    }

    fn receive(&mut self) {
        let is_late = self.now - self.received_at >= ACK_DELAY;
        if self.received.len() >= 2 || is_late && !self.received.is_empty() {
            let numbers = std::mem::take(&mut self.received);
            self.enter(self.port.reverse(), SHORT, Payload::Ack(numbers));
        }
        if self.now < self.due {
            return;
        }
        self.due = self.now + EVERY;
        let now = self.device_clock(self.now);
        if self.modem_lives {
            self.device.set(self.sounder.estimate(now), now);
            self.device.set_delays(&self.sounder.take_delays().unwrap());
        }
        if self.port.direction == Direction::Uplink {
            return;
        }
        let report = self.reporter.poll_datagram(now).filter(|_| self.modem_lives);
        for datagram in report.into_iter().chain(self.arrivals.poll_datagram(now)) {
            let size = SHORT + datagram.len() as u64;
            self.enter(self.port.reverse(), size, Payload::Datagram(datagram));
        }
    }

    fn enter(&mut self, port: Port, size: u64, payload: Payload) {
        self.network.handle_packet(self.now, port, Bytes::new(size + HEADERS), payload);
    }

    fn send(&mut self) {
        let rate = match (self.stack, self.driver.pacing_rate()) {
            (Stack::Noq, Some(rate)) => rate,
            // As quinn paces, and noq without a rate.
            _ => Bytes::new(self.driver.window() * 5 / 4).per(self.srtt).bytes_per_sec(),
        };
        let more = (Rate::from_bytes_per_sec(rate) * Duration::from_secs(1)).count() as f64;
        self.credit = (self.credit + more * TICK.as_secs_f64()).min(10.0 * MTU as f64);
        let mut group = 0;
        while self.credit >= MTU as f64
            && (self.in_flight.len() as u64 + 1) * MTU <= self.driver.window()
        {
            self.credit -= MTU as f64;
            let number = self.next;
            self.next += 1;
            group += 1;
            self.in_flight.insert(number, self.now);
            self.enter(self.port, MTU, Payload::Data(number));
            if self.stack == Stack::Noq {
                self.driver.handle_sent(self.now, Bytes::new(MTU), number);
            }
        }
        if self.stack == Stack::Quinn && group > 0 {
            self.driver.handle_sent(self.now, Bytes::new(group * MTU), self.next - 1);
        }
    }
}
