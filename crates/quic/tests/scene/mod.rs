//! A device in a modelled cell, a server 20 ms behind it, and a transfer between them.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig};
use sounding_cell::modem::ModemConfig;
use sounding_cell::radio::{ModelConfig, ScriptConfig};
use sounding_emu::{
    Config, Direction, Emulation, Netns, Outcome, PacketRecord, Slot, Tap, monotonic_now,
};
use sounding_modem::{Behaviour, Place, Simulation, Source, feed};
use sounding_quic::modem::ModemFeed;
use sounding_quic::{Arrivals, EstimateHandle, Factory, Needs, PeerTimes};
use sounding_sim::{Device, PathConfig, Radio, Reading, Through, Wired};
use sounding_trace::Steps;
use sounding_units::HostInstant;

use crate::common::{self, Failed, Identity, Receiving, Sending, Stack, Transferred, trusting};

/// The controller of the rate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Controls {
    /// The stack's own controller.
    Stock,
    /// Ours, at the device: it reads the modem of its own machine.
    Modem(&'static str),
    /// Ours, without any modem.
    Blind(&'static str),
    /// The same, with a receiver that says when packets arrived.
    Timed(&'static str),
    /// Ours, at the server: it receives the device's reports of its modem.
    Reports(&'static str),
    /// Ours, wherever the data comes from, with the delays that the radio makes. In a download the
    /// device reports them, and when packets arrived.
    Delays(&'static str),
}

/// What was measured of a flow once it had begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// One-way delay that 95 of 100 full packets stayed within.
    pub(crate) p95: Duration,
    /// IP bytes that arrived.
    pub(crate) bytes: u64,
    /// Reports that the sender used.
    pub(crate) reports: u64,
    /// Datagrams of receive times that it used.
    pub(crate) times: u64,
}

/// What is left out: slow start, and the modem's first words.
const WARM_UP: Duration = Duration::from_secs(2);

/// Smaller packets acknowledge.
const FULL: u64 = 600;

/// An LTE cell of 10 MHz with one device, whose modem is on a port.
pub(crate) struct Scene {
    direction: Direction,
    emulation: Emulation,
    modem: Option<JoinHandle<()>>,
    stop_modem: Arc<AtomicBool>,
    port: Source,
}

impl Scene {
    pub(crate) fn new(direction: Direction) -> Self {
        let (given, fed) = feed(monotonic_now()).unwrap();
        let mut simulation = Simulation::new(fed, Behaviour::default(), Place::Pty(None)).unwrap();
        let port = simulation.source().parse().unwrap();
        let stop_modem = Arc::new(AtomicBool::new(false));
        let until = stop_modem.clone();
        let modem = std::thread::spawn(move || {
            simulation.run(&until, |_| {}).unwrap();
        });
        let mut config = Config::over(network(), vec![Device(0)]);
        config.record = true;
        config.tap = Some(Tap::new(move |diag| given.send(diag.at, diag.bytes)));
        let emulation = Emulation::start(config).unwrap();
        Self { direction, emulation, modem: Some(modem), stop_modem, port }
    }

    /// Reads the device's modem into a handle, for a controller of this name.
    pub(crate) fn read_modem(&self, controller: &str, handle: &EstimateHandle) -> ModemFeed {
        self.read_needing(sounding_baselines::needs(controller).unwrap_or_default(), handle)
    }

    /// The same, with the delays that the radio makes.
    pub(crate) fn read_delays(&self, handle: &EstimateHandle) -> ModemFeed {
        self.read_needing(Needs::DELAYS, handle)
    }

    fn read_needing(&self, needs: Needs, handle: &EstimateHandle) -> ModemFeed {
        ModemFeed::start_needing(needs, &self.port, self.direction, &[], handle.clone()).unwrap()
    }

    /// Packets that have come through so far.
    pub(crate) fn carried(&self) -> u64 {
        self.emulation.counts(self.direction).delivered
    }

    /// Begins to send over one stack to another, with one of our controllers and the source that
    /// sets its handle, or with the stack's own. `reported` estimates go back to the sender.
    pub(crate) fn begin(
        &self,
        sender: Stack,
        receiver: Stack,
        ours: Option<(&str, &EstimateHandle)>,
        reported: Option<EstimateHandle>,
        times: Option<PeerTimes>,
    ) -> Transfer {
        let near = (self.emulation.near(), self.emulation.near_address());
        let far = (self.emulation.far(), self.emulation.far_address());
        let (from, to) =
            if self.direction == Direction::Uplink { (near, far) } else { (far, near) };
        let bind = |(netns, address): (&Netns, _)| {
            netns.enter(|| UdpSocket::bind(SocketAddr::new(address, 0))).unwrap().unwrap()
        };
        let from = bind((from.0, from.1.into()));
        let to = bind((to.0, to.1.into()));
        let identity = Identity::new().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let sending = Sending {
            socket: from,
            to: to.local_addr().unwrap(),
            trusted: trusting(identity.certificate.clone()).unwrap(),
            factory: ours.map(|(name, handle)| {
                let factory = Factory::new(name, handle.clone()).unwrap();
                match &times {
                    Some(times) => factory.timed(times.clone()).into(),
                    None => factory.into(),
                }
            }),
            reports_to: ours.filter(|_| reported.is_some()).map(|(_, handle)| handle.clone()),
            times_to: times.clone(),
            rate: None,
            stop: stop.clone(),
        };
        let arrivals = times.map(|_| Arrivals::new());
        let receiving = Receiving { socket: to, identity, reports_of: reported, arrivals };
        let receiver = std::thread::spawn(move || common::receive(receiver, receiving));
        let sender = std::thread::spawn(move || common::send(sender, sending));
        Transfer { stop, sender, receiver }
    }

    /// What became of every packet.
    fn end(mut self) -> Vec<PacketRecord> {
        self.stop_modem.store(true, Ordering::Relaxed);
        self.modem.take().unwrap().join().unwrap();
        self.emulation.stop().unwrap().records
    }
}

fn network() -> Wired<Radio<Through<Slot>>, Slot> {
    let channel = ModelConfig::Script(ScriptConfig::constant(16.0));
    let device = DeviceConfig { channel, ..DeviceConfig::default() };
    let carrier = CarrierConfig { prb: 50, ..CarrierConfig::default() };
    let mut radio = Radio::new(vec![carrier], 1).unwrap();
    radio.add_listened(device, ModemConfig::default(), Reading::AT_ONCE).unwrap();
    let wide: Steps = "1Gbit".parse().unwrap();
    let wire = PathConfig { delay: Duration::from_millis(20), ..PathConfig::new(wide) };
    Wired::new(radio, &wire, &wire, HostInstant::default())
}

/// A transfer under way.
pub(crate) struct Transfer {
    stop: Arc<AtomicBool>,
    sender: JoinHandle<Result<Transferred, Failed>>,
    receiver: JoinHandle<Result<Transferred, Failed>>,
}

impl Transfer {
    /// Ends it; what the sender did.
    pub(crate) fn end(self) -> Transferred {
        self.stop.store(true, Ordering::Relaxed);
        let sent = self.sender.join().unwrap().unwrap();
        let received = self.receiver.join().unwrap().unwrap();
        assert!(received.bytes > 0 && received.bytes <= sent.bytes, "{received:?} of {sent:?}");
        sent
    }
}

/// A transfer of this length over a new scene.
pub(crate) fn measured(
    direction: Direction,
    sender: Stack,
    receiver: Stack,
    controls: Controls,
    length: Duration,
) -> Measured {
    let scene = Scene::new(direction);
    let (heard, told) = (EstimateHandle::new(), EstimateHandle::new());
    let (ours, modem, reported) = match controls {
        Controls::Stock => (None, None, None),
        Controls::Blind(name) | Controls::Timed(name) => (Some((name, &heard)), None, None),
        Controls::Modem(name) => (Some((name, &heard)), Some(scene.read_modem(name, &heard)), None),
        Controls::Reports(name) => {
            (Some((name, &heard)), Some(scene.read_modem(name, &told)), Some(told.clone()))
        }
        Controls::Delays(name) if direction == Direction::Uplink => {
            (Some((name, &heard)), Some(scene.read_delays(&heard)), None)
        }
        Controls::Delays(name) => {
            (Some((name, &heard)), Some(scene.read_delays(&told)), Some(told.clone()))
        }
    };
    let is_timed = matches!(controls, Controls::Timed(_))
        || matches!(controls, Controls::Delays(_)) && direction == Direction::Downlink;
    let times = is_timed.then(PeerTimes::new);
    let begun = monotonic_now();
    let transfer = scene.begin(sender, receiver, ours, reported, times);
    std::thread::sleep(length);
    let until = monotonic_now();
    let sent = transfer.end();
    drop(modem);
    let direction = scene.direction;
    let from = begun + WARM_UP;
    let mut delays = Vec::new();
    let mut bytes = 0;
    for record in scene.end() {
        if record.direction != direction || record.size.count() < FULL {
            continue;
        }
        if let Outcome::Delivered { written, .. } = record.outcome
            && written >= from
            && written < until
        {
            delays.push(written - record.entered);
            bytes += record.size.count();
        }
    }
    delays.sort_unstable();
    assert!(delays.len() > 100, "{controls:?}: only {} packets arrived", delays.len());
    Measured {
        p95: delays[delays.len() * 95 / 100],
        bytes,
        reports: sent.reports,
        times: sent.times,
    }
}
