use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

use miette::{IntoDiagnostic, miette};
use sounding_bpf::{CopaFlow, CopaFlows, CopaInstance, OwnCgroup};
use sounding_emu::Direction;
use sounding_experiment::plan::{Run, Wrong};
use sounding_link::RadioDelay;
use sounding_sim::{Device, Port};
use sounding_testbed::daemon::Daemon;
use sounding_testbed::emulate::{Emulated, Sent, Settings, figures};
use sounding_testbed::flow::{RunningTcp, TcpFlow};

use super::{BEGUN, FILES, MEAN, RATE, Sender};
use crate::papers::gandalf::scene::{self, Scene};
use crate::papers::gandalf::{Figures, mean};

/// The modem's first records come before the flow.
const HEAD_START: Duration = Duration::from_millis(500);
/// The network goes on for so long beyond the flow: the daemons' start is in it.
const AROUND: Duration = Duration::from_secs(30);
/// Interval at which a flow's state is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// The cell of a run. Its flow is there to have hosts.
pub(super) fn cell(scene: Scene, seed: u64, lasts: Duration) -> Result<Run, Wrong> {
    let more = [
        "flows.flow.controller=cubic".to_owned(),
        format!("duration=\"{}ms\"", (lasts + AROUND).as_millis()),
        format!("seeds={seed}"),
    ];
    Ok(scene::run(FILES, scene.sets().into_iter().chain(more))?.0)
}

/// What gives a flow its algorithm.
enum Loaded {
    Nothing,
    Copa(Box<CopaInstance>),
    /// The modem is the sender's own.
    Own(Daemon),
    /// The modem is the receiver's, whose daemon says to the sender what the radio adds.
    Peer {
        _device: Daemon,
        server: Daemon,
    },
}

/// Where a flow runs.
pub(super) struct Ground<'a> {
    /// This program, which has the daemon.
    pub(super) program: &'a Path,
    /// This process's sockets; no others are touched. Absent where there is no download.
    pub(super) own: Option<&'a OwnCgroup>,
}

impl Ground<'_> {
    /// `number` tells the names in the kernel apart, which have 15 letters at most.
    fn load(
        &self,
        scene: Scene,
        sender: Sender,
        number: u64,
        cell: &Emulated,
    ) -> miette::Result<(String, Loaded)> {
        let name = |what: &str| format!("{what}_{}_{number}", std::process::id() % 1_000_000);
        let (server, device) = (name("gk"), name("gd"));
        let loaded = match sender {
            Sender::Own(name) => return Ok((name.to_owned(), Loaded::Nothing)),
            Sender::Copa => Loaded::Copa(Box::new(CopaInstance::load(&server).into_diagnostic()?)),
            Sender::Gandalf => {
                let modem =
                    cell.modems().first().ok_or_else(|| miette!("the cell has no modem"))?;
                let (near, port) = (cell.emulation().near(), Path::new(&modem.source));
                let start = |name: &str, flags: &[&str]| {
                    Daemon::start_in(near, self.program, port, name, flags).into_diagnostic()
                };
                match self.own.filter(|_| !scene.up) {
                    None => Loaded::Own(start(&server, &["--copa"])?),
                    Some(own) => {
                        let folder = own.path().to_string_lossy();
                        let says = ["--downlink", "option", "--cgroup", &*folder];
                        let hears = ["--copa", "--cgroup", &*folder];
                        let far = cell.emulation().far();
                        let hears = Daemon::serve_in(far, self.program, &server, &hears);
                        let _device = start(&device, &says)?;
                        Loaded::Peer { _device, server: hears.into_diagnostic()? }
                    }
                }
            }
        };
        Ok((server, loaded))
    }
}

/// What is seen of a flow while it runs.
#[derive(Default)]
struct Looks {
    all: usize,
    corrected: usize,
    doubted: usize,
    said: Vec<RadioDelay>,
    corrections: Option<u32>,
}

impl Looks {
    fn add(&mut self, flow: Option<CopaFlow>, said: Option<RadioDelay>) {
        let Some(flow) = flow else { return };
        self.all += 1;
        self.corrected += usize::from(flow.corrected_by.is_some());
        self.doubted += usize::from(flow.is_doubted);
        self.said.extend(said);
        self.corrections = Some(flow.corrections);
    }

    fn percent(&self, of: usize) -> f64 {
        100.0 * of as f64 / self.all as f64
    }

    /// The mean of an average that a device said, ms.
    fn said_ms(&self, of: fn(&RadioDelay) -> Option<Duration>) -> f64 {
        mean(self.said.iter().filter_map(of).map(|said| said.as_secs_f64() * 1e3))
    }
}

impl Loaded {
    fn flows(&self) -> Option<CopaFlows> {
        match self {
            Self::Nothing | Self::Copa(_) => None,
            Self::Own(daemon) | Self::Peer { server: daemon, .. } => CopaFlows::of(daemon.id()),
        }
    }

    fn look(&self, flows: Option<&CopaFlows>, flow: &RunningTcp, looks: &mut Looks) {
        // SAFETY: the socket is open until the transfer is waited for.
        let socket = unsafe { BorrowedFd::borrow_raw(flow.sender_socket()) };
        match self {
            Self::Copa(instance) => looks.add(instance.flow(socket).ok().flatten(), None),
            _ => looks.add(
                flows.and_then(|flows| flows.flow(socket)),
                flows.and_then(|flows| flows.said(socket)),
            ),
        }
    }
}

/// One flow over a cell.
pub(super) fn carry(
    scene: Scene,
    sender: Sender,
    seed: u64,
    lasts: Duration,
    ground: &Ground<'_>,
) -> miette::Result<Figures> {
    let mut run = cell(scene, seed, lasts).into_diagnostic()?;
    let cell = Emulated::start(&run, &Settings::flows(ground.program)).into_diagnostic()?;
    let (congestion, loaded) = ground.load(scene, sender, seed % 10_000, &cell)?;
    let flows = loaded.flows();
    std::thread::sleep(HEAD_START);
    let (direction, port) = if scene.up {
        (Direction::Uplink, Port::up(Device(0)))
    } else {
        (Direction::Downlink, Port::down(Device(0)))
    };
    let flow = TcpFlow { congestion: Some(congestion), ..TcpFlow::new(direction) };
    let flow = flow.start(cell.emulation()).into_diagnostic()?;
    let mut looks = Looks::default();
    for _ in 0..lasts.as_millis() / LOOK.as_millis() {
        std::thread::sleep(LOOK);
        loaded.look(flows.as_ref(), &flow, &mut looks);
    }
    let result = flow.abort().into_diagnostic()?;
    drop(loaded);
    let ended = cell.stop().into_diagnostic()?;
    run.plan.warmup = result.began + BEGUN - ended.report.started;
    run.plan.duration = result.ended - ended.report.started;
    let sent = Sent {
        name: sender.name().to_owned(),
        port,
        controller: None,
        flow: Some(result.flow),
        retransmitted: result.last.retransmitted_segments,
        mean_rtt: Some(result.mean_rtt),
    };
    let figures = figures(&run.plan, &ended.report, &[sent]);
    let of = figures.first().ok_or_else(|| miette!("the flow has no figures"))?;
    let took = (result.ended - result.began).as_secs_f64();
    let corrections = looks.corrections.map_or(f64::NAN, f64::from);
    Ok(vec![
        (RATE, of.throughput_mbit_per_sec),
        (MEAN, of.one_way_ms.mean),
        ("p95 ms", of.one_way_ms.p95),
        ("corrected %", looks.percent(looks.corrected)),
        ("doubted %", looks.percent(looks.doubted)),
        ("said reTx ms", looks.said_ms(|said| said.retransmitted)),
        ("said wait ms", looks.said_ms(|said| said.wait_longer)),
        ("corrected RTTs/s", corrections / took),
        ("times behind", ended.report.pace.times_behind as f64),
    ])
}
