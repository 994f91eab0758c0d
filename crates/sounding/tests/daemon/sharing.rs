//! Flows of one device share its link: what the emulator saw of two, three and more, under each
//! policy.

use std::os::fd::BorrowedFd;
use std::time::Duration;
use std::{iter, thread};

use nix::net::if_::if_nametoindex;
use sounding_bpf::{Config, Counting, Flow, Instance, LawConfig, Owner, Phase, Policy, Sharing};
use sounding_emu::{Direction, Emulation, Outcome, PacketRecord};
use sounding_experiment::metrics::Delays;
use sounding_host::monotonic_now;
use sounding_sim::world::Traffic;
use sounding_testbed::flow::{RunningTcp, TcpFlow, TcpInfo, UdpFlow};
use sounding_testdata::steadily;
use sounding_trace::Steps;
use sounding_units::{HostInstant, Rate};

use crate::beside::{self, transfer};
use crate::feed::Publisher;
use crate::rig::skipped;
use crate::users::UsersFlow;

const MBIT: u64 = 24;
pub(crate) const LINK: Rate = Rate::from_bits_per_sec(MBIT * 1_000_000);
const RTT: Duration = Duration::from_millis(40);
/// The device that the emulator gives its near end.
const DEVICE: &str = "radio0";

/// A link, an instance that is fed with its rate, and what leaves by it counted.
pub(crate) struct Scene {
    pub(crate) emulation: Emulation,
    pub(crate) instance: Instance,
    _publisher: Publisher,
    _counting: Counting,
}

impl Scene {
    pub(crate) fn new(name: &str, sharing: Sharing) -> Option<Self> {
        if skipped() {
            return None;
        }
        let name = format!("{}_{name}", std::process::id() % 1_000_000);
        let sharing = Sharing { others: true, ..sharing };
        let config = Config { name, sharing, ..Config::default() };
        let instance = Instance::load(&config).expect("it loads");
        let publisher = Publisher::start(instance.feed().clone(), LINK);
        let emulation = Emulation::start(beside::over(Steps::constant(LINK))).expect("a link");
        let counting = emulation.near().enter(|| {
            let device = if_nametoindex(DEVICE).expect("the near end has a device");
            instance.count_on(device).expect("its flows are counted")
        });
        let counting = counting.expect("the namespace is there");
        Some(Self { emulation, instance, _publisher: publisher, _counting: counting })
    }

    pub(crate) fn upload(&self) -> RunningTcp {
        transfer(&self.emulation, Direction::Uplink, self.instance.name())
    }

    pub(crate) fn flow(&self, running: &RunningTcp) -> Flow {
        self.instance.flow(socket(running)).expect("readable").expect("one of ours")
    }

    /// How long it takes, from now on, until a flow has at least this part of the link; five
    /// seconds at most.
    fn until_share(&self, running: &RunningTcp, least: Rate) -> Duration {
        let from = monotonic_now();
        let reached = iter::repeat_with(|| {
            thread::sleep(Duration::from_millis(1));
            (monotonic_now() - from, self.flow(running).share)
        });
        let found = reached.take(5000).find(|(_, share)| *share >= least);
        found.unwrap_or_else(|| panic!("{:?} and not {least}", self.flow(running))).0
    }
}

fn socket(running: &RunningTcp) -> BorrowedFd<'_> {
    // SAFETY: the socket is open until the transfer is waited for, which takes it by value.
    unsafe { BorrowedFd::borrow_raw(running.sender_socket()) }
}

fn secs(count: u64) {
    thread::sleep(Duration::from_secs(count));
}

/// Bytes of each flow that came out in a span, and the one-way delays of their packets.
fn seen(
    records: &[PacketRecord],
    flows: &[sounding_emu::Flow],
    from: HostInstant,
    to: HostInstant,
) -> (Vec<u64>, Vec<Duration>) {
    let mut bytes = vec![0; flows.len()];
    let mut delays = Vec::new();
    for record in records {
        let Some(flow) = flows.iter().position(|flow| *flow == record.flow) else { continue };
        match record.outcome {
            Outcome::Delivered { written, .. } if written >= from && written < to => {
                bytes[flow] += record.size.count();
                delays.push(written - record.entered);
            }
            _ => {}
        }
    }
    (bytes, delays)
}

/// Jain's index of what flows got: 1 where all got alike.
fn jain(bytes: &[u64]) -> f64 {
    let sum: f64 = bytes.iter().map(|&b| b as f64).sum();
    let squares: f64 = bytes.iter().map(|&b| (b as f64).powi(2)).sum();
    sum * sum / (bytes.len() as f64 * squares.max(1.0))
}

#[test]
fn two_and_three_flows_have_equal_parts_and_add_their_allowances_to_the_queue() {
    steadily(|| {
        let Some(scene) = Scene::new("alike", Sharing::default()) else { return };
        let mut flows = Vec::new();
        let mut spans = Vec::new();
        for _ in 0..3 {
            flows.push(scene.upload());
            secs(1);
            let from = monotonic_now();
            secs(3);
            spans.push((from, monotonic_now()));
        }
        let shared = scene.flow(&flows[0]);
        assert_eq!(
            (shared.flows, shared.share),
            (3, Rate::from_bits_per_sec(MBIT * 1_000_000 / 3))
        );
        let names: Vec<_> = flows.iter().map(RunningTcp::flow).collect();
        flows.into_iter().for_each(|flow| drop(flow.stop().expect("it ends in good order")));
        let records = scene.emulation.stop().expect("a report").records;
        let mut p95 = Vec::new();
        for (count, (from, to)) in (1..).zip(spans) {
            let names = &names[..count];
            let (bytes, delays) = seen(&records, names, from, to);
            let delays = Delays::of(delays).expect("packets came out");
            let window = Duration::from_millis(500);
            let windows: Vec<f64> = (0..6)
                .map(|at| from + window * at)
                .map(|start| jain(&seen(&records, names, start, start + window).0))
                .collect();
            let fairness = windows.iter().sum::<f64>() / windows.len() as f64;
            let rate = bytes.iter().sum::<u64>() as f64 * 8.0 / (to - from).as_secs_f64() / 1e6;
            println!(
                "{count} flows: {rate:.1} Mbit/s, one-way delay p50 {:?} p95 {:?}, Jain over 500 ms {fairness:.3}",
                delays.p50, delays.p95
            );
            assert!(rate > MBIT as f64 * 0.9, "{count} flows carry {rate} Mbit/s");
            assert!(fairness > 0.95, "{count} flows: {windows:?}");
            p95.push(delays.p95);
        }
        // A newcomer takes the queue that it finds, up to the allowance of those before it, for
        // part of its path, and leaves three bursts of two packets itself.
        let each = LawConfig::default().allowance + Duration::from_millis(5);
        assert!(p95[1] <= p95[0] + each && p95[2] <= p95[0] + 2 * each, "{p95:?}");
    });
}

#[test]
fn a_flow_that_pauses_gives_its_part_back_within_a_round_trip() {
    steadily(|| {
        let Some(scene) = Scene::new("pause", Sharing::default()) else { return };
        let bulk = scene.upload();
        let second = Duration::from_secs(1);
        let pausing = TcpFlow {
            congestion: Some(scene.instance.name().into()),
            traffic: Traffic::OnOff { on: second, off: 2 * second },
            ..TcpFlow::new(Direction::Uplink)
        };
        let pausing = pausing.start(&scene.emulation).expect("a flow");
        thread::sleep(second / 2);
        let half = scene.flow(&bulk).share;
        assert!(half <= LINK.scaled(6, 10), "{half} beside another");
        // The send buffer is emptied first.
        let silent = (0..4000).any(|_| {
            thread::sleep(Duration::from_millis(1));
            let info = TcpInfo::of(socket(&pausing)).expect("it tells");
            info.unacked == 0 && info.unsent.count() == 0
        });
        assert!(silent, "it does not pause");
        let after = scene.until_share(&bulk, LINK);
        println!("all of the link {after:?} after the other's last acknowledgement");
        assert!(after <= RTT, "{after:?}");
        drop((bulk.stop(), pausing.stop()));
    });
}

#[test]
fn what_a_limited_flow_and_a_udp_flow_do_not_use_goes_to_the_one_that_would() {
    steadily(|| {
        let Some(scene) = Scene::new("rest", Sharing::default()) else { return };
        let bulk = scene.upload();
        let steady = TcpFlow {
            congestion: Some(scene.instance.name().into()),
            traffic: Traffic::Steady(Rate::from_bits_per_sec(2_000_000)),
            ..TcpFlow::new(Direction::Uplink)
        };
        let steady = steady.start(&scene.emulation).expect("a flow");
        let rate = Rate::from_bits_per_sec(4_000_000);
        let udp = UdpFlow::new(Direction::Uplink, rate, Duration::from_secs(3));
        let udp = udp.start(&scene.emulation).expect("a flow");
        thread::sleep(Duration::from_millis(1500));
        let mut shares: Vec<Rate> = (0..500)
            .map(|_| {
                thread::sleep(Duration::from_millis(1));
                scene.flow(&bulk).share
            })
            .collect();
        shares.sort();
        let median = shares[shares.len() / 2];
        println!("the bulk flow's part: {} to {}, median {median}", shares[0], shares[499]);
        // All but 6 Mbit/s and an eighth of it, and not the third that counting flows would leave.
        assert!(median >= LINK.scaled(16, 24) && median <= LINK.scaled(20, 24), "{median}");
        // Wait until it is over, and a little more than two epochs: all of it is there again.
        udp.wait().expect("it ends in good order");
        steady.stop().expect("it ends in good order");
        scene.until_share(&bulk, LINK);
        bulk.stop().expect("it ends in good order");
    });
}

#[test]
fn a_cubic_flow_and_a_udp_flow_beside_three_starve_no_flow() {
    steadily(|| {
        let Some(scene) = Scene::new("rivals", Sharing::default()) else { return };
        let mut flows: Vec<_> = (0..3).map(|_| scene.upload()).collect();
        secs(1);
        flows.push(transfer(&scene.emulation, Direction::Uplink, "cubic"));
        let rate = Rate::from_bits_per_sec(3_000_000);
        let udp = UdpFlow::new(Direction::Uplink, rate, Duration::from_secs(9));
        let udp = udp.start(&scene.emulation).expect("a flow");
        secs(1);
        let seen_by_kernel = scene.flow(&flows[0]).flows;
        let from = monotonic_now();
        secs(6);
        let to = monotonic_now();
        let mut names: Vec<_> = flows.iter().map(RunningTcp::flow).collect();
        names.push(udp.flow());
        flows.into_iter().for_each(|flow| drop(flow.stop().expect("it ends in good order")));
        udp.stop().expect("it ends in good order");
        let records = scene.emulation.stop().expect("a report").records;
        let (bytes, delays) = seen(&records, &names, from, to);
        let rate = |bytes: u64| bytes as f64 * 8.0 / (to - from).as_secs_f64() / 1e6;
        let rates: Vec<f64> = bytes.iter().map(|&bytes| rate(bytes)).collect();
        let p95 = Delays::of(delays).map(|delays| delays.p95);
        println!("Mbit/s of three, CUBIC and UDP: {rates:.1?}; one-way delay p95 {p95:?}");
        assert_eq!(seen_by_kernel, 5);
        // A quarter of the equal part at least; the datagrams want less than theirs.
        let least = MBIT as f64 / 5.0 / 4.0;
        assert!(rates[..4].iter().all(|&rate| rate >= least), "{rates:.1?}");
        assert!(rates[4] >= 1.5, "{rates:.1?}");
    });
}

/// What arrives of each flow in four seconds, after two.
fn compare(flows: &[UsersFlow]) -> Vec<u64> {
    let arrived = || flows.iter().map(UsersFlow::arrived).collect::<Vec<_>>();
    secs(2);
    let before = arrived();
    secs(4);
    arrived().iter().zip(&before).map(|(after, before)| after - before).collect()
}

const HERS: u32 = 10_001;
const HIS: u32 = 10_002;

#[test]
fn an_application_gains_nothing_by_opening_more_flows() {
    steadily(|| {
        let sharing = Sharing { policy: Policy::Applications, ..Sharing::default() };
        let Some(scene) = Scene::new("app", sharing) else { return };
        let name = scene.instance.name();
        let users = [HERS, HERS, HERS, HIS];
        let flows = users.map(|user| UsersFlow::start(&scene.emulation, user, name));
        let bytes = compare(&flows);
        let (hers, his) = (bytes[..3].iter().sum::<u64>(), bytes[3]);
        println!("three flows of one application {hers} bytes, one of another {his}");
        assert!(hers.min(his) * 100 >= hers.max(his) * 85, "{bytes:?}");
    });
}

#[test]
fn flows_share_in_the_ratio_of_their_weights() {
    steadily(|| {
        let weights = vec![(Owner::User(HERS), 3 * 256)];
        let sharing = Sharing { policy: Policy::Weights, weights, ..Sharing::default() };
        let Some(scene) = Scene::new("weigh", sharing) else { return };
        let name = scene.instance.name();
        let flows = [HERS, HIS].map(|user| UsersFlow::start(&scene.emulation, user, name));
        let bytes = compare(&flows);
        println!("weight 3: {} bytes, weight 1: {}", bytes[0], bytes[1]);
        let ratio = bytes[0] as f64 / bytes[1] as f64;
        assert!((2.2..=3.6).contains(&ratio), "{ratio}");
    });
}

#[test]
fn a_flow_that_has_left_claims_nothing() {
    steadily(|| {
        let Some(scene) = Scene::new("left", Sharing::default()) else { return };
        let flows = [(); 4].map(|()| scene.upload());
        secs(1);
        let [first, others @ ..] = flows;
        others.into_iter().for_each(|flow| drop(flow.stop().expect("it ends in good order")));
        let after = scene.until_share(&first, LINK);
        println!("all of the link {after:?} after three flows were closed");
        assert!(scene.flow(&first).phase == Phase::RadioLimited);
        first.stop().expect("it ends in good order");
    });
}
